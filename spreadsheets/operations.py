"""Files come in and go out: the worker does it, in steps that may be cut off anywhere and done twice (decision 042).

A file is read, and what each of its rows would change is written down once. Nothing is changed before somebody has looked at that
and says so. Then each row is applied once: what it saves carries its mark, in the same conditional batch.
"""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import islice
from tempfile import TemporaryFile
from typing import IO, Any
from uuid import UUID, uuid4

from cassandra.query import BoundStatement
from django.core.files.base import File
from django.core.files.storage import default_storage
from django.utils.translation import gettext as _

from cassandra_db import (
    REFUSED_MEANS_DONE,
    SEND_AGAIN,
    Row,
    applied_if,
    apply_batch,
    conditional_write,
    current_time,
)
from catalogue.bulk_changes import has_mark
from catalogue.entities import Product
from catalogue.queries import get_products, guard_product, iterate_products_of_part
from jobs.months import month_of
from jobs.rows import MAX_FAILURES
from orders.board import OrderFilter, iterate_orders
from orders.papers.order_files import MAX_PRINTED_ORDERS, ORDER_FILES, OrderFile
from shop_settings.queries import renew_settings
from spreadsheets import entities, queries
from spreadsheets.entities import FileRow, PlannedRow, SpreadsheetTask, pack
from spreadsheets.errors import FileRefused
from spreadsheets.files import (
    Table,
    csv_line,
    open_table,
    read_csv_lines,
    unpack_workbook,
    write_xlsx,
)
from spreadsheets.layouts import LAYOUTS, Layout, iterate_rows
from spreadsheets.products import apply_changes
from spreadsheets.stock import apply_count, is_counted
from web.encryption import decrypt_bytes, encrypt_bytes

INCOMING, OUTGOING = "incoming", "exports"
# So many rows are compared at once: their products are read side by side.
CHUNK = 25
# What they would change is one conditional batch, which may have half a segment of the commit log: 8 MiB. So much of a file, in
# letters and so many more for each line, is some megabytes of it at most, with what the cells say now and without ASCII.
MAX_CHUNK_LETTERS = 250_000
_LETTERS_A_LINE = 500
# Of a row with more the first are named.
_MAX_FAULTS = 100
# A shop's products are written in so many parts.
PARTS = 256
EXPORT_SECONDS = 3600
_MAX_KEY_LENGTH = 200
_COPY_BYTES = 64 * 1024
_ID_BYTES = 16
_PURPOSE = "files of orders"

INSERT_TASK = conditional_write(
    "Q1",
    """INSERT INTO spreadsheet_tasks (month, task_id, layout, state, file_name, stored_as, format, total, started_by, started_at,
       changed_at, handled) VALUES (:month, :task_id, :layout, :state, :file_name, :stored_as, :format, :total, :started_by,
       :now, :now, 0) IF NOT EXISTS""",
)
ADD_UNFINISHED = conditional_write(
    "Q1", "UPDATE spreadsheet_tasks SET unfinished = unfinished + :task_ids WHERE month = :month"
)
REMOVE_UNFINISHED = conditional_write(
    "Q1", "UPDATE spreadsheet_tasks SET unfinished = unfinished - :task_ids WHERE month = :month"
)
NOTE_HANDLED = conditional_write(
    "Q1",
    """UPDATE spreadsheet_tasks SET handled = :handled, total = :total, failures = 0 WHERE month = :month AND task_id = :task_id
       IF state = :state""",
)
NOTE_UNPACKED = conditional_write(
    "Q1",
    """UPDATE spreadsheet_tasks SET stored_as = :stored_as WHERE month = :month AND task_id = :task_id
       IF stored_as = :seen""",
)
NOTE_COUNTED = conditional_write(
    "Q1",
    """UPDATE spreadsheet_tasks SET stored_as = :stored_as, total = :total WHERE month = :month AND task_id = :task_id
       IF stored_as = :seen""",
)
NOTE_READ = conditional_write(
    "Q1",
    """UPDATE spreadsheet_tasks SET state = :then, changed_at = :now, handled = :handled, total = :total, counts = :counts,
       encoding = :encoding, problem = :problem WHERE month = :month AND task_id = :task_id IF state = :state""",
)
NOTE_FAILURE = conditional_write(
    "Q1",
    """UPDATE spreadsheet_tasks SET failures = :failures WHERE month = :month AND task_id = :task_id IF state = :state""",
)
NOTE_STATE = conditional_write(
    "Q1",
    """UPDATE spreadsheet_tasks SET state = :then, changed_at = :now, handled = :handled, failures = 0
       WHERE month = :month AND task_id = :task_id IF state = :state""",
)
NOTE_ENDED = conditional_write(
    "Q1",
    """UPDATE spreadsheet_tasks SET state = :then, changed_at = :now, problem = :problem
       WHERE month = :month AND task_id = :task_id IF state = :state""",
)
FINISH = conditional_write(
    "Q1",
    """UPDATE spreadsheet_tasks SET state = :then, changed_at = :now, handled = :handled, results = :results
       WHERE month = :month AND task_id = :task_id IF state = :state""",
)


# ---- Starting


def start_import(
    task_id: UUID, layout: str, file: File[Any], file_name: str, started_by: UUID, now: datetime
) -> SpreadsheetTask:
    """Keep a file for the worker to read; return its import, or the one that was started under this id before.

    Raises CassandraUnavailable, OSError.
    """
    if existing := queries.get_task(task_id):
        return existing
    stored_as = default_storage.save(f"{INCOMING}/{uuid4().hex}", file)
    task = SpreadsheetTask(
        task_id, layout, entities.READING, file_name[:200], stored_as, started_by, now
    )
    return _start(task, now)


def start_export(
    task_id: UUID,
    layout: str,
    file_format: str,
    product_ids: Sequence[UUID] | None,
    started_by: UUID,
    now: datetime,
) -> SpreadsheetTask:
    """Have the worker write a file of these products, or of all; return the export, or the one that was started under this id before.

    Raises CassandraUnavailable, OSError.
    """
    ids = None if product_ids is None else b"".join(each.bytes for each in product_ids)
    total = PARTS if product_ids is None else len(product_ids)
    return _start_writing(task_id, layout, file_format, ids, total, started_by, now)


def start_order_file(
    task_id: UUID,
    kind: OrderFile,
    chosen: Sequence[UUID] | OrderFilter,
    started_by: UUID,
    now: datetime,
) -> SpreadsheetTask:
    """Have the worker write a file of these orders, or of those that a filter finds then; return it, or what was started under this id before.

    Raises ValueError for a paper of more orders than MAX_PRINTED_ORDERS, CassandraUnavailable, OSError.
    """
    if kind.draw and (isinstance(chosen, OrderFilter) or len(chosen) > MAX_PRINTED_ORDERS):
        raise ValueError("too many orders for a paper")
    if isinstance(chosen, OrderFilter):
        content, total = json.dumps(chosen.to_dict()).encode(), 0
    else:
        content, total = b"".join(each.bytes for each in chosen), len(chosen)
    return _start_writing(task_id, kind.name, kind.format, content, total, started_by, now)


def _start_writing(
    task_id: UUID,
    layout: str,
    file_format: str,
    content: bytes | None,
    total: int,
    started_by: UUID,
    now: datetime,
) -> SpreadsheetTask:
    """Start an export; `content` says of what: ids, or a filter whose `total` is not known yet, or None for all products."""
    if existing := queries.get_task(task_id):
        return existing
    stored_as = ""
    if content is not None:
        stored_as = default_storage.save(f"{INCOMING}/{uuid4().hex}", _file_of([content]))
    task = SpreadsheetTask(
        task_id,
        layout,
        entities.WRITING,
        f"{layout}.{file_format}",
        stored_as,
        started_by,
        now,
        file_format,
        total=total,
    )
    return _start(task, now)


def _start(task: SpreadsheetTask, now: datetime) -> SpreadsheetTask:
    # One that somebody else has started under the same id, at the same time, has a file of its own.
    def is_ours(row: Row) -> bool:
        return bool(row.stored_as == (task.stored_as or None) and row.started_at == now)

    insert = INSERT_TASK.bind(
        **task.key,
        layout=task.layout,
        state=task.state,
        file_name=task.file_name,
        stored_as=task.stored_as or None,
        format=task.format or None,
        total=task.total,
        started_by=task.started_by,
        now=now,
    )
    if apply_batch(insert, _add_unfinished(task), if_lost=applied_if(is_ours)):
        return task
    if task.stored_as:
        default_storage.delete(task.stored_as)
    started = queries.get_task(task.task_id)
    assert started
    return started


def _add_unfinished(task: SpreadsheetTask) -> BoundStatement:
    return ADD_UNFINISHED.bind(month=month_of(task.task_id), task_ids={task.task_id})


def _remove_unfinished(task: SpreadsheetTask) -> BoundStatement:
    return REMOVE_UNFINISHED.bind(month=month_of(task.task_id), task_ids={task.task_id})


def start_applying(task: SpreadsheetTask, now: datetime) -> bool:
    """Have the worker apply an import that was read; return whether it is being applied now, or was. Raises CassandraUnavailable."""

    def is_applying(row: Row) -> bool:
        return row.state in (entities.APPLYING, entities.FINISHED)

    outcome = apply_batch(
        NOTE_STATE.bind(
            **task.key, state=entities.READ, then=entities.APPLYING, handled=0, now=now
        ),
        _add_unfinished(task),
        if_lost=applied_if(is_applying),
    )
    return bool(outcome) or bool(outcome.current and is_applying(outcome.current))


# ---- Going on


def run_task(task: SpreadsheetTask, most: int) -> int:
    """Go on with an import or export; return how many rows it has looked at, about `most` of them.

    Raises CassandraUnavailable, UnknownOutcome; then it is called again.
    """
    renew_settings()
    if task.state == entities.READING:
        return _read_on(task, most)
    if task.state == entities.APPLYING:
        return _apply_on(task, most)
    if task.state == entities.WRITING:
        return _write_on(task, most)
    # It stays in the worker's list for a moment after another process has finished it.
    return 0


def note_failure(task: SpreadsheetTask) -> None:
    """Count that a run has failed; after MAX_FAILURES in a row the import or export is refused. Raises CassandraUnavailable."""
    failures = task.failures + 1
    if failures < MAX_FAILURES:
        NOTE_FAILURE.apply(if_lost=SEND_AGAIN, **task.key, failures=failures, state=task.state)
        return
    said = _("The shop could not go on with it. What its rows say was changed, was changed.")
    _end(task, entities.REFUSED, said)


def _note_handled(task: SpreadsheetTask, handled: int, total: int) -> None:
    NOTE_HANDLED.apply(
        if_lost=SEND_AGAIN, **task.key, handled=handled, total=total, state=task.state
    )


# ---- Reading


def _read_on(task: SpreadsheetTask, most: int) -> int:
    """Read on in a file, and write down what its rows would change; when there is no more, count them."""
    layout, done, encoding = LAYOUTS[task.layout], task.handled, ""
    try:
        with _open_stored(task.stored_as) as file:
            table = open_table(file, layout.head)
            if table.is_workbook:
                _unpack(task, table)
                return 1
            encoding = table.encoding
            rows = islice(iterate_rows(layout, table), done, None)
            chunks = _divide(rows)
            while done - task.handled < most and (chunk := next(chunks, [])):
                _plan_rows(task, layout, chunk)
                done += len(chunk)
            is_over = next(rows, None) is None
    except FileRefused as refused:
        _end_reading(task, entities.REFUSED, done, encoding, str(refused))
        return done - task.handled
    if is_over:
        problem = "" if done else _("The file has no lines below its head.")
        _end_reading(task, entities.READ if done else entities.REFUSED, done, encoding, problem)
    else:
        _note_handled(task, done, total=done)
    return done - task.handled


def _unpack(task: SpreadsheetTask, table: Table) -> None:
    """Put a CSV file in the place of a workbook, once, so that no run has to take it apart again. Raises FileRefused."""
    stored_as = default_storage.save(f"{INCOMING}/{uuid4().hex}", _file_of(unpack_workbook(table)))
    outcome = NOTE_UNPACKED.apply(
        if_lost=applied_if(lambda row: bool(row.stored_as == stored_as)),
        **task.key,
        stored_as=stored_as,
        seen=task.stored_as,
    )
    default_storage.delete(task.stored_as if outcome else stored_as)


def _open_stored(name: str) -> IO[bytes]:
    """Return a copy of a stored file that can be read from any place. Raises FileRefused if it is gone."""
    copy = TemporaryFile()  # noqa: SIM115 -- the caller closes it
    try:
        with default_storage.open(name) as stored:
            for part in stored.chunks(_COPY_BYTES):
                copy.write(part)
    except FileNotFoundError as error:
        copy.close()
        raise FileRefused(_("The file was not read within a day. Send it again.")) from error
    copy.seek(0)
    return copy


def _divide(rows: Iterable[FileRow]) -> Iterator[list[FileRow]]:
    """Yield rows that are written down together: of one bucket, and of no more letters than one batch holds.

    What of a file is written together must be the same when it is read again.
    """
    chunk: list[FileRow] = []
    size = 0
    for row in rows:
        chunk.append(row)
        size += sum(_LETTERS_A_LINE + sum(map(len, cells.values())) for _line, cells in row.lines)
        is_last = (row.position + 1) % queries.BUCKET_LENGTH == 0
        if is_last or len(chunk) == CHUNK or size > MAX_CHUNK_LETTERS:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def _plan_rows(task: SpreadsheetTask, layout: Layout, rows: Sequence[FileRow]) -> None:
    """Write down what some rows would change. A step that was cut off has written all of a chunk, or nothing."""
    planned = layout.plan(rows, task.task_id, current_time())
    queries.ROWS.insert(
        task.task_id,
        {
            each.position: {
                "line": each.line,
                "key": each.key[:_MAX_KEY_LENGTH],
                "plan": each.plan,
                "label": each.label or None,
                "product_id": each.product_id,
                "variant_id": each.variant_id,
                "seen": each.seen,
                "changes": pack(each.changes),
                "faults": pack(each.faults[:_MAX_FAULTS]),
            }
            for each in planned
        },
    )


def _end_reading(
    task: SpreadsheetTask, state: str, total: int, encoding: str, problem: str
) -> None:
    whole = replace(task, total=total)
    rows = queries.ROWS.iterate_results(whole.rows) if not problem else ()
    counts = Counter(row.plan for row in rows)
    apply_batch(
        NOTE_READ.bind(
            **task.key,
            state=entities.READING,
            then=state,
            handled=0,
            total=total,
            counts=dict(counts),
            encoding=encoding or None,
            problem=problem or None,
            now=current_time(),
        ),
        _remove_unfinished(task),
        if_lost=REFUSED_MEANS_DONE,
    )
    # All that matters of it stands in the rows.
    default_storage.delete(task.stored_as)


# ---- Applying


def mark_of(task_id: UUID, position: int) -> UUID:
    """Return by what a product, or a correction of stock, knows that a row of an import has made it."""
    return UUID(int=task_id.int + 1 + position)


def _apply_on(task: SpreadsheetTask, most: int) -> int:
    def note_handled(handled: int) -> None:
        _note_handled(task, handled, task.total)

    done, tried = queries.ROWS.run(
        task.rows, task.handled, most, partial(_apply_row, task), note_handled
    )
    if done >= task.total:
        _finish(task)
    return tried


def _apply_row(task: SpreadsheetTask, stored: Row) -> None:
    row = queries.planned_row(stored)
    mark = mark_of(task.task_id, row.position)
    if task.layout == "stock":
        reason = _("Import of %(name)s") % {"name": task.file_name}
        result, reason = apply_count(row, str(task.started_by), reason, mark)
    else:
        result, reason = apply_changes(row, task.task_id, mark)
    if result == "done":
        queries.ROWS.note_done(task.task_id, row.position, stored.label)
    else:
        queries.ROWS.note_result(stored, result, stored.label, reason)


def is_applied(task: SpreadsheetTask, row: PlannedRow) -> bool:
    """Return whether what a row changes was saved by it. Raises CassandraUnavailable."""
    mark = mark_of(task.task_id, row.position)
    if task.layout == "stock":
        return is_counted(row, mark)
    return row.product_id is not None and has_mark(row.product_id, mark)


def _finish(task: SpreadsheetTask) -> None:
    """Count the results and take the import off the worker's list; or go back to a row that another worker has left without one."""
    results, waiting = queries.ROWS.count_results(task.rows)
    if waiting is not None:
        _note_handled(task, waiting, task.total)
        return
    apply_batch(
        FINISH.bind(
            **task.key,
            state=entities.APPLYING,
            then=entities.FINISHED,
            handled=task.total,
            results=dict(results),
            now=current_time(),
        ),
        _remove_unfinished(task),
        if_lost=REFUSED_MEANS_DONE,
    )


# ---- Writing


def _write_on(task: SpreadsheetTask, most: int) -> int:
    """Write some more parts of an export; when all are there, it can be fetched."""
    if task.stored_as and not task.total:
        return _count_orders(task)
    done, count = task.handled, 0
    try:
        with ExitStack() as stack:
            ids = stack.enter_context(_open_stored(task.stored_as)) if task.stored_as else None
            while done < task.total and count < most:
                end = done + 1 if ids is None else min(done + queries.BUCKET_LENGTH, task.total)
                written = _write_part(task, done, _iterate_lines(task, ids, done, end))
                count += max(written, end - done)
                done = end
                _note_handled(task, done, task.total)
        if done < task.total:
            return count
        _put_together(task)
    except FileRefused as refused:
        _end(task, entities.REFUSED, str(refused))
        return count
    _end(task, entities.WRITTEN)
    return max(count, 1)


def _count_orders(task: SpreadsheetTask) -> int:
    """Put the ids of the orders that a filter finds in its place, once, so that each run goes on in the same list."""
    try:
        with _open_stored(task.stored_as) as file:
            chosen = OrderFilter.from_dict(json.load(file))
    except FileRefused as refused:
        current = queries.get_task(task.task_id)
        if current and current.stored_as != task.stored_as:
            return 0  # another process has counted them meanwhile
        _end(task, entities.REFUSED, str(refused))
        return 0
    ids = _file_of(row.order_id.bytes for row in iterate_orders(chosen))
    total = ids.size // _ID_BYTES
    if not total:
        _end(task, entities.REFUSED, _("No order is listed like this any more."))
        return 1
    stored_as = default_storage.save(f"{INCOMING}/{uuid4().hex}", ids)
    outcome = NOTE_COUNTED.apply(
        if_lost=applied_if(lambda row: bool(row.stored_as == stored_as)),
        **task.key,
        stored_as=stored_as,
        total=total,
        seen=task.stored_as,
    )
    default_storage.delete(task.stored_as if outcome else stored_as)
    return 1


def _iterate_lines(
    task: SpreadsheetTask, ids: IO[bytes] | None, first: int, end: int
) -> Iterator[list[str]]:
    """Yield the lines of a part: of the ids from `first` to `end`, or without any of a part of all products."""
    if ids is None:
        products: Iterable[Product] = iterate_products_of_part(first, PARTS)
    else:
        ids.seek(first * _ID_BYTES)
        chosen = [UUID(bytes=ids.read(_ID_BYTES)) for _place in range(first, end)]
        if kind := ORDER_FILES.get(task.layout):
            yield from kind.iterate_lines(chosen)
            return
        found = get_products(chosen, guard_product)
        products = (found[each] for each in chosen if each in found)
    for product in products:
        yield from LAYOUTS[task.layout].lines(product)


def _part_name(task: SpreadsheetTask, first: int) -> str:
    return f"{OUTGOING}/{task.task_id.hex}/{first:06}"


def _write_part(task: SpreadsheetTask, first: int, lines: Iterable[Sequence[str]]) -> int:
    """Write a part of an export, as CSV; return how many lines it has. What a process that died has left is replaced."""
    count = 0

    def written() -> Iterator[bytes]:
        nonlocal count
        for count, each in enumerate(lines, 1):  # noqa: B007 -- it is how many there were
            yield csv_line(each)

    # Also if it is empty: one that is missing when the file is put together is a fault.
    _save(task, _part_name(task, first), _file_of(written()))
    return count


def _save(task: SpreadsheetTask, name: str, content: File[bytes]) -> None:
    """Save a file of an export in the place of what is there. One of orders, which has addresses, is encrypted."""
    if task.layout in ORDER_FILES:
        sealed = encrypt_bytes(content.read(), _PURPOSE, name)
        content = _file_of([sealed])
    default_storage.delete(name)
    default_storage.save(name, content)


def _read_sealed(name: str) -> bytes:
    """Return what `_save` has encrypted. Raises FileRefused if it is gone, DecryptionError."""
    with _open_stored(name) as file:
        return decrypt_bytes(file.read(), _PURPOSE, name)


def _file_of(pieces: Iterable[bytes]) -> File[bytes]:
    file = TemporaryFile()  # noqa: SIM115 -- gone with what refers to it
    for each in pieces:
        file.write(each)
    file.seek(0)
    return File(file, name="piece")


def _list_parts(task: SpreadsheetTask) -> list[str]:
    # By their names, not by what is there: of two workers at once, one has saved under another name.
    step = queries.BUCKET_LENGTH if task.stored_as else 1
    return [_part_name(task, first) for first in range(0, task.total, step)]


def _put_together(task: SpreadsheetTask) -> None:
    """Make one file of all parts where it is not simply one after the other. Raises FileRefused."""
    kind = ORDER_FILES.get(task.layout)
    if kind and kind.draw:
        lines = (
            line
            for name in _list_parts(task)
            for line in read_csv_lines(io.BytesIO(_read_sealed(name)))
        )
        _save(task, _whole_name(task), _file_of([kind.draw(lines, task.started_at)]))
    elif task.format == "xlsx":
        _write_workbook(task, LAYOUTS[task.layout])


def _write_workbook(task: SpreadsheetTask, layout: Layout) -> None:
    """Put the parts together to one XLSX file. Raises FileRefused."""

    def lines() -> Iterator[list[str]]:
        yield layout.head
        for name in _list_parts(task):
            with _open_stored(name) as part:
                yield from read_csv_lines(part)

    with TemporaryFile() as file:
        write_xlsx(file, lines(), layout.number_places)
        file.seek(0)
        _save(task, _whole_name(task), File(file, name="workbook"))


def _whole_name(task: SpreadsheetTask) -> str:
    return f"{OUTGOING}/{task.task_id.hex}/whole.{task.format}"


def _end(task: SpreadsheetTask, state: str, problem: str = "") -> None:
    apply_batch(
        NOTE_ENDED.bind(
            **task.key,
            state=task.state,
            then=state,
            problem=problem or None,
            now=current_time(),
        ),
        _remove_unfinished(task),
        if_lost=REFUSED_MEANS_DONE,
    )
    if task.stored_as:
        default_storage.delete(task.stored_as)


def iterate_export(task: SpreadsheetTask) -> Iterator[bytes]:
    """Yield the bytes of a written export, piece by piece. Raises OSError, FileRefused, DecryptionError."""
    kind = ORDER_FILES.get(task.layout)
    if task.format == "csv":
        names = _list_parts(task)
        # With its mark, so that a spreadsheet takes it for what it is.
        yield b"\xef\xbb\xbf" + csv_line(kind.head if kind else LAYOUTS[task.layout].head)
    else:
        names = [_whole_name(task)]
    for name in names:
        if kind:
            yield _read_sealed(name)
            continue
        with default_storage.open(name) as part:
            yield from part.chunks(_COPY_BYTES)


def expire_export(task: SpreadsheetTask, now: datetime) -> None:
    """Say that an export can no longer be fetched; `delete_export` is next. Raises CassandraUnavailable."""
    NOTE_ENDED.apply(
        if_lost=SEND_AGAIN,
        **task.key,
        state=entities.WRITTEN,
        then=entities.EXPIRED,
        problem=None,
        now=now,
    )


def delete_export(task: SpreadsheetTask) -> None:
    """Delete the files of an export that has expired or was refused, and note that it has none. Raises CassandraUnavailable, OSError."""
    folder = f"{OUTGOING}/{task.task_id.hex}"
    # Not by the names of its parts: of two workers at once, one has saved under another name.
    try:
        names = default_storage.listdir(folder)[1]
    except FileNotFoundError:
        names = []
    for name in names:
        default_storage.delete(f"{folder}/{name}")
    default_storage.delete(folder)
    _note_handled(task, handled=0, total=0)

"""Export files. An export is written in parts, which are joined; it can be fetched for an hour, and is then deleted (decision 042)."""

import io
import json
from base64 import b64decode
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from datetime import datetime
from tempfile import TemporaryFile
from typing import IO
from uuid import UUID, uuid4

from django.core.files.base import File
from django.core.files.storage import default_storage
from django.utils.translation import gettext as _

from cassandra_db import SEND_AGAIN, applied_if, conditional_write
from catalogue.entities import Product
from catalogue.queries import get_products, guard_product, iterate_products_of_part
from orders.board import OrderFilter
from orders.customers import CustomerFilter
from orders.papers.order_files import (
    MAX_PRINTED_ORDERS,
    ORDER_FILES,
    ZIP,
    InvoicesOfMonth,
    OrderFile,
)
from spreadsheets import entities, queries
from spreadsheets.entities import SpreadsheetTask
from spreadsheets.errors import FileRefused
from spreadsheets.files import csv_line, read_csv_lines, write_xlsx
from spreadsheets.layouts import LAYOUTS, Layout
from spreadsheets.operations.stored_files import COPY_BYTES, INCOMING, file_of, open_stored
from spreadsheets.operations.tasks import NOTE_ENDED, end_task, note_handled, start_task
from spreadsheets.zip_files import iterate_zip
from web.encryption import decrypt_bytes, encrypt_bytes

OUTGOING = "exports"
# The number of parts in which all products of the shop are written.
PARTS = 256
EXPORT_SECONDS = 3600
_ID_BYTES = 16
_PURPOSE = "files of orders"
# A drawn invoice takes as long as this many lines of a table.
_LINES_A_DRAWING = 10
# A task's layout says which pages send its file: those of orders' files ask for a code.
assert LAYOUTS.keys().isdisjoint(ORDER_FILES)
NOTE_COUNTED = conditional_write(
    "Q1",
    """UPDATE spreadsheet_tasks SET stored_as = :stored_as, total = :total WHERE month = :month AND task_id = :task_id
       IF stored_as = :seen""",
)


def start_export(
    task_id: UUID,
    layout: str,
    file_format: str,
    product_ids: Sequence[UUID] | None,
    started_by: UUID,
    now: datetime,
) -> SpreadsheetTask:
    """Start an export of these products, or of all; return it. If an export with this id exists, return the existing one.

    Raises CassandraUnavailable and OSError.
    """
    ids = None if product_ids is None else b"".join(each.bytes for each in product_ids)
    total = PARTS if product_ids is None else len(product_ids)
    return _start_writing(task_id, layout, file_format, ids, total, started_by, now)


def start_order_file(
    task_id: UUID,
    kind: OrderFile,
    chosen: Sequence[UUID] | OrderFilter | CustomerFilter | InvoicesOfMonth,
    started_by: UUID,
    now: datetime,
) -> SpreadsheetTask:
    """Start a file of the `chosen` orders, or of the orders or customers that a filter finds when the worker runs. Return its task.

    If a task with this id exists, it is returned. Raises ValueError for a printed file of more than MAX_PRINTED_ORDERS. Also
    raises CassandraUnavailable and OSError.
    """
    if kind.draw and (not isinstance(chosen, Sequence) or len(chosen) > MAX_PRINTED_ORDERS):
        raise ValueError("too many orders for a paper")
    if not isinstance(chosen, Sequence):
        content, total = json.dumps(chosen.to_dict()).encode(), 0
    else:
        content, total = b"".join(each.bytes for each in chosen), len(chosen)
    suffix = f"-{chosen.month:%Y-%m}" if isinstance(chosen, InvoicesOfMonth) else ""
    return _start_writing(task_id, kind.name, kind.format, content, total, started_by, now, suffix)


def _start_writing(
    task_id: UUID,
    layout: str,
    file_format: str,
    content: bytes | None,
    total: int,
    started_by: UUID,
    now: datetime,
    suffix: str = "",
) -> SpreadsheetTask:
    """Start an export of `content`: ids, a filter (its `total` is not known yet), or None for all products.

    `suffix` goes to the end of the file's name.
    """
    if existing := queries.get_task(task_id):
        return existing
    stored_as = ""
    if content is not None:
        stored_as = default_storage.save(f"{INCOMING}/{uuid4().hex}", file_of([content]))
    task = SpreadsheetTask(
        task_id,
        layout,
        entities.WRITING,
        f"{layout}{suffix}.{file_format}",
        stored_as,
        started_by,
        now,
        file_format,
        total=total,
    )
    return start_task(task, now)


def write_on(task: SpreadsheetTask, most: int) -> int:
    """Write further parts of an export, about `most` rows; return how many. After the last part the export can be fetched."""
    if task.stored_as and not task.total:
        return _count_found(task)
    if task.format == ZIP:
        most //= _LINES_A_DRAWING
    done, count = task.handled, 0
    try:
        with ExitStack() as stack:
            ids = stack.enter_context(open_stored(task.stored_as)) if task.stored_as else None
            while done < task.total and count < most:
                end = done + 1 if ids is None else min(done + queries.BUCKET_LENGTH, task.total)
                written = _write_part(task, done, _iterate_lines(task, ids, done, end))
                count += max(written, end - done)
                done = end
                note_handled(task, done, task.total)
        if done < task.total:
            return count
        _put_together(task)
    except FileRefused as refused:
        end_task(task, entities.REFUSED, str(refused))
        return count
    end_task(task, entities.WRITTEN)
    return max(count, 1)


def _count_found(task: SpreadsheetTask) -> int:
    """Replace a filter by the ids of what it finds now, so that each run continues the same list."""
    try:
        with open_stored(task.stored_as) as file:
            found = ORDER_FILES[task.layout].find_ids(json.load(file))
    except FileRefused as refused:
        current = queries.get_task(task.task_id)
        if current and current.stored_as != task.stored_as:
            return 0  # another process has counted the orders in the meantime
        end_task(task, entities.REFUSED, str(refused))
        return 0
    ids = file_of(each.bytes for each in found)
    total = ids.size // _ID_BYTES
    if not total:
        end_task(task, entities.REFUSED, _("Nothing was found."))
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
    """Yield the lines of a part: for the ids from `first` to `end`, or for one part of all products if `ids` is None."""
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
    layout = LAYOUTS[task.layout]
    if layout.table:
        # It has nothing to do with products, and is written as the first part.
        yield from () if first else layout.table()
        return
    lines = layout.lines
    assert lines
    for product in products:
        yield from lines(product)


def _part_name(task: SpreadsheetTask, first: int) -> str:
    return f"{OUTGOING}/{task.task_id.hex}/{first:06}"


def _write_part(task: SpreadsheetTask, first: int, lines: Iterable[Sequence[str]]) -> int:
    """Write a part of an export as CSV; return its number of lines. It replaces the part of an interrupted run."""
    count = 0

    def written() -> Iterator[bytes]:
        nonlocal count
        for count, each in enumerate(lines, 1):  # noqa: B007 -- the last number is the result
            yield csv_line(each)

    # Empty parts are written, too: a missing part counts as a fault when the parts are joined.
    _save(task, _part_name(task, first), file_of(written()))
    return count


def _save(task: SpreadsheetTask, name: str, content: "File[bytes]") -> None:
    """Save a file of an export, over an existing one. Order files are encrypted, because they contain addresses."""
    if task.layout in ORDER_FILES:
        sealed = encrypt_bytes(content.read(), _PURPOSE, name)
        content = file_of([sealed])
    default_storage.delete(name)
    default_storage.save(name, content)


def _read_sealed(name: str) -> bytes:
    """Return the content that `_save` encrypted. Raises FileRefused if the file was deleted. Also raises DecryptionError."""
    with open_stored(name) as file:
        return decrypt_bytes(file.read(), _PURPOSE, name)


def _list_parts(task: SpreadsheetTask) -> list[str]:
    # The files have these names: if two workers save at the same time, the storage gives one of them another name.
    step = queries.BUCKET_LENGTH if task.stored_as else 1
    return [_part_name(task, first) for first in range(0, task.total, step)]


def _put_together(task: SpreadsheetTask) -> None:
    """Join all parts into one file, unless the parts can be sent one after another. Raises FileRefused."""
    kind = ORDER_FILES.get(task.layout)
    if kind and kind.draw:
        lines = (
            line
            for name in _list_parts(task)
            for line in read_csv_lines(io.BytesIO(_read_sealed(name)))
        )
        _save(task, _whole_name(task), file_of([kind.draw(lines, task.started_at)]))
    elif task.format == "xlsx":
        _write_workbook(task, LAYOUTS[task.layout])


def _write_workbook(task: SpreadsheetTask, layout: Layout) -> None:
    """Join the parts into one XLSX file. Raises FileRefused."""

    def lines() -> Iterator[list[str]]:
        yield layout.head
        for name in _list_parts(task):
            with open_stored(name) as part:
                yield from read_csv_lines(part)

    with TemporaryFile() as file:
        write_xlsx(file, lines(), layout.number_places)
        file.seek(0)
        _save(task, _whole_name(task), File(file, name="workbook"))


def _whole_name(task: SpreadsheetTask) -> str:
    return f"{OUTGOING}/{task.task_id.hex}/whole.{task.format}"


def iterate_export(task: SpreadsheetTask) -> Iterator[bytes]:
    """Yield the bytes of a written export, block by block. Raises OSError, FileRefused and DecryptionError."""
    kind = ORDER_FILES.get(task.layout)
    if task.format == ZIP:
        yield from iterate_zip(_iterate_invoices(task), task.started_at)
        return
    if task.format == "csv":
        names = _list_parts(task)
        # The byte order mark comes first: spreadsheets recognise UTF-8 by it.
        yield b"\xef\xbb\xbf" + csv_line(kind.head if kind else LAYOUTS[task.layout].head)
    else:
        names = [_whole_name(task)]
    for name in names:
        if kind:
            yield _read_sealed(name)
            continue
        with default_storage.open(name) as part:
            yield from part.chunks(COPY_BYTES)


def _iterate_invoices(task: SpreadsheetTask) -> Iterator[tuple[str, bytes]]:
    for part in _list_parts(task):
        for name, *pieces in read_csv_lines(io.BytesIO(_read_sealed(part))):
            yield name, b64decode("".join(pieces))


def expire_export(task: SpreadsheetTask, now: datetime) -> None:
    """Mark an export as expired; `delete_export` then deletes its files. Raises CassandraUnavailable."""
    NOTE_ENDED.apply(
        if_lost=SEND_AGAIN,
        **task.key,
        state=entities.WRITTEN,
        then=entities.EXPIRED,
        problem=None,
        now=now,
    )


def delete_export(task: SpreadsheetTask) -> None:
    """Delete the files of an expired or refused export, and store that they are deleted. Raises CassandraUnavailable and OSError."""
    folder = f"{OUTGOING}/{task.task_id.hex}"
    # The files that exist may have other names: if two workers save at the same time, the storage gives one of them another name.
    try:
        names = default_storage.listdir(folder)[1]
    except FileNotFoundError:
        names = []
    for name in names:
        default_storage.delete(f"{folder}/{name}")
    default_storage.delete(folder)
    note_handled(task, handled=0, total=0)

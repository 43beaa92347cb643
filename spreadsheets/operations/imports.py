"""Import files: a file is read, and the changes of each row are stored (decision 042).

Changes are applied only after staff have confirmed them. Each row is applied once: the conditional batch that saves a product
also writes the row's mark.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from itertools import islice
from typing import Any
from uuid import UUID, uuid4

from django.core.files.base import File
from django.core.files.storage import default_storage
from django.utils.translation import gettext as _

from cassandra_db import (
    REFUSED_MEANS_DONE,
    Row,
    applied_if,
    apply_batch,
    conditional_write,
    current_time,
)
from catalogue.bulk_changes import has_mark
from spreadsheets import entities, queries
from spreadsheets.entities import Change, FileRow, PlannedRow, SpreadsheetTask, pack
from spreadsheets.errors import CellRefused, FileRefused
from spreadsheets.files import open_table, unpack_workbook
from spreadsheets.foreign.groups import read_converted
from spreadsheets.layouts import LAYOUTS, Layout, is_foreign, iterate_rows, read_lines
from spreadsheets.operations.conversions import convert_or_ask
from spreadsheets.operations.stored_files import INCOMING, file_of, open_stored
from spreadsheets.operations.tasks import note_handled, replace_file, start_task
from spreadsheets.products import apply_changes
from spreadsheets.stock import apply_count, is_counted

# How many rows are planned together; their products are read in parallel.
CHUNK = 25
# The plans of a chunk are one conditional batch, which may have 8 MiB (half a commit log segment). A chunk's letters in the file,
# plus _LETTERS_A_LINE for each line, bound the batch to some megabytes, including present values and non-ASCII letters.
MAX_CHUNK_LETTERS = 250_000
_LETTERS_A_LINE = 500
# The number of a row's faults that are stored. Further ones are left out.
_MAX_FAULTS = 100
_MAX_KEY_LENGTH = 200
# The longest text of a faulty row's cells that is stored. A longer row has to be looked up in the file itself.
_MAX_FAULTY_LETTERS = 500_000
# How long after its check a file about people can be applied. Its rows expire a day later (spreadsheets.models).
PEOPLE_APPLY_DURATION = timedelta(days=6)
NOTE_READ = conditional_write(
    "Q1",
    """UPDATE spreadsheet_tasks SET state = :then, changed_at = :now, handled = :handled, total = :total, counts = :counts,
       encoding = :encoding, problem = :problem WHERE month = :month AND task_id = :task_id IF state = :state""",
)
NOTE_STATE = conditional_write(
    "Q1",
    """UPDATE spreadsheet_tasks SET state = :then, changed_at = :now, handled = :handled, failures = 0
       WHERE month = :month AND task_id = :task_id IF state = :state""",
)
FINISH = conditional_write(
    "Q1",
    """UPDATE spreadsheet_tasks SET state = :then, changed_at = :now, handled = :handled, results = :results
       WHERE month = :month AND task_id = :task_id IF state = :state""",
)


def start_import(
    task_id: UUID, layout: str, file: "File[Any]", file_name: str, started_by: UUID, now: datetime
) -> SpreadsheetTask:
    """Store a file for the worker, and return its import. If an import with this id exists, it is returned unchanged.

    Raises CassandraUnavailable and OSError.
    """
    if existing := queries.get_task(task_id):
        return existing
    stored_as = default_storage.save(f"{INCOMING}/{uuid4().hex}", file)
    task = SpreadsheetTask(
        task_id, layout, entities.READING, file_name[:200], stored_as, started_by, now
    )
    return start_task(task, now)


def start_applying(task: SpreadsheetTask, now: datetime) -> bool:
    """Let the worker apply an import that was read; return whether that has begun or is done. Raises CassandraUnavailable.

    An import about people cannot begin once its rows are about to expire.
    """
    if task.is_about_people and (task.changed_at or now) < now - PEOPLE_APPLY_DURATION:
        return False

    def is_applying(row: Row) -> bool:
        return row.state in (entities.APPLYING, entities.LINKING, entities.FINISHED)

    outcome = apply_batch(
        NOTE_STATE.bind(
            **task.key, state=entities.READ, then=entities.APPLYING, handled=0, now=now
        ),
        queries.UNFINISHED.bind_add(task.task_id),
        if_lost=applied_if(is_applying),
    )
    return bool(outcome) or bool(outcome.current and is_applying(outcome.current))


def read_on(task: SpreadsheetTask, most: int) -> int:
    """Plan about `most` further rows of a file. After the last row, count the rows of each plan. Return the number of planned rows."""
    layout, done, encoding = LAYOUTS[task.layout], task.handled, task.encoding
    try:
        with open_stored(task.stored_as) as file:
            if task.source:
                lines = read_converted(file)
            else:
                table = open_table(file, layout.head)
                if table.is_workbook:
                    # So that the workbook is unpacked only once.
                    replace_file(task, file_of(unpack_workbook(table)))
                    return 1
                if is_foreign(layout, table.head):
                    convert_or_ask(task, layout, file, table)
                    return 1
                encoding, lines = table.encoding, read_lines(layout, table)
            rows = islice(iterate_rows(layout, lines), done, None)
            chunks = _divide(rows)
            while done - task.handled < most and (chunk := next(chunks, [])):
                plan_rows(task, layout, chunk)
                done += len(chunk)
            is_over = next(rows, None) is None
    except FileRefused as refused:
        current = queries.get_task(task.task_id)
        if current and current.stored_as != task.stored_as:
            return 0  # another process has replaced the file in the meantime
        _end_reading(task, entities.REFUSED, done, encoding, str(refused))
        return done - task.handled
    if is_over:
        problem = "" if done else _("The file has no lines below the column names.")
        state = entities.READ if done else entities.REFUSED
        _end_reading(task, state, done, encoding, problem)
    else:
        note_handled(task, done, total=done)
    return done - task.handled


def _divide(rows: Iterable[FileRow]) -> Iterator[list[FileRow]]:
    """Yield chunks of rows, each for one batch in one bucket. Each read of the same file yields the same chunks."""
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


def plan_rows(task: SpreadsheetTask, layout: Layout, rows: Sequence[FileRow]) -> None:
    """Store the plans of these rows. If this is interrupted, all of them are stored or none."""
    planned = layout.plan(rows, task.task_id, current_time())
    by_position = {each.position: each for each in rows}
    queries.find_store(task).insert(
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
                "changes": (
                    _pack_cells(by_position[each.position])
                    if each.plan == "faulty"
                    else pack(each.changes)
                ),
                "faults": pack(each.faults[:_MAX_FAULTS]),
                "links": each.links or None,
            }
            for each in planned
        },
    )


def _pack_cells(row: FileRow) -> str | None:
    """Return the cells of a faulty row, which staff download and correct."""
    cells = (
        Change(line, "", name, None, text)
        for line, cells in row.lines
        for name, text in cells.items()
        if text
    )
    packed = pack(tuple(cells))
    return packed if packed and len(packed) <= _MAX_FAULTY_LETTERS else None


def _end_reading(
    task: SpreadsheetTask, state: str, total: int, encoding: str, problem: str
) -> None:
    whole = replace(task, total=total)
    rows = queries.find_store(task).iterate_results(whole.rows) if not problem else ()
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
        queries.UNFINISHED.bind_remove(task.task_id),
        if_lost=REFUSED_MEANS_DONE,
    )
    # The uploaded file is not needed any more: the rows have all changes now.
    default_storage.delete(task.stored_as)


def mark_of(task_id: UUID, position: int) -> UUID:
    """Return the mark that a row of an import leaves on the product or the correction of stock."""
    return UUID(int=task_id.int + 1 + position)


def apply_on(task: SpreadsheetTask, most: int) -> int:
    """Apply about `most` further rows. After the last row, count the rows of each result. Return how many rows were tried."""
    done, tried = queries.find_store(task).run(
        task.rows,
        task.handled,
        most,
        partial(_apply_row, task),
        lambda handled: note_handled(task, handled, task.total),
    )
    if done >= task.total:
        _finish(task)
    return tried


def _apply_row(task: SpreadsheetTask, stored: Row) -> None:
    row, store = queries.planned_row(stored), queries.find_store(task)
    mark = mark_of(task.task_id, row.position)
    if apply := LAYOUTS[task.layout].apply:
        try:
            result, reason = apply(task, row, mark)
        except CellRefused as refused:
            result, reason = "refused", str(refused)
    elif task.layout == "stock":
        reason = _("Import of %(name)s") % {"name": task.file_name}
        result, reason = apply_count(row, str(task.started_by), reason, mark)
    else:
        result, reason = apply_changes(row, task.task_id, mark)
    if result == "done":
        store.note_done(task.task_id, row.position, stored.label)
    else:
        store.note_result(stored, result, stored.label, reason)


def is_applied(task: SpreadsheetTask, row: PlannedRow) -> bool:
    """Return whether this import has saved the changes of a row. Raises CassandraUnavailable."""
    mark = mark_of(task.task_id, row.position)
    if task.layout == "stock":
        return is_counted(row, mark)
    return row.product_id is not None and has_mark(row.product_id, mark)


def _finish(task: SpreadsheetTask) -> None:
    """Count the results. Finish the import, unless rows name pictures or products. If another worker left a row without a result, go back to that row."""
    results, waiting = queries.find_store(task).count_results(task.rows)
    if waiting is not None:
        note_handled(task, waiting, task.total)
        return
    links = task.layout == "products" and any(
        row.links and row.result == "done" for row in queries.ROWS.iterate_results(task.rows)
    )
    finish = FINISH.bind(
        **task.key,
        state=entities.APPLYING,
        then=entities.LINKING if links else entities.FINISHED,
        handled=0 if links else task.total,
        results=dict(results),
        now=current_time(),
    )
    ends = () if links else (queries.UNFINISHED.bind_remove(task.task_id),)
    apply_batch(finish, *ends, if_lost=REFUSED_MEANS_DONE)

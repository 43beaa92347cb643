"""Read imports and exports."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from datetime import date, datetime
from uuid import UUID

from cassandra_db import PendingResult, Row, read
from jobs.change_rows import RowStore, RowTable
from jobs.months import UnfinishedWork, list_months, month_of
from spreadsheets.entities import PlannedRow, SpreadsheetTask, unpack_changes, unpack_faults

BUCKET_LENGTH = 100
PAGE_LENGTH = 25
MAX_LISTED = 50
# How many tasks of a month are read, from which the tasks of the wanted layouts are taken.
MAX_LOOKED_AT = 200
MAX_A_MONTH = 10_000
# How many buckets a page searches for rows of one plan or result before it offers to search further.
MAX_BUCKETS_A_PAGE = 20
TASK = read(
    "Q1",
    """SELECT task_id, layout, state, file_name, stored_as, started_by, started_at, changed_at, format, encoding, problem,
       handled, total, counts, results, failures, question, source, notes
       FROM spreadsheet_tasks WHERE month = :month AND task_id = :task_id""",
)
TASKS = read(
    "Q1",
    """SELECT task_id, layout, state, file_name, stored_as, started_by, started_at, changed_at, format, encoding, problem,
       handled, total, counts, results, failures FROM spreadsheet_tasks WHERE month = :month LIMIT :most""",
)
FETCHED_PICTURE = read("Q1", "SELECT picture FROM fetched_pictures WHERE url = :url")
UNFINISHED = UnfinishedWork("spreadsheet_tasks")


def is_to_apply(row: Row) -> bool:
    """Return whether applying the row would change anything."""
    return row.plan in ("new", "changed")


# Lists of all rows do not read the changes, which are long for large products.
_TABLE = RowTable(
    "spreadsheet_rows",
    "task_id",
    given=(
        *("line", "key", "plan", "label", "product_id", "variant_id", "seen", "changes", "faults"),
        "links",
    ),
    listed=("plan", "links"),
    noted=("link_faults",),
    bucket_length=BUCKET_LENGTH,
    page_length=BUCKET_LENGTH,
)
ROWS = RowStore(_TABLE, is_to_apply)
PEOPLE_ROWS = RowStore(replace(_TABLE, name="people_rows"), is_to_apply)


def find_store(task: SpreadsheetTask) -> RowStore:
    """Return the table with the rows of an import."""
    return PEOPLE_ROWS if task.is_about_people else ROWS


# A task's first cells expire 90 days after its start. Its state and other cells expire 90 days after they were last written.


def get_task(task_id: UUID) -> SpreadsheetTask | None:
    """Return an import or export, or None. Raises CassandraUnavailable."""
    if task_id.version != 1:
        return None
    row = TASK.one(month=month_of(task_id), task_id=task_id)
    if not row or not row.started_at:
        return None
    return replace(
        _task(row),
        question=row.question or "",
        source=row.source or "",
        notes=dict(row.notes or {}),
    )


def list_tasks(now: datetime, layouts: Collection[str]) -> list[SpreadsheetTask]:
    """Return the latest imports and exports of these layouts, newest first, at most MAX_LISTED. Raises CassandraUnavailable."""
    reading = [TASKS.start(month=month, most=MAX_LOOKED_AT) for month in list_months(now)]
    found = [
        _task(row)
        for pending in reading
        for row in pending.rows()
        if row.started_at and row.layout in layouts
    ]
    return sorted(found, key=lambda each: each.started_at, reverse=True)[:MAX_LISTED]


def iterate_tasks(month: date) -> Iterator[SpreadsheetTask]:
    """Yield the imports and exports of a month. Raises CassandraUnavailable."""
    for row in TASKS.all(month=month, most=MAX_A_MONTH):
        if row.started_at:
            yield _task(row)


def prefetch_fetched_picture(url: str) -> PendingResult:
    """Start reading the picture that was fetched from a web address; the row has picture."""
    return FETCHED_PICTURE.start(url=url)


def list_unfinished(months: Sequence[date]) -> list[UUID]:
    """Return the unfinished tasks of these months, oldest first. Raises CassandraUnavailable."""
    return UNFINISHED.list(months)


def list_bucket(task: SpreadsheetTask, first: int) -> list[PlannedRow]:
    """Return the rows of an import from the position `first` to the end of its bucket. Raises CassandraUnavailable."""
    return [planned_row(row) for row in find_store(task).read(task.task_id, first)]


def list_rows(
    task: SpreadsheetTask, first: int, plan: str = "", result: str = "", links: str = ""
) -> tuple[list[PlannedRow], int]:
    """Return a page of an import's rows from the position `first` on, and the next page's position (0: none).

    The rows have the wanted plan, result or state of links. A page searches at most MAX_BUCKETS_A_PAGE, so it may have few rows
    although more follow. Raises CassandraUnavailable.
    """
    found: list[int] = []
    store = find_store(task)
    for _bucket in range(MAX_BUCKETS_A_PAGE):
        for row in store.list_bucket_results(task.task_id, first // BUCKET_LENGTH):
            # Of a row about people, what was read of the file expires before its result.
            if row.position < first or not row.plan or (plan and row.plan != plan):
                continue
            if (result and row.result != result) or (links and row.links != links):
                continue
            if len(found) == PAGE_LENGTH:
                return _get_rows(task, found), row.position
            found.append(row.position)
        first = (first // BUCKET_LENGTH + 1) * BUCKET_LENGTH
        if first >= task.total:
            return _get_rows(task, found), 0
    return _get_rows(task, found), first


def _get_rows(task: SpreadsheetTask, positions: Sequence[int]) -> list[PlannedRow]:
    store = find_store(task)
    reading = [store.start_read(task.task_id, each, 1) for each in positions]
    return [planned_row(row) for pending in reading if (row := pending.one())]


def _task(row: Row) -> SpreadsheetTask:
    return SpreadsheetTask(
        task_id=row.task_id,
        layout=row.layout,
        state=row.state,
        file_name=row.file_name or "",
        stored_as=row.stored_as or "",
        started_by=row.started_by,
        started_at=row.started_at,
        format=row.format or "",
        encoding=row.encoding or "",
        problem=row.problem or "",
        handled=row.handled or 0,
        total=row.total or 0,
        counts=dict(row.counts or {}),
        results=dict(row.results or {}),
        changed_at=row.changed_at,
        failures=row.failures or 0,
    )


def planned_row(row: Row) -> PlannedRow:
    """Return the planned row of a stored row."""
    return PlannedRow(
        row.position,
        row.line,
        row.key or "",
        row.plan,
        row.label or "",
        row.product_id,
        row.variant_id,
        row.seen,
        unpack_changes(row.changes),
        unpack_faults(row.faults),
        row.result or "",
        row.reason or "",
        row.links or "",
        unpack_faults(row.link_faults),
    )

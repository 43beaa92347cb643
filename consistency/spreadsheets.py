"""I24: the results of an import agree with its marks on products and stock items."""

from collections.abc import Iterator
from datetime import timedelta

from cassandra_db import current_time
from consistency.changes import LAST_DAYS, compare_with_mark
from consistency.findings import Check, Scope, Violation, call
from jobs.months import list_months
from spreadsheets import entities, operations, queries
from spreadsheets.entities import SpreadsheetTask
from spreadsheets.layouts import LAYOUTS
from spreadsheets.models import TASK_TTL

KNOWN_FOR = timedelta(seconds=TASK_TTL) - LAST_DAYS


def _iterate_imports(scope: Scope | None) -> Iterator[SpreadsheetTask]:
    now = current_time()
    for month in list_months(now):
        for task in queries.iterate_tasks(month):
            if scope is not None and task.task_id not in scope.changes:
                continue
            # An import that was refused while it was applied has counts. Exports and the files of orders have none.
            is_over = task.state in (entities.FINISHED, entities.REFUSED) and task.counts
            # The rows of a layout with a function of its own leave no marks.
            if is_over and now - task.started_at < KNOWN_FOR and not LAYOUTS[task.layout].apply:
                yield task


def _check_import(task: SpreadsheetTask) -> Iterator[Violation]:
    """Check that a finished import has marked exactly the items whose rows have the result "done"."""
    for first in range(0, task.total, queries.BUCKET_LENGTH):
        for row in queries.list_bucket(task, first):
            if not row.is_to_apply:
                continue
            yield from compare_with_mark(
                ("I24", f"import {task.task_id}, row {row.position}"),
                row.result,
                "saved",
                has_mark=operations.is_applied(task, row),
                fix=call(queries.ROWS.note_done, task.task_id, row.position, row.label or None),
            )


CHECKS = (Check("imports", ("I24",), _iterate_imports, _check_import),)

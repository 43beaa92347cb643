"""The common part of the checks of bulk changes and imported files: a row says "done" exactly if its item was changed."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from cassandra_db import current_time
from consistency.findings import Fix, Scope, SubjectFinder, Violation
from jobs.bulk_changes import ChangeStore
from jobs.models import BULK_CHANGE_TTL
from jobs.months import list_months

# The cells of a row expire one after the other. So no check reads a row in its last days.
LAST_DAYS = timedelta(days=2)


def change_subjects(store: ChangeStore[Any]) -> SubjectFinder:
    """Return a function that yields the finished bulk changes of a store."""
    known_for = timedelta(seconds=BULK_CHANGE_TTL) - LAST_DAYS

    def iterate_subjects(scope: Scope | None) -> Iterator[Any]:
        now = current_time()
        for month in list_months(now):
            for change in store.iterate_changes(month):
                is_chosen = scope is None or change.change_id in scope.changes
                if is_chosen and change.finished_at and now - change.started_at < known_for:
                    yield change

    return iterate_subjects


def compare_with_mark(
    row: tuple[str, str], result: str, deed: str, *, has_mark: bool, fix: Fix
) -> Iterator[Violation]:
    """Yield a violation if a row has the result "done" and its item has no mark of the change, or the other way round.

    `row` is the invariant and the row's name. `deed` is the word for a changed item: "saved" or "done".
    """
    is_done = result == "done"
    if has_mark and not is_done:
        yield Violation(*row, f"says {result or 'nothing'} of what was {deed}", fix=fix)
    if is_done and not has_mark:
        yield Violation(*row, f"says done of what was not {deed}")

"""Rows of a job: one that always raises must not keep the others waiting."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from cassandra_db import CassandraUnavailable

# After so many failures of one row those jobs give it up that can tell somebody: bulk changes and spreadsheets.
MAX_FAILURES = 5
# One partition may be unavailable while others are not. After this many in succession, the run ends.
MAX_UNAVAILABLE_IN_SUCCESSION = 3

log = logging.getLogger(__name__)


@dataclass
class FailedRows:
    """The rows that failed in a run, with their errors."""

    failures: list[tuple[object, Exception]] = field(default_factory=list)
    unavailable_in_succession: int = 0

    def __str__(self) -> str:
        if not self.failures:
            return ""
        row, error = self.failures[0]
        return f"{len(self.failures)} rows failed, first {row}: {type(error).__name__}: {error}"


_failed_rows: ContextVar[FailedRows | None] = ContextVar("failed_rows", default=None)


@contextmanager
def collect_failed_rows() -> Iterator[FailedRows]:
    """Collect the rows that fail within. The worker runs each job in it, and reports them when the run is over."""
    found = FailedRows()
    token = _failed_rows.set(found)
    try:
        yield found
    finally:
        _failed_rows.reset(token)


@contextmanager
def guard_row(row: object, postpone: Callable[[], object] | None = None) -> Iterator[None]:
    """Process one row within. If it raises in a worker's run, log the error and go on with the next row.

    `postpone` is called for a row that failed. It must ensure that a later run finds the row again, unless the row stays
    where the job looks anyway. Outside a worker's run the error is raised.

    Raises CassandraUnavailable if this is the third row in succession to do so: the next run continues from the old position.
    """
    failed = _failed_rows.get()
    if failed is None:
        yield
        return
    try:
        yield
    except Exception as error:
        is_unavailable = isinstance(error, CassandraUnavailable)
        # Any other error shows that the database has answered.
        failed.unavailable_in_succession = (
            failed.unavailable_in_succession + 1 if is_unavailable else 0
        )
        if failed.unavailable_in_succession >= MAX_UNAVAILABLE_IN_SUCCESSION:
            raise
        log.error("left for later: %s: %s", row, error, exc_info=None if is_unavailable else error)
        failed.failures.append((row, error))
        if postpone:
            postpone()
    else:
        failed.unavailable_in_succession = 0

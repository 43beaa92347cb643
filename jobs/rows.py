"""Guards the rows that a job handles: a row that always raises must not block the other rows."""

import json
import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from cassandra_db import CassandraUnavailable, current_time

# Bulk changes and spreadsheets report their failed rows to staff. They give up a row after this many failures.
MAX_FAILURES = 5
# One partition may be unavailable while others are available. After this many such rows in succession, the run ends.
MAX_UNAVAILABLE_IN_SUCCESSION = 3
# A row that failed is tried again after 5 minutes, then after 10, 20, … and at last every 6 hours.
FIRST_RETRY_DELAY, MAX_RETRY_DELAY = timedelta(minutes=5), timedelta(hours=6)
# A lease remembers the failures of this many rows. If more rows fail, all others wait as long as the remembered rows.
MAX_REMEMBERED = 10
# A failed row that no run has met for this long has been deleted.
_FORGOTTEN_AFTER = timedelta(hours=1)
_MAX_NAME_LENGTH, _MAX_ERROR_LENGTH = 100, 160

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class FailedRow:
    """A row that has failed `count` times in succession, with its last error. It is tried again from `retry_at` on."""

    name: str
    error: str
    count: int
    retry_at: datetime

    @property
    def delay(self) -> timedelta:
        return min(FIRST_RETRY_DELAY * (1 << min(self.count - 1, 20)), MAX_RETRY_DELAY)


def dump_failed_rows(rows: Iterable[FailedRow]) -> str:
    """Return failed rows as the text that a lease stores; "" for no rows."""
    found = [[row.name, row.error, row.count, row.retry_at.isoformat()] for row in rows]
    return json.dumps(found, ensure_ascii=False) if found else ""


def parse_failed_rows(text: str) -> tuple[FailedRow, ...]:
    """Return the failed rows that a lease stores."""
    return tuple(
        FailedRow(name, error, count, datetime.fromisoformat(retry_at))
        for name, error, count, retry_at in json.loads(text or "[]")
    )


@dataclass
class FailedRows:
    """The rows that failed in a run, with their errors, and the failed rows `remembered` from earlier runs."""

    remembered: dict[str, FailedRow] = field(default_factory=dict)
    failures: list[tuple[object, Exception]] = field(default_factory=list)
    unavailable_in_succession: int = 0

    def __post_init__(self) -> None:
        is_full = len(self.remembered) >= MAX_REMEMBERED
        self._first_count = max(each.count for each in self.remembered.values()) if is_full else 0

    def __str__(self) -> str:
        if not self.failures:
            return ""
        row, error = self.failures[0]
        return f"{len(self.failures)} rows failed, first {row}: {type(error).__name__}: {error}"

    def add(self, row: object, error: Exception) -> None:
        """Count a row's failure. Errors of Cassandra are not the row's fault, and do not delay the row."""
        self.failures.append((row, error))
        if isinstance(error, CassandraUnavailable):
            return
        name, text = str(row)[:_MAX_NAME_LENGTH], f"{type(error).__name__}: {error}"
        before = self.remembered.get(name)
        count = (before.count if before else self._first_count) + 1
        failed = FailedRow(name, text[:_MAX_ERROR_LENGTH], count, current_time())
        self.remembered[name] = replace(failed, retry_at=failed.retry_at + failed.delay)

    def forget(self, row: object) -> None:
        """Forget the failures of a row that has succeeded."""
        self.remembered.pop(str(row)[:_MAX_NAME_LENGTH], None)

    def list_remembered(self, now: datetime) -> tuple[FailedRow, ...]:
        """Return the failed rows that the next run has to know. The rows that failed most often come first."""
        waiting = [row for row in self.remembered.values() if row.retry_at + _FORGOTTEN_AFTER > now]
        return tuple(sorted(waiting, key=lambda row: -row.count)[:MAX_REMEMBERED])


_failed_rows: ContextVar[FailedRows | None] = ContextVar("failed_rows", default=None)


@contextmanager
def collect_failed_rows(remembered: Iterable[FailedRow] = ()) -> Iterator[FailedRows]:
    """Collect the rows that fail within the block. The worker runs each job in such a block, and reports the rows afterwards."""
    found = FailedRows({row.name: row for row in remembered})
    token = _failed_rows.set(found)
    try:
        yield found
    finally:
        _failed_rows.reset(token)


def get_retry_delay(row: object) -> timedelta | None:
    """Return how long a row that has just failed has to wait; None if only CassandraUnavailable made it fail."""
    failed = _failed_rows.get()
    found = failed.remembered.get(str(row)[:_MAX_NAME_LENGTH]) if failed else None
    return found.delay if found else None


@contextmanager
def guard_row(row: object, postpone: Callable[[], object] | None = None) -> Iterator[None]:
    """Process one row within the block. If the block raises in a worker's run, log the error and go on with the next row.

    `postpone` is called for a row that failed. It must ensure that a later run finds the row again. It is not needed if later runs
    read the row anyway. Outside a worker's run the error is raised.

    Raises CassandraUnavailable if it makes three rows in succession fail: the next run continues from the old position.
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
        failed.add(row, error)
        if postpone:
            postpone()
    else:
        failed.unavailable_in_succession = 0
        failed.forget(row)

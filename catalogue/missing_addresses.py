"""Counts requests for addresses that lead nowhere, so that staff can redirect those of a former shop.

Each process counts in memory, and writes the totals of the day, not the changes. So a write can be repeated. Who asked is not
stored, and neither are the queries of addresses, and paths that could name a person or open something.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from uuid import uuid4

from cassandra.query import BoundStatement

from cassandra_db import read, write
from cassandra_db.batch_writer import MAX_BATCH, BatchWriter, keep_writer
from catalogue.old_addresses import normalize_path

# The paths that a process counts on a day. Further ones are not counted.
MAX_PATHS = 500
# A path that was requested once may be a slip of one person.
MIN_REQUESTS = 2
DAYS_SHOWN = 7
MAX_ROWS_A_DAY = 2000
_COUNTED = re.compile(r"(?:/[\w.-]+)+")
_FILES = ("/media/", "/pictures/", "/static/", "/brand/")
# The number of an order or a telephone, or a secret.
_PERSONAL = re.compile(r"\d{6}|[^\W_]{25}")
WRITE_COUNT = write(
    "Q31",
    "INSERT INTO missing_addresses (day, path, process, requests) VALUES (:day, :path, :process, :requests)",
)
COUNTS = read("Q31", "SELECT path, requests FROM missing_addresses WHERE day = :day LIMIT :most")


@dataclass(frozen=True)
class DayCounts:
    """The totals of some paths on a day."""

    day: date
    counts: tuple[tuple[str, int], ...]

    def __len__(self) -> int:
        return len(self.counts)


class MissingAddressWriter(BatchWriter[tuple[date, str], DayCounts]):
    """Counts the requests of this process for paths that lead nowhere, and writes the totals."""

    kind = "missing addresses"

    def _begin(self) -> None:
        super()._begin()
        self._process = uuid4()
        self._day = date.min
        self._counts: Counter[str] = Counter()

    def make_batches(self, items: Sequence[tuple[date, str]]) -> list[DayCounts]:
        """Count these requests, and return the new totals. Those of a former day are not counted any more."""
        changed = set()
        for day, path in items:
            if day > self._day:
                self._day, self._counts = day, Counter()
                changed.clear()
            if day == self._day and (path in self._counts or len(self._counts) < MAX_PATHS):
                self._counts[path] += 1
                changed.add(path)
        totals = [
            (path, count)
            for path in sorted(changed)
            if (count := self._counts[path]) >= MIN_REQUESTS
        ]
        return [
            DayCounts(self._day, tuple(totals[start : start + MAX_BATCH]))
            for start in range(0, len(totals), MAX_BATCH)
        ]

    def bind(self, batch: DayCounts) -> list[BoundStatement]:
        """Return the bound INSERT statements for the totals of a batch."""
        return [
            WRITE_COUNT.bind(day=batch.day, path=path, process=self._process, requests=count)
            for path, count in batch.counts
        ]

    def note_written(self, batches: Sequence[DayCounts]) -> None:
        """Totals have no sums."""


WRITER = keep_writer(MissingAddressWriter())


def count_missing(address: str, now: datetime) -> None:
    """Count a request for an address that leads nowhere, unless its path could be personal. Neither waits nor fails."""
    path = normalize_path(address)
    if _COUNTED.fullmatch(path) and not path.startswith(_FILES) and not _PERSONAL.search(path):
        WRITER.put((now.astimezone(UTC).date(), path))


def list_missing(now: datetime, most: int) -> list[tuple[str, int]]:
    """Return the paths that were requested most in the last days, each with the number of requests. Raises CassandraUnavailable."""
    days = [now.astimezone(UTC).date() - timedelta(days=age) for age in range(DAYS_SHOWN)]
    reading = [COUNTS.start(day=day, most=MAX_ROWS_A_DAY) for day in days]
    totals: Counter[str] = Counter()
    for row in (row for pending in reading for row in pending.rows()):
        totals[row.path] += row.requests
    return totals.most_common(most)

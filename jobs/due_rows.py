"""Pending rows: each names unfinished work, and is partitioned by the time at which it is due.

A pending row is written before a write that a crash may cut off, and cleared (deleted) after it. A job sweeps the rows that are
left: it finishes their work. A row whose work raises is postponed, for longer each time, and blocks no other row (decision 80).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from math import inf
from time import monotonic
from typing import Any

from cassandra_db import (
    Row,
    Statement,
    current_microseconds,
    current_time,
    wait_for_all,
    write_batch,
)
from jobs.leases import get_position, save_position
from jobs.minutes import MINUTE
from jobs.rows import FIRST_RETRY_DELAY, get_retry_delay, guard_row
from jobs.shards import Shard

# How far a job looks back in its first run. A later run continues where the run before it stopped.
FIRST_LOOK_BACK = timedelta(days=1)
# A delayed process may write a row this long after the row's time. Until then each run reads the row's partition again.
MAX_WRITE_DELAY = timedelta(minutes=5)
# A row whose work failed because Cassandra was unavailable stays in its partition for this long: the cause may pass in seconds.
KEEP_FOR = timedelta(hours=1)
# The seconds of one run: the worker's other jobs get their turn, and then the job runs again.
TURN = 2.0
_AT_ONCE = 100  # partitions read side by side
_BATCH = 32  # rows deleted at once
_YEAR_ONE = datetime.min.replace(tzinfo=UTC)
# All tables of pending rows whose modules are loaded.
REGISTRY: list[DueRows] = []


@dataclass(frozen=True)
class DueRows:
    """A table of pending rows, and the settings of the job that sweeps it.

    The statements' parameters are called like the columns; `select` also returns the column of the partition key. `insert` and
    `delete` may take `written`, a row's timestamp in microseconds since 1970: then `clear` spares rows that were written later.
    """

    job: str  # the job that keeps the position; for shards, their family
    label: str  # a name for the rows, for the log and the staff
    select: Statement
    insert: Statement
    delete: Statement
    column: str = "minute"  # the partition key
    length: timedelta = MINUTE  # of a partition
    wait: timedelta = timedelta(0)  # younger partitions may hold rows of writes that are under way
    max_write_delay: timedelta = MAX_WRITE_DELAY

    def __post_init__(self) -> None:
        REGISTRY.append(self)

    def find_partition(self, moment: datetime) -> datetime:
        """Return the partition of a moment: the moment (UTC) at which it begins."""
        moment = moment.astimezone(UTC)
        return moment - (moment - _YEAR_ONE) % self.length

    def list_partitions(self, since: datetime, until: datetime) -> list[datetime]:
        """Return the partitions from the one with `since` to the one with `until`, the oldest first."""
        first = self.find_partition(since)
        return [
            first + number * self.length for number in range((until - first) // self.length + 1)
        ]

    def list_rows(self, partitions: Sequence[datetime]) -> list[Row]:
        """Return the rows of these partitions, which are read side by side. Raises CassandraUnavailable."""
        reading = [self.select.start(**{self.column: each}) for each in partitions]
        return [row for pending in reading for row in pending.rows()]

    def list_between(self, since: datetime, until: datetime) -> list[Row]:
        """Return the rows that are due between two moments. Raises CassandraUnavailable."""
        return self.list_rows(self.list_partitions(since, until))

    def find_oldest(
        self, since: datetime, until: datetime, is_wanted: Callable[[Row], bool]
    ) -> datetime | None:
        """Return the oldest partition between two moments that has a wanted row, or None. Raises CassandraUnavailable."""
        partitions = self.list_partitions(since, until)
        for start in range(0, len(partitions), _AT_ONCE):
            rows = filter(is_wanted, self.list_rows(partitions[start : start + _AT_ONCE]))
            found: list[datetime] = [getattr(row, self.column) for row in rows]
            if found:
                return min(found)
        return None

    def list_due(self, now: datetime) -> list[Row]:
        """Return the rows that became due within `max_write_delay`; only a run finds older rows. Raises CassandraUnavailable."""
        return self.list_between(now - self.max_write_delay, now - self.wait)

    def note(self, at: datetime | None = None, **values: Any) -> dict[str, Any]:
        """Write a row that is due at `at` (default: now in real time). Return its columns for `clear`. Raises CassandraUnavailable."""
        row = self.date_row(values, at)
        self.insert.run(**_parameters(self.insert, row))
        return row

    def clear(self, *rows: dict[str, Any]) -> None:
        """Delete rows whose work is done, but no row that was written later. Raises CassandraUnavailable."""
        for start in range(0, len(rows), _BATCH):
            write_batch(
                [
                    self.delete.bind(**_parameters(self.delete, row))
                    for row in rows[start : start + _BATCH]
                ]
            )

    @contextmanager
    def sweep(self, now: datetime, shard: Shard | None = None) -> Iterator[Sweep]:
        """Let the block sweep the rows since the job's last run, then save the job's position.

        Raises CassandraUnavailable, LeaseLost.
        """
        job = shard.job_name if shard else self.job
        position = get_position(job)
        since = datetime.fromisoformat(position) if position else now - FIRST_LOOK_BACK
        sweep = Sweep(
            self, self.list_partitions(since, now - self.wait), now, shard, monotonic() + TURN
        )
        yield sweep
        if sweep.reached.isoformat() != position:
            save_position(job, sweep.reached.isoformat())

    def date_row(self, values: dict[str, Any], at: datetime | None = None) -> dict[str, Any]:
        """Return the columns of a row that is written now and due at `at`, by default now."""
        written = current_microseconds()
        if at is not None:
            # The timestamp is later than other rows' in that minute, so their `clear` spares this row. The sweep is later still.
            written = max(written, int((at + self.wait / 2).timestamp() * 1_000_000))
        partition = self.find_partition(at or current_time())
        return {**values, self.column: partition, "written": written}


def _parameters(statement: Statement, values: dict[str, Any]) -> dict[str, Any]:
    return {each.name: values[each.name] for each in statement.prepare().column_metadata or ()}


@dataclass
class Sweep:
    """One run of a job through the partitions of a table of pending rows."""

    table: DueRows
    partitions: Sequence[datetime]
    now: datetime
    shard: Shard | None = None
    ends: float = inf  # the time of the monotonic clock at which the rest is left to the next run
    count: int = 0  # of the handled groups
    kept: set[datetime] = field(default_factory=set)  # partitions that the next run reads again
    _settled: set[Row] = field(default_factory=set)  # rows that were kept or postponed
    _began: int = 0  # when the work of the rows at hand began

    @property
    def reached(self) -> datetime:
        """The partition with which the next run begins."""
        looked_until = self.table.find_partition(self.now - self.table.max_write_delay)
        return min({looked_until, *self.kept})

    def batches(self) -> Iterator[list[Row]]:
        """Yield all shards' rows, the oldest first, in lists: one for the partitions read together. Raises CassandraUnavailable."""
        for start in range(0, len(self.partitions), _AT_ONCE):
            if start and monotonic() > self.ends:
                self.kept.add(self.partitions[start])
                return
            yield self.table.list_rows(self.partitions[start : start + _AT_ONCE])

    def split(self, rows: Sequence[Row], *columns: str) -> list[list[Row]]:
        """Return this shard's rows in groups with equal values in `columns`. The shard is found by the id in the first column."""
        groups: dict[tuple[Any, ...], list[Row]] = {}
        for row in rows:
            key = tuple(getattr(row, column) for column in columns)
            if self.shard is None or self.shard.has_id(key[0]):
                groups.setdefault(key, []).append(row)
        return list(groups.values())

    def take(self, groups: Sequence[list[Row]]) -> Iterator[list[Row]]:
        """Yield these groups until the run's time is over, at least one. The next run gets the others."""
        for number, rows in enumerate(groups):
            if number and monotonic() > self.ends:
                self.keep(rows)
            else:
                yield rows

    def groups(self, *columns: str) -> Iterator[list[Row]]:
        """Yield the groups (see `split`) of all batches, until the run's time is over. Raises CassandraUnavailable."""
        for rows in self.batches():
            yield from self.take(self.split(rows, *columns))

    @contextmanager
    def handle(self, rows: Sequence[Row], row_id: object) -> Iterator[None]:
        """Let the block do the work of these rows, and clear the rows afterwards. `attempt` describes the errors."""
        with self.attempt(rows, row_id):
            yield
            self.clear(rows)
        self.count += 1

    @contextmanager
    def attempt(self, rows: Sequence[Row], row_id: object) -> Iterator[None]:
        """Let the block do a part of the work of these rows.

        If the block raises in a worker's run, the rows are postponed and the run continues; outside a run the error is raised.
        After CassandraUnavailable the rows stay in their partitions for up to KEEP_FOR; the third one in a row is raised.
        """
        self._began, name = current_microseconds(), f"{self.table.label} {row_id}"

        def put_off() -> None:
            delay = get_retry_delay(name)
            oldest = min(getattr(row, self.table.column) for row in rows)
            if delay is None and oldest > self.now - KEEP_FOR:
                self.keep(rows)
            else:
                self.postpone(rows, delay or FIRST_RETRY_DELAY)

        with guard_row(name, put_off):
            yield

    def keep(self, rows: Sequence[Row]) -> None:
        """Keep these rows in their partitions, which the next run reads again."""
        self._settled.update(rows)
        self.kept |= {getattr(row, self.table.column) for row in rows}

    def postpone(self, rows: Sequence[Row], delay: timedelta) -> None:
        """Write these rows with a time that is `delay` later, and delete the old ones. Raises CassandraUnavailable."""
        insert, at = self.table.insert, self.now + delay
        later = [self.table.date_row(row._asdict(), at) for row in rows if row not in self._settled]
        wait_for_all([insert.start(**_parameters(insert, row)) for row in later])
        self.clear(rows)
        self._settled.update(rows)

    def clear(self, rows: Sequence[Row]) -> None:
        """Delete these rows, except rows that were kept or postponed. Raises CassandraUnavailable."""
        done = [row for row in rows if row not in self._settled]
        # A row without a timestamp was written before its work began.
        self.table.clear(*({"written": self._began, **row._asdict()} for row in done))

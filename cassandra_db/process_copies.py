"""A process's copy of rows that change seldom and that nearly every page needs. It may be some seconds old."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import Generic, Protocol, TypeVar

from cassandra_db.errors import CassandraUnavailable
from cassandra_db.rows import Row
from cassandra_db.session import keyspace_name

T = TypeVar("T")
# A pending read that is younger than this was started for this page. If it fails, the page does not wait a second time.
OWN_SECONDS = 0.5
# After a failed read without an older copy, a process does not read again for this time.
WAITED_SECONDS = 1.0
log = logging.getLogger(__name__)


class PendingRows(Protocol):
    """A read that was sent, or several side by side."""

    def rows(self) -> Sequence[Row]:
        """Wait for the answer, and return its rows. Raises CassandraUnavailable."""


@dataclass(frozen=True)
class Dated(Generic[T]):
    """A result that was read or is being read, its keyspace, and the monotonic time at which its read began."""

    value: T
    keyspace: str = field(default_factory=keyspace_name)
    read_at: float = field(default_factory=lambda: monotonic())

    def is_younger(self, seconds: float) -> bool:
        return self.keyspace == keyspace_name() and monotonic() - self.read_at < seconds


class ProcessCopy(Generic[T]):
    """This process's copy of one read's result, at most `max_seconds` old. Two threads may read at the same time without harm.

    A result is dropped if this process changed the rows meanwhile (`forget`), or if another thread's result is newer.
    With `lasts_without_cassandra` an older copy serves while Cassandra is away; reads are then tried no more often than usual.
    """

    def __init__(
        self,
        start: Callable[[], PendingRows],
        parse: Callable[[Sequence[Row]], T],
        max_seconds: float,
        *,
        lasts_without_cassandra: bool = False,
    ) -> None:
        self.max_seconds = max_seconds
        self._start, self._parse = start, parse
        self._lasts_without_cassandra = lasts_without_cassandra
        self._generation = 0
        self.cached: Dated[T] | None = None
        self.reading: Dated[PendingRows] | None = None
        self._failed: Dated[None] | None = None

    def prefetch(self) -> None:
        """Start the read if the copy is too old, for a page that will first wait for other data."""
        if not self._is_fresh(self.reading) and not self._is_fresh(self.cached):
            self.reading = self._begin()

    def get(self) -> T:
        """Return the copy, after a new read if it is too old. Raises CassandraUnavailable."""
        cached = self.cached
        if cached and self._is_fresh(cached):
            return cached.value
        generation, begun = self._generation, self.reading
        self.reading = None
        if self._failed and self._failed.is_younger(WAITED_SECONDS):
            raise CassandraUnavailable("it could not be read a moment ago")
        # A page that failed may have left a pending read that is old.
        if not self._is_fresh(begun):
            begun = None
        try:
            found = self._read(begun)
        except CassandraUnavailable as error:
            found = self._do_without(error)
        return self._keep(found, generation)

    def renew(self) -> T:
        """Read the rows now, for a write that depends on them; keep and return the result. Raises CassandraUnavailable."""
        generation = self._generation
        return self._keep(self._read(None), generation)

    def _keep(self, found: Dated[T], generation: int) -> T:
        cached = self.cached
        is_older = cached and cached.keyspace == found.keyspace and cached.read_at > found.read_at
        if generation == self._generation and not is_older:
            self.cached = found
        return found.value

    def forget(self) -> None:
        """Forget the copy and the pending read, because this process has changed the rows."""
        self._generation += 1
        self.cached = self.reading = self._failed = None

    def _is_fresh(self, known: Dated[T] | Dated[PendingRows] | None) -> bool:
        return known is not None and known.is_younger(self.max_seconds)

    def _begin(self) -> Dated[PendingRows]:
        # The clock is read before the rows, since a copy is as old as its read.
        read_at = monotonic()
        return Dated(self._start(), keyspace_name(), read_at)

    def _read(self, begun: Dated[PendingRows] | None) -> Dated[T]:
        begun = begun or self._begin()
        is_own = monotonic() - begun.read_at <= OWN_SECONDS
        try:
            rows = begun.value.rows()
        except CassandraUnavailable:
            if is_own or self._lasts_without_cassandra:
                raise
            # Another page began this read, maybe while Cassandra was away.
            begun = self._begin()
            rows = begun.value.rows()
        return Dated(self._parse(rows), begun.keyspace, begun.read_at)

    def _do_without(self, error: CassandraUnavailable) -> Dated[T]:
        if not self._lasts_without_cassandra:
            raise error
        cached = self.cached
        if cached is None or cached.keyspace != keyspace_name():
            self._failed = Dated(None)
            raise error
        log.warning("what was read before is used: %s", error)
        return Dated(cached.value)


class RecentValue(Generic[T]):
    """A value that this process computes from several reads, and keeps for some seconds. Two threads may compute it at once."""

    def __init__(self, compute: Callable[[], T], seconds: float) -> None:
        self.seconds = seconds
        self._compute = compute
        self._kept: Dated[T] | None = None

    def get(self) -> T:
        """Return the value, computed anew if it is too old. Raises CassandraUnavailable."""
        kept = self._kept
        if kept is None or not kept.is_younger(self.seconds):
            read_at = monotonic()
            self._kept = kept = Dated(self._compute(), keyspace_name(), read_at)
        return kept.value

    def forget(self) -> None:
        """Compute the value anew when it is asked for again."""
        self._kept = None

"""What a process remembers for some seconds of rows that change seldom and that nearly every page asks for."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from time import monotonic
from typing import Generic, TypeVar

from cassandra_db.errors import CassandraUnavailable
from cassandra_db.rows import Row
from cassandra_db.session import keyspace_name
from cassandra_db.statements import PendingResult

T = TypeVar("T")
# A read that was begun so lately is this page's own: what it has waited for in vain, it does not wait for again.
OWN_SECONDS = 0.5
# So long a process that could not read, and has no older copy, does not ask again: a page waits once in vain.
WAITED_SECONDS = 1.0
log = logging.getLogger(__name__)


class ProcessCopy(Generic[T]):
    """This process's copy of what one read returns, at most `max_seconds` old. Two threads at once may read it twice, harmlessly.

    What was read before this process changed it (`forget`) is not kept, nor is what is older than another thread's. With
    `lasts_without_cassandra` an older copy is used while Cassandra is away, and asked for again as seldom as ever.
    """

    def __init__(
        self,
        start: Callable[[], PendingResult],
        parse: Callable[[Sequence[Row]], T],
        max_seconds: float,
        *,
        lasts_without_cassandra: bool = False,
    ) -> None:
        self.max_seconds = max_seconds
        self._start, self._parse = start, parse
        self._lasts_without_cassandra = lasts_without_cassandra
        self._generation = 0
        # Of which keyspace, when its read began, and what was found; or what is still being read.
        self._cached: tuple[str, float, T] | None = None
        self._reading: tuple[str, float, PendingResult] | None = None
        self._failed: tuple[str, float] = ("", 0.0)

    def prefetch(self) -> None:
        """Begin to read if the copy is too old, for a page that is about to wait for something else."""
        if not self._is_fresh(self._reading) and not self._is_fresh(self._cached):
            self._reading = self._begin()

    def get(self) -> T:
        """Return the copy, read anew if it is too old. Raises CassandraUnavailable."""
        if (cached := self._cached) and self._is_fresh(cached):
            return cached[2]
        generation, begun = self._generation, self._reading
        self._reading = None
        if self._failed[0] == keyspace_name() and monotonic() < self._failed[1] + WAITED_SECONDS:
            raise CassandraUnavailable("it could not be read a moment ago")
        # A page that failed may have left behind what it began: one that old does not count.
        if begun and not self._is_fresh(begun):
            begun = None
        try:
            found = self._read(begun)
        except CassandraUnavailable as error:
            found = self._do_without(error)
        self._keep(found, generation)
        return found[2]

    def renew(self) -> T:
        """Return what is stored now, and keep that, for what is about to be written by it. Raises CassandraUnavailable."""
        generation = self._generation
        found = self._read(None)
        self._keep(found, generation)
        return found[2]

    def _keep(self, found: tuple[str, float, T], generation: int) -> None:
        newer = self._cached and self._cached[0] == found[0] and self._cached[1] > found[1]
        if generation == self._generation and not newer:
            self._cached = found

    def forget(self) -> None:
        """Forget the copy, and what is being read of it: this process has changed it."""
        self._generation += 1
        self._cached = self._reading = None
        self._failed = ("", 0.0)

    def _is_fresh(self, known: tuple[str, float, object] | None) -> bool:
        return (
            known is not None
            and known[0] == keyspace_name()
            and monotonic() - known[1] < self.max_seconds
        )

    def _begin(self) -> tuple[str, float, PendingResult]:
        return keyspace_name(), monotonic(), self._start()

    def _read(self, begun: tuple[str, float, PendingResult] | None) -> tuple[str, float, T]:
        keyspace, read_at, pending = begun or self._begin()
        is_own = monotonic() - read_at <= OWN_SECONDS
        try:
            rows = pending.rows()
        except CassandraUnavailable:
            if is_own or self._lasts_without_cassandra:
                raise
            # It was begun by another page, maybe when Cassandra was down.
            keyspace, read_at, pending = self._begin()
            rows = pending.rows()
        return keyspace, read_at, self._parse(rows)

    def _do_without(self, error: CassandraUnavailable) -> tuple[str, float, T]:
        if not self._lasts_without_cassandra:
            raise error
        cached = self._cached
        if cached is None or cached[0] != keyspace_name():
            self._failed = keyspace_name(), monotonic()
            raise error
        log.warning("what was read before is used: %s", error)
        return keyspace_name(), monotonic(), cached[2]

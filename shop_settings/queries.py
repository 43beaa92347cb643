"""What the shop reads of its settings: all of them, from one partition, at most five seconds old."""

import json
import logging
from collections.abc import Iterable
from time import monotonic
from typing import Any
from uuid import UUID

from cassandra_db import CassandraUnavailable, PendingResult, Row, read
from cassandra_db.session import keyspace_name
from shop_settings.kinds import SettingsSnapshot

SHOP = "shop"
# How old this process's copy may be. While Cassandra is away an older one is used, and so seldom is it asked again.
COPY_SECONDS = 5.0
# So long a process that has none does not ask again: a page waits once in vain, not for each thing that it wants to know.
_WAITED_SECONDS = 1.0
log = logging.getLogger(__name__)

# How the shop delivers, taxes and sells.
SETTINGS = read(
    "settings", "SELECT kind, key, revision, value FROM shop_settings WHERE shop = :shop"
)


class _Copy:
    """This process's copy of the settings. Two threads at once may read it twice, harmlessly."""

    def __init__(self) -> None:
        self._cached: tuple[str, float, SettingsSnapshot] | None = None
        self._reading: tuple[str, float, PendingResult] | None = None
        self._generation = 0
        self._failed: tuple[str, float] = ("", 0.0)

    def _known(self, *, fresh: bool) -> SettingsSnapshot | None:
        if self._cached is None or self._cached[0] != keyspace_name():
            return None
        is_fresh = monotonic() - self._cached[1] < COPY_SECONDS
        return self._cached[2] if is_fresh or not fresh else None

    def prefetch(self) -> None:
        if self._reading is None and self._known(fresh=True) is None:
            self._reading = self._begun()

    def _begun(self) -> tuple[str, float, PendingResult]:
        return keyspace_name(), monotonic(), SETTINGS.start(shop=SHOP)

    def get(self) -> SettingsSnapshot:
        if found := self._known(fresh=True):
            return found
        generation, begun = self._generation, self._reading
        self._reading = None
        if self._failed[0] == keyspace_name() and monotonic() < self._failed[1] + _WAITED_SECONDS:
            raise CassandraUnavailable("the settings could not be read a moment ago")
        # A page that failed may have left behind what it began: one that old does not count.
        if begun and (begun[0] != keyspace_name() or monotonic() - begun[1] > COPY_SECONDS):
            begun = None
        try:
            keyspace, read_at, pending = begun or self._begun()
            found = snapshot_from_rows(pending.rows())
        except CassandraUnavailable as error:
            known = self._known(fresh=False)
            if known is None:
                self._failed = keyspace_name(), monotonic()
                raise
            log.warning("the settings as they were read before are used: %s", error)
            keyspace, read_at, found = keyspace_name(), monotonic(), known
        # What was read before this process changed them is not kept, nor is what is older than another thread's.
        newer = self._cached and self._cached[0] == keyspace and self._cached[1] > read_at
        if generation == self._generation and not newer:
            self._cached = keyspace, read_at, found
        return found

    def forget(self) -> None:
        self._generation += 1
        self._cached = self._reading = None
        self._failed = ("", 0.0)


_copy = _Copy()
# A page that is about to wait for something else starts reading the settings in parallel.
prefetch_settings = _copy.prefetch
clear_settings_cache = _copy.forget


def get_settings() -> SettingsSnapshot:
    """Return all settings, at most five seconds old; older ones while Cassandra is away. Raises CassandraUnavailable."""
    return _copy.get()


def get_settings_at_quorum() -> SettingsSnapshot:
    """Return all settings as they are now, for changing them. Raises CassandraUnavailable."""
    return snapshot_from_rows(SETTINGS.all(shop=SHOP))


def get_settings_revision() -> UUID | None:
    """Return what changes with every save: what a page shows of the settings follows from it and from the day.

    Raises CassandraUnavailable.
    """
    return get_settings().revision


def snapshot_from_rows(rows: Iterable[Row]) -> SettingsSnapshot:
    """Return the rows of the table as settings."""
    revision, stored = None, dict[str, dict[str, Any]]()
    for row in rows:
        revision = row.revision
        if row.kind is not None:
            stored.setdefault(row.kind, {})[row.key] = json.loads(row.value)
    return SettingsSnapshot(revision, stored)

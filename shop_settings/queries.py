"""Reads the shop's settings: all settings of a partition at once, at most five seconds old."""

import json
from collections.abc import Iterable
from functools import cache
from typing import Any
from uuid import UUID

from cassandra_db import Row, read
from cassandra_db.process_copies import ProcessCopy
from shop_settings.kinds import SHOP, SettingsSnapshot

# All settings of a partition.
SETTINGS = read(
    "settings", "SELECT kind, key, revision, value FROM shop_settings WHERE shop = :shop"
)


def snapshot_from_rows(rows: Iterable[Row]) -> SettingsSnapshot:
    """Return the settings that are stored in these rows of the table."""
    revision, stored = None, dict[str, dict[str, Any]]()
    for row in rows:
        revision = row.revision
        if row.kind is not None:
            stored.setdefault(row.kind, {})[row.key] = json.loads(row.value)
    return SettingsSnapshot(revision, stored)


@cache
def settings_copy(partition: str) -> ProcessCopy[SettingsSnapshot]:
    """Return this process's copy of the settings of a partition."""
    return ProcessCopy(
        lambda: SETTINGS.start(shop=partition), snapshot_from_rows, 5, lasts_without_cassandra=True
    )


CURRENT_SETTINGS = settings_copy(SHOP)
# Starts to read the settings while a page waits for other data.
prefetch_settings = CURRENT_SETTINGS.prefetch
clear_settings_cache = CURRENT_SETTINGS.forget
# Reads the present settings, for staff's actions and files.
renew_settings = CURRENT_SETTINGS.renew


def get_settings() -> SettingsSnapshot:
    """Return all settings, at most five seconds old, or older while Cassandra is away. Raises CassandraUnavailable."""
    return CURRENT_SETTINGS.get()


def get_settings_at_quorum(partition: str = SHOP) -> SettingsSnapshot:
    """Return all settings of a partition, read from a quorum of nodes. Raises CassandraUnavailable."""
    return snapshot_from_rows(SETTINGS.all(shop=partition))


def get_settings_revision() -> UUID | None:
    """Return the id of the last save, which pages use as a cache key; None before the first save. Raises CassandraUnavailable."""
    return get_settings().revision

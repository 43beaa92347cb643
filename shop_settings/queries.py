"""What the shop reads of its settings: all of them, from one partition, at most five seconds old."""

import json
from collections.abc import Iterable
from typing import Any
from uuid import UUID

from cassandra_db import Row, read
from cassandra_db.process_copies import ProcessCopy
from shop_settings.kinds import SettingsSnapshot

SHOP = "shop"

# How the shop delivers, taxes and sells.
SETTINGS = read(
    "settings", "SELECT kind, key, revision, value FROM shop_settings WHERE shop = :shop"
)


def snapshot_from_rows(rows: Iterable[Row]) -> SettingsSnapshot:
    """Return the rows of the table as settings."""
    revision, stored = None, dict[str, dict[str, Any]]()
    for row in rows:
        revision = row.revision
        if row.kind is not None:
            stored.setdefault(row.kind, {})[row.key] = json.loads(row.value)
    return SettingsSnapshot(revision, stored)


CURRENT_SETTINGS = ProcessCopy(
    lambda: SETTINGS.start(shop=SHOP), snapshot_from_rows, 5, lasts_without_cassandra=True
)
# A page that is about to wait for something else starts reading the settings in parallel.
prefetch_settings = CURRENT_SETTINGS.prefetch
clear_settings_cache = CURRENT_SETTINGS.forget
# What staff do, and what files of theirs say, is decided by the settings of that moment.
renew_settings = CURRENT_SETTINGS.renew


def get_settings() -> SettingsSnapshot:
    """Return all settings, at most five seconds old; older ones while Cassandra is away. Raises CassandraUnavailable."""
    return CURRENT_SETTINGS.get()


def get_settings_at_quorum() -> SettingsSnapshot:
    """Return all settings as they are now, for changing them. Raises CassandraUnavailable."""
    return snapshot_from_rows(SETTINGS.all(shop=SHOP))


def get_settings_revision() -> UUID | None:
    """Return what changes with every save: what a page shows of the settings follows from it and from the day.

    Raises CassandraUnavailable.
    """
    return get_settings().revision

"""Saves settings one at a time. Each is checked against all other settings; the partition's revision guards against races."""

import json
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, TypeVar
from uuid import uuid4

from cassandra.query import BoundStatement
from django.utils.timezone import localdate
from django.utils.translation import gettext as _

from cassandra_db import applied_if, apply_batch, conditional_write
from shop_settings.errors import SettingChanged, SettingRefused, SettingsBusy
from shop_settings.kinds import SettingKind, SettingsSnapshot
from shop_settings.queries import get_settings_at_quorum, settings_copy

T = TypeVar("T")
MAX_ATTEMPTS = 8
UPDATE_REVISION = conditional_write(
    "settings",
    "UPDATE shop_settings SET revision = :revision WHERE shop = :shop IF revision = :seen",
)
# These run in a batch with UPDATE_REVISION, whose condition applies to the whole batch.
INSERT_SETTING = conditional_write(
    "settings",
    """INSERT INTO shop_settings (shop, kind, key, value, changed_at)
       VALUES (:shop, :kind, :key, :value, :changed_at)""",
)
DELETE_SETTING = conditional_write(
    "settings", "DELETE FROM shop_settings WHERE shop = :shop AND kind = :kind AND key = :key"
)


def save_setting(
    kind: SettingKind[T], key: str, value: T, seen: str, now: datetime
) -> SettingsSnapshot:
    """Add or change a setting, and return all settings. Other processes see the change within five seconds.

    `seen` is the `SettingKind.fingerprint` of the setting that the editor has read, '' for a new one. A repeat changes nothing.
    Raises SettingRefused, SettingChanged, SettingsBusy, CassandraUnavailable.
    """

    def change(values: Mapping[str, T]) -> Mapping[str, T]:
        before = values.get(key)
        if kind.fingerprint(before) == kind.fingerprint(value):
            # The form was sent twice, or another person has entered the same values.
            return values
        if kind.fingerprint(before) != seen:
            raise SettingChanged
        return {**values, key: kind.keep_unversioned(before, value)}

    return change_settings(kind, change, now)


def remove_setting(kind: SettingKind[T], key: str, seen: str, now: datetime) -> SettingsSnapshot:
    """Remove a setting whose fingerprint is still `seen`. A repeat changes nothing. Raises the errors of `save_setting`."""

    def change(values: Mapping[str, T]) -> Mapping[str, T]:
        if key not in values:
            return values
        if kind.fingerprint(values[key]) != seen:
            raise SettingChanged
        return {each: value for each, value in values.items() if each != key}

    return change_settings(kind, change, now)


def change_settings(
    kind: SettingKind[T], change: Callable[[Mapping[str, T]], Mapping[str, T]], now: datetime
) -> SettingsSnapshot:
    """Apply `change` to the settings of a kind, and return all settings. Retry if another save was faster.

    Raises SettingRefused, SettingsBusy, CassandraUnavailable, and errors of `change`.
    """
    for _try in range(MAX_ATTEMPTS):
        current = get_settings_at_quorum(kind.partition)
        before = current.get_values(kind)
        after = change(before)
        if after == before:
            return current
        settings = current.with_values(kind, after)
        check_settings(settings, kind, now)
        revision = uuid4()
        outcome = apply_batch(
            UPDATE_REVISION.bind(shop=kind.partition, revision=revision, seen=current.revision),
            *_row_statements(
                kind, current.stored.get(kind.name, {}), settings.stored[kind.name], now
            ),
            if_lost=applied_if(lambda row, mine=revision: row.revision == mine),  # type: ignore[misc]
        )
        settings_copy(kind.partition).forget()
        if outcome:
            return SettingsSnapshot(revision, settings.stored)
    raise SettingsBusy


def check_settings(settings: SettingsSnapshot, kind: SettingKind[Any], now: datetime) -> None:
    """Check all settings after a change of settings of one kind. Raises SettingRefused."""
    if kind.first_values() and not settings.get_values(kind):
        raise SettingRefused(_("The last one can’t be removed."))
    if sum(map(len, settings.stored.values())) > kind.max_settings:
        raise SettingRefused(_("There are too many settings. Remove some first."))
    kind.check(settings, localdate(now))


def _row_statements(
    kind: SettingKind[Any],
    stored: Mapping[str, Mapping[str, Any]],
    after: Mapping[str, Mapping[str, Any]],
    now: datetime,
) -> list[BoundStatement]:
    """Return the statements that turn the stored rows into `after`. First values are not stored."""
    return [
        INSERT_SETTING.bind(
            shop=kind.partition,
            kind=kind.name,
            key=key,
            value=json.dumps(value, ensure_ascii=False, sort_keys=True),
            changed_at=now,
        )
        for key, value in after.items()
        if stored.get(key) != value
    ] + [
        DELETE_SETTING.bind(shop=kind.partition, kind=kind.name, key=key)
        for key in stored
        if key not in after
    ]

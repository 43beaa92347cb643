"""The restores of the shop from a backup. Each begins a new series of the numbers that must not be given twice."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from shop_settings.kinds import SettingKind, SettingsSnapshot, pick_fields
from shop_settings.operations import change_settings
from shop_settings.queries import get_settings

# A series begins with the number of minutes from here to its restore: above all that was ever given of the series before.
_EPOCH = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Restore:
    """A restore into a keyspace, which is `key`, from a backup. What happened after `backed_up_at` is lost.

    The numbers that are given from `begun_at` on are those of a new series.
    """

    key: str
    backed_up_at: datetime
    begun_at: datetime


def _parse(key: str, value: Mapping[str, Any]) -> Restore:
    moments = {name: datetime.fromisoformat(value[name]) for name in ("backed_up_at", "begun_at")}
    return Restore(**pick_fields(Restore, value) | moments | {"key": key})


def _dump(restore: Restore) -> dict[str, Any]:
    return {name: getattr(restore, name).isoformat() for name in ("backed_up_at", "begun_at")}


def _check(snapshot: SettingsSnapshot, today: date) -> None:
    """Accept all restores: no form changes them."""


RESTORES: SettingKind[Restore] = SettingKind("restores", _parse, _dump, dict, _check)


def begin_restore(key: str, backed_up_at: datetime, now: datetime) -> Restore:
    """Record a restore into a keyspace and return it; a repeat returns the recorded one.

    Raises SettingsBusy, CassandraUnavailable.
    """
    new = Restore(key, backed_up_at, now)
    return change_settings(RESTORES, lambda known: {key: new, **known}, now).get_values(RESTORES)[
        key
    ]


def get_number_series(at: datetime | None = None) -> int:
    """Return the number above which those of a moment (by default now) begin: 0, or since a restore more than any before it.

    Numbers that were given between a backup and its restore are unknown, so a restored shop continues far above them. Raises
    CassandraUnavailable.
    """
    begun = [each.begun_at for each in get_settings().get_values(RESTORES).values()]
    begun = [moment for moment in begun if at is None or moment <= at]
    return (max(begun) - _EPOCH) // timedelta(minutes=1) if begun else 0

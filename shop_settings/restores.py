"""The restores of the shop from a backup. Each begins a new series of the numbers that must not be given twice."""

from datetime import UTC, datetime, timedelta

from shop_settings.kinds import SettingKind
from shop_settings.operations import change_settings
from shop_settings.queries import get_settings

# A series begins with the number of minutes from here to its restore: above all that was ever given of the series before.
_EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
# When the series of a restore has begun, by the moment of its backup. No form changes them.
RESTORES: SettingKind[datetime] = SettingKind(
    "restores",
    lambda key, value: datetime.fromisoformat(value["begun_at"]),
    lambda begun_at: {"begun_at": begun_at.isoformat()},
    dict,
    lambda snapshot, today: None,
)


def begin_restore(backed_up_at: datetime, now: datetime) -> None:
    """Record a restore. No backup knows the restores from itself, so each has a record of its own.

    A repeat changes nothing. Raises SettingsBusy, CassandraUnavailable.
    """
    key = backed_up_at.isoformat()
    change_settings(RESTORES, lambda known: {key: now, **known}, now)


def get_number_series(at: datetime | None = None) -> int:
    """Return the number above which those of a moment (by default now) begin: 0, or since a restore more than any before it.

    Numbers that were given between a backup and its restore are unknown, so a restored shop continues far above them. Raises
    CassandraUnavailable.
    """
    known = get_settings().get_values(RESTORES).values()
    begun = [moment for moment in known if at is None or moment <= at]
    return (max(begun) - _EPOCH) // timedelta(minutes=1) if begun else 0


def copy_timestamp_at(placed_at: datetime, version: int) -> int:
    """Return the write timestamp of the copies at a version of an order, in microseconds since 1970: placed + version.

    Since a restore, in which later versions were lost, it is later than theirs. Raises CassandraUnavailable.
    """
    return round(placed_at.timestamp() * 1000) * 1000 + version + get_number_series()

"""Minutes, by which due entries are partitioned. A worker reads the minutes since its last run side by side."""

from datetime import UTC, datetime, timedelta

MINUTE = timedelta(minutes=1)


def floor_to_minute(moment: datetime) -> datetime:
    """Return the minute (UTC) of a moment."""
    return moment.astimezone(UTC).replace(second=0, microsecond=0)


def minutes_between(first: datetime, last: datetime) -> list[datetime]:
    """Return the minutes from the first moment to the last, inclusive; none if the last is before the first."""
    start = floor_to_minute(first)
    return [start + MINUTE * n for n in range((floor_to_minute(last) - start) // MINUTE + 1)]

"""Minutes, by which the entries of what is due are partitioned: a worker reads those since its last run, side by side."""

from datetime import UTC, datetime, timedelta

MINUTE = timedelta(minutes=1)


def floor_to_minute(moment: datetime) -> datetime:
    """Return the minute (UTC) in which a moment lies."""
    return moment.astimezone(UTC).replace(second=0, microsecond=0)


def minutes_between(first: datetime, last: datetime) -> list[datetime]:
    """Return the minutes from that of the first moment to that of the last, both with them; none if the last is before the first."""
    start = floor_to_minute(first)
    return [start + MINUTE * n for n in range((floor_to_minute(last) - start) // MINUTE + 1)]

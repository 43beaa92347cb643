"""The minutes by which tables of due entries are partitioned. A worker reads the minutes since its last run side by side."""

from datetime import UTC, datetime, timedelta

MINUTE = timedelta(minutes=1)


def floor_to_minute(moment: datetime) -> datetime:
    """Return the start (UTC) of the minute that contains a moment."""
    return moment.astimezone(UTC).replace(second=0, microsecond=0)


def minutes_between(first: datetime, last: datetime) -> list[datetime]:
    """Return the starts of all minutes from the minute of `first` to the minute of `last`; none if `last` is earlier."""
    start = floor_to_minute(first)
    return [start + MINUTE * n for n in range((floor_to_minute(last) - start) // MINUTE + 1)]


def parse_moment(text: str) -> datetime | None:
    """Return the time that an ISO text contains, with its time zone. Return None if the text is no such time."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else None

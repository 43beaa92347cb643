"""Periods of ten minutes, by which rows of unfinished work are partitioned."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from jobs.leases import get_position, save_position

# Pending rows stand together by these.
PERIOD = timedelta(minutes=10)


def floor_to_period(moment: datetime) -> datetime:
    """Return when the ten minutes began, in UTC, in which a moment is."""
    return moment - (moment - datetime.min.replace(tzinfo=UTC)) % PERIOD


def list_periods(since: datetime, until: datetime) -> list[datetime]:
    """Return when the periods began that have something of this time, the oldest first."""
    first = floor_to_period(since)
    return [first + number * PERIOD for number in range((until - first) // PERIOD + 1)]


# A row may be written a little after its time.
MAX_WRITE_DELAY = timedelta(minutes=5)


# Younger rows may be of reviews that are still being written: cleared now, they would be missing after a crash.
FINISHED_AFTER = timedelta(minutes=2)


FIRST_LOOK_BACK = timedelta(days=1)


_AT_ONCE = 50  # periods read side by side


def sweep_periods(job: str, now: datetime, finish: Callable[[list[datetime]], int]) -> int:
    """Let `finish` look at the periods since those that a job has been through; return the sum of what it returns. Raises what it raises."""
    position = get_position(job)
    since = datetime.fromisoformat(position) if position else now - FIRST_LOOK_BACK
    periods = list_periods(since, now)
    count = sum(
        finish(periods[start : start + _AT_ONCE]) for start in range(0, len(periods), _AT_ONCE)
    )
    reached = floor_to_period(now - MAX_WRITE_DELAY).isoformat()
    if reached != position:
        save_position(job, reached)
    return count

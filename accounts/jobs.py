"""What the worker does for accounts."""

from datetime import datetime, timedelta

from django.utils.translation import ngettext

from accounts.operations import run_erasures
from accounts.operations.search_terms import HOUR, finish_names, floor_to_hour
from jobs.leases import get_position, save_position
from jobs.minutes import MINUTE, floor_to_minute, minutes_between
from jobs.registry import Job, describe_count

ERASURES, SEARCH = "erasures", "account search"
# A user who asked to be erased has no request under way any more after that time, and an order of theirs that was cut off
# has been looked after (orders.jobs), so that their lists lead to all of them.
WAIT = timedelta(minutes=4)
# How far a worker looks back that has never run here. Later it goes on where it was.
FIRST_LOOK_BACK = timedelta(days=1)
_AT_ONCE = 100  # minutes read side by side


def erase_accounts(now: datetime) -> str:
    """Erase the users who have asked for it, from where the last run got to."""
    was = get_position(ERASURES)
    last = floor_to_minute(now - WAIT)
    minutes = minutes_between(datetime.fromisoformat(was) if was else now - FIRST_LOOK_BACK, last)
    done = sum(
        run_erasures(minutes[start : start + _AT_ONCE], now)
        for start in range(0, len(minutes), _AT_ONCE)
    )
    # The last minute is looked at once more: a request may be slow to write what it noted.
    if last.isoformat() != was:
        save_position(ERASURES, last.isoformat())
    return describe_count(
        ngettext("%(count)s account erased", "%(count)s accounts erased", done), done
    )


def follow_names(now: datetime) -> str:
    """Have the search follow the names that were written since the last run by requests that died before it did."""
    was = get_position(SEARCH)
    until = now - WAIT
    done = finish_names(datetime.fromisoformat(was) if was else now - FIRST_LOOK_BACK, until)
    hour = floor_to_hour(until).isoformat()
    if hour != was:
        save_position(SEARCH, hour)
    return describe_count(
        ngettext("%(count)s name followed", "%(count)s names followed", done), done
    )


JOBS = [
    Job(
        SEARCH,
        timedelta(seconds=60),
        follow_names,
        normal_lag=WAIT + HOUR + MINUTE,
        idle_every=timedelta(minutes=10),
    ),
    Job(
        ERASURES,
        timedelta(seconds=20),
        erase_accounts,
        normal_lag=WAIT + MINUTE,
        idle_every=timedelta(minutes=1),
    ),
]

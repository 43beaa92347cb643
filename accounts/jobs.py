"""The worker's jobs for accounts."""

from datetime import datetime, timedelta

from django.utils.translation import ngettext

from accounts.operations import run_erasures
from accounts.operations.erasure import ERASURES
from accounts.operations.search_terms import HOUR, NAMES_UNDER_WAY, finish_names
from jobs.minutes import MINUTE
from jobs.registry import Job, describe_count


def erase_accounts(now: datetime) -> str:
    """Erase the users who have requested their erasure."""
    with ERASURES.sweep(now) as sweep:
        done = run_erasures(sweep)
    return describe_count(
        ngettext("%(count)s account erased", "%(count)s accounts erased", done), done
    )


def follow_names(now: datetime) -> str:
    """Update the search terms of names whose request died after it had written the name."""
    with NAMES_UNDER_WAY.sweep(now) as sweep:
        finish_names(sweep)
    return describe_count(
        ngettext("%(count)s name followed", "%(count)s names followed", sweep.count), sweep.count
    )


JOBS = [
    Job(
        NAMES_UNDER_WAY.job,
        timedelta(seconds=60),
        follow_names,
        normal_lag=NAMES_UNDER_WAY.wait + HOUR + MINUTE,
        idle_every=timedelta(minutes=10),
    ),
    Job(
        ERASURES.job,
        timedelta(seconds=20),
        erase_accounts,
        normal_lag=ERASURES.wait + MINUTE,
        idle_every=timedelta(minutes=1),
    ),
]

"""What the worker does for the figures."""

from datetime import datetime, timedelta

from django.utils.translation import ngettext

from analytics.operations import roll_up_changed_days
from analytics.roll_up import roll_up_hours
from jobs.leases import get_position, save_position
from jobs.registry import Job, describe_count


def roll_up_sales(now: datetime) -> str:
    """Add up the days on which something was sold or refunded."""
    days = roll_up_changed_days(now)
    return describe_count(ngettext("%(count)s day added up", "%(count)s days added up", days), days)


VISITS = "visits"


def roll_up_visits(now: datetime) -> str:
    """Add up the hours that may have got events since the last run."""
    hours, position = roll_up_hours(get_position(VISITS), now)
    save_position(VISITS, position)
    return describe_count(
        ngettext("%(count)s hour added up", "%(count)s hours added up", hours), hours
    )


JOBS = [
    Job("sales", timedelta(seconds=30), roll_up_sales, idle_every=timedelta(minutes=2)),
    Job(
        VISITS,
        timedelta(minutes=5),
        roll_up_visits,
        normal_lag=timedelta(hours=1, minutes=15),
        idle_every=timedelta(minutes=15),
    ),
]

"""What the worker does for the figures."""

from datetime import datetime, timedelta

from django.utils.translation import ngettext

from analytics.operations import roll_up_changed_days
from jobs.registry import Job, describe_count


def roll_up_sales(now: datetime) -> str:
    """Add up the days on which something was sold or refunded."""
    days = roll_up_changed_days(now)
    return describe_count(ngettext("%(count)s day added up", "%(count)s days added up", days), days)


JOBS = [Job("sales", timedelta(seconds=30), roll_up_sales, idle_every=timedelta(minutes=1))]

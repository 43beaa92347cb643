"""The nightly job of the reports about products."""

from datetime import datetime, timedelta

from django.utils.translation import ngettext

from analytics.popularity import popularity_day
from jobs.leases import get_position, save_position
from jobs.registry import Job, describe_count
from product_reports.operations import count_products

NAME = "product reports"


def count_reports(now: datetime) -> str:
    """Count the stock value and the products that need attention, once a night."""
    position = get_position(NAME)
    if position and popularity_day(datetime.fromisoformat(position)) == popularity_day(now):
        return ""
    count = count_products(now)
    save_position(NAME, now.isoformat())
    return describe_count(
        ngettext("%(count)s product counted", "%(count)s products counted", count), count
    )


JOBS = [
    Job(
        NAME,
        timedelta(minutes=5),
        count_reports,
        # A day, an hour until the idle job runs, and the hour by which a day may be longer.
        normal_lag=timedelta(days=1, hours=3),
        idle_every=timedelta(hours=1),
    )
]

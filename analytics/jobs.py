"""The worker's jobs that compute the figures of sales, visits and popularity."""

from datetime import datetime, timedelta

from django.utils.translation import ngettext

from analytics.operations import roll_up_changed_days
from analytics.popularity import popularity_day, update_popularity
from analytics.roll_up import roll_up_hours
from catalogue.queries import iterate_products
from jobs.leases import get_position, save_position
from jobs.registry import Job, describe_count


def roll_up_sales(now: datetime) -> str:
    """Compute the sales figures again for each day with new sales or refunds. Return a line about the number of days."""
    days = roll_up_changed_days(now)
    return describe_count(ngettext("%(count)s day added up", "%(count)s days added up", days), days)


VISITS = "visits"


def roll_up_visits(now: datetime) -> str:
    """Count the visits of each hour that may have new events since the last run. Return a line about the number of hours."""
    hours, position = roll_up_hours(get_position(VISITS), now)
    save_position(VISITS, position)
    return describe_count(
        ngettext("%(count)s hour added up", "%(count)s hours added up", hours), hours
    )


POPULAR = "popular"
# The most products that one run changes. This takes some twenty seconds, so that other jobs get their turn.
MAX_CHANGED = 1_000


def update_popular(now: datetime) -> str:
    """Compute the popularity of products once a night, in several runs if many change. Return a line about their number."""
    position = get_position(POPULAR)
    if position and popularity_day(datetime.fromisoformat(position)) == popularity_day(now):
        return ""
    count = update_popularity(iterate_products(), now, MAX_CHANGED)
    if count < MAX_CHANGED:
        save_position(POPULAR, now.isoformat())
    return describe_count(
        ngettext("popularity of %(count)s product", "popularity of %(count)s products", count),
        count,
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
    Job(
        POPULAR,
        timedelta(minutes=5),
        update_popular,
        # A day, an hour until the idle job runs, and the hour by which a day may be longer.
        normal_lag=timedelta(days=1, hours=3),
        idle_every=timedelta(hours=1),
    ),
]

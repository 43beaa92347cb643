"""What the worker does for reviews: it finishes what a crash has left of them."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.utils.translation import ngettext

from jobs.leases import get_position, save_position
from jobs.registry import Job, describe_count
from reviews import operations, queries
from reviews.queries import floor_to_period, list_periods
from reviews.requests import ASKED_AFTER, ask_for_reviews_of, floor_to_day

NAME, REQUESTS = "reviews", "review requests"
# A row may be written a little after its time.
MAX_WRITE_DELAY = timedelta(minutes=5)
# Younger rows may be of reviews that are still being written: cleared now, they would be missing after a crash.
FINISHED_AFTER = timedelta(minutes=2)
FIRST_LOOK_BACK = timedelta(days=1)
_AT_ONCE = 50  # periods read side by side


def sweep_reviews(now: datetime) -> str:
    """Finish the copies of the reviews that were written or voted for, and let cards say the ratings."""
    position = get_position(NAME)
    since = datetime.fromisoformat(position) if position else now - FIRST_LOOK_BACK
    periods = list_periods(since, now)
    count = sum(
        finish_reviews(periods[start : start + _AT_ONCE], now - FINISHED_AFTER)
        for start in range(0, len(periods), _AT_ONCE)
    )
    reached = floor_to_period(now - MAX_WRITE_DELAY).isoformat()
    if reached != position:
        save_position(NAME, reached)
    return describe_count(
        ngettext("%(count)s review finished", "%(count)s reviews finished", count), count
    )


def finish_reviews(periods: list[datetime], until: datetime) -> int:
    """Finish the reviews that were noted in these periods, up to a moment; return how many that were. Raises CassandraUnavailable."""
    latest = until.timestamp() * 1_000_000
    noted = [each for each in queries.list_pending(periods) if each[3] <= latest]
    reviews = {(product_id, user_id) for _, product_id, user_id, _ in noted}
    for product_id, user_id in reviews:
        operations.refresh_review(product_id, user_id)
    for product_id in {each for each, _ in reviews}:
        operations.prune_helpful(product_id)
        operations.refresh_rating(product_id)
    for period, product_id, user_id, written in noted:
        operations.clear_pending(period, product_id, user_id, written)
    return len(reviews)


def ask_buyers(now: datetime) -> str:
    """Ask the buyers of orders that arrived two weeks ago for a review, day by day."""
    position, until = get_position(REQUESTS), floor_to_day(now - ASKED_AFTER)
    day = datetime.fromisoformat(position) if position else until
    asked = 0
    while day <= until:
        asked += ask_for_reviews_of(day.date(), now)
        # Only now: cut off before, the day is done again, and nobody gets a second mail.
        day += timedelta(days=1)
        save_position(REQUESTS, day.isoformat())
    return describe_count(
        ngettext(
            "%(count)s buyer asked for a review", "%(count)s buyers asked for a review", asked
        ),
        asked,
    )


JOBS = [
    Job(
        REQUESTS,
        timedelta(minutes=10),
        ask_buyers,
        normal_lag=ASKED_AFTER,
        idle_every=timedelta(hours=1),
    ),
    Job(
        NAME,
        timedelta(seconds=30),
        sweep_reviews,
        normal_lag=timedelta(minutes=30),
        # Only a crash leaves it anything that readers would miss.
        idle_every=timedelta(minutes=10),
    ),
]

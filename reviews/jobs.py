"""What the worker does for reviews: it finishes what a crash has left of them."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import partial
from uuid import UUID

from django.utils.translation import ngettext

from jobs.leases import get_position, save_position
from jobs.periods import FINISHED_AFTER, PERIOD, list_periods, sweep_periods
from jobs.registry import Job, describe_count
from jobs.rows import guard_row
from reviews import operations, queries
from reviews.pictures import follow_pictures
from reviews.requests import ASKED_AFTER, ask_for_reviews_of, floor_to_day

NAME, REQUESTS = "reviews", "review requests"
# A buyer who cannot be asked within this time is not asked any more.
ASK_FOR = timedelta(days=7)


def sweep_reviews(now: datetime) -> str:
    """Finish the copies of the reviews that were written or voted for, and let cards say the ratings."""
    count = sweep_periods(
        NAME, now, lambda periods: finish_reviews(periods, now - FINISHED_AFTER, now)
    )
    return describe_count(
        ngettext("%(count)s review finished", "%(count)s reviews finished", count), count
    )


def finish_reviews(periods: list[datetime], until: datetime, now: datetime) -> int:
    """Finish the reviews that were noted in these periods, up to a moment, and the pictures of all; return how many reviews that were.

    What fails of a review is noted again. Raises CassandraUnavailable; outside the worker also what the storage of pictures raises.
    """
    latest = until.timestamp() * 1_000_000
    noted = queries.list_pending(periods)
    old = [each for each in noted if each.written <= latest]
    reviews = {(each.product_id, each.user_id) for each in old}
    unfinished: set[tuple[UUID, UUID]] = set()
    for key in reviews:
        with guard_row(_describe(key), partial(unfinished.add, key)):
            operations.refresh_review(*key)
    for key in reviews | {(each.product_id, each.user_id) for each in noted if each.has_pictures}:
        with guard_row(f"pictures of {_describe(key)}", partial(unfinished.add, key)):
            if not follow_pictures(*key, now):
                unfinished.add(key)
    for product_id in {each for each, _ in reviews}:
        of_product = {key for key in reviews if key[0] == product_id}
        with guard_row(f"rating of product {product_id}", partial(unfinished.update, of_product)):
            operations.prune_helpful(product_id)
            operations.refresh_rating(product_id)
    for each in old:
        if (each.product_id, each.user_id) in unfinished:
            # Before the other one goes, so that the next run finds it, in a period that it still looks at. There is no hurry any more.
            operations.mark_pending(each.product_id, each.user_id)
        operations.clear_pending(each.period, each.product_id, each.user_id, each.written)
    return len(reviews)


def _describe(key: tuple[UUID, UUID]) -> str:
    product_id, user_id = key
    return f"review of product {product_id} by {user_id}"


def has_pictures(now: datetime) -> bool:
    """Return whether files of the last minutes wait to become pictures of a review."""
    return any(each.has_pictures for each in queries.list_pending(list_periods(now - PERIOD, now)))


def ask_buyers(now: datetime) -> str:
    """Ask the buyers of orders that arrived two weeks ago for a review, day by day."""
    position, until = get_position(REQUESTS), floor_to_day(now - ASKED_AFTER)
    day = datetime.fromisoformat(position) if position else until
    asked, failed_days = 0, list[datetime]()
    while day <= until:
        asked += ask_for_reviews_of(day.date(), now, partial(failed_days.append, day))
        # Only now: cut off before, the day is done again, and nobody gets a second mail.
        day += timedelta(days=1)
        reached = max(min([day, *failed_days]), min(day, until - ASK_FOR))
        save_position(REQUESTS, reached.isoformat())
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
        # But for pictures, only a crash leaves it anything that readers would miss.
        idle_every=timedelta(minutes=10),
        has_work=has_pictures,
    ),
]

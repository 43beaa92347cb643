"""The worker's jobs for reviews: finishing interrupted writes and pictures, and asking buyers for reviews."""

from datetime import datetime, timedelta
from functools import partial

from django.utils.translation import ngettext

from cassandra_db import Row
from jobs.due_rows import Sweep
from jobs.leases import get_position, save_position
from jobs.registry import Job, describe_count
from reviews.copies import prune_helpful, refresh_rating, refresh_review
from reviews.operations import PENDING_REVIEWS
from reviews.pictures import follow_pictures
from reviews.requests import ASKED_AFTER, ask_for_reviews_of, floor_to_day

REQUESTS = "review requests"
# The request that has written a younger pending row may still run.
FINISHED_AFTER = timedelta(minutes=2)
# The time during which a failed request to a buyer is tried again.
ASK_FOR = timedelta(days=7)


def sweep_reviews(now: datetime) -> str:
    """Finish the copies of reviews that were changed or voted for, and the ratings on cards."""
    with PENDING_REVIEWS.sweep(now) as sweep:
        finish_reviews(sweep, now - FINISHED_AFTER)
    return describe_count(
        ngettext("%(count)s review finished", "%(count)s reviews finished", sweep.count),
        sweep.count,
    )


def finish_reviews(sweep: Sweep, until: datetime) -> None:
    """Finish the reviews whose pending rows are older than `until`, and the pictures of all pending reviews.

    Raises CassandraUnavailable. Outside the worker, also raises the errors of the picture storage.
    """
    latest = until.timestamp() * 1_000_000
    for rows in sweep.groups("product_id"):
        old = [row for row in rows if row.written <= latest]
        reviews = sweep.split(rows, "product_id", "user_id")
        for own_rows in reviews:
            _finish_review(own_rows, [row for row in own_rows if row in old], sweep)
        if old:
            product_id = old[0].product_id
            with sweep.attempt(old, f"rating of product {product_id}"):
                prune_helpful(product_id)
                refresh_rating(product_id)
            sweep.clear(old)
            sweep.count += len({row.user_id for row in old})


def _finish_review(rows: list[Row], old: list[Row], sweep: Sweep) -> None:
    """Finish a review. If none of its rows are `old`, finish only its pictures: a request may still write its copies."""
    product_id, user_id = rows[0].product_id, rows[0].user_id
    name = f"of product {product_id} by {user_id}"
    if old:
        with sweep.attempt(old, name):
            refresh_review(product_id, user_id)
    if old or any(row.has_pictures for row in rows):
        with sweep.attempt(old or rows, f"{name}, pictures"):
            if not follow_pictures(product_id, user_id, sweep.now) and old:
                sweep.postpone(old, timedelta(0))


def has_pictures(now: datetime) -> bool:
    """Return whether pictures that were sent in the last minutes wait for the worker."""
    rows = PENDING_REVIEWS.list_between(now - PENDING_REVIEWS.length, now)
    return any(row.has_pictures for row in rows)


def ask_buyers(now: datetime) -> str:
    """Ask the buyers of orders that arrived two weeks ago for a review, day by day."""
    position, until = get_position(REQUESTS), floor_to_day(now - ASKED_AFTER)
    day = datetime.fromisoformat(position) if position else until
    asked, failed_days = 0, list[datetime]()
    while day <= until:
        asked += ask_for_reviews_of(day.date(), now, partial(failed_days.append, day))
        # The day counts as done only now: after an earlier crash it is repeated, but nobody gets a second mail.
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
        PENDING_REVIEWS.job,
        timedelta(seconds=30),
        sweep_reviews,
        normal_lag=timedelta(minutes=30),
        # Except for pictures, work is left only after a crash.
        idle_every=timedelta(minutes=10),
        has_work=has_pictures,
    ),
]

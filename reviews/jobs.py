"""What the worker does for reviews: it finishes their copies, and lets cards follow the ratings."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.utils.translation import ngettext

from jobs.leases import get_position, save_position
from jobs.minutes import MINUTE, floor_to_minute, minutes_between
from jobs.registry import Job, describe_count
from reviews import operations, queries

NAME = "reviews"
# A row may be written a little after its minute.
MAX_WRITE_DELAY = timedelta(minutes=5)
FIRST_LOOK_BACK = timedelta(days=1)
_AT_ONCE = 100  # minutes read side by side


def sweep_reviews(now: datetime) -> str:
    """Finish the copies of the reviews that were written or voted for, and let cards say the ratings."""
    position = get_position(NAME)
    since = datetime.fromisoformat(position) if position else now - FIRST_LOOK_BACK
    # Younger rows may be of reviews that are still being written: cleared now, they would be missing after a crash.
    minutes = minutes_between(since, now - 2 * MINUTE)
    count = sum(
        finish_reviews(minutes[start : start + _AT_ONCE])
        for start in range(0, len(minutes), _AT_ONCE)
    )
    reached = floor_to_minute(now - MAX_WRITE_DELAY).isoformat()
    if reached != position:
        save_position(NAME, reached)
    return describe_count(
        ngettext("%(count)s review finished", "%(count)s reviews finished", count), count
    )


def finish_reviews(minutes: list[datetime]) -> int:
    """Finish the reviews that are noted in these minutes; return how many that were. Raises CassandraUnavailable."""
    noted = queries.list_pending(minutes)
    reviews = {(product_id, user_id) for _, product_id, user_id, _ in noted}
    for product_id, user_id in reviews:
        operations.refresh_review(product_id, user_id)
    for product_id in {each for each, _ in reviews}:
        operations.prune_helpful(product_id)
        operations.refresh_rating(product_id)
    for minute, product_id, user_id, written in noted:
        operations.clear_pending(minute, product_id, user_id, written)
    return len(reviews)


JOBS = [
    Job(
        NAME,
        timedelta(seconds=15),
        sweep_reviews,
        normal_lag=MAX_WRITE_DELAY + MINUTE,
        idle_every=timedelta(minutes=1),
    )
]

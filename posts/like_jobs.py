"""The worker's jobs for likes: what a crash has left behind, and the posts with the most likes of a week."""

from datetime import datetime, timedelta

from django.utils.translation import ngettext

from jobs.due_rows import Sweep
from jobs.leases import get_position, save_position
from jobs.registry import Job, describe_count
from posts import queries
from posts.operations.likes import finish_like
from posts.operations.pending import PENDING_LIKES
from posts.operations.popular import HOUR, count_hour, floor_to_hour, rank_week

POPULAR = "popular posts"
# The request that has written a younger pending row may still run.
FINISHED_AFTER = timedelta(minutes=1)
# Likes of earlier hours have expired, or are about to.
COUNT_FOR = timedelta(days=7)


def sweep_likes(now: datetime) -> str:
    """Finish the likes whose request was cut off."""
    with PENDING_LIKES.sweep(now) as sweep:
        finish_likes(sweep, now - FINISHED_AFTER)
    return describe_count(
        ngettext("%(count)s like finished", "%(count)s likes finished", sweep.count), sweep.count
    )


def finish_likes(sweep: Sweep, until: datetime) -> None:
    """Finish the likes whose pending rows are older than `until`. Raises PostBusy, CassandraUnavailable."""
    latest = until.timestamp() * 1_000_000
    for rows in sweep.groups("user_id", "post_id"):
        old = [row for row in rows if row.written <= latest]
        if old:
            user_id, post_id = old[0].user_id, old[0].post_id
            with sweep.handle(old, f"of {user_id} for post {post_id}"):
                post = queries.get_post(post_id)
                if post:
                    finish_like(user_id, post)


def count_popular(now: datetime) -> str:
    """Count the likes of the hours since the last run and of the hour before, and list the posts with the most likes of the week."""
    position, present = get_position(POPULAR), floor_to_hour(now)
    hour = datetime.fromisoformat(position) if position else present
    hour = min(max(hour, floor_to_hour(now - COUNT_FOR)), present)
    likes = 0
    while hour <= present:
        likes += count_hour(hour)
        hour += HOUR
    rank_week(now)
    # A like of this hour may still be under way when the next one begins.
    save_position(POPULAR, (present - HOUR).isoformat())
    return describe_count(
        ngettext("%(count)s like counted", "%(count)s likes counted", likes), likes
    )


LIKE_JOBS = [
    Job(
        PENDING_LIKES.job,
        timedelta(seconds=30),
        sweep_likes,
        normal_lag=PENDING_LIKES.max_write_delay + timedelta(minutes=1),
        # Work is left only after a crash.
        idle_every=timedelta(minutes=5),
    ),
    Job(POPULAR, timedelta(minutes=10), count_popular, normal_lag=2 * HOUR, idle_every=HOUR),
]

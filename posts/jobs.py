"""The worker's jobs for posts: pictures, sums, and what a crash has left behind."""

from datetime import datetime, timedelta

from django.utils.translation import ngettext

from cassandra_db import Row
from jobs.due_rows import Sweep
from jobs.registry import Job, describe_count
from posts.feed_jobs import FEED_JOBS
from posts.like_jobs import LIKE_JOBS
from posts.operations.comments import parse_comment, refresh_comment
from posts.operations.copies import refresh_post
from posts.operations.pending import COMMENT, COPIES, LEFT_LISTS, PENDING_POSTS, PICTURES, SUMS
from posts.operations.removal import delete_under
from posts.operations.sums import count_sums
from posts.pictures import follow_pictures

# The request that has written a younger pending row may still run.
FINISHED_AFTER = timedelta(minutes=2)
# How far the look for urgent work goes back: a read is mostly of one partition.
_JUST = timedelta(seconds=6)


def sweep_posts(now: datetime) -> str:
    """Count the sums of popular posts, give posts their pictures, and finish what a crash has left behind."""
    with PENDING_POSTS.sweep(now) as sweep:
        for rows in sweep.groups("post_id"):
            finish_post(rows, sweep)
    return describe_count(
        ngettext("%(count)s post checked", "%(count)s posts checked", sweep.count), sweep.count
    )


def finish_post(rows: list[Row], sweep: Sweep) -> None:
    """Do the work of a post's pending rows. Copies and comments wait until the request that writes them must have ended.

    Raises CassandraUnavailable. Outside the worker, also raises the errors of the picture storage.
    """
    post_id = rows[0].post_id
    latest = (sweep.now - FINISHED_AFTER).timestamp() * 1_000_000
    due = [row for row in rows if row.written <= latest or row.what in (SUMS, PICTURES)]
    if not due:
        return
    names = {row.what for row in due}
    with sweep.attempt(due, post_id):
        for name in names:
            if name.startswith(f"{COMMENT} "):
                refresh_comment(post_id, *parse_comment(name))
        if COPIES in names:
            refresh_post(post_id, [each for each in names if each.startswith(LEFT_LISTS)])
            delete_under(post_id)
        if SUMS in names:
            count_sums(post_id)
        waiting: list[Row] = []
        if {COPIES, PICTURES} & names and not follow_pictures(post_id, sweep.now):
            waiting = [row for row in due if row.what == PICTURES]
            sweep.postpone([row for row in waiting if row.written <= latest], timedelta(0))
        sweep.clear([row for row in due if row not in waiting])
        # While pictures are being decoded, the job runs again soon.
        sweep.count += waiting != due or any(row.written > latest for row in waiting)


def has_urgent(now: datetime) -> bool:
    """Return whether pictures were just sent, or a popular post's sums are to be counted. Raises CassandraUnavailable."""
    return any(row.what in (SUMS, PICTURES) for row in PENDING_POSTS.list_between(now - _JUST, now))


JOBS = [
    Job(
        PENDING_POSTS.job,
        # Sums are at most 5 seconds old.
        timedelta(seconds=4),
        sweep_posts,
        normal_lag=PENDING_POSTS.max_write_delay + timedelta(minutes=1),
        idle_every=timedelta(minutes=1),
        has_work=has_urgent,
        has_own_loop=True,
    ),
    *LIKE_JOBS,
    *FEED_JOBS,
]

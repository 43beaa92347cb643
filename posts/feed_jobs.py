"""The job that finishes what follows from published posts, logins, follows and blocks."""

from datetime import datetime, timedelta
from uuid import UUID

from django.utils.translation import ngettext

from jobs.registry import Job, describe_count
from posts.operations.blocks import end_follows_between
from posts.operations.feeds import BLOCK, FOLLOW, LOGIN, PENDING_FEEDS, POST, copy_post, fill_feed
from posts.operations.follows import finish_follow

# How far the look for new events goes back: a read is mostly of one partition.
_JUST = timedelta(seconds=15)


def finish_event(subject_id: UUID, what: str, now: datetime) -> None:
    """Finish what a pending row names. A second call changes nothing. Raises PostBusy, CassandraUnavailable."""
    kind, _, other = what.partition(" ")
    if kind == POST:
        copy_post(subject_id, now)
    elif kind == LOGIN:
        fill_feed(subject_id, now)
    elif kind == FOLLOW:
        finish_follow(subject_id, UUID(other), now)
    elif kind == BLOCK:
        end_follows_between(subject_id, UUID(other), now)


def sweep_feeds(now: datetime) -> str:
    """Copy published posts to followers, fill the feeds of returning members, and finish follows and blocks."""
    with PENDING_FEEDS.sweep(now) as sweep:
        for rows in sweep.groups("subject_id", "what"):
            with sweep.handle(rows, rows[0].subject_id):
                finish_event(rows[0].subject_id, rows[0].what, now)
    return describe_count(
        ngettext("%(count)s feed updated", "%(count)s feeds updated", sweep.count), sweep.count
    )


def has_events(now: datetime) -> bool:
    """Return whether something happened just now. Raises CassandraUnavailable."""
    return bool(PENDING_FEEDS.list_between(now - _JUST, now))


FEED_JOBS = [
    Job(
        PENDING_FEEDS.job,
        timedelta(seconds=10),
        sweep_feeds,
        normal_lag=PENDING_FEEDS.max_write_delay + timedelta(minutes=2),
        idle_every=timedelta(minutes=2),
        has_work=has_events,
    )
]

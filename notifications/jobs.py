"""The worker's jobs for notifications: telling what was announced, and sending the digests."""

from datetime import UTC, datetime, timedelta

from django.utils.translation import ngettext

from jobs.due_rows import MAX_WRITE_DELAY, Sweep
from jobs.minutes import MINUTE
from jobs.registry import Job, describe_count
from notifications.kinds import prepare_news
from notifications.operations import ANNOUNCED, DIGESTS, send_digest, tell

# With the time between two looks of an open page, less than a minute.
LOOK_EVERY = timedelta(seconds=20)
# Past this time, a write that was announced before it was made has failed.
GIVEN_UP_AFTER = timedelta(minutes=2)


def tell_news(now: datetime) -> str:
    """Tell members the events of the subjects that apps have announced."""
    with ANNOUNCED.sweep(now) as sweep:
        told = tell_announced(sweep)
    return describe_count(ngettext("%(count)s notification", "%(count)s notifications", told), told)


def tell_announced(sweep: Sweep) -> int:
    """Tell the events of the announced subjects of a sweep; return the number of notifications. Raises CassandraUnavailable."""
    told = 0
    for rows in sweep.groups("subject_id", "source", "detail"):
        subject = rows[0].subject_id, rows[0].source, rows[0].detail
        with sweep.handle(rows, "{1} {0} {2}".format(*subject)):
            noted_at = datetime.fromtimestamp(rows[0].written / 1_000_000, UTC)
            news = prepare_news(rows[0].source, rows[0].subject_id, rows[0].detail, noted_at)
            if news is None and noted_at > sweep.now - GIVEN_UP_AFTER:
                sweep.keep(rows)
            told += tell(news or [])
    return told


def has_announced(now: datetime) -> bool:
    """Return whether something was announced since the last look, or little earlier; the next run finds the rest."""
    return bool(ANNOUNCED.list_between(now - LOOK_EVERY, now))


def send_digests(now: datetime) -> str:
    """Mail the digests that are due."""
    count = 0
    with DIGESTS.sweep(now) as sweep:
        for rows in sweep.groups("user_id", "digest_at"):
            with sweep.handle(rows, rows[0].user_id):
                count += send_digest(rows[0].user_id, rows[0].digest_at)
    return describe_count(ngettext("%(count)s digest", "%(count)s digests", count), count)


JOBS = [
    Job(
        ANNOUNCED.job,
        LOOK_EVERY,
        tell_news,
        normal_lag=MAX_WRITE_DELAY + MINUTE,
        idle_every=timedelta(minutes=5),
        has_work=has_announced,
    ),
    Job(
        DIGESTS.job,
        timedelta(minutes=1),
        send_digests,
        normal_lag=DIGESTS.wait + DIGESTS.length + MAX_WRITE_DELAY + MINUTE,
        idle_every=timedelta(minutes=15),
    ),
]

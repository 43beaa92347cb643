"""The worker's job that sends mails."""

from datetime import datetime, timedelta
from uuid import UUID

from jobs.leases import get_position, save_position
from jobs.minutes import MINUTE, minutes_between
from jobs.registry import make_sharded_jobs
from jobs.shards import Shard
from mail.operations import LATEST_OUTBOX_ENTRY, WHOLE_OUTBOX, send_due_mails
from mail.queries import list_outbox_entries

NAME = WHOLE_OUTBOX.family
# An entry is written a little after the time whose minute it gets, and the clocks of two hosts differ a little.
JUST_NOW = timedelta(seconds=15)


def send_mails(now: datetime, shard: Shard = WHOLE_OUTBOX) -> str:
    """Send the due mails of a shard, from the minute at which the last run stopped. Return a line about the sent mails."""
    was = get_position(shard.job_name)
    did = send_due_mails(now, position=datetime.fromisoformat(was) if was else None, shard=shard)
    if did.position.isoformat() != was:
        save_position(shard.job_name, did.position.isoformat())
    if not (did.sent or did.failed or did.has_left_some):
        return ""
    return f"{did.sent} sent, {did.failed} failed" + (", some left" if did.has_left_some else "")


def list_new_mails(now: datetime) -> set[UUID]:
    """Return the mails that the outbox got in the last moments. Only a run finds older ones. Raises CassandraUnavailable."""
    minutes = minutes_between(now - JUST_NOW, now)
    return {entry.mail_id for entry in list_outbox_entries(minutes, len(minutes))}


JOBS = make_sharded_jobs(
    NAME,
    timedelta(seconds=2),
    send_mails,
    normal_lag=LATEST_OUTBOX_ENTRY + MINUTE,
    idle_every=timedelta(minutes=5),
    has_work=list_new_mails,
)

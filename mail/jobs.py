"""What the worker does for the mail."""

from datetime import datetime, timedelta

from jobs.leases import moved, position
from jobs.minutes import MINUTE
from jobs.registry import shared
from jobs.shares import Share
from mail.operations import LATEST_OUTBOX_ENTRY, WHOLE_OUTBOX, send_due_mails

NAME = WHOLE_OUTBOX.family


def send_mails(now: datetime, shard: Share = WHOLE_OUTBOX) -> str:
    """Send what is due of this share, from where the last run got to."""
    was = position(shard.job)
    did = send_due_mails(now, position=datetime.fromisoformat(was) if was else None, shard=shard)
    if did.position.isoformat() != was:
        moved(shard.job, did.position.isoformat())
    return f"{did.sent} sent, {did.failed} failed" if did.sent or did.failed else ""


JOBS = shared(NAME, timedelta(seconds=2), send_mails, trails=LATEST_OUTBOX_ENTRY + MINUTE)

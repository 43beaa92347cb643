"""What the worker does for the mail."""

from datetime import datetime, timedelta

from jobs.leases import moved, position
from jobs.minutes import MINUTE
from jobs.registry import shared
from jobs.shares import Share
from mail.operations import LATEST_HINT, WHOLE_OUTBOX, mails_sent

NAME = WHOLE_OUTBOX.family


def send(now: datetime, share: Share = WHOLE_OUTBOX) -> str:
    """Send what is due of this share, from where the last run got to."""
    was = position(share.job)
    did = mails_sent(now, position=datetime.fromisoformat(was) if was else None, share=share)
    if did.position.isoformat() != was:
        moved(share.job, did.position.isoformat())
    return f"{did.sent} sent, {did.failed} failed" if did.sent or did.failed else ""


JOBS = shared(NAME, timedelta(seconds=2), send, trails=LATEST_HINT + MINUTE)

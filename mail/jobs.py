"""What the worker does for the mail."""

from datetime import datetime, timedelta

from cassandra_db.jobs import Job
from cassandra_db.leases import moved, position
from mail.operations import mails_sent

NAME = "mail"


def send(now: datetime) -> str:
    """Send what is due, from where the last run got to."""
    was = position(NAME)
    did = mails_sent(now, position=datetime.fromisoformat(was) if was else None)
    if did.position.isoformat() != was:
        moved(NAME, did.position.isoformat())
    return f"{did.sent} sent, {did.failed} failed" if did.sent or did.failed else ""


JOBS = [Job("mail", timedelta(seconds=2), send)]

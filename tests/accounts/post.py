"""Reads the mail that the shop has written."""

import re
from datetime import UTC, datetime, timedelta

from django.conf import settings

from cassandra_db import Row
from cassandra_db.minutes import minute_of
from mail.queries import HINTS, mail


def mails_to(email: str, *, since: datetime) -> list[Row]:
    """Return what was written to an address since then, the first one first."""
    now, hints = datetime.now(UTC), []
    minute = minute_of(since)
    while minute <= now:
        hints += HINTS.all(minute=minute)
        minute += timedelta(minutes=1)
    found = (mail(hint.mail_id) for hint in hints)
    return sorted((row for row in found if row and row.recipient == email), key=lambda row: row.queued_at)


def link_in(text: str) -> str:
    """Return the path of the link to an account's page in a mail."""
    match = re.search(rf"{re.escape(settings.PUBLIC_URL)}(/account/\S+)", text)
    assert match
    return match[1]

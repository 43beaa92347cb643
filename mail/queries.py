"""What the worker reads of the outbox."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from cassandra_db import Pending, Row, read

HINTS = read("mail", "SELECT minute, mail_id FROM outbox_by_minute WHERE minute = :minute")
MAIL = read(
    "mail",
    "SELECT mail_id, recipient, subject, text, html, attempts, queued_at, sent_at FROM mails WHERE mail_id = :mail_id",
)


def hints(minutes: Sequence[datetime], at_once: int) -> list[Row]:
    """Return the hints of these minutes, the oldest first, reading `at_once` minutes in parallel. Raises CassandraUnavailable."""
    found: list[Row] = []
    for start in range(0, len(minutes), at_once):
        reading = [HINTS.start(minute=minute) for minute in minutes[start : start + at_once]]
        found += [row for pending in reading for row in pending.rows()]
    return found


def mail_started(mail_id: UUID) -> Pending:
    """Start reading a mail. Raises CassandraUnavailable."""
    return MAIL.start(mail_id=mail_id)


def mail(mail_id: UUID) -> Row | None:
    """Return the mail as it stands in the outbox, or None. Raises CassandraUnavailable."""
    return MAIL.one(mail_id=mail_id)

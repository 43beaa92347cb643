"""What the worker reads of the outbox. Texts are encrypted there: a mail that is still to be sent may hold a link that opens something."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from uuid import UUID, uuid5

from cassandra_db import PendingResult, Row, read
from jobs.minutes import minutes_between
from mail.addresses import email_key
from web.encryption import DecryptionError, decrypt, encrypt

_PURPOSE = "mail"

OUTBOX_ENTRIES = read("mail", "SELECT minute, mail_id FROM outbox_by_minute WHERE minute = :minute")
MAIL = read(
    "mail",
    """SELECT mail_id, recipient, subject, text, html, attempts, claim, due_at, queued_at, sent_at
       FROM mails WHERE mail_id = :mail_id""",
)

WRITTEN = read("mail", "SELECT mail_id FROM mails WHERE mail_id = :mail_id")
OF_RECIPIENT = read("mail", "SELECT mail_id FROM mails_by_recipient WHERE recipient = :recipient")
ABOUT_PERSON = read("mail", "SELECT mail_id FROM mails_by_person WHERE person_id = :person_id")


def list_outbox_entries(minutes: Sequence[datetime], at_once: int) -> list[Row]:
    """Return the outbox entries of these minutes, the oldest first, reading `at_once` minutes in parallel. Raises CassandraUnavailable."""
    found: list[Row] = []
    for start in range(0, len(minutes), at_once):
        reading = [
            OUTBOX_ENTRIES.start(minute=minute) for minute in minutes[start : start + at_once]
        ]
        found += [row for pending in reading for row in pending.rows()]
    return found


def encrypt_part(text: str, mail_id: UUID) -> str:
    """Return a mail's text or HTML as the table keeps it."""
    return encrypt(text, _PURPOSE, str(mail_id))


def prefetch_mail(mail_id: UUID) -> PendingResult:
    """Start reading a mail, to be opened by `open_mail`. Raises CassandraUnavailable."""
    return MAIL.start(mail_id=mail_id)


def open_mail(row: Row | None) -> Row | None:
    """Return a mail with its texts readable: None where they are gone, or the key under which they were encrypted is."""
    if row is None:
        return None
    return row._replace(
        text=_open_part(row.text, row.mail_id), html=_open_part(row.html, row.mail_id)
    )


def _open_part(text: str | None, mail_id: UUID) -> str | None:
    try:
        return decrypt(text, _PURPOSE, str(mail_id))[0] if text else None
    except DecryptionError:
        return None


def get_mail(mail_id: UUID) -> Row | None:
    """Return the mail as it stands in the outbox, or None. Raises CassandraUnavailable."""
    return open_mail(MAIL.one(mail_id=mail_id))


def derive_mail_id(subject_id: UUID, event: str) -> UUID:
    """Return the id of the mail about what happened to a subject: queued twice, it is one mail."""
    return uuid5(subject_id, event)


def list_unmailed_events(subject_id: UUID, events: Iterable[str]) -> list[str]:
    """Return about which of these events no mail was written in the last 30 days. Raises CassandraUnavailable."""
    reading = {event: WRITTEN.start(mail_id=derive_mail_id(subject_id, event)) for event in events}
    return [event for event, pending in reading.items() if not pending.rows()]


def list_recipient_mails(email: str) -> list[Row]:
    """Return the mails of the last 30 days to a mailbox, sent or not. Raises CassandraUnavailable."""
    reading = [prefetch_mail(row.mail_id) for row in OF_RECIPIENT.all(recipient=email_key(email))]
    # A row may stand for a mail that was never written, or has been dropped.
    return [
        row
        for pending in reading
        if (row := open_mail(pending.one())) and row.recipient is not None
    ]


def list_mail_ids_about(person_id: UUID) -> list[UUID]:
    """Return the ids of the mails of the last 30 days to other mailboxes that may name a person. Raises CassandraUnavailable."""
    return [row.mail_id for row in ABOUT_PERSON.all(person_id=person_id)]


def list_due_mail_minutes(since: datetime, until: datetime, most: int) -> list[datetime]:
    """Return, of each mail that was due in this time and is not sent yet, the minute; at most so many, the oldest first.

    Raises CassandraUnavailable.
    """
    minutes = minutes_between(since, until)
    found: list[datetime] = []
    for start in range(0, len(minutes), 60):
        found += [entry.minute for entry in list_outbox_entries(minutes[start : start + 60], 60)]
        if len(found) >= most:
            break
    return found[:most]

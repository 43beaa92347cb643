"""The reads of mails and the outbox. The mails' texts are stored encrypted, because a text may have a link that grants access."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID, uuid5

from cassandra_db import PendingResult, Row, read
from jobs.minutes import minutes_between
from mail.addresses import ADDRESS_BUCKETS, address_bucket, email_key
from mail.fates import FAILURES, get_fate
from web.encryption import DecryptionError, decrypt, encrypt

_PURPOSE = "mail"

OUTBOX_ENTRIES = read("mail", "SELECT minute, mail_id FROM outbox_by_minute WHERE minute = :minute")
MAIL = read(
    "mail",
    """SELECT mail_id, recipient, subject, text, html, attempts, claim, due_at, queued_at, sent_at,
              order_number, fate, failed_at, failure, unsubscribe_url, thread_id, references
       FROM mails WHERE mail_id = :mail_id""",
)

WRITTEN = read("mail", "SELECT mail_id FROM mails WHERE mail_id = :mail_id")
OF_RECIPIENT = read("mail", "SELECT mail_id FROM mails_by_recipient WHERE recipient = :recipient")
ABOUT_PERSON = read("mail", "SELECT mail_id FROM mails_by_person WHERE person_id = :person_id")

# An order's mails and their fates.
OF_ORDER = read(
    "mail",
    "SELECT mail_id, subject, queued_at, fate FROM mails_by_order WHERE order_number = :order_number",
)
# The mails that failed for good on a day.
FAILED_OF_DAY = read("mail", "SELECT mail_id FROM failed_mails_by_day WHERE day = :day LIMIT :most")
# The time since which an address gets no mail, and the reason.
UNDELIVERABLE = read(
    "mail",
    """SELECT email, bounced_at, failure, mail_id FROM undeliverable_addresses
       WHERE bucket = :bucket AND email = :email""",
)
UNDELIVERABLE_IN_BUCKET = read(
    "mail",
    """SELECT email, bounced_at, failure, mail_id FROM undeliverable_addresses
       WHERE bucket = :bucket LIMIT :most""",
)
FAILED_SHOWN_FOR = 30  # days
FAILED_COUNTED_FOR = 3  # days: Home leaves out older failures
MAX_FAILED_OF_DAY = 100
MAX_FAILED_SHOWN = 100
MAX_ADDRESSES_IN_BUCKET = 20


def list_outbox_entries(minutes: Sequence[datetime], at_once: int) -> list[Row]:
    """Return the outbox entries due in these minutes, oldest first, reading `at_once` in parallel. Raises CassandraUnavailable."""
    found: list[Row] = []
    for start in range(0, len(minutes), at_once):
        reading = [
            OUTBOX_ENTRIES.start(minute=minute) for minute in minutes[start : start + at_once]
        ]
        found += [row for pending in reading for row in pending.rows()]
    return found


def encrypt_part(text: str, mail_id: UUID) -> str:
    """Return a mail's text or HTML encrypted, as the table stores it."""
    return encrypt(text, _PURPOSE, str(mail_id))


def prefetch_mail(mail_id: UUID) -> PendingResult:
    """Start reading a mail, for `open_mail`. Raises CassandraUnavailable."""
    return MAIL.start(mail_id=mail_id)


def open_mail(row: Row | None) -> Row | None:
    """Return a mail with its texts decrypted. A text is None if it was deleted, or if its encryption key no longer exists."""
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
    """Return a mail with its texts decrypted, or None. Raises CassandraUnavailable."""
    return open_mail(MAIL.one(mail_id=mail_id))


def derive_mail_id(subject_id: UUID, event: str) -> UUID:
    """Return the id of the mail about an event of a subject, such as an order. The same event gives the same id."""
    return uuid5(subject_id, event)


def list_unmailed_events(subject_id: UUID, events: Iterable[str]) -> list[str]:
    """Return the events about which no mail was written in the last 30 days. Raises CassandraUnavailable."""
    reading = {event: WRITTEN.start(mail_id=derive_mail_id(subject_id, event)) for event in events}
    return [event for event, pending in reading.items() if not pending.rows()]


def list_recipient_mails(email: str) -> list[Row]:
    """Return the mails of the last 30 days to a mailbox, sent or not. Raises CassandraUnavailable."""
    reading = [prefetch_mail(row.mail_id) for row in OF_RECIPIENT.all(recipient=email_key(email))]
    # The mail that a row names may never have been written, or may have been deleted.
    return [
        row
        for pending in reading
        if (row := open_mail(pending.one())) and row.recipient is not None
    ]


def list_mail_ids_about(person_id: UUID) -> list[UUID]:
    """Return the ids of the mails of the last 30 days to other mailboxes that may name a person. Raises CassandraUnavailable."""
    return [row.mail_id for row in ABOUT_PERSON.all(person_id=person_id)]


def list_due_mail_minutes(since: datetime, until: datetime, most: int) -> list[datetime]:
    """Return at most `most` minutes of this period in which unsent mails are due, oldest first. Raises CassandraUnavailable."""
    minutes = minutes_between(since, until)
    found: list[datetime] = []
    for start in range(0, len(minutes), 60):
        found += [entry.minute for entry in list_outbox_entries(minutes[start : start + 60], 60)]
        if len(found) >= most:
            break
    return found[:most]


def prefetch_order_mails(order_number: str) -> PendingResult:
    """Start reading the mails about an order, for `order_mails_from_rows`. Raises CassandraUnavailable."""
    return OF_ORDER.start(order_number=order_number)


def order_mails_from_rows(rows: Sequence[Row]) -> list[Row]:
    """Return the mails about an order (mail_id, subject, queued_at, fate), the newest first."""
    return sorted(rows, key=lambda row: (row.queued_at, row.mail_id), reverse=True)


def get_undeliverable_address(email: str) -> Row | None:
    """Return the row of UNDELIVERABLE for an address; None if the address gets mail. Raises CassandraUnavailable."""
    return prefetch_undeliverable_address(email).one()


def prefetch_undeliverable_address(email: str) -> PendingResult:
    """Start reading the row that `get_undeliverable_address` returns. Raises CassandraUnavailable."""
    return UNDELIVERABLE.start(bucket=address_bucket(email), email=email_key(email))


def prefetch_failed_days(now: datetime, days: int) -> list[PendingResult]:
    """Start reading the mails that failed on each of the last `days` days, at most 100 a day. Raises CassandraUnavailable."""
    today = now.date()
    return [
        FAILED_OF_DAY.start(day=today - timedelta(days=past), most=MAX_FAILED_OF_DAY)
        for past in range(days)
    ]


def list_failed_mails(reading: Iterable[PendingResult]) -> tuple[list[Row], bool]:
    """Return the mails of `prefetch_failed_days`, the newest first, at most 100, and whether there are more.

    Raises CassandraUnavailable.
    """
    found = [row.mail_id for pending in reading for row in pending.rows()]
    mails = [
        # A mail may have been deleted when its recipient was erased.
        mail
        for pending in [prefetch_mail(mail_id) for mail_id in found[:MAX_FAILED_SHOWN]]
        if (mail := pending.one()) and mail.recipient and get_fate(mail) in FAILURES
    ]
    mails.sort(key=lambda mail: mail.failed_at, reverse=True)
    return mails, len(found) > MAX_FAILED_SHOWN


@dataclass(frozen=True)
class MailTrouble:
    """The mails that failed for good and the undeliverable addresses, newest first, and whether some are not listed."""

    mails: list[Row]
    addresses: list[Row]
    has_more_mails: bool
    has_more_addresses: bool


def get_mail_trouble(now: datetime, days: int = FAILED_SHOWN_FOR) -> MailTrouble:
    """Return the failed mails of the last days, and the undeliverable addresses. Raises CassandraUnavailable."""
    failed = prefetch_failed_days(now, days)
    buckets = [
        UNDELIVERABLE_IN_BUCKET.start(bucket=bucket, most=MAX_ADDRESSES_IN_BUCKET + 1)
        for bucket in ADDRESS_BUCKETS
    ]
    rows = [pending.rows() for pending in buckets]
    mails, has_more = list_failed_mails(failed)
    addresses = [row for bucket in rows for row in bucket[:MAX_ADDRESSES_IN_BUCKET]]
    return MailTrouble(
        mails,
        sorted(addresses, key=lambda row: row.bounced_at, reverse=True),
        has_more,
        any(len(bucket) > MAX_ADDRESSES_IN_BUCKET for bucket in rows),
    )

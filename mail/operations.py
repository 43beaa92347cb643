"""Writes mails into the outbox and sends them.

A mail's id is derived from its subject and event, and claimed by IF NOT EXISTS. A mail that is queued twice is written once.
Its entry in `outbox_by_minute` is written first. A crash may leave an entry without a mail, which the worker deletes later.
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from smtplib import SMTPException
from time import monotonic
from typing import Any
from uuid import UUID, uuid4

from django.core.mail import get_connection
from django.core.mail.backends.base import BaseEmailBackend

from cassandra_db import (
    REFUSED_MEANS_DONE,
    SEND_AGAIN,
    Row,
    applied_if,
    conditional_write,
    current_time,
    wait_for_all,
    write,
)
from jobs.minutes import MINUTE, floor_to_minute, minutes_between
from jobs.rows import guard_row
from jobs.shards import Shard
from mail import fates, queries
from mail.addresses import address_bucket, email_key
from mail.messages import build_message
from mail.rendering import RenderedMail, render_mail
from mail.texts import MailTexts

INSERT_OUTBOX_ENTRY = write(
    "mail", "INSERT INTO outbox_by_minute (minute, mail_id) VALUES (:minute, :mail_id)"
)
DELETE_OUTBOX_ENTRY = write(
    "mail", "DELETE FROM outbox_by_minute WHERE minute = :minute AND mail_id = :mail_id"
)
TO_RECIPIENT = write(
    "mail", "INSERT INTO mails_by_recipient (recipient, mail_id) VALUES (:recipient, :mail_id)"
)
DELETE_RECIPIENT = write("mail", "DELETE FROM mails_by_recipient WHERE recipient = :recipient")
ABOUT_PERSON = write(
    "mail", "INSERT INTO mails_by_person (person_id, mail_id) VALUES (:person_id, :mail_id)"
)
DELETE_ABOUT_PERSON = write("mail", "DELETE FROM mails_by_person WHERE person_id = :person_id")
DROPPED = conditional_write("mail", "DELETE FROM mails WHERE mail_id = :mail_id IF EXISTS")
CLAIM = conditional_write(
    "mail",
    """INSERT INTO mails (mail_id, recipient, subject, text, html, attempts, queued_at, order_number,
       unsubscribe_url, thread_id, references) VALUES (:mail_id, :recipient, :subject, :text, :html, 0, :now, :order_number,
       :unsubscribe_url, :thread_id, :references) IF NOT EXISTS""",
)
# The worker that increments `attempts` makes the attempt. Until `due_at` no worker makes another, even after a crash.
ATTEMPT = conditional_write(
    "mail",
    """UPDATE mails SET attempts = :attempt, claim = :claim, due_at = :due_at WHERE mail_id = :mail_id
       IF attempts = :before AND claim = :seen AND sent_at = null AND failed_at = null""",
)
# The text of a sent mail is deleted, because it may have a link that grants access. A mail about an order keeps it for resending.
SENT = conditional_write(
    "mail",
    "UPDATE mails SET sent_at = :now, text = null, html = null WHERE mail_id = :mail_id IF claim = :claim",
)
SENT_AND_KEPT = conditional_write(
    "mail", "UPDATE mails SET sent_at = :now WHERE mail_id = :mail_id IF claim = :claim"
)
FAILED = conditional_write(
    "mail",
    """UPDATE mails SET failed_at = :now, fate = :fate, failure = :failure WHERE mail_id = :mail_id
       IF recipient = :recipient AND claim = :claim AND sent_at = null""",
)
CAME_BACK = conditional_write(
    "mail",
    """UPDATE mails SET failed_at = :now, fate = :fate, failure = :failure WHERE mail_id = :mail_id
       IF recipient = :recipient""",
)
# The mail server's answer about a mail that the server still tries to deliver, or that waits for the worker's next attempt.
TROUBLE = conditional_write(
    "mail", "UPDATE mails SET failure = :failure WHERE mail_id = :mail_id IF recipient = :recipient"
)
AT_ORDER = write(
    "mail",
    """INSERT INTO mails_by_order (order_number, mail_id, subject, queued_at, fate)
       VALUES (:order_number, :mail_id, :subject, :queued_at, :fate) USING TIMESTAMP :at""",
)
FAILED_ON_DAY = write(
    "mail", "INSERT INTO failed_mails_by_day (day, mail_id) VALUES (:day, :mail_id)"
)
DELETE_FAILED_ON_DAY = write(
    "mail", "DELETE FROM failed_mails_by_day WHERE day = :day AND mail_id = :mail_id"
)
GETS_NO_MAIL = write(
    "mail",
    """INSERT INTO undeliverable_addresses (bucket, email, bounced_at, failure, mail_id)
       VALUES (:bucket, :email, :bounced_at, :failure, :mail_id)""",
)
GETS_MAIL = write(
    "mail", "DELETE FROM undeliverable_addresses WHERE bucket = :bucket AND email = :email"
)

# The minutes to wait before each further attempt. They add up to about a day; then the mail is given up. The shortest wait is
# longer than a slow server can delay one attempt (EMAIL_TIMEOUT for each command).
RETRY_DELAYS = (2, 3, 5, 15, 30, 60, 120, 240, 480, 480)
# A delayed process may write an outbox entry this long after the entry's minute. Until then the worker reads the minute again.
LATEST_OUTBOX_ENTRY = timedelta(minutes=5)
# How far the first run of a worker looks back. Later runs continue at the saved position.
FIRST_LOOK_BACK = timedelta(days=1)
RETENTION = timedelta(days=30)  # the table's TTL
_AT_ONCE = 100  # minutes read in parallel
WHOLE_OUTBOX = Shard("mail")

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class SendResult:
    """The numbers of mails that a run sent and failed to send, and the minute (`position`) at which the next run begins."""

    sent: int
    failed: int
    position: datetime
    has_left_some: bool = False


@dataclass(frozen=True)
class MailOptions:
    """How a mail is treated. `plain` leaves out the HTML.

    `about` is a member whom a mail to another mailbox may name: erasing that member deletes the mail.
    A mail with an `order_number` keeps its text for 30 days, so that staff can read and resend it.
    `unsubscribe_url` is the page that ends mails of this kind; mail programs offer it beside the mail.
    `thread_id` is the conversation of a mail that a person wrote. The mail is not marked as automatic, replies come to the
    thread's signed address, and `references` are the Message-IDs of the thread's earlier mails, oldest first.
    `texts` are tried in place of the staff's present ones.
    """

    plain: bool = False
    about: UUID | None = None
    order_number: str = ""
    unsubscribe_url: str = ""
    thread_id: UUID | None = None
    references: tuple[str, ...] = ()
    texts: MailTexts | None = None


def queue_mail(
    subject_id: UUID,
    event: str,
    to: str,
    kind: str,
    context: Mapping[str, Any],
    now: datetime,
    options: MailOptions = MailOptions(),
) -> UUID:
    """Write a mail that the worker will send, once for each subject and event. Return the mail's id.

    `kind` names one of `mail.kinds`, whose placeholders and template take `context`. Raises CassandraUnavailable; a second call is safe.
    """
    mail_id = queries.derive_mail_id(subject_id, event)
    content = render_mail(kind, context, options.texts, plain=options.plain)
    _claim_mail(mail_id, to, content, options, now)
    return mail_id


def queue_mail_again(
    mail: Row, mail_id: UUID, to: str, now: datetime, *, about: UUID | None = None
) -> datetime:
    """Queue a copy of an order's `mail` (of `queries.open_mail`) under another id. Return when that id was first queued.

    A second call with the same id changes nothing. The old mail leaves the list of failed mails. Raises CassandraUnavailable.
    """
    content = RenderedMail(mail.subject, mail.text, mail.html)
    options = MailOptions(
        about=about, order_number=mail.order_number, unsubscribe_url=mail.unsubscribe_url or ""
    )
    _claim_mail(mail_id, to, content, options, now)
    stored = queries.get_mail(mail_id)
    queued_at: datetime = stored.queued_at if stored and stored.queued_at else now
    note_fate(mail._replace(mail_id=mail_id, queued_at=queued_at, failed_at=None), fates.WAITING)
    if mail.failed_at:
        DELETE_FAILED_ON_DAY.run(day=mail.failed_at.date(), mail_id=mail.mail_id)
    return queued_at


def _claim_mail(
    mail_id: UUID, to: str, content: RenderedMail, options: MailOptions, now: datetime
) -> None:
    # `now` may be the start of a long run. The sender does not read minutes that old.
    leading_here = [
        INSERT_OUTBOX_ENTRY.start(
            minute=floor_to_minute(max(now, current_time())), mail_id=mail_id
        ),
        TO_RECIPIENT.start(recipient=email_key(to), mail_id=mail_id),
    ]
    if options.about:
        leading_here.append(ABOUT_PERSON.start(person_id=options.about, mail_id=mail_id))
    wait_for_all(leading_here)
    CLAIM.apply(
        # A stored mail with the same id has the same content, even if another process wrote it.
        if_lost=REFUSED_MEANS_DONE,
        mail_id=mail_id,
        recipient=to,
        subject=content.subject,
        text=queries.encrypt_part(content.text, mail_id),
        html=queries.encrypt_part(content.html, mail_id) if content.html else None,
        now=now,
        order_number=options.order_number or None,
        unsubscribe_url=options.unsubscribe_url or None,
        thread_id=options.thread_id,
        references=list(options.references) or None,
    )


def note_fate(mail: Row, fate: str) -> None:
    """Copy a mail's fate to its order's list and, if it failed, to the list of failed mails. Raises CassandraUnavailable.

    Call it after writing the mail's own row. The worker repeats it while the mail's outbox entry exists.
    """
    writing = []
    if mail.order_number:
        writing.append(
            AT_ORDER.start(
                order_number=mail.order_number,
                mail_id=mail.mail_id,
                subject=mail.subject,
                queued_at=mail.queued_at,
                fate=fate,
                at=fates.copy_timestamp(mail.queued_at, fate),
            )
        )
    if mail.failed_at:
        writing.append(FAILED_ON_DAY.start(day=mail.failed_at.date(), mail_id=mail.mail_id))
    wait_for_all(writing)


def receive_hard_bounce(
    mail: Row, failure: str, now: datetime, *, is_address_dead: bool = True
) -> None:
    """Record that a mail bounced for good. If `is_address_dead`, the mail's address gets no more mail.

    A second call changes nothing. Raises CassandraUnavailable.
    """
    failed_at = mail.failed_at or now
    came_back = CAME_BACK.apply(
        if_lost=SEND_AGAIN,
        mail_id=mail.mail_id,
        recipient=mail.recipient,
        now=failed_at,
        fate=fates.BOUNCED,
        failure=failure,
    )
    if not came_back:
        return  # the mail's recipient was erased meanwhile
    note_fate(mail._replace(failed_at=failed_at), fates.BOUNCED)
    if is_address_dead:
        GETS_NO_MAIL.run(
            bucket=address_bucket(mail.recipient),
            email=email_key(mail.recipient),
            bounced_at=failed_at,
            failure=failure,
            mail_id=mail.mail_id,
        )


def note_trouble(mail: Row, failure: str) -> None:
    """Record a mail server's answer about a mail that may still be delivered. Raises CassandraUnavailable."""
    TROUBLE.apply(
        if_lost=SEND_AGAIN, mail_id=mail.mail_id, recipient=mail.recipient, failure=failure
    )


def allow_address(email: str) -> None:
    """Remove an address from the list of undeliverable addresses. Raises CassandraUnavailable."""
    GETS_MAIL.run(bucket=address_bucket(email), email=email_key(email))


def delete_mails(person_id: UUID, email: str, keep: UUID) -> None:
    """Delete all mails to a mailbox or about its owner, sent or not, except the mail with the id `keep`.

    The kept mail expires after 30 days. Raises CassandraUnavailable.
    """
    for mail_id in queries.list_mail_ids_about(person_id):
        DROPPED.apply(if_lost=SEND_AGAIN, mail_id=mail_id)
    DELETE_ABOUT_PERSON.run(person_id=person_id)
    for row in queries.list_recipient_mails(email):
        if row.mail_id != keep:
            DROPPED.apply(if_lost=SEND_AGAIN, mail_id=row.mail_id)
    DELETE_RECIPIENT.run(recipient=email_key(email))
    allow_address(email)


def send_due_mails(
    now: datetime, limit: int = 200, position: datetime | None = None, shard: Shard = WHOLE_OUTBOX
) -> SendResult:
    """Send at most `limit` due mails of a shard, from the minute `position` on; if it is None, from a day ago.

    A failed mail is retried, and given up after a day with an error in the log. While no mail server answers, no attempt counts.
    Two workers never try the same mail at the same time. If a worker dies before it has recorded that the server accepted a mail,
    the next attempt sends the mail a second time, with the same Message-ID. Raises CassandraUnavailable.
    """
    oldest = max(position or now - FIRST_LOOK_BACK, now - RETENTION)
    entries, unseen = _outbox_entries(minutes_between(oldest, now), limit, shard)
    due = [(entry, queries.prefetch_mail(entry.mail_id)) for entry in entries[:limit]]
    left = {entry.minute for entry in entries[limit:]} | set(unseen[:1])
    run = _Run(now)
    try:
        for entry, pending in due:
            with guard_row(f"mail {entry.mail_id}", partial(left.add, entry.minute)):
                if not run.process_entry(entry, queries.open_mail(pending.one())):
                    left.add(entry.minute)
    finally:
        run.close()
    looked_until = floor_to_minute(now - LATEST_OUTBOX_ENTRY)
    return SendResult(run.sent, run.failed, min({looked_until, *left}), bool(left))


def _outbox_entries(
    minutes: list[datetime], most: int, shard: Shard
) -> tuple[list[Row], list[datetime]]:
    """Return about `most` of the shard's oldest outbox entries, and the minutes whose entries were not read.

    After a day without a mail server there are more entries than one run can send.
    """
    found: list[Row] = []
    while minutes and len(found) < most:
        found += [
            entry
            for entry in queries.list_outbox_entries(minutes[:_AT_ONCE], _AT_ONCE)
            if shard.has_id(entry.mail_id)
        ]
        minutes = minutes[_AT_ONCE:]
    return found, minutes


class _Run:
    """One connection to the mail server, opened when the first mail needs it."""

    def __init__(self, now: datetime) -> None:
        self._now, self._since = now, monotonic()
        self.sent = self.failed = 0
        self._connection: BaseEmailBackend | None = None
        self._no_server = False

    @property
    def now(self) -> datetime:
        """The start of the run plus the time that has passed since."""
        return self._now + timedelta(seconds=monotonic() - self._since)

    def process_entry(self, entry: Row, mail: Row | None) -> bool:
        """Send the mail if it is due. If no later run needs the mail's outbox entry, delete the entry and return True."""
        if mail is None or mail.recipient is None:
            # The process that wrote the entry may still be about to write the mail.
            if entry.minute > self.now - LATEST_OUTBOX_ENTRY:
                return False
        elif mail.sent_at or mail.failed_at:
            # The process that sent the mail, or gave it up, may have died before it copied the fate to the lists.
            note_fate(mail, fates.get_fate(mail))
        elif mail.attempts > len(RETRY_DELAYS):
            self._give_up(mail, mail.claim, fates.FAILED, mail.failure or "")
        elif mail.sent_at is None:
            if mail.due_at and self.now < mail.due_at:
                # A worker has begun an attempt. The outbox entry under `due_at` leads to the next attempt.
                if entry.minute >= floor_to_minute(mail.due_at):
                    return False
            elif undeliverable := queries.get_undeliverable_address(mail.recipient):
                self.failed += 1
                self._give_up(mail, mail.claim, fates.UNDELIVERABLE, undeliverable.failure)
            elif self._server_answers():
                self._try(mail)
            else:
                return False
        DELETE_OUTBOX_ENTRY.run(minute=entry.minute, mail_id=entry.mail_id)
        return True

    def _try(self, mail: Row) -> None:
        attempt, claim, now = mail.attempts + 1, uuid4(), self.now
        due_at = (
            now + MINUTE * RETRY_DELAYS[mail.attempts]
            if mail.attempts < len(RETRY_DELAYS)
            else None
        )
        again = floor_to_minute(due_at) if due_at else None
        if again:
            # The entry is written before the attempt. If the worker dies during it, the entry leads to the next attempt.
            INSERT_OUTBOX_ENTRY.run(minute=again, mail_id=mail.mail_id)
        claimed = ATTEMPT.apply(
            if_lost=applied_if(lambda row: bool(row.claim == claim)),
            mail_id=mail.mail_id,
            attempt=attempt,
            before=mail.attempts,
            claim=claim,
            seen=mail.claim,
            due_at=due_at,
        )
        if not claimed:
            return
        try:
            build_message(mail, self._connection).send()
        except (SMTPException, OSError, ValueError) as error:
            # A ValueError (a text or address that cannot be written) must not block the other mails.
            self.failed += 1
            self._note_failure(mail, attempt, claim, again, error)
            self.close()  # after a failure the connection's state is unknown
            return
        self.sent += 1
        sent = SENT_AND_KEPT if mail.order_number else SENT
        if sent.apply(if_lost=SEND_AGAIN, mail_id=mail.mail_id, now=self.now, claim=claim):
            note_fate(mail, fates.SENT)
        if again:
            DELETE_OUTBOX_ENTRY.run(minute=again, mail_id=mail.mail_id)

    def _note_failure(
        self, mail: Row, attempt: int, claim: UUID, again: datetime | None, error: Exception
    ) -> None:
        """Record the reason why an attempt failed. If it was the last attempt, give the mail up."""
        kind, failure = type(error).__name__, fates.describe_failure(error)
        if fates.is_final_refusal(error):
            log.error("mail %s refused for good, attempt %d: %s", mail.mail_id, attempt, kind)
            self._give_up(mail, claim, fates.REFUSED, failure)
            if again:
                DELETE_OUTBOX_ENTRY.run(minute=again, mail_id=mail.mail_id)
        elif again:
            log.warning("mail %s, attempt %d failed: %s", mail.mail_id, attempt, kind)
            note_trouble(mail, failure)
            note_fate(mail, fates.WAITING)
        else:
            log.error("mail %s given up after %d attempts: %s", mail.mail_id, attempt, kind)
            self._give_up(mail, claim, fates.FAILED, failure)

    def _give_up(self, mail: Row, claim: UUID | None, fate: str, failure: str) -> None:
        now = self.now
        failed = FAILED.apply(
            if_lost=SEND_AGAIN,
            mail_id=mail.mail_id,
            recipient=mail.recipient,
            claim=claim,
            now=now,
            fate=fate,
            failure=failure,
        )
        if failed:
            note_fate(mail._replace(failed_at=now), fate)

    def _server_answers(self) -> bool:
        if self._connection is None and not self._no_server:
            connection = get_connection()
            try:
                connection.open()
            except (SMTPException, OSError) as error:
                self._no_server = True
                log.warning("the mail server does not answer, trying again later: %s", error)
            else:
                self._connection = connection
        return not self._no_server

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = None

"""Writes mails into the outbox and sends them.

A mail's id is made of what it is about and of what happened, and claimed by IF NOT EXISTS: queued twice, it is
written once. The outbox entry in `outbox_by_minute` is written first, so that a crash in between leaves an entry without a
mail, which is dropped later, and never a mail that is not sent.
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from email.utils import parseaddr
from smtplib import SMTPException
from time import monotonic
from typing import Any
from uuid import UUID, uuid4

from django.conf import settings
from django.core.mail import EmailMultiAlternatives, get_connection
from django.core.mail.backends.base import BaseEmailBackend
from django.template import Context, Engine

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
from jobs.shards import Shard
from mail import queries
from mail.addresses import email_key

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
    """INSERT INTO mails (mail_id, recipient, subject, text, html, attempts, queued_at)
       VALUES (:mail_id, :recipient, :subject, :text, :html, 0, :now) IF NOT EXISTS""",
)
# The worker that counts the attempt up is the one that makes it; until `due_at` no worker makes another, not even after a crash.
ATTEMPT = conditional_write(
    "mail",
    """UPDATE mails SET attempts = :attempt, claim = :claim, due_at = :due_at WHERE mail_id = :mail_id
       IF attempts = :before AND claim = :seen AND sent_at = null""",
)
# What was sent is not kept: a mail may hold a link that opens something.
SENT = conditional_write(
    "mail",
    "UPDATE mails SET sent_at = :now, text = null, html = null WHERE mail_id = :mail_id IF claim = :claim",
)

# From the first failure on: the wait in minutes before each further attempt, about a day in all. Then we give up. The
# shortest is longer than a server that answers at the last moment to each word can delay us (EMAIL_TIMEOUT).
RETRY_DELAYS = (2, 3, 5, 15, 30, 60, 120, 240, 480, 480)
# An outbox entry may be written this long after its minute, by a process that was delayed; so long a minute is looked at again.
LATEST_OUTBOX_ENTRY = timedelta(minutes=5)
# How far a worker looks back that has never run here. Later it goes on where it was.
FIRST_LOOK_BACK = timedelta(days=1)
RETENTION = timedelta(days=30)  # the table's TTL
_AT_ONCE = 100  # minutes read in parallel
WHOLE_OUTBOX = Shard("mail")

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class SendResult:
    """What one run did, and the minute from which on the next one has to look."""

    sent: int
    failed: int
    position: datetime
    has_left_some: bool = False


def queue_mail(
    subject_id: UUID,
    event: str,
    to: str,
    template: str,
    context: Mapping[str, Any],
    now: datetime,
    *,
    plain: bool = False,
    about: UUID | None = None,
) -> UUID:
    """Write a mail that the worker will send, once for each subject and event however often this is called.

    `template` names templates/mail/<template>.subject.txt, .txt and .html, which is left out of a `plain` one. `about` is the
    member whom a mail to another mailbox may name: to erase that person drops it. Return the mail's id.
    Raises CassandraUnavailable; then call it again: nothing is sent twice.
    """
    mail_id = queries.derive_mail_id(subject_id, event)
    # `now` may be when a long run began, and the sender does not look that far back.
    leading_here = [
        INSERT_OUTBOX_ENTRY.start(
            minute=floor_to_minute(max(now, current_time())), mail_id=mail_id
        ),
        TO_RECIPIENT.start(recipient=email_key(to), mail_id=mail_id),
    ]
    if about:
        leading_here.append(ABOUT_PERSON.start(person_id=about, mail_id=mail_id))
    wait_for_all(leading_here)
    CLAIM.apply(
        # Ours or another's of the same id: it is the same mail.
        if_lost=REFUSED_MEANS_DONE,
        mail_id=mail_id,
        recipient=to,
        subject=" ".join(_text(f"mail/{template}.subject.txt", context).split()),
        text=queries.encrypt_part(_text(f"mail/{template}.txt", context).strip() + "\n", mail_id),
        html=None
        if plain
        else queries.encrypt_part(_html(f"mail/{template}.html", context), mail_id),
        now=now,
    )
    return mail_id


def delete_mails(person_id: UUID, email: str, keep: UUID) -> None:
    """Drop all mails to a mailbox or about its owner, also those that are still to be sent, but for the one with the id `keep`.

    That one goes by itself after 30 days. Raises CassandraUnavailable.
    """
    for mail_id in queries.list_mail_ids_about(person_id):
        DROPPED.apply(if_lost=SEND_AGAIN, mail_id=mail_id)
    DELETE_ABOUT_PERSON.run(person_id=person_id)
    for row in queries.list_recipient_mails(email):
        if row.mail_id != keep:
            DROPPED.apply(if_lost=SEND_AGAIN, mail_id=row.mail_id)
    DELETE_RECIPIENT.run(recipient=email_key(email))


def _text(name: str, context: Mapping[str, Any]) -> str:
    return str(
        Engine.get_default()
        .get_template(name)
        .render(Context({**_common_context(), **context}, autoescape=False))
    )


def _html(name: str, context: Mapping[str, Any]) -> str:
    return str(
        Engine.get_default().get_template(name).render(Context({**_common_context(), **context}))
    )


def _common_context() -> dict[str, str]:
    return {"shop_url": settings.PUBLIC_URL}


def send_due_mails(
    now: datetime, limit: int = 200, position: datetime | None = None, shard: Shard = WHOLE_OUTBOX
) -> SendResult:
    """Send what is due of a shard, at most `limit` mails, looking at the minutes from `position` on (None: a day back).

    A mail that cannot be delivered is tried again later, and given up, with an error in the log, after a day. While
    no mail server answers, nothing is tried and nothing is lost. Two workers beside each other never send the same
    mail. Of one that was killed between the server's yes and our note of it, the mail goes out once more when the next
    attempt is due, with the same Message-ID. Raises CassandraUnavailable.
    """
    oldest = max(position or now - FIRST_LOOK_BACK, now - RETENTION)
    entries, unseen = _outbox_entries(minutes_between(oldest, now), limit, shard)
    due = [(entry, queries.prefetch_mail(entry.mail_id)) for entry in entries[:limit]]
    left = {entry.minute for entry in entries[limit:]} | set(unseen[:1])
    run = _Run(now)
    try:
        for entry, pending in due:
            if not run.process_entry(entry, queries.open_mail(pending.one())):
                left.add(entry.minute)
    finally:
        run.close()
    looked_until = floor_to_minute(now - LATEST_OUTBOX_ENTRY)
    return SendResult(run.sent, run.failed, min({looked_until, *left}), bool(left))


def _outbox_entries(
    minutes: list[datetime], most: int, shard: Shard
) -> tuple[list[Row], list[datetime]]:
    """Return the shard's outbox entries from the oldest minute on, until there are `most`; and the minutes that were not looked at.

    After a day without a mail server there are more than one run can send, and a run comes every few seconds.
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
        """The time, which goes on while mails are sent."""
        return self._now + timedelta(seconds=monotonic() - self._since)

    def process_entry(self, entry: Row, mail: Row | None) -> bool:
        """Send the mail if it is to be sent; return whether the outbox entry has served its purpose, and remove it if so."""
        if mail is None or mail.recipient is None:
            # Its writer may still be about to write it.
            if entry.minute > self.now - LATEST_OUTBOX_ENTRY:
                return False
        elif mail.sent_at is None and mail.attempts <= len(RETRY_DELAYS):
            if mail.due_at and self.now < mail.due_at:
                # A worker is at it, or was. What leads to the next attempt is the entry of its minute.
                if entry.minute >= floor_to_minute(mail.due_at):
                    return False
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
            # Before the attempt: should we be killed during it, this entry is what is left.
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
            _message(mail, self._connection).send()
        except (SMTPException, OSError, ValueError) as error:
            # ValueError: an address or a text that cannot be written. It must not keep all other mails from being sent.
            self.failed += 1
            if again:
                log.warning(
                    "mail %s, attempt %d failed: %s", mail.mail_id, attempt, type(error).__name__
                )
            else:
                log.error(
                    "mail %s given up after %d attempts: %s",
                    mail.mail_id,
                    attempt,
                    type(error).__name__,
                )
            self._reconnect()
            return
        self.sent += 1
        SENT.apply(if_lost=SEND_AGAIN, mail_id=mail.mail_id, now=self.now, claim=claim)
        if again:
            DELETE_OUTBOX_ENTRY.run(minute=again, mail_id=mail.mail_id)

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

    def _reconnect(self) -> None:
        # After a failure the connection's state is unknown.
        self.close()
        self._connection = None

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()


def _message(mail: Row, connection: BaseEmailBackend | None) -> EmailMultiAlternatives:
    if mail.text is None:
        raise ValueError("encrypted under a SECRET_KEY that is gone")
    domain = parseaddr(settings.DEFAULT_FROM_EMAIL)[1].rpartition("@")[2]
    message = EmailMultiAlternatives(
        mail.subject,
        mail.text,
        to=[mail.recipient],
        connection=connection,
        # Fixed, so that a mail that had to be sent again is recognised as the same.
        headers={"Message-ID": f"<{mail.mail_id}@{domain}>", "Auto-Submitted": "auto-generated"},
    )
    if mail.html:
        message.attach_alternative(mail.html, "text/html")
    return message

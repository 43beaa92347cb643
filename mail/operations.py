"""Writes mails into the outbox and sends them.

A mail's id is made of what it is about and of what happened, and claimed by IF NOT EXISTS: telling the same twice
writes it once. The hint in `outbox_by_minute` is written first, so that a crash in between leaves a hint without a
mail, which is dropped later, and never a mail that nobody sends.
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parseaddr
from smtplib import SMTPException
from typing import Any
from uuid import UUID, uuid5

from django.conf import settings
from django.core.mail import EmailMultiAlternatives, get_connection
from django.core.mail.backends.base import BaseEmailBackend
from django.template import Context, Engine

from cassandra_db import Row, conditional, write
from mail import queries

HINT = write("mail", "INSERT INTO outbox_by_minute (minute, mail_id) VALUES (:minute, :mail_id)")
UNHINT = write("mail", "DELETE FROM outbox_by_minute WHERE minute = :minute AND mail_id = :mail_id")
CLAIM = conditional(
    "mail",
    """INSERT INTO mails (mail_id, recipient, subject, text, html, attempts, queued_at)
       VALUES (:mail_id, :recipient, :subject, :text, :html, 0, :now) IF NOT EXISTS""",
)
# Whoever counts the attempt up is the one who makes it.
ATTEMPT = conditional(
    "mail", "UPDATE mails SET attempts = :attempt WHERE mail_id = :mail_id IF attempts = :before AND sent_at = null"
)
# What was sent is not kept: a mail may hold a link that opens something.
SENT = conditional(
    "mail", "UPDATE mails SET sent_at = :now, text = null, html = null WHERE mail_id = :mail_id IF attempts = :attempt"
)

# From the first failure on: the wait in minutes before each further attempt, about a day in all. Then we give up.
WAITS = (1, 2, 5, 15, 30, 60, 120, 240, 480, 480)
# A hint may be written this long after its minute, by a process that was held up; so long a minute is looked at again.
LATEST_HINT = timedelta(minutes=5)
# How far a worker looks back that has never run here. Later it goes on where it was.
FIRST_LOOK_BACK = timedelta(days=1)
KEPT = timedelta(days=30)  # the table's TTL
_MINUTE = timedelta(minutes=1)
_AT_ONCE = 100  # minutes read in parallel

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Sending:
    """What one run did, and the minute from which on the next one has to look."""

    sent: int
    failed: int
    position: datetime


def mail_queued(
    subject_id: UUID, event: str, to: str, template: str, context: Mapping[str, Any], now: datetime
) -> UUID:
    """Write a mail that the worker will send, once for each subject and event however often this is called.

    `template` names templates/mail/<template>.subject.txt, .txt and .html. Return the mail's id.
    Raises CassandraUnavailable; then call it again: nothing is sent twice.
    """
    mail_id = uuid5(subject_id, event)
    HINT.run(minute=minute_of(now), mail_id=mail_id)
    CLAIM.apply(
        # Ours or another's of the same id: it is the same mail.
        mine=lambda _: True,
        mail_id=mail_id,
        recipient=to,
        subject=" ".join(_text(f"mail/{template}.subject.txt", context).split()),
        text=_text(f"mail/{template}.txt", context).strip() + "\n",
        html=_html(f"mail/{template}.html", context),
        now=now,
    )
    return mail_id


def _text(name: str, context: Mapping[str, Any]) -> str:
    return str(Engine.get_default().get_template(name).render(Context({**_everywhere(), **context}, autoescape=False)))


def _html(name: str, context: Mapping[str, Any]) -> str:
    return str(Engine.get_default().get_template(name).render(Context({**_everywhere(), **context})))


def _everywhere() -> dict[str, str]:
    return {"shop_url": settings.PUBLIC_URL}


def minute_of(now: datetime) -> datetime:
    """Return the start of the minute."""
    return now.astimezone(UTC).replace(second=0, microsecond=0)


def mails_sent(now: datetime, limit: int = 200, position: datetime | None = None) -> Sending:
    """Send what is due, at most `limit` mails, looking at the minutes from `position` on (None: a day back).

    A mail that cannot be delivered is tried again later, and given up, with an error in the log, after a day. While
    no mail server answers, nothing is tried and nothing is lost. A worker killed between sending a mail and noting
    it sends it again, with the same Message-ID. Raises CassandraUnavailable.
    """
    oldest = max(position or now - FIRST_LOOK_BACK, now - KEPT)
    hints = queries.hints(_minutes(minute_of(oldest), minute_of(now)), at_once=_AT_ONCE)
    due = [(hint, queries.mail_started(hint.mail_id)) for hint in hints[:limit]]
    left = {hint.minute for hint in hints[limit:]}
    run = _Run(now)
    try:
        for hint, pending in due:
            if not run.dealt_with(hint, pending.one()):
                left.add(hint.minute)
    finally:
        run.close()
    settled = minute_of(now - LATEST_HINT)
    return Sending(run.sent, run.failed, min({settled, *left}))


def _minutes(first: datetime, last: datetime) -> list[datetime]:
    return [first + _MINUTE * n for n in range((last - first) // _MINUTE + 1)]


class _Run:
    """One connection to the mail server, opened when the first mail needs it."""

    def __init__(self, now: datetime) -> None:
        self.now = now
        self.sent = self.failed = 0
        self._connection: BaseEmailBackend | None = None
        self._no_server = False

    def dealt_with(self, hint: Row, mail: Row | None) -> bool:
        """Send the mail if it is to be sent; tell whether the hint has served its purpose, and remove it if so."""
        if mail is None or mail.recipient is None:
            # Its writer may still be about to write it.
            if hint.minute > self.now - LATEST_HINT:
                return False
        elif mail.sent_at is None and mail.attempts <= len(WAITS):
            if not self._server_answers():
                return False
            self._try(mail)
        UNHINT.run(minute=hint.minute, mail_id=hint.mail_id)
        return True

    def _try(self, mail: Row) -> None:
        attempt = mail.attempts + 1
        again = minute_of(self.now + _MINUTE * WAITS[mail.attempts]) if mail.attempts < len(WAITS) else None
        if again:
            # Before the attempt: should we be killed during it, this hint is what is left.
            HINT.run(minute=again, mail_id=mail.mail_id)
        # With `mine`, an attempt whose answer was lost counts as ours; the worst is the same mail once more.
        if not ATTEMPT.apply(
            mine=lambda row: bool(row.attempts == attempt), mail_id=mail.mail_id, attempt=attempt, before=mail.attempts
        ):
            return
        try:
            _message(mail, self._connection).send()
        except (SMTPException, OSError) as error:
            self.failed += 1
            if again:
                log.warning("mail %s, attempt %d failed: %s", mail.mail_id, attempt, type(error).__name__)
            else:
                log.error("mail %s given up after %d attempts: %s", mail.mail_id, attempt, type(error).__name__)
            self._reconnect()
            return
        self.sent += 1
        SENT.apply(mine=lambda _: False, mail_id=mail.mail_id, now=self.now, attempt=attempt)
        if again:
            UNHINT.run(minute=again, mail_id=mail.mail_id)

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
    domain = parseaddr(settings.DEFAULT_FROM_EMAIL)[1].rpartition("@")[2]
    message = EmailMultiAlternatives(
        mail.subject,
        mail.text,
        to=[mail.recipient],
        connection=connection,
        # Fixed, so that a mail that had to be sent again is recognised as the same.
        headers={"Message-ID": f"<{mail.mail_id}@{domain}>", "Auto-Submitted": "auto-generated"},
    )
    message.attach_alternative(mail.html, "text/html")
    return message

"""Reads the Maildir of the demo shop's mail catcher."""

import mailbox
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from email import policy
from email.message import EmailMessage
from email.parser import BytesParser
from email.utils import parsedate_to_datetime
from typing import IO, Any, cast

from django.conf import settings

_KEY = re.compile(r"[\w.,=@-]{1,200}")
MAX_MAILS = 100


@dataclass(frozen=True)
class CaughtMail:
    """A mail that the mail catcher has kept, as the mail reader shows it."""

    key: str
    to: str
    sender: str
    subject: str
    sent_at: datetime | None
    text: str
    message_id: str = ""
    html: str = ""
    reply_to: str = ""  # the address to which answers come; "" if the mail names none


def list_mails() -> list[CaughtMail]:
    """Return the caught mails, the newest first, at most MAX_MAILS. The list is empty if the mail catcher has never run."""
    box = _box()
    if box is None:
        return []
    newest = sorted(box.keys(), key=_arrival, reverse=True)[:MAX_MAILS]
    return [caught for key in newest if (caught := get_mail(key))]


def get_mail(key: str) -> CaughtMail | None:
    """Return the caught mail with this key, or None."""
    box = _box()
    found = box.get(key) if box is not None and _KEY.fullmatch(key) else None
    return _read_mail(key, cast(EmailMessage, found)) if found is not None else None


def _box() -> mailbox.Maildir | None:
    if not (settings.MAILDIR / "new").is_dir():
        return None

    def parsed(stream: IO[Any]) -> EmailMessage:
        return BytesParser(policy=policy.default).parse(stream)

    return mailbox.Maildir(settings.MAILDIR, factory=parsed, create=False)  # type: ignore[arg-type]


def _arrival(key: str) -> tuple[float, int]:
    # A file name in a Maildir begins with the time in seconds, followed by ".M" and the microseconds.
    match = re.match(r"(\d+)\.M(\d+)", key)
    return (float(match[1]), int(match[2])) if match else (0.0, 0)


def _read_mail(key: str, mail: EmailMessage) -> CaughtMail:
    part, html = mail.get_body(("plain",)), mail.get_body(("html",))
    sent_at = None
    if date := mail["Date"]:
        try:
            sent_at = parsedate_to_datetime(str(date)).astimezone(UTC)
        except ValueError:
            sent_at = None
    return CaughtMail(
        key=key,
        to=str(mail["To"] or mail["X-RcptTo"] or ""),
        sender=str(mail["From"] or ""),
        subject=str(mail["Subject"] or "(no subject)"),
        sent_at=sent_at,
        text=str(part.get_content()) if part else "",
        html=str(html.get_content()) if html else "",
        message_id=str(mail["Message-ID"] or ""),
        reply_to=str(mail["Reply-To"] or ""),
    )

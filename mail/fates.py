"""What became of a mail."""

from datetime import datetime
from smtplib import SMTPDataError, SMTPRecipientsRefused
from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy as _

from cassandra_db import Row

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

WAITING, SENT = "waiting", "sent"
REFUSED = "refused"  # the server said no to its recipient, or to the mail, for good
FAILED = "failed"  # given up after a day
BOUNCED = "bounced"  # it was taken, and came back
UNDELIVERABLE = "undeliverable"  # not sent: from its address a mail has come back before
FAILURES = frozenset({REFUSED, FAILED, BOUNCED, UNDELIVERABLE})
LABELS: dict[str, tuple["StrOrPromise", str]] = {
    WAITING: (_("Waiting"), "calm"),
    SENT: (_("Sent"), "good"),
    REFUSED: (_("Refused"), "bad"),
    FAILED: (_("Not sent"), "bad"),
    BOUNCED: (_("Came back"), "bad"),
    UNDELIVERABLE: (_("Address gets no emails"), "bad"),
}
MAX_FAILURE_LENGTH = 500
# "Log in first", "use encryption": what such an answer says is about us, and not about who is to get the mail.
_ABOUT_US = frozenset({530, 534, 535, 538})


def get_fate(mail: Row) -> str:
    """Return what became of a row of `mails`."""
    if mail.sent_at and mail.fate != BOUNCED:
        return SENT  # by a worker that was held to be dead
    return mail.fate or WAITING


def copy_timestamp(queued_at: datetime, fate: str) -> int:
    """Return the timestamp of a mail's row at its order, in microseconds since 1970: what is known last stays, whoever writes late."""
    rank = 3 if fate == BOUNCED else 2 if fate == SENT else 0 if fate == WAITING else 1
    return round(queued_at.timestamp() * 1000) * 1000 + rank


def is_final_refusal(error: Exception) -> bool:
    """Return whether a mail server has said no for good (5xx) to the one recipient of a mail, or to what the mail says.

    No other answer counts: one to our greeting, login or sender is about us, and the next attempt may find us put right.
    """
    if isinstance(error, SMTPRecipientsRefused):
        codes = [code for code, _words in error.recipients.values()]
    else:
        codes = [error.smtp_code] if isinstance(error, SMTPDataError) else []
    return bool(codes) and all(500 <= code < 600 and code not in _ABOUT_US for code in codes)


def describe_failure(error: Exception) -> str:
    """Return what a mail server said, code and words, or what else went wrong."""
    answers = [(getattr(error, "smtp_code", None), getattr(error, "smtp_error", b""))]
    if isinstance(error, SMTPRecipientsRefused):
        answers = list(error.recipients.values())
    code, words = answers[0]
    if code is None:
        return type(error).__name__
    text = words.decode(errors="replace") if isinstance(words, bytes) else str(words)
    return shorten_failure(f"{code} {text}")


def shorten_failure(text: str) -> str:
    """Return a server's words in one line of printable text, as long as the table keeps them."""
    line = " ".join(text.split())
    return "".join(each for each in line if each.isprintable())[:MAX_FAILURE_LENGTH]

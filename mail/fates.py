"""The fate of a mail (waiting, sent, or one of the failures), and the mail server's answer about it."""

from datetime import datetime
from smtplib import SMTPDataError, SMTPRecipientsRefused

from django.utils.translation import gettext_lazy as _

from cassandra_db import Row
from web.types import StrOrPromise

WAITING, SENT = "waiting", "sent"
REFUSED = "refused"  # the server refused its recipient or the mail for good
FAILED = "failed"  # given up after a day
BOUNCED = "bounced"  # accepted, then returned
UNDELIVERABLE = "undeliverable"  # not sent: an earlier mail to its address bounced
FAILURES = frozenset({REFUSED, FAILED, BOUNCED, UNDELIVERABLE})
LABELS: dict[str, tuple[StrOrPromise, str]] = {
    WAITING: (_("Waiting"), "calm"),
    SENT: (_("Sent"), "good"),
    REFUSED: (_("Refused"), "bad"),
    FAILED: (_("Not sent"), "bad"),
    BOUNCED: (_("Came back"), "bad"),
    UNDELIVERABLE: (_("Address gets no emails"), "bad"),
}
MAX_FAILURE_LENGTH = 500
# With these codes the server answers "log in first" or "use encryption". They say nothing about the recipient.
_ABOUT_US = frozenset({530, 534, 535, 538})


def get_fate(mail: Row) -> str:
    """Return the fate of a row of `mails`."""
    if mail.sent_at and mail.fate != BOUNCED:
        return SENT  # even if another worker has given the mail up
    return mail.fate or WAITING


def copy_timestamp(queued_at: datetime, fate: str) -> int:
    """Return the write timestamp for a mail's row in its order's list, in microseconds since 1970. A later fate wins."""
    rank = 3 if fate == BOUNCED else 2 if fate == SENT else 0 if fate == WAITING else 1
    return round(queued_at.timestamp() * 1000) * 1000 + rank


def is_final_refusal(error: Exception) -> bool:
    """Return whether the mail server permanently refused (5xx) a mail's recipient or content.

    A refused greeting, login or sender does not count, because a later attempt may succeed.
    """
    if isinstance(error, SMTPRecipientsRefused):
        codes = [code for code, _words in error.recipients.values()]
    else:
        codes = [error.smtp_code] if isinstance(error, SMTPDataError) else []
    return bool(codes) and all(500 <= code < 600 and code not in _ABOUT_US for code in codes)


def describe_failure(error: Exception) -> str:
    """Return the code and text of the mail server's answer, or the error's class name if the server has not answered."""
    answers = [(getattr(error, "smtp_code", None), getattr(error, "smtp_error", b""))]
    if isinstance(error, SMTPRecipientsRefused):
        answers = list(error.recipients.values())
    code, words = answers[0]
    if code is None:
        return type(error).__name__
    text = words.decode(errors="replace") if isinstance(words, bytes) else str(words)
    return shorten_failure(f"{code} {text}")


def shorten_failure(text: str) -> str:
    """Return a mail server's answer as one printable line of at most MAX_FAILURE_LENGTH characters."""
    line = " ".join(text.split())
    return "".join(each for each in line if each.isprintable())[:MAX_FAILURE_LENGTH]

"""Formats log lines: each has its request's id, and no visitor can forge a line by their input (S45)."""

import logging
import unicodedata
from contextvars import ContextVar
from uuid import UUID, uuid4

# Characters that a viewer would hide, break a line at, or write backwards.
_UNSEEN = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))

_request_id: ContextVar[UUID | None] = ContextVar("request_id", default=None)


def start_request_id() -> UUID:
    """Set a new request id for this thread, and return it."""
    made = uuid4()
    _request_id.set(made)
    return made


def clear_request_id() -> None:
    """Forget the request's id."""
    _request_id.set(None)


def current_request_id() -> UUID | None:
    """Return the id of the request that this thread works on; None in a command or a job."""
    return _request_id.get()


def escape_control_characters(text: str) -> str:
    """Return the text with control characters as escapes, so that they cannot break a log line or hide in it."""
    return "".join(_escaped(c) if unicodedata.category(c) in _UNSEEN else c for c in text)


def _escaped(character: str) -> str:
    code = ord(character)
    return (
        f"\\x{code:02x}"
        if code < 0x100
        else f"\\u{code:04x}"
        if code < 0x10000
        else f"\\U{code:08x}"
    )


class RequestIdFilter(logging.Filter):
    """Adds the first eight characters of the request id to each record."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Let every record through."""
        current = current_request_id()
        record.request_id = current.hex[:8] if current else "-"
        return True


class PathRedactionFilter(logging.Filter):
    """Replaces a request's path in Django's logs by the view's name: the path may hold a secret token (S48)."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Let every record through."""
        request = getattr(record, "request", None)
        if (path := getattr(request, "path", "")) and isinstance(record.args, tuple):
            found = getattr(request, "resolver_match", None)
            name = found.view_name if found else "an address without a view"
            # Django escapes the path that it logs
            paths = (path, path.encode("unicode_escape").decode("ascii"))
            record.args = tuple(name if each in paths else each for each in record.args)
        return True


class OneLineFormatter(logging.Formatter):
    """Formats a log record as one line. A traceback follows indented, so only records begin at the margin."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record's text for the log."""
        first, _, rest = super().format(record).partition("\n")
        return f"{first}\n{rest}".replace("\n", "\n    ") if rest else first

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 logging's own name
        """Return the record's line."""
        record.message = escape_control_characters(record.message)
        return super().formatMessage(record)

"""The log's lines: each carries its request's id, and none can be made up by what a visitor has typed (S45)."""

import logging
import unicodedata
from contextvars import ContextVar
from uuid import UUID, uuid4

# What a browser would hide, break a line at, or write backwards.
_UNSEEN = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))

_request_id: ContextVar[UUID | None] = ContextVar("request_id", default=None)


def start_request_id() -> UUID:
    """Give this thread a new request's id, and return it."""
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
    """Return the text with its control characters written out, so that it can neither break a line nor hide in one."""
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
    """Adds `current_request_id` to each record: the first eight signs are enough to find the others of the request."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Let every record through."""
        current = current_request_id()
        record.request_id = current.hex[:8] if current else "-"
        return True


class PathRedactionFilter(logging.Filter):
    """Puts the view's name where Django logs a request's path: that may hold a token which opens something (S48)."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Let every record through."""
        request = getattr(record, "request", None)
        if (path := getattr(request, "path", "")) and isinstance(record.args, tuple):
            found = getattr(request, "resolver_match", None)
            name = found.view_name if found else "an address without a view"
            # Django escapes what it logs
            paths = (path, path.encode("unicode_escape").decode("ascii"))
            record.args = tuple(name if each in paths else each for each in record.args)
        return True


class OneLineFormatter(logging.Formatter):
    """One line for a record. A traceback follows indented: no line but a record's own begins at the margin."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as it stands in the log."""
        first, _, rest = super().format(record).partition("\n")
        return f"{first}\n{rest}".replace("\n", "\n    ") if rest else first

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 logging's own name
        """Return the record's line."""
        record.message = escape_control_characters(record.message)
        return super().formatMessage(record)

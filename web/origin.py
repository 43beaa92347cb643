"""This thread's request: its origin for the audit log, and the member who acts."""

from contextvars import ContextVar
from dataclasses import dataclass
from uuid import UUID

from django.http import HttpRequest

from web.devices import browser_name
from web.rate_limits import network_address

_request: ContextVar[HttpRequest | None] = ContextVar("request", default=None)


@dataclass(frozen=True)
class Origin:
    """A request's network address, and the browser's name, such as "Firefox on Windows". Both are empty in a command or a job."""

    address: str = ""
    device: str = ""


def set_current_request(request: HttpRequest | None) -> None:
    """Set the request that this thread works on; None when the request is answered."""
    _request.set(request)


def current_origin() -> Origin:
    """Return the origin of this thread's request."""
    request = _request.get()
    if request is None:
        return Origin()
    # The name of an unknown browser is its User-Agent, shortened.
    agent = request.headers.get("User-Agent", "")
    return Origin(network_address(request), browser_name(request) or agent[:60])


def current_member_id() -> UUID | None:
    """Return the id of the member whose request this thread works on; None for a guest, a command or a job."""
    user = getattr(_request.get(), "user", None)
    return user.pk if user is not None and user.is_authenticated else None

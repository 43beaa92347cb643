"""Where the request that this thread works on comes from; the audit log keeps it beside what was done."""

from contextvars import ContextVar
from dataclasses import dataclass

from django.http import HttpRequest

from web.devices import browser_name
from web.rate_limits import network_address

_request: ContextVar[HttpRequest | None] = ContextVar("request", default=None)


@dataclass(frozen=True)
class Origin:
    """A network address, and what the browser says it is: "Firefox on Windows". Both empty in a command or a job."""

    address: str = ""
    device: str = ""


def set_current_request(request: HttpRequest | None) -> None:
    """Note which request this thread works on from now on, or with None that it is done."""
    _request.set(request)


def current_origin() -> Origin:
    """Return where the request comes from that this thread works on."""
    request = _request.get()
    if request is None:
        return Origin()
    # What names no browser that we know is kept as it calls itself, shortened.
    agent = request.headers.get("User-Agent", "")
    return Origin(network_address(request), browser_name(request) or agent[:60])

"""Which peers may say where a request comes from: the proxy alone (S100).

All visitors of a proxy that the settings do not know have one address, and share one limit (S68).
"""

import contextlib
import logging
from collections.abc import Callable
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from pathlib import Path

from django.conf import settings
from django.http import HttpRequest, HttpResponse

# What `manage.py doctor` finds of it.
MARKER: Path = settings.BASE_DIR / ".run" / "unknown-proxy"
_Address = IPv4Address | IPv6Address
_FORWARDED_HEADERS = ("HTTP_X_FORWARDED_FOR", "HTTP_X_FORWARDED_PROTO")
log = logging.getLogger(__name__)


class ForwardedHeadersMiddleware:
    """Keeps X-Forwarded-* headers only if the proxy sent them, and logs once a process that another peer did."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response
        self.is_noted = False
        self.proxies = [ip_network(each) for each in settings.FORWARDED_ALLOW_IPS if each != "*"]

    def __call__(self, request: HttpRequest) -> HttpResponse:
        peer = _parse_address(str(request.META.get("REMOTE_ADDR", "")))
        if not settings.BEHIND_PROXY:
            if "HTTP_X_FORWARDED_FOR" in request.META and (peer is None or peer.is_loopback):
                self._note_unknown_proxy()
        elif not self._is_proxy(peer):
            sent = [request.META.pop(name, None) for name in _FORWARDED_HEADERS]
            if any(sent) and not self.is_noted:
                self.is_noted = True
                log.warning(
                    "%s sends X-Forwarded-* headers, and FORWARDED_ALLOW_IPS does not name it: they are dropped",
                    peer,
                )
        return self.get_response(request)

    def _is_proxy(self, peer: _Address | None) -> bool:
        return (
            peer is None
            or "*" in settings.FORWARDED_ALLOW_IPS
            or any(peer in proxy for proxy in self.proxies)
        )

    def _note_unknown_proxy(self) -> None:
        if self.is_noted:
            return
        self.is_noted = True
        log.warning(
            "a proxy on this host sends X-Forwarded-For, and BEHIND_PROXY is off: all its visitors share one network's limits"
        )
        with contextlib.suppress(OSError):
            MARKER.touch()


def _parse_address(peer: str) -> _Address | None:
    """Return a peer's address; None for a socket in the file system, which has none."""
    return ip_address(peer) if peer else None

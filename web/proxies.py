"""Drops X-Forwarded-* headers, unless the proxy has sent them (S100).

If the settings do not name the proxy, all visitors behind it have one address, and share one rate limit (S68).
"""

import contextlib
import logging
from collections.abc import Callable
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from pathlib import Path

from django.conf import settings
from django.http import HttpRequest, HttpResponse

# A file that tells `manage.py doctor` of an unknown proxy.
MARKER: Path = settings.BASE_DIR / ".run" / "unknown-proxy"
_FORWARDED_HEADERS = ("HTTP_X_FORWARDED_FOR", "HTTP_X_FORWARDED_PROTO")
log = logging.getLogger(__name__)


class ForwardedHeadersMiddleware:
    """Keeps X-Forwarded-* headers only from the proxy. Each process logs the first other sender of these headers."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response
        self.is_noted = False
        allowed = [each.strip() for each in settings.FORWARDED_ALLOW_IPS]
        self.believes_everybody = "*" in allowed
        self.proxies = [ip_network(each) for each in allowed if each != "*"]

    def __call__(self, request: HttpRequest) -> HttpResponse:
        self.drop_unbelieved_headers(request)
        return self.get_response(request)

    def drop_unbelieved_headers(self, request: HttpRequest) -> None:
        """Drop the X-Forwarded-* headers of a peer that is not the proxy."""
        if any(name in request.META for name in _FORWARDED_HEADERS):
            peer = str(request.META.get("REMOTE_ADDR", ""))
            if not settings.BEHIND_PROXY:
                if "HTTP_X_FORWARDED_FOR" in request.META and _is_this_host(peer):
                    self._note_unknown_proxy()
            elif not self._is_proxy(peer):
                self._drop_headers(request, peer)

    def _is_proxy(self, peer: str) -> bool:
        if self.believes_everybody or not peer:
            return True
        address = _parse_address(peer)
        return address is not None and any(address in proxy for proxy in self.proxies)

    def _drop_headers(self, request: HttpRequest, peer: str) -> None:
        for name in _FORWARDED_HEADERS:
            request.META.pop(name, None)
        if not self.is_noted:
            self.is_noted = True
            log.warning(
                "%s sends X-Forwarded-* headers, and FORWARDED_ALLOW_IPS does not name it: they are dropped",
                peer,
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


def _is_this_host(peer: str) -> bool:
    """Return whether a request came over loopback, or over a socket in the file system, which has no address."""
    address = _parse_address(peer)
    return not peer or (address is not None and address.is_loopback)


def _parse_address(peer: str) -> IPv4Address | IPv6Address | None:
    """Return a peer's address, also as IPv4 where the server listens on IPv6; None if `peer` is no address."""
    try:
        address = ip_address(peer)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address

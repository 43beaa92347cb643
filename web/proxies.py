"""A proxy that the settings do not know of: all its visitors would have one address, and one limit (S68)."""

import contextlib
import ipaddress
import logging
from collections.abc import Callable
from pathlib import Path

from django.conf import settings
from django.core.exceptions import MiddlewareNotUsed
from django.http import HttpRequest, HttpResponse

# What `manage.py doctor` finds of it.
MARKER: Path = settings.BASE_DIR / ".run" / "unknown-proxy"
log = logging.getLogger(__name__)


class UnknownProxyMiddleware:
    """Says once a process that a proxy of this host sends X-Forwarded-For, while BEHIND_PROXY is off."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        if settings.BEHIND_PROXY:
            raise MiddlewareNotUsed
        self.get_response = get_response
        self.is_noted = False

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if (
            "HTTP_X_FORWARDED_FOR" in request.META
            and not self.is_noted
            and _is_this_host(request.META.get("REMOTE_ADDR", ""))
        ):
            self.is_noted = True
            log.warning(
                "a proxy on this host sends X-Forwarded-For, and BEHIND_PROXY is off: all its visitors share one network's limits"
            )
            with contextlib.suppress(OSError):
                MARKER.touch()
        return self.get_response(request)


def _is_this_host(address: str) -> bool:
    """Return whether a request came over loopback, or over a socket in the file system, which has no address."""
    try:
        return not address or ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False

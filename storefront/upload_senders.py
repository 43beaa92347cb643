"""Finds the sender of uploaded files from the request's head, before the body is read (decision 025)."""

from dataclasses import dataclass
from functools import cache
from typing import Any

from django.conf import settings
from django.core.signing import SignatureExpired
from django.http import HttpRequest, HttpResponse, parse_cookie

from accounts.sessions import find_session_user
from cassandra_db import CassandraUnavailable
from web.proxies import ForwardedHeadersMiddleware
from web.rate_limits import list_networks
from web.uploads import UploadGrant, find_upload_grant


@dataclass(frozen=True)
class UploadSender:
    """The sender of files, and the signed address from their page. Without a session key, the CSRF cookie identifies the browser."""

    grant: UploadGrant
    networks: list[tuple[str, int]]
    session_key: str | None = None

    def may_send(self) -> bool:
        """Return whether the session is alive and belongs to the person with the page. While Cassandra is away, the view decides."""
        if self.session_key is None:
            return True
        try:
            return self.grant.is_for_member(find_session_user(self.session_key))
        except CassandraUnavailable:
            return True


@cache
def _proxies() -> ForwardedHeadersMiddleware:
    return ForwardedHeadersMiddleware(lambda _request: HttpResponse())


def find_upload_sender(request: Any, client: Any) -> UploadSender | None:
    """Return the sender to a signed upload address; None for other addresses. `request` is gunicorn's.

    Raises SignatureExpired for an outdated page, or a request without the cookie of a session or of the page's browser.
    """
    grant = find_upload_grant(request.path, request.query)
    if grant is None:
        return None
    head = _read_head(request, client)
    _proxies().drop_unbelieved_headers(head)
    networks = list_networks(head)
    if grant.is_for_browser(head.COOKIES.get(settings.CSRF_COOKIE_NAME, "")):
        return UploadSender(grant, networks)
    if session_key := head.COOKIES.get(settings.SESSION_COOKIE_NAME):
        return UploadSender(grant, networks, session_key)
    raise SignatureExpired("no cookie of who has the page")


def _read_head(request: Any, client: Any) -> HttpRequest:
    """Return gunicorn's request as a Django request that has only the data for networks and cookies."""
    head = HttpRequest()
    for name, value in request.headers:
        key = "HTTP_" + name.replace("-", "_")
        head.META[key] = f"{head.META[key]},{value}" if key in head.META else value
    # A socket in the file system has no address.
    head.META["REMOTE_ADDR"] = client[0] if isinstance(client, tuple) else ""
    head.COOKIES = parse_cookie(head.META.get("HTTP_COOKIE", ""))
    return head

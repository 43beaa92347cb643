"""Who sends files, as far as a request's head says it: before its body is taken (decision 025)."""

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
    """Who sends files, and which page let them. Without a session key, the browser's own cookie shows that it has the page."""

    grant: UploadGrant
    networks: list[tuple[str, int]]
    session_key: str | None = None

    def may_send(self) -> bool:
        """Return whether the session has not ended, and is that of the person who has the page. While Cassandra is away, the view says so."""
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
    """Return who sends to an address that a page has signed, None at any other. `request` is gunicorn's.

    Raises SignatureExpired for a page that is too old, and for a sender who shows no cookie of a session or of the page's browser.
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
    """Return what gunicorn has read of a request as Django's, as far as networks and cookies need it."""
    head = HttpRequest()
    for name, value in request.headers:
        key = "HTTP_" + name.replace("-", "_")
        head.META[key] = f"{head.META[key]},{value}" if key in head.META else value
    # None at a socket in the file system.
    head.META["REMOTE_ADDR"] = client[0] if isinstance(client, tuple) else ""
    head.COOKIES = parse_cookie(head.META.get("HTTP_COOKIE", ""))
    return head

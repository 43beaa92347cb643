"""Who may see a page. Each view that is not for everybody says so by one of these decorators."""

import logging
from collections.abc import Callable, Collection
from functools import wraps
from typing import cast
from urllib.parse import urlsplit

from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import resolve_url
from django.utils.cache import add_never_cache_headers
from django.utils.http import url_has_allowed_host_and_scheme

from accounts.models import User
from web.methods import P, View
from web.rendering import view_named

# What a member of staff may be; an admin may do what any of them may.
ADMIN = "admin"
ROLES = ("support", "warehouse", "catalogue", "analyst", ADMIN)
# Who works on orders.
ORDER_STAFF = ("support", "warehouse")
log = logging.getLogger(__name__)


def personal(view: View[P]) -> View[P]:
    """Let members in, send others to log in first; and have no cache keep the page."""

    @wraps(view)
    def checked(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        if not request.user.is_authenticated:
            return to_login(request)
        return _uncached(view(request, *args, **kwargs))

    return checked


def staff_required(roles: Collection[str] = ()) -> Callable[[View[P]], View[P]]:
    """Let staff in, of these roles or of any; guests are sent to log in, and for shoppers there is no such page."""
    if unknown := set(roles) - set(ROLES):
        raise ValueError(f"no roles: {sorted(unknown)}")

    def decorated(view: View[P]) -> View[P]:
        @wraps(view)
        def checked(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
            if not request.user.is_authenticated:
                return to_login(request)
            role = getattr(request.user, "role", "") or ""
            if role not in ROLES:
                log.warning("user %s, no staff, asked for %s", request.user.pk, view_named(request))
                raise Http404
            if roles and role not in (*roles, ADMIN):
                log.warning("user %s, %s, asked for %s", request.user.pk, role, view_named(request))
                raise PermissionDenied
            return _uncached(view(request, *args, **kwargs))

        return checked

    return decorated


def member(request: HttpRequest) -> User:
    """Return the member behind a request that `personal` or `staff_required` has let in."""
    user = request.user
    if not user.is_authenticated:
        raise PermissionDenied
    return cast(User, user)


def to_login(request: HttpRequest) -> HttpResponse:
    """Send somebody to log in, and from there back to the page they were on."""
    return redirect_to_login(_page_of(request), resolve_url("accounts:login"))


def _page_of(request: HttpRequest) -> str:
    # What htmx or a form asks for is a part or an action: the page around it is where somebody wants to be again.
    htmx = getattr(request, "htmx", None)
    if htmx:
        return htmx.current_url_abs_path or resolve_url("accounts:profile")
    if request.method in ("GET", "HEAD"):
        return request.get_full_path()
    referer = request.headers.get("Referer", "")
    if url_has_allowed_host_and_scheme(referer, {request.get_host()}, require_https=request.is_secure()):
        parts = urlsplit(referer)
        return f"{parts.path}?{parts.query}" if parts.query else parts.path
    return resolve_url("accounts:profile")


def _uncached(response: HttpResponse) -> HttpResponse:
    add_never_cache_headers(response)
    return response

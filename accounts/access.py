"""Decorators that say who may see a page."""

import logging
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import timedelta
from functools import cache, wraps
from typing import cast, overload
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import resolve_url
from django.urls import URLPattern, URLResolver, get_resolver
from django.utils.http import url_has_allowed_host_and_scheme

from accounts import audit_log
from accounts.models import User
from accounts.roles import ADMIN, ROLES, is_allowed
from accounts.second_factor import has_passed_second_factor
from cassandra_db import current_time
from shop_settings.queries import renew_settings
from web.decorators import P, View
from web.errors import TooManyAttempts
from web.own_pages import is_own_page
from web.rate_limits import hit_rate_limit
from web.rendering import view_name

_CHANGES, _ENTRY = "_audited_changes", "_audited_entry"
# The time over which the refunds by a member of staff are added up.
MONEY_WINDOW = timedelta(hours=1)
_SAFE = (
    "GET",
    "HEAD",
    "OPTIONS",
)  # requests by these methods change nothing, so they are not logged
log = logging.getLogger(__name__)


@overload
def member_required(view: View[P], /) -> View[P]: ...
@overload
def member_required(*, second_factor: bool) -> Callable[[View[P]], View[P]]: ...
def member_required(
    view: View[P] | None = None, /, *, second_factor: bool = False
) -> View[P] | Callable[[View[P]], View[P]]:
    """Let members in; send other visitors to the login.

    `second_factor` also asks staff for their second factor, so that a stolen password is not enough to take over an account.
    """

    def decorated(view: View[P]) -> View[P]:
        @wraps(view)
        def checked(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
            user = request.user
            if not user.is_authenticated:
                return redirect_to_login_page(request)
            if (
                second_factor
                and isinstance(user, User)
                and user.role in ROLES
                and not has_passed_second_factor(request.session, user)
            ):
                return redirect_to_login(
                    derive_return_url(request), resolve_url(settings.SECOND_FACTOR_URL)
                )
            return view(request, *args, **kwargs)

        checked.access = "member"  # type: ignore[attr-defined]
        return checked

    return decorated if view is None else decorated(view)


def staff_required(
    roles: Collection[str] = (),
    *,
    second_factor: bool = True,
    lists: Collection[str] = (),
    is_about_people: bool = True,
    only_reads: bool = False,
    unlogged: re.Pattern[str] | None = None,
) -> Callable[[View[P]], View[P]]:
    """Let in staff with one of these roles, or with any role if none is named. Log each change in the audit log.

    Staff pass the second factor first; `second_factor=False` is for the page that asks for it. Guests are sent to the login, shoppers get
    a 404. `lists` names the form fields that may have several values. If `is_about_people`, the audit log keeps no names from the form.
    The view notes the changes of the fields whose names match `unlogged`. A form that `only_reads` is not logged: it stores nothing in
    the database, and its view records looks.
    """
    if unknown := set(roles) - set(ROLES):
        raise ValueError(f"no roles: {sorted(unknown)}")

    def decorated(view: View[P]) -> View[P]:
        @wraps(view)
        def checked(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
            if not request.user.is_authenticated:
                return redirect_to_login_page(request)
            user = cast(User, request.user)
            role = getattr(user, "role", "") or ""
            if role not in ROLES:
                _log_refusal(request, user, "no such page for a shopper (404)")
                raise Http404
            if second_factor and not has_passed_second_factor(request.session, user):
                return redirect_to_login(
                    derive_return_url(request), resolve_url(settings.SECOND_FACTOR_URL)
                )
            # From here on error pages are shown in the frame of the staff's pages, too.
            request.is_staff_page = second_factor  # type: ignore[attr-defined]
            if not is_allowed(role, roles):
                _log_refusal(request, user, f"not for {role} (403)")
                raise PermissionDenied
            if request.method in _SAFE or only_reads:
                return view(request, *args, **kwargs)
            renew_settings()
            fields = {
                name: values
                for name, values in request.POST.lists()
                if not (unlogged and unlogged.fullmatch(name))
            }
            return _run_audited(
                view, request, user, fields, lists, is_about_people, *args, **kwargs
            )

        checked.access = "staff"  # type: ignore[attr-defined]
        checked.roles = tuple(roles) or ROLES  # type: ignore[attr-defined]
        checked.only_reads = only_reads  # type: ignore[attr-defined]
        return checked

    return decorated


def mark_staff_page(request: HttpRequest) -> None:
    """Show the error pages of this request in the frame of the staff's pages."""
    user = getattr(request, "user", None)
    if (
        isinstance(user, User)
        and user.role in ROLES
        and has_passed_second_factor(request.session, user)
    ):
        request.is_staff_page = True  # type: ignore[attr-defined]


def has_permission(user: User, permission: str) -> bool:
    """Return whether the user's role opens the page that a permission names: "adminpanel.refund" for `adminpanel:refund`.

    The roles of `staff_required` on the page decide; there are no other permissions. An admin has all of them.
    """
    app, _, name = permission.partition(".")
    # Only an admin has permissions that name no page.
    return is_allowed(user.role, _roles_by_page(app).get(name, (ADMIN,)))


def has_permissions_in(user: User, app: str) -> bool:
    """Return whether the user's role opens any staff page of an app."""
    return any(is_allowed(user.role, roles) for roles in [(ADMIN,), *_roles_by_page(app).values()])


def list_permissions(user: User) -> set[str]:
    """Return the permissions that a user's role has: one for each staff page that it opens."""
    return {
        f"{app}.{name}"
        for app in get_resolver().namespace_dict
        for name, roles in _roles_by_page(app).items()
        if is_allowed(user.role, roles)
    }


def _roles_by_page(app: str) -> Mapping[str, Collection[str]]:
    """Return the roles that may open each staff page of an app, keyed by the page's name."""
    return _find_roles(get_resolver(), app)


# A staff page asks a dozen times, and the addresses stay as they are.
@cache
def _find_roles(resolver: URLResolver, app: str) -> Mapping[str, Collection[str]]:
    _, found = resolver.namespace_dict.get(app, ("", None))
    return {
        each.name: each.callback.roles
        for each in (_iterate_patterns(found) if found else ())
        if each.name and hasattr(each.callback, "roles")
    }


def _iterate_patterns(resolver: URLResolver) -> Iterator[URLPattern]:
    """Yield the URL patterns of an app and its included packages."""
    for each in resolver.url_patterns:
        if isinstance(each, URLPattern):
            yield each
        else:
            yield from _iterate_patterns(each)


def _log_refusal(request: HttpRequest, user: User, why: str) -> None:
    log.warning("user %s, %s, asked for %s", user.pk, user.role or "no staff", view_name(request))
    try:
        hit_rate_limit(request, "password", f"refused {user.pk}")
    except TooManyAttempts:
        return  # logged often enough: repeated refusals must not fill the audit log
    audit_log.add_entry(view_name(request), current_time(), by=user.pk, outcome=f"refused: {why}")


def _run_audited(
    view: View[P],
    request: HttpRequest,
    user: User,
    fields: Mapping[str, Sequence[str]],
    lists: Collection[str],
    is_about_people: bool,
    /,
    *args: P.args,
    **kwargs: P.kwargs,
) -> HttpResponse:
    """Run a view: log the request in the audit log before, and its outcome after. If the first logging fails, the view does not run."""
    found = request.resolver_match
    entry = audit_log.open_entry(
        view_name(request),
        current_time(),
        by=user.pk,
        name=str(user),
        subject=" ".join(str(each) for each in found.kwargs.values()) if found else "",
        fields=fields,
        is_about_people=is_about_people,
    )
    setattr(request, _ENTRY, entry)
    try:
        if not audit_log.can_log_all_fields(fields, lists):
            raise SuspiciousOperation("more was sent than the audit log can hold")
        response = view(request, *args, **kwargs)
    except Exception as error:
        audit_log.close_entry(entry, _error_outcome(error))
        raise
    changes = getattr(request, _CHANGES, {})
    audit_log.close_entry(entry, _status_outcome(response.status_code), changes)
    return response


def note_money(request: HttpRequest, cents: int) -> int:
    """Log how much money a refund will give back, in minor units, before the refund is made.

    Return the sum of the user's refunds within the hour, including this one. Raises CassandraUnavailable.
    """
    entry: audit_log.AuditLogEntry = getattr(request, _ENTRY)
    audit_log.enter_money(entry, cents)
    now = entry.moment
    return audit_log.sum_money(current_member(request).pk, now - MONEY_WINDOW, now)


def note_changes(
    request: HttpRequest,
    before: Mapping[str, object],
    after: Mapping[str, object],
    *,
    personal: Collection[str] = (),
) -> None:
    """Log the fields that a form of the staff has changed, with their values. `personal` fields are logged without values."""
    changes = audit_log.describe_changes(before, after, personal=personal)
    setattr(request, _CHANGES, changes)


def _error_outcome(error: Exception) -> str:
    if isinstance(error, Http404):
        return _status_outcome(404)
    if isinstance(error, TooManyAttempts):
        return _status_outcome(429)
    if isinstance(error, SuspiciousOperation):
        return _status_outcome(400)
    return (
        _status_outcome(403)
        if isinstance(error, PermissionDenied)
        else f"failed: {type(error).__name__}"
    )


def _status_outcome(status: int) -> str:
    return f"{'done' if status < 400 else 'refused' if status < 500 else 'failed'} ({status})"


def current_member(request: HttpRequest) -> User:
    """Return the member behind a request that `member_required` or `staff_required` has let in."""
    user = request.user
    if not user.is_authenticated:
        raise PermissionDenied
    return cast(User, user)


def redirect_to_login_page(request: HttpRequest) -> HttpResponse:
    """Redirect the visitor to the login, and after the login back to their page."""
    return redirect_to_login(derive_return_url(request), resolve_url("accounts:login"))


def derive_return_url(request: HttpRequest, otherwise: str = "accounts:profile") -> str:
    """Return the address on this site of the page that sent a request, or of the page `otherwise`."""
    # A request by htmx or a form is no page of its own: return to the page that has sent it.
    htmx = getattr(request, "htmx", None)
    if htmx:
        return _own_page(htmx.current_url_abs_path or "", otherwise)
    if request.method in ("GET", "HEAD"):
        return request.get_full_path()
    referer = request.headers.get("Referer", "")
    if url_has_allowed_host_and_scheme(
        referer, {request.get_host()}, require_https=request.is_secure()
    ):
        parts = urlsplit(referer)
        return _own_page(f"{parts.path}?{parts.query}" if parts.query else parts.path, otherwise)
    return resolve_url(otherwise)


def _own_page(to: str, otherwise: str) -> str:
    return to if is_own_page(to) else resolve_url(otherwise)

"""Who may see a page. Each view that is not for everybody says so by one of these decorators."""

import logging
from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import timedelta
from functools import wraps
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
# So long what one of the staff gives back is summed up.
MONEY_WINDOW = timedelta(hours=1)
_SAFE = ("GET", "HEAD", "OPTIONS")  # these change nothing, so they are not logged
log = logging.getLogger(__name__)


@overload
def member_required(view: View[P], /) -> View[P]: ...
@overload
def member_required(*, second_factor: bool) -> Callable[[View[P]], View[P]]: ...
def member_required(
    view: View[P] | None = None, /, *, second_factor: bool = False
) -> View[P] | Callable[[View[P]], View[P]]:
    """Let members in, send others to log in first.

    With `second_factor` staff have to have passed theirs, for what opens an account: a stolen staff password alone must not be
    enough to take the account over.
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
                    _return_url(request), resolve_url(settings.SECOND_FACTOR_URL)
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
) -> Callable[[View[P]], View[P]]:
    """Let staff in, of these roles or of any, once they have passed the second factor; and write what they do to the audit log.

    Guests are sent to log in, and for shoppers there is no such page. `second_factor=False` is for its own page.
    `lists` are the fields of a form that may be sent several times. Of a page that is not about people the audit log keeps names, too.
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
                    _return_url(request), resolve_url(settings.SECOND_FACTOR_URL)
                )
            # From here on they are at work: a refusal, too, stands in the staff's frame.
            request.is_staff_page = second_factor  # type: ignore[attr-defined]
            if not is_allowed(role, roles):
                _log_refusal(request, user, f"not for {role} (403)")
                raise PermissionDenied
            if request.method in _SAFE:
                return view(request, *args, **kwargs)
            renew_settings()
            return _run_audited(view, request, user, lists, is_about_people, *args, **kwargs)

        checked.access = "staff"  # type: ignore[attr-defined]
        checked.roles = tuple(roles) or ROLES  # type: ignore[attr-defined]
        return checked

    return decorated


def mark_staff_page(request: HttpRequest) -> None:
    """Let an error page of somebody who is at work stand in the staff's frame."""
    user = getattr(request, "user", None)
    if (
        isinstance(user, User)
        and user.role in ROLES
        and has_passed_second_factor(request.session, user)
    ):
        request.is_staff_page = True  # type: ignore[attr-defined]


def has_permission(user: User, permission: str) -> bool:
    """Return whether a role opens the staff page that a permission names: "adminpanel.refund" for `adminpanel:refund`.

    That is what `staff_required` says of the page; there is no other permission, and an admin has all there could be.
    """
    app, _, name = permission.partition(".")
    # An admin's alone is what no page has.
    return is_allowed(user.role, _roles_by_page(app).get(name, (ADMIN,)))


def has_permissions_in(user: User, app: str) -> bool:
    """Return whether a role opens any staff page of an app."""
    return any(is_allowed(user.role, roles) for roles in [(ADMIN,), *_roles_by_page(app).values()])


def list_permissions(user: User) -> set[str]:
    """Return the permissions that a user's role has: one for each staff page that it opens."""
    return {
        f"{app}.{name}"
        for app in get_resolver().namespace_dict
        for name, roles in _roles_by_page(app).items()
        if is_allowed(user.role, roles)
    }


def _roles_by_page(app: str) -> dict[str, Collection[str]]:
    """Return for whom the staff pages of an app are, by their names."""
    _, found = get_resolver().namespace_dict.get(app, ("", None))
    return {
        each.name: each.callback.roles
        for each in (_iterate_patterns(found) if found else ())
        if each.name and hasattr(each.callback, "roles")
    }


def _iterate_patterns(resolver: URLResolver) -> Iterator[URLPattern]:
    """Yield the addresses of an app, those of its included packages too."""
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
        return  # logged often enough: repeated requests must not fill the audit log
    audit_log.add_entry(view_name(request), current_time(), by=user.pk, outcome=f"refused: {why}")


def _run_audited(
    view: View[P],
    request: HttpRequest,
    user: User,
    lists: Collection[str],
    is_about_people: bool,
    /,
    *args: P.args,
    **kwargs: P.kwargs,
) -> HttpResponse:
    """Do what one of the staff asks for, between two rows of the audit log. What cannot be logged is not done."""
    found = request.resolver_match
    entry = audit_log.open_entry(
        view_name(request),
        current_time(),
        by=user.pk,
        name=str(user),
        subject=" ".join(str(each) for each in found.kwargs.values()) if found else "",
        fields=dict(request.POST.lists()),
        is_about_people=is_about_people,
    )
    setattr(request, _ENTRY, entry)
    try:
        if not audit_log.can_log_all_fields(request.POST, lists):
            raise SuspiciousOperation("more was sent than the audit log can hold")
        response = view(request, *args, **kwargs)
    except Exception as error:
        audit_log.close_entry(entry, _error_outcome(error))
        raise
    changes = getattr(request, _CHANGES, {})
    audit_log.close_entry(entry, _status_outcome(response.status_code), changes)
    return response


def note_money(request: HttpRequest, cents: int) -> int:
    """Have the audit log say how much money an act of the staff gives back, in minor units, before it is done.

    Return how much its person has given back within the hour, this included. Raises CassandraUnavailable.
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
    """Have the audit log say what a submit of the staff has changed, by field; of a `personal` field its name alone."""
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
    """Send the visitor to log in, and from there back to the page they were on."""
    return redirect_to_login(_return_url(request), resolve_url("accounts:login"))


def _return_url(request: HttpRequest) -> str:
    # What htmx or a form asks for is a part or an action: the page around it is where the visitor wants to be again.
    htmx = getattr(request, "htmx", None)
    if htmx:
        return _own_page_or_profile(htmx.current_url_abs_path or "")
    if request.method in ("GET", "HEAD"):
        return request.get_full_path()
    referer = request.headers.get("Referer", "")
    if url_has_allowed_host_and_scheme(
        referer, {request.get_host()}, require_https=request.is_secure()
    ):
        parts = urlsplit(referer)
        return _own_page_or_profile(f"{parts.path}?{parts.query}" if parts.query else parts.path)
    return resolve_url("accounts:profile")


def _own_page_or_profile(to: str) -> str:
    return to if is_own_page(to) else resolve_url("accounts:profile")

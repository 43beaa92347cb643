"""Coming and going."""

import logging
from datetime import UTC, datetime
from typing import Any

from django.conf import settings
from django.contrib import auth, messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, resolve_url
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters

from accounts import audit, demo_logins, known_devices, operations
from accounts.access import member
from accounts.forms import LoginForm
from accounts.models import User
from accounts.second_factor import forgotten
from cart.errors import CartError
from cart.operations import Adopted, carts_adopted
from cart.owner import forget_guest, guest_of
from web.devices import device_of
from web.errors import TooManyAttempts
from web.methods import get_or_post, public
from web.rendering import page, too_many

log = logging.getLogger(__name__)


@sensitive_post_parameters("password")
@get_or_post
@never_cache
@public
def login(request: HttpRequest) -> HttpResponse:
    """Log in by e-mail address and password."""
    if request.method != "POST":
        if request.user.is_authenticated:
            return HttpResponseRedirect(_next(request, request.GET.get("next", "")))
        return _login_page(request, LoginForm(initial={"next": request.GET.get("next", "")}))
    form = LoginForm(request.POST)
    if not form.is_valid():
        return _login_page(request, form)
    try:
        user = auth.authenticate(
            request, username=form.cleaned_data["email"], password=form.cleaned_data["password"]
        )
    except TooManyAttempts as error:
        return too_many(request, error, "accounts/login.html", _context(form))
    if not isinstance(user, User):
        # Alike for known and unknown addresses; the keyed hash finds those of one address again, and tells none.
        audit.noted(
            "login_failed",
            datetime.now(UTC),
            subject=audit.mailbox(form.cleaned_data["email"]),
            outcome="refused",
        )
        form.add_error(
            None,
            "This e-mail address and this password do not belong together. Check both, and try again.",
        )
        return _login_page(request, form)
    return logged_in(request, user, form.cleaned_data["next"])


def _login_page(request: HttpRequest, form: LoginForm) -> HttpResponse:
    return page(
        request, "accounts/login.html", _context(form), status=422 if form.is_bound else 200
    )


def _context(form: LoginForm) -> dict[str, Any]:
    return {"form": form, "demo_logins": demo_logins.logins()}


@public
def logged_in(request: HttpRequest, user: User, to: str) -> HttpResponse:
    """Bring a guest's carts along, start a session with a key of its own, and go on."""
    adopted = _brought_along(request, user)
    auth.login(request, user)
    forgotten(request.session)
    audit.noted("login", datetime.now(UTC), by=user.pk)
    operations.came_back(user, datetime.now(UTC))
    # Staff who want nothing else go where their work is, by way of the second factor.
    response = HttpResponseRedirect(
        _next(request, to or (resolve_url(settings.SECOND_FACTOR_URL) if user.is_staff else ""))
    )
    known_devices.remember(request, response, user)
    if adopted and not adopted.left:
        forget_guest(response)
    return response


def _brought_along(request: HttpRequest, user: User) -> Adopted | None:
    """Make a guest's carts the member's. None if there are none, or they were too busy: then they come at the next login."""
    if (guest_id := guest_of(request)) is None:
        return None
    try:
        return carts_adopted(guest_id, user.pk, datetime.now(UTC), device_of(request))
    except CartError as busy:
        log.warning("the carts of guest %s stay the guest's: %s", guest_id, busy)
        return None


def _next(request: HttpRequest, to: str) -> str:
    """Return where to go after logging in: a page of this site, or the profile."""
    if to.startswith("/") and url_has_allowed_host_and_scheme(
        to, {request.get_host()}, require_https=request.is_secure()
    ):
        return to
    return resolve_url(settings.LOGIN_REDIRECT_URL)


@get_or_post
@never_cache
@public
def logout(request: HttpRequest) -> HttpResponse:
    """End the session, by a press of a button and never by a link."""
    if request.method != "POST":
        return page(request, "accounts/logout.html", {})
    if request.user.is_authenticated:
        audit.noted("logout", datetime.now(UTC), by=member(request).pk)
    auth.logout(request)
    messages.info(request, "You have signed out.")
    response = redirect("home")
    # What was typed at the checkout is this person's, and the next one at this browser may be another.
    response.delete_cookie(settings.CHECKOUT_COOKIE_NAME, samesite="Lax")
    return response

"""Steps after a login (session, guest's carts, next page), and the logout."""

import logging

from django.conf import settings
from django.contrib import auth
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, resolve_url

from accounts import audit_log, known_devices, operations
from accounts.models import User
from accounts.second_factor import clear_second_factor_pass
from cart.errors import CartError
from cart.operations import ClaimedCarts, claim_guest_carts
from cart.owner import delete_cart_cookie, get_guest_id
from cassandra_db import CassandraUnavailable, current_time
from web.devices import device_kind
from web.own_pages import is_own_page

log = logging.getLogger(__name__)


def log_in(request: HttpRequest, user: User, to: str) -> HttpResponse:
    """Start a session with a new key, claim the guest's carts, and redirect to the next page."""
    adopted = _claim_guest_carts(request, user)
    auth.login(request, user)
    clear_second_factor_pass(request.session)
    audit_log.add_entry("login", current_time(), by=user.pk)
    operations.process_sign_in(user, current_time())
    _record_login(user)
    # Staff who asked for no other page go to the second factor, and from there to the staff's pages.
    response = HttpResponseRedirect(
        next_url(to or (resolve_url(settings.SECOND_FACTOR_URL) if user.is_staff else ""))
    )
    known_devices.set_device_cookie(request, response, user)
    if adopted and not adopted.unadopted_count:
        delete_cart_cookie(response)
    return response


def log_out(request: HttpRequest, to: str) -> HttpResponse:
    """End this browser's session, delete the user's cookies, and redirect to a page.

    The cookies of the guest's cart, the shipping country and the known devices stay.
    """
    auth.logout(request)
    response = redirect(to)
    # The typed checkout fields and the opened orders: the next user of this browser may be another person.
    for name in (settings.CHECKOUT_COOKIE_NAME, settings.ORDER_COOKIE_NAME):
        response.delete_cookie(name, samesite="Lax")
    # The browser also deletes the pages behind the Back button, and the pages' storage (S56).
    response["Clear-Site-Data"] = '"cache", "storage"'
    return response


def _claim_guest_carts(request: HttpRequest, user: User) -> ClaimedCarts | None:
    """Give a guest's carts to the member. Return None if there are none, or if they were busy: the next login claims them."""
    if (guest_id := get_guest_id(request)) is None:
        return None
    try:
        return claim_guest_carts(guest_id, user.pk, current_time(), device_kind(request))
    except CartError as busy:
        log.warning("the carts of guest %s stay the guest's: %s", guest_id, busy)
        return None


def _record_login(user: User) -> None:
    """Store the time of the login. A failure does not stop the login."""
    try:
        operations.record_login(user.pk, current_time())
    except CassandraUnavailable as error:
        log.warning("the last login of %s is not noted: %s", user.pk, error)


def next_url(to: str) -> str:
    """Return the URL to show after a login: `to` if it is a page of this site, else the profile."""
    return to if is_own_page(to) else resolve_url(settings.LOGIN_REDIRECT_URL)

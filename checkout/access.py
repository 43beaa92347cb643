"""Lets everyone who may order a cart into its checkout, until the cart is ordered."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, resolve_url
from django.utils.translation import gettext as _

from accounts.access import current_member
from accounts.queries import get_user
from cart import owner
from cart.access import BUY, require_listed_access
from cart.errors import CartError
from cart.pages import set_badge
from cart.queries import PendingActiveCart
from cart.request_cart import get_request_cart
from cassandra_db import current_time
from checkout.checkouts import get_checkout
from checkout.pages import redirect_to_existing_order
from checkout.snapshot import find_other_owner_id
from checkout.visit import CheckoutVisit
from shop_settings.queries import prefetch_settings
from web.decorators import P, View
from web.rate_limits import list_networks


def prefetch_active_cart(request: HttpRequest, owner_id: UUID) -> PendingActiveCart:
    """Start reading the active cart; a request reads it only once."""
    prefetch_settings()
    expected_cart_id = owner.get_last_active_cart_id(request)
    return get_request_cart(request).prefetch_active_cart(owner_id, expected_cart_id)


def orderable_cart_required(
    view: Callable[Concatenate[HttpRequest, CheckoutVisit, P], HttpResponse],
) -> View[P]:
    """Decorate a view of the checkout: pass it the visit (CheckoutVisit) to the checkout of the active cart.

    Without an orderable cart, redirect to the cart; if the cart is ordered, to the order. Redirect visitors who were signed
    out since the page was opened to the login.
    """

    @wraps(view)
    def checked(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        owner_id, now = owner.get_checked_owner_id(request), current_time()
        if _has_been_signed_out(request, owner_id):
            messages.warning(
                request,
                _(
                    "You were signed out, so nothing was ordered. Sign in to continue: your cart is saved."
                ),
            )
            return redirect_to_login(request.path, resolve_url("accounts:login"))
        found = prefetch_active_cart(request, owner_id).result() if owner_id else None
        if found is None or owner_id is None or not found.cart.lines:
            if request.method == "POST":
                messages.warning(request, _("Your cart is empty now, so nothing was ordered."))
            return redirect("cart:show")
        set_badge(request, found.badge)
        try:
            require_listed_access(owner_id, found.row, BUY)
        except CartError as error:
            messages.warning(request, str(error))
            return redirect("cart:show")
        checkout = get_checkout(found.cart, now)
        if checkout.order:
            return redirect_to_existing_order(request, owner_id, checkout.order)
        request.is_checkout_step = True  # type: ignore[attr-defined]  # it has a header of its own
        visitor = current_member(request) if request.user.is_authenticated else None
        visit = CheckoutVisit(owner_id, visitor, found.cart, checkout, list_networks(request))
        return view(request, visit, *args, **kwargs)

    return checked


def _has_been_signed_out(request: HttpRequest, owner_id: UUID | None) -> bool:
    """Return whether a member's form comes from a visitor who has since logged out, for example in another tab."""
    if request.method != "POST" or request.user.is_authenticated:
        return False
    other_id = find_other_owner_id(request.POST.get("checkout", ""), owner_id)
    return other_id is not None and get_user(other_id) is not None

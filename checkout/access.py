"""Who may check out a cart: whoever may order it, as long as nobody has."""

from collections.abc import Callable
from datetime import UTC, datetime
from functools import wraps
from typing import Concatenate

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from accounts.access import current_member
from cart import owner
from cart import queries as carts
from cart.access import BUY, require_access
from cart.errors import CartError
from checkout.checkouts import get_checkout
from checkout.pages import redirect_to_existing_order
from checkout.visit import Visit
from web.decorators import P, View


def orderable_cart_required(
    view: Callable[Concatenate[HttpRequest, Visit, P], HttpResponse],
) -> View[P]:
    """Give a view the visit to the checkout of the active cart.

    Whoever has nothing to order or may not order it is led to the cart; and who has ordered it, to the order.
    """

    @wraps(view)
    def checked(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        owner_id, now = owner.get_checked_owner_id(request), datetime.now(UTC)
        cart = carts.get_active_cart(owner_id) if owner_id else None
        if cart is None or owner_id is None or not cart.lines:
            return redirect("cart:show")
        try:
            require_access(owner_id, cart.cart_id, BUY)
        except CartError as error:
            messages.warning(request, str(error))
            return redirect("cart:show")
        found = get_checkout(cart, now)
        if found.order:
            return redirect_to_existing_order(request, owner_id, found.order)
        visitor = current_member(request) if request.user.is_authenticated else None
        return view(request, Visit(owner_id, visitor, cart, found), *args, **kwargs)

    return checked

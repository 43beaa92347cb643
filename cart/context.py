"""The context processor for the cart in every page's header."""

from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from cart import owner, queries
from cart.entities import CartBadge
from cart.request_cart import get_request_cart


def cart_badge(request: HttpRequest) -> dict[str, object]:
    """Return `cart_badge` (name, item_count, subtotal), which is read when a template uses it."""

    def load() -> CartBadge:
        if not hasattr(request, "user"):
            return CartBadge()  # a middleware refused the request before the user was read
        if (owner_id := owner.get_owner_id(request)) is None:
            return CartBadge()
        known = get_request_cart(request)
        found = known.badge or queries.collect_badge(known.prefetch_badge(owner_id))
        owner.remember_active_cart(request, found.cart_id)
        return found

    return {"cart_badge": SimpleLazyObject(load)}

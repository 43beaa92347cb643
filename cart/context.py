"""The cart in every page's header."""

from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from cart import owner, queries
from cart.entities import Badge
from cart.request_cart import request_cart


def cart_badge(request: HttpRequest) -> dict[str, object]:
    """Return `cart_badge` (name, item_count, subtotal), read when a template looks at it."""

    def look() -> Badge:
        if not hasattr(request, "user"):
            return Badge()  # refused by a middleware, before anybody asked who it is
        if (owner_id := owner.owner_of(request)) is None:
            return Badge()
        found = queries.badge(request_cart(request).reading(owner_id))
        owner.saw_active_cart(request, found.cart_id)
        return found

    return {"cart_badge": SimpleLazyObject(look)}

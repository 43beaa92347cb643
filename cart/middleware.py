"""The middleware that starts reading the header's cart early, and sets a guest's cookie."""

from collections.abc import Callable
from typing import ParamSpec

from django.http import HttpRequest, HttpResponse

from cart import owner
from cart.request_cart import get_request_cart

P = ParamSpec("P")


def without_badge_prefetch(view: Callable[P, HttpResponse]) -> Callable[P, HttpResponse]:
    """Mark a view for which the middleware reads no cart: it shows no page, or sets the header's cart from its own reads."""
    view.without_badge_prefetch = True  # type: ignore[attr-defined]
    return view


class OwnerMiddleware:
    """Reads the header's cart in parallel with the page's own reads, and sets the guest's cookie."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        owner.set_cart_cookie(request, response)
        return response

    def process_view(
        self, request: HttpRequest, view: Callable[..., HttpResponse], args: object, kwargs: object
    ) -> None:
        # A POST may change the cart: the header's cart is read after the change.
        if (
            request.method == "GET"
            and not getattr(view, "without_header", False)
            and getattr(view, "access", "") != "staff"  # their pages show no cart
            and not getattr(view, "without_badge_prefetch", False)
            and (owner_id := owner.get_owner_id(request))
        ):
            get_request_cart(request).prefetch_badge(owner_id)

"""What was looked over becomes an order, if it is still what can be ordered."""

from dataclasses import replace
from datetime import datetime

from cart import queries as carts
from cart.errors import CartChanged
from cart.operations import prices_agreed
from checkout.checkouts import checkout_of
from checkout.offers import Offer, Shown
from checkout.steps import REVIEW
from checkout.visit import Visit
from orders import operations
from orders.entities import Order
from payments import gateways


def still_offered(visit: Visit, seen: Shown | None, offer: Offer) -> bool:
    """Tell whether what a page showed is what can be ordered now."""
    return bool(offer.lines) and seen is not None and visit.shown(offer, REVIEW) == seen


def place_order(visit: Visit, seen: Shown, offer: Offer, now: datetime) -> Order:
    """Order what was looked over; placed again it is the same order.

    Raises what orders.operations.order_placed does; GatewayUnavailable if it could not be paid, and CartChanged if the cart has
    changed since.
    """
    gateways.resolve_gateway_name(
        visit.form.cleaned_data["payment"]
    )  # nothing is ordered that cannot be paid
    if visit.checkout.overdue:
        operations.expire_order(visit.checkout.overdue, now)
    if offer.rises:  # the button that was pressed said the new sum, and its page what had risen
        prices_agreed(visit.owner_id, visit.cart.cart_id, offer.rises, now)
        visit = replace(visit, cart=carts.cart(visit.cart.cart_id, visit.cart.name))
        offer = visit.offered()
        if not still_offered(visit, seen, offer):
            raise CartChanged
    return operations.place_order(visit.draft(seen, offer), now)


def with_cart_of_now(visit: Visit, now: datetime) -> Visit:
    """Return a visit whose cart has changed, with the cart as it is. Raises CassandraUnavailable."""
    cart = carts.cart(visit.cart.cart_id, visit.cart.name)
    return replace(visit, cart=cart, checkout=checkout_of(cart, now))

"""Placing the reviewed order, if nothing has changed that prevents it."""

from dataclasses import replace
from datetime import datetime

from cart import queries as carts
from cart.errors import CartChanged
from cart.operations import accept_prices
from checkout.checkouts import get_checkout
from checkout.orderable_cart import OrderableCart
from checkout.snapshot import CheckoutSnapshot
from checkout.steps import REVIEW
from checkout.visit import CheckoutVisit
from orders import operations
from orders.lifecycle.entities import Order
from orders.lifecycle.errors import CustomerRefused
from payments import gateways
from shop_settings.terms import get_terms


def is_still_offered(
    visit: CheckoutVisit, snapshot: CheckoutSnapshot | None, orderable: OrderableCart
) -> bool:
    """Return whether the order that a page's snapshot shows can still be placed."""
    return (
        bool(orderable.lines)
        and snapshot is not None
        and visit.take_snapshot(orderable, REVIEW) == snapshot
    )


def place_reviewed_order(
    visit: CheckoutVisit, snapshot: CheckoutSnapshot, orderable: OrderableCart, now: datetime
) -> Order:
    """Place the reviewed order; a repeat returns the same order.

    Raises GatewayUnavailable if the order could not be paid, and the errors of orders.operations.place_order. Also raises
    CustomerRefused, CartChanged.
    """
    refuse_blocked_customer(visit)
    # An order that cannot be paid is not placed.
    gateways.resolve_gateway_name(visit.form.cleaned_data["payment"])
    if visit.checkout.overdue_order:
        operations.expire_order(visit.checkout.overdue_order, now)
    # The page showed the risen prices, and its button the new total.
    if orderable.price_rises:
        accept_prices(visit.owner_id, visit.cart.cart_id, orderable.price_rises, now)
        visit = replace(visit, cart=carts.get_cart(visit.cart.cart_id, visit.cart.name))
        orderable = visit.get_orderable_cart()
        if not is_still_offered(visit, snapshot, orderable):
            raise CartChanged
    return operations.place_order(visit.build_draft(snapshot, orderable), now)


def refuse_blocked_customer(visit: CheckoutVisit) -> None:
    """Raise CustomerRefused for a blocked member. This reads nothing: the request has read the member already."""
    if visit.visitor and visit.visitor.blocked_at:
        raise CustomerRefused(get_terms().email)


def reload_cart(visit: CheckoutVisit, now: datetime) -> CheckoutVisit:
    """Return the visit with the cart read again. Raises CassandraUnavailable."""
    cart = carts.get_cart(visit.cart.cart_id, visit.cart.name)
    return replace(visit, cart=cart, checkout=get_checkout(cart, now))

"""A cart's checkout, derived only from the cart: all tabs and all people who may order the cart get the same checkout.

The checkout's id is also the order's id, so repeated submits make one order and one charge. The id is made with SECRET_KEY,
so that people who know the cart cannot derive the order's number. If SECRET_KEY changes, an open checkout gets another id,
while the cart keeps the old id (cart.operations.claim_cart_for_checkout).
"""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.utils.crypto import salted_hmac

from cart.entities import Cart
from orders import queries
from orders.lifecycle.entities import Order
from orders.lifecycle.states import ABANDONED, PENDING

_SALT = "orders.checkouts"


@dataclass(frozen=True)
class Checkout:
    """A cart's checkout. `number` counts the cart's earlier checkouts that ended without payment.

    `order` is the cart's order; the payment deadline of `overdue_order` has passed. `superseded_checkout_id` is the checkout of
    an earlier version of the cart; it did not become an order.
    """

    checkout_id: UUID
    number: int
    order: Order | None = None
    overdue_order: Order | None = None
    superseded_checkout_id: UUID | None = None


def get_checkout(cart: Cart, now: datetime) -> Checkout:
    """Return the checkout of the present version of a cart. Raises CassandraUnavailable."""
    number, order, superseded_checkout_id = cart.checkout_number, None, None
    if cart.checkout_id:
        rows = queries.prefetch_order(cart.checkout_id).rows()
        order = queries.order_from_rows(rows)
        is_abandoned = bool(rows) and rows[0].state == ABANDONED
        if order.is_over(now) if order else is_abandoned:
            number += 1
        superseded_checkout_id = cart.checkout_id if order is None and not is_abandoned else None
    checkout_id = _derive_checkout_id(cart, number)
    if order is None:
        return Checkout(
            checkout_id,
            number,
            superseded_checkout_id=superseded_checkout_id
            if superseded_checkout_id != checkout_id
            else None,
        )
    if order.is_over(now):
        return Checkout(
            checkout_id, number, overdue_order=order if order.state == PENDING else None
        )
    return Checkout(
        checkout_id,
        number,
        order if order.has_items_in_cart or checkout_id == order.order_id else None,
    )


def _derive_checkout_id(cart: Cart, number: int) -> UUID:
    content = f"{cart.cart_id} {cart.version} {number}"
    return UUID(bytes=salted_hmac(_SALT, content, algorithm="sha256").digest()[:16], version=4)

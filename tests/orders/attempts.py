"""The attempts to pay an order."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from orders import operations, queries
from orders.lifecycle.entities import Order
from orders.lifecycle.payment_attempts import PaymentAttempt
from tests.clock import now

# The shop's own address, which the bank sends shoppers back to.
ORIGIN = "http://testserver"


def list_attempts(order_id: UUID) -> tuple[PaymentAttempt, ...]:
    """Return the attempts to pay an order as they are now, the first one first."""
    order = queries.get_order(order_id)
    assert order
    return queries.load_payment_references(order).payment_attempts


def settle(order: Order, payment_id: UUID) -> Callable[[], Any]:
    """Return what the shop does when the bank has decided on a payment."""
    return lambda: operations.settle_payment(order.order_id, payment_id, now())

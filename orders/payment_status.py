"""Functions that ask the gateway for the outcome of an order's payment. They raise CassandraUnavailable."""

import logging
from uuid import UUID

from cassandra_db import current_time
from orders import operations
from orders.lifecycle.entities import Order
from orders.lifecycle.errors import OrderChanged
from payments.errors import GatewayUnavailable

log = logging.getLogger(__name__)


def poll_open_payment(order: Order) -> Order:
    """Ask the gateway about the order's open payment attempt, if any; return the order."""
    attempt = order.open_payment_attempt
    if attempt is None or not order.is_awaiting_payment:
        return order
    return poll_payment(order, attempt.payment_id)


def poll_payment(order: Order, payment_id: UUID) -> Order:
    """Ask the gateway about a payment; return the order, unchanged if the gateway does not answer."""
    try:
        return operations.settle_order_payment(order, payment_id, current_time())
    except OrderChanged as stale:
        return stale.order  # the worker settles the payment later
    except (GatewayUnavailable, LookupError, ValueError) as error:
        # The worker asks again.
        log.warning("order %s: the gateway does not answer: %s", order.number, error)
        return order

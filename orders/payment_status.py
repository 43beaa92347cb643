"""How an order's payment has ended: the bank is asked, and the order is as it says. Raises CassandraUnavailable."""

import logging
from datetime import UTC, datetime
from uuid import UUID

from orders import operations, queries
from orders.entities import Order
from payments.errors import GatewayUnavailable

log = logging.getLogger(__name__)


def poll_open_payment(order: Order) -> Order:
    """Ask the bank about the payment that is under way, if one is, and return the order as it is then."""
    under_way = next(
        (each for each in queries.list_payment_attempts(order.order_id) if each.state == "started"),
        None,
    )
    if under_way is None or not order.is_awaiting_payment:
        return order
    return poll_payment(order, under_way.payment_id)


def poll_payment(order: Order, payment_id: UUID) -> Order:
    """Ask the bank about one payment, and return the order as it is then; as it was, if the bank does not answer."""
    try:
        return operations.settle_payment(order.order_id, payment_id, datetime.now(UTC)) or order
    except (GatewayUnavailable, LookupError, ValueError) as away:
        # The worker asks again; until then the order's page tells what is known.
        log.warning("order %s: the gateway does not answer: %s", order.number, away)
        return order

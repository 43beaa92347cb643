"""An order that nobody has paid in time ends."""

import logging
from datetime import datetime

from orders import queries
from orders.entities import Order
from orders.errors import StaleOrder
from orders.operations.effects import transition_order
from orders.operations.payments import settle_payment
from orders.states import PENDING
from orders.transitions import Transition
from payments.errors import NoGateway

log = logging.getLogger(__name__)


def expire_order(order: Order, now: datetime) -> Order:
    """End an order that was not paid in time, unless the bank says it was; return what it is then.

    A bank that is no longer ours, or knows no such payment, cannot keep its units for ever: what it may tell later is
    a payment that came too late. Raises GatewayUnavailable for one that does not answer, CassandraUnavailable.
    """
    for attempt in queries.list_payment_attempts(order.order_id):
        if attempt.state == "started":
            try:
                order = settle_payment(order.order_id, attempt.payment_id, now) or order
            except (LookupError, NoGateway) as gone:
                log.error(
                    "order %s ends: %s knows nothing of its payment: %s",
                    order.number,
                    attempt.gateway,
                    gone,
                )
    if order.state != PENDING:
        return order
    try:
        return transition_order(order, Transition("expired", actor="system", at=now))
    except StaleOrder as stale:
        return stale.order

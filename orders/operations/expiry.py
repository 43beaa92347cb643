"""An order that is not paid in time expires."""

import logging
from datetime import datetime

from django.utils.translation import gettext as _

from orders.lifecycle.entities import Order
from orders.lifecycle.errors import OrderChanged
from orders.lifecycle.states import PENDING
from orders.lifecycle.transitions import Transition
from orders.operations.effects import transition_order
from orders.operations.payments import settle_payment
from payments.errors import GatewayMissing

log = logging.getLogger(__name__)


def expire_order(order: Order, now: datetime) -> Order:
    """Expire an order that was not paid in time, unless the gateway says it was; return the order after that.

    A gateway that is no longer configured, or knows no such payment, cannot keep its units reserved for ever: what it
    reports later is a late payment. Raises GatewayUnavailable for one that does not answer, CassandraUnavailable.
    """
    for attempt in order.payment_attempts:
        if attempt.state == "started":
            try:
                order = settle_payment(order.order_id, attempt.payment_id, now) or order
            except (LookupError, GatewayMissing) as error:
                log.error(
                    "order %s expires: %s does not know its payment: %s",
                    order.number,
                    attempt.gateway,
                    error,
                )
    if order.state != PENDING:
        return order
    note = (
        _("Nobody confirmed the email address in time.") if order.needs_email_confirmation else ""
    )
    try:
        return transition_order(order, Transition("expired", actor="system", at=now, note=note))
    except OrderChanged as stale:
        return stale.order

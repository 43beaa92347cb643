"""The function that expires orders that were not paid in time."""

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
    """Expire an order that was not paid in time, unless its gateway reports a payment; return the order.

    The order also expires if its gateway is no longer configured or does not know the payment; a later report counts as a
    late payment. Raises GatewayUnavailable if the gateway does not answer, CassandraUnavailable.
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

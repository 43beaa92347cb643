"""Extending the reservation of an unpaid order's units."""

from datetime import datetime

from cassandra_db import SEND_AGAIN
from inventory import operations as inventory
from inventory.operations import RESERVATION_DURATION
from orders import queries
from orders.lifecycle.entities import Order
from orders.lifecycle.errors import NotPayable
from orders.lifecycle.states import PENDING
from orders.operations.payments import EXTEND_DEADLINE, MAX_RESERVATION_DURATION, MIN_EXTENSION
from payments.methods import MANUAL_METHODS


def next_payment_deadline(order: Order, now: datetime) -> datetime | None:
    """Return the deadline after an extension now, at most an hour after placing; None if no extension is possible."""
    if (
        order.state != PENDING
        or order.payment_method in MANUAL_METHODS
        or order.needs_email_confirmation
        or order.pay_until <= now
    ):
        return None
    until = min(now + RESERVATION_DURATION, order.placed_at + MAX_RESERVATION_DURATION)
    return until if until - order.pay_until >= MIN_EXTENSION else None


def extend_payment_deadline(order: Order, now: datetime) -> datetime:
    """Reserve an order's units for ten minutes from now, but for at most an hour after placing. Return the new deadline.

    An immediate second call changes nothing. `now` is in UTC. Raises NotPayable if the order is not waiting for a payment or
    its deadline has passed. Also raises CassandraUnavailable.
    """
    if order.state != PENDING or order.pay_until <= now:
        raise NotPayable
    until = next_payment_deadline(order, now)
    if until is None:
        return order.pay_until
    inventory.extend_reservations(
        order.order_id, until, order.list_allocations(queries.list_items(order))
    )
    extended = EXTEND_DEADLINE.apply(
        if_lost=SEND_AGAIN, order_id=order.order_id, pay_until=until, seen=order.version
    )
    if not extended:
        raise NotPayable
    return until

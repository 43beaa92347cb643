"""An order that waits for its payment keeps its units a little longer, while its shopper is still about to pay."""

from datetime import datetime, timedelta

from cassandra_db import SEND_AGAIN
from inventory import operations as inventory
from inventory.operations import HOLD_FOR
from orders import queries
from orders.entities import Order
from orders.errors import NotPayable
from orders.operations.paying import HOLD_AT_MOST, KEEP
from orders.states import PENDING
from payments import gateways

# Less than this is not worth a press.
LEAST = timedelta(minutes=1)


def could_be_kept_until(order: Order, now: datetime) -> datetime | None:
    """Return until when a press now would keep the order's units, None if it would not: an hour is the most."""
    if order.state != PENDING or order.payment_method in gateways.BY_HAND or order.pay_until <= now:
        return None
    until = min(now + HOLD_FOR, order.placed_at + HOLD_AT_MOST)
    return until if until - order.pay_until >= LEAST else None


def kept_longer(order: Order, now: datetime) -> datetime:
    """Keep the units of an order for ten minutes from now, an hour in all; return until when they are kept.

    Pressing again at once changes nothing. `now` is in UTC. Raises NotPayable when the order waits for no payment or
    its time is over, CassandraUnavailable.
    """
    if order.state != PENDING or order.pay_until <= now:
        raise NotPayable
    until = could_be_kept_until(order, now)
    if until is None:
        return order.pay_until
    inventory.holds_renewed(order.order_id, until, order.allocations(queries.items(order)))
    kept = KEEP.apply(
        if_lost=SEND_AGAIN, order_id=order.order_id, pay_until=until, seen=order.version
    )
    if not kept:
        raise NotPayable
    return until

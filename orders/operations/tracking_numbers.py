"""Whose parcel has a tracking number: a number is one order's, so that no customer follows another's parcel."""

import logging
from uuid import UUID

from cassandra_db import REFUSED_MEANS_DONE, applied_if, conditional_write, read
from orders import queries
from orders.entities import Order
from orders.errors import TrackingNumberTaken

log = logging.getLogger(__name__)

TAKE_TRACKING = conditional_write(
    "tracking numbers",
    "INSERT INTO tracking_numbers (tracking, order_id) VALUES (:tracking, :order_id) IF NOT EXISTS",
)
RELEASE_TRACKING = conditional_write(
    "tracking numbers",
    "DELETE FROM tracking_numbers WHERE tracking = :tracking IF order_id = :order_id",
)
OWNER = read("tracking numbers", "SELECT order_id FROM tracking_numbers WHERE tracking = :tracking")


def find_tracking_owner(tracking: str) -> UUID | None:
    """Return the order that has a tracking number. Raises CassandraUnavailable."""
    row = OWNER.one(tracking=tracking)
    return row.order_id if row else None


def take_tracking_number(tracking: str, order: Order) -> None:
    """Take a tracking number for an order, which may have it already. Raises TrackingNumberTaken if it is another's, CassandraUnavailable."""
    outcome = TAKE_TRACKING.apply(
        if_lost=applied_if(lambda row: bool(row.order_id == order.order_id)),
        tracking=tracking,
        order_id=order.order_id,
    )
    if not outcome and find_tracking_owner(tracking) != order.order_id:
        raise TrackingNumberTaken(tracking)


def release_tracking_numbers(order: Order) -> None:
    """Forget which numbers an order's parcels have, or had: its person is erased. Raises CassandraUnavailable."""
    _release(order, order.former_tracking_numbers | _list_numbers(order))


def sync_tracking_numbers(order: Order) -> None:
    """Make the numbers follow an order some of whose were corrected: the former ones are free, the present ones its own.

    A number that comes back meanwhile is taken again. Raises CassandraUnavailable.
    """
    former = order.former_tracking_numbers
    if not former or order.is_erased:
        return
    fresh = queries.get_order(order.order_id)
    if fresh is None or fresh.is_erased:
        return
    _release(order, former - _list_numbers(fresh))
    for tracking in sorted(_list_numbers(fresh)):
        try:
            take_tracking_number(tracking, fresh)
        except TrackingNumberTaken:
            log.error("order %s: another order has tracking number %s", order.number, tracking)


def _list_numbers(order: Order) -> set[str]:
    return {each.tracking for each in order.parcels() if each.tracking}


def _release(order: Order, numbers: set[str]) -> None:
    for tracking in sorted(numbers):
        RELEASE_TRACKING.apply(
            if_lost=REFUSED_MEANS_DONE, tracking=tracking, order_id=order.order_id
        )

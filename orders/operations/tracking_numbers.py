"""Whose parcel has a tracking number: a number is one order's, so that no customer follows another's parcel."""

from uuid import UUID

from cassandra_db import REFUSED_MEANS_DONE, applied_if, conditional_write, read
from orders.entities import Order
from orders.errors import TrackingNumberTaken

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
    """Forget which numbers an order's parcels have: its person is erased. Raises CassandraUnavailable."""
    for tracking in sorted({each.tracking for each in order.parcels() if each.tracking}):
        RELEASE_TRACKING.apply(
            if_lost=REFUSED_MEANS_DONE, tracking=tracking, order_id=order.order_id
        )

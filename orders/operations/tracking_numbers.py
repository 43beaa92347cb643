"""The owners of tracking numbers: a number belongs to one order, so that no customer follows another's parcel.

A number is taken before the event that gives it to a parcel, for the order's version on which that event is conditional. If a
newer version lacks the number, that event was not and cannot be written, so the number is free. An event on a newer version
takes the number again, for that version.
"""

from collections.abc import Iterable
from uuid import UUID

from cassandra_db import SEND_AGAIN, Row, applied_if, conditional_write, read, retry_attempts
from orders.lifecycle.entities import Order
from orders.lifecycle.errors import OrderChanged, TrackingNumberTaken

MAX_ATTEMPTS = 5

TAKE_TRACKING = conditional_write(
    "tracking numbers",
    """INSERT INTO tracking_numbers (tracking, order_id, version) VALUES (:tracking, :order_id, :version)
       IF NOT EXISTS""",
)
TAKE_AGAIN = conditional_write(
    "tracking numbers",
    """UPDATE tracking_numbers SET order_id = :order_id, version = :version WHERE tracking = :tracking
       IF order_id = :order_id AND version = :seen""",
)
RELEASE_TRACKING = conditional_write(
    "tracking numbers",
    "DELETE FROM tracking_numbers WHERE tracking = :tracking IF order_id = :order_id AND version = :seen",
)
OWNER = read(
    "tracking numbers", "SELECT order_id, version FROM tracking_numbers WHERE tracking = :tracking"
)


def find_tracking_owner(tracking: str) -> UUID | None:
    """Return the order that has a tracking number. Raises CassandraUnavailable."""
    row = OWNER.one(tracking=tracking)
    return row.order_id if row else None


def take_tracking_number(tracking: str, order: Order) -> None:
    """Take a tracking number for an event on this version of an order, which may own it already.

    Raises TrackingNumberTaken if another order owns it, OrderChanged if other events of the order keep interfering,
    CassandraUnavailable.
    """
    wanted = {"tracking": tracking, "order_id": order.order_id, "version": order.version}

    def is_taken(row: Row) -> bool:
        return (row.order_id, row.version) == (order.order_id, order.version)

    for _ in retry_attempts(MAX_ATTEMPTS):
        if TAKE_TRACKING.apply(if_lost=applied_if(is_taken), **wanted):
            return
        row = OWNER.one(tracking=tracking)
        if row is None:
            continue
        if row.order_id != order.order_id:
            raise TrackingNumberTaken(tracking)
        if (row.version or 0) >= order.version:
            return
        if TAKE_AGAIN.apply(if_lost=applied_if(is_taken), seen=row.version, **wanted):
            return
    raise OrderChanged(order)


def release_tracking_numbers(order: Order) -> None:
    """Free all present and former numbers of an order whose person is erased. Raises CassandraUnavailable."""
    for tracking in sorted(order.former_tracking_numbers | list_tracking_numbers(order)):
        _release(tracking, order.order_id, order.version + 1)


def release_unused_numbers(order: Order, numbers: Iterable[str]) -> None:
    """Free the numbers that no parcel of an order has, or can still get by a pending event. Raises CassandraUnavailable."""
    for tracking in sorted(set(numbers) - list_tracking_numbers(order)):
        _release(tracking, order.order_id, order.version)


def release_taken_number(tracking: str, order_id: UUID, version: int | None) -> bool:
    """Free a number if the order's last claim of it was for this version. Return whether it was. Raises CassandraUnavailable."""
    return bool(
        RELEASE_TRACKING.apply(
            if_lost=SEND_AGAIN, tracking=tracking, order_id=order_id, seen=version
        )
    )


def list_tracking_numbers(order: Order) -> set[str]:
    """Return the tracking numbers that an order's parcels have; none once its person is erased."""
    return set() if order.is_erased else {each.tracking for each in order.parcels()} - {""}


def _release(tracking: str, order_id: UUID, before: int) -> None:
    """Free a number of an order, unless the number was taken for the version `before` of the order, or a later version."""
    for _ in retry_attempts(MAX_ATTEMPTS):
        row = OWNER.one(tracking=tracking)
        if row is None or row.order_id != order_id or (row.version or 0) >= before:
            return
        # If it was taken again meanwhile, this is refused, and the loop reads it again.
        if release_taken_number(tracking, order_id, row.version):
            return

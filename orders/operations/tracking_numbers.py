"""Whose parcel has a tracking number: a number is one order's, so that no customer follows another's parcel.

A number is taken before the event that gives it to a parcel, for the version of the order that the event is conditional on. So a
newer version of the order without the number proves that no such event was written, and that none can be: the number is free.
An event on a newer version takes the number again, for that version.
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
    """Take a tracking number for an event on this version of an order, which may have it already.

    Raises TrackingNumberTaken if it is another's, OrderChanged if others of the same order keep interfering, CassandraUnavailable.
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
    """Forget which numbers an order's parcels have, or had: its person is erased. Raises CassandraUnavailable."""
    for tracking in sorted(order.former_tracking_numbers | list_tracking_numbers(order)):
        _release(tracking, order.order_id, order.version + 1)


def release_unused_numbers(order: Order, numbers: Iterable[str]) -> None:
    """Free those of an order's numbers that no parcel of it has, nor can get by an event on an earlier version.

    Raises CassandraUnavailable.
    """
    for tracking in sorted(set(numbers) - list_tracking_numbers(order)):
        _release(tracking, order.order_id, order.version)


def release_taken_number(tracking: str, order_id: UUID, version: int | None) -> bool:
    """Free a number that an order has taken for a version and not again since; return whether it was so. Raises CassandraUnavailable."""
    return bool(
        RELEASE_TRACKING.apply(
            if_lost=SEND_AGAIN, tracking=tracking, order_id=order_id, seen=version
        )
    )


def list_tracking_numbers(order: Order) -> set[str]:
    """Return the tracking numbers that an order's parcels have; none once its person is erased."""
    return set() if order.is_erased else {each.tracking for each in order.parcels()} - {""}


def _release(tracking: str, order_id: UUID, before: int) -> None:
    """Free a number of an order unless it was taken for this version of it, or a later one."""
    for _ in retry_attempts(MAX_ATTEMPTS):
        row = OWNER.one(tracking=tracking)
        if row is None or row.order_id != order_id or (row.version or 0) >= before:
            return
        # Refused if it was taken again meanwhile; then another look decides.
        if release_taken_number(tracking, order_id, row.version):
            return

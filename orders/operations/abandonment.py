"""A checkout that becomes no order: it is marked, and what it holds is given back."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

from cassandra_db import Row, applied_if, conditional_write, write
from inventory import operations as inventory
from inventory import queries as stock
from inventory.entities import SENTINEL, Allocation
from inventory.operations import RESERVED_FOR
from jobs.minutes import MINUTE, minutes_between
from orders.states import ABANDONED
from promotions.operations import release_vouchers

# How long the mark of a checkout that was given up stays: longer than the checkout page's own id is valid.
ABANDONED_SECONDS = 30 * 24 * 3600
# The sweeper may be that late.
MAX_SWEEP_DELAY = timedelta(minutes=5)

DELETE_ITEMS = write("Q13", "DELETE FROM order_items WHERE order_id = :order_id")
ABANDON = conditional_write(
    "Q12",
    """UPDATE orders USING TTL :seconds SET state = 'abandoned' WHERE order_id = :order_id
       IF state = null AND placing = null""",
)


def mark_checkout_abandoned(order_id: UUID) -> bool:
    """Mark a checkout that nobody places any more as given up, so that it can become no order any more.

    Tells whether that holds now; False while somebody places it, or when it has become an order.
    Raises CassandraUnavailable.
    """
    outcome = ABANDON.apply(
        if_lost=applied_if(lambda row: row.state == ABANDONED),
        order_id=order_id,
        seconds=ABANDONED_SECONDS,
    )
    is_abandoned = outcome.applied or (
        outcome.current is not None and outcome.current.state == ABANDONED
    )
    if is_abandoned:
        DELETE_ITEMS.run(order_id=order_id)
    return is_abandoned


def abandon_checkout(order_id: UUID) -> bool:
    """Give a checkout up and give back at once what it holds: its shopper is not to be told that it is sold out.

    Tells whether it is given up; False while somebody places it, or when it has become an order. What is overlooked
    here is found by the sweeper when its time comes. Raises CassandraUnavailable.
    """
    if not mark_checkout_abandoned(order_id):
        return False
    release_vouchers(order_id)
    now = datetime.now(UTC)
    due = stock.list_reservation_expiries(
        minutes_between(now - MAX_SWEEP_DELAY, now + RESERVED_FOR + MINUTE)
    )
    expiries = [
        (minute, hold) for minute, rows in due.items() for hold in rows if hold.order_id == order_id
    ]
    release_orphaned_reservations([hold for _, hold in expiries])
    for minute, hold in expiries:
        inventory.clear_reservation_expiry(
            minute, hold.variant_id, hold.warehouse_id, hold.reservation_id
        )
    return True


def release_orphaned_reservations(expiries: Sequence[Row]) -> None:
    """Release holds that belong to no order, given by their hints, and let the products' pages know. What is paid for stays.

    Raises CassandraUnavailable.
    """
    reading = [
        (
            hold,
            stock.prefetch_stock_numbers(hold.variant_id, hold.warehouse_id, hold.reservation_id),
        )
        for hold in expiries
    ]
    there = [(hold, row) for hold, pending in reading for row in pending.rows()]
    inventory.release_stock(
        [
            replace(allocation_from_expiry(hold), line_number=row.line_number or 0)
            for hold, row in there
            if row.reservation_id == hold.reservation_id and row.state == "held"
        ],
        paid=False,
    )
    for product_id in {row.product_id for _, row in there if row.reservation_id == SENTINEL}:
        inventory.copy_stock(product_id)


def allocation_from_expiry(expiry: Row) -> Allocation:
    """Return what a hold's hint says of it. Its line and its product are not known, and do not matter to a hold that ends."""
    return Allocation(
        0,
        expiry.variant_id,
        expiry.variant_id,
        expiry.warehouse_id,
        expiry.quantity,
        expiry.reservation_id,
        expiry.order_id,
    )

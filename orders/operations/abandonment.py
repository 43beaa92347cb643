"""Abandoned checkouts: they are marked, so that they cannot become orders, and their reservations are released."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

from cassandra_db import Row, applied_if, conditional_write, current_time, write
from inventory import operations as inventory
from inventory import queries as stock
from inventory.entities import SENTINEL, Allocation
from inventory.operations import RESERVATION_DURATION
from inventory.operations.reservations import DUE_EXPIRIES
from jobs.minutes import MINUTE
from orders.lifecycle.states import ABANDONED
from promotions.operations import release_vouchers

# The TTL of the mark: longer than a checkout page's id is valid.
ABANDONED_SECONDS = 30 * 24 * 3600
# The longest time by which the sweeper of expired reservations may be late.
MAX_SWEEP_DELAY = timedelta(minutes=5)

DELETE_ITEMS = write("Q13", "DELETE FROM order_items WHERE order_id = :order_id")
ABANDON = conditional_write(
    "Q12",
    """UPDATE orders USING TTL :seconds SET state = 'abandoned' WHERE order_id = :order_id
       IF state = null AND placing = null""",
)


def mark_checkout_abandoned(order_id: UUID) -> bool:
    """Mark a checkout as abandoned, so that it can no longer become an order. Return whether the checkout is abandoned now.

    A checkout that is being placed, or has become an order, is not abandoned. Raises CassandraUnavailable.
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
    """Abandon a checkout and release its reservations at once, so that its shopper does not see its lines as sold out.

    Return whether it is abandoned, as `mark_checkout_abandoned` does. The sweeper releases remaining units later.
    Raises CassandraUnavailable.
    """
    if not mark_checkout_abandoned(order_id):
        return False
    release_vouchers(order_id)
    now = current_time()
    due = DUE_EXPIRIES.list_between(now - MAX_SWEEP_DELAY, now + RESERVATION_DURATION + MINUTE)
    expiries = [expiry for expiry in due if expiry.order_id == order_id]
    release_orphaned_reservations(expiries)
    DUE_EXPIRIES.clear(*(expiry._asdict() for expiry in expiries))
    return True


def release_orphaned_reservations(expiries: Sequence[Row]) -> None:
    """Release the unpaid reservations of these expiry rows, which belong to no order. Raises CassandraUnavailable."""
    reading = [
        (
            expiry,
            stock.prefetch_stock_numbers(
                expiry.variant_id, expiry.warehouse_id, expiry.reservation_id
            ),
        )
        for expiry in expiries
    ]
    found = [(expiry, row) for expiry, pending in reading for row in pending.rows()]
    inventory.release_stock(
        [
            replace(allocation_from_expiry(expiry), line_number=row.line_number or 0)
            for expiry, row in found
            if row.reservation_id == expiry.reservation_id and row.state == "held"
        ],
        paid=False,
    )
    inventory.copy_allocated_stock(
        replace(allocation_from_expiry(expiry), product_id=row.product_id)
        for expiry, row in found
        if row.reservation_id == SENTINEL
    )


def allocation_from_expiry(expiry: Row) -> Allocation:
    """Return the allocation in a reservation's expiry row, without line and product, which a release does not need."""
    return Allocation(
        0,
        expiry.variant_id,
        expiry.variant_id,
        expiry.warehouse_id,
        expiry.quantity,
        expiry.reservation_id,
        expiry.order_id,
    )

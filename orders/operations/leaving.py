"""A checkout that becomes no order: it is marked, and what it holds is given back."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

from cassandra_db import Row, applied_if, conditional, write
from inventory import operations as inventory
from inventory import queries as stock
from inventory.entities import SENTINEL, Allocation
from inventory.operations import HOLD_FOR
from jobs.minutes import MINUTE, minutes_between
from orders.states import ABANDONED
from promotions.operations import vouchers_released

# How long the mark of a checkout that was given up stays: longer than the checkout page's own id is valid.
ABANDONED_SECONDS = 30 * 24 * 3600
# The sweeper may be that late.
LATE = timedelta(minutes=5)

ITEMS_REMOVED = write("Q13", "DELETE FROM order_items WHERE order_id = :order_id")
ABANDON = conditional(
    "Q12",
    """UPDATE orders USING TTL :seconds SET state = 'abandoned' WHERE order_id = :order_id
       IF state = null AND placing = null""",
)


def checkout_abandoned(order_id: UUID) -> bool:
    """Mark a checkout that nobody places any more as given up, so that it can become no order any more.

    Tells whether that holds now; False while somebody places it, or when it has become an order.
    Raises CassandraUnavailable.
    """
    outcome = ABANDON.apply(
        if_lost=applied_if(lambda row: row.state == ABANDONED),
        order_id=order_id,
        seconds=ABANDONED_SECONDS,
    )
    given_up = outcome.applied or (
        outcome.current is not None and outcome.current.state == ABANDONED
    )
    if given_up:
        ITEMS_REMOVED.run(order_id=order_id)
    return given_up


def checkout_left(order_id: UUID) -> bool:
    """Give a checkout up and give back at once what it holds: its shopper is not to be told that it is sold out.

    Tells whether it is given up; False while somebody places it, or when it has become an order. What is overlooked
    here is found by the sweeper when its time comes. Raises CassandraUnavailable.
    """
    if not checkout_abandoned(order_id):
        return False
    vouchers_released(order_id)
    now = datetime.now(UTC)
    due = stock.holds_due(minutes_between(now - LATE, now + HOLD_FOR + MINUTE))
    holds = [
        (minute, hold) for minute, rows in due.items() for hold in rows if hold.order_id == order_id
    ]
    holds_given_back([hold for _, hold in holds])
    for minute, hold in holds:
        inventory.hint_removed(minute, hold.variant_id, hold.warehouse_id, hold.hold_id)
    return True


def holds_given_back(holds: Sequence[Row]) -> None:
    """Release holds that belong to no order, given by their hints, and let the products' pages know. What is paid for stays.

    Raises CassandraUnavailable.
    """
    reading = [
        (hold, stock.numbers_started(hold.variant_id, hold.warehouse_id, hold.hold_id))
        for hold in holds
    ]
    there = [(hold, row) for hold, pending in reading for row in pending.rows()]
    inventory.released(
        [
            replace(allocation_of(hold), line_number=row.line_number or 0)
            for hold, row in there
            if row.hold_id == hold.hold_id and row.state == "held"
        ],
        paid=False,
    )
    for product_id in {row.product_id for _, row in there if row.hold_id == SENTINEL}:
        inventory.stock_copied(product_id)


def allocation_of(hold: Row) -> Allocation:
    """Return what a hold's hint says of it. Its line and its product are not known, and do not matter to a hold that ends."""
    return Allocation(
        0,
        hold.variant_id,
        hold.variant_id,
        hold.warehouse_id,
        hold.quantity,
        hold.hold_id,
        hold.order_id,
    )

"""Abandoned checkouts: they are marked, so that they cannot become orders, and their reservations are released."""

from collections.abc import Iterable, Sequence
from datetime import timedelta
from uuid import UUID

from cassandra_db import Row, applied_if, conditional_write, current_time, write, write_batch
from inventory import operations as inventory
from inventory.entities import Allocation
from inventory.operations import RESERVATION_DURATION
from inventory.operations.reservations import DUE_EXPIRIES
from inventory.queries import list_reservations
from jobs.minutes import MINUTE
from orders.lifecycle.states import ABANDONED
from promotions.operations import release_vouchers

# The TTL of the mark: longer than a checkout page's id is valid.
ABANDONED_SECONDS = 30 * 24 * 3600
# How many reservations, or orders' lines, one batch releases or deletes.
AT_ONCE = 32
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
    return outcome.applied or (outcome.current is not None and outcome.current.state == ABANDONED)


def delete_abandoned_items(order_ids: Sequence[UUID]) -> None:
    """Delete the lines that abandoned checkouts have written. Raises CassandraUnavailable."""
    for start in range(0, len(order_ids), AT_ONCE):
        some = order_ids[start : start + AT_ONCE]
        write_batch([DELETE_ITEMS.bind(order_id=order_id) for order_id in some])


def abandon_checkout(order_id: UUID) -> bool:
    """Abandon a checkout and release its reservations at once, so that its shopper does not see its lines as sold out.

    Return whether it is abandoned, as `mark_checkout_abandoned` does. The expiries stay for the sweeper: a reservation of a
    delayed process may still be written. Raises CassandraUnavailable.
    """
    if not mark_checkout_abandoned(order_id):
        return False
    delete_abandoned_items([order_id])
    release_vouchers(order_id)
    now = current_time()
    due = DUE_EXPIRIES.list_between(now - MAX_SWEEP_DELAY, now + RESERVATION_DURATION + MINUTE)
    expiries = [expiry for expiry in due if expiry.order_id == order_id]
    release_orphaned_reservations(expiries)
    return True


def release_orphaned_reservations(expiries: Iterable[Row]) -> None:
    """Release the unpaid reservations of these expiry rows, which belong to no order. Raises CassandraUnavailable."""
    for stock_item, rows in group_by_stock_item(expiries).items():
        release_orphans_of_item(stock_item, rows)


def group_by_stock_item(expiries: Iterable[Row]) -> dict[tuple[UUID, str], list[Row]]:
    """Return these expiry rows by variant and warehouse."""
    found: dict[tuple[UUID, str], list[Row]] = {}
    for expiry in expiries:
        found.setdefault((expiry.variant_id, expiry.warehouse_id), []).append(expiry)
    return found


def release_orphans_of_item(stock_item: tuple[UUID, str], expiries: Sequence[Row]) -> None:
    """Release the unpaid reservations of a stock item, many in one batch. Raises CassandraUnavailable."""
    product_id = None
    for start in range(0, len(expiries), AT_ONCE):
        ids = {expiry.reservation_id for expiry in expiries[start : start + AT_ONCE]}
        product_id = inventory.release_unpaid_stock(*stock_item, ids)
    if product_id:
        inventory.copy_stock(product_id, [stock_item])


def has_unpaid_reservations(expiries: Iterable[Row]) -> bool:
    """Return whether a reservation of these expiry rows is still unpaid. Raises CassandraUnavailable."""
    return any(
        row.state == "held"
        for stock_item, rows in group_by_stock_item(expiries).items()
        for row in list_reservations(*stock_item, {each.reservation_id for each in rows})
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

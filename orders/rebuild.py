"""Rebuilding the lists and sums of orders from all orders, for commands."""

from datetime import datetime
from functools import partial

from analytics.operations import mark_day_changed
from analytics.queries import list_day_facts, list_incomplete_days
from jobs.rows import collect_failed_rows, guard_row
from orders import queries
from orders.operations import count_user_stats, write_copies
from orders.operations.books import record_order_books
from orders.operations.pending_effects import record_pending_effects
from orders.operations.returning_customers import count_customers_of_day
from orders.operations.sales import record_order_sale
from orders.queries import ORDER_IDS, USERS_WITH_ORDERS


def rebuild_order_lists(now: datetime) -> str:
    """Rewrite the copies of all orders. Return a line about the number of orders. Raises CassandraUnavailable."""
    rebuilt = 0
    for row in ORDER_IDS.iterate_table():
        if order := queries.get_order(row.order_id):
            write_copies(order)
            rebuilt += 1
    return f"{rebuilt} orders"


def rebuild_user_stats(now: datetime) -> str:
    """Compute the sums of all members who have ordered. Return a line about the number of members. Raises CassandraUnavailable."""
    counted = 0
    for row in USERS_WITH_ORDERS.iterate_table():
        count_user_stats(row.user_id)
        counted += 1
    return f"{counted} customers"


def rebuild_sales(now: datetime) -> str:
    """Add to the sales facts of earlier versions what these did not store, latest first. Return a line about the orders.

    The worker first adds up the days as they are, since the earlier version's sums are in another table. A run that is killed
    leaves its days to the next run: a day is complete once its last order is. Raises CassandraUnavailable.
    """
    completed, days = 0, list_incomplete_days()
    for day in days:
        mark_day_changed(day)
    with collect_failed_rows() as failed:
        for day in days:
            count_customers_of_day(day)
            facts = list_day_facts(day)
            for order_id in sorted({fact.order_id for fact in facts if fact.placed_at is None}):
                with guard_row(f"sales of order {order_id}"):
                    # Without its order a fact stays as it is: check_consistency names it, and removes it if told to.
                    if order := queries.get_order(order_id):
                        record_order_sale(order, queries.list_items(order))
                        completed += 1
    return "; ".join(filter(None, [f"{completed} orders", str(failed)]))


# The parts in which all orders are booked: a thousand orders each at a million.
FILL_PARTS = 1024


def fill_books(part: int) -> int:
    """Book the entries of the orders in one of FILL_PARTS parts; return their number. A repeat books nothing.

    An order that fails is booked with its pending effects. Raises CassandraUnavailable.
    """
    count = 0
    for row in ORDER_IDS.iterate_part(part, FILL_PARTS):
        postpone = partial(record_pending_effects, row.order_id)
        with guard_row(f"books of order {row.order_id}", postpone):
            if order := queries.get_order(row.order_id):
                record_order_books(order, queries.list_items(order), is_fill=True)
                count += 1
    return count

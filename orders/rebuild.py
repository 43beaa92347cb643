"""Rebuilding the lists and sums of orders from all orders, for commands and backfills."""

from collections.abc import Iterator
from datetime import datetime

from analytics.operations import mark_day_changed
from analytics.queries import list_day_facts, list_incomplete_days
from jobs.rows import guard_row
from orders import queries
from orders.operations import count_user_stats, write_copies
from orders.operations.books import record_order_books
from orders.operations.returning_customers import count_customers_of_day
from orders.operations.sales import record_order_sale
from orders.queries import ORDER_IDS, USERS_WITH_ORDERS

# The parts in which the sums of all members are computed, and all orders booked: 4,000 orders each at a million.
FILL_PARTS = 256


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
    *_, (_, progress) = fill_user_stats("")
    return progress


def fill_user_stats(position: str) -> Iterator[tuple[str, str]]:
    """Compute the sums of all members who have ordered, part by part. See `Backfill.run`. Raises CassandraUnavailable."""
    counted = 0
    for part in range(int(position or 0), FILL_PARTS):
        for row in USERS_WITH_ORDERS.iterate_part(part, FILL_PARTS):
            with guard_row(f"sums of user {row.user_id}"):
                count_user_stats(row.user_id)
                counted += 1
        yield str(part + 1), f"{counted} customers, {part + 1} of {FILL_PARTS} parts"


def fill_sales(position: str) -> Iterator[tuple[str, str]]:
    """Add to the sales facts of earlier versions what these did not store, latest first. See `Backfill.run`.

    The worker first adds up the days as they are, since the earlier version's sums are in another table. There is no position:
    a day is complete once its last order is. Raises CassandraUnavailable.
    """
    completed, days = 0, list_incomplete_days()
    for day in days:
        mark_day_changed(day)
    for number, day in enumerate(days, 1):
        count_customers_of_day(day)
        facts = list_day_facts(day)
        for order_id in sorted({fact.order_id for fact in facts if fact.placed_at is None}):
            with guard_row(f"sales of order {order_id}"):
                # Without its order a fact stays as it is: check_consistency names it, and removes it if told to.
                if order := queries.get_order(order_id):
                    record_order_sale(order, queries.list_items(order))
                    completed += 1
        yield "", f"{completed} orders, {number} of {len(days)} days"


def fill_books(position: str) -> Iterator[tuple[str, str]]:
    """Book the entries of the orders of before the books began, part by part. See `Backfill.run`. A repeat books nothing.

    Raises CassandraUnavailable.
    """
    booked = 0
    for part in range(int(position or 0), FILL_PARTS):
        for row in ORDER_IDS.iterate_part(part, FILL_PARTS):
            with guard_row(f"books of order {row.order_id}"):
                if order := queries.get_order(row.order_id):
                    record_order_books(order, queries.list_items(order), is_fill=True)
                    booked += 1
        yield str(part + 1), f"{booked} orders, {part + 1} of {FILL_PARTS} parts"

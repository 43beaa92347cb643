"""Rebuilding the lists and sums of orders from all orders, for commands."""

from datetime import datetime

from orders import queries
from orders.operations import count_user_stats, write_copies
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

"""The lists in which orders are found, rebuilt from all orders. For commands."""

from datetime import datetime

from orders import queries
from orders.operations import write_copies
from orders.queries import ORDER_IDS


def rebuild_order_lists(now: datetime) -> str:
    """Rewrite the copies of all orders; return how many orders that were. Raises CassandraUnavailable."""
    rebuilt = 0
    for row in ORDER_IDS.iterate_table():
        if order := queries.get_order(row.order_id):
            write_copies(order)
            rebuilt += 1
    return f"{rebuilt} orders"

"""The lists in which orders are found, written anew from all orders. For commands."""

from datetime import datetime

from orders import queries
from orders.operations import copies_written
from orders.queries import ORDER_IDS


def lists_rebuilt(now: datetime) -> str:
    """Write the copies of all orders anew; return how many orders that were. Raises CassandraUnavailable."""
    rebuilt = 0
    for row in ORDER_IDS.over_ring():
        if order := queries.order(row.order_id):
            copies_written(order)
            rebuilt += 1
    return f"{rebuilt} orders"

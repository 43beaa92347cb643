"""Read past orders: by number, and those of a member or an e-mail address."""

from collections.abc import Iterable

from cassandra_db import PendingResult, Row, read
from past_orders.entities import PastOrder, past_order_from_row

# The most orders of an owner that are read.
MAX_ORDERS = 50_000

# Q32: a past order; an owner's orders, newest first.
PAST_ORDER = read(
    "Q32",
    """SELECT number, user_id, placed_at, email, name, address, status, currency, total, lines FROM past_orders
       WHERE number = :number""",
)
OWNED = read(
    "Q32",
    "SELECT owner, placed_at, number FROM past_orders_by_owner WHERE owner = :owner LIMIT :most",
)


def get_past_order(number: str) -> PastOrder | None:
    """Return the past order with a number, or None. Raises CassandraUnavailable."""
    row = PAST_ORDER.one(number=number)
    return past_order_from_row(row) if row else None


def prefetch_owned(owner: str, most: int = MAX_ORDERS) -> PendingResult:
    """Start reading the rows of an owner's newest orders."""
    return OWNED.start(owner=owner, most=most)


def list_past_orders(rows: Iterable[Row]) -> list[PastOrder]:
    """Return the orders to which an owner's rows lead. Raises CassandraUnavailable."""
    reading = [(row.owner, PAST_ORDER.start(number=row.number)) for row in rows]
    found = (
        (owner, past_order_from_row(row)) for owner, pending in reading if (row := pending.one())
    )
    return [order for owner, order in found if order.owner == owner]

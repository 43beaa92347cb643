"""Read past orders: by number, and those of a member or an e-mail address."""

from collections.abc import Iterable
from datetime import UTC, datetime

from cassandra_db import PendingResult, Row, page_key, page_token, read
from past_orders.entities import PastOrder, past_order_from_row

# The most orders of an owner that are read.
MAX_ORDERS = 50_000
PAGE_LENGTH = 20
# The key after which an owner's newest order comes.
_FIRST = (datetime(9999, 12, 31, tzinfo=UTC), "")

# Q32: a past order; an owner's orders, newest first.
PAST_ORDER = read(
    "Q32",
    """SELECT number, user_id, placed_at, email, name, address, status, currency, total, lines FROM past_orders
       WHERE number = :number""",
)
OWNED = read(
    "Q32",
    """SELECT owner, placed_at, number FROM past_orders_by_owner
       WHERE owner = :owner AND (placed_at, number) < (:placed_at, :number) LIMIT :most""",
)


def get_past_order(number: str) -> PastOrder | None:
    """Return the past order with a number, or None. Raises CassandraUnavailable."""
    row = PAST_ORDER.one(number=number)
    return past_order_from_row(row) if row else None


def prefetch_owned(owner: str, most: int = MAX_ORDERS, after: str = "") -> PendingResult:
    """Start reading the rows of an owner's newest orders, or of those after a page. Raises InvalidPageToken."""
    placed_at, number = page_key(after, _list_name(owner)) if after else _FIRST
    return OWNED.start(owner=owner, most=most, placed_at=placed_at, number=number)


def list_page(owner: str, after: str) -> tuple[list[PastOrder], str]:
    """Return a page of an owner's orders, newest first, and the token of the next. Raises InvalidPageToken, CassandraUnavailable."""
    rows = prefetch_owned(owner, PAGE_LENGTH + 1, after).rows()
    shown, more = rows[:PAGE_LENGTH], rows[PAGE_LENGTH:]
    token = page_token([shown[-1].placed_at, shown[-1].number], _list_name(owner)) if more else ""
    return list_past_orders(shown), token


def _list_name(owner: str) -> str:
    return f"Q32 {owner}"


def list_past_orders(rows: Iterable[Row]) -> list[PastOrder]:
    """Return the orders to which an owner's rows lead. Raises CassandraUnavailable."""
    reading = [(row.owner, PAST_ORDER.start(number=row.number)) for row in rows]
    found = (
        (owner, past_order_from_row(row)) for owner, pending in reading if (row := pending.one())
    )
    return [order for owner, order in found if order.owner == owner]

"""The board's orders: the reads of `orders_by_status`, day by day."""

import json
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, date, datetime
from uuid import UUID

from cassandra_db import PendingResult, Row, page_key, page_token, read
from orders.lifecycle import states
from orders.lifecycle.entities import BoardOrder, CappedCount
from pricing.money import from_minor_units

MAX_COUNTED = 500
# The number of days that are read in parallel.
_AT_ONCE = 16
_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)
# Orders accumulate in these columns, so the newest come first.
_NEWEST_FIRST = ("done", "cancelled")

# Q15: the days that have orders in a column.
DAYS = read("Q15", "SELECT order_date FROM order_days_by_status WHERE status = :status")
_BOARD_ORDER = """SELECT order_id, number, placed_at, name, email, country, total, currency, item_count, payment, fulfilment,
                    payment_method, delivery_method, estimated_delivery, skus, tags, is_pickup, version FROM orders_by_status WHERE status = :status AND order_date = :day"""
# Q15: a day's orders in a column, after a given order.
OLDEST_FIRST = read(
    "Q15",
    f"{_BOARD_ORDER} AND (placed_at, order_id) > (:placed_at, :order_id) ORDER BY placed_at ASC, order_id ASC LIMIT :most",
)
NEWEST_FIRST = read(
    "Q15", f"{_BOARD_ORDER} AND (placed_at, order_id) < (:placed_at, :order_id) LIMIT :most"
)
IDS = read(
    "Q15",
    "SELECT order_id FROM orders_by_status WHERE status = :status AND order_date = :day LIMIT :most",
)


def list_board_days(status: str) -> list[date]:
    """Return the days with orders in a column, oldest first; some days may have just become empty. Raises CassandraUnavailable."""
    return [row.order_date.date() for row in DAYS.all(status=status)]


def list_board_orders(
    status: str,
    after: str = "",
    limit: int = 20,
    *,
    newest_first: bool | None = None,
    has_day: Callable[[date], bool] = lambda day: True,
) -> tuple[list[BoardOrder], str]:
    """Return a page of a column's orders, and the token of the next page ('' on the last page).

    `has_day` selects the days to read; `after` is the token of this page. The oldest orders come first, but in the columns "done"
    and "cancelled" the newest, unless `newest_first` says otherwise. Raises InvalidPageToken, CassandraUnavailable.
    """
    if newest_first is None:
        newest_first = status in _NEWEST_FIRST
    list_name = _board_list(status, newest_first=newest_first)
    place = page_key(after, list_name) if after else None
    days = sorted(filter(has_day, list_board_days(status)), reverse=newest_first)
    if place:
        first = place[0].date()
        days = [day for day in days if (day <= first if newest_first else day >= first)]
    found: list[Row] = []
    for start in range(0, len(days), _AT_ONCE):
        reading = [
            _prefetch_day(status, day, place, newest_first, limit + 1)
            for day in days[start : start + _AT_ONCE]
        ]
        found += [row for pending in reading for row in pending.rows()]
        if len(found) > limit:
            break
    entries = [_board_order(row, status) for row in found[:limit]]
    has_more = len(found) > limit
    return entries, board_token(entries[-1], newest_first=newest_first) if has_more else ""


def board_token(order: BoardOrder, *, newest_first: bool) -> str:
    """Return the token of the page that begins after an order."""
    list_name = _board_list(order.status, newest_first=newest_first)
    return page_token([order.placed_at, order.order_id], list_name)


def _board_list(status: str, *, newest_first: bool) -> str:
    return f"Q15:{status}:{'newest' if newest_first else 'oldest'}"


def _prefetch_day(
    status: str, day: date, place: list[datetime | UUID] | None, newest_first: bool, most: int
) -> PendingResult:
    last = datetime(9999, 1, 1, tzinfo=UTC), UUID(int=2**128 - 1)
    placed_at, order_id = place or (last if newest_first else (_LONG_AGO, UUID(int=0)))
    statement = NEWEST_FIRST if newest_first else OLDEST_FIRST
    return statement.start(
        status=status, day=day, placed_at=placed_at, order_id=order_id, most=most
    )


def _board_order(row: Row, status: str) -> BoardOrder:
    return BoardOrder(
        row.order_id,
        row.number,
        row.placed_at,
        row.name,
        row.email,
        row.country,
        from_minor_units(row.total, row.currency),
        row.item_count,
        row.payment,
        row.fulfilment,
        row.version,
        status,
        row.payment_method or "",
        row.delivery_method or "",
        row.estimated_delivery and row.estimated_delivery.date(),
        tuple(json.loads(row.skus or "[]")),
        tuple(json.loads(row.tags or "[]")),
        row.is_pickup or False,
    )


def count_board_orders(
    columns: Sequence[str] = states.OPEN_BOARD_COLUMNS,
) -> dict[str, CappedCount]:
    """Return the number of orders in each column, counting at most 500. Raises CassandraUnavailable."""
    reading = {status: DAYS.start(status=status) for status in columns}
    days_by_status = {
        status: [row.order_date.date() for row in pending.rows()]
        for status, pending in reading.items()
    }
    numbers = dict.fromkeys(days_by_status, 0)
    for wave in _waves(days_by_status):
        reads = [
            (status, IDS.start(status=status, day=day, most=MAX_COUNTED + 1))
            for status, day in wave
            if numbers[status] <= MAX_COUNTED
        ]
        for status, pending in reads:
            numbers[status] += len(pending.rows())
    return {
        status: CappedCount(min(number, MAX_COUNTED), number > MAX_COUNTED)
        for status, number in numbers.items()
    }


def _waves(days_by_status: dict[str, list[date]]) -> Iterator[list[tuple[str, date]]]:
    """Yield the (column, day) pairs to read in parallel: up to _AT_ONCE days of each column at a time."""
    longest = max(map(len, days_by_status.values()), default=0)
    for start in range(0, longest, _AT_ONCE):
        yield [
            (status, day)
            for status, days in days_by_status.items()
            for day in days[start : start + _AT_ONCE]
        ]

"""The board's orders: the reads of `orders_by_status`, day by day."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from uuid import UUID

from cassandra.util import Date

from cassandra_db import PendingResult, Row, page_key, page_token, read
from orders.lifecycle import states
from orders.lifecycle.entities import BoardOrder, CappedCount
from pricing.money import from_minor_units

MAX_COUNTED = 500


@dataclass(frozen=True)
class BoardCounts:
    """How many orders each column of the board has, and when each column last changed, in microseconds since 1970."""

    numbers: Mapping[str, CappedCount]
    changed: Mapping[str, int]


# The number of days that are read in parallel.
_AT_ONCE = 12
_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)
# Orders accumulate in these columns, so the newest come first.
_NEWEST_FIRST = ("done", "cancelled")

# Q15: the days that have orders in a column, with their numbers of orders.
DAYS = read(
    "Q15", "SELECT order_date, order_count FROM order_days_by_status WHERE status = :status"
)
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


def prefetch_board_days(status: str) -> PendingResult:
    """Start reading the days with orders in a column, for `list_board_orders`."""
    return DAYS.start(status=status)


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
    reading: PendingResult | None = None,
    is_short: bool = False,
) -> tuple[list[BoardOrder], str]:
    """Return a page of a column's orders, and the token of the next page ('' on the last page).

    `has_day` selects the days to read; `after` is the token of this page. The oldest orders come first, but in the columns "done"
    and "cancelled" the newest, unless `newest_first` says otherwise. `reading` is the result of `prefetch_board_days`. A page
    that may be short ends after the orders of twelve days. Raises InvalidPageToken, CassandraUnavailable.
    """
    if newest_first is None:
        newest_first = status in _NEWEST_FIRST
    list_name = _board_list(status, newest_first=newest_first)
    place = page_key(after, list_name) if after else None
    counts = {
        row.order_date.date(): row.order_count
        for row in (reading or prefetch_board_days(status)).rows()
    }
    days = sorted(filter(has_day, counts), reverse=newest_first)
    if place:
        first = place[0].date()
        days = [day for day in days if (day <= first if newest_first else day >= first)]
        counts[first] = None  # earlier pages have shown some of its orders
    found: list[Row] = []
    while days and len(found) <= limit and not (is_short and found):
        # The counts may be behind; they only say how many days to read.
        wave = _list_next_days(days, counts, limit + 1 - len(found))
        days = days[len(wave) :]
        pending = [
            _prefetch_day(status, day, place, newest_first=newest_first, most=limit + 1)
            for day in wave
        ]
        found += [row for each in pending for row in each.rows()]
    entries = [_board_order(row, status) for row in found[:limit]]
    has_more = len(found) > limit or any(entries and counts[day] != 0 for day in days)
    return entries, board_token(entries[-1], newest_first=newest_first) if has_more else ""


def prefetch_oldest_order(status: str, reading: PendingResult) -> PendingResult | None:
    """Start reading the oldest order of a column, in a day that counts one; None if no day does. Raises CassandraUnavailable."""
    days = [row.order_date.date() for row in reading.rows() if row.order_count != 0]
    return _prefetch_day(status, min(days), None, newest_first=False, most=1) if days else None


def _list_next_days(
    days: Sequence[date], counts: Mapping[date, int | None], wanted: int
) -> list[date]:
    """Return the first of these days that together have the wanted number of orders, at most _AT_ONCE."""
    wave: list[date] = []
    for day in days[:_AT_ONCE]:
        wave.append(day)
        wanted -= counts[day] or 0
        if wanted <= 0:
            break
    return wave


def board_token(order: BoardOrder, *, newest_first: bool) -> str:
    """Return the token of the page that begins after an order."""
    list_name = _board_list(order.status, newest_first=newest_first)
    return page_token([order.placed_at, order.order_id], list_name)


def _board_list(status: str, *, newest_first: bool) -> str:
    return f"Q15:{status}:{'newest' if newest_first else 'oldest'}"


def _prefetch_day(
    status: str, day: date, place: list[datetime | UUID] | None, *, newest_first: bool, most: int
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


# Q15: the numbers of the columns, and what has changed since they were counted. Cassandra's dates begin in 1970.
SHOP = "stoa"
COLUMN_ROW = Date(0)
COUNTS = read(
    "Q15", "SELECT status, order_date, order_count, changed FROM board_counts WHERE shop = :shop"
)


def prefetch_board_counts() -> PendingResult:
    """Start reading the numbers of the columns, for `operations.count_board_orders`."""
    return COUNTS.start(shop=SHOP)


def make_counts(numbers: Mapping[str, int], changed: dict[str, int]) -> BoardCounts:
    """Return the counts of all columns; each number is capped at 500."""
    capped = {status: cap(numbers.get(status, 0)) for status in states.BOARD_COLUMNS}
    return BoardCounts(capped, dict.fromkeys(states.BOARD_COLUMNS, 0) | changed)


def cap(number: int) -> CappedCount:
    """Return a number of orders, capped at 500."""
    return CappedCount(min(number, MAX_COUNTED), number > MAX_COUNTED)


def count_days(days: Sequence[tuple[str, date]]) -> list[int]:
    """Return how many orders these days of columns have, at most 501 each. Raises CassandraUnavailable."""
    reading = [IDS.start(status=status, day=day, most=MAX_COUNTED + 1) for status, day in days]
    return [len(pending.rows()) for pending in reading]


def sum_days(columns: Iterable[str]) -> dict[str, int]:
    """Return the sums of the counted days of these columns, up to 501. Raises CassandraUnavailable."""
    reading = {status: DAYS.start(status=status) for status in columns}
    return {
        status: min(sum(row.order_count or 0 for row in pending.rows()), MAX_COUNTED + 1)
        for status, pending in reading.items()
    }


def list_uncounted_days(columns: Sequence[str]) -> list[tuple[str, date]]:
    """Return the days of these columns that nobody has counted. Raises CassandraUnavailable."""
    reading = {status: DAYS.start(status=status) for status in columns}
    return [
        (status, row.order_date.date())
        for status, pending in reading.items()
        for row in pending.rows()
        if row.order_count is None
    ]

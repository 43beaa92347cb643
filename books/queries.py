"""Reads the books."""

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from uuid import UUID

from analytics.days import SHARDS, month_start, order_shard
from books.entities import (
    INVOICE,
    BookDifference,
    BookEntry,
    BookMonth,
    BookSum,
    OpenInvoice,
    SumKey,
    TaxedAmount,
    next_month,
)
from cassandra_db import LOCAL_QUORUM, PendingResult, Row, read, scan

SHOP = "shop"
# The most open invoices of each shard, and the most differences of a month, that are read at once.
MAX_OPEN_OF_SHARD = 125
MAX_DIFFERENCES = 2000

_ENTRY = """SELECT day, order_id, event_id, kind, number, gateway, currency, country, amounts FROM book_entries
            WHERE day = :day AND shard = :shard"""
# Q26: the entries of a day; those of an order.
ENTRIES = read("Q26", _ENTRY)
OF_ORDER = read("Q26", f"{_ENTRY} AND order_id = :order_id")
LATE = read("Q26", "SELECT event_id, kind, day FROM late_book_entries WHERE order_id = :order_id")


def prefetch_shard_entries(day: date, shard: int) -> PendingResult:
    """Start reading the entries of one shard of a day."""
    return ENTRIES.start(day=day, shard=shard)


def list_day_entries(day: date) -> list[BookEntry]:
    """Return the entries of a day. Its shards are read in parallel. Raises CassandraUnavailable."""
    reading = [prefetch_shard_entries(day, shard) for shard in range(SHARDS)]
    return [entry_from_row(row) for pending in reading for row in pending.rows()]


def list_order_entries(order_id: UUID, days: Iterable[date]) -> list[BookEntry]:
    """Return the entries of an order on these days. Raises CassandraUnavailable."""
    reading = [
        OF_ORDER.start(day=day, shard=order_shard(order_id), order_id=order_id)
        for day in sorted(set(days))
    ]
    return [entry_from_row(row) for pending in reading for row in pending.rows()]


def list_booked(entries: Sequence[BookEntry]) -> list[BookEntry]:
    """Return what is booked of these entries of one order, with their fees: on their own days, and on later ones.

    Raises CassandraUnavailable.
    """
    if not entries:
        return []
    order_id, event_ids = entries[0].order_id, {each.event_id for each in entries}
    days = {each.day for each in entries} | set(get_late_days(order_id).values())
    return [each for each in list_order_entries(order_id, days) if each.event_id in event_ids]


def get_late_days(order_id: UUID) -> dict[tuple[UUID, str], date]:
    """Return the days of an order's late entries, by their keys. Raises CassandraUnavailable."""
    return {(row.event_id, row.kind): row.day.date() for row in LATE.all(order_id=order_id)}


def iterate_invoiced_orders(month: date) -> Iterator[UUID]:
    """Yield the orders that have their invoices in a month, by day and number. This is too slow for a request.

    Raises CassandraUnavailable.
    """
    day = month_start(month)
    while day < next_month(month):
        found = [each for each in list_day_entries(day) if each.kind == INVOICE]
        yield from (each.order_id for each in sorted(found, key=lambda each: each.number))
        day += timedelta(days=1)


def entry_from_row(row: Row) -> BookEntry:
    """Return the entry that a row of `book_entries` stores."""
    return BookEntry(
        row.order_id,
        row.event_id,
        row.kind,
        row.day.date(),
        row.number or "",
        row.gateway or "",
        row.currency or "",
        row.country or "",
        tuple(
            TaxedAmount(Decimal(rate), net, tax)
            for rate, net, tax in json.loads(row.amounts or "[]")
        ),
    )


# Q26: the sums of a month; the months that have some.
SUMS = read(
    "Q26",
    """SELECT day, kind, gateway, country, rate, currency, net, tax FROM book_sums
       WHERE month = :month""",
)
SUMMED_MONTHS = scan(
    "Q26",
    "SELECT DISTINCT month FROM book_sums WHERE token(month) > :start AND token(month) <= :end",
)
BOOKED_DAYS = scan(
    "Q26",
    """SELECT DISTINCT day, shard FROM book_entries
       WHERE token(day, shard) > :start AND token(day, shard) <= :end""",
    consistency=LOCAL_QUORUM,
)


def prefetch_sums(month: date) -> PendingResult:
    """Start reading the sums of a month."""
    return SUMS.start(month=month_start(month))


def sums_from_rows(rows: Iterable[Row]) -> dict[SumKey, BookSum]:
    """Return the sums that rows of `book_sums` store."""
    return {
        SumKey(
            row.day.date(), row.kind, row.gateway, row.country, Decimal(row.rate), row.currency
        ): BookSum(row.net or 0, row.tax or 0)
        for row in rows
    }


# Q27: the closed months.
MONTHS = read("Q27", "SELECT month, closing_at, closed_at FROM book_months WHERE shop = :shop")


def prefetch_closed_months() -> PendingResult:
    """Start reading the months that are closed or being closed."""
    return MONTHS.start(shop=SHOP)


def closed_months_from_rows(rows: Iterable[Row]) -> list[BookMonth]:
    """Return the months that rows of `book_months` store, the latest last."""
    return [BookMonth(row.month.date(), row.closing_at, row.closed_at) for row in rows]


def list_closed_months() -> list[BookMonth]:
    """Return the months that are closed or being closed, the latest last. Raises CassandraUnavailable."""
    return closed_months_from_rows(prefetch_closed_months().rows())


# Q28: the open invoices; an order's own.
_OPEN = """SELECT order_id, placed_at, number, payment_method, country, currency, amount, due FROM open_invoices
           WHERE shard = :shard"""
OPEN = read("Q28", f"{_OPEN} LIMIT :most")
OPEN_OF_ORDER = read("Q28", f"{_OPEN} AND placed_at = :placed_at AND order_id = :order_id")


def list_open_invoices() -> tuple[list[OpenInvoice], bool]:
    """Return the open invoices, by due day, and whether there are more: at most MAX_OPEN_OF_SHARD of each shard are read.

    Raises CassandraUnavailable.
    """
    reading = [OPEN.start(shard=shard, most=MAX_OPEN_OF_SHARD + 1) for shard in range(SHARDS)]
    shards = [pending.rows() for pending in reading]
    found = [_invoice(row) for rows in shards for row in rows[:MAX_OPEN_OF_SHARD]]
    found.sort(key=lambda each: (each.due, each.placed_at, each.number))
    return found, any(len(rows) > MAX_OPEN_OF_SHARD for rows in shards)


def get_open_invoice(order_id: UUID, placed_at: datetime) -> OpenInvoice | None:
    """Return the open invoice of an order, or None. Raises CassandraUnavailable."""
    row = OPEN_OF_ORDER.one(shard=order_shard(order_id), placed_at=placed_at, order_id=order_id)
    return _invoice(row) if row else None


def _invoice(row: Row) -> OpenInvoice:
    return OpenInvoice(
        row.order_id,
        row.placed_at,
        row.number or "",
        row.payment_method or "",
        row.country or "",
        row.currency or "",
        row.amount or 0,
        row.due.date(),
    )


# Q29: the differences of a month.
DIFFERENCES = read(
    "Q29",
    """SELECT order_id, number, currency, in_order, in_books, at_gateway, found_at FROM book_differences
       WHERE month = :month LIMIT :most""",
)


def prefetch_differences(month: date) -> PendingResult:
    """Start reading the differences of a month, at most MAX_DIFFERENCES."""
    return DIFFERENCES.start(month=month_start(month), most=MAX_DIFFERENCES)


def differences_from_rows(rows: Iterable[Row]) -> list[BookDifference]:
    """Return the differences that rows of `book_differences` store, by order number."""
    found = [
        BookDifference(
            row.order_id,
            row.number or "",
            row.currency or "",
            row.in_order,
            row.in_books,
            row.at_gateway,
            row.found_at or datetime.min.replace(tzinfo=UTC),
        )
        for row in rows
    ]
    return sorted(found, key=lambda each: each.number)

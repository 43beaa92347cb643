"""I53: the books equal the orders' events, their sums the entries, and an open invoice its order."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date, timedelta
from functools import partial

from analytics.days import order_shard
from books import operations, queries
from books.entities import FEE, BookEntry, add_up
from cassandra_db import Row, current_time, read, scan
from consistency.findings import Check, Scope, Violation, call
from jobs.minutes import MINUTE
from orders.lifecycle.entities import Order
from orders.lifecycle.items import Item
from orders.operations.books import build_entries, build_open_invoice, record_order_books
from orders.queries import get_order, list_items

ENTRIES = scan(
    "I53",
    """SELECT day, order_id, event_id, kind, number, gateway, currency, country, amounts, writetime(amounts) AS written
       FROM book_entries WHERE token(day, shard) > :start AND token(day, shard) <= :end""",
)
OF_ORDER = read(
    "I53",
    """SELECT day, order_id, event_id, kind, number, gateway, currency, country, amounts, writetime(amounts) AS written
       FROM book_entries WHERE day = :day AND shard = :shard AND order_id = :order_id""",
)
STAMPS = read(
    "I53", "SELECT writetime(net) AS written FROM book_sums WHERE month = :month AND day = :day"
)
OPEN_STAMP = read(
    "I53",
    """SELECT writetime(amount) AS written FROM open_invoices
       WHERE shard = :shard AND placed_at = :placed_at AND order_id = :order_id""",
)
# How long a day with new entries may wait until it is added up: the worker usually needs two minutes.
ROLL_UP_DELAY = timedelta(minutes=10)


def iterate_unequal_entries(order: Order, items: Sequence[Item]) -> Iterator[Violation]:
    """Yield the violations of an order whose events are not booked, or whose open invoice is another."""
    wrong = partial(
        Violation, "I53", f"order {order.number} ({order.order_id})", fix=call(_record_again, order)
    )
    wanted = build_entries(order, items)
    booked = {each.key: each for each in queries.list_booked(wanted)}
    for entry in wanted:
        if entry.key not in booked:
            yield wrong(f"its {entry.kind} is not booked", str(entry.event_id))
    invoice = build_open_invoice(order)
    found = queries.get_open_invoice(order.order_id, order.placed_at)
    if (found.amount if found else 0) != invoice.amount:
        stamp = OPEN_STAMP.one(
            shard=order_shard(order.order_id), placed_at=order.placed_at, order_id=order.order_id
        )
        yield wrong(
            "its open invoice is another",
            f"{found.amount if found else 0} instead of {invoice.amount}",
            written=stamp.written if stamp else 0,
        )


def _record_again(order: Order) -> None:
    if fresh := get_order(order.order_id):
        record_order_books(fresh, list_items(fresh))
        operations.record_open_invoice(build_open_invoice(fresh), fresh.version)


def _iterate_entries(scope: Scope | None) -> Iterator[Row]:
    """Yield the rows of entries; within a scope, those of the orders on the scope's days."""
    if scope is None:
        yield from ENTRIES.iterate_table()
        return
    for order_id in sorted(scope.orders):
        for day in sorted(scope.days):
            yield from OF_ORDER.all(day=day, shard=order_shard(order_id), order_id=order_id)


def _check_entry(row: Row) -> Iterator[Violation]:
    """Check that an entry is its order's event, and stands where it belongs: once, and not in a month that was closed before."""
    entry = queries.entry_from_row(row)
    if entry not in queries.list_order_entries(entry.order_id, [entry.day]):
        return  # it was removed meanwhile
    order = get_order(entry.order_id)
    # A fee stands on the event of a payment or refund.
    original = next(
        (
            each
            for each in (build_entries(order, list_items(order)) if order else ())
            if each.event_id == entry.event_id and entry.kind in (each.kind, FEE)
        ),
        None,
    )
    months = {each.month: each for each in queries.list_closed_months()}
    closed = months.get(entry.day.replace(day=1))
    fault = ""
    if original is None:
        fault = "there is no such event"
    elif entry.kind != FEE and replace(entry, day=original.day) != original:
        fault = "it is not what the event says"
    elif closed and closed.closed_at and row.written > closed.closed_at.timestamp() * 1_000_000:
        fault = "the month was closed before"
    elif entry.day != original.day and (
        queries.get_late_days(entry.order_id).get(entry.key) != entry.day
    ):
        fault = "it belongs to another day"
    if fault:
        is_fixed = closed is None or fault == "the month was closed before"
        yield Violation(
            "I53",
            f"{entry.kind} of {entry.day}, order {entry.order_id}",
            fault,
            str(entry.event_id),
            call(_book_again, entry, original) if is_fixed else None,
            row.written or 0,
        )


def _book_again(entry: BookEntry, original: BookEntry | None) -> None:
    operations.remove_entry(entry)
    if entry.kind == FEE and original:
        operations.record_entries([replace(entry, day=original.day)])
    if order := get_order(entry.order_id):
        record_order_books(order, list_items(order))


def _iterate_days(scope: Scope | None) -> Iterator[date]:
    """Yield the days that have entries or sums."""
    if scope is not None:
        yield from sorted(scope.days)
        return
    found = {row.day.date() for row in ENTRIES.iterate_table()}
    for row in queries.SUMMED_MONTHS.iterate_table():
        rows = queries.prefetch_sums(row.month.date()).rows()
        found |= {key.day for key in queries.sums_from_rows(rows)}
    yield from sorted(found)


def _check_day(day: date) -> Iterator[Violation]:
    now = current_time()
    due = operations.DUE_BOOK_DAYS.list_between(now - ROLL_UP_DELAY, now + MINUTE)
    if any(row.day.date() == day for row in due):
        return  # the worker is about to add up the day
    rows = queries.prefetch_sums(day).rows()
    found = {key: each for key, each in queries.sums_from_rows(rows).items() if key.day == day}
    wanted = add_up(queries.list_day_entries(day))
    if found != wanted:
        stamps = STAMPS.all(month=day.replace(day=1), day=day)
        is_closed = operations.is_closed(day, queries.list_closed_months())
        yield Violation(
            "I53",
            f"books of {day}",
            "the sums are not those of the entries",
            f"{len(found)} sums instead of {len(wanted)}",
            None if is_closed else call(operations.roll_up_day, day),
            max((row.written or 0 for row in stamps), default=0),
        )


CHECKS = (
    Check(
        "entries of the books", ("I53",), _iterate_entries, _check_entry, lambda row: row.order_id
    ),
    Check("days of the books", ("I53",), _iterate_days, _check_day),
)

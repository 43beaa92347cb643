"""Compares each order whose money has moved with the books and its gateway, on the day after (Q29). It also learns gateways' fees."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from decimal import Decimal

from books import operations as books
from books.entities import FEE, PAYMENT, REFUND, BookDifference, BookEntry, TaxedAmount
from books.queries import (
    differences_from_rows,
    entry_from_row,
    list_booked,
    prefetch_differences,
    prefetch_shard_entries,
)
from cassandra_db import current_microseconds
from jobs.rows import guard_row
from orders import queries
from orders.lifecycle.entities import Order
from orders.operations.books import build_entries
from payments import gateways
from payments.errors import GatewayMissing, GatewayUnavailable
from payments.methods import MANUAL_METHODS
from pricing.money import to_minor_units


def reconcile_shard(day: date, shard: int, now: datetime) -> int:
    """Compare the orders of a shard whose money has moved on a day; return their number.

    The differences of two months, which may be settled by now, are compared with the first shard. Raises GatewayUnavailable if a gateway does not answer, CassandraUnavailable.
    """
    entries = [entry_from_row(row) for row in prefetch_shard_entries(day, shard).rows()]
    found = {(each.order_id, day) for each in entries if each.kind in (PAYMENT, REFUND)}
    if not shard:
        for month in (day, day.replace(day=1) - timedelta(days=1)):
            rows = prefetch_differences(month).rows()
            found |= {(each.order_id, month) for each in differences_from_rows(rows)}
    unavailable: GatewayUnavailable | None = None
    for order_id, of_day in sorted(found):
        with guard_row(f"money of order {order_id}"):
            try:
                if order := queries.get_order(order_id):
                    reconcile_order(queries.load_payment_references(order), of_day, now)
            except GatewayUnavailable as error:
                unavailable = error
    if unavailable:
        raise unavailable
    return len(found)


def reconcile_order(order: Order, day: date, now: datetime) -> None:
    """Store the difference between an order, the books and its gateway in the month of `day`, and the gateway's fee.

    The order has its payment references. Raises GatewayUnavailable, CassandraUnavailable.
    """
    read_at = current_microseconds()
    entries = build_entries(order, queries.list_items(order))
    booked = list_booked(entries)
    in_books = sum(each.gross if each.kind == PAYMENT else -each.gross for each in booked)
    difference = BookDifference(
        order.order_id,
        order.number,
        order.total.currency.code,
        to_minor_units(order.captured - order.refunded),
        in_books,
        _ask_gateways(order, entries),
        now,
    )
    books.record_difference(day, difference, read_at)


def _ask_gateways(order: Order, entries: Sequence[BookEntry]) -> int | None:
    """Return the amount that gateways have received less what they have refunded; None for a payment that they do not know.

    Of transfers and deliveries, staff have recorded what came.
    """
    if order.payment_method in MANUAL_METHODS:
        came = (each.details for each in order.events if each.kind == "captured")
        received = sum(int(each.get("came", each["amount"])) for each in came)
        return received - to_minor_units(order.refunded)
    total = 0
    for attempt in order.payment_attempts:
        if not attempt.reference:
            continue
        try:
            outcome = gateways.get_gateway(attempt.gateway).get_outcome(attempt.reference)
        except (LookupError, GatewayMissing):
            return None
        total += to_minor_units(outcome.captured - outcome.refunded)
        if outcome.fee:
            _book_fee(order, str(attempt.payment_id), to_minor_units(outcome.fee), entries)
    return total


def _book_fee(order: Order, payment_id: str, fee: int, entries: Sequence[BookEntry]) -> None:
    """Book a payment's fee, once, on the day on which the payment was received."""
    event_id = next(
        (
            each.event_id
            for each in reversed(order.events)
            if each.kind == "captured" and each.details["payment_id"] == payment_id
        ),
        None,
    )
    for entry in entries:
        if entry.key == (event_id, PAYMENT):
            amount = (TaxedAmount(Decimal(0), fee, 0),)
            books.record_entries([replace(entry, kind=FEE, amounts=amount)])

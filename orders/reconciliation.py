"""Compares each order whose money has moved with the books and its gateway, on the day after and again a month later (Q29).

It also learns gateways' fees.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import partial

from analytics.days import month_start, order_shard
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
from jobs.rows import MAX_UNAVAILABLE_IN_SUCCESSION, guard_row
from orders import queries
from orders.lifecycle.entities import Order
from orders.operations.books import build_entries
from payments import gateways
from payments.errors import GatewayMissing, GatewayUnavailable
from payments.methods import MANUAL_METHODS
from pricing.money import to_minor_units

# Money that staff move at the gateway itself is found by the second comparison.
AGAIN_AFTER = timedelta(days=30)
# Differences of this many months are compared again each day until they are settled.
MONTHS_COMPARED = 12


def reconcile_shard(day: date, shard: int, now: datetime) -> int:
    """Compare the orders of a shard whose money has moved on a day, or AGAIN_AFTER before it; return their number.

    The shard's differences of MONTHS_COMPARED are compared again, too. An order that cannot be compared is listed as such, and so
    is compared again. Raises GatewayUnavailable if gateways do not answer for three others in succession, CassandraUnavailable.
    """
    months = [month_start(day)]
    while len(months) < MONTHS_COMPARED:
        months.append(month_start(months[-1] - timedelta(days=1)))
    reading = [(month, prefetch_differences(month)) for month in months]
    listed = {
        (each.order_id, month, each.number, each.currency)
        for month, pending in reading
        for each in differences_from_rows(pending.rows())
        if order_shard(each.order_id) == shard
    }
    moved = {
        (each.order_id, month_start(each.day), each.number, each.currency)
        for of_day in (day, day - AGAIN_AFTER)
        for each in map(entry_from_row, prefetch_shard_entries(of_day, shard).rows())
        if each.kind in (PAYMENT, REFUND)
    }
    unanswered = 0
    for found in sorted(moved | listed):
        order_id, month, number, currency = found
        failed = BookDifference(order_id, number, currency, None, None, None, now)
        postpone = partial(books.record_difference, month, failed, current_microseconds())
        with guard_row(f"money of order {order_id}", postpone):
            try:
                if order := queries.get_order(order_id):
                    reconcile_order(queries.load_payment_references(order), month, now)
                unanswered = 0
            except GatewayUnavailable:
                unanswered += found not in listed
                if unanswered < MAX_UNAVAILABLE_IN_SUCCESSION:
                    raise
        if unanswered == MAX_UNAVAILABLE_IN_SUCCESSION:
            raise GatewayUnavailable
    return len(moved | listed)


def reconcile_order(order: Order, day: date, now: datetime) -> None:
    """Store the difference between an order, the books and its gateway in the month of `day`, and the gateway's fee.

    The order has its payment references. Raises GatewayUnavailable, CassandraUnavailable.
    """
    read_at = current_microseconds()
    entries = build_entries(order, queries.list_items(order))
    booked = list_booked(entries)
    in_books = sum(
        each.gross if each.kind == PAYMENT else -each.gross for each in booked if each.kind != FEE
    )
    difference = BookDifference(
        order.order_id,
        order.number,
        order.total.currency.code,
        to_minor_units(order.captured - order.refunded),
        in_books,
        _ask_gateways(order, entries, booked),
        now,
    )
    books.record_difference(day, difference, read_at)


def _ask_gateways(
    order: Order, entries: Sequence[BookEntry], booked: Sequence[BookEntry]
) -> int | None:
    """Return the amount that gateways have received less what they have refunded; None if one cannot be asked. Book their fees.

    What came by transfer or on delivery, staff have recorded.
    """
    if order.payment_method in MANUAL_METHODS:
        return None
    total: int | None = 0
    fees = Counter[str]()
    for attempt in order.payment_attempts:
        if not attempt.reference:
            continue
        try:
            outcome = gateways.get_gateway(attempt.gateway).get_outcome(attempt.reference)
        except GatewayMissing:
            total = None
            continue
        except LookupError:
            continue  # the gateway has received nothing
        if total is not None:
            total += to_minor_units(outcome.captured - outcome.refunded)
        if outcome.fee:
            fees[attempt.gateway] += to_minor_units(outcome.fee)
    for gateway, fee in fees.items():
        more = fee - sum(
            each.gross for each in booked if (each.kind, each.gateway) == (FEE, gateway)
        )
        moves = [each for each in entries if each.gateway == gateway and each.amounts]
        if more and moves:
            # On the day of the gateway's latest move of money: a fee that changes later follows with the next one.
            amount = (TaxedAmount(Decimal(0), more, 0),)
            books.record_entries([replace(moves[-1], kind=FEE, amounts=amount)])
    return total

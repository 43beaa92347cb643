"""I32: an order is found by its search terms, and by no other terms. An order keeps only the tracking numbers of its parcels."""

from collections.abc import Iterator
from datetime import UTC
from uuid import UUID

from cassandra_db import Row, read, scan
from consistency.findings import Check, Scope, Violation, call, row_subjects
from orders import queries
from orders.lifecycle.entities import Order
from orders.operations import write_copies
from orders.operations.copies import OFF_SEARCH, OFF_TERM
from orders.operations.tracking_numbers import list_tracking_numbers, release_taken_number
from orders.search_terms import PERSONAL_KINDS, TRACKING, find_head, list_former_terms, list_terms

KEY = "kind = :kind AND head = :head AND year = :year AND term = :term AND placed_at = :placed_at"
LABEL = read(
    "I32",
    f"SELECT number, label FROM orders_by_search_term WHERE {KEY} AND order_id = :order_id",  # noqa: S608
)
TERM = read(
    "I32",
    "SELECT number FROM search_terms_by_order WHERE order_id = :order_id AND kind = :kind AND term = :term",
)
TERMS = read(
    "I32",
    "SELECT order_id, kind, term, writetime(number) AS written FROM search_terms_by_order WHERE order_id = :order_id",
)
ROWS = scan(
    "I32",
    """SELECT kind, head, year, term, placed_at, order_id, writetime(number) AS written FROM orders_by_search_term
       WHERE token(kind, head, year) > :start AND token(kind, head, year) <= :end""",
)
TERM_ROWS = scan(
    "I32",
    """SELECT order_id, kind, term, writetime(number) AS written FROM search_terms_by_order
       WHERE token(order_id) > :start AND token(order_id) <= :end""",
)
NUMBER_ROWS = scan(
    "I32",
    """SELECT tracking, order_id, version FROM tracking_numbers
       WHERE token(tracking) > :start AND token(tracking) <= :end""",
)
NUMBER = read(
    "I32", "SELECT tracking, order_id, version FROM tracking_numbers WHERE tracking = :tracking"
)


def iterate_missing_terms(order: Order) -> Iterator[Violation]:
    """Yield the search terms of an order that do not find it, or whose rows have other values than the order."""
    year = order.placed_at.astimezone(UTC).year
    reading = []
    for (kind, term), label in list_terms(order).items():
        key = {"kind": kind, "term": term, "order_id": order.order_id}
        place = key | {"head": find_head(kind, term), "year": year, "placed_at": order.placed_at}
        reading.append((kind, term, label, LABEL.start(**place), TERM.start(**key)))
    for kind, term, label, pending, listed in reading:
        row = pending.one()
        if row is None or (row.number, row.label) != (order.number, label) or not listed.one():
            subject = f"order {order.number} ({order.order_id})"
            fix = call(write_copies, order)
            yield Violation("I32", subject, f"is not found by its {kind}", term, fix)


def _check_row(row: Row) -> Iterator[Violation]:
    """Check a search row: its order exists, was placed at the row's time, and has the term in its list of terms."""
    order = queries.get_order(row.order_id)
    key = {"kind": row.kind, "term": row.term, "order_id": row.order_id}
    if order and order.placed_at == row.placed_at and TERM.one(**key):
        return
    place = key | {"head": row.head, "year": row.year, "placed_at": row.placed_at}
    if LABEL.one(**place) is None:
        return
    fault = f"is found by a {row.kind} that is not its own"
    fix = call(OFF_SEARCH.run, **place, at=row.written)
    yield Violation("I32", f"order {row.order_id}", fault, fix=fix, written=row.written)


def _iterate_terms(scope: Scope | None) -> Iterator[Row]:
    if scope is None:
        yield from TERM_ROWS.iterate_table()
        return
    for order_id in scope.orders:
        yield from TERMS.all(order_id=order_id)


def _check_term(row: Row) -> Iterator[Violation]:
    """Check a search term: its order exists, the order's person is not erased, and the term is no replaced tracking number."""
    order = queries.get_order(row.order_id)
    if (
        order
        and not (order.is_erased and row.kind in PERSONAL_KINDS)
        and not (row.kind == TRACKING and row.term in list_former_terms(order))
    ):
        return
    key = {"kind": row.kind, "term": row.term, "order_id": row.order_id}
    if TERM.one(**key) is None:
        return

    def fix(now: object) -> None:
        if order:
            place = {
                "head": find_head(row.kind, row.term),
                "year": order.placed_at.astimezone(UTC).year,
                "placed_at": order.placed_at,
            }
            OFF_SEARCH.run(**key, **place, at=row.written)
        OFF_TERM.run(**key, at=row.written)

    fault = f"is kept under a {row.kind} that is not its own"
    yield Violation("I32", f"order {row.order_id}", fault, fix=fix, written=row.written)


def check_number(row: Row) -> Iterator[Violation]:
    """Check that a row's order has a parcel with the row's tracking number, or that the parcel's event may still be written."""
    order = queries.get_order(row.order_id)
    if order and row.tracking in list_tracking_numbers(order):
        return
    if order and order.version <= (row.version or 0):
        return  # the event may still be written
    found = NUMBER.one(tracking=row.tracking)
    if found is None or (found.order_id, found.version) != (row.order_id, row.version):
        return
    fault = "keeps a tracking number that no parcel of it has"
    fix = call(release_taken_number, row.tracking, row.order_id, row.version)
    yield Violation("I32", f"order {row.order_id}", fault, fix=fix)


def _order_id(row: Row) -> UUID:
    return row.order_id  # type: ignore[no-any-return]


CHECKS = (
    Check("the search for orders", ("I32",), row_subjects(ROWS), _check_row, _order_id),
    Check("orders’ search terms", ("I32",), _iterate_terms, _check_term, _order_id),
    Check("tracking numbers", ("I32",), row_subjects(NUMBER_ROWS), check_number, _order_id),
)

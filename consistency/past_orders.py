"""I54: a past order is found by its terms, and by no others."""

from collections.abc import Iterator
from uuid import UUID

from cassandra_db import Row, read, scan
from consistency.findings import Check, Violation, call, column_subjects, row_subjects
from past_orders.entities import find_head
from past_orders.operations import delete_term, write_terms
from past_orders.queries import get_past_order

ORDERS = scan(
    "I54",
    "SELECT order_id FROM past_orders WHERE token(order_id) > :start AND token(order_id) <= :end",
)
TERMS = scan(
    "I54",
    """SELECT kind, head, term, placed_at, order_id FROM past_orders_by_term
       WHERE token(kind, head) > :start AND token(kind, head) <= :end""",
)
TERM = read(
    "I54",
    """SELECT order_id FROM past_orders_by_term WHERE kind = :kind AND head = :head AND term = :term
       AND placed_at = :placed_at AND order_id = :order_id""",
)


def _check_order(order_id: UUID) -> Iterator[Violation]:
    order = get_past_order(order_id)
    if order is None:
        return
    key = {"placed_at": order.placed_at, "order_id": order_id}
    reading = {
        (kind, term): TERM.start(kind=kind, head=find_head(kind, term), term=term, **key)
        for kind, term in order.iterate_terms()
    }
    missing = sorted({kind for (kind, _term), pending in reading.items() if not pending.rows()})
    if missing:
        fault, fix = "it is not found by all its terms", call(write_terms, order_id)
        yield Violation("I54", f"past order {order_id}", fault, ", ".join(missing), fix)


def _check_term(row: Row) -> Iterator[Violation]:
    order = get_past_order(row.order_id)
    if order is None or (row.kind, row.term) not in order.iterate_terms():
        fault = f"a {row.kind} leads to it that is not its own"
        yield Violation("I54", f"past order {row.order_id}", fault, "", call(delete_term, row))


CHECKS = (
    Check("past orders", ("I54",), column_subjects(ORDERS, "order_id", "orders"), _check_order),
    Check("terms of past orders", ("I54",), row_subjects(TERMS), _check_term),
)

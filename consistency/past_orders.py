"""I54: a past order is found by its owner, and by nobody else."""

from collections.abc import Iterator

from cassandra_db import Row, read, scan
from consistency.findings import Check, Violation, call, row_subjects
from past_orders.operations import refresh_owner
from past_orders.queries import get_past_order

ORDERS = scan(
    "I54",
    """SELECT number, placed_at FROM past_orders
       WHERE token(number) > :start AND token(number) <= :end""",
)
OWNED = scan(
    "I54",
    """SELECT owner, placed_at, number FROM past_orders_by_owner
       WHERE token(owner) > :start AND token(owner) <= :end""",
)
ROW = read(
    "I54",
    """SELECT number FROM past_orders_by_owner
       WHERE owner = :owner AND placed_at = :placed_at AND number = :number""",
)


def _check_order(row: Row) -> Iterator[Violation]:
    order, key = get_past_order(row.number), row._asdict()
    if order and not ROW.one(owner=order.owner, **key):
        fix = call(refresh_owner, order.owner, **key)
        yield Violation("I54", f"past order {order.number}", "its owner does not find it", fix=fix)


def _check_owner(row: Row) -> Iterator[Violation]:
    order = get_past_order(row.number)
    is_right = order and (order.owner, order.placed_at) == (row.owner, row.placed_at)
    if not is_right and ROW.one(**row._asdict()):
        fault, fix = "somebody else finds it", call(refresh_owner, *row)
        yield Violation("I54", f"past order {row.number}", fault, fix=fix)


CHECKS = (
    Check("past orders", ("I54",), row_subjects(ORDERS), _check_order),
    Check("owners of past orders", ("I54",), row_subjects(OWNED), _check_owner),
)

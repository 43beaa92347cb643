"""I3: all copies of an order are equal to the order, there is no copy without an order, and the board's counts are exact."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from cassandra_db import PendingResult, Row, read, scan
from consistency.findings import Check, Scope, Violation, call
from mail.addresses import email_key
from orders import board_queries, queries
from orders.lifecycle.entities import Order
from orders.lifecycle.states import BOARD_COLUMNS
from orders.operations import count_board_orders, recount_column, write_copies
from orders.operations.copies import board_columns
from orders.operations.erasure import ANY_WITH_EMAIL
from orders.operations.repair import (
    delete_email_year,
    delete_from_board,
    delete_from_email_list,
    delete_from_user_list,
)
from pricing.money import to_minor_units

BY_STATUS = read(
    "I3",
    """SELECT number, name, email, country, total, currency, item_count, payment, payment_method, fulfilment, delivery_method,
              estimated_delivery, is_pickup, skus, tags, version
       FROM orders_by_status
       WHERE status = :status AND order_date = :day AND placed_at = :placed_at AND order_id = :order_id""",
)
DAY = read(
    "I3", "SELECT order_date FROM order_days_by_status WHERE status = :status AND order_date = :day"
)
BY_USER = read(
    "I3",
    """SELECT number, customer_label, total, currency, item_count, first_item_name, first_item_picture FROM orders_by_user
       WHERE user_id = :user_id AND year = :year AND placed_at = :placed_at AND order_id = :order_id""",
)
YEAR = read("I3", "SELECT year FROM order_years_by_user WHERE user_id = :user_id AND year = :year")
BY_EMAIL = read(
    "I3",
    """SELECT number FROM orders_by_email_and_year
       WHERE email = :email AND year = :year AND placed_at = :placed_at AND order_id = :order_id""",
)
EMAIL_YEAR = read(
    "I3", "SELECT year FROM order_years_by_email WHERE email = :email AND year = :year"
)
NUMBER = read("I3", "SELECT order_id FROM order_ids_by_number WHERE number = :number")


def iterate_unequal_copies(order: Order) -> Iterator[Violation]:
    """Yield the copies of an order that are missing or differ from the order's own partition."""
    what = f"order {order.number} ({order.order_id})"

    fix = call(write_copies, order)
    for name, pending, wanted in list(_prefetch_copies(order)):
        row = pending.one()
        if row is None:
            yield Violation("I3", what, f"is missing {name}", fix=fix)
        elif wrong := [field for field, value in wanted.items() if getattr(row, field) != value]:
            yield Violation("I3", what, f"reads otherwise {name}", ", ".join(wrong), fix=fix)


def _prefetch_copies(order: Order) -> Iterator[tuple[str, PendingResult, dict[str, object]]]:
    """Yield the name, the pending read and the expected values of each copy of an order."""
    day = order.placed_at.astimezone(UTC).date()
    place = {"placed_at": order.placed_at, "order_id": order.order_id}
    common = {
        "number": order.number,
        "total": to_minor_units(order.total),
        "currency": order.total.currency.code,
        "item_count": order.item_count,
    }
    yield (
        f"on the board, in {order.board_column}",
        BY_STATUS.start(status=order.board_column, day=day, **place),
        common | board_columns(order),
    )
    yield "among the days of the board", DAY.start(status=order.board_column, day=day), {}
    if order.email:
        whose = {"email": email_key(order.email), "year": day.year}
        yield ("in its address's list", BY_EMAIL.start(**whose, **place), {"number": order.number})
        yield "among its address's years", EMAIL_YEAR.start(**whose), {}
    if order.user_id:
        listed = {
            "customer_label": order.customer_label,
            "first_item_name": order.first_item_name,
            "first_item_picture": order.first_item_picture,
        }
        whose = {"user_id": order.user_id, "year": day.year}
        yield "in its person's list", BY_USER.start(**whose, **place), common | listed
        yield "among its person's years", YEAR.start(**whose), {}
    yield "by its number", NUMBER.start(number=order.number), {"order_id": order.order_id}


# ---- In the other direction: each copy has an order and the right key

BOARD_ROWS = scan(
    "I3",
    """SELECT status, order_date, placed_at, order_id, writetime(version) AS written FROM orders_by_status
       WHERE token(status, order_date) > :start AND token(status, order_date) <= :end""",
)
USER_ROWS = scan(
    "I3",
    """SELECT user_id, year, placed_at, order_id, writetime(number) AS written FROM orders_by_user
       WHERE token(user_id, year) > :start AND token(user_id, year) <= :end""",
)
EMAIL_ROWS = scan(
    "I3",
    """SELECT email, year, placed_at, order_id, writetime(number) AS written FROM orders_by_email_and_year
       WHERE token(email, year) > :start AND token(email, year) <= :end""",
)
EMAIL_YEAR_ROWS = scan(
    "I3",
    """SELECT email, year, order_id, writetime(order_id) AS written FROM order_years_by_email
       WHERE token(email) > :start AND token(email) <= :end""",
)
WRITTEN = read(
    "I3",
    """SELECT writetime(version) AS written FROM orders_by_status
       WHERE status = :status AND order_date = :day AND placed_at = :placed_at AND order_id = :order_id""",
)
NUMBER_ROWS = scan(
    "I3",
    "SELECT number, order_id FROM order_ids_by_number WHERE token(number) > :start AND token(number) <= :end",
)


@dataclass(frozen=True)
class OrderCopy:
    """A row in a list of orders: its list, key and order, and its write timestamp in microseconds since 1970."""

    list_name: str
    key: tuple[object, ...]
    order_id: UUID
    placed_at: datetime | None = None
    written: int = 0


def _iterate_copies(scope: Scope | None) -> Iterator[OrderCopy]:
    if scope is None:
        yield from _all_copies()
        return
    orders = {order_id: queries.get_order(order_id) for order_id in scope.orders}
    for order in filter(None, orders.values()):
        yield from _on_board(order)
    if gone := {order_id for order_id, order in orders.items() if order is None}:
        yield from (copy for copy in _all_copies() if copy.order_id in gone)


def _on_board(order: Order) -> Iterator[OrderCopy]:
    day = order.placed_at.astimezone(UTC).date()
    place = {"day": day, "placed_at": order.placed_at, "order_id": order.order_id}
    reading = [(status, WRITTEN.start(status=status, **place)) for status in BOARD_COLUMNS]
    for status, pending in reading:
        if row := pending.one():
            key = (status, day)
            yield OrderCopy("board", key, order.order_id, order.placed_at, row.written or 0)


def _all_copies() -> Iterator[OrderCopy]:
    for row in BOARD_ROWS.iterate_table():
        day = row.order_date.date()
        yield OrderCopy("board", (row.status, day), row.order_id, row.placed_at, row.written or 0)
    for row in USER_ROWS.iterate_table():
        key = (row.user_id, row.year)
        yield OrderCopy("user", key, row.order_id, row.placed_at, row.written or 0)
    for row in EMAIL_ROWS.iterate_table():
        key = (row.email, row.year)
        yield OrderCopy("email", key, row.order_id, row.placed_at, row.written or 0)
    for row in EMAIL_YEAR_ROWS.iterate_table():
        key = (row.email, row.year)
        yield OrderCopy("email years", key, row.order_id, written=row.written or 0)
    for row in NUMBER_ROWS.iterate_table():
        yield OrderCopy("number", (row.number,), row.order_id)


def _check_orphaned(copy: OrderCopy) -> Iterator[Violation]:
    order = queries.get_order(copy.order_id)
    fault, fix = "", None
    rest = (copy.placed_at, copy.order_id, copy.written)
    match copy.list_name, copy.key:
        case "board", (status, day):
            if order is None or (order.board_column, order.placed_at.date()) != (status, day):
                fault = f"stands on the board in {status}, {day}"
                fix = call(delete_from_board, status, *rest)
        case "user", (user_id, year):
            if order is None or (order.user_id, order.placed_at.year) != (user_id, year):
                fault = f"stands in the list of user {user_id}, {year}"
                fix = call(delete_from_user_list, user_id, year, *rest)
        case "email", (email, year):
            if order is None or (email_key(order.email), order.placed_at.year) != (email, year):
                fault = f"stands in the list of an address that is not its own, {year}"
                fix = call(delete_from_email_list, email, year, *rest)
        case "email years", (email, year):
            # The order that the copy names may have been erased meanwhile, and its other copies not yet.
            if ANY_WITH_EMAIL.one(email=email, year=year) is None:
                fault = f"keeps {year} as a year of an address without orders"
                fix = call(delete_email_year, email, year, copy.written)
        case "number", (number,):
            # A number without an order was taken for a checkout that was never finished.
            if order is not None and order.number != number:
                fault = f"has the number {number}, too"
    if not fault and order and copy.placed_at not in (None, order.placed_at):
        fault = f"stands at another time in {copy.list_name}"
    if fault and (copy.list_name == "number" or _is_still_there(copy)):
        which = (
            f"{order.number} ({order.order_id})" if order else f"{copy.order_id}, which is none,"
        )
        yield Violation("I3", f"order {which}", fault, fix=fix)


def _is_still_there(copy: OrderCopy) -> bool:
    """Return whether a copy still exists: its order may have changed since the scan."""
    place = {"placed_at": copy.placed_at, "order_id": copy.order_id}
    row: Row | None
    match copy.list_name, copy.key:
        case "board", (status, day):
            row = BY_STATUS.one(status=status, day=day, **place)
        case "user", (user_id, year):
            row = BY_USER.one(user_id=user_id, year=year, **place)
        case "email", (email, year):
            row = BY_EMAIL.one(email=email, year=year, **place)
        case "email years", (email, year):
            row = EMAIL_YEAR.one(email=email, year=year)
        case _:
            row = None
    return row is not None


# ---- The numbers of the board's columns


def _iterate_columns(scope: Scope | None) -> Iterator[str]:
    yield from BOARD_COLUMNS if scope is None else ()


def _check_count(status: str) -> Iterator[Violation]:
    shown = count_board_orders().numbers[status]
    days = [(status, day) for day in board_queries.list_board_days(status)]
    counted = board_queries.cap(sum(board_queries.count_days(days)))
    if shown != counted:
        fix = call(recount_column, status)
        yield Violation(
            "I3", f"column {status}", "is counted wrongly", f"{shown}, not {counted}", fix
        )


CHECKS = (
    Check(
        "copies of orders", ("I3",), _iterate_copies, _check_orphaned, lambda copy: copy.order_id
    ),
    Check("counts of the board", ("I3",), _iterate_columns, _check_count),
)

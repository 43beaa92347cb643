"""The lists in which an order is found, rewritten from the order itself."""

import json
from datetime import UTC, date, datetime, timedelta

from cassandra.query import BoundStatement
from cassandra.util import Date

from cassandra_db import current_microseconds, read, write, write_batch
from mail.addresses import email_key
from orders import board_queries
from orders.lifecycle.entities import Order
from orders.lifecycle.states import BOARD_COLUMNS
from orders.operations.user_stats import mark_statement
from orders.search_terms import TRACKING, find_head, list_former_terms, list_terms
from pricing.money import to_minor_units

# All of them carry "placed + version" as their timestamp: of two that are applied out of order, the later event's stays.
OFF_BOARD = write(
    "Q15",
    """DELETE FROM orders_by_status USING TIMESTAMP :at
       WHERE status = :status AND order_date = :day AND placed_at = :placed_at AND order_id = :order_id""",
)
ON_BOARD = write(
    "Q15",
    """INSERT INTO orders_by_status (status, order_date, placed_at, order_id, number, name, email, country, total, currency,
                                     item_count, payment, payment_method, fulfilment, is_pickup, delivery_method,
                                     estimated_delivery, skus, tags, version)
       VALUES (:status, :day, :placed_at, :order_id, :number, :name, :email, :country, :total, :currency,
               :item_count, :payment, :payment_method, :fulfilment, :is_pickup, :delivery_method, :estimated_delivery, :skus,
               :tags, :version) USING TIMESTAMP :at""",
)
BY_USER = write(
    "Q11",
    """INSERT INTO orders_by_user (user_id, year, placed_at, order_id, number, customer_label, total, currency, item_count,
                                   first_item_name, first_item_picture)
       VALUES (:user_id, :year, :placed_at, :order_id, :number, :customer_label, :total, :currency, :item_count,
               :first_item_name, :first_item_picture) USING TIMESTAMP :at""",
)
# An order keeps its place in time in each of these lists, whatever happens to it.
YEAR = write(
    "Q11",
    "INSERT INTO order_years_by_user (user_id, year) VALUES (:user_id, :year) USING TIMESTAMP :at",
)
BY_EMAIL = write(
    "Q15",
    """INSERT INTO orders_by_email_and_year (email, year, placed_at, order_id, number)
       VALUES (:email, :year, :placed_at, :order_id, :number) USING TIMESTAMP :at""",
)
EMAIL_YEAR = write(
    "Q15",
    """INSERT INTO order_years_by_email (email, year, order_id) VALUES (:email, :year, :order_id)
       USING TIMESTAMP :at""",
)
BY_TERM = write(
    "order search",
    """INSERT INTO orders_by_search_term (kind, head, year, term, placed_at, order_id, number, label)
       VALUES (:kind, :head, :year, :term, :placed_at, :order_id, :number, :label) USING TIMESTAMP :at""",
)
# What stands in the search is known by the order, so that it can be taken out again.
TERM = write(
    "order search",
    """INSERT INTO search_terms_by_order (order_id, kind, term, number) VALUES (:order_id, :kind, :term, :number)
       USING TIMESTAMP :at""",
)
OFF_SEARCH = write(
    "order search",
    """DELETE FROM orders_by_search_term USING TIMESTAMP :at
       WHERE kind = :kind AND head = :head AND year = :year AND term = :term AND placed_at = :placed_at
             AND order_id = :order_id""",
)
OFF_TERM = write(
    "order search",
    """DELETE FROM search_terms_by_order USING TIMESTAMP :at
       WHERE order_id = :order_id AND kind = :kind AND term = :term""",
)
# In real time: the sweeper of emptied days relies on it.
DAY = write("Q15", "INSERT INTO order_days_by_status (status, order_date) VALUES (:status, :day)")


def write_copies(order: Order) -> None:
    """Write the order's row on the board, in its owner's list and in its e-mail address's; delete it from its former board columns.

    Of a member's order that money was paid for it also notes that the member's sums are to be counted again.

    Those are read from its events. Writing it again changes nothing. Raises CassandraUnavailable; then, and when this
    process dies in between, some may be written: the order's pending effect (docs/decisions/004) has all of them written again.
    """
    write_batch(copy_statements(order))


def copy_timestamp(order: Order) -> int:
    """Return the timestamp of an order's copies, in microseconds since 1970: placed + version."""
    return copy_timestamp_at(order.placed_at, order.version)


def copy_timestamp_at(placed_at: datetime, version: int) -> int:
    """Return the timestamp that the copies of an order placed then have at a version."""
    return round(placed_at.timestamp() * 1000) * 1000 + version


def board_columns(order: Order) -> dict[str, object]:
    """Return what of an order stands on the board alone, by the columns of `orders_by_status`."""
    return {
        "name": order.name,
        "email": order.email,
        "country": order.country,
        "payment": order.payment,
        "payment_method": order.payment_method,
        "fulfilment": order.fulfilment,
        "is_pickup": order.is_pickup,
        "delivery_method": order.method.code,
        "estimated_delivery": Date(order.method.last),
        "skus": json.dumps(order.skus),
        "tags": json.dumps(order.tags),
        "version": order.version,
    }


def copy_statements(order: Order) -> list[BoundStatement]:
    """Return the writes of `write_copies`."""
    day, placed_at = order.placed_at.astimezone(UTC).date(), order.placed_at
    at = copy_timestamp(order)
    key = {"day": day, "placed_at": placed_at, "order_id": order.order_id, "at": at}
    summary = {
        "number": order.number,
        "item_count": order.item_count,
        "total": to_minor_units(order.total),
    }
    summary["currency"] = order.total.currency.code
    before = {event.board_after for event in order.events} - {order.board_column, ""}
    batch = [OFF_BOARD.bind(status=status, **key) for status in sorted(before)]
    batch.append(DAY.bind(status=order.board_column, day=day))
    batch.append(ON_BOARD.bind(status=order.board_column, **board_columns(order), **key, **summary))
    for term in list_former_terms(order):
        former = {"kind": TRACKING, "term": term, "order_id": order.order_id, "at": at}
        head = find_head(TRACKING, term)
        batch.append(OFF_SEARCH.bind(head=head, year=day.year, placed_at=placed_at, **former))
        batch.append(OFF_TERM.bind(**former))
    for (kind, term), label in list_terms(order).items():
        found = {"kind": kind, "term": term, "order_id": order.order_id, "number": order.number}
        head = find_head(kind, term)
        batch.append(
            BY_TERM.bind(head=head, year=day.year, placed_at=placed_at, label=label, at=at, **found)
        )
        batch.append(TERM.bind(at=at, **found))
    if order.email:  # an order whose person was erased has none
        listed = {
            "email": email_key(order.email),
            "year": day.year,
            "order_id": order.order_id,
            "at": at,
        }
        batch.append(EMAIL_YEAR.bind(**listed))
        batch.append(BY_EMAIL.bind(placed_at=placed_at, number=order.number, **listed))
    if order.user_id:
        if order.captured.amount:
            batch.append(mark_statement(order.user_id))
        batch.append(YEAR.bind(user_id=order.user_id, year=day.year, at=at))
        batch.append(
            BY_USER.bind(
                user_id=order.user_id,
                year=day.year,
                placed_at=placed_at,
                order_id=order.order_id,
                customer_label=order.customer_label,
                first_item_name=order.first_item_name,
                first_item_picture=order.first_item_picture,
                at=at,
                **summary,
            )
        )
    return batch


ANY = read(
    "Q15",
    "SELECT order_id FROM orders_by_status WHERE status = :status AND order_date = :day LIMIT 1",
)
DELETE_DAY = write(
    "Q15",
    "DELETE FROM order_days_by_status USING TIMESTAMP :before WHERE status = :status AND order_date = :day",
)


def delete_empty_days(now: datetime) -> int:
    """Delete the days on which a column of the board has no orders any more; return how many.

    The deletion is dated an hour back: a day to which an order has just been added stays. Raises CassandraUnavailable.
    """
    before = current_microseconds() - timedelta(hours=1) // timedelta(microseconds=1)
    board_days: list[tuple[str, date]] = [
        (status, day) for status in BOARD_COLUMNS for day in board_queries.list_board_days(status)
    ]
    reading = [
        (status, day, ANY.start(status=status, day=day))
        for status, day in board_days
        if day < now.date()
    ]
    empty = [(status, day) for status, day, pending in reading if pending.one() is None]
    for status, day in empty:
        DELETE_DAY.run(status=status, day=day, before=before)
    return len(empty)

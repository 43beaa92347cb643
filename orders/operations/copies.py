"""The copies of an order in lists and in the search, rewritten from the order itself."""

import json
from datetime import UTC, date, datetime, timedelta

from cassandra.query import BoundStatement
from cassandra.util import Date

from cassandra_db import current_microseconds, read, write, write_batch
from mail.addresses import email_key
from orders import board_queries
from orders.lifecycle.entities import Order
from orders.lifecycle.states import BOARD_COLUMNS
from orders.operations.board_counts import change_statement
from orders.operations.user_stats import mark_statement
from orders.search_terms import TRACKING, find_head, list_former_terms, list_terms
from pricing.money import to_minor_units
from shop_settings.restores import copy_timestamp_at

# The timestamp of each copy is "placed + version", so that a late write of an earlier version loses.
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
# An order's search terms, so that they can be deleted from the search.
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
# The row's timestamp is real time. `delete_empty_days` relies on this.
DAY = write("Q15", "INSERT INTO order_days_by_status (status, order_date) VALUES (:status, :day)")


def write_copies(order: Order) -> None:
    """Write the order's copies: the board, the search, and the lists of its owner and e-mail address.

    It deletes the order from its former board columns, and records a paying member whose sums have to be computed again.
    A second call changes nothing. Raises CassandraUnavailable. After this error some copies may be written, and the order's
    pending effect (docs/decisions/004) leads the worker to write all of them again.
    """
    write_batch(copy_statements(order))


def copy_timestamp(order: Order) -> int:
    """Return the timestamp of an order's copies, in microseconds since 1970. Raises CassandraUnavailable."""
    return copy_timestamp_at(order.placed_at, order.version)


def board_columns(order: Order) -> dict[str, object]:
    """Return the values of the columns that only `orders_by_status` has."""
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
    batch += [change_statement(status, day) for status in sorted({*before, order.board_column})]
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
    if order.email:  # erased orders have none
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
    """Delete the days on which a column of the board has no more orders. Return their number. Raises CassandraUnavailable.

    The deletion's timestamp is an hour old, so that a day to which an order was just added stays.
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

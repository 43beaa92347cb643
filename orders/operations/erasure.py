"""Removing the person from an order. Tax law requires the number, sums and days, so these stay.

A conditional batch blanks the header and writes an event. The rows that lead from the person to the order are deleted last,
so that a second run after a crash finds the orders.
"""

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from uuid import UUID

from cassandra.query import BoundStatement

from cassandra_db import applied_if, apply_batch, conditional_write, read, write, write_batch
from mail.addresses import email_key
from orders import queries
from orders.lifecycle.entities import Order
from orders.lifecycle.errors import OrderChanged
from orders.lifecycle.states import ERASED
from orders.operations.copies import OFF_SEARCH, copy_timestamp, write_copies
from orders.operations.tracking_numbers import release_tracking_numbers
from orders.operations.transitions import event_statement, make_event, new_event_id
from orders.search_terms import PERSONAL_KINDS, find_head, list_terms
from shop_settings.restores import get_number_series

BLANK_ORDER = conditional_write(
    "Q12",
    """UPDATE orders SET email = '', name = '', user_id = :nobody, owner_id = :order_id, delivery_address = :nowhere,
              billing_address = :nowhere, cart_id = :nobody, customer_notes = '', fingerprint = '', version = :version
       WHERE order_id = :order_id IF version = :seen AND placing = null""",
)
# Notes of staff and details of events may be about the person.
BLANK_EVENT = conditional_write(
    "Q14",
    """UPDATE orders SET note = :note, details = :details WHERE order_id = :order_id AND event_id = :event_id
       IF kind = :kind""",
)
# Details with personal data: address, tracking number, written reason, name in a withdrawal, keyed hash of a network.
_PERSONAL = ("address", "tracking", "reason", "name", "buckets")
DELETE_LIST = write("Q11", "DELETE FROM orders_by_user WHERE user_id = :user_id AND year = :year")
DELETE_YEARS = write("Q11", "DELETE FROM order_years_by_user WHERE user_id = :user_id")
# Timestamped like a copy of the blanked order, so that a late copy of the earlier order loses.
OFF_EMAIL = write(
    "Q15",
    """DELETE FROM orders_by_email_and_year USING TIMESTAMP :at
       WHERE email = :email AND year = :year AND placed_at = :placed_at AND order_id = :order_id""",
)
ANY_WITH_EMAIL = read(
    "Q15",
    "SELECT order_id FROM orders_by_email_and_year WHERE email = :email AND year = :year LIMIT 1",
)
EMAIL_YEAR_WRITTEN = read(
    "Q15",
    "SELECT writetime(order_id) AS written FROM order_years_by_email WHERE email = :email AND year = :year",
)
OFF_EMAIL_YEAR = write(
    "Q15",
    "DELETE FROM order_years_by_email USING TIMESTAMP :at WHERE email = :email AND year = :year",
)
# Copies are timestamped "placed + version", since a restore "+ series", in microseconds. Orders are placed in milliseconds, so each
# has a thousand.
_VERSIONS = 1000
TERMS = read(
    "order search", "SELECT kind, term FROM search_terms_by_order WHERE order_id = :order_id"
)
OFF_TERMS = write(
    "order search",
    "DELETE FROM search_terms_by_order USING TIMESTAMP :at WHERE order_id = :order_id AND kind = :kind",
)


def anonymize_order(order: Order, now: datetime) -> None:
    """Remove the person from an order and its copies; a second call finishes an interrupted one.

    `now` is in UTC. Raises OrderChanged if another write was faster, CassandraUnavailable.
    """
    if not order.is_erased:
        _remove_from_email_list(order)
        _remove_search_terms(order)
        release_tracking_numbers(order)
        outcome = apply_batch(
            *_blanking_statements(order, event_id := new_event_id(order, now)),
            if_lost=applied_if(lambda row: row.event_id == event_id),
        )
        fresh = queries.get_order(order.order_id)
        if fresh is None:
            raise LookupError(f"order {order.order_id} has vanished")
        if not outcome and not fresh.is_erased:
            raise OrderChanged(fresh)
        order = fresh
    write_copies(order)


def _remove_from_email_list(order: Order) -> None:
    key = {"email": email_key(order.email), "year": order.placed_at.astimezone(UTC).year}
    OFF_EMAIL.run(
        **key, placed_at=order.placed_at, order_id=order.order_id, at=copy_timestamp(order) + 1
    )
    year = EMAIL_YEAR_WRITTEN.one(**key)
    if year is None or ANY_WITH_EMAIL.one(**key):
        return
    # With the timestamp of the year's last order: late copies of that order do not restore the row, but a new order does.
    first = (year.written - (series := get_number_series())) // _VERSIONS * _VERSIONS + series
    OFF_EMAIL_YEAR.run(**key, at=first + _VERSIONS - 1)


def _remove_search_terms(order: Order) -> None:
    at = copy_timestamp(order) + 1
    # Also the present terms: a copy that is being written now may not have stored them yet.
    terms = {(row.kind, row.term) for row in TERMS.all(order_id=order.order_id)} | set(
        list_terms(order)
    )
    personal = sorted((kind, term) for kind, term in terms if kind in PERSONAL_KINDS)
    if personal:
        write_batch([off_search_statement(order, *each, at) for each in personal])
    # The list of the terms is deleted last, so that a second run finds them.
    write_batch(
        [OFF_TERMS.bind(order_id=order.order_id, kind=kind, at=at) for kind in PERSONAL_KINDS]
    )


def off_search_statement(
    order: Order, kind: str, term: str, write_timestamp: int
) -> BoundStatement:
    """Return the write that deletes an order's term from the search, as of a timestamp in microseconds."""
    return OFF_SEARCH.bind(
        kind=kind,
        head=find_head(kind, term),
        year=order.placed_at.astimezone(UTC).year,
        term=term,
        placed_at=order.placed_at,
        order_id=order.order_id,
        at=write_timestamp,
    )


def _blanking_statements(order: Order, event_id: UUID) -> Iterable[BoundStatement]:
    yield BLANK_ORDER.bind(
        order_id=order.order_id,
        nobody=None,
        nowhere=None,
        version=order.version + 1,
        seen=order.version,
    )
    erased = make_event(event_id, ERASED, actor="shopper", public=False, board=order.board_column)
    yield event_statement(order.order_id, erased, order.state)
    for event in order.events:
        note = event.note if event.actor == "system" else ""
        details = {name: value for name, value in event.details.items() if name not in _PERSONAL}
        if (note, details) != (event.note, event.details):
            yield BLANK_EVENT.bind(
                order_id=order.order_id,
                event_id=event.event_id,
                note=note,
                details=json.dumps(details),
                kind=event.kind,
            )


def delete_order_lists(user_id: UUID, years: Iterable[int]) -> None:
    """Delete a person's list of orders; the orders stay. Raises CassandraUnavailable."""
    for year in years:
        DELETE_LIST.run(user_id=user_id, year=year)
    DELETE_YEARS.run(user_id=user_id)

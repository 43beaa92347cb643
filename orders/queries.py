"""What the shop reads of orders."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import cached_property
from uuid import UUID

from cassandra.util import datetime_from_uuid1
from moneyed import Money

from accounts.addresses import Address, address
from cassandra_db import QUORUM, Pending, Row, page_key, page_token, read
from catalogue.money import money
from inventory.queries import Allocation, hold_id_for
from orders import states
from orders.delivery import Method
from orders.delivery import method as delivery_method
from orders.tax import TaxPart


@dataclass(frozen=True)
class Event:
    """Something that happened to an order. `actor` is "shopper", "system" or "staff:<user id>:<name>"."""

    event_id: UUID
    kind: str
    actor: str
    note: str
    public: bool
    board_after: str

    @property
    def at(self) -> datetime:
        moment: datetime = datetime_from_uuid1(self.event_id)
        return moment.replace(tzinfo=UTC)

    @property
    def told(self) -> str:
        """What it means, in words for the shopper."""
        return "Ordered" if self.kind == "placed" else states.MOVES[self.kind].told if self.kind in states.MOVES else ""

    @property
    def label(self) -> str:
        """What it is, in a word for staff."""
        return self.kind.replace("_", " ").capitalize()


@dataclass(frozen=True)
class Item:
    """A line of an order, as it was when it was placed. Prices include tax."""

    line_number: int
    product_id: UUID
    variant_id: UUID
    sku: str
    name: str
    slug: str
    options: dict[str, str]
    picture: str
    unit_price: Money
    quantity: int
    line_total: Money
    tax_class: str

    @property
    def label(self) -> str:
        """The name with what was chosen: "Mug, olive"."""
        return ", ".join([self.name, *(value.lower() for value in self.options.values())])


@dataclass(frozen=True)
class Order:
    """An order and its history, the newest event first. total = subtotal + delivery - discount; `tax` is included."""

    order_id: UUID
    number: str
    owner_id: UUID
    user_id: UUID | None
    email: str
    name: str
    state: str
    payment: str
    fulfilment: str
    version: int
    placed_at: datetime
    pay_until: datetime
    subtotal: Money
    delivery: Money
    discount: Money
    total: Money
    tax: Money
    taxes: tuple[TaxPart, ...]
    item_count: int
    country: str
    delivery_address: Address
    billing_address: Address
    delivery_method: str
    first_item_name: str
    first_item_picture: str
    cart_id: UUID | None
    allocated: str
    fingerprint: str
    payment_id: UUID | None
    events: tuple[Event, ...]

    @property
    def packed(self) -> bool:
        return self.fulfilment == "unfulfilled" and any(event.kind == "packed" for event in self.events)

    @property
    def word(self) -> str:
        """The status in a word for the shopper."""
        return states.word(self)

    @property
    def column(self) -> str:
        """The key of the board's column in which it stands."""
        return states.board_column(self)

    @property
    def column_label(self) -> str:
        return states.COLUMNS[self.column]

    @property
    def waits_for_payment(self) -> bool:
        return self.state == states.PENDING

    @property
    def was_paid(self) -> bool:
        return self.payment in ("paid", "partially_refunded", "refunded")

    @property
    def method(self) -> Method:
        return delivery_method(self.country, self.delivery_method)

    @cached_property
    def history(self) -> tuple[Event, ...]:
        """What the shopper may read of the history, the newest first."""
        # What staff write on a move is for staff; the shop's own notes are for the shopper.
        return tuple(
            event if event.actor == "system" else replace(event, note="") for event in self.events if event.public
        )

    @property
    def changed_at(self) -> datetime:
        """When something happened to it last (a note is nothing)."""
        return next((event.at for event in self.events if event.kind != "note"), self.placed_at)

    def allocations(self, items: Iterable[Item]) -> tuple[Allocation, ...]:
        """Return which warehouse keeps, or has sent, how many units of each line."""
        of = {item.line_number: item for item in items}
        kept = json.loads(self.allocated)
        take = kept.pop("take")
        return tuple(
            Allocation(
                line,
                of[line].product_id,
                of[line].variant_id,
                place,
                units,
                hold_id_for(self.order_id, line, of[line].variant_id, place, take),
            )
            for place, lines in kept.items()
            for line, units in lines
        )


# Q12, Q14: an order with its events; the header stands in every row.
ORDER = read(
    "Q12",
    """SELECT order_id, event_id, number, owner_id, user_id, email, name, state, payment, fulfilment, version, placed_at,
              pay_until, currency, subtotal, delivery, discount, total, tax, taxes, item_count, country,
              delivery_address, billing_address, delivery_method, first_item_name, first_item_picture, cart_id,
              allocations, fingerprint, payment_id, kind, actor, note, public, board_after
       FROM orders WHERE order_id = :order_id""",
    consistency=QUORUM,
)


def order_started(order_id: UUID) -> Pending:
    """Start reading an order, for `order_in`."""
    return ORDER.start(order_id=order_id)


def order(order_id: UUID) -> Order | None:
    """Return the order with its history, or None. Raises CassandraUnavailable."""
    return order_in(order_started(order_id).rows())


def order_in(rows: Sequence[Row]) -> Order | None:
    """Return the rows of Q12 as an order; None for a checkout that is not one (yet)."""
    if not rows or rows[0].number is None:
        return None
    head = rows[0]
    currency = head.currency
    return Order(
        order_id=head.order_id,
        number=head.number,
        owner_id=head.owner_id,
        user_id=head.user_id,
        email=head.email,
        name=head.name,
        state=head.state,
        payment=head.payment,
        fulfilment=head.fulfilment,
        version=head.version,
        placed_at=head.placed_at,
        pay_until=head.pay_until,
        subtotal=money(head.subtotal, currency),
        delivery=money(head.delivery, currency),
        discount=money(head.discount, currency),
        total=money(head.total, currency),
        tax=money(head.tax, currency),
        taxes=tuple(
            TaxPart(Decimal(part["rate"]), money(part["net"], currency), money(part["tax"], currency))
            for part in json.loads(head.taxes)
        ),
        item_count=head.item_count,
        country=head.country,
        delivery_address=address(head.delivery_address or {}),
        billing_address=address(head.billing_address or {}),
        delivery_method=head.delivery_method,
        first_item_name=head.first_item_name,
        first_item_picture=head.first_item_picture,
        cart_id=head.cart_id,
        allocated=head.allocations,
        fingerprint=head.fingerprint,
        payment_id=head.payment_id,
        events=tuple(_event(row) for row in rows if row.event_id is not None),
    )


def _event(row: Row) -> Event:
    return Event(row.event_id, row.kind, row.actor, row.note or "", bool(row.public), row.board_after or "")


# Q12: which order a number names.
ORDER_ID = read("Q12", "SELECT order_id FROM order_ids_by_number WHERE number = :number")


def order_by_number(number: str) -> Order | None:
    """Return the order with this number, as `orders.numbers.tidied` writes it, or None. Raises CassandraUnavailable."""
    row = ORDER_ID.one(number=number) if number else None  # an empty key is an error to Cassandra
    return order(row.order_id) if row else None


# Q13: an order's items.
ITEMS = read(
    "Q13",
    """SELECT line_number, product_id, variant_id, sku, name, slug, options, picture, unit_price, quantity, line_total,
              tax_class FROM order_items WHERE order_id = :order_id""",
    consistency=QUORUM,
)


def items_started(order_id: UUID) -> Pending:
    """Start reading an order's items, for `items_in`."""
    return ITEMS.start(order_id=order_id)


def items(order: Order) -> tuple[Item, ...]:
    """Return the order's lines. Raises CassandraUnavailable."""
    return items_in(order, items_started(order.order_id).rows())


def items_in(order: Order, rows: Iterable[Row]) -> tuple[Item, ...]:
    """Return the rows of Q13 as lines of the order."""
    currency = order.total.currency.code
    return tuple(
        Item(
            row.line_number,
            row.product_id,
            row.variant_id,
            row.sku,
            row.name,
            row.slug,
            dict(row.options or {}),
            row.picture,
            money(row.unit_price, currency),
            row.quantity,
            money(row.line_total, currency),
            row.tax_class,
        )
        for row in rows
    )


@dataclass(frozen=True)
class Attempt:
    """One try to pay an order. state: started, paid, declined, failed, refunded."""

    payment_id: UUID
    gateway: str
    reference: str
    amount: Money
    state: str
    started_at: datetime


PAYMENTS = read(
    "Q12",
    """SELECT payment_id, gateway, reference, amount, currency, state, started_at
       FROM payments WHERE order_id = :order_id""",
)


def attempts(order_id: UUID) -> tuple[Attempt, ...]:
    """Return the tries to pay the order, the first one first. Raises CassandraUnavailable."""
    return attempts_in(PAYMENTS.all(order_id=order_id))


def attempts_in(rows: Iterable[Row]) -> tuple[Attempt, ...]:
    """Return rows of `payments` as tries, the first one first."""
    found = (
        Attempt(
            row.payment_id, row.gateway, row.reference or "", money(row.amount, row.currency), row.state, row.started_at
        )
        for row in rows
    )
    return tuple(sorted(found, key=lambda attempt: (attempt.started_at, attempt.payment_id)))


@dataclass(frozen=True)
class Listed:
    """An order in a person's list."""

    order_id: UUID
    number: str
    placed_at: datetime
    word: str
    total: Money
    item_count: int
    first_item_name: str
    first_item_picture: str


# Q11: a person's orders of a year, the newest first.
BY_USER = read(
    "Q11",
    """SELECT order_id, number, placed_at, word, total, currency, item_count, first_item_name, first_item_picture
       FROM orders_by_user WHERE user_id = :user_id AND year = :year""",
)


def orders_of(user_id: UUID, years: Iterable[int]) -> dict[int, list[Listed]]:
    """Return a person's orders by year, the newest first, read side by side; years without any are left out.

    Raises CassandraUnavailable.
    """
    reading = {year: BY_USER.start(user_id=user_id, year=year) for year in sorted(set(years), reverse=True)}
    found = {year: [_listed(row) for row in pending.rows()] for year, pending in reading.items()}
    return {year: listed for year, listed in found.items() if listed}


def _listed(row: Row) -> Listed:
    return Listed(
        row.order_id,
        row.number,
        row.placed_at,
        row.word,
        money(row.total, row.currency),
        row.item_count,
        row.first_item_name,
        row.first_item_picture,
    )


@dataclass(frozen=True)
class Ticket:
    """An order on the staff's board."""

    order_id: UUID
    number: str
    placed_at: datetime
    name: str
    email: str
    country: str
    total: Money
    item_count: int
    payment: str
    fulfilment: str
    version: int
    status: str


@dataclass(frozen=True)
class Count:
    """How many orders stand in a column: exact up to 500."""

    number: int
    more: bool = False

    def __str__(self) -> str:
        return f"{self.number}+" if self.more else str(self.number)


COUNTED = 500
# How many days are read side by side.
_AT_ONCE = 16
_LONG_AGO, _FIRST_ID = datetime(1970, 1, 1, tzinfo=UTC), UUID(int=0)
# From those columns on, orders only pile up: the newest are of interest there.
_NEWEST_FIRST = ("done", "cancelled")

# Q15: the days on which a column has orders.
DAYS = read("Q15", "SELECT order_date FROM order_days_by_status WHERE status = :status")
_TICKET = """SELECT order_id, number, placed_at, name, email, country, total, currency, item_count, payment, fulfilment,
                    version FROM orders_by_status WHERE status = :status AND order_date = :day"""
# Q15: a day's orders in a column, from a place on.
OLDEST_FIRST = read(
    "Q15",
    f"{_TICKET} AND (placed_at, order_id) > (:placed_at, :order_id) ORDER BY placed_at ASC, order_id ASC LIMIT :most",
)
NEWEST_FIRST = read("Q15", f"{_TICKET} AND (placed_at, order_id) < (:placed_at, :order_id) LIMIT :most")
IDS = read("Q15", "SELECT order_id FROM orders_by_status WHERE status = :status AND order_date = :day LIMIT :most")


def days(status: str) -> list[date]:
    """Return the days on which a column has, or had until a while ago, orders; the oldest first."""
    return [row.order_date.date() for row in DAYS.all(status=status)]


def board(status: str, after: str = "", limit: int = 20) -> tuple[list[Ticket], str]:
    """Return a column's orders over all days, the oldest first, and the token of the next page ('' at the end).

    In the columns that only grow (done, cancelled) the newest come first. `after` is such a token.
    Raises BadPageToken, CassandraUnavailable.
    """
    newest = status in _NEWEST_FIRST
    of = f"Q15:{status}"
    place = page_key(after, of) if after else None
    standing = sorted(days(status), reverse=newest)
    if place:
        first = place[0].date()
        standing = [day for day in standing if (day <= first if newest else day >= first)]
    found: list[Row] = []
    for start in range(0, len(standing), _AT_ONCE):
        reading = [_day_started(status, day, place, newest, limit + 1) for day in standing[start : start + _AT_ONCE]]
        found += [row for pending in reading for row in pending.rows()]
        if len(found) > limit:
            break
    tickets = [_ticket(row, status) for row in found[:limit]]
    more = len(found) > limit
    return tickets, page_token([tickets[-1].placed_at, tickets[-1].order_id], of) if more else ""


def _day_started(status: str, day: date, place: list[datetime | UUID] | None, newest: bool, most: int) -> Pending:
    last = datetime(9999, 1, 1, tzinfo=UTC), UUID(int=2**128 - 1)
    placed_at, order_id = place or (last if newest else (_LONG_AGO, _FIRST_ID))
    statement = NEWEST_FIRST if newest else OLDEST_FIRST
    return statement.start(status=status, day=day, placed_at=placed_at, order_id=order_id, most=most)


def _ticket(row: Row, status: str) -> Ticket:
    return Ticket(
        row.order_id,
        row.number,
        row.placed_at,
        row.name,
        row.email,
        row.country,
        money(row.total, row.currency),
        row.item_count,
        row.payment,
        row.fulfilment,
        row.version,
        status,
    )


def board_counts() -> dict[str, Count]:
    """Return how many orders stand in each open column, exact up to 500. Raises CassandraUnavailable."""
    reading = {status: DAYS.start(status=status) for status in states.OPEN_COLUMNS}
    standing = {status: [row.order_date.date() for row in pending.rows()] for status, pending in reading.items()}
    numbers = dict.fromkeys(standing, 0)
    for wave in _waves(standing):
        asked = [
            (status, IDS.start(status=status, day=day, most=COUNTED + 1))
            for status, day in wave
            if numbers[status] <= COUNTED
        ]
        for status, pending in asked:
            numbers[status] += len(pending.rows())
    return {status: Count(min(number, COUNTED), number > COUNTED) for status, number in numbers.items()}


def _waves(standing: dict[str, list[date]]) -> Iterator[list[tuple[str, date]]]:
    """Yield the days of all columns, some of each at a time."""
    longest = max(map(len, standing.values()), default=0)
    for start in range(0, longest, _AT_ONCE):
        yield [(status, day) for status, on in standing.items() for day in on[start : start + _AT_ONCE]]


# What the worker has to look after.
TO_SETTLE = read("Q12", "SELECT order_id FROM orders_to_settle WHERE minute = :minute")


def to_settle(minutes: Sequence[datetime]) -> dict[datetime, list[UUID]]:
    """Return the orders that may owe something, by minute. Raises CassandraUnavailable."""
    reading = {minute: TO_SETTLE.start(minute=minute) for minute in minutes}
    return {minute: [row.order_id for row in rows] for minute, pending in reading.items() if (rows := pending.rows())}

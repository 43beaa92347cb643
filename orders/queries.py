"""What the shop reads of orders."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import cached_property
from uuid import UUID

from moneyed import Money

from accounts.addresses import Address, address
from cassandra_db import QUORUM, Pending, Row, page_key, page_token, read
from catalogue import words
from inventory.queries import Allocation, hold_id_for
from mail.addresses import email_key
from orders import balance, parcels, returns, states
from orders.events import Event as Event
from orders.parcels import Content, Parcel
from orders.returns import Return
from payments.gateways import BY_HAND, TRANSFER
from pricing.delivery import Method
from pricing.delivery import method as delivery_method
from pricing.money import minor, money
from pricing.quotes import Discount, added_by_line
from pricing.shares import share, spread
from pricing.tax import TaxPart


@dataclass(frozen=True)
class Item:
    """A line of an order, as it was when it was placed (Order.lines has it as it is now). Prices include tax, unless there is `tax_added`."""

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
    discount: Money  # what of the order's discount is this line's
    tax_added: Money  # its share of the tax, where that is added
    tax_class: str

    @property
    def label(self) -> str:
        """The name with what was chosen: "Mug, olive"."""
        return words.label(self.name, self.options)

    @property
    def paid(self) -> Money:
        """What the line comes to in the end: less its discount, with its tax."""
        return self.line_total - self.discount + self.tax_added

    def paid_for(self, units: int, before: int = 0) -> Money:
        """Return what `units` of it came to, when `before` of them have been accounted for already.

        However a line is cut into parts, they add up to `paid` (pricing.shares.share). Raises ValueError for more
        units than there are.
        """
        return money(share(minor(self.paid), self.quantity, units, before), self.paid.currency.code)

    def less(self, quantity: int) -> Item:
        """Return the line with fewer units, and their share of its discount and its tax."""
        currency = self.line_total.currency.code
        return replace(
            self,
            quantity=quantity,
            line_total=self.unit_price * quantity,
            discount=money(share(minor(self.discount), self.quantity, quantity, 0), currency),
            tax_added=money(share(minor(self.tax_added), self.quantity, quantity, 0), currency),
        )


def discounted(lines: tuple[Item, ...], discount: Money) -> tuple[Item, ...]:
    """Return lines with so much off all of them, in proportion to what is off them now; none has more off than that."""
    off = [minor(line.discount) for line in lines]
    if minor(discount) >= sum(off):
        return lines
    currency = discount.currency.code
    return tuple(
        replace(line, discount=money(part, currency))
        for line, part in zip(lines, spread(minor(discount), off), strict=True)
    )


@dataclass(frozen=True)
class Order:
    """An order and its history, the newest event first. total = subtotal + delivery + tax_added - discount."""

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
    payment_method: str
    captured: Money
    refunded: Money
    voucher: str
    discounts: tuple[Discount, ...]
    events: tuple[Event, ...]

    @property
    def tax_added(self) -> Money:
        """The tax on top of the prices; nothing where they include it. `tax` is in the total in either case."""
        return self.total - (self.subtotal + self.delivery - self.discount)

    @cached_property
    def kept(self) -> dict[str, dict[int, int]]:
        """How many units of each line a warehouse keeps for it, or has sent."""
        found: dict[str, dict[int, int]] = {}
        for house, lines in json.loads(self.allocated).items():
            if house != "take":
                there = found.setdefault(house, {})
                for line, units in lines:
                    there[line] = there.get(line, 0) + units
        return found

    @cached_property
    def quantities(self) -> dict[int, int]:
        """How many units of each line it has now."""
        return parcels.by_line(self.kept)

    def lines(self, items: Iterable[Item]) -> tuple[Item, ...]:
        """Return its items as they are after all changes; those of which nothing is left are left out."""
        there = self.quantities
        left = tuple(
            item if there[item.line_number] == item.quantity else item.less(there[item.line_number])
            for item in items
            if there.get(item.line_number)
        )
        if not any(event.kind == "changed" and event.details["lines"] for event in self.events):
            return left
        # A change may have left less of the discount than the lines that stayed had of it (operations.changing).
        lines = discounted(left, self.discount)
        return lines if lines == left or not minor(self.tax_added) else self._taxed(lines)

    def _taxed(self, lines: tuple[Item, ...]) -> tuple[Item, ...]:
        """Return lines with their share of the tax that is added."""
        taxed = [*((line.tax_class, line.line_total - line.discount) for line in lines), ("standard", self.delivery)]
        shares = added_by_line(taxed, self.taxes, self.country)
        return tuple(replace(line, tax_added=added) for line, added in zip(lines, shares, strict=False))

    @cached_property
    def _parcels(self) -> tuple[Parcel, ...]:
        return parcels.folded(self.events, self.kept)

    def parcels(self, items: Iterable[Item] = ()) -> tuple[Parcel, ...]:
        """Return its parcels in the order of their packing, with the goods in them where the items are given."""
        of = {item.line_number: item for item in items}
        return tuple(
            replace(each, contents=tuple(Content(of[line], units) for line, units in each.lines.items() if line in of))
            for each in self._parcels
        )

    @cached_property
    def left_to_pack(self) -> dict[str, dict[int, int]]:
        """What is still to be packed, by warehouse and line."""
        return parcels.left(self.kept, self._parcels)

    @cached_property
    def returns(self) -> tuple[Return, ...]:
        """What was, or is being, sent back, the oldest first."""
        return returns.folded(self.events)

    def returnable(self, now: datetime | None = None) -> dict[int, int]:
        """Return the units that may be sent back by `now`, by line; without it the days are not counted."""
        return returns.returnable(self._parcels, self.returns, now)

    @property
    def packed(self) -> bool:
        """Whether a parcel stands packed."""
        return any(each.state == parcels.PACKED for each in self._parcels)

    @property
    def to_pack(self) -> bool:
        """Whether something is still to be packed."""
        return bool(self.left_to_pack)

    @property
    def under_way(self) -> bool:
        """Whether a parcel is on its way."""
        return any(each.under_way for each in self._parcels)

    @property
    def late(self) -> bool:
        """Whether it has been to pack for too long, since it was confirmed or resumed."""
        since = ("late", "held", "resumed", *states.CONFIRMING)
        return next((event.kind == "late" for event in self.events if event.kind in since), False)

    @property
    def to_pack_since(self) -> datetime:
        """When it was confirmed, or resumed; UTC."""
        since = ("resumed", *states.CONFIRMING)
        return next((event.at for event in self.events if event.kind in since), self.placed_at)

    @property
    def returning(self) -> bool:
        """Whether something of it is being sent back."""
        return any(each.open for each in self.returns)

    @property
    def owed_by_hand(self) -> bool:
        """Whether money is to go back that staff have to send themselves."""
        return self.payment_method in BY_HAND and bool(balance.owed(self))

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

    def is_over(self, now: datetime) -> bool:
        """Tell whether it has ended without payment, or is about to."""
        return self.state in (states.CANCELLED, states.EXPIRED) or (
            self.state == states.PENDING and self.pay_until <= now
        )

    @property
    def keeps_cart(self) -> bool:
        """Whether what was ordered is still in its cart: until it is paid, unless that takes days."""
        return self.state == states.PENDING and self.payment_method != TRANSFER

    @property
    def erased(self) -> bool:
        """Whether its person was erased: then it is nobody's, and a page for staff alone."""
        return any(event.kind == states.ERASED for event in self.events)

    @property
    def can_be_cancelled(self) -> bool:
        """Whether its shopper may still call it off: until it is packed."""
        return states.MOVES["cancelled"].allowed(self)

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
                self.order_id,
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
              allocations, fingerprint, payment_id, payment_method, captured, refunded, voucher, discounts, kind, actor,
              note, public, board_after, details, request_id
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
        payment_method=head.payment_method or "card",
        captured=money(head.captured or 0, currency),
        refunded=money(head.refunded or 0, currency),
        voucher=head.voucher or "",
        discounts=tuple(
            Discount(part["name"], money(part["amount"], currency)) for part in json.loads(head.discounts or "[]")
        ),
        events=tuple(_event(row) for row in rows if row.event_id is not None),
    )


def _event(row: Row) -> Event:
    return Event(
        row.event_id,
        row.kind,
        row.actor,
        row.note or "",
        bool(row.public),
        row.board_after or "",
        json.loads(row.details or "{}"),
        row.request_id,
    )


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
              discount, tax_added, tax_class FROM order_items WHERE order_id = :order_id""",
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
            money(row.discount or 0, currency),
            money(row.tax_added or 0, currency),
            row.tax_class,
        )
        for row in rows
    )


@dataclass(frozen=True)
class Attempt:
    """One try to pay an order. state: started, authorized, captured, declined, failed, voided, refunded."""

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


_FIRST_ID = UUID(int=0)


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


_LISTED = """SELECT order_id, number, placed_at, word, total, currency, item_count, first_item_name, first_item_picture
                    FROM orders_by_user WHERE user_id = :user_id AND year = :year"""
# Q11: a person's orders of a year, the newest first; from a place on, and not before a day.
BY_USER = read("Q11", _LISTED)
BY_USER_SINCE = read(
    "Q11",
    f"{_LISTED} AND (placed_at, order_id) >= (:since, :first) AND (placed_at, order_id) < (:before, :order_id) LIMIT :most",
)
# Q11: the years in which a person has ordered.
YEARS = read("Q11", "SELECT year FROM order_years_by_user WHERE user_id = :user_id")
# Q15: the orders that were placed with an e-mail address.
BY_EMAIL = read("Q15", "SELECT order_id FROM orders_by_email WHERE email = :email")


def orders_of(user_id: UUID, years: Iterable[int]) -> dict[int, list[Listed]]:
    """Return a person's orders by year, the newest first, read side by side; years without any are left out.

    Raises CassandraUnavailable.
    """
    reading = {year: BY_USER.start(user_id=user_id, year=year) for year in sorted(set(years), reverse=True)}
    found = {year: [_listed(row) for row in pending.rows()] for year, pending in reading.items()}
    return {year: listed for year, listed in found.items() if listed}


def years_of(user_id: UUID) -> list[int]:
    """Return the years in which a person has ordered, the last one first. Raises CassandraUnavailable."""
    return [row.year for row in YEARS.all(user_id=user_id)]


def orders_between(
    user_id: UUID, years: Iterable[int], since: datetime, before: datetime, after: str = "", limit: int = 20
) -> tuple[list[Listed], str]:
    """Return a person's orders of these years placed from `since` on and before `before`, the newest first.

    With them a token for the next page, or ''. Raises BadPageToken, CassandraUnavailable.
    """
    of = f"Q11:{user_id}:{since.isoformat()}:{before.isoformat()}"
    place, order_id = page_key(after, of) if after else (before, _FIRST_ID)
    found: list[Listed] = []
    # The first day's year and the last one's lie within; an order stands in the year of its day in UTC.
    for year in sorted({year for year in years if since.year <= year <= place.year}, reverse=True):
        rows = BY_USER_SINCE.all(
            user_id=user_id,
            year=year,
            since=since,
            first=_FIRST_ID,
            before=place,
            order_id=order_id,
            most=limit + 1 - len(found),
        )
        found += [_listed(row) for row in rows]
        if len(found) > limit:
            break
    more = len(found) > limit
    found = found[:limit]
    return found, page_token([found[-1].placed_at, found[-1].order_id], of) if more else ""


def order_ids_by_email(email: str) -> list[UUID]:
    """Return the orders that were placed with an e-mail address, the newest first. Raises CassandraUnavailable."""
    return [row.order_id for row in BY_EMAIL.all(email=email_key(email))]


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
_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)
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

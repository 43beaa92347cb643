"""What the staff's screens put together from the orders."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from accounts.models import User
from orders import queries, states
from orders.queries import Count, Event, Order, Ticket

PAGE_LENGTH = 25
LATE_AFTER = timedelta(hours=48)
# Columns that only grow: they are not counted, and show the newest first.
GROWING = frozenset(states.COLUMNS) - frozenset(states.OPEN_COLUMNS)

# A word and its tone: how it looks (docs/style-guide.md, badges).
PAYMENTS = {
    "unpaid": ("Not paid", "warn"),
    "authorized": ("Authorized", "calm"),
    "paid": ("Paid", "good"),
    "partially_refunded": ("Partly refunded", "calm"),
    "refunded": ("Refunded", "calm"),
    "voided": ("Nothing to pay", "plain"),
    "failed": ("Payment failed", "bad"),
}
FULFILMENTS = {
    "unfulfilled": "Not sent",
    "partially_shipped": "Partly sent",
    "shipped": "On its way",
    "delivered": "Delivered",
}
COLUMN_TONES = {
    "to_pay": "warn",
    "payment_problem": "bad",
    "to_pack": "accent",
    "partly_shipped": "calm",
    "shipped": "calm",
    "on_hold": "warn",
    "done": "good",
}
EVENTS = {
    "placed": "Order placed",
    "paid": "Paid",
    "paid_late": "Paid after its time",
    "paid_too_late": "Paid after its goods were sold",
    "payment_failed": "Payment failed",
    "expired": "Not paid in time",
    "packed": "Packed",
    "shipped": "Shipped",
    "delivered": "Delivered",
    "held": "Put on hold",
    "resumed": "Resumed",
    "closed": "Closed",
    "cancelled": "Cancelled",
    "refunded": "Refunded",
    "note": "Note",
}
ACTORS = {"shopper": "the customer", "system": "the shop"}
_STAFF = "staff:"


@dataclass(frozen=True)
class Tally:
    """A column of the board, for its tab. `count` is None where nobody counts."""

    column: str
    label: str
    count: Count | None
    current: bool


@dataclass(frozen=True)
class Row:
    """An order in the board's list."""

    ticket: Ticket
    late: bool

    @property
    def payment_word(self) -> str:
        return payment_word(self.ticket.payment)

    @property
    def payment_tone(self) -> str:
        return payment_tone(self.ticket.payment)

    @property
    def fulfilment_word(self) -> str:
        return FULFILMENTS.get(self.ticket.fulfilment, self.ticket.fulfilment)


@dataclass(frozen=True)
class Board:
    """The board as it stands, with one of its columns opened. `after` and `next` are page tokens."""

    column: str
    tallies: tuple[Tally, ...]
    rows: tuple[Row, ...]
    after: str
    next: str
    now: datetime

    @property
    def label(self) -> str:
        return states.COLUMNS[self.column]

    @property
    def newest_first(self) -> bool:
        return self.column in GROWING

    @property
    def fingerprint(self) -> str:
        """Tells whether a page that shows the board shows it as it is: the same orders, numbers and, by the minute, ages."""
        shown = [
            *(f"{tally.column}={tally.count}" for tally in self.tallies),
            *(f"{row.ticket.order_id}:{row.ticket.version}:{row.late}" for row in self.rows),
            self.next and "more",
            self.now.strftime("%H:%M"),
        ]
        return hashlib.sha256("\n".join(shown).encode()).hexdigest()[:16]


def board(column: str, after: str, now: datetime) -> Board:
    """Return the board with this column opened at a page token. Raises BadPageToken, CassandraUnavailable."""
    tickets, following = queries.board(column, after, PAGE_LENGTH)
    counts = queries.board_counts()
    tallies = tuple(Tally(key, label, counts.get(key), key == column) for key, label in states.COLUMNS.items())
    rows = tuple(Row(ticket, _late(ticket, now)) for ticket in tickets)
    return Board(column, tallies, rows, after, following, now)


def _late(ticket: Ticket, now: datetime) -> bool:
    return ticket.status == "to_pack" and now - ticket.placed_at > LATE_AFTER


def payment_word(payment: str) -> str:
    """Return an order's payment in words."""
    return PAYMENTS.get(payment, (payment, ""))[0]


def payment_tone(payment: str) -> str:
    """Return how that word looks."""
    return PAYMENTS.get(payment, ("", "plain"))[1]


@dataclass(frozen=True)
class HistoryLine:
    """An event of an order, in words for staff."""

    words: str
    actor: str
    at: datetime
    note: str
    public: bool  # whether the shopper is shown the event, and
    note_public: bool  # its note


def history(order: Order) -> tuple[HistoryLine, ...]:
    """Return the whole history of an order, private notes included, the newest first."""
    return tuple(_line(event) for event in order.events)


def _line(event: Event) -> HistoryLine:
    words = EVENTS.get(event.kind, event.label)
    return HistoryLine(words, who(event), event.at, event.note, event.public, event.public and event.actor == "system")


def who(event: Event) -> str:
    """Return who did it, in words: for one of the staff the name that was theirs then."""
    if event.actor.startswith(_STAFF):
        return event.actor.split(":", 2)[2]
    return ACTORS.get(event.actor, event.actor)


def actor(user: User) -> str:
    """Return what an order's history keeps of a member of staff who does something. Anybody may be called "system"."""
    return f"{_STAFF}{user.pk}:{user.name}"


def address_lines(order: Order) -> tuple[Sequence[str], Sequence[str]]:
    """Return the delivery address and, if it is another one, the invoice's, line by line."""
    delivery, billing = (
        [
            line
            for line in (
                each.name,
                each.street,
                each.street2,
                f"{each.postal_code} {each.city}".strip(),
                each.country_name,
                each.phone,
            )
            if line
        ]
        for each in (order.delivery_address, order.billing_address)
    )
    return delivery, billing if billing != delivery else []


@dataclass(frozen=True)
class OrderPage:
    """All that an order's page shows."""

    order: Order
    items: tuple[queries.Item, ...]
    attempts: tuple[queries.Attempt, ...]
    now: datetime


def order_page(number: str) -> OrderPage | None:
    """Return what is known of the order with this number, or None. Raises CassandraUnavailable."""
    found = queries.order_by_number(number)
    return whole(found) if found else None


def whole(order: Order) -> OrderPage:
    """Return an order with its items and payments, read side by side. Raises CassandraUnavailable."""
    items, attempts = queries.items_started(order.order_id), queries.PAYMENTS.start(order_id=order.order_id)
    return OrderPage(
        order, queries.items_in(order, items.rows()), queries.attempts_in(attempts.rows()), datetime.now(UTC)
    )

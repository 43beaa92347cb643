"""What the staff's screens put together from the orders."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from accounts.models import User
from adminpanel.order_forms import AnyForm, line_contents
from orders import parcels, queries, returns, states
from orders.carriers import tracking_url
from orders.entities import BoardEntry, CappedCount, Order, PaymentAttempt
from orders.events import Event
from orders.items import Item
from orders.parcels import ItemUnits, Parcel
from orders.refunds import Refund
from orders.returns import Return
from payments.gateways import MANUAL_METHODS
from pricing.money import from_minor_units
from pricing.templatetags.money import format_money

PAGE_LENGTH = 25
# Columns that only grow: they are not counted, and show the newest first.
GROWING = frozenset(states.BOARD_COLUMNS) - frozenset(states.OPEN_BOARD_COLUMNS)

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
    "late": "bad",
    "on_hold": "warn",
    "returns_waiting": "warn",
    "done": "good",
}
EVENTS = {
    "placed": "Order placed",
    "authorized": "Payment approved",
    "confirmed": "Confirmed",
    "captured": "Payment received",
    "capture_refused": "The bank did not pay",
    "voided": "Payment let go",
    "paid": "Paid",
    "paid_late": "Paid after its time",
    "paid_too_late": "Paid too late: the money goes back",
    "payment_failed": "Payment failed",
    "expired": "Not paid in time",
    "packed": "Packed",
    "shipped": "Shipped",
    "unpacked": "Taken apart",
    "delivered": "Delivered",
    "lost": "Lost",
    "allocated": "Goods have come for it",
    "late": "To pack for over 48 hours",
    "changed": "Changed",
    "return_requested": "Return asked for",
    "return_approved": "Return agreed to",
    "return_rejected": "Return refused",
    "return_received": "Return received",
    "refund_owed": "Refund decided",
    "held": "Put on hold",
    "resumed": "Resumed",
    "closed": "Closed",
    "cancelled": "Cancelled",
    "refunded": "Refunded",
    "erased": "The customer was erased",
    "note": "Note",
}
ACTORS = {"shopper": "the customer", "system": "the shop"}
_STAFF = "staff:"


@dataclass(frozen=True)
class Tally:
    """A column of the board, for its tab. `count` is None where orders are not counted."""

    column: str
    label: str
    count: CappedCount | None
    is_current: bool


@dataclass(frozen=True)
class BoardRow:
    """An order in the board's list."""

    ticket: BoardEntry
    is_late: bool

    @property
    def payment_label(self) -> str:
        return payment_label(self.ticket.payment)

    @property
    def payment_tone(self) -> str:
        return payment_tone(self.ticket.payment)

    @property
    def fulfilment_label(self) -> str:
        return FULFILMENTS.get(self.ticket.fulfilment, self.ticket.fulfilment)


@dataclass(frozen=True)
class Board:
    """The board as it stands, with one of its columns opened. `after` and `next` are page tokens."""

    column: str
    tallies: tuple[Tally, ...]
    rows: tuple[BoardRow, ...]
    after: str
    next: str
    now: datetime

    @property
    def label(self) -> str:
        return states.BOARD_COLUMNS[self.column]

    @property
    def is_newest_first(self) -> bool:
        return self.column in GROWING

    @property
    def fingerprint(self) -> str:
        """By this a page can see whether it shows the board as it is: the same orders, numbers and, by the minute, ages."""
        parts = [
            *(f"{tally.column}={tally.count}" for tally in self.tallies),
            *(f"{row.ticket.order_id}:{row.ticket.version}:{row.is_late}" for row in self.rows),
            self.next and "more",
            self.now.strftime("%H:%M"),
        ]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def get_board(column: str, after: str, now: datetime) -> Board:
    """Return the board with this column opened at a page token. Raises BadPageToken, CassandraUnavailable."""
    tickets, following = queries.list_board_entries(column, after, PAGE_LENGTH)
    counts = queries.count_board_entries()
    tallies = tuple(
        Tally(key, label, counts.get(key), key == column)
        for key, label in states.BOARD_COLUMNS.items()
    )
    rows = tuple(BoardRow(ticket, _late(ticket, now)) for ticket in tickets)
    return Board(column, tallies, rows, after, following, now)


def _late(ticket: BoardEntry, now: datetime) -> bool:
    return ticket.status == "to_pack" and now - ticket.placed_at > states.LATE_AFTER


def payment_label(payment: str) -> str:
    """Return an order's payment in words."""
    return PAYMENTS.get(payment, (payment, ""))[0]


def payment_tone(payment: str) -> str:
    """Return how that word looks."""
    return PAYMENTS.get(payment, ("", "plain"))[1]


@dataclass(frozen=True)
class HistoryLine:
    """An event of an order, in words for staff."""

    label: str
    actor: str
    at: datetime
    note: str
    is_public: bool  # whether the shopper is shown the event, and
    is_note_public: bool  # its note
    details: str = ""  # which parcel, how much
    request: str = ""  # the beginning of the request's id, by which the log knows it


def staff_history(order: Order) -> tuple[HistoryLine, ...]:
    """Return the whole history of an order, private notes included, the newest first."""
    return tuple(_line(event, order) for event in order.events)


def _line(event: Event, order: Order) -> HistoryLine:
    return HistoryLine(
        event_label(event),
        actor_label(event),
        event.at,
        event.note,
        event.public,
        event.public and (event.actor == "system" or event.kind == "return_rejected"),
        _event_details(event, order),
        event.request_id.hex[:8] if event.request_id else "",
    )


def event_label(event: Event) -> str:
    """Return what has happened, in words for staff."""
    return EVENTS.get(event.kind, event.staff_label)


def _event_details(event: Event, order: Order) -> str:
    details, currency = event.details, order.total.currency.code
    parts = [f"{name} {details[name]}" for name in ("parcel", "return") if details.get(name)]
    if event.kind == "packed":
        parts = [
            f"parcel {each['parcel']} in {each['warehouse']}"
            for each in details.get("parcels") or [details]
            if each
        ]
    parts += [str(details[name]) for name in ("carrier", "tracking", "reason") if details.get(name)]
    if event.kind in ("authorized", "captured", "refund_owed", "refunded") and details.get(
        "amount"
    ):
        parts.insert(0, format_money(from_minor_units(int(details["amount"]), currency)))
    if event.kind == "changed":
        parts = [
            f"{format_money(from_minor_units(details['sums'][name], currency))} {when}"
            for name, when in (("was", "before"), ("total", "now"))
        ]
    return ", ".join(parts)


def actor_label(event: Event) -> str:
    """Return who did it, in words: for one of the staff the name that was theirs then."""
    if event.actor.startswith(_STAFF):
        return event.actor.split(":", 2)[2]
    return ACTORS.get(event.actor, event.actor)


def staff_actor(user: User) -> str:
    """Return the actor that an order's history keeps for a member of staff. Anybody may be called "system"."""
    return f"{_STAFF}{user.pk}:{user.name}"


def address_lines(order: Order) -> tuple[Sequence[str], Sequence[str]]:
    """Return the delivery address and, if it is another one, the invoice's, line by line."""
    delivery, billing = (
        [*each.lines, *filter(None, [each.phone])]
        for each in (order.delivery_address, order.billing_address)
    )
    return delivery, billing if billing != delivery else []


@dataclass(frozen=True)
class OrderPage:
    """All that an order's page shows."""

    order: Order
    items: tuple[Item, ...]
    attempts: tuple[PaymentAttempt, ...]
    now: datetime


def get_order_page(order: Order) -> OrderPage:
    """Return an order with its items and payments, read side by side. Raises CassandraUnavailable."""
    items, attempts = (
        queries.prefetch_items(order.order_id),
        queries.PAYMENTS.start(order_id=order.order_id),
    )
    return OrderPage(
        order,
        queries.items_from_rows(order, items.rows()),
        queries.payment_attempts_from_rows(attempts.rows()),
        datetime.now(UTC),
    )


@dataclass(frozen=True)
class ParcelBox:
    """A parcel on an order's page; `form` is what can be done with it, if anything."""

    parcel: Parcel
    state_label: str
    tone: str
    tracking_url: str
    form: AnyForm | None


@dataclass(frozen=True)
class ReturnBox:
    """A return on an order's page, and what can be done with it: answered or received, and refunded."""

    order_return: Return
    contents: Sequence[ItemUnits]
    state_label: str
    tone: str
    form: AnyForm | None
    refund: AnyForm | None

    @property
    def is_awaiting_answer(self) -> bool:
        return self.order_return.state == returns.REQUESTED


PARCELS = {
    parcels.PACKED: ("Packed", "accent"),
    parcels.SHIPPED: ("On its way", "calm"),
    parcels.DELIVERED: ("Delivered", "good"),
    parcels.LOST: ("Lost", "bad"),
    parcels.CANCELLED: ("Taken apart", "plain"),
}
RETURNS = {
    returns.REQUESTED: ("Waits for an answer", "warn"),
    returns.APPROVED: ("Agreed, on its way to us", "calm"),
    returns.REJECTED: ("Refused", "plain"),
    returns.RECEIVED: ("Received, to be refunded", "warn"),
    returns.REFUNDED: ("Refunded", "good"),
}


def parcel_boxes(
    order: Order, items: Sequence[Item], forms: Mapping[str, AnyForm]
) -> list[ParcelBox]:
    """Return an order's parcels, the first one first; `forms` are those of its page, by their keys."""
    return [
        ParcelBox(
            each,
            *PARCELS[each.state],
            tracking_url(each.carrier, each.tracking),
            forms.get(f"parcel-{each.parcel_id}"),
        )
        for each in order.parcels(items)
    ]


def return_boxes(
    order: Order, items: Sequence[Item], forms: Mapping[str, AnyForm]
) -> list[ReturnBox]:
    """Return an order's returns, the newest first; `forms` are those of its page, by their keys."""
    return [
        ReturnBox(
            each,
            line_contents(items, each.lines),
            *RETURNS[each.state],
            forms.get(f"return-{each.return_id}"),
            forms.get(f"refund-{each.return_id}"),
        )
        for each in reversed(order.returns)
    ]


def manual_refunds(order: Order) -> Sequence[Refund]:
    """Return the refunds that wait for staff to send them: nobody else can."""
    return order.due_refunds if order.payment_method in MANUAL_METHODS else ()

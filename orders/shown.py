"""What an order's page says of its parcels, its returns, its money and its history. Pure; nothing here reads or writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from django.conf import settings
from django.utils import timezone
from moneyed import Money

from inventory.entities import AHEAD
from orders import balance, parcels, returns
from orders.carriers import tracking_url
from orders.entities import Order
from orders.events import Event
from orders.items import Item
from orders.parcels import Content, Parcel
from orders.returns import Return
from orders.states import CANCELLED, CLOSED, CONFIRMED, EXPIRED, MOVES, ON_HOLD, PENDING
from payments.gateways import AT_THE_DOOR, CARD, METHODS, TRANSFER
from pricing.money import money
from pricing.templatetags.money import format_money

# The word for a parcel and the badge that it stands on.
_PARCEL_WORDS = {
    parcels.PACKED: ("Packed", "calm"),
    parcels.SHIPPED: ("On its way", "good"),
    parcels.DELIVERED: ("Delivered", "good"),
    parcels.LOST: ("Lost by the carrier", "bad"),
}
_RETURN_WORDS = {
    returns.REQUESTED: ("We look at it", "warn", "Please send nothing before we have answered."),
    returns.APPROVED: ("Please send it", "warn", ""),
    returns.REJECTED: ("Not possible", "bad", ""),
    returns.RECEIVED: ("Here with us", "calm", "You get your money back within a few days."),
    returns.REFUNDED: ("Money sent back", "good", ""),
}


@dataclass(frozen=True)
class ShownParcel:
    """A parcel as its buyer sees it; `track` is the carrier's page, or ''."""

    parcel: Parcel
    place: int
    word: str
    tone: str
    track: str


@dataclass(frozen=True)
class ShownReturn:
    """A return as its buyer sees it. `said` is what comes next, or why not."""

    back: Return
    contents: tuple[Content, ...]
    word: str
    tone: str
    said: str


@dataclass(frozen=True)
class ShownRefund:
    """Money that goes back; `gone` when it was sent."""

    amount: Money
    reason: str
    gone: bool


@dataclass(frozen=True)
class Happened:
    """A line of the history."""

    event: Event
    told: str
    more: str


def shown_parcels(order: Order, items: Sequence[Item]) -> list[ShownParcel]:
    """Return an order's parcels but those that were taken apart again."""
    there = [each for each in order.parcels(items) if each.state != parcels.CANCELLED]
    return [
        ShownParcel(
            each, place, *_PARCEL_WORDS[each.state], tracking_url(each.carrier, each.tracking)
        )
        for place, each in enumerate(there, 1)
    ]


def to_come(order: Order, items: Sequence[Item]) -> tuple[Content, ...]:
    """Return what is still to be packed, as goods."""
    if order.state in (CANCELLED, EXPIRED, PENDING):
        return ()
    packed = parcels.by_line(parcels.boxed(order.parcels()))
    left = {line: units - packed.get(line, 0) for line, units in order.quantities.items()}
    return contents(items, left)


def waits_for_goods(order: Order) -> bool:
    """Tell whether something of it has still to arrive with us."""
    return any(order.kept.get(AHEAD, {}).values())


def contents(items: Sequence[Item], lines: Mapping[int, int]) -> tuple[Content, ...]:
    """Return units by line number as goods."""
    return tuple(
        Content(item, units) for item in items if (units := lines.get(item.line_number, 0)) > 0
    )


def shown_returns(order: Order, items: Sequence[Item]) -> list[ShownReturn]:
    """Return what was, or is being, sent back, the newest first."""
    found = []
    for back in reversed(order.returns):
        word, tone, said = _RETURN_WORDS[back.state]
        if back.state == returns.APPROVED:
            seller = ", ".join([settings.SELLER["name"], *settings.SELLER["address"]])
            said = f"Put a slip with {order.number} / {back.return_id} into the parcel and send it to {seller}."
        elif back.state == returns.REJECTED:
            said = back.answer
        found.append(ShownReturn(back, contents(items, back.lines), word, tone, said))
    return found


def shown_refunds(order: Order) -> list[ShownRefund]:
    """Return what goes back, the oldest first."""
    open_ones = {each.refund_id for each in order.owed}
    return [
        ShownRefund(each.amount, each.reason, each.refund_id not in open_ones)
        for each in order.refunds
    ]


def way_to_pay(order: Order) -> str:
    """Return the name of the way to pay."""
    method = METHODS.get(order.payment_method)
    return method.name if method else order.payment_method


def to_transfer(order: Order) -> Money | None:
    """Return what is to be transferred to us, None if nothing is."""
    if order.payment_method != TRANSFER or order.state != PENDING:
        return None
    return balance.to_capture(order)


def to_pay_at_the_door(order: Order) -> Money | None:
    """Return what the carrier gets at the door, None if nothing."""
    if order.payment_method != AT_THE_DOOR or order.state not in (CONFIRMED, ON_HOLD, CLOSED):
        return None
    left = balance.to_capture(order)
    return left if left.amount else None


def pays_by_card(order: Order) -> bool:
    """Tell whether it is paid on a bank's page."""
    return order.payment_method == CARD


def may_change(order: Order) -> bool:
    """Tell whether its shopper may take something out of it: until all of it is packed."""
    if order.payment == "authorized" or not MOVES["changed"].allowed(order):
        return False
    boxed = parcels.by_line(parcels.boxed(order.parcels()))
    free = sum(max(0, units - boxed.get(line, 0)) for line, units in order.quantities.items())
    return free > 0 and sum(order.quantities.values()) > 1


def may_change_address(order: Order) -> bool:
    """Tell whether its shopper may have it sent elsewhere: until something of it is packed."""
    return MOVES["changed"].allowed(order) and not parcels.boxed(order.parcels())


def return_until(order: Order) -> date | None:
    """Return the last day on which something of it may be asked to be sent back, None before anything has arrived."""
    arrived = [
        each.delivered_at
        for each in order.parcels()
        if each.delivered_at and each.state == parcels.DELIVERED
    ]
    return (
        timezone.localdate(max(arrived) + timedelta(days=settings.RETURN_DAYS)) if arrived else None
    )


def happened(order: Order) -> list[Happened]:
    """Return the history, the newest first, with what each event was about."""
    several = len(order.parcels()) > 1
    return [
        Happened(event, event.told or "A word from us", _about(order, event, several))
        for event in order.history
    ]


def _about(order: Order, event: Event, several: bool) -> str:
    details = event.details
    said = []
    if several and details.get("parcel"):
        said.append(f"Parcel {details['parcel']}")
    if event.kind == "shipped" and details.get("tracking"):
        said.append(f"{details.get('carrier') or order.method.carrier} {details['tracking']}")
    if event.kind in ("captured", "refunded") and details.get("amount"):
        said.append(format_money(money(int(details["amount"]), order.total.currency.code)))
    return ", ".join(said)


# What makes a page about changing an order an old one; and one about sending things back.
CHANGES = frozenset({"packed", "unpacked", "shipped", "changed", "cancelled", "held", "resumed"})
RETURNS = frozenset({"return_requested", "return_approved", "return_rejected", "return_received"})


def since(order: Order, seen: str, kinds: frozenset[str]) -> list[Event]:
    """Return what of these kinds has happened to an order since the event that a page had seen last, the newest first.

    A page that names no event of this order has seen nothing but its placing.
    """
    news: list[Event] = []
    for event in order.events:
        if event.event_id.hex == seen:
            break
        if event.kind in kinds:
            news.append(event)
    return news


def last_seen(order: Order) -> str:
    """Return what a page remembers of an order, for `since`."""
    return order.events[0].event_id.hex if order.events else ""


def arrives_in(order: Order) -> tuple[date, date]:
    """Return the first and the last day on which it can be expected."""
    return order.method.arrives(_confirmed_at(order))


def _confirmed_at(order: Order) -> datetime:
    return next(
        (
            event.at
            for event in order.events
            if event.kind in ("authorized", "confirmed", "paid_late")
        ),
        order.placed_at,
    )

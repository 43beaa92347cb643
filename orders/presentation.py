"""An order's parcels, returns, money and history, as its page presents them. Nothing here reads or writes orders."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from django.utils.translation import gettext
from moneyed import Money

from inventory.entities import BACKORDER_WAREHOUSE
from orders.carriers import tracking_url
from orders.lifecycle import balance, parcels, returns
from orders.lifecycle.entities import Order
from orders.lifecycle.events import Event
from orders.lifecycle.items import Item
from orders.lifecycle.labels import ORDER_LABELS, customer_label
from orders.lifecycle.parcels import ItemUnits, Parcel
from orders.lifecycle.returns import Return
from orders.lifecycle.states import (
    CANCELLED,
    CLOSED,
    CONFIRMED,
    CONFIRMING_EVENTS,
    EXPIRED,
    ON_HOLD,
    PENDING,
    TRANSITION_RULES,
)
from payments.gateways import METHODS
from payments.methods import CARD, CASH_ON_DELIVERY, TRANSFER
from pricing.money import from_minor_units
from pricing.templatetags.money import format_money
from shop_settings.terms import get_terms


@dataclass(frozen=True)
class ParcelSummary:
    """A parcel as its buyer sees it. `carrier` is '' for pickup, `tracking_url` '' without a tracking page."""

    parcel: Parcel
    number: int
    customer_label: str
    tone: str
    carrier: str
    tracking_url: str


@dataclass(frozen=True)
class ReturnSummary:
    """A return as its buyer sees it. `explanation` says what comes next, or why it was rejected or not refunded."""

    customer_return: Return
    contents: tuple[ItemUnits, ...]
    customer_label: str
    tone: str
    explanation: str


@dataclass(frozen=True)
class RefundSummary:
    """A refund as its buyer sees it."""

    amount: Money
    reason: str
    is_sent: bool


@dataclass(frozen=True)
class CustomerHistoryEntry:
    """An entry of the shopper's history."""

    event: Event
    customer_label: str
    detail: str


def summarize_parcels(order: Order, items: Sequence[Item]) -> list[ParcelSummary]:
    """Return an order's parcels, without unpacked ones."""
    kept_parcels = [each for each in order.parcels(items) if each.state != parcels.CANCELLED]
    found = []
    for number, each in enumerate(kept_parcels, 1):
        carrier = order.find_carrier(each.parcel_id)
        label = customer_label("parcel", each.state, is_pickup=not carrier)
        tone = ORDER_LABELS["parcel"][each.state].customer_tone
        url = tracking_url(each.carrier, each.tracking)
        found.append(ParcelSummary(each, number, label, tone, carrier, url))
    return found


def items_to_pack(order: Order, items: Sequence[Item]) -> tuple[ItemUnits, ...]:
    """Return the units that are still to be packed, including backordered units."""
    if order.state in (CANCELLED, EXPIRED, PENDING):
        return ()
    packed = parcels.units_by_line(parcels.packed_units(order.parcels()))
    left = {line: units - packed.get(line, 0) for line, units in order.quantities.items()}
    return item_units(items, left)


def has_backordered_units(order: Order) -> bool:
    """Return whether units of the order are backordered."""
    return any(order.reserved_units.get(BACKORDER_WAREHOUSE, {}).values())


def item_units(items: Sequence[Item], lines: Mapping[int, int]) -> tuple[ItemUnits, ...]:
    """Return the items with their units in `lines`, units by line number; items without any are left out."""
    return tuple(
        ItemUnits(item, units) for item in items if (units := lines.get(item.line_number, 0)) > 0
    )


def summarize_returns(order: Order, items: Sequence[Item]) -> list[ReturnSummary]:
    """Return an order's returns, newest first."""
    found = []
    for each in reversed(order.returns):
        label = ORDER_LABELS["return"][each.state]
        explanation = gettext(label.explanation) if label.explanation else ""
        if each.state == returns.APPROVED:
            seller = get_terms().seller_line
            explanation = gettext(
                "Put a note with %(number)s / %(return_id)s in the parcel and send it to %(seller)s."
            ) % {"number": order.number, "return_id": each.return_id, "seller": seller}
        elif each.state in (returns.REJECTED, returns.CLOSED):
            explanation = each.answer
        found.append(
            ReturnSummary(
                each,
                item_units(items, each.lines),
                gettext(label.customer),
                label.customer_tone,
                explanation,
            )
        )
    return found


def summarize_refunds(order: Order) -> list[RefundSummary]:
    """Return an order's refunds, oldest first."""
    open_ones = {each.refund_id for each in order.due_refunds}
    return [
        RefundSummary(each.amount, each.reason, each.refund_id not in open_ones)
        for each in order.refunds
    ]


def payment_method_name(order: Order) -> str:
    """Return the name of the payment method, translated."""
    method = METHODS.get(order.payment_method)
    return gettext(method.name) if method else order.payment_method


def transfer_amount(order: Order) -> Money | None:
    """Return the amount that the customer has to transfer now; None if there is none."""
    is_unpaid_transfer = order.payment_method == TRANSFER and order.state == PENDING
    if not is_unpaid_transfer or order.needs_email_confirmation:
        return None
    return balance.amount_to_capture(order)


def cash_on_delivery_text(order: Order) -> str:
    """Return the sentence about the amount to pay on delivery or pickup; '' if nothing is to be paid then."""
    amount = balance.amount_to_capture(order)
    is_confirmed = order.state in (CONFIRMED, ON_HOLD, CLOSED)
    if order.payment_method != CASH_ON_DELIVERY or not is_confirmed or not amount.amount:
        return ""
    text = (
        gettext("You pay the carrier %(amount)s on delivery.")
        if order.method.carrier
        else gettext("You pay %(amount)s when you pick it up.")
    )
    return text % {"amount": format_money(amount)}


def is_paid_by_card(order: Order) -> bool:
    """Return whether the order is paid on a gateway's page."""
    return order.payment_method == CARD


def can_change_lines(order: Order) -> bool:
    """Return whether the shopper may remove units from the order: until all units are packed."""
    if order.payment == "authorized" or not TRANSITION_RULES["changed"].is_allowed(order):
        return False
    packed_units = parcels.units_by_line(parcels.packed_units(order.parcels()))
    free = sum(
        max(0, units - packed_units.get(line, 0)) for line, units in order.quantities.items()
    )
    return free > 0 and sum(order.quantities.values()) > 1


def can_change_address(order: Order) -> bool:
    """Return whether the shopper may change the delivery address: until a part of the order is packed."""
    return TRANSITION_RULES["changed"].is_allowed(order) and not parcels.packed_units(
        order.parcels()
    )


def return_deadline(order: Order) -> date | None:
    """Return the last day for requesting a return; None before a parcel was delivered.

    The day follows from the latest parcel with units that are in no return.
    """
    arrived = sorted(
        (
            each.delivered_at
            for each in order.parcels()
            if each.delivered_at and each.state == parcels.DELIVERED
        ),
        reverse=True,
    )
    left = (at for at in arrived if order.returnable_units_since(at))
    return order.last_return_day(next(left, arrived[0])) if arrived else None


def list_history(order: Order) -> list[CustomerHistoryEntry]:
    """Return the shopper's history, newest first."""
    several = len(order.parcels()) > 1
    return [
        CustomerHistoryEntry(event, event_label(order, event), _event_detail(order, event, several))
        for event in order.history
    ]


def event_label(order: Order, event: Event) -> str:
    """Return the shopper's label for an event of an order, translated."""
    is_pickup = not order.find_carrier(event.details.get("parcel"))
    label = customer_label("event", event.kind, is_pickup=is_pickup)
    return label or customer_label("event", "note")


def _event_detail(order: Order, event: Event, several: bool) -> str:
    details = event.details
    parts = []
    if several and details.get("parcel"):
        parts.append(gettext("Parcel %(number)s") % {"number": details["parcel"]})
    # A replaced tracking number may belong to another customer's parcel by now, so it is hidden.
    numbers = {each.tracking for each in order.parcels() if each.tracking}
    if event.kind in (parcels.SHIPPED, parcels.TRACKED) and details.get("tracking") in numbers:
        parts.append(f"{details.get('carrier') or order.method.carrier} {details['tracking']}")
    if event.kind in ("captured", "refunded") and details.get("amount"):
        parts.append(
            format_money(from_minor_units(int(details["amount"]), order.total.currency.code))
        )
    return ", ".join(parts)


# The events that make an open page about a change, or about a return, stale.
CHANGE_KINDS = frozenset(
    {"packed", "unpacked", "shipped", "changed", "cancelled", "held", "resumed"}
)
RETURN_KINDS = frozenset(returns.KINDS)


def events_since(order: Order, seen: str, kinds: frozenset[str]) -> list[Event]:
    """Return the events of these kinds after the event with the id `seen`, newest first; all of them if that id is unknown."""
    news: list[Event] = []
    for event in order.events:
        if event.event_id.hex == seen:
            break
        if event.kind in kinds:
            news.append(event)
    return news


def last_event_id(order: Order) -> str:
    """Return the id of the order's last event, for `events_since`; '' without events."""
    return order.events[0].event_id.hex if order.events else ""


def delivery_estimate(order: Order) -> tuple[date, date]:
    """Return the first and the last day of the expected delivery."""
    confirmed_at = (event.at for event in order.events if event.kind in CONFIRMING_EVENTS)
    return order.method.delivery_estimate(next(confirmed_at, order.placed_at))

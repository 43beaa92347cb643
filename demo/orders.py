"""Makes the demo shop's orders: 1,200 over the last 14 months, in every state, each through the events that lead to its state.

The newest orders are loaded before the shop opens, the older orders while it is open, a few at a time. The units of the
older orders are received again when they are shipped, so that no product sells out.
"""

import logging
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import accumulate, count
from random import Random
from typing import Any
from uuid import UUID, uuid5

from django.conf import settings
from django.utils import timezone

from accounts.addresses import Address
from catalogue import queries
from catalogue.entities import Product
from demo import catalogue_data
from demo.loader import (
    DEMO_NAMESPACE,
    FEW_LEFT_FROM,
    PROMOTIONS,
    THREADS,
    Step,
    do_again_if_late,
    run_in_parallel,
)
from demo.logins import LOGINS
from demo.testbank import cards, operations
from inventory.entities import BACKORDER_WAREHOUSE
from inventory.errors import OutOfStock
from inventory.operations import receive_stock
from orders.lifecycle.entities import Order
from orders.lifecycle.errors import OrderError
from orders.lifecycle.parcels import PACKED
from orders.lifecycle.transitions import Transition
from orders.operations import (
    OrderDraft,
    add_note,
    place_order,
    record_manual_payment,
    settle_captures_and_refunds,
    settle_payment,
    start_payment,
    transition_order,
)
from orders.queries import get_order, list_items
from payments.methods import CARD, CASH_ON_DELIVERY, TRANSFER
from pricing import delivery, tax
from pricing.money import to_minor_units
from pricing.quotes import QuotedLine
from promotions.queries import AUTOMATIC, CODE, get_promotion
from promotions.rules import Promotion, code_key

log = logging.getLogger(__name__)

ORDER_COUNT = 1_200
# The number of orders that are loaded before the shop opens.
NEWEST_COUNT = 200
# So that a month can be compared with the same month a year before.
DAYS = 425
# How many orders there are in a month, on a day of the week from Monday on, and in an hour of the day, compared with each other.
MONTHS = (0.85, 0.8, 0.9, 0.95, 1.05, 0.9, 0.8, 0.85, 1.0, 1.1, 1.4, 1.5)
WEEKDAYS = (0.95, 0.9, 0.9, 0.95, 1.0, 1.25, 1.15)
HOURS = (
    *(0.3, 0.15, 0.1, 0.1, 0.1, 0.2, 0.4, 0.7, 1.0, 1.2, 1.3, 1.3),
    *(1.4, 1.3, 1.2, 1.1, 1.1, 1.2, 1.4, 1.7, 2.0, 1.9, 1.4, 0.8),
)
STAFF = "Toni Staff"
FINGERPRINT = "showroom"
# Orders contain only variants with at least this many units, so that scarce variants do not sell out.
PLENTY = 30
# The time in which customers have to pay: a bank transfer takes days.
PAY_WITHIN = timedelta(days=14)

_HOUR, _DAY = timedelta(hours=1), timedelta(days=1)
# The events of an order, each with the time that has passed since the order was placed.
_PAID = ("paid", timedelta(minutes=2))
# The names under which this module lists payment events.
_AS = {"authorized": "paid", "confirmed": "paid", "captured": "cash"}
_SENT = (_PAID, ("packed", 5 * _HOUR), ("shipped", 26 * _HOUR))
FATES: dict[str, tuple[tuple[str, timedelta], ...]] = {
    "to pay": (),
    "payment failed": (("payment_failed", timedelta(minutes=3)),),
    "paid": (_PAID,),
    "packed": _SENT[:2],
    "on hold": (_PAID, ("held", 2 * _HOUR)),
    "shipped": _SENT,
    "delivered": (*_SENT, ("delivered", 4 * _DAY)),
    "closed": (*_SENT, ("delivered", 4 * _DAY), ("closed", 18 * _DAY)),
    "cancelled": (_PAID, ("cancelled", 7 * _HOUR)),
    "given up": (("cancelled", 9 * _HOUR),),
    "expired": (("expired", 25 * _HOUR),),
}
_NEWEST = ("paid", "packed", "to pay", "paid", "payment failed", "paid", "on hold")
_NOTES = {
    "held": "The house number seems to be missing. Wrote to ask.",
    "cancelled": "Ordered twice by mistake, says the customer.",
    "return_rejected": "It has been used. We can only take back what is as good as new.",
}
# Notes and tags by staff, and returns, for some orders.
_STAFF_NOTES = (
    "Called: wants it wrapped as a present.",
    "Asked when it comes. Told them the estimate.",
    "A regular. Put a card in.",
)
_TAGS = (("gift",), ("gift", "call first"), ("regular",), ("press",), ("wholesale", "regular"))
_RETURN_REASONS = (
    "The colour looks different at home.",
    "Arrived with a crack.",
    "Ordered two sizes to choose from.",
)
_COMING_BACK = (
    ("return_requested", 7 * _DAY),
    ("return_approved", 8 * _DAY),
    ("return_received", 12 * _DAY),
    ("refund_owed", 12 * _DAY + 3 * _HOUR),
)
_DECLINED = (("return_requested", 6 * _DAY), ("return_rejected", 7 * _DAY))
_SENT_BY_POST = ("delivered", "closed")

# Delivery notes by customers, for some orders.
_DELIVERY_NOTES = (
    "The bell is broken. Please knock.",
    "Leave it with the bakery next door if nobody is in.",
    "Back house, second floor.",
)

# The events that belong to a fate. In the newest orders these happen at once, even before their time.
_FATEFUL = frozenset(kind for events in FATES.values() for kind, _ in events)

PEOPLE: Sequence[tuple[str, str, str, str, str]] = tuple(
    tuple(each.values()) for each in catalogue_data.read_data_file("people")["person"]
)
SHOPPER_ADDRESS = Address("Sam Shopper", "22 Fade Street", "D02 F9A4", "Dublin", "IE")


@dataclass(frozen=True)
class OrderPlan:
    """The plan for an order to load: its number, the time when it is placed, and its fate (a key of FATES)."""

    number: int
    placed_at: datetime
    fate: str

    @property
    def order_id(self) -> UUID:
        return uuid5(catalogue_data.NAMESPACE, f"order {self.number}")

    @property
    def events(self) -> list[tuple[str, timedelta]]:
        """The order's events sorted by time, each with the time since the order was placed."""
        found = list(FATES[self.fate])
        if self.number % 6 == 1:
            found.append(("note", 3 * _HOUR))
        if self.number % 4 == 2:
            found.append(("tagged", 4 * _HOUR))
        if self.fate in _SENT_BY_POST:
            if self.number % 11 == 4:
                found += _COMING_BACK
            elif self.number % 31 == 9:
                found += _DECLINED
            elif self.number % 23 == 7:
                found.append(("refund_owed", 5 * _DAY))
            if self.payment_method == CASH_ON_DELIVERY:
                found.append(("cash", 4 * _DAY + _HOUR))
        return sorted(found, key=lambda each: each[1])

    @property
    def payment_method(self) -> str:
        """How the order is paid: by card if it ends without goods or money goes back, because the bank sends that by itself."""
        if self.fate == "to pay":
            return TRANSFER if self.number % 2 else CARD
        is_sent = self.fate in ("shipped", *_SENT_BY_POST)
        if not is_sent or self.number % 11 == 4 or self.number % 23 == 7:
            return CARD
        return {3: TRANSFER, 7: CASH_ON_DELIVERY}.get(self.number % 10, CARD)

    def make_random(self) -> Random:
        """Return a random generator that yields the same numbers at each load of the order."""
        return Random(self.number)  # noqa: S311 - nothing here is a secret


def plan_orders(now: datetime, count: int = ORDER_COUNT) -> list[OrderPlan]:
    """Return the plans of `count` orders, newest first. The nearer to today, the more orders a day has, as in a growing shop.

    A month, a weekday and an hour have as many as MONTHS, WEEKDAYS and HOURS say. With a lower `count`, the orders cover fewer
    days, so that each fate still occurs.
    """
    made = []
    totals = [0.0, *accumulate(_weigh_hours(now, DAYS * (count / ORDER_COUNT) ** 0.5))]
    for number in range(count):
        total = totals[-1] * (number + 0.4) / count
        hour = bisect_right(totals, total) - 1
        hours = hour + (total - totals[hour]) / (totals[hour + 1] - totals[hour])
        made.append(OrderPlan(number, now - hours * _HOUR, _fate(number, hours / 24)))
    return made


def _weigh_hours(now: datetime, days: float) -> Iterator[float]:
    """Yield the weight of each of the last hours, the latest first."""
    for age in range(int(days * 24)):
        local = (now - (age + 0.5) * _HOUR).astimezone(timezone.get_default_timezone())
        season = MONTHS[local.month - 1] * WEEKDAYS[local.weekday()] * HOURS[local.hour]
        yield season * ((age + 1) ** 0.625 - age**0.625)


def _fate(number: int, age: float) -> str:
    if age > 2 and number % 12 == 5:
        return ("cancelled", "expired", "given up")[number // 12 % 3]
    if age < 2.5 or number < len(_NEWEST):
        return _NEWEST[number % len(_NEWEST)]
    if age < 7:
        return "paid" if number % 9 == 4 else "shipped"
    if age < 20:
        return "delivered"
    return "closed"


def load_orders(
    now: datetime, plans: Sequence[OrderPlan], step: Step, *, threads: int = THREADS
) -> int:
    """Place the planned orders in the demo shop, and apply the events of their plans. Return the number of orders left out.

    An order that exists only gets its missing events, and none if staff have changed it. An order is left out if one of its
    products is sold out. Raises CassandraUnavailable.
    """
    product_ids = [
        catalogue_data.demo_product_id(product.key) for product in catalogue_data.PRODUCTS
    ]
    products = do_again_if_late(lambda: queries.get_products(product_ids))
    plentiful = {
        catalogue_data.demo_variant_id(variant.sku)
        for product in catalogue_data.PRODUCTS
        for variant in product.variants
        if sum(variant.stock.values()) >= PLENTY
    }
    offered = do_again_if_late(_list_promotions)
    by_key = {
        product.key: products[catalogue_data.demo_product_id(product.key)]
        for product in catalogue_data.PRODUCTS
    }
    left_out = count()

    def load(plan: OrderPlan) -> None:
        try:
            order = get_order(plan.order_id) or _place_order(plan, by_key, plentiful, offered)
            if plan.number >= NEWEST_COUNT:
                _receive_anew(order, plan)
            _let_happen(order, plan, now)
        except OutOfStock:
            next(left_out)
        except OrderError as error:
            log.info("demo order %s stays as it is: %s", plan.number, error)

    run_in_parallel(load, plans, step, threads)
    return next(left_out)


def _let_happen(order: Order, plan: OrderPlan, now: datetime) -> None:
    done = {_AS.get(event.kind, event.kind) for event in order.events}
    if any(each.state == PACKED for each in order.parcels()):
        done.discard("shipped")
    # The events of the order's fate happen at once, other events only when their time has come.
    missing = [
        (kind, after)
        for kind, after in plan.events
        if kind not in done and (kind in _FATEFUL or plan.placed_at + after < now)
    ]
    last = next((kind for kind, _after in reversed(missing) if kind != "note"), "")
    for kind, after in missing:
        # Only the last event updates stock and lists, and a note never does: the updates by earlier events would be overwritten
        # at once.
        at, is_last = min(plan.placed_at + after, now), kind == last
        order = (
            _ship(order, plan, at, apply_effects=is_last)
            if kind == "shipped"
            else _apply_event(order, plan, kind, at, apply_effects=is_last)
        )


def _receive_anew(order: Order, plan: OrderPlan) -> None:
    """Receive the units of a shipped order again, in the same warehouses. A second call receives nothing."""
    if "shipped" not in dict(plan.events):
        return
    for each in order.list_allocations(list_items(order)):
        if each.warehouse_id != BACKORDER_WAREHOUSE:
            receive_stock(
                each.product_id,
                each.variant_id,
                each.warehouse_id,
                each.quantity,
                FEW_LEFT_FROM,
                uuid5(order.order_id, f"receipt {each.line_number} {each.warehouse_id}"),
                plan.placed_at,
            )


def _list_promotions() -> list[Promotion]:
    """Return the shop's promotions of the demo."""
    found = (
        get_promotion(
            CODE if each.code else AUTOMATIC,
            code_key(each.code) or uuid5(DEMO_NAMESPACE, each.title).hex,
        )
        for each in PROMOTIONS
    )
    return [each for each in found if each]


def _choose_promotions(
    plan: OrderPlan, lines: Sequence[QuotedLine], offered: Sequence[Promotion]
) -> tuple[Promotion, ...]:
    """Return the promotion of every third order, if its terms fit."""
    if plan.number % 3 != 1 or not offered:
        return ()
    chosen = offered[plan.number // 3 % len(offered)]
    is_refused = chosen.unavailable_reason(plan.placed_at) or chosen.shortfall_reason(lines)
    return () if is_refused else (chosen,)


def _place_order(
    plan: OrderPlan,
    products: dict[str, Product],
    plentiful: set[UUID],
    offered: Sequence[Promotion],
) -> Order:
    dice = plan.make_random()
    is_sam = plan.number % 17 == 2
    home = SHOPPER_ADDRESS if is_sam else Address(*dice.choice(PEOPLE))
    name = "".join(letter for letter in home.name.lower() if letter.isascii()).replace(" ", ".")
    # Two of three orders have an e-mail address of their own, so a new customer with that name.
    mailbox = f"{name}{plan.number}" if plan.number % 3 else name
    methods = delivery.list_delivery_methods(home.country)
    method = methods[1] if dice.random() < 0.2 else methods[0]
    lines = _random_lines(dice, products, plentiful)
    return place_order(
        OrderDraft(
            order_id=plan.order_id,
            owner_id=LOGINS[0].user_id if is_sam else uuid5(plan.order_id, "guest"),
            user_id=LOGINS[0].user_id if is_sam else None,
            email=LOGINS[0].email if is_sam else f"{mailbox}@mail.example",
            delivery_address=home,
            billing_address=home,
            tax_rates=tax.get_tax_rates(home.country),
            method=method,
            lines=lines,
            promotions=_choose_promotions(plan, lines, offered),
            payment_method=plan.payment_method,
            cart_id=None,
            fingerprint=FINGERPRINT,
            customer_notes=_DELIVERY_NOTES[plan.number // 5 % 3] if plan.number % 5 == 3 else "",
        ),
        plan.placed_at,
        plan.placed_at + PAY_WITHIN,
    )


def _random_lines(
    dice: Random, products: dict[str, Product], plentiful: set[UUID]
) -> tuple[QuotedLine, ...]:
    """Return one to three order lines. The products of the later lines are often related to the first product."""
    first = dice.choice(catalogue_data.PRODUCTS)
    others = [*first.related, *(product.key for product in dice.sample(catalogue_data.PRODUCTS, 2))]
    wanted = dict.fromkeys([first.key, *dice.sample(others, dice.choice((0, 1, 1, 2)))])
    lines = []
    for key in wanted:
        product = products[key]
        sold = [
            variant
            for variant in product.variants
            if variant.sold and variant.variant_id in plentiful
        ]
        if sold:
            variant = dice.choice(sold)
            lines.append(product.quote_line(variant, dice.choice((1, 1, 1, 2))))
    return tuple(lines) or _random_lines(dice, products, plentiful)


def _ship(order: Order, plan: OrderPlan, at: datetime, *, apply_effects: bool) -> Order:
    """Ship each packed parcel under a made-up tracking number, and return the order."""
    packed = [each.parcel_id for each in order.parcels() if each.state == PACKED]
    for parcel_id in packed:
        details = {
            "parcel": parcel_id,
            "carrier": order.method.carrier,
            "tracking": f"DEMO{plan.number:04}{parcel_id:>02}",
        }
        order = transition_order(
            order,
            Transition("shipped", actor=STAFF, at=at, details=details),
            with_effects=apply_effects and parcel_id == packed[-1],
        )
    return order


def _apply_event(
    order: Order, plan: OrderPlan, kind: str, at: datetime, *, apply_effects: bool
) -> Order:
    if kind == "note":
        text = _STAFF_NOTES[plan.number // 6 % len(_STAFF_NOTES)]
        return add_note(order, text, actor=STAFF, now=at)
    if kind == "cash" or (kind == "paid" and plan.payment_method == TRANSFER):
        paid, _more = record_manual_payment(
            order, order.total, key=f"demo {kind}", actor=STAFF, now=at
        )
        return paid
    if kind in ("paid", "payment_failed"):
        started = start_payment(order, settings.PUBLIC_URL, at)
        if plan.payment_method == CASH_ON_DELIVERY:
            return get_order(order.order_id) or order  # its start confirms it
        card = cards.APPROVED if kind == "paid" else cards.DECLINED
        operations.submit_card(started.payment_id, card, at)
        order_after_payment = settle_payment(
            order.order_id, started.payment_id, at, with_effects=apply_effects
        )
        if order_after_payment is None:
            raise LookupError(f"order {order.order_id} has vanished")
        return settle_captures_and_refunds(
            order_after_payment, at
        )  # expires at its planned time, not at the worker's next run
    actor = "system" if kind == "expired" else STAFF
    return transition_order(
        order,
        Transition(
            kind,
            actor=actor,
            at=at,
            note=_NOTES.get(kind, ""),
            details=_event_details(order, plan, kind),
        ),
        with_effects=apply_effects,
    )


def _event_details(order: Order, plan: OrderPlan, kind: str) -> dict[str, Any]:
    """Return the details of an event. In a return, one unit of the order's first line comes back and is refunded."""
    line = min(order.quantities)
    match kind:
        case "tagged":
            return {"added": _TAGS[plan.number // 4 % len(_TAGS)], "removed": []}
        case "return_requested":
            reason = _RETURN_REASONS[plan.number // 3 % len(_RETURN_REASONS)]
            return {"return": "1", "lines": {line: 1}, "reason": reason}
        case "return_approved" | "return_rejected":
            return {"return": "1"}
        case "return_received":
            return {"return": "1", "restock": {}}  # the returned unit is not put back into stock
        case "refund_owed" if order.returns:
            item = next(
                each for each in order.current_lines(list_items(order)) if each.line_number == line
            )
            about = {"return": "1", "lines": {line: 1}, "reason": order.returns[0].reason}
            return _refund(order, to_minor_units(item.units_total(1))) | about
        case "refund_owed":
            about = {"lines": {}, "reason": "A scratch: a tenth of the price back."}
            return _refund(order, to_minor_units(order.subtotal) // 10) | about
    return {}


def _refund(order: Order, amount: int) -> dict[str, Any]:
    return {"refund": str(uuid5(order.order_id, "refund")), "amount": amount}

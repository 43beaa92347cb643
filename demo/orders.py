"""The demo shop's orders: 200 over the last 90 days, in every state, each by the events that led there."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from uuid import UUID, uuid5

from django.conf import settings

from accounts.addresses import Address
from catalogue import queries
from catalogue.entities import Product
from demo import catalogue_data
from demo.loader import Step, do_again_if_late, run_in_parallel
from demo.logins import LOGINS
from demo.testbank import cards
from demo.testbank import operations as testbank
from orders import queries as orders
from orders.entities import Order
from orders.operations import (
    OrderDraft,
    place_order,
    settle_captures_and_refunds,
    settle_payment,
    start_payment,
    transition_order,
)
from orders.parcels import PACKED
from orders.transitions import Transition
from pricing import delivery, tax
from pricing.quotes import QuotedLine

ORDER_COUNT = 200
DAYS = 90
STAFF = "Toni Staff"
FINGERPRINT = "showroom"
# What is scarce stays as scarce as it was received.
PLENTY = 30
# Customers who have not paid yet may do so for so long: a transfer that is on its way.
PAY_WITHIN = timedelta(days=14)

_HOUR, _DAY = timedelta(hours=1), timedelta(days=1)
# What happens to an order after it was placed, and how long after.
_PAID = ("paid", timedelta(minutes=2))
# What the events of a payment are called here.
_AS = {"authorized": "paid"}
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
}

# What some say about their delivery.
_DELIVERY_NOTES = (
    "The bell is broken. Please knock.",
    "Leave it with the bakery next door if nobody is in.",
    "Back house, second floor.",
)

PEOPLE: Sequence[tuple[str, str, str, str, str]] = tuple(
    tuple(each.values()) for each in catalogue_data.read_data_file("people")["person"]
)
SHOPPER_ADDRESS = Address("Sam Shopper", "22 Fade Street", "D02 F9A4", "Dublin", "IE")


@dataclass(frozen=True)
class OrderPlan:
    """An order that shall be there: its number, when it is placed, and its fate."""

    number: int
    placed_at: datetime
    fate: str

    @property
    def order_id(self) -> UUID:
        return uuid5(catalogue_data.NAMESPACE, f"order {self.number}")

    @property
    def events(self) -> tuple[tuple[str, timedelta], ...]:
        return FATES[self.fate]

    def make_random(self) -> Random:
        """The same dice for the same order each time."""
        return Random(self.number)  # noqa: S311 - nothing here is a secret


def plan_orders(now: datetime, count: int = ORDER_COUNT) -> list[OrderPlan]:
    """Return what shall be there, the newest first: closer together towards today, as in a shop that grows."""
    made = []
    for number in range(count):
        age = DAYS * ((number + 0.4) / count) ** 1.9
        made.append(OrderPlan(number, now - timedelta(days=age), _fate(number, age)))
    return made


def _fate(number: int, age: float) -> str:
    if age > 2 and number % 12 == 5:
        return ("cancelled", "expired", "given up")[number // 12 % 3]
    if age < 2.5:
        return _NEWEST[number % len(_NEWEST)]
    if age < 7:
        return "paid" if number % 9 == 4 else "shipped"
    if age < 20:
        return "delivered"
    return "closed"


def load_orders(now: datetime, count: int, step: Step) -> None:
    """Place so many orders in the demo shop and let happen to each what its plan says.

    What is there already is left as it is, and what was cut off is continued. Raises OutOfStock when the demo shop
    has been sold out meanwhile, CassandraUnavailable.
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
    by_key = {
        product.key: products[catalogue_data.demo_product_id(product.key)]
        for product in catalogue_data.PRODUCTS
    }

    def load(plan: OrderPlan) -> None:
        order = orders.get_order(plan.order_id) or _place_order(plan, by_key, plentiful)
        done = {_AS.get(event.kind, event.kind) for event in order.events}
        if any(each.state == PACKED for each in order.parcels()):
            done.discard("shipped")
        missing = [(kind, after) for kind, after in plan.events if kind not in done]
        for number, (kind, after) in enumerate(missing, start=1):
            # Stock and lists follow the last event; what lies between would be overwritten at once.
            at, is_last = min(plan.placed_at + after, now), number == len(missing)
            order = (
                _ship(order, plan, at, apply_effects=is_last)
                if kind == "shipped"
                else _apply_event(order, kind, at, apply_effects=is_last)
            )

    run_in_parallel(load, plan_orders(now, count), step)


def _place_order(plan: OrderPlan, products: dict[str, Product], plentiful: set[UUID]) -> Order:
    dice = plan.make_random()
    is_sam = plan.number % 17 == 2
    home = SHOPPER_ADDRESS if is_sam else Address(*dice.choice(PEOPLE))
    name = "".join(letter for letter in home.name.lower() if letter.isascii())
    methods = delivery.list_delivery_methods(home.country)
    return place_order(
        OrderDraft(
            order_id=plan.order_id,
            owner_id=LOGINS[0].user_id if is_sam else uuid5(plan.order_id, "guest"),
            user_id=LOGINS[0].user_id if is_sam else None,
            email=LOGINS[0].email if is_sam else f"{name.replace(' ', '.')}@mail.example",
            delivery_address=home,
            billing_address=home,
            tax_rates=tax.get_tax_rates(home.country),
            method=methods[1] if dice.random() < 0.2 else methods[0],
            lines=_random_lines(dice, products, plentiful),
            cart_id=None,
            fingerprint=FINGERPRINT,
            customer_notes=_DELIVERY_NOTES[plan.number // 5 % 3] if plan.number % 5 == 3 else "",
        ),
        plan.placed_at,
        PAY_WITHIN,
    )


def _random_lines(
    dice: Random, products: dict[str, Product], plentiful: set[UUID]
) -> tuple[QuotedLine, ...]:
    """One to three products; half of the time what goes well with the first."""
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
    """Ship each parcel that is packed, under a number that no carrier's parcel has."""
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


def _apply_event(order: Order, kind: str, at: datetime, *, apply_effects: bool) -> Order:
    if kind in ("paid", "payment_failed"):
        started = start_payment(order, settings.PUBLIC_URL, at)
        card = cards.APPROVED if kind == "paid" else cards.DECLINED
        testbank.submit_card(started.payment_id, card, at)
        order_after_payment = settle_payment(
            order.order_id, started.payment_id, at, with_effects=apply_effects
        )
        if order_after_payment is None:
            raise LookupError(f"order {order.order_id} has vanished")
        return settle_captures_and_refunds(
            order_after_payment, at
        )  # at that time, not when the worker comes by
    actor = "system" if kind == "expired" else STAFF
    return transition_order(
        order,
        Transition(kind, actor=actor, at=at, note=_NOTES.get(kind, "")),
        with_effects=apply_effects,
    )

"""Orders without a database, to test what follows from their events."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

from cassandra.util import uuid_from_time

from accounts.addresses import Address
from orders.lifecycle import projection
from orders.lifecycle.entities import Order
from orders.lifecycle.events import Event
from orders.lifecycle.items import Item
from orders.lifecycle.parcels import plan_packing
from orders.operations.changes import plan_change
from pricing import tax
from pricing.money import from_minor_units
from pricing.quotes import Discount
from tests.factories import find_delivery_method

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
AT_HOME = Address("Ada Lovelace", "Torstraße 1", "10115", "Berlin", "DE")


def make_items(*quantities: int, cents: int = 1000, off: int = 0) -> tuple[Item, ...]:
    """A line for each quantity, all with one unit price, and a discount of `off` cents a unit."""
    return tuple(
        Item(
            line_number=number,
            product_id=uuid4(),
            variant_id=uuid4(),
            sku=f"T-{number}",
            name="Mug",
            slug="mug",
            options={},
            picture="mug/c8724c-efeae0",
            unit_price=from_minor_units(cents, "EUR"),
            quantity=quantity,
            line_total=from_minor_units(cents * quantity, "EUR"),
            discount=from_minor_units(off * quantity, "EUR"),
            tax_added=from_minor_units(0, "EUR"),
            tax_class="standard",
        )
        for number, quantity in enumerate(quantities, 1)
    )


def make_paper_order(
    items: tuple[Item, ...], reserved: Mapping[str, Mapping[int, int]] | None = None
) -> Order:
    """An order of these lines that waits for its payment. `reserved` are the units of each line by warehouse."""
    reserved = reserved or {"berlin": {item.line_number: item.quantity for item in items}}
    zero, delivery = from_minor_units(0, "EUR"), from_minor_units(490, "EUR")
    subtotal = sum((item.line_total for item in items), zero)
    discount = sum((item.discount for item in items), zero)
    taxed = [
        *((item.tax_class, item.line_total - item.discount) for item in items),
        ("standard", delivery),
    ]
    taxes = tax.split_included_tax(taxed, tax.get_tax_rates("DE").by_class)
    placed = Event(
        uuid_from_time(START), "placed", "shopper", "", public=True, board_after="to_pay"
    )
    return Order(
        order_id=uuid4(),
        number="7KQF-3M9X",
        owner_id=uuid4(),
        user_id=None,
        email="ada@example.com",
        name="Ada Lovelace",
        state="pending_payment",
        payment="unpaid",
        fulfilment="unfulfilled",
        version=1,
        placed_at=START,
        pay_until=START + timedelta(minutes=10),
        subtotal=subtotal,
        delivery=delivery,
        discount=discount,
        total=subtotal + delivery - discount,
        tax=sum((part.tax for part in taxes), zero),
        taxes=taxes,
        item_count=sum(item.quantity for item in items),
        country="DE",
        delivery_address=AT_HOME,
        billing_address=AT_HOME,
        method=find_delivery_method("DE", "standard").promise(START),
        tax_rates=tax.get_tax_rates("DE").by_class,
        first_item_name="Mug",
        first_item_picture="mug/c8724c-efeae0",
        cart_id=None,
        allocations_json=json.dumps(
            {"take": 0}
            | {warehouse: [*map(list, lines.items())] for warehouse, lines in reserved.items()}
        ),
        fingerprint="",
        payment_id=None,
        payment_method="card",
        captured=zero,
        refunded=zero,
        voucher="",
        discounts=(Discount("A little less", discount),) if discount.amount else (),
        events=(placed,),
        return_days=30,
    )


def apply_event(order: Order, kind: str, **details: Any) -> Order:
    """Apply an event to it, an hour after its last one; `note` and `allocated` are no details of the event.

    Raises TransitionRefused.
    """
    note, allocated = details.pop("note", ""), details.pop("allocated", "")
    if kind == "packed":
        details = {"parcels": plan_packing(details, order.parcels(), order.reserved_units)}
    at = uuid_from_time(order.events[0].at + timedelta(hours=1), node=1, clock_seq=1)
    stored_details = json.loads(json.dumps(details))
    return projection.apply_event(
        order,
        Event(at, kind, "Ann", note, public=True, board_after="", details=stored_details),
        allocated,
    )


def make_paid_order(
    items: tuple[Item, ...], reserved: Mapping[str, Mapping[int, int]] | None = None
) -> Order:
    """An order that is confirmed and paid."""
    waiting = make_paper_order(items, reserved)
    payment = str(uuid4())
    cents = int(waiting.total.amount * 100)
    confirmed = apply_event(waiting, "authorized", payment_id=payment, amount=cents)
    return apply_event(confirmed, "captured", payment_id=payment, amount=cents, key="first")


def change_order(
    order: Order,
    items: tuple[Item, ...],
    quantities: Mapping[int, int],
    address: Address | None = None,
) -> Order:
    """Lower quantities, or change the address, with the refund of what was paid too much. Raises TransitionRefused."""
    change = plan_change(order, items, quantities, address)
    order = apply_event(order, "changed", allocated=change.allocations_json, **change.details)
    for kind, details in change.companion_events.items():
        order = apply_event(order, kind, **details)
    return order

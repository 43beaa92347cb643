"""The draft from which an order is placed, and the values of the order's first rows."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property
from types import SimpleNamespace
from typing import Any
from uuid import UUID

from cassandra.query import BoundStatement
from cassandra.util import Date, uuid_from_time
from django.conf import settings

from accounts.addresses import Address
from cart.entities import Cart
from cassandra_db import write
from inventory.entities import Allocation
from orders import queries
from orders.lifecycle.entities import Order
from orders.lifecycle.events import Event
from orders.lifecycle.payment_attempts import derive_payment_id, started_details
from orders.lifecycle.states import PENDING
from orders.lifecycle.stored_sums import dump_discounts, dump_taxes
from orders.operations.transitions import make_event
from orders.operations.unpaid_units import list_buckets
from payments import gateways
from payments.methods import is_paid_afterwards
from pricing import delivery, quotes, tax
from pricing.money import to_minor_units
from pricing.quotes import snapshot_columns
from shop_settings.restores import get_number_series


@dataclass(frozen=True)
class OrderDraft:
    """All data from which an order is placed. `order_id` is the checkout's id; `fingerprint` identifies the checkout's content."""

    order_id: UUID
    owner_id: UUID
    user_id: UUID | None
    email: str
    delivery_address: Address
    billing_address: Address
    method: delivery.DeliveryMethod
    tax_rates: tax.TaxRates
    lines: tuple[quotes.QuotedLine, ...]
    cart_id: UUID | None
    fingerprint: str
    payment_method: str = "card"
    customer_notes: str = ""  # the shopper's notes for the delivery
    terms_version: int | None = None  # the version of the terms that the shopper has accepted
    voucher: str = ""  # the typed code; `promotions` have its effect
    promotions: tuple[quotes.Promotion, ...] = ()
    cart: Cart | None = None  # the reviewed cart; if it has changed since, nothing is placed
    checkout_number: int = 0  # the number of the cart's checkouts that ended without payment
    # the units in stock that the page has read, by variant and warehouse
    stock: Mapping[UUID, Mapping[str, int]] | None = None
    # whether the e-mail address needs no confirmation: a member's own, or an importer's
    is_email_confirmed: bool = True
    # the visitor's networks, to limit their unpaid units (web.rate_limits.list_networks)
    networks: Sequence[tuple[str, int]] = ()
    # the actor who places it, the one who offered it, and the number of the order that it adds to (decision 058)
    placed_by: str = "shopper"
    offered_by: str = ""
    added_to: str = ""

    @cached_property
    def sums(self) -> quotes.Quote:
        return quotes.compute_quote(self.lines, self.tax_rates, self.method, self.promotions)

    @property
    def is_paid_afterwards(self) -> bool:
        """Whether the order is sent before it is paid for (payments.methods.is_paid_afterwards)."""
        return is_paid_afterwards(self.payment_method, to_minor_units(self.sums.total))

    def pay_until(self, now: datetime) -> datetime:
        """Return the time until which the units stay reserved without payment or, if needed, without an e-mail confirmation."""
        if self.is_paid_afterwards and not self.is_email_confirmed:
            return now + timedelta(minutes=settings.EMAIL_CONFIRMATION_MINUTES)
        return gateways.METHODS[self.payment_method].pay_until(now)

    @cached_property
    def unpaid_unit_buckets(self) -> dict[str, int]:
        """The buckets that count the order's units until they are paid for, each with its limit of units."""
        if not self.is_paid_afterwards:
            return {}
        return list_buckets(self.email, self.networks)


INSERT_ITEM = write(
    "Q13",
    """INSERT INTO order_items (order_id, line_number, product_id, variant_id, sku, name, slug, options, picture,
                                 unit_price, quantity, line_total, discount, tax_added, tax_class)
       VALUES (:order_id, :line_number, :product_id, :variant_id, :sku, :name, :slug, :options, :picture,
               :unit_price, :quantity, :line_total, :discount, :tax_added, :tax_class)""",
)


def placed_events(draft: OrderDraft, gateway: str, now: datetime) -> tuple[Event, ...]:
    """Return the first events of an order, newest first: `placed` and, unless the order is free, `payment_started`."""
    needs_confirmation = draft.is_paid_afterwards and not draft.is_email_confirmed
    board = "unconfirmed" if needs_confirmation else "to_pay"
    details: dict[str, Any] = {} if draft.is_email_confirmed else {"email_confirmed": False}
    if draft.unpaid_unit_buckets:
        details["buckets"] = list(draft.unpaid_unit_buckets)
    details |= {
        name: value for name in ("offered_by", "added_to") if (value := getattr(draft, name))
    }
    placed = make_event(
        uuid_from_time(now), "placed", actor=draft.placed_by, board=board, details=details
    )
    if not to_minor_units(draft.sums.total):
        return (placed,)
    payment_started = make_event(
        uuid_from_time(now + timedelta(milliseconds=1)),
        "payment_started",
        actor=draft.placed_by,
        public=False,
        board=board,
        details=started_details(
            derive_payment_id(draft.order_id, get_number_series()), gateway, draft.sums.total
        ),
    )
    return payment_started, placed


def order_from_header(header: Mapping[str, Any], events: tuple[Event, ...]) -> Order:
    """Return the order that a header and events make, as it will be read."""
    row = SimpleNamespace(
        **header,
        payment="unpaid",
        fulfilment="unfulfilled",
        version=1,
        payment_id=None,
        captured=0,
        refunded=0,
        tags=None,
        event_id=None,
    )
    order = queries.order_from_rows([row])
    assert order
    return replace(order, events=events)


def unit_count(draft: OrderDraft) -> int:
    return sum(line.quantity for line in draft.lines)


def item_statements(draft: OrderDraft) -> Iterable[BoundStatement]:
    """Return the statements that write an order's lines."""
    return (INSERT_ITEM.bind(order_id=draft.order_id, **each) for each in item_values(draft))


def item_values(draft: OrderDraft) -> Iterable[dict[str, Any]]:
    """Yield the values of an order's lines."""
    parts = zip(draft.lines, draft.sums.line_discounts, draft.sums.line_taxes, strict=True)
    for number, (line, discount, tax_added) in enumerate(parts, 1):
        yield {
            "line_number": number,
            **snapshot_columns(line),
            "unit_price": to_minor_units(line.unit_price),
            "quantity": line.quantity,
            "line_total": to_minor_units(line.total),
            "discount": to_minor_units(discount),
            "tax_added": to_minor_units(tax_added),
            "tax_class": line.tax_class,
        }


def serialize_allocations(allocations: Iterable[Allocation], take: int = 0) -> str:
    """Return allocations as the order's header stores them; `take` tells apart repeated reservations of one order."""
    by_warehouse: dict[str, object] = {"take": take}
    for each in allocations:
        lines = by_warehouse.setdefault(each.warehouse_id, [])
        assert isinstance(lines, list)
        lines.append([each.line_number, each.quantity])
    return json.dumps(by_warehouse)


def header_values(
    draft: OrderDraft,
    number: str,
    now: datetime,
    pay_until: datetime,
    allocations: Iterable[Allocation],
) -> dict[str, Any]:
    """Return the header of an order when it is placed, by column."""
    quote, promise = draft.sums, draft.method.promise(now)

    return {
        "order_id": draft.order_id,
        "number": number,
        "owner_id": draft.owner_id,
        "user_id": draft.user_id,
        "email": draft.email,
        "name": draft.delivery_address.name,
        "state": PENDING,
        "placed_at": now,
        "pay_until": pay_until,
        "currency": quote.total.currency.code,
        "subtotal": to_minor_units(quote.subtotal),
        "delivery": to_minor_units(quote.delivery),
        "discount": to_minor_units(quote.discount),
        "total": to_minor_units(quote.total),
        "tax": to_minor_units(quote.tax),
        "taxes": json.dumps(dump_taxes(quote.taxes)),
        "item_count": unit_count(draft),
        "country": draft.delivery_address.country,
        "delivery_address": draft.delivery_address.stored_fields(),
        "billing_address": draft.billing_address.stored_fields(),
        "delivery_method": promise.code,
        "delivery_title": promise.name,
        "carrier": promise.carrier,
        "estimated_from": Date(promise.first),
        "estimated_delivery": Date(promise.last),
        "tax_rates": json.dumps(
            {name: str(rate) for name, rate in draft.tax_rates.by_class.items()}
        ),
        "first_item_name": draft.lines[0].name,
        "first_item_picture": draft.lines[0].picture,
        "skus": json.dumps(sorted({line.sku for line in draft.lines})),
        "cart_id": draft.cart_id,
        "allocations": serialize_allocations(allocations),
        "fingerprint": draft.fingerprint,
        "payment_method": draft.payment_method,
        "voucher": draft.voucher,
        "customer_notes": draft.customer_notes,
        "terms_version": draft.terms_version,
        "discounts": json.dumps(dump_discounts(quote.discounts)),
    }

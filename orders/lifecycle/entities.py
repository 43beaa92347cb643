"""An order, and its rows in lists and on the board."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import cached_property
from typing import Any
from uuid import UUID

from django.utils.timezone import localdate
from moneyed import Money

from accounts.addresses import Address
from inventory.entities import Allocation, make_reservation_id
from orders.lifecycle import parcels, refunds, returns, states
from orders.lifecycle.events import Event
from orders.lifecycle.items import Item, prorate_discount
from orders.lifecycle.labels import ORDER_LABELS, staff_label
from orders.lifecycle.parcels import ItemUnits, Parcel
from orders.lifecycle.payment_attempts import (
    PaymentAttempt,
    derive_payment_id,
    fold_payment_attempts,
)
from orders.lifecycle.payment_failures import PAYMENT_FAILURES, PaymentFailure
from orders.lifecycle.refunds import Refund
from orders.lifecycle.returns import Return
from payments.methods import MANUAL_METHODS, TRANSFER, is_paid_afterwards
from pricing.delivery import PromisedDelivery
from pricing.money import to_minor_units
from pricing.quotes import Discount, added_tax_by_line
from pricing.tax import TaxPart
from web.days import start_of_day


@dataclass(frozen=True)
class Order:
    """An order and its history, newest event first. total = subtotal + delivery + tax_added - discount."""

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
    tax_rates: Mapping[str, Decimal]  # per cent by tax class, as it was placed
    item_count: int
    country: str
    delivery_address: Address
    billing_address: Address
    method: PromisedDelivery
    first_item_name: str
    first_item_picture: str
    cart_id: UUID | None
    allocations_json: str
    fingerprint: str
    payment_id: UUID | None
    payment_method: str
    captured: Money
    refunded: Money
    voucher: str
    discounts: tuple[Discount, ...]
    events: tuple[Event, ...]
    return_days: int  # the days after arrival in which an item may be returned, by the terms of the day of the order
    customer_notes: str = ""  # the shopper's notes for the delivery
    terms_version: int | None = (
        None  # the version of the terms of sale that its shopper has accepted
    )
    skus: tuple[str, ...] = ()  # the ordered SKUs, each once
    tags: tuple[str, ...] = ()  # in alphabetical order (orders.tags)
    # The gateway's name and reference by payment id; None until orders.queries.load_payment_references.
    payment_references: Mapping[UUID, tuple[str, str]] | None = field(
        default=None, compare=False, repr=False
    )

    @property
    def added_to(self) -> str:
        """The number of the earlier order to which this order adds, or ""."""
        return str(self._placed_details.get("added_to", ""))

    @property
    def _placed_details(self) -> Mapping[str, Any]:
        return next((event.details for event in self.events if event.kind == "placed"), {})

    @property
    def tax_added(self) -> Money:
        """The tax on top of the prices; zero where they include it. `tax` is in the total in either case."""
        return self.total - (self.subtotal + self.delivery - self.discount)

    @cached_property
    def reserved_units(self) -> dict[str, dict[int, int]]:
        """The units that each warehouse has reserved for the order or sent, keyed by warehouse and line."""
        found: dict[str, dict[int, int]] = {}
        for warehouse, lines in json.loads(self.allocations_json).items():
            if warehouse != "take":
                warehouse_lines = found.setdefault(warehouse, {})
                for line, units in lines:
                    warehouse_lines[line] = warehouse_lines.get(line, 0) + units
        return found

    @cached_property
    def quantities(self) -> dict[int, int]:
        """The order's units by line, after all changes."""
        return parcels.units_by_line(self.reserved_units)

    def current_lines(self, items: Iterable[Item]) -> tuple[Item, ...]:
        """Return the order's items after all changes, without those that have no units left."""
        quantities = self.quantities
        left = tuple(
            item
            if quantities[item.line_number] == item.quantity
            else item.with_quantity(quantities[item.line_number])
            for item in items
            if quantities.get(item.line_number)
        )
        if not any(event.kind == "changed" and event.details["lines"] for event in self.events):
            return left
        # A change may have reduced the discount below the shares of the remaining lines (operations.changes).
        lines = prorate_discount(left, self.discount)
        return lines if lines == left or not to_minor_units(self.tax_added) else self._taxed(lines)

    def _taxed(self, lines: tuple[Item, ...]) -> tuple[Item, ...]:
        """Return lines with their share of the added tax."""
        taxed = [
            *((line.tax_class, line.line_total - line.discount) for line in lines),
            ("standard", self.delivery),
        ]
        shares = added_tax_by_line(taxed, self.taxes, self.tax_rates)
        return tuple(
            replace(line, tax_added=added) for line, added in zip(lines, shares, strict=False)
        )

    @cached_property
    def _parcels(self) -> tuple[Parcel, ...]:
        return parcels.fold_parcels(self.events, self.reserved_units)

    def parcels(self, items: Iterable[Item] = ()) -> tuple[Parcel, ...]:
        """Return the order's parcels in the order of packing; with `items`, they have contents."""
        items_by_line = {item.line_number: item for item in items}
        return tuple(
            replace(
                each,
                contents=tuple(
                    ItemUnits(items_by_line[line], units)
                    for line, units in each.lines.items()
                    if line in items_by_line
                ),
            )
            for each in self._parcels
        )

    @cached_property
    def units_to_pack(self) -> dict[str, dict[int, int]]:
        """The units to pack, by warehouse and line."""
        return parcels.units_to_pack(self.reserved_units, self._parcels)

    @cached_property
    def returns(self) -> tuple[Return, ...]:
        """The order's returns, oldest first."""
        return returns.fold_returns(self.events)

    @cached_property
    def refunds(self) -> tuple[Refund, ...]:
        """The order's refunds, sent or due, oldest first."""
        return refunds.fold_refunds(self.events, self.total.currency.code)

    @cached_property
    def payment_attempts(self) -> tuple[PaymentAttempt, ...]:
        """The attempts to pay the order, oldest first. They have references after `payment_references` are read."""
        is_former = not any(event.kind == "payment_started" for event in self.events)
        former = self._former_attempts() if is_former and to_minor_units(self.total) else ()
        attempts = fold_payment_attempts(
            self.events,
            self.total,
            is_undecided=self.state in (states.PENDING, states.EXPIRED),
            former=former,
        )
        return tuple(self._with_reference(each) for each in attempts)

    def _former_attempts(self) -> tuple[PaymentAttempt, ...]:
        """Return the payment attempts of an older order whose events do not name them: the failed attempts, and the next attempt."""
        gateway = self.payment_method if self.payment_method in MANUAL_METHODS else ""
        causes = [
            str(event.details.get("cause", "declined"))
            for event in reversed(self.events)
            if event.kind == "payment_failed" and "payment_id" not in event.details
        ]
        return tuple(
            PaymentAttempt(
                derive_payment_id(self.order_id, number), gateway, self.total, state, self.placed_at
            )
            for number, state in enumerate([*causes, "started"])
        )

    def _with_reference(self, attempt: PaymentAttempt) -> PaymentAttempt:
        if attempt.gateway in MANUAL_METHODS:
            return replace(attempt, reference=self.number)
        known = (self.payment_references or {}).get(attempt.payment_id)
        return replace(attempt, gateway=known[0], reference=known[1]) if known else attempt

    @property
    def open_payment_attempt(self) -> PaymentAttempt | None:
        """The payment attempt without an outcome, or None."""
        return next((each for each in self.payment_attempts if each.state == "started"), None)

    @property
    def due_refunds(self) -> tuple[Refund, ...]:
        """The refunds that were decided and not sent yet, oldest first."""
        sent_ids = refunds.sent_refund_ids(self.events)
        return tuple(each for each in self.refunds if each.refund_id not in sent_ids)

    def returnable_units(self, now: datetime | None = None) -> dict[int, int]:
        """Return the units that may be returned at `now`, by line; without `now`, ignore the return period."""
        return self.returnable_units_since(
            start_of_day(localdate(now) - timedelta(days=self.return_days)) if now else None
        )

    def returnable_units_since(self, arrived_since: datetime | None) -> dict[int, int]:
        """Return the units, by line, that arrived since `arrived_since` (None: at any time) and have not come back."""
        return returns.returnable_units(self._parcels, self.returns, self.events, arrived_since)

    def last_return_day(self, arrived_at: datetime) -> date:
        """Return the last day for returning items that arrived at this moment."""
        return localdate(arrived_at) + timedelta(days=self.return_days)

    @property
    def has_packed_parcel(self) -> bool:
        """Whether a parcel is packed but not sent."""
        return any(each.state == parcels.PACKED for each in self._parcels)

    @property
    def has_units_to_pack(self) -> bool:
        """Whether units of the order are still to be packed."""
        return bool(self.units_to_pack)

    @property
    def has_parcel_under_way(self) -> bool:
        """Whether a parcel is on its way."""
        return any(each.is_under_way for each in self._parcels)

    def find_carrier(self, parcel_id: str | None = None) -> str:
        """Return the carrier of the order, or of one of its parcels; '' for pickup."""
        carriers = (
            each.carrier
            for each in self._parcels
            if each.carrier and parcel_id in (None, each.parcel_id)
        )
        return next(carriers, self.method.carrier)

    @property
    def former_tracking_numbers(self) -> set[str]:
        """The tracking numbers that the order's parcels had before a correction."""
        given = {
            str(event.details.get("tracking") or "")
            for event in self.events
            if event.kind in (parcels.PACKED, parcels.SHIPPED, parcels.TRACKED)
        }
        return given - {"", *(each.tracking for each in self._parcels)}

    @property
    def is_pickup(self) -> bool:
        """Whether the customer picks the order up."""
        return not self.find_carrier()

    @property
    def is_late(self) -> bool:
        """Whether the order was marked as late since it was last confirmed, held or resumed."""
        since = ("late", "held", "resumed", *states.CONFIRMING_EVENTS)
        return next((event.kind == "late" for event in self.events if event.kind in since), False)

    @property
    def to_pack_since(self) -> datetime:
        """The time when the order was last confirmed or resumed, in UTC."""
        since = ("resumed", *states.CONFIRMING_EVENTS)
        return next((event.at for event in self.events if event.kind in since), self.placed_at)

    @property
    def has_open_return(self) -> bool:
        """Whether one of the order's returns is open."""
        return any(each.is_open for each in self.returns)

    @property
    def payment_failure(self) -> PaymentFailure:
        """The failure of the order's last failed payment."""
        failed = (event for event in self.events if event.kind == "payment_failed")
        cause = next((event.details.get("cause") for event in failed), None)
        return PAYMENT_FAILURES.get(str(cause), PAYMENT_FAILURES["declined"])

    @property
    def withdrawals(self) -> tuple[Event, ...]:
        """The buyer's statements of withdrawal, newest first: one for each name that the buyer gave."""
        return tuple(event for event in self.events if event.kind == "withdrawn")

    @property
    def has_open_withdrawal(self) -> bool:
        """Whether the buyer has withdrawn from the contract before all parcels have arrived."""
        return (
            bool(self.withdrawals)
            and self.state in (states.CONFIRMED, states.CLOSED)
            and (
                self.fulfilment in ("unfulfilled", "partially_shipped") or self.has_parcel_under_way
            )
        )

    @property
    def has_manual_refund_due(self) -> bool:
        """Whether staff have to send a due refund themselves."""
        return self.payment_method in MANUAL_METHODS and bool(self.due_refunds)

    @property
    def customer_label(self) -> str:
        """The order's status for the shopper, untranslated, as lists of orders store it."""
        label = ORDER_LABELS["status"][states.customer_status(self)]
        return (self.is_pickup and label.pickup) or label.customer

    @property
    def board_column(self) -> str:
        """The key of the order's column on the board."""
        return states.board_column(self)

    @property
    def board_column_label(self) -> str:
        return staff_label("column", self.board_column)

    @property
    def is_awaiting_payment(self) -> bool:
        return self.state == states.PENDING

    @property
    def is_paid_afterwards(self) -> bool:
        """Whether the order is sent before it is paid for (payments.methods.is_paid_afterwards)."""
        return is_paid_afterwards(self.payment_method, to_minor_units(self.total))

    @property
    def is_email_confirmed(self) -> bool:
        """Whether the order's e-mail address is the member's own, or was confirmed by the mailed link.

        Otherwise it may be a stranger's address, and no mail to it contains a typed word.
        """
        return self._placed_details.get("email_confirmed") is not False or any(
            event.kind == "email_confirmed" for event in self.events
        )

    @property
    def is_unproved(self) -> bool:
        """Whether a stranger may have placed the order: its e-mail address is not confirmed, and nothing was paid."""
        return (
            not self.is_email_confirmed
            and not to_minor_units(self.captured)
            and not any(
                event.kind in (*states.CONFIRMING_EVENTS, "paid_too_late") for event in self.events
            )
        )

    @property
    def lacks_email_confirmation(self) -> bool:
        """Whether the order is unproved, and its customer has to confirm it because it is sent before it is paid for."""
        return self.is_unproved and self.is_paid_afterwards

    @property
    def needs_email_confirmation(self) -> bool:
        """Whether the order expires unless its e-mail address is confirmed."""
        return self.state == states.PENDING and self.lacks_email_confirmation

    @property
    def unpaid_unit_buckets(self) -> tuple[str, ...]:
        """The buckets that count the order's units while it is unpaid (orders.operations.unpaid_units)."""
        return tuple(self._placed_details.get("buckets", ()))

    def is_over(self, now: datetime) -> bool:
        """Return whether the order was cancelled or expired, or its time to pay has run out."""
        is_too_late = self.state == states.PENDING and self.pay_until <= now
        return is_too_late or self.state in (states.CANCELLED, states.EXPIRED)

    @property
    def has_items_in_cart(self) -> bool:
        """Whether the order's lines are still in its cart: until it is paid or, with a transfer, until it is confirmed."""
        return self.state == states.PENDING and (
            self.payment_method != TRANSFER or self.needs_email_confirmation
        )

    @property
    def is_erased(self) -> bool:
        """Whether the order's person was erased. Only staff see an erased order."""
        return any(event.kind == states.ERASED for event in self.events)

    @property
    def can_be_cancelled(self) -> bool:
        """Whether the shopper may still cancel the order. A packed order cannot be cancelled."""
        return states.TRANSITION_RULES["cancelled"].is_allowed(self)

    @property
    def has_been_paid(self) -> bool:
        return self.payment in ("paid", "partially_refunded", "refunded")

    @property
    def has_invoice(self) -> bool:
        """Whether the order has an invoice: once it is confirmed, and for good if it was paid."""
        unconfirmed = (states.PENDING, states.CANCELLED, states.EXPIRED)
        return self.state not in unconfirmed or self.has_been_paid

    @cached_property
    def history(self) -> tuple[Event, ...]:
        """The events that the shopper may see, newest first."""
        # Notes of staff on a transition are for staff; notes of the system are for the shopper.
        return tuple(
            event if event.actor == "system" else replace(event, note="")
            for event in self.events
            if event.public
        )

    @property
    def changed_at(self) -> datetime:
        """The time of the order's last event, without notes, tags, and payments that were started or closed."""
        skipped = ("note", "tagged", "payment_started", "payment_closed")
        return next((each.at for each in self.events if each.kind not in skipped), self.placed_at)

    def list_allocations(self, items: Iterable[Item]) -> tuple[Allocation, ...]:
        """Return the order's allocations: the units of each line that each warehouse has reserved, or sent."""
        items_by_line = {item.line_number: item for item in items}
        warehouses = json.loads(self.allocations_json)
        take = warehouses.pop("take")
        return tuple(
            Allocation(
                line,
                items_by_line[line].product_id,
                items_by_line[line].variant_id,
                warehouse,
                units,
                make_reservation_id(
                    self.order_id, line, items_by_line[line].variant_id, warehouse, take
                ),
                self.order_id,
            )
            for warehouse, lines in warehouses.items()
            for line, units in lines
        )


@dataclass(frozen=True)
class OrderSummary:
    """An order in a person's list."""

    order_id: UUID
    number: str
    placed_at: datetime
    customer_label: str
    total: Money
    item_count: int
    first_item_name: str
    first_item_picture: str


@dataclass(frozen=True)
class BoardOrder:
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
    payment_method: str = ""
    delivery_method: str = ""  # its code
    estimated_delivery: date | None = None  # the last day on which it was promised
    skus: tuple[str, ...] = ()  # the ordered SKUs, each once
    tags: tuple[str, ...] = ()
    is_pickup: bool = False


@dataclass(frozen=True)
class CappedCount:
    """A number of orders, counted up to 500. `has_more` says whether there are more orders."""

    number: int
    has_more: bool = False

    def __str__(self) -> str:
        return f"{self.number}+" if self.has_more else str(self.number)

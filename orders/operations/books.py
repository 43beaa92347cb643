"""The entries of an order for the books (Q26), and its open invoice (Q28).

A payment and a refund are booked on the day on which the order's event says that the money moved, with the tax of each rate in it.
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from uuid import UUID

from django.utils.timezone import localdate

from analytics.days import shop_day
from books import operations as books
from books.entities import INVOICE, PAYMENT, REFUND, BookEntry, OpenInvoice, TaxedAmount
from orders.lifecycle import balance
from orders.lifecycle.entities import Order
from orders.lifecycle.events import parse_line_units
from orders.lifecycle.items import Item
from orders.lifecycle.states import CANCELLED, EXPIRED, PENDING
from orders.lifecycle.stored_sums import parse_taxes
from payments.methods import MANUAL_METHODS, TRANSFER
from pricing import tax
from pricing.money import from_minor_units, to_minor_units
from pricing.proration import prorate_amount

# The event on whose day an order has its invoice: the first of these.
_INVOICING = ("authorized", "paid_late", "confirmed")


def record_order_books(order: Order, items: Sequence[Item]) -> None:
    """Book the entries of an order that are not booked yet, and its open invoice. Raises CassandraUnavailable."""
    books.record_entries(build_entries(order, items))
    # A card pays at once, unless the bank refuses what it had approved.
    if order.payment_method in MANUAL_METHODS or any(
        event.kind == "capture_refused" for event in order.events
    ):
        books.record_open_invoice(build_open_invoice(order), order.version)


def build_open_invoice(order: Order) -> OpenInvoice:
    """Return the open invoice of an order; its amount is 0 if no money is awaited.

    A transfer is due at the end of the time to pay, a delivery that is paid later on the last day on which it was promised.
    """
    is_over = order.state in (CANCELLED, EXPIRED) or order.payment == "authorized"
    is_unplaced = order.state == PENDING and (
        order.payment_method != TRANSFER or order.needs_email_confirmation
    )
    amount = 0 if is_over or is_unplaced else to_minor_units(balance.amount_to_capture(order))
    return OpenInvoice(
        order.order_id,
        order.placed_at,
        order.number,
        order.payment_method,
        order.country,
        order.total.currency.code,
        amount,
        localdate(order.pay_until) if order.payment_method == TRANSFER else order.method.last,
    )


def build_entries(order: Order, items: Sequence[Item]) -> list[BookEntry]:
    """Return the entries of all events of an order, oldest first, each on the event's own day."""
    gateways = {each.payment_id: each.gateway for each in order.payment_attempts}
    gross_after = _gross_after_events(order, items)
    refund_weights = _weigh_refunds(order, items, gross_after)
    found: dict[tuple[UUID, str], BookEntry] = {}
    for event in reversed(order.events):
        payment_id = ""
        amounts: tuple[TaxedAmount, ...] = ()
        if event.kind == "captured":
            kind, payment_id = PAYMENT, event.details["payment_id"]
            amounts = _split(order, event.details["amount"], gross_after[event.event_id])
        elif event.kind == "refunded":
            kind, payment_id = REFUND, next(iter(event.details.get("of", ())), "")
            weights = refund_weights.get(event.details["refund"], {})
            amounts = _split(order, event.details["amount"], weights)
        elif event.kind in _INVOICING and not any(each.kind == INVOICE for each in found.values()):
            kind = INVOICE
        else:
            continue
        entry = BookEntry(
            order.order_id,
            event.event_id,
            kind,
            shop_day(event.at),
            order.number,
            (payment_id and gateways.get(UUID(payment_id))) or order.payment_method,
            order.total.currency.code,
            order.country,
            amounts,
        )
        found[entry.key] = entry
    return list(found.values())


def _gross_after_events(order: Order, items: Sequence[Item]) -> dict[UUID, dict[Decimal, int]]:
    """Return the order's gross sums by tax rate after each of its events, keyed by the event's id, oldest first."""
    taxes = order.taxes
    if any(event.kind == "changed" for event in order.events):
        # As it was placed: the header has the sums after the last change.
        sums = [
            *((item.tax_class, item.line_total - item.discount) for item in items),
            ("standard", order.delivery),
        ]
        compute = tax.compute_added_tax if order.tax_added.amount else tax.split_included_tax
        taxes = compute(sums, order.tax_rates)
    found = {}
    for event in reversed(order.events):
        if event.kind == "changed":
            taxes = parse_taxes(event.details["sums"]["taxes"], order.total.currency.code)
        found[event.event_id] = {part.rate: to_minor_units(part.net + part.tax) for part in taxes}
    return found


def _weigh_refunds(
    order: Order, items: Sequence[Item], gross_after: Mapping[UUID, Mapping[Decimal, int]]
) -> dict[str, dict[Decimal, int]]:
    """Return the sums by tax rate in whose proportion each refund is split, keyed by the refund's id.

    A refund for units has the rates of their lines, one for a change what the change took away, and any other the whole order's.
    """
    by_change, weights = balance.change_refund_ids(order), {}
    after = list(gross_after.values())
    for number, event in enumerate(reversed(order.events)):
        if event.kind != "refund_owed":
            continue
        refund_id, found = event.details["refund"], dict[Decimal, int]()
        if refund_id in by_change:
            # The events before it are the change and, before that, the order as it was.
            before, left = after[number - 2], after[number]
            found = {rate: max(before[rate] - left.get(rate, 0), 0) for rate in before}
        else:
            units = parse_line_units(event.details.get("lines"))
            for item in items:
                rate = order.tax_rates[item.tax_class]
                worth = item.units_total(min(units.get(item.line_number, 0), item.quantity))
                found[rate] = found.get(rate, 0) + to_minor_units(worth)
        weights[refund_id] = found if any(found.values()) else dict(after[number])
    return weights


def _split(order: Order, amount: int, weights: Mapping[Decimal, int]) -> tuple[TaxedAmount, ...]:
    """Split an amount over tax rates in proportion to the weights; the parts add up to the amount."""
    if not any(weights.values()):
        return (TaxedAmount(Decimal(0), amount, 0),)
    currency = order.total.currency.code
    parts = zip(weights, prorate_amount(amount, list(weights.values())), strict=True)
    taxes = (
        part
        for rate, gross in parts
        for part in tax.split_included_tax([("", from_minor_units(gross, currency))], {"": rate})
    )
    return tuple(
        TaxedAmount(part.rate, to_minor_units(part.net), to_minor_units(part.tax)) for part in taxes
    )

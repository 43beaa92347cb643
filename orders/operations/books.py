"""The entries of an order for the books (Q26), and its open invoice (Q28).

A payment and a refund are booked on the day on which the order's event says that the money moved, with the tax of each rate in it.
Parts follow what was moved before: an order that is paid in full has the sums of its invoice, and one refunded in full has none left.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any
from uuid import UUID

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
from pricing.tax import TaxPart
from web.days import last_day

# The event on whose day an order has its invoice: the first of these.
_INVOICING = ("authorized", "paid_late", "confirmed")


def record_order_books(order: Order, items: Sequence[Item], *, is_fill: bool = False) -> None:
    """Book the entries of an order that are not booked yet, and its open invoice. Raises CassandraUnavailable.

    A fill (`is_fill`) deletes no open invoices: old orders without one would leave tombstones before those of today.
    """
    books.record_entries(build_entries(order, items))
    if _may_be_open(order):
        invoice = build_open_invoice(order)
        if invoice.amount or not is_fill:
            books.record_open_invoice(invoice, order.version)


def _may_be_open(order: Order) -> bool:
    # A card pays at once, unless the bank refuses what it had approved.
    return order.payment_method in MANUAL_METHODS or any(
        event.kind == "capture_refused" for event in order.events
    )


def build_open_invoice(order: Order) -> OpenInvoice:
    """Return the open invoice of an order; its amount is 0 if no money is awaited.

    A transfer is due on the last day of the time to pay, any other order on the last day of its promised delivery.
    """
    is_over = order.state in (CANCELLED, EXPIRED) or order.payment == "authorized"
    is_unplaced = order.state == PENDING and (
        order.payment_method != TRANSFER or order.needs_email_confirmation
    )
    is_open = _may_be_open(order) and not is_over and not is_unplaced
    amount = to_minor_units(balance.amount_to_capture(order)) if is_open else 0
    return OpenInvoice(
        order.order_id,
        order.placed_at,
        order.number,
        order.payment_method,
        order.country,
        order.total.currency.code,
        amount,
        last_day(order.pay_until) if order.payment_method == TRANSFER else order.method.last,
    )


def build_entries(order: Order, items: Sequence[Item]) -> list[BookEntry]:
    """Return the entries of all events of an order, oldest first, each on the event's own day."""
    gateways = {each.payment_id: each.gateway for each in order.payment_attempts}
    by_change, named = balance.change_refund_ids(order), dict[str, Counter[Decimal]]()
    sold = before = _sold_when_placed(order, items)
    moved = {PAYMENT: Counter[Decimal](), REFUND: Counter[Decimal]()}
    found: dict[tuple[UUID, str], BookEntry] = {}
    for event in reversed(order.events):
        details, payment_id = event.details, ""
        if event.kind == "changed":
            taxes = parse_taxes(details["sums"]["taxes"], order.total.currency.code)
            before, sold = sold, _gross_by_rate(taxes)
        elif event.kind == "refund_owed":
            refund_id = details["refund"]
            named[refund_id] = (
                before - sold if refund_id in by_change else _name_parts(order, items, details)
            )
        if event.kind == "captured":
            kind, payment_id = PAYMENT, details["payment_id"]
            parts = _divide(details["amount"], Counter(), sold - moved[PAYMENT])
        elif event.kind == "refunded":
            kind, payment_id = REFUND, next(iter(details.get("of", ())), "")
            wanted = named.get(details["refund"], Counter())
            parts = _divide(details["amount"], wanted, moved[PAYMENT] - moved[REFUND])
        elif event.kind in _INVOICING and not any(each.kind == INVOICE for each in found.values()):
            kind, parts = INVOICE, Counter()
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
            _add_taxed(order, moved[kind], parts) if parts else (),
        )
        found[entry.key] = entry
    return list(found.values())


def _sold_when_placed(order: Order, items: Sequence[Item]) -> Counter[Decimal]:
    """Return the gross sums of an order by tax rate before any change. The header has those after the last one."""
    if all(event.kind != "changed" for event in order.events):
        return _gross_by_rate(order.taxes)
    sums = [
        *((item.tax_class, item.line_total - item.discount) for item in items),
        ("standard", order.delivery),
    ]
    compute = tax.compute_added_tax if order.tax_added.amount else tax.split_included_tax
    return _gross_by_rate(compute(sums, order.tax_rates))


def _gross_by_rate(taxes: Iterable[TaxPart]) -> Counter[Decimal]:
    return Counter({part.rate: to_minor_units(part.net + part.tax) for part in taxes})


def _name_parts(
    order: Order, items: Sequence[Item], details: Mapping[str, Any]
) -> Counter[Decimal]:
    """Return the gross sums by tax rate of the units and the delivery that a refund names; none if it names only an amount."""
    found, units = Counter[Decimal](), parse_line_units(details.get("lines"))
    for item in items:
        worth = item.units_total(min(units.get(item.line_number, 0), item.quantity))
        found[order.tax_rates[item.tax_class]] += to_minor_units(worth)
    if details.get("delivery"):
        found[order.tax_rates["standard"]] += to_minor_units(order.delivery)
    return found


def _divide(amount: int, named: Counter[Decimal], left: Counter[Decimal]) -> Counter[Decimal]:
    """Divide an amount over tax rates: first over what it names, as far as that is left, then over the rest of what is left."""
    named = named & left
    first = min(amount, named.total())
    return _prorate(first, named) + _prorate(amount - first, left - named)


def _prorate(amount: int, over: Counter[Decimal]) -> Counter[Decimal]:
    over = over or Counter({Decimal(0): 1})
    return Counter(dict(zip(over, prorate_amount(amount, list(over.values())), strict=True)))


def _add_taxed(
    order: Order, moved: Counter[Decimal], parts: Counter[Decimal]
) -> tuple[TaxedAmount, ...]:
    """Add parts to what was moved before; return them with their tax: that of the new sum less that of the former."""
    found = []
    for rate in sorted(parts, reverse=True):
        former = _included_tax(order, rate, moved[rate])
        moved[rate] += parts[rate]
        taxed = _included_tax(order, rate, moved[rate]) - former
        found.append(TaxedAmount(rate, parts[rate] - taxed, taxed))
    return tuple(found)


def _included_tax(order: Order, rate: Decimal, gross: int) -> int:
    amount = from_minor_units(gross, order.total.currency.code)
    parts = tax.split_included_tax([("", amount)], {"": rate})
    return sum(to_minor_units(part.tax) for part in parts)

"""Changes an order before it is packed: fewer units of a line, or another delivery address in the same country.

The sums are recalculated at the prices of the order; delivery costs the same. The new discount is at most the share that the
remaining lines had: after "buy two, get the third free" the third alone is not free. The same batch decides the refund.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import uuid5

from django.utils.translation import gettext as _
from moneyed import Money

from accounts.addresses import Address
from inventory.entities import BACKORDER_WAREHOUSE
from orders import queries
from orders.lifecycle import balance
from orders.lifecycle.entities import Order
from orders.lifecycle.errors import TransitionRefused
from orders.lifecycle.items import Item, prorate_discount
from orders.lifecycle.parcels import units_to_pack
from orders.lifecycle.stored_sums import dump_discounts, dump_taxes
from orders.lifecycle.transitions import Transition
from orders.operations.effects import transition_order
from pricing import tax
from pricing.money import from_minor_units, to_minor_units
from pricing.proration import prorate_amount


def change_order(
    order: Order,
    quantities: Mapping[int, int],
    address: Address | None = None,
    *,
    actor: str,
    now: datetime,
) -> Order:
    """Lower quantities, by line number, or change the address of an order that is not packed yet; return the order.

    Lines that `quantities` does not name stay as they are. `now` is in UTC. Raises TransitionRefused if the order does not
    allow the change or nothing would change, OrderChanged if another write was faster, CassandraUnavailable.
    """
    change = plan_change(order, queries.list_items(order), quantities, address)
    return transition_order(
        order,
        Transition(
            "changed",
            actor=actor,
            at=now,
            allocations_json=change.allocations_json,
            details=change.details,
            companion_events=change.companion_events,
        ),
    )


def compute_change_refund(
    order: Order, items: Sequence[Item], quantities: Mapping[int, int]
) -> Money:
    """Return the refund that a change to these quantities would cause. Raises TransitionRefused."""
    owed = plan_change(order, items, quantities, None).companion_events.get("refund_owed", {})
    return from_minor_units(owed.get("amount", 0), order.total.currency.code)


@dataclass(frozen=True)
class OrderChange:
    """A change's event details, the new allocations ('' if they stay the same), and its companion events."""

    details: dict[str, Any]
    allocations_json: str
    companion_events: dict[str, dict[str, Any]]


def plan_change(
    order: Order, items: Sequence[Item], quantities: Mapping[int, int], address: Address | None
) -> OrderChange:
    """Return the planned change of an order. Raises TransitionRefused if it is not allowed or changes nothing."""
    fewer = {
        line: count for line, count in quantities.items() if count != order.quantities.get(line, 0)
    }
    if address is not None and address.stored_fields() == order.delivery_address.stored_fields():
        address = None
    if not fewer and address is None:
        raise TransitionRefused(order, "changed", _("nothing is different"))
    if address is not None and address.country != order.country:
        raise TransitionRefused(order, "changed", "tax and delivery are those of its country")
    if any(not 0 <= count <= order.quantities.get(line, 0) for line, count in fewer.items()):
        raise TransitionRefused(order, "changed", _("that many weren’t ordered"))
    if not any((order.quantities | fewer).values()):
        raise TransitionRefused(order, "changed", _("nothing would be left of it"))
    sums = recalculate_sums(order, items, order.quantities | fewer)
    details: dict[str, Any] = {"lines": fewer, "sums": sums}
    if address is not None:
        details["address"] = address.stored_fields()
    total = from_minor_units(sums["total"], order.total.currency.code)
    due_refund = _due_refund(order, items, total, fewer)
    return OrderChange(
        details,
        _reduced_allocations(order, fewer) if fewer else "",
        {"refund_owed": due_refund} if due_refund else {},
    )


def recalculate_sums(
    order: Order, items: Sequence[Item], quantities: Mapping[int, int]
) -> dict[str, Any]:
    """Return the order's sums with these quantities, in minor units, as the event of the change stores them."""
    if quantities == order.quantities:
        lines, discounts = order.current_lines(items), order.discounts
        subtotal, discount, taxes, total = order.subtotal, order.discount, order.taxes, order.total
    else:
        whole = tuple(
            item.with_quantity(quantities[item.line_number])
            for item in items
            if quantities.get(item.line_number)
        )
        zero = order.total * 0
        subtotal, most = (
            sum((line.line_total for line in whole), zero),
            sum((line.discount for line in whole), zero),
        )
        discount = min(most, _share_of_discount(order, subtotal))
        while True:
            lines = prorate_discount(whole, discount)
            taxes = _taxes(order, lines)
            total = subtotal + order.delivery - discount
            if order.tax_added.amount:
                total += sum((part.tax for part in taxes), zero)
            if total <= order.total or discount == most:
                break
            # Where tax is added, the remaining lines may have a higher rate. Fewer units must not cost more.
            discount = min(most, discount + total - order.total)
        discounts = tuple(
            replace(each, amount=from_minor_units(amount, zero.currency.code))
            for each, amount in zip(
                order.discounts,
                prorate_amount(
                    to_minor_units(discount),
                    [to_minor_units(each.amount) for each in order.discounts],
                ),
                strict=True,
            )
        )
    return {
        "subtotal": to_minor_units(subtotal),
        "discount": to_minor_units(discount),
        "total": to_minor_units(total),
        "was": to_minor_units(order.total),
        "tax": sum(to_minor_units(part.tax) for part in taxes),
        "taxes": dump_taxes(taxes),
        "discounts": dump_discounts(discounts),
        "item_count": sum(line.quantity for line in lines),
    }


def _share_of_discount(order: Order, subtotal: Money) -> Money:
    """Return the share of the order's discount, in proportion, for lines with this subtotal."""
    cents = (
        to_minor_units(order.discount)
        * to_minor_units(subtotal)
        // max(to_minor_units(order.subtotal), 1)
    )
    return from_minor_units(cents, order.total.currency.code)


def _taxes(order: Order, lines: Iterable[Item]) -> tuple[tax.TaxPart, ...]:
    taxed = [
        *((line.tax_class, line.line_total - line.discount) for line in lines),
        ("standard", order.delivery),
    ]
    return (tax.compute_added_tax if order.tax_added.amount else tax.split_included_tax)(
        taxed, order.tax_rates
    )


def _reduced_allocations(order: Order, fewer: Mapping[int, int]) -> str:
    """Return the allocations after the change. Backordered units go first, then units of the warehouse with the fewest units."""
    reserved_units = {warehouse: dict(lines) for warehouse, lines in order.reserved_units.items()}
    free = units_to_pack(reserved_units, order.parcels())
    if BACKORDER_WAREHOUSE in reserved_units:
        free[BACKORDER_WAREHOUSE] = dict(reserved_units[BACKORDER_WAREHOUSE])
    for line, count in fewer.items():
        too_many = order.quantities.get(line, 0) - count
        for warehouse in sorted(
            free, key=lambda each: (each != BACKORDER_WAREHOUSE, free[each].get(line, 0))
        ):
            units = min(too_many, free[warehouse].get(line, 0))
            reserved_units[warehouse][line] = reserved_units[warehouse].get(line, 0) - units
            too_many -= units
    taken: dict[str, object] = {"take": json.loads(order.allocations_json)["take"]}
    # A line without units stays listed, so that its reservation is found and released.
    return json.dumps(
        taken
        | {
            warehouse: [[line, units] for line, units in lines.items()]
            for warehouse, lines in reserved_units.items()
        }
    )


def _due_refund(
    order: Order, items: Iterable[Item], total: Money, fewer: Mapping[int, int]
) -> dict[str, Any]:
    """Return the details of the refund for the removed units; {} if they were not paid for, or were refunded before."""
    items, zero = tuple(items), order.total * 0
    removed = {line: order.quantities[line] - count for line, count in fewer.items()}
    refunded_units, _ = balance.refunded_units_by_line(
        order, {item.line_number: item.quantity for item in items}
    )
    refunded_units = {
        line: min(count, refunded_units.get(line, 0)) for line, count in removed.items()
    }
    refunded_amount = sum(
        (
            line.units_total(refunded_units.get(line.line_number, 0))
            for line in order.current_lines(items)
        ),
        zero,
    )
    refundable = balance.refundable_amount(order)
    amount = min(refundable, order.captured - total, order.total - total - refunded_amount)
    # At least the money that the shop holds beyond the order's new total.
    amount = max(amount, refundable - total)
    if to_minor_units(amount) <= 0:
        return {}
    return {
        "refund": str(uuid5(order.order_id, f"refund {order.version}")),
        "amount": to_minor_units(amount),
        "lines": {
            line: count - refunded_units[line]
            for line, count in removed.items()
            if count > refunded_units[line]
        },
        "reason": balance.CHANGE_REFUND_REASON,
    }

"""An order is changed before it is packed: fewer of a line, or another door in the same country.

What is left is summed up anew at the prices of the order; delivery costs what it did. Of each line's discount its share
stays, but of the whole discount no more than the goods that stay had of it: who buys two to get a third for nothing does
not keep the third alone. What was paid too much is owed back by the same batch.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import uuid5

from django.utils.translation import gettext as _
from moneyed import Money

from accounts.addresses import Address
from inventory.entities import BACKORDER_WAREHOUSE
from orders import balance, queries
from orders.entities import Order
from orders.errors import TransitionRefused
from orders.items import Item, spread_discount
from orders.operations.effects import transition_order
from orders.parcels import units_to_pack
from orders.transitions import Transition
from pricing import tax
from pricing.money import from_minor_units, to_minor_units
from pricing.quotes import Discount
from pricing.shares import spread_amount


def change_order(
    order: Order,
    quantities: Mapping[int, int],
    address: Address | None = None,
    *,
    actor: str,
    now: datetime,
    note: str = "",
) -> Order:
    """Lower the quantities of lines, by line number, or change the address of an order that is not packed yet; return it.

    `quantities` are the new ones; a line that is not named stays. Units that are packed cannot be given back, the others
    can. `now` is in UTC. Raises TransitionRefused when that cannot happen to the order as it was read, or nothing would change;
    StaleOrder when somebody was faster, CassandraUnavailable.
    """
    change = plan_change(order, queries.list_items(order), quantities, address)
    return transition_order(
        order,
        Transition(
            "changed",
            actor=actor,
            at=now,
            note=note,
            allocations_json=change.allocations_json,
            details=change.details,
            companion_events=change.companion_events,
        ),
    )


@dataclass(frozen=True)
class OrderChange:
    """What a change's event says, which units are kept from then on ('' for the same), and what happens with it."""

    details: dict[str, Any]
    allocations_json: str
    companion_events: dict[str, dict[str, Any]]


def plan_change(
    order: Order, items: Sequence[Item], quantities: Mapping[int, int], address: Address | None
) -> OrderChange:
    """Return what a change means for the order with these items. Raises TransitionRefused when there is none, or it cannot be."""
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
        raise TransitionRefused(order, "changed", _("that many were not ordered"))
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
    """Return what the order would come to with these quantities, in minor units as the event keeps it."""
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
            lines = spread_discount(whole, discount)
            taxes = _taxes(order, lines)
            total = subtotal + order.delivery - discount
            if order.tax_added.amount:
                total += sum((part.tax for part in taxes), zero)
            if total <= order.total or discount == most:
                break
            # Where tax is added, what stays may have a higher rate than what goes: fewer things never cost more.
            discount = min(most, discount + total - order.total)
        discounts = tuple(
            Discount(each.name, from_minor_units(amount, zero.currency.code))
            for each, amount in zip(
                order.discounts,
                spread_amount(
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
        "taxes": [
            {
                "rate": str(part.rate),
                "net": to_minor_units(part.net),
                "tax": to_minor_units(part.tax),
            }
            for part in taxes
        ],
        "discounts": [
            {"name": each.name, "amount": to_minor_units(each.amount)} for each in discounts
        ],
        "item_count": sum(line.quantity for line in lines),
    }


def _share_of_discount(order: Order, subtotal: Money) -> Money:
    """Return what goods of this sum have of the order's discount, in proportion."""
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
        taxed, order.country
    )


def _reduced_allocations(order: Order, fewer: Mapping[int, int]) -> str:
    """Return which units are kept from now on: those that wait for goods go first, then those in the smallest part."""
    reserved_units = {warehouse: dict(lines) for warehouse, lines in order.reserved_units.items()}
    free = units_to_pack(reserved_units, order.parcels())
    if BACKORDER_WAREHOUSE in reserved_units:
        free[BACKORDER_WAREHOUSE] = dict(reserved_units[BACKORDER_WAREHOUSE])
    for line, count in fewer.items():
        too_many = order.quantities.get(line, 0) - count
        for warehouse in sorted(
            free, key=lambda house: (house != BACKORDER_WAREHOUSE, free[house].get(line, 0))
        ):
            units = min(too_many, free[warehouse].get(line, 0))
            reserved_units[warehouse][line] = reserved_units[warehouse].get(line, 0) - units
            too_many -= units
    taken: dict[str, object] = {"take": json.loads(order.allocations_json)["take"]}
    # A line of which nothing is left stays, with no units: its hold is looked at, and given back.
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
    """Return the refund of what was paid for the units that are given back, if they were and are still paid for."""
    items, zero = tuple(items), order.total * 0
    gone = {line: order.quantities[line] - count for line, count in fewer.items()}
    back, _ = balance.refunded_units_by_line(
        order, {item.line_number: item.quantity for item in items}
    )
    back = {line: min(count, back.get(line, 0)) for line, count in gone.items()}
    paid_back = sum(
        (line.units_total(back.get(line.line_number, 0)) for line in order.current_lines(items)),
        zero,
    )
    left = balance.refundable_amount(order)
    amount = min(left, order.captured - total, order.total - total - paid_back)
    # Never less than what the shop would keep above what the order costs.
    amount = max(amount, left - total)
    if to_minor_units(amount) <= 0:
        return {}
    return {
        "refund": str(uuid5(order.order_id, f"refund {order.version}")),
        "amount": to_minor_units(amount),
        "lines": {line: count - back[line] for line, count in gone.items() if count > back[line]},
        "reason": balance.CHANGE_REFUND_REASON,
    }

"""Computes the order after an event. This module reads and writes nothing.

Only `apply_event` changes an order. The order's state must allow the event (orders.lifecycle.states), and so must its parcels,
returns and money (the modules parcels, returns and balance).
"""

from dataclasses import replace
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _

from accounts.addresses import address_from_fields
from orders.lifecycle import balance, parcels, returns
from orders.lifecycle.entities import Order
from orders.lifecycle.errors import TransitionRefused
from orders.lifecycle.events import Event
from orders.lifecycle.states import TRANSITION_RULES
from orders.lifecycle.stored_sums import parse_discounts, parse_taxes
from pricing.money import from_minor_units


def apply_event(order: Order, event: Event, allocations_json: str = "") -> Order:
    """Return the order after an event. The event becomes the first in the order's events, and stores the order's board column.

    `allocations_json` are the order's new allocations as the header stores them; '' keeps the old allocations.
    Raises TransitionRefused if the order does not allow the event.
    """
    rule = TRANSITION_RULES[event.kind]
    if not rule.is_allowed(order):
        raise TransitionRefused(order, event.kind)
    if why := _problem(order, event):
        raise TransitionRefused(order, event.kind, why)
    next_status, sums = (
        rule.next_status(order),
        balance.balance_after(order, event.kind, event.details),
    )
    then = replace(
        order,
        state=next_status.state,
        payment=sums.payment,
        captured=sums.captured,
        refunded=sums.refunded,
        version=order.version + 1,
        allocations_json=allocations_json or order.allocations_json,
        events=(event, *order.events),
    )
    if event.kind == "changed":
        then = _apply_change(then, event.details)
    if event.kind == "tagged":
        added, removed = event.details["added"], event.details["removed"]
        then = replace(then, tags=tuple(sorted({*then.tags, *added} - {*removed})))
    if event.kind == "email_confirmed":
        then = replace(then, pay_until=datetime.fromisoformat(event.details["pay_until"]))
    then = replace(then, fulfilment=parcels.fulfilment_status(then.reserved_units, then.parcels()))
    return replace(then, events=(replace(event, board_after=then.board_column), *order.events))


def _problem(order: Order, event: Event) -> str:
    if event.kind == parcels.TRACKED and order.is_erased:
        return _("its customer’s data was deleted")
    if event.kind in ("packed", parcels.TRACKED, *parcels.STEPS):
        return parcels.parcel_problem(event, order.parcels(), order.reserved_units)
    if event.kind in returns.KINDS or event.kind == "refund_owed":
        return returns.return_problem(event, order.returnable_units(), order.returns)
    if event.kind == "changed":
        return _change_problem(order, event.details)
    if event.kind == "payment_started" and order.open_payment_attempt:
        return _("a payment is already under way")
    if event.kind == "email_confirmed" and not order.needs_email_confirmation:
        return _("its email address is already confirmed")
    if event.kind == "confirmed" and order.needs_email_confirmation:
        return _("its email address isn’t confirmed yet")
    if event.kind == "late" and (order.is_late or not order.has_units_to_pack):
        return _("it isn’t waiting to be packed, or is already late")
    return ""


def _change_problem(order: Order, details: dict[str, Any]) -> str:
    """Return the reason why a change is refused, or ''. A change may only remove unpacked units, and must leave one unit."""
    fewer = {int(line): int(count) for line, count in details["lines"].items()}
    packed_units, quantities = (
        parcels.units_by_line(parcels.packed_units(order.parcels())),
        order.quantities,
    )
    if order.payment == "authorized" and fewer:
        return _("we’re taking the payment right now")
    if details.get("address") and packed_units:
        return _("part of it is already packed")
    for line, count in fewer.items():
        if not packed_units.get(line, 0) <= count < quantities.get(line, 0):
            return _("that many are already packed, or weren’t ordered")
    if not any((quantities | fewer).values()):
        return _("nothing would be left of it")
    return ""


def _apply_change(order: Order, details: dict[str, Any]) -> Order:
    """Return the order with a change's address and sums."""
    if address_fields := details.get("address"):
        address = address_from_fields(address_fields)
        order = replace(order, delivery_address=address, name=address.name)
    sums = details["sums"]
    currency = order.total.currency.code
    return replace(
        order,
        subtotal=from_minor_units(sums["subtotal"], currency),
        discount=from_minor_units(sums["discount"], currency),
        total=from_minor_units(sums["total"], currency),
        tax=from_minor_units(sums["tax"], currency),
        taxes=parse_taxes(sums["taxes"], currency),
        discounts=parse_discounts(sums["discounts"], currency),
        item_count=sums["item_count"],
    )

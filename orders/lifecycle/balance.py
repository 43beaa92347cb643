"""An order's money, folded from its events: the captured amount, due refunds, and the refunded amount.

`captured` never exceeds the order's total, and `refunded` never exceeds `captured` (I2). An event that would break this rule is
refused before it is written. `Item.units_total` returns the price of units of a line, to the cent.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any
from uuid import UUID

from moneyed import Money

from orders.lifecycle.entities import Order
from orders.lifecycle.errors import TransitionRefused
from orders.lifecycle.events import parse_line_units
from orders.lifecycle.states import CANCELLED, EXPIRED, TRANSITION_RULES
from payments.methods import MANUAL_METHODS
from pricing.money import from_minor_units, to_minor_units

# The reason of refunds that a change of the order causes.
CHANGE_REFUND_REASON = "The order was changed."


@dataclass(frozen=True)
class Balance:
    """The money fields of an order's header."""

    payment: str
    captured: Money
    refunded: Money


def change_refund_ids(order: Order) -> frozenset[str]:
    """Return the ids of the refunds that were decided in one batch with a change of the order."""
    return frozenset(
        str(event.details["refund"])
        for event, before in pairwise(order.events)
        if event.kind == "refund_owed"
        and before.kind == "changed"
        and event.details.get("reason") == CHANGE_REFUND_REASON
    )


def refunded_units_by_line(
    order: Order, ordered: Mapping[int, int]
) -> tuple[dict[int, int], dict[int, int]]:
    """Return the refunded units that are still in the order, and the refunded units that changes removed later, each by line.

    `ordered` has the units by line when the order was placed. A change removes refunded units first. Units that a change itself
    refunds are in neither result.
    """
    current, refunded, removed = dict(ordered), dict.fromkeys(ordered, 0), dict.fromkeys(ordered, 0)
    skipped = change_refund_ids(order)
    for event in reversed(order.events):
        if event.kind == "refund_owed" and event.details["refund"] not in skipped:
            for line, count in parse_line_units(event.details.get("lines")).items():
                refunded[line] = min(refunded.get(line, 0) + count, current.get(line, 0))
        elif event.kind == "changed":
            for line, left in (
                (int(line), int(left)) for line, left in event.details["lines"].items()
            ):
                removed_now = min(refunded[line], current[line] - left)
                refunded[line], removed[line], current[line] = (
                    refunded[line] - removed_now,
                    removed[line] + removed_now,
                    left,
                )
    return refunded, removed


def refundable_amount(order: Order) -> Money:
    """Return the amount that may still be refunded: the captured amount less the refunds, sent or due."""
    return (
        order.captured
        - order.refunded
        - sum((each.amount for each in order.due_refunds), order.total * 0)
    )


def amount_given_back(order: Order) -> Money:
    """Return the sum of an order's refunds, sent or due."""
    return order.captured - refundable_amount(order)


def amount_to_give_up(order: Order) -> Money:
    """Return the amount that cancelling the order gives back: the refundable amount and the authorised amount."""
    approved = amount_to_capture(order) if order.payment == "authorized" else order.total * 0
    return refundable_amount(order) + approved


def is_paid_since(order: Order, moment: datetime) -> bool:
    """Return whether the order's payment was received or authorised after a moment."""
    kinds = {"authorized", "paid_late", "paid_too_late"}
    if order.payment_method in MANUAL_METHODS:
        kinds.add("captured")
    return any(event.kind in kinds and event.at > moment for event in order.events)


def amount_to_capture(order: Order) -> Money:
    """Return the part of the order's total that is still to be captured; never less than zero."""
    return max(order.total - order.captured, order.total * 0)


def balance_by_payment(order: Order) -> dict[UUID, Money]:
    """Return the captured amount less the refunded amount of each payment, keyed by payment id."""
    balances: dict[UUID, Money] = {}
    for event in reversed(order.events):
        if event.kind == "captured":
            amount = from_minor_units(event.details["amount"], order.total.currency.code)
            payment_id = UUID(event.details["payment_id"])
            balances[payment_id] = balances.get(payment_id, order.total * 0) + amount
        elif event.kind == "refunded":
            for payment, cents in event.details["of"].items():
                balances[UUID(payment)] -= from_minor_units(cents, order.total.currency.code)
    return balances


def refund_sources(order: Order, amount: Money) -> dict[UUID, Money]:
    """Return the part of a refund that comes from each payment, keyed by payment id, newest payment first."""
    sources: dict[UUID, Money] = {}
    for payment_id, left in reversed(balance_by_payment(order).items()):
        part = min(left, amount)
        if to_minor_units(part) > 0:
            sources[payment_id] = part
            amount -= part
    return sources


def capture_keys(order: Order) -> frozenset[str]:
    """Return the idempotency keys of the recorded captures. Each key is recorded once."""
    return frozenset(event.details["key"] for event in order.events if event.kind == "captured")


def balance_after(order: Order, kind: str, details: Mapping[str, Any]) -> Balance:
    """Return an order's money after an event. Raises TransitionRefused if it would capture or refund too much."""
    payment = TRANSITION_RULES[kind].next_status(order).payment
    captured, refunded = order.captured, order.refunded
    amount = from_minor_units(int(details.get("amount", 0)), order.total.currency.code)
    if kind == "captured":
        if (
            to_minor_units(amount) <= 0
            or amount > amount_to_capture(order)
            or details["key"] in capture_keys(order)
        ):
            raise TransitionRefused(order, kind)
        captured += amount
        if to_minor_units(refunded):
            payment = "partially_refunded"
        elif captured < order.total and order.state not in (CANCELLED, EXPIRED):
            payment = order.payment
    elif kind in ("paid_late", "paid_too_late") and captured >= order.total:
        payment = order.payment
    elif kind == "confirmed" and captured >= order.total:
        payment = "paid"
    elif kind == "refund_owed":
        known_ids = {each.refund_id for each in order.refunds}
        is_wrong = to_minor_units(amount) <= 0 or amount > refundable_amount(order)
        if is_wrong or details["refund"] in known_ids:
            raise TransitionRefused(order, kind)
    elif kind == "refunded":
        if amount > captured - refunded or details["refund"] not in {
            each.refund_id for each in order.due_refunds
        }:
            raise TransitionRefused(order, kind)
        refunded += amount
        payment = "refunded" if refunded == captured else "partially_refunded"
    return Balance(payment, captured, refunded)

"""An order's money, folded from its events: what was captured, what refunds are due, what was refunded.

`captured` never exceeds the order's total, `refunded` never what was captured: an event that would is refused before
it is written, and the version in its batch's condition ensures that the order is as it was read (I2).
How much of a line a refund of some units is, to the cent, says `orders.lifecycle.items` (pricing.proration).
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

# The reason of a refund that a change of the order causes.
CHANGE_REFUND_REASON = "The order was changed."


@dataclass(frozen=True)
class Balance:
    """The money fields of an order's header."""

    payment: str
    captured: Money
    refunded: Money


def change_refund_ids(order: Order) -> frozenset[str]:
    """Return which refunds were decided by the same batch that took units out of the order."""
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
    """Return the units of each line that were refunded and are still in the order, and those taken out of it since.

    `ordered` are the units by line that it was placed with. Refunded units are taken out first. Units that a change both
    takes out and refunds are neither.
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
    """Return how much may still be refunded: what was captured without what was, or is about to be, refunded."""
    return (
        order.captured
        - order.refunded
        - sum((each.amount for each in order.due_refunds), order.total * 0)
    )


def amount_given_back(order: Order) -> Money:
    """Return how much was given back of an order so far, sent or due."""
    return order.captured - refundable_amount(order)


def amount_to_give_up(order: Order) -> Money:
    """Return how much money cancelling the order gives back: what is left of it, and what a bank has approved."""
    approved = amount_to_capture(order) if order.payment == "authorized" else order.total * 0
    return refundable_amount(order) + approved


def is_paid_since(order: Order, moment: datetime) -> bool:
    """Return whether money came for the order after a moment, or a bank has approved it since."""
    kinds = {"authorized", "paid_late", "paid_too_late"}
    if order.payment_method in MANUAL_METHODS:
        kinds.add("captured")
    return any(event.kind in kinds and event.at > moment for event in order.events)


def amount_to_capture(order: Order) -> Money:
    """Return how much of the order's total is still to be captured; never less than zero."""
    return max(order.total - order.captured, order.total * 0)


def balance_by_payment(order: Order) -> dict[UUID, Money]:
    """Return how much of each payment we have: what was captured without what was refunded."""
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
    """Return how much of a refund comes from which payment, the newest first."""
    sources: dict[UUID, Money] = {}
    for payment_id, left in reversed(balance_by_payment(order).items()):
        part = min(left, amount)
        if to_minor_units(part) > 0:
            sources[payment_id] = part
            amount -= part
    return sources


def capture_keys(order: Order) -> frozenset[str]:
    """Return the keys of captures: a key that is there already is not captured again."""
    return frozenset(event.details["key"] for event in order.events if event.kind == "captured")


def balance_after(order: Order, kind: str, details: Mapping[str, Any]) -> Balance:
    """Return an order's money after an event. Raises TransitionRefused when it would capture, or refund, too much."""
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
        if (
            to_minor_units(amount) <= 0
            or amount > refundable_amount(order)
            or _has_refund(order, details["refund"])
        ):
            raise TransitionRefused(order, kind)
    elif kind == "refunded":
        if amount > captured - refunded or details["refund"] not in {
            each.refund_id for each in order.due_refunds
        }:
            raise TransitionRefused(order, kind)
        refunded += amount
        payment = "refunded" if refunded == captured else "partially_refunded"
    return Balance(payment, captured, refunded)


def _has_refund(order: Order, refund_id: str) -> bool:
    return any(each.refund_id == refund_id for each in order.refunds)

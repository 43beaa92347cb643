"""An order's money, folded from its events: what was taken, what is owed back, what went back.

`captured` never passes what the order costs, `refunded` never what was captured: an event that would is refused before
it is written, and the version in its batch's condition holds that to the order as it was read (I2).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any
from uuid import UUID

from moneyed import Money

from orders.entities import Order
from orders.errors import TransitionRefused
from orders.events import parse_line_units
from orders.states import CANCELLED, EXPIRED, TRANSITION_RULES
from pricing.money import from_minor_units, to_minor_units

# The reason of a refund that a change of the order brings about.
CHANGE_REFUND_REASON = "The order was changed."


@dataclass(frozen=True)
class Balance:
    """What an order's header says of its money."""

    payment: str
    captured: Money
    refunded: Money


def change_refund_ids(order: Order) -> frozenset[str]:
    """Return which refunds were decided by the very batch that took units out of the order."""
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
    """Return the units of each line that were paid back and are still in the order, and those that went out since.

    `ordered` are the units by line that it was placed with. Those that are paid back go out first. What goes out by a
    change and is paid back by it is neither.
    """
    there, back, out = dict(ordered), dict.fromkeys(ordered, 0), dict.fromkeys(ordered, 0)
    passed_over = change_refund_ids(order)
    for event in reversed(order.events):
        if event.kind == "refund_owed" and event.details["refund"] not in passed_over:
            for line, count in parse_line_units(event.details.get("lines")).items():
                back[line] = min(back.get(line, 0) + count, there.get(line, 0))
        elif event.kind == "changed":
            for line, left in (
                (int(line), int(left)) for line, left in event.details["lines"].items()
            ):
                gone = min(back[line], there[line] - left)
                back[line], out[line], there[line] = back[line] - gone, out[line] + gone, left
    return back, out


def refundable_amount(order: Order) -> Money:
    """Return how much may still be decided to go back: what was taken without what has gone, or is about to."""
    return (
        order.captured
        - order.refunded
        - sum((each.amount for each in order.due_refunds), order.total * 0)
    )


def amount_to_capture(order: Order) -> Money:
    """Return how much of what the order costs is still to be taken; nothing less than zero."""
    return max(order.total - order.captured, order.total * 0)


def balance_by_payment(order: Order) -> dict[UUID, Money]:
    """Return how much of each payment is with us: what was taken of it without what went back."""
    of: dict[UUID, Money] = {}
    for event in reversed(order.events):
        if event.kind == "captured":
            taken = from_minor_units(event.details["amount"], order.total.currency.code)
            payment_id = UUID(event.details["payment_id"])
            of[payment_id] = of.get(payment_id, order.total * 0) + taken
        elif event.kind == "refunded":
            for payment, cents in event.details["of"].items():
                of[UUID(payment)] -= from_minor_units(cents, order.total.currency.code)
    return of


def refund_sources(order: Order, amount: Money) -> dict[UUID, Money]:
    """Return from which payments a refund is taken, the newest first."""
    of: dict[UUID, Money] = {}
    for payment_id, left in reversed(balance_by_payment(order).items()):
        part = min(left, amount)
        if to_minor_units(part) > 0:
            of[payment_id] = part
            amount -= part
    return of


def capture_keys(order: Order) -> frozenset[str]:
    """Return the keys of what was taken: one that is there already is not taken again."""
    return frozenset(event.details["key"] for event in order.events if event.kind == "captured")


def balance_after(order: Order, kind: str, details: Mapping[str, Any]) -> Balance:
    """Return an order's money after an event. Raises TransitionRefused when it would take, or give back, too much."""
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

"""The attempts to pay an order, folded from its events; the table `payments` has their gateway references.

state: started, authorized, captured, declined, left_unpaid, failed, voided, refunded.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID, uuid5

from moneyed import Money

from orders.lifecycle.events import Event
from payments.methods import MANUAL_METHODS
from pricing.money import from_minor_units, to_minor_units


@dataclass(frozen=True)
class PaymentAttempt:
    """An attempt to pay an order. `reference` is the gateway's reference; '' if it was not read or does not exist yet."""

    payment_id: UUID
    gateway: str
    amount: Money
    state: str
    started_at: datetime
    reference: str = ""


def derive_payment_id(order_id: UUID, attempt_count: int) -> UUID:
    """Return the id of the attempt after `attempt_count` others, so that two concurrent submits start the same attempt."""
    return uuid5(order_id, f"payment {attempt_count}")


def started_details(payment_id: UUID, gateway: str, amount: Money) -> dict[str, Any]:
    """Return the details of the event `payment_started`."""
    return {"payment_id": str(payment_id), "gateway": gateway, "amount": to_minor_units(amount)}


def fold_payment_attempts(
    events: Sequence[Event],
    total: Money,
    *,
    is_undecided: bool,
    former: Sequence[PaymentAttempt] = (),
) -> tuple[PaymentAttempt, ...]:
    """Return the payment attempts in these events (newest first), oldest first.

    An attempt by transfer or on delivery is captured when the order's whole `total` has arrived, unless the order
    `is_undecided`. `former` are the attempts of an older order, which has no events `payment_started`.
    """
    found = {each.payment_id: each for each in former}
    captured: dict[UUID, Money] = {}
    for event in reversed(events):
        details = event.details
        if event.kind == "payment_started":
            payment_id = UUID(details["payment_id"])
            amount = from_minor_units(details["amount"], total.currency.code)
            found[payment_id] = PaymentAttempt(
                payment_id, details["gateway"], amount, "started", event.at
            )
        for payment_id, cents in _moved_amounts(event):
            moved = from_minor_units(cents, total.currency.code)
            captured[payment_id] = captured.get(payment_id, total * 0) + moved
        for payment_id in _named_payments(event):
            attempt = found.get(payment_id) or PaymentAttempt(
                payment_id, "", total, "started", event.at
            )
            has_money = captured.get(payment_id, total * 0)
            is_complete = has_money >= total and not is_undecided
            state = _state_after(attempt, event, has_money, is_complete=is_complete)
            found[payment_id] = replace(attempt, state=state)
    return tuple(found.values())


def _moved_amounts(event: Event) -> Iterator[tuple[UUID, int]]:
    """Yield for each payment the amount that an event captures, or the negative amount that it refunds, in minor units."""
    if event.kind == "captured":
        yield UUID(event.details["payment_id"]), event.details["amount"]
    elif event.kind == "refunded":
        for payment, cents in event.details["of"].items():
            yield UUID(payment), -cents


def _named_payments(event: Event) -> list[UUID]:
    if event.kind == "refunded":
        return [UUID(payment) for payment in event.details["of"]]
    named = event.details.get("payment_id")
    return [UUID(named)] if named else []


def _state_after(
    attempt: PaymentAttempt, event: Event, captured: Money, *, is_complete: bool
) -> str:
    """Return the state of an attempt after an event that names it."""
    match event.kind:
        case "authorized" | "paid_late" | "paid_too_late" if attempt.state == "started":
            return "authorized"
        case "captured" if attempt.gateway not in MANUAL_METHODS or is_complete:
            return "captured"
        case "voided":
            return "voided"
        case "capture_refused" if attempt.state != "captured":  # a part may have been captured
            return "failed"
        case "payment_failed":
            return str(event.details["cause"])
        case "payment_closed":
            return str(event.details["outcome"])
        case "refunded" if not to_minor_units(captured):
            return "refunded"
    return attempt.state

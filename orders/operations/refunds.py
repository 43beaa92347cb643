"""Moving an order's money at its gateway: capture, void, refund.

A first event decides each step; the gateway executes it under that event's key; a second event records it. After a crash the
next process repeats it under the same key, so the gateway executes it once.
"""

import logging
from collections.abc import Callable
from datetime import datetime
from uuid import uuid5

from moneyed import Money

from orders import queries
from orders.lifecycle import balance
from orders.lifecycle.entities import Order
from orders.lifecycle.errors import OrderChanged, SettlementUnstable, TransitionRefused
from orders.lifecycle.payment_attempts import PaymentAttempt
from orders.lifecycle.refunds import Refund
from orders.lifecycle.states import CANCELLED, CLOSED, CONFIRMED, EXPIRED, ON_HOLD
from orders.lifecycle.transitions import Transition
from orders.operations.transitions import append_event
from payments import gateways
from payments.gateways import CaptureRefused, Gateway, PaymentOutcome
from payments.methods import MANUAL_METHODS
from pricing.money import from_minor_units, to_minor_units

log = logging.getLogger(__name__)


def settle_captures_and_refunds(order: Order, now: datetime) -> Order:
    """Make all captures, voids and refunds of an order's money that are due; return the order. `now` is in UTC.

    An authorised amount is captured once the order is confirmed, and voided if it has ended. The captured amount of an order
    that has ended is refunded in full, and due refunds are sent. Refunds of MANUAL_METHODS stay due until staff record them.
    Raises GatewayUnavailable, SettlementUnstable after many steps, CassandraUnavailable.
    """
    for _ in range(12):
        step = _next_step(order)
        if step is None:
            return order
        try:
            order = step(order, now)
        except OrderChanged as stale:
            order = stale.order
        except TransitionRefused as refused:
            order = queries.get_order(order.order_id) or refused.order
    raise SettlementUnstable(order)


def _next_step(order: Order) -> Callable[[Order, datetime], Order] | None:
    if order.payment == "authorized":
        if order.state in (CONFIRMED, ON_HOLD, CLOSED):
            return _capture
        if order.state in (CANCELLED, EXPIRED):
            return _void_payment
    if order.state in (CANCELLED, EXPIRED) and to_minor_units(balance.refundable_amount(order)) > 0:
        return _decide_full_refund
    if order.due_refunds and order.payment_method not in MANUAL_METHODS:
        return _refund_next
    return None


def _capture(order: Order, now: datetime) -> Order:
    attempt = _paying_attempt(order)
    amount = balance.amount_to_capture(order)
    if to_minor_units(amount):
        try:
            _gateway_for(attempt).capture(
                attempt.reference, amount, f"capture {attempt.payment_id} {to_minor_units(amount)}"
            )
        except CaptureRefused as refused:
            return _handle_capture_refusal(order, attempt, refused, now)
    return _record_capture(order, attempt, amount, now)


def _record_capture(order: Order, attempt: PaymentAttempt, amount: Money, now: datetime) -> Order:
    details = {
        "payment_id": str(attempt.payment_id),
        "amount": to_minor_units(amount),
        # A payment may be captured in parts.
        "key": f"capture {attempt.payment_id}"
        + (f" {to_minor_units(order.captured)}" if to_minor_units(order.captured) else ""),
    }
    return append_event(order, Transition("captured", actor="system", at=now, details=details))[0]


def _handle_capture_refusal(
    order: Order, attempt: PaymentAttempt, refused: Exception, now: datetime
) -> Order:
    """Handle a refused capture. The order has changed, or the amount was captured before, or the bank refuses."""
    fresh = queries.get_order(order.order_id)
    if fresh and fresh.version != order.version:
        return fresh
    payment_outcome = _gateway_for(attempt).get_outcome(attempt.reference)
    if to_minor_units(_unrecorded_amount(order, attempt, payment_outcome)) > 0:
        return _record_earlier_capture(order, attempt, payment_outcome, now)
    log.error("order %s: the gateway does not pay out: %s", order.number, refused)
    note = "The bank had approved the payment, and would not carry it out."
    return _append_about(order, "capture_refused", attempt, now, note)


def _void_payment(order: Order, now: datetime) -> Order:
    """Void the authorised amount of an order that has ended. If the amount was captured meanwhile, record the capture instead."""
    attempt = _paying_attempt(order)
    _gateway_for(attempt).void(attempt.reference)
    payment_outcome = _gateway_for(attempt).get_outcome(attempt.reference)
    if to_minor_units(_unrecorded_amount(order, attempt, payment_outcome)) > 0:
        return _record_earlier_capture(order, attempt, payment_outcome, now)
    return _append_about(order, "voided", attempt, now)


def _append_about(
    order: Order, kind: str, attempt: PaymentAttempt, now: datetime, note: str = ""
) -> Order:
    """Append an event by the system about a payment attempt; return the order."""
    details = {"payment_id": str(attempt.payment_id)}
    transition = Transition(kind, actor="system", at=now, note=note, details=details)
    return append_event(order, transition)[0]


def _unrecorded_amount(
    order: Order, attempt: PaymentAttempt, payment_outcome: PaymentOutcome
) -> Money:
    """Return the amount that the gateway has captured and the order has not recorded."""
    return (
        payment_outcome.captured
        - payment_outcome.refunded
        - balance.balance_by_payment(order).get(attempt.payment_id, order.total * 0)
    )


def _record_earlier_capture(
    order: Order, attempt: PaymentAttempt, payment_outcome: PaymentOutcome, now: datetime
) -> Order:
    """Record an amount that was captured for an earlier version of the order, and refund the excess."""
    unrecorded = _unrecorded_amount(order, attempt, payment_outcome)
    amount = min(unrecorded, balance.amount_to_capture(order))
    if excess := to_minor_units(unrecorded - amount):
        _gateway_for(attempt).refund(
            attempt.reference,
            from_minor_units(excess, amount.currency.code),
            f"excess {attempt.payment_id}",
        )
    return _record_capture(order, attempt, amount, now)


def _decide_full_refund(order: Order, now: datetime) -> Order:
    """Decide to refund the rest of the money of an order that has ended."""
    details = {
        "refund": str(uuid5(order.order_id, f"the rest {len(order.refunds)}")),
        "amount": to_minor_units(balance.refundable_amount(order)),
        "lines": {},
        "reason": order.state,
    }
    return append_event(order, Transition("refund_owed", actor="system", at=now, details=details))[
        0
    ]


def _refund_next(order: Order, now: datetime) -> Order:
    """Carry out the oldest due refund."""
    refund = order.due_refunds[0]
    sources = balance.refund_sources(order, refund.amount)
    attempts = {
        each.payment_id: each for each in queries.load_payment_references(order).payment_attempts
    }
    for payment_id, part in sources.items():
        attempt = attempts[payment_id]
        _gateway_for(attempt).refund(attempt.reference, part, f"{refund.refund_id} {payment_id}")
    return record_refund(order, refund, actor="system", now=now)


def record_refund(order: Order, refund: Refund, *, actor: str, now: datetime) -> Order:
    """Record that a due refund was sent, and from which payments; return the order.

    Raises TransitionRefused, OrderChanged, CassandraUnavailable.
    """
    sources = balance.refund_sources(order, refund.amount)
    details = {
        "refund": refund.refund_id,
        "amount": to_minor_units(refund.amount),
        "of": {str(payment_id): to_minor_units(part) for payment_id, part in sources.items()},
    }
    transition = Transition("refunded", actor=actor, at=now, details=details)
    return append_event(order, transition)[0]


def reverse_payment(attempt: PaymentAttempt, payment_outcome: PaymentOutcome) -> None:
    """Reverse an unwanted payment: void it, and refund the captured amount. Raises GatewayUnavailable."""
    _gateway_for(attempt).void(attempt.reference)
    if left := to_minor_units(payment_outcome.captured - payment_outcome.refunded):
        part = from_minor_units(left, payment_outcome.captured.currency.code)
        _gateway_for(attempt).refund(attempt.reference, part, f"not wanted {attempt.payment_id}")


def _gateway_for(attempt: PaymentAttempt) -> Gateway:
    return gateways.get_gateway(attempt.gateway)


def _paying_attempt(order: Order) -> PaymentAttempt:
    """Return the attempt that pays the order."""
    return next(
        each
        for each in queries.load_payment_references(order).payment_attempts
        if each.payment_id == order.payment_id
    )

"""An order's payments: attempts at a gateway, which count only by the gateway's own answer, and payments that staff record."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from time import sleep
from typing import Any
from uuid import UUID

from django.conf import settings
from django.urls import reverse
from django.utils.translation import gettext
from moneyed import Money

from cart import queries as carts
from cassandra_db import SEND_AGAIN, conditional_write, retry_attempts, write
from inventory import operations as inventory
from inventory.entities import WantedLine
from inventory.errors import OutOfStock
from inventory.operations import RESERVATION_DURATION
from orders import queries
from orders.lifecycle import balance
from orders.lifecycle.entities import Order
from orders.lifecycle.errors import CheckoutBusy, NotPayable, OrderChanged, TooManyPaymentAttempts
from orders.lifecycle.items import Item
from orders.lifecycle.payment_attempts import PaymentAttempt, derive_payment_id, started_details
from orders.lifecycle.payment_failures import PAYMENT_FAILURES
from orders.lifecycle.states import CANCELLED, CONFIRMING_EVENTS, EXPIRED, PENDING
from orders.lifecycle.transitions import Transition
from orders.operations.abandonment import abandon_checkout
from orders.operations.effects import apply_effects, transition_as_planned, transition_order
from orders.operations.order_values import serialize_allocations
from orders.operations.pending_effects import ASK_AFTER, record_payment_inquiry
from orders.operations.placement import claim_expired_order, unclaim_expired_order
from orders.operations.refunds import record_refund, reverse_payment
from orders.operations.transitions import add_note
from orders.voucher_customers import find_voucher_customer_keys
from payments import gateways
from payments.gateways import PaymentOutcome
from payments.methods import CASH_ON_DELIVERY, MANUAL_METHODS, TRANSFER
from pricing.money import to_minor_units
from promotions.errors import VoucherRefused
from promotions.operations import redeem_voucher
from shop_settings.brand import get_brand
from shop_settings.restores import get_number_series

log = logging.getLogger(__name__)

MAX_ATTEMPTS = 20
# The longest reservation of an order's units, however often a payment is tried.
MAX_RESERVATION_DURATION = timedelta(hours=1)
# A shorter extension of the reservation is not worth a write.
MIN_EXTENSION = timedelta(minutes=1)

# The gateway gives one reference for each id, so repeated writes are equal.
INSERT_REFERENCE = write(
    "Q12",
    """INSERT INTO payments (order_id, payment_id, gateway, reference)
       VALUES (:order_id, :payment_id, :gateway, :reference)""",
)
EXTEND_DEADLINE = conditional_write(
    "Q12",
    "UPDATE orders SET pay_until = :pay_until WHERE order_id = :order_id IF state = 'pending_payment' AND version = :seen",
)


@dataclass(frozen=True)
class PaymentRedirect:
    """A payment attempt, and the gateway's page where it continues."""

    payment_id: UUID
    url: str


def start_payment(order: Order, origin: str, now: datetime) -> PaymentRedirect:
    """Start an attempt to pay the order, or continue the open one. `origin` is "https://host".

    Each attempt extends the reservation of the units by ten minutes. The start confirms an order that is paid on delivery,
    unless its e-mail address has to be confirmed first. Raises NotPayable, TooManyPaymentAttempts, OrderChanged,
    GatewayMissing, GatewayUnavailable, CassandraUnavailable.
    """
    own_page = origin + reverse("orders:detail", args=[order.number])
    if not to_minor_units(order.total):
        # Its effects confirm it (apply_order_effects) without a gateway.
        return PaymentRedirect(derive_payment_id(order.order_id, 0), own_page)
    if order.state != PENDING:
        raise NotPayable
    order, attempt = _start_attempt(order, now)
    if attempt.gateway in MANUAL_METHODS:
        if attempt.gateway == CASH_ON_DELIVERY and not order.needs_email_confirmation:
            confirm_order(order, attempt.payment_id, "shopper", now)
        return PaymentRedirect(attempt.payment_id, own_page)
    _extend_deadline(order, now)
    started = gateways.get_gateway(attempt.gateway).start(
        _request(order, attempt.payment_id, attempt.gateway, origin)
    )
    INSERT_REFERENCE.run(
        order_id=order.order_id,
        payment_id=attempt.payment_id,
        gateway=attempt.gateway,
        reference=started.reference,
    )
    return PaymentRedirect(attempt.payment_id, started.url)


def _start_attempt(order: Order, now: datetime) -> tuple[Order, PaymentAttempt]:
    """Return the order and its open attempt, which is started if there is none. Raises NotPayable, TooManyPaymentAttempts, OrderChanged."""

    def plan(order: Order) -> Transition | None:
        if order.state != PENDING:
            raise NotPayable
        if attempt := order.open_payment_attempt:
            if now - attempt.started_at > ASK_AFTER and not order.is_paid_afterwards:
                record_payment_inquiry(order.order_id, now)
            return None
        count = len(order.payment_attempts)
        if count >= MAX_ATTEMPTS:
            raise TooManyPaymentAttempts(MAX_ATTEMPTS)
        gateway = gateways.resolve_gateway_name(order.payment_method)
        record_payment_inquiry(order.order_id, now)
        payment_id = derive_payment_id(order.order_id, count + get_number_series())
        details = started_details(payment_id, gateway, order.total)
        return Transition("payment_started", actor="shopper", at=now, details=details)

    order = transition_as_planned(order, plan)
    attempt = order.open_payment_attempt
    assert attempt
    return order, attempt if attempt.gateway else _find_gateway(order)


def _find_gateway(order: Order) -> PaymentAttempt:
    """Return the open attempt with its gateway, which the events of older orders do not name."""
    attempt = queries.load_payment_references(order).open_payment_attempt
    assert attempt
    gateway = attempt.gateway or gateways.resolve_gateway_name(order.payment_method)
    return replace(attempt, gateway=gateway)


def _extend_deadline(order: Order, now: datetime) -> None:
    """Reserve the order's units for ten minutes from now, but for at most an hour after placing."""
    until = min(now + RESERVATION_DURATION, order.placed_at + MAX_RESERVATION_DURATION)
    if until - order.pay_until >= MIN_EXTENSION:
        EXTEND_DEADLINE.apply(
            if_lost=SEND_AGAIN, order_id=order.order_id, pay_until=until, seen=order.version
        )


def _request(
    order: Order, payment_id: UUID, gateway_name: str, origin: str
) -> gateways.PaymentRequest:
    return gateways.PaymentRequest(
        payment_id,
        order.order_id,
        order.number,
        order.total,
        gettext("%(shop)s, order %(number)s") % {"shop": get_brand().name, "number": order.number},
        return_url=origin + reverse("orders:return_from_payment", args=[order.number, payment_id]),
        leave_url=origin + reverse("orders:detail", args=[order.number]),
        # The gateway keeps this address, so it must not come from a visitor's Host header.
        webhook_url=settings.PUBLIC_URL + reverse("orders:payment_webhook", args=[gateway_name]),
    )


def confirm_order(order: Order, payment_id: UUID, actor: str, now: datetime) -> Order:
    """Confirm an unpaid order whose payment needs no gateway; other orders stay as they are.

    Raises OrderChanged if other writes keep changing it, CassandraUnavailable.
    """
    confirmed = Transition("confirmed", actor=actor, at=now, payment_id=payment_id)
    return transition_as_planned(order, lambda order: confirmed if order.state == PENDING else None)


@dataclass(frozen=True)
class _Settlement:
    """The gateway's outcome of an attempt, and whether its effects are applied at once."""

    attempt: PaymentAttempt
    outcome: PaymentOutcome
    now: datetime
    with_effects: bool


def settle_payment(
    order_id: UUID, payment_id: UUID, now: datetime, *, with_effects: bool = True
) -> Order | None:
    """Ask the gateway for an attempt's outcome, and update the order; return the order, or None if there is none.

    The payment must be for this order's number, amount and currency. A payment after the order has expired reserves the units
    again, or is refunded if too few units are left; a second payment is refunded. `with_effects=False` leaves the effects to
    the worker. Raises GatewayUnavailable, OrderChanged if other writes keep changing the order, CassandraUnavailable.
    """
    reading, references = queries.prefetch_order(order_id), queries.prefetch_payments(order_id)
    order = queries.order_from_rows(reading.rows())
    if order is None:
        return None
    order = queries.add_payment_references(order, references.rows())
    return settle_order_payment(order, payment_id, now, with_effects=with_effects)


def settle_order_payment(
    order: Order, payment_id: UUID, now: datetime, *, with_effects: bool = True
) -> Order:
    """Settle a payment like `settle_payment`, but for an order that has just been read."""
    order = queries.load_payment_references(order)
    attempt = next((each for each in order.payment_attempts if each.payment_id == payment_id), None)
    if attempt is None:
        return order
    if attempt.gateway in MANUAL_METHODS:
        return _settle_manual_payment(order, attempt, now)
    if (
        attempt.state != "started"
        or not attempt.reference
        or attempt.payment_id == order.payment_id
    ):
        return order
    payment_outcome = gateways.get_gateway(attempt.gateway).get_outcome(attempt.reference)
    if payment_outcome.state == "pending":
        return order
    settlement = _Settlement(attempt, payment_outcome, now, with_effects)
    if payment_outcome.state in PAYMENT_FAILURES:
        return _close_attempt(order, settlement, payment_outcome.state)
    is_its = (payment_outcome.number, payment_outcome.amount) == (order.number, attempt.amount)
    if not is_its or attempt.amount != order.total:
        return _return_wrong_payment(order, settlement)
    if payment_outcome.state in ("voided", "refunded"):
        return _close_unwanted_payment(order, settlement)
    return _accept_payment(order, settlement)


def _settle_manual_payment(order: Order, attempt: PaymentAttempt, now: datetime) -> Order:
    """Confirm the order if its total has arrived: the process that recorded the money may have died before."""
    if order.captured < order.total:
        return order
    if order.state == PENDING:
        order = confirm_order(order, attempt.payment_id, "system", now)
    elif order.state == EXPIRED and not order.is_erased and not order.refunds:
        try:
            order = _accept_late_payment(order, attempt, now, with_effects=True)
        except OrderChanged as stale:
            order = stale.order
        except CheckoutBusy:
            return order
    return order


def _return_wrong_payment(order: Order, settlement: _Settlement) -> Order:
    """Reverse a payment of another amount, in another currency, or for another order."""
    amount, number = settlement.outcome.amount, settlement.outcome.number
    log.error("order %s: the gateway has %s for %s", order.number, amount, number)
    reverse_payment(settlement.attempt, settlement.outcome)
    text = f"A payment of {amount} is not what this order costs. You get it back."
    return _close_attempt(order, settlement, "failed", text)


def _close_attempt(order: Order, settlement: _Settlement, outcome: str, note: str = "") -> Order:
    """Record, only once, the outcome of an attempt that does not pay the order. Return the order.

    If the order waits for payment, a failed attempt is the event `payment_failed`, so that the shopper is told.
    """
    attempt = settlement.attempt
    details: dict[str, Any] = {"payment_id": str(attempt.payment_id)}

    def plan(order: Order) -> Transition | None:
        more: dict[str, Any]
        open_ids = {each.payment_id for each in order.payment_attempts if each.state == "started"}
        if attempt.payment_id not in open_ids:
            return None
        if outcome in PAYMENT_FAILURES and order.state == PENDING:
            kind, more = "payment_failed", {"cause": outcome}
        else:
            kind = "payment_closed"
            more = {"outcome": outcome, "amount": to_minor_units(attempt.amount)}
        return Transition(
            kind, actor="system", at=settlement.now, note=note, details=details | more
        )

    return transition_as_planned(order, plan, with_effects=settlement.with_effects)


def _accept_payment(order: Order, settlement: _Settlement) -> Order:
    attempt, now, with_effects = settlement.attempt, settlement.now, settlement.with_effects
    authorized = Transition(
        "authorized",
        actor="system",
        at=now,
        payment_id=attempt.payment_id,
        details=_payment_details(attempt),
    )
    for _ in retry_attempts(5):
        if order.payment_id == attempt.payment_id:
            return order
        try:
            if order.state == PENDING:
                order = transition_order(order, authorized, with_effects=with_effects)
            elif order.state == EXPIRED and order.payment == "voided" and not order.is_erased:
                order = _accept_late_payment(order, attempt, now, with_effects=with_effects)
            else:
                reverse_payment(attempt, settlement.outcome)
                return _close_unwanted_payment(order, settlement)
        except OrderChanged as stale:
            order = stale.order
        except CheckoutBusy:
            # Reserving the units took too long. The attempt stays open, so the worker asks again.
            return order
    return order


def _payment_details(attempt: PaymentAttempt) -> dict[str, Any]:
    return {"payment_id": str(attempt.payment_id), "amount": to_minor_units(attempt.amount)}


def _accept_late_payment(
    order: Order, attempt: PaymentAttempt, now: datetime, *, with_effects: bool
) -> Order:
    """Reserve an expired order's units again. If too few are left, or its cart has changed, the effects refund the money."""
    claim = claim_expired_order(order)
    if claim is None:
        sleep(0.2)  # give the process that has the claim time to decide
        return queries.get_order(order.order_id) or order
    items = queries.list_items(order)
    wanted_lines = [
        WantedLine(item.line_number, item.product_id, item.variant_id, item.quantity)
        for item in items
    ]
    take = order.version
    allocations_json = ""
    try:
        note = _late_payment_obstacle(order, items)
    except CheckoutBusy:
        unclaim_expired_order(order, claim)
        raise
    kind = "paid_too_late" if note else "paid_late"
    try:
        if order.voucher and not note:
            redeem_voucher(
                order.voucher,
                find_voucher_customer_keys(order.user_id, order.email),
                order.order_id,
                now,
                late=True,
            )
        if not note:
            allocations_json = serialize_allocations(
                inventory.reserve_stock(order.order_id, wanted_lines, now, take, claim.check), take
            )
    except OutOfStock:
        kind = "paid_too_late"
        note = "The payment came after the order had expired, and meanwhile the items were sold."
    except VoucherRefused:
        kind = "paid_too_late"
        note = "The payment came after the order had expired, and meanwhile its code was used by somebody else."
    return transition_order(
        order,
        Transition(
            kind,
            actor="system",
            at=now,
            note=note,
            payment_id=attempt.payment_id,
            allocations_json=allocations_json,
            claim=claim.claim_id,
            details=_payment_details(attempt),
        ),
        with_effects=with_effects,
    )


def _late_payment_obstacle(order: Order, items: Sequence[Item]) -> str:
    """Return the reason not to revive an expired order, or ''. Reasons: its cart was ordered again, or lacks the order's lines.

    A transfer's lines have left the cart long ago, so they do not count. Raises CheckoutBusy while another checkout of the
    cart is being placed, CassandraUnavailable.
    """
    if order.cart_id is None or (order.payment_method == TRANSFER and order.is_email_confirmed):
        return ""
    cart = carts.get_cart(order.cart_id)
    if cart.checkout_id not in (None, order.order_id):
        other = queries.get_order(cart.checkout_id)
        if other is None and not abandon_checkout(cart.checkout_id):
            raise CheckoutBusy
        ended = other is None or (
            other.state in (CANCELLED, EXPIRED)
            and not any(event.kind in CONFIRMING_EVENTS for event in other.events)
        )
        if not ended:
            return "The payment came after the order had expired, and meanwhile its cart was ordered anew."
    cart_quantities = {line.key: line.quantity for line in cart.lines}
    if any(cart_quantities.get(str(item.variant_id), 0) < item.quantity for item in items):
        return "The payment came after the order had expired, and meanwhile its cart was changed."
    return ""


def _close_unwanted_payment(order: Order, settlement: _Settlement) -> Order:
    amount = settlement.attempt.amount
    if to_minor_units(settlement.outcome.captured):
        text = f"A payment of {amount} that was not needed any more is on its way back."
        return _close_attempt(order, settlement, "refunded", text)
    text = f"A payment of {amount} was not needed any more. It was let go, and nothing was charged."
    return _close_attempt(order, settlement, "voided", text)


def record_manual_payment(
    order: Order, amount: Money, *, key: str, actor: str, now: datetime
) -> tuple[Order, Money]:
    """Record money that came by transfer or on delivery; return the order, and the excess over its total.

    Repeating a `key` records nothing. Once the total has arrived, the order is paid, and one by transfer is confirmed. If the
    order has ended, the money is refunded. A missing amount or an excess is noted in the order's history.
    Raises NotPayable if the order is paid in another way or in full, OrderChanged, CassandraUnavailable.
    """
    zero = order.total * 0
    if key in balance.capture_keys(order):
        return order, zero
    taken = min(amount, balance.amount_to_capture(order))
    if order.payment_method not in MANUAL_METHODS or order.is_erased or taken <= zero:
        raise NotPayable
    attempt = order.payment_attempts[0]
    details = {
        "payment_id": str(attempt.payment_id),
        "amount": to_minor_units(taken),
        "key": key,
        "came": to_minor_units(amount),
    }
    # An expired order may still get its units; that is decided before the effects.
    with_effects = order.state != EXPIRED
    order = transition_order(
        order,
        Transition("captured", actor=actor, at=now, details=details),
        with_effects=with_effects,
    )
    order = _settle_manual_payment(order, attempt, now)
    if not with_effects:
        order = apply_effects(order.order_id, now) or order
    return _note_received_amount(order, amount - taken, now), amount - taken


def _note_received_amount(order: Order, too_much: Money, now: datetime) -> Order:
    missing = balance.amount_to_capture(order)
    if to_minor_units(too_much):
        text = f"{too_much} more has arrived than the order costs. We send it back."
    elif to_minor_units(missing) and order.state == PENDING:
        text = f"{order.captured} of {order.total} has arrived. {missing} is still missing."
    else:
        return order
    return add_note(order, text, actor="system", now=now, public=True)


def record_manual_refund(order: Order, refund_id: str, *, actor: str, now: datetime) -> Order:
    """Record that staff have sent a due refund; return the order.

    Raises NotPayable if a gateway sends the refund, or the refund is not due. Also raises OrderChanged, CassandraUnavailable.
    """
    refund = next((each for each in order.due_refunds if each.refund_id == refund_id), None)
    if refund is None or order.payment_method not in MANUAL_METHODS:
        raise NotPayable
    record_refund(order, refund, actor=actor, now=now)
    return apply_effects(order.order_id, now) or order

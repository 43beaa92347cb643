"""An order's payment: attempts at a gateway, whose answer alone counts."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from time import sleep
from uuid import UUID, uuid5

from django.urls import reverse
from django.utils.translation import gettext
from moneyed import Money

from cart import queries as carts
from cassandra_db import REFUSED_MEANS_DONE, SEND_AGAIN, conditional_write, retry_attempts
from inventory import operations as inventory
from inventory.entities import WantedLine
from inventory.errors import OutOfStock
from inventory.operations import RESERVATION_DURATION
from orders import balance, queries
from orders.entities import Order, PaymentAttempt
from orders.errors import CheckoutBusy, NotPayable, OrderChanged, TooManyPaymentAttempts
from orders.items import Item
from orders.operations.abandonment import abandon_checkout
from orders.operations.effects import apply_effects, transition_order
from orders.operations.pending_effects import record_pending_effects
from orders.operations.placement import (
    claim_expired_order,
    serialize_allocations,
    unclaim_expired_order,
)
from orders.operations.refunds import record_attempt_state, record_refund, reverse_payment
from orders.operations.transitions import add_note
from orders.payment_failures import PAYMENT_FAILURES
from orders.states import CANCELLED, CONFIRMING_EVENTS, EXPIRED, PENDING
from orders.transitions import Transition
from orders.voucher_customers import find_voucher_customer_key
from payments import gateways
from payments.gateways import PaymentOutcome
from pricing.money import to_minor_units
from promotions.errors import VoucherRefused
from promotions.operations import redeem_voucher

log = logging.getLogger(__name__)

MAX_ATTEMPTS = 20
# However often a payment is tried, an order's units are not reserved for longer than this.
MAX_RESERVATION_DURATION = timedelta(hours=1)
# After how long the worker asks the gateway about an attempt without an outcome.
ASK_AFTER = timedelta(minutes=2)

INSERT_ATTEMPT = conditional_write(
    "Q12",
    """INSERT INTO payments (order_id, payment_id, gateway, reference, amount, currency, state, started_at)
       VALUES (:order_id, :payment_id, :gateway, :reference, :amount, :currency, 'started', :now) IF NOT EXISTS""",
)
SET_REFERENCE = conditional_write(
    "Q12",
    """UPDATE payments SET reference = :reference
       WHERE order_id = :order_id AND payment_id = :payment_id IF state = 'started'""",
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

    A further attempt reserves the order's units for another ten minutes. A cash-on-delivery order is confirmed by this, unless
    its e-mail address has to be confirmed first. Raises NotPayable, TooManyPaymentAttempts, GatewayMissing, GatewayUnavailable, CassandraUnavailable.
    """
    if order.state != PENDING:
        raise NotPayable
    own_page = origin + reverse("orders:detail", args=[order.number])
    if not to_minor_units(order.total):
        # A voucher covers the whole total: no gateway is needed.
        if not order.needs_email_confirmation:
            confirm_order(order, None, "shopper", now)
        return PaymentRedirect(uuid5(order.order_id, "payment 0"), own_page)
    attempts = queries.list_payment_attempts(order.order_id)
    open_attempt = next((each for each in attempts if each.state == "started"), None)
    if open_attempt is None and len(attempts) >= MAX_ATTEMPTS:
        raise TooManyPaymentAttempts(MAX_ATTEMPTS)
    # Derived from the count: two submits at once start one attempt.
    payment_id = (
        open_attempt.payment_id
        if open_attempt
        else uuid5(order.order_id, f"payment {len(attempts)}")
    )
    gateway_name = (
        open_attempt.gateway
        if open_attempt
        else gateways.resolve_gateway_name(order.payment_method)
    )
    record_pending_effects(order.order_id, max(now, order.placed_at) + ASK_AFTER)
    _record_attempt(order, payment_id, gateway_name, now)
    if gateway_name in gateways.MANUAL_METHODS:
        if gateway_name == gateways.CASH_ON_DELIVERY and not order.needs_email_confirmation:
            confirm_order(order, payment_id, "shopper", now)
        return PaymentRedirect(payment_id, own_page)
    if attempts:
        new_deadline = min(now + RESERVATION_DURATION, order.placed_at + MAX_RESERVATION_DURATION)
        if new_deadline > order.pay_until:
            EXTEND_DEADLINE.apply(
                if_lost=SEND_AGAIN,
                order_id=order.order_id,
                pay_until=new_deadline,
                seen=order.version,
            )
    started = gateways.get_gateway(gateway_name).start(
        _request(order, payment_id, gateway_name, origin)
    )
    SET_REFERENCE.apply(
        if_lost=SEND_AGAIN,
        order_id=order.order_id,
        payment_id=payment_id,
        reference=started.reference,
    )
    return PaymentRedirect(payment_id, started.url)


def _request(
    order: Order, payment_id: UUID, gateway_name: str, origin: str
) -> gateways.PaymentRequest:
    return gateways.PaymentRequest(
        payment_id,
        order.order_id,
        order.number,
        order.total,
        gettext("Stoa, order %(number)s") % {"number": order.number},
        return_url=origin + reverse("orders:return_from_payment", args=[order.number, payment_id]),
        leave_url=origin + reverse("orders:detail", args=[order.number]),
        webhook_url=origin + reverse("orders:payment_webhook", args=[gateway_name]),
    )


def _record_attempt(order: Order, payment_id: UUID, gateway_name: str, now: datetime) -> None:
    """Record a payment attempt. A manual one has the order's number as its reference; a gateway gives its own."""
    INSERT_ATTEMPT.apply(
        if_lost=REFUSED_MEANS_DONE,
        order_id=order.order_id,
        payment_id=payment_id,
        gateway=gateway_name,
        reference=order.number if gateway_name in gateways.MANUAL_METHODS else "",
        amount=to_minor_units(order.total),
        currency=order.total.currency.code,
        now=now,
    )


def confirm_order(order: Order, payment_id: UUID | None, actor: str, now: datetime) -> Order:
    """Confirm an order whose payment no gateway has to approve; one that no longer waits for payment stays as it is.

    Raises CassandraUnavailable.
    """
    for _ in retry_attempts(5):
        if order.state != PENDING:
            return order
        try:
            return transition_order(
                order, Transition("confirmed", actor=actor, at=now, payment_id=payment_id)
            )
        except OrderChanged as stale:
            order = stale.order
    return order


def settle_payment(
    order_id: UUID, payment_id: UUID, now: datetime, *, with_effects: bool = True
) -> Order | None:
    """Ask the gateway for an attempt's outcome, and update the order; return the order, or None if there is none.

    Only the gateway's answer counts, and only for this order's number, amount and currency. A payment that comes after
    the order has expired reserves the units again, or is refunded if they are gone; a second one is refunded.
    `with_effects=False` leaves stock, money, lists and mail to the worker. Raises GatewayUnavailable, CassandraUnavailable.
    """
    order = queries.get_order(order_id)
    attempt = next(
        (each for each in queries.list_payment_attempts(order_id) if each.payment_id == payment_id),
        None,
    )
    if order is None or attempt is None or attempt.state != "started" or not attempt.reference:
        return order
    if attempt.gateway in gateways.MANUAL_METHODS:
        return _settle_manual_payment(order, attempt, now)
    payment_outcome = gateways.get_gateway(attempt.gateway).get_outcome(attempt.reference)
    if payment_outcome.state == "pending":
        return order
    if payment_outcome.state in PAYMENT_FAILURES:
        cause = payment_outcome.state
        if record_attempt_state(order_id, attempt, cause, now):
            return record_payment_failure(order, cause, now, with_effects=with_effects)
        return queries.get_order(order_id)
    if order.payment_id == attempt.payment_id:
        return _sync_attempt(order, attempt, now)
    if (payment_outcome.number, payment_outcome.amount) != (
        order.number,
        attempt.amount,
    ) or attempt.amount != order.total:
        return _return_wrong_payment(
            order, attempt, payment_outcome, now, with_effects=with_effects
        )
    if payment_outcome.state in ("voided", "refunded"):
        return _record_unwanted_payment(order, attempt, payment_outcome, now)
    return _accept_payment(order, attempt, payment_outcome, now, with_effects=with_effects)


def _settle_manual_payment(order: Order, attempt: PaymentAttempt, now: datetime) -> Order:
    """Confirm the order if all of the money is there: the process that recorded it may have died before it did."""
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
    if order.state not in (PENDING, EXPIRED):
        record_attempt_state(order.order_id, attempt, "captured", now)
    return order


def _return_wrong_payment(
    order: Order,
    attempt: PaymentAttempt,
    payment_outcome: PaymentOutcome,
    now: datetime,
    *,
    with_effects: bool,
) -> Order:
    """Reverse a payment of another amount, in another currency, or for another order."""
    log.error(
        "order %s: the gateway has %s for %s",
        order.number,
        payment_outcome.amount,
        payment_outcome.number,
    )
    reverse_payment(attempt, payment_outcome)
    if not record_attempt_state(order.order_id, attempt, "failed", now):
        return queries.get_order(order.order_id) or order
    text = f"A payment of {payment_outcome.amount} is not what this order costs. You get it back."
    order = add_note(order, text, actor="system", now=now, public=True)
    return record_payment_failure(order, "failed", now, with_effects=with_effects)


def record_payment_failure(
    order: Order, cause: str, now: datetime, *, with_effects: bool = True
) -> Order:
    """Record in the order's history that a payment has failed, and why (PAYMENT_FAILURES); the order stays payable.

    Raises CassandraUnavailable.
    """
    for _ in retry_attempts(5):
        if order.state != PENDING:
            return order
        try:
            return transition_order(
                order,
                Transition("payment_failed", actor="system", at=now, details={"cause": cause}),
                with_effects=with_effects,
            )
        except OrderChanged as stale:
            order = stale.order
    return order


def _sync_attempt(order: Order, attempt: PaymentAttempt, now: datetime) -> Order:
    """Update the row of an attempt whose payment the order already has."""
    state = {"paid": "captured", "partially_refunded": "captured", "failed": "failed"}.get(
        order.payment, order.payment
    )
    if state in ("authorized", "captured", "voided", "refunded", "failed"):
        record_attempt_state(order.order_id, attempt, state, now)
    return order


def _accept_payment(
    order: Order,
    attempt: PaymentAttempt,
    payment_outcome: PaymentOutcome,
    now: datetime,
    *,
    with_effects: bool,
) -> Order:
    details = {"payment_id": str(attempt.payment_id), "amount": to_minor_units(attempt.amount)}
    for _ in retry_attempts(5):
        if order.payment_id == attempt.payment_id:
            return _sync_attempt(order, attempt, now)
        try:
            if order.state == PENDING:
                order = transition_order(
                    order,
                    Transition(
                        "authorized",
                        actor="system",
                        at=now,
                        payment_id=attempt.payment_id,
                        details=details,
                    ),
                    with_effects=with_effects,
                )
            elif order.state == EXPIRED and order.payment == "voided" and not order.is_erased:
                order = _accept_late_payment(order, attempt, now, with_effects=with_effects)
            else:
                reverse_payment(attempt, payment_outcome)
                return _record_unwanted_payment(order, attempt, payment_outcome, now)
        except OrderChanged as stale:
            order = stale.order
        except CheckoutBusy:
            # It took too long to be sure of the units; the attempt is still open, and the worker asks again.
            return order
    return order


def _accept_late_payment(
    order: Order, attempt: PaymentAttempt, now: datetime, *, with_effects: bool
) -> Order:
    """Reserve an expired order's units again; if they are gone, or not wanted any more, the money is to be refunded."""
    claim = claim_expired_order(order)
    if claim is None:
        sleep(0.2)  # the process that has the claim is about to decide
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
                find_voucher_customer_key(order.user_id, order.email),
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
            details={
                "payment_id": str(attempt.payment_id),
                "amount": to_minor_units(attempt.amount),
            },
        ),
        with_effects=with_effects,
    )


def _late_payment_obstacle(order: Order, items: Sequence[Item]) -> str:
    """Return why an expired order must not be revived: its cart was ordered again, or no longer has its lines.

    Empty if nothing prevents it; a transfer's lines have left the cart long ago. Raises CheckoutBusy while another
    checkout of the cart is being placed, CassandraUnavailable.
    """
    if order.cart_id is None or (
        order.payment_method == gateways.TRANSFER and order.is_email_confirmed
    ):
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


def _record_unwanted_payment(
    order: Order, attempt: PaymentAttempt, payment_outcome: PaymentOutcome, now: datetime
) -> Order:
    taken = bool(to_minor_units(payment_outcome.captured))
    if record_attempt_state(order.order_id, attempt, "refunded" if taken else "voided", now):
        text = f"A payment of {attempt.amount} that was not needed any more is on its way back."
        if not taken:
            text = f"A payment of {attempt.amount} was not needed any more. It was let go, and nothing was charged."
        return add_note(order, text, actor="system", now=now, public=True)
    return order


def record_manual_payment(
    order: Order, amount: Money, *, key: str, actor: str, now: datetime, note: str = ""
) -> tuple[Order, Money]:
    """Record money that came by transfer or was paid on delivery; return the order, and the excess.

    The same `key` again records nothing. The order is paid, and a transfer's is confirmed, as soon as all is there; for
    an order that has ended the money is to be refunded. A missing amount or an excess is noted in the order's history;
    the excess is no part of the order. Raises NotPayable when the order is paid otherwise, or in full; OrderChanged,
    CassandraUnavailable.
    """
    zero = order.total * 0
    if key in balance.capture_keys(order):
        return order, zero
    taken = min(amount, balance.amount_to_capture(order))
    if order.payment_method not in gateways.MANUAL_METHODS or order.is_erased or taken <= zero:
        raise NotPayable
    attempt = _manual_attempt(order, now)
    details = {
        "payment_id": str(attempt.payment_id),
        "amount": to_minor_units(taken),
        "key": key,
        "came": to_minor_units(amount),
    }
    # An order that expired while the money was under way may still get its units: that is decided first.
    with_effects = order.state != EXPIRED
    order = transition_order(
        order,
        Transition("captured", actor=actor, at=now, note=note, details=details),
        with_effects=with_effects,
    )
    order = _settle_manual_payment(order, attempt, now)
    if not with_effects:
        order = apply_effects(order.order_id, now) or order
    return _note_received_amount(order, amount - taken, now), amount - taken


def record_manual_attempt(order: Order, now: datetime) -> UUID:
    """Record the one payment attempt of an order that no gateway is asked about; return its id. Raises CassandraUnavailable."""
    payment_id = uuid5(order.order_id, "payment 0")
    _record_attempt(order, payment_id, order.payment_method, now)
    return payment_id


def _manual_attempt(order: Order, now: datetime) -> PaymentAttempt:
    payment_id = record_manual_attempt(order, now)
    return next(
        each
        for each in queries.list_payment_attempts(order.order_id)
        if each.payment_id == payment_id
    )


def _note_received_amount(order: Order, too_much: Money, now: datetime) -> Order:
    missing = balance.amount_to_capture(order)
    if to_minor_units(too_much):
        text = f"{too_much} more has arrived than the order costs. We send it back."
    elif to_minor_units(missing) and order.state == PENDING:
        text = f"{order.captured} of {order.total} has arrived. {missing} is still missing."
    else:
        return order
    return add_note(order, text, actor="system", now=now, public=True)


def record_manual_refund(
    order: Order, refund_id: str, *, actor: str, now: datetime, note: str = ""
) -> Order:
    """Record that staff have sent a due refund; return the order.

    Raises NotPayable if staff are not the ones to send it, OrderChanged, CassandraUnavailable.
    """
    refund = next((each for each in order.due_refunds if each.refund_id == refund_id), None)
    if refund is None or order.payment_method not in gateways.MANUAL_METHODS:
        raise NotPayable
    record_refund(order, refund, actor=actor, now=now, note=note)
    return apply_effects(order.order_id, now) or order

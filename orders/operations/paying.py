"""An order's payment: tries at a gateway, whose word alone counts."""

import logging
from dataclasses import dataclass
from datetime import datetime, timedelta
from time import monotonic, sleep
from uuid import UUID, uuid4, uuid5

from django.conf import settings
from django.urls import reverse

from cassandra_db import conditional
from catalogue.money import minor
from inventory import operations as inventory
from inventory.errors import OutOfStock
from inventory.operations import HOLD_FOR
from inventory.queries import Want
from orders import gateways, queries
from orders.errors import CheckoutBusy, NotPayable, StaleOrder, TooManyAttempts
from orders.operations.hints import hint_written
from orders.operations.moving import note_added
from orders.operations.placing import CLAIM_SECONDS, UNCLAIM, Claim, allocated
from orders.operations.settling import attempt_ended, order_moved
from orders.queries import Attempt, Order
from orders.states import EXPIRED, PENDING

log = logging.getLogger(__name__)

MAX_ATTEMPTS = 20
# However often a payment is tried, an order's units are not kept for longer than this.
HOLD_AT_MOST = timedelta(hours=1)
# After how long the worker asks the bank about a try of which it has heard nothing.
ASK_AFTER = timedelta(minutes=2)

ATTEMPT = conditional(
    "Q12",
    """INSERT INTO payments (order_id, payment_id, gateway, reference, amount, currency, state, started_at)
       VALUES (:order_id, :payment_id, :gateway, '', :amount, :currency, 'started', :now) IF NOT EXISTS""",
)
REFERENCE = conditional(
    "Q12",
    """UPDATE payments SET reference = :reference
       WHERE order_id = :order_id AND payment_id = :payment_id IF state = 'started'""",
)
KEEP = conditional(
    "Q12",
    "UPDATE orders SET pay_until = :pay_until WHERE order_id = :order_id IF state = 'pending_payment' AND version = :seen",
)


@dataclass(frozen=True)
class Started:
    """A try to pay, and the gateway's page where it goes on."""

    payment_id: UUID
    url: str


def payment_started(order: Order, origin: str, now: datetime) -> Started:
    """Open a try to pay the order; one that is open already is gone on with. `origin` is "https://host".

    A further try keeps the order's units for another ten minutes. Raises NotPayable, TooManyAttempts, GatewayAway,
    CassandraUnavailable.
    """
    if order.state != PENDING:
        raise NotPayable
    tried = queries.attempts(order.order_id)
    under_way = next((each for each in tried if each.state == "started"), None)
    if under_way is None and len(tried) >= MAX_ATTEMPTS:
        raise TooManyAttempts(MAX_ATTEMPTS)
    # Made of the count: two presses at once open one try.
    payment_id = under_way.payment_id if under_way else uuid5(order.order_id, f"payment {len(tried)}")
    hint_written(order.order_id, max(now, order.placed_at) + ASK_AFTER)
    ATTEMPT.apply(
        mine=lambda _: True,
        order_id=order.order_id,
        payment_id=payment_id,
        gateway=settings.PAYMENT_GATEWAY,
        amount=minor(order.total),
        currency=order.total.currency.code,
        now=now,
    )
    if tried:
        keep_until = min(now + HOLD_FOR, order.placed_at + HOLD_AT_MOST)
        if keep_until > order.pay_until:
            KEEP.apply(mine=lambda _: True, order_id=order.order_id, pay_until=keep_until, seen=order.version)
    started = gateways.gateway(under_way.gateway if under_way else settings.PAYMENT_GATEWAY).start(
        gateways.Request(
            payment_id,
            order.number,
            order.total,
            f"Stoa, order {order.number}",
            origin + reverse("orders:payment_return", args=[order.number, payment_id]),
        )
    )
    REFERENCE.apply(mine=lambda _: True, order_id=order.order_id, payment_id=payment_id, reference=started.reference)
    return Started(payment_id, started.url)


def payment_settled(order_id: UUID, payment_id: UUID, now: datetime, *, settle: bool = True) -> Order | None:
    """Ask the gateway how a try has ended, and let the order follow; return the order, or None if there is none.

    Only what the gateway says counts, and only for this order's number, amount and currency. A payment that comes
    after the order has expired takes the units again, or is given back if they are gone; a second one is given back.
    `settle=False` leaves stock, lists and mail to the worker. Raises GatewayAway, CassandraUnavailable.
    """
    order = queries.order(order_id)
    attempt = next((each for each in queries.attempts(order_id) if each.payment_id == payment_id), None)
    if order is None or attempt is None or attempt.state != "started" or not attempt.reference:
        return order
    verdict = gateways.gateway(attempt.gateway).outcome(attempt.reference)
    if verdict.state == "pending":
        return order
    if verdict.state == "declined":
        if attempt_ended(order_id, attempt, "declined", now):
            return failure_noted(order, now, settle=settle)
        return queries.order(order_id)
    if (verdict.number, verdict.amount) != (order.number, attempt.amount) or attempt.amount != order.total:
        log.error("order %s: the gateway has %s for %s", order.number, verdict.amount, verdict.number)
        gateways.gateway(attempt.gateway).refund(attempt.reference, verdict.amount)
        attempt_ended(order_id, attempt, "failed", now)
        return failure_noted(order, now, settle=settle)
    if verdict.state == "refunded" and order.payment_id != attempt.payment_id:
        return _return_noted(order, attempt, now)
    return _paid(order, attempt, now, settle=settle)


def failure_noted(order: Order, now: datetime, *, settle: bool = True) -> Order:
    """Say in the order's history that a payment has failed; the order stays payable. Raises CassandraUnavailable."""
    for _ in range(5):
        if order.state != PENDING:
            return order
        try:
            return order_moved(order, "payment_failed", actor="system", now=now, settle=settle)
        except StaleOrder as stale:
            order = stale.order
    return order


def _paid(order: Order, attempt: Attempt, now: datetime, *, settle: bool) -> Order:
    for _ in range(5):
        if order.payment_id == attempt.payment_id:
            attempt_ended(order.order_id, attempt, "refunded" if order.payment == "refunded" else "paid", now)
            return order
        try:
            if order.state == PENDING:
                order = order_moved(
                    order, "paid", actor="system", now=now, payment_id=attempt.payment_id, settle=settle
                )
            elif order.state == EXPIRED and order.payment == "voided":
                order = _paid_late(order, attempt, now, settle=settle)
            else:
                return _second_payment_returned(order, attempt, now)
        except StaleOrder as stale:
            order = stale.order
        except CheckoutBusy:
            # It took too long to be sure of the units; the try is still open, and the worker asks again.
            return order
    return order


HOLDING = conditional(
    "Q12",
    """UPDATE orders USING TTL :seconds SET placing = :me WHERE order_id = :order_id
       IF placing = null AND state = 'expired' AND version = :seen""",
)


def holding_claimed(order: Order) -> Claim | None:
    """Claim the holding of an expired order's units, so that nobody else holds or releases any meanwhile.

    Returns None when somebody else has the claim, or the order has changed. Raises CassandraUnavailable.
    """
    claim = Claim(uuid4(), monotonic())
    outcome = HOLDING.apply(
        mine=lambda row: row.placing == claim.me,
        order_id=order.order_id,
        me=claim.me,
        seen=order.version,
        seconds=CLAIM_SECONDS,
    )
    return claim if outcome else None


def holding_unclaimed(order: Order, claim: Claim) -> None:
    """Give up a claim of `holding_claimed`. Raises CassandraUnavailable."""
    UNCLAIM.apply(mine=lambda _: True, order_id=order.order_id, me=claim.me)


def _paid_late(order: Order, attempt: Attempt, now: datetime, *, settle: bool) -> Order:
    """Take an expired order's units again; if they are gone, say so, and what is owed then is the money."""
    claim = holding_claimed(order)
    if claim is None:
        sleep(0.2)  # whoever has it is about to decide
        return queries.order(order.order_id) or order
    wants = [Want(item.line_number, item.product_id, item.variant_id, item.quantity) for item in queries.items(order)]
    take = order.version
    kept, note = "", ""
    kind = "paid_late"
    try:
        kept = allocated(inventory.held(order.order_id, wants, now, take, claim.check), take)
    except OutOfStock:
        kind = "paid_too_late"
        note = "The payment came after the order had expired, and meanwhile the goods were sold."
    return order_moved(
        order,
        kind,
        actor="system",
        now=now,
        note=note,
        payment_id=attempt.payment_id,
        allocated=kept,
        claim=claim.me,
        settle=settle,
    )


def _second_payment_returned(order: Order, attempt: Attempt, now: datetime) -> Order:
    gateways.gateway(attempt.gateway).refund(attempt.reference, attempt.amount)
    return _return_noted(order, attempt, now)


def _return_noted(order: Order, attempt: Attempt, now: datetime) -> Order:
    if attempt_ended(order.order_id, attempt, "refunded", now):
        text = f"A payment of {attempt.amount} that was not needed any more is on its way back."
        return note_added(order, text, actor="system", now=now, public=True)
    return order

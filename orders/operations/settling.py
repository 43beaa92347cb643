"""What an order's events owe: stock, money back, the lists, the cart, the mail. Doing it again changes nothing."""

import logging
from datetime import UTC, datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.urls import reverse

from cart import operations as carts
from cassandra_db import CassandraUnavailable, conditional
from inventory import operations as inventory
from mail.operations import mail_queued
from orders import gateways, links, queries
from orders.errors import GatewayAway, StaleOrder
from orders.operations.copies import copies_written
from orders.operations.hints import hint_dropped
from orders.operations.moving import event_written
from orders.queries import Attempt, Item, Order
from orders.states import CANCELLED, EXPIRED, MOVES, PENDING

log = logging.getLogger(__name__)

# What is older is history: an importer of old orders writes no mail, and takes nothing from a cart.
NEWS_FOR = timedelta(days=2)


def order_moved(
    order: Order,
    kind: str,
    *,
    actor: str,
    now: datetime,
    note: str = "",
    payment_id: UUID | None = None,
    allocated: str = "",
    claim: UUID | None = None,
    settle: bool = True,
) -> Order:
    """Let something happen to the order as it was read; return what it is then. `kind` is one of orders.states.MOVES.

    Whoever was faster wins: the other is told by StaleOrder, and nothing of theirs is written. What follows (stock,
    lists, mail) is done at once, and by the worker if this process dies; `settle=False` leaves it to the worker.
    Raises MoveRefused when the order's state does not allow it, StaleOrder, CassandraUnavailable.
    """
    fresh, hint = event_written(
        order, kind, actor=actor, now=now, note=note, payment_id=payment_id, allocated=allocated, claim=claim
    )
    if not settle:
        return fresh
    # The event stands, whatever comes now; the hint leads the worker to what is left to do.
    try:
        fresh = settled(order.order_id, now) or fresh
        hint_dropped(hint)
    except (CassandraUnavailable, GatewayAway) as away:
        log.warning("order %s: %s, the rest is left to the worker: %s", order.number, kind, away)
    except Exception:
        log.exception("order %s: %s, the rest is left to the worker", order.number, kind)
    return fresh


def settled(order_id: UUID, now: datetime) -> Order | None:
    """Do all that is owed for an order as it is now; return it, or None if there is none.

    Raises CassandraUnavailable; GatewayAway, with all done but giving the money back.
    """
    reading, lines = queries.order_started(order_id), queries.items_started(order_id)
    order = queries.order_in(reading.rows())
    if order is None:
        return None
    items = queries.items_in(order, lines.rows())
    stock_moved(order, items)
    away: GatewayAway | None = None
    if order.state in (CANCELLED, EXPIRED) and order.payment == "paid":
        try:
            order = money_returned(order, now)
        except GatewayAway as error:
            away = error
    copies_written(order)
    for product_id in {item.product_id for item in items}:
        inventory.stock_copied(product_id)
    _cart_emptied(order, items, now)
    _mail_written(order, items, now)
    if away:
        raise away
    return order


def stock_moved(order: Order, items: tuple[Item, ...]) -> None:
    """Let the stock follow the order: committed, shipped, or given back. Raises CassandraUnavailable."""
    allocations = order.allocations(items)
    if order.state in (CANCELLED, EXPIRED):
        inventory.released(allocations)
    elif order.fulfilment in ("shipped", "delivered"):
        inventory.shipped(allocations)
    elif order.state != PENDING and (missing := inventory.committed(allocations)):
        fresh = queries.order(order.order_id)
        if fresh and fresh.version == order.version:
            log.error("order %s is confirmed, and %d of its holds are gone", order.number, len(missing))


ATTEMPT_ENDED = conditional(
    "Q12",
    """UPDATE payments SET state = :state, settled_at = :now
       WHERE order_id = :order_id AND payment_id = :payment_id IF state = :was""",
)


def attempt_ended(order_id: UUID, attempt: Attempt, state: str, now: datetime) -> bool:
    """Note how a try to pay has ended; tell whether this call noted it. Raises CassandraUnavailable."""
    outcome = ATTEMPT_ENDED.apply(
        mine=lambda row: row.state == state,
        order_id=order_id,
        payment_id=attempt.payment_id,
        state=state,
        now=now,
        was=attempt.state,
    )
    return outcome.applied


def money_returned(order: Order, now: datetime) -> Order:
    """Give a paid order's money back and say so in its history; return the order.

    Raises GatewayAway, CassandraUnavailable.
    """
    for attempt in queries.attempts(order.order_id):
        if attempt.payment_id == order.payment_id and attempt.state != "refunded":
            gateways.gateway(attempt.gateway).refund(attempt.reference, attempt.amount)
            attempt_ended(order.order_id, attempt, "refunded", now)
    try:
        return event_written(order, "refunded", actor="system", now=now)[0]
    except StaleOrder as stale:
        if stale.order.payment == "refunded":  # by the worker, or another request, at the same time
            return stale.order
        raise


def _cart_emptied(order: Order, items: tuple[Item, ...], now: datetime) -> None:
    paid = next((event for event in order.events if event.kind in ("paid", "paid_late")), None)
    if paid and order.cart_id and paid.at > datetime.now(UTC) - NEWS_FOR:
        bought = {str(item.variant_id): item.quantity for item in items}
        carts.lines_bought(order.cart_id, bought, order.order_id, now)


def _mail_written(order: Order, items: tuple[Item, ...], now: datetime) -> None:
    url = f"{settings.PUBLIC_URL}{reverse('orders:track', args=[links.track_token(order.order_id)])}"
    context = {"order": order, "items": items, "url": url}
    for event in order.events:
        if event.at < datetime.now(UTC) - NEWS_FOR:
            continue
        if event.kind in ("paid", "paid_late"):
            mail_queued(order.order_id, event.kind, order.email, "order_placed", context, now)
        elif event.kind in MOVES and (headline := MOVES[event.kind].mailed):
            told = context | {"headline": headline, "text": f"{headline[0].lower()}{headline[1:]}."}
            mail_queued(order.order_id, f"{event.kind} {event.event_id}", order.email, "order_moved", told, now)

"""What an order's events owe: stock, money back, the lists, the cart, the mail. Doing it again changes nothing."""

import logging
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

from cart import operations as carts
from cassandra_db import CassandraUnavailable, read, retry_attempts
from inventory import operations as inventory
from inventory.allocation import sort_allocations
from orders import parcels, queries, returns
from orders.entities import Order
from orders.errors import SettlementUnstable
from orders.items import Item
from orders.operations.copies import write_copies
from orders.operations.emails import queue_order_mails
from orders.operations.pending_effects import clear_pending_effects
from orders.operations.refunds import settle_money
from orders.operations.sales import record_sale
from orders.operations.transitions import append_event
from orders.states import CANCELLED, CONFIRMING_EVENTS, EXPIRED, PENDING
from orders.transitions import Transition
from orders.voucher_customers import find_voucher_customer
from payments.errors import GatewayUnavailable
from payments.gateways import TRANSFER
from promotions.errors import VoucherRefused
from promotions.operations import claim_voucher, has_voucher_use, release_voucher

log = logging.getLogger(__name__)


def transition_order(order: Order, transition: Transition, *, with_effects: bool = True) -> Order:
    """Let something happen to the order as it was read; return what it is then.

    Whoever was faster wins: the other is told by StaleOrder, and nothing of theirs is written. What follows (stock,
    lists, mail) is done at once, and by the worker if this process dies; `settle=False` leaves it to the worker.
    Raises TransitionRefused when the order's state does not allow it, StaleOrder, CassandraUnavailable.
    """
    fresh, pending_effect = append_event(order, transition)
    if not with_effects:
        return fresh
    # The event stands, whatever comes now; the hint leads the worker to what is left to do.
    try:
        fresh = apply_effects(order.order_id, transition.at) or fresh
        clear_pending_effects(pending_effect)
    except (CassandraUnavailable, GatewayUnavailable, SettlementUnstable) as away:
        log.warning(
            "order %s: %s, the rest is left to the worker: %s", order.number, transition.kind, away
        )
    except Exception:
        log.exception("order %s: %s, the rest is left to the worker", order.number, transition.kind)
    return fresh


def apply_effects(order_id: UUID, now: datetime) -> Order | None:
    """Do all that is owed for an order as it is now; return it, or None if there is none.

    Raises CassandraUnavailable; SettlementUnstable, or GatewayUnavailable, also if the gateway does not know the payment (any more):
    with all done but what is owed there.
    """
    reading, lines = queries.prefetch_order(order_id), queries.prefetch_items(order_id)
    order = queries.order_from_rows(reading.rows())
    if order is None:
        return None
    items = queries.items_from_rows(order, lines.rows())
    stock_error: LookupError | None = None
    try:
        sync_stock(order, items, now)
    except LookupError as error:
        # Units that cannot move wait for somebody who looks; whoever has paid is told, and charged, all the same.
        log.exception("order %s: its units do not move", order.number)
        stock_error = error
    _sync_voucher(order, now)
    payment_error: GatewayUnavailable | SettlementUnstable | None = None
    try:
        order = settle_money(order, now)
    except (GatewayUnavailable, SettlementUnstable) as error:
        payment_error = error
        order = queries.get_order(order_id) or order
    except (LookupError, ValueError) as error:
        # Such as after another account's key was put in: the money waits for somebody who looks, all else does not.
        log.exception("order %s: its gateway does not do what is owed", order.number)
        payment_error = GatewayUnavailable()
        payment_error.__cause__ = error
        order = queries.get_order(order_id) or order
    write_copies(order)
    record_sale(order, items)
    for product_id in {item.product_id for item in items}:
        inventory.copy_stock(product_id)
    _empty_cart(order, items, now)
    queue_order_mails(order, items, now)
    if stock_error:
        raise stock_error
    if payment_error:
        raise payment_error
    return order


def sync_stock(order: Order, items: tuple[Item, ...], now: datetime) -> None:
    """Let the stock follow the order: committed, sent parcel by parcel, given back, restocked. Raises CassandraUnavailable.

    Where each line's units shall stand follows from the order's events, so doing it again changes nothing.
    """
    if order.state == PENDING:
        return
    allocations = order.list_allocations(items)
    if order.state in (CANCELLED, EXPIRED):
        inventory.release_stock(allocations)
        return
    sent = parcels.sent_units(order.parcels())
    missing = 0
    for each in sort_allocations(allocations):
        gone = sent.get(each.warehouse_id, {}).get(each.line_number, 0)
        missing += not inventory.set_reservation_units(
            each, reserved_units=each.quantity - gone, shipped_units=gone
        )
    if missing:
        fresh = queries.get_order(order.order_id)
        if fresh and fresh.version == order.version:
            log.error("order %s is confirmed, and %d of its holds are gone", order.number, missing)
    for return_id, back in returns.restocked_units(order.parcels(), order.returns).items():
        parts = [
            replace(each, quantity=units)
            for each in allocations
            if (units := back.get(each.warehouse_id, {}).get(each.line_number))
        ]
        inventory.restock_units(order.order_id, return_id, parts, now)


# As it is at this moment: `placing` is set while a late payment takes the units again.
CURRENT_STATE = read("Q13", "SELECT state, placing FROM orders WHERE order_id = :order_id LIMIT 1")
# How often the order may move on under our hands.
_LOOKS = 5


def _sync_voucher(order: Order, now: datetime) -> None:
    """Let the use of a code follow the order: given back by one that has ended, had by any other.

    The order may have ended since it was read, or come back to life by a payment that came late; so it is looked at
    before each step, and after it. Whoever took the use: a guest's order that has become a member's keeps it.
    """
    for _ in retry_attempts(_LOOKS if order.voucher else 0):
        row, had = (
            CURRENT_STATE.one(order_id=order.order_id),
            has_voucher_use(order.voucher, order.order_id),
        )
        if row is None:
            return
        if row.state in (CANCELLED, EXPIRED):
            if not had or row.placing:
                return
            release_voucher(order.voucher, order.order_id)
        elif had or order.is_erased:
            return
        else:
            try:
                claim_voucher(
                    order.voucher,
                    find_voucher_customer(order.user_id, order.email),
                    order.order_id,
                    now,
                    late=True,
                )
            except VoucherRefused as refused:
                log.error(
                    "order %s is not ended, and its code is not to be had any more: %s",
                    order.number,
                    refused,
                )
                return


# For so long the cart knows which orders it was emptied for.
_EMPTIED_ONCE = timedelta(days=carts.BOUGHT_DAYS - 1)


def _empty_cart(order: Order, items: tuple[Item, ...], now: datetime) -> None:
    # A transfer takes days: its things leave the cart at once.
    kinds = ("placed",) if order.payment_method == TRANSFER else CONFIRMING_EVENTS
    paid = next((event for event in order.events if event.kind in kinds), None)
    if paid and order.cart_id and paid.at > datetime.now(UTC) - _EMPTIED_ONCE:
        bought = {str(item.variant_id): item.quantity for item in items}
        carts.remove_bought_lines(
            order.cart_id, bought, order.order_id, now, with_code=bool(order.voucher)
        )

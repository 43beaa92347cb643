"""The effects of an order's events on stock, refunds, lists, the cart and mail. Applying them again changes nothing."""

import logging
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from uuid import UUID

from cart import operations as carts
from cassandra_db import CassandraUnavailable, current_time, read, retry_attempts, run_side_by_side
from inventory import operations as inventory
from inventory.allocation import sort_allocations
from notifications.operations import announce
from orders import queries
from orders.lifecycle import parcels, returns
from orders.lifecycle.entities import Order
from orders.lifecycle.errors import OrderChanged, SettlementUnstable
from orders.lifecycle.items import Item
from orders.lifecycle.states import CANCELLED, CONFIRMING_EVENTS, EXPIRED, PENDING
from orders.lifecycle.transitions import Transition
from orders.operations.additions import note_addition
from orders.operations.books import record_order_books
from orders.operations.copies import write_copies
from orders.operations.deliveries import note_delivery
from orders.operations.emails import queue_order_mails
from orders.operations.pending_effects import clear_pending_effects, effects_under_way
from orders.operations.refunds import settle_captures_and_refunds
from orders.operations.sales import record_order_sale
from orders.operations.tracking_numbers import release_unused_numbers
from orders.operations.transitions import append_event
from orders.operations.unpaid_units import sync_unpaid_units
from orders.operations.withdrawals import follow_withdrawal
from orders.voucher_customers import find_voucher_customer_keys
from payments.errors import GatewayUnavailable
from payments.methods import TRANSFER
from pricing.money import to_minor_units
from promotions.errors import VoucherRefused
from promotions.operations import has_voucher_use, redeem_voucher, release_voucher

log = logging.getLogger(__name__)

# The number of tries of a transition, or of the use of a voucher, while other writes change the order.
MAX_ATTEMPTS = 5


def transition_order(order: Order, transition: Transition, *, with_effects: bool = True) -> Order:
    """Apply a transition to the order as it was read; return the order after the transition and its effects.

    The effects are applied at once, or by the worker if this process dies; `with_effects=False` leaves them to the worker.
    Raises TransitionRefused if the order does not allow it, OrderChanged if another write was faster, CassandraUnavailable;
    then nothing is written.
    """
    if not with_effects:
        return append_event(order, transition)[0]
    lines = queries.prefetch_items(order.order_id)
    fresh, pending_effect = append_event(order, transition)
    # The event is written. If the effects fail, the pending effect leads the worker to them.
    try:
        items = queries.items_from_rows(fresh, lines.rows())
        # Payment moves reserved units, which were not available before. If placing was interrupted, its own pending effect is left.
        is_payment = order.state == PENDING and transition.kind in CONFIRMING_EVENTS
        with effects_under_way(pending_effect):
            fresh = apply_order_effects(fresh, items, transition.at, copies_stock=not is_payment)
        clear_pending_effects(pending_effect)
    except (CassandraUnavailable, GatewayUnavailable, SettlementUnstable) as error:
        log.warning(
            "order %s: %s, the rest is left to the worker: %s", order.number, transition.kind, error
        )
    except Exception:
        log.exception("order %s: %s, the rest is left to the worker", order.number, transition.kind)
    return fresh


def transition_as_planned(
    order: Order, plan: Callable[[Order], Transition | None], *, with_effects: bool = True
) -> Order:
    """Apply the transition that `plan` returns for the order, and retry with the fresh order if another write was faster.

    Return the order after it, or the order unchanged if `plan` returns None. Raises the errors of `plan`, TransitionRefused,
    OrderChanged after MAX_ATTEMPTS, CassandraUnavailable.
    """
    for _ in retry_attempts(MAX_ATTEMPTS):
        transition = plan(order)
        if transition is None:
            return order
        try:
            return transition_order(order, transition, with_effects=with_effects)
        except OrderChanged as stale:
            order = stale.order
    raise OrderChanged(order)


def apply_effects(order_id: UUID, now: datetime) -> Order | None:
    """Apply all effects of an order; return it, or None if there is none. Raises the errors of `apply_order_effects`."""
    reading, lines = queries.prefetch_order(order_id), queries.prefetch_items(order_id)
    order = queries.order_from_rows(reading.rows())
    if order is None:
        return None
    return apply_order_effects(order, queries.items_from_rows(order, lines.rows()), now)


def apply_order_effects(
    order: Order, items: tuple[Item, ...], now: datetime, *, copies_stock: bool = True
) -> Order:
    """Apply the effects of all events of an order; return the order. `copies_stock=False`: no unit has become available or ceased to.

    Raises CassandraUnavailable. Raises SettlementUnstable, or GatewayUnavailable (also for a payment that the gateway does not
    know) after all other effects are applied.
    """
    order = _confirm_free_order(follow_withdrawal(order, now), now)
    stock_error: LookupError | None = None
    try:
        sync_stock(order, items, now)
    except LookupError as error:
        # Staff have to correct the stock; the other effects do not wait for it.
        log.exception("order %s: its units do not move", order.number)
        stock_error = error
    _sync_voucher(order, now)
    payment_error: GatewayUnavailable | SettlementUnstable | None = None
    try:
        order = settle_captures_and_refunds(order, now)
    except (GatewayUnavailable, SettlementUnstable) as error:
        payment_error = error
        order = queries.get_order(order.order_id) or order
    except (LookupError, ValueError) as error:
        # The key of another account may be configured. Staff have to settle the payment; the other effects do not wait.
        log.exception("order %s: its gateway does not settle the payment", order.number)
        payment_error = GatewayUnavailable()
        payment_error.__cause__ = error
        order = queries.get_order(order.order_id) or order
    run_side_by_side(
        partial(sync_unpaid_units, order),
        partial(write_copies, order),
        partial(record_order_sale, order, items),
        partial(record_order_books, order, items),
        partial(
            inventory.copy_allocated_stock, order.list_allocations(items) if copies_stock else ()
        ),
        partial(remove_bought_items, order, items, now),
        partial(note_addition, order),
        partial(note_delivery, order),
        partial(release_unused_numbers, order, order.former_tracking_numbers),
        partial(queue_order_mails, order, items, now),
        partial(_announce_news, order),
    )
    if stock_error:
        raise stock_error
    if payment_error:
        raise payment_error
    return order


def _announce_news(order: Order) -> None:
    if order.user_id and not order.is_erased:
        announce("orders", order.order_id)


def _confirm_free_order(order: Order, now: datetime) -> Order:
    """Confirm a free order, once its e-mail address needs no confirmation; return the order. Raises CassandraUnavailable."""
    for _ in retry_attempts(MAX_ATTEMPTS):
        if order.state != PENDING or to_minor_units(order.total) or order.needs_email_confirmation:
            break
        try:
            order = append_event(order, Transition("confirmed", actor="system", at=now))[0]
        except OrderChanged as stale:
            order = stale.order
    return order


def sync_stock(order: Order, items: tuple[Item, ...], now: datetime) -> None:
    """Commit, ship, release and restock an order's units as its events say; repeating it changes nothing.

    Raises CassandraUnavailable.
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
        shipped_units = sent.get(each.warehouse_id, {}).get(each.line_number, 0)
        missing += not inventory.set_reservation_units(
            each, reserved_units=each.quantity - shipped_units, shipped_units=shipped_units
        )
    if missing:
        fresh = queries.get_order(order.order_id)
        if fresh and fresh.version == order.version:
            log.error("order %s is confirmed, but %d reservations are gone", order.number, missing)
    for return_id, restock in returns.restocked_units(order.parcels(), order.events).items():
        parts = [
            replace(each, quantity=units)
            for each in allocations
            if (units := restock.get(each.warehouse_id, {}).get(each.line_number))
        ]
        inventory.restock_units(order.order_id, return_id, parts, now, allocations=allocations)


# `placing` is set while a late payment reserves the units again.
CURRENT_STATE = read("Q13", "SELECT state, placing FROM orders WHERE order_id = :order_id LIMIT 1")


def _sync_voucher(order: Order, now: datetime) -> None:
    """Release the voucher of an order that has ended; for any other order, claim the voucher.

    The order may have ended since it was read, or a late payment may have revived it, so its state is read before and after each
    step. A guest's order that a member has claimed keeps the guest's use.
    """
    for _ in retry_attempts(MAX_ATTEMPTS if order.voucher else 0):
        row, has_use = (
            CURRENT_STATE.one(order_id=order.order_id),
            has_voucher_use(order.voucher, order.order_id),
        )
        if row is None:
            return
        if row.state in (CANCELLED, EXPIRED):
            if not has_use or row.placing:
                return
            release_voucher(order.voucher, order.order_id)
        elif has_use or order.is_erased:
            return
        else:
            try:
                redeem_voucher(
                    order.voucher,
                    find_voucher_customer_keys(order.user_id, order.email),
                    order.order_id,
                    now,
                    late=True,
                )
            except VoucherRefused as refused:
                log.error(
                    "order %s has not ended, but its voucher cannot be claimed any more: %s",
                    order.number,
                    refused,
                )
                return


# The time for which a cart remembers the orders whose lines were removed from it.
_EMPTIED_ONCE = timedelta(days=carts.BOUGHT_DAYS - 1)


def remove_bought_items(order: Order, items: tuple[Item, ...], now: datetime) -> None:
    """Remove the lines of a paid order, or of a confirmed order by transfer, from its cart. Raises CassandraUnavailable."""
    if order.cart_id and _has_bought_items(order):
        bought = {str(item.variant_id): item.quantity for item in items}
        carts.remove_bought_lines(
            order.cart_id, bought, order.order_id, now, with_code=bool(order.voucher)
        )


def ensure_bought_items_removed(order: Order, now: datetime) -> None:
    """Remove an order's lines from its cart, unless a cheap check shows that they were removed. Raises CassandraUnavailable."""
    if (
        order.cart_id
        and _has_bought_items(order)
        and not carts.has_removed_bought_lines(order.cart_id, order.order_id)
    ):
        remove_bought_items(order, queries.list_items(order), now)


def _has_bought_items(order: Order) -> bool:
    # A transfer takes days, so its lines leave the cart before it is paid.
    is_confirmed_transfer = order.payment_method == TRANSFER and not order.is_unproved
    kinds = ("placed",) if is_confirmed_transfer else CONFIRMING_EVENTS
    paid = next((event for event in order.events if event.kind in kinds), None)
    return paid is not None and paid.at > current_time() - _EMPTIED_ONCE

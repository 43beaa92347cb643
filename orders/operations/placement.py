"""Placing a checkout as an order.

The steps: claim > cart > unpaid units > pending effects, payment inquiry and reservation expiries > reservations > voucher > items
and number > the order and its first payment, by one conditional batch > effects. Nothing is visible before that batch. A process
that dies on the way leaves pending effects and reservation expiries, which lead the worker to the units that it has to release.

The worker abandons a checkout whose expiries it finds. So the expiries come after the claim of the cart: a cart whose checkout was
abandoned gets another checkout, but a cart that no checkout has claimed would get the abandoned one again.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from time import monotonic, sleep
from types import SimpleNamespace
from uuid import UUID, uuid4

from cart import operations as carts
from cart.entities import Cart
from cart.errors import CartError
from cassandra_db import (
    REFUSED_MEANS_DONE,
    Outcome,
    applied_if,
    apply_batch,
    conditional_write,
    run_side_by_side,
    truncate_to_milliseconds,
    write_batch,
)
from inventory import operations as inventory
from inventory.entities import Allocation, WantedLine
from inventory.errors import OutOfStock
from orders import numbers, queries
from orders.lifecycle.entities import Order
from orders.lifecycle.errors import (
    CartOrdered,
    CheckoutAbandoned,
    CheckoutBusy,
    CheckoutUsed,
    TooManyUnpaidUnits,
)
from orders.lifecycle.states import ABANDONED, CANCELLED, EXPIRED
from orders.operations.abandonment import ABANDONED_SECONDS, DELETE_ITEMS, abandon_checkout
from orders.operations.effects import (
    apply_effects,
    apply_order_effects,
    ensure_bought_items_removed,
)
from orders.operations.order_values import (
    OrderDraft,
    header_values,
    item_statements,
    item_values,
    order_from_header,
    placed_events,
    unit_count,
)
from orders.operations.pending_effects import (
    PendingEffect,
    clear_pending_effects,
    make_placing_rows,
)
from orders.operations.transitions import event_statement
from orders.operations.unpaid_units import count_unpaid_units, release_unpaid_units
from orders.voucher_customers import find_voucher_customer_keys
from payments import gateways
from payments.errors import GatewayUnavailable
from payments.methods import MANUAL_METHODS
from promotions.errors import VoucherRefused
from promotions.operations import redeem_voucher
from shop_settings.restores import get_number_series

log = logging.getLogger(__name__)

# The time in which a process may begin a write after its claim, in seconds.
WORK_SECONDS = 20
# The TTL of a claim, in seconds. A write that outlasts it does no harm: the order is placed only under the claim, recorded
# expiries release the units, and the lines of a later claim have later timestamps.
CLAIM_SECONDS = WORK_SECONDS + 5
# The seconds that a second submit of a checkout waits for the first submit. After that its page repeats the request by itself.
WAIT_SECONDS = 4.0


@dataclass(frozen=True)
class Claim:
    """This process's exclusive right to reserve an order's units, since `since` (seconds of `monotonic`).

    `is_retry`: an earlier claim may have left reservations.
    """

    claim_id: UUID
    since: float
    is_retry: bool = False

    def check(self) -> None:
        """Raise CheckoutBusy when another process may soon take over the claim."""
        if monotonic() - self.since > WORK_SECONDS:
            raise CheckoutBusy


# The first claim: nothing is reserved yet. MARK_TRIED in the same batch outlives the claim.
CLAIM_FIRST = conditional_write(
    "Q12",
    """UPDATE orders USING TTL :seconds SET placing = :me
       WHERE order_id = :order_id IF placing = null AND state = null AND tried = null""",
)
MARK_TRIED = conditional_write(
    "Q12", "UPDATE orders USING TTL :seconds SET tried = true WHERE order_id = :order_id"
)
CLAIM_AGAIN = conditional_write(
    "Q12",
    """UPDATE orders USING TTL :seconds SET placing = :me
       WHERE order_id = :order_id IF placing = null AND state = null AND tried = true""",
)
UNCLAIM = conditional_write(
    "Q12", "UPDATE orders SET placing = null WHERE order_id = :order_id IF placing = :me"
)
INSERT_NUMBER = conditional_write(
    "Q12",
    "INSERT INTO order_ids_by_number (number, order_id) VALUES (:number, :order_id) IF NOT EXISTS",
)
# Conditional on the claim: a process whose claim has expired places nothing.
PLACE = conditional_write(
    "Q12",
    """UPDATE orders SET placing = null, number = :number, owner_id = :owner_id, user_id = :user_id, email = :email,
              name = :name, state = :state, payment = 'unpaid', fulfilment = 'unfulfilled', version = 1,
              placed_at = :placed_at, pay_until = :pay_until, currency = :currency, subtotal = :subtotal,
              delivery = :delivery, discount = :discount, total = :total, tax = :tax, taxes = :taxes,
              item_count = :item_count, country = :country, delivery_address = :delivery_address,
              billing_address = :billing_address, delivery_method = :delivery_method,
              delivery_title = :delivery_title, carrier = :carrier, estimated_from = :estimated_from,
              estimated_delivery = :estimated_delivery, tax_rates = :tax_rates,
              first_item_name = :first_item_name, first_item_picture = :first_item_picture, skus = :skus,
              cart_id = :cart_id, allocations = :allocations, fingerprint = :fingerprint, payment_method = :payment_method,
              captured = 0, refunded = 0, voucher = :voucher, discounts = :discounts, customer_notes = :customer_notes,
              terms_version = :terms_version
       WHERE order_id = :order_id IF placing = :me AND state = null""",
)


def place_order(draft: OrderDraft, now: datetime, pay_until: datetime | None = None) -> Order:
    """Place a checkout as an order that waits for its payment; placing it again returns the same order.

    The units stay reserved until `pay_until`, by default as long as the payment method allows. Raises OutOfStock,
    VoucherRefused, TooManyUnpaidUnits, CartChanged, CartOrdered (another checkout has the cart), CheckoutUsed (it became an order
    with other content), CheckoutAbandoned (its units were released), CheckoutBusy, CassandraUnavailable.
    """
    gateway = gateways.resolve_gateway_name(draft.payment_method)
    now = truncate_to_milliseconds(now)  # as it will be read
    claim = _claim_checkout(draft)
    if isinstance(claim, Order):
        return claim
    try:
        if draft.cart:
            _take_cart(draft, draft.cart, now)
        count_unpaid_units(draft.order_id, draft.unpaid_unit_buckets, unit_count(draft))
        pending_effect, reserve_units = _prepare_reservation(draft, claim, now)
        allocations = reserve_units()
        claim.check()
        _redeem_voucher(draft, allocations, now)
    except (OutOfStock, CartError, CartOrdered, TooManyUnpaidUnits, VoucherRefused):
        release_unpaid_units(draft.order_id, draft.unpaid_unit_buckets)
        UNCLAIM.apply(if_lost=REFUSED_MEANS_DONE, order_id=draft.order_id, me=claim.claim_id)
        raise
    pay_until = pay_until or draft.pay_until(now)
    number, _ = run_side_by_side(
        partial(claim_order_number, draft.order_id), partial(_write_items, draft, claim)
    )
    header = header_values(draft, number, now, pay_until, allocations)
    order = order_from_header(header, placed_events(draft, gateway, now))
    placed_id = order.events[-1].event_id
    outcome = apply_batch(
        PLACE.bind(me=claim.claim_id, **header),
        *(event_statement(order.order_id, event, order.state) for event in order.events),
        if_lost=applied_if(lambda row: row.event_id == placed_id),
    )
    if not outcome:
        # The claim has expired; the reservation expiries lead the worker to the units.
        raise CheckoutBusy
    items = queries.items_from_rows(order, [SimpleNamespace(**each) for each in item_values(draft)])
    order = apply_order_effects(order, items, now)
    clear_pending_effects(pending_effect)
    return order


def _prepare_reservation(
    draft: OrderDraft, claim: Claim, now: datetime
) -> tuple[PendingEffect, Callable[[], tuple[Allocation, ...]]]:
    """Write the rows of the pending effects, and beside them the expiries of a first reservation.

    Return the pending effect, and the function that reserves the units. Raises CassandraUnavailable.
    """
    pending_effect, rows = make_placing_rows(
        draft.order_id, now, has_inquiry=not draft.is_paid_afterwards
    )
    if claim.is_retry:
        write_batch(rows)
        return pending_effect, lambda: inventory.reserve_stock(
            draft.order_id, _wanted_lines(draft), now, check=claim.check
        )
    first = inventory.FirstReservation(draft.order_id, _wanted_lines(draft), now, draft.stock)
    first.record(*rows)
    return pending_effect, partial(first.reserve, claim.check)


def _write_items(draft: OrderDraft, claim: Claim) -> None:
    claim.check()  # so that the writes of a later claim have later timestamps
    if claim.is_retry:
        write_batch([DELETE_ITEMS.bind(order_id=draft.order_id)])
    write_batch(list(item_statements(draft)))


def _claim_checkout(draft: OrderDraft) -> Claim | Order:
    """Claim the checkout for this call, or return the order that it has already become."""
    claim_id, until, is_retry = uuid4(), monotonic() + WAIT_SECONDS, False
    while True:
        since = monotonic()
        claim = _claim_again(draft, claim_id) if is_retry else _claim_first(draft, claim_id)
        if claim:
            return Claim(claim_id, since, is_retry)
        current = claim.current
        if current and current.state == ABANDONED:
            raise CheckoutAbandoned
        if order := queries.get_order(draft.order_id):
            if order.fingerprint != draft.fingerprint:
                raise CheckoutUsed(order)
            return order
        if monotonic() > until:
            raise CheckoutBusy
        if current and current.tried and not is_retry:
            is_retry = True
            continue
        sleep(0.1)


def _claim_first(draft: OrderDraft, claim_id: UUID) -> Outcome:
    return apply_batch(
        CLAIM_FIRST.bind(order_id=draft.order_id, me=claim_id, seconds=CLAIM_SECONDS),
        MARK_TRIED.bind(order_id=draft.order_id, seconds=ABANDONED_SECONDS),
        if_lost=applied_if(lambda row: row.placing == claim_id),
    )


def _claim_again(draft: OrderDraft, claim_id: UUID) -> Outcome:
    return CLAIM_AGAIN.apply(
        if_lost=applied_if(lambda row: row.placing == claim_id),
        order_id=draft.order_id,
        me=claim_id,
        seconds=CLAIM_SECONDS,
    )


def _take_cart(draft: OrderDraft, cart: Cart, now: datetime) -> None:
    """Claim the cart for the checkout, if the cart has not changed since its review and no other checkout has claimed it.

    Raises CartChanged, CartOrdered, CheckoutBusy, CassandraUnavailable.
    """
    until = monotonic() + WAIT_SECONDS
    while True:
        with _free_cart(cart, draft.order_id, now) as free:
            if free:
                cart = replace(
                    cart,
                    checkout_id=carts.claim_cart_for_checkout(
                        cart, draft.order_id, draft.checkout_number
                    ),
                )
            if cart.checkout_id == draft.order_id:
                return
        if monotonic() > until:
            raise CheckoutBusy
        if not free:
            sleep(0.1)


@contextmanager
def _free_cart(cart: Cart, by: UUID, now: datetime) -> Iterator[bool]:
    """Yield True if the checkout that has claimed the cart no longer needs it, and False while that checkout is being placed.

    Before that, remove bought lines from the cart, and release the units of an abandoned checkout. Inside the block no payment
    revives an expired order. Raises CartOrdered if the cart's order waits for its payment.
    """
    order = queries.get_order(cart.checkout_id) if cart.checkout_id else None
    if cart.checkout_id in (None, by):
        yield True
    elif order is None:
        yield abandon_checkout(cart.checkout_id)
    elif order.has_items_in_cart:
        raise CartOrdered(order)
    elif order.state == EXPIRED:
        claim = claim_expired_order(order)
        try:
            yield claim is not None
            if claim:
                _close_payment_pages(order)
        finally:
            if claim:
                unclaim_expired_order(order, claim)
    else:
        if order.state == CANCELLED:
            # The expired order's units may be the units that the new checkout needs.
            with suppress(GatewayUnavailable):
                apply_effects(order.order_id, now)
        ensure_bought_items_removed(order, now)
        yield True
        _close_payment_pages(order)


def _close_payment_pages(order: Order) -> None:
    """Close, as far as the gateway can, the open payment pages of an ended order whose cart now belongs to another checkout."""
    if order.state not in (CANCELLED, EXPIRED):
        return
    for attempt in queries.load_payment_references(order).payment_attempts:
        if (
            attempt.state == "started"
            and attempt.reference
            and attempt.gateway not in MANUAL_METHODS
        ):
            try:
                gateways.get_gateway(attempt.gateway).void(attempt.reference)
            except (GatewayUnavailable, LookupError) as error:
                # A payment that still comes is refunded. The other attempts would wait for the same gateway.
                log.warning(
                    "order %s: a payment attempt stays open at %s: %s",
                    order.number,
                    attempt.gateway,
                    error,
                )
                return


CLAIM_EXPIRED_ORDER = conditional_write(
    "Q12",
    """UPDATE orders USING TTL :seconds SET placing = :me WHERE order_id = :order_id
       IF placing = null AND state = 'expired' AND version = :seen""",
)


def claim_expired_order(order: Order) -> Claim | None:
    """Claim an expired order's units, so that no other process reserves or releases them meanwhile.

    Return None if another process has the claim, or the order has changed. Raises CassandraUnavailable.
    """
    claim = Claim(uuid4(), monotonic())
    outcome = CLAIM_EXPIRED_ORDER.apply(
        if_lost=applied_if(lambda row: row.placing == claim.claim_id),
        order_id=order.order_id,
        me=claim.claim_id,
        seen=order.version,
        seconds=CLAIM_SECONDS,
    )
    return claim if outcome else None


def unclaim_expired_order(order: Order, claim: Claim) -> None:
    """Give up a claim of `claim_expired_order`. Raises CassandraUnavailable."""
    UNCLAIM.apply(if_lost=REFUSED_MEANS_DONE, order_id=order.order_id, me=claim.claim_id)


def _redeem_voucher(draft: OrderDraft, allocations: tuple[Allocation, ...], now: datetime) -> None:
    """Claim a use of the draft's voucher; if the use is refused, release the units. Raises VoucherRefused, CassandraUnavailable."""
    if not draft.voucher:
        return
    try:
        redeem_voucher(
            draft.voucher,
            find_voucher_customer_keys(draft.user_id, draft.email),
            draft.order_id,
            now,
        )
    except VoucherRefused:
        inventory.release_stock(allocations)
        inventory.copy_allocated_stock(allocations)
        raise


def _wanted_lines(draft: OrderDraft) -> list[WantedLine]:
    return [
        WantedLine(number, line.product_id, line.variant_id, line.quantity)
        for number, line in enumerate(draft.lines, 1)
    ]


def claim_order_number(order_id: UUID) -> str:
    """Claim a unique number for an order. A second call returns the same number. Raises CassandraUnavailable.

    After a restore a cart or a draft makes the order id again that a lost order had, but with another number.
    """
    series = get_number_series()
    for attempt in range(series, series + 100):
        number = numbers.derive_order_number(order_id, attempt)
        claim = INSERT_NUMBER.apply(
            if_lost=applied_if(lambda row: row.order_id == order_id),
            number=number,
            order_id=order_id,
        )
        if claim or (claim.current and claim.current.order_id == order_id):
            return number
    raise LookupError(f"no free number for order {order_id}")

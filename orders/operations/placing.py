"""A checkout becomes an order.

claim > the cart > hints > holds > the code's use > items > number > the order, by one conditional batch > its copies. Up to the batch
nobody can see anything of it, and whoever dies on the way leaves hints that lead to what has to be given back.
"""

import json
import logging
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property
from time import monotonic, sleep
from typing import Any
from uuid import UUID, uuid4

from cassandra.query import BoundStatement
from cassandra.util import uuid_from_time

from accounts.addresses import Address
from cart import operations as carts
from cart.entities import Cart
from cart.errors import CartError
from cassandra_db import (
    REFUSED_MEANS_DONE,
    Outcome,
    applied_if,
    conditional,
    conditional_batch,
    write,
    write_together,
)
from inventory import operations as inventory
from inventory.entities import Allocation, Want
from inventory.errors import OutOfStock
from orders import numbers, queries
from orders.entities import Order
from orders.errors import CartOrdered, CheckoutBusy, CheckoutGivenUp, CheckoutUsed
from orders.operations.hints import hint_dropped, hint_written
from orders.operations.leaving import ABANDONED_SECONDS, ITEMS_REMOVED, checkout_left
from orders.operations.moving import event_row
from orders.operations.settling import settled
from orders.persons import user_of_code
from orders.states import ABANDONED, CANCELLED, EXPIRED, PENDING
from payments import gateways
from payments.errors import GatewayAway
from pricing import delivery, quotes
from pricing.money import minor
from pricing.quotes import snapshot_columns
from promotions.errors import VoucherRefused
from promotions.operations import voucher_claimed

log = logging.getLogger(__name__)

# The TTL of a claim, in seconds.
CLAIM_SECONDS = 60
# For how long after its claim a process begins any further write, in seconds. What is between the two is for a write
# that takes long: none arrives after somebody else's claim.
WORK_SECONDS = 20
# How long a second submit of the same checkout waits for the first.
WAIT_SECONDS = 8.0


@dataclass(frozen=True)
class Draft:
    """All that an order is made of. `order_id` is the checkout's id; `fingerprint` tells its content from another's."""

    order_id: UUID
    owner_id: UUID
    user_id: UUID | None
    email: str
    delivery_address: Address
    billing_address: Address
    method: delivery.Method
    lines: tuple[quotes.QuotedLine, ...]
    cart_id: UUID | None
    fingerprint: str
    payment_method: str = "card"
    voucher: str = ""  # the code as it was typed; `promotions` has what it does
    promotions: tuple[quotes.Promotion, ...] = ()
    cart: Cart | None = (
        None  # as it was when it was looked over: if it has changed, nothing is placed
    )
    checkout_number: int = 0  # how many of the cart's checkouts have ended without payment
    stock: Mapping[UUID, Mapping[str, int]] | None = (
        None  # as the page has seen it, by variant and warehouse
    )

    @cached_property
    def sums(self) -> quotes.Sums:
        return quotes.sums(self.lines, self.delivery_address.country, self.method, self.promotions)


@dataclass(frozen=True)
class Claim:
    """That this process alone holds an order's units, from a moment on (in seconds of `monotonic`).

    `again`: somebody has claimed it before, so there may be holds already.
    """

    me: UUID
    since: float
    again: bool = False

    def check(self) -> None:
        """Raise CheckoutBusy when the claim may soon be somebody else's."""
        if monotonic() - self.since > WORK_SECONDS:
            raise CheckoutBusy


# Nobody has held anything for it yet. TRIED stands in the same batch, and outlives the claim.
CLAIM_FIRST = conditional(
    "Q12",
    """UPDATE orders USING TTL :seconds SET placing = :me
       WHERE order_id = :order_id IF placing = null AND state = null AND tried = null""",
)
TRIED = conditional(
    "Q12", "UPDATE orders USING TTL :seconds SET tried = true WHERE order_id = :order_id"
)
CLAIM = conditional(
    "Q12",
    """UPDATE orders USING TTL :seconds SET placing = :me
       WHERE order_id = :order_id IF placing = null AND state = null AND tried = true""",
)
UNCLAIM = conditional(
    "Q12", "UPDATE orders SET placing = null WHERE order_id = :order_id IF placing = :me"
)
ITEM = write(
    "Q13",
    """INSERT INTO order_items (order_id, line_number, product_id, variant_id, sku, name, slug, options, picture,
                                 unit_price, quantity, line_total, discount, tax_added, tax_class)
       VALUES (:order_id, :line_number, :product_id, :variant_id, :sku, :name, :slug, :options, :picture,
               :unit_price, :quantity, :line_total, :discount, :tax_added, :tax_class)""",
)
NUMBER = conditional(
    "Q12",
    "INSERT INTO order_ids_by_number (number, order_id) VALUES (:number, :order_id) IF NOT EXISTS",
)
# Only while the claim stands: a process that slept through it places nothing.
PLACE = conditional(
    "Q12",
    """UPDATE orders SET placing = null, number = :number, owner_id = :owner_id, user_id = :user_id, email = :email,
              name = :name, state = :state, payment = 'unpaid', fulfilment = 'unfulfilled', version = 1,
              placed_at = :placed_at, pay_until = :pay_until, currency = :currency, subtotal = :subtotal,
              delivery = :delivery, discount = :discount, total = :total, tax = :tax, taxes = :taxes,
              item_count = :item_count, country = :country, delivery_address = :delivery_address,
              billing_address = :billing_address, delivery_method = :delivery_method,
              first_item_name = :first_item_name, first_item_picture = :first_item_picture, cart_id = :cart_id,
              allocations = :allocations, fingerprint = :fingerprint, payment_method = :payment_method,
              captured = 0, refunded = 0, voucher = :voucher, discounts = :discounts
       WHERE order_id = :order_id IF placing = :me AND state = null""",
)


def order_placed(draft: Draft, now: datetime, pay_within: timedelta | None = None) -> Order:
    """Make a checkout an order that waits for its payment; placing it again returns the order that it has become.

    Its units are held until then (see inventory.operations.held), by default for as long as its way to pay allows.
    Raises OutOfStock, VoucherRefused, CartChanged, or CartOrdered when another checkout has the cart, with nothing placed;
    CheckoutUsed if the checkout became an order of another content, CheckoutGivenUp if its goods were given back
    meanwhile, CheckoutBusy, CassandraUnavailable.
    """
    claim = _claimed(draft)
    if isinstance(claim, Order):
        return claim
    hint = hint_written(draft.order_id)
    try:
        if draft.cart:
            _take_cart(draft, draft.cart, now)
        allocations = inventory.held(
            draft.order_id,
            _wants(draft),
            now,
            check=claim.check,
            retry=claim.again,
            seen=draft.stock,
        )
        claim.check()
        _take_voucher(draft, allocations, now)
    except (OutOfStock, CartError, CartOrdered, VoucherRefused):
        UNCLAIM.apply(if_lost=REFUSED_MEANS_DONE, order_id=draft.order_id, me=claim.me)
        raise
    pay_within = pay_within or gateways.METHODS[draft.payment_method].pay_within
    claim.check()
    write_together([ITEMS_REMOVED.bind(order_id=draft.order_id)])
    write_together(list(item_rows(draft)))
    number = number_claimed(draft.order_id)
    event_id = uuid_from_time(now)
    outcome = conditional_batch(
        PLACE.bind(me=claim.me, **header_values(draft, number, now, now + pay_within, allocations)),
        event_row(
            draft.order_id, event_id, "placed", actor="shopper", state=PENDING, board="to_pay"
        ),
        if_lost=applied_if(lambda row: row.event_id == event_id),
    )
    if not outcome:
        # The claim ran out under us; what we hold is found by its hints.
        raise CheckoutBusy
    order = settled(draft.order_id, now)
    if order is None:
        raise LookupError(f"order {draft.order_id} has vanished")
    hint_dropped(hint)
    return order


def _claimed(draft: Draft) -> Claim | Order:
    """Claim the checkout for this call, or return the order that it has become already."""
    me, until, again = uuid4(), monotonic() + WAIT_SECONDS, False
    while True:
        since = monotonic()
        claim = _claim_again(draft, me) if again else _claim_first(draft, me)
        if claim:
            return Claim(me, since, again)
        there = claim.current
        if there and there.state == ABANDONED:
            raise CheckoutGivenUp
        if order := queries.order(draft.order_id):
            if order.fingerprint != draft.fingerprint:
                raise CheckoutUsed(order)
            return order
        if monotonic() > until:
            raise CheckoutBusy
        if there and there.tried and not again:
            again = True
            continue
        sleep(0.1)


def _claim_first(draft: Draft, me: UUID) -> Outcome:
    return conditional_batch(
        CLAIM_FIRST.bind(order_id=draft.order_id, me=me, seconds=CLAIM_SECONDS),
        TRIED.bind(order_id=draft.order_id, seconds=ABANDONED_SECONDS),
        if_lost=applied_if(lambda row: row.placing == me),
    )


def _claim_again(draft: Draft, me: UUID) -> Outcome:
    return CLAIM.apply(
        if_lost=applied_if(lambda row: row.placing == me),
        order_id=draft.order_id,
        me=me,
        seconds=CLAIM_SECONDS,
    )


def _take_cart(draft: Draft, cart: Cart, now: datetime) -> None:
    """Let the checkout have its cart, if that is as it was looked over and no other checkout has it.

    Raises CartChanged, CartOrdered, CheckoutBusy, CassandraUnavailable.
    """
    until = monotonic() + WAIT_SECONDS
    while True:
        with _left(cart, draft.order_id, now) as free:
            if free:
                cart = replace(
                    cart, checkout_id=carts.cart_taken(cart, draft.order_id, draft.checkout_number)
                )
            if cart.checkout_id == draft.order_id:
                return
        if monotonic() > until:
            raise CheckoutBusy
        if not free:
            sleep(0.1)


@contextmanager
def _left(cart: Cart, by: UUID, now: datetime) -> Iterator[bool]:
    """Tell whether the checkout that has the cart needs it no more; False while somebody places it just now.

    What it has bought is taken out of the cart, if nobody has come to that yet. What it holds without having become an
    order is given back. No payment for an order that has expired brings that back meanwhile. Raises CartOrdered.
    """
    order = queries.order(cart.checkout_id) if cart.checkout_id else None
    if cart.checkout_id in (None, by):
        yield True
    elif order is None:
        yield checkout_left(cart.checkout_id)
    elif order.keeps_cart:
        raise CartOrdered(order)
    elif order.state == EXPIRED:
        claim = holding_claimed(order)
        try:
            yield claim is not None
            if claim:
                _tries_closed(order)
        finally:
            if claim:
                holding_unclaimed(order, claim)
    else:
        with suppress(GatewayAway):
            settled(order.order_id, now)
        yield True
        _tries_closed(order)


def _tries_closed(order: Order) -> None:
    """Close the bank's pages that an order has left open, where the bank can: the cart is another checkout's now."""
    if order.state not in (CANCELLED, EXPIRED):
        return
    for attempt in queries.attempts(order.order_id):
        if (
            attempt.state == "started"
            and attempt.reference
            and attempt.gateway not in gateways.BY_HAND
        ):
            try:
                gateways.gateway(attempt.gateway).void(attempt.reference)
            except (GatewayAway, LookupError) as away:
                # Then a payment that comes is given back. Nobody waits for the same bank twice.
                log.warning(
                    "order %s: a try to pay it stays open at %s: %s",
                    order.number,
                    attempt.gateway,
                    away,
                )
                return


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
        if_lost=applied_if(lambda row: row.placing == claim.me),
        order_id=order.order_id,
        me=claim.me,
        seen=order.version,
        seconds=CLAIM_SECONDS,
    )
    return claim if outcome else None


def holding_unclaimed(order: Order, claim: Claim) -> None:
    """Give up a claim of `holding_claimed`. Raises CassandraUnavailable."""
    UNCLAIM.apply(if_lost=REFUSED_MEANS_DONE, order_id=order.order_id, me=claim.me)


def _take_voucher(draft: Draft, allocations: tuple[Allocation, ...], now: datetime) -> None:
    """Take a use of the draft's code, or give its units back. Raises VoucherRefused, CassandraUnavailable."""
    if not draft.voucher:
        return
    try:
        voucher_claimed(
            draft.voucher, user_of_code(draft.user_id, draft.email), draft.order_id, now
        )
    except VoucherRefused:
        inventory.released(allocations)
        for product_id in {each.product_id for each in allocations}:
            inventory.stock_copied(product_id)
        raise


def _wants(draft: Draft) -> list[Want]:
    return [
        Want(number, line.product_id, line.variant_id, line.quantity)
        for number, line in enumerate(draft.lines, 1)
    ]


def item_rows(draft: Draft) -> Iterable[BoundStatement]:
    """Return the writes of an order's lines."""
    parts = zip(draft.lines, draft.sums.line_discounts, draft.sums.line_taxes, strict=True)
    for number, (line, discount, tax_added) in enumerate(parts, 1):
        yield ITEM.bind(
            order_id=draft.order_id,
            line_number=number,
            **snapshot_columns(line),
            unit_price=minor(line.unit_price),
            quantity=line.quantity,
            line_total=minor(line.total),
            discount=minor(discount),
            tax_added=minor(tax_added),
            tax_class=line.tax_class,
        )


def number_claimed(order_id: UUID) -> str:
    """Claim the order's number, which nobody else has; claiming again finds the same. Raises CassandraUnavailable."""
    for attempt in range(100):
        number = numbers.number_for(order_id, attempt)
        claim = NUMBER.apply(
            if_lost=applied_if(lambda row: row.order_id == order_id),
            number=number,
            order_id=order_id,
        )
        if claim or (claim.current and claim.current.order_id == order_id):
            return number
    raise LookupError(f"no free number for order {order_id}")


def allocated(allocations: Iterable[Allocation], take: int = 0) -> str:
    """Return the allocations as the order's header keeps them."""
    kept: dict[str, object] = {"take": take}
    for each in allocations:
        lines = kept.setdefault(each.warehouse_id, [])
        assert isinstance(lines, list)
        lines.append([each.line_number, each.quantity])
    return json.dumps(kept)


def header_values(
    draft: Draft, number: str, now: datetime, pay_until: datetime, allocations: Iterable[Allocation]
) -> dict[str, Any]:
    """Return what an order's header says when it is placed."""
    sums = draft.sums
    taxes = [
        {"rate": str(part.rate), "net": minor(part.net), "tax": minor(part.tax)}
        for part in sums.taxes
    ]
    return {
        "order_id": draft.order_id,
        "number": number,
        "owner_id": draft.owner_id,
        "user_id": draft.user_id,
        "email": draft.email,
        "name": draft.delivery_address.name,
        "state": PENDING,
        "placed_at": now,
        "pay_until": pay_until,
        "currency": sums.total.currency.code,
        "subtotal": minor(sums.subtotal),
        "delivery": minor(sums.delivery),
        "discount": minor(sums.discount),
        "total": minor(sums.total),
        "tax": minor(sums.tax),
        "taxes": json.dumps(taxes),
        "item_count": sum(line.quantity for line in draft.lines),
        "country": draft.delivery_address.country,
        "delivery_address": draft.delivery_address.fields(),
        "billing_address": draft.billing_address.fields(),
        "delivery_method": draft.method.code,
        "first_item_name": draft.lines[0].name,
        "first_item_picture": draft.lines[0].picture,
        "cart_id": draft.cart_id,
        "allocations": allocated(allocations),
        "fingerprint": draft.fingerprint,
        "payment_method": draft.payment_method,
        "voucher": draft.voucher,
        "discounts": json.dumps(
            [{"name": each.name, "amount": minor(each.amount)} for each in sums.discounts]
        ),
    }

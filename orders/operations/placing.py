"""A checkout becomes an order.

claim > hints > holds > items > number > the order, by one conditional batch > its copies. Up to the batch nobody can
see anything of it, and whoever dies on the way leaves hints that lead to what has to be given back.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from time import monotonic, sleep
from typing import Any
from uuid import UUID, uuid4

from cassandra.query import BoundStatement
from cassandra.util import uuid_from_time

from accounts.addresses import Address
from cassandra_db import conditional, conditional_batch, write, write_together
from catalogue.money import minor
from inventory import operations as inventory
from inventory.errors import OutOfStock
from inventory.operations import HOLD_FOR
from inventory.queries import Allocation, Want
from orders import delivery, numbers, queries, quotes
from orders.errors import CheckoutBusy, CheckoutGivenUp, CheckoutUsed
from orders.operations.hints import hint_dropped, hint_written
from orders.operations.moving import EVENT
from orders.operations.settling import settled
from orders.queries import Order
from orders.states import ABANDONED, PENDING

# The TTL of a claim, in seconds.
CLAIM_SECONDS = 60
# For how long after its claim a process begins any further write, in seconds. What is between the two is for a write
# that takes long: none arrives after somebody else's claim.
WORK_SECONDS = 20
# How long a second submit of the same checkout waits for the first.
WAIT_SECONDS = 8.0
# How long the mark of a checkout that was given up stays: longer than the checkout page's own id is valid.
ABANDONED_SECONDS = 30 * 24 * 3600


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

    @property
    def sums(self) -> quotes.Sums:
        return quotes.sums(self.lines, self.delivery_address.country, self.method)


@dataclass(frozen=True)
class Claim:
    """That this process alone holds an order's units, from a moment on (in seconds of `monotonic`)."""

    me: UUID
    since: float

    def check(self) -> None:
        """Raise CheckoutBusy when the claim may soon be somebody else's."""
        if monotonic() - self.since > WORK_SECONDS:
            raise CheckoutBusy


CLAIM = conditional(
    "Q12",
    """UPDATE orders USING TTL :seconds SET placing = :me WHERE order_id = :order_id IF placing = null AND state = null""",
)
UNCLAIM = conditional("Q12", "UPDATE orders SET placing = null WHERE order_id = :order_id IF placing = :me")
ITEM = write(
    "Q13",
    """INSERT INTO order_items (order_id, line_number, product_id, variant_id, sku, name, slug, options, picture,
                                 unit_price, quantity, line_total, tax_class)
       VALUES (:order_id, :line_number, :product_id, :variant_id, :sku, :name, :slug, :options, :picture,
               :unit_price, :quantity, :line_total, :tax_class)""",
)
ITEMS_REMOVED = write("Q13", "DELETE FROM order_items WHERE order_id = :order_id")
NUMBER = conditional(
    "Q12", "INSERT INTO order_ids_by_number (number, order_id) VALUES (:number, :order_id) IF NOT EXISTS"
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
              allocations = :allocations, fingerprint = :fingerprint
       WHERE order_id = :order_id IF placing = :me AND state = null""",
)


def order_placed(draft: Draft, now: datetime, pay_within: timedelta = HOLD_FOR) -> Order:
    """Make a checkout an order that waits for its payment; placing it again returns the order that it has become.

    Its units are held until then (see inventory.operations.held).
    Raises OutOfStock, with nothing placed; CheckoutUsed if the checkout became an order of another content,
    CheckoutGivenUp if its goods were given back meanwhile, CheckoutBusy, CassandraUnavailable.
    """
    claim = _claimed(draft)
    if isinstance(claim, Order):
        return claim
    hint = hint_written(draft.order_id)
    try:
        allocations = inventory.held(draft.order_id, _wants(draft), now, check=claim.check)
    except OutOfStock:
        UNCLAIM.apply(mine=lambda _: True, order_id=draft.order_id, me=claim.me)
        raise
    claim.check()
    write_together([ITEMS_REMOVED.bind(order_id=draft.order_id)])
    write_together(list(item_rows(draft)))
    number = number_claimed(draft.order_id)
    event_id = uuid_from_time(now)
    outcome = conditional_batch(
        PLACE.bind(me=claim.me, **header_values(draft, number, now, now + pay_within, allocations)),
        EVENT.bind(
            order_id=draft.order_id,
            event_id=event_id,
            kind="placed",
            actor="shopper",
            note="",
            public=True,
            state=PENDING,
            board="to_pay",
        ),
        mine=lambda row: row.event_id == event_id,
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
    me, until = uuid4(), monotonic() + WAIT_SECONDS
    while True:
        since = monotonic()
        claim = CLAIM.apply(mine=lambda row: row.placing == me, order_id=draft.order_id, me=me, seconds=CLAIM_SECONDS)
        if claim:
            return Claim(me, since)
        if claim.current and claim.current.state == ABANDONED:
            raise CheckoutGivenUp
        if order := queries.order(draft.order_id):
            if order.fingerprint != draft.fingerprint:
                raise CheckoutUsed(order)
            return order
        if monotonic() > until:
            raise CheckoutBusy
        sleep(0.1)


def _wants(draft: Draft) -> list[Want]:
    return [Want(number, line.product_id, line.variant_id, line.quantity) for number, line in enumerate(draft.lines, 1)]


def item_rows(draft: Draft) -> Iterable[BoundStatement]:
    """Return the writes of an order's lines."""
    for number, line in enumerate(draft.lines, 1):
        yield ITEM.bind(
            order_id=draft.order_id,
            line_number=number,
            product_id=line.product_id,
            variant_id=line.variant_id,
            sku=line.sku,
            name=line.name,
            slug=line.slug,
            options=line.options,
            picture=line.picture,
            unit_price=minor(line.unit_price),
            quantity=line.quantity,
            line_total=minor(line.total),
            tax_class=line.tax_class,
        )


def number_claimed(order_id: UUID) -> str:
    """Claim the order's number, which nobody else has; claiming again finds the same. Raises CassandraUnavailable."""
    for attempt in range(100):
        number = numbers.number_for(order_id, attempt)
        claim = NUMBER.apply(mine=lambda row: row.order_id == order_id, number=number, order_id=order_id)
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
    taxes = [{"rate": str(part.rate), "net": minor(part.net), "tax": minor(part.tax)} for part in sums.taxes]
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
    }


ABANDON = conditional(
    "Q12",
    """UPDATE orders USING TTL :seconds SET state = 'abandoned' WHERE order_id = :order_id
       IF state = null AND placing = null""",
)


def checkout_abandoned(order_id: UUID) -> bool:
    """Mark a checkout whose holds have run out as given up, so that it can become no order any more.

    Tells whether that holds now; False while somebody places it, or when it has become an order.
    Raises CassandraUnavailable.
    """
    outcome = ABANDON.apply(mine=lambda row: row.state == ABANDONED, order_id=order_id, seconds=ABANDONED_SECONDS)
    given_up = outcome.applied or (outcome.current is not None and outcome.current.state == ABANDONED)
    if given_up:
        ITEMS_REMOVED.run(order_id=order_id)
    return given_up

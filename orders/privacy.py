"""What orders hold about a person, and what is left of them without the person."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from accounts import queries as accounts
from orders import operations, queries
from orders.entities import Attempt, Order
from orders.states import CANCELLED, CLOSED, EXPIRED
from web.personal import NotYet, Person

# From this many years ago on a person may have orders: longer than any law has them kept.
YEARS = 20
# For so long the bank may still decide about a payment (orders.jobs.ASK_FOR).
BANK_DECIDES = timedelta(hours=24)


def held(person: Person) -> dict[str, Any]:
    """Return a person's orders in full: what was bought, where it went, how it was paid, what happened."""
    _guest_orders_joined(person)
    return {"orders": [_told(order) for order in _orders_of(person)]}


def _guest_orders_joined(person: Person) -> None:
    # What was ordered without signing in since the last login is as much theirs; the worker has not looked yet.
    member = accounts.user(person.user_id)
    if member and member.verified_at:
        operations.guest_orders_joined(person.user_id, person.email)


def _told(order: Order) -> dict[str, Any]:
    lines = queries.items_started(order.order_id)
    attempts = queries.attempts(order.order_id)
    return {
        "number": order.number,
        "placed_at": order.placed_at,
        "status": order.word,
        "email": order.email,
        "name": order.name,
        "delivery_address": order.delivery_address.fields(),
        "billing_address": order.billing_address.fields(),
        "delivery_method": order.delivery_method,
        "lines": [
            {
                "sku": item.sku,
                "name": item.name,
                "options": item.options,
                "unit_price": item.unit_price,
                "quantity": item.quantity,
                "total": item.line_total,
            }
            for item in queries.items_in(order, lines.rows())
        ],
        "parcels": [
            {
                "parcel": each.parcel_id,
                "state": each.state,
                "carrier": each.carrier,
                "tracking": each.tracking,
            }
            for each in order.parcels()
        ],
        "returns": [
            {
                "return": each.return_id,
                "lines": each.lines,
                "reason": each.reason,
                "state": each.state,
            }
            for each in order.returns
        ],
        "subtotal": order.subtotal,
        "delivery": order.delivery,
        "discount": order.discount,
        "discounts": [{"name": each.name, "amount": each.amount} for each in order.discounts],
        "code": order.voucher,
        "total": order.total,
        "tax_included": order.tax,
        "payments": [
            {
                "by": each.gateway,
                "amount": each.amount,
                "state": each.state,
                "started_at": each.started_at,
            }
            for each in attempts
        ],
        "history": [
            {"at": event.at, "what": event.told, "note": event.note} for event in order.history
        ],
    }


def against(person: Person) -> list[str]:
    """Return a sentence for each order that is still under way."""
    now = datetime.now(UTC)
    return [
        f"Order {order.number} is still under way ({order.word.lower()}): we need your address for it until it is done."
        for order in _orders_of(person)
        if _under_way(order, now)
    ]


def _under_way(order: Order, now: datetime) -> bool:
    if order.owed or order.returning:
        return True  # money, or goods, of theirs are still to come
    if order.state in (CANCELLED, EXPIRED):
        # Its money is on its way back, or the bank may still say that it was paid.
        return order.payment in ("authorized", "paid", "partially_refunded") or any(
            _undecided(each, now) for each in queries.attempts(order.order_id)
        )
    return order.state != CLOSED and order.fulfilment != "delivered"


def _undecided(attempt: Attempt, now: datetime) -> bool:
    return attempt.state == "started" and now - attempt.started_at < BANK_DECIDES


def erased(person: Person, now: datetime) -> None:
    """Take the person out of all orders; the lists that lead to them go last. Raises NotYet while one is under way."""
    _guest_orders_joined(person)
    found = list(_orders_of(person))
    if open_ones := [order.number for order in found if _under_way(order, now)]:
        raise NotYet(f"orders under way: {', '.join(open_ones)}")
    for order in found:
        operations.order_erased(order, now)
    operations.lists_removed(person.user_id, _years(now))


def _orders_of(person: Person) -> Iterator[Order]:
    there: set[UUID] = set()
    for listed in queries.orders_of(person.user_id, _years(datetime.now(UTC))).values():
        there |= {each.order_id for each in listed}
        reading = [queries.order_started(each.order_id) for each in listed]
        yield from (order for pending in reading if (order := queries.order_in(pending.rows())))
    # Theirs since a moment: the person's own list may not have it yet.
    reading = [
        queries.order_started(each)
        for each in queries.order_ids_by_email(person.email)
        if each not in there
    ]
    found = (queries.order_in(pending.rows()) for pending in reading)
    yield from (order for order in found if order and order.user_id == person.user_id)


def _years(now: datetime) -> range:
    return range(now.year - YEARS, now.year + 2)

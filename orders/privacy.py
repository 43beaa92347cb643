"""Personal data in orders: its export, and its erasure."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from accounts import queries as accounts
from cassandra_db import current_time
from orders import operations, queries
from orders.customers import find_listed_at, get_customer
from orders.lifecycle.entities import Order
from orders.lifecycle.parcels import Parcel
from orders.lifecycle.payment_attempts import PaymentAttempt
from orders.lifecycle.returns import Return
from orders.lifecycle.states import CANCELLED, CLOSED, EXPIRED, PENDING
from orders.lifecycle.transitions import Transition
from orders.presentation import event_label
from payments.methods import MANUAL_METHODS
from web.personal_data import DataSubject, ErasureRefused

# The years in which a person's orders are searched: more than any law requires an order to be stored.
YEARS = 20
# How long a gateway may take to decide about a payment (orders.jobs.ASK_FOR).
BANK_DECIDES = timedelta(hours=24)


def export_personal_data(person: DataSubject) -> dict[str, Any]:
    """Return a person's orders in full (lines, addresses, payments, history), and their sums."""
    _claim_guest_orders(person)
    return {
        "orders": [_order_data(order) for order in _iterate_orders(person)],
        "sums": [
            {"orders": each.order_count, "spent": each.total_spent}
            for each in queries.stats_from_rows(queries.prefetch_user_stats(person.user_id).rows())
        ],
        "in_the_list_of_customers": _list_entry(person.user_id),
    }


def _list_entry(user_id: UUID) -> dict[str, Any] | None:
    """Return a person's row in the list of customers, without the sums."""
    listed = get_customer(user_id, find_listed_at(user_id))
    if listed is None:
        return None
    return {"last_order": listed.last_order_at, "country": listed.country, "tags": listed.tags}


def _claim_guest_orders(person: DataSubject) -> None:
    # The worker may not yet have assigned the orders that the person placed as a guest since their last login.
    member = accounts.get_user(person.user_id)
    if member and member.verified_at:
        operations.claim_guest_orders(person.user_id, person.email)


def _order_data(order: Order) -> dict[str, Any]:
    lines = queries.prefetch_items(order.order_id)
    return {
        "number": order.number,
        "placed_at": order.placed_at,
        "status": order.customer_label,
        "email": order.email,
        "name": order.name,
        "delivery_address": order.delivery_address.stored_fields(),
        "billing_address": order.billing_address.stored_fields(),
        "delivery_method": order.method.label,
        "estimated_from": order.method.first,
        "estimated_delivery": order.method.last,
        "delivery_notes": order.customer_notes,
        "terms_version": order.terms_version,
        "lines": [
            {
                "sku": item.sku,
                "name": item.name,
                "options": item.options,
                "unit_price": item.unit_price,
                "quantity": item.quantity,
                "total": item.line_total,
            }
            for item in queries.items_from_rows(order, lines.rows())
        ],
        "parcels": [_parcel_data(each) for each in order.parcels()],
        "returns": [_return_data(each) for each in order.returns],
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
            for each in queries.load_payment_references(order).payment_attempts
        ],
        "history": [
            {"at": event.at, "what": event_label(order, event), "note": event.note}
            for event in order.history
        ],
    }


def _parcel_data(parcel: Parcel) -> dict[str, Any]:
    return {
        "parcel": parcel.parcel_id,
        "state": parcel.state,
        "carrier": parcel.carrier,
        "tracking": parcel.tracking,
    }


def _return_data(each: Return) -> dict[str, Any]:
    return {
        "return": each.return_id,
        "lines": each.lines,
        "reason": each.reason,
        "state": each.state,
    }


def list_erasure_obstacles(person: DataSubject) -> list[str]:
    """Return a sentence for each order that is still in progress."""
    now = current_time()
    return [
        _(
            "Order %(number)s is still in progress (%(status)s). We need your address until it’s complete."
        )
        % {"number": order.number, "status": _(order.customer_label).lower()}
        for order in _iterate_orders(person)
        if _is_under_way(order, now)
    ]


def _is_under_way(order: Order, now: datetime) -> bool:
    if order.is_unproved:
        return False  # anybody may have placed the order in the person's name
    if order.due_refunds or order.has_open_return:
        return True
    if order.state in (CANCELLED, EXPIRED):
        # The money is being refunded, or the gateway may still report a payment.
        return order.payment in ("authorized", "paid", "partially_refunded") or any(
            _is_undecided(each, now)
            for each in queries.load_payment_references(order).payment_attempts
        )
    return order.state != CLOSED and order.fulfilment != "delivered"


def _is_undecided(attempt: PaymentAttempt, now: datetime) -> bool:
    # No gateway reports transfers or cash, nor a payment without a reference.
    return (
        attempt.state == "started"
        and attempt.reference != ""
        and attempt.gateway not in MANUAL_METHODS
        and now - attempt.started_at < BANK_DECIDES
    )


def erase_personal_data(person: DataSubject, now: datetime) -> None:
    """Remove the person from their orders, then delete their lists of orders. Raises ErasureRefused if an order is in progress."""
    _claim_guest_orders(person)
    found = list(_iterate_orders(person))
    if open_ones := [order.number for order in found if _is_under_way(order, now)]:
        raise ErasureRefused(f"orders under way: {', '.join(open_ones)}")
    for order in (*found, *_unproved_orders(person)):
        operations.anonymize_order(_give_up_unproved(order, now), now)
    operations.delete_order_lists(person.user_id, _years(now))
    operations.delete_user_stats(person.user_id, [order.placed_at for order in found])


def _give_up_unproved(order: Order, now: datetime) -> Order:
    """Cancel an order that the person has not confirmed yet; return the order. Raises OrderChanged, CassandraUnavailable."""
    if not (order.is_unproved and order.state == PENDING):
        return order
    return operations.transition_order(order, Transition("cancelled", actor="system", at=now))


def _unproved_orders(person: DataSubject) -> list[Order]:
    """Return the guest orders with the person's e-mail address that are neither confirmed nor paid (Order.is_unproved)."""
    reading = [
        queries.prefetch_order(each) for each in queries.list_order_ids_by_email(person.email)
    ]
    found = (queries.order_from_rows(pending.rows()) for pending in reading)
    return [order for order in found if order and order.user_id is None and order.is_unproved]


def _iterate_orders(person: DataSubject) -> Iterator[Order]:
    listed_ids: set[UUID] = set()
    for listed in queries.list_orders_by_year(person.user_id, _years(current_time())).values():
        listed_ids |= {each.order_id for each in listed}
        reading = [queries.prefetch_order(each.order_id) for each in listed]
        yield from (
            order for pending in reading if (order := queries.order_from_rows(pending.rows()))
        )
    # An order that was just claimed may not be in the person's own list yet.
    reading = [
        queries.prefetch_order(each)
        for each in queries.list_order_ids_by_email(person.email)
        if each not in listed_ids
    ]
    found = (queries.order_from_rows(pending.rows()) for pending in reading)
    yield from (order for order in found if order and order.user_id == person.user_id)


def _years(now: datetime) -> range:
    return range(now.year - YEARS, now.year + 2)

"""Bulk changes of orders: each order is changed exactly once, even after crashes (decision 038, jobs.bulk_changes).

The event of a change has a submit id derived from the change and the order. Its write is conditional on the order's version.
Of two concurrent processes only one writes the event. The other process reads the order again, finds the event, and stops.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID, uuid5

from django.utils.translation import gettext as _

from cassandra_db import Row, current_time
from jobs.bulk_changes import PAGE_LENGTH, BulkChange, ChangeStore
from orders import queries
from orders.bulk_acts import DISPATCH, OrderAct, plan_event, unpack_act
from orders.lifecycle import balance
from orders.lifecycle.entities import Order
from orders.lifecycle.errors import OrderChanged, OrderError, TrackingNumberTaken
from orders.lifecycle.states import CANCELLED, EXPIRED
from orders.operations.parcels import transition_with_number
from orders.operations.resent_mails import (
    check_resend,
    find_confirmation_mail_id,
    find_dispatch_mail_id,
    resend_mail,
)
from orders.operations.tracking_numbers import find_tracking_owner, release_unused_numbers
from orders.operations.transitions import submit_under_way
from pricing.money import to_minor_units

MAX_ATTEMPTS = 5
# The most orders whose refunds a page adds up. More orders would take too long.
MAX_SUMMED = 1000


@dataclass(frozen=True, slots=True)
class OrderChange(BulkChange):
    """A bulk change of orders."""

    act: OrderAct


@dataclass(frozen=True, slots=True)
class PreviewedOrder:
    """An order in the preview of a bulk change. `reason` says why the change would be refused for this order."""

    order: Order
    is_changed: bool = False
    reason: str = ""


@dataclass(frozen=True, slots=True)
class CancellationSum:
    """The money that cancelling some orders refunds, in minor units. `in_all` adds the earlier refunds of these orders.

    `by_order` has the amount to refund of each order that was read.
    """

    amount: int
    in_all: int
    by_order: Mapping[UUID, int]


STORE = ChangeStore(
    OrderChange,
    unpack_act,
    changes="order_changes",
    rows="order_change_rows",
    item="order_id",
    given=("tracking", "refundable"),
)


def preview_act(
    act: OrderAct, order_ids: Sequence[UUID], tracking: Mapping[UUID, str], now: datetime
) -> list[PreviewedOrder]:
    """Return the preview of an act on orders, in the sequence of their ids. Raises CassandraUnavailable."""
    reading = [queries.prefetch_order(each) for each in order_ids]
    found = []
    for pending in reading:
        order = queries.order_from_rows(pending.rows())
        if order is None:
            continue
        try:
            is_changed = _check_act(act, order, tracking.get(order.order_id, ""), now)
        except OrderError as refused:
            found.append(PreviewedOrder(order, reason=str(refused)))
        else:
            found.append(PreviewedOrder(order, is_changed))
    return found


def _check_act(act: OrderAct, order: Order, tracking: str, now: datetime) -> bool:
    """Return whether an act changes an order. Raises OrderError."""
    if act.kind == "mailed":
        check_resend(order, _find_mail_id(act, order, now))
        return True
    event = plan_event(act, order, tracking, now)
    owner = find_tracking_owner(tracking) if event and tracking else None
    if owner and owner != order.order_id:
        raise TrackingNumberTaken(tracking)
    return event is not None


def _find_mail_id(act: OrderAct, order: Order, until: datetime) -> UUID:
    """Return the id of the mail that an act resends: of the confirmation, or of the last dispatch by `until`. Raises MailRefused."""
    if act.mail == DISPATCH:
        return find_dispatch_mail_id(order, until)
    return find_confirmation_mail_id(order)


def sum_cancellations(order_ids: Sequence[UUID], enough: int) -> CancellationSum:
    """Return the money that cancelling these orders refunds. Raises CassandraUnavailable.

    Reading stops when the sum exceeds `enough`. More than MAX_SUMMED orders are not read, but count as more than `enough`.
    """
    if len(order_ids) > MAX_SUMMED:
        return CancellationSum(enough + 1, enough + 1, {})
    amount, in_all = 0, 0
    by_order: dict[UUID, int] = {}
    for first in range(0, len(order_ids), PAGE_LENGTH):
        page = order_ids[first : first + PAGE_LENGTH]
        by_order |= dict.fromkeys(page, 0)
        for pending in [queries.prefetch_order(each) for each in page]:
            order = queries.order_from_rows(pending.rows())
            # Packed orders count, too, because staff may unpack them before the worker cancels them.
            if order and order.state not in (CANCELLED, EXPIRED):
                cents = to_minor_units(balance.amount_to_give_up(order))
                by_order[order.order_id] = cents
                amount += cents
                in_all += cents and cents + to_minor_units(balance.amount_given_back(order))
        if in_all > enough:
            # The unread orders count as more than `enough`.
            is_last = first + PAGE_LENGTH >= len(order_ids)
            amount = amount if is_last else max(amount, enough + 1)
            break
    return CancellationSum(amount, in_all, by_order)


def start_change(
    change_id: UUID,
    act: OrderAct,
    order_ids: Sequence[UUID],
    tracking: Mapping[UUID, str],
    started_by: UUID,
    now: datetime,
    refundable: Mapping[UUID, int] | None = None,
) -> OrderChange:
    """Start a bulk change, which the worker executes. Return it, or the change that was started under the same id before.

    `tracking` has tracking numbers, keyed by order. `refundable` has the most that cancelling may refund, in minor units, keyed by
    order. Raises ValueError for no orders or more than MAX_ITEMS. Also raises CassandraUnavailable.
    """
    refundable = refundable or {}
    rows = [
        {"order_id": each, "tracking": tracking.get(each), "refundable": refundable.get(each)}
        for each in order_ids
    ]
    return STORE.start(change_id, act, rows, started_by, now)


def run_change(change: OrderChange, most: int) -> int:
    """Continue a change with about `most` orders, and finish it when no order is left. Return the number of orders tried.

    Raises CassandraUnavailable, UnknownOutcome. After an error call it again.
    """
    return STORE.run(change, most, _change_order)


def has_event_of(order: Order, change: OrderChange) -> bool:
    """Return whether an order has the event of a change."""
    submit_id = _derive_submit_id(change, order)
    return any(event.submit_id == submit_id for event in order.events)


def _derive_submit_id(change: OrderChange, order: Order) -> UUID:
    return uuid5(change.change_id, str(order.order_id))


def _change_order(change: OrderChange, row: Row) -> None:
    """Change one order, unless the change was made before, and record the result."""
    order = queries.get_order(row.order_id)
    if order is None:
        STORE.rows.note_result(row, "changed", _("Order not found"))
        return
    tracking = row.tracking or ""
    # A process that died before it wrote the event may have taken the tracking number.
    numbers = [tracking] if tracking else []
    for _attempt in range(MAX_ATTEMPTS):
        # The write is conditional on the version that was read; the event is not in that version unless it is found here.
        if has_event_of(order, change):
            STORE.note_done(change, row.position, order.number)
            return
        try:
            if change.act.kind == "mailed":
                order = resend_mail(
                    order,
                    # A second try resends the same mail, even if a parcel was dispatched in between.
                    _find_mail_id(change.act, order, change.started_at),
                    actor=change.act.actor,
                    submit_id=_derive_submit_id(change, order),
                    now=current_time(),
                )
                continue
            transition = plan_event(change.act, order, tracking, current_time(), row.refundable)
            if transition is None:
                release_unused_numbers(order, numbers)
                STORE.rows.note_result(row, "unchanged", order.number)
                return
            with submit_under_way(_derive_submit_id(change, order)):
                order = transition_with_number(order, transition)
        except OrderChanged as stale:
            order = stale.order
        except OrderError as refused:
            release_unused_numbers(order, numbers)
            is_overtaken = any(event.at > change.started_at for event in order.events)
            result = "changed" if is_overtaken else "refused"
            STORE.rows.note_result(row, result, order.number, str(refused))
            return
    STORE.rows.note_result(row, "changed", order.number, _("The order kept changing. Try again."))

"""The worker's jobs for orders: they finish what a crash has left half done, and release units that are not paid for."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import TypeVar
from uuid import UUID

from django.utils.translation import ngettext

from accounts import queries as accounts
from accounts.operations import clear_email_proof, record_email_proof
from cassandra_db import CassandraUnavailable, Row, current_microseconds, current_time
from inventory import operations as inventory
from inventory import queries as stock
from jobs.leases import get_position, save_position
from jobs.minutes import MINUTE, floor_to_minute, minutes_between
from jobs.months import list_recent_months
from jobs.registry import Job, describe_count, make_sharded_jobs
from jobs.rows import guard_row
from jobs.shards import Shard
from orders import bulk_changes, operations, queries
from orders.lifecycle.entities import Order
from orders.lifecycle.errors import OrderChanged, TransitionRefused
from orders.lifecycle.states import CANCELLED, EXPIRED, LATE_AFTER, PENDING
from orders.lifecycle.transitions import Transition
from orders.operations import user_stats
from orders.operations.abandonment import allocation_from_expiry, release_orphaned_reservations
from orders.operations.pending_effects import PendingEffect
from payments import gateways
from payments.errors import GatewayMissing, GatewayUnavailable
from promotions.operations import release_vouchers

T = TypeVar("T")
log = logging.getLogger(__name__)

# A row may be written this long after its minute, by a process that was delayed; for so long a minute is looked at again.
MAX_WRITE_DELAY = timedelta(minutes=5)
# How far a worker looks back at its first run here. Later it continues where it stopped.
FIRST_LOOK_BACK = timedelta(days=1)
# For how long the gateway is asked about an undecided payment.
ASK_FOR = timedelta(hours=24)
# After how long an order that could not be processed is tried again.
RETRY_AFTER = timedelta(minutes=5)
# So many orders of bulk changes are changed in a run.
MAX_CHANGED_AT_ONCE = 300
# A minute that had so many expiries is deleted as one: it is read again, by all shards, for MAX_WRITE_DELAY.
MANY_EXPIRIES = 100
_AT_ONCE = 100  # minutes read side by side
ALL_ORDERS, ALL_RESERVATIONS = Shard("orders"), Shard("holds")


@dataclass
class SweepResult:
    """What a sweep did: how many orders it processed, and the minutes in which something is left to do."""

    processed: int = 0
    unfinished_minutes: set[datetime] = field(default_factory=set)

    def __iadd__(self, other: SweepResult) -> SweepResult:
        self.processed += other.processed
        self.unfinished_minutes |= other.unfinished_minutes
        return self

    def __str__(self) -> str:
        if not self.processed:
            return ""
        return f"{self.processed} orders looked after{f', {len(self.unfinished_minutes)} minutes left over' if self.unfinished_minutes else ''}"


def sweep_pending_effects(now: datetime, shard: Shard = ALL_ORDERS) -> str:
    """Process the orders of a shard that may have pending effects: their payment, stock, lists and mail."""
    return _sweep(shard, now, _apply_pending_effects_in)


def apply_pending_effects(
    minutes: list[datetime], now: datetime, shard: Shard = ALL_ORDERS
) -> set[datetime]:
    """Process the orders with a pending effect in these minutes; return the minutes in which something is left to do."""
    return _apply_pending_effects_in(minutes, now, shard).unfinished_minutes


def _apply_pending_effects_in(minutes: list[datetime], now: datetime, shard: Shard) -> SweepResult:
    result = SweepResult()
    for minute, found in queries.list_pending_effects(minutes).items():
        ids = [order_id for order_id in found if shard.has_id(order_id)]
        result.processed += len(ids)
        if not _process_all(_recover_and_clear, _postpone_recovery, minute, ids, now):
            result.unfinished_minutes.add(minute)
    return result


def sweep_expired_reservations(now: datetime, shard: Shard = ALL_RESERVATIONS) -> str:
    """Process the expired reservations of a shard: release them, and expire the orders that were not paid in time."""
    return _sweep(shard, now, _expire_reservations_in)


def expire_reservations(
    minutes: list[datetime], now: datetime, shard: Shard = ALL_RESERVATIONS
) -> set[datetime]:
    """Process the reservations that expire in these minutes; return the minutes in which something is left to do."""
    return _expire_reservations_in(minutes, now, shard).unfinished_minutes


def _expire_reservations_in(minutes: list[datetime], now: datetime, shard: Shard) -> SweepResult:
    result = SweepResult()
    for minute, rows in stock.list_reservation_expiries(minutes).items():
        by_order: dict[UUID, list[Row]] = {}
        for row in rows:
            # An order's reservations are processed together.
            if shard.has_id(row.order_id):
                by_order.setdefault(row.order_id, []).append(row)
        result.processed += len(by_order)
        if not _process_all(
            _end_reservations, _postpone_expiry, minute, list(by_order.values()), now
        ):
            result.unfinished_minutes.add(minute)
        elif by_order and len(rows) >= MANY_EXPIRIES:
            _drop_if_empty(minute)
    return result


def _drop_if_empty(minute: datetime) -> None:
    # The shard that ends the last expiry finds that none is left.
    before = current_microseconds()
    if not stock.list_reservation_expiries([minute]):
        inventory.drop_expired_minute(minute, before)


def has_pending_effects(now: datetime) -> bool:
    """Return whether a sweep would find an order. Raises CassandraUnavailable."""
    return bool(queries.list_pending_effects(_swept_minutes(now - MAX_WRITE_DELAY, now)))


def has_expired_reservations(now: datetime) -> bool:
    """Return whether a sweep would find a reservation. Raises CassandraUnavailable."""
    return bool(stock.list_reservation_expiries(_swept_minutes(now - MAX_WRITE_DELAY, now)))


def _swept_minutes(since: datetime, now: datetime) -> list[datetime]:
    # Younger pending effects may be of events that are still being written: cleared now, they would be missing after a crash.
    return minutes_between(since, now - 2 * MINUTE)


def _sweep(
    shard: Shard,
    now: datetime,
    process_minutes: Callable[[list[datetime], datetime, Shard], SweepResult],
) -> str:
    """Process the minutes since the last run; where something is left to do, the next run looks again."""
    last_position = get_position(shard.job_name)
    since = datetime.fromisoformat(last_position) if last_position else now - FIRST_LOOK_BACK
    minutes = _swept_minutes(since, now)
    result = SweepResult()
    # Orders that need a gateway which hangs are postponed: each would keep all others waiting.
    with gateways.gateway_circuit_breaker():
        for start in range(0, len(minutes), _AT_ONCE):
            result += process_minutes(minutes[start : start + _AT_ONCE], now, shard)
    reached = min({floor_to_minute(now - MAX_WRITE_DELAY), *result.unfinished_minutes})
    if reached.isoformat() != last_position:
        save_position(shard.job_name, reached.isoformat())
    return str(result)


def _process_all(
    process: Callable[[datetime, T, datetime], bool],
    postpone: Callable[[datetime, T, datetime], None],
    minute: datetime,
    things: list[T],
    now: datetime,
) -> bool:
    """Process each, and return whether all are done. One that fails is postponed: it must not block the others."""
    done = True
    for each in things:
        try:
            done = _process_one(process, postpone, minute, each, now) and done
        except CassandraUnavailable as error:
            log.warning("left for the next run: %s: %s", each, error)
            done = False
    return done


def _process_one(
    process: Callable[[datetime, T, datetime], bool],
    postpone: Callable[[datetime, T, datetime], None],
    minute: datetime,
    each: T,
    now: datetime,
) -> bool:
    try:
        return process(minute, each, now)
    except CassandraUnavailable:
        raise
    except Exception as error:
        log.error(
            "put off by %s: %s: %s",
            RETRY_AFTER,
            each,
            error,
            exc_info=not isinstance(error, GatewayUnavailable),
        )
    postpone(minute, each, now)
    return True


def _recover_and_clear(minute: datetime, order_id: UUID, now: datetime) -> bool:
    pending_effect = PendingEffect(minute, order_id, current_microseconds())
    recover_order(order_id, now)
    operations.clear_pending_effects(pending_effect)
    return True


def _postpone_recovery(minute: datetime, order_id: UUID, now: datetime) -> None:
    pending_effect = PendingEffect(minute, order_id, current_microseconds())
    operations.record_pending_effects(order_id, now + RETRY_AFTER)
    operations.clear_pending_effects(pending_effect)


def recover_order(order_id: UUID, now: datetime) -> None:
    """Ask the gateway about open payment attempts, then apply the order's effects.

    Raises CassandraUnavailable; GatewayUnavailable, with all done that needs no gateway.
    """
    order = queries.get_order(order_id)
    if order is None:
        # A checkout that never became an order: its reservations are found by their expiries.
        return
    unavailable: GatewayUnavailable | None = None
    for attempt in order.payment_attempts:
        if attempt.state != "started":
            continue
        age = now - attempt.started_at
        try:
            order = operations.settle_payment(order_id, attempt.payment_id, now) or order
        except (LookupError, ValueError, GatewayMissing) as unknown:
            # No gateway can be asked. It is logged for as long as it is asked, then no more: a webhook may still come.
            log.error(
                "order %s: %s does not know its payment: %s", order.number, attempt.gateway, unknown
            )
        except GatewayUnavailable as error:
            unavailable = error
            continue
        if order.state in (PENDING, EXPIRED, CANCELLED) and age < ASK_FOR:
            operations.record_pending_effects(order_id, now + max(operations.ASK_AFTER, age))
    operations.apply_effects(order_id, now)
    if unavailable:
        raise unavailable


def _end_reservations(minute: datetime, expiries: list[Row], now: datetime) -> bool:
    """End an order's expired reservations, or record when to look again. False: look again at the next run."""
    order_id = expiries[0].order_id
    order = queries.get_order(order_id)
    if order and order.state == PENDING and now >= order.pay_until:
        order = operations.expire_order(order, now)
        if order.state == PENDING:
            return False
    if order is None:
        if not operations.mark_checkout_abandoned(order_id):
            return False  # it is being placed just now
        release_vouchers(order_id)
        release_orphaned_reservations(expiries)
    elif order.state == PENDING:
        inventory.record_reservation_expiries(
            order_id, [allocation_from_expiry(expiry) for expiry in expiries], order.pay_until
        )
    else:
        # Paid, or ended: the order's own reservations follow it; those that a failed try has left over are released.
        own_reservation_ids = _own_reservation_ids(order)
        if any(expiry.reservation_id in own_reservation_ids for expiry in expiries):
            operations.apply_effects(order_id, now)
        claim = None
        if order.state == EXPIRED and not (claim := operations.claim_expired_order(order)):
            return False  # a late payment is reserving the units again just now
        # As it is now: stock may have arrived for it, so that a reservation is its own since.
        order = queries.get_order(order_id) or order
        if order.state == EXPIRED and claim is None:
            return False  # it has just expired
        own_reservation_ids = _own_reservation_ids(order)
        release_orphaned_reservations(
            [expiry for expiry in expiries if expiry.reservation_id not in own_reservation_ids]
        )
        release_vouchers(
            order_id, except_code="" if order.state in (CANCELLED, EXPIRED) else order.voucher
        )
        if claim:
            operations.unclaim_expired_order(order, claim)
    _delete_expiries(minute, expiries)
    return True


def _postpone_expiry(minute: datetime, expiries: list[Row], now: datetime) -> None:
    inventory.record_reservation_expiries(
        expiries[0].order_id,
        [allocation_from_expiry(expiry) for expiry in expiries],
        now + RETRY_AFTER,
    )
    _delete_expiries(minute, expiries)


def _delete_expiries(minute: datetime, expiries: list[Row]) -> None:
    for expiry in expiries:
        inventory.clear_reservation_expiry(
            minute, expiry.variant_id, expiry.warehouse_id, expiry.reservation_id
        )


def _own_reservation_ids(order: Order) -> set[UUID]:
    """Return the ids of the reservations that are the order's own."""
    return {each.reservation_id for each in order.list_allocations(queries.list_items(order))}


def sweep_backorders(now: datetime) -> str:
    """Reserve what has arrived for the orders that wait for it, the oldest first."""
    served = operations.allocate_backorders(now)
    return describe_count(
        ngettext(
            "%(count)s order got what it waited for",
            "%(count)s orders got what they waited for",
            served,
        ),
        served,
    )


def mark_late_orders(now: datetime) -> str:
    """Move the orders that have been to pack for too long into the column for late ones."""
    found = 0
    after = ""
    while True:
        entries, after = queries.list_board_orders("to_pack", after, limit=_AT_ONCE)
        late_entries = [entry for entry in entries if now - entry.placed_at > LATE_AFTER]
        for entry in late_entries:
            with guard_row(f"late order {entry.order_id}"):
                found += _mark_late(entry.order_id, now)
        if not after or len(late_entries) < len(entries):
            return describe_count(
                ngettext("%(count)s order is late", "%(count)s orders are late", found), found
            )


def _mark_late(order_id: UUID, now: datetime) -> bool:
    order = queries.get_order(order_id)
    # An order that was paid, or resumed, less than two days ago has not been to pack for as long as it is old.
    if order is None or order.board_column != "to_pack" or now - order.to_pack_since <= LATE_AFTER:
        return False
    try:
        operations.transition_order(order, Transition("late", actor="system", at=now))
    except (OrderChanged, TransitionRefused):
        return False  # it is being packed at this moment, or its copy is older than the order
    return True


def sweep_empty_board_days(now: datetime) -> str:
    """Delete the days on which a column of the board is empty."""
    removed = operations.delete_empty_days(now)
    return describe_count(
        ngettext("%(count)s empty day removed", "%(count)s empty days removed", removed), removed
    )


def sweep_guest_orders(now: datetime) -> str:
    """Assign to members who have just proved an e-mail address, or signed in again, their orders as guests with it."""
    last_position = get_position("guest orders")
    minutes = minutes_between(
        datetime.fromisoformat(last_position) if last_position else now - FIRST_LOOK_BACK, now
    )
    claimed = sum(
        claim_guest_orders_in_minutes(minutes[start : start + _AT_ONCE])
        for start in range(0, len(minutes), _AT_ONCE)
    )
    # A row may be written a little after its minute.
    reached = floor_to_minute(now - MAX_WRITE_DELAY).isoformat()
    if reached != last_position:
        save_position("guest orders", reached)
    return describe_count(
        ngettext("%(count)s guest order joined", "%(count)s guest orders joined", claimed), claimed
    )


def claim_guest_orders_in_minutes(minutes: list[datetime]) -> int:
    """Assign guest orders to the members who proved an address in these minutes; return how many orders that were."""
    claimed = 0
    for minute, user_id, written in accounts.list_email_proofs(minutes):
        member = accounts.get_user(user_id)
        if member and member.verified_at and member.is_active:
            postpone = partial(record_email_proof, member, current_time() + RETRY_AFTER)
            with guard_row(f"guest orders of user {user_id}", postpone):
                claimed += operations.claim_guest_orders(member.user_id, member.email)
        clear_email_proof(minute, user_id, written)
    return claimed


def sweep_user_stats(now: datetime) -> str:
    """Count the sums of members anew for whose orders money has moved."""
    last_position = get_position("customer sums")
    minutes = _swept_minutes(
        datetime.fromisoformat(last_position) if last_position else now - FIRST_LOOK_BACK, now
    )
    counted = sum(
        count_user_stats_in_minutes(minutes[start : start + _AT_ONCE], now)
        for start in range(0, len(minutes), _AT_ONCE)
    )
    # A row may be written a little after its minute.
    reached = floor_to_minute(now - MAX_WRITE_DELAY).isoformat()
    if reached != last_position:
        save_position("customer sums", reached)
    return describe_count(
        ngettext("%(count)s customer counted", "%(count)s customers counted", counted), counted
    )


def count_user_stats_in_minutes(minutes: list[datetime], now: datetime) -> int:
    """Count the sums of the members who are noted in these minutes; return how many that were. Raises CassandraUnavailable.

    One whose sums cannot be counted is tried again later: they must not keep the others waiting.
    """
    noted: dict[UUID, list[tuple[datetime, int]]] = {}
    for minute, user_id, written in queries.list_pending_user_stats(minutes):
        noted.setdefault(user_id, []).append((minute, written))
    for user_id, places in noted.items():
        try:
            operations.count_user_stats(user_id)
        except CassandraUnavailable:
            raise
        except Exception:
            log.exception("sums of user %s: put off by %s", user_id, RETRY_AFTER)
            user_stats.mark_user_stats(user_id, now + RETRY_AFTER)
        for minute, written in places:
            user_stats.clear_pending_user_stats(minute, user_id, written)
    return len(noted)


# A day of a large shop takes some seconds; other jobs have their turn in between.
MAX_DAYS_AT_ONCE = 10


def count_returning_customers(now: datetime) -> str:
    """Count who of the last days' customers had bought before."""
    days = operations.count_returning_customers(now, MAX_DAYS_AT_ONCE)
    return describe_count(ngettext("%(count)s day counted", "%(count)s days counted", days), days)


def go_on_with_bulk_changes(now: datetime) -> str:
    """Go on with the changes of many orders at once, the oldest first."""
    count = bulk_changes.STORE.go_on(now, MAX_CHANGED_AT_ONCE, bulk_changes.run_change)
    return describe_count(
        ngettext("%(count)s order of bulk changes", "%(count)s orders of bulk changes", count),
        count,
    )


def has_bulk_changes(now: datetime) -> bool:
    """Return whether a change of many orders waits. One that is older than a day is found by the next run."""
    return bool(bulk_changes.STORE.list_unfinished(list_recent_months(now)))


JOBS = [
    Job(
        "customer sums",
        timedelta(seconds=30),
        sweep_user_stats,
        normal_lag=MAX_WRITE_DELAY + MINUTE,
        idle_every=timedelta(minutes=2),
    ),
    Job("returning customers", timedelta(hours=1), count_returning_customers),
    Job(
        "guest orders",
        timedelta(seconds=5),
        sweep_guest_orders,
        normal_lag=MAX_WRITE_DELAY + MINUTE,
        idle_every=timedelta(seconds=30),
    ),
    *make_sharded_jobs(
        "orders",
        timedelta(seconds=10),
        sweep_pending_effects,
        normal_lag=MAX_WRITE_DELAY + MINUTE,
        idle_every=timedelta(minutes=2),
        has_work=has_pending_effects,
    ),
    *make_sharded_jobs(
        "holds",
        timedelta(seconds=15),
        sweep_expired_reservations,
        normal_lag=MAX_WRITE_DELAY + MINUTE,
        idle_every=timedelta(minutes=2),
        has_work=has_expired_reservations,
    ),
    Job(
        "goods that arrive",
        timedelta(seconds=15),
        sweep_backorders,
        idle_every=timedelta(minutes=1),
    ),
    Job(
        "bulk changes of orders",
        timedelta(seconds=5),
        go_on_with_bulk_changes,
        idle_every=timedelta(minutes=1),
        has_work=has_bulk_changes,
    ),
    Job("late orders", timedelta(minutes=5), mark_late_orders),
    Job("order days", timedelta(hours=1), sweep_empty_board_days),
]

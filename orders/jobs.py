"""The worker's jobs for orders. They finish the work that a crash has interrupted, and release units that are not paid for."""

import logging
from collections import Counter
from datetime import UTC, datetime, time, timedelta
from time import monotonic
from uuid import UUID

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts import queries as accounts
from accounts.operations.email_change import EMAIL_PROOFS
from analytics.days import SHARDS, shop_day
from books import operations as books
from cassandra_db import Row, current_microseconds
from inventory import operations as inventory
from inventory.operations.reservations import DUE_EXPIRIES
from jobs.due_rows import MAX_WRITE_DELAY, TURN, Sweep
from jobs.leases import get_position, save_position
from jobs.minutes import MINUTE
from jobs.months import list_recent_months
from jobs.registry import Job, describe_count, make_sharded_jobs
from jobs.rows import guard_row
from jobs.schema import is_backfill_done
from jobs.shards import Shard
from orders import board_queries, bulk_changes, operations, queries
from orders.lifecycle.entities import Order
from orders.lifecycle.errors import OrderChanged, TransitionRefused
from orders.lifecycle.states import CANCELLED, EXPIRED, LATE_AFTER, PENDING
from orders.lifecycle.transitions import Transition
from orders.operations.abandonment import (
    allocation_from_expiry,
    group_by_stock_item,
    has_unpaid_reservations,
    release_orphaned_reservations,
    release_orphans_of_item,
)
from orders.operations.pending_effects import DUE_EFFECTS, has_effects
from orders.operations.user_stats import DUE_USER_STATS
from orders.reconciliation import reconcile_shard
from orders.schema_steps import BOOKS
from past_orders.operations import claim_past_orders
from payments import gateways
from payments.errors import GatewayMissing, GatewayUnavailable
from promotions.operations import release_vouchers

log = logging.getLogger(__name__)

# The period after its start in which the gateway is asked about an undecided payment.
ASK_FOR = timedelta(hours=24)
# The time to wait before a gateway that could not answer is asked again.
RETRY_AFTER = timedelta(minutes=5)
# The number of orders that one run of the bulk changes handles.
MAX_CHANGED_AT_ONCE = 300
# A minute's partition with this many expiries is deleted as a whole, because all shards read it again for MAX_WRITE_DELAY.
MANY_EXPIRIES = 100
_AT_ONCE = 100  # orders of the board's list read at once
ALL_ORDERS, ALL_RESERVATIONS = Shard(DUE_EFFECTS.job), Shard(DUE_EXPIRIES.job)


def sweep_pending_effects(now: datetime, shard: Shard = ALL_ORDERS) -> str:
    """Apply the pending effects of a shard's orders: payment, stock, lists and mail."""
    # Orders whose gateway does not answer are postponed, so that other orders do not wait for the gateway.
    with gateways.gateway_circuit_breaker(), DUE_EFFECTS.sweep(now, shard) as sweep:
        apply_pending_effects(sweep)
    return _describe_sweep(sweep)


def apply_pending_effects(sweep: Sweep) -> None:
    """Do the interrupted work of the orders that a sweep finds. Raises CassandraUnavailable."""
    for rows in sweep.groups("order_id"):
        order_id = rows[0].order_id
        with sweep.handle(rows, order_id):
            try:
                if any(map(has_effects, rows)):
                    recover_order(order_id, sweep.now)
                else:
                    settle_open_payments(order_id, sweep.now)
            except GatewayUnavailable as error:
                log.error("put off by %s: order %s: %s", RETRY_AFTER, order_id, error)
                sweep.postpone(rows, RETRY_AFTER)


def sweep_expired_reservations(now: datetime, shard: Shard = ALL_RESERVATIONS) -> str:
    """Release the expired reservations of a shard, and expire the orders that were not paid in time."""
    with gateways.gateway_circuit_breaker(), DUE_EXPIRIES.sweep(now, shard) as sweep:
        _end_expired_reservations(sweep)
    return _describe_sweep(sweep)


def expire_reservations(
    minutes: list[datetime], now: datetime, shard: Shard = ALL_RESERVATIONS
) -> set[datetime]:
    """Release the reservations that expire in these minutes. Return the minutes that the next run has to read again."""
    sweep = Sweep(DUE_EXPIRIES, minutes, now, shard)
    _end_expired_reservations(sweep)
    return sweep.kept


def _end_expired_reservations(sweep: Sweep) -> None:
    for rows in sweep.batches():
        own = sweep.split(rows, "order_id")
        ended: list[Row] = []
        orphans: list[Row] = []
        for expiries in sweep.take(own):
            # An order's reservations are processed together.
            with sweep.attempt(expiries, expiries[0].order_id):
                try:
                    found = _end_reservations(expiries, sweep.now)
                except GatewayUnavailable as error:
                    order_id = expiries[0].order_id
                    log.error("put off by %s: order %s: %s", RETRY_AFTER, order_id, error)
                    sweep.postpone(expiries, RETRY_AFTER)
                else:
                    if found is None:
                        sweep.keep(expiries)
                    orphans += found or []
            ended += expiries
            sweep.count += 1
        # After a sale, most reservations are of one stock item: all are released in a few batches.
        operations.delete_abandoned_items(list({row.order_id for row in orphans}))
        for stock_item, expiries in group_by_stock_item(orphans).items():
            with sweep.attempt(expiries, f"of {stock_item}"):
                release_orphans_of_item(stock_item, expiries)
        sweep.clear(ended)
        row_counts = Counter(row.minute for row in rows)
        for minute in {row.minute for expiries in own for row in expiries} - sweep.kept:
            if row_counts[minute] >= MANY_EXPIRIES:
                _drop_if_empty(minute)


def _drop_if_empty(minute: datetime) -> None:
    # Only the shard that handles the minute's last expiry finds the minute without rows.
    before = current_microseconds()
    if not DUE_EXPIRIES.list_rows([minute]):
        inventory.drop_expired_minute(minute, before)


def _describe_sweep(sweep: Sweep) -> str:
    if not sweep.count:
        return ""
    left = f", {len(sweep.kept)} minutes left over" if sweep.kept else ""
    text = ngettext("%(count)s order checked", "%(count)s orders checked", sweep.count)
    return text % {"count": sweep.count} + left


def recover_order(order_id: UUID, now: datetime) -> None:
    """Ask the gateway about an order's open payment attempts, then apply the order's effects.

    Raises CassandraUnavailable. Raises GatewayUnavailable, but only after all work that needs no gateway.
    """
    unavailable: GatewayUnavailable | None = None
    try:
        settle_open_payments(order_id, now)
    except GatewayUnavailable as error:
        unavailable = error
    operations.apply_effects(order_id, now)
    if unavailable:
        raise unavailable


def settle_open_payments(order_id: UUID, now: datetime) -> None:
    """Ask the gateway about an order's open payment attempts, and settle them. Raises CassandraUnavailable, GatewayUnavailable."""
    order = queries.get_order(order_id)
    if order is None:
        return  # the checkout never became an order; the expiries lead the worker to its reservations
    unavailable: GatewayUnavailable | None = None
    for attempt in order.payment_attempts:
        if attempt.state != "started":
            continue
        age = now - attempt.started_at
        try:
            order = operations.settle_payment(order_id, attempt.payment_id, now) or order
        except (LookupError, ValueError, GatewayMissing) as unknown:
            # No gateway can be asked; a webhook may still come.
            log.error(
                "order %s: %s does not know its payment: %s", order.number, attempt.gateway, unknown
            )
        except GatewayUnavailable as error:
            unavailable = error
            continue
        if order.state in (PENDING, EXPIRED, CANCELLED) and age < ASK_FOR:
            operations.record_payment_inquiry(order_id, now, max(operations.ASK_AFTER, age))
    if unavailable:
        raise unavailable


def _end_reservations(expiries: list[Row], now: datetime) -> list[Row] | None:
    """End an order's expired reservations, or record their new deadline.

    Return the reservations of an abandoned checkout, which the caller releases. Return None if the next run must handle them again.
    """
    order_id = expiries[0].order_id
    if operations.mark_checkout_abandoned(order_id):
        release_vouchers(order_id)
        return expiries
    order = queries.get_order(order_id)
    if order is None:
        return None  # the order is being placed at this moment
    if order.state == PENDING and now >= order.pay_until:
        order = operations.expire_order(order, now)
        if order.state == PENDING:
            return None
    if order.state == PENDING:
        inventory.record_reservation_expiries(
            order_id, [allocation_from_expiry(expiry) for expiry in expiries], order.pay_until
        )
    else:
        # The order is paid or has ended. Its effects handle its own reservations. Reservations of a failed try are released here.
        own_reservation_ids = _own_reservation_ids(order)
        own = [expiry for expiry in expiries if expiry.reservation_id in own_reservation_ids]
        if has_unpaid_reservations(own):
            operations.apply_effects(order_id, now)
        claim = None
        if order.state == EXPIRED and not (claim := operations.claim_expired_order(order)):
            return None  # a late payment is reserving the units again at this moment
        if claim or len(own) < len(expiries):
            # Read the order again: stock may have arrived for it, so that one of the reservations is now the order's own.
            order = queries.get_order(order_id) or order
        if order.state == EXPIRED and claim is None:
            return None  # the order has just expired
        if len(own) < len(expiries):
            own_reservation_ids = _own_reservation_ids(order)
        release_orphaned_reservations(
            [expiry for expiry in expiries if expiry.reservation_id not in own_reservation_ids]
        )
        release_vouchers(
            order_id, except_code="" if order.state in (CANCELLED, EXPIRED) else order.voucher
        )
        if claim:
            operations.unclaim_expired_order(order, claim)
    return []


def _own_reservation_ids(order: Order) -> set[UUID]:
    """Return the ids of the order's own reservations."""
    return {each.reservation_id for each in order.list_allocations(queries.list_items(order))}


def sweep_backorders(now: datetime) -> str:
    """Reserve arrived stock for the waiting orders, oldest first."""
    served = operations.allocate_backorders(now)
    return describe_count(
        ngettext("%(count)s waiting order allocated", "%(count)s waiting orders allocated", served),
        served,
    )


def mark_late_orders(now: datetime) -> str:
    """Mark orders as late if they have waited longer than LATE_AFTER to be packed."""
    found = 0
    after = ""
    while True:
        entries, after = board_queries.list_board_orders("to_pack", after, limit=_AT_ONCE)
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
    # The wait begins when the order was paid or resumed, not when it was placed.
    if order is None or order.board_column != "to_pack" or now - order.to_pack_since <= LATE_AFTER:
        return False
    try:
        operations.transition_order(order, Transition("late", actor="system", at=now))
    except (OrderChanged, TransitionRefused):
        return False  # another process has changed the order, or the board's copy is stale
    return True


def sweep_empty_board_days(now: datetime) -> str:
    """Delete the empty days of the board's columns."""
    removed = operations.delete_empty_days(now)
    return describe_count(
        ngettext("%(count)s empty day removed", "%(count)s empty days removed", removed), removed
    )


def sweep_guest_orders(now: datetime) -> str:
    """Assign guest orders to the members who have proved their e-mail address by confirming it or signing in."""
    with EMAIL_PROOFS.sweep(now) as sweep:
        claimed = claim_proved_orders(sweep)
    return describe_count(
        ngettext("%(count)s guest order joined", "%(count)s guest orders joined", claimed), claimed
    )


def claim_proved_orders(sweep: Sweep) -> int:
    """Assign guest orders and past orders to the members whose rows the sweep has read. Return the number of guest orders."""
    claimed = 0
    for rows in sweep.groups("user_id"):
        with sweep.handle(rows, rows[0].user_id):
            member = accounts.get_user(rows[0].user_id)
            if member and member.verified_at and member.is_active:
                claimed += operations.claim_guest_orders(member.user_id, member.email)
                claim_past_orders(member.user_id, member.email)
    return claimed


def sweep_user_stats(now: datetime) -> str:
    """Compute the order sums of members again, if money has moved for their orders."""
    with DUE_USER_STATS.sweep(now) as sweep:
        count_due_user_stats(sweep)
    return describe_count(
        ngettext("%(count)s customer counted", "%(count)s customers counted", sweep.count),
        sweep.count,
    )


def count_due_user_stats(sweep: Sweep) -> None:
    """Compute the order sums of the members whose rows the sweep has read. Raises CassandraUnavailable."""
    for rows in sweep.groups("user_id"):
        with sweep.handle(rows, rows[0].user_id):
            operations.count_user_stats(rows[0].user_id)


_SHARD_STEP = timedelta(days=1) / SHARDS
# A day of a large shop takes some seconds, and other jobs wait.
MAX_DAYS_AT_ONCE = 10


def count_returning_customers(now: datetime) -> str:
    """Count the new and the returning customers of the last days."""
    days = operations.count_returning_customers(now, MAX_DAYS_AT_ONCE)
    return describe_count(ngettext("%(count)s day counted", "%(count)s days counted", days), days)


def count_segments(now: datetime) -> str:
    """Count the segments of customers."""
    count = operations.count_customer_segments(now)
    return describe_count(
        ngettext("%(count)s customer in segments", "%(count)s customers in segments", count), count
    )


RECONCILIATION = "reconciliation"


def close_due_month(now: datetime) -> str:
    """Go on with closing the month that is due, once the orders of before the books began are booked."""
    if not is_backfill_done(BOOKS):
        return _("no month is closed before `manage.py migrate --backfill`")
    month = books.close_due_month(now)
    return _("closing %(month)s") % {"month": f"{month:%Y-%m}"} if month else ""


def reconcile_orders(now: datetime) -> str:
    """Compare the orders whose money moved on the days until yesterday with the books and their gateways."""
    position, ends, count = get_position(RECONCILIATION), monotonic() + TURN, 0
    today = datetime.combine(shop_day(now), time(), tzinfo=UTC)
    # A day has a moment for each of its shards: no more than a way to write both as a time.
    moment = datetime.fromisoformat(position) if position else today - timedelta(days=1)
    with gateways.gateway_circuit_breaker():
        while moment < today and monotonic() < ends:
            shard = (moment - datetime.combine(moment, time(), tzinfo=UTC)) // _SHARD_STEP
            count += reconcile_shard(moment.date(), shard, now)
            moment += _SHARD_STEP
            save_position(RECONCILIATION, moment.isoformat())
    return describe_count(
        ngettext("%(count)s order reconciled", "%(count)s orders reconciled", count), count
    )


def go_on_with_bulk_changes(now: datetime) -> str:
    """Continue the bulk changes of orders, oldest first."""
    count = bulk_changes.STORE.go_on(now, MAX_CHANGED_AT_ONCE, bulk_changes.run_change)
    return describe_count(
        ngettext("%(count)s order edited in bulk", "%(count)s orders edited in bulk", count), count
    )


def has_bulk_changes(now: datetime) -> bool:
    """Return whether a recent bulk change of orders is unfinished; the next run finds older ones."""
    return bool(bulk_changes.STORE.list_unfinished(list_recent_months(now)))


JOBS = [
    Job(
        DUE_USER_STATS.job,
        timedelta(seconds=30),
        sweep_user_stats,
        normal_lag=MAX_WRITE_DELAY + MINUTE,
        idle_every=timedelta(minutes=2),
    ),
    Job(
        "returning customers",
        timedelta(minutes=1),
        count_returning_customers,
        idle_every=timedelta(hours=1),
    ),
    Job(
        "books",
        timedelta(minutes=1),
        close_due_month,
        idle_every=timedelta(hours=1),
        has_own_loop=True,
    ),
    Job(
        RECONCILIATION,
        timedelta(seconds=30),
        reconcile_orders,
        normal_lag=timedelta(days=1, hours=2),
        idle_every=timedelta(hours=1),
        has_own_loop=True,
    ),
    Job("customer segments", timedelta(days=1), count_segments),
    Job(
        EMAIL_PROOFS.job,
        timedelta(seconds=5),
        sweep_guest_orders,
        normal_lag=MAX_WRITE_DELAY + MINUTE,
        idle_every=timedelta(minutes=1),
    ),
    *make_sharded_jobs(
        DUE_EFFECTS.job,
        timedelta(seconds=10),
        sweep_pending_effects,
        normal_lag=MAX_WRITE_DELAY + MINUTE,
        idle_every=timedelta(minutes=5),
        has_work=lambda now: {row.order_id for row in DUE_EFFECTS.list_due(now)},
    ),
    *make_sharded_jobs(
        DUE_EXPIRIES.job,
        timedelta(seconds=15),
        sweep_expired_reservations,
        normal_lag=MAX_WRITE_DELAY + MINUTE,
        idle_every=timedelta(minutes=5),
        has_work=lambda now: {row.order_id for row in DUE_EXPIRIES.list_due(now)},
    ),
    Job(
        "goods that arrive",
        timedelta(seconds=15),
        sweep_backorders,
        idle_every=timedelta(minutes=1),
    ),
    Job(
        "bulk changes of orders",
        timedelta(seconds=10),
        go_on_with_bulk_changes,
        idle_every=timedelta(minutes=2),
        has_work=has_bulk_changes,
    ),
    Job("late orders", timedelta(minutes=5), mark_late_orders),
    Job("order days", timedelta(hours=1), sweep_empty_board_days),
]

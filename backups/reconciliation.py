"""Reconciles a restored shop with the world, which has gone on since its backup. Each step may be repeated.

The tables of a backup were copied one after the other, and what came later is lost: sessions that have ended are open again, people
who were erased are back, numbers would be given again, and gateways have payments whose orders are lost.
"""

import logging
from collections import Counter
from collections.abc import Callable, Collection
from datetime import datetime, timedelta
from functools import partial

from django.conf import settings

from accounts.operations import repeat_erasures
from accounts.sessions import end_all_sessions
from analytics.days import shop_day
from books.entities import BookDifference
from books.operations import record_difference
from books.queries import list_open_invoices
from cassandra_db import current_microseconds, current_time, require_right_clock
from consistency.findings import Report
from consistency.operations import record_check
from consistency.runner import RULES, check_consistency
from jobs.leases import get_lease, hold_lease
from jobs.progress import TOO_LATE, JobProgress
from jobs.registry import Job, list_jobs
from jobs.rows import FailedRows, collect_failed_rows, guard_row
from orders import queries
from orders.jobs import recover_order
from orders.lifecycle.entities import Order
from orders.operations.payments import INSERT_REFERENCE
from orders.reconciliation import reconcile_order
from payments.errors import GatewayMissing
from payments.gateways import Gateway, ListedPayment, gateway_circuit_breaker, get_gateway
from payments.methods import MANUAL_METHODS
from payments.operations import list_unmatched_payment
from payments.queries import UnmatchedPayment
from pricing.money import from_minor_units
from shop_settings.operations import change_settings
from shop_settings.queries import get_settings_at_quorum
from shop_settings.restores import RESTORES, begin_restore
from text_pages.pages import TEXT_PAGES

log = logging.getLogger(__name__)

Say = Callable[[str], None]
# A gateway's clock may be behind, and it may tell of a payment late.
MARGIN = timedelta(minutes=10)
# Versions of a page of text that may have been saved between a backup and its restore.
SKIPPED_VERSIONS = 20
# A run that was killed holds a lease for less than this.
LEASE_WAIT_SECONDS = 2 * settings.LEASE_SECONDS
MATCHED, UNMATCHED, EMPTY = "matched", "unmatched", "empty"


def reconcile(since: datetime, say: Say) -> tuple[FailedRows, Report]:
    """Reconcile this keyspace with the world, after its restore from a backup of the moment `since`.

    May be repeated. The shop must not serve meanwhile. Return the gateways and people that have failed, which stop no other, and
    the last check. Raises LeaseLost, CassandraUnavailable, and errors of the erasure log.
    """
    require_right_clock()
    skip_numbers(since, current_time())
    say(f"{end_all_sessions()} sessions ended.")
    # Tables were copied one after the other: an order may lack its units, its open invoice, or the row by its number.
    check_and_repair(("I2", "I3", "I53"), say)
    with collect_failed_rows() as failed:
        for name in settings.PAYMENT_GATEWAYS:
            with guard_row(f"payments of {name}"), gateway_circuit_breaker():
                settle_gateway(name, since, say)
        list_manual_orders(say)
        for job in list_jobs():
            if not job.has_own_loop:
                catch_up(job)
        with guard_row("erasures"):
            done, later = repeat_erasures(current_time())
            say(f"{done} people erased again, {later} locked out and erased later.")
    started_at = current_time()
    report = check_and_repair(RULES, say)
    record_check(report, started_at, current_time())
    for row, error in failed.failures:
        say(f"not done: {row}: {type(error).__name__}: {error}")
    for violation in report.violations:
        say(str(violation))
    return failed, report


def check_and_repair(rules: Collection[str], say: Say) -> Report:
    """Check these rules once, as nobody else writes, and repair what can be. Raises CassandraUnavailable."""
    report = check_consistency(
        None, rules, repair=True, recheck_after=(), grace_period=timedelta(0), say=say
    )
    for violation in report.fixed_violations:
        say(f"fixed: {violation}")
    say(f"{len(report.fixed_violations)} violations fixed, {len(report.violations)} left.")
    return report


def skip_numbers(since: datetime, now: datetime) -> None:
    """Begin new numbers of orders, payments, credits and versions of texts, above all that are lost.

    Raises SettingsBusy, CassandraUnavailable.
    """
    if since.isoformat() not in get_settings_at_quorum().get_values(RESTORES):
        change_settings(
            TEXT_PAGES,
            lambda pages: {key: each.skip_numbers(SKIPPED_VERSIONS) for key, each in pages.items()},
            now,
        )
    begin_restore(since, now)


def settle_gateway(name: str, since: datetime, say: Say) -> None:
    """Give each payment that a gateway has since a moment to its order, or list it. One that fails is listed, too.

    Raises GatewayUnavailable, CassandraUnavailable.
    """
    try:
        gateway = get_gateway(name)
    except GatewayMissing:
        return say(f"{name}: not set up, so not asked.")
    found = Counter[str]()
    with collect_failed_rows() as failed:
        for payment in gateway.list_payments(since - MARGIN):
            found[settle_listed_payment(name, gateway, payment, current_time())] += 1
    for row, error in failed.failures:
        say(f"left to staff: {row}: {type(error).__name__}: {error}")
    return say(f"{name}: {found[MATCHED]} payments have orders, {found[UNMATCHED]} have none.")


def settle_listed_payment(
    name: str, gateway: Gateway, payment: ListedPayment, now: datetime
) -> str:
    """Give a payment to its order, list it if it has none, or close it if it has no money. Return MATCHED, UNMATCHED or EMPTY.

    Within `collect_failed_rows` one that fails is listed: among the differences of the books if it has an order. Raises
    GatewayUnavailable, CassandraUnavailable.
    """
    outcome, described = payment.outcome, f"payment {payment.reference} of {payment.outcome.number}"
    order = queries.get_order_by_number(outcome.number)
    attempts = order.payment_attempts if order else ()
    if order and payment.payment_id in {each.payment_id for each in attempts}:
        failed = BookDifference(
            order.order_id, order.number, order.total.currency.code, None, None, None, now
        )
        postpone = partial(record_difference, shop_day(now), failed, current_microseconds())
        with guard_row(described, postpone):
            settle_order_again(order, payment, name, now)
        return MATCHED
    listed = UnmatchedPayment(
        payment.payment_id,
        name,
        payment.reference,
        outcome.number,
        (outcome.captured - outcome.refunded) or outcome.amount,
        payment.started_at,
    )
    with guard_row(described, partial(list_unmatched_payment, listed)):
        if outcome.state == "pending":
            # Nobody may pay for an order that is lost.
            gateway.void(payment.reference)
            outcome = gateway.get_outcome(payment.reference)
        if not outcome.has_money:
            return EMPTY
        list_unmatched_payment(listed)
    return UNMATCHED


def settle_order_again(order: Order, payment: ListedPayment, gateway: str, now: datetime) -> None:
    """Settle an order's payments as the gateway says now, and store the difference. A refund that is lost is one.

    Raises GatewayUnavailable, CassandraUnavailable.
    """
    INSERT_REFERENCE.run(
        order_id=order.order_id,
        payment_id=payment.payment_id,
        gateway=gateway,
        reference=payment.reference,
    )
    recover_order(order.order_id, now)
    if fresh := queries.get_order(order.order_id):
        reconcile_order(queries.load_payment_references(fresh), shop_day(now), now)


def list_manual_orders(say: Say) -> None:
    """List the orders by transfer or on delivery that are open: money may have come that was recorded since the backup.

    Raises CassandraUnavailable.
    """
    invoices, has_more = list_open_invoices()
    manual = [each for each in invoices if each.payment_method in MANUAL_METHODS]
    for invoice in manual:
        list_unmatched_payment(
            UnmatchedPayment(
                invoice.order_id,
                invoice.payment_method,
                invoice.number,
                invoice.number,
                from_minor_units(invoice.amount, invoice.currency),
                invoice.placed_at,
            )
        )
    more = "; there are more open invoices than were read" if has_more else ""
    say(f"{len(manual)} orders by transfer or on delivery to look up{more}.")


def catch_up(job: Job) -> None:
    """Run a job of the worker until it is no longer behind: so reservations end, and effects are applied.

    Raises LeaseLost if a worker goes on running it, CassandraUnavailable.
    """
    with hold_lease(job.name, LEASE_WAIT_SECONDS):
        before = None
        while True:
            with collect_failed_rows():
                try:
                    job.run(current_time())
                except Exception:  # one job must not stop the others: the worker tries it again
                    log.exception("%s failed", job.name)
            lease = get_lease(job.name)
            behind = JobProgress(job, lease, current_time()).backlog_age > TOO_LATE
            if not behind or lease.position == before:
                return
            before = lease.position

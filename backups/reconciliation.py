"""Reconciles a restored shop with the world, which has gone on since its backup. Each step may be repeated.

The tables of a backup were copied one after the other, and what came later is lost: sessions that have ended are open again, people
who were erased are back, numbers would be given again, and gateways have payments whose orders are lost.
"""

import logging
from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta

from django.conf import settings

from accounts.operations import repeat_erasures
from accounts.sessions import end_all_sessions
from analytics.days import shop_day
from books.queries import list_open_invoices
from cassandra_db import current_time
from cassandra_db.session import keyspace_name
from consistency.findings import Report
from consistency.operations import record_check
from consistency.runner import check_consistency
from jobs.leases import get_lease, hold_lease
from jobs.progress import TOO_LATE, JobProgress
from jobs.registry import Job, list_jobs
from jobs.rows import collect_failed_rows
from orders import queries
from orders.jobs import recover_order
from orders.operations.payments import INSERT_REFERENCE
from orders.reconciliation import reconcile_order
from payments.errors import GatewayMissing
from payments.gateways import Gateway, ListedPayment, get_gateway
from payments.methods import MANUAL_METHODS
from payments.operations import list_unmatched_payment
from payments.queries import UnmatchedPayment
from pricing.money import from_minor_units
from shop_settings.operations import change_settings
from shop_settings.restores import begin_restore
from text_pages.pages import TEXT_PAGES

log = logging.getLogger(__name__)

Say = Callable[[str], None]
# A gateway's clock may be behind, and it may tell of a payment late.
MARGIN = timedelta(minutes=10)
# Versions of a page of text that may have been saved between a backup and its restore.
SKIPPED_VERSIONS = 20
MATCHED, UNMATCHED, EMPTY = "matched", "unmatched", "empty"


def reconcile(since: datetime, say: Say) -> Report:
    """Reconcile this keyspace with the world, after its restore from a backup of the moment `since`, and return the last check.

    May be repeated. The shop must not serve meanwhile. Raises GatewayUnavailable, LeaseLost, CassandraUnavailable, and errors of the erasure log.
    """
    skip_numbers(since, current_time())
    say(f"{end_all_sessions()} sessions ended.")
    # Tables were copied one after the other: an order may not be found by its number, to which its payment belongs.
    fixed = check_consistency(None, ("I3",), repair=True, grace_period=timedelta(0), say=say)
    say(f"{len(fixed.fixed_violations)} copies of orders written again.")
    for name in settings.PAYMENT_GATEWAYS:
        settle_gateway(name, since, say)
    say(f"{list_manual_orders()} orders by transfer or on delivery to look up.")
    for job in list_jobs():
        if not job.has_own_loop:
            catch_up(job)
    done, later = repeat_erasures(since, current_time())
    say(f"{done} people erased again, {later} locked out and erased later.")
    started_at = current_time()
    report = check_consistency(repair=True, say=say)
    record_check(report, started_at, current_time())
    for each in report.fixed_violations:
        say(f"fixed: {each}")
    for each in report.violations:
        say(str(each))
    say(f"{len(report.fixed_violations)} violations fixed, {len(report.violations)} left.")
    return report


def skip_numbers(since: datetime, now: datetime) -> None:
    """Begin new numbers of orders, payments, credits and versions of texts, above all that are lost.

    Raises SettingsBusy, CassandraUnavailable.
    """
    begin_restore(keyspace_name(), since, now)
    change_settings(
        TEXT_PAGES,
        lambda pages: {key: each.skip_numbers(SKIPPED_VERSIONS) for key, each in pages.items()},
        now,
    )


def settle_gateway(name: str, since: datetime, say: Say) -> None:
    """Give each payment that a gateway has since a moment to its order, or list it. Raises GatewayUnavailable, CassandraUnavailable."""
    try:
        gateway = get_gateway(name)
    except GatewayMissing:
        return say(f"{name}: not set up, so not asked.")
    listed = gateway.list_payments(since - MARGIN)
    found = Counter(settle_listed_payment(name, gateway, each, current_time()) for each in listed)
    return say(f"{name}: {found[MATCHED]} payments have orders, {found[UNMATCHED]} have none.")


def settle_listed_payment(
    name: str, gateway: Gateway, payment: ListedPayment, now: datetime
) -> str:
    """Give a payment to its order, list it if it has none, or close it if it has no money. Return MATCHED, UNMATCHED or EMPTY."""
    outcome = payment.outcome
    order = queries.get_order_by_number(outcome.number)
    attempts = queries.load_payment_references(order).payment_attempts if order else ()
    attempt = next((each for each in attempts if each.payment_id == payment.payment_id), None)
    if order and attempt:
        if not attempt.reference:
            INSERT_REFERENCE.run(
                order_id=order.order_id,
                payment_id=payment.payment_id,
                gateway=name,
                reference=payment.reference,
            )
        recover_order(order.order_id, now)
        # Refunds that are lost are listed as a difference.
        if fresh := queries.get_order(order.order_id):
            reconcile_order(queries.load_payment_references(fresh), shop_day(now), now)
        return MATCHED
    if outcome.state == "pending":
        # Nobody may pay for an order that is lost.
        gateway.void(payment.reference)
        outcome = gateway.get_outcome(payment.reference)
    if not outcome.has_money:
        return EMPTY
    list_unmatched_payment(
        UnmatchedPayment(
            payment.payment_id,
            name,
            payment.reference,
            outcome.number,
            (outcome.captured - outcome.refunded) or outcome.amount,
            payment.started_at,
        )
    )
    return UNMATCHED


def list_manual_orders() -> int:
    """List the orders by transfer or on delivery that are open: money may have come that was recorded since the backup.

    Return their number. Raises CassandraUnavailable.
    """
    count = 0
    for invoice in list_open_invoices()[0]:
        order = queries.get_order(invoice.order_id)
        if order and invoice.payment_method in MANUAL_METHODS:
            list_unmatched_payment(
                UnmatchedPayment(
                    order.payment_attempts[0].payment_id,
                    invoice.payment_method,
                    order.number,
                    order.number,
                    from_minor_units(invoice.amount, invoice.currency),
                    order.placed_at,
                )
            )
            count += 1
    return count


def catch_up(job: Job) -> None:
    """Run a job of the worker until it is no longer behind: so reservations end, and effects are applied.

    Raises LeaseLost if a worker runs it, CassandraUnavailable.
    """
    with hold_lease(job.name):
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

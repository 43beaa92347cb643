"""Runs the consistency checks: it checks all subjects, checks the suspects two more times, and then repairs them.

The shop runs meanwhile: an order's event may be written, and its copies not yet. So a violation counts only if it is found again
seconds later. Orders whose pending effects are recent are left to the worker.
"""

import logging
from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from itertools import islice
from time import sleep
from typing import Any
from uuid import UUID

from cassandra_db import current_time, require_right_clock, write_after
from consistency import (
    books,
    card_lists,
    catalogue,
    conversations,
    dates,
    lists,
    mailboxes,
    notifications,
    orders,
    past_orders,
    questions,
    reviews,
    sales,
    shop_settings,
    spreadsheets,
    stock,
    stock_lists,
    text_pages,
    unmatched_payments,
    user_stats,
    users,
    vouchers,
)
from consistency.findings import Check, Report, Scope, Violation
from orders.operations.pending_effects import DUE_EFFECTS
from web.app_modules import find_app_modules

CHECKS: tuple[Check, ...] = (
    *stock.CHECKS,
    *stock_lists.CHECKS,
    *orders.CHECKS,
    *past_orders.CHECKS,
    *vouchers.CHECKS,
    *sales.CHECKS,
    *books.CHECKS,
    *unmatched_payments.CHECKS,
    *users.CHECKS,
    *user_stats.CHECKS,
    *reviews.CHECKS,
    *questions.CHECKS,
    *notifications.CHECKS,
    *conversations.CHECKS,
    *catalogue.CHECKS,
    *card_lists.CHECKS,
    *spreadsheets.CHECKS,
    *shop_settings.CHECKS,
    *text_pages.CHECKS,
    *lists.CHECKS,
    *mailboxes.CHECKS,
    *dates.CHECKS,
    # The checks of apps above this one.
    *(check for module in find_app_modules("invariants").values() for check in module.CHECKS),
)
RULES = tuple(
    sorted({rule for check in CHECKS for rule in check.rules}, key=lambda rule: int(rule[1:]))
)
# The pauses before the second and the third check of suspects, in seconds.
RECHECK_AFTER = (1.0, 3.0)
# How long the effects of an order may be pending: the worker carries out pending effects after two minutes.
GRACE_PERIOD = timedelta(minutes=5)
_AT_ONCE = 8
_CHUNK = 512

log = logging.getLogger(__name__)


def check_consistency(
    scope: Scope | None = None,
    rules: Collection[str] = RULES,
    *,
    repair: bool = False,
    recheck_after: Sequence[float] = RECHECK_AFTER,
    grace_period: timedelta = GRACE_PERIOD,
    say: Callable[[str], None] = lambda line: None,
) -> Report:
    """Find violations of these invariants in the whole shop, or in `scope`. With `repair`, fix them and check again.

    An order whose effects have been pending for less than `grace_period` is left to the worker.
    Raises ClockWrong, CassandraUnavailable.
    """
    require_right_clock()
    report = Report()
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for check in CHECKS:
            if set(check.rules) & set(rules):
                suspects = _check_all(check, scope, rules, report, pool)
                found_again = _recheck(check, suspects, rules, recheck_after)
                left = _without_in_progress(check, found_again, report, grace_period)
                if repair and left:
                    left = _repair(check, left, rules, report, say)
                report.violations += [violation for found in left.values() for violation in found]
    return report


def _check_all(
    check: Check,
    scope: Scope | None,
    rules: Collection[str],
    report: Report,
    pool: ThreadPoolExecutor,
) -> dict[Any, list[Violation]]:
    suspects: dict[Any, list[Violation]] = {}
    things, looked_at = iter(check.iterate_subjects(scope)), 0
    while chunk := list(islice(things, _CHUNK)):
        looked_at += len(chunk)
        results = zip(
            chunk, pool.map(lambda each: _check_one(check, each, rules), chunk), strict=True
        )
        suspects |= {thing: found for thing, found in results if found}
    report.checked_counts[check.name] = looked_at
    return suspects


def _check_one(check: Check, thing: Any, rules: Collection[str]) -> list[Violation]:
    return [violation for violation in check.find_violations(thing) if violation.rule in rules]


def _recheck(
    check: Check,
    suspects: dict[Any, list[Violation]],
    rules: Collection[str],
    recheck_after: Iterable[float],
) -> dict[Any, list[Violation]]:
    """Return the violations that each of the repeated checks finds. All others were unfinished writes."""
    for seconds in recheck_after:
        if suspects:
            sleep(seconds)
            suspects = _still_wrong(check, suspects, rules)
    return suspects


def _without_in_progress(
    check: Check, suspects: dict[Any, list[Violation]], report: Report, grace_period: timedelta
) -> dict[Any, list[Violation]]:
    """Return the suspects without the orders whose pending effects are recent; count the removed ones in the report."""
    in_progress = (
        _orders_in_progress(current_time(), grace_period) if suspects and grace_period else set()
    )
    report.in_progress |= {thing for thing in suspects if check.find_order_id(thing) in in_progress}
    return {
        thing: found
        for thing, found in suspects.items()
        if check.find_order_id(thing) not in in_progress
    }


def _still_wrong(
    check: Check, suspects: dict[Any, list[Violation]], rules: Collection[str]
) -> dict[Any, list[Violation]]:
    left = {}
    for thing, before in suspects.items():
        known = {violation.key for violation in before}
        if same := [
            violation for violation in _check_one(check, thing, rules) if violation.key in known
        ]:
            left[thing] = same
    return left


def _orders_in_progress(now: datetime, grace_period: timedelta) -> set[UUID]:
    """Return the ids of the orders with pending effects that are younger than `grace_period`."""
    return {row.order_id for row in DUE_EFFECTS.list_between(now - grace_period, now)}


def _repair(
    check: Check,
    suspects: dict[Any, list[Violation]],
    rules: Collection[str],
    report: Report,
    say: Callable[[str], None],
) -> dict[Any, list[Violation]]:
    for found in suspects.values():
        for violation in found:
            if violation.fix:
                try:
                    with write_after(violation.written):
                        violation.fix(current_time())
                except Exception:
                    log.exception("could not fix %s", violation)
                    say(f"could not fix: {violation}")
    left = _still_wrong(check, suspects, rules)
    still = {violation.key for found in left.values() for violation in found}
    report.fixed_violations += [
        each for found in suspects.values() for each in found if each.key not in still
    ]
    return left

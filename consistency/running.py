"""Runs the checks: a look at everything, a second and a third one at what seemed wrong, and then the mending.

The shop goes on meanwhile. An order may be between its event and its copies, a hold between two reads: so what is found
has to be found again, seconds later, and an order that the worker has a fresh hint of is under way, and is left to it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from itertools import islice
from time import sleep
from typing import Any
from uuid import UUID

from consistency import orders, people, sales, stock, vouchers
from consistency.findings import Check, Only, Report, Violation
from jobs.minutes import minutes_between
from orders import queries

CHECKS: tuple[Check, ...] = (
    *stock.CHECKS,
    *orders.CHECKS,
    *vouchers.CHECKS,
    *sales.CHECKS,
    *people.CHECKS,
)
RULES = tuple(sorted({rule for check in CHECKS for rule in check.rules}))
# After so many seconds each what seemed wrong is looked at again.
AGAIN = (1.0, 3.0)
# The worker looks at a hint after two minutes; for so long an order with one may still be under way.
UNDER_WAY = timedelta(minutes=5)
_AT_ONCE = 8
_CHUNK = 512

log = logging.getLogger(__name__)


def audited(
    only: Only | None = None,
    rules: Collection[str] = RULES,
    *,
    repair: bool = False,
    again: Sequence[float] = AGAIN,
    patience: timedelta = UNDER_WAY,
    say: Callable[[str], None] = lambda line: None,
) -> Report:
    """Look for violations of these invariants in the whole shop, or at `only` some things; mend them with `repair`.

    What was mended is looked at once more: what is still wrong stays a violation. An order of which the worker has had
    a hint for less than `patience` is under way. Raises CassandraUnavailable.
    """
    report = Report()
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for check in CHECKS:
            if set(check.rules) & set(rules):
                suspects = _first_look(check, only, rules, report, pool)
                found_again = _found_again(check, suspects, rules, again)
                left = _without_those_under_way(check, found_again, report, patience)
                if repair and left:
                    left = _mended(check, left, rules, report, say)
                report.violations += [violation for found in left.values() for violation in found]
    return report


def _first_look(
    check: Check,
    only: Only | None,
    rules: Collection[str],
    report: Report,
    pool: ThreadPoolExecutor,
) -> dict[Any, list[Violation]]:
    suspects: dict[Any, list[Violation]] = {}
    things, looked_at = iter(check.things(only)), 0
    while chunk := list(islice(things, _CHUNK)):
        looked_at += len(chunk)
        seen = zip(chunk, pool.map(lambda each: _look(check, each, rules), chunk), strict=True)
        suspects |= {thing: found for thing, found in seen if found}
    report.looked_at[check.name] = looked_at
    return suspects


def _look(check: Check, thing: Any, rules: Collection[str]) -> list[Violation]:
    return [violation for violation in check.violations(thing) if violation.rule in rules]


def _found_again(
    check: Check,
    suspects: dict[Any, list[Violation]],
    rules: Collection[str],
    again: Iterable[float],
) -> dict[Any, list[Violation]]:
    """Return what is found each time; what comes and goes is work under way."""
    for seconds in again:
        if suspects:
            sleep(seconds)
            suspects = _still(check, suspects, rules)
    return suspects


def _without_those_under_way(
    check: Check, suspects: dict[Any, list[Violation]], report: Report, patience: timedelta
) -> dict[Any, list[Violation]]:
    """Leave to the worker what it has a fresh hint of."""
    hinted = _hinted(datetime.now(UTC), patience) if suspects and patience else set()
    report.under_way |= {thing for thing in suspects if check.order_of(thing) in hinted}
    return {
        thing: found for thing, found in suspects.items() if check.order_of(thing) not in hinted
    }


def _still(
    check: Check, suspects: dict[Any, list[Violation]], rules: Collection[str]
) -> dict[Any, list[Violation]]:
    left = {}
    for thing, before in suspects.items():
        seen = {violation.key for violation in before}
        if same := [violation for violation in _look(check, thing, rules) if violation.key in seen]:
            left[thing] = same
    return left


def _hinted(now: datetime, patience: timedelta) -> set[UUID]:
    """Return the orders of which the worker has a hint that it has not had the time to follow."""
    return {
        order_id
        for ids in queries.list_pending_effects(minutes_between(now - patience, now)).values()
        for order_id in ids
    }


def _mended(
    check: Check,
    suspects: dict[Any, list[Violation]],
    rules: Collection[str],
    report: Report,
    say: Callable[[str], None],
) -> dict[Any, list[Violation]]:
    for found in suspects.values():
        for violation in found:
            if violation.mend:
                try:
                    violation.mend(datetime.now(UTC))
                except Exception:
                    log.exception("could not mend %s", violation)
                    say(f"could not mend: {violation}")
    left = _still(check, suspects, rules)
    still = {violation.key for found in left.values() for violation in found}
    report.mended += [
        each for found in suspects.values() for each in found if each.key not in still
    ]
    return left

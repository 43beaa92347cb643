"""`manage.py check_consistency`: find violations of the shop's invariants."""

from collections import Counter
from collections.abc import Collection
from datetime import timedelta
from time import monotonic
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from cassandra_db import CassandraUnavailable, collect_slow_statements, current_time
from consistency.findings import Scope
from consistency.operations import record_check
from consistency.runner import GRACE_PERIOD, RULES, check_consistency
from orders import queries
from orders.numbers import normalize_order_number

CLEAN, VIOLATIONS, NOT_FINISHED = 0, 1, 2


class Command(BaseCommand):
    help = (
        "Look through the whole shop, while it runs, for violations of its invariants (docs/operations/running.md); each is named in"
        " one line. Status 0: there are none, 1: there are, 2: the audit could not finish."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--repair", action="store_true", help="fix what can be rebuilt; what is left is named"
        )
        parser.add_argument(
            "--rule",
            action="append",
            choices=RULES,
            help="only this invariant (may be given several times)",
        )
        parser.add_argument(
            "--order",
            action="append",
            metavar="NUMBER",
            help="only this order, and what is kept for it",
        )
        parser.add_argument(
            "--grace",
            type=int,
            default=GRACE_PERIOD // timedelta(minutes=1),
            metavar="MINUTES",
            help="leave orders to the worker whose effects have been pending for less time",
        )

    def handle(
        self, *, repair: bool, rule: list[str] | None, order: list[str] | None, **options: Any
    ) -> None:
        grace = timedelta(minutes=options["grace"])
        with collect_slow_statements() as slow:
            try:
                self.run_check(rule or RULES, order, repair=repair, grace=grace)
            finally:
                if slow:
                    most = ", ".join(
                        f"{each} {count}" for each, count in Counter(slow).most_common(3)
                    )
                    self.stderr.write(
                        f"{len(slow)} of its statements took longer than {settings.SLOW_STATEMENT_SECONDS * 1000:.0f} ms; most of them: {most}."
                    )

    def run_check(
        self, rules: Collection[str], numbers: list[str] | None, *, repair: bool, grace: timedelta
    ) -> None:
        """Run the check, and print the violations. Raises SystemExit with the command's exit status."""
        began, started_at = monotonic(), current_time()
        try:
            scope = _find_scope(numbers) if numbers else None
            if numbers and scope is None:
                self.stderr.write(f"There is no order {', '.join(numbers)}.")
                raise SystemExit(NOT_FINISHED)
            report = check_consistency(
                scope, rules, repair=repair, grace_period=grace, say=self.stderr.write
            )
            if scope is None and set(rules) == set(RULES):
                record_check(report, started_at, current_time())
        except CassandraUnavailable as error:
            self.stderr.write(f"Could not finish, Cassandra is away: {error}")
            raise SystemExit(NOT_FINISHED) from error
        for violation in report.fixed_violations:
            self.stdout.write(f"fixed: {violation}")
        for violation in report.violations:
            self.stdout.write(str(violation))
        looked_at = ", ".join(f"{count} {what}" for what, count in report.checked_counts.items())
        self.stdout.write(
            f"{len(report.violations)} violations, {len(report.fixed_violations)} fixed, {len(report.in_progress)} under way;"
            f" looked at {looked_at} in {monotonic() - began:.1f} s."
        )
        if not report.is_clean:
            raise SystemExit(VIOLATIONS)


def _find_scope(numbers: list[str]) -> Scope | None:
    """Return the scope with the orders of these numbers; None if one of the orders does not exist."""
    found = [queries.get_order_by_number(normalize_order_number(number)) for number in numbers]
    orders = [order for order in found if order]
    if len(orders) != len(numbers):
        return None
    items = [item for order in orders for item in queries.list_items(order)]
    return Scope(
        orders=frozenset(order.order_id for order in orders),
        variants=frozenset(item.variant_id for item in items),
        users=frozenset(order.user_id for order in orders if order.user_id),
        codes=frozenset(order.voucher for order in orders if order.voucher),
    )

"""I7: the sales figures of each day equal the sums of its facts, and the facts equal the orders."""

from collections.abc import Iterator
from datetime import date, timedelta
from uuid import UUID

from analytics import operations, queries
from analytics.days import month_start, order_shard, shop_day
from analytics.dimensions import DIMENSIONS, roll_up_dimension
from cassandra_db import current_microseconds, read, scan
from consistency.findings import Check, Scope, Violation, call
from orders.operations.sales import build_sale
from orders.queries import get_order, list_items

FACTS = scan(
    "I7",
    """SELECT day, order_id, writetime(units) AS written FROM sales_facts
       WHERE token(day, shard) > :start AND token(day, shard) <= :end""",
)
WRITTEN = read(
    "I7",
    """SELECT writetime(units) AS written FROM sales_facts
       WHERE day = :day AND shard = :shard AND order_id = :order_id""",
)
DAILY = scan(
    "I7",
    """SELECT day FROM daily_sales_by_dimension
       WHERE token(month, dimension) > :start AND token(month, dimension) <= :end""",
)
STAMPS = read(
    "I7",
    """SELECT writetime(units) AS written FROM daily_sales_by_dimension
       WHERE month = :month AND dimension = :dimension AND day = :day""",
)

# How long a day with changed facts may wait until its figures follow: the worker usually needs half a minute.
ROLL_UP_DELAY = timedelta(minutes=5)
FactsKey = tuple[date, UUID, int]


def _iterate_facts(scope: Scope | None) -> Iterator[FactsKey]:
    """Yield the orders that have sales facts, each with the day of its facts and their write timestamp."""
    known = {order_id: get_order(order_id) for order_id in scope.orders} if scope else {}
    if scope is not None and all(known.values()):
        # The facts of an existing order are checked with the order, unless it sold no units.
        for order in filter(None, known.values()):
            day, shard = shop_day(order.placed_at), order_shard(order.order_id)
            if row := WRITTEN.one(day=day, shard=shard, order_id=order.order_id):
                yield (day, order.order_id, row.written or 0)
        return
    before = None
    for row in FACTS.iterate_table():
        place = (row.day.date(), row.order_id)
        # The rows of an order's lines are adjacent.
        if place != before and (scope is None or row.order_id in scope.orders):
            yield (*place, row.written or 0)
        before = place


def _check_orphaned(facts_key: FactsKey) -> Iterator[Violation]:
    day, order_id, written = facts_key
    order = get_order(order_id)
    sale = build_sale(order, list_items(order)) if order else None
    if (sale is None or sale.day != day) and queries.list_order_facts(day, order_id):
        fault = "there is no such sale" if sale is None else f"the sale is of {sale.day}"
        fix = call(operations.remove_facts, day, order_id, written)
        yield Violation("I7", f"facts of {day}, order {order_id}", fault, fix=fix)


def _iterate_days(scope: Scope | None) -> Iterator[date]:
    """Yield the days that have sales facts or sales figures."""
    if scope is not None:
        yield from sorted(scope.days)
        return
    found = {row.day.date() for each in (FACTS, DAILY) for row in each.iterate_table()}
    yield from sorted(found)


def _check_day(day: date) -> Iterator[Violation]:
    now = current_microseconds()
    latest = now - ROLL_UP_DELAY // timedelta(microseconds=1)
    if any(
        noted == day and latest < written <= now for noted, written in queries.list_changed_days()
    ):
        return  # the worker is about to add up the day's facts
    facts = queries.list_day_facts(day)
    wrong = [
        dimension
        for dimension in DIMENSIONS
        if set(roll_up_dimension(day, facts, dimension))
        != set(queries.list_sales_by(dimension, day, day))
    ]
    if wrong:
        places = ({"month": month_start(day), "dimension": each, "day": day} for each in wrong)
        stamps = [row.written or 0 for place in places for row in STAMPS.all(**place)]
        yield Violation(
            "I7",
            f"sales of {day}",
            "the figures are not the sum of the facts",
            f"by {', '.join(wrong)}",
            call(operations.roll_up_day, day),
            max(stamps, default=0),
        )


CHECKS = (
    Check("facts", ("I7",), _iterate_facts, _check_orphaned, lambda standing: standing[1]),
    Check("days of sales", ("I7",), _iterate_days, _check_day),
)

"""Counts a day's paid orders by new and returning customers (Q18). A customer is a mailbox; erased orders do not count.

The worker counts past days. The sales facts of a day name its orders, an order has a mailbox, and a mailbox lists earlier orders.
"""

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from uuid import UUID

from analytics import operations as analytics
from analytics import queries as sales
from analytics.days import shop_day
from cassandra_db import Row, current_microseconds, read
from jobs.rows import guard_row
from mail.addresses import email_key
from orders import queries

# As far back as the year before a report of a year.
COUNTED_BACK = timedelta(days=2 * 366)
MAX_LOOKED_AT = 20

CUSTOMER = read("Q18", "SELECT email, placed_at FROM orders WHERE order_id = :order_id LIMIT 1")
EARLIER = read(
    "Q18",
    """SELECT order_id, placed_at FROM orders_by_email_and_year
       WHERE email = :email AND year = :year AND placed_at < :before LIMIT :most""",
)
LATER = read(
    "Q18",
    """SELECT order_id, placed_at FROM orders_by_email_and_year
       WHERE email = :email AND year = :year AND placed_at > :after ORDER BY placed_at ASC LIMIT :most""",
)


def count_returning_customers(now: datetime, most: int) -> int:
    """Count the customers of at most `most` past days whose paid orders have changed, latest first. Return the number of days.

    Raises CassandraUnavailable.
    """
    last = shop_day(now) - timedelta(days=1)
    first = last - COUNTED_BACK
    reading = sales.prefetch_daily_customers(first, last)
    sold: Counter[date] = Counter()
    for each in sales.list_sales_by("customer", first, last):
        sold[each.day] += each.figures.orders
    counted = {row.day.date(): row.orders for pending in reading for row in pending.rows()}
    due = sorted((day for day in sold if sold[day] != counted.get(day)), reverse=True)[:most]
    for day in due:
        with guard_row(f"customers of {day}"):
            count_customers_of_day(day)
    return len(due)


def count_customers_of_day(day: date) -> None:
    """Count a day's paid orders by new and returning customers, and note it in their facts; repeating it changes nothing.

    If an order of this day that was paid late makes a counted first order of a later day another one, that day is due again. An
    order that was once a returning customer's stays so. Raises CassandraUnavailable.
    """
    at = current_microseconds()
    facts = sales.list_day_facts(day)
    order_ids = {fact.order_id for fact in facts}
    noted = {(fact.order_id, fact.is_returning) for fact in facts}
    found: dict[UUID, bool] = {}
    changed_days: set[date] = set()
    for order_id in order_ids:
        row = CUSTOMER.one(order_id=order_id)
        if row is None or not row.email:
            continue
        years = queries.list_order_years_by_email(row.email)
        found[order_id] = (order_id, True) in noted or _has_bought_before(row, years)
        if (order_id, None) in noted:
            changed_days |= _find_former_first_order(row, years)
    # Before the facts of this day: a run that is killed finds these days again. A day with another number of orders is due.
    for later in changed_days - {day}:
        analytics.record_daily_customers(later, 0, 0, 0, at)
    for order_id, is_returning in found.items():
        if noted & {(order_id, None), (order_id, not is_returning)}:
            analytics.mark_returning(day, order_id, is_returning=is_returning)
    # The count comes last: a day is counted again until it has one, and then marked again.
    analytics.mark_day_changed(day)
    returning = sum(found.values())
    analytics.record_daily_customers(day, len(order_ids), len(found) - returning, returning, at)


def _has_bought_before(order: Row, years: Sequence[int]) -> bool:
    """Return whether an order's mailbox has an earlier paid order; unpaid orders have no facts."""
    key, placed_at = email_key(order.email), order.placed_at
    for year in years:
        if year > placed_at.astimezone(UTC).year:
            continue
        earlier = EARLIER.all(email=key, year=year, before=placed_at, most=MAX_LOOKED_AT)
        if any(sales.list_order_facts(shop_day(row.placed_at), row.order_id) for row in earlier):
            return True
    return False


def _find_former_first_order(order: Row, years: Sequence[int]) -> set[date]:
    """Return the day of the mailbox's next paid order, if that was counted as its first one."""
    key, placed_at = email_key(order.email), order.placed_at
    for year in sorted(years):
        if year < placed_at.astimezone(UTC).year:
            continue
        for row in LATER.all(email=key, year=year, after=placed_at, most=MAX_LOOKED_AT):
            day = shop_day(row.placed_at)
            if facts := sales.list_order_facts(day, row.order_id):
                return {day} if any(fact.is_returning is False for fact in facts) else set()
    return set()

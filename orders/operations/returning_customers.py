"""Counts a day's paid orders by new and returning customers (Q18). A customer is a mailbox; erased orders do not count.

The worker counts past days. The sales facts of a day name its orders, an order has a mailbox, and a mailbox lists earlier orders.
"""

from collections import Counter
from datetime import UTC, date, datetime, timedelta

from analytics import operations as analytics
from analytics import queries as sales
from analytics.days import shop_day
from analytics.figures import ALL_CATEGORIES
from cassandra_db import current_microseconds, read
from jobs.rows import guard_row
from mail.addresses import email_key
from orders import queries

# As far back as the reports of visits go.
COUNTED_BACK = timedelta(days=89)
MAX_EARLIER = 20

CUSTOMER = read("Q18", "SELECT email, placed_at FROM orders WHERE order_id = :order_id LIMIT 1")
EARLIER = read(
    "Q18",
    """SELECT order_id, placed_at FROM orders_by_email_and_year
       WHERE email = :email AND year = :year AND placed_at < :before LIMIT :most""",
)


def count_returning_customers(now: datetime, most: int) -> int:
    """Count the customers of at most `most` past days whose paid orders have changed, latest first. Return the number of days.

    Raises CassandraUnavailable.
    """
    last = shop_day(now) - timedelta(days=1)
    first = last - COUNTED_BACK
    reading = sales.prefetch_daily_customers(first, last)
    sold: Counter[date] = Counter()
    for each in sales.list_daily_sales(first, last):
        if each.category_id == ALL_CATEGORIES:
            sold[each.day] += each.figures.orders
    counted = {row.day.date(): row.orders for pending in reading for row in pending.rows()}
    due = sorted((day for day in sold if sold[day] != counted.get(day)), reverse=True)[:most]
    for day in due:
        with guard_row(f"customers of {day}"):
            count_customers_of_day(day)
    return len(due)


def count_customers_of_day(day: date) -> None:
    """Count a day's paid orders by new and returning customers, and note it in their facts; repeating it changes nothing.

    Raises CassandraUnavailable.
    """
    at = current_microseconds()
    facts = sales.list_day_facts(day)
    order_ids = {fact.order_id for fact in facts}
    noted = {(fact.order_id, fact.is_returning) for fact in facts}
    first_orders = returning_orders = 0
    for order_id in order_ids:
        row = CUSTOMER.one(order_id=order_id)
        if row is None or not row.email:
            continue
        is_returning = _has_bought_before(row.email, row.placed_at)
        if noted & {(order_id, None), (order_id, not is_returning)}:
            analytics.mark_returning(day, order_id, is_returning=is_returning)
        returning_orders += is_returning
        first_orders += not is_returning
    # The count comes last: a day is counted again until it has one, and then marked again.
    analytics.mark_day_changed(day)
    analytics.record_daily_customers(day, len(order_ids), first_orders, returning_orders, at)


def _has_bought_before(email: str, placed_at: datetime) -> bool:
    """Return whether a mailbox has an earlier paid order; unpaid orders have no facts."""
    key, year = email_key(email), placed_at.astimezone(UTC).year
    for each in queries.list_order_years_by_email(email):
        if each > year:
            continue
        earlier = EARLIER.all(email=key, year=each, before=placed_at, most=MAX_EARLIER)
        if any(sales.list_order_facts(shop_day(row.placed_at), row.order_id) for row in earlier):
            return True
    return False

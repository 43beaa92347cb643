"""Reads the stored sales and visits."""

import json
from collections.abc import Iterable, Iterator
from datetime import date
from operator import add
from uuid import UUID

from analytics.days import SHARDS, month_start, order_shard
from analytics.dimensions import DimensionSales
from analytics.figures import Fact, Figures, SoldLine
from cassandra_db import PendingResult, Row, read, scan

_FACT = """SELECT order_id, line_number, product_id, variant_id, categories, currency, units, gross, net, refunded_units,
                  refunded_gross, refunded_net, placed_at, country, payment_method, promotions, is_returning
           FROM sales_facts WHERE day = :day AND shard = :shard"""
# Q18: the sales facts of a day; the facts of an order.
FACTS = read("Q18", _FACT)
OF_ORDER = read("Q18", f"{_FACT} AND order_id = :order_id")


def list_day_facts(day: date) -> list[Fact]:
    """Return the sales facts of a day. Its shards are read in parallel. Raises CassandraUnavailable."""
    reading = [FACTS.start(day=day, shard=shard) for shard in range(SHARDS)]
    return [fact_from_row(row) for pending in reading for row in pending.rows()]


def list_order_facts(day: date, order_id: UUID) -> list[Fact]:
    """Return the facts of an order that was placed on `day`, sorted by line number. Raises CassandraUnavailable."""
    return [
        fact_from_row(row)
        for row in OF_ORDER.all(day=day, shard=order_shard(order_id), order_id=order_id)
    ]


FACT_DAYS = scan(
    "Q18",
    "SELECT day, placed_at FROM sales_facts WHERE token(day, shard) > :start AND token(day, shard) <= :end",
)


def list_incomplete_days() -> list[date]:
    """Return the days with facts of an earlier version, which lack the time, latest first. Raises CassandraUnavailable."""
    rows = FACT_DAYS.iterate_table()
    return sorted({row.day.date() for row in rows if row.placed_at is None}, reverse=True)


def fact_from_row(row: Row) -> Fact:
    """Return the fact that a row of `sales_facts` stores."""
    line = SoldLine(
        row.line_number,
        row.product_id,
        row.variant_id,
        row.units or 0,
        row.gross or 0,
        row.net or 0,
        row.refunded_units or 0,
        row.refunded_gross or 0,
        row.refunded_net or 0,
        None if row.promotions is None else tuple(json.loads(row.promotions)),
    )
    categories = tuple(UUID(each) for each in json.loads(row.categories or "[]"))
    more = (row.placed_at, row.country, row.payment_method, row.is_returning)
    return Fact(row.order_id, line, categories, row.currency or "", *more)


# Q18: a month's sales by day and key of a dimension, between two days.
DAILY = read(
    "Q18",
    """SELECT day, key, currency, orders, units, gross, net, refunded_units, refunded_gross, refunded_net
       FROM daily_sales_by_dimension
       WHERE month = :month AND dimension = :dimension AND day >= :first AND day <= :last""",
)
DAILY.page_size = 20_000  # a month's products in one round


def list_sales_by(dimension: str, first: date, last: date) -> list[DimensionSales]:
    """Return the sales between two days, both included, by the keys of a dimension, sorted by day and key.

    A key is in a day's sales if it is among the day's best; OTHERS has the rest (analytics.dimensions).
    Raises CassandraUnavailable.
    """
    return collect_sales_by(prefetch_sales_by(dimension, first, last))


def prefetch_sales_by(dimension: str, first: date, last: date) -> list[PendingResult]:
    """Start reading the sales by a dimension, for `collect_sales_by`: one result for each month."""
    return [
        DAILY.start(month=month, dimension=dimension, first=first, last=last)
        for month in _months(first, last)
    ]


def collect_sales_by(reading: Iterable[PendingResult]) -> list[DimensionSales]:
    """Wait for the results of `prefetch_sales_by`, and return the sales. Raises CassandraUnavailable."""
    return [
        DimensionSales(row.day.date(), row.key, row.currency, Figures(*row[3:]))
        for pending in reading
        for row in pending.rows()
    ]


def sum_by_key(reading: Iterable[PendingResult], currency: str) -> dict[str, Figures]:
    """Wait for the results of `prefetch_sales_by`, and return the total sales of each key in one currency.

    A year of products is some 200,000 rows, so no object is made of each. Raises CassandraUnavailable.
    """
    sums: dict[str, list[int]] = {}
    for pending in reading:
        for _, key, sold_in, *numbers in pending.rows():
            if sold_in == currency:
                sums[key] = list(map(add, sums[key], numbers)) if key in sums else numbers
    return {key: Figures(*numbers) for key, numbers in sums.items()}


# Q18: the paid orders of a month by day, of new and of returning customers.
CUSTOMERS = read(
    "Q18",
    """SELECT day, orders, first_orders, returning_orders FROM daily_customers
       WHERE month = :month AND day >= :first AND day <= :last""",
)


def prefetch_daily_customers(first: date, last: date) -> list[PendingResult]:
    """Start reading the numbers of orders between two days: one result with rows of `daily_customers` for each month."""
    return [CUSTOMERS.start(month=month, first=first, last=last) for month in _months(first, last)]


def _months(first: date, last: date) -> Iterator[date]:
    month = month_start(first)
    while month <= last:
        yield month
        month = date(month.year + month.month // 12, month.month % 12 + 1, 1)


SHOP = "shop"
CHANGED = read("Q18", "SELECT day, written FROM sales_days WHERE shop = :shop")


def list_changed_days() -> list[tuple[date, int]]:
    """Return the days whose sales must be added up, with each mark's time in microseconds. Raises CassandraUnavailable."""
    return [(row.day.date(), row.written) for row in CHANGED.all(shop=SHOP)]


# Q19: a month's visits by day and kind; a day's most viewed products and searches; clicks by place; a product's views by day.
VISITS = read(
    "Q19",
    """SELECT day, kind, events, empty, visitors FROM daily_visits
       WHERE month = :month AND day >= :first AND day <= :last""",
)
TOP_PRODUCTS = read(
    "Q19",
    "SELECT product_id, views, visitors FROM top_products WHERE day = :day AND category_id = :category_id",
)
TOP_SEARCHES = read(
    "Q19", "SELECT words, searches, empty, visitors FROM top_searches WHERE day = :day"
)
SEARCH_CLICKS = read(
    "Q19",
    """SELECT place, clicks FROM search_clicks
       WHERE month = :month AND day >= :first AND day <= :last""",
)
PRODUCT_VIEWS = read(
    "Q19",
    """SELECT day, views, visitors FROM product_views
       WHERE product_id = :product_id AND day >= :first AND day <= :last""",
)


def prefetch_visits(first: date, last: date) -> list[PendingResult]:
    """Start reading the visits between two days: one result with rows of `daily_visits` for each month."""
    return [VISITS.start(month=month, first=first, last=last) for month in _months(first, last)]


def prefetch_top_products(days: Iterable[date], category_id: UUID) -> list[PendingResult]:
    """Start reading the most viewed products of a category: one result for each day."""
    return [TOP_PRODUCTS.start(day=day, category_id=category_id) for day in days]


def prefetch_top_searches(days: Iterable[date]) -> list[PendingResult]:
    """Start reading the most frequent searches: one result for each day."""
    return [TOP_SEARCHES.start(day=day) for day in days]


def prefetch_search_clicks(first: date, last: date) -> list[PendingResult]:
    """Start reading the clicks on results of searches between two days: one result with rows of `search_clicks` for each month."""
    return [
        SEARCH_CLICKS.start(month=month, first=first, last=last) for month in _months(first, last)
    ]


def prefetch_product_views(product_id: UUID, first: date, last: date) -> PendingResult:
    """Start reading the views of a product between two days, the latest day first."""
    return PRODUCT_VIEWS.start(product_id=product_id, first=first, last=last)

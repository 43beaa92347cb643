"""Counts the segments of customers (Q11): all, new, returning, not seen for long, and the tenth who spent most."""

from collections import Counter
from collections.abc import Iterable
from datetime import datetime

from django.conf import settings

from analytics.days import shop_day
from cassandra_db import write, write_batch
from orders.customers import (
    BEST,
    SHOP,
    CustomerFilter,
    ListedCustomer,
    Segment,
    iterate_customers,
    make_segment_filters,
)

# Amounts are rounded down to so many digits, so that the memory for them is bounded: 900 for each length.
DIGITS = 3
SEGMENT = write(
    "Q11",
    """INSERT INTO customer_segments (shop, segment, customer_count, spent_from, counted_at)
       VALUES (:shop, :segment, :count, :spent_from, :counted_at)""",
)


def count_customer_segments(now: datetime) -> int:
    """Count the customers of each segment, and store the counts. Return the number of customers. Raises CassandraUnavailable."""
    found = count_segments(iterate_customers(CustomerFilter()), now)
    write_batch(
        [
            SEGMENT.bind(
                shop=SHOP,
                segment=each.name,
                count=each.count,
                spent_from=each.spent_from,
                counted_at=now,
            )
            for each in found
        ]
    )
    return found[0].count


def count_segments(customers: Iterable[ListedCustomer], now: datetime) -> list[Segment]:
    """Return the segments of these customers, all customers first."""
    filters = make_segment_filters(shop_day(now))
    counts = dict.fromkeys(filters, 0)
    amounts = Counter[int]()
    for customer in customers:
        for name, chosen in filters.items():
            counts[name] += chosen.matches(customer)
        if (spent := customer.spent.get(settings.CURRENCY, 0)) > 0:
            amounts[_round_down(spent)] += 1
    best = _find_best_tenth(amounts)
    return [
        *(Segment(name, count, now) for name, count in counts.items()),
        Segment(BEST, sum(amounts[each] for each in amounts if each >= best), now, best),
    ]


def _round_down(spent: int) -> int:
    unit: int = 10 ** max(len(str(spent)) - DIGITS, 0)
    return spent - spent % unit


def _find_best_tenth(amounts: Counter[int]) -> int:
    """Return the greatest rounded amount that at least a tenth of these customers have spent, or 1 without customers."""
    counted, wanted = 0, amounts.total() / 10
    for amount in sorted(amounts, reverse=True):
        counted += amounts[amount]
        if counted >= wanted:
            return amount
    return 1

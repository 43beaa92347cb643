"""Computes the popularity of products from their views and orders of the last 30 days.

It runs once a day, and reads `product_views` and the sales facts. A product stores its popularity as a step of a coarse scale,
so that few products change each day. Cards, lists, the front page and the search use the step.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import islice
from math import ceil, log2
from uuid import UUID

from analytics import queries
from analytics.days import shop_day
from analytics.figures import SoldLine
from cassandra_db import current_microseconds
from catalogue import operations
from catalogue.entities import Product
from catalogue.queries import get_category
from jobs.rows import guard_row

PERIOD = timedelta(days=30)
# The time after midnight at which the counts of the day before are complete.
SETTLED = timedelta(hours=1)
# The number of views that an order counts as: about one visitor in twenty buys.
ORDER_WEIGHT = 20
# Two steps more mean about twice the score. Fewer than about three views are step 0.
STEPS_PER_DOUBLING = 2
FEW = 10
# A product keeps its step while its exact value differs by less than this, so that the step does not alternate daily.
STAYS_WITHIN = 0.75
# The bestsellers of a top category: their maximum, the number of products on sale for each of them, and their fewest orders.
MAX_BESTSELLERS = 10
PRODUCTS_PER_BESTSELLER = 10
MIN_BESTSELLER_ORDERS = 5
_AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class CountedProduct:
    """A product's stored popularity step, visitors and orders. One for each product of the shop is held in memory."""

    product_id: UUID
    former: int | None
    was_bestseller: bool
    visitors: int
    orders: int
    top_category_id: UUID | None  # None if it is not on sale


def popularity_day(now: datetime) -> date:
    """Return the day for which the popularity is computed at a moment (UTC). The day changes SETTLED after midnight."""
    return shop_day(now - SETTLED)


def update_popularity(products: Iterable[Product], now: datetime, most: int) -> int:
    """Store the popularity of the present day in at most `most` products whose popularity has changed. Return their number.

    A repeated call on the same day changes only products that are left. Raises CassandraUnavailable.
    """
    at, day = current_microseconds(), popularity_day(now)
    counted = list(count_interest(products, day - PERIOD, day - timedelta(days=1), now))
    bestsellers = choose_bestsellers(counted)
    changed = 0
    for each in counted:
        popularity = compute_popularity(each.visitors + ORDER_WEIGHT * each.orders, each.former)
        is_bestseller = each.product_id in bestsellers
        if (popularity, is_bestseller) != (each.former, each.was_bestseller):
            # The next day's count tries a failed product again.
            with guard_row(f"popularity of product {each.product_id}"):
                operations.set_popularity(
                    each.product_id, popularity, at, is_bestseller=is_bestseller
                )
                changed += 1
        if changed == most:
            break
    return changed


def compute_popularity(score: int, former: int | None) -> int:
    """Return the popularity step for a score, or the product's former step if the score is near that step."""
    exact = STEPS_PER_DOUBLING * log2(1 + score / FEW)
    return former if former is not None and abs(exact - former) < STAYS_WITHIN else round(exact)


def choose_bestsellers(counted: Sequence[CountedProduct]) -> frozenset[UUID]:
    """Return the bestsellers: the products on sale with the most orders in each top category."""
    places: dict[UUID | None, int] = {
        top: min(MAX_BESTSELLERS, ceil(count / PRODUCTS_PER_BESTSELLER))
        for top, count in Counter(each.top_category_id for each in counted).items()
        if top
    }
    chosen = set()
    for each in sorted(counted, key=lambda each: (-each.orders, each.product_id)):
        if each.orders >= MIN_BESTSELLER_ORDERS and places.get(each.top_category_id):
            places[each.top_category_id] -= 1
            chosen.add(each.product_id)
    return frozenset(chosen)


def count_interest(
    products: Iterable[Product], first: date, last: date, now: datetime
) -> Iterator[CountedProduct]:
    orders = count_orders(first, last)
    visits = [pending.rows() for pending in queries.prefetch_visits(first, last)]
    iterator = iter(products)
    while some := list(islice(iterator, _AT_ONCE)):
        visitors = _count_visitors(some, first, last) if any(visits) else {}
        for product in some:
            node = get_category(product.category_id) if product.is_on_sale(now) else None
            yield CountedProduct(
                product.product_id,
                product.popularity,
                product.bestseller,
                visitors.get(product.product_id, 0),
                orders[product.product_id],
                node.path[0].category_id if node else None,
            )


def count_orders(first: date, last: date) -> Counter[UUID]:
    """Return the number of paid orders of each product between two days, both included. Full returns are left out.

    An order of fifty units counts once: it is the wish of one customer. Raises CassandraUnavailable.
    """
    found: Counter[UUID] = Counter()
    for day in sorted({each.day for each in queries.list_sales_by("customer", first, last)}):
        kept = (each for each in queries.list_day_facts(day) if _is_kept(each.line))
        found.update(
            product_id for _, product_id in {(each.order_id, each.line.product_id) for each in kept}
        )
    return found


def _is_kept(line: SoldLine) -> bool:
    return line.units > line.refunded_units


def _count_visitors(products: Iterable[Product], first: date, last: date) -> dict[UUID, int]:
    """Return the number of visitors of each product, keyed by id. A visitor counts once a day."""
    reading = {
        each.product_id: queries.prefetch_product_views(each.product_id, first, last)
        for each in products
    }
    return {
        product_id: sum(row.visitors or 0 for row in pending.rows())
        for product_id, pending in reading.items()
    }

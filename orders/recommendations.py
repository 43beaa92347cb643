"""Products that are bought together, counted from all orders, for jobs and commands."""

from collections import Counter, defaultdict
from itertools import combinations, groupby
from uuid import UUID

from orders.queries import ORDERED_PRODUCTS

# In an order with more products, two products say little about each other, so the order is left out.
MAX_PRODUCTS_PER_ORDER = 30


def list_bought_together() -> dict[UUID, list[UUID]]:
    """Return for each product up to 12 products that were ordered with it, most frequent first. Raises CassandraUnavailable."""
    counted: dict[UUID, Counter[UUID]] = defaultdict(Counter)
    for _, rows in groupby(ORDERED_PRODUCTS.iterate_table(), key=lambda row: row.order_id):
        products = sorted({row.product_id for row in rows})[:MAX_PRODUCTS_PER_ORDER]
        for one, other in combinations(products, 2):
            counted[one][other] += 1
            counted[other][one] += 1
    return {
        product_id: [other for other, _ in others.most_common(12)]
        for product_id, others in counted.items()
    }

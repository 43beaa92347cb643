"""What is bought together, counted from all orders. For jobs and commands."""

from collections import Counter, defaultdict
from itertools import combinations, groupby
from uuid import UUID

from orders.queries import ORDERED_PRODUCTS

# Two products among hundreds on one order say little about each other.
MAX_PRODUCTS_PER_ORDER = 30


def list_bought_together(most: int = 12) -> dict[UUID, list[UUID]]:
    """Return for each product the products that were ordered with it, the most frequent first.

    Raises CassandraUnavailable.
    """
    counted: dict[UUID, Counter[UUID]] = defaultdict(Counter)
    for _, rows in groupby(ORDERED_PRODUCTS.iterate_table(), key=lambda row: row.order_id):
        products = sorted({row.product_id for row in rows})[:MAX_PRODUCTS_PER_ORDER]
        for one, other in combinations(products, 2):
            counted[one][other] += 1
            counted[other][one] += 1
    return {
        product_id: [other for other, _ in others.most_common(most)]
        for product_id, others in counted.items()
    }

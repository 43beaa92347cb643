"""Products as they are today, with the stock of their variants."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from uuid import UUID

from cassandra_db import Pending
from catalogue.entities import Product
from catalogue.queries import prefetch_current_product, product_from_rows
from inventory.entities import Stock
from inventory.queries import prefetch_current_stock, stock_from_rows

# How many products are read side by side: a cart may have a thousand lines.
AT_ONCE = 100


@dataclass(frozen=True)
class ProductWithStock:
    """A product as it is today, and the stock of its variants."""

    product: Product | None = None
    stock: Mapping[UUID, Stock] = field(default_factory=dict)


class PendingProductsWithStock:
    """Products and their stock being read: the first hundred at once, the others when these are here.

    As a quorum knows them: a node that was down would leave a line out of an order, or say that it is sold out.
    """

    def __init__(self, product_ids: Iterable[UUID]) -> None:
        self._waiting = list(dict.fromkeys(product_ids))
        self._under_way = self._started()

    def _started(self) -> dict[UUID, tuple[Pending, Pending]]:
        now, self._waiting = self._waiting[:AT_ONCE], self._waiting[AT_ONCE:]
        return {
            each: (prefetch_current_product(each), prefetch_current_stock(each)) for each in now
        }

    def collect(self) -> dict[UUID, ProductWithStock]:
        """Wait for all of them. Raises CassandraUnavailable."""
        found = {}
        while self._under_way:
            for product_id, (product, stock) in self._under_way.items():
                found[product_id] = ProductWithStock(
                    product_from_rows(product.rows()), stock_from_rows(stock.rows())
                )
            self._under_way = self._started()
        return found


def get_products_with_stock(product_ids: Iterable[UUID]) -> dict[UUID, ProductWithStock]:
    """Return products as they are today, with their stock. Raises CassandraUnavailable."""
    return PendingProductsWithStock(product_ids).collect()

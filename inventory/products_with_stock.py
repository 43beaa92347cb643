"""Read current products with the stock of their variants."""

from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from uuid import UUID

from cassandra_db import PendingResult
from catalogue.entities import Product, Variant
from catalogue.errors import NoLongerSold
from catalogue.queries import (
    Guard,
    find_variant_by_sku,
    get_sellable_variant,
    prefetch_product_at_quorum,
    product_from_rows,
)
from inventory.entities import Stock
from inventory.queries import prefetch_stock_at_quorum, stock_from_rows

# How many products are read in parallel: a cart may have a thousand lines.
AT_ONCE = 100


@dataclass(frozen=True)
class ProductWithStock:
    """A current product and the stock of its variants."""

    product: Product | None = None
    stock: Mapping[UUID, Stock] = field(default_factory=dict)


class PendingProductsWithStock:
    """A pending read of products and their stock; AT_ONCE are read in parallel.

    It reads at quorum: a node that was down could leave out a line of an order, or call a product sold out.
    """

    def __init__(self, product_ids: Iterable[UUID]) -> None:
        self._waiting = list(dict.fromkeys(product_ids))
        self._under_way = self._started()

    def _started(self) -> dict[UUID, tuple[PendingResult, PendingResult]]:
        now, self._waiting = self._waiting[:AT_ONCE], self._waiting[AT_ONCE:]
        return {
            each: (prefetch_product_at_quorum(each), prefetch_stock_at_quorum(each)) for each in now
        }

    def collect(self, guard: Guard = nullcontext) -> dict[UUID, ProductWithStock]:
        """Wait for all products, and decode each product within `guard`. Raises CassandraUnavailable."""
        found = {}
        while self._under_way:
            for product_id, (product, stock) in self._under_way.items():
                # Outside of the guard: a failed read does not mean a broken product.
                rows, stock_rows = product.rows(), stock.rows()
                with guard(product_id):
                    found[product_id] = ProductWithStock(
                        product_from_rows(rows), stock_from_rows(stock_rows)
                    )
            self._under_way = self._started()
        return found


def get_products_with_stock(
    product_ids: Iterable[UUID], guard: Guard = nullcontext
) -> dict[UUID, ProductWithStock]:
    """Return current products with their stock. Each product is decoded within `guard`. Raises CassandraUnavailable."""
    return PendingProductsWithStock(product_ids).collect(guard)


def find_variant_with_stock(
    sku: str | None, product_id: UUID | None = None
) -> tuple[ProductWithStock, Product, Variant]:
    """Return the product and variant of a SKU with the stock. It takes one round of reads if `product_id` is given, else two.

    Raises NoLongerSold, CassandraUnavailable.
    """
    found = _get_product_with_stock(product_id)
    variants = found.product.variants if found.product else ()
    variant_id = next((each.variant_id for each in variants if each.sku == sku), None)
    if variant_id is None and (row := find_variant_by_sku(sku)):
        found, variant_id = _get_product_with_stock(row.product_id), row.variant_id
    if found.product is None or variant_id is None:
        raise NoLongerSold
    variant = get_sellable_variant(found.product, variant_id)
    if variant is None:
        raise NoLongerSold(found.product.name)
    return found, found.product, variant


def _get_product_with_stock(product_id: UUID | None) -> ProductWithStock:
    return get_products_with_stock([product_id])[product_id] if product_id else ProductWithStock()

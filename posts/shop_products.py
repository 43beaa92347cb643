"""The products of a post as they can be bought today, and the products that its author can choose from."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from cassandra_db import PendingResult, current_time
from catalogue.entities import Product, Variant
from catalogue.queries import (
    get_products,
    get_sellable_variant,
    leave_out,
    prefetch_product,
    product_from_rows,
)
from catalogue.search import search_products
from catalogue.search_index import SearchIndexMissing
from inventory.entities import Stock
from inventory.queries import prefetch_stock, stock_from_rows
from orders.queries import list_orders_by_year, prefetch_items
from posts.entities import ShownProduct
from storefront.choices import variant_url

MAX_FOUND = 12
# The newest orders whose items the form offers.
_ORDERS, _YEARS = 10, 2


@dataclass(frozen=True)
class ShopProduct:
    """A product of a post. `is_sold` tells whether the variant can still be bought at all."""

    product: Product
    variant: Variant
    stock: Stock
    is_sold: bool

    @property
    def url(self) -> str:
        """The address of the variant on its product's page."""
        return variant_url(self.product, self.variant)

    @property
    def picture(self) -> str:
        return self.product.picture_of(self.variant)

    @property
    def is_buyable(self) -> bool:
        """Whether a unit can be bought now."""
        return self.is_sold and self.stock.available > 0

    @property
    def price_varies(self) -> bool:
        return len({each.price for each in self.product.variants if each.sold}) > 1


class PendingShopProducts:
    """The products of a post that are being read, each with its stock."""

    def __init__(self, shown: Iterable[ShownProduct]) -> None:
        self._reading: list[tuple[ShownProduct, PendingResult, PendingResult]] = [
            (each, prefetch_product(each.product_id), prefetch_stock(each.product_id))
            for each in shown
        ]

    def collect(self) -> list[ShopProduct]:
        """Return the products, in the post's order, without those that are gone. Raises CassandraUnavailable."""
        found = []
        for shown, reading, reading_stock in self._reading:
            rows, stock_rows = reading.rows(), reading_stock.rows()
            with leave_out(shown.product_id):
                product = product_from_rows(rows)
                variant = _find_variant(product, shown.variant_id)
                if product and variant:
                    stock = stock_from_rows(stock_rows).get(variant.variant_id, Stock())
                    is_sold = get_sellable_variant(product, variant.variant_id) is not None
                    found.append(ShopProduct(product, variant, stock, is_sold))
        return found


def _find_variant(product: Product | None, variant_id: UUID) -> Variant | None:
    """Return the shown variant, or another one of the product if it has been deleted."""
    if product is None or not product.variants:
        return None
    return product.get_variant(variant_id) or product.variants[0]


@dataclass(frozen=True)
class ProductChoice:
    """A product that the author of a post can choose."""

    shown: ShownProduct
    name: str
    label: str
    picture: str
    is_chosen: bool = False

    @property
    def value(self) -> str:
        """The value of its field in the form."""
        return f"{self.shown.product_id.hex}.{self.shown.variant_id.hex}"


def list_ordered(user_id: UUID) -> list[ProductChoice]:
    """Return what a person has ordered lately, the newest order first; each product once. Raises CassandraUnavailable."""
    year = current_time().year
    by_year = list_orders_by_year(user_id, range(year + 1 - _YEARS, year + 1))
    newest = [order for year in sorted(by_year, reverse=True) for order in by_year[year]]
    reading = [prefetch_items(order.order_id) for order in newest[:_ORDERS]]
    found = [
        ProductChoice(
            ShownProduct(row.product_id, row.variant_id),
            row.name,
            ", ".join((row.options or {}).values()),
            row.picture or "",
        )
        for pending in reading
        for row in pending.rows()
    ]
    return list({each.shown.product_id: each for each in reversed(found)}.values())[::-1]


def list_found(query: str) -> list[ProductChoice]:
    """Return the products that a search finds, in the variants that it shows; none without an index. Raises CassandraUnavailable."""
    try:
        cards = search_products(query, MAX_FOUND).cards if query else ()
    except SearchIndexMissing:
        return []
    products = get_products((card.product_id for card in cards), leave_out)
    found = []
    for card in cards:
        product = products.get(card.product_id)
        sold = [each for each in product.variants if each.sold] if product else []
        if product and sold:
            by_picture = (each for each in sold if product.picture_of(each) == card.picture)
            found.append(_choose(product, next(by_picture, sold[0])))
    return found


def list_chosen(chosen: Sequence[ShownProduct]) -> list[ProductChoice]:
    """Return the chosen products that exist. Raises CassandraUnavailable."""
    products = get_products((each.product_id for each in chosen), leave_out)
    found = []
    for each in chosen:
        product = products.get(each.product_id)
        variant = product.get_variant(each.variant_id) if product else None
        if product and variant:
            found.append(_choose(product, variant, is_chosen=True))
    return found


def _choose(product: Product, variant: Variant, *, is_chosen: bool = False) -> ProductChoice:
    return ProductChoice(
        ShownProduct(product.product_id, variant.variant_id),
        product.name,
        variant.label,
        product.picture_of(variant),
        is_chosen,
    )


def join_choices(*lists: Sequence[ProductChoice]) -> list[ProductChoice]:
    """Return the choices of all lists; each product once, where it comes first."""
    found: dict[UUID, ProductChoice] = {}
    for choices in lists:
        for each in choices:
            found.setdefault(each.shown.product_id, each)
    return list(found.values())

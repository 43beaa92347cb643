"""Read products and variants by their ids, addresses and SKUs."""

import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import datetime
from itertools import groupby
from uuid import UUID

from cassandra_db import (
    LOCAL_ONE,
    LOCAL_QUORUM,
    CassandraUnavailable,
    PendingResult,
    Row,
    current_time,
    read,
    scan,
)
from catalogue.entities import Product, Variant
from catalogue.errors import NoLongerSold
from catalogue.product_rows import product_from_rows
from jobs.rows import guard_row

log = logging.getLogger(__name__)
# A product is decoded within a guard: `guard_product` in a job, `leave_out` on a page. Without a guard, a broken product raises
# an error. Callers that treat a missing product as deleted rely on the error.
Guard = Callable[[UUID], AbstractContextManager[object]]
# Q1: a product with its variants.
PRODUCT = read(
    "Q1",
    """SELECT product_id, variant_id, version, name, slug, brand, description, details, category_id, category_ids,
       option_names, tax_class, currency, status, active_from, active_until, tags, maker, maker_contact, responsible_person, safety, unit, length_mm, width_mm,
       height_mm, search_title, search_description, google_category, old_addresses, related_ids, pictures, successor_id, featured, availability, in_stock_ids, rating, rating_count, popularity, bestseller, created_at,
       updated_at, sku, position, options, price, compare_at, price_from, planned_prices, picture, weight_grams, barcode, mpn, content, cost_price, sold
       FROM products WHERE product_id = :product_id""",
    consistency=LOCAL_ONE,
)
# Includes every acknowledged write: for products that are written, put into a cart, counted or ordered.
PRODUCT_NOW = PRODUCT.with_consistency(LOCAL_QUORUM)
PRODUCTS = scan(
    "Q1",
    """SELECT product_id, variant_id, version, name, slug, brand, description, details, category_id, category_ids,
       option_names, tax_class, currency, status, active_from, active_until, tags, maker, maker_contact, responsible_person, safety, unit, length_mm, width_mm,
       height_mm, search_title, search_description, google_category, old_addresses, related_ids, pictures, successor_id, featured, availability, in_stock_ids, rating, rating_count, popularity, bestseller, created_at,
       updated_at, sku, position, options, price, compare_at, price_from, planned_prices, picture, weight_grams, barcode, mpn, content, cost_price, sold
       FROM products WHERE token(product_id) > :start AND token(product_id) <= :end""",
)
PRODUCT_ID = read(
    "Q1", "SELECT product_id FROM product_ids_by_slug WHERE slug = :slug", consistency=LOCAL_ONE
)
PRODUCT_ID_NOW = PRODUCT_ID.with_consistency(LOCAL_QUORUM)
VARIANT = read("Q1", "SELECT product_id, variant_id FROM variants_by_sku WHERE sku = :sku")
SAVE_ID = read("Q1", "SELECT save_id FROM products WHERE product_id = :product_id LIMIT 1")
SLUG = read("Q1", "SELECT slug FROM products WHERE product_id = :product_id LIMIT 1")
AVAILABILITY = read(
    "Q1", "SELECT availability, in_stock_ids FROM products WHERE product_id = :product_id LIMIT 1"
)


def get_save_id(product_id: UUID) -> UUID | None:
    """Return the id of the save that made the product's present version, or None. Raises CassandraUnavailable."""
    row = SAVE_ID.one(product_id=product_id)
    return row.save_id if row else None


def prefetch_product(product_id: UUID) -> PendingResult:
    """Start reading a product, for `product_from_rows`."""
    return PRODUCT.start(product_id=product_id)


def prefetch_availability(product_id: UUID) -> PendingResult:
    """Start reading a product's availability, and its variants in stock, at quorum."""
    return AVAILABILITY.start(product_id=product_id)


def prefetch_product_at_quorum(product_id: UUID) -> PendingResult:
    """Start reading a product at quorum, for `product_from_rows`."""
    return PRODUCT_NOW.start(product_id=product_id)


def get_product(product_id: UUID) -> Product | None:
    """Return the product, even an archived one, or None. Raises CassandraUnavailable."""
    return product_from_rows(prefetch_product(product_id).rows())


def get_product_at_quorum(product_id: UUID) -> Product | None:
    """Return the product with every acknowledged write, read at quorum, or None. Raises CassandraUnavailable."""
    return product_from_rows(prefetch_product_at_quorum(product_id).rows())


def guard_product(product_id: UUID) -> AbstractContextManager[None]:
    """Guard the decoding of a product in a job that tries again by itself: a broken product is logged and skipped."""
    return guard_row(f"product {product_id}")


@contextmanager
def leave_out(product_id: UUID) -> Iterator[None]:
    """Guard the decoding of a product for a page's list: a broken product is logged and left out. Raises CassandraUnavailable."""
    try:
        yield
    except CassandraUnavailable:
        raise
    except Exception:
        log.exception("left out of a page: product %s", product_id)


def get_products(product_ids: Iterable[UUID], guard: Guard = nullcontext) -> dict[UUID, Product]:
    """Return the products with these ids that exist; reads run in parallel. Raises CassandraUnavailable."""
    return _collect_products(prefetch_product, product_ids, guard)


def get_products_at_quorum(
    product_ids: Iterable[UUID], guard: Guard = nullcontext
) -> dict[UUID, Product]:
    """Return the products with these ids that exist, read at quorum. Raises CassandraUnavailable."""
    return _collect_products(prefetch_product_at_quorum, product_ids, guard)


def _collect_products(
    prefetch: Callable[[UUID], PendingResult], product_ids: Iterable[UUID], guard: Guard
) -> dict[UUID, Product]:
    reading = [(each, prefetch(each)) for each in dict.fromkeys(product_ids)]
    found = {}
    for product_id, pending in reading:
        # Outside of the guard: a read that fails does not mean that the product is broken.
        rows = pending.rows()
        with guard(product_id):
            if product := product_from_rows(rows):
                found[product_id] = product
    return found


def iterate_products(guard: Guard = guard_product) -> Iterator[Product]:
    """Yield every product of the shop, for commands and jobs. Raises CassandraUnavailable."""
    return _products_from_rows(PRODUCTS.iterate_table(), guard)


def iterate_products_of_part(part: int, parts: int) -> Iterator[Product]:
    """Yield the products of one of `parts` parts of the shop. A product's part never changes. Raises CassandraUnavailable."""
    return _products_from_rows(PRODUCTS.iterate_part(part, parts), guard_product)


def _products_from_rows(rows: Iterator[Row], guard: Guard) -> Iterator[Product]:
    for product_id, its_rows in groupby(rows, key=lambda row: row.product_id):
        found = None
        # Outside of the guard: it would hide a failed read of a page, and the scan would end as if the table were complete.
        present = list(its_rows)
        with guard(product_id):
            found = product_from_rows(present)
        if found:
            yield found


def prefetch_slug(product_id: UUID) -> PendingResult:
    """Start reading a product's address at quorum; the row has slug."""
    return SLUG.start(product_id=product_id)


def find_product_id_by_slug(slug: str) -> UUID | None:
    """Return the id of the product that has or had an address. Raises CassandraUnavailable."""
    row = PRODUCT_ID.one(slug=slug)
    return row.product_id if row else None


def prefetch_product_id_at_quorum(slug: str) -> PendingResult:
    """Start reading the product of an address at quorum; the row has product_id."""
    return PRODUCT_ID_NOW.start(slug=slug)


def prefetch_variant_by_sku(sku: str) -> PendingResult:
    """Start reading the variant of a SKU; the row has product_id and variant_id."""
    return VARIANT.start(sku=sku)


MAX_SKU_LENGTH = 64


def find_variant_by_sku(sku: str | None) -> Row | None:
    """Return the row (product_id, variant_id) of a SKU, or None. Raises CassandraUnavailable."""
    is_possible = sku and len(sku) <= MAX_SKU_LENGTH and "\0" not in sku
    return VARIANT.one(sku=sku) if is_possible else None


# How many successors are tried, one after another, to find one that is sold.
MAX_SUCCESSORS = 5


def find_successor(product: Product, now: datetime) -> Product | None:
    """Return the first of a former product's successors that is on sale, or None. Raises CassandraUnavailable."""
    found: Product | None = product
    for _step in range(MAX_SUCCESSORS):
        if found is None or found.successor_id is None:
            return None
        found = get_product(found.successor_id)
        if found and found.is_on_sale(now):
            return found
    return None


def get_sellable_variant(product: Product | None, variant_id: UUID) -> Variant | None:
    """Return the product's variant with this id, or None if it is not on sale."""
    variant = product.get_variant(variant_id) if product else None
    is_sold = product and product.is_on_sale(current_time())
    return variant if is_sold and variant and variant.sold else None


def find_product_and_variant(sku: str | None) -> tuple[Product, Variant]:
    """Return the product and the variant of a form's SKU, read at quorum. Raises NoLongerSold and CassandraUnavailable."""
    row = find_variant_by_sku(sku)
    found = get_product_at_quorum(row.product_id) if row else None
    if row is None or found is None:
        raise NoLongerSold
    variant = get_sellable_variant(found, row.variant_id)
    if variant is None:
        raise NoLongerSold(found.name)
    return found, variant


# Q3: the changed products, for everything that is derived from products.
CHANGES = read(
    "Q3",
    "SELECT changed, product_id FROM product_changes_by_hour WHERE hour = :hour AND changed > :after",
)

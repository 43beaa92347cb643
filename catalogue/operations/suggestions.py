"""The suggestions of the search field."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from cassandra_db import current_microseconds, current_time, scan, write, write_batch
from cassandra_db.bulk import BulkWriter
from catalogue import queries
from catalogue.entities import Product
from catalogue.queries import product_card
from catalogue.words import name_prefixes
from jobs.rows import guard_row
from pricing.money import to_minor_units

MAX_PRODUCTS_A_PREFIX = 50
# How many prefixes are written at the same time while all are rebuilt.
WRITES_AT_ONCE = 32
INSERT_PREFIX_ROW = write(
    "Q3",
    """INSERT INTO products_by_name_prefix (prefix, rank, product_id, name, slug, picture, price, price_varies, currency,
       category_name) VALUES (:prefix, :rank, :product_id, :name, :slug, :picture, :price, :price_varies, :currency,
       :category_name) USING TIMESTAMP :at""",
)
DELETE_PREFIX = write(
    "Q3", "DELETE FROM products_by_name_prefix USING TIMESTAMP :at WHERE prefix = :prefix"
)
DELETE_PREFIX_ROW = write(
    "Q3",
    "DELETE FROM products_by_name_prefix WHERE prefix = :prefix AND rank = :rank AND product_id = :product_id",
)
PREFIXES = scan(
    "Q3",
    """SELECT DISTINCT prefix FROM products_by_name_prefix WHERE token(prefix) > :start AND token(prefix) <= :end""",
)
_LAST_DAY = 100_000


def prefix_rank(product: Product, place: int) -> int:
    """Return a product's rank under a prefix: first by the word's place in the name, then products in stock, then newer products."""
    days = (product.created_at or current_time()).timestamp() // 86_400
    return (
        min(place, 9) * 1_000_000
        + (500_000 if product.availability == "out" else 0)
        + _LAST_DAY
        - int(days)
    )


def prefix_columns(product: Product, category_name: str) -> dict[str, Any]:
    """Return the columns of a product's suggestion."""
    card = product_card(product)
    return {
        "product_id": card.product_id,
        "name": card.name,
        "slug": card.slug,
        "picture": card.picture,
        "price": to_minor_units(card.price),
        "price_varies": card.price_varies,
        "currency": card.price.currency.code,
        "category_name": category_name,
    }


def rebuild_prefixes(products: Iterable[Product]) -> int:
    """Rebuild the suggestions from all products, the best 50 for each prefix; return the number of prefixes."""
    tree = queries.get_category_tree()
    best: dict[str, list[tuple[int, UUID, dict[str, Any]]]] = {}
    for product in products:
        with guard_row(f"suggestions of product {product.product_id}"):
            if not product.is_on_sale(current_time()):
                continue
            node = tree.by_id.get(product.category_id)
            values = prefix_columns(product, node.name if node else "")
            for prefix, place in name_prefixes(product.name).items():
                rows = best.setdefault(prefix, [])
                rows.append((prefix_rank(product, place), product.product_id, values))
                if len(rows) >= 8 * MAX_PRODUCTS_A_PREFIX:
                    rows[:] = _best_suggestions(rows)
    at = current_microseconds()
    with BulkWriter(WRITES_AT_ONCE) as bulk:
        for row in PREFIXES.iterate_table():
            if row.prefix not in best:
                bulk.send(DELETE_PREFIX.bind(prefix=row.prefix, at=at - 1))
        for prefix, rows in best.items():
            inserts = [
                INSERT_PREFIX_ROW.bind(prefix=prefix, rank=rank, at=at, **values)
                for rank, _, values in _best_suggestions(rows)
            ]
            # The deletion is one microsecond older: with an equal timestamp it would also delete the new rows.
            bulk.send(DELETE_PREFIX.bind(prefix=prefix, at=at - 1), *inserts)
    return len(best)


def _best_suggestions(
    rows: list[tuple[int, UUID, dict[str, Any]]],
) -> list[tuple[int, UUID, dict[str, Any]]]:
    return sorted(rows, key=lambda each: each[:2])[:MAX_PRODUCTS_A_PREFIX]


def refresh_prefixes(product: Product, former_names: Iterable[str] = ()) -> None:
    """Update a product's suggestions, also under prefixes of `former_names`. A prefix may exceed 50 products until a rebuild."""
    node = queries.get_category(product.category_id)
    belongs = name_prefixes(product.name) if product.is_on_sale(current_time()) else {}
    looked_at = set(belongs).union(
        *(name_prefixes(name) for name in former_names), name_prefixes(product.name)
    )
    reading = {prefix: queries.BY_PREFIX.start(prefix=prefix) for prefix in sorted(looked_at)}
    at = current_microseconds()
    for prefix, pending in reading.items():
        writes = [
            DELETE_PREFIX_ROW.bind(prefix=prefix, rank=row.rank, product_id=row.product_id)
            for row in pending.rows()
            if row.product_id == product.product_id
            and (prefix not in belongs or row.rank != prefix_rank(product, belongs[prefix]))
        ]
        if prefix in belongs:
            values = prefix_columns(product, node.name if node else "")
            rank = prefix_rank(product, belongs[prefix])
            writes.append(INSERT_PREFIX_ROW.bind(prefix=prefix, rank=rank, at=at, **values))
        if writes:
            write_batch(writes)

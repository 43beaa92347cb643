"""A product's cards in the lists of its categories, as its row says."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from cassandra.query import BoundStatement

from cassandra_db import current_time, read, wait_for_all, write
from catalogue import queries
from catalogue.entities import CategoryNode, CategoryTree, Product, ProductCard
from catalogue.queries import product_card
from catalogue.words import fold_text
from pricing.money import to_minor_units

LIST_POSITIONS = read(
    "Q2",
    "SELECT category_id, sort, sort_key FROM list_positions_by_product WHERE product_id = :product_id",
)
INSERT_LIST_POSITION = write(
    "Q2",
    """INSERT INTO list_positions_by_product (product_id, category_id, sort, sort_key)
       VALUES (:product_id, :category_id, :sort, :sort_key)""",
)
DELETE_LIST_POSITION = write(
    "Q2",
    """DELETE FROM list_positions_by_product WHERE product_id = :product_id AND category_id = :category_id AND sort = :sort
       AND sort_key = :sort_key""",
)
INSERT_CARD = write(
    "Q2",
    """INSERT INTO products_by_category (category_id, sort, sort_key, product_id, name, slug, brand, picture, swatches,
       variant_count, price, price_varies, compare_at, currency, rating, rating_count, popularity, bestseller, availability, created_at)
       VALUES (:category_id, :sort, :sort_key, :product_id, :name, :slug, :brand, :picture, :swatches, :variant_count,
       :price, :price_varies, :compare_at, :currency, :rating, :rating_count, :popularity, :bestseller, :availability, :created_at)""",
)
DELETE_CARD = write(
    "Q2",
    """DELETE FROM products_by_category WHERE category_id = :category_id AND sort = :sort AND sort_key = :sort_key
       AND product_id = :product_id""",
)
ListKey = tuple[UUID, str, bytes]


def sort_keys(card: ProductCard) -> dict[str, bytes]:
    """Return a card's keys by sort: bytes that sort as the values do."""
    return {
        "created": _sortable(round(card.created_at.timestamp() * 1000)),
        "price": _sortable(to_minor_units(card.price)),
        "name": fold_text(card.name).encode(),
        "rating": _sortable(rating_rank(card)),
        "popular": _sortable(popularity_rank(card)),
    }


def rating_rank(card: ProductCard) -> int:
    """Return a number by which the best rated come last: of equal ratings the one that more people gave."""
    return round((card.rating or 0) * 10) * 10**9 + min(card.rating_count, 10**9 - 1)


def popularity_rank(card: ProductCard) -> int:
    """Return a number by which the most popular come last: of equal ones the newest."""
    return card.popularity * 10**14 + round(card.created_at.timestamp() * 1000)


def _sortable(number: int) -> bytes:
    # Bytes compare unsigned: with the sign bit flipped, a signed number sorts as it should.
    return (number + (1 << 63)).to_bytes(8, "big")


def card_columns(card: ProductCard) -> dict[str, Any]:
    """Return the columns that every table of cards has."""
    return {
        "name": card.name,
        "slug": card.slug,
        "brand": card.brand,
        "picture": card.picture,
        "swatches": list(card.swatches),
        "variant_count": card.variant_count,
        "price": to_minor_units(card.price),
        "price_varies": card.price_varies,
        "compare_at": to_minor_units(card.compare_at) if card.compare_at else None,
        "currency": card.price.currency.code,
        "rating": card.rating,
        "rating_count": card.rating_count,
        "popularity": card.popularity,
        "bestseller": card.bestseller,
        "availability": card.availability,
        "created_at": card.created_at,
    }


def compute_list_positions(product: Product, tree: CategoryTree) -> set[ListKey]:
    """Return where a product's cards belong: its categories and all above them, in every sort."""
    if not product.is_on_sale(current_time()):
        return set()
    nodes = [tree.by_id[each] for each in product.all_category_ids if each in tree.by_id]
    keys = sort_keys(product_card(product))
    positions = {
        (each.category_id, sort, key)
        for node in nodes
        for each in node.path
        for sort, key in keys.items()
    }
    return positions | {
        (each.category_id, queries.FEATURED_SORT, featured_key(each, product.product_id, keys))
        for node in nodes
        for each in node.path
        if each.order.pinned_ids
    }


PINNED, NOT_PINNED = b"\0", b"\1"


def featured_key(node: CategoryNode, product_id: UUID, keys: Mapping[str, bytes]) -> bytes:
    """Return a card's key in the list of a category that begins with what is pinned; `keys` are those of `sort_keys`.

    The list is read upwards: what its rule reads downwards is turned round.
    """
    pinned_ids = node.order.pinned_ids
    if product_id in pinned_ids:
        return PINNED + bytes([pinned_ids.index(product_id)])
    sort, down = queries.SORTS[node.order.rule]
    key = keys[sort]
    return NOT_PINNED + (bytes(255 - each for each in key) if down else key)


def refresh_cards(product_id: UUID) -> None:
    """Write a product's cards as its row says, and delete those that are elsewhere.

    Everything is derived from the row and from the positions read, so it may be done again at any time: after a crash,
    and at the same time as another save. It ends only when the row has not changed meanwhile. Raises CassandraUnavailable.
    """
    seen = None
    while (product := queries.get_product_at_quorum(product_id)) is not None and product != seen:
        _write_cards(product)
        seen = product


def card_statements(
    product: Product, tree: CategoryTree
) -> list[tuple[ListKey, BoundStatement, BoundStatement]]:
    """Return for each position of a product the writes of the position and of the card there."""
    belongs = sorted(compute_list_positions(product, tree))
    values = card_columns(product_card(product)) if belongs else {}
    rows = []
    for category_id, sort, key in belongs:
        key_columns = {
            "product_id": product.product_id,
            "category_id": category_id,
            "sort": sort,
            "sort_key": key,
        }
        rows.append(
            (
                (category_id, sort, key),
                INSERT_LIST_POSITION.bind(**key_columns),
                INSERT_CARD.bind(**key_columns, **values),
            )
        )
    return rows


def list_positions(product_id: UUID) -> set[ListKey]:
    """Return where a product's cards are, or may be. Raises CassandraUnavailable."""
    return {
        (row.category_id, row.sort, row.sort_key)
        for row in LIST_POSITIONS.all(product_id=product_id)
    }


def _write_cards(product: Product) -> None:
    reading = LIST_POSITIONS.start(product_id=product.product_id)
    belongs = compute_list_positions(
        product, queries.get_category_tree_with(*product.all_category_ids)
    )
    found = {(row.category_id, row.sort, row.sort_key) for row in reading.rows()}
    values = card_columns(product_card(product)) if belongs else {}
    wait_for_all(
        [
            INSERT_LIST_POSITION.start(
                product_id=product.product_id, category_id=category_id, sort=sort, sort_key=key
            )
            for category_id, sort, key in belongs - found
        ]
    )
    wait_for_all(
        [
            INSERT_CARD.start(
                product_id=product.product_id,
                category_id=category_id,
                sort=sort,
                sort_key=key,
                **values,
            )
            for category_id, sort, key in belongs
        ]
    )
    outdated = [
        {
            "product_id": product.product_id,
            "category_id": category_id,
            "sort": sort,
            "sort_key": key,
        }
        for category_id, sort, key in found - belongs
    ]
    # A position is recorded for as long as a card may be there.
    wait_for_all([DELETE_CARD.start(**each) for each in outdated])
    wait_for_all([DELETE_LIST_POSITION.start(**each) for each in outdated])

"""Write a product's cards in the lists of its categories."""

from collections.abc import Iterator, Mapping, Set
from itertools import islice
from typing import Any
from uuid import UUID

from cassandra.query import BoundStatement

from cassandra_db import LOCAL_QUORUM, Row, current_time, read, scan, wait_for_all, write
from catalogue import queries
from catalogue.card_rows import card_columns
from catalogue.entities import CategoryNode, CategoryTree, Product, ProductCard
from catalogue.queries import product_card
from catalogue.words import fold_text
from jobs.rows import guard_row
from pricing.money import to_minor_units

LIST_PLACES = read(
    "Q2", "SELECT DISTINCT product_id, list_places FROM products WHERE product_id = :product_id"
)
ADD_LIST_PLACES = write(
    "Q2", "UPDATE products SET list_places = list_places + :places WHERE product_id = :product_id"
)
REMOVE_LIST_PLACES = write(
    "Q2", "UPDATE products SET list_places = list_places - :places WHERE product_id = :product_id"
)
# The places as 0.1.0 recorded them.
FORMER_PLACES = read(
    "Q2",
    "SELECT category_id, sort, sort_key FROM list_positions_by_product WHERE product_id = :product_id",
)
DELETE_FORMER_PLACE = write(
    "Q2",
    """DELETE FROM list_positions_by_product WHERE product_id = :product_id AND category_id = :category_id AND sort = :sort
       AND sort_key = :sort_key""",
)
LISTED_PRODUCTS = scan(
    "Q2",
    """SELECT DISTINCT product_id, list_places FROM products WHERE token(product_id) > :start AND token(product_id) <= :end""",
    consistency=LOCAL_QUORUM,
)
INSERT_CARD = write(
    "Q2",
    """INSERT INTO products_by_category (category_id, sort, sort_key, product_id, name, slug, brand, picture, swatches,
       variant_count, price, price_varies, compare_at, currency, rating, rating_count, popularity, bestseller, availability, unit_price, unit, created_at)
       VALUES (:category_id, :sort, :sort_key, :product_id, :name, :slug, :brand, :picture, :swatches, :variant_count,
       :price, :price_varies, :compare_at, :currency, :rating, :rating_count, :popularity, :bestseller, :availability, :unit_price, :unit, :created_at)""",
)
DELETE_CARD = write(
    "Q2",
    """DELETE FROM products_by_category WHERE category_id = :category_id AND sort = :sort AND sort_key = :sort_key
       AND product_id = :product_id""",
)
ListKey = tuple[UUID, str, bytes]


def sort_keys(card: ProductCard) -> dict[str, bytes]:
    """Return a card's sort keys, keyed by sort order. The bytes of a key sort in the order of the values."""
    return {
        "created": _sortable(round(card.created_at.timestamp() * 1000)),
        "price": _sortable(to_minor_units(card.price)),
        "name": fold_text(card.name).encode(),
        "rating": _sortable(rating_rank(card)),
        "popular": _sortable(popularity_rank(card)),
    }


def rating_rank(card: ProductCard) -> int:
    """Return a number that grows with the rating. Among equal ratings it grows with the number of reviews."""
    return round((card.rating or 0) * 10) * 10**9 + min(card.rating_count, 10**9 - 1)


def popularity_rank(card: ProductCard) -> int:
    """Return a number that grows with the popularity. Among equally popular products, newer products have a larger number."""
    return card.popularity * 10**14 + round(card.created_at.timestamp() * 1000)


def _sortable(number: int) -> bytes:
    # Bytes are compared as unsigned numbers: with its sign bit flipped, a signed number sorts correctly.
    return (number + (1 << 63)).to_bytes(8, "big")


def compute_list_positions(product: Product, tree: CategoryTree) -> set[ListKey]:
    """Return the places of a product's cards: in each sort order, for its categories and all categories above them."""
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
    """Return a card's key in a category's list that begins with the pinned products. `keys` is the result of `sort_keys`.

    The list is read in ascending order, so keys are inverted where the category's rule is descending.
    """
    pinned_ids = node.order.pinned_ids
    if product_id in pinned_ids:
        return PINNED + bytes([pinned_ids.index(product_id)])
    sort, down = queries.SORTS[node.order.rule]
    key = keys[sort]
    return NOT_PINNED + (bytes(255 - each for each in key) if down else key)


def refresh_cards(product_id: UUID) -> None:
    """Write a product's cards by its row, and delete its cards in all other places.

    The cards are derived from the product's row and the recorded places. The call may be repeated at any time, also during
    another save. The function repeats its work until the row no longer changes. Raises CassandraUnavailable.
    """
    seen = None
    written = set[ListKey]()
    while (product := queries.get_product_at_quorum(product_id)) is not None and product != seen:
        written |= _write_cards(product, written)
        seen = product


def repair_unrecorded_card(product_id: UUID, place: ListKey) -> None:
    """Delete a card whose place its product has not recorded, or record its place if it belongs there. Raises CassandraUnavailable."""
    if queries.get_product_at_quorum(product_id) is None:
        DELETE_CARD.run(**_key_columns(product_id, place))
        return
    # A save that is under way may write the card: `refresh_cards` deletes it only if it does not belong there.
    ADD_LIST_PLACES.run(product_id=product_id, places={place})
    refresh_cards(product_id)


def _key_columns(product_id: UUID, place: ListKey) -> dict[str, Any]:
    category_id, sort, key = place
    return {"product_id": product_id, "category_id": category_id, "sort": sort, "sort_key": key}


def card_statements(product: Product, tree: CategoryTree) -> list[tuple[ListKey, BoundStatement]]:
    """Return each place of a product with the write of its card, sorted by place. `ADD_LIST_PLACES` writes the places."""
    belongs = sorted(compute_list_positions(product, tree))
    values = card_columns(product_card(product)) if belongs else {}
    return [
        (place, INSERT_CARD.bind(**_key_columns(product.product_id, place), **values))
        for place in belongs
    ]


def list_positions(product_id: UUID) -> set[ListKey]:
    """Return the places where a product has cards, or may have them. Raises CassandraUnavailable."""
    reading = LIST_PLACES.start(product_id=product_id)
    former = FORMER_PLACES.all(product_id=product_id)
    return stored_places(reading.one()) | {tuple(row) for row in former}


def stored_places(row: Row | None) -> set[ListKey]:
    """Return the places that a product has recorded, from its row of `LIST_PLACES`."""
    return set(row.list_places or ()) if row else set()


def _write_cards(product: Product, written: Set[ListKey]) -> set[ListKey]:
    """Write a product's cards and delete those in other places; return the places of the cards.

    `written` are the places where this call of `refresh_cards` has written cards before. Another save may have removed these
    places from the product before the cards were written.
    """
    product_id = product.product_id
    reading = LIST_PLACES.start(product_id=product_id)
    reading_former = FORMER_PLACES.start(product_id=product_id)
    belongs = compute_list_positions(
        product, queries.get_category_tree_with(*product.all_category_ids)
    )
    found = stored_places(reading.one()) | written
    former: set[ListKey] = {tuple(row) for row in reading_former.rows()}
    values = card_columns(product_card(product)) if belongs else {}
    if belongs:
        # Also the places that were found: another save may be about to remove them.
        ADD_LIST_PLACES.run(product_id=product_id, places=belongs)
    present = [_key_columns(product_id, each) for each in belongs]
    wait_for_all([INSERT_CARD.start(**each, **values) for each in present])
    # The place of a card is recorded as long as the card may be there.
    outdated = (found | former) - belongs
    wait_for_all([DELETE_CARD.start(**_key_columns(product_id, each)) for each in outdated])
    if gone := found - belongs:
        REMOVE_LIST_PLACES.run(product_id=product_id, places=gone)
    # Only the rows that were read: a process of 0.1.0 may have added others since.
    wait_for_all([DELETE_FORMER_PLACE.start(**_key_columns(product_id, each)) for each in former])
    return belongs


# The parts of the table of products in which places are moved, and the number of products that are read together.
MOVE_PARTS, _MOVED_TOGETHER = 256, 50


def move_list_places(position: str) -> Iterator[tuple[str, str]]:
    """Write the cards of all products that 0.1.0 may have left wrong, part by part. See `Backfill.run`. Raises CassandraUnavailable.

    These are the products whose places 0.1.0 has recorded, and those that have places where they do not belong: 0.1.0 does not
    delete cards whose places this version has recorded.
    """
    moved = 0
    for part in range(int(position or 0), MOVE_PARTS):
        rows = LISTED_PRODUCTS.iterate_part(part, MOVE_PARTS)
        while some := list(islice(rows, _MOVED_TOGETHER)):
            former = {
                row.product_id: FORMER_PLACES.start(product_id=row.product_id) for row in some
            }
            products = queries.get_products_at_quorum(former, queries.guard_product)
            for row in some:
                product_id = row.product_id
                with guard_row(f"list places of product {product_id}"):
                    is_former = bool(former[product_id].rows())
                    if is_former or _is_elsewhere(row, products.get(product_id)):
                        refresh_cards(product_id)
                        moved += 1
        yield str(part + 1), f"{moved} products, {part + 1} of {MOVE_PARTS} parts"


def _is_elsewhere(row: Row, product: Product | None) -> bool:
    """Return whether a row of `LISTED_PRODUCTS` has places where its product does not belong."""
    if product is None:
        return False
    tree = queries.get_category_tree_with(*product.all_category_ids)
    return not stored_places(row) <= compute_list_positions(product, tree)

"""Every command on the catalogue, and every write to its tables."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from cassandra.query import BoundStatement
from cassandra.util import uuid_from_time

from cassandra_db import (
    PendingResult,
    Row,
    applied_if,
    conditional_write,
    current_microseconds,
    current_time,
    read,
    scan,
    write,
    write_batch,
)
from catalogue import queries
from catalogue.entities import CategoryNode, CategoryTree, Product, ProductCard, Variant
from catalogue.errors import CategoryRefused, ProductRefused, SkuTaken, SlugTaken
from catalogue.queries import CHANGE_SHARDS, SHOP_TREE, product_card
from catalogue.words import fold_text, name_prefixes
from pricing.money import to_minor_units

MAX_VARIANTS = 200
MAX_CATEGORIES = 2000
MAX_DEPTH = 3
FEATURED_LENGTH = 24
RELATED_LENGTH = 12
PREFIX_LENGTH = 50
FEATURE_TYPES = ("featured", "deals", "new_arrivals")
AVAILABILITIES = ("in", "few", "ahead", "out")

_SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_SKU = re.compile(r"[A-Z0-9]+(?:[-._][A-Z0-9]+)*")

# ---- Categories

INSERT_CATEGORY = write(
    "Q2",
    """INSERT INTO categories (tree, category_id, slug, name, parent_id, position, description, picture)
       VALUES (:tree, :category_id, :slug, :name, :parent_id, :position, :description, :picture)""",
)


def save_category(
    *,
    category_id: UUID,
    slug: str,
    name: str,
    parent_id: UUID | None = None,
    position: int = 0,
    description: str = "",
    picture: str = "",
) -> CategoryNode:
    """Add a category to the tree, or change one; other processes see it within 30 seconds.

    Raises CategoryRefused for a bad or taken slug, an unknown parent, a fourth level or too many categories.
    """
    tree = queries.get_category_tree_at_quorum()
    if not _SLUG.fullmatch(slug) or not name.strip():
        raise CategoryRefused(f"{slug!r} is no address, or the name is missing")
    if (other := tree.by_slug.get(slug)) and other.category_id != category_id:
        raise CategoryRefused(f"the address {slug!r} belongs to {other.name}")
    parent = tree.by_id.get(parent_id) if parent_id else None
    if parent_id and parent is None:
        raise CategoryRefused(f"{name}: there is no parent {parent_id}")
    if parent and (
        parent.depth >= MAX_DEPTH
        or any(each.category_id == category_id for each in _category_path(parent))
    ):
        raise CategoryRefused(f"{name}: the tree has {MAX_DEPTH} levels, and no circles")
    if category_id not in tree.by_id and len(tree.by_id) >= MAX_CATEGORIES:
        raise CategoryRefused(f"there are {MAX_CATEGORIES} categories already")
    INSERT_CATEGORY.run(
        tree=SHOP_TREE,
        category_id=category_id,
        slug=slug,
        name=name,
        parent_id=parent_id,
        position=position,
        description=description,
        picture=picture,
    )
    queries.clear_category_cache()
    return queries.get_category_tree_at_quorum().by_id[category_id]


def _category_path(node: CategoryNode) -> list[CategoryNode]:
    """A category and all above it."""
    return [*node.ancestors, node]


# ---- Products

CLAIM_SLUG = conditional_write(
    "Q1",
    "INSERT INTO product_ids_by_slug (slug, product_id) VALUES (:slug, :product_id) IF NOT EXISTS",
)
CLAIM_SKU = conditional_write(
    "Q1",
    """INSERT INTO variants_by_sku (sku, product_id, variant_id) VALUES (:sku, :product_id, :variant_id)
       IF NOT EXISTS""",
)
INSERT_PRODUCT = write(
    "Q1",
    """INSERT INTO products (product_id, name, slug, brand, description, details, category_id, option_names, tax_class,
       currency, status, featured, created_at, updated_at)
       VALUES (:product_id, :name, :slug, :brand, :description, :details, :category_id, :option_names, :tax_class,
       :currency, :status, :featured, :created_at, :updated_at)""",
)
INSERT_VARIANT = write(
    "Q1",
    """INSERT INTO products (product_id, variant_id, sku, position, options, price, compare_at, picture, weight_grams,
       sold) VALUES (:product_id, :variant_id, :sku, :position, :options, :price, :compare_at, :picture,
       :weight_grams, :sold)""",
)
UPDATE_AVAILABILITY = write(
    "Q1", "UPDATE products SET availability = :word WHERE product_id = :product_id"
)
INSERT_CHANGE = write(
    "Q3",
    "INSERT INTO product_changes (day, shard, changed, product_id) VALUES (:day, :shard, :changed, :product_id)",
)


def save_product(product: Product, now: datetime) -> Product:
    """Add a product or change it, with its claims and its cards in every list.

    A variant that was there before and is not in `product.variants` stays as no longer sold. The first save sets
    `created_at` to `now` (UTC) unless it is given. A former slug still leads here. Raises ProductRefused, SlugTaken,
    SkuTaken, CassandraUnavailable; done again after a failure, it finishes what was begun.
    """
    _check(product)
    before = queries.get_product_at_quorum(product.product_id)
    claim_names(product)
    left_out = _left_out_variants(product, before)
    saved = replace(
        product,
        variants=(
            *(replace(variant, position=i) for i, variant in enumerate(product.variants)),
            *left_out,
        ),
        created_at=product.created_at or (before.created_at if before else now),
        updated_at=now,
        availability=before.availability if before else "out",
    )
    # First, so that a crash on the way leaves a record; last, so that what is derived sees what was written.
    record_product_change(product.product_id, current_time())
    write_batch(product_statements(saved))
    refresh_cards(product.product_id)
    if before and before.name != saved.name:
        refresh_prefixes(saved, [before.name])
    record_product_change(product.product_id, current_time())
    return saved


def _check(product: Product) -> None:
    variants = product.variants
    if not 1 <= len(variants) <= MAX_VARIANTS:
        raise ProductRefused(
            f"{product.name} has {len(variants)} variants; 1 to {MAX_VARIANTS} are possible"
        )
    if not _SLUG.fullmatch(product.slug) or not product.name.strip():
        raise ProductRefused(f"{product.slug!r} is no address, or the name is missing")
    if queries.get_category(product.category_id) is None:
        raise ProductRefused(f"{product.name}: there is no category {product.category_id}")
    if len({variant.sku for variant in variants}) < len(variants) or len(
        {variant.variant_id for variant in variants}
    ) < len(variants):
        raise ProductRefused(f"{product.name} names a variant twice")
    if len({variant.price.currency for variant in variants}) > 1:
        raise ProductRefused(f"{product.name} mixes currencies")
    for variant in variants:
        if not _SKU.fullmatch(variant.sku):
            raise ProductRefused(
                f"{variant.sku!r} is no SKU: capitals, digits and single dashes are"
            )
        if variant.price.amount <= 0 or (
            variant.compare_at and variant.compare_at <= variant.price
        ):
            raise ProductRefused(
                f"{variant.sku}: a price is above 0, and what is crossed out is above the price"
            )
        if set(variant.options) != set(product.option_names):
            raise ProductRefused(
                f"{variant.sku} must choose {', '.join(product.option_names) or 'nothing'}"
            )


def claim_names(product: Product) -> None:
    """Claim the slug and the SKUs, those that this product does not have yet."""
    skus = {
        variant.sku: (variant, queries.prefetch_variant_by_sku(variant.sku))
        for variant in product.variants
    }
    if queries.find_product_id_by_slug(product.slug) != product.product_id:
        _claim_slug(product)
    for variant, reading in skus.values():
        existing = reading.one()
        if existing is None or existing.variant_id != variant.variant_id:
            _claim_sku(product, variant)


def _claim_slug(product: Product) -> None:
    def mine(row: Row) -> bool:
        return bool(row.product_id == product.product_id)

    outcome = CLAIM_SLUG.apply(
        if_lost=applied_if(mine), slug=product.slug, product_id=product.product_id
    )
    if not outcome and not (outcome.current and mine(outcome.current)):
        raise SlugTaken(f"the address {product.slug!r} belongs to another product")


def _claim_sku(product: Product, variant: Variant) -> None:
    def mine(row: Row) -> bool:
        return bool(row.variant_id == variant.variant_id and row.product_id == product.product_id)

    outcome = CLAIM_SKU.apply(
        if_lost=applied_if(mine),
        sku=variant.sku,
        product_id=product.product_id,
        variant_id=variant.variant_id,
    )
    if not outcome and not (outcome.current and mine(outcome.current)):
        raise SkuTaken(f"the SKU {variant.sku} belongs to another variant")


def _left_out_variants(product: Product, before: Product | None) -> Iterator[Variant]:
    present = {variant.variant_id for variant in product.variants}
    for position, variant in enumerate(
        before.variants if before else (), start=len(product.variants)
    ):
        if variant.variant_id not in present:
            yield replace(variant, sold=False, position=position)


def product_statements(product: Product) -> list[BoundStatement]:
    """Return the writes that make up a product's partition, without its availability."""
    currency = product.variants[0].price.currency.code
    head = INSERT_PRODUCT.bind(
        product_id=product.product_id,
        name=product.name,
        slug=product.slug,
        brand=product.brand,
        description=product.description,
        details=json.dumps(product.details, ensure_ascii=False),
        category_id=product.category_id,
        option_names=list(product.option_names),
        tax_class=product.tax_class,
        currency=currency,
        status=product.status,
        featured=product.featured,
        created_at=product.created_at,
        updated_at=product.updated_at,
    )
    rows = (
        INSERT_VARIANT.bind(
            product_id=product.product_id,
            variant_id=variant.variant_id,
            sku=variant.sku,
            position=variant.position,
            options=variant.options,
            price=to_minor_units(variant.price),
            compare_at=to_minor_units(variant.compare_at) if variant.compare_at else None,
            picture=variant.picture,
            weight_grams=variant.weight_grams,
            sold=variant.sold,
        )
        for variant in product.variants
    )
    return [head, *rows]


def record_product_change(product_id: UUID, now: datetime) -> None:
    """Record that a product has changed, for the index and the lists that jobs make."""
    INSERT_CHANGE.run(
        day=now.astimezone(UTC).date(),
        shard=product_id.int % CHANGE_SHARDS,
        changed=uuid_from_time(now),
        product_id=product_id,
    )


def set_availability(product_id: UUID, availability: str) -> None:
    """Set a product's availability, on every card: `in` stock, `few` left, sold `ahead` (backorder), or `out`.

    Raises ValueError for another value, CassandraUnavailable.
    """
    if availability not in AVAILABILITIES:
        raise ValueError(f"{availability!r} is none of {AVAILABILITIES}")
    record_product_change(product_id, current_time())
    UPDATE_AVAILABILITY.run(product_id=product_id, word=availability)
    refresh_cards(product_id)
    record_product_change(product_id, current_time())


# ---- Cards

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
       variant_count, price, price_varies, compare_at, currency, rating, rating_count, availability, created_at)
       VALUES (:category_id, :sort, :sort_key, :product_id, :name, :slug, :brand, :picture, :swatches, :variant_count,
       :price, :price_varies, :compare_at, :currency, :rating, :rating_count, :availability, :created_at)""",
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
    }


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
        "availability": card.availability,
        "created_at": card.created_at,
    }


def compute_list_positions(product: Product, tree: CategoryTree) -> set[ListKey]:
    """Return where a product's cards belong: its category and all above it, in every sort."""
    node = tree.by_id.get(product.category_id)
    if node is None or not product.is_active:
        return set()
    keys = sort_keys(product_card(product))
    return {
        (each.category_id, sort, key) for each in _category_path(node) for sort, key in keys.items()
    }


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
    values = card_columns(product_card(product)) if product.is_active else {}
    rows = []
    for category_id, sort, key in sorted(compute_list_positions(product, tree)):
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
    belongs = compute_list_positions(product, queries.get_category_tree_with(product.category_id))
    found = {(row.category_id, row.sort, row.sort_key) for row in reading.rows()}
    values = card_columns(product_card(product)) if belongs else {}
    _wait_for_all(
        [
            INSERT_LIST_POSITION.start(
                product_id=product.product_id, category_id=category_id, sort=sort, sort_key=key
            )
            for category_id, sort, key in belongs - found
        ]
    )
    _wait_for_all(
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
    _wait_for_all([DELETE_CARD.start(**each) for each in outdated])
    _wait_for_all([DELETE_LIST_POSITION.start(**each) for each in outdated])


def _wait_for_all(under_way: Iterable[PendingResult]) -> None:
    for pending in under_way:
        pending.rows()


# ---- The front page's rows

INSERT_FEATURED = write(
    "Q4",
    """INSERT INTO featured_products (feature_type, position, product_id, name, slug, brand, picture, swatches,
       variant_count, price, price_varies, compare_at, currency, rating, rating_count, availability, created_at)
       VALUES (:feature_type, :position, :product_id, :name, :slug, :brand, :picture, :swatches, :variant_count,
       :price, :price_varies, :compare_at, :currency, :rating, :rating_count, :availability, :created_at)""",
)
DELETE_FEATURED = write(
    "Q4",
    "DELETE FROM featured_products WHERE feature_type = :feature_type AND position >= :position",
)
# One card alone; DELETE_FEATURED takes all that come after it, too.
DELETE_FEATURED_CARD = write(
    "Q4",
    "DELETE FROM featured_products WHERE feature_type = :feature_type AND position = :position",
)


def rebuild_featured(candidates: Iterable[Product]) -> int:
    """Choose the front page's rows from the products given, and return how many cards they have.

    Deals are the largest discounts, the others the newest first; what is sold out is left out.
    """
    rows: dict[str, list[ProductCard]] = {feature_type: [] for feature_type in FEATURE_TYPES}
    for product in candidates:
        if not product.is_active or product.availability == "out":
            continue
        card = product_card(product)
        rows["new_arrivals"].append(card)
        if product.featured:
            rows["featured"].append(card)
        if card.compare_at:
            rows["deals"].append(card)
        for feature_type, chosen in rows.items():
            if len(chosen) > 20 * FEATURED_LENGTH:
                chosen[:] = _best_cards(feature_type, chosen)
    rows = {
        feature_type: _best_cards(feature_type, chosen) for feature_type, chosen in rows.items()
    }
    for feature_type, chosen in rows.items():
        inserts = [
            INSERT_FEATURED.bind(
                feature_type=feature_type,
                position=position,
                product_id=card.product_id,
                **card_columns(card),
            )
            for position, card in enumerate(chosen)
        ]
        write_batch(
            [*inserts, DELETE_FEATURED.bind(feature_type=feature_type, position=len(chosen))]
        )
    return sum(len(chosen) for chosen in rows.values())


def _best_cards(feature_type: str, cards: Sequence[ProductCard]) -> list[ProductCard]:
    newest = sorted(cards, key=lambda card: card.created_at, reverse=True)
    return (sorted(newest, key=_discount, reverse=True) if feature_type == "deals" else newest)[
        :FEATURED_LENGTH
    ]


def refresh_featured(changed: Iterable[Product]) -> int:
    """Choose the front page's rows anew from the present ones, what has changed and what is newest.

    It reads no more than that; `rebuild_featured` with all products also finds what was passed over earlier.
    """
    roots = queries.list_root_categories()
    reading = [queries.prefetch_featured(feature_type) for feature_type in FEATURE_TYPES]
    newest = [
        queries.get_category_page(root.category_id, "newest", limit=FEATURED_LENGTH)
        for root in roots
    ]
    present = [row.product_id for pending in reading for row in pending.rows()]
    wanted = dict.fromkeys([*present, *(card.product_id for part in newest for card in part.cards)])
    fresh = {product.product_id: product for product in changed}
    fresh |= queries.get_products_at_quorum(
        product_id for product_id in wanted if product_id not in fresh
    )
    return rebuild_featured(fresh.values())


def _discount(card: ProductCard) -> float:
    return 1 - float(card.price.amount / card.compare_at.amount) if card.compare_at else 0.0


# ---- Related products

INSERT_RELATED = write(
    "Q5",
    """INSERT INTO related_products (product_id, rank, related_id, pinned, name, slug, brand, picture, swatches,
       variant_count, price, price_varies, compare_at, currency, rating, rating_count, availability, created_at)
       VALUES (:product_id, :rank, :related_id, :pinned, :name, :slug, :brand, :picture, :swatches, :variant_count,
       :price, :price_varies, :compare_at, :currency, :rating, :rating_count, :availability, :created_at)""",
)
DELETE_RELATED = write(
    "Q5", "DELETE FROM related_products WHERE product_id = :product_id AND rank >= :rank"
)
DELETE_RELATED_CARD = write(
    "Q5", "DELETE FROM related_products WHERE product_id = :product_id AND rank = :rank"
)


@dataclass(frozen=True, slots=True)
class RelatedCard:
    """A card on another product's related list, and whether the staff pinned it there."""

    card: ProductCard
    pinned: bool


def pin_related(product_id: UUID, pinned: Sequence[UUID]) -> None:
    """Put products that the staff chose first on a product's related list."""
    found = queries.get_products_at_quorum([product_id, *pinned])
    chosen = [found[each] for each in pinned if each in found and each != product_id]
    others = [each for each in list_related_with_pins(product_id) if not each.pinned]
    _write_related(
        product_id,
        [
            *(RelatedCard(product_card(each), pinned=True) for each in chosen if each.is_active),
            *others,
        ],
    )


def list_related_with_pins(product_id: UUID) -> list[RelatedCard]:
    """Return a product's related list as it is now."""
    return [
        RelatedCard(queries.card_from_row(row), bool(row.pinned))
        for row in queries.prefetch_related(product_id).rows()
    ]


def rebuild_related(
    products: Iterable[Product], recommendations: Mapping[UUID, Sequence[UUID]]
) -> int:
    """Rebuild the related list of each of the products, and return of how many.

    First what the staff pinned, then what was bought together with it (`recommendations`: product -> others, the most
    often first), then its neighbours in the category. `products` is iterated once, their cards are held in memory.
    """
    cards_by_category: dict[UUID, list[ProductCard]] = {}
    for product in products:
        if product.is_active:
            cards_by_category.setdefault(product.category_id, []).append(product_card(product))
    known = {card.product_id: card for cards in cards_by_category.values() for card in cards}
    for category_cards in cards_by_category.values():
        for start in range(0, len(category_cards), RELATED_AT_ONCE):
            part = category_cards[start : start + RELATED_AT_ONCE]
            reading = [queries.prefetch_related(card.product_id) for card in part]
            for index, pending in enumerate(reading, start):
                pinned = [row.product_id for row in pending.rows() if row.pinned]
                card = category_cards[index]
                wanted = dict.fromkeys(
                    [
                        *pinned,
                        *recommendations.get(card.product_id, ()),
                        *_neighbours(category_cards, index),
                    ],
                    False,
                ) | dict.fromkeys(pinned, True)
                wanted.pop(card.product_id, None)
                chosen = [
                    RelatedCard(known[each], is_pinned)
                    for each, is_pinned in wanted.items()
                    if each in known
                ]
                _write_related(card.product_id, chosen)
    return len(known)


def _neighbours(category_cards: Sequence[ProductCard], index: int) -> Iterator[UUID]:
    """Yield the next products in the category, and after its end the first."""
    for step in range(1, min(RELATED_LENGTH + 1, len(category_cards))):
        yield category_cards[(index + step) % len(category_cards)].product_id


RELATED_AT_ONCE = 32


def _write_related(product_id: UUID, chosen: Sequence[RelatedCard]) -> None:
    best = chosen[:RELATED_LENGTH]
    write_batch(
        [
            *related_statements(product_id, best),
            DELETE_RELATED.bind(product_id=product_id, rank=len(best)),
        ]
    )


def related_statements(product_id: UUID, chosen: Sequence[RelatedCard]) -> list[BoundStatement]:
    """Return the writes that put cards on a product's related list, in this order."""
    return [
        INSERT_RELATED.bind(
            product_id=product_id,
            rank=rank,
            related_id=each.card.product_id,
            pinned=each.pinned,
            **card_columns(each.card),
        )
        for rank, each in enumerate(chosen)
    ]


def refresh_related(product: Product) -> None:
    """Update a changed product's card on the related lists of the products that are on its own list.

    Products are mostly related both ways; the rest follows when all are rebuilt.
    """
    card = product_card(product) if product.is_active else None
    for related in list_related_with_pins(product.product_id):
        present = list_related_with_pins(related.card.product_id)
        fresh = [
            RelatedCard(card, each.pinned)
            if card and each.card.product_id == product.product_id
            else each
            for each in present
            if card or each.card.product_id != product.product_id
        ]
        if fresh != present:
            _write_related(related.card.product_id, fresh)


# ---- Suggestions

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
    """Return a product's rank under a prefix: early words first, then what is in stock, then the newest."""
    days = (product.created_at or current_time()).timestamp() // 86_400
    return (
        min(place, 9) * 1_000_000
        + (500_000 if product.availability == "out" else 0)
        + _LAST_DAY
        - int(days)
    )


def prefix_columns(product: Product, category_name: str) -> dict[str, Any]:
    """Return what a suggestion of the product shows."""
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
    """Rebuild the suggestions from all products of the shop, and return for how many prefixes.

    The best 50 of each prefix are stored.
    """
    tree = queries.get_category_tree()
    best: dict[str, list[tuple[int, UUID, dict[str, Any]]]] = {}
    for product in products:
        if not product.is_active:
            continue
        node = tree.by_id.get(product.category_id)
        values = prefix_columns(product, node.name if node else "")
        for prefix, place in name_prefixes(product.name).items():
            rows = best.setdefault(prefix, [])
            rows.append((prefix_rank(product, place), product.product_id, values))
            if len(rows) >= 8 * PREFIX_LENGTH:
                rows[:] = _best_suggestions(rows)
    at = current_microseconds()
    for row in PREFIXES.iterate_table():
        if row.prefix not in best:
            DELETE_PREFIX.run(prefix=row.prefix, at=at - 1)
    for prefix, rows in best.items():
        inserts = [
            INSERT_PREFIX_ROW.bind(prefix=prefix, rank=rank, at=at, **values)
            for rank, _, values in _best_suggestions(rows)
        ]
        # One microsecond before: in one batch a deletion of the same time would win over what is put in.
        write_batch([DELETE_PREFIX.bind(prefix=prefix, at=at - 1), *inserts])
    return len(best)


def _best_suggestions(
    rows: list[tuple[int, UUID, dict[str, Any]]],
) -> list[tuple[int, UUID, dict[str, Any]]]:
    return sorted(rows, key=lambda each: each[:2])[:PREFIX_LENGTH]


def refresh_prefixes(product: Product, former_names: Iterable[str] = ()) -> None:
    """Update one product's suggestions.

    `former_names` are names under which it may still be suggested. A prefix may hold a few more than 50 until all are
    rebuilt.
    """
    node = queries.get_category(product.category_id)
    belongs = name_prefixes(product.name) if product.is_active else {}
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


def list_changed_products(moment: datetime, until: datetime) -> dict[UUID, datetime]:
    """Return which products have changed after `moment`, and when last. Both are UTC.

    Changes are kept for a week. Raises CassandraUnavailable.
    """
    days = [
        (moment + timedelta(days=n)).date() for n in range((until.date() - moment.date()).days + 1)
    ]
    after = uuid_from_time(moment - timedelta(milliseconds=1))
    reading = [
        queries.CHANGES.start(day=day, shard=shard, after=after)
        for day in days
        for shard in range(CHANGE_SHARDS)
    ]
    found: dict[UUID, datetime] = {}
    for pending in reading:
        for row in pending.rows():
            at = datetime.fromtimestamp((row.changed.time - 0x01B21DD213814000) / 1e7, UTC)
            found[row.product_id] = max(at, found.get(row.product_id, at))
    return found

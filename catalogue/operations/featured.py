"""The rows of the front page."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from uuid import UUID, uuid4

from django.utils.translation import gettext as _

from cassandra_db import Row, applied_if, conditional_write, current_time, write, write_batch
from catalogue import queries
from catalogue.card_rows import card_columns
from catalogue.entities import Product, ProductCard
from catalogue.errors import ProductRefused
from catalogue.operations.cards import popularity_rank
from catalogue.operations.product_changes import record_product_change
from catalogue.queries import product_card
from catalogue.rules import MAX_ATTEMPTS
from jobs.rows import guard_row

FEATURED_LENGTH = 24
FEATURE_TYPES = ("featured", "deals", "new_arrivals", "popular")
INSERT_FEATURED = write(
    "Q4",
    """INSERT INTO featured_products (feature_type, position, product_id, name, slug, brand, picture, swatches,
       variant_count, price, price_varies, compare_at, currency, rating, rating_count, popularity, bestseller, availability, unit_price, unit, created_at)
       VALUES (:feature_type, :position, :product_id, :name, :slug, :brand, :picture, :swatches, :variant_count,
       :price, :price_varies, :compare_at, :currency, :rating, :rating_count, :popularity, :bestseller, :availability, :unit_price, :unit, :created_at)""",
)
DELETE_FEATURED = write(
    "Q4",
    "DELETE FROM featured_products WHERE feature_type = :feature_type AND position >= :position",
)
# Deletes one card; DELETE_FEATURED also deletes all cards after it.
DELETE_FEATURED_CARD = write(
    "Q4",
    "DELETE FROM featured_products WHERE feature_type = :feature_type AND position = :position",
)
# The version is null in a front page row where nothing was pinned yet.
UPDATE_PINS = conditional_write(
    "Q4",
    """UPDATE front_page_pins SET version = :version, save_id = :save_id, product_ids = :product_ids, changed_at = :changed_at
       WHERE feature_type = :feature_type IF version = :seen AND save_id != :save_id""",
)
Pins = Mapping[str, Sequence[UUID]]


def pin_on_front_page(
    feature_type: str, change: Callable[[tuple[UUID, ...]], tuple[UUID, ...]]
) -> tuple[UUID, ...]:
    """Apply `change` to the pinned products of a front page row; store and return the result. Try again after a conflict.

    The worker rebuilds the row within seconds. Raises ProductRefused, CassandraUnavailable, and errors of `change`.
    """
    for _try in range(MAX_ATTEMPTS):
        row = queries.FRONT_PAGE_PINS.one(feature_type=feature_type)
        present = tuple(row.product_ids or ()) if row else ()
        product_ids = change(present)
        if product_ids == present:
            return present
        if len(product_ids) > FEATURED_LENGTH:
            raise ProductRefused(
                _("At most %(most)d products can be pinned.") % {"most": FEATURED_LENGTH}
            )
        # Recorded before the write, so that the worker rebuilds the row even after a crash; and after it, so that the worker sees
        # the pins.
        changed_id = (*product_ids, *present)[0]
        record_product_change(changed_id, current_time())
        if _apply_pins(feature_type, product_ids, row):
            record_product_change(changed_id, current_time())
            return product_ids
    raise ProductRefused(_("Someone else is changing this row. Try again."))


def _apply_pins(feature_type: str, product_ids: Sequence[UUID], seen: Row | None) -> bool:
    save_id, version = uuid4(), seen.version if seen else None
    outcome = UPDATE_PINS.apply(
        if_lost=applied_if(lambda row: bool(row.save_id == save_id)),
        feature_type=feature_type,
        version=(version or 0) + 1,
        save_id=save_id,
        product_ids=list(product_ids),
        changed_at=current_time(),
        seen=version,
    )
    return outcome.applied


def rebuild_featured(candidates: Iterable[Product]) -> int:
    """Choose the front page's cards from these products, and return their number.

    Pinned products come first, then the largest discounts (deals), the most popular (popular) or the newest products (other
    rows). Left out are products that are sold out, products without a reduction in "deals", and unpopular products in "popular".
    """
    chosen = _choose_cards(candidates, queries.get_front_page_pins(FEATURE_TYPES))
    # Reading all products takes a while, so the pinned products, and the products of the cards, are read once more.
    pins = queries.get_front_page_pins(FEATURE_TYPES)
    pinned = [product_id for each in pins.values() for product_id in each]
    listed = [card.product_id for cards in chosen.values() for card in cards]
    fresh = queries.get_products_at_quorum((*pinned, *listed), queries.guard_product)
    return _write_rows(fresh.values(), pins)


def can_be_shown(feature_type: str, product: Product, now: datetime) -> bool:
    """Return whether a front page row shows a pinned product: it must be on sale, not sold out, and reduced if the row is "deals"."""
    is_sold = product.is_on_sale(now) and product.availability != "out"
    return is_sold and (feature_type != "deals" or product_card(product).compare_at is not None)


def _choose_cards(candidates: Iterable[Product], pins: Pins) -> dict[str, list[ProductCard]]:
    rows: dict[str, list[ProductCard]] = {feature_type: [] for feature_type in FEATURE_TYPES}
    for product in candidates:
        with guard_row(f"front page card of product {product.product_id}"):
            for feature_type, chosen in rows.items():
                is_chosen = product.product_id in pins[feature_type] or _is_candidate(
                    feature_type, product
                )
                if is_chosen and can_be_shown(feature_type, product, current_time()):
                    chosen.append(product_card(product))
                if len(chosen) > 20 * FEATURED_LENGTH:
                    chosen[:] = _best_cards(feature_type, chosen, pins)
    return {
        feature_type: _best_cards(feature_type, chosen, pins)
        for feature_type, chosen in rows.items()
    }


def _is_candidate(feature_type: str, product: Product) -> bool:
    """Return whether a product that is not pinned may fill up a front page row."""
    if feature_type == "featured":
        return product.featured
    return feature_type != "popular" or bool(product.popularity)


def _write_rows(candidates: Iterable[Product], pins: Pins) -> int:
    rows = _choose_cards(candidates, pins)
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
        delete = DELETE_FEATURED.bind(feature_type=feature_type, position=len(chosen))
        write_batch([*inserts, delete])
    return sum(len(chosen) for chosen in rows.values())


def _best_cards(feature_type: str, cards: Sequence[ProductCard], pins: Pins) -> list[ProductCard]:
    places = {product_id: place for place, product_id in enumerate(pins[feature_type])}
    ranked = sorted(cards, key=lambda card: card.created_at, reverse=True)
    if feature_type == "deals":
        ranked.sort(key=lambda card: card.discount, reverse=True)
    if feature_type == "popular":
        ranked.sort(key=popularity_rank, reverse=True)
    ranked.sort(key=lambda card: places.get(card.product_id, len(places)))
    return ranked[:FEATURED_LENGTH]


def refresh_featured(changed: Iterable[Product]) -> int:
    """Choose the front page's cards from present, pinned, changed and newest products; return their number.

    `rebuild_featured` with all products also finds products that were passed over earlier.
    """
    roots = queries.list_root_categories()
    reading = [queries.prefetch_featured(feature_type) for feature_type in FEATURE_TYPES]
    newest = [
        queries.get_category_page(root.category_id, "newest", limit=FEATURED_LENGTH)
        for root in roots
    ]
    pins = queries.get_front_page_pins(FEATURE_TYPES)
    present = [row.product_id for pending in reading for row in pending.rows()]
    pinned = [product_id for each in pins.values() for product_id in each]
    listed = [card.product_id for part in newest for card in part.cards]
    fresh = {product.product_id: product for product in changed}
    others = [each for each in (*present, *pinned, *listed) if each not in fresh]
    fresh |= queries.get_products_at_quorum(others, queries.guard_product)
    return _write_rows(fresh.values(), pins)

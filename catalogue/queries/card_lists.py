"""Read lists of cards: the lists of categories, of the front page and of related products."""

from collections.abc import Callable, Iterable
from datetime import datetime
from uuid import UUID

from django.utils.translation import gettext_lazy as _

from cassandra_db import (
    LOCAL_ONE,
    LOCAL_QUORUM,
    PendingResult,
    Row,
    current_time,
    page_key,
    page_token,
    read,
)
from catalogue.card_rows import RelatedCard, card_from_row, parse_related
from catalogue.entities import CardPage, CategoryNode, Product, ProductCard
from catalogue.photos import parse_photo
from catalogue.product_rows import product_from_rows
from catalogue.queries.products import get_products, leave_out, prefetch_product
from catalogue.queries.suggestions import list_suggestions
from catalogue.unit_prices import compute_unit_price
from web.types import StrOrPromise

PAGE_LENGTH = 16
# The sort orders of a list, keyed by their names in web addresses: the stored sort, and whether it is read backwards.
SORTS = {
    "newest": ("created", True),
    "price": ("price", False),
    "price-down": ("price", True),
    "name": ("name", False),
    "popular": ("popular", True),
    "rating": ("rating", True),
}
# The sort order of a category's list that begins with pinned products (CategoryNode.has_featured_list).
FEATURED_SORT = "featured"
SORT_LABELS = (
    ("newest", _("Newest first")),
    ("price", _("Price: low to high")),
    ("price-down", _("Price: high to low")),
    ("name", _("Name: A to Z")),
    ("popular", _("Most popular")),
    ("rating", _("Best rated")),
)
# Q2: a category's products in one sort order, forwards or backwards.
CARDS = read(
    "Q2",
    """SELECT sort_key, product_id, name, slug, brand, picture, swatches, variant_count, price, price_varies, compare_at,
       currency, rating, rating_count, popularity, bestseller, availability, unit_price, unit, created_at FROM products_by_category
       WHERE category_id = :category_id AND sort = :sort LIMIT :most""",
    consistency=LOCAL_ONE,
)
CARDS_AFTER = read(
    "Q2",
    """SELECT sort_key, product_id, name, slug, brand, picture, swatches, variant_count, price, price_varies, compare_at,
       currency, rating, rating_count, popularity, bestseller, availability, unit_price, unit, created_at FROM products_by_category
       WHERE category_id = :category_id AND sort = :sort AND (sort_key, product_id) > (:sort_key, :product_id)
       LIMIT :most""",
    consistency=LOCAL_ONE,
)
CARDS_DOWN = read(
    "Q2",
    """SELECT sort_key, product_id, name, slug, brand, picture, swatches, variant_count, price, price_varies, compare_at,
       currency, rating, rating_count, popularity, bestseller, availability, unit_price, unit, created_at FROM products_by_category
       WHERE category_id = :category_id AND sort = :sort ORDER BY sort_key DESC, product_id DESC LIMIT :most""",
    consistency=LOCAL_ONE,
)
CARDS_DOWN_AFTER = read(
    "Q2",
    """SELECT sort_key, product_id, name, slug, brand, picture, swatches, variant_count, price, price_varies, compare_at,
       currency, rating, rating_count, popularity, bestseller, availability, unit_price, unit, created_at FROM products_by_category
       WHERE category_id = :category_id AND sort = :sort AND (sort_key, product_id) < (:sort_key, :product_id)
       ORDER BY sort_key DESC, product_id DESC LIMIT :most""",
    consistency=LOCAL_ONE,
)
# Q2: the same list for jobs that visit each product, beginning after a place.
LISTED_AFTER = read(
    "Q2",
    """SELECT sort_key, product_id FROM products_by_category WHERE category_id = :category_id AND sort = :sort
       AND (sort_key, product_id) > (:sort_key, :product_id) LIMIT :most""",
)


def list_products_after(
    category_id: UUID, place: tuple[bytes, UUID], most: int, sort: str = "created"
) -> list[tuple[bytes, UUID]]:
    """Return the places (sort key, product id) that come after `place` in a category's list. Raises CassandraUnavailable."""
    sort_key, product_id = place
    rows = LISTED_AFTER.all(
        category_id=category_id, sort=sort, sort_key=sort_key, product_id=product_id, most=most
    )
    return [(row.sort_key, row.product_id) for row in rows]


def default_sort(node: CategoryNode) -> str:
    """Return the sort order in which shoppers see a category's products if they have not chosen another."""
    return FEATURED_SORT if node.has_featured_list else node.order.rule


def sort_labels(node: CategoryNode) -> tuple[tuple[str, StrOrPromise], ...]:
    """Return the sort orders that shoppers can choose for a category, with their labels."""
    own = ((FEATURED_SORT, _("Featured")),) if node.has_featured_list else ()
    return (*own, *SORT_LABELS)


def get_category_page(
    category_id: UUID, sort: str = "newest", after: str = "", limit: int = PAGE_LENGTH
) -> CardPage:
    """Return a part of a category's list, which includes the products of all categories below it.

    `sort` is one of SORTS or FEATURED_SORT; `after` is the previous part's token. Raises InvalidPageToken, CassandraUnavailable.
    """
    order, down = (FEATURED_SORT, False) if sort == FEATURED_SORT else SORTS[sort]
    list_name = f"Q2 {category_id.hex} {sort}"
    key_columns = {"category_id": category_id, "sort": order, "most": limit + 1}
    if after:
        sort_key, product_id = page_key(after, list_name)
        rows = (CARDS_DOWN_AFTER if down else CARDS_AFTER).all(
            **key_columns, sort_key=sort_key, product_id=product_id
        )
    else:
        rows = (CARDS_DOWN if down else CARDS).all(**key_columns)
    page = rows[:limit]
    token = (
        page_token([page[-1].sort_key, page[-1].product_id], list_name) if len(rows) > limit else ""
    )
    return CardPage(tuple(card_from_row(row) for row in page), token)


def prefetch_category_cards(category_id: UUID, most: int) -> PendingResult:
    """Start reading the cards of a category's newest products."""
    return CARDS_DOWN.start(category_id=category_id, sort=SORTS["newest"][0], most=most)


def prefetch_product_cards(
    product_ids: Iterable[UUID], now: datetime
) -> Callable[[], list[ProductCard]]:
    """Start reading products; the returned function returns the cards of those on sale. It raises CassandraUnavailable."""
    reading = {each: prefetch_product(each) for each in product_ids}

    def collect() -> list[ProductCard]:
        found = []
        for product_id, pending in reading.items():
            rows = pending.rows()
            with leave_out(product_id):
                product = product_from_rows(rows)
                if product and product.is_on_sale(now):
                    found.append(product_card(product))
        return found

    return collect


# Q4: the cards of a front page row.
FEATURED = read(
    "Q4",
    """SELECT product_id, name, slug, brand, picture, swatches, variant_count, price, price_varies, compare_at, currency,
       rating, rating_count, popularity, bestseller, availability, unit_price, unit, created_at FROM featured_products WHERE feature_type = :feature_type""",
    consistency=LOCAL_ONE,
)


def prefetch_featured(feature_type: str) -> PendingResult:
    """Start reading the cards of a front page row: featured, deals, new_arrivals or popular."""
    return FEATURED.start(feature_type=feature_type)


# Q4: the products that staff pinned in a front page row.
FRONT_PAGE_PINS = read(
    "Q4",
    "SELECT product_ids, changed_at, version FROM front_page_pins WHERE feature_type = :feature_type",
)


def get_front_page_pins(feature_types: Iterable[str]) -> dict[str, tuple[UUID, ...]]:
    """Return the pinned products of each front page row, in the staff's order. Raises CassandraUnavailable."""
    reading = {each: FRONT_PAGE_PINS.start(feature_type=each) for each in feature_types}
    rows = {each: pending.one() for each, pending in reading.items()}
    return {each: tuple(row.product_ids or ()) if row else () for each, row in rows.items()}


def list_featured(feature_type: str) -> list[ProductCard]:
    """Return the cards of a front page row. Raises CassandraUnavailable."""
    return [card_from_row(row) for row in prefetch_featured(feature_type).rows()]


# Q5: the products related to a product.
RELATED = read(
    "Q5", "SELECT cards FROM related_cards WHERE product_id = :product_id", consistency=LOCAL_ONE
)


RELATED_NOW = RELATED.with_consistency(LOCAL_QUORUM)


def prefetch_related(product_id: UUID) -> PendingResult:
    """Start reading a product's list of related products, for `related_cards`."""
    return RELATED.start(product_id=product_id)


def list_related_at_quorum(product_id: UUID) -> list[RelatedCard]:
    """Return a product's list of related products with every acknowledged write, and with the pins. Raises CassandraUnavailable."""
    return _related_from_row(RELATED_NOW.one(product_id=product_id))


def _related_from_row(row: Row | None) -> list[RelatedCard]:
    """Return a product's list of related products from its row, with the pins."""
    return parse_related(row.cards) if row and row.cards else []


def related_cards(row: Row | None) -> list[ProductCard]:
    """Return the cards of a product's list of related products from its row."""
    return [each.card for each in _related_from_row(row)]


def list_cards_by_prefix(typed: str) -> list[ProductCard]:
    """Return the suggested products as cards. The search page shows them if the search index fails. Raises CassandraUnavailable."""
    listed = list_suggestions(typed, PAGE_LENGTH)
    found = get_products((each.product_id for each in listed), leave_out)
    now = current_time()
    return [product_card(each) for each in found.values() if each.is_on_sale(now)]


def product_card(product: Product) -> ProductCard:
    """Return the card of a product with at least one sold variant. It shows the lowest price."""
    sold = [variant for variant in product.variants if variant.sold]
    cheapest = min(sold, key=lambda variant: variant.price)
    pictures = [
        *(each.picture for each in product.pictures),
        *dict.fromkeys(variant.picture for variant in sold if variant.picture),
    ]
    colours = dict.fromkeys(
        picture.partition("/")[2].partition("-")[0]
        for picture in pictures
        if not parse_photo(picture)
    )
    return ProductCard(
        product_id=product.product_id,
        name=product.name,
        slug=product.slug,
        brand=product.brand,
        picture=pictures[0] if pictures else "",
        swatches=tuple(colours),
        variant_count=len(sold),
        price=cheapest.price,
        price_varies=any(variant.price != cheapest.price for variant in sold),
        compare_at=cheapest.compare_at,
        rating=product.rating,
        rating_count=product.rating_count,
        popularity=product.popularity or 0,
        bestseller=product.bestseller,
        availability=product.availability,
        created_at=product.created_at or current_time(),
        unit_price=compute_unit_price(product, cheapest),
        unit=product.unit,
    )

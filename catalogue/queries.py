"""What the shop reads of its catalogue."""

import json
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import date, datetime
from itertools import groupby
from uuid import UUID

from django.utils.translation import gettext_lazy as _
from moneyed import Money

from cassandra_db import (
    LOCAL_ONE,
    LOCAL_QUORUM,
    CassandraUnavailable,
    PendingResult,
    Row,
    current_time,
    page_key,
    page_token,
    read,
    scan,
)
from cassandra_db.process_copies import ProcessCopy
from catalogue.entities import (
    CardPage,
    CategoryNode,
    CategoryTree,
    MenuEntry,
    PictureUpload,
    Product,
    ProductCard,
    ProductPicture,
    Suggestion,
    Variant,
)
from catalogue.errors import NoLongerSold
from catalogue.photos import parse_photo
from catalogue.prices import (
    PricePoint,
    begin_with,
    compute_reference_price,
    price_in_force,
)
from catalogue.words import PREFIX_LETTERS, split_words
from jobs.rows import guard_row
from pricing.money import from_minor_units

log = logging.getLogger(__name__)

# Each of many products is read within one of these, by its id: `guard_product` in a job, `leave_out` for a list on a page.
# Without one, a product that cannot be read raises: whoever takes a missing product for one that is gone has to have it so.
Guard = Callable[[UUID], AbstractContextManager[object]]
SHOP_TREE = "shop"
PAGE_LENGTH = 16
MAX_SUGGESTIONS = 10
# The names of the orders in addresses: which sort they read, and whether backwards.
SORTS = {
    "newest": ("created", True),
    "price": ("price", False),
    "price-down": ("price", True),
    "name": ("name", False),
    "popular": ("popular", True),
    "rating": ("rating", True),
}
# The order of a category in which products are pinned (CategoryNode.has_featured_list).
FEATURED_SORT = "featured"
SORT_LABELS = (
    ("newest", _("Newest first")),
    ("price", _("Price: low to high")),
    ("price-down", _("Price: high to low")),
    ("name", _("Name: A to Z")),
    ("popular", _("Most popular")),
    ("rating", _("Best rated")),
)


# Q1: a product with its variants.
PRODUCT = read(
    "Q1",
    """SELECT product_id, variant_id, version, name, slug, brand, description, details, category_id, category_ids,
       option_names, tax_class, currency, status, active_from, active_until, tags, maker, safety, length_mm, width_mm,
       height_mm, search_title, search_description, related_ids, pictures, successor_id, featured, availability, rating, rating_count, popularity, bestseller, created_at,
       updated_at, sku, position, options, price, compare_at, price_from, planned_prices, picture, weight_grams, barcode, sold
       FROM products WHERE product_id = :product_id""",
    consistency=LOCAL_ONE,
)
# The same, when every acknowledged write must be seen: where something is written, put into a cart, counted or ordered.
PRODUCT_NOW = PRODUCT.with_consistency(LOCAL_QUORUM)
PRODUCTS = scan(
    "Q1",
    """SELECT product_id, variant_id, version, name, slug, brand, description, details, category_id, category_ids,
       option_names, tax_class, currency, status, active_from, active_until, tags, maker, safety, length_mm, width_mm,
       height_mm, search_title, search_description, related_ids, pictures, successor_id, featured, availability, rating, rating_count, popularity, bestseller, created_at,
       updated_at, sku, position, options, price, compare_at, price_from, planned_prices, picture, weight_grams, barcode, sold
       FROM products WHERE token(product_id) > :start AND token(product_id) <= :end""",
)
PRODUCT_ID = read(
    "Q1", "SELECT product_id FROM product_ids_by_slug WHERE slug = :slug", consistency=LOCAL_ONE
)
PRODUCT_ID_NOW = PRODUCT_ID.with_consistency(LOCAL_QUORUM)
VARIANT = read("Q1", "SELECT product_id, variant_id FROM variants_by_sku WHERE sku = :sku")


AVAILABILITY = read(
    "Q1", "SELECT availability FROM products WHERE product_id = :product_id LIMIT 1"
)


def prefetch_product(product_id: UUID) -> PendingResult:
    """Start reading a product, for `product_from_rows`."""
    return PRODUCT.start(product_id=product_id)


def prefetch_availability(product_id: UUID) -> PendingResult:
    """Start reading a product's availability as a quorum knows it."""
    return AVAILABILITY.start(product_id=product_id)


def prefetch_product_at_quorum(product_id: UUID) -> PendingResult:
    """Start reading a product as a quorum knows it, for `product_from_rows`."""
    return PRODUCT_NOW.start(product_id=product_id)


def product_from_rows(rows: Sequence[Row], now: datetime | None = None) -> Product | None:
    """Return the product that the rows of Q1 hold, with the prices in force now (or at that moment), or None."""
    now = now or current_time()
    variant_rows = [row for row in rows if row.variant_id is not None]
    if not variant_rows or variant_rows[0].name is None:
        return None
    head = variant_rows[0]
    return Product(
        product_id=head.product_id,
        slug=head.slug,
        name=head.name,
        brand=head.brand or "",
        description=head.description or "",
        details=json.loads(head.details) if head.details else {},
        category_id=head.category_id,
        option_names=tuple(head.option_names or ()),
        tax_class=head.tax_class,
        variants=tuple(
            sorted((_variant(row, now) for row in variant_rows), key=lambda each: each.position)
        ),
        status=head.status,
        featured=bool(head.featured),
        created_at=head.created_at,
        updated_at=head.updated_at,
        availability=head.availability or "out",
        # A planned price that has begun counts as a save: who has read the one before must not write it again.
        version=(head.version or 0) + sum(_count_begun(row, now) for row in variant_rows),
        active_from=head.active_from,
        active_until=head.active_until,
        category_ids=frozenset(head.category_ids or ()),
        tags=frozenset(head.tags or ()),
        maker=head.maker or "",
        safety=head.safety or "",
        length_mm=head.length_mm or 0,
        width_mm=head.width_mm or 0,
        height_mm=head.height_mm or 0,
        search_title=head.search_title or "",
        search_description=head.search_description or "",
        related_ids=tuple(head.related_ids or ()),
        pictures=tuple(ProductPicture(*each) for each in json.loads(head.pictures or "[]")),
        successor_id=head.successor_id,
        # A float of four bytes: as cards say it, it has one decimal.
        rating=round(head.rating, 1) if head.rating is not None else None,
        rating_count=head.rating_count or 0,
        popularity=head.popularity,
        bestseller=bool(head.bestseller),
    )


def price_points(row: Row) -> list[PricePoint]:
    """Return the prices in a variant's row, in the order of time: the first has begun, the others begin by themselves."""
    first = (row.price_from or row.created_at, row.price, row.compare_at)
    planned = (
        (
            datetime.fromisoformat(starts_at),
            price,
            compare_at,
            *map(datetime.fromisoformat, back_to),
        )
        for starts_at, price, compare_at, *back_to in json.loads(row.planned_prices or "[]")
    )
    return [_price_point(row.currency, *each) for each in (first, *planned)]


def _price_point(
    currency: str,
    starts_at: datetime,
    price: int,
    compare_at: int | None,
    back_to: datetime | None = None,
) -> PricePoint:
    was = from_minor_units(compare_at, currency) if compare_at is not None else None
    return PricePoint(starts_at, from_minor_units(price, currency), was, back_to)


def _count_begun(row: Row, now: datetime) -> int:
    return (
        sum(point.starts_at <= now for point in price_points(row)[1:]) if row.planned_prices else 0
    )


def _variant(row: Row, now: datetime) -> Variant:
    points = price_points(row)
    current = price_in_force(points, now)
    return Variant(
        variant_id=row.variant_id,
        sku=row.sku,
        options=dict(row.options or {}),
        price=current.price,
        compare_at=current.compare_at,
        picture=row.picture or "",
        weight_grams=row.weight_grams or 0,
        sold=bool(row.sold),
        position=row.position or 0,
        barcode=row.barcode or "",
        price_from=current.starts_at,
        planned=tuple(each for each in points[1:] if each.starts_at > now),
    )


def begun_prices(rows: Sequence[Row], now: datetime) -> dict[UUID, list[PricePoint]]:
    """Return by variant which prices in a product's rows have been asked of shoppers, in the order of time."""
    product = product_from_rows(rows, now)
    if product is None:
        return {}
    asked = {row.variant_id: _asked_prices(product, price_points(row)) for row in rows if row.sold}
    return {
        variant_id: [point for point in points if point.starts_at <= now]
        for variant_id, points in asked.items()
    }


def _asked_prices(product: Product, points: Sequence[PricePoint]) -> list[PricePoint]:
    """Return those prices of a variant that is sold that shoppers are asked.

    A draft asks nothing, and what is to come or has gone asks nothing before it is there, or afterwards.
    """
    if product.status != "active":
        return []
    until = product.active_until
    dated = begin_with(product.active_from, points)
    return [each for each in dated if until is None or each.starts_at < until]


# Q1: what staff have uploaded for a product or a category, and what the worker has to decode.
UPLOADS = read(
    "Q1",
    """SELECT product_id, upload_id, file_name, incoming, state, tries, picture, reason, salt FROM picture_uploads
       WHERE product_id = :product_id LIMIT :most""",
)
UPLOAD = read(
    "Q1",
    """SELECT product_id, upload_id, file_name, incoming, state, tries, picture, reason, salt FROM picture_uploads
       WHERE product_id = :product_id AND upload_id = :upload_id""",
)
WAITING_UPLOADS = read(
    "Q1", "SELECT upload_id, product_id FROM waiting_uploads_by_day WHERE day = :day LIMIT :most"
)
MAX_UPLOADS = 100


def list_uploads(owner_id: UUID) -> list[PictureUpload]:
    """Return the last days' uploads for a product, a category or a review, the oldest first. Raises CassandraUnavailable."""
    return uploads_from_rows(prefetch_uploads(owner_id).rows())


def prefetch_uploads(owner_id: UUID) -> PendingResult:
    """Start reading the last days' uploads of an owner, for `uploads_from_rows`."""
    return UPLOADS.start(product_id=owner_id, most=MAX_UPLOADS)


def uploads_from_rows(rows: Sequence[Row]) -> list[PictureUpload]:
    """Return rows of uploads, the oldest first."""
    return [_upload(row) for row in reversed(rows) if row.state]


def get_upload(owner_id: UUID, upload_id: UUID) -> PictureUpload | None:
    """Return an upload, or None. Raises CassandraUnavailable."""
    row = UPLOAD.one(product_id=owner_id, upload_id=upload_id)
    return _upload(row) if row and row.state else None


def list_waiting_uploads(days: Sequence[date], most: int) -> list[Row]:
    """Return upload_id and product_id of what waits since these days, their oldest first. Raises CassandraUnavailable."""
    reading = [WAITING_UPLOADS.start(day=day, most=most) for day in days]
    return [row for pending in reading for row in pending.rows()]


def _upload(row: Row) -> PictureUpload:
    return PictureUpload(
        row.product_id,
        row.upload_id,
        row.file_name or "",
        row.incoming or "",
        row.state,
        row.tries or 0,
        row.picture or "",
        row.reason or "",
        row.salt or "",
    )


# Q1: what was asked for a variant.
HISTORY = read(
    "Q1",
    "SELECT starts_at, price, compare_at, currency FROM price_history WHERE variant_id = :variant_id LIMIT :most",
)
MAX_HISTORY = 200


def prefetch_price_history(variant_id: UUID) -> PendingResult:
    """Start reading the prices of a variant, for `price_history_from_rows`."""
    return HISTORY.start(variant_id=variant_id, most=MAX_HISTORY)


def price_history_from_rows(rows: Sequence[Row]) -> list[PricePoint]:
    """Return what the rows of a price history say, in the order of time."""
    return [
        _price_point(row.currency, row.starts_at, row.price, row.compare_at)
        for row in reversed(rows)
    ]


def list_price_history(variant_id: UUID) -> list[PricePoint]:
    """Return what was asked for a variant, in the order of time, the last 200 changes. Raises CassandraUnavailable."""
    return price_history_from_rows(prefetch_price_history(variant_id).rows())


def get_product(product_id: UUID) -> Product | None:
    """Return the product, archived or not, or None. Raises CassandraUnavailable."""
    return product_from_rows(prefetch_product(product_id).rows())


def get_product_at_quorum(product_id: UUID) -> Product | None:
    """Return the product as a quorum knows it, with every acknowledged write. Raises CassandraUnavailable."""
    return product_from_rows(prefetch_product_at_quorum(product_id).rows())


def guard_product(product_id: UUID) -> AbstractContextManager[None]:
    """Read a product within, in a job that finds it again by itself: if it cannot be read, the job goes on without it."""
    return guard_row(f"product {product_id}")


@contextmanager
def leave_out(product_id: UUID) -> Iterator[None]:
    """Read a product of a page's list within: if it cannot be read, log why, and show the others. Raises CassandraUnavailable."""
    try:
        yield
    except CassandraUnavailable:
        raise
    except Exception:
        log.exception("left out of a page: product %s", product_id)


def get_products(product_ids: Iterable[UUID], guard: Guard = nullcontext) -> dict[UUID, Product]:
    """Return those of the products that exist, read side by side. Raises CassandraUnavailable."""
    return _collect_products(prefetch_product, product_ids, guard)


def get_products_at_quorum(
    product_ids: Iterable[UUID], guard: Guard = nullcontext
) -> dict[UUID, Product]:
    """Return those of the products that exist as a quorum knows them, for what is derived from them and stored.

    Raises CassandraUnavailable.
    """
    return _collect_products(prefetch_product_at_quorum, product_ids, guard)


def _collect_products(
    prefetch: Callable[[UUID], PendingResult], product_ids: Iterable[UUID], guard: Guard
) -> dict[UUID, Product]:
    reading = [(each, prefetch(each)) for each in dict.fromkeys(product_ids)]
    found = {}
    for product_id, pending in reading:
        # Outside of the guard: a read that failed is no product that cannot be read.
        rows = pending.rows()
        with guard(product_id):
            if product := product_from_rows(rows):
                found[product_id] = product
    return found


def iterate_products(guard: Guard = guard_product) -> Iterator[Product]:
    """Yield every product of the shop. For commands and jobs. Raises CassandraUnavailable."""
    return _products_from_rows(PRODUCTS.iterate_table(), guard)


def iterate_products_of_part(part: int, parts: int) -> Iterator[Product]:
    """Yield the products in one of so many parts of the shop, always the same ones. For jobs. Raises CassandraUnavailable."""
    return _products_from_rows(PRODUCTS.iterate_part(part, parts), guard_product)


def _products_from_rows(rows: Iterator[Row], guard: Guard) -> Iterator[Product]:
    for product_id, its_rows in groupby(rows, key=lambda row: row.product_id):
        found = None
        # Outside of the guard: a page that failed would end the scan as if the table were complete.
        present = list(its_rows)
        with guard(product_id):
            found = product_from_rows(present)
        if found:
            yield found


def find_product_id_by_slug(slug: str) -> UUID | None:
    """Return which product an address belongs to, or once belonged to. Raises CassandraUnavailable."""
    row = PRODUCT_ID.one(slug=slug)
    return row.product_id if row else None


def prefetch_product_id_at_quorum(slug: str) -> PendingResult:
    """Start looking an address up as a quorum knows it; the row has product_id."""
    return PRODUCT_ID_NOW.start(slug=slug)


def prefetch_variant_by_sku(sku: str) -> PendingResult:
    """Start looking a SKU up; the row has product_id and variant_id."""
    return VARIANT.start(sku=sku)


MAX_SKU_LENGTH = 64


def find_variant_by_sku(sku: str | None) -> Row | None:
    """Return the row (product_id, variant_id) that a SKU names, or None. Raises CassandraUnavailable."""
    is_possible = sku and len(sku) <= MAX_SKU_LENGTH and "\0" not in sku
    return VARIANT.one(sku=sku) if is_possible else None


# Of products that have gone and name the next one, so many are followed to one that is sold.
MAX_SUCCESSORS = 5


def find_successor(product: Product, now: datetime) -> Product | None:
    """Return the product that follows one that has gone, or the one that follows that; None if none is sold.

    Raises CassandraUnavailable.
    """
    found: Product | None = product
    for _step in range(MAX_SUCCESSORS):
        if found is None or found.successor_id is None:
            return None
        found = get_product(found.successor_id)
        if found and found.is_on_sale(now):
            return found
    return None


def get_sellable_variant(product: Product | None, variant_id: UUID) -> Variant | None:
    """Return the product's variant, or None if it is not sold (any more)."""
    variant = product.get_variant(variant_id) if product else None
    is_sold = product and product.is_on_sale(current_time())
    return variant if is_sold and variant and variant.sold else None


def find_product_and_variant(sku: str | None) -> tuple[Product, Variant]:
    """Return what a SKU names. Raises NoLongerSold."""
    row = find_variant_by_sku(sku)
    found = get_product_at_quorum(row.product_id) if row else None
    if row is None or found is None:
        raise NoLongerSold
    variant = get_sellable_variant(found, row.variant_id)
    if variant is None:
        raise NoLongerSold(found.name)
    return found, variant


def find_reference_price(
    product: Product, variant: Variant, history: Sequence[PricePoint], reduced: PricePoint
) -> Money | None:
    """Return the highest price that may be crossed out beside a price that a product's variant shall have; None if there is none.

    `history` is what was asked for the variant (`list_price_history`).
    """
    asked = {each.starts_at: each for each in history}
    if variant.price_from and variant.sold:
        present = PricePoint(variant.price_from, variant.price, variant.compare_at)
        in_row = _asked_prices(product, [present, *variant.planned])
        asked |= {each.starts_at: each for each in in_row}
    earlier = [asked[at] for at in sorted(asked) if at < reduced.starts_at]
    return compute_reference_price(earlier, reduced)


# Q2: the tree of categories.
CATEGORIES = read(
    "Q2",
    """SELECT category_id, version, slug, name, parent_id, position, description, picture, picture_alt, former_slugs,
       changed_at, followed_to, removed, list_rule, pinned_ids, has_featured_list, is_repinned FROM categories WHERE tree = :tree""",
    consistency=LOCAL_ONE,
)
CATEGORIES_NOW = CATEGORIES.with_consistency(LOCAL_QUORUM)
CURRENT_TREE = ProcessCopy(lambda: CATEGORIES.start(tree=SHOP_TREE), CategoryTree, 30)
# A page that is about to wait for something else starts reading the tree in parallel.
prefetch_categories = CURRENT_TREE.prefetch
clear_category_cache = CURRENT_TREE.forget


def get_category_tree_at_quorum() -> CategoryTree:
    """Return the tree of categories as a quorum knows it, for changing it. Raises CassandraUnavailable."""
    return CategoryTree(CATEGORIES_NOW.all(tree=SHOP_TREE))


def get_category_tree() -> CategoryTree:
    """Return the tree of categories, at most 30 seconds old. Raises CassandraUnavailable."""
    return CURRENT_TREE.get()


def get_category_tree_with(*category_ids: UUID) -> CategoryTree:
    """Return the tree of categories, for a product that is written: a current one, if the copy lacks one of its categories.

    Raises CassandraUnavailable.
    """
    known = get_category_tree()
    return known if known.by_id.keys() >= set(category_ids) else get_category_tree_at_quorum()


CATEGORY = read(
    "Q2",
    "SELECT category_id, removed FROM categories WHERE tree = :tree AND category_id = :category_id",
)


def list_existing_categories(category_ids: Iterable[UUID]) -> set[UUID]:
    """Return those of these categories that there are at this moment, read side by side. Raises CassandraUnavailable."""
    reading = [CATEGORY.start(tree=SHOP_TREE, category_id=each) for each in category_ids]
    rows = [pending.one() for pending in reading]
    return {row.category_id for row in rows if row and not row.removed}


def get_category(category_id: UUID) -> CategoryNode | None:
    """Return the category of a product that is written, or None if there is none, not even a new one.

    Raises CassandraUnavailable.
    """
    return get_category_tree_with(category_id).by_id.get(category_id)


def list_root_categories() -> list[CategoryNode]:
    """Return the categories that the navigation starts with. Raises CassandraUnavailable."""
    return get_category_tree().roots


def list_menu() -> tuple[MenuEntry, ...]:
    """Return what the navigation shows. Raises CassandraUnavailable."""
    return get_category_tree().menu


def find_category_by_slug(slug: str) -> CategoryNode | None:
    """Return the category with this address, or None. Raises CassandraUnavailable."""
    return get_category_tree().by_slug.get(slug)


def find_former_category(slug: str) -> tuple[bool, CategoryNode | None]:
    """Return whether this was once the address of a category, and where it leads now; None if nothing above it is left.

    Raises CassandraUnavailable.
    """
    former = get_category_tree().by_former_slug
    return slug in former, former.get(slug)


def is_majority_answering() -> bool:
    """Return whether a majority of replicas answers, without which nothing can be sold. Raises CassandraUnavailable if not."""
    CATEGORIES_NOW.all(tree=SHOP_TREE)
    return True


# Q2: a category's products, in one order, upwards or downwards.
CARDS = read(
    "Q2",
    """SELECT sort_key, product_id, name, slug, brand, picture, swatches, variant_count, price, price_varies, compare_at,
       currency, rating, rating_count, popularity, bestseller, availability, created_at FROM products_by_category
       WHERE category_id = :category_id AND sort = :sort LIMIT :most""",
    consistency=LOCAL_ONE,
)
CARDS_AFTER = read(
    "Q2",
    """SELECT sort_key, product_id, name, slug, brand, picture, swatches, variant_count, price, price_varies, compare_at,
       currency, rating, rating_count, popularity, bestseller, availability, created_at FROM products_by_category
       WHERE category_id = :category_id AND sort = :sort AND (sort_key, product_id) > (:sort_key, :product_id)
       LIMIT :most""",
    consistency=LOCAL_ONE,
)
CARDS_DOWN = read(
    "Q2",
    """SELECT sort_key, product_id, name, slug, brand, picture, swatches, variant_count, price, price_varies, compare_at,
       currency, rating, rating_count, popularity, bestseller, availability, created_at FROM products_by_category
       WHERE category_id = :category_id AND sort = :sort ORDER BY sort_key DESC, product_id DESC LIMIT :most""",
    consistency=LOCAL_ONE,
)
CARDS_DOWN_AFTER = read(
    "Q2",
    """SELECT sort_key, product_id, name, slug, brand, picture, swatches, variant_count, price, price_varies, compare_at,
       currency, rating, rating_count, popularity, bestseller, availability, created_at FROM products_by_category
       WHERE category_id = :category_id AND sort = :sort AND (sort_key, product_id) < (:sort_key, :product_id)
       ORDER BY sort_key DESC, product_id DESC LIMIT :most""",
    consistency=LOCAL_ONE,
)


# The same list for whoever has to see every product of it, from a place on.
LISTED_AFTER = read(
    "Q2",
    """SELECT sort_key, product_id FROM products_by_category WHERE category_id = :category_id AND sort = :sort
       AND (sort_key, product_id) > (:sort_key, :product_id) LIMIT :most""",
)


def list_products_after(
    category_id: UUID, place: tuple[bytes, UUID], most: int, sort: str = "created"
) -> list[tuple[bytes, UUID]]:
    """Return the places of the next products in a category's list, in the order of their keys. Raises CassandraUnavailable."""
    sort_key, product_id = place
    rows = LISTED_AFTER.all(
        category_id=category_id, sort=sort, sort_key=sort_key, product_id=product_id, most=most
    )
    return [(row.sort_key, row.product_id) for row in rows]


def card_from_row(row: Row) -> ProductCard:
    """Return the card in a row of any of the tables of cards."""
    return ProductCard(
        product_id=row.product_id,
        name=row.name,
        slug=row.slug,
        brand=row.brand or "",
        picture=row.picture,
        swatches=tuple(row.swatches or ()),
        variant_count=row.variant_count,
        price=from_minor_units(row.price, row.currency),
        price_varies=bool(row.price_varies),
        compare_at=from_minor_units(row.compare_at, row.currency)
        if row.compare_at is not None
        else None,
        rating=round(row.rating, 1) if row.rating is not None else None,
        rating_count=row.rating_count or 0,
        popularity=row.popularity or 0,
        bestseller=bool(row.bestseller),
        availability=row.availability or "out",
        created_at=row.created_at,
    )


def default_sort(node: CategoryNode) -> str:
    """Return the order in which a category shows its products to who has not chosen one."""
    return FEATURED_SORT if node.has_featured_list else node.order.rule


def sort_labels(node: CategoryNode) -> tuple[tuple[str, object], ...]:
    """Return the orders in which a category can be shown, with their words."""
    own = ((FEATURED_SORT, _("Featured")),) if node.has_featured_list else ()
    return (*own, *SORT_LABELS)


def get_category_page(
    category_id: UUID, sort: str = "newest", after: str = "", limit: int = PAGE_LENGTH
) -> CardPage:
    """Return a part of a category's list, which holds the products of all categories below it too.

    `sort` is one of SORTS, or FEATURED_SORT, `after` the token of the part before. Raises InvalidPageToken, CassandraUnavailable.
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


# Q4: the rows of the front page.
FEATURED = read(
    "Q4",
    """SELECT product_id, name, slug, brand, picture, swatches, variant_count, price, price_varies, compare_at, currency,
       rating, rating_count, popularity, bestseller, availability, created_at FROM featured_products WHERE feature_type = :feature_type""",
    consistency=LOCAL_ONE,
)


def prefetch_featured(feature_type: str) -> PendingResult:
    """Start reading a row of the front page: featured, deals, new_arrivals or popular."""
    return FEATURED.start(feature_type=feature_type)


# Q4: what the staff have pinned in a row of the front page.
FRONT_PAGE_PINS = read(
    "Q4",
    "SELECT product_ids, changed_at, version FROM front_page_pins WHERE feature_type = :feature_type",
)


def get_front_page_pins(feature_types: Iterable[str]) -> dict[str, tuple[UUID, ...]]:
    """Return which products stand first in each row of the front page, in this order. Raises CassandraUnavailable."""
    reading = {each: FRONT_PAGE_PINS.start(feature_type=each) for each in feature_types}
    rows = {each: pending.one() for each, pending in reading.items()}
    return {each: tuple(row.product_ids or ()) if row else () for each, row in rows.items()}


def list_featured(feature_type: str) -> list[ProductCard]:
    """Return a row of the front page. Raises CassandraUnavailable."""
    return [card_from_row(row) for row in prefetch_featured(feature_type).rows()]


# Q5: related products.
RELATED = read(
    "Q5",
    """SELECT rank, related_id AS product_id, pinned, name, slug, brand, picture, swatches, variant_count, price,
       price_varies, compare_at, currency, rating, rating_count, popularity, bestseller, availability, created_at FROM related_products
       WHERE product_id = :product_id""",
    consistency=LOCAL_ONE,
)


def prefetch_related(product_id: UUID) -> PendingResult:
    """Start reading a product's related list."""
    return RELATED.start(product_id=product_id)


def list_related(product_id: UUID) -> list[ProductCard]:
    """Return a product's related list, the best first. Raises CassandraUnavailable."""
    return [card_from_row(row) for row in prefetch_related(product_id).rows()]


# Q3: suggestions for a prefix of a word.
BY_PREFIX = read(
    "Q3",
    """SELECT rank, product_id, name, slug, picture, price, price_varies, currency, category_name
       FROM products_by_name_prefix WHERE prefix = :prefix LIMIT 200""",
    consistency=LOCAL_ONE,
)


def list_suggestions(typed: str, most: int = MAX_SUGGESTIONS) -> list[Suggestion]:
    """Return the products whose names have, for each typed word, a word that begins with it: every letter narrows.

    One partition is read, that of the longest word; with fewer than two letters there are none. Raises
    CassandraUnavailable.
    """
    parts = split_words(typed)
    longest = max(parts, key=len, default="")
    if len(longest) < PREFIX_LETTERS.start:
        return []
    rows = BY_PREFIX.all(prefix=longest[: PREFIX_LETTERS.stop - 1])
    fitting = [row for row in rows if _begins(split_words(row.name), parts)]
    return [
        Suggestion(
            row.product_id,
            row.name,
            row.slug,
            row.picture,
            from_minor_units(row.price, row.currency),
            bool(row.price_varies),
            row.category_name or "",
        )
        for row in fitting[:most]
    ]


def _begins(name: list[str], typed: list[str]) -> bool:
    return all(any(word.startswith(part) for word in name) for part in typed)


def list_cards_by_prefix(typed: str) -> list[ProductCard]:
    """Return what suggestions find, as cards: the fallback of the search page. Raises CassandraUnavailable."""
    listed = list_suggestions(typed, PAGE_LENGTH)
    found = get_products((each.product_id for each in listed), leave_out)
    now = current_time()
    return [product_card(each) for each in found.values() if each.is_on_sale(now)]


def product_card(product: Product) -> ProductCard:
    """Return the card of a product that is sold in at least one variant: it shows the lowest price."""
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
    )


# Q3: what has changed, for what is derived from products.
CHANGE_SHARDS = 8
CHANGES = read(
    "Q3",
    "SELECT changed, product_id FROM product_changes WHERE day = :day AND shard = :shard AND changed > :after",
)

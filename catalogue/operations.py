"""Every command on the catalogue, and every write to its tables."""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from hashlib import sha256
from typing import Any
from uuid import UUID, uuid4

from cassandra.query import BoundStatement
from cassandra.util import uuid_from_time
from django.utils.translation import gettext as _

from cassandra_db import (
    SEND_AGAIN,
    PendingResult,
    Row,
    applied_if,
    apply_batch,
    conditional_write,
    current_microseconds,
    current_time,
    read,
    scan,
    truncate_to_milliseconds,
    write,
    write_batch,
)
from catalogue import queries
from catalogue.entities import CategoryNode, CategoryTree, Product, ProductCard, Variant
from catalogue.errors import (
    CategoryChanged,
    CategoryRefused,
    ProductChanged,
    ProductRefused,
    SkuTaken,
    SlugTaken,
)
from catalogue.models import BULK_CHANGE_TTL
from catalogue.prices import PricePoint, begin_with
from catalogue.queries import CHANGE_SHARDS, SHOP_TREE, product_card
from catalogue.rules import (
    MAX_LENGTHS,
    MAX_PINNED,
    MAX_VARIANT_ROWS,
    SLUG,
    check_product,
    check_reduction,
)
from catalogue.variants import fingerprint_variant
from catalogue.words import fold_text, name_prefixes
from jobs.minutes import MINUTE, floor_to_minute
from pricing.money import to_minor_units

MAX_CATEGORIES = 2000
# With those that were removed, whose addresses lead on.
MAX_CATEGORY_ROWS = 4000
MAX_CATEGORY_NAME = 100
MAX_CATEGORY_DESCRIPTION = 1000
MAX_FORMER_SLUGS = 10
MAX_DEPTH = 3
# Before all products of a category's list.
FIRST_PLACE = (b"", UUID(int=0))
FEATURED_LENGTH = 24
RELATED_LENGTH = MAX_PINNED
PREFIX_LENGTH = 50
FEATURE_TYPES = ("featured", "deals", "new_arrivals")
# How often a change of a part begins again while others of the whole are being saved.
MAX_SAVE_TRIES = 10
AVAILABILITIES = ("in", "few", "ahead", "out")

# ---- Categories

# On a tree that was changed last before versions counted, the version is null.
UPDATE_TREE = conditional_write(
    "Q2",
    """UPDATE categories SET version = :version, save_id = :save_id WHERE tree = :tree
       IF version = :seen AND save_id != :save_id""",
)
INSERT_CATEGORY = conditional_write(
    "Q2",
    """INSERT INTO categories (tree, category_id, slug, name, parent_id, position, description, picture, former_slugs,
       changed_at, followed_to, removed) VALUES (:tree, :category_id, :slug, :name, :parent_id, :position, :description,
       :picture, :former_slugs, :changed_at, :followed_to, :removed)""",
)
UPDATE_CATEGORY_POSITION = conditional_write(
    "Q2",
    "UPDATE categories SET position = :position WHERE tree = :tree AND category_id = :category_id",
)
UPDATE_CATEGORY_PARENT = conditional_write(
    "Q2",
    """UPDATE categories SET parent_id = :parent_id, changed_at = :changed_at, followed_to = :followed_to
       WHERE tree = :tree AND category_id = :category_id""",
)
UPDATE_CATEGORY_REMOVED = conditional_write(
    "Q2",
    "UPDATE categories SET removed = :removed WHERE tree = :tree AND category_id = :category_id",
)
UPDATE_FOLLOWED = conditional_write(
    "Q2",
    """UPDATE categories SET followed_to = :followed_to, changed_at = :changed_at
       WHERE tree = :tree AND category_id = :category_id IF changed_at = :seen""",
)


def save_category(
    *,
    category_id: UUID,
    slug: str,
    name: str,
    parent_id: UUID | None = None,
    position: int | None = None,
    description: str = "",
    picture: str | None = None,
    seen: str = "",
) -> CategoryNode:
    """Add a category to the tree, or change one; other processes see it within 30 seconds.

    `seen` is its `fingerprint_category` as the editor has read it, "" for a new one. Whatever else of the tree somebody
    changes meanwhile does not matter, as long as the rules allow both. Without a `position` it stays where it is, or comes
    last; without a `picture` it keeps the one it has. Products follow a new name or parent by the worker. Raises
    CategoryRefused, CategoryChanged, CassandraUnavailable.
    """

    def change(tree: CategoryTree) -> list[BoundStatement]:
        before = tree.by_id.get(category_id)
        parent = tree.by_id.get(parent_id) if parent_id else None
        typed = _fingerprint(slug, name, parent_id, description)
        if before and fingerprint_category(before) == typed:
            # Sent twice, or another one has entered the same.
            return []
        if (fingerprint_category(before) if before else "") != seen:
            raise CategoryChanged(before)
        _check_category_texts(slug, name, description)
        check_category(tree, before, slug, parent_id)
        columns = {
            "slug": slug,
            "name": name,
            "parent_id": parent_id,
            "position": position if position is not None else _place_of(before, parent, tree),
            "description": description,
            "picture": before.picture if before and picture is None else picture or "",
            **_what_follows(before, slug, name, parent),
        }
        return [
            INSERT_CATEGORY.bind(tree=SHOP_TREE, category_id=category_id, removed=False, **columns)
        ]

    return _change_tree(change).by_id[category_id]


def fingerprint_category(node: CategoryNode) -> str:
    """Return a short text that differs when anything of a category does, but for its place among the others."""
    parent_id = node.parent.category_id if node.parent else None
    return _fingerprint(node.slug, node.name, parent_id, node.description)


def _fingerprint(slug: str, name: str, parent_id: UUID | None, description: str) -> str:
    content = json.dumps([slug, name, str(parent_id), description])
    return sha256(content.encode()).hexdigest()[:16]


def _check_category_texts(slug: str, name: str, description: str) -> None:
    if not name.strip():
        raise CategoryRefused(_("Enter a name."), "name")
    for field, text, most in (
        ("name", name, MAX_CATEGORY_NAME),
        ("slug", slug, MAX_LENGTHS["slug"]),
        ("description", description, MAX_CATEGORY_DESCRIPTION),
    ):
        if len(text) > most:
            raise CategoryRefused(
                _("This can have at most %(most)d characters.") % {"most": most}, field
            )


def check_category(
    tree: CategoryTree, before: CategoryNode | None, slug: str, parent_id: UUID | None
) -> None:
    """Raise CategoryRefused for an address that leads elsewhere, and for a place where a category cannot be; None is a new one."""
    if not SLUG.fullmatch(slug):
        raise CategoryRefused(
            _("An address has small letters, digits and single hyphens, such as oak-stools."),
            "slug",
        )
    parent = tree.by_id.get(parent_id) if parent_id else None
    if parent_id and parent is None:
        raise CategoryRefused(_("There is no such category any more."), "parent")
    owner = tree.by_slug.get(slug) or tree.by_former_slug.get(slug)
    if owner and slug in (owner.slug, *owner.former_slugs) and owner is not before:
        raise CategoryRefused(
            _("This address leads to %(name)s already.") % {"name": owner.name}, "slug"
        )
    if parent and before in parent.path:
        raise CategoryRefused(_("A category can’t stand below itself."), "parent")
    below = max((each.depth for each in before.subtree), default=0) - before.depth if before else 0
    if (parent.depth if parent else 0) + 1 + below > MAX_DEPTH:
        raise CategoryRefused(
            _("Categories have %(most)d levels at most.") % {"most": MAX_DEPTH}, "parent"
        )
    if before is None and (
        len(tree.by_id) >= MAX_CATEGORIES or tree.row_count >= MAX_CATEGORY_ROWS
    ):
        raise CategoryRefused(
            _("There are %(most)d categories already.") % {"most": len(tree.by_id)}
        )


def _place_of(before: CategoryNode | None, parent: CategoryNode | None, tree: CategoryTree) -> int:
    if before and before.parent is parent:
        return before.position
    siblings = parent.children if parent else tree.roots
    return max((each.position for each in siblings), default=-1) + 1


def _what_follows(
    before: CategoryNode | None, slug: str, name: str, parent: CategoryNode | None
) -> dict[str, Any]:
    """Return the columns that say which addresses lead on, and from when on products have to follow."""
    if before is None:
        return {"former_slugs": [], "changed_at": None, "followed_to": None}
    former = dict.fromkeys(before.former_slugs)
    former.pop(slug, None)
    if before.slug != slug:
        former[before.slug] = None
    changed = before.name != name or before.parent is not parent
    return {
        "former_slugs": list(former)[-MAX_FORMER_SLUGS:],
        "changed_at": current_time() if changed else before.changed_at,
        "followed_to": None if changed else before.followed_to or None,
    }


def reorder_category(category_id: UUID, step: int) -> bool:
    """Move a category up (-1) or down (1) among those below the same parent; at the end it stays. Return whether it moved.

    Raises CategoryRefused, CategoryChanged if it is gone, CassandraUnavailable.
    """

    has_moved = False

    def change(tree: CategoryTree) -> list[BoundStatement]:
        nonlocal has_moved
        node = tree.by_id.get(category_id)
        if node is None:
            raise CategoryChanged(None)
        siblings = list(node.parent.children if node.parent else tree.roots)
        here = siblings.index(node)
        has_moved = 0 <= here + step < len(siblings)
        if not has_moved:
            return []
        siblings.insert(here + step, siblings.pop(here))
        return [
            UPDATE_CATEGORY_POSITION.bind(
                tree=SHOP_TREE, category_id=each.category_id, position=position
            )
            for position, each in enumerate(siblings)
            if each.position != position
        ]

    _change_tree(change)
    return has_moved


def remove_category(category_id: UUID, seen: str) -> None:
    """Take an empty category out of the tree; its addresses lead to the one above it, or say that they are gone.

    Raises CategoryRefused if anything is in it, CategoryChanged, CassandraUnavailable.
    """

    def change(tree: CategoryTree) -> list[BoundStatement]:
        node = tree.by_id.get(category_id)
        if node is None:
            return []
        if fingerprint_category(node) != seen:
            raise CategoryChanged(node)
        if node.children:
            raise CategoryRefused(_("Move or remove the categories below it first."))
        if queries.list_products_after(category_id, FIRST_PLACE, 1):
            raise CategoryRefused(_("Move its products to another category first."))
        return [UPDATE_CATEGORY_REMOVED.bind(tree=SHOP_TREE, category_id=category_id, removed=True)]

    _change_tree(change)


def restore_category(category_id: UUID) -> None:
    """Put a removed category back, for a product that was saved in it at the same time. Raises CassandraUnavailable."""
    _change_tree(
        lambda tree: [
            UPDATE_CATEGORY_REMOVED.bind(tree=SHOP_TREE, category_id=category_id, removed=False)
        ]
    )


def lift_category(category_id: UUID) -> None:
    """Make a category a top one, out of a circle. Raises CassandraUnavailable."""
    _change_tree(
        lambda tree: [
            UPDATE_CATEGORY_PARENT.bind(
                tree=SHOP_TREE,
                category_id=category_id,
                parent_id=None,
                changed_at=current_time(),
                followed_to=None,
            )
        ]
    )


def _change_tree(change: Callable[[CategoryTree], list[BoundStatement]]) -> CategoryTree:
    """Write what `change` returns for the tree as it is, again on a newer one if somebody else was faster; return the tree."""
    for _try in range(MAX_SAVE_TRIES):
        tree = queries.get_category_tree_at_quorum()
        writes = change(tree)
        if not writes:
            return tree
        if _apply_to_tree(tree, writes):
            queries.clear_category_cache()
            return queries.get_category_tree_at_quorum()
    raise CategoryRefused(_("Others are changing the categories at this moment. Please try again."))


def _apply_to_tree(tree: CategoryTree, writes: Sequence[BoundStatement]) -> bool:
    save_id = uuid4()
    head = UPDATE_TREE.bind(
        tree=SHOP_TREE, version=(tree.version or 0) + 1, save_id=save_id, seen=tree.version
    )

    def is_ours(row: Row) -> bool:
        return bool(row.save_id == save_id)

    return bool(apply_batch(head, *writes, if_lost=applied_if(is_ours)))


def follow_category(node: CategoryNode, most: int) -> int:
    """Bring the next products below a renamed or moved category to where the tree says; return how many there were.

    How far it has come is kept in the category's row; what is done twice does no harm. Raises CassandraUnavailable.
    """
    place = _parse_place(node.followed_to)
    places = queries.list_products_after(node.category_id, place, most)
    for _key, product_id in places:
        refresh_cards(product_id)
        # The index and the suggestions follow.
        record_product_change(product_id, current_time())
    is_done = len(places) < most
    sort_key, product_id = places[-1] if places else place
    UPDATE_FOLLOWED.apply(
        if_lost=SEND_AGAIN,
        tree=SHOP_TREE,
        category_id=node.category_id,
        followed_to=None if is_done else f"{sort_key.hex()} {product_id.hex}",
        changed_at=None if is_done else node.changed_at,
        seen=node.changed_at,
    )
    return len(places)


def _parse_place(text: str) -> tuple[bytes, UUID]:
    if not text:
        return FIRST_PLACE
    sort_key, product_id = text.split()
    return bytes.fromhex(sort_key), UUID(hex=product_id)


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
RELEASE_SLUG = conditional_write(
    "Q1", "DELETE FROM product_ids_by_slug WHERE slug = :slug IF product_id = :product_id"
)
RELEASE_SKU = conditional_write(
    "Q1",
    "DELETE FROM variants_by_sku WHERE sku = :sku IF product_id = :product_id AND variant_id = :variant_id",
)
# On a product that is new, or was saved last before versions counted, the version is null.
UPDATE_PRODUCT = conditional_write(
    "Q1",
    """UPDATE products SET version = :version, save_id = :save_id, name = :name, slug = :slug, brand = :brand,
       description = :description, details = :details, category_id = :category_id, category_ids = :category_ids,
       option_names = :option_names, tax_class = :tax_class, currency = :currency, status = :status,
       active_from = :active_from, active_until = :active_until, tags = :tags, maker = :maker, safety = :safety,
       length_mm = :length_mm, width_mm = :width_mm, height_mm = :height_mm, search_title = :search_title,
       search_description = :search_description, related_ids = :related_ids, featured = :featured,
       created_at = :created_at, updated_at = :updated_at
       WHERE product_id = :product_id IF version = :seen AND save_id != :save_id""",
)
# In one batch with the save, so that nobody makes the same bulk change twice to a product.
MARK_BULK_CHANGE = conditional_write(
    "Q1",
    """UPDATE products USING TTL :seconds SET bulk_change_ids = bulk_change_ids + :change_ids
       WHERE product_id = :product_id""",
)
INSERT_VARIANT = conditional_write(
    "Q1",
    """INSERT INTO products (product_id, variant_id, sku, position, options, price, compare_at, price_from, planned_prices,
       picture, weight_grams, barcode, sold) VALUES (:product_id, :variant_id, :sku, :position, :options, :price,
       :compare_at, :price_from, :planned_prices, :picture, :weight_grams, :barcode, :sold)""",
)
UPDATE_AVAILABILITY = write(
    "Q1", "UPDATE products SET availability = :word WHERE product_id = :product_id"
)
INSERT_CHANGE = write(
    "Q3",
    "INSERT INTO product_changes (day, shard, changed, product_id) VALUES (:day, :shard, :changed, :product_id)",
)


def save_product(product: Product, now: datetime, bulk_change_id: UUID | None = None) -> Product:
    """Add a product or change it, with its claims and its cards in every list; return it as it is then.

    `product.version` is the one that the editor has read, 0 for a new product: if somebody else has saved meanwhile, nothing
    is written. A variant that was there before and is not in `product.variants` stays as no longer sold. The first save sets
    `created_at` to `now` (UTC) unless it is given. A former slug still leads here. `bulk_change_id` marks it as changed by that
    one (catalogue.bulk_changes). After a failure it may be done again with the same ids; if the product was already written,
    that raises ProductChanged, and the worker finishes what follows from it. Raises ProductChanged, ProductRefused, SlugTaken,
    SkuTaken, CassandraUnavailable.
    """
    now, product = truncate_to_milliseconds(now), _with_moments_as_stored(product)
    rows = queries.prefetch_product_at_quorum(product.product_id).rows()
    before = queries.product_from_rows(rows, now)
    if product.version != (before.version if before else 0):
        raise ProductChanged(before)
    saved, repriced = check_save(product, rows, now)
    claims = _list_unclaimed(saved, before)
    _take_all_or_none(claims)
    # First, so that a crash on the way leaves a record; last, so that what is derived sees what was written.
    record_product_change(product.product_id, current_time())
    known = before.moments if before else set()
    moments = {each for each in saved.moments - known if each > now}
    if repriced:
        # The job writes what is asked into the history, if this process does not come to it.
        moments.add(now + MINUTE)
    _schedule(saved.product_id, moments)
    ids = {each.variant_id for each in repriced}
    record_prices(rows, now, ids)
    if not _apply_save(saved, rows, bulk_change_id):
        release_claims(claims)
        raise ProductChanged(queries.get_product_at_quorum(product.product_id))
    # Somebody may have let go of one that nothing carried yet: they look afterwards, too (decision 035).
    _take(_list_unclaimed(saved, before))
    if repriced:
        record_prices(queries.prefetch_product_at_quorum(product.product_id).rows(), now, ids)
    refresh_cards(product.product_id)
    if before and before.name != saved.name:
        refresh_prefixes(saved, [before.name])
    record_product_change(product.product_id, current_time())
    return saved


def check_save(
    product: Product, rows: Sequence[Row], now: datetime
) -> tuple[Product, list[Variant]]:
    """Return a product as it would be saved over the rows that were read, and which of its variants get other prices.

    Raises ProductRefused, CassandraUnavailable.
    Whether its address and its SKUs are free shows when they are claimed.
    """
    check_product(product, now)
    saved = _with_what_was_there(product, queries.product_from_rows(rows, now), now)
    for category_id in saved.all_category_ids:
        if queries.get_category(category_id) is None:
            raise ProductRefused(
                _("There is no such category any more."),
                "category_id" if category_id == saved.category_id else "category_ids",
            )
    repriced = _find_repriced(saved, rows)
    _check_reductions([each for each in repriced if each.sold], saved, rows, now)
    return saved, repriced


def save_variant(product_id: UUID, variant: Variant, seen: str, now: datetime) -> Product:
    """Change one variant of a product, whatever else of it somebody changes meanwhile; return the product as it is then.

    `seen` is the variant's `fingerprint_variant` as the editor has read it: if the variant has changed since, nothing is
    written. Raises ProductChanged and all that `save_product` raises.
    """

    def change(product: Product) -> Product:
        stored = product.get_variant(variant.variant_id)
        if stored is None or fingerprint_variant(stored) != seen:
            raise ProductChanged(product)
        variants = tuple(
            replace(variant, position=each.position)
            if each.variant_id == variant.variant_id
            else each
            for each in product.variants
        )
        return replace(product, variants=variants)

    return change_product(product_id, change, now)


def change_product(
    product_id: UUID, change: Callable[[Product], Product], now: datetime
) -> Product:
    """Save what `change` makes of a product as it is, again of a newer one if somebody else was faster; return it as it is then.

    `change` raises ProductChanged for a product that is not what the editor has read. Raises ProductChanged and all that
    `save_product` raises.
    """
    changed = ProductChanged(None)
    for _try in range(MAX_SAVE_TRIES):
        product = queries.get_product_at_quorum(product_id)
        if product is None:
            raise ProductChanged(None)
        wanted = change(product)
        try:
            return save_product(wanted, now)
        except ProductChanged as newer:
            changed = newer
    raise changed


def change_product_status(product: Product, status: str, now: datetime) -> Product:
    """Make a product that was read a draft, active or archived. Raises what `save_product` raises."""
    return save_product(replace(product, status=status), now)


def duplicate_product(product: Product, now: datetime) -> Product:
    """Save a draft that is like a product, with ids, an address and SKUs of its own; return it.

    What was never sold has no former price to cross out, and a barcode belongs to one article. Raises what `save_product`
    raises.
    """
    product_id = uuid4()
    code = product_id.hex[:6]
    variants = [each for each in product.variants if each.sold] or product.variants
    copy = replace(
        product,
        product_id=product_id,
        version=0,
        name=_("%(name)s (copy)") % {"name": product.name[:190]},
        slug=f"{product.slug[:90].rstrip('-')}-{code}",
        status="draft",
        active_from=None,
        active_until=None,
        featured=False,
        created_at=None,
        variants=tuple(
            replace(
                each,
                variant_id=uuid4(),
                sku=f"{each.sku[:50].rstrip('-._')}-{code.upper()}-{number}",
                compare_at=None,
                planned=(),
                barcode="",
            )
            for number, each in enumerate(variants, start=1)
        ),
    )
    return save_product(copy, now)


def _with_what_was_there(product: Product, before: Product | None, now: datetime) -> Product:
    """Return a product as it is saved: with its next version, and the variants that are left out as no longer sold.

    A price that stays is asked since when it was, unless the product or the variant was not on sale, or begins at another time.
    """
    is_continued = before is not None and _sale(before, now) == _sale(product, now)
    known = {each.variant_id: each for each in before.variants} if before and is_continued else {}
    kept = (
        *(
            replace(
                variant,
                position=i,
                price_from=_price_from(variant, known, now),
            )
            for i, variant in enumerate(product.variants)
        ),
        *_left_out_variants(product, before),
    )
    if len(kept) > MAX_VARIANT_ROWS:
        raise ProductRefused(
            _("With those that are no longer sold, a product may have %(most)d variants.")
            % {"most": MAX_VARIANT_ROWS},
            "variants",
        )
    return replace(
        product,
        variants=kept,
        version=product.version + 1,
        created_at=product.created_at or (before.created_at if before else now),
        updated_at=now,
        availability=before.availability if before else "out",
    )


def _with_moments_as_stored(product: Product) -> Product:
    start, end = product.active_from, product.active_until
    variants = (
        replace(
            variant,
            planned=tuple(
                replace(each, starts_at=truncate_to_milliseconds(each.starts_at))
                for each in variant.planned
            ),
        )
        for variant in product.variants
    )
    return replace(
        product,
        active_from=truncate_to_milliseconds(start) if start else None,
        active_until=truncate_to_milliseconds(end) if end else None,
        variants=tuple(variants),
    )


def _sale(product: Product, now: datetime) -> tuple[object, ...]:
    """Return what says since when a product's prices are asked; when it goes does not matter before it has gone."""
    end = product.active_until
    return product.status, product.active_from, end if end and end <= now else None


def _price_from(variant: Variant, known: Mapping[UUID, Variant], now: datetime) -> datetime:
    def asked(each: Variant) -> tuple[object, ...]:
        return each.price, each.compare_at, each.sold

    was = known.get(variant.variant_id)
    return was.price_from or now if was and asked(was) == asked(variant) else now


def _apply_save(saved: Product, rows: Sequence[Row], bulk_change_id: UUID | None) -> bool:
    """Write what differs from the rows read, in one conditional batch; return whether nobody else was faster.

    Cassandra bounds no conditional batch but by half a commit log's segment, many times a product's size (decision 035): so
    nobody ever sees a product half saved.
    """
    save_id, stored = uuid4(), {row.variant_id: row for row in rows}
    head = UPDATE_PRODUCT.bind(
        **product_columns(saved), save_id=save_id, seen=rows[0].version if rows else None
    )
    changed = [
        INSERT_VARIANT.bind(product_id=saved.product_id, **columns)
        for columns in map(variant_columns, saved.variants)
        if not _is_stored(stored.get(columns["variant_id"]), columns)
    ]
    if bulk_change_id:
        mark = MARK_BULK_CHANGE.bind(
            product_id=saved.product_id, change_ids={bulk_change_id}, seconds=BULK_CHANGE_TTL
        )
        changed.append(mark)
    outcome = apply_batch(
        head, *changed, if_lost=applied_if(lambda row: bool(row.save_id == save_id))
    )
    return bool(outcome)


def _is_stored(row: Row | None, columns: Mapping[str, Any]) -> bool:
    # What is empty is read as null.
    return row is not None and all(
        (getattr(row, name) or None) == (value or None) for name, value in columns.items()
    )


def product_columns(product: Product) -> dict[str, Any]:
    """Return the static columns of a product's partition, without its availability."""
    return {
        "product_id": product.product_id,
        "version": product.version,
        "name": product.name,
        "slug": product.slug,
        "brand": product.brand,
        "description": product.description,
        "details": json.dumps(product.details, ensure_ascii=False),
        "category_id": product.category_id,
        "category_ids": product.category_ids,
        "option_names": list(product.option_names),
        "tax_class": product.tax_class,
        "currency": product.variants[0].price.currency.code,
        "status": product.status,
        "active_from": product.active_from,
        "active_until": product.active_until,
        "tags": product.tags,
        "maker": product.maker,
        "safety": product.safety,
        "length_mm": product.length_mm,
        "width_mm": product.width_mm,
        "height_mm": product.height_mm,
        "search_title": product.search_title,
        "search_description": product.search_description,
        "related_ids": list(product.related_ids),
        "featured": product.featured,
        "created_at": product.created_at,
        "updated_at": product.updated_at,
    }


def variant_columns(variant: Variant) -> dict[str, Any]:
    """Return the columns of a variant's row."""
    return {
        "variant_id": variant.variant_id,
        "sku": variant.sku,
        "position": variant.position,
        "options": variant.options,
        "price": to_minor_units(variant.price),
        "compare_at": to_minor_units(variant.compare_at) if variant.compare_at else None,
        "price_from": variant.price_from,
        "planned_prices": _pack_prices(variant.planned),
        "picture": variant.picture,
        "weight_grams": variant.weight_grams,
        "barcode": variant.barcode,
        "sold": variant.sold,
    }


def _pack_prices(points: Sequence[PricePoint]) -> str | None:
    packed = [
        (
            each.starts_at.isoformat(),
            to_minor_units(each.price),
            to_minor_units(each.compare_at) if each.compare_at else None,
        )
        for each in points
    ]
    return json.dumps(packed) if packed else None


@dataclass(frozen=True)
class Claim:
    """A name that leads to a product: its address, or with a variant that one's SKU."""

    name: str
    product_id: UUID
    variant_id: UUID | None = None

    def is_carried(self, product: Product | None) -> bool:
        """Return whether a product has this name now."""
        if product is None or self.variant_id is None:
            return product is not None and product.slug == self.name
        variant = product.get_variant(self.variant_id)
        return variant is not None and variant.sku == self.name


def _list_claims(product: Product) -> list[Claim]:
    """Return what a product has to claim. The address comes last: who is refused a SKU has not taken it."""
    product_id = product.product_id
    skus = [Claim(each.sku, product_id, each.variant_id) for each in product.variants]
    return [*skus, Claim(product.slug, product_id)]


def _list_unclaimed(product: Product, before: Product | None = None) -> list[Claim]:
    """Return which names a product does not have yet, of those that are not as they were before."""
    changed = [claim for claim in _list_claims(product) if not claim.is_carried(before)]
    reading = [(claim, _prefetch_claim(claim)) for claim in changed]
    return [claim for claim, pending in reading if not _is_held(claim, pending.one())]


def is_claimed(claim: Claim) -> bool:
    """Return whether a name is claimed so. Raises CassandraUnavailable."""
    return _is_held(claim, _prefetch_claim(claim).one())


def _prefetch_claim(claim: Claim) -> PendingResult:
    return (
        queries.prefetch_variant_by_sku(claim.name)
        if claim.variant_id
        else queries.prefetch_product_id_at_quorum(claim.name)
    )


def _is_held(claim: Claim, row: Row | None) -> bool:
    """Return whether a row of claims is there and is this claim's."""
    holder = row and (row.product_id, getattr(row, "variant_id", None))
    return holder == (claim.product_id, claim.variant_id)


def claim_names(product: Product) -> None:
    """Claim the slug and the SKUs, those that this product does not have yet. Raises SlugTaken, SkuTaken."""
    _take(_list_unclaimed(product))


def _take(claims: Iterable[Claim]) -> None:
    """Claim names. Raises SlugTaken, SkuTaken at the first that is another's."""
    for claim in claims:
        if_lost = applied_if(partial(_is_held, claim))
        outcome = (
            CLAIM_SKU.apply(
                if_lost=if_lost,
                sku=claim.name,
                product_id=claim.product_id,
                variant_id=claim.variant_id,
            )
            if claim.variant_id
            else CLAIM_SLUG.apply(if_lost=if_lost, slug=claim.name, product_id=claim.product_id)
        )
        if outcome or _is_held(claim, outcome.current):
            continue
        if claim.variant_id is None:
            raise SlugTaken(_("Another product has this address."), "slug")
        raise SkuTaken(
            _("Another variant has the SKU %(sku)s.") % {"sku": claim.name},
            "sku",
            claim.variant_id,
        )


def _take_all_or_none(claims: Sequence[Claim]) -> None:
    """Claim names. Raises SlugTaken, SkuTaken, and then has claimed none."""
    for number, claim in enumerate(claims):
        try:
            _take([claim])
        except ProductRefused:
            release_claims(claims[:number])
            raise


def release_claims(claims: Sequence[Claim]) -> None:
    """Let go of those names that their products do not carry.

    A save may be relying on one at this moment. Either its product is seen with it afterwards, and it is taken again here, or
    the save takes it again. Raises SlugTaken, SkuTaken if another one was faster.
    """
    carried = set(_list_carried(claims))
    for claim in [each for each in claims if each not in carried]:
        if claim.variant_id:
            RELEASE_SKU.apply(
                if_lost=SEND_AGAIN,
                sku=claim.name,
                product_id=claim.product_id,
                variant_id=claim.variant_id,
            )
        else:
            RELEASE_SLUG.apply(if_lost=SEND_AGAIN, slug=claim.name, product_id=claim.product_id)
    _take(_list_carried(claims))


def _list_carried(claims: Sequence[Claim]) -> list[Claim]:
    found = queries.get_products_at_quorum(claim.product_id for claim in claims)
    return [claim for claim in claims if claim.is_carried(found.get(claim.product_id))]


def _left_out_variants(product: Product, before: Product | None) -> Iterator[Variant]:
    present = {variant.variant_id for variant in product.variants}
    for position, variant in enumerate(
        before.variants if before else (), start=len(product.variants)
    ):
        if variant.variant_id not in present:
            yield replace(variant, sold=False, position=position, planned=())


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


# ---- Prices

INSERT_PRICE = write(
    "Q1",
    """INSERT INTO price_history (variant_id, starts_at, price, compare_at, currency)
       VALUES (:variant_id, :starts_at, :price, :compare_at, :currency)""",
)
_PRICE_COLUMNS = ("price", "compare_at", "price_from", "planned_prices", "sold")


def _find_repriced(saved: Product, rows: Sequence[Row]) -> list[Variant]:
    """Return the variants that ask other prices than in their rows, or since another moment, or no longer."""
    stored = {row.variant_id: row for row in rows}

    def prices(variant: Variant) -> dict[str, Any]:
        columns = variant_columns(variant)
        return {name: columns[name] for name in _PRICE_COLUMNS}

    return [
        each for each in saved.variants if not _is_stored(stored.get(each.variant_id), prices(each))
    ]


def _check_reductions(
    variants: Iterable[Variant], saved: Product, rows: Sequence[Row], now: datetime
) -> None:
    """Raise ProductRefused where a price is crossed out, now or by a plan, that is higher than the law allows."""
    crossing = [
        each
        for each in variants
        if each.compare_at or any(point.compare_at for point in each.planned)
    ]
    asked = list_asked_prices([each.variant_id for each in crossing], rows, now)
    for variant in crossing:
        timeline = list(asked[variant.variant_id])
        earlier = {each.starts_at for each in timeline}
        present = PricePoint(variant.price_from or now, variant.price, variant.compare_at)
        points = begin_with(saved.active_from, [present, *variant.planned])
        # Unless a planned price takes its place before anybody is asked.
        if len(points) > len(variant.planned):
            present = points.pop(0)
            if variant.price_from == now:
                check_reduction(timeline, present, "compare_at", variant)
            if present.starts_at not in earlier:
                timeline.append(present)
        for point in points:
            check_reduction(timeline, point, "planned", variant)
            timeline.append(point)


def list_asked_prices(
    variant_ids: Iterable[UUID], rows: Sequence[Row], now: datetime
) -> dict[UUID, list[PricePoint]]:
    """Return by variant what was asked until now, in the order of time: its history, and what its product's rows say beyond it.

    Raises CassandraUnavailable.
    """
    begun = queries.begun_prices(rows, now)
    reading = {each: queries.prefetch_price_history(each) for each in variant_ids}
    found = {}
    for variant_id, pending in reading.items():
        asked = queries.price_history_from_rows(pending.rows())
        points = {each.starts_at: each for each in (*asked, *begun.get(variant_id, ()))}
        found[variant_id] = [points[at] for at in sorted(points)]
    return found


def price_statements(variant_id: UUID, points: Iterable[PricePoint]) -> list[BoundStatement]:
    """Return the writes that put prices into a variant's history."""
    return [INSERT_PRICE.bind(**columns) for columns in _price_columns(variant_id, points)]


def _price_columns(variant_id: UUID, points: Iterable[PricePoint]) -> list[dict[str, Any]]:
    return [
        {
            "variant_id": variant_id,
            "starts_at": each.starts_at,
            "price": to_minor_units(each.price),
            "compare_at": to_minor_units(each.compare_at) if each.compare_at else None,
            "currency": each.price.currency.code,
        }
        for each in points
    ]


def record_prices(
    rows: Sequence[Row], now: datetime, variant_ids: Collection[UUID] | None = None
) -> None:
    """Put into the history what was asked for a product's variants (for these alone), as its rows say.

    It may be done again at any time. Raises CassandraUnavailable.
    """
    _write_prices(
        {
            variant_id: points
            for variant_id, points in queries.begun_prices(rows, now).items()
            if variant_ids is None or variant_id in variant_ids
        }
    )


def _write_prices(prices: Mapping[UUID, Sequence[PricePoint]]) -> None:
    _wait_for_all(
        [
            INSERT_PRICE.start(**columns)
            for variant_id, points in prices.items()
            for columns in _price_columns(variant_id, points)
        ]
    )


def add_former_prices(prices: Mapping[UUID, Sequence[PricePoint]]) -> None:
    """Put prices into the history that were asked for variants before they were saved here. Raises CassandraUnavailable."""
    _write_prices(prices)


# ---- What changes by itself

INSERT_SCHEDULE = write(
    "Q3",
    "INSERT INTO product_schedule_by_minute (minute, product_id) VALUES (:minute, :product_id)",
)
DELETE_SCHEDULE = write(
    "Q3",
    "DELETE FROM product_schedule_by_minute WHERE minute = :minute AND product_id = :product_id",
)
SCHEDULED = read(
    "Q3", "SELECT product_id FROM product_schedule_by_minute WHERE minute = :minute LIMIT :most"
)


def schedule_minute(moment: datetime) -> datetime:
    """Return the minute whose work a moment is: the first that begins at it or after it."""
    minute = floor_to_minute(moment)
    return minute if minute == moment else minute + MINUTE


def _schedule(product_id: UUID, moments: Iterable[datetime]) -> None:
    minutes = {schedule_minute(each) for each in moments}
    _wait_for_all([INSERT_SCHEDULE.start(minute=each, product_id=product_id) for each in minutes])


def schedule_product(product: Product, now: datetime) -> None:
    """Note the moments to come of a product as it is."""
    _schedule(product.product_id, {each for each in product.moments if each > now})


def list_scheduled_products(minutes: Sequence[datetime], most: int) -> list[tuple[datetime, UUID]]:
    """Return which products change in these minutes, the earliest first, so many of each minute. Raises CassandraUnavailable."""
    reading = [(minute, SCHEDULED.start(minute=minute, most=most)) for minute in minutes]
    return [(minute, row.product_id) for minute, pending in reading for row in pending.rows()]


def follow_schedule(minute: datetime, product_id: UUID) -> None:
    """Let all lists follow a product that comes, goes or changes in this minute, and its price history.

    Raises CassandraUnavailable.
    """
    record_prices(queries.prefetch_product_at_quorum(product_id).rows(), current_time())
    refresh_cards(product_id)
    record_product_change(product_id, current_time())
    DELETE_SCHEDULE.run(minute=minute, product_id=product_id)


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
    """Return where a product's cards belong: its categories and all above them, in every sort."""
    if not product.is_on_sale(current_time()):
        return set()
    nodes = [tree.by_id[each] for each in product.all_category_ids if each in tree.by_id]
    keys = sort_keys(product_card(product))
    return {
        (each.category_id, sort, key)
        for node in nodes
        for each in node.path
        for sort, key in keys.items()
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
        if not product.is_on_sale(current_time()) or product.availability == "out":
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
    pinned: dict[UUID, tuple[UUID, ...]] = {}
    for product in products:
        if product.is_on_sale(current_time()):
            cards_by_category.setdefault(product.category_id, []).append(product_card(product))
            if product.related_ids:
                pinned[product.product_id] = product.related_ids
    known = {card.product_id: card for cards in cards_by_category.values() for card in cards}
    for category_cards in cards_by_category.values():
        for index, card in enumerate(category_cards):
            pins = pinned.get(card.product_id, ())
            wanted = dict.fromkeys(
                [
                    *pins,
                    *recommendations.get(card.product_id, ()),
                    *_neighbours(category_cards, index),
                ]
            )
            wanted.pop(card.product_id, None)
            chosen = [RelatedCard(known[each], each in pins) for each in wanted if each in known]
            _write_related(card.product_id, chosen)
    return len(known)


def _neighbours(category_cards: Sequence[ProductCard], index: int) -> Iterator[UUID]:
    """Yield the next products in the category, and after its end the first."""
    for step in range(1, min(RELATED_LENGTH + 1, len(category_cards))):
        yield category_cards[(index + step) % len(category_cards)].product_id


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
    """Put what is pinned on a changed product's related list, and its card on the lists of the products that are there.

    Products are mostly related both ways; the rest follows when all are rebuilt.
    """
    now = current_time()
    _refresh_pinned(product, now)
    card = product_card(product) if product.is_on_sale(now) else None
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


def _refresh_pinned(product: Product, now: datetime) -> None:
    present = list_related_with_pins(product.product_id)
    if [each.card.product_id for each in present if each.pinned] == list(product.related_ids):
        return
    found = queries.get_products_at_quorum(product.related_ids)
    pinned = [
        RelatedCard(product_card(found[each]), pinned=True)
        for each in product.related_ids
        if each in found and found[each].is_on_sale(now)
    ]
    others = [
        each
        for each in present
        if not each.pinned and each.card.product_id not in product.related_ids
    ]
    if [*pinned, *others] != present:
        _write_related(product.product_id, [*pinned, *others])


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
        if not product.is_on_sale(current_time()):
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

"""I13, I14, I17 to I21 and I25: stock copies, cards, names, schedules and categories agree with the products."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import partial
from itertools import islice
from typing import Any
from uuid import UUID

from cassandra_db import Row, Statement, current_microseconds, current_time, read, scan
from catalogue import bulk_changes, operations, queries
from catalogue.card_rows import card_columns
from catalogue.entities import CategoryNode, Product
from catalogue.old_addresses import list_old_paths
from consistency.changes import change_subjects, compare_with_mark
from consistency.findings import Check, Scope, Violation, call, column_subjects, table_subjects
from inventory.operations import copy_stock
from inventory.operations.stock_copies import is_copied
from inventory.operations.stock_lists import COPIED
from inventory.queries import (
    list_in_stock,
    prefetch_stock_numbers,
    product_availability,
    stock_from_rows,
)

PRODUCTS = scan(
    "I14",
    "SELECT DISTINCT product_id FROM products WHERE token(product_id) > :start AND token(product_id) <= :end",
)
STOCK_COPIES = scan(
    "I13",
    "SELECT DISTINCT product_id FROM stock_by_product WHERE token(product_id) > :start AND token(product_id) <= :end",
)
CARD = read(
    "I14",
    """SELECT name, slug, brand, picture, swatches, variant_count, price, price_varies, compare_at, currency, availability,
              unit_price, writetime(name) AS written
       FROM products_by_category
       WHERE category_id = :category_id AND sort = :sort AND sort_key = :sort_key AND product_id = :product_id""",
)
LISTED_CARDS = scan(
    "I14",
    """SELECT category_id, sort, sort_key, product_id FROM products_by_category
       WHERE token(category_id, sort) > :start AND token(category_id, sort) <= :end""",
)
SLUGS = scan(
    "I17",
    """SELECT slug, product_id, writetime(product_id) AS written FROM product_ids_by_slug
       WHERE token(slug) > :start AND token(slug) <= :end""",
)
SKUS = scan(
    "I17",
    """SELECT sku, product_id, variant_id, writetime(product_id) AS written FROM variants_by_sku
       WHERE token(sku) > :start AND token(sku) <= :end""",
)
SCHEDULED = read(
    "I18",
    """SELECT product_id FROM product_schedule_by_minute
       WHERE minute = :minute AND product_id = :product_id""",
)
SLUG = read("I14", "SELECT product_id FROM product_ids_by_slug WHERE slug = :slug")
AT_ONCE = 100
# The worker brings lists up to date within half a minute of a change (catalogue.jobs).
SOON = timedelta(minutes=2)


# ---- I13: the stock


def _check_stock_copy(product_id: UUID) -> Iterator[Violation]:
    copied, product = COPIED.start(product_id=product_id), queries.prefetch_availability(product_id)
    rows = copied.rows()
    reading = [(row, prefetch_stock_numbers(row.variant_id, row.warehouse_id)) for row in rows]
    wrong = []
    for row, pending in reading:
        numbers = pending.one()
        if numbers and not is_copied(row, numbers):
            wrong.append((row, numbers))
    newest = max((row.written or 0 for row, _ in wrong), default=0)
    fix = call(copy_stock, product_id)
    for row, numbers in wrong:
        what = f"variant {row.variant_id} in {row.warehouse_id}"
        fault = "pages show other units than there are"
        detail = f"{row.available}, not {numbers.available}"
        yield Violation("I13", what, fault, detail, fix, newest)
    row, stock = product.one(), stock_from_rows(rows)
    if row is None or wrong:
        return
    availability, in_stock_ids = product_availability(stock.values()), list_in_stock(stock)
    if (row.availability or "out") != availability:
        fault = "its availability is not what its stock says"
        detail = f"{row.availability}, not {availability}"
        yield Violation("I13", f"product {product_id}", fault, detail, fix)
    elif different := in_stock_ids ^ set(row.in_stock_ids or ()):
        fault = "its variants in stock are not those that its stock says"
        detail = ", ".join(sorted(map(str, different)))
        yield Violation("I13", f"product {product_id}", fault, detail, fix)


# ---- I14: cards and addresses


def _check_product(product_id: UUID) -> Iterator[Violation]:
    product = queries.get_product_at_quorum(product_id)
    if product is None:
        return
    tree = queries.get_category_tree_with(*product.all_category_ids)
    stands_in = [tree.by_id[each] for each in product.all_category_ids if each in tree.by_id]
    # The worker updates the products of a category that was renamed or moved.
    is_moving = any(above.changed_at for node in stands_in for above in node.path)
    if not is_moving and not is_following(product, current_time()):
        yield from _check_cards(product)
    for category_id in product.all_category_ids - tree.by_id.keys():
        if category_id in tree.removed_ids:
            fault = "stands in a category that was removed"
            fix = call(operations.restore_category, category_id)
            yield Violation("I20", f"product {product_id}", fault, str(category_id), fix)
    yield from _check_schedule(product)
    yield from _check_names(product)


def _check_names(product: Product) -> Iterator[Violation]:
    what, fix = f"product {product.product_id}", call(operations.claim_names, product)
    for address in (product.slug, *list_old_paths(product.old_addresses)):
        slug = SLUG.one(slug=address)
        if slug is None or slug.product_id != product.product_id:
            fault = "its address leads elsewhere, or nowhere"
            yield Violation("I14", what, fault, address, None if slug else fix)
    for variant in product.variants:
        found = queries.find_variant_by_sku(variant.sku)
        key = product.product_id, variant.variant_id
        if found is None or (found.product_id, found.variant_id) != key:
            where = f"{what}, variant {variant.variant_id}"
            fault = "its SKU leads elsewhere, or nowhere"
            yield Violation("I14", where, fault, variant.sku, None if found else fix)


def is_following(product: Product, now: datetime) -> bool:
    """Return whether a product has just begun, ended or changed its price by schedule, so that its lists are about to change."""
    saved_at = product.updated_at or now
    begun = {
        each.price_from
        for each in product.variants
        if each.price_from and each.price_from > saved_at
    }
    moments = begun | {product.active_from, product.active_until}
    return any(each and now - SOON < each <= now for each in moments)


def _check_cards(product: Product) -> Iterator[Violation]:
    belongs = operations.compute_list_positions(
        product, queries.get_category_tree_with(*product.all_category_ids)
    )
    found = operations.list_positions(product.product_id)
    places = {
        place: CARD.start(
            category_id=place[0], sort=place[1], sort_key=place[2], product_id=product.product_id
        )
        for place in belongs | found
    }
    rows = {place: pending.one() for place, pending in places.items()}
    values = card_columns(queries.product_card(product)) if belongs else {}
    wrong = [
        place
        for place, row in rows.items()
        if (place in belongs) != (row is not None)
        or place not in found
        or (row is not None and not has_values(row, values))
    ]
    if wrong:
        yield Violation(
            "I14",
            f"product {product.product_id}",
            "its cards are not what it says",
            ", ".join(sorted({sort for _, sort, _ in wrong})),
            call(operations.refresh_cards, product.product_id),
            max((row.written or 0 for row in rows.values() if row), default=0),
        )


def _iterate_parts(
    table: str, rows_of_table: Statement, scope: Scope | None
) -> Iterator[tuple[Row, ...]]:
    """Yield the rows of a table whose products are in the scope, AT_ONCE together."""
    if scope is not None and table not in scope.tables:
        return
    rows = (
        row
        for row in rows_of_table.iterate_table()
        if scope is None or row.product_id in scope.products
    )
    while part := tuple(islice(rows, AT_ONCE)):
        yield part


def _iterate_listed_cards(scope: Scope | None) -> Iterator[tuple[Row, ...]]:
    yield from _iterate_parts("products_by_category", LISTED_CARDS, scope)


def _check_listed_cards(rows: tuple[Row, ...]) -> Iterator[Violation]:
    """Yield the cards whose places their products have not recorded, for example after a restore. No save would find them."""
    ids = dict.fromkeys(row.product_id for row in rows)
    reading = {each: operations.LIST_PLACES.start(product_id=each) for each in ids}
    stored = {each: operations.stored_places(pending.one()) for each, pending in reading.items()}
    for row in rows:
        product_id, place = row.product_id, (row.category_id, row.sort, row.sort_key)
        # 0.1.0 may have recorded the place, or a save may have recorded it since.
        if place in stored[product_id] or place in operations.list_positions(product_id):
            continue
        card = CARD.one(
            category_id=place[0], sort=place[1], sort_key=place[2], product_id=product_id
        )
        if card:
            what = f"products_by_category, product {product_id}, category {row.category_id}"
            fault = "has a card that its product does not know"
            fix = call(operations.repair_unrecorded_card, product_id, place)
            yield Violation("I14", what, fault, row.sort, fix, card.written or 0)


def _check_schedule(product: Product) -> Iterator[Violation]:
    now = current_time()
    minutes = {operations.schedule_minute(each) for each in product.moments if each > now}
    reading = [SCHEDULED.start(minute=minute, product_id=product.product_id) for minute in minutes]
    if not all(pending.rows() for pending in reading):
        fault = "lists will not follow when it comes or goes"
        fix = partial(operations.schedule_product, product)
        yield Violation("I18", f"product {product.product_id}", fault, fix=fix)


# ---- I19: the tree of categories


def _check_tree(_: str) -> Iterator[Violation]:
    """Find damage in the tree that two people could do at the same time, before the tree had a version."""
    tree = queries.get_category_tree_at_quorum()
    for node in sorted(tree.by_id.values(), key=lambda each: each.category_id):
        what = f"category {node.category_id}"
        if tree.by_slug[node.slug] is not node:
            fault, fix = "another category has its address", call(_give_own_address, node)
            yield Violation("I19", what, fault, node.slug, fix)
        if min(_circle_of(node), default=None) == node.category_id:
            fix = call(operations.lift_category, node.category_id)
            yield Violation("I19", what, "stands below itself", node.name, fix)
        # While the worker rewrites the list with the pinned products, it may be incomplete, and is not shown.
        if not node.changed_at and node.has_featured_list != bool(node.order.pinned_ids):
            fault = "is not shown in the order that was chosen for it"
            fix = call(operations.follow_order_again, node.category_id)
            yield Violation("I25", what, fault, node.name, fix)


def _circle_of(node: CategoryNode) -> set[UUID]:
    """Return the ids of the categories that form a circle with a category; none if the category is below a root."""
    found: set[UUID] = set()
    above = node.parent
    while above is not None and above.category_id not in found:
        found.add(above.category_id)
        above = above.parent
    return found if node.category_id in found else set()


def _give_own_address(node: CategoryNode) -> None:
    operations.save_category(
        category_id=node.category_id,
        slug=f"{node.slug[:90].rstrip('-')}-{node.category_id.hex[:6]}",
        name=node.name,
        parent_id=node.parent.category_id if node.parent else None,
        description=node.description,
        seen=operations.fingerprint_category(node),
    )


# ---- I25: pinned products on the front page


def _iterate_front_page(scope: Scope | None) -> Iterator[str]:
    if scope is None or "front_page_pins" in scope.tables:
        yield from operations.FEATURE_TYPES


def _check_front_page(feature_type: str) -> Iterator[Violation]:
    """Compare the beginning of a front-page row with its pinned products, unless the worker is about to rebuild the row."""
    row = queries.FRONT_PAGE_PINS.one(feature_type=feature_type)
    now = current_time()
    if row is None or row.changed_at > now - SOON:
        return
    changed = operations.list_changed_products(now - SOON, now)
    featured_ids = [card.product_id for card in queries.list_featured(feature_type)]
    found = queries.get_products_at_quorum(row.product_ids or ())
    expected = [
        product_id
        for product_id in row.product_ids or ()
        if product_id in found and operations.can_be_shown(feature_type, found[product_id], now)
    ]
    is_changing = changed.keys() & {*featured_ids, *expected}
    if featured_ids[: len(expected)] != expected and not is_changing:
        fault, fix = "does not begin with what is pinned", call(operations.refresh_featured, ())
        yield Violation("I25", f"front page, {feature_type}", fault, fix=fix)


# ---- I17: addresses and SKUs without a product

# How long a form may be sent again after it has claimed a name, if its product was not saved.
CLAIMED_FOR_NOTHING = timedelta(days=1)


def _iterate_claims(scope: Scope | None) -> Iterator[tuple[Row, ...]]:
    yield from _iterate_parts("product_ids_by_slug", SLUGS, scope)
    yield from _iterate_parts("variants_by_sku", SKUS, scope)


def _check_claims(rows: tuple[Row, ...]) -> Iterator[Violation]:
    made_before = current_microseconds() - CLAIMED_FOR_NOTHING // timedelta(microseconds=1)
    saved_before = current_time() - CLAIMED_FOR_NOTHING
    found = queries.get_products_at_quorum(row.product_id for row in rows)
    for row in rows:
        claim, kind = _claim_of(row)
        product = found.get(claim.product_id)
        # It is unknown when a product gave up an address or SKU: at the latest with its last save.
        is_slug = claim.variant_id is None and not claim.is_old_path
        is_used = product and (is_slug or claim.is_carried(product))
        is_new = row.written > made_before or (
            product and product.updated_at and product.updated_at > saved_before
        )
        if not is_used and not is_new and operations.is_claimed(claim):
            fix = call(operations.release_claims, [claim])
            what, fault = f"the {kind} {claim.name}", "is claimed, and nothing has it"
            yield Violation("I17", what, fault, fix=fix)


def _claim_of(row: Row) -> tuple[operations.Claim, str]:
    """Return a row's claim, and the kind of the claimed name."""
    if variant_id := getattr(row, "variant_id", None):
        return operations.Claim(row.sku, row.product_id, variant_id), "SKU"
    return operations.Claim(row.slug, row.product_id), "address"


def has_values(row: Row, values: dict[str, Any]) -> bool:
    return all(
        _plain(getattr(row, name)) == _plain(wanted)
        for name, wanted in values.items()
        if name in row._fields
    )


def _plain(value: Any) -> Any:
    # Cassandra returns an empty list as null.
    return (value or None) if isinstance(value, list) else value


# ---- I21: changes of many products


def _check_change(change: bulk_changes.BulkChange) -> Iterator[Violation]:
    """Check that a finished change has marked exactly the products whose rows have the result "done"."""
    for row in bulk_changes.iterate_results(change):
        yield from compare_with_mark(
            ("I21", f"change {change.change_id}, row {row.position}"),
            row.result,
            "saved",
            has_mark=bulk_changes.has_mark(row.item_id, change.change_id),
            fix=call(bulk_changes.note_done, change, row.position, row.label),
        )


CHECKS = (
    Check(
        "products' stock",
        ("I13",),
        column_subjects(STOCK_COPIES, "product_id", "products"),
        _check_stock_copy,
    ),
    Check(
        "products",
        ("I14", "I18", "I20"),
        column_subjects(PRODUCTS, "product_id", "products"),
        _check_product,
    ),
    Check("listed cards", ("I14",), _iterate_listed_cards, _check_listed_cards),
    Check("categories", ("I19", "I25"), table_subjects(("categories",)), _check_tree),
    Check("front page", ("I25",), _iterate_front_page, _check_front_page),
    Check("claims", ("I17",), _iterate_claims, _check_claims),
    Check("changes of many products", ("I21",), change_subjects(bulk_changes.STORE), _check_change),
)

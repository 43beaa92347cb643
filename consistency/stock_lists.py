"""I26: the stock lists of each warehouse agree with the stock and the products."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from cassandra_db import current_time, read, scan
from catalogue.queries import get_product_at_quorum
from consistency.findings import Check, Scope, Violation, call
from inventory import operations, queries
from inventory.entities import BACKORDER_WAREHOUSE, find_stock_lists
from inventory.operations.stock_lists import COPIED, Listing, delete_listed, find_listing

# How long a product's change may take to reach the stock lists (inventory.jobs).
LISTED_WITHIN = timedelta(minutes=10)

LISTED_PRODUCTS = scan(
    "I26",
    "SELECT DISTINCT product_id FROM stock_by_product WHERE token(product_id) > :start AND token(product_id) <= :end",
)
LISTED = scan(
    "I26",
    """SELECT warehouse_id, list_name, sku, variant_id, product_id FROM stock_items_by_warehouse
       WHERE token(warehouse_id, list_name) > :start AND token(warehouse_id, list_name) <= :end""",
)
LISTED_ROW = read(
    "I26",
    """SELECT product_id, WRITETIME(product_id) AS written FROM stock_items_by_warehouse
       WHERE warehouse_id = :warehouse_id AND list_name = :list_name AND sku = :sku AND variant_id = :variant_id""",
)


@dataclass(frozen=True)
class _ListRow:
    """A row of a warehouse's stock list: its key, and the product that it names."""

    warehouse_id: str
    list_name: str
    sku: str
    variant_id: UUID
    product_id: UUID


def _iterate_listed(scope: Scope | None) -> Iterator[UUID | _ListRow]:
    yield from scope.products if scope is not None else ()
    if scope is None:
        yield from (row.product_id for row in LISTED_PRODUCTS.iterate_table())
    for row in LISTED.iterate_table():
        if scope is None or row.product_id in scope.products:
            yield _ListRow(row.warehouse_id, row.list_name, row.sku, row.variant_id, row.product_id)


def _check_listed(subject: UUID | _ListRow) -> Iterator[Violation]:
    """Check that a product's stock items are on the right stock lists, or that a row of a stock list is right."""
    if isinstance(subject, UUID):
        product_id = subject
        for each in _expected_rows(product_id):
            key = {name: value for name, value in vars(each).items() if name != "product_id"}
            if LISTED_ROW.one(**key) is None:
                yield Violation(
                    "I26",
                    f"variant {each.variant_id} in {each.warehouse_id}",
                    f"is missing in the list {each.list_name}",
                    each.sku,
                    call(_list_again, product_id),
                )
    elif subject not in _expected_rows(subject.product_id):
        key = {name: value for name, value in vars(subject).items() if name != "product_id"}
        found = LISTED_ROW.one(**key)
        if found is not None:
            yield Violation(
                "I26",
                f"variant {subject.variant_id} in {subject.warehouse_id}",
                f"stands in the list {subject.list_name} and does not belong there",
                subject.sku,
                call(delete_listed, **key),
                found.written or 0,
            )


def _list_again(product_id: UUID) -> None:
    operations.copy_stock(product_id)
    operations.follow_product(product_id, rewrite=True)


def _expected_rows(product_id: UUID) -> set[_ListRow]:
    copies = COPIED.start(product_id=product_id)
    product = get_product_at_quorum(product_id)
    rows = [row for row in copies.rows() if row.warehouse_id != BACKORDER_WAREHOUSE]
    reading = [
        (row, queries.prefetch_stock_numbers(row.variant_id, row.warehouse_id)) for row in rows
    ]
    expected = set()
    for row, pending in reading:
        numbers, listing = pending.one(), find_listing(product, row.variant_id)
        # A stock item without a stock copy gets on the list when its first copy is written (I13).
        if numbers is None or numbers.received is None or listing is None or row.available is None:
            continue
        saved_at = product.updated_at if product else None
        if row.listed_sku and saved_at and saved_at > current_time() - LISTED_WITHIN:
            listing = Listing(row.listed_sku, bool(row.listed_sold))  # the worker updates it soon
        names = find_stock_lists(numbers.available, numbers.threshold or 0, is_sold=listing.is_sold)
        expected |= {
            _ListRow(row.warehouse_id, name, listing.sku, row.variant_id, product_id)
            for name in names
        }
    return expected


CHECKS = (Check("stock lists", ("I26",), _iterate_listed, _check_listed),)

"""The three lists of a warehouse's stock items, sorted by SKU: all items, items low in stock, and items out of stock.

The lists depend on a stock item's numbers, its threshold and its product. `copy_stock` updates them when numbers change, and
the worker when the product's SKU or status changes. New rows are written before the stock's copy for pages, and old rows are
deleted after it, all with one timestamp. So a crash leaves a row too many, never one too few. A mark on the copy says that old
rows may be left; then the next `copy_stock` deletes them even if no number has changed.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from cassandra.query import BoundStatement

from cassandra_db import Row, current_microseconds, read, write, write_batch
from catalogue.entities import Product
from catalogue.queries import prefetch_product_at_quorum, product_from_rows
from inventory.entities import ALL, BACKORDER_WAREHOUSE, STOCK_LISTS, find_stock_lists

# A product's copies of stock, with their write times and their columns for the lists.
COPIED = read(
    "Q16",
    """SELECT variant_id, warehouse_id, available, threshold, backorder_kind, expected_on, listed_sku, listed_sold,
              lists_written, WRITETIME(available) AS written, WRITETIME(listed_sku) AS listed, WRITETIME(lists_written) AS marked
       FROM stock_by_product WHERE product_id = :product_id""",
)
INSERT_LISTED = write(
    "Q16",
    """INSERT INTO stock_items_by_warehouse (warehouse_id, list_name, sku, variant_id, product_id)
       VALUES (:warehouse_id, :list_name, :sku, :variant_id, :product_id) USING TIMESTAMP :at""",
)
DELETE_LISTED = write(
    "Q16",
    """DELETE FROM stock_items_by_warehouse USING TIMESTAMP :at
       WHERE warehouse_id = :warehouse_id AND list_name = :list_name AND sku = :sku AND variant_id = :variant_id""",
)
NOTE_LISTED = write(
    "Q16",
    """UPDATE stock_by_product USING TIMESTAMP :at SET listed_sku = :sku, listed_sold = :is_sold
       WHERE product_id = :product_id AND variant_id = :variant_id AND warehouse_id = :warehouse_id""",
)
MARK_LISTS = write(
    "Q16",
    """UPDATE stock_by_product USING TIMESTAMP :at SET lists_written = true
       WHERE product_id = :product_id AND variant_id = :variant_id AND warehouse_id = :warehouse_id""",
)
UNMARK_LISTS = write(
    "Q16",
    """DELETE lists_written FROM stock_by_product USING TIMESTAMP :at
       WHERE product_id = :product_id AND variant_id = :variant_id AND warehouse_id = :warehouse_id""",
)
# How many rows, which may be in several partitions, are written in one batch.
_BATCH_SIZE = 100


@dataclass(frozen=True)
class Listing:
    """The values of a product that decide in which lists a stock item is."""

    sku: str
    is_sold: bool


def find_listing(product: Product | None, variant_id: UUID) -> Listing | None:
    """Return the listing of a product's variant; None if the product does not have the variant."""
    variant = product.get_variant(variant_id) if product else None
    if product is None or variant is None:
        return None
    return Listing(variant.sku, variant.sold and product.status == "active")


@dataclass
class ListChanges:
    """The writes that change stock lists, in order: marks that old rows may be left, new rows, the copy for pages, deletions, ends of marks."""

    marks: list[BoundStatement] = field(default_factory=list)
    inserts: list[BoundStatement] = field(default_factory=list)
    notes: list[BoundStatement] = field(default_factory=list)
    deletes: list[BoundStatement] = field(default_factory=list)
    ends: list[BoundStatement] = field(default_factory=list)

    def add(
        self,
        product_id: UUID,
        row: Row,
        numbers: Row,
        listing: Listing,
        at: int,
        *,
        anew: bool = False,
    ) -> None:
        """Add the writes for a stock item with these numbers; `row` has its key and its present listing.

        The row in the list of all stock items is written only if it is new, or if `anew` is set.
        """
        key = {"warehouse_id": row.warehouse_id, "variant_id": row.variant_id, "at": at}
        names = find_stock_lists(numbers.available, numbers.threshold or 0, is_sold=listing.is_sold)
        is_listed = row.listed_sku == listing.sku and not anew
        for name in STOCK_LISTS:
            where = {"list_name": name, **key}
            if name == ALL and is_listed:
                continue
            if name in names:
                self.inserts.append(
                    INSERT_LISTED.bind(product_id=product_id, sku=listing.sku, **where)
                )
            else:
                self.deletes.append(DELETE_LISTED.bind(sku=listing.sku, **where))
            if row.listed_sku not in (None, listing.sku):
                self.deletes.append(DELETE_LISTED.bind(sku=row.listed_sku, **where))
        if not is_listed or row.listed_sold != listing.is_sold:
            self.notes.append(
                NOTE_LISTED.bind(
                    product_id=product_id, sku=listing.sku, is_sold=listing.is_sold, **key
                )
            )
        # A stock item without a copy needs no mark: the next copy writes its rows.
        if row.available is not None:
            where = {**key, "product_id": product_id}
            self.marks.append(MARK_LISTS.bind(**where))
            self.ends.append(UNMARK_LISTS.bind(**where))

    def begin(self) -> None:
        """Write the marks and the new rows. Raises CassandraUnavailable."""
        _write_all(self.marks)
        _write_all(self.inserts)

    def end(self) -> None:
        """Delete the old rows and the marks. Raises CassandraUnavailable."""
        _write_all(self.deletes)
        _write_all(self.ends)

    def write(self) -> None:
        """Write all changes in their order. Raises CassandraUnavailable."""
        self.begin()
        _write_all(self.notes)
        self.end()


def _write_all(statements: Sequence[BoundStatement]) -> None:
    for start in range(0, len(statements), _BATCH_SIZE):
        write_batch(statements[start : start + _BATCH_SIZE])


@dataclass(frozen=True)
class _NewCopy:
    """Replaces the missing copy of a stock item: all numbers are None."""

    variant_id: UUID
    warehouse_id: str
    available: int | None = None
    threshold: int | None = None
    listed_sku: str | None = None
    listed_sold: bool | None = None


def plan_list_changes(
    product_id: UUID, moving: Iterable[tuple[tuple[UUID, str], Row | None, Row]], at: int
) -> ListChanges:
    """Return the changes of lists for stock items (key, present copy, numbers) that move between lists.

    The product is read only if stock items move. Raises CassandraUnavailable.
    """
    moved = [
        (copy or _NewCopy(*key), numbers)
        for key, copy, numbers in moving
        if key[1] != BACKORDER_WAREHOUSE
    ]
    changes = ListChanges()
    if moved:
        product = product_from_rows(prefetch_product_at_quorum(product_id).rows())
        for copy, numbers in moved:
            if listing := find_listing(product, copy.variant_id):
                changes.add(product_id, copy, numbers, listing, at)
    return changes


def find_last_write(copy: Row) -> int:
    """Return when any part of this row of COPIED was last written, in microseconds; 0 for never."""
    return max(copy.written or 0, copy.listed or 0, copy.marked or 0)


def is_moving(copy: Row | None, numbers: Row) -> bool:
    """Return whether a sold stock item is in other lists by its present numbers than by the numbers in its copy."""
    if copy is None or copy.available is None:
        return True
    before, after = (
        find_stock_lists(row.available, row.threshold or 0, is_sold=True) for row in (copy, numbers)
    )
    return before != after


def follow_product(product_id: UUID, *, rewrite: bool = False) -> bool:
    """Adapt the lists to a product's SKUs, variants and status; return whether anything was written.

    A row's timestamp directly follows the timestamp of its stock item's copy, so a later copy wins. `rewrite` writes all rows
    anew, over any others. Raises CassandraUnavailable.
    """
    reading = COPIED.start(product_id=product_id)
    product = product_from_rows(prefetch_product_at_quorum(product_id).rows())
    changes = ListChanges()
    for row in reading.rows():
        listing = find_listing(product, row.variant_id)
        if row.warehouse_id == BACKORDER_WAREHOUSE or row.available is None or listing is None:
            continue
        if rewrite or (row.listed_sku, row.listed_sold) != (listing.sku, listing.is_sold):
            at = find_last_write(row) + 1
            at = max(at, current_microseconds()) if rewrite else at
            changes.add(product_id, row, row, listing, at, anew=rewrite)
    changes.write()
    return bool(changes.notes)


def delete_listed(warehouse_id: str, list_name: str, sku: str, variant_id: UUID) -> None:
    """Delete a variant's row from a stock list. The consistency check calls it for wrong rows. Raises CassandraUnavailable."""
    DELETE_LISTED.run(
        at=current_microseconds(),
        warehouse_id=warehouse_id,
        list_name=list_name,
        sku=sku,
        variant_id=variant_id,
    )

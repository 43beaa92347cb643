"""Files of stock: write their lines, plan their rows, and apply them as corrections."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from uuid import UUID

from django.utils.translation import gettext as _

from cassandra_db import Row, current_time
from catalogue.entities import Product
from catalogue.queries import MAX_SKU_LENGTH, get_products, guard_product, prefetch_variant_by_sku
from inventory import operations, queries
from inventory.entities import DEFAULT_THRESHOLD, StockNumbers
from inventory.errors import NotEnoughAvailable, StockChanged
from inventory.warehouses import (
    find_warehouse_key,
    find_warehouse_name,
    list_open_warehouses,
    list_warehouses,
)
from spreadsheets.entities import Change, Fault, FileRow, PlannedRow
from spreadsheets.errors import CellRefused
from spreadsheets.typed_values import parse_whole_number

MAX_UNITS = 1_000_000
MAX_SHIPPED = 999_999_999


def stock_lines(product: Product) -> Iterator[list[str]]:
    """Yield a line for each variant and each warehouse that has ever stocked it. Raises CassandraUnavailable."""
    known = {
        (row.variant_id, row.warehouse_id)
        for row in queries.prefetch_stock_at_quorum(product.product_id).rows()
    }
    reading = [
        (each.sku, warehouse, queries.prefetch_stock_numbers(each.variant_id, warehouse))
        for each in product.variants
        for warehouse in list_warehouses()
        if (each.variant_id, warehouse) in known
    ]
    for sku, warehouse, pending in reading:
        if row := pending.one():
            yield [sku, warehouse, str(_count(row)), str(row.shipped)]


def _count(row: Row | StockNumbers) -> int:
    """Return how many units a stock item has in its warehouse, including reserved units."""
    return int(row.available + row.reserved + row.committed)


def plan_stock(rows: Sequence[FileRow], task_id: UUID, now: datetime) -> list[PlannedRow]:
    """Return the plans for the rows of a file of stock. Raises CassandraUnavailable."""
    by_sku = {each: prefetch_variant_by_sku(each) for each in {_sku(row) for row in rows}}
    found = {sku: row for sku, pending in by_sku.items() if (row := pending.one())}
    reading = {
        each.position: queries.prefetch_stock_numbers(
            found[_sku(each)].variant_id, _warehouse(each)
        )
        for each in rows
        if _sku(each) in found
    }
    numbers = {position: pending.one() for position, pending in reading.items()}
    products = get_products({row.product_id for row in found.values()}, guard_product)
    return [
        _plan(each, found.get(_sku(each)), numbers.get(each.position), products) for each in rows
    ]


def _sku(row: FileRow) -> str:
    return row.lines[0][1]["sku"][: MAX_SKU_LENGTH + 1].replace("\0", " ") or " "


def _warehouse(row: FileRow) -> str:
    return find_warehouse_key(row.lines[0][1]["warehouse"])


def _is_open(warehouse: str) -> bool:
    return any(each.key == warehouse for each in list_open_warehouses())


def _list_choices() -> str:
    """Return the possible texts of a cell for a warehouse: each warehouse's key, with its name if it differs from the key."""
    names = {each: find_warehouse_name(each) for each in list_warehouses()}
    return ", ".join(
        key if name.lower() == key else f"{key} ({name})" for key, name in names.items()
    )


def _plan(
    row: FileRow, variant: Row | None, numbers: Row | None, products: dict[UUID, Product]
) -> PlannedRow:
    line, cells = row.lines[0]
    faults = list(row.faults)

    def refuse(column: str, text: str) -> None:
        faults.append(Fault(line, column, text))

    if variant is None:
        refuse("sku", _("No variant has the SKU %(sku)s.") % {"sku": cells["sku"][:100]})
    if not _warehouse(row):
        refuse("warehouse", _("Enter one of these: %(choices)s.") % {"choices": _list_choices()})
    units = 0
    for column, read in (("units", _read_units), ("shipped", _read_shipped)):
        try:
            units += read(cells.get(column, ""), numbers)
        except CellRefused as refused:
            refuse(column, str(refused))
    before = _count(numbers) if numbers else 0
    if not {each.column for each in faults} & {"units", "shipped"}:
        if units < 0:
            text = _("More units than this have been shipped since the export.")
            refuse("units", text)
        elif units > MAX_UNITS:
            text = _("With returns since then, this is more than %(most)d units.")
            refuse("units", text % {"most": MAX_UNITS})
        elif numbers and before - units > numbers.available:
            refuse("units", _free_text(numbers.available))
    if numbers is None and units and _warehouse(row) and not _is_open(_warehouse(row)):
        refuse("warehouse", _closed_text())
    if faults or variant is None:
        return PlannedRow(row.position, line, row.key, "faulty", faults=tuple(faults))
    product = products.get(variant.product_id)
    change = Change(line, "", "units", str(before) if numbers else None, str(units))
    return PlannedRow(
        row.position,
        line,
        row.key,
        "unchanged" if units == before else "changed" if numbers else "new",
        product.name if product else "",
        variant.product_id,
        variant.variant_id,
        numbers.received if numbers else 0,
        () if units == before else (change,),
    )


def _free_text(free: int) -> str:
    return _("Only %(count)d are available. Orders hold the others.") % {"count": free}


def _closed_text() -> str:
    return _("This warehouse is closed. Use another one.")


def _read_units(text: str, _numbers: Row | None) -> int:
    return parse_whole_number(text, MAX_UNITS)


def _read_shipped(text: str, numbers: Row | None) -> int:
    """Return how many units have come back since the file was written. A number below 0 means that units have left."""
    shipped = numbers.shipped if numbers else 0
    said = parse_whole_number(text, MAX_SHIPPED, empty=shipped)
    # Without a stock item here, the number in the file comes from another shop and says nothing.
    return said - shipped if numbers else 0


def apply_count(row: PlannedRow, actor: str, reason: str, mark: UUID) -> tuple[str, str]:
    """Correct a stock item by a row's difference, once. Return the result, and the reason for it.

    The difference was computed from the units at the time of the count, so sales since then do not change it. Raises
    CassandraUnavailable and UnknownOutcome; the caller then repeats the call.
    """
    assert row.product_id
    assert row.variant_id
    (change,) = row.changes
    warehouse = row.key.rpartition(" ")[2]
    units = int(change.after) - int(change.before or 0)
    # If another process opened the stock item in the meantime, its threshold stays.
    if (
        change.before is None
        and not queries.prefetch_stock_numbers(row.variant_id, warehouse).one()
    ):
        if not _is_open(warehouse):
            return "refused", _closed_text()
        operations.open_stock_item(row.product_id, row.variant_id, warehouse, DEFAULT_THRESHOLD)
    try:
        operations.adjust_stock(
            *(row.variant_id, warehouse, units),
            adjustment_id=mark,
            actor=actor,
            reason=reason,
            now=current_time(),
            counted=None if row.seen is None else operations.Counted(row.seen),
        )
    except StockChanged:
        return "changed", _("Stock was received or adjusted since the file was checked.")
    except NotEnoughAvailable as short:
        return "refused", _free_text(short.available)
    # Waiting orders come before new buyers. Pages show the units that are left after these orders have theirs.
    if not queries.list_waiting_orders(row.variant_id):
        operations.copy_stock(row.product_id)
    return "done", ""


def is_counted(row: PlannedRow, mark: UUID) -> bool:
    """Return whether the correction of a row was booked. Raises CassandraUnavailable."""
    assert row.variant_id
    warehouse = row.key.rpartition(" ")[2]
    rows = queries.prefetch_stock_numbers(row.variant_id, warehouse, mark).rows()
    return any(each.reservation_id == mark for each in rows)

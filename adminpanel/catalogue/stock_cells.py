"""Books the stock cells of a product's form: each typed number as one correction, only once (decision 103)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from uuid import UUID, uuid5

from django.utils.translation import gettext as _

from adminpanel.catalogue.variant_rows import RefusedCell, StockCell
from cassandra_db import Row, run_side_by_side
from inventory import operations
from inventory.entities import BACKORDER_WAREHOUSE, DEFAULT_THRESHOLD
from inventory.errors import NotEnoughAvailable, StockChanged
from inventory.operations import Counted
from inventory.queries import list_waiting_orders, prefetch_stock_numbers, stock_numbers_from_row
from inventory.warehouses import list_open_warehouses

# The corrections are booked in this many threads.
LANES = 4
CHANGED, CLOSED = "changed", "closed"


@dataclass(frozen=True)
class Booking:
    """A save of a product's form that books stock cells. `save_id` is the same if the form is sent again."""

    product_id: UUID
    save_id: UUID
    actor: str
    reason: str
    now: datetime

    def make_id(self, cell: StockCell) -> UUID:
        """Return the id of a cell's correction."""
        return uuid5(self.save_id, f"{cell.variant_id} {cell.warehouse_id}")


def book_stock_cells(booking: Booking, cells: Sequence[StockCell]) -> list[RefusedCell]:
    """Book each cell's difference to the number that the page showed, once per save. Return the refused cells.

    A cell is refused if its units were changed since the page was shown, unless they are now as typed. After a failure the call
    may be repeated with the same `save_id`. Raises CassandraUnavailable.
    """
    if not cells:
        return []
    reading = [
        prefetch_stock_numbers(each.variant_id, each.warehouse_id, booking.make_id(each))
        for each in cells
    ]
    promised = {
        variant_id: prefetch_stock_numbers(variant_id, BACKORDER_WAREHOUSE)
        for variant_id in dict.fromkeys(each.variant_id for each in cells)
    }
    read = [(cell, pending.rows()) for cell, pending in zip(cells, reading, strict=True)]
    open_keys = {each.key for each in list_open_warehouses()}

    def book_lane(lane: int) -> list[tuple[StockCell, str]]:
        return [
            (cell, _book_cell(booking, cell, rows, cell.warehouse_id in open_keys))
            for cell, rows in read[lane::LANES]
        ]

    lanes = run_side_by_side(*(partial(book_lane, lane) for lane in range(LANES)))
    refused = [(cell, why) for lane in lanes for cell, why in lane if why]
    # Orders that wait for a variant get its units first. Until then pages do not show these units, as after a receipt.
    waiting = {
        variant_id
        for variant_id, pending in promised.items()
        if (row := pending.one()) and row.committed and list_waiting_orders(variant_id)
    }
    copied = [
        (each.variant_id, each.warehouse_id) for each in cells if each.variant_id not in waiting
    ]
    if copied:
        operations.copy_stock(booking.product_id, copied)
    reread = [prefetch_stock_numbers(each.variant_id, each.warehouse_id) for each, _why in refused]
    return [
        _describe(cell, why, pending.one())
        for (cell, why), pending in zip(refused, reread, strict=True)
    ]


def _book_cell(booking: Booking, cell: StockCell, rows: Sequence[Row], is_open: bool) -> str:
    """Book one cell. Return "" if its units are as typed, else CHANGED or CLOSED."""
    own = next((row for row in rows if row.reservation_id == booking.make_id(cell)), None)
    if own is not None:
        # A process that died may have left the ledger without this correction. So it is entered again.
        _adjust(booking, cell, own.quantity)
        return ""
    row = rows[0] if rows and rows[0].received is not None else None
    if row is None:
        if not is_open:
            return CLOSED
        operations.open_stock_item(
            booking.product_id, cell.variant_id, cell.warehouse_id, DEFAULT_THRESHOLD
        )
    numbers = stock_numbers_from_row(row)
    if cell.units == numbers.available:
        return ""
    if (cell.seen or 0) != numbers.available:
        return CHANGED
    try:
        counted = Counted(numbers.received, numbers.shipped)
        _adjust(booking, cell, cell.units - numbers.available, counted)
    except (StockChanged, NotEnoughAvailable):
        return CHANGED
    return ""


def _adjust(booking: Booking, cell: StockCell, units: int, counted: Counted | None = None) -> None:
    operations.adjust_stock(
        cell.variant_id,
        cell.warehouse_id,
        units,
        adjustment_id=booking.make_id(cell),
        actor=booking.actor,
        reason=booking.reason,
        now=booking.now,
        counted=counted,
    )


def _describe(cell: StockCell, why: str, row: Row | None) -> RefusedCell:
    if why == CLOSED:
        return RefusedCell(
            cell, _("This warehouse is closed. Enter the units in another one"), None
        )
    available = stock_numbers_from_row(row).available
    text = _("Not saved: it’s %(units)d now. Save again to replace it")
    return RefusedCell(cell, text % {"units": available}, available)

"""Converts the rows of a foreign file by what was chosen for each of its columns."""

from collections import Counter
from collections.abc import Iterator

from django.utils.translation import gettext_lazy

from spreadsheets.entities import Fault
from spreadsheets.errors import CellRefused
from spreadsheets.foreign.entities import (
    AUTOMATIC,
    SKIPPED,
    ColumnMapping,
    ConvertedLine,
    ForeignRow,
    Rows,
)
from spreadsheets.foreign.values import Values
from spreadsheets.layouts import LAYOUTS

# Targets beside the columns of products. Several columns can have one of MULTIPLE_TARGETS.
EXTRA_TARGETS = {
    "option": gettext_lazy("Option, named as the column"),
    "detail": gettext_lazy("Detail, named as the column"),
    "categories": gettext_lazy("Categories, separated by commas"),
    "sale_price": gettext_lazy("Sale price"),
    "price_without_tax": gettext_lazy("Price without tax"),
}
MULTIPLE_TARGETS = (SKIPPED, AUTOMATIC, "option", "detail", "pictures", "old_addresses", "tags")

_HEAD = LAYOUTS["products"].head
# The columns of a whole product, which the first line of a product has.
PRODUCT_COLUMNS = frozenset(_HEAD[_HEAD.index("product") + 1 : _HEAD.index("sku")])


def fill(row: ForeignRow, mapping: ColumnMapping, notes: Counter[str]) -> ConvertedLine:
    """Return a row in our layout: the columns with a target of ours, with their values converted.

    Converters of presets call it for each row, and add the cells that they make of the AUTOMATIC columns (ConvertedLine.with_cells).
    """
    values = Values(mapping, notes)
    faults = []
    for name, text in row.cells.items():
        target = mapping.targets.get(name, SKIPPED)
        if target in (SKIPPED, AUTOMATIC):
            continue
        try:
            values.add(target, name, text)
        except CellRefused as refused:
            faults.append(Fault(row.line, target, str(refused)))
    return ConvertedLine(row.line, values.cells, tuple(faults))


def read_automatic(row: ForeignRow, mapping: ColumnMapping) -> dict[str, str]:
    """Return the cells that a preset's converter reads, by the columns' normalised names."""
    return {short: row.cells.get(name, "").strip() for name, short in mapping.automatic.items()}


def convert(rows: Rows, mapping: ColumnMapping, notes: Counter[str]) -> Iterator[ConvertedLine]:
    """Yield a line for each row of a file of an unknown shop."""
    for row in rows():
        yield fill(row, mapping, notes)


def list_targets(layout: str) -> list[str]:
    """Return the targets that columns of a file can have, without SKIPPED and AUTOMATIC."""
    return [*LAYOUTS[layout].head, *(EXTRA_TARGETS if layout == "products" else ())]

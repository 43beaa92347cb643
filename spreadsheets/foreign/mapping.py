"""Reads the lines of a foreign file by what was chosen for each of its columns."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from spreadsheets.entities import Fault
from spreadsheets.files import normalize_name
from spreadsheets.foreign.entities import AUTOMATIC, SKIPPED, ConvertedLine
from spreadsheets.layouts import LAYOUTS
from spreadsheets.typed_values import format_details, format_options
from web.text import clean_text

# Targets beside the columns of products.
EXTRA_TARGETS = {
    "option": gettext_lazy("Option, named as the column"),
    "detail": gettext_lazy("Detail, named as the column"),
    "categories": gettext_lazy("Categories, separated by commas"),
    "price_without_tax": gettext_lazy("Price without tax"),
    "sale_price": gettext_lazy("Sale price"),
    "sale_starts": gettext_lazy("First day of the sale"),
    "sale_ends": gettext_lazy("Last day of the sale"),
}
# Targets that several columns can have, and what separates their values.
_SEPARATORS = {"tags": ", ", "pictures": "\n", "old_addresses": "\n"}
MULTIPLE_TARGETS = (SKIPPED, AUTOMATIC, "option", "detail", *_SEPARATORS)
_UNIT_OF_COLUMN = re.compile(r"\(([a-z]+)\)\s*$")
_HEAD = LAYOUTS["products"].head
_PRODUCT_COLUMNS = frozenset(_HEAD[_HEAD.index("product") + 1 : _HEAD.index("sku")])
_PRODUCT_COLUMNS |= {"categories"}


class ForeignColumn(NamedTuple):
    """A column of a foreign file, with its label as an option or detail, and the unit of its numbers."""

    name: str
    target: str
    label: str
    unit: str


def list_columns(targets: Mapping[str, str], units: Mapping[str, str]) -> list[ForeignColumn]:
    """Return the columns of a file in their order. `units` are those of columns that do not name theirs."""
    columns = []
    for text, target in targets.items():
        name, label = normalize_name(text), " ".join(text.replace("_", " ").split())
        found = _UNIT_OF_COLUMN.search(text.lower())
        is_measure = target.endswith(("_grams", "_mm"))
        unit = (found[1] if found else units.get(name, "")) if is_measure else ""
        columns.append(ForeignColumn(name, target, label[:1].upper() + label[1:], unit))
    return columns


def read_line(line: int, record: Sequence[str], columns: Sequence[ForeignColumn]) -> ConvertedLine:
    """Return a line of a foreign file with its cells by target. A number gets the unit that its column names."""
    cells, own = dict[str, str](), dict[str, str]()
    labelled: dict[str, dict[str, str]] = {"option": {}, "detail": {}}
    for column, text in zip(columns, [*record, *[""] * len(columns)], strict=False):
        target, cell = column.target, clean_text(text, keep_lines=True).strip()
        if target == AUTOMATIC:
            own[column.name] = cell
        elif target in labelled:
            labelled[target] |= {column.label: cell} if cell else {}
        elif target in _SEPARATORS:
            cells[target] = _SEPARATORS[target].join(filter(None, (cells.get(target), cell)))
        elif target:
            is_bare = column.unit and cell[-1:].isdigit()
            cells[target] = f"{cell} {column.unit}" if is_bare else cell
    if labelled["option"]:
        cells["options"] = format_options(labelled["option"])
    if labelled["detail"]:
        cells["details"] = format_details(labelled["detail"])
    faults: tuple[Fault, ...] = ()
    if any(record[len(columns) :]):
        faults = (Fault(line, "", _("This line has more cells than the first one.")),)
    return ConvertedLine(line, cells, faults, own)


def split_cells(cells: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the cells that describe a whole product, and those of a variant, both without the product's address."""
    whole = {name: text for name, text in cells.items() if name in _PRODUCT_COLUMNS}
    rest = {name: text for name, text in cells.items() if name not in whole and name != "product"}
    return whole, rest


def list_targets(layout: str) -> list[str]:
    """Return the targets that columns of a file can have, without SKIPPED and AUTOMATIC."""
    return [*LAYOUTS[layout].head, *(EXTRA_TARGETS if layout == "products" else ())]

"""The rows of the grid in a product's form (adminpanel.catalogue.variant_grid): columns, cells, and what was typed in them.

The grid is read from plain inputs, because a Django form for each of 200 rows would take half a second to render. The inputs
are named `variant-<n>-<column>`, and those of the options `option-<n>-name` and `option-<n>-values`.
"""

import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from moneyed import Money

from adminpanel.parameters import parse_id
from adminpanel.stock.forms import MAX_UNITS
from catalogue import rules
from catalogue.entities import Product, Variant
from inventory.entities import BACKORDER_WAREHOUSE, Stock
from inventory.warehouses import find_warehouse_name, list_open_warehouses, list_warehouses
from spreadsheets.errors import CellRefused
from spreadsheets.typed_values import (
    format_content,
    format_price,
    format_whole_number,
    parse_barcode,
    parse_content,
    parse_price,
    parse_whole_number,
)
from web.text import clean_text
from web.types import StrOrPromise

# The names of the columns of stock begin with this; the warehouse's key follows.
STOCK = "stock-"
# A variant's picture that is no picture of its product, such as a drawing. It stays if its cell is not changed.
_OTHER_PICTURE = "–"
# A picture that was removed after the page had been shown. It is no number, so a cell with it is refused.
GONE_PICTURE = "?"
_UNITS = re.compile(r"[0-9]{1,9}")


@dataclass(frozen=True)
class GridColumn:
    """A column of the grid. `show` returns the text of a value, `parse` the value of a text; it raises CellRefused."""

    name: str
    label: StrOrPromise
    show: Callable[[Any], str] = str
    parse: Callable[[str], Any] = str
    inputmode: str = ""


def _parse_former_price(text: str) -> Money | None:
    return parse_price(text) if text.strip(" 0.,") else None


def _parse_cost_price(text: str) -> Money | None:
    return parse_price(text) if text.strip() else None


def _parse_weight(text: str) -> int:
    return parse_whole_number(text, rules.MAX_WEIGHT_GRAMS, empty=0)


PRICES = (
    GridColumn("price", gettext_lazy("Price"), format_price, parse_price, "decimal"),
    GridColumn(
        "compare_at", gettext_lazy("Former price"), format_price, _parse_former_price, "decimal"
    ),
    GridColumn(
        "cost_price", gettext_lazy("Cost price"), format_price, _parse_cost_price, "decimal"
    ),
)
OTHERS = (
    GridColumn("sku", gettext_lazy("SKU"), parse=rules.normalize_sku),
    GridColumn("barcode", gettext_lazy("Barcode"), parse=parse_barcode, inputmode="numeric"),
    GridColumn("mpn", gettext_lazy("Part number")),
    GridColumn(
        "weight_grams", gettext_lazy("Weight (g)"), format_whole_number, _parse_weight, "numeric"
    ),
    GridColumn("content", gettext_lazy("Content"), format_content, parse_content, "decimal"),
)
PICTURE = GridColumn("picture", gettext_lazy("Picture"), inputmode="numeric")
SOLD = GridColumn("sold", gettext_lazy("Available"))
# The columns that are values of a variant by the same name.
VALUES = (*PRICES, *OTHERS)


def list_columns(used: Collection[str]) -> tuple[GridColumn, ...]:
    """Return the grid's columns, with one for each open warehouse and for each of the `used` ones."""
    shown = {*used, *(each.key for each in list_open_warehouses())}
    cells = (
        GridColumn(
            f"{STOCK}{key}",
            _("Stock, %(warehouse)s") % {"warehouse": find_warehouse_name(key)},
            inputmode="numeric",
        )
        for key in list_warehouses()
        if key in shown
    )
    return (*PRICES, *cells, *OTHERS, PICTURE, SOLD)


@dataclass(frozen=True)
class Cell:
    """An input of the grid. `name` is its name and its id."""

    name: str
    column: str
    label: StrOrPromise
    value: str
    error: str
    inputmode: str

    @property
    def is_checkbox(self) -> bool:
        return self.column == SOLD.name


@dataclass(frozen=True)
class CellError:
    """A refused cell, or a refused option, for the list of the page's errors."""

    field_id: str
    label: str
    text: str


@dataclass(frozen=True)
class StockCell:
    """A typed number of units of a variant in a warehouse. `seen` is the number that the page showed; None: no stock yet."""

    variant_id: UUID
    warehouse_id: str
    seen: int | None
    units: int


@dataclass(frozen=True)
class RefusedCell:
    """A stock cell that was not booked, why, and how many units there are now; None: no stock yet."""

    cell: StockCell
    reason: str
    available: int | None


@dataclass
class OptionField:
    """An option as the page shows it: its name, and its values with commas between them."""

    number: int | str
    name: str = ""
    values: str = ""
    error: str = ""


@dataclass
class VariantRow:
    """A variant's row: its texts and errors, keyed by column. `variant` is None for a variant that is not saved yet."""

    number: int | str
    columns: Sequence[GridColumn]
    texts: dict[str, str]
    variant: Variant | None = None
    option_values: tuple[str, ...] = ()
    shown: dict[str, str] = field(
        default_factory=dict
    )  # the stock and the picture, as the page showed them
    picture: str = ""
    name: str = ""  # of a product without options
    errors: dict[str, str] = field(default_factory=dict)
    parsed: dict[str, Any] = field(default_factory=dict)

    @property
    def variant_id(self) -> UUID | str:
        return self.variant.variant_id if self.variant else ""

    @property
    def values_text(self) -> str:
        return json.dumps(self.option_values, ensure_ascii=False)

    @property
    def seen(self) -> str:
        return json.dumps(self.shown, ensure_ascii=False) if self.shown else ""

    @property
    def label(self) -> str:
        return ", ".join(self.option_values) or self.name

    @property
    def is_saved(self) -> bool:
        return self.variant is not None and self.variant.price_from is not None

    @property
    def has_planned(self) -> bool:
        return bool(self.variant and self.variant.planned)

    @property
    def cells(self) -> list[Cell]:
        return [
            Cell(
                f"variant-{self.number}-{each.name}",
                each.name,
                each.label,
                self.texts.get(each.name, ""),
                self.errors.get(each.name, ""),
                each.inputmode,
            )
            for each in self.columns
        ]

    def parse(self, product: Product) -> None:
        """Set the row's values, and an error for each cell that has none."""
        self._parse(VALUES)
        if self.variant and self.parsed.get("sku") == "":
            self.errors["sku"] = _("Enter a SKU")
        self._parse(
            replace(each, parse=lambda text: parse_whole_number(text, MAX_UNITS))
            for each in self.columns
            if self._is_stock_typed(each.name)
        )
        if self.texts.get(PICTURE.name, "") != self.shown.get(PICTURE.name, ""):
            self._parse([replace(PICTURE, parse=lambda text: _parse_picture(text, product))])

    def _parse(self, columns: Iterable[GridColumn]) -> None:
        for each in columns:
            try:
                self.parsed[each.name] = each.parse(self.texts.get(each.name, ""))
            except CellRefused as refused:
                self.errors[each.name] = str(refused)

    def _is_stock_typed(self, name: str) -> bool:
        return name.startswith(STOCK) and self.texts.get(name, "") != self.shown.get(name, "")

    def apply_to(self, variant: Variant) -> Variant:
        """Return the variant with the row's values. An empty SKU leaves the variant's SKU."""
        typed = {name: value for name, value in self.parsed.items() if not name.startswith(STOCK)}
        sku = typed["sku"] or variant.sku
        return replace(variant, **typed | {"sku": sku, "sold": bool(self.texts.get(SOLD.name))})

    def list_stock_cells(self, variant_id: UUID) -> list[StockCell]:
        """Return the valid row's stock cells that were typed anew."""
        return [
            StockCell(
                variant_id,
                name.removeprefix(STOCK),
                int(seen) if _UNITS.fullmatch(seen := self.shown.get(name, "")) else None,
                units,
            )
            for name, units in self.parsed.items()
            if name.startswith(STOCK)
        ]


def _parse_picture(text: str, product: Product) -> str:
    """Return the product's picture of a typed number, the first is 1; "" for no text. Raises CellRefused."""
    if not text.strip():
        return ""
    if text == GONE_PICTURE:
        raise CellRefused(_("This picture was removed. Enter the number of another one."))
    number = parse_whole_number(text, len(product.pictures))
    if not number:
        raise CellRefused(_("Enter the number of a picture."))
    return product.pictures[number - 1].picture


def number_pictures(product: Product) -> dict[str, str]:
    """Return the number that the page shows for each picture of the product."""
    return {each.picture: str(number) for number, each in enumerate(product.pictures, start=1)}


def _picture_text(product: Product, variant: Variant) -> str:
    if not variant.picture:
        return ""
    return number_pictures(product).get(variant.picture, _OTHER_PICTURE)


def list_option_values(product: Product, variant: Variant) -> tuple[str, ...]:
    """Return a variant's values of its product's options, in their order."""
    named = [variant.options[name] for name in product.option_names if name in variant.options]
    return tuple(named if len(named) == len(variant.options) else variant.options.values())


def show_variant(
    number: int, columns: Sequence[GridColumn], product: Product, variant: Variant, stock: Stock
) -> VariantRow:
    """Return the row that shows a variant and its stock."""
    shown = {
        f"{STOCK}{key}": str(units)
        for key, units in stock.by_warehouse.items()
        if key != BACKORDER_WAREHOUSE
    } | {PICTURE.name: _picture_text(product, variant)}
    texts = {each.name: each.show(getattr(variant, each.name)) for each in VALUES}
    texts |= {SOLD.name: "on" if variant.sold else ""} | shown
    return VariantRow(
        number,
        columns,
        texts,
        variant,
        list_option_values(product, variant),
        shown,
        product.picture_of(variant),
        product.name,
    )


def read_row(
    number: int,
    columns: Sequence[GridColumn],
    product: Product,
    data: Mapping[str, str],
    moved: Mapping[str, str],
) -> VariantRow:
    """Return a submitted row, not parsed yet. `moved` has the present number of each picture, by the number that was shown."""

    def read(name: str) -> str:
        return clean_text(data.get(f"variant-{number}-{name}", "")).strip()

    variant_id = parse_id(read("id"))
    variant = product.get_variant(variant_id) if variant_id else None
    texts = {each.name: read(each.name) for each in columns}
    shown = {_clean(name): _clean(text) for name, text in _read_json(read("seen"), dict).items()}
    for cells in (texts, shown):
        if PICTURE.name in cells:
            cells[PICTURE.name] = moved.get(cells[PICTURE.name].lstrip("0"), cells[PICTURE.name])
    return VariantRow(
        number,
        columns,
        texts,
        variant,
        tuple(map(_clean, _read_json(read("values"), list))),
        shown,
        product.picture_of(variant) if variant else "",
        product.name,
    )


def _read_json(text: str, kind: type) -> Any:
    """Return the list or the dict that a hidden field has as JSON, or else an empty one."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return kind()
    return found if isinstance(found, kind) else kind()


def _clean(text: object) -> str:
    """Return a text without characters that no page can contain; "" for anything else."""
    return clean_text(text).encode(errors="ignore").decode() if isinstance(text, str) else ""

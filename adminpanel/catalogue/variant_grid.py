"""The options and variants in a product's form: a grid with a row for each variant and a cell for each of its values.

The grid is read from plain inputs, because a Django form for each of 200 rows would take half a second to render. The inputs
are named `variant-<n>-<column>`, and those of the options `option-<n>-name` and `option-<n>-values`.
"""

import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any, Self
from uuid import UUID

from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from moneyed import Money

from adminpanel.parameters import parse_id
from catalogue import rules
from catalogue.entities import Product, Variant
from catalogue.errors import ProductRefused
from catalogue.variants import find_variant_id, generate_variants, list_used_options, make_sku
from inventory.entities import BACKORDER_WAREHOUSE, Stock
from inventory.warehouses import find_warehouse_name, list_open_warehouses, list_warehouses
from spreadsheets.cells import join_list
from spreadsheets.errors import CellRefused
from spreadsheets.typed_values import (
    format_content,
    format_price,
    format_whole_number,
    parse_barcode,
    parse_content,
    parse_price,
    parse_whole_number,
    split_values,
)
from web.text import clean_text
from web.types import StrOrPromise

MAX_UNITS = 1_000_000
# The page shows two empty rows for options.
EMPTY_OPTIONS = 2
_ROW = re.compile(r"variant-([0-9]{1,4})-id")
_OPTION = re.compile(r"option-([0-9]{1,4})-name")
_STOCK = "stock-"
_STOCK_CELL = re.compile(r"variant-[0-9]{1,4}-stock-(.+)")
# A variant's picture that is no picture of its product, such as a drawing. It stays if its cell is not changed.
_OTHER_PICTURE = "–"


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


def _parse_weight(text: str) -> int:
    return parse_whole_number(text, rules.MAX_WEIGHT_GRAMS, empty=0)


PRICES = (
    GridColumn("price", gettext_lazy("Price"), format_price, parse_price, "decimal"),
    GridColumn(
        "compare_at", gettext_lazy("Former price"), format_price, _parse_former_price, "decimal"
    ),
)
OTHERS = (
    GridColumn("sku", gettext_lazy("SKU"), parse=rules.normalize_sku),
    GridColumn("barcode", gettext_lazy("Barcode"), parse=parse_barcode, inputmode="numeric"),
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
            f"{_STOCK}{key}",
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
        return name.startswith(_STOCK) and self.texts.get(name, "") != self.shown.get(name, "")

    def apply_to(self, variant: Variant) -> Variant:
        """Return the variant with the row's values. An empty SKU leaves the variant's SKU."""
        typed = {name: value for name, value in self.parsed.items() if not name.startswith(_STOCK)}
        sku = typed["sku"] or variant.sku
        return replace(variant, **typed | {"sku": sku, "sold": bool(self.texts.get(SOLD.name))})

    def list_stock_cells(self, variant_id: UUID) -> list[StockCell]:
        """Return the valid row's stock cells that were typed anew."""
        return [
            StockCell(
                variant_id,
                name.removeprefix(_STOCK),
                int(self.shown[name]) if self.shown.get(name, "").isdecimal() else None,
                units,
            )
            for name, units in self.parsed.items()
            if name.startswith(_STOCK)
        ]


def _parse_picture(text: str, product: Product) -> str:
    """Return the product's picture of a typed number, the first is 1; "" for no text. Raises CellRefused."""
    if not text.strip():
        return ""
    number = parse_whole_number(text, len(product.pictures))
    if not number:
        raise CellRefused(_("Enter the number of a picture."))
    return product.pictures[number - 1].picture


def _picture_text(product: Product, variant: Variant) -> str:
    if not variant.picture:
        return ""
    numbers = {each.picture: str(number) for number, each in enumerate(product.pictures, start=1)}
    return numbers.get(variant.picture, _OTHER_PICTURE)


def _option_values(product: Product, variant: Variant) -> tuple[str, ...]:
    named = [variant.options[name] for name in product.option_names if name in variant.options]
    return tuple(named if len(named) == len(variant.options) else variant.options.values())


@dataclass
class VariantGrid:
    """The options and the variants of a product, as the page shows them or as they were sent."""

    product: Product
    columns: tuple[GridColumn, ...]
    options: list[OptionField]
    rows: list[VariantRow]
    # The rows of the variants that `apply_to` returned.
    row_by_variant: dict[UUID, VariantRow] = field(default_factory=dict)

    @classmethod
    def of(cls, product: Product, stock: Mapping[UUID, Stock]) -> Self:
        """Return the grid of a product. All sold variants are shown, and others up to `rules.MAX_VARIANTS` rows."""
        columns = list_columns({key for each in stock.values() for key in each.by_warehouse})
        sold = sum(each.sold for each in product.variants)
        room = max(0, rules.MAX_VARIANTS - sold)
        kept = [each for each in product.variants if not each.sold][:room]
        rows = [
            _show_variant(number, columns, product, each, stock.get(each.variant_id, Stock()))
            for number, each in enumerate(
                each for each in product.variants if each.sold or each in kept
            )
        ]
        if not rows:
            rows = [VariantRow(0, columns, {SOLD.name: "on"}, name=_("New variant"))]
        return cls(product, columns, _with_empty(_show_options(product)), rows)

    @classmethod
    def sent(cls, product: Product, data: Mapping[str, str]) -> Self:
        """Return the submitted grid of a product, checked. A new product has no variants yet."""
        columns = list_columns(
            {found[1] for name in data if (found := _STOCK_CELL.fullmatch(name))}
        )
        options = [
            OptionField(
                number,
                clean_text(data.get(f"option-{number}-name", "")).strip(),
                clean_text(data.get(f"option-{number}-values", "")).strip(),
            )
            for number in _list_numbers(_OPTION, data)
        ]
        rows = [_read_row(number, columns, product, data) for number in _list_numbers(_ROW, data)]
        named = [each for each in options if each.name or each.values]
        if not options:
            named = _show_options(product)
        grid = cls(product, columns, _with_empty(named), rows)
        for row in rows:
            row.parse(product)
        grid._check_options()
        return grid

    def _check_options(self) -> None:
        names = [each.name for each in self.options]
        for each in self.options:
            if each.name and not split_values(each.values):
                each.error = _("Enter the values of “%(name)s”") % {"name": each.name[:100]}
            elif each.values and not each.name:
                each.error = _("Enter a name for these values")
            elif each.name and names.count(each.name) > 1:
                each.error = _("Enter a different name for each option")
        if prod(len(values) for values in self.typed_options.values()) > rules.MAX_VARIANTS:
            self.options[0].error = _("These options make more than %(most)d variants") % {
                "most": rules.MAX_VARIANTS
            }

    @property
    def typed_options(self) -> dict[str, tuple[str, ...]]:
        """The values of each option, keyed by its name."""
        return {each.name: split_values(each.values) for each in self.options if each.name}

    @property
    def blank_row(self) -> VariantRow:
        """The row that scripts copy for a new variant."""
        return VariantRow("__n__", self.columns, {SOLD.name: "on"}, name=_("New variant"))

    @property
    def errors(self) -> list[CellError]:
        of_options = [
            CellError(f"option-{each.number}-values", each.name or _("Option"), each.error)
            for each in self.options
            if each.error
        ]
        return of_options + [
            CellError(cell.name, f"{row.label or _('Variant')}, {cell.label}", cell.error)
            for row in self.rows
            if row.errors
            for cell in row.cells
            if cell.error
        ]

    def apply_to(self, product: Product) -> Product:
        """Return the product with the variants of the valid grid.

        If the options have changed, a variant is generated for each combination. Its row is found by its values.
        """
        by_id = {row.variant_id: row for row in self.rows if row.variant}
        variants = [
            by_id[each.variant_id].apply_to(each) if each.variant_id in by_id else each
            for each in product.variants
        ]
        options, former = self.typed_options, list_used_options(product)
        is_same = list(options.items()) == list(former.items()) and bool(variants)
        changed = replace(product, variants=tuple(variants or [self._first_variant(product)]))
        by_values = {row.option_values: row for row in self.rows if not row.variant}
        first_id = find_variant_id(product.product_id, {})
        self.row_by_variant = {}
        if not is_same:
            generated = generate_variants(changed, options)
            changed = generated.apply_to(changed)
        made = []
        for each in changed.variants:
            variant, row = each, by_id.get(each.variant_id)
            if row is None and each.sold:
                values = _option_values(changed, each)
                # The row that had no options yet belongs to the first combination.
                row = by_values.get(
                    values, by_values.get(()) if each.variant_id == first_id else None
                )
                variant = row.apply_to(each) if row else each
            elif row and not is_same and each.sold and _has_all_values(row.variant, former):
                variant = replace(each, sold=bool(row.texts.get(SOLD.name)))
            if row:
                self.row_by_variant[each.variant_id] = row
            made.append(variant)
        return _with_skus(replace(changed, variants=tuple(made)))

    def _first_variant(self, product: Product) -> Variant:
        """Return the variant of a new product, from which the others are generated: that of the first row."""
        blank = Variant(
            find_variant_id(product.product_id, {}),
            "",
            {},
            Money(0, settings.CURRENCY),
            None,
            "",
            weight_grams=0,
        )
        first = next(iter(self.rows), None)
        return replace(first.apply_to(blank), sku="", barcode="") if first else blank

    def list_stock_cells(self) -> list[StockCell]:
        """Return the stock cells that were typed anew, after `apply_to`."""
        return [
            cell
            for variant_id, row in self.row_by_variant.items()
            for cell in row.list_stock_cells(variant_id)
        ]

    def show_refusal(self, refused: ProductRefused) -> bool:
        """Mark the cell that a refusal is about. Return whether the grid has such a cell."""
        row = self.row_by_variant.get(refused.variant_id) if refused.variant_id else None
        if row is None and refused.field in ("option_names", "options") and not refused.variant_id:
            self.options[0].error = str(refused)
            return True
        if row is None:
            return False
        names = {each.name for each in self.columns}
        column = refused.field if refused.field in names else SOLD.name
        row.errors[column] = " ".join(filter(None, (row.errors.get(column, ""), str(refused))))
        return True

    def mark_stock(self, refused: Sequence[RefusedCell]) -> None:
        """Show the typed numbers of refused stock cells, each with its reason."""
        rows = {row.variant_id: row for row in self.rows}
        for each in refused:
            row, name = rows.get(each.cell.variant_id), f"{_STOCK}{each.cell.warehouse_id}"
            if row is None:
                continue
            row.texts[name], row.errors[name] = str(each.cell.units), each.reason
            row.shown[name] = "" if each.available is None else str(each.available)

    def keep_typed(self, typed: Self) -> None:
        """Show what was typed in the grid `typed`, whose rows had not been saved."""
        for row in self.rows:
            if sent := typed.row_by_variant.get(UUID(str(row.variant_id))):
                row.texts |= {name: text for name, text in sent.texts.items() if text}
                row.shown = sent.shown


def _list_numbers(name: re.Pattern[str], data: Mapping[str, str]) -> list[int]:
    return sorted({int(found[1]) for each in data if (found := name.fullmatch(each))})


def _show_options(product: Product) -> list[OptionField]:
    return [
        OptionField(0, name, join_list(values))
        for name, values in list_used_options(product).items()
    ]


def _with_empty(options: list[OptionField]) -> list[OptionField]:
    """Return the options numbered from 0, with empty ones behind them."""
    count = min(EMPTY_OPTIONS, rules.MAX_OPTIONS - len(options))
    empty = [OptionField(0) for _ in range(count)]
    return [replace(each, number=number) for number, each in enumerate([*options, *empty])]


def _has_all_values(variant: Variant | None, options: Mapping[str, Sequence[str]]) -> bool:
    return variant is not None and all(
        value in options.get(name, ()) for name, value in variant.options.items()
    )


def _with_skus(product: Product) -> Product:
    """Return the product with a SKU for each variant that has none."""
    taken = {each.sku for each in product.variants}
    made = []
    for each in product.variants:
        sku = each.sku or make_sku(product, each.options, taken)
        taken.add(sku)
        made.append(replace(each, sku=sku))
    return replace(product, variants=tuple(made))


def _show_variant(
    number: int, columns: Sequence[GridColumn], product: Product, variant: Variant, stock: Stock
) -> VariantRow:
    shown = {
        f"{_STOCK}{key}": str(units)
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
        _option_values(product, variant),
        shown,
        product.picture_of(variant),
        product.name,
    )


def _read_row(
    number: int, columns: Sequence[GridColumn], product: Product, data: Mapping[str, str]
) -> VariantRow:
    def read(name: str) -> str:
        return clean_text(data.get(f"variant-{number}-{name}", "")).strip()

    variant_id = parse_id(read("id"))
    variant = product.get_variant(variant_id) if variant_id else None
    values, shown = _read_json(read("values")), _read_json(read("seen"))
    return VariantRow(
        number,
        columns,
        {each.name: read(each.name) for each in columns},
        variant,
        tuple(map(str, values)) if isinstance(values, list) else (),
        {str(key): str(text) for key, text in shown.items()} if isinstance(shown, dict) else {},
        product.picture_of(variant) if variant else "",
        product.name,
    )


def _read_json(text: str) -> Any:
    try:
        return json.loads(text) if text else None
    except ValueError:
        return None

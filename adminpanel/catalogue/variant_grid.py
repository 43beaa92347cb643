"""The options and variants in a product's form: a grid with a row for each variant and a cell for each of its values."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Self
from uuid import UUID

from django.conf import settings
from django.utils.translation import gettext as _
from moneyed import Money

from adminpanel.catalogue.variant_rows import (
    GONE_PICTURE,
    SOLD,
    STOCK,
    CellError,
    GridColumn,
    OptionField,
    RefusedCell,
    StockCell,
    VariantRow,
    list_columns,
    list_option_values,
    number_pictures,
    read_row,
    show_variant,
)
from catalogue import rules
from catalogue.entities import Product, Variant
from catalogue.errors import ProductRefused
from catalogue.variants import find_variant_id, generate_variants, list_used_options, make_sku
from inventory.entities import Stock
from spreadsheets.cells import join_list
from spreadsheets.typed_values import split_values
from web.text import clean_text

# The page shows two empty rows for options.
EMPTY_OPTIONS = 2
# The fields of the grid. The audit log has their changes instead.
GRID_FIELD = re.compile(r"(?:option|variant)-[0-9]{1,4}-[a-z0-9_-]+")
_ROW = re.compile(r"variant-([0-9]{1,4})-id")
_OPTION = re.compile(r"option-([0-9]{1,4})-name")
_STOCK_CELL = re.compile(r"variant-[0-9]{1,4}-stock-(.+)")


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
    def of(cls, product: Product, stock: Mapping[UUID, Stock], used: Collection[str] = ()) -> Self:
        """Return the grid of a product. All sold variants are shown, and others up to `rules.MAX_VARIANTS` rows.

        The `used` warehouses have a column even if they are closed and without stock.
        """
        columns = list_columns(
            {*used, *(key for each in stock.values() for key in each.by_warehouse)}
        )
        sold = sum(each.sold for each in product.variants)
        room = max(0, rules.MAX_VARIANTS - sold)
        kept = [each for each in product.variants if not each.sold][:room]
        rows = [
            show_variant(number, columns, product, each, stock.get(each.variant_id, Stock()))
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
        now = number_pictures(product)
        moved = {
            str(number): now.get(picture, GONE_PICTURE)
            for number, picture in enumerate(data.get("shown_pictures", "").split(), start=1)
        }
        rows = [
            read_row(number, columns, product, data, moved)
            for number in _list_numbers(_ROW, data)[: rules.MAX_VARIANT_ROWS]
        ]
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
    def shown_pictures(self) -> str:
        """The pictures whose numbers the page shows, in their order."""
        return " ".join(number_pictures(self.product))

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
        if not is_same:
            # A row can say which combination its variant becomes.
            variants = [
                _with_options(each, by_id[each.variant_id].option_values, options)
                if each.variant_id in by_id
                else each
                for each in variants
            ]
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
            # A variant that is not sold can have been saved by a first submit of this form.
            if row is None and (each.sold or (is_same and _has_all_values(each, former))):
                values = list_option_values(changed, each)
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
        return replace(first.apply_to(blank), sku="", barcode="", mpn="") if first else blank

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
            row, name = rows.get(each.cell.variant_id), f"{STOCK}{each.cell.warehouse_id}"
            if row is None:
                continue
            row.texts[name], row.errors[name] = str(each.cell.units), each.reason
            row.shown[name] = "" if each.available is None else str(each.available)

    def keep_typed(self, typed: Self) -> None:
        """Show what was typed in the grid `typed`, whose rows had not been saved."""
        for row in self.rows:
            if sent := typed.row_by_variant.get(UUID(str(row.variant_id))):
                texts = {name: text for name, text in sent.texts.items() if text}
                row.texts |= texts | {SOLD.name: row.texts[SOLD.name]}
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


def _with_options(
    variant: Variant, values: Sequence[str], options: Mapping[str, Sequence[str]]
) -> Variant:
    """Return the variant with these values of the options, or unchanged if they are no combination of the options."""
    chosen = dict(zip(options, values, strict=False))
    is_whole = len(values) == len(options) and _are_values(chosen, options)
    return replace(variant, options=chosen) if is_whole else variant


def _are_values(chosen: Mapping[str, str], options: Mapping[str, Sequence[str]]) -> bool:
    return all(value in options.get(name, ()) for name, value in chosen.items())


def _has_all_values(variant: Variant | None, options: Mapping[str, Sequence[str]]) -> bool:
    return variant is not None and _are_values(variant.options, options)


def _with_skus(product: Product) -> Product:
    """Return the product with a SKU for each variant that has none."""
    taken = {each.sku for each in product.variants}
    made = []
    for each in product.variants:
        sku = each.sku or make_sku(product, each.options, taken)
        taken.add(sku)
        made.append(replace(each, sku=sku))
    return replace(product, variants=tuple(made))

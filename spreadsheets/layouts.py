"""The kinds of files: their columns, how lines are grouped into rows, how rows are planned, and how products are exported."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from typing import Any
from uuid import UUID

from django.utils.functional import lazy
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from catalogue.entities import Product
from catalogue.rules import MAX_VARIANT_ROWS, normalize_sku
from inventory.warehouses import find_warehouse_key, list_open_warehouses
from mail.addresses import email_key
from promotions.rules import code_key
from spreadsheets.categories import CategoryForm, apply_category, category_lines, decide_category
from spreadsheets.columns import PRICE_COLUMNS, PRODUCT_COLUMNS, VARIANT_COLUMNS, Column
from spreadsheets.entities import Fault, FileRow, PlannedRow, SpreadsheetTask
from spreadsheets.errors import FileRefused
from spreadsheets.files import Table, normalize_name
from spreadsheets.foreign.entities import ConvertedLine
from spreadsheets.links import Links, link_columns, picture_column
from spreadsheets.people import customers, past_orders, reviews
from spreadsheets.products import plan_prices, plan_products, price_lines, product_lines
from spreadsheets.redirects import RedirectForm, apply_redirect, decide_redirect, redirect_key
from spreadsheets.row_forms import RowForm, form_planner
from spreadsheets.stock import plan_stock, stock_lines
from spreadsheets.vouchers import VoucherForm, apply_voucher, decide_voucher
from web.types import StrOrPromise

# A column of a file of faulty rows. An import ignores it, and the file's empty cells: its rows may have had different columns.
ERRORS = "errors"


@dataclass(frozen=True)
class ColumnHelp:
    """The help for a column, on the help page."""

    name: str
    help: StrOrPromise
    example: StrOrPromise
    is_number: bool = False


def _example_warehouse() -> str:
    return list_open_warehouses()[0].key


def _stock_key(cells: dict[str, str]) -> str:
    typed = cells["warehouse"]
    return f"{cells['sku']} {find_warehouse_key(typed) or typed.strip().lower()}"


def _help(columns: Sequence[Column[Any]]) -> list[ColumnHelp]:
    return [ColumnHelp(each.name, each.help, each.example, each.is_number) for each in columns]


def _form_help(form: type[RowForm]) -> tuple[ColumnHelp, ...]:
    return tuple(
        ColumnHelp(name, field.help_text, form.examples.get(name, ""))
        for name, field in form.base_fields.items()
    )


@dataclass(frozen=True)
class Layout:
    """A kind of file. Staff with one of `roles` may import it. An imported file must have the `required` columns.

    Files with `lines` of products or a whole `table` are exported, too. Without `apply`, the rows change a product or its stock.
    """

    name: str
    label: StrOrPromise
    roles: tuple[str, ...]
    columns: tuple[ColumnHelp, ...]
    required: tuple[str, ...]
    key: Callable[[dict[str, str]], str]
    plan: Callable[[Sequence[FileRow], UUID, datetime], list[PlannedRow]]
    lines: Callable[[Product], Iterator[list[str]]] | None = None
    table: Callable[[], Iterator[list[str]]] | None = None
    apply: Callable[[SpreadsheetTask, PlannedRow, UUID], tuple[str, str]] | None = None
    # Whether neighbouring lines with the same key form one row.
    is_grouped: bool = False

    @property
    def head(self) -> list[str]:
        return [each.name for each in self.columns]

    @property
    def number_places(self) -> frozenset[int]:
        return frozenset(place for place, each in enumerate(self.columns) if each.is_number)


_SKU = ColumnHelp(
    "sku", gettext_lazy("The variant’s SKU. Each line is a variant."), gettext_lazy("MUG-OLIVE")
)
LAYOUTS = {
    each.name: each
    for each in (
        Layout(
            "products",
            gettext_lazy("Products and variants"),
            ("catalogue",),
            (
                ColumnHelp(
                    "product",
                    gettext_lazy(
                        "The last part of the page’s address, on every line of the product. An unknown one creates a product."
                    ),
                    "breakfast-mug",
                ),
                *_help(PRODUCT_COLUMNS),
                *_help(link_columns(Links())),
                _SKU,
                *_help(VARIANT_COLUMNS),
                *_help([picture_column(Links())]),
            ),
            ("product", "sku"),
            lambda cells: cells["product"].strip(),
            plan_products,
            product_lines,
            is_grouped=True,
        ),
        Layout(
            "prices",
            gettext_lazy("Prices"),
            ("catalogue",),
            (_SKU, *_help(PRICE_COLUMNS)),
            ("sku", "price"),
            lambda cells: cells["sku"],
            plan_prices,
            price_lines,
        ),
        Layout(
            "stock",
            gettext_lazy("Stock"),
            ("warehouse",),
            (
                _SKU,
                ColumnHelp(
                    "warehouse",
                    gettext_lazy("The warehouse’s key, as in exports, or its name."),
                    lazy(_example_warehouse, str)(),
                ),
                ColumnHelp(
                    "units",
                    gettext_lazy("Units on hand, including those reserved by orders."),
                    "12",
                    is_number=True,
                ),
                ColumnHelp(
                    "shipped",
                    gettext_lazy(
                        "Units shipped in total at the time of the export. If filled in, the count is taken as of the export; if empty, as of the import."
                    ),
                    "",
                    is_number=True,
                ),
            ),
            ("sku", "warehouse", "units"),
            _stock_key,
            plan_stock,
            stock_lines,
        ),
        Layout(
            "customer-accounts",
            gettext_lazy("Customers"),
            ("support",),
            _form_help(customers.CustomerForm),
            ("email",),
            lambda cells: email_key(cells["email"]),
            form_planner(customers.CustomerForm, customers.decide_customer),
            apply=customers.apply_customer,
            is_grouped=True,
        ),
        Layout(
            "past-orders",
            gettext_lazy("Orders of a former shop"),
            ("support",),
            _form_help(past_orders.PastOrderForm),
            ("number", "placed_at", "email", "total"),
            lambda cells: cells["number"].strip().upper(),
            form_planner(past_orders.PastOrderForm, past_orders.decide_past_order),
            apply=past_orders.apply_past_order,
            is_grouped=True,
        ),
        Layout(
            "reviews",
            gettext_lazy("Reviews"),
            ("support",),
            _form_help(reviews.ImportedReviewForm),
            ("product", "stars", "name", "email", "written_at"),
            lambda cells: f"{cells['product'].strip()} {email_key(cells['email'])}",
            form_planner(reviews.ImportedReviewForm, reviews.decide_review),
            apply=reviews.apply_review,
        ),
        Layout(
            "vouchers",
            gettext_lazy("Vouchers"),
            ("catalogue",),
            _form_help(VoucherForm),
            ("code", "title", "kind"),
            lambda cells: code_key(cells["code"]),
            form_planner(VoucherForm, decide_voucher),
            apply=apply_voucher,
        ),
        Layout(
            "categories",
            gettext_lazy("Categories"),
            ("catalogue",),
            _form_help(CategoryForm),
            ("category", "name"),
            lambda cells: cells["category"].strip(),
            form_planner(CategoryForm, decide_category),
            table=category_lines,
            apply=apply_category,
        ),
        Layout(
            "redirects",
            gettext_lazy("Redirects"),
            ("catalogue",),
            _form_help(RedirectForm),
            ("old_address", "new_address"),
            redirect_key,
            form_planner(RedirectForm, decide_redirect),
            apply=apply_redirect,
        ),
    )
}


def is_foreign(layout: Layout, head: Sequence[str]) -> bool:
    """Return whether a file has columns that a layout does not have."""
    return any(name not in (*layout.head, ERRORS) for name in _list_names(head))


def _list_names(head: Sequence[str]) -> list[str]:
    names = [normalize_name(each) for each in head]
    while names and not names[-1]:
        names.pop()
    return names


def read_lines(layout: Layout, table: Table) -> Iterator[ConvertedLine]:
    """Yield the lines of a file in our layout, with their cells by column. Raises FileRefused."""
    names = _list_names(table.head)
    for name in names:
        if names.count(name) > 1:
            raise FileRefused(_("The column “%(name)s” is there twice.") % {"name": name})
    for name in layout.required:
        if name not in names:
            raise FileRefused(_("The column “%(name)s” is missing.") % {"name": name})
    text = _("This line has more or fewer cells than the first one.")
    for line, record in table.lines:
        if any(record):
            cells = dict(zip(names, [*record, *[""] * len(names)], strict=False))
            if ERRORS in names:
                cells = {name: text for name, text in cells.items() if text and name != ERRORS}
            is_uneven = len(record) < len(names) or any(record[len(names) :])
            yield ConvertedLine(line, cells, (Fault(line, "", text),) if is_uneven else ())


def iterate_rows(layout: Layout, lines: Iterable[ConvertedLine]) -> Iterator[FileRow]:
    """Yield the rows of a file. A row has the lines that belong together. Raises FileRefused."""
    positions = count()
    seen: dict[int, int] = {}  # lines by hash
    group: list[tuple[int, dict[str, str]]] = []
    faults: list[Fault] = []
    key = ""

    def row() -> FileRow:
        # Only hashes of keys and SKUs are kept: a hundred thousand of them take some megabytes.
        skus = {cells.get("sku", "") for _line, cells in group} if layout.is_grouped else set()
        repeated = frozenset(each for each in skus if hash((each,)) in seen)
        line = group[0][0]
        seen.update((hash((each,)), line) for each in skus)
        if first := seen.get(hash(key)):
            text = (
                _("Put all lines with the same %(column)s together. Line %(line)d has it, too.")
                if layout.is_grouped
                else _("Duplicate of line %(line)d")
            )
            column = layout.required[0]
            faults.append(Fault(line, column, text % {"line": first, "column": column}))
        seen.setdefault(hash(key), line)
        return FileRow(next(positions), key, tuple(group), tuple(faults), repeated)

    for each in lines:
        line, cells = each.line, dict.fromkeys(layout.required, "") | dict(each.cells)
        if "sku" in layout.required:
            cells["sku"] = normalize_sku(cells["sku"])
        its_key = layout.key(cells)
        if group and not (layout.is_grouped and its_key and its_key == key):
            yield row()
            group, faults = [], []
        key = its_key
        group.append((line, cells))
        if len(group) > MAX_VARIANT_ROWS:
            raise FileRefused(
                _("Line %(line)d: at most %(most)d lines can have the same %(column)s.")
                % {"line": line, "most": MAX_VARIANT_ROWS, "column": layout.required[0]}
            )
        faults += each.faults
        # A form says itself that its key is missing.
        if layout.is_grouped and not its_key and layout.apply is None:
            faults.append(
                Fault(line, layout.required[0], _("Enter the last part of the product’s address."))
            )
    if group:
        yield row()


def example_lines(layout: Layout) -> list[list[str]]:
    """Return the lines of an example file: the head and one further line."""
    return [layout.head, [str(each.example) for each in layout.columns]]

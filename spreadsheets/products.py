"""What the rows of a file change of products and their prices, and how they are applied."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID, uuid5

from django.utils.translation import gettext as _

from cassandra_db import Row, current_time
from catalogue import operations, queries
from catalogue.bulk_changes import has_mark
from catalogue.entities import Product, Variant
from catalogue.errors import ProductChanged, ProductRefused
from catalogue.rules import MAX_LENGTHS, MAX_SAVE_TRIES
from spreadsheets.columns import (
    PRICE_COLUMNS,
    PRODUCT_COLUMNS,
    VARIANT_COLUMNS,
    Column,
    blank_product,
    blank_variant,
    order_options,
    with_options_in_order,
)
from spreadsheets.entities import Change, Fault, FileRow, PlannedRow
from spreadsheets.errors import CellRefused
from web.text import clean_text

_PRODUCT = {each.name: each for each in PRODUCT_COLUMNS}
_VARIANT = {each.name: each for each in VARIANT_COLUMNS}
# What the catalogue's refusals name otherwise than the columns.
_COLUMNS_BY_FIELD = {
    "category_id": "category",
    "category_ids": "other_categories",
    "option_names": "options",
    "slug": "product",
}


# ---- Out


def product_lines(product: Product) -> Iterator[list[str]]:
    """Yield the lines of a product: a variant each, and what belongs to all of it on the first."""
    product = order_options(product)
    whole = [each.read(product) for each in PRODUCT_COLUMNS]
    for variant in product.variants:
        own = (each.read(variant) for each in VARIANT_COLUMNS)
        yield [product.slug, *whole, variant.sku, *own]
        whole = [""] * len(PRODUCT_COLUMNS)


def price_lines(product: Product) -> Iterator[list[str]]:
    """Yield a line for each variant with its prices."""
    for variant in product.variants:
        yield [variant.sku, *(each.read(variant) for each in PRICE_COLUMNS)]


# ---- Cells


@dataclass
class _Draft:
    """A product that is being changed cell by cell."""

    product: Product
    is_new: bool
    task_id: UUID
    new_skus: set[str] = field(default_factory=set)

    def read(self, sku: str, column: Column[Any]) -> str | None:
        """Return what a cell says now, None of what is not there yet."""
        if not sku:
            return None if self.is_new else column.read(self.product)
        variant = self._variant(sku)
        return None if variant is None or sku in self.new_skus else column.read(variant)

    def write(self, sku: str, column: Column[Any], text: str) -> str:
        """Write a cell, and return what it says then. Raises CellRefused."""
        if not sku:
            self.product = column.write(self.product, text)
            return column.read(self.product)
        was = self._variant(sku) or self._add(sku)
        variant = column.write(was, text)
        variants = (variant if each.sku == sku else each for each in self.product.variants)
        self.product = replace(self.product, variants=tuple(variants))
        return column.read(order_options(self.product).variants[self._place(sku)])

    def _variant(self, sku: str) -> Variant | None:
        place = self._place(sku)
        return self.product.variants[place] if place >= 0 else None

    def _place(self, sku: str) -> int:
        found = (place for place, each in enumerate(self.product.variants) if each.sku == sku)
        return next(found, -1)

    def _add(self, sku: str) -> Variant:
        variant = blank_variant(uuid5(self.task_id, sku), sku)
        self.new_skus.add(sku)
        self.product = replace(self.product, variants=(*self.product.variants, variant))
        return variant


def _is_same(text: str, other: str) -> bool:
    # A spreadsheet ends the lines of a cell as it likes.
    return text == other or text.replace("\r\n", "\n") == other.replace("\r\n", "\n")


def _change_cell(
    draft: _Draft, line: int, sku: str, column: Column[Any], text: str
) -> Change | None:
    """Write a cell of a file into a draft; return what it changes. Raises CellRefused."""
    before = draft.read(sku, column)
    if before is None and not text.strip():
        return None
    if before is not None and _is_same(text, before):
        return None
    clean = clean_text(text, keep_lines=column.has_lines).strip()
    after = draft.write(sku, column, clean)
    return (
        None
        if before is not None and _is_same(after, before)
        else Change(line, sku, column.name, before, after)
    )


# ---- What a file would change


def plan_products(rows: Sequence[FileRow], task_id: UUID, now: datetime) -> list[PlannedRow]:
    """Return what rows of a file of products would change. Raises CassandraUnavailable."""
    slugs = {
        each.key: queries.prefetch_product_id_at_quorum(each.key)
        for each in rows
        if _is_slug(each.key)
    }
    by_sku = _find_skus(cells["sku"] for each in rows for _line, cells in each.lines)
    ids = {slug: row.product_id for slug, pending in slugs.items() if (row := pending.one())}
    reading = {each: queries.prefetch_product_at_quorum(each) for each in ids.values()}
    product_rows = {product_id: pending.rows() for product_id, pending in reading.items()}
    return [
        _plan_product(
            each, ids.get(each.key), product_rows.get(ids.get(each.key), []), by_sku, task_id, now
        )
        for each in rows
    ]


def _is_slug(key: str) -> bool:
    return 0 < len(key) <= MAX_LENGTHS["slug"] and key.isascii() and key.isprintable()


def _find_skus(skus: Iterable[str]) -> dict[str, Row]:
    """Return the rows (product_id, variant_id) of those SKUs that there are."""
    possible = {
        each for each in skus if 0 < len(each) <= queries.MAX_SKU_LENGTH and "\0" not in each
    }
    reading = {each: queries.prefetch_variant_by_sku(each) for each in possible}
    return {sku: row for sku, pending in reading.items() if (row := pending.one())}


def _plan_product(
    row: FileRow,
    product_id: UUID | None,
    product_rows: Sequence[Row],
    by_sku: dict[str, Row],
    task_id: UUID,
    now: datetime,
) -> PlannedRow:
    before = queries.product_from_rows(product_rows, now)
    faults = list(row.faults)
    if before and before.slug != row.key:
        faults.append(
            Fault(
                row.line,
                "product",
                _("This is a former address of %(name)s, which has “%(slug)s” now.")
                % {"name": before.name, "slug": before.slug},
            )
        )
    if before is None:
        product_id = uuid5(task_id, row.key)
    assert product_id
    base = order_options(before) if before else blank_product(product_id, row.key)
    draft = _Draft(base, before is None, task_id)
    changes: list[Change] = []
    lines_by_sku: dict[str, int] = {}
    for number, (line, cells) in enumerate(row.lines):
        sku = cells["sku"]
        if fault := _find_sku_fault(line, sku, lines_by_sku, by_sku, product_id):
            faults.append(fault)
            continue
        lines_by_sku[sku] = line
        # In our order, not in the file's: which categories are the others depends on the main one.
        cells_by_column: list[tuple[str, Column[Any], str]] = [
            ("", each, cells[each.name]) for each in PRODUCT_COLUMNS if each.name in cells
        ]
        if number:
            faults += _find_repeated_faults(line, cells, row.lines[0][1])
            cells_by_column = []
        cells_by_column += [
            (sku, each, cells[each.name]) for each in VARIANT_COLUMNS if each.name in cells
        ]
        _fill(draft, line, cells_by_column, changes, faults)
    if not faults:
        faults += _find_missing(draft, row.line, lines_by_sku, changes)
    return _planned(row, draft, before, product_rows, changes, faults, lines_by_sku, now)


def _find_sku_fault(
    line: int, sku: str, lines_by_sku: dict[str, int], by_sku: dict[str, Row], product_id: UUID
) -> Fault | None:
    if not sku:
        return Fault(line, "sku", _("Enter a SKU."))
    if sku in lines_by_sku:
        return Fault(
            line, "sku", _("Line %(line)d has the same SKU.") % {"line": lines_by_sku[sku]}
        )
    if sku in by_sku and by_sku[sku].product_id != product_id:
        return Fault(line, "sku", _("The SKU %(sku)s belongs to another product.") % {"sku": sku})
    return None


def _find_repeated_faults(line: int, cells: Any, first: Any) -> Iterator[Fault]:
    for name in cells:
        if name in _PRODUCT and cells[name].strip() and not _is_same(cells[name], first[name]):
            yield Fault(
                line, name, _("This belongs to the whole product: say it in its first line alone.")
            )


def _fill(
    draft: _Draft,
    line: int,
    cells: Iterable[tuple[str, Column[Any], str]],
    changes: list[Change],
    faults: list[Fault],
) -> None:
    for sku, column, text in cells:
        try:
            change = _change_cell(draft, line, sku, column, text)
        except CellRefused as refused:
            faults.append(Fault(line, column.name, str(refused)))
        else:
            changes += [change] if change else []


def _find_missing(
    draft: _Draft, line: int, lines_by_sku: dict[str, int], changes: Sequence[Change]
) -> Iterator[Fault]:
    written = {(each.sku, each.column) for each in changes}
    if draft.is_new:
        for name, text in (
            ("name", _("A new product needs a name.")),
            ("category", _("A new product needs a category.")),
        ):
            if ("", name) not in written:
                yield Fault(line, name, text)
    for sku, number in lines_by_sku.items():
        is_new = (
            draft.is_new
            or sku in draft.new_skus
            or not any(each.sku == sku for each in draft.product.variants)
        )
        if is_new and (sku, "price") not in written:
            yield Fault(number, "price", _("A new variant needs a price."))


def _planned(
    row: FileRow,
    draft: _Draft,
    before: Product | None,
    product_rows: Sequence[Row],
    changes: Sequence[Change],
    faults: list[Fault],
    lines_by_sku: dict[str, int],
    now: datetime,
) -> PlannedRow:
    after = with_options_in_order(draft.product)
    if changes and not faults:
        try:
            operations.check_save(after, product_rows, now)
        except ProductRefused as refused:
            faults.append(_fault_of(refused, after, row.line, lines_by_sku))
    plan = "faulty" if faults else "unchanged" if not changes else "changed" if before else "new"
    return PlannedRow(
        row.position,
        row.line,
        row.key,
        plan,
        before.name if before else draft.product.name,
        draft.product.product_id if before or plan == "new" else None,
        changes=tuple(changes) if plan in ("new", "changed") else (),
        faults=tuple(faults),
    )


def _fault_of(
    refused: ProductRefused, product: Product, line: int, lines_by_sku: dict[str, int]
) -> Fault:
    variant = product.get_variant(refused.variant_id) if refused.variant_id else None
    column = _COLUMNS_BY_FIELD.get(refused.field, refused.field)
    return Fault(lines_by_sku.get(variant.sku, line) if variant else line, column, str(refused))


def plan_prices(rows: Sequence[FileRow], task_id: UUID, now: datetime) -> list[PlannedRow]:
    """Return what rows of a file of prices would change. Raises CassandraUnavailable."""
    by_sku = _find_skus(each.key for each in rows)
    reading = {
        each: queries.prefetch_product_at_quorum(each)
        for each in {row.product_id for row in by_sku.values()}
    }
    product_rows = {product_id: pending.rows() for product_id, pending in reading.items()}
    planned = [_plan_price(each, by_sku, product_rows, task_id, now) for each in rows]
    return _join_changes(planned)


def _join_changes(rows: Iterable[PlannedRow]) -> list[PlannedRow]:
    """Return rows, those that change the same product as one: each leaves a mark on its product for months."""
    joined: dict[object, PlannedRow] = {}
    for row in rows:
        key = row.product_id if row.changes else row.position
        first = joined.get(key)
        joined[key] = replace(first, changes=(*first.changes, *row.changes)) if first else row
    return list(joined.values())


def _plan_price(
    row: FileRow,
    by_sku: dict[str, Row],
    product_rows: dict[UUID, list[Row]],
    task_id: UUID,
    now: datetime,
) -> PlannedRow:
    found = by_sku.get(row.key)
    rows = product_rows[found.product_id] if found else []
    before = queries.product_from_rows(rows, now)
    line, cells = row.lines[0]
    if before is None or not any(each.sku == row.key for each in before.variants):
        fault = Fault(line, "sku", _("No variant has the SKU %(sku)s.") % {"sku": row.key[:100]})
        return PlannedRow(row.position, line, row.key, "faulty", faults=(*row.faults, fault))
    draft = _Draft(order_options(before), is_new=False, task_id=task_id)
    changes: list[Change] = []
    faults = list(row.faults)
    prices = ((row.key, each, cells[each.name]) for each in PRICE_COLUMNS if each.name in cells)
    _fill(draft, line, prices, changes, faults)
    return _planned(row, draft, before, rows, changes, faults, {row.key: line}, now)


# ---- Applying


def apply_changes(row: PlannedRow, task_id: UUID, mark: UUID) -> tuple[str, str]:
    """Make a row's changes, unless they were made before; return what became of it, and why.

    Each cell is changed only if it still says what it said when the file was read. Raises CassandraUnavailable, UnknownOutcome;
    then it is done again.
    """
    assert row.product_id
    for _try in range(MAX_SAVE_TRIES):
        now = current_time()
        rows = queries.prefetch_product_at_quorum(row.product_id).rows()
        before = queries.product_from_rows(rows, now)
        # After the product was read: what is not marked now was not saved in the version that was read.
        if has_mark(row.product_id, mark):
            return "done", ""
        if before is None and row.plan != "new":
            return "changed", _("The product is gone.")
        base = order_options(before) if before else blank_product(row.product_id, row.key)
        draft = _Draft(base, before is None, task_id)
        try:
            if conflict := _write_changes(draft, row.changes):
                return "changed", conflict
            after = with_options_in_order(draft.product)
            if before and after == base:
                return "unchanged", ""
            operations.save_product(after, now, bulk_change_id=mark)
        except ProductChanged:
            continue
        except (ProductRefused, CellRefused) as refused:
            return "refused", str(refused)
        return "done", ""
    return "refused", _("Others save this product all the time. Try again later.")


def _write_changes(draft: _Draft, changes: Sequence[Change]) -> str:
    """Write changes into a draft; return which cell says something else by now, in words, or ""."""
    for each in changes:
        column = _VARIANT[each.column] if each.sku else _PRODUCT[each.column]
        current = draft.read(each.sku, column)
        if current is not None and _is_same(current, each.after):
            continue
        if current != each.before:
            return _("%(sku)s %(column)s is “%(text)s” by now.") % {
                "sku": each.sku,
                "column": each.column,
                "text": (current or "")[:100],
            }
        draft.write(each.sku, column, each.after)
    return ""

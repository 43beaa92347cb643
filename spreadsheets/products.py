"""Files of products and prices: write their lines, plan the changes of their rows, and apply them."""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
from catalogue.rules import MAX_ATTEMPTS, MAX_LENGTHS
from spreadsheets.columns import (
    CATEGORY_COLUMNS,
    PRICE_COLUMNS,
    PRODUCT_COLUMNS,
    VARIANT_COLUMNS,
    Column,
    blank_product,
    blank_variant,
    order_options,
    product_columns,
    with_options_in_order,
)
from spreadsheets.entities import WAITING, Change, Fault, FileRow, PlannedRow
from spreadsheets.errors import CellRefused
from spreadsheets.links import (
    PICTURE,
    Links,
    has_links,
    link_columns,
    picture_column,
    read_links,
    with_pictures_of_variants,
)
from web.text import clean_text

log = logging.getLogger(__name__)
_PRODUCT = frozenset(each.name for each in (*PRODUCT_COLUMNS, *link_columns(Links())))
_VARIANT = {each.name: each for each in VARIANT_COLUMNS}
# Columns of files that have another name as the field of a catalogue's refusal.
_COLUMNS_BY_FIELD = {
    "category_id": "category",
    "category_ids": "other_categories",
    "option_names": "options",
    "related_ids": "related",
    "slug": "product",
    "successor_id": "successor",
}


def product_lines(product: Product) -> Iterator[list[str]]:
    """Yield a line for each variant of a product. The first line also has the product's own cells."""
    product = order_options(product)
    tree = queries.get_category_tree_with(*product.all_category_ids)
    links = read_links([product])
    whole = [each.read(product) for each in (*product_columns(tree), *link_columns(links))]
    variant_columns = (*VARIANT_COLUMNS, picture_column(links))
    for variant in product.variants:
        yield [product.slug, *whole, variant.sku, *(each.read(variant) for each in variant_columns)]
        whole = [""] * len(whole)


def price_lines(product: Product) -> Iterator[list[str]]:
    """Yield a line for each variant of a product, with the variant's prices."""
    for variant in product.variants:
        yield [variant.sku, *(each.read(variant) for each in PRICE_COLUMNS)]


@dataclass
class _Draft:
    """A product that is changed cell by cell."""

    product: Product
    is_new: bool
    task_id: UUID
    links: Links = field(default_factory=Links)
    new_skus: set[str] = field(default_factory=set)

    def read(self, sku: str, column: Column[Any]) -> str | None:
        """Return the present text of a cell; None if the cell's product or variant is new."""
        if not sku:
            return None if self.is_new else column.read(self.product)
        variant = self._variant(sku)
        return None if variant is None or sku in self.new_skus else column.read(variant)

    def write(self, sku: str, column: Column[Any], text: str) -> str:
        """Write a cell, and return its new text; its own text if it names something that is not there. Raises CellRefused."""
        if not sku:
            self.product = column.write(self.product, text)
            after = column.read(self.product)
        else:
            was = self._variant(sku) or self._add(sku)
            variant = column.write(was, text)
            variants = (variant if each.sku == sku else each for each in self.product.variants)
            self.product = replace(self.product, variants=tuple(variants))
            after = column.read(order_options(self.product).variants[self._place(sku)])
        if self.links.list_missing(column.name, text):
            return clean_text(text, keep_lines=column.has_lines).strip()
        return after

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
    # Spreadsheets change the line ends within a cell, so these do not count as a change.
    return text == other or text.replace("\r\n", "\n") == other.replace("\r\n", "\n")


def _change_cell(
    draft: _Draft, line: int, sku: str, column: Column[Any], text: str
) -> Change | None:
    """Write a cell of a file into a draft. Return the change, or None if the text is the same. Raises CellRefused."""
    before = draft.read(sku, column)
    is_unchanged = _is_same(text, before) if before is not None else not text.strip()
    if is_unchanged:
        return None
    after = draft.write(sku, column, text)
    if before is not None and _is_same(after, before):
        return None
    return Change(line, sku, column.name, before, after)


def plan_products(rows: Sequence[FileRow], task_id: UUID, now: datetime) -> list[PlannedRow]:
    """Return the plans for the rows of a file of products. Raises CassandraUnavailable."""
    slugs = {
        each.key: queries.prefetch_product_id_at_quorum(each.key)
        for each in rows
        if _is_slug(each.key)
    }
    by_sku = find_skus(cells["sku"] for each in rows for _line, cells in each.lines)
    columns = product_columns(queries.get_category_tree_at_quorum())
    ids = {slug: row.product_id for slug, pending in slugs.items() if (row := pending.one())}
    reading = {each: queries.prefetch_product_at_quorum(each) for each in ids.values()}
    product_rows = {product_id: pending.rows() for product_id, pending in reading.items()}
    cells = (cell for each in rows for _line, cells in each.lines for cell in cells.items())
    links = read_links((rows[0] for rows in product_rows.values() if rows), cells)
    planned = []
    for each in rows:
        found = ids.get(each.key)
        plan = _begin_plan(
            each, product_rows.get(found, []) if found else [], task_id, now, "product"
        )
        planned.append(
            plan
            if isinstance(plan, PlannedRow)
            else plan.plan_product(found, by_sku, columns, links)
        )
    return planned


def _is_slug(key: str) -> bool:
    return 0 < len(key) <= MAX_LENGTHS["slug"] and key.isascii() and key.isprintable()


def find_skus(skus: Iterable[str]) -> dict[str, Row]:
    """Return the rows (product_id, variant_id) of the SKUs that exist."""
    possible = {
        each for each in skus if 0 < len(each) <= queries.MAX_SKU_LENGTH and "\0" not in each
    }
    reading = {each: queries.prefetch_variant_by_sku(each) for each in possible}
    return {sku: row for sku, pending in reading.items() if (row := pending.one())}


class _Plan:
    """The plan of a row while its cells are read. It collects all faults, so that staff see all of them at the same time."""

    def __init__(
        self, row: FileRow, product_rows: Sequence[Row], task_id: UUID, now: datetime
    ) -> None:
        self.row, self.task_id, self.now = row, task_id, now
        self.product_rows = product_rows
        self.before = queries.product_from_rows(product_rows, now)
        self.faults = list(row.faults)
        self.changes: list[Change] = []
        self.lines_by_sku: dict[str, int] = {}

    def plan_product(
        self,
        product_id: UUID | None,
        by_sku: dict[str, Row],
        columns: Sequence[Column[Product]],
        links: Links,
    ) -> PlannedRow:
        """Return the plan for the lines of a product. `columns` contain the categories, `links` what the cells name."""
        row, before = self.row, self.before
        columns = (*columns, *link_columns(links))
        variant_columns = (*VARIANT_COLUMNS, picture_column(links))
        if before and before.slug != row.key:
            text = _("This is a former address of %(name)s; it’s “%(slug)s” now.")
            self._refuse(row.line, "product", text % {"name": before.name, "slug": before.slug})
        if before is None:
            product_id = uuid5(self.task_id, row.key)
        assert product_id
        base = order_options(before) if before else blank_product(product_id, row.key)
        links.add_pictures(base)
        draft = _Draft(base, before is None, self.task_id, links)
        for number, (line, cells) in enumerate(row.lines):
            # Read in the order of `columns`, because the main category decides which categories are the further ones.
            if number:
                self._find_repeated_cells(line, cells)
            else:
                self._fill(draft, line, "", columns, cells)
            sku = cells["sku"]
            if fault := self._find_sku_fault(sku, by_sku, product_id):
                self._refuse(line, "sku", fault)
                # The cells of this line are still checked, in a separate product.
                self._fill(replace(draft, product=base), line, " ", variant_columns, cells)
                continue
            self.lines_by_sku[sku] = line
            self._fill(draft, line, sku, variant_columns, cells)
        self._find_missing(draft)
        return self._finish(draft)

    def plan_price(self, sku: str) -> PlannedRow:
        """Return the plan for a line of a file of prices."""
        line, cells = self.row.lines[0]
        if self.before is None or not any(each.sku == sku for each in self.before.variants):
            self._refuse(line, "sku", _("No variant has the SKU %(sku)s.") % {"sku": sku[:100]})
            self._fill(
                _Draft(blank_product(self.task_id, ""), is_new=True, task_id=self.task_id),
                line,
                " ",
                PRICE_COLUMNS,
                cells,
            )
            return PlannedRow(
                self.row.position, line, self.row.key, "faulty", faults=tuple(self.faults)
            )
        draft = _Draft(order_options(self.before), is_new=False, task_id=self.task_id)
        self.lines_by_sku[sku] = line
        self._fill(draft, line, sku, PRICE_COLUMNS, cells)
        return self._finish(draft)

    def _refuse(self, line: int, column: str, text: str) -> None:
        self.faults.append(Fault(line, column, text))

    def _find_sku_fault(self, sku: str, by_sku: dict[str, Row], product_id: UUID) -> str:
        if not sku:
            return _("Enter a SKU.")
        if sku in self.lines_by_sku:
            return _("Line %(line)d has the same SKU.") % {"line": self.lines_by_sku[sku]}
        if sku in by_sku and by_sku[sku].product_id != product_id:
            return _("The SKU %(sku)s belongs to another product.") % {"sku": sku}
        is_own = self.before and any(each.sku == sku for each in self.before.variants)
        if sku in self.row.repeated_skus and not is_own:
            return _("A product further up in this file has the SKU %(sku)s.") % {"sku": sku}
        return ""

    def _find_repeated_cells(self, line: int, cells: Mapping[str, str]) -> None:
        first = self.row.lines[0][1]
        for name in cells:
            is_other = cells[name].strip() and not _is_same(cells[name], first.get(name, ""))
            if is_other and name in _PRODUCT:
                text = _("This applies to the whole product: enter it in the first line only.")
                self._refuse(line, name, text)

    def _fill(
        self,
        draft: _Draft,
        line: int,
        sku: str,
        columns: Iterable[Column[Any]],
        cells: Mapping[str, str],
    ) -> None:
        for column in columns:
            if column.name not in cells:
                continue
            try:
                change = _change_cell(draft, line, sku, column, cells[column.name])
            except CellRefused as refused:
                self._refuse(line, column.name, str(refused))
            else:
                self.changes += [change] if change else []

    def _find_missing(self, draft: _Draft) -> None:
        said = {(each.sku, each.column) for each in self.changes}
        refused = {(each.line, each.column) for each in self.faults}
        wanted = []
        if draft.is_new:
            wanted += [
                (self.row.line, "", "name", _("A new product needs a name.")),
                (self.row.line, "", "category", _("A new product needs a category.")),
            ]
        wanted += [
            (line, sku, "price", _("A new variant needs a price."))
            for sku, line in self.lines_by_sku.items()
            if draft.read(sku, PRICE_COLUMNS[0]) is None
        ]
        for line, sku, column, text in wanted:
            if (sku, column) not in said and (line, column) not in refused:
                self._refuse(line, column, text)

    def _finish(self, draft: _Draft) -> PlannedRow:
        """Check the product by the rules for saving, and return the plan."""
        row, before = self.row, self.before
        product_id = draft.product.product_id
        base = order_options(before) if before else blank_product(product_id, row.key)
        after = _complete(draft.product, base)
        if after == base and before and not draft.links.is_lacking(self.changes):
            # Another way to name the same pictures.
            self.changes = []
        if self.changes:
            self.faults += self._list_save_faults(after)
        plan = "faulty"
        if not self.faults:
            plan = "unchanged" if not self.changes else "changed" if before else "new"
        return PlannedRow(
            row.position,
            row.line,
            row.key,
            plan,
            before.name if before else draft.product.name,
            draft.product.product_id if before or plan == "new" else None,
            changes=tuple(self.changes) if plan in ("new", "changed") else (),
            faults=tuple(self.faults),
            links=WAITING if has_links(self.changes) else "",
        )

    def _list_save_faults(self, product: Product) -> list[Fault]:
        """Return the reasons why a product cannot be saved, except reasons that follow from faults found before."""
        cells = {(each.line, each.column) for each in self.faults}
        columns = {each.column for each in self.faults}
        found = []
        for refused in operations.list_save_refusals(product, self.product_rows, self.now):
            fault = _fault_of(refused, product, self.row.line, self.lines_by_sku)
            follows = (
                (fault.line, fault.column) in cells
                # These fields are compared with another cell, of the same line or of all lines.
                or (fault.column == "compare_at" and (fault.line, "price") in cells)
                or (fault.column == "active_until" and "active_from" in columns)
                or (fault.column == "options" and "options" in columns)
                or (fault.column == "variants" and "sku" in columns)
            )
            if not follows and fault not in found:
                found.append(fault)
        return found


def _complete(product: Product, before: Product) -> Product:
    return with_options_in_order(with_pictures_of_variants(product, before))


def _fault_of(
    refused: ProductRefused, product: Product, line: int, lines_by_sku: dict[str, int]
) -> Fault:
    variant = product.get_variant(refused.variant_id) if refused.variant_id else None
    column = _COLUMNS_BY_FIELD.get(refused.field, refused.field)
    return Fault(lines_by_sku.get(variant.sku, line) if variant else line, column, str(refused))


def plan_prices(rows: Sequence[FileRow], task_id: UUID, now: datetime) -> list[PlannedRow]:
    """Return the plans for the rows of a file of prices. Raises CassandraUnavailable."""
    by_sku = find_skus(each.key for each in rows)
    reading = {
        each: queries.prefetch_product_at_quorum(each)
        for each in {row.product_id for row in by_sku.values()}
    }
    product_rows = {product_id: pending.rows() for product_id, pending in reading.items()}
    planned = []
    for each in rows:
        found = by_sku.get(each.key)
        plan = _begin_plan(
            each, product_rows[found.product_id] if found else [], task_id, now, "sku"
        )
        planned.append(plan if isinstance(plan, PlannedRow) else plan.plan_price(each.key))
    return _join_changes(planned)


def _join_changes(rows: Iterable[PlannedRow]) -> list[PlannedRow]:
    """Join the rows that change the same product into one. Each row would leave a mark on the product for months."""
    joined: dict[object, PlannedRow] = {}
    for row in rows:
        key = row.product_id if row.changes else row.position
        first = joined.get(key)
        joined[key] = replace(first, changes=(*first.changes, *row.changes)) if first else row
    return list(joined.values())


def _begin_plan(
    row: FileRow, product_rows: Sequence[Row], task_id: UUID, now: datetime, column: str
) -> _Plan | PlannedRow:
    """Return an empty plan for a row, or a faulty row if its product cannot be read."""
    try:
        return _Plan(row, product_rows, task_id, now)
    except Exception:
        log.exception("a product of import %s cannot be read", task_id)
        fault = Fault(row.line, column, _("This product can’t be read."))
        return PlannedRow(row.position, row.line, row.key, "faulty", faults=(fault,))


def apply_changes(row: PlannedRow, task_id: UUID, mark: UUID) -> tuple[str, str]:
    """Apply a row's changes, unless they were applied before. Return the result, and the reason for it.

    A cell is only changed if its text is still the text from which the plan was made. Raises CassandraUnavailable and
    UnknownOutcome; the caller then repeats the call.
    """
    assert row.product_id
    for _try in range(MAX_ATTEMPTS):
        now = current_time()
        rows = queries.prefetch_product_at_quorum(row.product_id).rows()
        before = queries.product_from_rows(rows, now)
        # The mark is read after the product: if the mark is missing, the product was read without this row's changes.
        if has_mark(row.product_id, mark):
            return "done", ""
        if before is None and row.plan != "new":
            return "changed", _("This product was deleted.")
        base = order_options(before) if before else blank_product(row.product_id, row.key)
        links = read_links(rows[:1], ((each.column, each.after) for each in row.changes))
        links.add_pictures(base)
        draft = _Draft(base, before is None, task_id, links)
        try:
            if conflict := _write_changes(draft, row.changes):
                return "changed", conflict
            after = _complete(draft.product, base)
            # A product that waits for pictures gets the mark of this row, too.
            if before and after == base and not links.is_lacking(row.changes):
                return "unchanged", ""
            operations.save_product(after, now, bulk_change_id=mark)
        except ProductChanged:
            continue
        except (ProductRefused, CellRefused) as refused:
            return "refused", str(refused)
        return "done", ""
    return "refused", _("Others are saving this product. Try again later.")


def _write_changes(draft: _Draft, changes: Sequence[Change]) -> str:
    """Write changes into a draft. Return a sentence about the first cell that has changed since the plan, or ""."""
    columns = PRODUCT_COLUMNS
    if any(each.column in CATEGORY_COLUMNS for each in changes):
        columns = product_columns(queries.get_category_tree_at_quorum())
    by_name = {each.name: each for each in (*columns, *link_columns(draft.links))}
    own = _VARIANT | {PICTURE: picture_column(draft.links)}
    for each in changes:
        column: Column[Any] = own[each.column] if each.sku else by_name[each.column]
        current = draft.read(each.sku, column)
        if current is not None and _is_same(current, each.after):
            continue
        if current != each.before:
            return _("%(sku)s: %(column)s is “%(text)s” now.") % {
                "sku": each.sku,
                "column": each.column,
                "text": (current or "")[:100],
            }
        draft.write(each.sku, column, each.after)
    return ""

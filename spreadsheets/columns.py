"""The columns of a file of products: names, help, and how cells are written and read. catalogue.columns declares most.

A product is converted to the texts of its cells. An import compares these with the file's texts, and changes the values that
differ.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar
from uuid import UUID

from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from moneyed import Money

from catalogue.columns import COLUMNS, NUMBER, TEXT, YES_NO, FileColumn, ProductColumn
from catalogue.entities import CategoryTree, Product, Variant
from catalogue.rules import MAX_WEIGHT_GRAMS
from spreadsheets.cells import join_list, split_list
from spreadsheets.errors import CellRefused
from spreadsheets.typed_values import (
    CELL_KINDS,
    format_content,
    format_options,
    format_price,
    parse_barcode,
    parse_content,
    parse_options,
    parse_price,
)
from web.text import clean_text
from web.types import StrOrPromise

Thing = TypeVar("Thing")


@dataclass(frozen=True)
class Column(Generic[Thing]):
    """A column of products or variants. `read` returns an object's cell; `parse` a changed object, or raises CellRefused."""

    name: str
    help: StrOrPromise
    example: StrOrPromise
    read: Callable[[Thing], str]
    parse: Callable[[Thing, str], Thing]
    is_number: bool = False
    has_lines: bool = False

    def write(self, thing: Thing, text: str) -> Thing:
        """Return the object with a cell's value. The text is cleaned first, as forms do. Raises CellRefused."""
        return self.parse(thing, clean_text(text, keep_lines=self.has_lines).strip())


def _column(column: ProductColumn) -> Column[Any]:
    """Return the file's column for a product column of catalogue.columns."""
    cells, name, file = CELL_KINDS[column.kind], column.name, column.file
    assert file

    def parse(thing: Any, text: str) -> Any:
        return replace(thing, **{name: cells.parse(text, column.most, column.choices)})

    return Column(
        name,
        file.help,
        file.example,
        lambda thing: cells.format(getattr(thing, name)),
        parse,
        cells.is_number,
        cells.has_lines,
    )


def _category_slug(tree: CategoryTree, category_id: UUID) -> str:
    node = tree.by_id.get(category_id)
    return node.slug if node else category_id.hex


def _category_id(tree: CategoryTree, text: str) -> UUID:
    slug = text.strip()
    node = tree.by_slug.get(slug) or tree.by_former_slug.get(slug)
    if node:
        return node.category_id
    raise CellRefused(_("There is no category with the address “%(slug)s”.") % {"slug": slug[:100]})


def _category_columns(tree: CategoryTree) -> tuple[Column[Product], Column[Product]]:
    """Return the two columns for a product's categories. Their cells name categories by slugs."""

    def write_main(it: Product, text: str) -> Product:
        chosen = _category_id(tree, text)
        return replace(it, category_id=chosen, category_ids=it.category_ids - {chosen})

    def read_others(it: Product) -> str:
        others = it.category_ids - {it.category_id}
        return join_list(sorted(_category_slug(tree, each) for each in others))

    def write_others(it: Product, text: str) -> Product:
        chosen = {_category_id(tree, each) for each in split_list(text) if each}
        return replace(it, category_ids=frozenset(chosen - {it.category_id}))

    return (
        Column(
            "category",
            gettext_lazy(
                "The last part of the main category’s address. Required for a new product."
            ),
            "mugs",
            lambda it: _category_slug(tree, it.category_id),
            write_main,
        ),
        Column(
            "other_categories",
            gettext_lazy("Additional categories, separated by commas."),
            "",
            read_others,
            write_others,
        ),
    )


def product_columns(tree: CategoryTree) -> tuple[Column[Product], ...]:
    """Return the columns of a product, without the columns of its variants. `tree` has all categories."""
    columns = [_column(each) for each in COLUMNS if each.file]
    place = [each.name for each in columns].index("details") + 1
    return (*columns[:place], *_category_columns(tree), *columns[place:])


# Made with an empty tree, for column names and the help page.
PRODUCT_COLUMNS = product_columns(CategoryTree([]))
CATEGORY_COLUMNS = ("category", "other_categories")


def _write_compare_at(it: Variant, text: str) -> Variant:
    return replace(it, compare_at=parse_price(text) if text else None)


PRICE_COLUMNS: tuple[Column[Variant], ...] = (
    Column(
        "price",
        gettext_lazy("With tax, without the currency: 12.50. Required for a new variant."),
        "12.50",
        lambda it: format_price(it.price),
        lambda it, text: replace(it, price=parse_price(text)),
        is_number=True,
    ),
    Column(
        "compare_at",
        gettext_lazy("The former price, within the legal limit, or empty."),
        "",
        lambda it: format_price(it.compare_at),
        _write_compare_at,
        is_number=True,
    ),
)
VARIANT_COLUMNS: tuple[Column[Variant], ...] = (
    Column(
        "options",
        gettext_lazy(
            "The variant’s options: “Colour: olive, Size: small”. Empty for a product without options."
        ),
        gettext_lazy("Colour: olive"),
        lambda it: format_options(it.options),
        lambda it, text: replace(it, options=parse_options(text)),
    ),
    *PRICE_COLUMNS,
    Column(
        "cost_price",
        gettext_lazy("What a unit costs the shop, without tax, or empty. Only staff see it."),
        "4.80",
        lambda it: format_price(it.cost_price),
        lambda it, text: replace(it, cost_price=parse_price(text) if text else None),
        is_number=True,
    ),
    Column(
        "barcode",
        gettext_lazy("A GTIN, or nothing. Format the column as text."),
        "",
        lambda it: it.barcode,
        lambda it, text: replace(it, barcode=parse_barcode(text)),
    ),
    _column(
        ProductColumn(
            "mpn", TEXT, file=FileColumn(gettext_lazy("The manufacturer’s part number (MPN)."))
        )
    ),
    _column(
        ProductColumn(
            "weight_grams",
            NUMBER,
            MAX_WEIGHT_GRAMS,
            file=FileColumn(gettext_lazy("With its packaging, in grams."), "350"),
        )
    ),
    Column(
        "content",
        gettext_lazy("The content, in the product’s unit, for the unit price."),
        "",
        lambda it: format_content(it.content),
        lambda it, text: replace(it, content=parse_content(text)),
        is_number=True,
    ),
    _column(
        ProductColumn("sold", YES_NO, file=FileColumn(gettext_lazy("Available: yes or no."), "yes"))
    ),
)


def blank_product(product_id: UUID, slug: str) -> Product:
    """Return a new product, into which no cells have been read yet."""
    return Product(
        product_id, slug, "", "", "", {}, UUID(int=0), (), "standard", (), status="draft"
    )


def blank_variant(variant_id: UUID, sku: str) -> Variant:
    """Return a new variant, into which no cells have been read yet."""
    return Variant(variant_id, sku, {}, Money(0, settings.CURRENCY), None, "", 0)


def with_options_in_order(product: Product) -> Product:
    """Return the product with the option names that its sold variants have, in their present order if possible.

    Without sold variants the option names stay. A new product takes the option names of its first variant.
    """
    sold = [each for each in product.variants if each.sold]
    named = sold or (product.variants if not product.option_names else ())
    if not named or set(named[0].options) == set(product.option_names):
        return product
    return replace(product, option_names=tuple(named[0].options))


def order_options(product: Product) -> Product:
    """Return the product with each variant's options sorted as the product's option names. Other options follow."""

    def order(options: Mapping[str, str]) -> dict[str, str]:
        known = {name: options[name] for name in product.option_names if name in options}
        return known | dict(options)

    variants = (replace(each, options=order(each.options)) for each in product.variants)
    return replace(product, variants=tuple(variants))

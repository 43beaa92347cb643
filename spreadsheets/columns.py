"""What the columns of a file of products are: from this one definition follow its head, what is written and read, and its help.

A product is read into the texts of its cells, and the texts of a file are read back into a product: what a file changes is what
differs between the two.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from uuid import UUID

from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from moneyed import Money

from catalogue.entities import STATUSES, CategoryTree, Product, Variant
from catalogue.rules import MAX_LENGTH_MM, MAX_WEIGHT_GRAMS
from pricing.tax import TAX_CLASSES
from spreadsheets.cells import join_list, split_list
from spreadsheets.errors import CellRefused
from spreadsheets.typed_values import (
    format_details,
    format_moment,
    format_options,
    format_price,
    format_tags,
    format_whole_number,
    parse_barcode,
    parse_details,
    parse_end,
    parse_moment,
    parse_options,
    parse_price,
    parse_tags,
    parse_whole_number,
)
from web.text import clean_text

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

Thing = TypeVar("Thing")


@dataclass(frozen=True)
class Column(Generic[Thing]):
    """A column: `read` returns what a thing's cell says, `parse` the thing as a cell says it. `parse` raises CellRefused."""

    name: str
    help: StrOrPromise
    example: StrOrPromise
    read: Callable[[Thing], str]
    parse: Callable[[Thing, str], Thing]
    is_number: bool = False
    has_lines: bool = False

    def write(self, thing: Thing, text: str) -> Thing:
        """Return a thing as a cell says it, whose text is cleaned as a form's is. Raises CellRefused."""
        return self.parse(thing, clean_text(text, keep_lines=self.has_lines).strip())


def _text(
    name: str, help_text: StrOrPromise, example: StrOrPromise = "", *, has_lines: bool = False
) -> Column[Any]:
    return Column(
        name,
        help_text,
        example,
        lambda it: getattr(it, name),
        lambda it, text: replace(it, **{name: text}),
        has_lines=has_lines,
    )


def _whole_number(
    name: str, most: int, help_text: StrOrPromise, example: StrOrPromise = ""
) -> Column[Any]:
    return Column(
        name,
        help_text,
        example,
        lambda it: format_whole_number(getattr(it, name)),
        lambda it, text: replace(it, **{name: parse_whole_number(text, most, empty=0)}),
        is_number=True,
    )


def _choice(
    name: str, choices: Sequence[str], help_text: StrOrPromise, example: str
) -> Column[Any]:
    def write(it: Any, text: str) -> Any:
        if text.strip().lower() not in choices:
            raise CellRefused(
                _("Enter one of these: %(choices)s.") % {"choices": ", ".join(choices)}
            )
        return replace(it, **{name: text.strip().lower()})

    return Column(name, help_text, example, lambda it: getattr(it, name), write)


_YES, _NO = ("yes", "true", "1"), ("no", "false", "0")


def _yes_no(name: str, help_text: StrOrPromise, example: StrOrPromise) -> Column[Any]:
    def write(it: Any, text: str) -> Any:
        answer = text.strip().lower()
        if answer not in (*_YES, *_NO):
            raise CellRefused(_("Enter yes or no."))
        return replace(it, **{name: answer in _YES})

    return Column(name, help_text, example, lambda it: "yes" if getattr(it, name) else "no", write)


def _moment(
    name: str, help_text: StrOrPromise, parse: Callable[[str], datetime | None] = parse_moment
) -> Column[Any]:
    return Column(
        name,
        help_text,
        "",
        lambda it: format_moment(getattr(it, name)),
        lambda it, text: replace(it, **{name: parse(text)}),
    )


# ---- Of products


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
    """Return the columns of a product's categories, which are named by their addresses."""

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
            gettext_lazy("The end of its main category’s address. A new product needs one."),
            "mugs",
            lambda it: _category_slug(tree, it.category_id),
            write_main,
        ),
        Column(
            "other_categories",
            gettext_lazy("The others in which it stands, with commas between them."),
            "",
            read_others,
            write_others,
        ),
    )


# Without categories, for the head and the help page: `product_columns` knows them.
PRODUCT_COLUMNS: tuple[Column[Product], ...] = (
    _text(
        "name", gettext_lazy("Its name. A new product needs one."), gettext_lazy("Breakfast mug")
    ),
    _choice(
        "status",
        STATUSES,
        gettext_lazy("draft, active or archived. A new product is a draft if nothing is said."),
        "draft",
    ),
    _text("brand", gettext_lazy("Its brand."), gettext_lazy("Kilnbrook")),
    _text(
        "description",
        gettext_lazy("With the same formatting as on the product’s own page."),
        gettext_lazy("For **slow** mornings."),
        has_lines=True,
    ),
    Column(
        "details",
        gettext_lazy("One a line in the cell: a name, a colon, a text."),
        gettext_lazy("Material: stoneware"),
        lambda it: format_details(it.details),
        lambda it, text: replace(it, details=parse_details(text)),
        has_lines=True,
    ),
    *_category_columns(CategoryTree([])),
    Column(
        "tags",
        gettext_lazy("Words by which it is found, with commas between them."),
        gettext_lazy("breakfast, gift"),
        lambda it: format_tags(it.tags),
        lambda it, text: replace(it, tags=parse_tags(text)),
    ),
    _yes_no("featured", gettext_lazy("Whether the front page shows it: yes or no."), "no"),
    _choice("tax_class", tuple(TAX_CLASSES), gettext_lazy("Its rate of tax."), "standard"),
    _moment(
        "active_from", gettext_lazy("From when it is on sale; empty: as soon as it is active.")
    ),
    _moment(
        "active_until",
        gettext_lazy(
            "Until when it is on sale. A day without a time is its last day; empty: no end."
        ),
        parse_end,
    ),
    _text(
        "maker", gettext_lazy("Name, postal and email address (GPSR, Article 19)."), has_lines=True
    ),
    _text("safety", gettext_lazy("Warnings and safety notes."), has_lines=True),
    _whole_number("length_mm", MAX_LENGTH_MM, gettext_lazy("Length in millimetres."), "90"),
    _whole_number("width_mm", MAX_LENGTH_MM, gettext_lazy("Width in millimetres."), "90"),
    _whole_number("height_mm", MAX_LENGTH_MM, gettext_lazy("Height in millimetres."), "105"),
    _text("search_title", gettext_lazy("Its title for search engines, if it is another one.")),
    _text(
        "search_description", gettext_lazy("Its description for search engines."), has_lines=True
    ),
)


CATEGORY_COLUMNS = ("category", "other_categories")


def product_columns(tree: CategoryTree) -> tuple[Column[Product], ...]:
    """Return the columns of what belongs to a whole product; `tree` knows its categories."""
    own = {each.name: each for each in _category_columns(tree)}
    return tuple(own.get(each.name, each) for each in PRODUCT_COLUMNS)


# ---- Of variants


def _write_compare_at(it: Variant, text: str) -> Variant:
    return replace(it, compare_at=parse_price(text) if text else None)


PRICE_COLUMNS: tuple[Column[Variant], ...] = (
    Column(
        "price",
        gettext_lazy("With tax, without the currency: 12.50. A new variant needs one."),
        "12.50",
        lambda it: format_price(it.price),
        lambda it, text: replace(it, price=parse_price(text)),
        is_number=True,
    ),
    Column(
        "compare_at",
        gettext_lazy("The price that is crossed out, no higher than the law allows; or empty."),
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
            "What it is to choose by: “Colour: olive, Size: small”. Empty for a product without a choice."
        ),
        gettext_lazy("Colour: olive"),
        lambda it: format_options(it.options),
        lambda it, text: replace(it, options=parse_options(text)),
    ),
    *PRICE_COLUMNS,
    Column(
        "barcode",
        gettext_lazy("A GTIN, or nothing. Format the column as text."),
        "",
        lambda it: it.barcode,
        lambda it, text: replace(it, barcode=parse_barcode(text)),
    ),
    _whole_number(
        "weight_grams", MAX_WEIGHT_GRAMS, gettext_lazy("With its packaging, in grams."), "350"
    ),
    _yes_no("sold", gettext_lazy("Whether it is sold: yes or no."), "yes"),
)


def blank_product(product_id: UUID, slug: str) -> Product:
    """Return what a new product is before its cells are read."""
    return Product(
        product_id, slug, "", "", "", {}, UUID(int=0), (), "standard", (), status="draft"
    )


def blank_variant(variant_id: UUID, sku: str) -> Variant:
    """Return what a new variant is before its cells are read."""
    return Variant(variant_id, sku, {}, Money(0, settings.CURRENCY), None, "", 0)


def with_options_in_order(product: Product) -> Product:
    """Return a product whose options are those of what is sold, in the order that it has already, or else the first one's.

    Where nothing is sold they stay; a new product has those of its first variant.
    """
    sold = [each for each in product.variants if each.sold]
    named = sold or (product.variants if not product.option_names else ())
    if not named or set(named[0].options) == set(product.option_names):
        return product
    return replace(product, option_names=tuple(named[0].options))


def order_options(product: Product) -> Product:
    """Return a product whose variants name their options in its order; those that it does not have yet follow as they come."""

    def order(options: Mapping[str, str]) -> dict[str, str]:
        known = {name: options[name] for name in product.option_names if name in options}
        return known | dict(options)

    variants = (replace(each, options=order(each.options)) for each in product.variants)
    return replace(product, variants=tuple(variants))

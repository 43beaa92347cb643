"""What the columns of a file of products are: from this one definition follow its head, what is written and read, and its help.

A product is read into the texts of its cells, and the texts of a file are read back into a product: what a file changes is what
differs between the two.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from uuid import UUID

from django.conf import settings
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from moneyed import Money

from catalogue.entities import STATUSES, Product, Variant
from catalogue.queries import get_category_tree
from pricing.money import to_minor_units
from pricing.tax import TAX_CLASSES
from spreadsheets.cells import join_list, join_pairs, split_list, split_pairs
from spreadsheets.errors import CellRefused

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

Thing = TypeVar("Thing")


@dataclass(frozen=True)
class Column(Generic[Thing]):
    """A column: what a thing's cell says, and the thing as a cell says it. `write` raises CellRefused."""

    name: str
    help: StrOrPromise
    example: StrOrPromise
    read: Callable[[Thing], str]
    write: Callable[[Thing, str], Thing]
    is_number: bool = False
    has_lines: bool = False


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


def _whole_number(name: str, help_text: StrOrPromise, example: StrOrPromise = "") -> Column[Any]:
    return Column(
        name,
        help_text,
        example,
        lambda it: str(getattr(it, name) or ""),
        lambda it, text: replace(it, **{name: parse_whole_number(text, empty=0)}),
        is_number=True,
    )


def parse_whole_number(text: str, empty: int | None = None) -> int:
    """Return the whole number from 0 in a cell, or `empty` for nothing. Raises CellRefused."""
    if not text.strip() and empty is not None:
        return empty
    if not (text.strip().isascii() and text.strip().isdecimal()) or len(text.strip()) > 9:
        raise CellRefused(_("Enter a whole number from 0."))
    return int(text)


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


# With a comma as a spreadsheet in Berlin writes it, too; but 1,000 and 1.000 may be a thousand.
_PRICE = re.compile(r"[0-9]{1,12}(?:\.(?![0-9]{3}\Z)[0-9]{1,12}|,[0-9]{1,2})?", re.ASCII)
_YES, _NO = ("yes", "true", "1"), ("no", "false", "0")


def _yes_no(name: str, help_text: StrOrPromise, example: StrOrPromise) -> Column[Any]:
    def write(it: Any, text: str) -> Any:
        answer = text.strip().lower()
        if answer not in (*_YES, *_NO):
            raise CellRefused(_("Enter yes or no."))
        return replace(it, **{name: answer in _YES})

    return Column(name, help_text, example, lambda it: "yes" if getattr(it, name) else "no", write)


def _moment(name: str, help_text: StrOrPromise) -> Column[Any]:
    def read(it: Any) -> str:
        moment = getattr(it, name)
        return moment.astimezone(UTC).isoformat().replace("+00:00", "Z") if moment else ""

    def write(it: Any, text: str) -> Any:
        if not text.strip():
            return replace(it, **{name: None})
        try:
            moment = datetime.fromisoformat(text.strip())
            if moment.tzinfo is None:
                moment = moment.replace(tzinfo=timezone.get_default_timezone())
            return replace(it, **{name: moment.astimezone(UTC)})
        except (ValueError, OverflowError) as error:
            raise CellRefused(_("Enter a day and a time, such as 2027-03-01 09:00.")) from error

    return Column(name, help_text, "", read, write)


# ---- Of products


def _category_slug(category_id: UUID) -> str:
    node = get_category_tree().by_id.get(category_id)
    return node.slug if node else category_id.hex


def _category_id(text: str) -> UUID:
    tree, slug = get_category_tree(), text.strip()
    node = tree.by_slug.get(slug) or tree.by_former_slug.get(slug)
    if node:
        return node.category_id
    raise CellRefused(_("There is no category with the address “%(slug)s”.") % {"slug": slug[:100]})


def _write_category(it: Product, text: str) -> Product:
    chosen = _category_id(text)
    return replace(it, category_id=chosen, category_ids=it.category_ids - {chosen})


def _read_categories(it: Product) -> str:
    others = sorted(_category_slug(each) for each in it.category_ids - {it.category_id})
    return join_list(others)


def _write_categories(it: Product, text: str) -> Product:
    chosen = {_category_id(each) for each in split_list(text) if each}
    return replace(it, category_ids=frozenset(chosen - {it.category_id}))


def _write_details(it: Product, text: str) -> Product:
    try:
        return replace(it, details=split_pairs(text, "\n"))
    except ValueError as error:
        raise CellRefused(
            _("Enter one a line, such as “Material: stoneware”, each with a name of its own.")
        ) from error


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
        lambda it: join_pairs(it.details.items(), "\n"),
        _write_details,
        has_lines=True,
    ),
    Column(
        "category",
        gettext_lazy("The end of its main category’s address. A new product needs one."),
        "mugs",
        lambda it: _category_slug(it.category_id),
        _write_category,
    ),
    Column(
        "other_categories",
        gettext_lazy("The others in which it stands, with commas between them."),
        "",
        _read_categories,
        _write_categories,
    ),
    Column(
        "tags",
        gettext_lazy("Words by which it is found, with commas between them."),
        gettext_lazy("breakfast, gift"),
        lambda it: join_list(sorted(it.tags)),
        lambda it, text: replace(it, tags=frozenset(each for each in split_list(text) if each)),
    ),
    _yes_no("featured", gettext_lazy("Whether the front page shows it: yes or no."), "no"),
    _choice("tax_class", tuple(TAX_CLASSES), gettext_lazy("Its rate of tax."), "standard"),
    _moment(
        "active_from", gettext_lazy("From when it is on sale; empty: as soon as it is active.")
    ),
    _moment("active_until", gettext_lazy("Until when it is on sale; empty: no end.")),
    _text(
        "maker", gettext_lazy("Name, postal and email address (GPSR, Article 19)."), has_lines=True
    ),
    _text("safety", gettext_lazy("Warnings and safety notes."), has_lines=True),
    _whole_number("length_mm", gettext_lazy("Length in millimetres."), "90"),
    _whole_number("width_mm", gettext_lazy("Width in millimetres."), "90"),
    _whole_number("height_mm", gettext_lazy("Height in millimetres."), "105"),
    _text("search_title", gettext_lazy("Its title for search engines, if it is another one.")),
    _text("search_description", gettext_lazy("Its description for search engines.")),
)


# ---- Of variants


def _parse_price(text: str, currency: Any) -> Money:
    if not _PRICE.fullmatch(text.strip()):
        raise CellRefused(_("Enter a price above 0, such as 12.50."))
    price = Money(Decimal(text.strip().replace(",", ".")), currency)
    try:
        to_minor_units(price)
    except ValueError as error:
        raise CellRefused(_("A price has no fractions of a cent.")) from error
    return price


def format_price(price: Money | None) -> str:
    """Return a price as a cell has it: a number."""
    return f"{price.amount:.2f}" if price is not None else ""


def _write_price(it: Variant, text: str) -> Variant:
    if not text.strip():
        raise CellRefused(_("Enter a price."))
    return replace(it, price=_parse_price(text, it.price.currency))


def _write_compare_at(it: Variant, text: str) -> Variant:
    if not text.strip():
        return replace(it, compare_at=None)
    return replace(it, compare_at=_parse_price(text, it.price.currency))


def _write_options(it: Variant, text: str) -> Variant:
    try:
        return replace(it, options=split_pairs(text, ","))
    except ValueError as error:
        raise CellRefused(
            _("Enter each option with its value, such as “Colour: olive”.")
        ) from error


PRICE_COLUMNS: tuple[Column[Variant], ...] = (
    Column(
        "price",
        gettext_lazy("With tax, without the currency: 12.50. A new variant needs one."),
        "12.50",
        lambda it: format_price(it.price),
        _write_price,
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
        lambda it: join_pairs(it.options.items(), ","),
        _write_options,
    ),
    *PRICE_COLUMNS,
    _text("barcode", gettext_lazy("A GTIN, or nothing. Format the column as text.")),
    _whole_number("weight_grams", gettext_lazy("With its packaging, in grams."), "350"),
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
    """Return a product whose options are those of what is sold, in the order that it has already, or else the first one's."""
    sold = next((each for each in product.variants if each.sold), None)
    if sold is None or set(sold.options) == set(product.option_names):
        return product
    return replace(product, option_names=tuple(sold.options))


def order_options(product: Product) -> Product:
    """Return a product whose variants name their options in its order, which Cassandra does not keep."""

    def order(options: Mapping[str, str]) -> dict[str, str]:
        known = {name: options[name] for name in product.option_names if name in options}
        return known | {name: options[name] for name in sorted(options) if name not in known}

    variants = (replace(each, options=order(each.options)) for each in product.variants)
    return replace(product, variants=tuple(variants))

"""What a product has to be like to be saved: every bound, and every rule that needs no database.

Each refusal says in a sentence what is wrong, and in which field of which variant, for the page to show it there.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from datetime import UTC, datetime

from django.utils.translation import gettext as _
from moneyed import Money

from catalogue.entities import STATUSES, Product, Variant
from catalogue.errors import ProductRefused
from catalogue.photos import parse_photo
from catalogue.pictures import is_drawing
from catalogue.prices import PricePoint, compute_reference_price
from catalogue.queries import MAX_SKU_LENGTH
from pricing.money import to_minor_units
from pricing.tax import TAX_CLASSES
from pricing.templatetags.money import format_money

MAX_VARIANTS = 200
# With those that are no longer sold, which stay for the carts and orders that name them.
MAX_VARIANT_ROWS = 1000
MAX_OPTIONS = 10
# In any collection: the values of an option, tags, details.
MAX_VALUES = 100
MAX_CATEGORIES_OF_A_PRODUCT = 20
MAX_PINNED = 12
# How often a change of a part begins again while others of the whole are being saved.
MAX_SAVE_TRIES = 10
MAX_PRICE = 1_000_000
MAX_PLANNED = 10
# Whatever comes, goes or changes its price by itself does so between these.
EARLIEST, LATEST = datetime(2000, 1, 1, tzinfo=UTC), datetime(2101, 1, 1, tzinfo=UTC)
MAX_WEIGHT_GRAMS = 1_000_000
MAX_LENGTH_MM = 100_000
MAX_LABEL_LENGTH = 100
MAX_LENGTHS = {
    "name": 200,
    "slug": 100,
    "brand": 100,
    "description": 20_000,
    "maker": 1000,
    "safety": 5000,
    "search_title": 100,
    "search_description": 300,
}
MAX_DETAIL_LENGTH = 1000
MAX_PICTURES = 50
MAX_ALT_LENGTH = 250

SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_SKU = re.compile(r"[A-Z0-9]+(?:[-._][A-Z0-9]+)*")
_BARCODE = re.compile(r"[0-9]{8}|[0-9]{12,14}")


def check_product(product: Product, now: datetime) -> None:
    """Raise ProductRefused for the first thing about a product that cannot be saved."""
    _check_texts(product)
    _check_collections(product)
    _check_numbers(product)
    _check_pictures(product)
    if product.status not in STATUSES:
        raise ProductRefused(_("Choose draft, active or archived."), "status")
    _check_moment(product.active_from, "active_from")
    _check_moment(product.active_until, "active_until")
    if product.active_from and product.active_until and product.active_until <= product.active_from:
        raise ProductRefused(
            _("A product goes after it has come: choose a later time."), "active_until"
        )
    _check_variants(product)
    for variant in product.variants:
        _check_planned(variant, now)


def _check_moment(moment: datetime | None, field: str, variant: Variant | None = None) -> None:
    if moment and not EARLIEST <= moment < LATEST:
        raise ProductRefused(
            _("Choose a time in the years %(first)s to %(last)s.")
            % {"first": str(EARLIEST.year), "last": str(LATEST.year - 1)},
            field,
            variant.variant_id if variant else None,
        )


def _check_texts(product: Product) -> None:
    for field, most in MAX_LENGTHS.items():
        _check_length(getattr(product, field), most, field)
    if not product.name.strip():
        raise ProductRefused(_("Enter a name."), "name")
    if not SLUG.fullmatch(product.slug):
        raise ProductRefused(
            _("An address has small letters, digits and single hyphens, such as “oak-table-2”."),
            "slug",
        )
    if product.tax_class not in TAX_CLASSES:
        raise ProductRefused(_("Choose a tax class."), "tax_class")


def _check_length(text: str, most: int, field: str, variant: Variant | None = None) -> None:
    if len(text) > most:
        raise ProductRefused(
            _("This may have %(most)d characters. It has %(count)d.")
            % {"most": most, "count": len(text)},
            field,
            variant.variant_id if variant else None,
        )


def _check_collections(product: Product) -> None:
    _check_count(product.tags, MAX_VALUES, "tags")
    _check_count(product.details, MAX_VALUES, "details")
    _check_count(product.all_category_ids, MAX_CATEGORIES_OF_A_PRODUCT, "category_ids")
    _check_count(product.related_ids, MAX_PINNED, "related_ids")
    _check_count(product.option_names, MAX_OPTIONS, "option_names")
    for name in product.option_names:
        values = {each.options.get(name, "") for each in product.variants if each.sold}
        _check_count(values, MAX_VALUES, "option_names")
        _check_label(name, "option_names")
    for tag in product.tags:
        _check_label(tag, "tags")
    for label, text in product.details.items():
        _check_label(label, "details")
        _check_length(text, MAX_DETAIL_LENGTH, "details")
    if product.product_id in product.related_ids or _has_twice(product.related_ids):
        raise ProductRefused(
            _("Choose other products than this one, each of them once."), "related_ids"
        )
    if product.successor_id == product.product_id:
        raise ProductRefused(_("Choose another product than this one."), "successor_id")
    if _has_twice(product.option_names):
        raise ProductRefused(_("Each option has a name of its own."), "option_names")


def _check_count(values: Collection[object], most: int, field: str) -> None:
    if len(values) > most:
        raise ProductRefused(
            _("There may be %(most)d of these. There are %(count)d.")
            % {"most": most, "count": len(values)},
            field,
        )


def _check_label(text: str, field: str) -> None:
    if not text.strip():
        raise ProductRefused(_("One of these is empty."), field)
    _check_length(text, MAX_LABEL_LENGTH, field)


def _has_twice(values: Sequence[object]) -> bool:
    return len(set(values)) < len(values)


def _check_numbers(product: Product) -> None:
    for field in ("length_mm", "width_mm", "height_mm"):
        if not 0 <= getattr(product, field) <= MAX_LENGTH_MM:
            raise ProductRefused(
                _("Enter a length from 0 to %(most)d mm.") % {"most": MAX_LENGTH_MM}, field
            )


def _check_pictures(product: Product) -> None:
    _check_count(product.pictures, MAX_PICTURES, "pictures")
    if _has_twice([each.picture for each in product.pictures]):
        raise ProductRefused(_("Each picture is there once."), "pictures")
    for each in product.pictures:
        if not is_picture(each.picture):
            raise ProductRefused(_("There is no such picture."), "pictures")
        if not each.alt.strip():
            raise ProductRefused(_("Say what each picture shows."), "pictures")
        _check_length(each.alt, MAX_ALT_LENGTH, "pictures")


def is_picture(text: str) -> bool:
    """Return whether a text names a picture: an uploaded one, or a drawing that is there."""
    return bool(parse_photo(text) or is_drawing(text))


def _is_picture_of(product: Product, picture: str) -> bool:
    """Return whether a variant may have a picture: none, a drawing, or one of the product's."""
    return (
        not picture
        or any(each.picture == picture for each in product.pictures)
        or is_drawing(picture)
    )


def _check_variants(product: Product) -> None:
    variants, sold = product.variants, [each for each in product.variants if each.sold]
    if not variants:
        raise ProductRefused(_("A product needs at least one variant."), "variants")
    _check_count(sold, MAX_VARIANTS, "variants")
    if _has_twice([each.variant_id for each in variants]):
        raise ProductRefused(_("A variant is in the list twice."), "variants")
    if len({money.currency for each in variants for money in _list_money(each)}) > 1:
        raise ProductRefused(_("All prices of a product are in one currency."), "price")
    skus, barcodes = set[str](), set[str]()
    for variant in variants:
        _check_variant(product, variant)
        if variant.sku in skus:
            raise ProductRefused(
                _("Two variants have the SKU %(sku)s.") % {"sku": variant.sku},
                "sku",
                variant.variant_id,
            )
        if variant.sold and variant.barcode and variant.barcode in barcodes:
            raise ProductRefused(
                _("Two variants have the barcode %(code)s.") % {"code": variant.barcode},
                "barcode",
                variant.variant_id,
            )
        skus.add(variant.sku)
        if variant.sold:
            barcodes.add(variant.barcode)


def _list_money(variant: Variant) -> Iterator[Money]:
    points: list[Variant | PricePoint] = [variant, *variant.planned]
    for point in points:
        yield point.price
        if point.compare_at is not None:
            yield point.compare_at


def _check_planned(variant: Variant, now: datetime) -> None:
    def refuse(message: str) -> None:
        raise ProductRefused(message, "planned", variant.variant_id)

    times = [point.starts_at for point in variant.planned]
    if len(times) > MAX_PLANNED:
        refuse(_("At most %(most)d prices may be planned.") % {"most": MAX_PLANNED})
    if any(each <= now for each in times):
        refuse(_("A planned price begins in the future: choose a later time."))
    if times != sorted(set(times)):
        refuse(_("Planned prices follow one after the other: each begins at a time of its own."))
    for point in variant.planned:
        _check_moment(point.starts_at, "planned", variant)
        _check_prices(point, "planned", "planned", variant)


def _check_prices(
    point: Variant | PricePoint, field: str, compare_field: str, variant: Variant
) -> None:
    _check_price(point.price, field, variant)
    if point.compare_at is not None:
        _check_price(point.compare_at, compare_field, variant)
        if point.compare_at <= point.price:
            raise ProductRefused(
                _("A price that is crossed out is above the price."),
                compare_field,
                variant.variant_id,
            )


def check_reduction(
    earlier: Sequence[PricePoint], reduced: PricePoint, field: str, variant: Variant
) -> None:
    """Raise ProductRefused where a price is crossed out that is higher than the law allows.

    `earlier` are the prices before it, in the order of time.
    """
    if reduced.compare_at is None:
        return
    reference = compute_reference_price(earlier, reduced)
    if reference is None:
        raise ProductRefused(
            _("Nothing can be crossed out yet: this was not sold at another price before."),
            field,
            variant.variant_id,
        )
    if reduced.compare_at > reference:
        raise ProductRefused(
            _(
                "In the 30 days before the reduction the lowest price was %(price)s. A higher one must not be crossed out."
            )
            % {"price": format_money(reference)},
            field,
            variant.variant_id,
        )


def _check_variant(product: Product, variant: Variant) -> None:
    def refuse(message: str, field: str) -> None:
        raise ProductRefused(message, field, variant.variant_id)

    if not _SKU.fullmatch(variant.sku) or len(variant.sku) > MAX_SKU_LENGTH:
        refuse(
            _("A SKU has capitals, digits and single hyphens, %(most)d characters at most.")
            % {"most": MAX_SKU_LENGTH},
            "sku",
        )
    _check_prices(variant, "price", "compare_at", variant)
    if not 0 <= variant.weight_grams <= MAX_WEIGHT_GRAMS:
        refuse(
            _("Enter a weight from 0 to %(most)d g.") % {"most": MAX_WEIGHT_GRAMS}, "weight_grams"
        )
    if variant.barcode and not is_barcode(variant.barcode):
        refuse(
            _("A barcode has 8, 12, 13 or 14 digits, the last of which is a check digit."),
            "barcode",
        )
    if not _is_picture_of(product, variant.picture):
        refuse(_("Choose one of the product’s pictures."), "picture")
    if not variant.sold:
        return  # Its options may be those that the product had then.
    if set(variant.options) != set(product.option_names) or not all(variant.options.values()):
        refuse(
            _("Choose a value for each option: %(options)s.")
            % {"options": ", ".join(product.option_names)}
            if product.option_names
            else _("This product has no options to choose from."),
            "options",
        )
    for value in variant.options.values():
        _check_length(value, MAX_LABEL_LENGTH, "options", variant)


def _check_price(price: Money, field: str, variant: Variant) -> None:
    if not 0 < price.amount <= MAX_PRICE:
        raise ProductRefused(
            _("Enter a price above 0, and not above %(most)d.") % {"most": MAX_PRICE},
            field,
            variant.variant_id,
        )
    try:
        to_minor_units(price)
    except ValueError as error:
        raise ProductRefused(
            _("A price has no fractions of a cent."), field, variant.variant_id
        ) from error


def is_barcode(text: str) -> bool:
    """Return whether a text is a GTIN, with the right check digit."""
    if not _BARCODE.fullmatch(text):
        return False
    digits = [int(digit) for digit in reversed(text)]
    return sum(digits[::2]) % 10 == (-3 * sum(digits[1::2])) % 10

"""The rules for saving a product: all bounds, and all rules that need no database.

A refusal is a sentence with the field and the variant that it is about.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from datetime import UTC, datetime
from urllib.parse import quote_plus

from django.utils.translation import gettext as _
from moneyed import Money

from catalogue.columns import COLUMNS, LINES, NUMBER, TEXT
from catalogue.entities import STATUSES, Product, Variant
from catalogue.errors import ProductRefused
from catalogue.old_addresses import MAX_OLD_ADDRESSES, normalize_path
from catalogue.photos import parse_photo
from catalogue.pictures import is_drawing
from catalogue.prices import PricePoint, compute_reference_price
from catalogue.queries import MAX_SKU_LENGTH
from catalogue.unit_prices import UNITS
from pricing.money import to_minor_units
from pricing.tax import TAX_CLASSES
from pricing.templatetags.money import format_money
from web.text import clean_text

MAX_VARIANTS = 200
# The bound includes variants that are no longer sold, because carts and orders may name them.
MAX_VARIANT_ROWS = 1000
MAX_OPTIONS = 10
# The bound of each collection: the values of an option, the tags, the details.
MAX_VALUES = 100
MAX_CATEGORIES_OF_A_PRODUCT = 20
MAX_PINNED = 12
# How often a save is tried while other staff save the same product.
MAX_ATTEMPTS = 10
MAX_PRICE = 1_000_000
MAX_PLANNED = 10
# The earliest and the latest possible moment for the begin and end of a sale, and for planned prices.
EARLIEST, LATEST = datetime(2000, 1, 1, tzinfo=UTC), datetime(2101, 1, 1, tzinfo=UTC)
MAX_WEIGHT_GRAMS = 1_000_000
# The largest content of a variant, in its product's unit.
MAX_CONTENT = 1_000_000
MAX_MPN_LENGTH = 70
MAX_LABEL_LENGTH = 100
# The longest texts in characters, by the names of their columns.
MAX_LENGTHS = {each.name: each.most for each in COLUMNS if each.kind in (TEXT, LINES)}
MAX_DETAIL_LENGTH = 1000
# A form may have 512 KiB (DATA_UPLOAD_MAX_MEMORY_SIZE). The rest is left for the form's other fields, such as its variants.
MAX_FORM_CHARACTERS = 240 * 1024
MAX_PICTURES = 50
MAX_ALT_LENGTH = 250
SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_SKU = re.compile(r"[A-Z0-9](?: ?[A-Z0-9._/+#-])*")
_BARCODE = re.compile(r"[0-9]{8}|[0-9]{12,14}")


def list_refusals(product: Product, now: datetime) -> Iterator[ProductRefused]:
    """Yield a refusal for each rule that a product breaks."""
    yield from _check_texts(product)
    yield from _check_collections(product)
    yield from _check_form_sizes(product)
    yield from _check_numbers(product)
    yield from _check_pictures(product)
    if product.status not in STATUSES:
        yield ProductRefused(_("Choose draft, active or archived."), "status")
    yield from _check_moment(product.active_from, "active_from")
    yield from _check_moment(product.active_until, "active_until")
    if product.active_from and product.active_until and product.active_until <= product.active_from:
        yield ProductRefused(_("Enter an end of sale after its start."), "active_until")
    yield from _check_variants(product)
    for variant in product.variants:
        yield from _check_planned(variant, now)


def _check_moment(
    moment: datetime | None, field: str, variant: Variant | None = None
) -> Iterator[ProductRefused]:
    if moment and not EARLIEST <= moment < LATEST:
        yield ProductRefused(
            _("Enter a year from %(first)s to %(last)s.")
            % {"first": str(EARLIEST.year), "last": str(LATEST.year - 1)},
            field,
            variant.variant_id if variant else None,
        )


def _check_texts(product: Product) -> Iterator[ProductRefused]:
    for field, most in MAX_LENGTHS.items():
        yield from _check_length(getattr(product, field), most, field)
    if not product.name.strip():
        yield ProductRefused(_("Enter a name."), "name")
    if not SLUG.fullmatch(product.slug):
        yield ProductRefused(
            _("Enter lower-case letters, digits and single hyphens, such as “oak-table-2”."), "slug"
        )
    if product.tax_class not in TAX_CLASSES:
        yield ProductRefused(_("Choose a tax class."), "tax_class")
    if product.unit and product.unit not in UNITS:
        yield ProductRefused(_("Choose a unit."), "unit")
    old_addresses = product.old_addresses.split()
    yield from _check_count(old_addresses, MAX_OLD_ADDRESSES, "old_addresses")
    for each in old_addresses:
        if not normalize_path(each):
            text = _("Enter addresses such as /products/mug instead of “%(address)s”.")
            yield ProductRefused(text % {"address": each[:100]}, "old_addresses")


def _check_length(
    text: str, most: int, field: str, variant: Variant | None = None
) -> Iterator[ProductRefused]:
    if len(text) > most:
        yield ProductRefused(
            _("Enter at most %(most)d characters; there are %(count)d.")
            % {"most": most, "count": len(text)},
            field,
            variant.variant_id if variant else None,
        )


def _check_collections(product: Product) -> Iterator[ProductRefused]:
    yield from _check_count(product.tags, MAX_VALUES, "tags")
    yield from _check_count(product.details, MAX_VALUES, "details")
    yield from _check_count(product.all_category_ids, MAX_CATEGORIES_OF_A_PRODUCT, "category_ids")
    yield from _check_count(product.related_ids, MAX_PINNED, "related_ids")
    yield from _check_count(product.option_names, MAX_OPTIONS, "option_names")
    for name in product.option_names:
        values = {each.options.get(name, "") for each in product.variants if each.sold}
        yield from _check_count(values, MAX_VALUES, "option_names")
        yield from _check_label(name, "option_names")
    for tag in product.tags:
        yield from _check_label(tag, "tags")
    for label, text in product.details.items():
        yield from _check_label(label, "details")
        yield from _check_length(text, MAX_DETAIL_LENGTH, "details")
    if product.product_id in product.related_ids or _has_twice(product.related_ids):
        yield ProductRefused(_("Choose other products, each one once."), "related_ids")
    if product.successor_id == product.product_id:
        yield ProductRefused(_("Choose another product than this one."), "successor_id")
    if _has_twice(product.option_names):
        yield ProductRefused(_("Enter a different name for each option."), "option_names")


def _check_count(values: Collection[object], most: int, field: str) -> Iterator[ProductRefused]:
    if len(values) > most:
        yield ProductRefused(
            _("Enter at most %(most)d; there are %(count)d.")
            % {"most": most, "count": len(values)},
            field,
        )


def _check_label(text: str, field: str) -> Iterator[ProductRefused]:
    if not text.strip():
        yield ProductRefused(_("Fill in every value, or remove it."), field)
    yield from _check_length(text, MAX_LABEL_LENGTH, field)


def _has_twice(values: Sequence[object]) -> bool:
    return len(set(values)) < len(values)


def _check_form_sizes(product: Product) -> Iterator[ProductRefused]:
    """Check that a browser can send the forms of the product and of its options: they must not be too large."""
    texts = [getattr(product, each) for each in MAX_LENGTHS]
    labelled = [text for pair in product.details.items() for text in pair]
    values = {
        (name, value)
        for each in product.variants
        if each.sold
        for name, value in each.options.items()
    }
    options = [*product.option_names, *(value for _name, value in values)]
    for field, sent in (
        ("description", [*texts, *labelled, *product.tags]),
        ("option_names", options),
    ):
        # A form sends each letter outside of ASCII as its bytes, six to twelve characters.
        text = "\n".join(sent).replace('"', '""').replace("\n", "\r\n")
        if len(text) * 12 > MAX_FORM_CHARACTERS and len(quote_plus(text)) > MAX_FORM_CHARACTERS:
            yield ProductRefused(_("These texts are too long in total. Shorten them."), field)


def _check_numbers(product: Product) -> Iterator[ProductRefused]:
    for column in COLUMNS:
        if (
            column.kind is NUMBER
            and column.most
            and not (0 <= getattr(product, column.name) <= column.most)
        ):
            text = _("Enter a length from 0 to %(most)d mm.")
            yield ProductRefused(text % {"most": column.most}, column.name)


def _check_pictures(product: Product) -> Iterator[ProductRefused]:
    yield from _check_count(product.pictures, MAX_PICTURES, "pictures")
    if _has_twice([each.picture for each in product.pictures]):
        yield ProductRefused(_("The same picture is listed twice."), "pictures")
    for each in product.pictures:
        if not is_picture(each.picture):
            yield ProductRefused(_("This picture no longer exists."), "pictures")
        yield from _check_length(each.alt, MAX_ALT_LENGTH, "pictures")


def is_picture(text: str) -> bool:
    """Return whether a text names an uploaded picture or an existing drawing."""
    return bool(parse_photo(text) or is_drawing(text))


def _is_picture_of(product: Product, picture: str) -> bool:
    """Return whether a variant may have this picture: none, a drawing, or one of its product's pictures."""
    return (
        not picture
        or any(each.picture == picture for each in product.pictures)
        or is_drawing(picture)
    )


def _check_variants(product: Product) -> Iterator[ProductRefused]:
    variants, sold = product.variants, [each for each in product.variants if each.sold]
    if not variants:
        yield ProductRefused(_("A product needs at least one variant."), "variants")
    yield from _check_count(sold, MAX_VARIANTS, "variants")
    if _has_twice([each.variant_id for each in variants]):
        yield ProductRefused(_("Two variants are the same."), "variants")
    if len({money.currency for each in variants for money in _list_money(each)}) > 1:
        yield ProductRefused(_("Enter all prices in one currency."), "price")
        return  # Prices in several currencies cannot be compared.
    skus, barcodes = set[str](), set[str]()
    for variant in variants:
        yield from _check_variant(product, variant)
        if variant.sku in skus:
            yield ProductRefused(
                _("Two variants have the SKU %(sku)s.") % {"sku": variant.sku},
                "sku",
                variant.variant_id,
            )
        if variant.sold and variant.barcode and variant.barcode in barcodes:
            yield ProductRefused(
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
    if variant.cost_price is not None:
        yield variant.cost_price


def _check_planned(variant: Variant, now: datetime) -> Iterator[ProductRefused]:
    def refuse(message: str) -> ProductRefused:
        return ProductRefused(message, "planned", variant.variant_id)

    times = [point.starts_at for point in variant.planned]
    if len(times) > MAX_PLANNED:
        yield refuse(_("At most %(most)d prices can be scheduled.") % {"most": MAX_PLANNED})
    if any(each <= now for each in times):
        yield refuse(_("Enter a start in the future."))
    if times != sorted(set(times)):
        yield refuse(_("Another scheduled price starts at the same time. Enter a different time."))
    for point in variant.planned:
        yield from _check_moment(point.starts_at, "planned", variant)
        yield from _check_prices(point, "planned", "planned", variant)


def _check_prices(
    point: Variant | PricePoint, field: str, compare_field: str, variant: Variant
) -> Iterator[ProductRefused]:
    yield from _check_price(point.price, field, variant)
    if point.compare_at is not None:
        yield from _check_price(point.compare_at, compare_field, variant)
        if point.compare_at <= point.price:
            yield ProductRefused(
                _("Enter a former price above the price."), compare_field, variant.variant_id
            )


def check_reduction(
    earlier: Sequence[PricePoint], reduced: PricePoint, field: str, variant: Variant
) -> Iterator[ProductRefused]:
    """Yield a refusal if the crossed-out price is higher than the law allows. `earlier` are the prices before, earliest first."""
    if reduced.compare_at is None:
        return
    reference = compute_reference_price(earlier, reduced)
    if reference is None:
        yield ProductRefused(
            _("There is no former price yet: this variant was never sold at another price."),
            field,
            variant.variant_id,
        )
    elif reduced.compare_at > reference:
        yield ProductRefused(
            _("The former price can be at most %(price)s, the lowest price of the last 30 days.")
            % {"price": format_money(reference)},
            field,
            variant.variant_id,
        )


def _check_variant(product: Product, variant: Variant) -> Iterator[ProductRefused]:
    def refuse(message: str, field: str) -> ProductRefused:
        return ProductRefused(message, field, variant.variant_id)

    if not is_sku(variant.sku):
        yield refuse(
            _(
                "Enter a SKU of at most %(most)d capitals, digits, single spaces and . - _ / + #, starting with a capital or a digit."
            )
            % {"most": MAX_SKU_LENGTH},
            "sku",
        )
    yield from _check_prices(variant, "price", "compare_at", variant)
    if variant.cost_price is not None:
        yield from _check_price(variant.cost_price, "cost_price", variant)
    if not 0 <= variant.weight_grams <= MAX_WEIGHT_GRAMS:
        yield refuse(
            _("Enter a weight from 0 to %(most)d g.") % {"most": MAX_WEIGHT_GRAMS}, "weight_grams"
        )
    if not 0 <= variant.content <= MAX_CONTENT:
        yield refuse(_("Enter a number from 0 to %(most)d.") % {"most": MAX_CONTENT}, "content")
    if variant.barcode and not is_barcode(variant.barcode):
        yield refuse(
            _("Enter a barcode with 8, 12, 13 or 14 digits, including a valid check digit."),
            "barcode",
        )
    yield from _check_length(variant.mpn, MAX_MPN_LENGTH, "mpn", variant)
    if not _is_picture_of(product, variant.picture):
        yield refuse(_("Choose one of the product’s pictures."), "picture")
    if not variant.sold:
        return  # The product may keep the options that it had then.
    if set(variant.options) != set(product.option_names) or not all(variant.options.values()):
        yield refuse(
            _("Choose a value for each option: %(options)s.")
            % {"options": ", ".join(product.option_names)}
            if product.option_names
            else _("This product has no options to choose from."),
            "options",
        )
    for value in variant.options.values():
        yield from _check_length(value, MAX_LABEL_LENGTH, "options", variant)


def _check_price(price: Money, field: str, variant: Variant) -> Iterator[ProductRefused]:
    if fault := find_price_fault(price):
        yield ProductRefused(fault, field, variant.variant_id)


def find_price_fault(price: Money) -> str:
    """Return a sentence that says why a price is refused; "" if it is not."""
    if price.amount <= 0:
        return _("Enter a price above 0.")
    if price.amount > MAX_PRICE:
        return _("Enter a price of %(most)d at most.") % {"most": MAX_PRICE}
    try:
        to_minor_units(price)
    except ValueError:
        return _("Enter a price without fractions of a cent.")
    return ""


def is_slug(text: str) -> bool:
    """Return whether a text may be the slug of a product's address."""
    return bool(SLUG.fullmatch(text)) and len(text) <= MAX_LENGTHS["slug"]


def is_sku(text: str) -> bool:
    """Return whether a text may be a SKU."""
    return bool(_SKU.fullmatch(text)) and len(text) <= MAX_SKU_LENGTH


def normalize_sku(text: str) -> str:
    """Return a typed SKU in the form in which products store SKUs."""
    return " ".join(clean_text(text).split()).upper()


def is_barcode(text: str) -> bool:
    """Return whether a text is a GTIN with a correct check digit."""
    if not _BARCODE.fullmatch(text):
        return False
    digits = [int(digit) for digit in reversed(text)]
    return sum(digits[::2]) % 10 == (-3 * sum(digits[1::2])) % 10

"""Products as items of Google Merchant Center, a variant each, by its product data specification.

https://support.google.com/merchants/answer/7052112 has the attributes and their bounds.
"""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, time
from uuid import UUID

from django.utils.html import strip_tags
from moneyed import Money

from catalogue.descriptions import plain_description
from catalogue.entities import Product, Variant
from catalogue.queries import get_category_tree
from catalogue.share_images import find_share_image
from catalogue.unit_prices import UNITS
from inventory.entities import PREORDER, Stock
from storefront.choices import variant_url
from storefront.structured_data import absolute_url

# In the order of a TSV file. Those without a value are left out of XML.
ATTRIBUTES = (
    *("id", "item_group_id", "title", "description", "link", "image_link"),
    *("additional_image_link", "availability", "availability_date", "price", "sale_price"),
    *("google_product_category", "product_type", "brand", "gtin", "mpn", "identifier_exists"),
    *("condition", "color", "size", "material", "pattern", "shipping_weight"),
    *("unit_pricing_measure", "unit_pricing_base_measure"),
)
# The longest values, in characters.
MAX_LENGTHS = {
    "id": 50,
    "title": 150,
    "description": 5000,
    "product_type": 750,
    "brand": 70,
    "color": 100,
    "size": 100,
    "material": 200,
    "pattern": 100,
}
MAX_FURTHER_IMAGES = 10
_OPTIONS = {"colour": "color"} | {each: each for each in ("color", "size", "material", "pattern")}
# Google's names of the shop's units.
_UNITS = {"m2": "sqm", "piece": "ct"}
Item = dict[str, list[str]]


def list_items(product: Product, stock: Mapping[UUID, Stock], now: datetime) -> list[Item]:
    """Return the items of a product on sale: the values of each attribute of ATTRIBUTES that has one.

    Without a picture there is no item, because Google refuses it.
    """
    if not product.is_on_sale(now):
        return []
    sold = [each for each in product.variants if each.sold and product.picture_of(each)]
    of_all = {
        "item_group_id": product.product_id.hex if len(sold) > 1 else "",
        "description": plain_description(product.description) or product.name,
        "google_product_category": product.google_category,
        "product_type": _category_path(product),
        "brand": product.brand,
        "condition": "new",
    }
    items = []
    for each in sold:
        found = of_all | dict(_variant_attributes(product, each))
        found |= dict(_sale_attributes(each, stock.get(each.variant_id, Stock()), now))
        has_identifier = found["gtin"] or (found["brand"] and found["mpn"])
        found["identifier_exists"] = "" if has_identifier else "no"
        # Google takes no HTML, even if it was typed as text.
        item = {
            name: [strip_tags(text)[: MAX_LENGTHS.get(name)].strip()]
            for name, text in found.items()
            if text
        }
        items.append(item | {"additional_image_link": _list_further_images(product, each)})
    return items


def _category_path(product: Product) -> str:
    node = get_category_tree().by_id.get(product.category_id)
    return " > ".join(each.name for each in node.path) if node else ""


def _list_further_images(product: Product, variant: Variant) -> list[str]:
    shown = product.picture_of(variant)
    further = [each.picture for each in product.pictures if each.picture != shown]
    return [find_share_image(each).url for each in further[:MAX_FURTHER_IMAGES]]


def _variant_attributes(product: Product, variant: Variant) -> Iterator[tuple[str, str]]:
    # A longer SKU could be cut to that of another variant.
    is_short = len(variant.sku) <= MAX_LENGTHS["id"]
    yield "id", variant.sku if is_short else variant.variant_id.hex
    yield "title", f"{product.name}, {variant.label}" if variant.label else product.name
    yield "link", absolute_url(variant_url(product, variant))
    yield "image_link", find_share_image(product.picture_of(variant)).url
    yield "gtin", variant.barcode
    yield "mpn", variant.mpn
    for name, value in variant.options.items():
        if known := _OPTIONS.get(name.casefold()):
            yield known, value
    if variant.weight_grams:
        yield "shipping_weight", f"{variant.weight_grams} g"
    if variant.content and product.unit:
        unit = _UNITS.get(product.unit, product.unit)
        yield "unit_pricing_measure", f"{variant.content.normalize():f} {unit}"
        yield "unit_pricing_base_measure", f"{UNITS[product.unit].amount} {unit}"


def _sale_attributes(variant: Variant, stock: Stock, now: datetime) -> Iterator[tuple[str, str]]:
    if variant.compare_at:
        yield "price", _price(variant.compare_at)
        yield "sale_price", _price(variant.price)
    else:
        yield "price", _price(variant.price)
    if stock.availability != "ahead":
        yield "availability", "in_stock" if stock.available > 0 else "out_of_stock"
        return
    expected_on = stock.backorder.expected_on if stock.backorder else None
    # Google asks for the day on which it is sent, within a year.
    if stock.backorder and expected_on and 0 < (expected_on - now.date()).days <= 365:
        yield "availability", "preorder" if stock.backorder.kind == PREORDER else "backorder"
        yield "availability_date", datetime.combine(expected_on, time(), UTC).isoformat()
    else:
        yield "availability", "out_of_stock"


def _price(price: Money) -> str:
    return f"{price.amount:.2f} {price.currency.code}"

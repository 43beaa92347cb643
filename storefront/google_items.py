"""Products as items of Google Merchant Center, a variant each, by its product data specification.

https://support.google.com/merchants/answer/7052112 has the attributes and their bounds.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, time
from uuid import UUID

from django.utils.html import strip_tags
from moneyed import Money

from catalogue.descriptions import plain_description
from catalogue.entities import Product, Variant
from catalogue.queries import get_category_tree
from catalogue.share_images import find_share_image
from catalogue.unit_prices import UNITS
from inventory.entities import Stock
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
# In characters. The other values are shorter here than Google allows.
MAX_ID_LENGTH, MAX_FURTHER_IMAGES = 50, 10
MAX_LENGTHS = {"title": 150, "description": 5000, "product_type": 750, "brand": 70}
# Google's names of the shop's units.
_UNITS = {"m2": "sqm", "piece": "ct"}
Item = dict[str, list[str]]


def list_items(product: Product, stock: Mapping[UUID, Stock], now: datetime) -> list[Item]:
    """Return the items of a product on sale: the values of each attribute of ATTRIBUTES that has one.

    Without a picture there is no item, because Google refuses it.
    """
    if not product.is_on_sale(now):
        return []
    node = get_category_tree().by_id.get(product.category_id)
    sold = [each for each in product.variants if each.sold and product.picture_of(each)]
    of_all = {
        "item_group_id": product.product_id.hex if len(sold) > 1 else "",
        "description": plain_description(product.description) or product.name,
        "google_product_category": product.google_category,
        "product_type": " > ".join(each.name for each in node.path) if node else "",
        "brand": product.brand,
        "condition": "new",
    }
    items = []
    for variant in sold:
        values = of_all | _describe_variant(product, variant)
        values |= _describe_availability(stock.get(variant.variant_id, Stock()), now)
        # Google takes no HTML, even if it was typed as text.
        item = {
            name: [strip_tags(text)[: MAX_LENGTHS.get(name)].strip()]
            for name, text in values.items()
            if text
        }
        shown = product.picture_of(variant)
        further = [each.picture for each in product.pictures if each.picture != shown]
        links = [find_share_image(each).url for each in further[:MAX_FURTHER_IMAGES]]
        items.append(item | {"additional_image_link": links})
    return items


def _describe_variant(product: Product, variant: Variant) -> dict[str, str]:
    has_identifier = variant.barcode or (product.brand and variant.mpn)
    options = {name.casefold(): value for name, value in variant.options.items()}
    values = {
        # A longer SKU could be cut to that of another variant.
        "id": variant.sku if len(variant.sku) <= MAX_ID_LENGTH else variant.variant_id.hex,
        "title": f"{product.name}, {variant.label}" if variant.label else product.name,
        "link": absolute_url(variant_url(product, variant)),
        "image_link": find_share_image(product.picture_of(variant)).url,
        "price": _format_price(variant.compare_at or variant.price),
        "sale_price": _format_price(variant.price) if variant.compare_at else "",
        "gtin": variant.barcode,
        "mpn": variant.mpn,
        "identifier_exists": "" if has_identifier else "no",
        "color": options.get("colour") or options.get("color", ""),
        **{name: options.get(name, "") for name in ("size", "material", "pattern")},
        "shipping_weight": f"{variant.weight_grams} g" if variant.weight_grams else "",
    }
    if variant.content and product.unit:
        unit = _UNITS.get(product.unit, product.unit)
        values["unit_pricing_measure"] = f"{variant.content.normalize():f} {unit}"
        values["unit_pricing_base_measure"] = f"{UNITS[product.unit].amount} {unit}"
    return values


def _describe_availability(stock: Stock, now: datetime) -> dict[str, str]:
    if stock.availability != "ahead":
        return {"availability": "in_stock" if stock.available > 0 else "out_of_stock"}
    backorder = stock.backorder
    # Google asks for the day on which it is sent, within a year.
    if backorder and (day := backorder.expected_on) and 0 < (day - now.date()).days <= 365:
        at = datetime.combine(day, time(), UTC).isoformat()
        return {"availability": backorder.kind, "availability_date": at}
    return {"availability": "out_of_stock"}


def _format_price(price: Money) -> str:
    return f"{price.amount:.2f} {price.currency.code}"

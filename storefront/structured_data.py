"""What search engines read of a page: schema.org data as JSON-LD."""

import json
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django.conf import settings
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from catalogue.descriptions import plain_description
from catalogue.entities import CategoryNode, Product, Variant
from catalogue.templatetags.pictures import public_picture_url
from inventory.entities import PREORDER, Stock
from storefront.choices import variant_url

# In a script element only these could end the data, or begin something else.
_ESCAPES = {ord("<"): "\\u003C", ord(">"): "\\u003E", ord("&"): "\\u0026"}


def json_ld_script(*things: Mapping[str, Any]) -> SafeString:
    """Return a script element that holds the things as data; nothing in them can leave it."""
    text = json.dumps(
        [{"@context": "https://schema.org"} | dict(thing) for thing in things], ensure_ascii=False
    )
    return format_html(
        '<script type="application/ld+json">{}</script>', SafeString(text.translate(_ESCAPES))
    )


def product_data(product: Product, stock: Mapping[UUID, Stock]) -> dict[str, Any]:
    """Return a product with an offer for each variant that is sold."""
    sold = [variant for variant in product.variants if variant.sold]
    pictures = dict.fromkeys(
        [
            *(each.picture for each in product.pictures),
            *(variant.picture for variant in sold if variant.picture),
        ]
    )
    brand = {"brand": {"@type": "Brand", "name": product.brand}} if product.brand else {}
    return {
        "@type": "Product",
        "name": product.name,
        "description": plain_description(product.description),
        **brand,
        "image": [public_picture_url(picture) for picture in pictures],
        "url": absolute_url(reverse("product", args=(product.slug,))),
        "offers": [
            _offer(product, variant, stock.get(variant.variant_id, Stock())) for variant in sold
        ],
    }


def _offer(product: Product, variant: Variant, stock: Stock) -> dict[str, Any]:
    return {
        "@type": "Offer",
        "sku": variant.sku,
        **({"gtin": variant.barcode} if variant.barcode else {}),
        "name": f"{product.name}, {variant.label}" if variant.label else product.name,
        "url": absolute_url(variant_url(product, variant)),
        "price": f"{variant.price.amount:.2f}",
        "priceCurrency": variant.price.currency.code,
        "availability": f"https://schema.org/{_availability(stock)}",
        "itemCondition": "https://schema.org/NewCondition",
    }


def _availability(stock: Stock) -> str:
    if stock.backorder and stock.availability == "ahead":
        return "PreOrder" if stock.backorder.kind == PREORDER else "BackOrder"
    return "InStock" if stock.available > 0 else "OutOfStock"


def breadcrumb_data(trail: Sequence[CategoryNode], page_name: str, url: str) -> dict[str, Any]:
    """Return the way from the front page to a page called `page_name`."""
    steps = [
        (_("Home"), reverse("home")),
        *((node.name, reverse("category", args=(node.slug,))) for node in trail),
    ]
    return {
        "@type": "BreadcrumbList",
        "itemListElement": [
            {"@type": "ListItem", "position": position, "name": name, "item": absolute_url(address)}
            for position, (name, address) in enumerate([*steps, (page_name, url)], start=1)
        ],
    }


def absolute_url(address: str) -> str:
    """Return an address of the shop with its public name; the request's Host header has no say."""
    return f"{settings.PUBLIC_URL}{address}"

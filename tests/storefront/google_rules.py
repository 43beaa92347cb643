"""What Google Merchant Center asks of an item, by its product data specification.

https://support.google.com/merchants/answer/7052112, with the pages of its attributes; read on 27 November 2026.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime

from catalogue.rules import is_barcode

# The longest values in characters; for repeated attributes, of each.
MOST = {
    "id": 50,
    "title": 150,
    "description": 5000,
    "link": 2000,
    "image_link": 2000,
    "additional_image_link": 2000,
    "google_product_category": 750,
    "product_type": 750,
    "brand": 70,
    "mpn": 70,
    "color": 100,
    "size": 100,
    "material": 200,
    "pattern": 100,
    "item_group_id": 50,
    "availability_date": 25,
    "gtin": 50,
}
REQUIRED = ("id", "title", "description", "link", "image_link", "availability", "price")
CHOICES = {
    "availability": {"in_stock", "out_of_stock", "preorder", "backorder"},
    "condition": {"new", "refurbished", "used"},
    "identifier_exists": {"yes", "no"},
}
_PRICE = r"\d+\.\d\d [A-Z]{3}"
_MEASURE = r"\d+(\.\d+)? ?(g|kg|mg|oz|lb|ml|cl|l|cbm|floz|in|ft|yd|cm|m|sqft|sqm|ct)"
SHAPES = {
    "price": _PRICE,
    "sale_price": _PRICE,
    **dict.fromkeys(("link", "image_link", "additional_image_link"), r"https?://[^\s,]+"),
    "shipping_weight": r"\d+(\.\d+)? (g|kg|oz|lb)",
    "unit_pricing_measure": _MEASURE,
    "unit_pricing_base_measure": r"(1|10|100|2|4|8|75|50|1000) ?(g|kg|ml|l|m|sqm|ct)",
    "google_product_category": r"\d+|[^>]+( > [^>]+)*",
}


def list_faults(item: Mapping[str, list[str]]) -> Iterator[str]:
    """Yield what is wrong with an item: the values of its attributes, by their names."""
    one = {name: values[0] for name, values in item.items() if values}
    yield from (f"{name} is missing" for name in REQUIRED if not one.get(name))
    for name, values in item.items():
        if len(values) > (10 if name == "additional_image_link" else 1):
            yield f"{name} is there too often"
        for value in values:
            if len(value) > MOST.get(name, 10**6) or value != value.strip() or not value:
                yield f"{name} is too long, or has blanks around it"
            if name in CHOICES and value not in CHOICES[name]:
                yield f"{name} is {value}"
            if name in SHAPES and not re.fullmatch(SHAPES[name], value):
                yield f"{name} looks like {value}"
            if "<" in value and ">" in value:
                yield f"{name} has HTML"
    if "gtin" in one and not is_barcode(one["gtin"]):
        yield "gtin is none"
    is_identified = "gtin" in one or {"brand", "mpn"} <= one.keys()
    if is_identified == (one.get("identifier_exists") == "no"):
        yield "identifier_exists contradicts the identifiers"
    if (one.get("availability") in ("preorder", "backorder")) != ("availability_date" in one):
        yield "availability_date is for what comes later"
    if (
        "availability_date" in one
        and datetime.fromisoformat(one["availability_date"]).tzinfo is None
    ):
        yield "availability_date has no time zone"
    prices = [one[name] for name in ("sale_price", "price") if name in one]
    if len(prices) == 2 and all(re.fullmatch(_PRICE, each) for each in prices):
        sale, usual = (float(each[:-4]) for each in prices)
        if sale >= usual:
            yield "sale_price is no reduction"

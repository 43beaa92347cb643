"""Converts product feeds as Google Merchant Center takes them: a line or item for each variant."""

from collections import Counter
from collections.abc import Iterator
from urllib.parse import parse_qsl, urlsplit

from catalogue.old_addresses import normalize_path
from spreadsheets.foreign.entities import AUTOMATIC, ColumnMapping, ConvertedLine, Rows
from spreadsheets.foreign.mapping import fill, read_automatic
from spreadsheets.foreign.values import Slugs, is_between, plain_price, reduce_price
from spreadsheets.typed_values import format_details, format_options

MARKS = frozenset(("id", "title", "link", "price"))
# What tells the variants of an item group apart, by Google's rules. Of a product without variants these are details.
_OPTIONS = ("color", "size", "pattern", "material")
TARGETS = {
    "id": "sku",
    "title": "name",
    "description": "description",
    "brand": "brand",
    "gtin": "barcode",
    "mpn": "mpn",
    "price": "price",
    "product_type": "category",
    "google_product_category": "google_category",
    "image_link": "pictures",
    "additional_image_link": "pictures",
    "shipping_weight": "weight_grams",
    "shipping_length": "length_mm",
    "shipping_width": "width_mm",
    "shipping_height": "height_mm",
    "cost_of_goods_sold": "cost_price",
    **dict.fromkeys(
        ("link", "item_group_id", "sale_price", "sale_price_effective_date", *_OPTIONS), AUTOMATIC
    ),
}


# What an address may ask for beside its path, if the path alone is a product's page.
_BESIDE = frozenset(("variant", "color", "size", "currency", "country", "srsltid"))


def convert(rows: Rows, mapping: ColumnMapping, notes: Counter[str]) -> Iterator[ConvertedLine]:
    """Yield a line for each item. Items of a group form a product."""
    slugs = Slugs()
    for row in rows():
        line, own = fill(row, mapping, notes), read_automatic(row, mapping)
        group, path = own.get("item_group_id", ""), _find_path(own.get("link", ""))
        key = f"group {group}" if group else f"id {line.cells.get('sku') or row.line}"
        page = path.rstrip("/").rpartition("/")[2].removesuffix(".html")
        cells = {"product": slugs.get(key, page, line.cells.get("name", ""))}
        if path:
            cells["old_addresses"] = path
        found = {name.capitalize(): own[name] for name in _OPTIONS if own.get(name)}
        if group and (pictures := line.cells.get("pictures")):
            cells["picture"] = pictures.partition("\n")[0]
        if found and group:
            cells["options"] = format_options(found)
        elif found:
            cells["details"] = format_details(found)
        if sale := own.get("sale_price"):
            start, _slash, end = own.get("sale_price_effective_date", "").partition("/")
            if is_between(mapping.now, start, end):
                cells |= reduce_price(line.cells.get("price", ""), plain_price(sale))
            else:
                notes["sale_not_on"] += 1
        yield line.with_cells(cells)


def _find_path(link: str) -> str:
    """Return the path of a product's page, or "" if it is the page of several, such as shop?id=5."""
    try:
        parts = urlsplit(link)
    except ValueError:
        return ""
    beside = (name for name, _value in parse_qsl(parts.query))
    is_own = all(name in _BESIDE or name.startswith("utm_") for name in beside)
    return normalize_path(link) if is_own else ""

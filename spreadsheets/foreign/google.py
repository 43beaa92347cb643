"""Converts product feeds as Google Merchant Center takes them, as TSV or CSV: a line for each variant."""

from collections.abc import Iterator

from django.utils.translation import gettext_lazy

from catalogue.old_addresses import normalize_path
from spreadsheets.foreign.entities import AUTOMATIC, ConvertedLine, Lines, Preset
from spreadsheets.foreign.values import Slugs


def _convert(lines: Lines) -> Iterator[ConvertedLine]:
    """Yield a line for each item. Items of a group form a product."""
    slugs = Slugs()
    for line in lines():
        cells, own = dict(line.cells), line.own
        group = own.get("item_group_id", "")
        link, _mark, query = own.get("link", "").partition("?")
        # Addresses such as shop?id=5 have their path in common.
        path = normalize_path(link) if not query or query.startswith(("variant=", "utm_")) else ""
        page = path.rpartition("/")[2].removesuffix(".html")
        key = f"group {group}" if group else f"id {cells.get('sku') or line.line}"
        starts, _slash, ends = own.get("sale_price_effective_date", "").partition("/")
        cells |= {
            "product": slugs.get(key, page, cells.get("name", "")),
            "sale_starts": starts,
            "sale_ends": ends,
        }
        if path:
            cells["old_addresses"] = path
        if group and (pictures := cells.get("pictures")):
            cells["picture"] = pictures.partition("\n")[0]
        if not group and (options := cells.pop("options", "")):
            cells["details"] = "\n".join(filter(None, (cells.get("details"), options)))
        yield line.with_cells(cells)


PRESET = Preset(
    gettext_lazy("Google product feed"),
    (frozenset(("id", "title", "link", "price")),),
    {
        "id": "sku",
        "title": "name",
        "description": "description",
        "brand": "brand",
        "gtin": "barcode",
        "mpn": "mpn",
        "price": "price",
        "sale_price": "sale_price",
        "product_type": "category",
        "google_product_category": "google_category",
        "image_link": "pictures",
        "additional_image_link": "pictures",
        "shipping_weight": "weight_grams",
        "shipping_length": "length_mm",
        "shipping_width": "width_mm",
        "shipping_height": "height_mm",
        "cost_of_goods_sold": "cost_price",
        # What tells the variants of an item group apart, by Google's rules.
        **dict.fromkeys(("color", "size", "pattern", "material"), "option"),
        **dict.fromkeys(("link", "item_group_id", "sale_price_effective_date"), AUTOMATIC),
    },
    _convert,
)

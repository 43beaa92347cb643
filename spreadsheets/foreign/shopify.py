"""Converts Shopify's exports of products, in the layout since 2025 or the one before, and of inventory.

The lines of a handle are a product. The first one describes it, names its options and is a variant, as is each further line with an
option's value or a SKU. The others only have a picture. Columns: help.shopify.com/manual/products/import-export/using-csv.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from django.utils.translation import gettext as _

from catalogue.old_addresses import normalize_path
from catalogue.queries import MAX_SKU_LENGTH
from spreadsheets.entities import Fault
from spreadsheets.foreign.entities import AUTOMATIC, ConvertedLine, Lines, Preset
from spreadsheets.foreign.mapping import split_cells
from spreadsheets.foreign.values import Slugs
from spreadsheets.typed_values import format_options

# The columns that are read here: their names since 2025, by those before.
_RENAMED = {
    "handle": "url_handle",
    "published": "published_on_online_store",
    "variant_inventory_tracker": "inventory_tracker",
    "image_src": "product_image_url",
}
_OPTIONS = tuple(f"option{place}_{part}" for place in (1, 2, 3) for part in ("name", "value"))
_OTHERS = ("status", "type", "product_category", "gift_card", "image_alt_text")


@dataclass(slots=True)
class _Product:
    """What a product's further lines need of its lines before."""

    slug: str
    option_names: dict[int, str] = field(default_factory=dict)
    # Numbers by the hashes of options: a variant has a line for each location in a file of inventory.
    numbers: dict[int, int] = field(default_factory=dict)


def _convert(lines: Lines) -> Iterator[ConvertedLine]:
    """Yield a line for each variant, and one for each further picture. A variant without a SKU gets the handle and its number."""
    slugs, products = Slugs(), dict[str, _Product]()
    for line in lines():
        own = {_RENAMED.get(name, name): text for name, text in line.own.items()}
        handle = own.get("url_handle") or f"line {line.line}"
        is_first = handle not in products
        if is_first:
            texts = (own.get("url_handle", ""), line.cells.get("name", ""))
            products[handle] = _Product(slugs.get(handle, *texts))
        product, options = products[handle], dict[str, str]()
        values = [own.get(f"option{place}_value", "") for place in (1, 2, 3)]
        for place, value in enumerate(values, start=1):
            name = own.get(f"option{place}_name") or product.option_names.get(place, "")
            product.option_names[place] = name
            if value and value.lower() != "default title":
                options[name] = value
        cells = {**line.cells, **_describe(own, product.slug, is_first=is_first)}
        if own.get("inventory_tracker") == "":
            cells.pop("units", None)  # They are not counted.
        if is_first or any(values) or cells.get("sku"):
            number = product.numbers.setdefault(hash(tuple(values)), len(product.numbers) + 1)
            made = f"{product.slug[: MAX_SKU_LENGTH - 5]}-{number}".upper()
            cells |= {"sku": cells.get("sku") or made, "options": format_options(options)}
        else:
            cells, _own = split_cells(cells)
        faults = []
        if own.get("gift_card", "").lower() == "true":
            faults = [Fault(line.line, "Gift card", _("Gift cards can’t be imported."))]
        yield ConvertedLine(line.line, {**cells, "product": product.slug}, (*line.faults, *faults))


def _describe(own: dict[str, str], slug: str, *, is_first: bool) -> dict[str, str]:
    """Return the cells that are made of several columns, or of one with a rule of its own."""
    cells = dict[str, str]()
    handle, picture = own.get("url_handle", ""), own.get("product_image_url", "")
    if handle and handle.lower() != slug:
        cells["old_addresses"] = normalize_path(f"/products/{handle}")
    if is_first and ("type" in own or "product_category" in own):
        # Without one, staff are asked once where such products belong.
        cells["category"] = own.get("type") or own.get("product_category") or "Uncategorized"
    published = own.get("published_on_online_store", "").lower()
    if status := own.get("status", "").lower() or ("active" if published else ""):
        is_hidden = status == "unlisted" or (status == "active" and published == "false")
        cells["status"] = "draft" if is_hidden else status
    if picture:
        cells["pictures"] = " ".join((picture, *own.get("image_alt_text", "").split()))
    return cells


PRESET = Preset(
    "Shopify",
    (frozenset(("url_handle", "option1_value")), frozenset(("handle", "option1_value"))),
    {
        "title": "name",
        **dict.fromkeys(("body_(html)", "description"), "description"),
        "vendor": "brand",
        "tags": "tags",
        **dict.fromkeys(("sku", "variant_sku"), "sku"),
        **dict.fromkeys(("barcode", "variant_barcode"), "barcode"),
        **dict.fromkeys(("price", "variant_price"), "price"),
        **dict.fromkeys(("compare_at_price", "variant_compare_at_price"), "compare_at"),
        **dict.fromkeys(("weight_value_(grams)", "variant_grams"), "weight_grams"),
        **dict.fromkeys(("variant_image_url", "variant_image"), "picture"),
        "cost_per_item": "cost_price",
        "seo_title": "search_title",
        "seo_description": "search_description",
        "google_shopping_/_google_product_category": "google_category",
        "google_shopping_/_mpn": "mpn",
        "google_shopping_/_manufacturer_part_number_(mpn)": "mpn",
        "location": "warehouse",
        **dict.fromkeys(("inventory_quantity", "variant_inventory_qty"), "units"),
        "on_hand_(current)": "units",
        **dict.fromkeys((*_RENAMED, *_RENAMED.values(), *_OPTIONS, *_OTHERS), AUTOMATIC),
    },
    _convert,
)

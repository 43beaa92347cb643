"""Converts Shopify's exports of products, in the layout since 2025 or the one before, and of inventory.

The lines of a handle are a product. The first one describes it, names its options and is a variant, as is each further line with an
option's value or a SKU. The others only have a picture. Columns: help.shopify.com/manual/products/import-export/using-csv.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from django.utils.translation import gettext as _

from catalogue.old_addresses import normalize_path
from catalogue.queries import MAX_SKU_LENGTH
from catalogue.unit_prices import UNITS
from inventory.warehouses import find_warehouse_key, list_open_warehouses
from spreadsheets.entities import Fault
from spreadsheets.foreign.entities import AUTOMATIC, ColumnMapping, ConvertedLine, ForeignRow, Rows
from spreadsheets.foreign.mapping import PRODUCT_COLUMNS, fill, read_automatic
from spreadsheets.foreign.values import Slugs, is_plain, make_slug, plain_number
from spreadsheets.typed_values import format_options

# The columns that are read here: their names since 2025, by those before.
_RENAMED = {
    "handle": "url_handle",
    "published": "published_on_online_store",
    "variant_sku": "sku",
    "variant_barcode": "barcode",
    "variant_inventory_qty": "inventory_quantity",
    "variant_inventory_tracker": "inventory_tracker",
    "image_src": "product_image_url",
    "variant_image": "variant_image_url",
    "on_hand_(current)": "inventory_quantity",
}
_PLACES = (1, 2, 3)
_OPTIONS = tuple(f"option{place}_{part}" for place in _PLACES for part in ("name", "value"))
_NO_OPTION = "default title"
_NO_CATEGORY = "Uncategorized"  # as WooCommerce calls it
_IDENTIFYING = {*_OPTIONS, "handle", "url_handle", "variant_sku", "sku"}
_DESCRIBING = {*_RENAMED, *_RENAMED.values(), "status", "type", "product_category", "gift_card"}
_DESCRIBING |= {"image_alt_text", "unit_price_total_measure", "unit_price_total_measure_unit"}
_STOCK = {"variant_inventory_qty", "variant_inventory_tracker", "on_hand_(current)", "location"}
_STOCK |= {"inventory_quantity", "inventory_tracker"}

# What tells the layouts from others, by the presets' names.
MARKS = {
    "shopify": frozenset(("url_handle", "price", "option1_value")),
    "shopify-2024": frozenset(("handle", "variant_price", "option1_value")),
}
STOCK_MARKS = {
    "shopify-inventory": frozenset(("handle", "location", "on_hand_(current)")),
    "shopify-stock": frozenset(("url_handle", "inventory_quantity", "option1_value")),
    "shopify-stock-2024": frozenset(("handle", "variant_inventory_qty", "option1_value")),
}
TARGETS: Mapping[str, str] = {
    "title": "name",
    "body_(html)": "description",
    "description": "description",
    "vendor": "brand",
    "tags": "tags",
    "variant_price": "price",
    "price": "price",
    "variant_compare_at_price": "compare_at",
    "compare_at_price": "compare_at",
    "variant_grams": "weight_grams",
    "weight_value_(grams)": "weight_grams",
    "cost_per_item": "cost_price",
    "seo_title": "search_title",
    "seo_description": "search_description",
    "google_shopping_/_google_product_category": "google_category",
    "google_shopping_/_mpn": "mpn",
    "google_shopping_/_manufacturer_part_number_(mpn)": "mpn",
    **dict.fromkeys(_IDENTIFYING | _DESCRIBING - _STOCK, AUTOMATIC),
}
STOCK_TARGETS: Mapping[str, str] = dict.fromkeys(_IDENTIFYING | _STOCK, AUTOMATIC)


@dataclass(slots=True)
class _Product:
    """What a product's further lines need of its lines before."""

    slug: str
    option_names: dict[int, str] = field(default_factory=dict)
    # Numbers by the hashes of options: a variant has a line for each location in a file of inventory.
    numbers: dict[int, int] = field(default_factory=dict)


@dataclass(slots=True)
class _Line:
    """A line with its product, its automatic columns under their names since 2025, and the options and SKU of its variant."""

    row: ForeignRow
    own: dict[str, str]
    product: _Product
    options: dict[str, str]
    is_first: bool
    is_variant: bool
    sku: str
    faults: list[Fault]


def _read_lines(rows: Rows, mapping: ColumnMapping) -> Iterator[_Line]:
    """Yield each line that has a handle. A variant without a SKU gets the handle and its number in the product."""
    slugs, products = Slugs(), dict[str, _Product]()
    for row in rows():
        own = {
            _RENAMED.get(name, name): text for name, text in read_automatic(row, mapping).items()
        }
        handle = own.get("url_handle", "")
        is_first = not handle or handle not in products
        product = _Product(slugs.get(handle, handle) if handle else "")
        if handle:
            product = products.setdefault(handle, product)
        values = [own.get(f"option{place}_value", "") for place in _PLACES]
        faults, options = list[Fault](), dict[str, str]()
        for place, value in zip(_PLACES, values, strict=True):
            name = own.get(f"option{place}_name") or product.option_names.get(place, "")
            product.option_names[place] = name
            if not value or (place == 1 and value.lower() == _NO_OPTION):
                continue
            if name:
                options[name] = value
            else:
                text = _("Name this option in the first line of the product.")
                faults.append(Fault(row.line, f"Option{place} Name", text))
        sku = own.get("sku", "").removeprefix("'")
        if is_variant := is_first or bool(any(values) or sku):
            number = product.numbers.setdefault(hash(tuple(values)), len(product.numbers) + 1)
            if not sku and handle:
                sku = f"{product.slug[: MAX_SKU_LENGTH - 5]}-{number}".upper()
        yield _Line(row, own, product, options, is_first, is_variant, sku, faults)


def convert(rows: Rows, mapping: ColumnMapping, notes: Counter[str]) -> Iterator[ConvertedLine]:
    """Yield a line for each variant, and one for each further picture."""
    for line in _read_lines(rows, mapping):
        found, own = fill(line.row, mapping, notes), line.own
        cells = {"product": line.product.slug, **_describe(line), **_list_pictures(own)}
        if line.is_variant:
            cells |= _describe_variant(line)
        else:
            whole = {name: found.cells[name] for name in found.cells if name in PRODUCT_COLUMNS}
            found = ConvertedLine(found.line, whole, found.faults)
        if own.get("gift_card", "").lower() == "true":
            text = _("Gift cards can’t be imported.")
            line.faults.append(Fault(line.row.line, "Gift card", text))
        yield found.with_cells(cells, *line.faults)


def _describe(line: _Line) -> dict[str, str]:
    """Return the cells of the product that are made of several columns, or of one with a rule of its own."""
    own, cells = line.own, dict[str, str]()
    handle = own.get("url_handle", "")
    if handle and make_slug(handle) != handle.lower():
        cells["old_addresses"] = normalize_path(f"/products/{handle}")
    if line.is_first and ("type" in own or "product_category" in own):
        # Without one, staff are asked once where such products belong.
        cells["category"] = own.get("type") or own.get("product_category") or _NO_CATEGORY
    status = own.get("status", "").lower()
    published = own.get("published_on_online_store", "").lower()
    if status in ("", "active", "unlisted") and (status or published):
        status = "draft" if published == "false" or status == "unlisted" else "active"
    if status:
        cells["status"] = status
    if (unit := own.get("unit_price_total_measure_unit", "").lower()) in UNITS:
        cells["unit"] = unit
    return cells


def _describe_variant(line: _Line) -> dict[str, str]:
    own = line.own
    cells = {"sku": line.sku, "options": format_options(line.options)}
    if "barcode" in own:
        cells["barcode"] = own["barcode"].removeprefix("'")
    if own.get("unit_price_total_measure_unit", "").lower() in UNITS:
        cells["content"] = plain_number(own.get("unit_price_total_measure", ""))
    if own.get("variant_image_url"):
        cells["picture"] = own["variant_image_url"]
    return cells


def _list_pictures(own: Mapping[str, str]) -> dict[str, str]:
    address, alt = own.get("product_image_url"), own.get("image_alt_text", "")
    return {"pictures": " ".join((address, *alt.split()))} if address else {}


def convert_stock(
    rows: Rows, mapping: ColumnMapping, notes: Counter[str]
) -> Iterator[ConvertedLine]:
    """Yield a line for each variant and location with counted units. A file of products counts for the first open warehouse."""
    for line in _read_lines(rows, mapping):
        own = line.own
        units = own.get("inventory_quantity", "")
        is_counted = own.get("inventory_tracker", "shopify") and is_plain(units)
        if not line.is_variant or not is_counted:
            notes["not_counted"] += line.is_variant
            continue
        if units.startswith("-"):
            notes["below_zero"] += 1
            units = "0"
        location = own.get("location", "")
        warehouse = find_warehouse_key(location) or location or list_open_warehouses()[0].key
        cells = {"sku": line.sku, "warehouse": warehouse, "units": units}
        yield ConvertedLine(line.row.line, cells, tuple(line.faults))

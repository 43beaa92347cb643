"""The layouts of other shops that are recognised by their columns."""

from collections.abc import Collection, Mapping

from spreadsheets.files import normalize_name
from spreadsheets.foreign import google, magento, shopify, woocommerce
from spreadsheets.foreign.entities import AUTOMATIC, SKIPPED, Preset
from spreadsheets.foreign.mapping import MULTIPLE_TARGETS, list_targets

# A line is a product. Combinations are another file, which names no product.
_PRESTASHOP = Preset(
    "PrestaShop",
    (frozenset(("active_(0/1)", "categories_(x,y,z...)")),),
    {
        "active_(0/1)": "status",
        **dict.fromkeys(("name_*", "name*", "name"), "name"),
        "categories_(x,y,z...)": "categories",
        **dict.fromkeys(("price_tax_excluded", "price_tax_excl."), "price_without_tax"),
        **dict.fromkeys(("price_tax_included", "price_tax_incl."), "price"),
        "wholesale_price": "cost_price",
        **dict.fromkeys(("reference_#", "reference"), "sku"),
        "manufacturer": "brand",
        "ean13": "barcode",
        "mpn": "mpn",
        "width": "width_mm",
        "height": "height_mm",
        "depth": "length_mm",
        "weight": "weight_grams",
        "quantity": "units",
        "description": "description",
        "tags_(x,y,z...)": "tags",
        "meta_title": "search_title",
        "meta_description": "search_description",
        "url_rewritten": "product",
        "image_urls_(x,y,z...)": "pictures",
    },
    lambda lines: lines(),
    units={"weight": "kg", "width": "cm", "height": "cm", "depth": "cm"},
)
# The first one whose marks are in a file counts.
PRESETS: Mapping[str, Preset] = {
    "shopify": shopify.PRESET,
    "woocommerce": woocommerce.PRESET,
    "magento": magento.PRESET,
    "prestashop": _PRESTASHOP,
    "google": google.PRESET,
}
# The layout of an unknown shop has no converter of its own.
UNKNOWN = Preset("", (), {}, lambda lines: lines())


def find_preset(layout: str, head: Collection[str]) -> str:
    """Return the name of the preset that a file's columns have; "" if it has none."""
    names = {normalize_name(each) for each in head}
    found = (name for name, each in PRESETS.items() if any(marks <= names for marks in each.marks))
    return next(found, "") if layout in ("products", "stock") else ""


def list_first_targets(layout: str, head: Collection[str]) -> dict[str, str]:
    """Return the first choice for each column: by the file's preset, or by the column's name. Of two that fit, the first counts."""
    possible, preset = (*list_targets(layout), AUTOMATIC), PRESETS.get(find_preset(layout, head))
    chosen: dict[str, str] = {}
    for column in head:
        name = normalize_name(column)
        target = preset.targets.get(name, SKIPPED) if preset else name
        is_free = target in MULTIPLE_TARGETS or target not in chosen.values()
        chosen[column] = target if target in possible and is_free else SKIPPED
    return chosen

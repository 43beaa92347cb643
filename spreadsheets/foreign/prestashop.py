"""Converts files of products of PrestaShop, in the layout of its own import. Combinations are another file, without products' names."""

from collections.abc import Iterator
from itertools import zip_longest

from spreadsheets.foreign.entities import AUTOMATIC, ConvertedLine, Lines, Preset
from spreadsheets.typed_values import format_details

_FEATURES, _ALTS = "feature(name:value:position)", "image_alt_texts_(x,y,z...)"


def _convert(lines: Lines) -> Iterator[ConvertedLine]:
    """Yield a line for each product."""
    for line in lines():
        cells = dict(line.cells)
        features = (each.split(":") for each in line.own.get(_FEATURES, "").split(","))
        if details := {each[0].strip(): each[1] for each in features if len(each) > 1}:
            cells["details"] = format_details(details)
        if alts := line.own.get(_ALTS):
            pictures = cells.get("pictures", "").split(",")
            named = zip_longest(pictures, alts.split(",")[: len(pictures)], fillvalue="")
            cells["pictures"] = "\n".join(" ".join(each) for each in named)
        yield line.with_cells(cells)


PRESET = Preset(
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
        **dict.fromkeys((_FEATURES, _ALTS), AUTOMATIC),
    },
    _convert,
    units={"weight": "kg", "width": "cm", "height": "cm", "depth": "cm"},
)

"""Converts product exports of Magento 2 and Adobe Commerce. A configurable product names its variants, which have lines of their own."""

import re
from collections.abc import Iterator

from django.utils.translation import gettext as _

from spreadsheets.entities import Fault
from spreadsheets.errors import FileRefused
from spreadsheets.files import MAX_LINES
from spreadsheets.foreign.entities import AUTOMATIC, ConvertedLine, Lines, Preset
from spreadsheets.foreign.mapping import split_cells
from spreadsheets.foreign.values import join_path, make_slug
from spreadsheets.typed_values import format_options


def _convert(lines: Lines) -> Iterator[ConvertedLine]:
    """Yield a line for each product that can be sold, and one for each configurable product, which describes it."""
    # The slug of each variant's product, and the variant's options, by SKU.
    variants: dict[str, tuple[str, str]] = {}
    for line in lines():
        slug = _find_slug(line)
        labels = _split_pairs(line.own.get("configurable_variation_labels", ""))
        for variation in line.own.get("configurable_variations", "").split("|"):
            options = _split_pairs(variation)
            if sku := options.pop("sku", ""):
                named = {labels.get(code, code): value for code, value in options.items()}
                variants[sku] = (slug, format_options(named))
        if len(variants) > MAX_LINES:
            raise FileRefused(_("The file has too many variants. Split it."))
    for line in lines():
        kind, sku = line.own.get("product_type"), line.cells.get("sku", "")
        # The first part of a path is the root category, which no page shows.
        paths = (each.split("/")[1:] for each in line.cells.get("categories", "").split(","))
        categories = ",".join(join_path(each) for each in paths if each)
        cells = {**line.cells, "product": _find_slug(line), "categories": categories}
        if line.own.get("store_view_code"):
            yield ConvertedLine(line.line, {})  # a translation
        elif kind in ("bundle", "grouped"):
            text = _("Products of the type %(type)s can’t be imported.") % {"type": kind}
            yield line.with_cells(cells, Fault(line.line, "product_type", text))
        elif kind == "configurable":
            whole = {**split_cells(cells)[0], "product": cells["product"]}
            yield ConvertedLine(line.line, whole, line.faults)
        elif sku in variants:
            slug, written = variants[sku]
            own = {**split_cells(cells)[1], "product": slug, "options": written}
            yield ConvertedLine(line.line, own, line.faults)
        else:
            yield line.with_cells(cells)


def _find_slug(line: ConvertedLine) -> str:
    return make_slug(line.own.get("url_key") or line.cells.get("name", ""))


def _split_pairs(text: str) -> dict[str, str]:
    """Return the values by code of "color=Red,size=S, M". A comma begins a pair only before a code."""
    pairs = (each.partition("=") for each in re.split(r",(?=\w+=)", text))
    return {code.strip(): value.strip().strip('"') for code, sign, value in pairs if sign}


PRESET = Preset(
    "Magento",
    (frozenset(("sku", "attribute_set_code", "product_type")),),
    {
        "sku": "sku",
        "name": "name",
        "categories": "categories",
        "description": "description",
        "price": "price",
        "special_price": "sale_price",
        "special_price_from_date": "sale_starts",
        "special_price_to_date": "sale_ends",
        "weight": "weight_grams",
        "product_online": "status",
        "qty": "units",
        "meta_title": "search_title",
        "meta_keywords": "tags",
        "meta_description": "search_description",
        **dict.fromkeys(("store_view_code", "product_type", "url_key"), AUTOMATIC),
        **dict.fromkeys(("configurable_variations", "configurable_variation_labels"), AUTOMATIC),
    },
    _convert,
    units={"weight": "kg"},
)

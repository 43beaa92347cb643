"""Converts product exports of Magento 2 and Adobe Commerce. A configurable product names its variants, which have lines of their own."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from django.utils.translation import gettext as _

from spreadsheets.entities import Fault
from spreadsheets.foreign.entities import AUTOMATIC, ColumnMapping, ConvertedLine, Rows
from spreadsheets.foreign.mapping import PRODUCT_COLUMNS, fill, read_automatic
from spreadsheets.foreign.values import (
    is_between,
    make_slug,
    plain_price,
    reduce_price,
    split_categories,
)
from spreadsheets.typed_values import format_details, format_options

MARKS = frozenset(("sku", "attribute_set_code", "product_type"))
TARGETS = {
    "name": "name",
    "description": "description",
    "price": "price",
    "weight": "weight_grams",
    "product_online": "status",
    "meta_title": "search_title",
    "meta_keywords": "tags",
    "meta_description": "search_description",
    "country_of_manufacture": "detail",
    **dict.fromkeys(
        (
            *("sku", "store_view_code", "product_type", "url_key", "categories"),
            *("special_price", "special_price_from_date", "special_price_to_date"),
            *("additional_attributes", "configurable_variations", "configurable_variation_labels"),
        ),
        AUTOMATIC,
    ),
}
UNITS = {"weight": "kg"}
# Attributes of Magento itself.
_SYSTEM = ("has_options", "required_options", "quantity_and_stock_status")


class _Parent(NamedTuple):
    """The configurable product of a variant, and the variant's options."""

    slug: str
    options: dict[str, str]


def convert(rows: Rows, mapping: ColumnMapping, notes: Counter[str]) -> Iterator[ConvertedLine]:
    """Yield a line for each product that can be sold, and one for each configurable product, which has no variant of its own."""
    parents = _find_parents(rows, mapping)
    for row in rows():
        line, own = fill(row, mapping, notes), read_automatic(row, mapping)
        if own.get("store_view_code"):
            notes["translations"] += 1
            continue
        sku, kind = own.get("sku", ""), own.get("product_type", "")
        slug = make_slug(own.get("url_key") or line.cells.get("name", ""))
        if kind in ("bundle", "grouped"):
            text = _("Products of the type %(type)s can’t be imported.") % {"type": kind}
            yield line.with_cells(
                {"product": slug, "sku": sku}, Fault(row.line, "product_type", text)
            )
        elif kind == "configurable":
            whole = {name: line.cells[name] for name in line.cells if name in PRODUCT_COLUMNS}
            described = {**whole, **_describe(own, line), "product": slug}
            yield ConvertedLine(line.line, described, line.faults)
        else:
            cells = {"sku": sku, **_find_sale(own, line, mapping, notes)}
            if parent := parents.get(sku):
                variant = {
                    name: line.cells[name] for name in line.cells if name not in PRODUCT_COLUMNS
                }
                cells |= {"product": parent.slug, "options": format_options(parent.options)}
                yield ConvertedLine(line.line, {**variant, **cells}, line.faults)
            else:
                yield line.with_cells({**_describe(own, line), **cells, "product": slug})


def _find_parents(rows: Rows, mapping: ColumnMapping) -> dict[str, _Parent]:
    """Return the configurable product of each variant by SKU. They are few texts: variants are named by SKU and options."""
    parents = {}
    for row in rows():
        own = read_automatic(row, mapping)
        if own.get("product_type") != "configurable":
            continue
        name = next(
            (row.cells[each] for each in row.cells if mapping.targets.get(each) == "name"), ""
        )
        slug = make_slug(own.get("url_key") or name)
        labels = _split_pairs(own.get("configurable_variation_labels", ""))
        for variation in own.get("configurable_variations", "").split("|"):
            options = _split_pairs(variation)
            sku = options.pop("sku", "")
            parents[sku] = _Parent(
                slug, {labels.get(code, code): options[code] for code in options}
            )
    return parents


def _split_pairs(text: str) -> dict[str, str]:
    """Return the values by code of "color=Red,size=S, M". A comma begins a pair only before a code."""
    pairs = (each.partition("=") for each in re.split(r",(?=\w+=)", text))
    return {code.strip(): value.strip().strip('"') for code, sign, value in pairs if sign}


def _describe(own: dict[str, str], line: ConvertedLine) -> dict[str, str]:
    """Return the cells of a product's categories and attributes."""
    cells: dict[str, str] = {}
    if "categories" in own:
        # The first part is the root category, which no page shows.
        paths = (each.split("/")[1:] for each in own["categories"].split(","))
        cells |= split_categories(",".join(" > ".join(each) for each in paths if each))
    attributes = _split_pairs(own.get("additional_attributes", ""))
    details = {
        code.replace("_", " ").capitalize(): value
        for code, value in attributes.items()
        if value and code not in _SYSTEM
    }
    if details:
        written = (line.cells.get("details", ""), format_details(details))
        cells["details"] = "\n".join(filter(None, written))
    return cells


def _find_sale(
    own: dict[str, str], line: ConvertedLine, mapping: ColumnMapping, notes: Counter[str]
) -> dict[str, str]:
    if not (special := own.get("special_price")):
        return {}
    if not is_between(
        mapping.now, own.get("special_price_from_date", ""), own.get("special_price_to_date", "")
    ):
        notes["sale_not_on"] += 1
        return {}
    return reduce_price(line.cells.get("price", ""), plain_price(special))

"""Converts WooCommerce's exports of products. A variation has a line of its own, anywhere in the file, which names its parent.

The file is read twice: first for what a variation needs of its parent, and for the attributes that are options. Columns and escapes
are those of WooCommerce's own exporter (includes/export/class-wc-product-csv-exporter.php).
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product as combine
from math import prod

from django.utils.translation import gettext as _

from catalogue.queries import MAX_SKU_LENGTH
from catalogue.rules import MAX_VARIANTS
from spreadsheets.cells import join_list
from spreadsheets.entities import Fault
from spreadsheets.foreign.entities import AUTOMATIC, ConvertedLine, Lines, Preset
from spreadsheets.foreign.mapping import split_cells
from spreadsheets.foreign.markdown import break_lines
from spreadsheets.foreign.values import Slugs
from spreadsheets.typed_values import format_details, format_options

_MAX_ATTRIBUTES = 50


@dataclass(slots=True)
class _Product:
    """What lines of variations need of a product."""

    slug: str
    weight: str = ""
    attributes: dict[str, str] = field(default_factory=dict)  # texts: their values take more memory
    option_names: dict[str, None] = field(default_factory=dict)  # the attributes of its variations


def _split(text: str) -> list[str]:
    """Return the values in a cell; a comma within a value has a backslash before it. The last value has the rest."""
    parts = re.split(r"(?<!\\),", text, maxsplit=MAX_VARIANTS)
    values = (each.replace("\\,", ",").strip() for each in parts)
    return [each for each in values if each]


def _is_variation(line: ConvertedLine) -> bool:
    return "variation" in line.own.get("type", "").lower()


def _read_attributes(own: Mapping[str, str], *, shown: bool = False) -> dict[str, str]:
    """Return the attributes of a line with the texts of their values, or only those that are `shown`."""
    return {
        name: own.get(f"attribute_{number}_value(s)", "")
        for number in range(1, _MAX_ATTRIBUTES + 1)
        if (name := own.get(f"attribute_{number}_name"))
        and not (shown and own.get(f"attribute_{number}_visible") == "0")
    }


def _find_products(lines: Lines) -> dict[str | int, _Product]:
    """Return the products by line, by SKU, and by id as the column Parent names it."""
    slugs, products = Slugs(), dict[str | int, _Product]()
    option_names = dict[str, dict[str, None]]()
    for line in lines():
        own, sku, number = line.own, line.cells.get("sku", ""), line.own.get("id", "")
        if _is_variation(line):
            names = option_names.setdefault(own.get("parent", ""), {})
            names |= dict.fromkeys(_read_attributes(own))
            continue
        key = number or sku or f"line {line.line}"
        found = _Product(slugs.get(key, own.get("name", ""), sku))
        if "variable" in own.get("type", "").lower():
            found.attributes = _read_attributes(own)
            found.weight = line.cells.get("weight_grams", "")
        products[line.line] = found
        for name in filter(None, (sku, number and f"id:{number}")):
            products.setdefault(name, found)
    for parent, names in option_names.items():
        if parent in products:
            products[parent].option_names |= names
    return products


def _convert(lines: Lines) -> Iterator[ConvertedLine]:
    """Yield a line for each variant, and one for each product that has variations, which describes it."""
    products = _find_products(lines)
    for line in lines():
        if _is_variation(line):
            yield from _convert_variation(line, products.get(line.own.get("parent", "")))
            continue
        product, kind = products[line.line], line.own.get("type", "").lower()
        kinds = {*_split(kind)} - {"simple", "virtual", "downloadable"}
        cells = {**line.cells, **_describe(line.own, product)}
        if "variable" in kinds:
            cells, _own = split_cells(cells)
        else:
            cells |= {"sku": _find_sku(line, product), "options": ""}
        cells["product"], faults = product.slug, line.faults
        if kinds - {"variable"}:
            text = _("Products of the type %(type)s can’t be imported.") % {"type": kind}
            faults += (Fault(line.line, "Type", text),)
        yield ConvertedLine(line.line, cells, faults)


def _find_sku(line: ConvertedLine, product: _Product) -> str:
    """Return a line's SKU, or one that is made of its product's address and its id."""
    number = line.own.get("id")
    made = f"{product.slug[: MAX_SKU_LENGTH - 12]}-{number}".upper() if number else ""
    return line.cells.get("sku") or made


def _convert_variation(line: ConvertedLine, parent: _Product | None) -> Iterator[ConvertedLine]:
    """Yield the variants of a variation. Without a value for an attribute it stands for any: it is a variant for each value."""
    own, variant = line.own, ConvertedLine(line.line, split_cells(line.cells)[1], line.faults)
    if parent is None:
        text = _("The file has no product “%(parent)s”.") % {"parent": own.get("parent", "")}
        yield variant.with_cells({}, Fault(line.line, "Parent", text))
        return
    typed = _read_attributes(own)
    # In the order of the product's attributes.
    names = sorted(parent.option_names, key=[*parent.attributes, *parent.option_names].index)
    choices = [
        _split(typed.get(name, ""))[:1] or _split(parent.attributes.get(name, "")) for name in names
    ]
    count, sku = prod(map(len, choices)), _find_sku(line, parent)
    if not 0 < count <= MAX_VARIANTS:
        text = _("Enter a value for each attribute of this variation.")
        yield variant.with_cells({}, Fault(line.line, "Attribute 1 value(s)", text))
        return
    cells = {
        **variant.cells,
        "product": parent.slug,
        "weight_grams": line.cells.get("weight_grams") or parent.weight,
        "sold": {"": "", "0": "no"}.get(own.get("published", ""), "yes"),
        "picture": _list_addresses(own).partition("\n")[0],
    }
    if count > 1:
        cells = {name: cells[name] for name in cells if name not in ("barcode", "units")}
    for number, values in enumerate(combine(*choices), start=1):
        options = format_options(dict(zip(names, values, strict=True)))
        made = f"{sku[: MAX_SKU_LENGTH - 4]}-{number}" if sku and count > 1 else sku
        described = {**cells, "sku": made, "options": options}
        yield ConvertedLine(line.line, described, line.faults)


def _describe(own: Mapping[str, str], product: _Product) -> dict[str, str]:
    """Return the cells of a product that are made of several columns, or of one with a rule of its own."""
    details = {
        name: ", ".join(values)
        for name, text in _read_attributes(own, shown=True).items()
        if name not in product.option_names and (values := _split(text))
    }
    # WooCommerce writes a line break as the letters \n.
    written = (own.get("short_description", ""), own.get("description", ""))
    texts = (re.sub(r"(?<!\\)\\n", "\n", each).replace("\\\\n", "\\n") for each in written)
    cells = {
        "name": own.get("name", ""),
        "description": break_lines("\n\n".join(filter(None, texts))),
        "details": format_details(details),
        "tags": join_list(_split(own.get("tags", ""))),
        "brand": "".join(_split(own.get("brands", ""))[:1]),
        "pictures": _list_addresses(own),
        "tax_class": "reduced" if own.get("tax_class") == "reduced-rate" else "",
        "categories": join_list(_split(own.get("categories", ""))),
    }
    if published := own.get("published"):
        is_hidden = own.get("visibility_in_catalog") == "hidden"
        cells["status"] = "active" if published == "1" and not is_hidden else "draft"
    return {name: text for name, text in cells.items() if text}


def _list_addresses(own: Mapping[str, str]) -> str:
    return "\n".join(each for each in _split(own.get("images", "")) if "://" in each)


PRESET = Preset(
    "WooCommerce",
    (frozenset(("type", "sku", "regular_price", "visibility_in_catalog")),),
    {
        "sku": "sku",
        "regular_price": "price",
        "sale_price": "sale_price",
        "date_sale_price_starts": "sale_starts",
        "date_sale_price_ends": "sale_ends",
        "stock": "units",
        "is_featured?": "featured",
        "gtin,_upc,_ean,_or_isbn": "barcode",
        "cost_of_goods": "cost_price",
        # Of two plug-ins. Their titles mostly consist of placeholders.
        "meta:__yoast_wpseo_metadesc": "search_description",
        "meta:_rank_math_description": "search_description",
        **{f"weight_({unit})": "weight_grams" for unit in ("kg", "g", "lbs", "oz")},
        **{
            f"{side}_({unit})": f"{side}_mm"
            for side in ("length", "width", "height")
            for unit in ("cm", "mm", "m", "in")
        },
        **{
            f"attribute_{number}_{part}": AUTOMATIC
            for number in range(1, _MAX_ATTRIBUTES + 1)
            for part in ("name", "value(s)", "visible")
        },
        **dict.fromkeys(("id", "type", "name", "parent", "published", "tax_class"), AUTOMATIC),
        **dict.fromkeys(("visibility_in_catalog", "short_description", "description"), AUTOMATIC),
        **dict.fromkeys(("tags", "categories", "images", "brands"), AUTOMATIC),
    },
    _convert,
)

"""Converts WooCommerce's exports of products. A variation has a line of its own, anywhere in the file, which names its parent.

The file is read twice: first for what a variation needs of its parent, and for the attributes that are options. Columns and escapes
are those of WooCommerce's own exporter (includes/export/class-wc-product-csv-exporter.php).
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product as combine
from math import prod

from django.utils.translation import gettext as _

from catalogue.queries import MAX_SKU_LENGTH
from catalogue.rules import MAX_PINNED, MAX_VARIANTS
from inventory.warehouses import list_open_warehouses
from spreadsheets.cells import join_list
from spreadsheets.entities import Fault
from spreadsheets.foreign.entities import AUTOMATIC, ColumnMapping, ConvertedLine, ForeignRow, Rows
from spreadsheets.foreign.mapping import PRODUCT_COLUMNS, fill, read_automatic
from spreadsheets.foreign.markdown import html_to_markdown, is_html
from spreadsheets.foreign.values import (
    Slugs,
    add_tax,
    is_between,
    is_plain,
    make_slug,
    plain_price,
    reduce_price,
    split_categories,
)
from spreadsheets.typed_values import format_details, format_options

MARKS = frozenset(("type", "sku", "regular_price", "visibility_in_catalog"))
STOCK_MARKS = frozenset(("type", "sku", "stock", "visibility_in_catalog"))
_MAX_ATTRIBUTES = 50
_IDENTIFYING = ["id", "type", "sku", "name", "parent"]
for _number in range(1, _MAX_ATTRIBUTES + 1):
    _IDENTIFYING += [f"attribute_{_number}_{part}" for part in ("name", "value(s)", "visible")]
STOCK_TARGETS: Mapping[str, str] = dict.fromkeys((*_IDENTIFYING, "stock"), AUTOMATIC)
_DESCRIBING = ["published", "visibility_in_catalog", "short_description", "description", "tags"]
_DESCRIBING += ["categories", "images", "upsells", "cross_sells", "brands", "tax_class"]
_DESCRIBING += ["sale_price", "date_sale_price_starts", "date_sale_price_ends"]
TARGETS: Mapping[str, str] = {
    "regular_price": "price",
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
    **dict.fromkeys((*_IDENTIFYING, *_DESCRIBING), AUTOMATIC),
}


@dataclass(frozen=True, slots=True)
class _Product:
    """What lines of variations, and of products that name others, need of a product."""

    slug: str
    weight: str
    attributes: dict[str, list[str]]
    option_names: dict[str, None]  # the attributes of its variations


@dataclass(frozen=True, slots=True)
class _Line:
    """A line with its automatic columns, its product, or its variation's, and its variants by SKU with their options."""

    row: ForeignRow
    own: dict[str, str]
    product: _Product
    variants: list[tuple[str, dict[str, str]]]
    faults: tuple[Fault, ...] = ()


def _split(text: str) -> list[str]:
    """Return the values in a cell; a comma within a value has a backslash before it."""
    values = (each.replace("\\,", ",").strip() for each in re.split(r"(?<!\\),", text))
    return [each for each in values if each]


def _is_variation(own: dict[str, str]) -> bool:
    return "variation" in own.get("type", "").lower()


def _read_attributes(own: dict[str, str], *, shown: bool = False) -> dict[str, list[str]]:
    """Return the attributes of a line with their values, or only those that are `shown`. A variation has one value or none."""
    found = {}
    for number in range(1, _MAX_ATTRIBUTES + 1):
        name = own.get(f"attribute_{number}_name")
        if name is None:
            break  # the file has no further columns of attributes
        if name and not (shown and own.get(f"attribute_{number}_visible") == "0"):
            found[name] = _split(own.get(f"attribute_{number}_value(s)", ""))
    return found


def _find_products(rows: Rows, mapping: ColumnMapping) -> dict[str | int, _Product]:
    """Return the products by line, by SKU, and by id as the column Parent names it."""
    slugs, option_names = Slugs(), dict[str, dict[str, None]]()
    products: dict[str | int, _Product] = {}
    for row in rows():
        own = read_automatic(row, mapping)
        attributes = _read_attributes(own)
        if _is_variation(own):
            option_names.setdefault(own.get("parent", ""), {}).update(dict.fromkeys(attributes))
            continue
        sku, number = own.get("sku", ""), own.get("id", "")
        slug = slugs.get(number or sku or f"line {row.line}", own.get("name", ""), sku)
        found = _Product(slug, "", {}, {})
        if "variable" in own.get("type", "").lower():
            weight = fill(row, mapping, Counter()).cells.get("weight_grams", "")
            found = _Product(slug, weight, attributes, {})
        for key in (row.line, sku, f"id:{number}"):
            products.setdefault(key or f"id:{number}", found)
    for parent in option_names.keys() & products.keys():
        products[parent].option_names.update(option_names[str(parent)])
    return products


def _read_lines(
    rows: Rows, mapping: ColumnMapping, products: Mapping[str | int, _Product]
) -> Iterator[_Line]:
    """Yield all lines. A product that has variations has no variant of its own."""
    for row in rows():
        own = read_automatic(row, mapping)
        if _is_variation(own):
            yield _read_variation(row, own, products)
            continue
        kinds = {*_split(own.get("type", "").lower())} - {"simple", "virtual", "downloadable"}
        product, faults = products[row.line], tuple[Fault, ...]()
        variants = [] if "variable" in kinds else [(_find_sku(own, product), dict[str, str]())]
        if kinds - {"variable"}:
            text = _("Products of the type %(type)s can’t be imported.") % {"type": own["type"]}
            faults = (Fault(row.line, "Type", text),)
        yield _Line(row, own, product, variants, faults)


def _find_sku(own: dict[str, str], product: _Product) -> str:
    """Return a line's SKU, or one that is made of its product's address and its id."""
    made = f"{product.slug[: MAX_SKU_LENGTH - 12]}-{own['id']}".upper() if own.get("id") else ""
    return own.get("sku") or made


def _read_variation(
    row: ForeignRow, own: dict[str, str], products: Mapping[str | int, _Product]
) -> _Line:
    """Return the line of a variation. Without a value for an attribute it stands for any: it is a variant for each value."""
    parent = products.get(own.get("parent", ""))
    if parent is None:
        text = _("The file has no product “%(parent)s”.") % {"parent": own.get("parent", "")}
        return _Line(row, own, _Product("", "", {}, {}), [], (Fault(row.line, "Parent", text),))
    typed = _read_attributes(own)
    # In the order of the product's attributes.
    names = sorted(parent.option_names, key=[*parent.attributes, *parent.option_names].index)
    choices = [typed.get(name, [])[:1] or parent.attributes.get(name, []) for name in names]
    if not 0 < prod(map(len, choices)) <= MAX_VARIANTS:
        text = _("Enter a value for each attribute of this variation.")
        return _Line(row, own, parent, [], (Fault(row.line, "Attribute 1 value(s)", text),))
    variants, sku = list[tuple[str, dict[str, str]]](), _find_sku(own, parent)
    for number, values in enumerate(combine(*choices), start=1):
        options = dict(zip(names, values, strict=True))
        any_value = " ".join(value for name, value in options.items() if not typed.get(name))
        suffix = f"-{make_slug(any_value)[:20] or number}" if any_value else ""
        variants.append((sku and f"{sku[: MAX_SKU_LENGTH - len(suffix)]}{suffix}".upper(), options))
    return _Line(row, own, parent, variants)


def convert(rows: Rows, mapping: ColumnMapping, notes: Counter[str]) -> Iterator[ConvertedLine]:
    """Yield a line for each variant, and one for each product that has variations, which describes it."""
    products = _find_products(rows, mapping)
    for line in _read_lines(rows, mapping, products):
        found, own = fill(line.row, mapping, notes), line.own
        whole = {name: found.cells[name] for name in found.cells if name in PRODUCT_COLUMNS}
        variant = {name: found.cells[name] for name in found.cells if name not in whole}
        variant |= _find_sale(own, found.cells.get("price", ""), mapping, notes)
        if _is_variation(own):
            whole = {}
            variant |= _describe_variation(own, found, line.product)
        else:
            whole |= _describe(own, line.product, products, notes)
        described = ConvertedLine(
            found.line, {**whole, "product": line.product.slug}, (*found.faults, *line.faults)
        )
        if len(line.variants) > 1:
            notes["any_value"] += 1
            variant.pop("barcode", None)
        if not line.variants:
            yield described
        for sku, options in line.variants:
            yield described.with_cells({**variant, "sku": sku, "options": format_options(options)})


def _find_sale(
    own: dict[str, str], price: str, mapping: ColumnMapping, notes: Counter[str]
) -> dict[str, str]:
    if not (sale_price := plain_price(own.get("sale_price", ""))):
        return {}
    start, end = own.get("date_sale_price_starts", ""), own.get("date_sale_price_ends", "")
    if not is_between(mapping.now, start, end):
        notes["sale_not_on"] += 1
        return {}
    notes["sale_ends"] += bool(end)
    if "price_without_tax" in mapping.targets.values():
        sale_price = add_tax(sale_price, mapping.tax_percent)
    return reduce_price(price, sale_price)


def _describe_variation(
    own: dict[str, str], found: ConvertedLine, parent: _Product
) -> dict[str, str]:
    cells = {
        "weight_grams": found.cells.get("weight_grams") or parent.weight,
        "sold": {"": "", "0": "no"}.get(own.get("published", ""), "yes"),
        "picture": _list_addresses(own).partition("\n")[0],
    }
    return {name: text for name, text in cells.items() if text}


def _describe(
    own: dict[str, str],
    product: _Product,
    products: Mapping[str | int, _Product],
    notes: Counter[str],
) -> dict[str, str]:
    """Return the cells of a product that are made of several columns, or of one with a rule of its own."""
    attributes = _read_attributes(own, shown=True)
    details = {
        name: ", ".join(values)
        for name, values in attributes.items()
        if values and name not in product.option_names
    }
    named = _split(own.get("upsells", "")) + _split(own.get("cross_sells", ""))
    related = dict.fromkeys(products[each].slug for each in named if each in products)
    cells = {
        "name": own.get("name", ""),
        "description": _describe_in_words(own, notes),
        "details": format_details(details),
        "tags": join_list(_split(own.get("tags", ""))),
        "brand": "".join(_split(own.get("brands", ""))[:1]),
        "pictures": _list_addresses(own),
        "related": join_list(list(related)[:MAX_PINNED]),
        "tax_class": "reduced" if own.get("tax_class") == "reduced-rate" else "",
        **split_categories(join_list(_split(own.get("categories", "")))),
    }
    if published := own.get("published", "").lower():
        is_hidden = own.get("visibility_in_catalog") == "hidden"
        notes["hidden"] += is_hidden
        cells["status"] = "active" if published in ("1", "true") and not is_hidden else "draft"
    return {name: text for name, text in cells.items() if text}


def _describe_in_words(own: dict[str, str], notes: Counter[str]) -> str:
    """Return the short description and the long one below it. WooCommerce writes a line break as the letters \\n."""
    typed = [own.get("short_description", ""), own.get("description", "")]
    notes["html"] += any(map(is_html, typed))
    lines = (re.sub(r"(?<!\\)\\n", "\n", each).replace("\\\\n", "\\n") for each in typed)
    return "\n\n".join(filter(None, (html_to_markdown(each, keeps_lines=True) for each in lines)))


def _list_addresses(own: dict[str, str]) -> str:
    return "\n".join(each for each in _split(own.get("images", "")) if "://" in each)


def convert_stock(
    rows: Rows, mapping: ColumnMapping, notes: Counter[str]
) -> Iterator[ConvertedLine]:
    """Yield a line for each variant whose units are counted, for the first open warehouse."""
    warehouse = list_open_warehouses()[0].key
    for line in _read_lines(rows, mapping, _find_products(rows, mapping)):
        units = line.own.get("stock", "")
        if not is_plain(units) or len(line.variants) != 1:
            notes["not_counted"] += bool(line.variants)
            continue
        notes["below_zero"] += units.startswith("-")
        cells = {"sku": line.variants[0][0], "warehouse": warehouse}
        cells["units"] = "0" if units.startswith("-") else units
        yield ConvertedLine(line.row.line, cells, line.faults)

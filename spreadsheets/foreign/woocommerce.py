"""Converts WooCommerce's exports of products. A variation has a line of its own, anywhere in the file, which names its parent.

The file is read twice: first for what a variation needs of its parent, and for the attributes that are options. Columns and escapes
are those of WooCommerce's own exporter (includes/export/class-wc-product-csv-exporter.php).
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
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
_ATTRIBUTES = {
    f"attribute_{number}_{part}"
    for number in range(1, _MAX_ATTRIBUTES + 1)
    for part in ("name", "value(s)", "visible")
}
# Titles for search engines are columns of two plug-ins. In Yoast's, words between percent signs stand for others.
_SEARCH = {
    "search_title": ("meta:__yoast_wpseo_title", "meta:_rank_math_title"),
    "search_description": ("meta:__yoast_wpseo_metadesc", "meta:_rank_math_description"),
}
_IDENTIFYING = {"id", "type", "sku", "name", "parent", *_ATTRIBUTES}
_DESCRIBING = {"published", "visibility_in_catalog", "short_description", "description", "tags"}
_DESCRIBING |= {"tax_class", "sale_price", "date_sale_price_starts", "date_sale_price_ends"}
_DESCRIBING |= {"categories", "images", "upsells", "cross_sells", "brands"}
_DESCRIBING |= {name for names in _SEARCH.values() for name in names}
TARGETS: Mapping[str, str] = {
    "regular_price": "price",
    "is_featured?": "featured",
    "gtin,_upc,_ean,_or_isbn": "barcode",
    "cost_of_goods": "cost_price",
    **{f"weight_({unit})": "weight_grams" for unit in ("kg", "g", "lbs", "lb", "oz")},
    **{
        f"{side}_({unit})": f"{side}_mm"
        for side in ("length", "width", "height")
        for unit in ("cm", "mm", "m", "in")
    },
    **dict.fromkeys(_IDENTIFYING | _DESCRIBING, AUTOMATIC),
}
STOCK_TARGETS: Mapping[str, str] = dict.fromkeys({*_IDENTIFYING, "stock"}, AUTOMATIC)


def _split(text: str) -> list[str]:
    """Return the values in a cell; a comma within a value has a backslash before it."""
    values = (each.replace("\\,", ",").strip() for each in re.split(r"(?<!\\),", text))
    return [each for each in values if each]


@dataclass(slots=True)
class _Product:
    """What lines of variations, and of products that name others, need of a product."""

    slug: str
    weight: str = ""
    attributes: dict[str, list[str]] = field(default_factory=dict)
    option_names: dict[str, None] = field(default_factory=dict)  # the attributes of its variations


@dataclass(frozen=True, slots=True)
class _Variant:
    sku: str
    options: dict[str, str]


@dataclass(frozen=True, slots=True)
class _Line:
    """A line with its automatic columns, its product, or its variation's, and the variants that it describes."""

    row: ForeignRow
    own: dict[str, str]
    product: _Product
    variants: list[_Variant]
    faults: list[Fault]


class _File:
    """A file of which the first pass has been made."""

    def __init__(self, rows: Rows, mapping: ColumnMapping) -> None:
        self._rows, self._mapping = rows, mapping
        self._slugs = Slugs()
        self.products: dict[str, _Product] = {}  # by SKU, and by id as the column Parent names it
        option_names: dict[str, dict[str, None]] = {}
        for row in rows():
            own = read_automatic(row, mapping)
            attributes = _read_attributes(own)
            if _is_variation(own):
                names = option_names.setdefault(own.get("parent", ""), {})
                names |= dict.fromkeys(name for name, _values, _visible in attributes)
                continue
            found = _Product(self._get_slug(row, own))
            if "variable" in own.get("type", ""):
                found.weight = fill(row, mapping, Counter()).cells.get("weight_grams", "")
                found.attributes = {name: values for name, values, _visible in attributes}
            for key in (own.get("sku"), f"id:{own.get('id')}"):
                self.products.setdefault(key or "", found)
        for key, names in option_names.items():
            if key and (parent := self.products.get(key)):
                parent.option_names |= names

    def _get_slug(self, row: ForeignRow, own: dict[str, str]) -> str:
        key = own.get("id") or own.get("sku") or f"line {row.line}"
        return self._slugs.get(key, own.get("name", ""), own.get("sku", ""))

    def read_lines(self) -> Iterator[_Line]:
        """Yield all lines."""
        for row in self._rows():
            own = read_automatic(row, self._mapping)
            sku = own.get("sku", "")
            if _is_variation(own):
                parent = self.products.get(own.get("parent") or "?")
                product = parent or _Product("")
                variants, faults = _list_variants(row, own, product)
                if parent is None:
                    text = _("The file has no product “%(parent)s”.")
                    faults = [Fault(row.line, "Parent", text % {"parent": own.get("parent", "")})]
                yield _Line(row, own, product, variants, faults)
                continue
            kind, faults = own.get("type", "").lower(), []
            product = self.products.get(f"id:{own.get('id')}") or self.products.get(sku)
            product = product or _Product(self._get_slug(row, own))
            variants = [] if "variable" in kind else [_Variant(_find_sku(own, product), {})]
            others = {*_split(kind)} - {"simple", "variable", "virtual", "downloadable"}
            if others:
                text = _("Products of the type %(type)s can’t be imported.")
                faults = [Fault(row.line, "Type", text % {"type": ", ".join(sorted(others))})]
            yield _Line(row, own, product, variants, faults)


def _is_variation(own: dict[str, str]) -> bool:
    return "variation" in own.get("type", "").lower()


def _read_attributes(own: dict[str, str]) -> list[tuple[str, list[str], bool]]:
    """Return the attributes of a line: names, values, and whether they are shown. A variation has one value or none."""
    found = []
    for number in range(1, _MAX_ATTRIBUTES + 1):
        name = own.get(f"attribute_{number}_name")
        if name is None:
            break  # the file has no further columns of attributes
        if name:
            is_visible = own.get(f"attribute_{number}_visible") != "0"
            found.append((name, _split(own.get(f"attribute_{number}_value(s)", "")), is_visible))
    return found


def _find_sku(own: dict[str, str], product: _Product) -> str:
    """Return a line's SKU, or one that is made of its product's address and its id."""
    made = f"{product.slug[: MAX_SKU_LENGTH - 12]}-{own['id']}".upper() if own.get("id") else ""
    return own.get("sku") or made


def _list_variants(
    row: ForeignRow, own: dict[str, str], parent: _Product
) -> tuple[list[_Variant], list[Fault]]:
    """Return the variants of a variation: one for each value of an attribute for which it has none, as it stands for any."""
    typed = {name: values[:1] for name, values, _visible in _read_attributes(own)}
    # In the order of the product's attributes.
    names = [name for name in parent.attributes if name in parent.option_names]
    names += [name for name in parent.option_names if name not in parent.attributes]
    choices = [typed.get(name) or parent.attributes.get(name, []) for name in names]
    base = _find_sku(own, parent)
    count = prod(map(len, choices))
    if not 0 < count <= MAX_VARIANTS:
        text = _("Enter a value for each attribute of this variation.")
        return [], [Fault(row.line, "Attribute 1 value(s)", text)]
    if count == 1:
        return [_Variant(base, dict(zip(names, next(combine(*choices)), strict=True)))], []
    variants = []
    for number, values in enumerate(combine(*choices), start=1):
        options = dict(zip(names, values, strict=True))
        chosen = " ".join(options[name] for name in names if not typed.get(name))
        suffix = make_slug(chosen)[:20] or str(number)
        sku = f"{base[: MAX_SKU_LENGTH - len(suffix) - 1]}-{suffix}".upper()
        variants.append(_Variant(sku if base else "", options))
    return variants, []


def convert(rows: Rows, mapping: ColumnMapping, notes: Counter[str]) -> Iterator[ConvertedLine]:
    """Yield a line for each variant, and one for each product that has variations, which describes it."""
    file = _File(rows, mapping)
    for line in file.read_lines():
        found, own = fill(line.row, mapping, notes), line.own
        variant = {name: found.cells[name] for name in found.cells if name not in PRODUCT_COLUMNS}
        variant |= _find_sale(own, found.cells.get("price", ""), mapping, notes)
        cells: dict[str, str] = {"product": line.product.slug}
        if _is_variation(own):
            variant |= _describe_variation(own, found, line.product)
        else:
            whole = {name: found.cells[name] for name in found.cells if name in PRODUCT_COLUMNS}
            cells |= {**whole, **_describe(own, line.product, file.products, notes)}
        described = ConvertedLine(found.line, cells, found.faults)
        if len(line.variants) > 1:
            notes["any_value"] += 1
            variant.pop("barcode", None)
        if not line.variants:
            yield described.with_cells({}, *line.faults)
        for each in line.variants:
            own_cells = {"sku": each.sku, "options": format_options(each.options)}
            yield described.with_cells({**variant, **own_cells}, *line.faults)


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
    return reduce_price(price, sale_price)


def _describe_variation(
    own: dict[str, str], found: ConvertedLine, parent: _Product
) -> dict[str, str]:
    weight = found.cells.get("weight_grams") or parent.weight
    cells = {"weight_grams": weight} if weight else {}
    if "published" in own:
        cells["sold"] = "no" if own["published"] == "0" else "yes"
    if pictures := _list_addresses(own):
        cells["picture"] = pictures[0]
    return cells


def _describe(
    own: dict[str, str], product: _Product, products: Mapping[str, _Product], notes: Counter[str]
) -> dict[str, str]:
    """Return the cells of a product that are made of several columns, or of one with a rule of its own."""
    details = {
        name: ", ".join(values)
        for name, values, is_visible in _read_attributes(own)
        if is_visible and values and name not in product.option_names
    }
    named = _split(own.get("upsells", "")) + _split(own.get("cross_sells", ""))
    related = dict.fromkeys(products[each].slug for each in named if each in products)
    cells = {
        "name": own.get("name", ""),
        "description": _describe_in_words(own, notes),
        "details": format_details(details),
        "tags": join_list(_split(own.get("tags", ""))),
        "brand": next(iter(_split(own.get("brands", ""))), ""),
        "pictures": "\n".join(_list_addresses(own)),
        "related": join_list(list(related)[:MAX_PINNED]),
        "tax_class": "reduced" if own.get("tax_class") == "reduced-rate" else "",
        **split_categories(join_list(_split(own.get("categories", "")))),
    }
    if published := own.get("published", "").lower():
        is_hidden = own.get("visibility_in_catalog") == "hidden"
        notes["hidden"] += is_hidden
        cells["status"] = "active" if published in ("1", "true") and not is_hidden else "draft"
    for name, columns in _SEARCH.items():
        typed = (own.get(column, "") for column in columns)
        cells[name] = next((each for each in typed if each and "%" not in each), "")
    return {name: text for name, text in cells.items() if text}


def _describe_in_words(own: dict[str, str], notes: Counter[str]) -> str:
    """Return the short description and the long one below it. WooCommerce writes a line break as the letters \\n."""
    typed = [own.get("short_description", ""), own.get("description", "")]
    notes["html"] += any(map(is_html, typed))
    lines = (re.sub(r"(?<!\\)\\n", "\n", each).replace("\\\\n", "\\n") for each in typed)
    return "\n\n".join(filter(None, (html_to_markdown(each, keeps_lines=True) for each in lines)))


def _list_addresses(own: dict[str, str]) -> list[str]:
    return [each for each in _split(own.get("images", "")) if "://" in each]


def convert_stock(
    rows: Rows, mapping: ColumnMapping, notes: Counter[str]
) -> Iterator[ConvertedLine]:
    """Yield a line for each variant whose units are counted, for the first open warehouse."""
    for line in _File(rows, mapping).read_lines():
        units = line.own.get("stock", "")
        is_counted = is_plain(units) and len(line.variants) == 1
        if not is_counted:
            notes["not_counted"] += bool(line.variants)
            continue
        notes["below_zero"] += units.startswith("-")
        cells = {
            "sku": line.variants[0].sku,
            "warehouse": list_open_warehouses()[0].key,
            "units": "0" if units.startswith("-") else units,
        }
        yield ConvertedLine(line.row.line, cells, tuple(line.faults))

"""Converts files of products of PrestaShop, in the layout of its own import. Combinations are another file, without products' names."""

from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from itertools import zip_longest

from spreadsheets.foreign.entities import AUTOMATIC, ColumnMapping, ConvertedLine, Rows
from spreadsheets.foreign.mapping import fill, read_automatic
from spreadsheets.foreign.values import is_between, is_plain, plain_price, reduce_price
from spreadsheets.typed_values import format_details

MARKS = frozenset(("active_(0/1)", "categories_(x,y,z...)"))
_FEATURES = "feature(name:value:position)"
_ALTS = "image_alt_texts_(x,y,z...)"
_DISCOUNT = ("discount_amount", "discount_percent")
_DATES = ("discount_from_(yyyy_mm_dd)", "discount_to_(yyyy_mm_dd)")
TARGETS = {
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
    "description": "description",
    "tags_(x,y,z...)": "tags",
    "meta_title": "search_title",
    "meta_description": "search_description",
    "url_rewritten": "product",
    "image_urls_(x,y,z...)": "pictures",
    **dict.fromkeys((*_DISCOUNT, *_DATES, _FEATURES, _ALTS), AUTOMATIC),
}
UNITS = {"weight": "kg", "width": "cm", "height": "cm", "depth": "cm"}


def convert(rows: Rows, mapping: ColumnMapping, notes: Counter[str]) -> Iterator[ConvertedLine]:
    """Yield a line for each product."""
    for row in rows():
        line, own = fill(row, mapping, notes), read_automatic(row, mapping)
        cells = _find_sale(own, line.cells.get("price", ""), mapping, notes)
        features = [each.split(":") for each in own.get(_FEATURES, "").split(",")]
        details = {each[0].strip(): each[1].strip() for each in features if len(each) > 1}
        if details:
            cells["details"] = format_details(details)
        if alts := own.get(_ALTS):
            pictures = line.cells.get("pictures", "").split("\n")
            named = zip_longest(pictures, alts.split(",")[: len(pictures)], fillvalue="")
            cells["pictures"] = "\n".join(" ".join(each).strip() for each in named)
        yield line.with_cells(cells)


def _find_sale(
    own: dict[str, str], price: str, mapping: ColumnMapping, notes: Counter[str]
) -> dict[str, str]:
    amount, percent = (plain_price(own.get(name, "")) for name in _DISCOUNT)
    if not (amount or percent) or not is_plain(price):
        return {}
    if not is_between(
        mapping.now, *(own.get(name, "").replace("0000-00-00", "") for name in _DATES)
    ):
        notes["sale_not_on"] += 1
        return {}
    reduced = Decimal(price)
    if is_plain(amount):
        reduced -= Decimal(amount)
    elif is_plain(percent):
        reduced *= 1 - Decimal(percent) / 100
    return reduce_price(price, f"{reduced:.2f}")

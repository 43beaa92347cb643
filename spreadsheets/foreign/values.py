"""Converts values as other shops write them: prices with a currency, weights with a unit, HTML, sales, paths of categories.

What cannot be converted stays as it is. The import then says what is wrong with it.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal
from functools import partial

from babel.numbers import get_currency_symbol
from django.conf import settings
from django.utils.text import slugify

from catalogue.old_addresses import list_old_paths
from catalogue.rules import MAX_CATEGORIES_OF_A_PRODUCT, MAX_LENGTHS
from inventory.warehouses import find_warehouse_key, list_open_warehouses
from pricing.templatetags.money import LOCALE
from spreadsheets.cells import join_list, split_list
from spreadsheets.entities import Fault
from spreadsheets.errors import CellRefused
from spreadsheets.foreign.entities import ConvertedLine
from spreadsheets.foreign.markdown import html_to_markdown, is_html
from spreadsheets.typed_values import parse_amount, parse_end, parse_moment

_MEASURE = re.compile(r"([0-9]{1,12}(?:[.,][0-9]{1,12})?|[.,][0-9]{1,12})\s*([a-z\"]*)", re.ASCII)
_GRAMS = {"": "1", "g": "1", "kg": "1000", "lb": "453.59237", "lbs": "453.59237"}
_GRAMS |= {"oz": "28.349523125", "grams": "1"}
_MILLIMETRES = {"": "1", "mm": "1", "cm": "10", "m": "1000", "in": "25.4", "inch": "25.4"}
# Without tax, other shops write more decimals than a price has.
_PRICE_PLACES, _CENT = 6, Decimal("0.01")
# As Magento writes days.
_AMERICAN_DAY = re.compile(r"([0-9]{1,2})/([0-9]{1,2})/(?:20)?([0-9]{2})\b.*", re.ASCII)
_UNITS = re.compile(r"-?[0-9]{1,9}", re.ASCII)
# These have a value in each of our products and variants. An empty cell of another shop says nothing.
_NEVER_EMPTY = ("name", "category", "status", "featured", "tax_class", "price", "sold", "picture")
# More than a product can have. What follows is one text, which no category has.
MAX_CATEGORIES = 2 * MAX_CATEGORIES_OF_A_PRODUCT
_STATUSES = {
    **dict.fromkeys(("publish", "published", "true", "1", "yes", "enabled"), "active"),
    **dict.fromkeys(("unpublished", "false", "0", "2", "no", "disabled"), "draft"),
}


def make_slug(text: str) -> str:
    """Return the last part of an address for a name or an address of another shop; "" if it has no letter or digit of ASCII."""
    slug = re.sub(r"[-_]+", "-", slugify(text[:1000])).strip("-")
    return slug[: MAX_LENGTHS["slug"]].strip("-")


def _parse_foreign_price(text: str, factor: Decimal = Decimal(1)) -> Decimal:
    code = settings.CURRENCY
    words = f"(?:{code}|{re.escape(get_currency_symbol(code, LOCALE))})"
    plain = re.sub(rf"^{words}\s*|\s*{words}$", "", text[:100], flags=re.I)
    return (parse_amount(plain, _PRICE_PLACES).amount * factor).quantize(_CENT, ROUND_HALF_UP)


def _plain_price(text: str) -> str:
    try:
        return str(_parse_foreign_price(text))
    except CellRefused:
        return text


def _measure(units: Mapping[str, str], text: str) -> str:
    found = _MEASURE.fullmatch(text.lower())
    if not found or found[2] not in units:
        return text
    number = Decimal(found[1].replace(",", ".")) * Decimal(units[found[2]])
    return str(number.quantize(Decimal(1), ROUND_HALF_UP))


_CONVERTERS: dict[str, Callable[[str], str]] = {
    **dict.fromkeys(("price", "compare_at", "cost_price"), _plain_price),
    **dict.fromkeys(("length_mm", "width_mm", "height_mm"), partial(_measure, _MILLIMETRES)),
    "weight_grams": partial(_measure, _GRAMS),
    "old_addresses": lambda text: "\n".join(list_old_paths(text)),
    "status": lambda text: _STATUSES.get(text.lower(), text),
    "product": make_slug,
    # Shopify writes an apostrophe before digits.
    "barcode": lambda text: text.removeprefix("'"),
}


def convert_product_line(
    line: ConvertedLine, tax_percent: Decimal, now: datetime, notes: Counter[str]
) -> ConvertedLine:
    """Return a line about a product or its prices with our values, of its cells by target.

    `notes` count what staff should know; adminpanel.files.notes has the words.
    """
    cells = {
        name: _CONVERTERS[name](text) if name in _CONVERTERS else text
        for name, text in line.cells.items()
        if text or name not in _NEVER_EMPTY
    }
    if is_html(description := cells.get("description", "")):
        notes["html"] += 1
        cells["description"] = html_to_markdown(description)
    cells |= split_categories(cells.pop("categories", ""))
    faults = list(line.faults)
    try:
        _reduce_price(cells, tax_percent, now, notes)
    except CellRefused as refused:
        faults.append(Fault(line.line, "price", str(refused)))
    return ConvertedLine(line.line, cells, tuple(faults))


def _reduce_price(
    cells: dict[str, str], tax_percent: Decimal, now: datetime, notes: Counter[str]
) -> None:
    """Add the tax to prices without it. During a sale, the lower price is the price, and the other the former price."""
    sale, first, last = (cells.pop(f"sale_{each}", "") for each in ("price", "starts", "ends"))
    net, factor = cells.pop("price_without_tax", ""), Decimal(1)
    if net:
        factor += tax_percent / 100
        cells["price"] = str(_parse_foreign_price(net, factor))
    if not (sale and cells.get("price")):
        return
    start, end = parse_moment(_iso_day(first)), parse_end(_iso_day(last))
    notes["sales"] += bool(start or end)
    if (start and now < start) or (end and end <= now):
        return
    price, reduced = _parse_foreign_price(cells["price"]), _parse_foreign_price(sale, factor)
    if reduced < price:
        cells |= {"price": str(reduced), "compare_at": str(price)}


def _iso_day(text: str) -> str:
    return _AMERICAN_DAY.sub(lambda found: f"20{found[3]}-{found[1]:0>2}-{found[2]:0>2}", text)


def convert_stock_line(line: ConvertedLine) -> ConvertedLine:
    """Return a line about stock, for the first open warehouse if it names none; without cells if its units are not counted."""
    units, location = line.cells.get("units", ""), line.cells.get("warehouse", "")
    if not _UNITS.fullmatch(units):
        return ConvertedLine(line.line, {})
    cells = {
        "sku": line.cells.get("sku", ""),
        "warehouse": find_warehouse_key(location) or location or list_open_warehouses()[0].key,
        "units": "0" if units.startswith("-") else units,
    }
    return ConvertedLine(line.line, cells, line.faults)


class Slugs:
    """The addresses of a file's products by key, such as an id, each one once."""

    def __init__(self) -> None:
        self._by_key: dict[str, str] = {}
        self._counts: Counter[str] = Counter()

    def get(self, key: str, *texts: str) -> str:
        """Return the address of the product with this key: the first time, one made of the first text that makes one."""
        if key not in self._by_key:
            slug = next(filter(None, map(make_slug, (*texts, key))), "product")
            while self._counts[slug]:
                self._counts[slug] += 1
                slug = f"{slug}-{self._counts[slug]}"
            self._counts[slug] = 1
            self._by_key[key] = slug
        return self._by_key[key]


def split_path(text: str) -> list[str]:
    """Return the names in a category's path: "Kitchen > Mugs"."""
    return [each.strip() for each in text.split(">")]


def join_path(names: Iterable[str]) -> str:
    """Return the path of a category, as `split_path` reads it."""
    return " > ".join(names)


def split_categories(text: str) -> dict[str, str]:
    """Return the cells of several category paths. The longest path is the main category; those above others are left out."""
    paths = [join_path(split_path(each)) for each in split_list(text, most=MAX_CATEGORIES) if each]
    if not paths:
        return {}
    main = max(paths, key=lambda path: path.count(" > "))
    others = [
        each
        for each in dict.fromkeys(paths)
        if each != main and not any(path.startswith(f"{each} > ") for path in paths)
    ]
    return {"category": main, "other_categories": join_list(others)}

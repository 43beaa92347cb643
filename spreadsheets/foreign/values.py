"""Converts values as other shops write them: prices with a currency, weights with a unit, HTML, paths of categories.

What cannot be converted stays as it is. The import then says what is wrong with it.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, time, timedelta
from decimal import ROUND_HALF_UP, Decimal
from functools import cache

from babel.numbers import get_currency_symbol
from django.conf import settings
from django.utils.text import slugify

from catalogue.old_addresses import list_old_paths
from catalogue.rules import EARLIEST, LATEST, MAX_CATEGORIES_OF_A_PRODUCT, MAX_LENGTHS
from pricing.templatetags.money import LOCALE
from spreadsheets.cells import join_list, split_list
from spreadsheets.files import normalize_name
from spreadsheets.foreign.entities import ColumnMapping
from spreadsheets.foreign.markdown import html_to_markdown, is_html
from spreadsheets.typed_values import format_details, format_options
from web.text import clean_text

_SPACES = re.compile(r"[\s'’]")
_PLAIN = re.compile(r"-?[0-9]{1,12}(?:\.[0-9]{1,12})?", re.ASCII)
_MEASURE = re.compile(r"(-?[0-9.,]{1,20})\s*([a-z\"]*)\.?", re.ASCII)
_UNIT_OF_COLUMN = re.compile(r"\(([a-z]+)\)\s*$")
# The look behind keeps the time in proportion to the length.
_NEXT_ADDRESS = re.compile(r"(?<![\s,|])[\s,|]+(?=https?://)")
# Targets that several columns can have, and what separates their values.
_SEPARATORS = {"tags": ", ", "pictures": "\n", "old_addresses": "\n"}
# These have a value in each of our products and variants. An empty cell of another shop says nothing.
_NEVER_EMPTY = ("name", "category", "status", "featured", "tax_class", "price", "sold")
_GRAMS = {"g": "1", "kg": "1000", "lb": "453.59237", "lbs": "453.59237", "oz": "28.349523125"}
_GRAMS["grams"] = "1"
_MILLIMETRES = {"mm": "1", "cm": "10", "m": "1000", "in": "25.4", "inch": "25.4", '"': "25.4"}
# As of American shops; ISO's comes first.
_DATE_FORMATS = (
    "%Y-%m-%d %H:%M:%S",
    "%m/%d/%Y %H:%M",
    "%m/%d/%y, %I:%M %p",
    "%m/%d/%Y",
    "%m/%d/%y",
)
# More than a product can have. What follows is one text, which no category has.
MAX_CATEGORIES = 2 * MAX_CATEGORIES_OF_A_PRODUCT
_MAX_DATE_LENGTH = 40
_STATUSES = {
    "active": ("publish", "published", "true", "1", "yes", "enabled"),
    "draft": ("pending", "private", "unpublished", "false", "0", "-1", "2", "no", "disabled"),
}
_STATUS_OF = {word: status for status, words in _STATUSES.items() for word in words}


def make_slug(text: str) -> str:
    """Return the last part of an address for a name or an address of another shop; "" if it has no letter or digit of ASCII."""
    slug = re.sub(r"[-_]+", "-", slugify(text)).strip("-")
    return slug[: MAX_LENGTHS["slug"]].strip("-")


def plain_number(text: str, *, is_grouped: bool = True) -> str:
    """Return a number as "1234.5". Its decimals follow the last point or comma; with `is_grouped`, "1,234" stays, as it is unclear."""
    digits = _SPACES.sub("", text)
    last = max(digits.rfind("."), digits.rfind(","))
    whole, fraction = (digits[:last], digits[last + 1 :]) if last >= 0 else (digits, "")
    marks = set(whole) & set(".,")
    if digits[last : last + 1] in marks:  # several of the same: 1.234.567
        whole, fraction = whole + fraction, ""
    elif is_grouped and not marks and len(fraction) == 3:
        return text
    plain = re.sub("[.,]", "", whole or "0") + (f".{fraction}" if fraction else "")
    return plain if _PLAIN.fullmatch(plain) else text


@cache
def _currency_words(code: str) -> re.Pattern[str]:
    words = "|".join(map(re.escape, {code, get_currency_symbol(code, LOCALE)}))
    return re.compile(rf"^\s*(?:{words})|(?:{words})\s*$", re.IGNORECASE)


def plain_price(text: str) -> str:
    """Return a price without the shop's currency. A price in another currency stays as it is."""
    return plain_number(_currency_words(settings.CURRENCY).sub("", text)) if text else ""


def is_plain(number: str) -> bool:
    """Return whether a text is a number as `plain_number` returns it."""
    return bool(_PLAIN.fullmatch(number))


def _measure(text: str, units: Mapping[str, str], unit: str) -> str:
    found = _MEASURE.fullmatch(text.strip().lower())
    factor = units.get(found[2] or unit) if found else None
    number = plain_number(found[1], is_grouped=False) if found else ""
    if factor is None or not is_plain(number):
        return text
    return str((Decimal(number) * Decimal(factor)).quantize(Decimal(1), ROUND_HALF_UP))


def add_tax(text: str, percent: Decimal) -> str:
    """Return a price with tax. What is no price stays as it is."""
    price = plain_price(text)
    if not is_plain(price):
        return text
    return f"{Decimal(price) * (1 + percent / 100):.2f}"


def _label(column: str) -> str:
    """Return a column's name as that of an option or detail: "fair_trade" is "Fair trade"."""
    words = " ".join(column.replace("_", " ").split())
    return words[:1].upper() + words[1:]


class Values:
    """The cells of a line in our layout, which grow by one value of a foreign file after another."""

    def __init__(self, mapping: ColumnMapping, notes: Counter[str]) -> None:
        self._mapping, self._notes = mapping, notes
        self._cells: dict[str, str] = {}
        self._options: dict[str, str] = {}
        self._details: dict[str, str] = {}
        self._sale_price = ""

    def add(self, target: str, column: str, text: str) -> None:
        """Convert a column's value for its target."""
        text = clean_text(text, keep_lines=True).strip()
        if target == "option":
            self._options |= {_label(column): text} if text else {}
        elif target == "detail":
            self._details |= {_label(column): text} if text else {}
        elif target == "categories":
            self._cells |= split_categories(text)
        elif target == "sale_price":
            self._sale_price = plain_price(text)
        elif target == "price_without_tax":
            self._add_net_price(text)
        elif target in _SEPARATORS and self._cells.get(target):
            text = self._convert(target, column, text)
            self._cells[target] += f"{_SEPARATORS[target]}{text}" if text else ""
        elif not self._mapping.is_about_products:
            self._cells[target] = text
        elif text or target not in _NEVER_EMPTY:
            self._cells[target] = self._convert(target, column, text)

    def _add_net_price(self, text: str) -> None:
        if text:
            self._cells["price"] = add_tax(text, self._mapping.tax_percent)
            self._notes["tax_added"] += 1

    def _convert(self, target: str, column: str, text: str) -> str:
        found = _UNIT_OF_COLUMN.search(column.lower())
        unit = found[1] if found else self._mapping.units.get(normalize_name(column), "")
        if target in ("price", "compare_at", "cost_price"):
            return plain_price(text)
        if target == "weight_grams":
            return _measure(text, _GRAMS, unit or "g")
        if target in ("length_mm", "width_mm", "height_mm"):
            return _measure(text, _MILLIMETRES, unit or "mm")
        if target == "description" and is_html(text):
            self._notes["html"] += 1
            return html_to_markdown(text)
        if target == "pictures":
            return "\n".join(_NEXT_ADDRESS.split(text))
        if target == "old_addresses":
            return "\n".join(list_old_paths(text))
        if target == "status":
            return _STATUS_OF.get(text.lower(), text)
        if target == "product":
            return make_slug(text)
        return text

    @property
    def cells(self) -> dict[str, str]:
        """The cells in our layout. A lower sale price becomes the price, and the price the former one."""
        cells = dict(self._cells)
        if self._options:
            cells["options"] = format_options(self._options)
        if self._details:
            cells["details"] = format_details(self._details)
        return cells | reduce_price(cells.get("price", ""), self._sale_price)


def reduce_price(price: str, sale_price: str) -> dict[str, str]:
    """Return the cells of a price that is reduced to a lower one; none if it is not lower."""
    if not (is_plain(price) and is_plain(sale_price)):
        return {}
    if not 0 < Decimal(sale_price) < Decimal(price):
        return {}
    return {"price": sale_price, "compare_at": price}


def parse_day(text: str) -> datetime | None:
    """Return the moment of a date as other shops write it, in UTC if it has no offset; None if it is none."""
    for form in ("", *_DATE_FORMATS) if len(text) <= _MAX_DATE_LENGTH else ():
        try:
            typed = datetime.strptime(text, form) if form else datetime.fromisoformat(text)  # noqa: DTZ007 -- see below
        except ValueError:
            continue
        if EARLIEST.year <= typed.year < LATEST.year:
            return typed if typed.tzinfo else typed.replace(tzinfo=UTC)
    return None


def is_between(now: datetime, start: str, end: str) -> bool:
    """Return whether a sale is on. An empty start or end is none; one that cannot be read means that it is not on."""
    first, last = parse_day(start), parse_day(end)
    if (start and first is None) or (end and last is None):
        return False
    if last and last.time() == time.min:
        last += timedelta(days=1)  # a day without a time is the last one
    return (first is None or first <= now) and (last is None or now < last)


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

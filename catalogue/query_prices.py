"""Reads the price range in a typed query: "mug under 20", "20–40 €", "over 50"."""

import re
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from babel.numbers import get_currency_name, get_currency_symbol

# Words before a number that make it the highest or the lowest price.
_UNDER = r"under|below|less\s+than|cheaper\s+than|up\s+to|at\s+most"
_OVER = r"over|above|more\s+than|at\s+least"
# "1,000" is a thousand, "1,50" is one and a half.
_NUMBER = r"[0-9]{1,3}[.,][0-9]{3}|[0-9]{1,6}(?:[.,][0-9]{1,2})?"


@dataclass(frozen=True)
class QueryPrices:
    """A query without its price range, and the range, both ends included. `text` is the range as typed.

    `sizes` are the two numbers of a range without currency, "36-40", joined. Such a range can also be a size.
    """

    words: str
    low: Decimal | None = None
    high: Decimal | None = None
    text: str = ""
    sizes: str = ""


@lru_cache(maxsize=4)
def _pattern(currency: str) -> re.Pattern[str]:
    names = {currency, get_currency_symbol(currency, "en")}
    names |= {get_currency_name(currency, count, "en") for count in (1, 2)}
    mark = "(?:" + "|".join(map(re.escape, sorted(names, key=len, reverse=True))) + ")"

    def amount(name: str) -> str:
        return rf"(?P<{name}_mark>{mark})?\s*(?P<{name}>{_NUMBER})\s*(?P<{name}_end>{mark})?"

    # "and" joins two prices only after "between".
    joined = r"\s*(?:[-–—]|\bto\b|(?(between)\band\b|(?!)))\s*"
    between = rf"(?P<between>(?:between|from)\s+)?{amount('low')}{joined}{amount('high')}"
    under, over = rf"(?:{_UNDER})\s+{amount('most')}", rf"(?:{_OVER})\s+{amount('least')}"
    return re.compile(
        rf"(?<!\S)(?:(?:for|priced|costing)\s+)?(?:{between}|{under}|{over})(?!\S)", re.IGNORECASE
    )


def read_prices(query: str, currency: str) -> QueryPrices:
    """Return the words and the price range of a query. A range backwards, or none, leaves the query as it is."""
    ranges = list(_pattern(currency).finditer(query))
    lows = [parse_amount(low) for each in ranges if (low := each["low"] or each["least"])]
    highs = [parse_amount(high) for each in ranges if (high := each["high"] or each["most"])]
    if not ranges or (lows and highs and max(lows) > min(highs)):
        return QueryPrices(query)
    words = " ".join(_pattern(currency).sub(" ", query).split())
    text = " ".join(each[0] for each in ranges)
    bare = [each["low"] + each["high"] for each in ranges if not _is_marked(each)]
    return QueryPrices(
        words, max(lows, default=None), min(highs, default=None), text, "".join(bare[:1])
    )


def _is_marked(found: re.Match[str]) -> bool:
    """Return whether a range is said to be one of prices, by a word or a currency."""
    marks = ("between", "most", "least", "low_mark", "low_end", "high_mark", "high_end")
    return any(found[name] for name in marks)


def parse_amount(text: str) -> Decimal:
    """Return the amount that a price without a currency says: "1,000" is a thousand, "1,50" one and a half. Raises ValueError."""
    if not re.fullmatch(_NUMBER, text):
        raise ValueError(text)
    if re.fullmatch(r"[0-9]{1,3}[.,][0-9]{3}", text):
        return Decimal(re.sub("[.,]", "", text))
    return Decimal(text.replace(",", "."))

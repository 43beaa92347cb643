"""The filters of a list, as its address names them: `filter=size:M`, repeatable, and `price=20-40`.

Values of one filter combine with "or", filters with "and". Names and values are compared folded, so `Size:m` is `size:M`.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from math import prod
from typing import Self

from django.conf import settings
from moneyed import Money

from catalogue.filter_tokens import MAX_COMBINED, cover_prices, fold_name
from catalogue.query_prices import parse_amount
from catalogue.rules import MAX_PRICE
from catalogue.words import fold_text
from pricing.money import to_minor_units

# The filters that every list has. The others are names of options and details.
CATEGORY, COLOUR, BRAND, RATING = "category", "colour", "brand", "rating"
NEW, BESTSELLER, STOCK, SALE = "new", "bestseller", "stock", "sale"
YES = "yes"
MARKS = (NEW, BESTSELLER, STOCK, SALE)  # filters with the only value YES
OWN_FILTERS = frozenset({CATEGORY, COLOUR, BRAND, RATING, *MARKS})
# Longer addresses lose their last filters. So a page's work is bounded, and no address is refused.
MAX_CHOSEN, MAX_LENGTH = 40, 160
# How many terms of the index a selection may stand for: the combinations of its options, each with the steps of its prices.
MAX_TERMS = 1000


@dataclass(frozen=True)
class PriceRange:
    """A range of prices, both ends included; None leaves an end open."""

    low: Decimal | None = None
    high: Decimal | None = None

    def __str__(self) -> str:
        low, high = (
            "" if each is None else f"{each.normalize():f}" for each in (self.low, self.high)
        )
        return f"{low}-{high}"


@dataclass(frozen=True)
class Selection:
    """The chosen values of each filter, both sorted, and the range of prices. Options and details are compared folded."""

    values: tuple[tuple[str, tuple[str, ...]], ...] = ()
    price: PriceRange | None = None

    def __bool__(self) -> bool:
        return bool(self.values or self.price)

    def get(self, name: str) -> tuple[str, ...]:
        return dict(self.values).get(name, ())

    def with_values(self, name: str, values: Iterable[str]) -> Self:
        """Return the selection in which these are the chosen values of a filter."""
        chosen = {**dict(self.values), name: tuple(sorted(set(values)))}
        return replace(self, values=tuple(sorted(each for each in chosen.items() if each[1])))

    def with_price(self, price: PriceRange | None) -> Self:
        return replace(self, price=price)

    def toggle(self, name: str, value: str) -> Self:
        """Return the selection with this value if it is not chosen, and without it if it is."""
        return self.with_values(name, {*self.get(name)} ^ {value})

    @property
    def parameters(self) -> list[tuple[str, str]]:
        """The selection as parameters of an address, in one order."""
        chosen = [("filter", f"{name}:{value}") for name, values in self.values for value in values]
        return [*chosen, ("price", str(self.price))] if self.price else chosen

    @property
    def options(self) -> dict[str, tuple[str, ...]]:
        """The chosen values of the filters that are options or details, colour included."""
        own = OWN_FILTERS - {COLOUR}
        return {name: values for name, values in self.values if name not in own}

    @property
    def about_variants(self) -> Self:
        """The part that one variant must satisfy."""
        own = OWN_FILTERS - {COLOUR, STOCK, SALE}
        return replace(self, values=tuple(each for each in self.values if each[0] not in own))

    def count_terms(self) -> int:
        """Return how many terms of the index stand for the selection's options and prices."""
        steps = len(cover_prices(*price_in_minor_units(self.price))) if self.price else 1
        # An option may be a detail, too.
        return steps * prod(1 + len(values) for values in self.options.values())


NOTHING_CHOSEN = Selection()


def parse_filters(
    written: Sequence[str], names: Collection[str], price: PriceRange | None = None
) -> tuple[Selection, bool]:
    """Return the selection of a range of prices and of `filter` parameters, and whether some were too many.

    Filters that are not in `names` are left out.
    """
    selection, is_cut = Selection(price=price), len(written) > MAX_CHOSEN
    for each in written[:MAX_CHOSEN]:
        name, _, value = each[:MAX_LENGTH].partition(":")
        name, value = fold_name(name.strip()), fold_text(value.strip())
        if name not in names or not value:
            continue
        wider = selection.with_values(name, {*selection.get(name), value})
        if wider.count_terms() > MAX_TERMS or len(wider.options) > MAX_COMBINED:
            is_cut = True
        else:
            selection = wider
    return selection, is_cut


def price_in_minor_units(price: PriceRange | None) -> tuple[int, int]:
    """Return the lowest and the highest price of a range in minor units, or those that a product can have."""
    ends = price or PriceRange()
    low, high = ends.low or 0, MAX_PRICE if ends.high is None else ends.high
    return to_minor_units(Money(low, settings.CURRENCY)), to_minor_units(
        Money(high, settings.CURRENCY)
    )


def parse_price(written: str) -> PriceRange | None:
    """Return the range that a text such as `20-40`, `20-` or `-40` names, in the shop's currency, or None for an empty text.

    If the ends are the wrong way round, they change places. Raises ValueError for anything but prices that a product can have.
    """
    low, dash, high = written.partition("-")
    if not dash:
        high = low
    ends = [_parse_end(each) for each in (low, high)]
    if all(each is None for each in ends):
        return None
    known = [each for each in ends if each is not None]
    return PriceRange(*(sorted(known) if len(known) == len(ends) else ends))


def _parse_end(written: str) -> Decimal | None:
    if not (text := written.strip()):
        return None
    price = parse_amount(text)
    if price > MAX_PRICE:
        raise ValueError(written)
    return price.quantize(Decimal("0.01"))

"""The filters of a list, as its address names them: `filter=size:M`, repeatable, and `price=20-40`.

Values of one filter combine with "or", filters with "and". Names and values are compared folded, so `Size:m` is `size:M`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from math import prod
from typing import Self

from catalogue.filter_tokens import MAX_COMBINED, fold_name
from catalogue.rules import MAX_PRICE
from catalogue.words import fold_text

# The filters that every list has. The others are names of options and details.
CATEGORY, COLOUR, BRAND, RATING = "category", "colour", "brand", "rating"
NEW, BESTSELLER, STOCK, SALE = "new", "bestseller", "stock", "sale"
YES = "yes"
MARKS = (NEW, BESTSELLER, STOCK, SALE)  # filters with the only value YES
OWN_FILTERS = frozenset({CATEGORY, COLOUR, BRAND, RATING, *MARKS})
# Longer addresses lose their last filters. So a page's work is bounded, and no address is refused.
MAX_CHOSEN, MAX_LENGTH = 40, 160
MAX_COMBINATIONS = 500


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

    def without(self, name: str) -> Self:
        return replace(self, values=tuple(each for each in self.values if each[0] != name))

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
    def is_about_variants(self) -> bool:
        return bool(self.options or self.price or self.get(STOCK) or self.get(SALE))


NOTHING_CHOSEN = Selection()


def parse_filters(written: Sequence[str], names: Iterable[str]) -> tuple[Selection, bool]:
    """Return the selection that `filter` parameters name, and whether some were too many. Unknown filters are left out.

    `names` are the folded names of the options and details that are filters.
    """
    known, selection, is_cut = OWN_FILTERS.union(names), NOTHING_CHOSEN, len(written) > MAX_CHOSEN
    for each in written[:MAX_CHOSEN]:
        name, _, value = each[:MAX_LENGTH].partition(":")
        name, value = fold_name(name.strip()), fold_text(value.strip())
        if name not in known or not value:
            continue
        wider = selection.with_values(name, {*selection.get(name), value})
        if _count_combinations(wider) > MAX_COMBINATIONS or len(wider.options) > MAX_COMBINED:
            is_cut = True
        else:
            selection = wider
    return selection, is_cut


def _count_combinations(selection: Selection) -> int:
    return prod(map(len, selection.options.values()))


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
    text = written.strip().replace(",", ".")
    if not text:
        return None
    try:
        price = Decimal(text)
    except InvalidOperation as error:
        raise ValueError(written) from error
    if not price.is_finite() or not 0 <= price <= MAX_PRICE:
        raise ValueError(written)
    return price.quantize(Decimal("0.01"))

"""The dimensions by which a day's sales are added up. This module reads and writes nothing."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date

from analytics.days import shop_hour
from analytics.figures import Fact, Figures, sum_facts

# The most keys of a dimension that a day keeps in each currency; the other keys' sales are added up under OTHERS.
MAX_KEYS = 500
OTHERS = ""
NOT_KNOWN = "?"
NO_PROMOTION = "-"
# The key of the discounts that staff give in draft orders.
STAFF_DISCOUNT = "staff"


def _customer_key(fact: Fact) -> str:
    return {True: "returning", False: "first", None: NOT_KNOWN}[fact.is_returning]


def _promotion_keys(fact: Fact) -> tuple[str, ...]:
    promotions = fact.line.promotions
    return (NOT_KNOWN,) if promotions is None else promotions or (NO_PROMOTION,)


# The keys under which a fact counts, by dimension. An order has one key of each of these, so each adds up to the whole shop.
_BY_ORDER: dict[str, Callable[[Fact], Iterable[str]]] = {
    # "00" to "23" by the shop's clock; the hour that an autumn's day repeats is one key
    "hour": lambda fact: [f"{shop_hour(fact.placed_at):02}" if fact.placed_at else NOT_KNOWN],
    "country": lambda fact: [fact.country or NOT_KNOWN],
    "payment": lambda fact: [fact.payment_method or NOT_KNOWN],
    "customer": lambda fact: [_customer_key(fact)],
}
DIMENSIONS: dict[str, Callable[[Fact], Iterable[str]]] = {
    **_BY_ORDER,
    # the line's category and each above it
    "category": lambda fact: {str(each) for each in fact.categories},
    "product": lambda fact: [str(fact.line.product_id)],
    # with its product, by which a page finds the variant's name
    "variant": lambda fact: [f"{fact.line.product_id} {fact.line.variant_id}"],
    # A line with two promotions counts under both.
    "promotion": _promotion_keys,
}


@dataclass(frozen=True)
class DimensionSales:
    """The sales figures of one key of a dimension on one day, in one currency."""

    day: date
    key: str
    currency: str
    figures: Figures


def roll_up_dimension(day: date, facts: Iterable[Fact], dimension: str) -> list[DimensionSales]:
    """Return a day's sales by the keys of a dimension and by currency: the MAX_KEYS best ones by gross, and OTHERS.

    Categories are all kept: each is also part of those above it, so that a sum of the others would say nothing.
    """
    most = None if dimension == "category" else MAX_KEYS
    found = defaultdict[str, defaultdict[str, list[Fact]]](lambda: defaultdict(list))
    for fact in facts:
        # A line whose units were all removed before packing leaves only its order.
        if fact.line.units or dimension in _BY_ORDER:
            for key in DIMENSIONS[dimension](fact):
                found[fact.currency][key].append(fact)
    rows = []
    for currency, by_key in sorted(found.items()):
        sums = {key: sum_facts(each) for key, each in by_key.items()}
        best_first = sorted(sums, key=lambda key: (-sums[key].gross, key))
        rest = best_first[most:] if most else []
        if rest:
            sums[OTHERS] = sum_facts([fact for key in rest for fact in by_key[key]])
        rows += [DimensionSales(day, key, currency, sums[key]) for key in sums.keys() - rest]
    return rows

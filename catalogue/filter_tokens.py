"""The terms by which the search index finds the products with a variant that has several values together (decision 081).

A combination is a set of values of one variant: options (`size=m`), a colour's family (`colour=blue`), and the marks `is=stock`
and `is=sale`. A product has a term for each combination of each variant. So "a blue M in stock" is one term, and a product with a
blue S and a red M does not have it. Where the prices of a product's variants differ, its terms also carry prices: each price at
several precisions, so that a range of prices is a few terms.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations

from catalogue.entities import Product
from catalogue.words import fold_text
from pricing.money import to_minor_units

# How many options one variant's combinations join. A selection of more options finds nothing of a product with as many.
MAX_COMBINED = 4
MAX_VALUE_LENGTH = 100
IN_STOCK, ON_SALE = "is=stock", "is=sale"
_BETWEEN, _BEFORE_PRICE = "\x1f", "\x1e"
# A price step leaves out this many more bits of a price, in minor units, than the step before it. 28 bits hold MAX_PRICE.
_STEP_BITS, _PRICE_BITS = 4, 28


def value_token(name: str, value: str) -> str:
    """Return the term for a value of an option or a detail."""
    return f"{fold_name(name)}={fold_text(value)}"


def fold_name(name: str) -> str:
    """Return the name of an option or a detail as terms and addresses have it: `size` for "Size"."""
    return fold_text(name).replace("=", "-").replace(":", "-")


def combine(tokens: Iterable[str]) -> str:
    """Return the term for the variants that have all these values."""
    return _BETWEEN.join(sorted(tokens))


def list_combinations(product: Product, make_token: Callable[[str, str], str]) -> set[str]:
    """Return the terms of a product's sold variants. `make_token` takes an option's name and its value."""
    sold = [each for each in product.variants if each.sold]
    is_mixed = has_several_prices(product)
    found = set()
    for variant in sold:
        options = sorted({make_token(*each) for each in variant.options.items()})
        marks = [
            mark
            for mark, holds in (
                (IN_STOCK, variant.variant_id in product.in_stock_ids),
                (ON_SALE, variant.compare_at is not None),
            )
            if holds
        ]
        terms = {
            combine((*chosen, *further))
            for count in range(min(len(options), MAX_COMBINED) + 1)
            for chosen in combinations(options, count)
            for marked in range(len(marks) + 1)
            for further in combinations(marks, marked)
        }
        found |= terms
        if is_mixed:
            steps = list(_price_steps(to_minor_units(variant.price)))
            found |= {with_price(term, step) for term in terms for step in steps}
    return found - {""}


def has_several_prices(product: Product) -> bool:
    return len({each.price for each in product.variants if each.sold}) > 1


def with_price(term: str, step: str) -> str:
    """Return the term for the variants that have a combination's values and a price in this step."""
    return f"{term}{_BEFORE_PRICE}{step}"


def _price_steps(price: int) -> Iterator[str]:
    for bits in range(0, _PRICE_BITS, _STEP_BITS):
        yield f"{bits}:{price >> bits:x}"


def cover_prices(low: int, high: int) -> list[str]:
    """Return the steps that together hold the prices from `low` to `high`, in minor units: at most 200."""
    steps: list[str] = []
    low, high, last = max(low, 0), min(high, (1 << _PRICE_BITS) - 1), (1 << _STEP_BITS) - 1
    for bits in range(0, _PRICE_BITS, _STEP_BITS):
        is_top = bits + _STEP_BITS >= _PRICE_BITS
        while low <= high and (is_top or low & last):
            steps.append(f"{bits}:{low:x}")
            low += 1
        while low <= high and high & last != last:
            steps.append(f"{bits}:{high:x}")
            high -= 1
        if low > high:
            break
        low, high = low >> _STEP_BITS, high >> _STEP_BITS
    return steps


def own_token(name: str, value: str = "") -> str:
    """Return the term for a value of a filter that every list has. No option or detail has such a term."""
    return f"{_BETWEEN}{name}={value}"


def is_own_token(term: str) -> bool:
    return term.startswith(_BETWEEN)


def list_product_values(product: Product) -> Sequence[str]:
    """Return all values of a product's details and sold options, spelt as pages show them: `size=M`. Each has one spelling."""
    pairs = {
        *short_details(product),
        *(pair for each in product.variants if each.sold for pair in each.options.items()),
    }
    return sorted(
        {value_token(*each): f"{fold_name(each[0])}={each[1]}" for each in sorted(pairs)}.values()
    )


def short_details(product: Product) -> list[tuple[str, str]]:
    """Return the details that can be filters: longer texts are no values that products share."""
    return [each for each in product.details.items() if len(each[1]) <= MAX_VALUE_LENGTH]

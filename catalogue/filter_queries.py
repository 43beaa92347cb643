"""The search index's query for a selection of filters (decision 081)."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from itertools import combinations, product
from typing import Any

import tantivy

from catalogue import filters, queries
from catalogue.entities import NEW_FOR
from catalogue.filter_tokens import (
    IN_STOCK,
    ON_SALE,
    combine,
    cover_prices,
    value_token,
    with_price,
)
from catalogue.filters import PriceRange, Selection, price_in_minor_units
from catalogue.index_documents import brand_token, make_schema, to_milliseconds
from catalogue.index_queries import all_of, any_of, in_category, one_of

# The schema of every index that is read.
SCHEMA = make_schema()
_INTEGER = tantivy.FieldType.Integer
MARKS_OF_VARIANTS = {filters.STOCK: IN_STOCK, filters.SALE: ON_SALE}


def selection_query(selection: Selection, now: datetime) -> Any:
    """Return the query for the products of which one variant satisfies the whole selection."""
    wanted = [
        _PRODUCT_QUERIES[name](values, now)
        for name, values in selection.values
        if name in _PRODUCT_QUERIES
    ]
    # The counts beside most filters have the same variants.
    return all_of([*wanted, *_variant_queries(selection.about_variants)])


def _in_categories(slugs: Sequence[str], _now: datetime) -> Any:
    nodes = queries.get_category_tree().by_slug
    return any_of([in_category(SCHEMA, nodes.get(slug)) for slug in slugs])


def _of_brands(brands: Sequence[str], _now: datetime) -> Any:
    return one_of(SCHEMA, "brand_exact", [brand_token(each) for each in brands])


def _with_stars(stars: Sequence[str], _now: datetime) -> Any:
    # Products with at least the lowest chosen rating; another text than a number finds nothing.
    least = min((int(each) for each in stars if each.isdecimal() and len(each) == 1), default=9)
    return tantivy.Query.range_query(SCHEMA, "stars", _INTEGER, lower_bound=least)


def _is_new(_values: Sequence[str], now: datetime) -> Any:
    since = to_milliseconds(now - NEW_FOR)
    return tantivy.Query.range_query(
        SCHEMA, "created", _INTEGER, lower_bound=since, include_lower=False
    )


def _is_bestseller(_values: Sequence[str], _now: datetime) -> Any:
    return tantivy.Query.term_query(SCHEMA, "marks", "bestseller")


_PRODUCT_QUERIES = {
    filters.CATEGORY: _in_categories,
    filters.BRAND: _of_brands,
    filters.RATING: _with_stars,
    filters.NEW: _is_new,
    filters.BESTSELLER: _is_bestseller,
}


@lru_cache(maxsize=64)
def _variant_queries(selection: Selection) -> list[Any]:
    """Return the queries for the filters that one variant satisfies together. A detail holds for all variants of its product."""
    marks = [[token] for name, token in MARKS_OF_VARIANTS.items() if selection.get(name)]
    if not selection.options:
        return _combined(marks, selection.price)
    tokens = {
        name: [value_token(name, value) for value in values]
        for name, values in selection.options.items()
    }
    # A name can be an option of one product and a detail of another.
    return [
        any_of(
            [
                all_of(
                    [
                        *(one_of(SCHEMA, "detail", tokens[name]) for name in details),
                        *_combined([*options, *marks], selection.price),
                    ]
                )
                for details, options in _split(tokens)
            ]
        )
    ]


def _split(tokens: Mapping[str, list[str]]) -> Iterator[tuple[tuple[str, ...], list[list[str]]]]:
    """Yield each way to split the filters: the names of those that are details, and the tokens of those that are options."""
    for count in range(len(tokens) + 1):
        for details in combinations(tokens, count):
            yield details, [each for name, each in tokens.items() if name not in details]


def _combined(groups: list[list[str]], price: PriceRange | None) -> list[Any]:
    """Return the queries for a variant with a token of each group and a price in the range."""
    chosen = [combine(each) for each in product(*groups)]
    together = [one_of(SCHEMA, "combination", chosen)] if groups else []
    if price is None:
        return together
    low, high = price_in_minor_units(price)
    within = tantivy.Query.range_query(SCHEMA, "price", _INTEGER, low, high)
    several = tantivy.Query.term_query(SCHEMA, "marks", "several-prices")
    steps = cover_prices(low, high)
    priced = one_of(
        SCHEMA, "combination", [with_price(term, step) for term in chosen for step in steps]
    )
    single = tantivy.Query.boolean_query(
        [(tantivy.Occur.Must, each) for each in (within, *together)]
        + [(tantivy.Occur.MustNot, several)]
    )
    return [any_of([single, priced])]

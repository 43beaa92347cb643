"""The filters of a list, with exact counts: how many products each value would leave if it alone were chosen in its filter.

The values of a filter come from the whole list, so a value that leaves nothing stays visible. At a million products a count takes
0.1 to 2 ms, and the values of a filter 1 to 8 ms (benchmarks.search).
"""

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from cassandra_db import current_time
from catalogue import filters, queries
from catalogue.colours import FAMILY_LABELS
from catalogue.entities import CategoryNode
from catalogue.filter_queries import selection_query
from catalogue.filter_settings import COLOUR, SIZE, FilterName
from catalogue.filters import NOTHING_CHOSEN, Selection
from catalogue.index_documents import brand_token
from catalogue.index_queries import all_of, count, on_sale
from catalogue.search_index import READER
from catalogue.words import fold_text

# How many values of a filter a page shows at first, and on request.
FEW_VALUES, MANY_VALUES = 20, 500
# A list of more than one in this many products is large.
_FEW_IN = 20
# The values of the filters that do not come from products.
_FIXED_VALUES: dict[str, Sequence[str]] = {
    filters.COLOUR: tuple(FAMILY_LABELS),
    filters.RATING: ("4", "3", "2", "1"),
    **dict.fromkeys(filters.MARKS, (filters.YES,)),
}


@dataclass(frozen=True)
class Scope:
    """The products that a list has before any filter. `key` names them; counts of a list without words are kept by it."""

    key: tuple[Hashable, ...]
    query: Any
    category: CategoryNode | None = None  # the list's own category
    is_kept: bool = True
    colours: tuple[str, ...] = ()  # families that cards show, unless other colours are chosen


@dataclass(frozen=True)
class FacetValue:
    """A value of a filter. `count` is how many products the list would have with this value alone in its filter."""

    value: str
    label: str
    count: int
    is_chosen: bool


@dataclass(frozen=True)
class Facet:
    """A filter with its values. `has_more` says whether the list has further values."""

    name: str
    values: tuple[FacetValue, ...]
    has_more: bool = False


@dataclass(frozen=True)
class FoundFacets:
    """The filters of a list. They are the key of a cached part of its page, so the hash of their many values is kept."""

    facets: tuple[Facet, ...]
    total: int  # with the whole selection

    @cached_property
    def _hash(self) -> int:
        return hash((self.facets, self.total))

    def __hash__(self) -> int:
        return self._hash


def find_facets(
    scope: Scope, selection: Selection, names: Sequence[FilterName], opened: str = ""
) -> FoundFacets:
    """Return the filters of a list. `names` are options and details; the filter `opened` has MANY_VALUES.

    Raises SearchIndexMissing, CassandraUnavailable.
    """
    if selection or opened:
        return _find_facets(scope, selection, names, opened)
    key = (scope.key, "facets", tuple(names))
    keep = READER.keep if scope.is_kept else READER.recall
    return keep(key, lambda: _find_facets(scope, selection, names, opened))


def _find_facets(
    scope: Scope, selection: Selection, names: Sequence[FilterName], opened: str
) -> FoundFacets:
    schema, searcher = READER.searcher()
    counter = _FacetCounter(schema, searcher, scope, selection, current_time())
    has_colours = any(each.kind == COLOUR for each in names)
    kinds = {each.key: each.kind for each in names if each.kind != COLOUR}
    own = [filters.BRAND, filters.RATING, *filters.MARKS]
    found = []
    for name in [filters.CATEGORY, *([filters.COLOUR] if has_colours else []), *kinds, *own]:
        values = counter.list_values(name)
        most = MANY_VALUES if name == opened else FEW_VALUES
        chosen = set(selection.get(name))
        kept = values[:most] + [each for each in values[most:] if each[0] in chosen]
        known = {value for value, _ in kept}
        kept += [(each, each) for each in sorted(chosen - known)]
        if kinds.get(name) == SIZE:
            kept.sort(key=lambda each: size_key(each[0]))
        if kept:
            counts = counter.count_each(name, [value for value, _ in kept])
            shown = tuple(
                FacetValue(value, label, counts[value], value in chosen) for value, label in kept
            )
            found.append(Facet(name, shown, len(values) > most))
    return FoundFacets(tuple(found), counter.total)


class _FacetCounter:
    """Counts the products of a scope for a selection."""

    def __init__(
        self, schema: Any, searcher: Any, scope: Scope, selection: Selection, now: datetime
    ) -> None:
        self._schema, self._searcher, self._now = schema, searcher, now
        self._scope, self._selection = scope, selection
        self._base = all_of([scope.query, on_sale(schema, now)])

    @cached_property
    def total(self) -> int:
        return self._count(self._selection)

    def count_each(self, name: str, values: Sequence[str]) -> dict[str, int]:
        """Return for each value how many products the list would have with this value alone in its filter."""
        if name == filters.BRAND and self._has_many_products():
            return self._count_brands(values)
        return {each: self._count(self._selection.with_values(name, [each])) for each in values}

    def _has_many_products(self) -> bool:
        """Return whether one walk through all brands takes less time than a count for each."""
        return bool(self.total * _FEW_IN > self._searcher.num_docs)

    def _count_brands(self, values: Sequence[str]) -> dict[str, int]:
        selection = self._selection.with_values(filters.BRAND, [])
        chosen = [selection_query(self._schema, selection, self._now)] if selection else []
        # A product has one brand, so the counts of its spellings can be added.
        counts: Counter[str] = Counter()
        wanted = all_of([*chosen, self._base])
        for spelling, number in self._searcher.terms_with_prefix("brand_name", "", wanted):
            counts[brand_token(spelling)] += number
        return {each: counts[brand_token(each)] for each in values}

    def _count(self, selection: Selection) -> int:
        def find() -> int:
            if not selection:
                return count(self._searcher, self._base)
            wanted = selection_query(self._schema, selection, self._now)
            return count(self._searcher, all_of([wanted, self._base]))

        # The counts of a list without a selection are asked by every visitor.
        return self._keep((selection,), find) if not self._selection else find()

    def _those_there(self, name: str, values: list[tuple[str, str]]) -> list[tuple[str, str]]:
        """Return the values that a product of the list without any filter has."""
        return [each for each in values if self._count(NOTHING_CHOSEN.with_values(name, [each[0]]))]

    def list_values(self, name: str) -> list[tuple[str, str]]:
        """Return the values of a filter in the list without any filter, each with its label: the most frequent first."""
        found: list[tuple[str, str]] = self._keep(("values", name), lambda: self._find_values(name))
        return found

    def _keep(self, key: tuple[Hashable, ...], find: Callable[[], Any]) -> Any:
        return READER.keep((self._scope.key, *key), find) if self._scope.is_kept else find()

    def _find_values(self, name: str) -> list[tuple[str, str]]:
        if name == filters.CATEGORY:
            nodes = (
                self._scope.category.children
                if self._scope.category
                else queries.get_category_tree().roots
            )
            return self._those_there(name, [(node.slug, node.name) for node in nodes])
        if name in _FIXED_VALUES:
            return self._those_there(name, [(each, each) for each in _FIXED_VALUES[name]])
        if name == filters.BRAND:
            return _fold(self._terms("brand_name", ""))
        return _fold(self._terms("value", f"{name}="))

    def _terms(self, field: str, prefix: str) -> list[tuple[str, int]]:
        found = self._searcher.terms_with_prefix(field, prefix, self._base, MANY_VALUES)
        return [(term.removeprefix(prefix), number) for term, number in found if number]


def _fold(found: Iterable[tuple[str, int]]) -> list[tuple[str, str]]:
    """Return the values folded, with the most frequent spelling of each."""
    labels: dict[str, str] = {}
    for label, _ in found:
        labels.setdefault(fold_text(label), label)
    return list(labels.items())


_LETTER_SIZES = ("xxs", "xs", "s", "m", "l", "xl", "xxl", "xxxl", "one size")


def size_key(size: str) -> tuple[int, float, str]:
    """Return a key that sorts folded sizes from small to large: letters, then numbers, then other words."""
    if size in _LETTER_SIZES:
        return 0, _LETTER_SIZES.index(size), size
    number = re.match(r"\d+(?:[.,]\d+)?", size)
    return (1, float(number[0].replace(",", ".")), size) if number else (2, 0, size)

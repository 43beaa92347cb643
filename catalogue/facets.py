"""The filters of a list, with exact counts: how many products each value would leave if it alone were chosen in its filter.

The values of a filter come from the whole list, so a value that leaves nothing stays visible. At a million products a count takes
0.1 to 2 ms, and the values of a filter 1 to 8 ms (benchmarks.search).
"""

import re
from collections import defaultdict
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
from catalogue.filter_tokens import own_token
from catalogue.filters import NOTHING_CHOSEN, Selection
from catalogue.index_documents import brand_token
from catalogue.index_queries import all_of, count, on_sale
from catalogue.search_index import READER, OpenedIndex
from catalogue.words import fold_text

# How many values of a filter a page shows at first, and on request.
FEW_VALUES, MANY_VALUES = 20, 200
_MOST_WALKED = 10_000
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
class ListValue:
    """A value that products of a list without any filter have, and how many."""

    value: str
    label: str
    count: int


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
    # One state of the index for all counts of a page: what is kept in it was counted in it.
    state = READER.opened()
    if selection or opened:
        return _find_facets(state, scope, selection, names, opened)
    key = (scope.key, "facets", tuple(names))
    keep = state.keep if scope.is_kept else READER.recall
    return keep(key, lambda: _find_facets(state, scope, selection, names, opened))


def _find_facets(
    state: OpenedIndex, scope: Scope, selection: Selection, names: Sequence[FilterName], opened: str
) -> FoundFacets:
    has_colours = any(each.kind == COLOUR for each in names)
    kinds = {each.key: each.kind for each in names if each.kind != COLOUR}
    counter = _FacetCounter(state, scope, selection, tuple(kinds), current_time())
    own = [filters.BRAND, filters.RATING, *filters.MARKS]
    found = []
    for name in [filters.CATEGORY, *([filters.COLOUR] if has_colours else []), *kinds, *own]:
        values = [(each.value, each.label) for each in counter.list_values(name)]
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
        self,
        state: OpenedIndex,
        scope: Scope,
        selection: Selection,
        names: Sequence[str],
        now: datetime,
    ) -> None:
        self._state, self._searcher = state, state.searcher
        self._scope, self._selection, self._names, self._now = scope, selection, names, now
        self._base = all_of([scope.query, on_sale(state.schema, now)])

    @cached_property
    def total(self) -> int:
        return self._count(self._selection)

    def count_each(self, name: str, values: Sequence[str]) -> dict[str, int]:
        """Return for each value how many products the list would have with this value alone in its filter."""
        if not self._selection:
            found = {each.value: each.count for each in self.list_values(name)}
            return {each: found.get(each, 0) for each in values}
        if name == filters.BRAND and self._has_many_products():
            chosen = self._selection.with_values(name, [])
            found = {
                each.value: each.count for each in _fold(self._walk_brands(chosen), brand_token)
            }
            return {each: found.get(each, 0) for each in values}
        return {each: self._count(self._selection.with_values(name, [each])) for each in values}

    def _has_many_products(self) -> bool:
        """Return whether one walk through all brands takes less time than a count for each."""
        return bool(self.total * _FEW_IN > self._searcher.num_docs)

    def _walk_brands(self, selection: Selection) -> list[tuple[str, int]]:
        prefix = own_token(filters.BRAND)
        found = self._walk(prefix, self._select(selection))
        return [(term.removeprefix(prefix), number) for term, number in found]

    def _select(self, selection: Selection) -> Any:
        if not selection:
            return self._base
        return all_of([selection_query(selection, self._now), self._base])

    def _count(self, selection: Selection) -> int:
        return count(self._searcher, self._select(selection))

    def list_values(self, name: str) -> list[ListValue]:
        """Return the values of a filter that products of the list without any filter have: the most frequent first."""
        return self._values[name]

    @cached_property
    def _values(self) -> dict[str, list[ListValue]]:
        keep = self._state.keep if self._scope.is_kept else READER.recall
        return keep((self._scope.key, "values", self._names), self._find_values)

    def _find_values(self) -> dict[str, list[ListValue]]:
        """Count the values of all filters in one walk through the index's terms."""
        terms = self._walk("", self._base, _MOST_WALKED)
        if len(terms) >= _MOST_WALKED:
            # Rare values of a filter may be missing.
            prefixes = [*map(own_token, filters.OWN_FILTERS), *(f"{each}=" for each in self._names)]
            terms = [each for prefix in prefixes for each in self._walk(prefix, self._base)]
        walked: dict[str, list[tuple[str, int]]] = defaultdict(list)
        for term, number in terms:
            name, _, value = term.partition("=")
            walked[f"{name}="].append((value, number))
        own = {each: walked[own_token(each)] for each in filters.OWN_FILTERS}
        new = self._count(NOTHING_CHOSEN.with_values(filters.NEW, [filters.YES]))
        own[filters.NEW] = [(filters.YES, new)]
        stars = own[filters.RATING]
        own[filters.RATING] = [
            (least, sum(number for value, number in stars if value >= least))
            for least in _FIXED_VALUES[filters.RATING]
        ]
        found = {each: _fold(walked[f"{each}="]) for each in self._names}
        for name, values in _FIXED_VALUES.items():
            numbers = dict(own[name])
            found[name] = [
                ListValue(each, each, numbers[each]) for each in values if numbers.get(each)
            ]
        found[filters.BRAND] = _fold(own[filters.BRAND], brand_token)
        found[filters.CATEGORY] = self._fold_categories(own[filters.CATEGORY])
        return found

    def _walk(self, prefix: str, query: Any, most: int = MANY_VALUES) -> list[tuple[str, int]]:
        found = self._searcher.terms_with_prefix("value", prefix, query, most)
        return [each for each in found if each[1]]

    def _fold_categories(self, found: list[tuple[str, int]]) -> list[ListValue]:
        """Return the categories below the list's own, or the top ones. A product counts once, whatever its categories."""
        above = self._scope.category
        nodes = above.children if above else queries.get_category_tree().roots
        sets = [(frozenset(ids.split()), number) for ids, number in found]
        values = []
        for node in nodes:
            below = {each.category_id.hex for each in node.subtree}
            total = sum(number for ids, number in sets if not below.isdisjoint(ids))
            values.append(ListValue(node.slug, node.name, total))
        return [each for each in values if each.count]


def _fold(
    found: Iterable[tuple[str, int]], fold: Callable[[str], str] = fold_text
) -> list[ListValue]:
    """Return the values, folded, each with its most frequent spelling. What folds to nothing is left out."""
    spellings: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for label, number in found:
        spellings[fold(label)].append((label, number))
    folded = [
        ListValue(value, each[0][0], sum(number for _, number in each))
        for value, each in spellings.items()
        if value
    ]
    return sorted(folded, key=lambda each: -each.count)


_LETTER_SIZES = ("xxs", "xs", "s", "m", "l", "xl", "xxl", "xxxl", "one size")


def size_key(size: str) -> tuple[int, float, str]:
    """Return a key that sorts folded sizes from small to large: letters, then numbers, then other words."""
    if size in _LETTER_SIZES:
        return 0, _LETTER_SIZES.index(size), size
    number = re.match(r"\d+(?:[.,]\d+)?", size)
    return (1, float(number[0].replace(",", ".")), size) if number else (2, 0, size)

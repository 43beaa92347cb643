"""The filters of a list, with exact counts: how many products each value would leave if it alone were chosen in its filter.

The values of a filter come from the whole list, so a value that leaves nothing stays visible. At a million products a count takes
some 0.1 ms, and the values of a filter some 3 ms (benchmarks.search).
"""

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from cassandra_db import current_time
from catalogue import filters, queries
from catalogue.entities import CategoryNode
from catalogue.filter_queries import selection_query
from catalogue.filters import Selection
from catalogue.index_queries import all_of, count, on_sale
from catalogue.search_index import READER
from catalogue.words import fold_text

# How many values of a filter a page shows at first, and on request.
FEW_VALUES, MANY_VALUES = 20, 500
LOWEST_RATINGS = ("4", "3", "2", "1")


@dataclass(frozen=True)
class Scope:
    """The products that a list has before any filter. `key` names them; counts of a list without words are kept by it."""

    key: tuple[Hashable, ...]
    query: Any
    category: CategoryNode | None = None  # the list's own category
    is_kept: bool = True


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
    facets: tuple[Facet, ...]
    total: int  # with the whole selection


def find_facets(
    scope: Scope, selection: Selection, names: Sequence[str], opened: Collection[str] = ()
) -> FoundFacets:
    """Return the filters of a list. `names` are the folded names of options and details; `opened` have MANY_VALUES.

    Raises SearchIndexMissing.
    """
    schema, searcher = READER.searcher()
    counter = _Counter(schema, searcher, scope, selection, current_time())
    order = [
        filters.CATEGORY,
        filters.COLOUR,
        *names,
        filters.BRAND,
        filters.RATING,
        *filters.MARKS,
    ]
    found = []
    for name in order:
        values = counter.list_values(name)
        most = MANY_VALUES if name in opened else FEW_VALUES
        chosen = set(selection.get(name))
        kept = values[:most] + [each for each in values[most:] if each[0] in chosen]
        known = {value for value, _ in kept}
        kept += [(each, each) for each in sorted(chosen - known)]
        if kept:
            shown = tuple(
                FacetValue(value, label, counter.count(name, value), value in chosen)
                for value, label in kept
            )
            found.append(Facet(name, shown, len(values) > most))
    return FoundFacets(tuple(found), counter.total())


class _Counter:
    """Counts the products of a scope for a selection."""

    def __init__(
        self, schema: Any, searcher: Any, scope: Scope, selection: Selection, now: datetime
    ) -> None:
        self._schema, self._searcher, self._now = schema, searcher, now
        self._scope, self._selection = scope, selection
        self._base = all_of([scope.query, on_sale(schema, now)])

    def total(self) -> int:
        return self._count(self._selection)

    def count(self, name: str, value: str) -> int:
        """Return how many products the list would have with this value alone in its filter."""
        return self._count(self._selection.with_values(name, [value]))

    def _count(self, selection: Selection) -> int:
        def find() -> int:
            if not selection:
                return count(self._searcher, self._base)
            wanted = selection_query(self._schema, selection, self._now)
            return count(self._searcher, all_of([wanted, self._base]))

        # The counts of a list without a selection are asked by every visitor.
        return self._keep((selection,), find) if not self._selection else find()

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
            return [(node.slug, node.name) for node in nodes]
        if name == filters.RATING:
            return [(each, each) for each in LOWEST_RATINGS]
        if name in filters.MARKS:
            return [(filters.YES, filters.YES)]
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

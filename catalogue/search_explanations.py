"""Why the first results of a search are where they are: the points of each word in each field of a product."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.utils.translation import gettext_lazy as _

from catalogue.entities import ProductCard
from catalogue.index_documents import unpack_card
from catalogue.index_queries import all_of, one_of
from catalogue.search import MATCHES, SYNONYM_BOOST, QueryBuilder, product_query, read_query
from catalogue.search_index import READER
from web.types import StrOrPromise

EXPLAINED = 10
FIELD_LABELS: dict[str, StrOrPromise] = {
    "name": _("Name"),
    "kind": _("Category"),
    "brand": _("Brand"),
    "sku": _("SKU"),
    "options": _("Options"),
    "text": _("Description, details, tags"),
}


@dataclass(frozen=True)
class Reason:
    """What a word adds to a product's score. `how` is one of catalogue.search.MATCHES; `synonym_of` are typed words."""

    points: float
    how: str
    field: str
    word: str
    synonym_of: str = ""

    @property
    def label(self) -> StrOrPromise:
        return FIELD_LABELS[self.field]


@dataclass(frozen=True)
class ExplainedResult:
    """A result of a search. Its score is the sum of the points of its reasons, of which the strongest comes first."""

    card: ProductCard
    score: float
    reasons: tuple[Reason, ...]


# The reasons of products, by their documents in the index: segment, and number in it.
_Reasons = dict[tuple[int, int], list[Reason]]


class _ReasonBuilder(QueryBuilder):
    """Makes of the parts of a search what each adds to the score of some products. A part without a product has no key."""

    def __init__(self, searcher: Any, among: Any) -> None:
        self._searcher, self._among = searcher, among

    def any_of(self, parts: list[_Reasons]) -> _Reasons:
        joined: _Reasons = defaultdict(list)
        for part in parts:
            for key, reasons in part.items():
                joined[key] += reasons
        return joined

    def all_of(self, parts: list[_Reasons]) -> _Reasons:
        matched = self.any_of(parts)
        return {key: matched[key] for key in matched if all(key in part for part in parts)}

    def restrict(self, query: Any) -> _Reasons:
        wanted = all_of([query, self._among])
        hits = self._searcher.search(wanted, limit=EXPLAINED).hits
        return {_key(address): [] for _score, address in hits}

    def match(self, query: Any, points: float, how: str, field: str, word: str) -> _Reasons:
        return {key: [Reason(points, how, field, word)] for key in self.restrict(query)}

    def synonym(self, part: _Reasons, phrase: Sequence[str]) -> _Reasons:
        return {
            key: [
                replace(each, points=each.points * SYNONYM_BOOST, synonym_of=" ".join(phrase))
                for each in reasons
            ]
            for key, reasons in part.items()
        }


def explain_search(query: str) -> list[ExplainedResult]:
    """Return the first EXPLAINED results, best match first, and why. Raises SearchIndexMissing, CassandraUnavailable.

    Each part of the search is asked for these results alone: several hundred short searches at most.
    """
    schema, searcher = READER.searcher()
    if (asked := read_query(query)).is_empty:
        return []
    hits = searcher.search(product_query(schema, asked), limit=EXPLAINED).hits
    documents = [searcher.doc(address) for _score, address in hits]
    among = one_of(schema, "id", [each["id"][0] for each in documents])
    reasons = product_query(schema, asked, _ReasonBuilder(searcher, among))
    return [
        ExplainedResult(unpack_card(document["card"][0]), score, _sum_up(reasons[_key(address)]))
        for (score, address), document in zip(hits, documents, strict=True)
    ]


def _key(address: Any) -> tuple[int, int]:
    return address.segment_ord, address.doc


def _sum_up(reasons: list[Reason]) -> tuple[Reason, ...]:
    """Return one reason for each word and field: the closest match, with the points of all matches."""
    closest: dict[object, Reason] = {}
    for each in sorted(reasons, key=lambda reason: MATCHES.index(reason.how)):
        key = each.field, each.word, each.synonym_of
        former = closest.get(key)
        closest[key] = replace(former, points=former.points + each.points) if former else each
    return tuple(sorted(closest.values(), key=lambda reason: -reason.points))

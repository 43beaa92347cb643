"""The shoppers' search by words (Q3), and the lists and counts from the search index: deals, new arrivals, products on sale."""

from datetime import datetime
from difflib import get_close_matches
from typing import Any

import tantivy
from django.utils.translation import gettext_lazy as _

from cassandra_db import current_time
from catalogue import queries
from catalogue.entities import NEW_FOR, CategoryNode
from catalogue.search_index import BOOSTS, READER, SearchResult, to_milliseconds, unpack_card
from catalogue.words import split_words, word_forms

MAX_QUERY_LENGTH = 100
MAX_WORDS = 8
# No name has a longer word, and tantivy refuses to search for very long beginnings of words.
MAX_WORD_LENGTH = 40
DEEPEST = 1000
_TYPO_FROM_LETTERS = 5
# Forgiving typos takes most of the time. So a search forgives them in this many words; words that no product's name has come
# first.
MAX_FORGIVEN = 3
# How many similar queries are tried if nothing was found.
_MAX_NEAR_QUERIES = 8
SORTS = {
    "best": ("", True),
    "newest": ("created", True),
    "price": ("price", False),
    "price-down": ("price", True),
    "popular": ("popularity", True),
    "rating": ("rating", True),
}
SORT_LABELS = (
    ("best", _("Best match")),
    ("newest", _("Newest first")),
    ("price", _("Price: low to high")),
    ("price-down", _("Price: high to low")),
    ("popular", _("Most popular")),
    ("rating", _("Best rated")),
)
# The sort orders that shoppers can choose for deals; by default the largest discount comes first.
DEAL_SORTS = {
    "discount": ("discount", True),
    "newest": ("created", True),
    "price": ("price", False),
    "price-down": ("price", True),
    "popular": ("popularity", True),
}
DEAL_SORT_LABELS = (
    ("discount", _("Biggest discount")),
    *((name, label) for name, label in SORT_LABELS if name not in ("best", "rating")),
)
# New arrivals are the products of the last days (NEW_FOR). If there are fewer than this, older products fill the list.
MIN_NEW_ARRIVALS = 24


def search_products(
    query: str, limit: int = queries.PAGE_LENGTH, offset: int = 0, sort: str = "best"
) -> SearchResult:
    """Return at most `limit` cards of products that have all words of the query, from `offset` on. `sort` is a key of SORTS.

    Case, accents, plurals and hyphens do not matter. The last word may be the beginning of a word. Up to MAX_FORGIVEN words of at
    least five letters may have one typo each. Raises SearchIndexMissing.
    """
    words, limit = query_words(query), min(limit, DEEPEST - offset)
    if not words or limit < 1:
        READER.searcher()
        return SearchResult((), 0)

    def find(schema: Any, searcher: Any) -> SearchResult:
        wanted = all_of([_query(schema, words), _on_sale(schema, current_time())])
        return _list(searcher, wanted, SORTS[sort], limit, offset)

    return READER.recall((*words, limit, offset, sort), find)


def list_deals(sort: str, limit: int, offset: int) -> SearchResult:
    """Return at most `limit` reduced products in stock, from `offset` on. `sort` is a key of DEAL_SORTS. Raises SearchIndexMissing."""
    schema, searcher = READER.searcher()
    reduced = tantivy.Query.term_query(schema, "marks", "deal")
    wanted = all_of([reduced, _in_stock(schema)])
    return _list(searcher, wanted, DEAL_SORTS[sort], limit, offset)


def list_new_arrivals(limit: int, offset: int) -> SearchResult:
    """Return at most `limit` new arrivals in stock, the newest first, from `offset` on. Raises SearchIndexMissing."""
    schema, searcher = READER.searcher()
    wanted, since = _in_stock(schema), to_milliseconds(current_time() - NEW_FOR)
    new = tantivy.Query.range_query(schema, "created", tantivy.FieldType.Integer, lower_bound=since)
    new_count = searcher.search(all_of([wanted, new]), limit=1, count=True).count
    found = _list(searcher, wanted, SORTS["newest"], limit, offset)
    total = min(found.total, max(new_count, MIN_NEW_ARRIVALS))
    return SearchResult(found.cards[: max(0, total - offset)], total)


def _list(
    searcher: Any, wanted: Any, sort: tuple[str, bool], limit: int, offset: int
) -> SearchResult:
    if (limit := min(limit, DEEPEST - offset)) < 1:
        return SearchResult((), 0)
    field, down = sort
    order = (
        {"order_by_field": field, "order": tantivy.Order.Desc if down else tantivy.Order.Asc}
        if field
        else {}
    )
    result = searcher.search(wanted, limit=limit, offset=offset, count=True, **order)
    found = (searcher.doc(address) for _, address in result.hits)
    return SearchResult(tuple(unpack_card(document["card"][0]) for document in found), result.count)


def count_on_sale_in(node: CategoryNode) -> int:
    """Return how many products a category's list has, except changes of the last seconds. Raises SearchIndexMissing."""
    schema, searcher, counts = READER.searcher_and_counts()
    # The key has the categories below, too: the tree may change while the index stays.
    key = frozenset(each.category_id for each in node.subtree)
    if key not in counts:
        wanted = all_of([in_category(schema, node), _on_sale(schema, current_time())])
        counts[key] = searcher.search(wanted, limit=1, count=True).count
    return counts[key]


def in_category(schema: Any, node: CategoryNode | None) -> Any:
    # The index stores only a product's own categories. The present tree tells which categories are above them.
    ids = [each.category_id.hex for each in node.subtree] if node else []
    return tantivy.Query.term_set_query(schema, "category", ids)


def _on_sale(schema: Any, now: datetime) -> Any:
    """Return the index query for products on sale at this moment. It does not change the ranking."""
    moment, integer = to_milliseconds(now), tantivy.FieldType.Integer
    on_sale = all_of(
        [
            tantivy.Query.term_query(schema, "marks", "sellable"),
            tantivy.Query.range_query(schema, "sale_from", integer, upper_bound=moment),
            tantivy.Query.range_query(
                schema, "sale_until", integer, lower_bound=moment, include_lower=False
            ),
        ]
    )
    return tantivy.Query.const_score_query(on_sale, 0.0)


def _in_stock(schema: Any) -> Any:
    """Return the index query for products on sale at this moment that are not sold out."""
    sold_out = tantivy.Query.term_query(schema, "availability", "out")
    return tantivy.Query.boolean_query(
        [(tantivy.Occur.Must, _on_sale(schema, current_time())), (tantivy.Occur.MustNot, sold_out)]
    )


def query_words(query: str) -> list[str]:
    return [word[:MAX_WORD_LENGTH] for word in split_words(query)[:MAX_WORDS]]


def _forgiven_words(words: list[str]) -> frozenset[str]:
    """Choose the words of a query in which a typo is forgiven; words that the index lacks are chosen first."""
    return frozenset(sorted(words, key=READER.known_words.__contains__)[:MAX_FORGIVEN])


def _query(schema: Any, words: list[str]) -> Any:
    """Return the index query for all words. Each word may have any form and be in any field; two neighbours may be joined."""
    alternatives = [_all_words(schema, words, words[-1], _forgiven_words(words))]
    for index in range(len(words) - 1):
        joined = [*words[:index], words[index] + words[index + 1], *words[index + 2 :]]
        # Each pair of neighbours can be joined, so in joined words typos are forgiven only if the query has two words.
        forgiven = frozenset(joined if len(words) == 2 else ())
        alternatives.append(_all_words(schema, joined, "", forgiven))
    return any_of(alternatives)


def _all_words(schema: Any, words: list[str], last: str, forgiven: frozenset[str]) -> Any:
    return all_of(
        [_word(schema, word, is_last=word == last, is_forgiven=word in forgiven) for word in words]
    )


def _word(schema: Any, word: str, *, is_last: bool, is_forgiven: bool) -> Any:
    found = []
    for field, boost in BOOSTS.items():
        for form in sorted(word_forms(word)):
            found.append(_weighed(tantivy.Query.term_query(schema, field, form), boost))
            if is_forgiven and len(form) >= _TYPO_FROM_LETTERS and field != "text":
                found.append(_weighed(_with_typo(schema, field, form), boost / 4))
        if is_last and len(word) > 1 and field != "text":
            begins = tantivy.Query.regex_query(schema, field, f"{word}.*")
            found.append(_weighed(begins, boost / 3))
    return any_of(found)


def _weighed(query: Any, boost: float) -> Any:
    return tantivy.Query.boost_query(tantivy.Query.const_score_query(query, 1.0), boost)


def _with_typo(schema: Any, field: str, form: str) -> Any:
    return tantivy.Query.fuzzy_term_query(
        schema, field, form, distance=1, transposition_cost_one=True
    )


def any_of(found: list[Any]) -> Any:
    return tantivy.Query.boolean_query([(tantivy.Occur.Should, each) for each in found])


def all_of(wanted: list[Any]) -> Any:
    return tantivy.Query.boolean_query([(tantivy.Occur.Must, each) for each in wanted])


def find_near_queries(query: str, most: int = 4) -> list[str]:
    """Return queries that find products, similar to one that finds none: other spellings, fewer words. Raises SearchIndexMissing."""
    schema, searcher = READER.searcher()
    words = query_words(query)
    spellings = {word: _spellings(word) for word in _forgiven_words(words)}
    respelt = [next(iter(spellings.get(word, ())), word) for word in words]
    tries = [respelt]
    if len(words) <= _MAX_NEAR_QUERIES // 2:
        tries += [respelt[:index] + respelt[index + 1 :] for index in range(len(words))]
    tries += [[word] for word in respelt]
    tries += [[near] for alike in spellings.values() for near in alike[1:]]
    candidates = list(dict.fromkeys(" ".join(each) for each in tries if each and each != words))
    return [
        each
        for each in candidates[:_MAX_NEAR_QUERIES]
        if _finds_something(schema, searcher, each.split())
    ][:most]


def _finds_something(schema: Any, searcher: Any, words: list[str]) -> bool:
    """Return whether a search for exactly these words finds a product."""
    written = _all_words(schema, words, words[-1], frozenset())
    wanted = all_of([written, _on_sale(schema, current_time())])
    return bool(searcher.search(wanted, limit=1, count=True).count)


def has_all_words(query: str) -> bool:
    """Return whether a product, on sale or not, has all words of a query as typed. Raises SearchIndexMissing."""
    schema, searcher = READER.searcher()
    words = split_words(query)
    # `query_words` would leave out words that count here.
    if not words or max(map(len, words)) > MAX_WORD_LENGTH:
        return False
    return bool(searcher.search(_all_words(schema, words, "", frozenset()), limit=1).hits)


def _spellings(word: str) -> list[str]:
    alike = [
        each for each in READER.vocabulary if abs(len(each) - len(word)) < 3 and each[0] == word[0]
    ]
    return get_close_matches(word, alike, n=3, cutoff=0.65)

"""The shoppers' search by words (Q3), and the lists and counts from the search index: deals, new arrivals, products on sale."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from difflib import get_close_matches
from functools import lru_cache
from typing import Any

import tantivy
from django.conf import settings
from django.utils.translation import gettext_lazy as _

from cassandra_db import current_time
from catalogue import queries
from catalogue.colours import family_of_hex, load_colour_names
from catalogue.entities import CategoryNode
from catalogue.facets import Scope
from catalogue.filter_queries import SCHEMA, selection_query
from catalogue.filtered_lists import DEEPEST, make_card
from catalogue.filters import COLOUR, NOTHING_CHOSEN, PriceRange, Selection
from catalogue.index_documents import BOOSTS, sku_token
from catalogue.index_queries import all_of, any_of, count, in_category, in_order, in_stock, on_sale
from catalogue.query_prices import QueryPrices, read_prices
from catalogue.search_index import READER, SearchResult
from catalogue.search_rules import MAX_PINNED, SearchRules, fold_query, get_search_rules
from catalogue.words import split_words, word_forms
from web.text import clean_text

MAX_QUERY_LENGTH = 100
MAX_WORDS = 8
# No name has a longer word, and tantivy refuses to search for very long beginnings of words.
MAX_WORD_LENGTH = 40
_TYPO_FROM_LETTERS = 5
# Forgiving typos takes most of the time. So a search forgives them in this many words; words that no product's name has come
# first.
MAX_FORGIVEN = 3
# A pinned product comes before all that was found by words.
_PINNED_BOOST = 10_000.0
SYNONYM_BOOST = 0.8
# How a product matches a word, the closest first: it has it, one that begins so, one with a typo, or a colour of its family.
# Staff have pinned it whatever it has.
HAS, BEGINS, TYPO, FAMILY, PINNED = MATCHES = ("has", "begins", "typo", "family", "pinned")
# How many similar queries are tried if nothing was found.
_MAX_NEAR_QUERIES = 8
SORTS = {
    "best": ("", True),
    "newest": ("by_created", True),
    "price": ("by_price", False),
    "price-down": ("by_price", True),
    "popular": ("by_popularity", True),
    "rating": ("by_rating", True),
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
    "discount": ("by_discount", True),
    "newest": ("by_created", True),
    "price": ("by_price", False),
    "price-down": ("by_price", True),
    "popular": ("by_popularity", True),
}
DEAL_SORT_LABELS = (
    ("discount", _("Biggest discount")),
    *((name, label) for name, label in SORT_LABELS if name not in ("best", "rating")),
)


def clean_query(text: str) -> str:
    """Return a typed query in the form in which it is shown and searched."""
    return " ".join(clean_text(text).split())[:MAX_QUERY_LENGTH]


def search_products(
    query: str, limit: int = queries.PAGE_LENGTH, offset: int = 0, sort: str = "best"
) -> SearchResult:
    """Return at most `limit` cards of products that have all words of the query, from `offset` on. `sort` is a key of SORTS.

    Case, accents, plurals and hyphens do not matter. The last word may be the beginning of a word. Up to MAX_FORGIVEN words of at
    least five letters may have one typo each. Raises SearchIndexMissing.
    """
    asked = read_query(query)
    if asked.is_empty:
        READER.searcher()
        return SearchResult((), 0)

    def find() -> SearchResult:
        _schema, searcher = READER.searcher()
        return _list(searcher, _recall_query(asked), SORTS[sort], limit, offset, asked.colours)

    return READER.recall((asked, limit, offset, sort), find)


@dataclass(frozen=True)
class ProductQuery:
    """What a typed query asks for: words, a price range, and the SKUs that staff have pinned to exactly this query."""

    words: tuple[str, ...]
    prices: QueryPrices
    pinned_skus: tuple[str, ...]
    rules: SearchRules

    @property
    def colours(self) -> tuple[str, ...]:
        """The families of the words that are names of colours."""
        names = load_colour_names()
        return tuple({family_of_hex(names[word]): None for word in self.words if word in names})

    @property
    def is_empty(self) -> bool:
        return not (self.words or self.pinned_skus or self.prices.text)


def read_query(query: str) -> ProductQuery:
    """Return what a typed query asks for. Raises SearchIndexMissing, CassandraUnavailable."""
    rules, prices = get_search_rules(), read_prices(query, settings.CURRENCY)
    # "socks 36-40": sizes that a product has are no prices.
    if prices.sizes and _has_option(prices.sizes):
        prices = QueryPrices(query)
    pinned = rules.pinned_skus.get(fold_query(query), ())
    return ProductQuery(tuple(query_words(prices.words)), prices, pinned, rules)


def _has_option(joined: str) -> bool:
    """Return whether a product has an option's value, or a name, with these two words side by side."""
    _schema, searcher = READER.searcher()
    return any(searcher.doc_freq(field, joined) for field in ("options", "name"))


class QueryBuilder:
    """Builds the index query of a search from its parts. Another builder makes something else of the same parts."""

    def any_of(self, parts: list[Any]) -> Any:
        return any_of(parts)

    def all_of(self, parts: list[Any]) -> Any:
        return all_of(parts)

    def restrict(self, query: Any) -> Any:
        """Return the part for an index query that does not change the ranking."""
        return query

    def match(self, query: Any, points: float, _how: str, _field: str, _word: str) -> Any:
        """Return the part that gives points to what an index query finds: how a word matches a field."""
        return tantivy.Query.boost_query(tantivy.Query.const_score_query(query, 1.0), points)

    def synonym(self, part: Any, _phrase: Sequence[str]) -> Any:
        """Return a synonym's part with fewer points than the phrase that was typed."""
        return tantivy.Query.boost_query(part, SYNONYM_BOOST)


QUERY_BUILDER = QueryBuilder()


def product_query(schema: Any, asked: ProductQuery, build: QueryBuilder = QUERY_BUILDER) -> Any:
    """Return the index query for the products on sale that a typed query asks for. Pinned products have the highest scores."""
    wanted = [words_query(schema, asked.words, asked.rules, build)] if asked.words else []
    if asked.prices.text:
        wanted.append(build.restrict(price_query(asked.prices.low, asked.prices.high)))
    found = [build.all_of(wanted)] if wanted else []
    for place, sku in enumerate(asked.pinned_skus):
        term = tantivy.Query.term_query(schema, "sku_exact", sku_token(sku))
        points = _PINNED_BOOST * (MAX_PINNED - place)
        found.append(build.match(term, points, PINNED, "sku", sku))
    return build.all_of([build.any_of(found), build.restrict(on_sale(schema, current_time()))])


def _recall_query(asked: ProductQuery) -> Any:
    """Return `product_query`, which a page needs for its list and for its filters. Raises SearchIndexMissing."""
    schema, _ = READER.searcher()
    return READER.recall(("query", asked), lambda: product_query(schema, asked))


def price_query(low: Decimal | None, high: Decimal | None) -> Any:
    """Return the index query for the products of which a variant has a price in a range. It does not change the ranking."""
    within = selection_query(Selection(price=PriceRange(low, high)), current_time())
    return tantivy.Query.const_score_query(within, 0.0)


def words_scope(query: str) -> Scope:
    """Return the products that a typed query asks for. Raises SearchIndexMissing, CassandraUnavailable."""
    asked = read_query(query)
    wanted = tantivy.Query.empty_query() if asked.is_empty else _recall_query(asked)
    return Scope(("words", asked), wanted, is_kept=False, colours=asked.colours)


def list_popular(limit: int) -> SearchResult:
    """Return the most popular products in stock. Raises SearchIndexMissing."""
    schema, searcher = READER.searcher()
    wanted = all_of([in_stock(schema), on_sale(schema, current_time())])
    return _list(searcher, wanted, SORTS["popular"], limit, 0)


def _list(
    searcher: Any,
    wanted: Any,
    sort: tuple[str, bool],
    limit: int,
    offset: int,
    colours: tuple[str, ...] = (),
) -> SearchResult:
    limit = min(limit, DEEPEST - offset)
    # tantivy reserves memory for all places before the offset, even if there are no such products.
    if limit < 1 or offset >= searcher.num_docs:
        return SearchResult((), count(searcher, wanted))
    result = searcher.search(wanted, limit=limit, offset=offset, count=True, **in_order(sort))
    # "blue mug" shows blue mugs.
    shown = NOTHING_CHOSEN.with_values(COLOUR, colours)
    found = (searcher.doc(address) for _, address in result.hits)
    return SearchResult(tuple(make_card(document, shown) for document in found), result.count)


def count_on_sale_in(node: CategoryNode) -> int:
    """Return how many products a category's list has, except changes of the last seconds. Raises SearchIndexMissing."""
    opened = READER.opened()

    def find() -> int:
        wanted = [in_category(opened.schema, node), on_sale(opened.schema, current_time())]
        return count(opened.searcher, all_of(wanted))

    # The key has the categories below, too: the tree may change while the index stays.
    return opened.keep(frozenset(each.category_id for each in node.subtree), find)


def query_words(query: str) -> list[str]:
    return [word[:MAX_WORD_LENGTH] for word in split_words(query)[:MAX_WORDS]]


def _forgiven_words(words: Sequence[str]) -> frozenset[str]:
    """Choose the words of a query in which a typo is forgiven; words that the index lacks are chosen first."""
    return frozenset(sorted(words, key=READER.known_words.__contains__)[:MAX_FORGIVEN])


def words_query(
    schema: Any, words: Sequence[str], rules: SearchRules, build: QueryBuilder = QUERY_BUILDER
) -> Any:
    """Return the index query for all words. Each word may have any form and be in any field; two neighbours may be joined.

    Instead of a phrase with synonyms, a product may have one of them, in any form but without typos.
    """
    forgiven, parts = _forgiven_words(words), list[Any]()
    for phrase, synonyms in rules.find_synonyms(words):
        typed = _all_words(schema, phrase, words[-1], forgiven, build)
        others = [_all_words(schema, each, "", frozenset(), build) for each in synonyms]
        # What was typed comes first.
        weaker = [build.synonym(each, phrase) for each in others]
        parts.append(build.any_of([typed, *weaker]) if weaker else typed)
    alternatives = [build.all_of(parts)]
    for index in range(len(words) - 1):
        joined = [*words[:index], words[index] + words[index + 1], *words[index + 2 :]]
        # Each pair of neighbours can be joined, so in joined words typos are forgiven only if the query has two words.
        forgiven = frozenset(joined if len(words) == 2 else ())
        alternatives.append(_all_words(schema, joined, "", forgiven, build))
    return build.any_of(alternatives)


def _all_words(
    schema: Any,
    words: Sequence[str],
    last: str = "",
    forgiven: frozenset[str] = frozenset(),
    build: QueryBuilder = QUERY_BUILDER,
) -> Any:
    return build.all_of(
        [
            _word(schema, build, word, is_last=word == last, is_forgiven=word in forgiven)
            for word in words
        ]
    )


def _word(schema: Any, build: QueryBuilder, word: str, *, is_last: bool, is_forgiven: bool) -> Any:
    found = []
    for field, boost in BOOSTS.items():
        for form in sorted(word_forms(word)):
            term = tantivy.Query.term_query(schema, field, form)
            found.append(build.match(term, boost, HAS, field, word))
            if is_forgiven and len(form) >= _TYPO_FROM_LETTERS and field != "text":
                typo = _with_typo(schema, field, form)
                found.append(build.match(typo, boost / 4, TYPO, field, word))
        if is_last and len(word) > 1 and field != "text":
            begins = _beginning(field, word)
            found.append(build.match(begins, boost / 3, BEGINS, field, word))
    # "navy" finds blue products, after those with a colour that is called so.
    if hex6 := load_colour_names().get(word):
        family = tantivy.Query.term_query(schema, "options", family_of_hex(hex6))
        found.append(build.match(family, BOOSTS["options"] / 4, FAMILY, "options", word))
    return build.any_of(found)


@lru_cache(4096)
def _beginning(field: str, word: str) -> Any:
    # To compile it takes a quarter of a millisecond, and a search asks for it several times.
    return tantivy.Query.regex_query(SCHEMA, field, f"{word}.*")


def _with_typo(schema: Any, field: str, form: str) -> Any:
    return tantivy.Query.fuzzy_term_query(
        schema, field, form, distance=1, transposition_cost_one=True
    )


def find_near_queries(query: str, most: int = 4, *, all_words: bool = False) -> list[str]:
    """Return queries that find products, similar to one that finds none: other spellings, fewer words.

    With `all_words`, return only other spellings of the whole query. Raises SearchIndexMissing, CassandraUnavailable.
    """
    schema, searcher = READER.searcher()
    words = list(read_query(query).words)
    spellings = {word: _spellings(word) for word in _forgiven_words(words)}
    respelt = [next(iter(spellings.get(word, ())), word) for word in words]
    tries = [respelt]
    if len(words) <= _MAX_NEAR_QUERIES // 2:
        tries += [respelt[:index] + respelt[index + 1 :] for index in range(len(words))]
    tries += [[word] for word in respelt]
    tries += [[near] for alike in spellings.values() for near in alike[1:]]
    if all_words:
        tries = [each for each in tries if len(each) == len(words)]
    candidates = list(dict.fromkeys(" ".join(each) for each in tries if each and each != words))
    return [
        each
        for each in candidates[:_MAX_NEAR_QUERIES]
        if _finds_something(schema, searcher, each.split())
    ][:most]


def _finds_something(schema: Any, searcher: Any, words: list[str]) -> bool:
    """Return whether a search for exactly these words finds a product."""
    written = _all_words(schema, words, words[-1])
    return count(searcher, all_of([written, on_sale(schema, current_time())])) > 0


def has_all_words(query: str) -> bool:
    """Return whether a product, on sale or not, has all words of a query as typed. Raises SearchIndexMissing."""
    schema, searcher = READER.searcher()
    words = split_words(query)
    # `query_words` would leave out words that count here.
    if not words or max(map(len, words)) > MAX_WORD_LENGTH:
        return False
    return bool(searcher.search(_all_words(schema, words), limit=1).hits)


def _spellings(word: str) -> list[str]:
    alike = [
        each for each in READER.vocabulary if abs(len(each) - len(word)) < 3 and each[0] == word[0]
    ]
    return get_close_matches(word, alike, n=3, cutoff=0.65)

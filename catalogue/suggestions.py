"""What the search field suggests while a shopper types: products, categories and brands, from the search index (Q3).

The last word is the beginning of a word. The index has the beginnings of words as terms of their own: a shop of a million products
has a hundred thousand words that begin with two letters. No typo is forgiven and nothing is ranked by score, which would take most
of the time: the most popular products come first (decision 085).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any

import tantivy

from cassandra_db import current_time
from catalogue import queries
from catalogue.entities import CategoryNode, ProductCard
from catalogue.filter_tokens import own_token
from catalogue.filtered_lists import make_card
from catalogue.filters import BRAND, COLOUR, NOTHING_CHOSEN
from catalogue.index_documents import BOOSTS, MAX_BEGINNING, brand_token, sku_token
from catalogue.index_queries import all_of, any_of, count, in_order, on_sale
from catalogue.search import SORTS, ProductQuery, count_on_sale_in, price_query, read_query
from catalogue.search_index import READER, OpenedIndex
from catalogue.words import split_words, word_forms

MAX_PRODUCTS, MAX_CATEGORIES, MAX_BRANDS = 5, 3, 3
# The brands that are known by name: those with the most products. Their names are in memory until the index changes.
_KNOWN_BRANDS = 2_000
# Of so many names that fit, those with products are chosen.
_MAX_TRIED = 12
# To sort more products than this takes too long. Of a name's word bestsellers are tried first; of other words only bestsellers.
MAX_SORTED = 20_000


@dataclass(frozen=True)
class Suggestions:
    """What is suggested for typed words, the best first."""

    products: tuple[ProductCard, ...] = ()
    categories: tuple[CategoryNode, ...] = ()
    brands: tuple[str, ...] = ()


def find_suggestions(typed: str) -> Suggestions:
    """Return suggestions for typed words. Raises SearchIndexMissing, CassandraUnavailable."""
    asked, opened = read_query(typed), READER.opened()
    if not asked.words:
        return Suggestions()

    def find() -> Suggestions:
        categories = islice(_iterate_categories(asked.words), MAX_CATEGORIES)
        brands = islice(_iterate_brands(opened, asked.words), MAX_BRANDS)
        return Suggestions(_find_products(opened, asked), tuple(categories), tuple(brands))

    return READER.recall(("suggestions", asked), find)


def _find_products(opened: OpenedIndex, asked: ProductQuery) -> tuple[ProductCard, ...]:
    order, found = in_order(SORTS["popular"]), dict[Any, Any]()
    searchable = on_sale(opened.schema, current_time())
    for wanted in _product_queries(opened.schema, opened.searcher, asked):
        all_wanted = all_of([*wanted, searchable])
        hits = opened.searcher.search(all_wanted, limit=MAX_PRODUCTS, count=False, **order).hits
        found |= {(each.segment_ord, each.doc): each for _, each in hits}
        if len(found) >= MAX_PRODUCTS:
            break
    # "blue mug" shows blue mugs.
    shown = NOTHING_CHOSEN.with_values(COLOUR, asked.colours)
    some = islice(found.values(), MAX_PRODUCTS)
    return tuple(make_card(opened.searcher.doc(each), shown) for each in some)


def _product_queries(schema: Any, searcher: Any, asked: ProductQuery) -> Iterator[list[Any]]:
    """Yield the queries to try until enough products are found: pinned, by name, by brand or option, by words anywhere.

    Each is a list of queries that must hold together. Nested ones are dearer: tantivy looks for their first product at once.
    """
    for sku in asked.pinned_skus:
        yield [tantivy.Query.term_query(schema, "sku_exact", sku_token(sku))]
    *before, last = (_Terms(searcher, word) for word in asked.words)
    low, high = asked.prices.low, asked.prices.high
    prices = [price_query(low, high)] if asked.prices.text else []
    bestseller = tantivy.Query.term_query(schema, "marks", "bestseller")

    def is_broad(ending: _Terms) -> bool:
        # The rarest word bounds the work.
        return all(each.product_count > MAX_SORTED for each in (*before, ending))

    for field, whole in (("name_begins", ("name",)), ("begins", ("brand", "options"))):
        begun = _Terms(searcher, last.word, whole, field)
        wanted = [*(each.query(schema) for each in (begun, *before)), *prices]
        if is_broad(begun):
            yield [bestseller, *wanted]
        if not is_broad(begun) or field == "name_begins":
            yield wanted
    phrases = [
        any_of(
            [
                all_of([_Terms(searcher, word).query(schema) for word in each])
                for each in (phrase, *synonyms)
            ]
        )
        for phrase, synonyms in asked.rules.find_synonyms(asked.words)
    ]
    yield [*phrases, *prices, *([bestseller] if is_broad(last) else [])]


class _Terms:
    """The index's terms for a word in any form, or for words that begin so if there is a field of beginnings."""

    def __init__(
        self, searcher: Any, word: str, fields: Sequence[str] = tuple(BOOSTS), begins: str = ""
    ) -> None:
        self.word = word
        # What has a word in the plural is found by its singulars, too; only SKUs have no forms.
        singulars = word_forms(word) - {word}
        terms = [(field, form) for field in fields for form in singulars]
        if begins and len(word) <= MAX_BEGINNING:
            terms.append((begins, word))
        elif begins:
            # So long a beginning is that of few words.
            some = ((each, searcher.terms_with_prefix(each, word, None, 20)) for each in fields)
            terms += [(field, term) for field, found in some for term, _ in found]
        else:
            terms += [(field, word) for field in fields if not singulars or field == "sku"]
        counts = {each: searcher.doc_freq(*each) for each in terms}
        self.product_count: int = sum(counts.values())
        self._there = [each for each, count in counts.items() if count]

    def query(self, schema: Any) -> Any:
        return any_of([tantivy.Query.term_query(schema, *each) for each in self._there])


@lru_cache(4096)
def _fold_name(name: str) -> str:
    """Return a name's folded words, each after a blank."""
    return "".join(f" {word}" for word in split_words(name))


def _choose(names: Iterable[str], words: Sequence[str]) -> list[str]:
    """Return the names of which each typed word begins a word: those that begin so first."""
    begin = " " + " ".join(words)
    fitting = [each for each in names if all(f" {word}" in _fold_name(each) for word in words)]
    return sorted(fitting, key=lambda each: not _fold_name(each).startswith(begin))[:_MAX_TRIED]


def _iterate_categories(words: Sequence[str]) -> Iterator[CategoryNode]:
    """Yield the categories with products whose names fit, in the order of the menu."""
    nodes: dict[str, list[CategoryNode]] = {}
    for node in (each for root in queries.list_root_categories() for each in root.subtree):
        nodes.setdefault(node.name, []).append(node)
    fitting = [node for name in _choose(nodes, words) for node in nodes[name]]
    return (node for node in fitting[:_MAX_TRIED] if count_on_sale_in(node))


def _iterate_brands(opened: OpenedIndex, words: Sequence[str]) -> Iterator[str]:
    """Yield the brands with products on sale whose names fit, those with more products first."""
    searcher = opened.searcher

    def list_brands() -> list[str]:
        # Of several spellings the most frequent one is kept.
        prefix = own_token(BRAND)
        terms = searcher.terms_with_prefix("value", prefix, None, _KNOWN_BRANDS)
        names = [term.removeprefix(prefix) for term, _ in reversed(terms)]
        return list({_fold_name(name): name for name in names}.values())[::-1]

    for name in _choose(opened.keep("brands", list_brands), words):
        own = tantivy.Query.term_query(opened.schema, "brand_exact", brand_token(name))
        sold = all_of([own, on_sale(opened.schema, current_time())])
        if opened.keep(("brand", name), lambda: count(searcher, sold)):  # noqa: B023 called at once
            yield name

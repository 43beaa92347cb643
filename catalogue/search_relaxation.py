"""Which words a search leaves out if no product has all of them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from catalogue.index_documents import BOOSTS
from catalogue.index_queries import count
from catalogue.query_prices import QueryPrices
from catalogue.search import product_query, read_query
from catalogue.search_index import READER
from catalogue.words import word_forms

MAX_SHORTER = 3
_NO_PRICES = QueryPrices("")


@dataclass(frozen=True)
class ShorterQuery:
    """A query with fewer words, and how many products it finds."""

    query: str
    total: int


def find_shorter_queries(query: str) -> list[ShorterQuery]:
    """Return queries that find products, with some words of a query that finds none. The one to show comes first.

    Words that no product has are left out first, then the word or the price range whose removal leaves most. It takes at most as
    many searches as the query has words, and five more. Raises SearchIndexMissing, CassandraUnavailable.
    """
    schema, searcher = READER.searcher()
    asked = replace(read_query(query), pinned_skus=())

    def shorten(words: Sequence[str], prices: QueryPrices = _NO_PRICES) -> list[ShorterQuery]:
        shorter = replace(asked, words=tuple(words), prices=prices)
        total = 0 if shorter.is_empty else count(searcher, product_query(schema, shorter))
        return [ShorterQuery(" ".join(filter(None, (*words, prices.text))), total)] if total else []

    def is_indexed(word: str) -> bool:
        return any(searcher.doc_freq(field, form) for field in BOOSTS for form in word_forms(word))

    known = [word for word in asked.words if is_indexed(word) or shorten([word])]
    found = shorten(known, asked.prices) if len(known) < len(asked.words) else []
    if not found:
        for place in range(len(known)):
            found += shorten(known[:place] + known[place + 1 :], asked.prices)
        found += shorten(known) if asked.prices.text else []
    if not found:
        telling = sorted(known, key=lambda word: -searcher.doc_freq("name", word))
        found = [each for word in telling[:MAX_SHORTER] for each in shorten([word])]
    return sorted(found, key=lambda each: -each.total)[:MAX_SHORTER]

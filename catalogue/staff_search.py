"""The staff's search for products of any status (Q3)."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import tantivy

from catalogue import queries
from catalogue.entities import CategoryNode, Product
from catalogue.filter_tokens import is_own_token
from catalogue.index_documents import brand_token, sku_token
from catalogue.index_queries import all_of, any_of, in_category, in_order
from catalogue.rules import is_sku, normalize_sku
from catalogue.search import query_words
from catalogue.search_index import READER, SearchIndexMissing

STAFF_DEEPEST = 10_000
STAFF_SORTS = {
    "changed": ("changed", True),
    "newest": ("created", True),
    "name": ("by_name", False),
    "price": ("price", False),
    "price-down": ("price", True),
}
STAFF_PAGE_LENGTH = 25
# The most SKUs that `find_skus` returns.
MAX_SKUS = 4


@dataclass(frozen=True, slots=True)
class StaffFilters:
    """The filters of the staff's list of products; an empty value filters nothing."""

    status: str = ""
    category_id: UUID | None = None  # products of this category and of all categories below it
    brand: str = ""
    availability: str = ""
    without_picture: bool = False
    without_alt: bool = False  # products with a picture whose alt text nobody has confirmed
    reduced: bool = False

    @property
    def count(self) -> int:
        """The number of filters that are set."""
        return sum(bool(getattr(self, name)) for name in self.__slots__)


NO_FILTERS = StaffFilters()


@dataclass(frozen=True)
class StaffSearchResult:
    """A page of the staff's list. `matched` says which part the query matched: "sku", "words", or "all" without a query."""

    products: tuple[Product, ...]
    total: int
    matched: str


def find_products_for_staff(
    query: str = "",
    filters: StaffFilters = NO_FILTERS,
    *,
    sort: str = "changed",
    limit: int = STAFF_PAGE_LENGTH,
    offset: int = 0,
) -> StaffSearchResult:
    """Return the products of any status that match a query and filters, as stored now. `sort` is one of STAFF_SORTS.

    A complete SKU finds only its product. Otherwise a SKU begins with the query, or each word of the query is the beginning of a
    word of the name, the brand or a SKU. Changes of the last seconds may be missing. Raises SearchIndexMissing, CassandraUnavailable.
    """
    ids, total, matched = _find_for_staff(query, filters, sort, limit, offset)
    found = queries.get_products_at_quorum(ids, queries.leave_out)
    return StaffSearchResult(tuple(found[each] for each in ids if each in found), total, matched)


def list_product_ids_for_staff(query: str, filters: StaffFilters) -> tuple[list[UUID], int]:
    """Return the ids of the products that the search finds, at most STAFF_DEEPEST, and the total. Raises SearchIndexMissing."""
    ids, total, _matched = _find_for_staff(query, filters, "newest", STAFF_DEEPEST, 0)
    return ids, total


def _find_for_staff(
    query: str, filters: StaffFilters, sort: str, limit: int, offset: int
) -> tuple[list[UUID], int, str]:
    schema, searcher = READER.searcher()
    values = {
        "status": filters.status,
        "brand_exact": brand_token(filters.brand),
        "availability": filters.availability,
    }
    asked = (
        ("bare", filters.without_picture),
        ("without-alt", filters.without_alt),
        ("reduced", filters.reduced),
    )
    marks = [name for name, is_asked in asked if is_asked]
    terms = [
        tantivy.Query.term_query(schema, field, value) for field, value in values.items() if value
    ] + [tantivy.Query.term_query(schema, "marks", mark) for mark in marks]
    if filters.category_id:
        categories = queries.get_category_tree_at_quorum().by_id
        terms.append(in_category(schema, categories.get(filters.category_id)))
    page = {"limit": limit, "offset": min(offset, STAFF_DEEPEST), "count": True}
    page |= in_order(STAFF_SORTS[sort])
    tries = [
        (matched, searcher.search(all_of([wanted, *terms]), **page))
        for matched, wanted in _staff_queries(schema, query)
    ]
    matched, result = next((each for each in tries if each[1].count), tries[-1])
    ids = [UUID(hex=searcher.doc(address)["id"][0]) for _, address in result.hits]
    return ids, result.count, matched


def count_products_without_alt() -> int:
    """Return the number of products with a picture whose alt text nobody has confirmed. Without an index there are none."""
    try:
        return _find_for_staff("", StaffFilters(without_alt=True), "newest", 1, 0)[1]
    except SearchIndexMissing:
        return 0


def count_products_in(nodes: Iterable[CategoryNode]) -> dict[UUID, int]:
    """Return the number of products of any status in each category and in the categories below it.

    Changes of the last seconds may be missing. Raises SearchIndexMissing.
    """
    schema, searcher = READER.searcher()
    return {
        node.category_id: searcher.search(in_category(schema, node), limit=1, count=True).count
        for node in nodes
    }


def _staff_queries(schema: Any, query: str) -> list[tuple[str, Any]]:
    """Return the index queries to try, each with its value of `matched`. The first query that finds a product is used."""
    words = query_words(query)
    if not words:
        everything = tantivy.Query.all_query() if not query.strip() else tantivy.Query.empty_query()
        return [("all" if not query.strip() else "words", everything)]
    beginnings = [
        any_of(
            [
                tantivy.Query.regex_query(schema, field, f"{word}.*")
                for field in ("name", "brand", "sku")
            ]
        )
        for word in words
    ]
    sku = tantivy.Query.term_query(schema, "sku_exact", sku_token(query))
    wanted = [all_of(beginnings)]
    if is_sku(normalize_sku(query)):
        pattern = re.escape(sku_token(query)) + ".*"
        wanted.append(tantivy.Query.regex_query(schema, "sku_exact", pattern))
    return [("sku", sku), ("words", any_of(wanted))]


def find_skus(beginning: str) -> list[str]:
    """Return at most MAX_SKUS SKUs that begin with a text, of products of any status. Raises SearchIndexMissing."""
    _, searcher = READER.searcher()
    prefix = sku_token(beginning)
    found = searcher.terms_with_prefix("sku_exact", prefix, None, MAX_SKUS) if prefix else []
    return [token.replace("~", " ") for token, _ in found]


def list_values_in_use(prefix: str = "") -> list[tuple[str, str, int]]:
    """Return the values of options and details that products have, of any status, the most frequent first.

    Each has its folded name, the value and the number of products. `prefix` begins `name=value`. Without an index there are none.
    """
    try:
        _schema, searcher = READER.searcher()
    except SearchIndexMissing:
        return []
    found = searcher.terms_with_prefix("value", prefix, tantivy.Query.all_query())
    pairs = [
        (term.partition("="), number) for term, number in found if number and not is_own_token(term)
    ]
    return [(name, value, number) for (name, _, value), number in pairs]

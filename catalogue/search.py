"""Search by words (Q3): a tantivy index on each host, derived from Cassandra and never the source of truth.

    SEARCH_INDEX_DIR/<keyspace>/<version>/   an index, and `position`: until when changes are in it
    SEARCH_INDEX_DIR/<keyspace>/current-<n>  the name of the version that is searched, of the n-th schema

All products are in it, for the staff; a shopper's search asks for those that are on sale at its moment.
A new index is built beside the one in use and put into use by replacing `current`. One process a host writes, which
a lock ensures; those that serve pages open the index for reading and check at most once a second whether it has changed.
Words are folded and split by `catalogue.words` on both sides, so the index itself only splits at blanks.
"""

from __future__ import annotations

import fcntl
import json
import shutil
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any
from uuid import UUID, uuid4

import tantivy
from django.conf import settings
from django.utils.translation import gettext_lazy as _

from cassandra_db import current_time
from cassandra_db.session import keyspace_name
from catalogue import queries
from catalogue.descriptions import plain_description
from catalogue.entities import NEW_FOR, CategoryNode, Product, ProductCard
from catalogue.operations import (
    card_columns,
    list_changed_products,
    popularity_rank,
    rating_rank,
    retry_product,
)
from catalogue.queries import product_card
from catalogue.rules import normalize_sku
from catalogue.words import fold_text, search_terms, split_words, word_forms
from jobs.rows import guard_row
from pricing.money import from_minor_units, to_minor_units

MAX_QUERY_LENGTH = 100
MAX_WORDS = 8
# No name has a longer word; tantivy refuses to search for the prefix of a very long one.
MAX_WORD_LENGTH = 40
DEEPEST = 1000
STAFF_DEEPEST = 10_000
# One more whenever `_schema` or `_document` changes: an index that an earlier one has made is then built anew.
SCHEMA_VERSION = 6
LOOK_EVERY_SECONDS = 1.0
# Clocks differ, and a change is recorded a moment before others can see it: the last seconds are read again.
OVERLAP = timedelta(seconds=15)
_TYPO_FROM_LETTERS = 5
# What costs most are typos: a search forgives them in so many words, in those that no product's name has, if there are more.
MAX_FORGIVEN = 3
# So many results are kept until the index is looked at again, each of a page's cards.
_MAX_KEPT = 64
# So many other queries are tried when nothing was found.
_NEAR_TRIES = 8
_BOOSTS = {"name": 6.0, "kind": 3.0, "brand": 3.0, "sku": 4.0, "options": 2.0, "text": 1.0}
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


# The orders of the deals, the largest discount first.
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
# New arrivals are what has come in the last days (NEW_FOR), and so many products at least.
MIN_NEW_ARRIVALS = 24
STAFF_SORTS = {
    "changed": ("changed", True),
    "newest": ("created", True),
    "name": ("name_order", False),
    "price": ("price", False),
    "price-down": ("price", True),
}
STAFF_PAGE_LENGTH = 25
# What is looked for as it is, a value or several with blanks between.
_EXACT_FIELDS = ("status", "category", "brand_exact", "sku_exact", "availability", "marks")
_ALWAYS = 1 << 62


class SearchIndexMissing(Exception):
    """There is no index on this host yet."""


@dataclass(frozen=True)
class SearchResult:
    """A part of what a search found, and how many products it found in all."""

    cards: tuple[ProductCard, ...]
    total: int


@dataclass(frozen=True)
class StaffSearchResult:
    """A page of the products that the staff looks for; `matched` says how: by "sku", "words", or "all" are there."""

    products: tuple[Product, ...]
    total: int
    matched: str


def _schema() -> Any:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("id", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_bytes_field("card", stored=True, indexed=False)
    for name in _BOOSTS:
        builder.add_text_field(name, tokenizer_name="whitespace", index_option="freq")
    for name in _EXACT_FIELDS:
        builder.add_text_field(name, tokenizer_name="whitespace", index_option="basic")
    for name in (
        *("price", "created", "changed", "discount", "name_order", "rating", "popularity"),
        *("sale_from", "sale_until"),
    ):
        builder.add_integer_field(name, fast=True)
    return builder.build()


# ---- Searching


class _Reader:
    """The index as this process has it open."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._looked_at = 0.0
        self._path: Path | None = None
        self._changed = 0
        self._index: Any = None
        # What was counted in the index as it is, by categories: a change of it forgets them.
        self._counts: dict[frozenset[UUID], int] = {}
        self.vocabulary: tuple[str, ...] = ()
        self.known_words: frozenset[str] = frozenset()
        self._found: dict[tuple[Any, ...], SearchResult] = {}

    def recall(
        self, key: tuple[Any, ...], find: Callable[[Any, Any], SearchResult]
    ) -> SearchResult:
        """Return what `find` finds in the current index, or has found since it was last looked at. Raises SearchIndexMissing."""
        opened = self.searcher()
        # If another thread looks at the index at this moment, what is found in the former one is kept until the next look.
        found = self._found
        if (result := found.get(key)) is None:
            result = find(*opened)
            if len(found) < _MAX_KEPT:
                found[key] = result
        return result

    def searcher(self) -> tuple[Any, Any]:
        """Return (schema, searcher) of the current index. Raises SearchIndexMissing."""
        schema, searcher, _ = self.searcher_and_counts()
        return schema, searcher

    def searcher_and_counts(self) -> tuple[Any, Any, dict[frozenset[UUID], int]]:
        """Return (schema, searcher, counts) of the current index; what is counted is put there. Raises SearchIndexMissing."""
        home = _home()
        if (
            monotonic() - self._looked_at >= LOOK_EVERY_SECONDS
            or self._path is None
            or self._path.parent != home
        ):
            with self._lock:
                self._look(home)
        # First the counts: if another thread finds a changed index now, what is counted in the former one goes with them.
        counts, index = self._counts, self._index
        if index is None:
            raise SearchIndexMissing
        return index.schema, index.searcher(), counts

    def _look(self, home: Path) -> None:
        self._found = {}
        try:
            path = home / _current_file(home).read_text().strip()
            changed = (path / "meta.json").stat().st_mtime_ns
        except FileNotFoundError:
            self._index = self._path = None
            return
        if path != self._path:
            self._index = tantivy.Index.open(str(path))
            self._path = path
            self.vocabulary = tuple((path / "vocabulary").read_text().split())
            self.known_words = frozenset(self.vocabulary)
        elif changed != self._changed:
            self._index.reload()
        if changed != self._changed:
            self._counts = {}
        self._changed, self._looked_at = changed, monotonic()


_reader = _Reader()


def search_products(
    query: str, limit: int = queries.PAGE_LENGTH, offset: int = 0, sort: str = "best"
) -> SearchResult:
    """Return the cards of the products that have all words of the query, from `offset` on, in the order of SORTS.

    Case, accents, plural and hyphens make no difference, the last word may be a beginning, and a word of five letters
    or more may have one typo, three words at most. Raises SearchIndexMissing.
    """
    words, limit = _query_words(query), min(limit, DEEPEST - offset)
    if not words or limit < 1:
        _reader.searcher()
        return SearchResult((), 0)

    def find(schema: Any, searcher: Any) -> SearchResult:
        field, down = SORTS[sort]
        order = (
            {"order_by_field": field, "order": tantivy.Order.Desc if down else tantivy.Order.Asc}
            if field
            else {}
        )
        wanted = _all([_query(schema, words), _on_sale(schema, current_time())])
        result = searcher.search(wanted, limit=limit, offset=offset, count=True, **order)
        found = (searcher.doc(address) for _, address in result.hits)
        return SearchResult(tuple(_card(document["card"][0]) for document in found), result.count)

    return _reader.recall((*words, limit, offset, sort), find)


def list_deals(sort: str, limit: int, offset: int) -> SearchResult:
    """Return what is reduced and in stock, from `offset` on, in the order of DEAL_SORTS. Raises SearchIndexMissing."""
    schema, searcher = _reader.searcher()
    reduced = tantivy.Query.term_query(schema, "marks", "deal")
    wanted = _all([reduced, _in_stock(schema)])
    return _list(searcher, wanted, DEAL_SORTS[sort], limit, offset)


def list_new_arrivals(limit: int, offset: int) -> SearchResult:
    """Return what is in stock and has come in the last days, the newest first, from `offset` on; 24 products at least.

    Raises SearchIndexMissing.
    """
    schema, searcher = _reader.searcher()
    wanted, since = _in_stock(schema), _milliseconds(current_time() - NEW_FOR)
    new = tantivy.Query.range_query(schema, "created", tantivy.FieldType.Integer, lower_bound=since)
    new_count = searcher.search(_all([wanted, new]), limit=1, count=True).count
    found = _list(searcher, wanted, SORTS["newest"], limit, offset)
    total = min(found.total, max(new_count, MIN_NEW_ARRIVALS))
    return SearchResult(found.cards[: max(0, total - offset)], total)


def _list(
    searcher: Any, wanted: Any, sort: tuple[str, bool], limit: int, offset: int
) -> SearchResult:
    if (limit := min(limit, DEEPEST - offset)) < 1:
        return SearchResult((), 0)
    field, down = sort
    result = searcher.search(
        wanted,
        limit=limit,
        offset=offset,
        count=True,
        order_by_field=field,
        order=tantivy.Order.Desc if down else tantivy.Order.Asc,
    )
    found = (searcher.doc(address) for _, address in result.hits)
    return SearchResult(tuple(_card(document["card"][0]) for document in found), result.count)


def count_on_sale_in(node: CategoryNode) -> int:
    """Return how many products a category's list has; some seconds may be missing. Raises SearchIndexMissing."""
    schema, searcher, counts = _reader.searcher_and_counts()
    # Not by the category alone: the tree may change, and the index stays as it is.
    key = frozenset(each.category_id for each in node.subtree)
    if key not in counts:
        wanted = _all([_in_category(schema, node), _on_sale(schema, current_time())])
        counts[key] = searcher.search(wanted, limit=1, count=True).count
    return counts[key]


def find_products_for_staff(
    query: str = "",
    *,
    status: str = "",
    category_id: UUID | None = None,
    brand: str = "",
    availability: str = "",
    without_picture: bool = False,
    reduced: bool = False,
    sort: str = "changed",
    limit: int = STAFF_PAGE_LENGTH,
    offset: int = 0,
) -> StaffSearchResult:
    """Return products, whatever their status, as they are now; `sort` is one of STAFF_SORTS.

    A query that is a whole SKU finds its product alone; each word of any other is the beginning of a word of the name, the
    brand or a SKU. What was saved in the last seconds may be missing. Raises SearchIndexMissing, CassandraUnavailable.
    """
    filters = {
        "status": status,
        "category_id": category_id,
        "brand": brand,
        "availability": availability,
        "without_picture": without_picture,
        "reduced": reduced,
    }
    ids, total, matched = _find_for_staff(query, filters, sort, limit, offset)
    found = queries.get_products_at_quorum(ids, queries.leave_out)
    return StaffSearchResult(tuple(found[each] for each in ids if each in found), total, matched)


def list_product_ids_for_staff(query: str, filters: Mapping[str, Any]) -> tuple[list[UUID], int]:
    """Return which products `find_products_for_staff` finds by these filters, STAFF_DEEPEST at most, and how many there are.

    Raises SearchIndexMissing.
    """
    ids, total, _matched = _find_for_staff(query, filters, "newest", STAFF_DEEPEST, 0)
    return ids, total


def _find_for_staff(
    query: str, filters: Mapping[str, Any], sort: str, limit: int, offset: int
) -> tuple[list[UUID], int, str]:
    schema, searcher = _reader.searcher()
    values = {
        "status": filters["status"],
        "brand_exact": _brand_token(filters["brand"]),
        "availability": filters["availability"],
    }
    asked = (("bare", filters["without_picture"]), ("reduced", filters["reduced"]))
    marks = [name for name, is_asked in asked if is_asked]
    terms = [
        tantivy.Query.term_query(schema, field, value) for field, value in values.items() if value
    ] + [tantivy.Query.term_query(schema, "marks", mark) for mark in marks]
    if filters["category_id"]:
        categories = queries.get_category_tree_at_quorum().by_id
        terms.append(_in_category(schema, categories.get(filters["category_id"])))
    field, down = STAFF_SORTS[sort]
    order = tantivy.Order.Desc if down else tantivy.Order.Asc
    page = {"limit": limit, "offset": min(offset, STAFF_DEEPEST), "count": True}
    tries = [
        (
            matched,
            searcher.search(_all([wanted, *terms]), order_by_field=field, order=order, **page),
        )
        for matched, wanted in _staff_queries(schema, query)
    ]
    matched, result = next((each for each in tries if each[1].count), tries[-1])
    ids = [UUID(hex=searcher.doc(address)["id"][0]) for _, address in result.hits]
    return ids, result.count, matched


def count_products_in(nodes: Iterable[CategoryNode]) -> dict[UUID, int]:
    """Return how many products stand in each category or below it, whatever their status; some seconds may be missing.

    Raises SearchIndexMissing.
    """
    schema, searcher = _reader.searcher()
    return {
        node.category_id: searcher.search(_in_category(schema, node), limit=1, count=True).count
        for node in nodes
    }


def _in_category(schema: Any, node: CategoryNode | None) -> Any:
    # A product has its own categories in the index. What is above them is asked of the tree, which may change.
    ids = [each.category_id.hex for each in node.subtree] if node else []
    return tantivy.Query.term_set_query(schema, "category", ids)


def _staff_queries(schema: Any, query: str) -> list[tuple[str, Any]]:
    """Return how to look for something, the first that finds anything counts."""
    words = _query_words(query)
    if not words:
        everything = tantivy.Query.all_query() if not query.strip() else tantivy.Query.empty_query()
        return [("all" if not query.strip() else "words", everything)]
    beginnings = [
        _any(
            [
                tantivy.Query.regex_query(schema, field, f"{word}.*")
                for field in ("name", "brand", "sku")
            ]
        )
        for word in words
    ]
    sku = tantivy.Query.term_query(schema, "sku_exact", _sku_token(query))
    return [("sku", sku), ("words", _all(beginnings))]


def _on_sale(schema: Any, now: datetime) -> Any:
    """What shoppers may find at this moment, without a say in which is best."""
    moment, integer = _milliseconds(now), tantivy.FieldType.Integer
    on_sale = _all(
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
    """What shoppers may find at this moment and is not sold out."""
    sold_out = tantivy.Query.term_query(schema, "availability", "out")
    return tantivy.Query.boolean_query(
        [
            (tantivy.Occur.Must, _on_sale(schema, current_time())),
            (tantivy.Occur.MustNot, sold_out),
        ]
    )


def _milliseconds(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)


def _sku_token(sku: str) -> str:
    # A SKU is one word of the index. No SKU has this character.
    return normalize_sku(sku).replace(" ", "~")


def _brand_token(brand: str) -> str:
    return "-".join(split_words(brand))


def _query_words(query: str) -> list[str]:
    return [word[:MAX_WORD_LENGTH] for word in split_words(query)[:MAX_WORDS]]


def _forgiven_words(words: list[str]) -> frozenset[str]:
    """Return in which words of a query a typo is forgiven: first in those that the vocabulary does not have."""
    return frozenset(sorted(words, key=_reader.known_words.__contains__)[:MAX_FORGIVEN])


def _query(schema: Any, words: list[str]) -> Any:
    """Return the query for all words, each in any of its forms and any field; or two neighbours written as one."""
    alternatives = [_all_words(schema, words, words[-1], _forgiven_words(words))]
    for index in range(len(words) - 1):
        joined = [*words[:index], words[index] + words[index + 1], *words[index + 2 :]]
        # There are as many as neighbours, so in a longer query they are as they are written.
        forgiven = frozenset(joined if len(words) == 2 else ())
        alternatives.append(_all_words(schema, joined, "", forgiven))
    return _any(alternatives)


def _all_words(schema: Any, words: list[str], last: str, forgiven: frozenset[str]) -> Any:
    return _all(
        [_word(schema, word, is_last=word == last, is_forgiven=word in forgiven) for word in words]
    )


def _word(schema: Any, word: str, *, is_last: bool, is_forgiven: bool) -> Any:
    found = []
    for field, boost in _BOOSTS.items():
        for form in sorted(word_forms(word)):
            exact = tantivy.Query.term_query(schema, field, form)
            found.append(
                tantivy.Query.boost_query(tantivy.Query.const_score_query(exact, 1.0), boost)
            )
            if is_forgiven and len(form) >= _TYPO_FROM_LETTERS and field != "text":
                near = _with_typo(schema, field, form)
                found.append(
                    tantivy.Query.boost_query(tantivy.Query.const_score_query(near, 1.0), boost / 4)
                )
        if is_last and len(word) > 1 and field != "text":
            begins = tantivy.Query.regex_query(schema, field, f"{word}.*")
            found.append(
                tantivy.Query.boost_query(tantivy.Query.const_score_query(begins, 1.0), boost / 3)
            )
    return _any(found)


def _with_typo(schema: Any, field: str, form: str) -> Any:
    return tantivy.Query.fuzzy_term_query(
        schema, field, form, distance=1, transposition_cost_one=True
    )


def _any(found: list[Any]) -> Any:
    return tantivy.Query.boolean_query([(tantivy.Occur.Should, each) for each in found])


def _all(wanted: list[Any]) -> Any:
    return tantivy.Query.boolean_query([(tantivy.Occur.Must, each) for each in wanted])


def find_near_queries(query: str, most: int = 4) -> list[str]:
    """Return queries that find something and are similar to one that found nothing: other spellings, fewer words.

    Raises SearchIndexMissing.
    """
    schema, searcher = _reader.searcher()
    words = _query_words(query)
    spellings = {word: _spellings(word) for word in _forgiven_words(words)}
    respelt = [next(iter(spellings.get(word, ())), word) for word in words]
    tries = [respelt]
    if len(words) <= _NEAR_TRIES // 2:
        tries += [respelt[:index] + respelt[index + 1 :] for index in range(len(words))]
    tries += [[word] for word in respelt]
    tries += [[near] for alike in spellings.values() for near in alike[1:]]
    candidates = list(dict.fromkeys(" ".join(each) for each in tries if each and each != words))
    return [
        each
        for each in candidates[:_NEAR_TRIES]
        if _finds_something(schema, searcher, each.split())
    ][:most]


def _finds_something(schema: Any, searcher: Any, words: list[str]) -> bool:
    """Return whether a search for these words, as they are written, finds a product."""
    written = _all_words(schema, words, words[-1], frozenset())
    wanted = _all([written, _on_sale(schema, current_time())])
    return bool(searcher.search(wanted, limit=1, count=True).count)


def has_all_words(query: str) -> bool:
    """Return whether a product, on sale or not, has all words of a query as they are written. Raises SearchIndexMissing."""
    schema, searcher = _reader.searcher()
    words = split_words(query)
    # Not `_query_words`: the words that a search leaves out are compared, too.
    if not words or max(map(len, words)) > MAX_WORD_LENGTH:
        return False
    return bool(searcher.search(_all_words(schema, words, "", frozenset()), limit=1).hits)


def _spellings(word: str) -> list[str]:
    alike = [
        each for each in _reader.vocabulary if abs(len(each) - len(word)) < 3 and each[0] == word[0]
    ]
    return get_close_matches(word, alike, n=3, cutoff=0.65)


# ---- Building


def build_index(products: Iterable[Product] | None = None) -> int:
    """Rebuild the index from all products of the shop, put it into use, and return their number.

    Raises CassandraUnavailable; the index in use stays as it is until the new one is complete.
    """
    began = current_time()
    home = _home()
    home.mkdir(parents=True, exist_ok=True)
    with _writing(home):
        path = home / f"{began:%Y%m%dT%H%M%S}-{uuid4().hex[:8]}"
        path.mkdir()
        try:
            if products is None:
                products = queries.iterate_products(_guard_product)
            count = _fill(path, products)
        except BaseException:
            shutil.rmtree(path)
            raise
        _note(path / "position", began.isoformat())
        former = _current(home)
        _note(_current_file(home), path.name)
        _remove_others(home, keep={path.name, former.name if former else ""})
    return count


def _fill(path: Path, products: Iterable[Product]) -> int:
    index = tantivy.Index(_schema(), path=str(path))
    writer = index.writer(heap_size=64_000_000, num_threads=1)
    count, seen = 0, set[str]()
    try:
        for product in products:
            with _guard_product(product.product_id):
                writer.add_document(_document(product))
                count += 1
                if product.is_on_sale(current_time()):
                    seen.update(_vocabulary(product))
        writer.commit()
    finally:
        # Its threads write files: they must end before the folder is removed.
        writer.wait_merging_threads()
    _note(path / "vocabulary", " ".join(sorted(seen)))
    return count


def refresh_index(now: datetime) -> int:
    """Index what has changed since the last time, and return how many products.

    Without an index on this host it builds one. Raises CassandraUnavailable.
    """
    home = _home()
    path = _current(home)
    # Changes are kept for a week.
    if path is None or _position(path) < now - timedelta(days=6):
        return build_index()
    with _writing(home):
        path = _current(home) or path
        since = _position(path)
        done = _Done.read(path)
        changed = {
            product_id: at
            for product_id, at in list_changed_products(since - OVERLAP, now).items()
            if done.at(product_id) < at
        }
        if changed:
            _replace(path, list(changed))
        done.note(path, changed, since=now - OVERLAP)
        _note(path / "position", now.isoformat())
    return len(changed)


class _Done:
    """Which changes of the last seconds are in the index already, so that reading them again costs nothing."""

    def __init__(self, done: dict[str, str]) -> None:
        self._done = done

    @classmethod
    def read(cls, path: Path) -> _Done:
        file = path / "done"
        return cls(json.loads(file.read_text()) if file.exists() else {})

    def at(self, product_id: UUID) -> datetime:
        known = self._done.get(product_id.hex)
        return datetime.fromisoformat(known) if known else datetime.min.replace(tzinfo=UTC)

    def note(self, path: Path, changed: dict[UUID, datetime], since: datetime) -> None:
        recent = {
            key: at
            for key, at in self._done.items()
            if datetime.fromisoformat(at) > since - OVERLAP
        }
        _note(
            path / "done",
            json.dumps(recent | {key.hex: at.isoformat() for key, at in changed.items()}),
        )


def _replace(path: Path, product_ids: list[UUID]) -> None:
    index = tantivy.Index.open(str(path))
    writer = index.writer(heap_size=32_000_000, num_threads=1)
    for start in range(0, len(product_ids), 100):
        part = product_ids[start : start + 100]
        found = queries.get_products_at_quorum(part, _guard_product)
        for product_id in part:
            writer.delete_documents_by_term("id", product_id.hex)
            if product := found.get(product_id):
                with _guard_product(product_id):
                    writer.add_document(_document(product))
    writer.commit()
    writer.wait_merging_threads()


def _guard_product(product_id: UUID) -> AbstractContextManager[None]:
    return guard_row(f"index of product {product_id}", partial(retry_product, product_id))


def _document(product: Product) -> Any:
    tree = queries.get_category_tree_with(*product.all_category_ids)
    node = tree.by_id.get(product.category_id)
    path = [*node.ancestors, node] if node else []
    sold = [variant for variant in product.variants if variant.sold]
    options = {value for variant in sold for value in variant.options.values()}
    skus = {variant.sku for variant in sold}
    card = product_card(product) if sold else None
    marks = {
        "deal": card is not None and card.compare_at is not None,
        "sellable": product.status == "active" and bool(sold),
        "bare": not all(product.picture_of(variant) for variant in sold),
        "reduced": any(variant.compare_at for variant in sold),
    }
    return tantivy.Document(
        id=product.product_id.hex,
        name=" ".join(search_terms(product.name)),
        kind=" ".join(search_terms(" ".join(each.name for each in path))),
        brand=" ".join(search_terms(product.brand)),
        sku=" ".join(
            {part for sku in skus for part in (*split_words(sku), "".join(split_words(sku)))}
        ),
        options=" ".join({term for value in options for term in search_terms(value)}),
        text=" ".join(
            search_terms(
                " ".join(
                    [
                        plain_description(product.description),
                        *product.details.values(),
                        *product.tags,
                    ]
                )
            )
        ),
        status=product.status,
        category=" ".join(sorted(each.hex for each in product.all_category_ids)),
        brand_exact=_brand_token(product.brand),
        sku_exact=" ".join(_sku_token(variant.sku) for variant in product.variants),
        availability=product.availability,
        marks=" ".join(mark for mark, holds in marks.items() if holds),
        price=min(to_minor_units(variant.price) for variant in sold or product.variants),
        created=_milliseconds(product.created_at or current_time()),
        changed=_milliseconds(product.updated_at or current_time()),
        # The first letters, as a number: enough to order a list by.
        name_order=int.from_bytes(fold_text(product.name).encode()[:7].ljust(7, b"\0"), "big"),
        sale_from=_milliseconds(product.active_from) if product.active_from else -_ALWAYS,
        sale_until=_milliseconds(product.active_until) if product.active_until else _ALWAYS,
        discount=round(10_000 * card.discount) if card else 0,
        rating=rating_rank(card) if card else 0,
        popularity=popularity_rank(card) if card else 0,
        **({"card": _packed(card)} if card else {}),
    )


def _vocabulary(product: Product) -> Iterator[str]:
    for text in (product.name, product.brand, *product.option_names):
        yield from (word for word in split_words(text) if len(word) > 2)


def _packed(card: ProductCard) -> bytes:
    values = card_columns(card) | {
        "product_id": card.product_id.hex,
        "created_at": card.created_at.isoformat(),
    }
    return json.dumps(values, ensure_ascii=False).encode()


def _card(packed: bytes) -> ProductCard:
    values = json.loads(bytes(packed))
    currency = values.pop("currency")
    was = values.pop("compare_at")
    return ProductCard(
        **values
        | {
            "product_id": UUID(hex=values["product_id"]),
            "price": from_minor_units(values["price"], currency),
            "compare_at": from_minor_units(was, currency) if was is not None else None,
            "swatches": tuple(values["swatches"]),
            "created_at": datetime.fromisoformat(values["created_at"]),
        }
    )


# ---- Files


def _home() -> Path:
    return Path(settings.SEARCH_INDEX_DIR) / keyspace_name()


def _current_file(home: Path) -> Path:
    return home / f"current-{SCHEMA_VERSION}"


def _current(home: Path) -> Path | None:
    try:
        return home / _current_file(home).read_text().strip()
    except FileNotFoundError:
        return None


def _position(path: Path) -> datetime:
    return datetime.fromisoformat((path / "position").read_text())


def _note(file: Path, text: str) -> None:
    """Write a small file in one go: a reader sees the old text or the new one."""
    temporary = file.with_name(f"{file.name}.{uuid4().hex}")
    temporary.write_text(text)
    temporary.replace(file)


@contextmanager
def _writing(home: Path) -> Iterator[None]:
    """Keep other processes of this host from writing meanwhile; the lock of a dead one is released."""
    with (home / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _remove_others(home: Path, keep: set[str]) -> None:
    # The former one stays: a process may be about to open it.
    for path in home.iterdir():
        if path.is_dir() and path.name not in keep and (path / "meta.json").exists():
            shutil.rmtree(path)

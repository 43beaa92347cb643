"""The search index (Q3): a tantivy index on each host, derived from Cassandra and never the source of truth.

    SEARCH_INDEX_DIR/<keyspace>/<version>/   an index; its file `position` says until when it includes changes
    SEARCH_INDEX_DIR/<keyspace>/current-<n>  the name of the version in use, for the n-th schema

The index holds all products, for staff; a shopper's search adds a query for products on sale. A new index is built in its own
folder; a new `current` file puts it into use. A lock ensures that one process per host writes. Processes that serve pages open
the index for reading and look for a newer one at most once a second. `catalogue.words` folds and splits the words of products and
of queries, so the index itself only splits at blanks.
"""

import fcntl
import json
import shutil
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any
from uuid import UUID, uuid4

import tantivy
from django.conf import settings

from cassandra_db import current_time
from cassandra_db.session import keyspace_name
from catalogue import queries
from catalogue.descriptions import plain_description
from catalogue.entities import Product, ProductCard
from catalogue.operations import (
    card_columns,
    list_changed_products,
    popularity_rank,
    rating_rank,
    retry_product,
)
from catalogue.queries import product_card
from catalogue.rules import normalize_sku
from catalogue.words import fold_text, search_terms, split_words
from jobs.rows import guard_row
from pricing.money import from_minor_units, to_minor_units

# Add 1 whenever `_schema` or `make_document` changes: older indexes are then rebuilt.
SCHEMA_VERSION = 6
LOOK_EVERY_SECONDS = 1.0
# Clocks differ, and a change is visible a moment after it was recorded: so each run reads the last seconds anew.
OVERLAP = timedelta(seconds=15)
# How many results are remembered until the process looks for a newer index; each has the cards of a page.
_MAX_KEPT = 64
BOOSTS = {"name": 6.0, "kind": 3.0, "brand": 3.0, "sku": 4.0, "options": 2.0, "text": 1.0}
# Fields for exact values; blanks separate several values.
_EXACT_FIELDS = ("status", "category", "brand_exact", "sku_exact", "availability", "marks")
_ALWAYS = 1 << 62


class SearchIndexMissing(Exception):
    """There is no index on this host yet."""


@dataclass(frozen=True)
class SearchResult:
    """A part of the results of a search, and how many products the search found in total."""

    cards: tuple[ProductCard, ...]
    total: int


def _schema() -> Any:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("id", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_bytes_field("card", stored=True, indexed=False)
    for name in BOOSTS:
        builder.add_text_field(name, tokenizer_name="whitespace", index_option="freq")
    for name in _EXACT_FIELDS:
        builder.add_text_field(name, tokenizer_name="whitespace", index_option="basic")
    for name in (
        *("price", "created", "changed", "discount", "name_order", "rating", "popularity"),
        *("sale_from", "sale_until"),
    ):
        builder.add_integer_field(name, fast=True)
    return builder.build()


class IndexReader:
    """The search index as this process has opened it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.looked_at = 0.0
        self._path: Path | None = None
        self._changed = 0
        self._index: Any = None
        # The number of products by categories; forgotten when the index changes.
        self._counts: dict[frozenset[UUID], int] = {}
        self.vocabulary: tuple[str, ...] = ()
        self.known_words: frozenset[str] = frozenset()
        self._found: dict[tuple[Any, ...], SearchResult] = {}

    def recall(
        self, key: tuple[Any, ...], find: Callable[[Any, Any], SearchResult]
    ) -> SearchResult:
        """Return the result of `find` on the current index. Cache it until a newer index is looked for. Raises SearchIndexMissing."""
        opened = self.searcher()
        # If another thread looks for a newer index now, this result is forgotten with the former ones.
        found = self._found
        if (result := found.get(key)) is None:
            result = find(*opened)
            if len(found) < _MAX_KEPT:
                found[key] = result
        return result

    def searcher(self) -> tuple[Any, Any]:
        """Return the schema and the searcher of the current index. Raises SearchIndexMissing."""
        schema, searcher, _ = self.searcher_and_counts()
        return schema, searcher

    def searcher_and_counts(self) -> tuple[Any, Any, dict[frozenset[UUID], int]]:
        """Return the current index's schema, searcher and counts. The caller adds to the counts. Raises SearchIndexMissing."""
        home = index_home()
        if (
            monotonic() - self.looked_at >= LOOK_EVERY_SECONDS
            or self._path is None
            or self._path.parent != home
        ):
            with self._lock:
                self._look(home)
        # The counts are read first: if another thread opens a newer index now, these counts still belong to the former one.
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
        self._changed, self.looked_at = changed, monotonic()


READER = IndexReader()


def to_milliseconds(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)


def sku_token(sku: str) -> str:
    # A SKU is one word of the index: "~", which no SKU contains, stands for each blank.
    return normalize_sku(sku).replace(" ", "~")


def brand_token(brand: str) -> str:
    return "-".join(split_words(brand))


def build_index(products: Iterable[Product] | None = None) -> int:
    """Build a new index from these products (default: all), put it into use, and return the number of products.

    The index in use stays until the new one is complete. Raises CassandraUnavailable.
    """
    began = current_time()
    home = index_home()
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
                writer.add_document(make_document(product))
                count += 1
                if product.is_on_sale(current_time()):
                    seen.update(_vocabulary(product))
        writer.commit()
    finally:
        # The index writer's threads write files: they must end before the folder may be removed.
        writer.wait_merging_threads()
    _note(path / "vocabulary", " ".join(sorted(seen)))
    return count


def refresh_index(now: datetime) -> int:
    """Update the index for the products that have changed since the last run; return their number.

    It builds an index if this host has none, or if changes may have vanished. Raises CassandraUnavailable.
    """
    home = index_home()
    path = _current(home)
    # Changes are stored for a week.
    if path is None or _position(path) < now - timedelta(days=6):
        return build_index()
    with _writing(home):
        path = _current(home) or path
        since = _position(path)
        done, found = _read_done(path), list_changed_products(since - OVERLAP, now)
        changed = {key: at for key, at in found.items() if key not in done or done[key] < at}
        if changed:
            _replace(path, list(changed))
        recent = {key: at for key, at in done.items() if at > now - 2 * OVERLAP}
        indexed = {key.hex: at.isoformat() for key, at in (recent | changed).items()}
        _note(path / "done", json.dumps(indexed))
        _note(path / "position", now.isoformat())
    return len(changed)


def _read_done(path: Path) -> dict[UUID, datetime]:
    """Return the recent changes that the index already includes, so that no change is indexed twice."""
    file = path / "done"
    stored = json.loads(file.read_text()) if file.exists() else {}
    return {UUID(hex=key): datetime.fromisoformat(at) for key, at in stored.items()}


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
                    writer.add_document(make_document(product))
    writer.commit()
    writer.wait_merging_threads()


def _guard_product(product_id: UUID) -> AbstractContextManager[None]:
    return guard_row(f"index of product {product_id}", partial(retry_product, product_id))


def make_document(product: Product) -> Any:
    """Return the product's document in the index. Raises CassandraUnavailable."""
    tree = queries.get_category_tree_with(*product.all_category_ids)
    node = tree.by_id.get(product.category_id)
    path = node.path if node else []
    texts = [plain_description(product.description), *product.details.values(), *product.tags]
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
        name=_join_terms(product.name),
        kind=_join_terms(" ".join(each.name for each in path)),
        brand=_join_terms(product.brand),
        sku=" ".join(
            {part for sku in skus for part in (*split_words(sku), "".join(split_words(sku)))}
        ),
        options=" ".join({term for value in options for term in search_terms(value)}),
        text=_join_terms(" ".join(texts)),
        status=product.status,
        category=" ".join(sorted(each.hex for each in product.all_category_ids)),
        brand_exact=brand_token(product.brand),
        sku_exact=" ".join(sku_token(variant.sku) for variant in product.variants),
        availability=product.availability,
        marks=" ".join(mark for mark, holds in marks.items() if holds),
        price=min(to_minor_units(variant.price) for variant in sold or product.variants),
        created=to_milliseconds(product.created_at or current_time()),
        changed=to_milliseconds(product.updated_at or current_time()),
        # The first letters of the name as a number, which is enough to sort a list.
        name_order=int.from_bytes(fold_text(product.name).encode()[:7].ljust(7, b"\0"), "big"),
        sale_from=to_milliseconds(product.active_from) if product.active_from else -_ALWAYS,
        sale_until=to_milliseconds(product.active_until) if product.active_until else _ALWAYS,
        discount=round(10_000 * card.discount) if card else 0,
        rating=rating_rank(card) if card else 0,
        popularity=popularity_rank(card) if card else 0,
        **({"card": _packed(card)} if card else {}),
    )


def _join_terms(text: str) -> str:
    return " ".join(search_terms(text))


def _vocabulary(product: Product) -> Iterator[str]:
    for text in (product.name, product.brand, *product.option_names):
        yield from (word for word in split_words(text) if len(word) > 2)


def _packed(card: ProductCard) -> bytes:
    values = card_columns(card) | {
        "product_id": card.product_id.hex,
        "created_at": card.created_at.isoformat(),
    }
    return json.dumps(values, ensure_ascii=False).encode()


def unpack_card(packed: bytes) -> ProductCard:
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


def index_home() -> Path:
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
    """Write a small file so that a reader sees either the old text or the new text, never a part."""
    temporary = file.with_name(f"{file.name}.{uuid4().hex}")
    temporary.write_text(text)
    temporary.replace(file)


@contextmanager
def _writing(home: Path) -> Iterator[None]:
    """Keep other processes of this host from writing. The lock of a dead process is released by itself."""
    with (home / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _remove_others(home: Path, keep: set[str]) -> None:
    # The previous index stays, because a process may be about to open it.
    for path in home.iterdir():
        if path.is_dir() and path.name not in keep and (path / "meta.json").exists():
            shutil.rmtree(path)

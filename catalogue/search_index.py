"""The search index (Q3): a tantivy index on each host, derived from Cassandra and never the source of truth.

    SEARCH_INDEX_DIR/<keyspace>/<version>/   an index; its file `position` says up to when it includes changes
    SEARCH_INDEX_DIR/<keyspace>/current-<n>  the name of the version in use, for the n-th schema

The index holds all products, for staff; a shopper's search adds a query for products on sale. A new index is built in its own
folder; a new `current` file puts it into use. Locks ensure that one process per host builds, and one updates. Processes that serve
pages open the index for reading and look for a newer one at most once a second. If its files are damaged, they keep the last good one
until the worker has built a new one. `catalogue.words` folds and splits the words of products and of queries, so the index itself only
splits at blanks.
"""

import logging
import shutil
import threading
from collections.abc import Callable, Hashable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any, TypeVar
from uuid import UUID, uuid4

import tantivy
from django.conf import settings
from django.utils.translation import gettext as _

from cassandra_db import current_time
from cassandra_db.session import keyspace_name
from catalogue import queries
from catalogue.entities import Product, ProductCard
from catalogue.filter_settings import find_colour_state
from catalogue.index_colours import (
    MAX_RECOLOURED,
    has_new_colours,
    is_recolouring,
    list_recoloured,
    note_colours,
    note_recoloured,
)
from catalogue.index_documents import SCHEMA_VERSION, list_vocabulary, make_document, make_schema
from catalogue.index_files import (
    DamageCheck,
    find_write_time,
    hold_folder,
    note,
    note_done,
    read_done,
    read_position,
)
from catalogue.operations import list_changed_products, retry_product
from jobs.rows import guard_row

T = TypeVar("T")
LOOK_EVERY_SECONDS = 1.0
# A product becomes old, or its time of sale begins, without a change of the index. So counts are kept at most this long.
COUNTED_EVERY_SECONDS = 60.0
# Clocks differ, and a change is visible a moment after it was recorded: so each run reads the last seconds anew.
OVERLAP = timedelta(seconds=20)
# A change is recorded before it is written. After this time the write has succeeded or failed; then the product is indexed again, in
# case the first time was too early and the writer has crashed.
SETTLED_AFTER = timedelta(seconds=10)
# How many products are committed at once: in a long update the first ones are found before the last ones are read.
_COMMIT_SIZE = 500
# How many results are remembered until the process looks for a newer index. A search has four; one has the cards of a page.
_MAX_KEPT = 256

log = logging.getLogger(__name__)


class SearchIndexMissing(Exception):
    """There is no index on this host yet."""


@dataclass(frozen=True)
class SearchResult:
    """A part of the results of a search, and how many products the search found in total."""

    cards: tuple[ProductCard, ...]
    total: int


@dataclass(frozen=True)
class OpenedIndex:
    """A state of the index. `kept` is what was counted in it: a newer state begins without."""

    schema: Any
    searcher: Any
    kept: dict[Hashable, Any]

    def keep(self, key: Hashable, find: Callable[[], T]) -> T:
        """Return the result of `find`, which counts in this state, remembered for COUNTED_EVERY_SECONDS."""
        if key not in self.kept:
            self.kept[key] = find()
        found: T = self.kept[key]
        return found


class IndexReader:
    """The search index as this process has opened it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.looked_at = 0.0
        self._path: Path | None = None
        self._written = 0
        self._index: Any = None
        self._check = DamageCheck()
        self._damage = ""
        self._opened: OpenedIndex | None = None
        self._kept_since = 0.0
        self.vocabulary: tuple[str, ...] = ()
        self.known_words: frozenset[str] = frozenset()
        self._found: dict[Hashable, Any] = {}

    def recall(self, key: Hashable, find: Callable[[], T]) -> T:
        """Return the result of `find`. Cache it until a newer index is looked for. Raises SearchIndexMissing."""
        self._look_if_due()
        # If another thread looks for a newer index now, this result is forgotten with the former ones.
        found = self._found
        if (result := found.get(key)) is None:
            result = find()
            if len(found) < _MAX_KEPT:
                found[key] = result
        recalled: T = result
        return recalled

    def searcher(self) -> tuple[Any, Any]:
        """Return the schema and the searcher of the current index. Raises SearchIndexMissing."""
        opened = self.opened()
        return opened.schema, opened.searcher

    def opened(self) -> OpenedIndex:
        """Return the current index as it is now. Raises SearchIndexMissing."""
        self._look_if_due()
        if (opened := self._opened) is None:
            raise SearchIndexMissing
        return opened

    def _look_if_due(self) -> None:
        home = index_home()
        has_none = self._opened is None or self._path is None or self._path.parent != home
        if not has_none and monotonic() - self.looked_at < LOOK_EVERY_SECONDS:
            return
        # Other threads go on with the index that is open while one reads a large new file.
        if self._lock.acquire(blocking=has_none):
            try:
                self._look(home)
            finally:
                self._lock.release()

    def _look(self, home: Path) -> None:
        self._found = {}
        path = _current(home)
        if path is None or (self._path and self._path.parent != home):
            self._index, self._path, self._opened = None, None, None
        if path is None:
            return
        if monotonic() - self._kept_since >= COUNTED_EVERY_SECONDS and self._opened:
            self._opened, self._kept_since = replace(self._opened, kept={}), monotonic()
        written = find_write_time(path)
        if path != self._path or written != self._written:
            damage = self._check.find_damage(path) or self._open(path)
            if damage and damage != self._damage:
                log.error("the search index %s is damaged: %s", path, damage)
            self._damage = damage
            if not damage:
                self._opened = OpenedIndex(self._index.schema, self._index.searcher(), {})
                self._kept_since, self._written = monotonic(), written
        self.looked_at = monotonic()

    def _open(self, path: Path) -> str:
        """Open an index, or its newer state. Return why it cannot be opened, or ""; then the former one stays open."""
        try:
            if path == self._path:
                self._index.reload()
                return ""
            index = tantivy.Index.open(str(path))
            # Otherwise tantivy would open each newer state by itself, without a check.
            index.config_reader("manual", 0)
            self.vocabulary = tuple((path / "vocabulary").read_text().split())
        except (ValueError, FileNotFoundError) as error:
            return str(error)
        self.known_words = frozenset(self.vocabulary)
        self._index, self._path = index, path
        return ""


READER = IndexReader()
# For whoever updates the index.
_CHECK = DamageCheck()


def build_index(products: Iterable[Product] | None = None) -> int:
    """Build a new index from these products (default: all), put it into use, and return the number of products.

    The index in use stays, and can be updated, until the new one is complete. Raises SearchIndexBusy, CassandraUnavailable.
    """
    began, colour_state = current_time(), find_colour_state()
    home = index_home()
    home.mkdir(parents=True, exist_ok=True)
    with hold_folder(home):
        path = home / f"{began:%Y%m%dT%H%M%S}-{uuid4().hex[:8]}"
        path.mkdir()
        try:
            if products is None:
                products = queries.iterate_products(_guard_product)
            count = _fill(path, products)
        except BaseException:
            shutil.rmtree(path)
            raise
        note_done(path, {})
        note_colours(path, colour_state)
        note(path / "position", began.isoformat())
        former = _current(home)
        note(_current_file(home), path.name)
        _remove_others(home, keep={path.name, former.name if former else ""})
    return count


def _fill(path: Path, products: Iterable[Product]) -> int:
    index = tantivy.Index(make_schema(), path=str(path))
    writer = index.writer(heap_size=64_000_000, num_threads=1)
    count, seen = 0, set[str]()
    try:
        for product in products:
            with _guard_product(product.product_id):
                writer.add_document(make_document(product))
                count += 1
                if product.is_on_sale(current_time()):
                    seen.update(list_vocabulary(product))
        writer.commit()
    finally:
        # The index writer's threads write files: they must end before the folder may be removed.
        writer.wait_merging_threads()
    note(path / "vocabulary", " ".join(sorted(seen)))
    return count


@dataclass(frozen=True)
class IndexUpdate:
    """What an update of the index did: how many products it wrote, the age of the oldest change, and why it built a new index."""

    count: int
    oldest: timedelta = timedelta(0)
    built_because: str = ""


def refresh_index(now: datetime) -> int:
    """Update the index, and return the number of products that were written. Raises what `update_index` raises."""
    return update_index(now).count


def update_index(now: datetime) -> IndexUpdate:
    """Update the index for the products that have changed since the last run.

    It builds an index if this host has none or a damaged one, or if changes may have vanished. Raises SearchIndexBusy if another
    process does so. Raises CassandraUnavailable.
    """
    path = _current(index_home())
    reason = _find_reason_to_build(path, now)
    if path is None or reason:
        return IndexUpdate(build_index(), built_because=reason)
    with hold_folder(path):
        changed, done, colour_state = _list_pending(path, now), read_done(path), find_colour_state()
        recoloured = list_recoloured(path) if has_new_colours(path) else []
        written = dict.fromkeys((*sorted(changed, key=changed.__getitem__), *recoloured))
        if written:
            _replace(path, list(written))
        note_recoloured(path, colour_state, is_complete=len(recoloured) < MAX_RECOLOURED)
        recent = {key: times for key, times in done.items() if times[0] > now - 2 * OVERLAP}
        note_done(path, recent | {key: (at, now) for key, at in changed.items()})
        note(path / "position", now.isoformat())
    late = _list_late(changed, done)
    return IndexUpdate(len(written), current_time() - min(late) if late else timedelta(0))


def find_index_age(now: datetime) -> timedelta | None:
    """Return the age of the oldest change that this host's index lacks; None if the index has to be built.

    Raises CassandraUnavailable.
    """
    path = _current(index_home())
    if path is None or _find_reason_to_build(path, now):
        return None
    late = _list_late(_list_pending(path, now), read_done(path))
    return max(now - min(late, default=now), timedelta(0))


def must_update_index(now: datetime) -> bool:
    """Return whether the index is missing, damaged, or lacks a change. It takes one read, at the turn of an hour two."""
    path = _current(index_home())
    return path is None or bool(
        _find_reason_to_build(path, now) or _list_pending(path, now) or is_recolouring(path)
    )


def _find_reason_to_build(path: Path | None, now: datetime) -> str:
    if path is None:
        return _("There was no index")
    if damage := _CHECK.find_damage(path):
        return damage
    # Changes are stored for a week.
    return _("The index was too old") if read_position(path) < now - timedelta(days=6) else ""


def _list_pending(path: Path, now: datetime) -> dict[UUID, datetime]:
    """Return the products whose last change the index may lack, each with the time of that change."""
    done, pending = read_done(path), {}
    found = list_changed_products(read_position(path) - OVERLAP, now + OVERLAP)
    for product_id, at in found.items():
        known, indexed_at = done.get(product_id, (at - SETTLED_AFTER, at))
        if known < at or indexed_at < at + SETTLED_AFTER <= now:
            pending[product_id] = at
    return pending


def _list_late(
    changed: dict[UUID, datetime], done: dict[UUID, tuple[datetime, datetime]]
) -> list[datetime]:
    """Return the times of the changes that were never indexed: the others are indexed again after their write must have ended."""
    return [at for key, at in changed.items() if key not in done or done[key][0] < at]


def _replace(path: Path, product_ids: Sequence[UUID]) -> None:
    index = tantivy.Index.open(str(path))
    index.config_reader("manual", 0)
    writer = index.writer(heap_size=32_000_000, num_threads=1)
    try:
        for start in range(0, len(product_ids), 100):
            part = product_ids[start : start + 100]
            found = queries.get_products_at_quorum(part, _guard_product)
            for product_id in part:
                writer.delete_documents_by_term("id", product_id.hex)
                if product := found.get(product_id):
                    with _guard_product(product_id):
                        writer.add_document(make_document(product))
            if (start + 100) % _COMMIT_SIZE == 0:
                writer.commit()
        writer.commit()
    finally:
        # Releases the writer's lock, so that the next update can write.
        writer.wait_merging_threads()


def _guard_product(product_id: UUID) -> AbstractContextManager[None]:
    return guard_row(f"index of product {product_id}", partial(retry_product, product_id))


def index_home() -> Path:
    return Path(settings.SEARCH_INDEX_DIR) / keyspace_name()


def _current_file(home: Path) -> Path:
    return home / f"current-{SCHEMA_VERSION}"


def _current(home: Path) -> Path | None:
    try:
        return home / _current_file(home).read_text().strip()
    except FileNotFoundError:
        return None


def _remove_others(home: Path, keep: set[str]) -> None:
    # The previous index stays, because a process may be about to open it.
    for path in home.iterdir():
        if path.is_dir() and path.name not in keep and (path / "meta.json").exists():
            shutil.rmtree(path)

"""A process's cache of drawn texts: parts of pages, and whole pages (decisions 044, 045).

The key of a part is its content: the rows, entities and other values that it shows, compared in full. So no part is ever
invalidated: newer texts replace unused texts. The key of a whole page is the request, and the page may be seconds old.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, fields, is_dataclass
from sys import getsizeof
from threading import Lock
from typing import Any, Generic, TypeVar
from uuid import UUID

from django.conf import settings
from moneyed import Money

T = TypeVar("T")
# The bytes that a cached text takes beside the text and the values of its key: at most 220 were measured (Python 3.11).
_ENTRY_BYTES = 250


class Content:
    """The values that a text shows, as its key: hashed once, compared in full. Raises TypeError for a value without a hash.

    The types are compared, too: 1, True and Decimal(1) are equal, but look different on a page.
    """

    __slots__ = ("_hash", "_types", "_values")

    def __init__(self, *values: Hashable) -> None:
        self._values, self._types = values, tuple(map(type, values))
        self._hash = hash(values)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Content)
            and self._types == other._types
            and self._values == other._values
        )

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + getsizeof(self._types) + _size(self._values)


def _size(value: Any) -> int:
    """Return how many bytes a value takes, together with its parts."""
    parts: Iterable[Any] = ()
    if isinstance(value, tuple | frozenset):
        parts = value
    elif isinstance(value, dict):
        parts = (*value, *value.values())
    elif is_dataclass(value):
        parts = (getattr(value, field.name) for field in fields(value))
    elif isinstance(value, Money):
        parts = (value.amount,)
    elif isinstance(value, UUID):
        parts = (value.int,)
    return getsizeof(value) + sum(map(_size, parts))


@dataclass
class _Entry(Generic[T]):
    key: Content
    found: T
    size: int


class TextCache(Generic[T]):
    """Drawn texts by their content. With their keys they take at most as many bytes as a setting says; 0 keeps no texts.

    The text whose last use is longest ago is dropped first. `hits` and `misses` count since the process began.
    """

    def __init__(self, max_bytes_setting: str) -> None:
        self.hits = self.misses = self.byte_count = 0
        self._setting = max_bytes_setting
        self._entries: OrderedDict[Content, _Entry[T]] = OrderedDict()
        self._lock = Lock()

    @property
    def max_bytes(self) -> int:
        return int(getattr(settings, self._setting))

    def get(self, key: Content, is_good: Callable[[T], bool] = lambda _: True) -> T | None:
        """Return the text for a key, or None. A text for which `is_good` is false is forgotten."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is None or not is_good(entry.found):
                self._remove(key)
                self.misses += 1
                return None
            self.hits += 1
            self._entries.move_to_end(entry.key)
            return entry.found

    def put(self, key: Content, found: T) -> None:
        """Keep a drawn text, in place of an older one with this key."""
        entry = _Entry(key, found, _size(key) + _size(found) + _ENTRY_BYTES)
        with self._lock:
            self._remove(key)
            self._entries[key] = entry
            self.byte_count += entry.size
            while self.byte_count > self.max_bytes:
                self._remove(next(iter(self._entries)))

    def _remove(self, key: Content) -> None:
        if entry := self._entries.pop(key, None):
            self.byte_count -= entry.size

    def clear(self) -> None:
        """Forget all texts."""
        with self._lock:
            self._entries.clear()
            self.byte_count = 0

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def lookup_count(self) -> int:
        return self.hits + self.misses

    @property
    def hit_percent(self) -> int:
        return 100 * self.hits // max(self.lookup_count, 1)


FRAGMENTS: TextCache[str] = TextCache("FRAGMENT_CACHE_BYTES")
WHOLE_PAGES: TextCache[Any] = TextCache("WHOLE_PAGE_CACHE_BYTES")

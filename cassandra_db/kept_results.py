"""What a process made of rows that many pages read, kept under the rows themselves (decision 121)."""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from threading import Lock
from typing import Generic, TypeVar

from cassandra_db.rows import Row

T = TypeVar("T")


class KeptResults(Generic[T]):
    """The last results by key, at most `max_count`, each of at most `max_rows` rows. A result serves only for equal rows, so nothing is
    ever invalidated.

    Every page reads its rows anew. Only the work to make a result of equal rows is saved, and equal parts of pages are compared by
    identity. The key only says which result to compare with, so a wrong key costs time and shows nothing wrong.
    """

    def __init__(self, max_count: int = 256, max_rows: int = 40) -> None:
        self._max_count, self._max_rows = max_count, max_rows
        self._kept: OrderedDict[Hashable, tuple[Sequence[Row], T]] = OrderedDict()
        self._lock = Lock()

    def get(
        self,
        key: Hashable,
        rows: Sequence[Row],
        make: Callable[[], T],
        is_good: Callable[[T], bool] = lambda _: True,
    ) -> T:
        """Return the result of these rows: the kept one if its rows are equal and `is_good` is true for it, else `make()`."""
        kept = self._kept.get(key)
        if kept is not None and kept[0] == rows and is_good(kept[1]):
            with self._lock:
                if key in self._kept:
                    self._kept.move_to_end(key)
            return kept[1]
        made = make()
        # Each row of a partition repeats its static columns, so many rows take megabytes.
        if len(rows) > self._max_rows:
            return made
        with self._lock:
            self._kept[key] = rows, made
            self._kept.move_to_end(key)
            if len(self._kept) > self._max_count:
                self._kept.popitem(last=False)
        return made

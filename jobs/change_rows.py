"""The rows of bulk changes (jobs.bulk_changes) and of imported files. Each row is handled exactly once.

The caller's function handles a row, and recognises a row that an earlier attempt has handled. The store keeps each row's result,
counts its failures, and goes back to rows without a result.
"""

# ruff: noqa: S608 - the names of tables and columns are its users’ own constants
import logging
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from cassandra.query import BoundStatement
from django.utils.translation import gettext as _

from cassandra_db import (
    REFUSED_MEANS_DONE,
    SEND_AGAIN,
    CassandraUnavailable,
    PendingResult,
    Row,
    apply_batch,
    conditional_write,
    read,
)
from jobs.rows import MAX_FAILURES, guard_row

log = logging.getLogger(__name__)

RESULTS = ("done", "unchanged", "refused", "changed")


@dataclass(frozen=True, slots=True)
class RowsOfChange:
    """All rows of one change. `owner_id` is the change's id in their keys; `name` names the change in the log."""

    owner_id: UUID
    total: int
    name: str


@dataclass(frozen=True, slots=True)
class RowTable:
    """A table of rows, and its columns beside bucket, position, result, label, reason and failures.

    `owner` is the column with the id of the change. `given` columns are written with a new row, `noted` columns later by the caller.
    `listed` columns are read beside the results of all rows. Rows are handled page by page; a bucket contains whole pages.
    """

    name: str
    owner: str
    given: Sequence[str]
    listed: Sequence[str]
    noted: Sequence[str] = ()
    bucket_length: int = 500
    page_length: int = 25


class RowStore:
    """The rows of a table, each of which is handled once. All methods raise CassandraUnavailable.

    `is_to_handle` returns whether a row is to be handled; all other rows never get a result.
    """

    def __init__(
        self, table: RowTable, is_to_handle: Callable[[Row], bool] = lambda _row: True
    ) -> None:
        owner, given = table.owner, table.given
        self._owner, self._is_to_handle = owner, is_to_handle
        self._bucket_length, self._page_length = table.bucket_length, table.page_length
        bucket = f"{owner} = :{owner} AND bucket = :bucket"
        of_row = f"WHERE {bucket} AND position = :position"
        written = (owner, "bucket", "position", *given)
        self._insert = conditional_write(
            "Q1",
            f"""INSERT INTO {table.name} ({", ".join(written)})
                VALUES ({", ".join(f":{name}" for name in written)}) IF NOT EXISTS""",
        )
        # A label that is given with a row expires with the row, so a result does not write it again.
        self._result = ("result", "reason") if "label" in given else ("result", "reason", "label")
        named = ", ".join(f"{name} = :{name}" for name in self._result)
        result = f"UPDATE {table.name} SET {named} {of_row}"
        # A row keeps the result "done", whatever another process finds later.
        self._note_done = conditional_write("Q1", f"{result} IF EXISTS")
        self._note_result = conditional_write("Q1", f"{result} IF result = :nothing")
        self._note_failure = conditional_write(
            "Q1", f"UPDATE {table.name} SET failures = :failures {of_row} IF result = :nothing"
        )
        extra = [name for name in ("label", "reason") if name not in given]
        selected = (*written, *table.noted, "failures", "result", *extra)
        self._rows = read(
            "Q1",
            f"""SELECT {", ".join(selected)} FROM {table.name}
                WHERE {bucket} AND position >= :first LIMIT :most""",
        )
        self._results = read(
            "Q1",
            f"SELECT position, result, {', '.join(table.listed)} FROM {table.name} WHERE {bucket}",
        )

    # ---- Reading

    def key_of(self, row: Row) -> dict[str, object]:
        """Return the key of a row."""
        return self._key(getattr(row, self._owner), row.position)

    def _key(self, owner_id: UUID, position: int) -> dict[str, object]:
        return {
            self._owner: owner_id,
            "bucket": position // self._bucket_length,
            "position": position,
        }

    def start_read(self, owner_id: UUID, first: int, most: int) -> PendingResult:
        """Start the read that `read` waits for; it has the same arguments."""
        bucket = first // self._bucket_length
        return self._rows.start(**{self._owner: owner_id}, bucket=bucket, first=first, most=most)

    def read(self, owner_id: UUID, first: int, most: int = 0) -> list[Row]:
        """Return the rows from position `first` on within its bucket, with all columns: at most `most` rows, or a page for 0."""
        return self.start_read(owner_id, first, most or self._page_length).rows()

    def read_again(self, row: Row) -> Row:
        """Return a row with its present values, which are read now."""
        (again,) = self.read(getattr(row, self._owner), row.position, 1)
        return again

    def iterate_results(self, rows: RowsOfChange) -> Iterator[Row]:
        """Yield position, result and the `listed` columns of all rows, bucket by bucket."""
        for bucket in range(-(-rows.total // self._bucket_length)):
            yield from self.list_bucket_results(rows.owner_id, bucket)

    def list_bucket_results(self, owner_id: UUID, bucket: int) -> list[Row]:
        """Return position, result and the `listed` columns of the rows of a bucket."""
        return self._results.all(**{self._owner: owner_id}, bucket=bucket)

    def count_results(self, rows: RowsOfChange) -> tuple[Counter[str], int | None]:
        """Return how many rows have each result. If a row has no result yet, also return where the next run continues."""
        counts, waiting = Counter[str](), None
        for row in self.iterate_results(rows):
            if row.result:
                counts[row.result] += 1
            elif waiting is None and self._is_to_handle(row):
                waiting = row.position // self._page_length * self._page_length
        return counts, waiting

    # ---- Writing

    def insert(self, owner_id: UUID, rows: Mapping[int, Mapping[str, object]]) -> None:
        """Write all rows of `rows`, keyed by position, or none. They are in one bucket. May be repeated."""
        inserts: list[BoundStatement] = [
            self._insert.bind(**self._key(owner_id, position), **values)
            for position, values in rows.items()
        ]
        apply_batch(*inserts, if_lost=REFUSED_MEANS_DONE)

    def note_done(self, owner_id: UUID, position: int, label: str | None) -> bool:
        """Write the result "done" of a row, and return True. May be repeated at any time."""
        outcome = self._note_done.apply(
            if_lost=SEND_AGAIN,
            **self._key(owner_id, position),
            **self._result_values("done", label, None),
        )
        return bool(outcome)

    def note_result(self, row: Row, result: str, label: str | None, reason: str = "") -> None:
        """Write the result and the reason of a row that was not done, unless the row has a result already."""
        self._note_result.apply(
            if_lost=SEND_AGAIN,
            **self.key_of(row),
            **self._result_values(result, label, reason or None),
            nothing=None,
        )

    def _result_values(
        self, result: str, label: str | None, reason: str | None
    ) -> dict[str, str | None]:
        values = {"result": result, "label": label, "reason": reason}
        return {name: values[name] for name in self._result}

    # ---- Handling

    def run(
        self,
        rows: RowsOfChange,
        handled: int,
        most: int,
        handle: Callable[[Row], Any],
        note_handled: Callable[[int], Any],
    ) -> tuple[int, int]:
        """Handle rows without a result, from position `handled` on. Return the next position, and how many rows were tried.

        It tries about `most` rows, and calls `note_handled` after each page with a row that it tried. `handle` does a row's work,
        unless it was done before, and writes its result. A row that failed MAX_FAILURES times is refused. Raises UnknownOutcome.
        """
        tried = 0
        while handled < rows.total and tried < most:
            page = self.read(rows.owner_id, handled)
            if not page:
                break  # the rows have expired
            for row in page:
                if not row.result:
                    tried += 1
                    if self._is_to_handle(row):
                        # A row without a result keeps the change unfinished: a later run goes back to this row.
                        name = f"row {row.position} of {rows.name}"
                        with guard_row(name), self._count_failure(row, name):
                            handle(row)
            handled = min((handled // self._page_length + 1) * self._page_length, rows.total)
            # A page whose rows all have a result is passed without a write.
            if not all(row.result for row in page):
                note_handled(handled)
        return handled, tried

    @contextmanager
    def _count_failure(self, row: Row, name: str) -> Iterator[None]:
        """Handle a row within the block. If the block raises for the MAX_FAILURES-th time, refuse the row, so that the change ends."""
        try:
            yield
        except CassandraUnavailable:
            raise
        except Exception:
            failures = (row.failures or 0) + 1
            self._note_failure.apply(
                if_lost=SEND_AGAIN, **self.key_of(row), failures=failures, nothing=None
            )
            if failures >= MAX_FAILURES:
                log.error("refused after %d failures: %s", failures, name)
                said = _("The change failed %(count)d times. Check the current values.")
                self.note_result(row, "refused", row.label, said % {"count": failures})
            raise

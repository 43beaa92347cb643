"""Bulk changes of many items, such as products. Each item is changed exactly once, also after a crash (decision 038).

The rows of a change are written first, then the change, without which nothing finds them. The callers change an item, and
recognise an item that an earlier attempt has changed: catalogue.bulk_changes for products, orders.bulk_changes for orders.
"""

# ruff: noqa: S608 - the names of tables and columns are its users’ own constants
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from functools import partial
from typing import Any, Generic, TypeVar
from uuid import UUID, uuid4

from cassandra_db import (
    REFUSED_MEANS_DONE,
    SEND_AGAIN,
    Row,
    applied_if,
    apply_batch,
    conditional_write,
    current_time,
    read,
)
from cassandra_db.side_by_side import run_side_by_side
from jobs.change_rows import RowsOfChange, RowStore, RowTable
from jobs.months import UnfinishedWork, list_months, made_at, month_of
from jobs.rows import guard_row

MAX_ITEMS = 10_000
# A change of at most this many rows runs in the request that starts it.
MAX_IN_REQUEST = 25
BUCKET_LENGTH = 500
PAGE_LENGTH = 25
MAX_LISTED = 100
MAX_A_MONTH = 10_000
# The maximum age of a page when its form is sent. A change is stored in the month in which its page was made.
MAX_PAGE_AGE = timedelta(days=1)
_CHUNK = 50
_CHANGE = (
    "change_id, selection_id, act, total, started_by, started_at, handled, counts, finished_at"
)


@dataclass(frozen=True, slots=True)
class BulkChange:
    """A change of many items. A finished change has `counts`: how many rows have each result."""

    change_id: UUID
    selection_id: UUID
    act: Any
    total: int
    started_by: UUID
    started_at: datetime
    handled: int = 0
    counts: Mapping[str, int] | None = field(default=None, hash=False)
    finished_at: datetime | None = None

    @property
    def key(self) -> dict[str, object]:
        return {"month": month_of(self.change_id), "change_id": self.change_id}

    @property
    def rows(self) -> RowsOfChange:
        return RowsOfChange(self.selection_id, self.total, f"change {self.change_id}")


@dataclass(frozen=True, slots=True)
class BulkChangeRow:
    """An item of a change, and its result. `result` is one of RESULTS, or "" while the item waits."""

    position: int
    item_id: UUID
    result: str
    label: str
    reason: str


C = TypeVar("C", bound=BulkChange)


def is_usable_id(change_id: UUID, now: datetime) -> bool:
    """Return whether a change may be started under an id: the id is time-based and less than MAX_PAGE_AGE old."""
    return change_id.version == 1 and abs(now - made_at(change_id)) < MAX_PAGE_AGE


class ChangeStore(Generic[C]):
    """The changes of one kind of item, in two tables of their own (jobs.models).

    `item` is the column with an item's id. `given` are the columns that are written with a new row, `noted` the columns that are
    written later. `pack()` of an act returns its text, and `unpack` parses this text. All methods raise CassandraUnavailable.
    """

    def __init__(
        self,
        change_class: type[C],
        unpack: Callable[[str], Any],
        *,
        changes: str,
        rows: str,
        item: str,
        given: Sequence[str] = (),
        noted: Sequence[str] = (),
    ) -> None:
        self._change_class, self.unpack, self._item = change_class, unpack, item
        self.rows = RowStore(
            RowTable(
                rows,
                "selection_id",
                given=(item, *given),
                listed=(item, "label", "reason"),
                noted=noted,
                bucket_length=BUCKET_LENGTH,
                page_length=PAGE_LENGTH,
            )
        )
        self._insert_change = conditional_write(
            "Q1",
            f"""INSERT INTO {changes} (month, change_id, selection_id, act, total, started_by, started_at, handled)
                VALUES (:month, :change_id, :selection_id, :act, :total, :started_by, :started_at, 0) IF NOT EXISTS""",
        )
        self._note_handled = conditional_write(
            "Q1",
            f"""UPDATE {changes} SET handled = :handled WHERE month = :month AND change_id = :change_id
                IF finished_at = :nothing AND selection_id = :selection_id""",
        )
        self._finish = conditional_write(
            "Q1",
            f"""UPDATE {changes} SET handled = :handled, counts = :counts, finished_at = :finished_at
                WHERE month = :month AND change_id = :change_id IF finished_at = :nothing AND selection_id = :selection_id""",
        )
        self._one = read(
            "Q1", f"SELECT {_CHANGE} FROM {changes} WHERE month = :month AND change_id = :change_id"
        )
        self._all = read("Q1", f"SELECT {_CHANGE} FROM {changes} WHERE month = :month LIMIT :most")
        self.unfinished = UnfinishedWork(changes)

    # ---- Reading

    def get_change(self, change_id: UUID) -> C | None:
        """Return a change, or None if it does not exist."""
        if change_id.version != 1:
            return None
        row = self._one.one(month=month_of(change_id), change_id=change_id)
        return self._change(row) if row and row.selection_id else None

    def list_changes(self, now: datetime) -> list[C]:
        """Return the newest changes, at most MAX_LISTED, the newest first."""
        reading = [self._all.start(month=month, most=MAX_LISTED) for month in list_months(now)]
        rows = (row for pending in reading for row in pending.rows())
        # Some cells of an expired row can outlive the others.
        found = [self._change(row) for row in rows if row.selection_id]
        return sorted(found, key=lambda each: each.started_at, reverse=True)[:MAX_LISTED]

    def iterate_changes(self, month: date) -> Iterator[C]:
        """Yield the changes that were started in a month."""
        for row in self._all.all(month=month, most=MAX_A_MONTH):
            if row.selection_id:
                yield self._change(row)

    def list_unfinished(self, months: Sequence[date]) -> list[UUID]:
        """Return the ids of the unfinished changes of these months, the oldest first."""
        return self.unfinished.list(months)

    def list_rows(self, change: C, page: int) -> list[BulkChangeRow]:
        """Return a page of a change's rows."""
        return [self._row(row) for row in self.read_rows(change, (page - 1) * PAGE_LENGTH)]

    def iterate_results(self, change: C) -> Iterator[BulkChangeRow]:
        """Yield all rows of a change, bucket by bucket."""
        for row in self.rows.iterate_results(change.rows):
            yield self._row(row)

    def read_rows(self, change: C, first: int, most: int = PAGE_LENGTH) -> list[Row]:
        """Return at most `most` stored rows from position `first` on, within its bucket."""
        return self.rows.read(change.selection_id, first, most)

    def _change(self, row: Row) -> C:
        return self._change_class(
            change_id=row.change_id,
            selection_id=row.selection_id,
            act=self.unpack(row.act),
            total=row.total,
            started_by=row.started_by,
            started_at=row.started_at,
            handled=row.handled or 0,
            counts=dict(row.counts) if row.counts else None,
            finished_at=row.finished_at,
        )

    def _row(self, row: Row) -> BulkChangeRow:
        return BulkChangeRow(
            row.position,
            getattr(row, self._item),
            row.result or "",
            row.label or "",
            row.reason or "",
        )

    # ---- Starting

    def start(
        self,
        change_id: UUID,
        act: Any,
        selected: Sequence[Mapping[str, object]],
        started_by: UUID,
        now: datetime,
    ) -> C:
        """Store a change for the worker, and return it. If a change was started under this id before, return that change.

        `selected` has the id and the given columns of each item. Raises ValueError for no item or more than MAX_ITEMS.
        """
        if not 0 < len(selected) <= MAX_ITEMS:
            raise ValueError(f"a change has 1 to {MAX_ITEMS} rows, not {len(selected)}")
        if existing := self.get_change(change_id):
            return existing
        change = self._change_class(change_id, uuid4(), act, len(selected), started_by, now)
        buckets = range(-(-len(selected) // BUCKET_LENGTH))
        run_side_by_side(
            *(partial(self._insert_rows, change, selected, bucket) for bucket in buckets)
        )

        def is_ours(row: Row) -> bool:
            return bool(row.selection_id == change.selection_id)

        insert = self._insert_change.bind(
            **change.key,
            selection_id=change.selection_id,
            act=act.pack(),
            total=change.total,
            started_by=started_by,
            started_at=now,
        )
        note = self.unfinished.bind_add(change_id)
        if apply_batch(insert, note, if_lost=applied_if(is_ours)):
            return change
        # Somebody has sent the same form at the same time. The rows of the change that was not stored expire.
        started = self.get_change(change_id)
        assert started
        return started

    def _insert_rows(
        self, change: C, selected: Sequence[Mapping[str, object]], bucket: int
    ) -> None:
        end = min((bucket + 1) * BUCKET_LENGTH, len(selected))
        for first in range(bucket * BUCKET_LENGTH, end, _CHUNK):
            positions = range(first, min(first + _CHUNK, end))
            self.rows.insert(change.selection_id, {each: selected[each] for each in positions})

    # ---- Doing

    def run(self, change: C, most: int, handle: Callable[[C, Row], None]) -> int:
        """Continue a change, and finish it when no row is left. Return how many rows were tried, about `most`.

        `handle` changes a row's item, unless an earlier attempt has done so, and writes the row's result. Raises UnknownOutcome;
        then a later run calls `handle` for this row again.
        """
        handled, tried = self.rows.run(
            change.rows, change.handled, most, partial(handle, change), partial(self._reach, change)
        )
        if handled >= change.total:
            self._finish_change(change)
        return tried

    def go_on(self, now: datetime, most: int, run: Callable[[C, int], int]) -> int:
        """Continue the unfinished changes by calling `run`. Return how many rows were tried, about `most`."""
        count = 0
        for change_id in self.list_unfinished(list_months(now)):
            if count >= most:
                break
            with guard_row(f"change {change_id}"):
                if change := self.get_change(change_id):
                    count += run(change, most - count)
        return count

    def _reach(self, change: C, handled: int) -> None:
        self._note_handled.apply(
            if_lost=SEND_AGAIN,
            **change.key,
            selection_id=change.selection_id,
            handled=handled,
            nothing=None,
        )

    def _finish_change(self, change: C) -> None:
        """Count the results and take the change off the worker's list. If a row has no result yet, go back to it instead."""
        counts, waiting = self.rows.count_results(change.rows)
        if waiting is not None:
            self._reach(change, waiting)
            return
        apply_batch(
            self._finish.bind(
                **change.key,
                selection_id=change.selection_id,
                handled=change.total,
                counts=dict(counts),
                finished_at=current_time(),
                nothing=None,
            ),
            self.unfinished.bind_remove(change.change_id),
            if_lost=REFUSED_MEANS_DONE,
        )

    def note_done(self, change: C, position: int, label: str) -> bool:
        """Write the result "done" of an item's row, and return True. May be repeated at any time."""
        return self.rows.note_done(change.selection_id, position, label)

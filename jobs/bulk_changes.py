"""Changes of many things at once: each exactly once, whatever dies on the way (decision 038).

The rows of a change are written first, then the change itself, which alone names them. What is done to a thing of a row, and how a
second try knows that it was done, is said by who uses this: products in catalogue.bulk_changes, orders in orders.bulk_changes.
"""

# ruff: noqa: S608 - the names of tables and columns are its users’ own constants
from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from functools import partial
from typing import Any, Generic, TypeVar
from uuid import UUID, uuid4

from cassandra.query import BoundStatement
from django.utils.translation import gettext as _

from cassandra_db import (
    REFUSED_MEANS_DONE,
    SEND_AGAIN,
    CassandraUnavailable,
    Row,
    applied_if,
    apply_batch,
    conditional_write,
    current_time,
    read,
)
from cassandra_db.side_by_side import run_side_by_side
from jobs.months import list_months, made_at, month_of, read_unfinished
from jobs.rows import MAX_FAILURES, guard_row

log = logging.getLogger(__name__)

MAX_ITEMS = 10_000
# So many are changed at once, in the request that asks for it.
MAX_IN_REQUEST = 25
BUCKET_LENGTH = 500
PAGE_LENGTH = 25
RESULTS = ("done", "unchanged", "refused", "changed")
MAX_LISTED = 100
MAX_A_MONTH = 10_000
# Of how old a page a submit still counts: the month of a change is that of its page.
MAX_PAGE_AGE = timedelta(days=1)
_CHUNK = 50
_KEY = "selection_id = :selection_id AND bucket = :bucket"
_CHANGE = (
    "change_id, selection_id, act, total, started_by, started_at, handled, counts, finished_at"
)


@dataclass(frozen=True, slots=True)
class BulkChange:
    """A change of many things; `counts` by result are there once it is finished."""

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


@dataclass(frozen=True, slots=True)
class BulkChangeRow:
    """A thing of a change, and what became of it: `result` is one of RESULTS, or "" while it waits."""

    position: int
    item_id: UUID
    result: str
    label: str
    reason: str


C = TypeVar("C", bound=BulkChange)


def is_usable_id(change_id: UUID, now: datetime) -> bool:
    """Return whether a change may be started under an id: it was made of a time not long ago."""
    return change_id.version == 1 and abs(now - made_at(change_id)) < MAX_PAGE_AGE


def row_key(row: Row) -> dict[str, object]:
    """Return the key of a row of a change."""
    return {"selection_id": row.selection_id, "bucket": row.bucket, "position": row.position}


class ChangeStore(Generic[C]):
    """The changes of one kind of thing, in two tables of their own (jobs.models).

    `item` is the column with a thing's id, `given` are the columns of a row that are written with it, `noted` those that are written later.
    An act has `pack()`, and `unpack` makes it of that text. All methods raise CassandraUnavailable.
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
        self._change_class, self._unpack = change_class, unpack
        self._item, self._given = item, tuple(given)
        key = ("selection_id", "bucket", "position", item)
        written = (*key, *given)
        self._insert_row = conditional_write(
            "Q1",
            f"""INSERT INTO {rows} ({", ".join(written)})
                VALUES ({", ".join(f":{each}" for each in written)}) IF NOT EXISTS""",
        )
        # What was done was done: nothing that another process has found since counts against it.
        self._note_done = conditional_write(
            "Q1",
            f"""UPDATE {rows} SET result = :result, label = :label, reason = :reason
                WHERE {_KEY} AND position = :position IF EXISTS""",
        )
        self._note_failure = conditional_write(
            "Q1",
            f"""UPDATE {rows} SET failures = :failures
                WHERE {_KEY} AND position = :position IF result = :nothing""",
        )
        self._note_refused = conditional_write(
            "Q1",
            f"""UPDATE {rows} SET result = :result, reason = :reason
                WHERE {_KEY} AND position = :position IF result = :nothing""",
        )
        self._rows = read(
            "Q1",
            f"""SELECT {", ".join((*written, *noted))}, failures, result, label, reason FROM {rows}
                WHERE {_KEY} AND position >= :first LIMIT :most""",
        )
        self._result_rows = read(
            "Q1", f"SELECT position, {item}, result, label, reason FROM {rows} WHERE {_KEY}"
        )
        self._insert_change = conditional_write(
            "Q1",
            f"""INSERT INTO {changes} (month, change_id, selection_id, act, total, started_by, started_at, handled)
                VALUES (:month, :change_id, :selection_id, :act, :total, :started_by, :started_at, 0) IF NOT EXISTS""",
        )
        self._add_unfinished = conditional_write(
            "Q1", f"UPDATE {changes} SET unfinished = unfinished + :change_ids WHERE month = :month"
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
        self._remove_unfinished = conditional_write(
            "Q1", f"UPDATE {changes} SET unfinished = unfinished - :change_ids WHERE month = :month"
        )
        self._one = read(
            "Q1", f"SELECT {_CHANGE} FROM {changes} WHERE month = :month AND change_id = :change_id"
        )
        self._all = read("Q1", f"SELECT {_CHANGE} FROM {changes} WHERE month = :month LIMIT :most")
        self._unfinished = read(
            "Q1", f"SELECT unfinished FROM {changes} WHERE month = :month LIMIT 1"
        )

    # ---- Reading

    def get_change(self, change_id: UUID) -> C | None:
        """Return a change."""
        if change_id.version != 1:
            return None
        row = self._one.one(month=month_of(change_id), change_id=change_id)
        return self._change(row) if row and row.selection_id else None

    def list_changes(self, now: datetime) -> list[C]:
        """Return the last changes, MAX_LISTED at most, those that were started last first."""
        reading = [self._all.start(month=month, most=MAX_LISTED) for month in list_months(now)]
        rows = (row for pending in reading for row in pending.rows())
        # Of a row whose time is over, some cells may stay a little longer.
        found = [self._change(row) for row in rows if row.selection_id]
        return sorted(found, key=lambda each: each.started_at, reverse=True)[:MAX_LISTED]

    def iterate_changes(self, month: date) -> Iterator[C]:
        """Yield the changes of a month."""
        for row in self._all.all(month=month, most=MAX_A_MONTH):
            if row.selection_id:
                yield self._change(row)

    def list_unfinished(self, months: Sequence[date]) -> list[UUID]:
        """Return the changes of these months that the worker is not through with, the oldest first."""
        return read_unfinished(self._unfinished, months)

    def list_rows(self, change: C, page: int) -> list[BulkChangeRow]:
        """Return a page of a change's rows."""
        return [self._row(row) for row in self.read_rows(change, (page - 1) * PAGE_LENGTH)]

    def iterate_results(self, change: C) -> Iterator[BulkChangeRow]:
        """Yield all rows of a change, bucket by bucket."""
        for bucket in range(-(-change.total // BUCKET_LENGTH)):
            for row in self._result_rows.all(selection_id=change.selection_id, bucket=bucket):
                yield self._row(row)

    def read_rows(self, change: C, first: int, most: int = PAGE_LENGTH) -> list[Row]:
        """Return rows with all their columns, as they are stored, from a position on. A bucket holds whole pages."""
        return self._rows.all(
            selection_id=change.selection_id,
            bucket=first // BUCKET_LENGTH,
            first=first,
            most=most,
        )

    def read_again(self, row: Row) -> Row:
        """Return a row as it is stored now."""
        (again,) = self._rows.all(
            selection_id=row.selection_id, bucket=row.bucket, first=row.position, most=1
        )
        return again

    def _change(self, row: Row) -> C:
        return self._change_class(
            change_id=row.change_id,
            selection_id=row.selection_id,
            act=self._unpack(row.act),
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
        """Note a change of these things, for the worker; return it, or the one that was started under its id before.

        `selected` has a thing's id and the given columns each. Raises ValueError for none or more than MAX_ITEMS.
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
        note = self._add_unfinished.bind(month=month_of(change_id), change_ids={change_id})
        if apply_batch(insert, note, if_lost=applied_if(is_ours)):
            return change
        # Somebody has sent the same form at the same time. The rows that no change names vanish with their time.
        started = self.get_change(change_id)
        assert started
        return started

    def _insert_rows(
        self, change: C, selected: Sequence[Mapping[str, object]], bucket: int
    ) -> None:
        end = min((bucket + 1) * BUCKET_LENGTH, len(selected))
        for first in range(bucket * BUCKET_LENGTH, end, _CHUNK):
            inserts: list[BoundStatement] = [
                self._insert_row.bind(
                    selection_id=change.selection_id,
                    bucket=bucket,
                    position=position,
                    **selected[position],
                )
                for position in range(first, min(first + _CHUNK, end))
            ]
            apply_batch(*inserts, if_lost=REFUSED_MEANS_DONE)

    # ---- Doing

    def run(self, change: C, most: int, handle: Callable[[C, Row], None]) -> int:
        """Go on with a change, and finish it when no row is left; return how many it has tried, about `most` of them.

        `handle` does what is to be done to the thing of a row, unless it was done before, and notes what became of it.
        A row that has failed MAX_FAILURES times is refused. Raises UnknownOutcome, too; then it is called again.
        """
        tried = 0
        while change.handled < change.total and tried < most:
            rows = self.read_rows(change, change.handled)
            if not rows:
                break  # they have expired
            for row in rows:
                if not row.result:
                    tried += 1
                    # A row without a result keeps the change unfinished: a later run goes back to it.
                    name = f"row {row.position} of change {change.change_id}"
                    with guard_row(name), self._count_failure(row, name):
                        handle(change, row)
            change = replace(change, handled=change.handled + len(rows))
            self._reach(change, change.handled)
        if change.handled >= change.total:
            self._finish_change(change)
        return tried

    @contextmanager
    def _count_failure(self, row: Row, name: str) -> Iterator[None]:
        """Handle a row within. If it raises for the MAX_FAILURES-th time, refuse the row, so that the change ends."""
        try:
            yield
        except CassandraUnavailable:
            raise
        except Exception:
            failures = (row.failures or 0) + 1
            self._note_failure.apply(
                if_lost=SEND_AGAIN, **row_key(row), failures=failures, nothing=None
            )
            if failures >= MAX_FAILURES:
                log.error("refused after %d failures: %s", failures, name)
                said = _("The shop failed %(count)d times to change it. Check what it says now.")
                self._note_refused.apply(
                    if_lost=SEND_AGAIN,
                    **row_key(row),
                    result="refused",
                    reason=said % {"count": failures},
                    nothing=None,
                )
            raise

    def go_on(self, now: datetime, most: int, run: Callable[[C, int], int]) -> int:
        """Go on with what is unfinished by `run`, about `most` rows of it; return how many it has tried."""
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
        """Count the results and take the change off the worker's list; or go back to a row that another worker has left without one."""
        rows = list(self.iterate_results(change))
        waiting = [row.position for row in rows if not row.result]
        if waiting:
            self._reach(change, min(waiting) // PAGE_LENGTH * PAGE_LENGTH)
            return
        apply_batch(
            self._finish.bind(
                **change.key,
                selection_id=change.selection_id,
                handled=change.total,
                counts=dict(Counter(row.result for row in rows)),
                finished_at=current_time(),
                nothing=None,
            ),
            self._remove_unfinished.bind(
                month=month_of(change.change_id), change_ids={change.change_id}
            ),
            if_lost=REFUSED_MEANS_DONE,
        )

    def note_done(self, change: C, position: int, label: str) -> bool:
        """Note that a thing was changed, and return True. It may be done again at any time."""
        outcome = self._note_done.apply(
            if_lost=SEND_AGAIN,
            selection_id=change.selection_id,
            bucket=position // BUCKET_LENGTH,
            position=position,
            result="done",
            label=label,
            reason=None,
        )
        return bool(outcome)

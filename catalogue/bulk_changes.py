"""Changes of many products at once: each product exactly once, whatever dies on the way (decision 038).

The rows of a change are written first, then the change itself, which alone names them. A product is changed by one conditional batch
that marks it with the change: who finds the mark has nothing left to do, and who does not find it saves over the version that
was read before the mark was looked for. So neither a repeat after a crash nor two workers at once change a product twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from functools import partial
from uuid import UUID, uuid4

from cassandra.query import BoundStatement
from django.utils.translation import gettext as _

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
from catalogue import operations, queries
from catalogue.bulk_acts import BulkAct, describe_former, restore_former, unpack_act
from catalogue.entities import Product
from catalogue.errors import ProductChanged, ProductRefused
from catalogue.prices import PricePoint, compute_reference_price
from catalogue.rules import MAX_SAVE_TRIES
from jobs.months import list_months, made_at, month_of, read_unfinished

MAX_PRODUCTS = 10_000
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

INSERT_ROW = conditional_write(
    "Q1",
    """INSERT INTO bulk_change_rows (selection_id, bucket, position, product_id, restore, expected)
       VALUES (:selection_id, :bucket, :position, :product_id, :restore, :expected) IF NOT EXISTS""",
)
NOTE_VERSION = conditional_write(
    "Q1",
    """UPDATE bulk_change_rows SET version = :version, former = :former
       WHERE selection_id = :selection_id AND bucket = :bucket AND position = :position
       IF result = :nothing AND version = :seen""",
)
# What was saved was saved: nothing that another process has found since counts against it.
NOTE_DONE = conditional_write(
    "Q1",
    """UPDATE bulk_change_rows SET result = :result, label = :label, reason = :reason
       WHERE selection_id = :selection_id AND bucket = :bucket AND position = :position IF EXISTS""",
)
NOTE_RESULT = conditional_write(
    "Q1",
    """UPDATE bulk_change_rows SET result = :result, label = :label, reason = :reason
       WHERE selection_id = :selection_id AND bucket = :bucket AND position = :position
       IF result = :nothing AND version = :seen""",
)
ROWS = read(
    "Q1",
    """SELECT selection_id, bucket, position, product_id, restore, expected, version, former, result, label, reason
       FROM bulk_change_rows WHERE selection_id = :selection_id AND bucket = :bucket AND position >= :first LIMIT :most""",
)
RESULT_ROWS = read(
    "Q1",
    """SELECT position, product_id, result, label, reason, version FROM bulk_change_rows
       WHERE selection_id = :selection_id AND bucket = :bucket""",
)
INSERT_CHANGE = conditional_write(
    "Q1",
    """INSERT INTO bulk_changes (month, change_id, selection_id, act, undoes, total, started_by, started_at, handled)
       VALUES (:month, :change_id, :selection_id, :act, :undoes, :total, :started_by, :started_at, 0) IF NOT EXISTS""",
)
ADD_UNFINISHED = conditional_write(
    "Q1", "UPDATE bulk_changes SET unfinished = unfinished + :change_ids WHERE month = :month"
)
NOTE_HANDLED = conditional_write(
    "Q1",
    """UPDATE bulk_changes SET handled = :handled WHERE month = :month AND change_id = :change_id
       IF finished_at = :nothing AND selection_id = :selection_id""",
)
FINISH_CHANGE = conditional_write(
    "Q1",
    """UPDATE bulk_changes SET handled = :handled, counts = :counts, finished_at = :finished_at
       WHERE month = :month AND change_id = :change_id IF finished_at = :nothing AND selection_id = :selection_id""",
)
REMOVE_UNFINISHED = conditional_write(
    "Q1", "UPDATE bulk_changes SET unfinished = unfinished - :change_ids WHERE month = :month"
)
CHANGE = read(
    "Q1",
    """SELECT change_id, selection_id, act, undoes, total, started_by, started_at, handled, counts, finished_at
       FROM bulk_changes WHERE month = :month AND change_id = :change_id""",
)
CHANGES = read(
    "Q1",
    """SELECT change_id, selection_id, act, undoes, total, started_by, started_at, handled, counts, finished_at
       FROM bulk_changes WHERE month = :month LIMIT :most""",
)
UNFINISHED = read("Q1", "SELECT unfinished FROM bulk_changes WHERE month = :month LIMIT 1")
MARKS = read("Q1", "SELECT bulk_change_ids FROM products WHERE product_id = :product_id LIMIT 1")


@dataclass(frozen=True, slots=True)
class BulkChange:
    """A change of many products; `counts` by result are there once it is finished."""

    change_id: UUID
    selection_id: UUID
    act: BulkAct
    total: int
    started_by: UUID
    started_at: datetime
    handled: int = 0
    counts: Mapping[str, int] | None = field(default=None, hash=False)
    finished_at: datetime | None = None
    undoes: UUID | None = None

    @property
    def key(self) -> dict[str, object]:
        return {"month": month_of(self.change_id), "change_id": self.change_id}

    @property
    def undo_id(self) -> UUID:
        """The id of the change that takes this one back: always the same, so that it happens once."""
        return UUID(int=self.change_id.int + 1)


@dataclass(frozen=True, slots=True)
class BulkChangeRow:
    """A product of a change, and what became of it: `result` is one of RESULTS, or "" while it waits."""

    position: int
    product_id: UUID
    result: str
    label: str
    reason: str
    version: int | None


@dataclass(frozen=True, slots=True)
class PreviewedProduct:
    """What would become of a product: `after` is None if it is refused, and `reason` says why."""

    before: Product
    after: Product | None
    reason: str = ""


def is_usable_id(change_id: UUID, now: datetime) -> bool:
    """Return whether a change may be started under an id: it was made of a time not long ago."""
    return change_id.version == 1 and abs(now - made_at(change_id)) < MAX_PAGE_AGE


# ---- Reading


def get_change(change_id: UUID) -> BulkChange | None:
    """Return a change. Raises CassandraUnavailable."""
    if change_id.version != 1:
        return None
    row = CHANGE.one(month=month_of(change_id), change_id=change_id)
    return _change(row) if row and row.selection_id else None


def list_changes(now: datetime) -> list[BulkChange]:
    """Return the last changes, MAX_LISTED at most, those that were started last first. Raises CassandraUnavailable."""
    reading = [CHANGES.start(month=month, most=MAX_LISTED) for month in list_months(now)]
    rows = (row for pending in reading for row in pending.rows())
    # Of a row whose time is over, some cells may stay a little longer.
    found = [_change(row) for row in rows if row.selection_id]
    return sorted(found, key=lambda each: each.started_at, reverse=True)[:MAX_LISTED]


def iterate_changes(month: date) -> Iterator[BulkChange]:
    """Yield the changes of a month. Raises CassandraUnavailable."""
    for row in CHANGES.all(month=month, most=MAX_A_MONTH):
        if row.selection_id:
            yield _change(row)


def list_unfinished(months: Sequence[date]) -> list[UUID]:
    """Return the changes of these months that the worker is not through with, the oldest first. Raises CassandraUnavailable."""
    return read_unfinished(UNFINISHED, months)


def list_rows(change: BulkChange, page: int) -> list[BulkChangeRow]:
    """Return a page of a change's rows. Raises CassandraUnavailable."""
    return [_row(row) for row in _read_rows(change, (page - 1) * PAGE_LENGTH)]


def iterate_results(change: BulkChange) -> Iterator[BulkChangeRow]:
    """Yield all rows of a change, bucket by bucket. Raises CassandraUnavailable."""
    for bucket in range(-(-change.total // BUCKET_LENGTH)):
        for row in RESULT_ROWS.all(selection_id=change.selection_id, bucket=bucket):
            yield _row(row)


def has_mark(product_id: UUID, change_id: UUID) -> bool:
    """Return whether a product was saved by a change. Raises CassandraUnavailable."""
    row = MARKS.one(product_id=product_id)
    return bool(row and change_id in (row.bulk_change_ids or ()))


def _read_rows(change: BulkChange, first: int, most: int = PAGE_LENGTH) -> list[Row]:
    # A bucket holds whole pages.
    return ROWS.all(
        selection_id=change.selection_id,
        bucket=first // BUCKET_LENGTH,
        first=first,
        most=most,
    )


def _change(row: Row) -> BulkChange:
    return BulkChange(
        change_id=row.change_id,
        selection_id=row.selection_id,
        act=unpack_act(row.act),
        total=row.total,
        started_by=row.started_by,
        started_at=row.started_at,
        handled=row.handled or 0,
        counts=dict(row.counts) if row.counts else None,
        finished_at=row.finished_at,
        undoes=row.undoes,
    )


def _row(row: Row) -> BulkChangeRow:
    return BulkChangeRow(
        row.position,
        row.product_id,
        row.result or "",
        row.label or "",
        row.reason or "",
        row.version,
    )


# ---- What would become of a product


def preview_act(act: BulkAct, product_ids: Sequence[UUID], now: datetime) -> list[PreviewedProduct]:
    """Return what an act would make of some products, in their order. Raises CassandraUnavailable."""
    reading = [queries.prefetch_product_at_quorum(each) for each in product_ids]
    found = []
    for pending in reading:
        rows = pending.rows()
        product = queries.product_from_rows(rows, now)
        if product is None:
            continue
        try:
            after = _apply_act(act, product, rows, now)
            if after != product:
                operations.check_save(after, rows, now)
        except ProductRefused as refused:
            found.append(PreviewedProduct(product, None, str(refused)))
        else:
            found.append(PreviewedProduct(product, after))
    return found


def _apply_act(act: BulkAct, product: Product, rows: Sequence[Row], now: datetime) -> Product:
    after = act.apply_to(product)
    return _cross_out(product, after, rows, now) if act.cross_out else after


def _cross_out(before: Product, after: Product, rows: Sequence[Row], now: datetime) -> Product:
    """Cross out, beside each price that falls, the highest former one that the law allows; beside the others nothing."""
    lowered = {
        new.variant_id: new
        for was, new in zip(before.variants, after.variants, strict=True)
        if new.price < was.price
    }
    asked = operations.list_asked_prices(lowered, rows, now)
    for variant_id, variant in lowered.items():
        reference = compute_reference_price(asked[variant_id], PricePoint(now, variant.price))
        if reference and reference > variant.price:
            lowered[variant_id] = replace(variant, compare_at=reference)
    return replace(
        after, variants=tuple(lowered.get(each.variant_id, each) for each in after.variants)
    )


# ---- Starting


@dataclass(frozen=True, slots=True)
class Selected:
    """A product that is to be changed; an undo says what it puts back, and of which version."""

    product_id: UUID
    restore: str | None = None
    expected: int | None = None


def start_change(
    change_id: UUID,
    act: BulkAct,
    selected: Sequence[Selected],
    started_by: UUID,
    now: datetime,
    undoes: UUID | None = None,
) -> BulkChange:
    """Note a change of these products, for the worker; return it, or the one that was started under its id before.

    Raises ValueError for none or more than MAX_PRODUCTS, CassandraUnavailable.
    """
    if not 0 < len(selected) <= MAX_PRODUCTS:
        raise ValueError(f"a change has 1 to {MAX_PRODUCTS} products, not {len(selected)}")
    if existing := get_change(change_id):
        return existing
    change = BulkChange(change_id, uuid4(), act, len(selected), started_by, now, undoes=undoes)
    buckets = range(-(-len(selected) // BUCKET_LENGTH))
    run_side_by_side(*(partial(_insert_rows, change, selected, bucket) for bucket in buckets))

    def is_ours(row: Row) -> bool:
        return bool(row.selection_id == change.selection_id)

    insert = INSERT_CHANGE.bind(
        **change.key,
        selection_id=change.selection_id,
        act=act.pack(),
        undoes=undoes,
        total=change.total,
        started_by=started_by,
        started_at=now,
    )
    note = ADD_UNFINISHED.bind(month=month_of(change_id), change_ids={change_id})
    if apply_batch(insert, note, if_lost=applied_if(is_ours)):
        return change
    # Somebody has sent the same form at the same time. The rows that no change names vanish with their time.
    started = get_change(change_id)
    assert started
    return started


def _insert_rows(change: BulkChange, selected: Sequence[Selected], bucket: int) -> None:
    end = min((bucket + 1) * BUCKET_LENGTH, len(selected))
    for first in range(bucket * BUCKET_LENGTH, end, _CHUNK):
        inserts: list[BoundStatement] = [
            INSERT_ROW.bind(
                selection_id=change.selection_id,
                bucket=bucket,
                position=position,
                product_id=selected[position].product_id,
                restore=selected[position].restore,
                expected=selected[position].expected,
            )
            for position in range(first, min(first + _CHUNK, end))
        ]
        apply_batch(*inserts, if_lost=REFUSED_MEANS_DONE)


def start_undo(change: BulkChange, started_by: UUID, now: datetime) -> BulkChange | None:
    """Note a change that takes back what a finished one has done; None if it has done nothing. Raises CassandraUnavailable."""
    selected = []
    for first in range(0, change.total, BUCKET_LENGTH):
        selected += [
            Selected(row.product_id, row.former, row.version)
            for row in _read_rows(change, first, BUCKET_LENGTH)
            if row.result == "done"
        ]
    if not selected:
        return None
    return start_change(
        change.undo_id, BulkAct("undo"), selected, started_by, now, undoes=change.change_id
    )


# ---- Doing


def run_change(change: BulkChange, most: int) -> int:
    """Go on with a change, and finish it when no product is left; return how many it has looked at, about `most` of them.

    Raises CassandraUnavailable, UnknownOutcome; then it is called again.
    """
    begun = change.handled
    while change.handled < change.total and change.handled - begun < most:
        rows = _read_rows(change, change.handled)
        if not rows:
            break  # they have expired
        for row in rows:
            if not row.result:
                _change_product(change, row)
        change = replace(change, handled=change.handled + len(rows))
        _note_handled(change, change.handled)
    if change.handled >= change.total:
        _finish_change(change)
    return change.handled - begun


def _note_handled(change: BulkChange, handled: int) -> None:
    NOTE_HANDLED.apply(
        if_lost=SEND_AGAIN,
        **change.key,
        selection_id=change.selection_id,
        handled=handled,
        nothing=None,
    )


def _finish_change(change: BulkChange) -> None:
    """Count the results and take the change off the worker's list; or go back to a row that another worker has left without one."""
    rows = list(iterate_results(change))
    waiting = [row.position for row in rows if not row.result]
    if waiting:
        _note_handled(change, min(waiting) // PAGE_LENGTH * PAGE_LENGTH)
        return
    apply_batch(
        FINISH_CHANGE.bind(
            **change.key,
            selection_id=change.selection_id,
            handled=change.total,
            counts=dict(Counter(row.result for row in rows)),
            finished_at=current_time(),
            nothing=None,
        ),
        REMOVE_UNFINISHED.bind(month=month_of(change.change_id), change_ids={change.change_id}),
        if_lost=REFUSED_MEANS_DONE,
    )


def _change_product(change: BulkChange, row: Row) -> None:
    """Change one product, unless it was done before, and note what became of it."""
    for _try in range(MAX_SAVE_TRIES):
        if row.result or _try_product(change, row):
            return
        # Somebody else has come further with the product or its row: that is what to go on from.
        row = _read_again(row)


def _try_product(change: BulkChange, row: Row) -> bool:
    """Return whether the row has its result now."""
    now = current_time()
    product_rows = queries.prefetch_product_at_quorum(row.product_id).rows()
    product = queries.product_from_rows(product_rows, now)
    # After the product was read: what is not marked now was not saved in the version that was read.
    if has_mark(row.product_id, change.change_id):
        return note_done(change, row.position, product.name if product else "")
    if product is None or row.expected not in (None, product.version):
        return _note_result(row, "changed", product)
    try:
        if row.restore:
            after = restore_former(product, row.restore)
        else:
            after = _apply_act(change.act, product, product_rows, now)
        if after == product:
            return _note_result(row, "unchanged", product)
        operations.check_save(after, product_rows, now)
    except ProductRefused as refused:
        return _note_result(row, "refused", product, str(refused))
    if not _note_version(row, product, after):
        return False
    try:
        operations.save_product(after, now, bulk_change_id=change.change_id)
    except ProductChanged:
        return False
    except ProductRefused as refused:
        noted = row._replace(version=product.version + 1)
        return _note_result(noted, "refused", product, str(refused))
    return note_done(change, row.position, product.name)


def _note_version(row: Row, product: Product, after: Product) -> bool:
    """Note what a save would replace, and which version it would make, so that an undo knows both after a crash."""
    version, former = product.version + 1, describe_former(product, after)

    def is_noted(stored: Row) -> bool:
        return bool(stored.version == version and not stored.result)

    outcome = NOTE_VERSION.apply(
        if_lost=applied_if(is_noted),
        **_row_key(row),
        version=version,
        former=former,
        nothing=None,
        seen=row.version,
    )
    return bool(outcome)


def _read_again(row: Row) -> Row:
    (again,) = ROWS.all(
        selection_id=row.selection_id, bucket=row.bucket, first=row.position, most=1
    )
    return again


def _row_key(row: Row) -> dict[str, object]:
    return {
        "selection_id": row.selection_id,
        "bucket": row.bucket,
        "position": row.position,
    }


def note_done(change: BulkChange, position: int, label: str) -> bool:
    """Note that a product was changed, and return True. It may be done again at any time."""
    outcome = NOTE_DONE.apply(
        if_lost=SEND_AGAIN,
        selection_id=change.selection_id,
        bucket=position // BUCKET_LENGTH,
        position=position,
        result="done",
        label=label,
        reason=None,
    )
    return bool(outcome)


def _note_result(row: Row, result: str, product: Product | None, reason: str = "") -> bool:
    """Note why a product was not changed, and return True, unless another worker has come further with it."""

    def is_noted(stored: Row) -> bool:
        return bool(stored.result == result)

    outcome = NOTE_RESULT.apply(
        if_lost=applied_if(is_noted),
        **_row_key(row),
        result=result,
        label=product.name if product else _("A product that is gone"),
        reason=reason or None,
        nothing=None,
        seen=row.version,
    )
    return bool(outcome)

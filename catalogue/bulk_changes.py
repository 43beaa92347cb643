"""Changes of many products at once (decision 038, jobs.bulk_changes).

Each product is changed exactly once, even after a crash or with two workers. The conditional batch that saves a product also
stores the change's mark on the product. A worker reads the product first and looks for the mark second. If the mark is there, the
product is done. If not, the save succeeds only if the product still has the version that was read.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from uuid import UUID

from django.utils.translation import gettext as _

import jobs.bulk_changes
from cassandra_db import Row, applied_if, conditional_write, current_time, read
from catalogue import operations, queries
from catalogue.bulk_acts import BulkAct, describe_former, restore_former, unpack_act
from catalogue.entities import Product
from catalogue.errors import ProductChanged, ProductRefused
from catalogue.prices import PricePoint, compute_reference_price
from catalogue.rules import MAX_ATTEMPTS
from jobs.bulk_changes import BUCKET_LENGTH, ChangeStore

NOTE_VERSION = conditional_write(
    "Q1",
    """UPDATE bulk_change_rows SET version = :version, former = :former
       WHERE selection_id = :selection_id AND bucket = :bucket AND position = :position
       IF result = :nothing AND version = :seen""",
)
NOTE_RESULT = conditional_write(
    "Q1",
    """UPDATE bulk_change_rows SET result = :result, label = :label, reason = :reason
       WHERE selection_id = :selection_id AND bucket = :bucket AND position = :position
       IF result = :nothing AND version = :seen""",
)
MARKS = read("Q1", "SELECT bulk_change_ids FROM products WHERE product_id = :product_id LIMIT 1")


@dataclass(frozen=True, slots=True)
class BulkChange(jobs.bulk_changes.BulkChange):
    """A change of many products."""

    act: BulkAct

    @property
    def undo_id(self) -> UUID:
        """The id of the change that undoes this change. It is always the same, so a change is undone only once."""
        return UUID(int=self.change_id.int + 1)

    @property
    def undoes(self) -> UUID | None:
        """The id of the change that this change undoes."""
        return UUID(int=self.change_id.int - 1) if self.act.kind == "undo" else None


STORE = ChangeStore(
    BulkChange,
    unpack_act,
    changes="bulk_changes",
    rows="bulk_change_rows",
    item="product_id",
    given=("restore", "expected"),
    noted=("version", "former"),
)
get_change, note_done = STORE.get_change, STORE.note_done
list_unfinished, iterate_results = STORE.list_unfinished, STORE.iterate_results


@dataclass(frozen=True, slots=True)
class PreviewedProduct:
    """A product in a preview. `after` is None if the change is refused; `reason` says why."""

    before: Product
    after: Product | None
    reason: str = ""


def has_mark(product_id: UUID, change_id: UUID) -> bool:
    """Return whether a change has saved a product. Raises CassandraUnavailable."""
    row = MARKS.one(product_id=product_id)
    return bool(row and change_id in (row.bulk_change_ids or ()))


def preview_act(act: BulkAct, product_ids: Sequence[UUID], now: datetime) -> list[PreviewedProduct]:
    """Return the preview of a bulk act for these products, in their order. Raises CassandraUnavailable."""
    reading = [(each, queries.prefetch_product_at_quorum(each)) for each in product_ids]
    found = []
    for product_id, pending in reading:
        rows, product = pending.rows(), None
        with queries.leave_out(product_id):
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
    """Cross out a former price beside each price that falls: the highest one that the law allows."""
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


@dataclass(frozen=True, slots=True)
class Selected:
    """A product to change. For an undo, it also has the values to restore and the version that the product must have."""

    product_id: UUID
    restore: str | None = None
    expected: int | None = None


def start_change(
    change_id: UUID, act: BulkAct, selected: Sequence[Selected], started_by: UUID, now: datetime
) -> BulkChange:
    """Store a change of these products for the worker, and return it. If a change with this id exists, it is returned unchanged.

    Raises ValueError for no product or more than MAX_ITEMS. Also raises CassandraUnavailable.
    """
    return STORE.start(change_id, act, [asdict(each) for each in selected], started_by, now)


def start_undo(change: BulkChange, started_by: UUID, now: datetime) -> BulkChange | None:
    """Store a change that undoes a finished one; return it, or None if no product was changed. Raises CassandraUnavailable."""
    selected = []
    for first in range(0, change.total, BUCKET_LENGTH):
        selected += [
            Selected(row.product_id, row.former, row.version)
            for row in STORE.read_rows(change, first, BUCKET_LENGTH)
            if row.result == "done"
        ]
    if not selected:
        return None
    return start_change(change.undo_id, BulkAct("undo"), selected, started_by, now)


def run_change(change: BulkChange, most: int) -> int:
    """Try to change about `most` further products; return how many. Finish the change when no product is left.

    Raises CassandraUnavailable and UnknownOutcome; the caller then repeats the call.
    """
    return STORE.run(change, most, _change_product)


def _change_product(change: BulkChange, row: Row) -> None:
    """Change one product unless its row has a result already. Store the result in its row."""
    for _try in range(MAX_ATTEMPTS):
        if row.result or _try_product(change, row):
            return
        # Another worker has changed the product or its row: try again from the new state.
        row = STORE.rows.read_again(row)


def _try_product(change: BulkChange, row: Row) -> bool:
    """Try one time to change a product; return whether its row now has a result."""
    now = current_time()
    product_rows = queries.prefetch_product_at_quorum(row.product_id).rows()
    product = queries.product_from_rows(product_rows, now)
    # The mark is read after the product: if the mark is missing, the product was read without this change.
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
    """Store the values that the save will replace, and the version that it will make. An undo then knows both, even after a crash."""
    version, former = product.version + 1, describe_former(product, after)
    outcome = NOTE_VERSION.apply(
        if_lost=applied_if(lambda stored: bool(stored.version == version and not stored.result)),
        **STORE.rows.key_of(row),
        version=version,
        former=former,
        nothing=None,
        seen=row.version,
    )
    return bool(outcome)


def _note_result(row: Row, result: str, product: Product | None, reason: str = "") -> bool:
    """Store the reason why a product was not changed. Return False if another worker has changed the row."""
    outcome = NOTE_RESULT.apply(
        if_lost=applied_if(lambda stored: bool(stored.result == result)),
        **STORE.rows.key_of(row),
        result=result,
        label=product.name if product else _("Product not found"),
        reason=reason or None,
        nothing=None,
        seen=row.version,
    )
    return bool(outcome)

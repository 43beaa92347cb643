"""Book arrived units and corrections, each only once. Also set the thresholds and places of stock items."""

from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from cassandra.query import BoundStatement

from cassandra_db import (
    REFUSED_MEANS_DONE,
    SEND_AGAIN,
    Outcome,
    Row,
    applied_if,
    apply_batch,
    conditional_write,
    write,
)
from inventory.entities import SENTINEL
from inventory.errors import NotEnoughAvailable, PlaceChanged, StockChanged
from inventory.operations.group_commit import write_turn
from inventory.operations.ledger import LedgerSource, write_ledger_entries

RECEIVE = conditional_write(
    "Q16",
    """UPDATE inventory SET available = available + :units, received = received + :units
       WHERE variant_id = :variant_id AND warehouse_id = :warehouse_id IF received >= 0""",
)
ADJUST = conditional_write(
    "Q16",
    """UPDATE inventory SET available = available + :units, received = received + :units
       WHERE variant_id = :variant_id AND warehouse_id = :warehouse_id IF available >= :least""",
)
# Adjusts only if no units came and none were corrected after the count; the next statement also requires that none were shipped.
ADJUST_COUNTED = conditional_write(
    "Q16",
    """UPDATE inventory SET available = available + :units, received = received + :units
       WHERE variant_id = :variant_id AND warehouse_id = :warehouse_id IF available >= :least AND received = :received""",
)
ADJUST_AS_READ = conditional_write(
    "Q16",
    """UPDATE inventory SET available = available + :units, received = received + :units
       WHERE variant_id = :variant_id AND warehouse_id = :warehouse_id
       IF available >= :least AND received = :received AND shipped = :shipped""",
)
INSERT_RECEIPT = conditional_write(
    "Q16",
    """INSERT INTO inventory (variant_id, warehouse_id, reservation_id, quantity, state, reserved_at)
       VALUES (:variant_id, :warehouse_id, :receipt_id, :units, :state, :now) IF NOT EXISTS""",
)
SEED_STOCK_ITEM = conditional_write(
    "Q16",
    """INSERT INTO inventory (variant_id, warehouse_id, reservation_id, product_id, available, reserved, committed, shipped, received, threshold)
       VALUES (:variant_id, :warehouse_id, :sentinel, :product_id, 0, 0, 0, 0, 0, :threshold) IF NOT EXISTS""",
)
SET_THRESHOLD = conditional_write(
    "Q16",
    """UPDATE inventory SET threshold = :threshold WHERE variant_id = :variant_id AND warehouse_id = :warehouse_id
       IF received >= 0 AND threshold = :seen""",
)
SET_PLACE = conditional_write(
    "Q16",
    """UPDATE inventory SET place = :place WHERE variant_id = :variant_id AND warehouse_id = :warehouse_id
       IF received >= 0 AND place = :seen""",
)
# Only writes the key: a threshold here would hide a change from `copy_stock`.
INSERT_STOCK_ITEM = write(
    "Q16",
    """INSERT INTO stock_by_product (product_id, variant_id, warehouse_id)
       VALUES (:product_id, :variant_id, :warehouse_id)""",
)


def receive_stock(
    product_id: UUID,
    variant_id: UUID,
    warehouse_id: str,
    units: int,
    threshold: int,
    receipt_id: UUID,
    now: datetime,
    actor: str = "",
) -> bool:
    """Add arrived units, once per receipt. Return whether this call booked them.

    `threshold` is for a stock item that has none yet (see `set_threshold`). Pages show the units after `copy_stock`, which the
    caller calls once for all receipts of a product. Raises ValueError for fewer than one unit. Also raises CassandraUnavailable.
    """
    if units < 1:
        raise ValueError("a receipt has at least one unit")
    stock_item = {"variant_id": variant_id, "warehouse_id": warehouse_id}
    # Written first, so that `copy_stock` knows of this stock item.
    INSERT_STOCK_ITEM.run(product_id=product_id, **stock_item)

    def book() -> Outcome:
        with write_turn(variant_id, warehouse_id):
            return apply_batch(
                RECEIVE.bind(units=units, **stock_item),
                INSERT_RECEIPT.bind(
                    units=units, state="received", receipt_id=receipt_id, now=now, **stock_item
                ),
                if_lost=applied_if(
                    lambda row: row.reservation_id == receipt_id and row.reserved_at == now
                ),
            )

    booked = book()
    if booked.current is None and not booked:
        seed_stock_item(product_id, variant_id, warehouse_id, threshold)
        booked = book()
    first = booked.current
    source = LedgerSource(receipt_id, ref=receipt_id, booked_at=now, actor=actor)
    if booked or first is None:
        write_ledger_entries(variant_id, warehouse_id, source, [("received", units)])
    elif first.state == "received":
        source = replace(source, booked_at=first.reserved_at)
        write_ledger_entries(variant_id, warehouse_id, source, [("received", first.quantity)])
    return booked.applied


def open_stock_item(product_id: UUID, variant_id: UUID, warehouse_id: str, threshold: int) -> None:
    """Let a warehouse stock a variant for the first time, with no units yet. Raises CassandraUnavailable."""
    INSERT_STOCK_ITEM.run(product_id=product_id, variant_id=variant_id, warehouse_id=warehouse_id)
    seed_stock_item(product_id, variant_id, warehouse_id, threshold)


def seed_stock_item(product_id: UUID, variant_id: UUID, warehouse_id: str, threshold: int) -> None:
    """Set a stock item's numbers to 0 if it has no numbers yet. Raises CassandraUnavailable."""
    SEED_STOCK_ITEM.apply(
        if_lost=REFUSED_MEANS_DONE,
        sentinel=SENTINEL,
        product_id=product_id,
        variant_id=variant_id,
        warehouse_id=warehouse_id,
        threshold=threshold,
    )


def set_threshold(variant_id: UUID, warehouse_id: str, threshold: int, *, seen: int | None) -> None:
    """Set the threshold at or below which a variant is low in a warehouse (0: never), if the threshold is still `seen`.

    Pages show the change after `copy_stock`. Raises LookupError without a receipt, StockChanged, CassandraUnavailable.
    """
    with write_turn(variant_id, warehouse_id):
        outcome = SET_THRESHOLD.apply(
            # Readers compare the threshold, so it does not matter which call has written it.
            if_lost=SEND_AGAIN,
            variant_id=variant_id,
            warehouse_id=warehouse_id,
            threshold=threshold,
            seen=seen,
        )
    if outcome:
        return
    current = outcome.current
    if current is None or current.received is None:
        raise LookupError(f"nothing of variant {variant_id} ever arrived in {warehouse_id}")
    if current.threshold != threshold:
        raise StockChanged


def set_place(variant_id: UUID, warehouse_id: str, place: str, *, seen: str) -> None:
    """Set the place of a variant in a warehouse ("": none), if the place is still `seen`.

    Raises LookupError without a receipt, PlaceChanged, CassandraUnavailable.
    """
    with write_turn(variant_id, warehouse_id):
        outcome = SET_PLACE.apply(
            # Readers compare the place, so it does not matter which call has written it.
            if_lost=SEND_AGAIN,
            variant_id=variant_id,
            warehouse_id=warehouse_id,
            place=place or None,
            seen=seen or None,
        )
    if outcome:
        return
    current = outcome.current
    if current is None or current.received is None:
        raise LookupError(f"nothing of variant {variant_id} ever arrived in {warehouse_id}")
    if (current.place or "") != place:
        raise PlaceChanged(current.place or "")


@dataclass(frozen=True)
class Counted:
    """How many units had been received and shipped in total (None: unknown) when staff counted a stock item."""

    received: int
    shipped: int | None = None

    def holds(self, row: Row) -> bool:
        return self.received == row.received and self.shipped in (None, row.shipped)


def _bind_adjustment(counted: Counted | None, **change: object) -> BoundStatement:
    if counted is None:
        return ADJUST.bind(**change)
    if counted.shipped is None:
        return ADJUST_COUNTED.bind(received=counted.received, **change)
    return ADJUST_AS_READ.bind(received=counted.received, shipped=counted.shipped, **change)


def adjust_stock(
    variant_id: UUID,
    warehouse_id: str,
    units: int,
    *,
    adjustment_id: UUID,
    actor: str,
    reason: str,
    now: datetime,
    counted: Counted | None = None,
) -> bool:
    """Add units to a stock item, or remove them (a negative number), once per id. Return whether this call booked it.

    Only units that are not reserved can be removed. Pages show the change after `copy_stock`. With `counted`, the correction is
    refused if units came or went after the count. Raises ValueError for 0 units or no reason, and LookupError if no units ever arrived there.
    Also raises NotEnoughAvailable, StockChanged and CassandraUnavailable.
    """
    if not units or not reason.strip():
        raise ValueError("a correction has units and a reason")
    stock_item = {"variant_id": variant_id, "warehouse_id": warehouse_id}
    change = {"units": units, "least": max(0, -units), **stock_item}
    with write_turn(variant_id, warehouse_id):
        booked = apply_batch(
            _bind_adjustment(counted, **change),
            INSERT_RECEIPT.bind(
                units=units, state="adjusted", receipt_id=adjustment_id, now=now, **stock_item
            ),
            if_lost=applied_if(
                lambda row: row.reservation_id == adjustment_id and row.reserved_at == now
            ),
        )
    first = booked.current
    if not booked:
        if first is None:
            raise LookupError(f"nothing of variant {variant_id} ever arrived in {warehouse_id}")
        if first.reservation_id != adjustment_id:
            if counted and not counted.holds(first):
                raise StockChanged
            raise NotEnoughAvailable(first.available)
        units, now = first.quantity, first.reserved_at
    write_ledger_entries(
        variant_id,
        warehouse_id,
        LedgerSource(adjustment_id, 0, adjustment_id, now, actor, reason),
        [("adjusted", units)],
    )
    return booked.applied

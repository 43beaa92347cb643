"""Units arrive, and staff correct a number that is not what they count in the warehouse. Each is booked once.

They also say from how many on a stock item is low.
"""

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
# The same, if nothing has come or was corrected since it was counted, and (below) if nothing has gone, either.
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
# The key alone: a threshold here would hide from `copy_stock` that it changes.
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
    """Add units that have arrived; a receipt that was booked before changes nothing. Returns whether it was booked now.

    `threshold` is that of a stock item which has none yet (see `set_threshold`). Pages show it after `copy_stock`, which
    the caller calls once for all of a product's receipts.
    Raises ValueError for fewer than one unit, CassandraUnavailable.
    """
    if units < 1:
        raise ValueError("a receipt has at least one unit")
    stock_item = {"variant_id": variant_id, "warehouse_id": warehouse_id}
    _list_stock_item(product_id, variant_id, warehouse_id)

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


def _list_stock_item(product_id: UUID, variant_id: UUID, warehouse_id: str) -> None:
    # Before anything else, so that `copy_stock` knows of this stock item.
    INSERT_STOCK_ITEM.run(product_id=product_id, variant_id=variant_id, warehouse_id=warehouse_id)


def open_stock_item(product_id: UUID, variant_id: UUID, warehouse_id: str, threshold: int) -> None:
    """Let a variant have stock in a warehouse where it never had any, none as yet. Raises CassandraUnavailable."""
    _list_stock_item(product_id, variant_id, warehouse_id)
    seed_stock_item(product_id, variant_id, warehouse_id, threshold)


def seed_stock_item(product_id: UUID, variant_id: UUID, warehouse_id: str, threshold: int) -> None:
    """Give a stock item its numbers, all 0, if it has none yet. Raises CassandraUnavailable."""
    SEED_STOCK_ITEM.apply(
        if_lost=REFUSED_MEANS_DONE,
        sentinel=SENTINEL,
        product_id=product_id,
        variant_id=variant_id,
        warehouse_id=warehouse_id,
        threshold=threshold,
    )


def set_threshold(variant_id: UUID, warehouse_id: str, threshold: int, *, seen: int | None) -> None:
    """Say up to how many units of a variant are low in a warehouse, 0 for never, if that was `seen` until now.

    Pages show it after `copy_stock`. Raises LookupError where nothing ever arrived, StockChanged, CassandraUnavailable.
    """
    with write_turn(variant_id, warehouse_id):
        outcome = SET_THRESHOLD.apply(
            # Who looks at it sees what is wanted, whichever call has written it.
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
    """Say where in a warehouse a variant lies, "" for nowhere in particular, if that was `seen` until now.

    Raises LookupError where nothing ever arrived, PlaceChanged, CassandraUnavailable.
    """
    with write_turn(variant_id, warehouse_id):
        outcome = SET_PLACE.apply(
            # Who looks at it sees what is wanted, whichever call has written it.
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
    """How many units had ever come, and how many had gone (None: unknown), when a stock item was counted."""

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
    """Add units to a stock item, or take them away (a negative number). Return whether it was booked now.

    A correction that was booked before changes nothing. Only units that are not reserved can be taken away.
    Pages show it after `copy_stock`. With `counted`, units that came or went after the count refuse the correction.
    Raises ValueError for no units or no reason, LookupError where nothing ever arrived, NotEnoughAvailable or StockChanged,
    with nothing changed, CassandraUnavailable.
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

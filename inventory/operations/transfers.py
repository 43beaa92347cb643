"""Move units between warehouses: two conditional batches under one id; between them the units are in transit.

    leaving -> in_transit -> arriving -> arrived          leaving -> refused

The transfer's own row decides its course. Rows of the warehouses book it, each once: the source under the transfer's id, the destination
under `make_arrival_id`. A transfer that cannot leave puts a row of no units there under the same id, which blocks later bookings. So any
process may repeat each step, and the worker finishes interrupted ones (`advance_transfer`). Only people say that units have arrived, or
call a transfer off; the units then arrive in the source.
"""

from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID

from cassandra_db import (
    SEND_AGAIN,
    CassandraUnavailable,
    Outcome,
    applied_if,
    apply_batch,
    conditional_write,
    write,
)
from inventory import queries
from inventory.entities import (
    ARRIVED,
    ARRIVING,
    DEFAULT_THRESHOLD,
    IN_TRANSIT,
    LEAVING,
    REFUSED,
    StockTransfer,
)
from inventory.errors import NotEnoughAvailable, TooManyTransfers, TransferRefused
from inventory.operations.group_commit import write_turn
from inventory.operations.ledger import LedgerSource, write_ledger_entries
from inventory.operations.receipts import ADJUST, INSERT_RECEIPT, RECEIVE, open_stock_item
from inventory.operations.stock_copies import copy_stock
from inventory.queries import MAX_OPEN_TRANSFERS, SHOP, make_arrival_id
from jobs.rows import guard_row

INSERT_TRANSFER = conditional_write(
    "Q16",
    """INSERT INTO stock_transfers (transfer_id, product_id, variant_id, source, destination, units, reason, state, actor, started_at)
       VALUES (:transfer_id, :product_id, :variant_id, :source, :destination, :units, :reason, :state, :actor, :started_at)
       IF NOT EXISTS""",
)
MOVE_TRANSFER = conditional_write(
    "Q16",
    "UPDATE stock_transfers SET state = :state WHERE transfer_id = :transfer_id IF state = :before",
)
END_TRANSFER = conditional_write(
    "Q16",
    """UPDATE stock_transfers SET state = 'arriving', arrived_in = :arrived_in, ended_by = :ended_by, ended_at = :ended_at
       WHERE transfer_id = :transfer_id IF state = 'in_transit'""",
)
INSERT_OPEN_TRANSFER = write(
    "Q16",
    """INSERT INTO open_stock_transfers (shop, transfer_id, product_id, variant_id, source, destination, units, reason, actor, started_at)
       VALUES (:shop, :transfer_id, :product_id, :variant_id, :source, :destination, :units, :reason, :actor, :started_at)""",
)
DELETE_OPEN_TRANSFER = write(
    "Q16", "DELETE FROM open_stock_transfers WHERE shop = :shop AND transfer_id = :transfer_id"
)
# The worker finishes a step that was begun this long ago.
FINISH_AFTER = timedelta(minutes=1)


def start_transfer(transfer: StockTransfer) -> StockTransfer:
    """Send units on their way, or continue a transfer that was started; return its present state.

    Raises ValueError for no units or equal warehouses, LookupError without a receipt, TooManyTransfers and NotEnoughAvailable (nothing
    changed), TransferRefused if the id belongs to another transfer, CassandraUnavailable (the caller may repeat the call).
    """
    if transfer.units < 1 or transfer.source == transfer.destination:
        raise ValueError("a transfer has units and two warehouses")
    opened = queries.prefetch_open_transfers()
    numbers = queries.prefetch_stock_numbers(transfer.variant_id, transfer.source).one()
    is_full = len(opened.rows()) >= MAX_OPEN_TRANSFERS
    if is_full and queries.get_transfer(transfer.transfer_id) is None:
        raise TooManyTransfers
    if numbers is None or numbers.received is None:
        raise LookupError(f"nothing of {transfer.variant_id} ever arrived in {transfer.source}")
    new = replace(transfer, state=LEAVING)
    columns = ("arrived_in", "ended_by", "ended_at")
    is_new = INSERT_TRANSFER.apply(
        if_lost=SEND_AGAIN,
        **{name: value for name, value in vars(new).items() if name not in columns},
    )
    stored = new if is_new else queries.get_transfer(transfer.transfer_id)
    assert stored
    if not stored.is_same_as(transfer):
        raise TransferRefused(stored)
    if not stored.is_over:
        # Recorded before units leave: a crash leaves a row too many, never one too few.
        record_open_transfer(stored)
    stored = advance_transfer(stored)
    if stored.state == REFUSED:
        raise NotEnoughAvailable(
            queries.get_stock_numbers(transfer.variant_id, transfer.source).available
        )
    return stored


def end_transfer(
    transfer: StockTransfer, warehouse_id: str, actor: str, now: datetime
) -> StockTransfer:
    """Book that a transfer has arrived in its destination or, called off, in its source. Repeating changes nothing.

    Raises ValueError for a third warehouse, TransferRefused if it is not in transit or has arrived in the other warehouse,
    CassandraUnavailable (the caller may repeat the call).
    """
    if warehouse_id not in (transfer.source, transfer.destination):
        raise ValueError(f"a transfer to {transfer.destination} does not arrive in {warehouse_id}")
    transfer = advance_transfer(transfer)
    END_TRANSFER.apply(
        # The row says where it arrives, so it does not matter which call has written it.
        if_lost=SEND_AGAIN,
        transfer_id=transfer.transfer_id,
        arrived_in=warehouse_id,
        ended_by=actor,
        ended_at=now,
    )
    stored = queries.get_transfer(transfer.transfer_id)
    assert stored
    if stored.arrived_in != warehouse_id:
        raise TransferRefused(stored)
    return advance_transfer(stored)


def advance_transfer(transfer: StockTransfer) -> StockTransfer:
    """Continue a transfer until it waits for people or is over; return its present state.

    Raises CassandraUnavailable; the caller may repeat the call.
    """
    if transfer.state == LEAVING:
        transfer = _leave(transfer)
    if transfer.state == ARRIVING:
        transfer = _arrive(transfer)
    if transfer.is_over:
        DELETE_OPEN_TRANSFER.run(shop=SHOP, transfer_id=transfer.transfer_id)
    return transfer


def record_open_transfer(transfer: StockTransfer) -> None:
    """Record an open transfer, for the worker and the staff's lists. Raises CassandraUnavailable."""
    columns = ("state", "arrived_in", "ended_by", "ended_at")
    INSERT_OPEN_TRANSFER.run(
        shop=SHOP, **{name: value for name, value in vars(transfer).items() if name not in columns}
    )


def advance_open_transfers(now: datetime) -> int:
    """Finish interrupted transfers; return how many. Transfers that wait for people stay. Raises CassandraUnavailable."""
    open_ids = [row.transfer_id for row in queries.prefetch_open_transfers().rows()]
    count = 0
    for transfer in queries.get_transfers(open_ids).values():
        began = transfer.ended_at or transfer.started_at
        if transfer.state != IN_TRANSIT and now - began > FINISH_AFTER:
            with guard_row(f"transfer {transfer.transfer_id}"):
                advance_transfer(transfer)
                count += 1
    return count


def _leave(transfer: StockTransfer) -> StockTransfer:
    """Take the units out of the source, or refuse the transfer if there are too few."""
    booking = book_leg(transfer, transfer.source, transfer.transfer_id, -transfer.units)
    state = booking or _refuse(transfer)
    if state == "transferred":
        _enter_in_ledger(transfer, transfer.source, transfer.transfer_id, -transfer.units)
        copy_stock(transfer.product_id, [(transfer.variant_id, transfer.source)])
    return _move(transfer, IN_TRANSIT if state == "transferred" else REFUSED)


def _arrive(transfer: StockTransfer) -> StockTransfer:
    """Put the units into the warehouse where they arrive."""
    key = (transfer.variant_id, transfer.arrived_in)
    arrival_id = make_arrival_id(transfer.transfer_id)
    if not book_leg(transfer, transfer.arrived_in, arrival_id, transfer.units):
        # The warehouse never had this variant.
        open_stock_item(transfer.product_id, *key, DEFAULT_THRESHOLD)
        if not book_leg(transfer, transfer.arrived_in, arrival_id, transfer.units):
            # The transfer stays visible until it is booked.
            raise CassandraUnavailable(f"transfer {transfer.transfer_id} could not be booked")
    _enter_in_ledger(transfer, transfer.arrived_in, arrival_id, transfer.units)
    # Waiting orders come before new buyers. If there are any, the pages' copy is written after they have their units.
    if not queries.list_waiting_orders(transfer.variant_id):
        copy_stock(transfer.product_id, [key])
    return _move(transfer, ARRIVED)


def book_leg(transfer: StockTransfer, warehouse_id: str, row_id: UUID, units: int) -> str:
    """Change a warehouse's numbers by these units, once; return the state of the row that books it, or "" if that failed."""
    stock_item = {"variant_id": transfer.variant_id, "warehouse_id": warehouse_id}
    # Leaving units must be free. Arriving units are there even if more were promised to orders.
    change = (
        ADJUST.bind(units=units, least=-units, **stock_item)
        if units < 0
        else RECEIVE.bind(units=units, **stock_item)
    )
    with write_turn(transfer.variant_id, warehouse_id):
        outcome = apply_batch(
            change,
            INSERT_RECEIPT.bind(
                units=units,
                state="transferred",
                receipt_id=row_id,
                now=_booked_at(transfer, units),
                **stock_item,
            ),
            # The booking row exists then, so it does not matter which call has written it.
            if_lost=SEND_AGAIN,
        )
    return "transferred" if outcome else _find_state(outcome, row_id)


def _refuse(transfer: StockTransfer) -> str:
    """Block the booking of the source; return the state of the row that decides, since the units may have left."""
    with write_turn(transfer.variant_id, transfer.source):
        refused = INSERT_RECEIPT.apply(
            if_lost=applied_if(lambda row: bool(row.state == "refused")),
            variant_id=transfer.variant_id,
            warehouse_id=transfer.source,
            receipt_id=transfer.transfer_id,
            units=0,
            state="refused",
            now=transfer.started_at,
        )
    return "refused" if refused or refused.current is None else str(refused.current.state)


def _find_state(outcome: Outcome, row_id: UUID) -> str:
    rows = (row for row in outcome.rows if len(row) > 1 and row.reservation_id == row_id)
    return next((str(row.state) for row in rows if row.state), "")


def _booked_at(transfer: StockTransfer, units: int) -> datetime:
    return transfer.started_at if units < 0 else transfer.ended_at or transfer.started_at


def _enter_in_ledger(transfer: StockTransfer, warehouse_id: str, row_id: UUID, units: int) -> None:
    write_ledger_entries(
        transfer.variant_id,
        warehouse_id,
        LedgerSource(
            transfer.transfer_id,
            ref=row_id,
            booked_at=_booked_at(transfer, units),
            actor=transfer.actor if units < 0 else transfer.ended_by,
            reason=transfer.reason,
        ),
        [("transferred", units)],
    )


def _move(transfer: StockTransfer, state: str) -> StockTransfer:
    """Store a transfer's new state, and return the transfer; another process may have brought it further."""
    moved = MOVE_TRANSFER.apply(
        if_lost=SEND_AGAIN, transfer_id=transfer.transfer_id, state=state, before=transfer.state
    )
    stored = None if moved else queries.get_transfer(transfer.transfer_id)
    return stored or replace(transfer, state=state)

"""The ledger: permanent changes of stock, entry by entry, and the numbers that are rebuilt from it.

An entry is written after its change of stock. If the change is repeated, the same entry is written again. A reservation's row is
deleted only after its entries are written. So each reservation has its row or its entries, and rebuilt numbers include all.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from cassandra_db import SEND_AGAIN, Row, conditional_write, retry_attempts, wait_for_all, write
from inventory import queries
from inventory.entities import SENTINEL, Allocation, StockNumbers
from inventory.errors import NothingReceived, StockNumbersChanging
from inventory.queries import MAX_SHARDS, ledger_shard

ENTRY = write(
    "Q16",
    """INSERT INTO stock_ledger (variant_id, warehouse_id, shard, source_id, line_number, kind, ref, units, booked_at, actor,
                                 reason)
       VALUES (:variant_id, :warehouse_id, :shard, :source_id, :line_number, :kind, :ref, :units, :booked_at, :actor,
               :reason)""",
)
DELETE_SOURCE = write(
    "Q16",
    """DELETE FROM stock_ledger
       WHERE variant_id = :variant_id AND warehouse_id = :warehouse_id AND shard = :shard AND source_id = :source_id""",
)
# The copy of the same entry in the variant's history, sorted by time, for people.
HISTORY_ENTRY = write(
    "Q16",
    """INSERT INTO stock_history (variant_id, booked_at, entry_id, warehouse_id, kind, units, source_id, actor, reason)
       VALUES (:variant_id, :booked_at, :entry_id, :warehouse_id, :kind, :units, :source_id, :actor, :reason)""",
)


@dataclass(frozen=True)
class LedgerSource:
    """The reason for a booking (an order's line, a receipt, a transfer or a correction), its time, and who booked it and why."""

    source_id: UUID
    line_number: int = 0
    ref: UUID = SENTINEL
    booked_at: datetime | None = None
    actor: str = ""
    reason: str = ""


def write_ledger_entries(
    variant_id: UUID, warehouse_id: str, source: LedgerSource, entries: Iterable[tuple[str, int]]
) -> None:
    """Write one source's entries (kind, units so far), without entries of 0 units. Raises CassandraUnavailable.

    With a `booked_at` each `ref` also gets an entry in the variant's history.
    """
    shard, writing = ledger_shard(source.source_id), []
    for kind, units in entries:
        if not units:
            continue
        entry = {
            "variant_id": variant_id,
            "warehouse_id": warehouse_id,
            "source_id": source.source_id,
            "kind": kind,
            "units": units,
            "booked_at": source.booked_at,
            "actor": source.actor or None,
            "reason": source.reason or None,
        }
        writing.append(
            ENTRY.start(shard=shard, line_number=source.line_number, ref=source.ref, **entry)
        )
        if source.booked_at:
            writing.append(HISTORY_ENTRY.start(entry_id=source.ref, **entry))
    wait_for_all(writing)


def delete_order_entries(variant_id: UUID, warehouse_id: str, order_id: UUID) -> None:
    """Delete the entries of an order that a restore has lost: nobody keeps its units. Raises CassandraUnavailable."""
    key = {"variant_id": variant_id, "warehouse_id": warehouse_id, "source_id": order_id}
    wait_for_all([DELETE_SOURCE.start(shard=shard, **key) for shard in range(MAX_SHARDS)])


def write_reservation_entries(each: Allocation, reserved: int, sent: int, released: int) -> None:
    """Write the units of a paid order that are still reserved, were shipped, or were given back. Raises CassandraUnavailable."""
    write_ledger_entries(
        each.variant_id,
        each.warehouse_id,
        LedgerSource(each.order_id, each.line_number, each.reservation_id),
        (
            ("committed", reserved + sent + released),
            ("shipped", sent),
            ("released_committed", released),
        ),
    )


UPDATE_STOCK_NUMBERS = conditional_write(
    "Q16",
    """UPDATE inventory SET received = :received, available = :available, reserved = :reserved, committed = :committed,
              shipped = :shipped
       WHERE variant_id = :variant_id AND warehouse_id = :warehouse_id
       IF received = :was_received AND available = :was_available AND reserved = :was_reserved AND committed = :was_committed
          AND shipped = :was_shipped""",
)
# How often the numbers are rebuilt if they change in the meantime.
MAX_ATTEMPTS = 5


def rebuild_stock_numbers(variant_id: UUID, warehouse_id: str) -> tuple[StockNumbers, StockNumbers]:
    """Rebuild a stock item's numbers from the ledger and its reservations; return the numbers before and after.

    The shop may go on selling: if a number changes, everything is read again. If more was sold than received, 0 are free. Raises
    NothingReceived, StockNumbersChanging (nothing is written), CassandraUnavailable.
    """
    for _ in retry_attempts(MAX_ATTEMPTS):
        was, stock_rows = queries.get_stock_item(variant_id, warehouse_id)
        entries = queries.list_ledger_entries(variant_id, warehouse_id, whole=True)
        # Many rows are read in pages. If a number changed in between, the pages do not fit together.
        numbers_again, rows_again = queries.get_stock_item(variant_id, warehouse_id)
        if (numbers_again, _row_states(rows_again)) != (was, _row_states(stock_rows)):
            continue
        rebuilt = queries.fold_stock_numbers(stock_rows, entries)
        if rebuilt.received < 1:
            raise NothingReceived(f"variant {variant_id} in {warehouse_id}")
        if rebuilt == was:
            return was, was
        outcome = UPDATE_STOCK_NUMBERS.apply(
            if_lost=SEND_AGAIN,
            variant_id=variant_id,
            warehouse_id=warehouse_id,
            **vars(rebuilt),
            **{f"was_{name}": units for name, units in vars(was).items()},
        )
        if outcome:
            return was, rebuilt
    raise StockNumbersChanging(f"variant {variant_id} in {warehouse_id}")


def _row_states(rows: Iterable[Row]) -> set[tuple[UUID, str, int, int | None]]:
    return {(row.reservation_id, row.state, row.quantity, row.sent) for row in rows}

"""The ledger: what has happened to stock for good, entry by entry, and the numbers rebuilt from it.

An entry is written after the step that it records, and again when the step is repeated; it is the same entry then.
A reservation's row is deleted only when its entries are written. So each reservation has its row, or entries that say
how it ended: numbers rebuilt from rows and ledger miss nothing, at any moment.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from cassandra_db import SEND_AGAIN, Row, conditional_write, retry_attempts, wait_for_all, write
from inventory import queries
from inventory.entities import SENTINEL, Allocation, StockNumbers
from inventory.errors import NothingReceived, StockNumbersChanging
from inventory.queries import ledger_shard

ENTRY = write(
    "Q16",
    """INSERT INTO stock_ledger (variant_id, warehouse_id, shard, source_id, line_number, kind, ref, units, booked_at, actor,
                                 reason)
       VALUES (:variant_id, :warehouse_id, :shard, :source_id, :line_number, :kind, :ref, :units, :booked_at, :actor,
               :reason)""",
)

# The same where it has a time, for people.
HISTORY_ENTRY = write(
    "Q16",
    """INSERT INTO stock_history (variant_id, booked_at, entry_id, warehouse_id, kind, units, source_id, actor, reason)
       VALUES (:variant_id, :booked_at, :entry_id, :warehouse_id, :kind, :units, :source_id, :actor, :reason)""",
)


@dataclass(frozen=True)
class LedgerSource:
    """What units are booked for: an order's line, a receipt, a transfer or a correction; when, by whom and why."""

    source_id: UUID
    line_number: int = 0
    ref: UUID = SENTINEL
    booked_at: datetime | None = None
    actor: str = ""
    reason: str = ""


def write_ledger_entries(
    variant_id: UUID, warehouse_id: str, source: LedgerSource, entries: Iterable[tuple[str, int]]
) -> None:
    """Write entries of one source: kind and units so far. Skip entries of no units. Raises CassandraUnavailable.

    A source with a `booked_at` is written to the variant's history, too: one entry for each `ref`.
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


def write_reservation_entries(each: Allocation, reserved: int, sent: int, released: int) -> None:
    """Write what has become of a paid order's units: so many are still reserved, were shipped, or are free again.

    Raises CassandraUnavailable.
    """
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
# How often the numbers are rebuilt when they change in between.
MAX_ATTEMPTS = 5


def rebuild_stock_numbers(variant_id: UUID, warehouse_id: str) -> tuple[StockNumbers, StockNumbers]:
    """Rebuild a stock item's numbers from the ledger and its reservations; return them before and after.

    Buyers may go on meanwhile: if a number has changed since it was read, everything is read again. Never lets the shop
    sell what it does not have: where more was sold than ever came, nothing is free.
    Raises NothingReceived, StockNumbersChanging, with the numbers as they were; CassandraUnavailable.
    """
    for _ in retry_attempts(MAX_ATTEMPTS):
        was, stock_rows = queries.get_stock_item(variant_id, warehouse_id)
        entries = queries.list_ledger_entries(variant_id, warehouse_id, whole=True)
        # Many rows are read page by page: if something changed in between, they never stood like this together.
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

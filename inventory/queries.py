"""Read stock: numbers, copies for pages, the ledger, lists and transfers."""

from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime
from uuid import UUID, uuid5

from cassandra import ConsistencyLevel
from django.conf import settings

from cassandra_db import LOCAL_ONE, LOCAL_QUORUM, PendingResult, Row, page_key, page_token, read
from inventory.entities import (
    BACKORDER_WAREHOUSE,
    LOW,
    SENTINEL,
    Availability,
    Backorder,
    ListedItem,
    Stock,
    StockNumbers,
    StockTransfer,
    make_reservation_id,
)
from inventory.warehouses import list_open_warehouses, list_stock_locations, list_warehouses

# Q16: a product's stock, for its pages.
STOCK = read(
    "Q16",
    """SELECT variant_id, warehouse_id, available, threshold, backorder_kind, expected_on FROM stock_by_product
       WHERE product_id = :product_id""",
    consistency=LOCAL_ONE,
)
# For decisions that must include every acknowledged write.
STOCK_NOW = STOCK.with_consistency(LOCAL_QUORUM)


def prefetch_stock(product_id: UUID) -> PendingResult:
    """Start reading a product's stock, for `stock_from_rows`."""
    return STOCK.start(product_id=product_id)


def prefetch_stock_at_quorum(product_id: UUID) -> PendingResult:
    """Start reading a product's stock at quorum, for `stock_from_rows`."""
    return STOCK_NOW.start(product_id=product_id)


def get_stock(product_id: UUID) -> dict[UUID, Stock]:
    """Return the stock of a product's received variants, read at quorum. Raises CassandraUnavailable."""
    return stock_from_rows(prefetch_stock_at_quorum(product_id).rows())


def stock_from_rows(rows: Iterable[Row]) -> dict[UUID, Stock]:
    """Return the stock by variant from rows of `stock_by_product`."""
    units: dict[UUID, dict[str, int]] = {}
    few: dict[UUID, int] = {}
    backorders: dict[UUID, Backorder] = {}
    for row in rows:
        by_warehouse = units.setdefault(row.variant_id, {})
        if row.warehouse_id != BACKORDER_WAREHOUSE:
            by_warehouse[row.warehouse_id] = row.available or 0
            few[row.variant_id] = max(few.get(row.variant_id, 0), row.threshold or 0)
        elif row.backorder_kind:
            by_warehouse[BACKORDER_WAREHOUSE] = max(row.available or 0, 0)
            expected_on = row.expected_on.date() if row.expected_on else None
            backorders[row.variant_id] = Backorder(
                row.backorder_kind, by_warehouse[BACKORDER_WAREHOUSE], expected_on
            )
    return {
        variant_id: _stock(by_warehouse, few.get(variant_id, 0), backorders.get(variant_id))
        for variant_id, by_warehouse in units.items()
    }


def _stock(by_warehouse: dict[str, int], few: int, backorder: Backorder | None) -> Stock:
    total_in_stock = sum(by_warehouse.values()) - by_warehouse.get(BACKORDER_WAREHOUSE, 0)
    promised = backorder.units if backorder else 0
    availability = (
        "ahead" if total_in_stock < 1 and promised else stock_availability(total_in_stock, few)
    )
    return Stock(max(total_in_stock, promised), availability, by_warehouse, backorder)


def stock_availability(available: int, threshold: int) -> Availability:
    """Return "out" for no unit, "few" up to the threshold, else "in"."""
    return "out" if available < 1 else "few" if available <= threshold else "in"


BEST_FIRST: tuple[Availability, ...] = ("in", "few", "ahead", "out")


def product_availability(stock: Iterable[Stock]) -> Availability:
    """Return a product's availability: the best availability of its variants."""
    found = {each.availability for each in stock}
    return next((each for each in BEST_FIRST if each in found), "out")


def list_in_stock(stock: Mapping[UUID, Stock]) -> frozenset[UUID]:
    """Return the ids of the variants that can be bought, from the stock by variant."""
    return frozenset(key for key, each in stock.items() if each.availability != "out")


# Q17: a variant's numbers in a warehouse, and the row of one reservation.
NUMBERS = read(
    "Q17",
    """SELECT reservation_id, quantity, state, line_number, product_id, available, reserved, committed, shipped, received, threshold,
              place FROM inventory WHERE variant_id = :variant_id AND warehouse_id = :warehouse_id AND reservation_id IN (:sentinel, :reservation_id)""",
)


def prefetch_stock_numbers(
    variant_id: UUID, warehouse_id: str, reservation_id: UUID = SENTINEL
) -> PendingResult:
    """Start reading a variant's numbers in a warehouse (the sentinel's row) and one reservation's row."""
    return NUMBERS.start(
        variant_id=variant_id,
        warehouse_id=warehouse_id,
        sentinel=SENTINEL,
        reservation_id=reservation_id,
    )


# Q17: some reservations of a variant in a warehouse, in one partition, and the row of its numbers. The read is serial: it first
# finishes a conditional write that a dying process has left half done, which would otherwise show up when nobody looks any more.
RESERVATIONS = read(
    "Q17",
    """SELECT reservation_id, quantity, state, order_id, line_number, product_id FROM inventory
       WHERE variant_id = :variant_id AND warehouse_id = :warehouse_id AND reservation_id IN :reservation_ids""",
    consistency=ConsistencyLevel.LOCAL_SERIAL,
)


def list_reservations(
    variant_id: UUID, warehouse_id: str, reservation_ids: Iterable[UUID]
) -> list[Row]:
    """Return the rows of a stock item's numbers and of some of its reservations, a hundred at most. Raises CassandraUnavailable."""
    return RESERVATIONS.all(
        variant_id=variant_id,
        warehouse_id=warehouse_id,
        reservation_ids=[SENTINEL, *reservation_ids],
    )


# Q17: the place of a variant in a warehouse.
PLACE = read(
    "Q17",
    "SELECT place FROM inventory WHERE variant_id = :variant_id AND warehouse_id = :warehouse_id LIMIT 1",
)


def get_places(keys: Collection[tuple[UUID, str]]) -> dict[tuple[UUID, str], str]:
    """Return the places of variants in their warehouses ("": unknown), read in parallel. Raises CassandraUnavailable."""
    reading = {
        (variant_id, warehouse_id): PLACE.start(variant_id=variant_id, warehouse_id=warehouse_id)
        for variant_id, warehouse_id in keys
    }
    return {
        key: (row.place or "") if (row := pending.one()) else "" for key, pending in reading.items()
    }


def stock_numbers_from_row(row: Row | None) -> StockNumbers:
    """Return the numbers in a row of `prefetch_stock_numbers`; all are 0 for a stock item without a receipt."""
    if row is None or row.received is None:
        return StockNumbers(0, 0, 0, 0, 0)
    return StockNumbers(row.received, row.available, row.reserved, row.committed, row.shipped)


def get_stock_numbers(variant_id: UUID, warehouse_id: str) -> StockNumbers:
    """Return the exact numbers of a variant in a warehouse; all are 0 without a receipt. Raises CassandraUnavailable."""
    return stock_numbers_from_row(prefetch_stock_numbers(variant_id, warehouse_id).one())


def get_reserved_units(order_id: UUID, lines: Mapping[UUID, int]) -> dict[UUID, int]:
    """Return the units that an unpaid order has reserved of each variant in `lines` (variant -> highest line number).

    Raises CassandraUnavailable.
    """
    reading = []
    for variant_id, last in lines.items():
        for warehouse in list_warehouses():
            for number in range(1, last + 1):
                row_id = make_reservation_id(order_id, number, variant_id, warehouse)
                pending = prefetch_stock_numbers(variant_id, warehouse, row_id)
                reading.append((variant_id, row_id, pending))
    reserved = dict.fromkeys(lines, 0)
    for variant_id, reservation_id, pending in reading:
        reserved[variant_id] += sum(
            row.quantity
            for row in pending.rows()
            if row.reservation_id == reservation_id and row.state == "held"
        )
    return reserved


# I4: the reservations that expire in a minute.
RESERVATION_EXPIRIES = read(
    "Q17",
    """SELECT minute, variant_id, warehouse_id, reservation_id, order_id, quantity FROM reservations_by_minute
       WHERE minute = :minute""",
)
# Q16: a complete stock item: its numbers, reservations, receipts, corrections, transfers and returns.
STOCK_ITEM = read(
    "Q16",
    """SELECT reservation_id, quantity, sent, state, order_id, reserved_at, available, reserved, committed, shipped, received
       FROM inventory WHERE variant_id = :variant_id AND warehouse_id = :warehouse_id""",
    timeout=30,
)


def get_stock_item(variant_id: UUID, warehouse_id: str) -> tuple[StockNumbers, list[Row]]:
    """Return a stock item's numbers and its rows, for commands. Raises CassandraUnavailable."""
    rows = STOCK_ITEM.all(variant_id=variant_id, warehouse_id=warehouse_id)
    if not rows:
        return StockNumbers(0, 0, 0, 0, 0), []
    row = rows[0]
    numbers = StockNumbers(row.received, row.available, row.reserved, row.committed, row.shipped)
    return numbers, [row for row in rows if row.state]


# The largest number of partitions of a stock item's ledger (STOCK_LEDGER_SHARDS).
MAX_SHARDS = 16


def ledger_shard(source_id: UUID) -> int:
    """Return the partition of a stock item's ledger that has the entries of an order, receipt or transfer."""
    return source_id.int % int(settings.STOCK_LEDGER_SHARDS)


# Q16: permanent changes of a variant's stock in a warehouse.
LEDGER = read(
    "Q16",
    """SELECT source_id, line_number, kind, ref, units, booked_at, actor, reason FROM stock_ledger
       WHERE variant_id = :variant_id AND warehouse_id = :warehouse_id AND shard = :shard""",
    timeout=30,
)


def list_ledger_entries(variant_id: UUID, warehouse_id: str, *, whole: bool = False) -> list[Row]:
    """Return a stock item's ledger, unordered, for commands and staff. Raises CassandraUnavailable.

    `whole` also reads the partitions of earlier values of STOCK_LEDGER_SHARDS. An entry that is in two partitions is returned
    twice, and counts once (`fold_stock_numbers`).
    """
    shards = range(MAX_SHARDS if whole else settings.STOCK_LEDGER_SHARDS)
    reading = [
        LEDGER.start(variant_id=variant_id, warehouse_id=warehouse_id, shard=shard)
        for shard in shards
    ]
    return [row for pending in reading for row in pending.rows()]


# Kinds of entries that change how many units were received in total.
BOOKED_KINDS = ("received", "adjusted", "transferred")


def fold_stock_numbers(stock_rows: Iterable[Row], entries: Iterable[Row]) -> StockNumbers:
    """Return a stock item's numbers from its rows and its ledger. The rows must be read first.

    A reservation counts by its row if it has one, else by its ledger entries. An entry's units are a running total: among
    entries with equal source, line, kind and reference, the largest counts.
    """
    received = reserved = committed = shipped = 0
    known_rows = set()
    for row in stock_rows:
        known_rows.add(row.reservation_id)
        if row.state in BOOKED_KINDS:
            received += row.quantity
        elif row.state == "returned":
            shipped -= row.quantity
        else:
            reserved += row.quantity if row.state == "held" else 0
            committed += row.quantity if row.state == "committed" else 0
            shipped += row.sent or 0
    most: dict[tuple[UUID, int, str, UUID], int] = {}
    for row in entries:
        if row.ref not in known_rows:
            key = (row.source_id, row.line_number, row.kind, row.ref)
            most[key] = row.units if key not in most else max(most[key], row.units)
    for (_, _, kind, _), units in most.items():
        received += units if kind in BOOKED_KINDS else 0
        committed += {"committed": units}.get(kind, 0)
        committed -= units if kind in ("released_committed", "shipped") else 0
        shipped += {"shipped": units, "returned": -units}.get(kind, 0)
    return StockNumbers(
        received, received - reserved - committed - shipped, reserved, committed, shipped
    )


# Q16: the variants sold before they arrive, in one small partition.
SHOP = "stoa"
BACKORDERED_VARIANTS = read(
    "Q16", "SELECT variant_id, product_id FROM backorders WHERE shop = :shop"
)


def list_backordered_variants() -> list[tuple[UUID, UUID]]:
    """Return the variants that can or could be backordered, each with its product. Raises CassandraUnavailable."""
    return [(row.variant_id, row.product_id) for row in BACKORDERED_VARIANTS.all(shop=SHOP)]


def list_waiting_orders(variant_id: UUID) -> list[UUID]:
    """Return the paid orders that wait for a variant, oldest first; none if no unit can be sent. Raises CassandraUnavailable."""
    reading = {
        warehouse: prefetch_stock_numbers(variant_id, warehouse)
        for warehouse in list_stock_locations()
    }
    numbers = {warehouse: pending.one() for warehouse, pending in reading.items()}
    backordered = numbers.pop(BACKORDER_WAREHOUSE)
    # Reserved units count, too: a process may have crashed after reserving them for a waiting order.
    if not (backordered and backordered.committed) or not any(
        row and row.available + row.reserved > 0 for row in numbers.values()
    ):
        return []
    rows = get_stock_item(variant_id, BACKORDER_WAREHOUSE)[1]
    committed = [row for row in rows if row.state == "committed"]
    committed.sort(key=lambda row: row.reserved_at)
    return list(dict.fromkeys(row.order_id for row in committed))


# Q16: a warehouse's stock items, sorted by SKU. A prefix's range ends with the prefix and the last character of Unicode.
LISTED_ITEMS = read(
    "Q16",
    """SELECT sku, variant_id, product_id FROM stock_items_by_warehouse
       WHERE warehouse_id = :warehouse_id AND list_name = :list_name AND (sku, variant_id) > (:sku, :variant_id) AND (sku) < (:before)
       LIMIT :most""",
)
_LAST_LETTER = chr(0x10FFFF)
LIST_PAGE_LENGTH = 25


class PendingListedItems:
    """A pending read of a page of a warehouse's list."""

    def __init__(self, warehouse_id: str, list_name: str, prefix: str, after: str) -> None:
        self._warehouse_id, self._name = warehouse_id, f"stock {warehouse_id} {list_name} {prefix}"
        sku, variant_id = page_key(after, self._name) if after else (prefix, SENTINEL)
        self._reading = LISTED_ITEMS.start(
            warehouse_id=warehouse_id,
            list_name=list_name,
            sku=sku,
            variant_id=variant_id,
            before=prefix + _LAST_LETTER,
            most=LIST_PAGE_LENGTH + 1,
        )

    def collect(self) -> tuple[list[ListedItem], str]:
        """Return the page's rows, and the token of the next page or "". Raises CassandraUnavailable."""
        rows = self._reading.rows()
        page_rows = rows[:LIST_PAGE_LENGTH]
        following = (
            page_token((page_rows[-1].sku, page_rows[-1].variant_id), self._name)
            if len(rows) > LIST_PAGE_LENGTH
            else ""
        )
        return [_listed_item(self._warehouse_id, row) for row in page_rows], following


def prefetch_listed_items(
    warehouse_id: str, list_name: str, prefix: str = "", after: str = ""
) -> PendingListedItems:
    """Start reading a page of a warehouse's stock items whose SKU has this prefix. Raises InvalidPageToken."""
    return PendingListedItems(warehouse_id, list_name, prefix, after)


def _listed_item(warehouse_id: str, row: Row) -> ListedItem:
    return ListedItem(warehouse_id, row.sku, row.product_id, row.variant_id)


# How many low stock items a mail lists and a page shows.
MAX_LOW = 200


def prefetch_low_items(most: int = MAX_LOW) -> dict[str, PendingResult]:
    """Start reading the low stock items of each open warehouse, at most `most` each, for `collect_low_items`."""
    return {
        warehouse.key: LISTED_ITEMS.start(
            warehouse_id=warehouse.key,
            list_name=LOW,
            sku="",
            variant_id=SENTINEL,
            before=_LAST_LETTER,
            most=most,
        )
        for warehouse in list_open_warehouses()
    }


def collect_low_items(reading: Mapping[str, PendingResult]) -> list[ListedItem]:
    """Return the low stock items by warehouse; some may no longer be low. Raises CassandraUnavailable."""
    return [
        _listed_item(warehouse, row)
        for warehouse, pending in reading.items()
        for row in pending.rows()
    ]


# Q16: transfers between warehouses.
TRANSFER = read(
    "Q16",
    """SELECT transfer_id, product_id, variant_id, source, destination, units, reason, state, actor, started_at, arrived_in, ended_by,
              ended_at
       FROM stock_transfers WHERE transfer_id = :transfer_id""",
)
OPEN_TRANSFERS = read(
    "Q16",
    """SELECT transfer_id, product_id, variant_id, source, destination, units, reason, actor, started_at
       FROM open_stock_transfers WHERE shop = :shop LIMIT :most""",
)
MAX_OPEN_TRANSFERS = 500


def get_transfers(transfer_ids: Iterable[UUID]) -> dict[UUID, StockTransfer]:
    """Return the transfers with these ids that exist; reads run in parallel. Raises CassandraUnavailable."""
    reading = [TRANSFER.start(transfer_id=each) for each in transfer_ids]
    found = [transfer_from_row(row) for pending in reading if (row := pending.one())]
    return {each.transfer_id: each for each in found}


def get_transfer(transfer_id: UUID) -> StockTransfer | None:
    """Return a transfer between warehouses, or None. Raises CassandraUnavailable."""
    return get_transfers([transfer_id]).get(transfer_id)


def transfer_from_row(row: Row) -> StockTransfer:
    """Return a row of `stock_transfers` as a transfer."""
    return StockTransfer(
        row.transfer_id,
        row.product_id,
        row.variant_id,
        row.source,
        row.destination,
        row.units,
        row.reason or "",
        row.state,
        row.actor or "",
        row.started_at,
        row.arrived_in or "",
        row.ended_by or "",
        row.ended_at,
    )


def prefetch_open_transfers() -> PendingResult:
    """Start reading the open transfers, at most MAX_OPEN_TRANSFERS."""
    return OPEN_TRANSFERS.start(shop=SHOP, most=MAX_OPEN_TRANSFERS)


def make_arrival_id(transfer_id: UUID) -> UUID:
    """Return the id of the row that books a transfer's arrival, in the destination or the source."""
    return uuid5(transfer_id, "arrived")


# Q16: the stock history of a variant, newest first.
HISTORY = read(
    "Q16",
    """SELECT booked_at, entry_id, warehouse_id, kind, units, source_id, actor, reason FROM stock_history
       WHERE variant_id = :variant_id AND (booked_at, entry_id) < (:booked_at, :entry_id) LIMIT :most""",
)
HISTORY_PAGE_LENGTH = 30
_END_OF_TIME = (datetime(9999, 1, 1, tzinfo=UTC), UUID(int=2**128 - 1))


def list_stock_history(
    variant_id: UUID, after: str = "", most: int = HISTORY_PAGE_LENGTH
) -> tuple[list[Row], str]:
    """Return a page of a variant's stock history, and the next token or "". Raises InvalidPageToken, CassandraUnavailable."""
    name = f"stock history {variant_id}"
    booked_at, entry_id = page_key(after, name) if after else _END_OF_TIME
    rows = HISTORY.all(variant_id=variant_id, booked_at=booked_at, entry_id=entry_id, most=most + 1)
    page_rows = rows[:most]
    is_more = len(rows) > most
    token = page_token((page_rows[-1].booked_at, page_rows[-1].entry_id), name) if is_more else ""
    return page_rows, token

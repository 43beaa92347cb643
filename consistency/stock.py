"""I1, I2, I4, I27, I28 and I31: stock numbers add up, reservations expire, transfers lose no unit, and the history is complete."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from threading import Lock
from time import monotonic
from uuid import UUID

from cassandra_db import Row, current_time, read, scan
from consistency.findings import Check, Scope, Violation, call, column_subjects
from inventory import operations, queries
from inventory.entities import ARRIVING, IN_TRANSIT, LEAVING, Allocation, StockNumbers
from inventory.operations import rebuild_stock_numbers
from inventory.operations.ledger import LedgerSource, delete_order_entries, write_ledger_entries
from inventory.operations.reservations import DUE_EXPIRIES
from inventory.warehouses import list_stock_locations
from jobs.minutes import floor_to_minute
from orders.jobs import expire_reservations
from orders.lifecycle import parcels
from orders.lifecycle.entities import Order
from orders.lifecycle.items import Item
from orders.lifecycle.states import CANCELLED, EXPIRED, PENDING
from orders.operations import apply_effects
from orders.queries import get_order, list_items

# How long an expired reservation may wait for the worker, which handles it two minutes later and needs time.
ONE_SWEEP = timedelta(minutes=5)

STOCK_ITEMS = scan(
    "I1",
    """SELECT DISTINCT variant_id, warehouse_id FROM inventory
       WHERE token(variant_id, warehouse_id) > :start AND token(variant_id, warehouse_id) <= :end""",
)
RESERVATION_EXPIRIES = scan(
    "I4",
    "SELECT minute, reservation_id FROM reservations_by_minute WHERE token(minute) > :start AND token(minute) <= :end",
)

TRANSFERS = scan(
    "I27",
    "SELECT transfer_id FROM stock_transfers WHERE token(transfer_id) > :start AND token(transfer_id) <= :end",
)
OPEN_TRANSFER = read(
    "I27",
    "SELECT units FROM open_stock_transfers WHERE shop = :shop AND transfer_id = :transfer_id",
)
HISTORY_ROW = read(
    "I28",
    "SELECT units FROM stock_history WHERE variant_id = :variant_id AND booked_at = :booked_at AND entry_id = :entry_id",
)

StockItemKey = tuple[UUID, str]


# ---- The units that must be reserved for an order


@dataclass(frozen=True)
class ReservedUnits:
    """The units of an order line in a warehouse, and their state: 'held' (reserved) or 'committed'; 0 and '' for no units."""

    line_number: int
    variant_id: UUID
    warehouse_id: str
    state: str
    units: int


def compare_reserved_units(
    order: Order, items: Sequence[Item]
) -> list[tuple[ReservedUnits, ReservedUnits]]:
    """Return the expected and the actual reservation of each part of an order's lines. Raises CassandraUnavailable."""
    shipped = parcels.sent_units(order.parcels())
    reading = [
        (
            each,
            queries.prefetch_stock_numbers(each.variant_id, each.warehouse_id, each.reservation_id),
        )
        for each in order.list_allocations(items)
    ]
    pairs = []
    for each, pending in reading:
        own_rows = (row for row in pending.rows() if row.reservation_id == each.reservation_id)
        gone = shipped.get(each.warehouse_id, {}).get(each.line_number, 0)
        place = each.line_number, each.variant_id, each.warehouse_id
        wanted = ReservedUnits(*place, *_expected_units(order, each.quantity - gone))
        pairs.append((wanted, ReservedUnits(*place, *_actual_units(next(own_rows, None)))))
    return pairs


def _expected_units(order: Order, left: int) -> tuple[str, int]:
    if order.state in (CANCELLED, EXPIRED) or not left:
        return "", 0
    return ("held" if order.state == PENDING else "committed"), left


def _actual_units(row: Row | None) -> tuple[str, int]:
    return (row.state, row.quantity) if row and row.quantity else ("", 0)


# ---- I1: the stock numbers


def _iterate_stock_items(scope: Scope | None) -> Iterator[StockItemKey]:
    _clear_expiries()
    if scope is not None:
        yield from (
            (variant_id, warehouse_id)
            for variant_id in sorted(scope.variants)
            for warehouse_id in list_stock_locations()
        )
    else:
        yield from ((row.variant_id, row.warehouse_id) for row in STOCK_ITEMS.iterate_table())


def _check_stock_item(stock_item: StockItemKey) -> Iterator[Violation]:
    numbers, rows = queries.get_stock_item(*stock_item)
    if rows and stock_item[1] not in list_stock_locations():
        fault = "lies where there is no warehouse any more"
        yield Violation("I31", describe_stock_item(stock_item), fault, f"{numbers.on_hand} units")
    entries = queries.list_ledger_entries(*stock_item)
    yield from _check_sums(stock_item, numbers, rows, entries)
    yield from _check_reservations(stock_item, rows)
    yield from _check_departures(stock_item, rows)
    yield from _check_history(stock_item, entries)


def describe_stock_item(stock_item: StockItemKey) -> str:
    """Return a text that names the variant and the warehouse of a stock item."""
    return f"variant {stock_item[0]} in {stock_item[1]}"


def _check_sums(
    stock_item: StockItemKey, numbers: StockNumbers, rows: Sequence[Row], entries: Sequence[Row]
) -> Iterator[Violation]:
    what, counts = describe_stock_item(stock_item), vars(numbers)
    actual = ", ".join(f"{units} {field}" for field, units in counts.items())

    fix = call(rebuild_stock_numbers, *stock_item)
    if None in counts.values():
        yield Violation("I1", what, "has no number where there has to be one", actual)
        return
    parts = numbers.available + numbers.reserved + numbers.committed + numbers.shipped
    if numbers.received != parts:
        yield Violation("I1", what, "what was received is not where the numbers say", actual, fix)
    for field, units in counts.items():
        if units < 0:
            yield Violation("I1", what, f"there is less than nothing {field}", actual, fix)
    derived = queries.fold_stock_numbers(rows, entries)
    if derived != numbers:
        entries = queries.list_ledger_entries(*stock_item, whole=True)
        yield from _check_lost_orders(stock_item, rows, entries)
        derived = queries.fold_stock_numbers(rows, entries)
    # The ledger lacks units that a loader has written without a receipt.
    if derived.received and derived != numbers:
        expected = ", ".join(f"{units} {field}" for field, units in vars(derived).items())
        fault = "the numbers are not what ledger and reservations say"
        yield Violation("I1", what, fault, f"{actual}; not {expected}", fix)


# ---- I4, and I2 from the stock item's side


def _check_lost_orders(
    stock_item: StockItemKey, rows: Sequence[Row], entries: Sequence[Row]
) -> Iterator[Violation]:
    """Check that an order whose units only the ledger knows is there: a backup may have a later ledger than orders."""
    refs = {row.reservation_id for row in rows}
    order_ids = {
        row.source_id for row in entries if row.kind == "committed" and row.ref not in refs
    }
    for order_id in sorted(order_ids):
        if get_order(order_id) is None:
            fault = f"has units in its ledger for order {order_id}, which is none"
            fix = call(delete_order_entries, *stock_item, order_id)
            yield Violation("I2", describe_stock_item(stock_item), fault, fix=fix)


def _check_reservations(stock_item: StockItemKey, rows: Sequence[Row]) -> Iterator[Violation]:
    for row in rows:
        if row.state == "held":
            yield from _check_reservation(stock_item, row, _reserved_until(row))
        elif row.state in ("committed", "ended"):
            yield from _check_committed(stock_item, row)


def _check_reservation(
    stock_item: StockItemKey, row: Row, until: datetime | None
) -> Iterator[Violation]:
    what = f"reservation {row.reservation_id} of {describe_stock_item(stock_item)} for order {row.order_id}"
    if until is None:
        fix = partial(_record_expiry, stock_item, row)
        yield Violation("I4", what, "the worker will not look when it runs out", fix=fix)
    elif until < current_time() - ONE_SWEEP:
        fault, fix = "has run out and is still reserved", partial(_expire, until)
        yield Violation("I4", what, fault, f"at {until:%H:%M}", fix)


def _record_expiry(stock_item: StockItemKey, row: Row, now: datetime) -> None:
    # The worker will soon handle an expiry and find out when the reservation ends, without line or product.
    variant_id, warehouse_id = stock_item
    allocation = Allocation(
        0, variant_id, variant_id, warehouse_id, row.quantity, row.reservation_id
    )
    operations.record_reservation_expiries(row.order_id, [allocation], now)
    _clear_expiries()


def _expire(until: datetime, now: datetime) -> None:
    expire_reservations([floor_to_minute(until)], now)
    _clear_expiries()


def _check_committed(stock_item: StockItemKey, row: Row) -> Iterator[Violation]:
    order = get_order(row.order_id) if row.order_id else None
    what = f"{row.quantity} units of {describe_stock_item(stock_item)}, row {row.reservation_id}"
    if order is None:
        yield Violation("I2", what, f"are {row.state} for order {row.order_id}, which is none")
        return
    reservation_ids = {each.reservation_id for each in order.list_allocations(list_items(order))}
    if (
        row.reservation_id not in reservation_ids
        or order.state in (CANCELLED, EXPIRED)
        or row.state == "ended"
    ):
        fault = f"are {row.state} for order {order.number} ({order.order_id}), which has no use for them"
        yield Violation("I2", what, fault, fix=partial(apply_effects, order.order_id))


def _reserved_until(row: Row) -> datetime | None:
    """Return the moment until which units are reserved: the last expiry of the reservation; None if it has no expiry."""
    now = current_time()
    order = get_order(row.order_id) if row.order_id else None
    due = DUE_EXPIRIES.list_between(order.pay_until, order.pay_until) if order else []
    found = [expiry.minute for expiry in due if expiry.reservation_id == row.reservation_id]
    # The more expensive reads follow only if needed: the expiries in the minutes around now, then in all minutes.
    if all(minute <= now for minute in found):
        found += filter(None, [_recent_expiries.get_expiries().get(row.reservation_id)])
    if not found:
        found += filter(None, [_all_expiries.get_expiries().get(row.reservation_id)])
    return max(found, default=None)


class _ExpiryCache:
    """The last expiry of each reservation, read again after half a second."""

    def __init__(self, read: Callable[[], Iterator[tuple[UUID, datetime]]]) -> None:
        self._read, self._lock = read, Lock()
        self._cached: tuple[float, dict[UUID, datetime]] | None = None

    def get_expiries(self) -> dict[UUID, datetime]:
        with self._lock:
            if self._cached is None or monotonic() - self._cached[0] > 0.5:
                found: dict[UUID, datetime] = {}
                for reservation_id, minute in self._read():
                    found[reservation_id] = max(minute, found.get(reservation_id, minute))
                self._cached = monotonic(), found
            return self._cached[1]

    def clear(self) -> None:
        self._cached = None


def _iterate_recent_expiries() -> Iterator[tuple[UUID, datetime]]:
    now, around = current_time(), timedelta(minutes=15)
    for expiry in DUE_EXPIRIES.list_between(now - around, now + around):
        yield expiry.reservation_id, expiry.minute


_recent_expiries = _ExpiryCache(_iterate_recent_expiries)
_all_expiries = _ExpiryCache(
    lambda: ((row.reservation_id, row.minute) for row in RESERVATION_EXPIRIES.iterate_table())
)


def _clear_expiries() -> None:
    _recent_expiries.clear()
    _all_expiries.clear()


# ---- I27: transfers between warehouses


def _check_transfer(transfer_id: UUID) -> Iterator[Violation]:
    """Check that a transfer's units are in transit or have arrived, and that an open transfer is in the list of open ones."""
    is_open = OPEN_TRANSFER.one(shop=queries.SHOP, transfer_id=transfer_id) is not None
    transfer = queries.get_transfer(transfer_id)
    if transfer is None:
        return
    left = -_booked_units(transfer.variant_id, transfer.source, transfer_id)
    arrival_id = queries.make_arrival_id(transfer_id)
    arrived = sum(
        _booked_units(transfer.variant_id, warehouse, arrival_id)
        for warehouse in (transfer.source, transfer.destination)
    )
    in_transit = transfer.units if transfer.state == IN_TRANSIT else 0
    detail = f"{left} left, {in_transit} in transit, {arrived} arrived: {transfer.state}"
    is_moving = transfer.state in (LEAVING, ARRIVING)
    since = current_time() - (transfer.ended_at or transfer.started_at)
    wrong = partial(Violation, "I27", f"transfer {transfer_id} of variant {transfer.variant_id}")
    if is_moving and since > ONE_SWEEP and (is_open or left):
        yield wrong("was left half done", detail, call(operations.advance_transfer, transfer))
    elif not is_moving and left != in_transit + arrived:
        yield wrong("not all that has left is in transit or has arrived", detail)
    if transfer.state == IN_TRANSIT and not is_open:
        fix = call(operations.record_open_transfer, transfer)
        yield wrong("is in transit and nobody sees it", fix=fix)


def _booked_units(variant_id: UUID, warehouse_id: str, row_id: UUID) -> int:
    rows = queries.prefetch_stock_numbers(variant_id, warehouse_id, row_id).rows()
    return sum(row.quantity or 0 for row in rows if row.reservation_id == row_id)


def _check_departures(stock_item: StockItemKey, rows: Sequence[Row]) -> Iterator[Violation]:
    """Check that each departure from a warehouse has a transfer."""
    ids = [row.reservation_id for row in rows if row.state == "transferred" and row.quantity < 0]
    known = queries.get_transfers(ids)
    for transfer_id in ids:
        if transfer_id not in known:
            what = f"transfer {transfer_id} of {describe_stock_item(stock_item)}"
            yield Violation("I27", what, "has left, and is none")


# ---- I28: the stock history


def _check_history(stock_item: StockItemKey, entries: Sequence[Row]) -> Iterator[Violation]:
    dated = [row for row in entries if row.booked_at]
    reading = [
        HISTORY_ROW.start(variant_id=stock_item[0], booked_at=row.booked_at, entry_id=row.ref)
        for row in dated
    ]
    for row, pending in zip(dated, reading, strict=True):
        found = pending.one()
        if found is None or found.units != row.units:
            source = LedgerSource(
                *(row.source_id, row.line_number, row.ref, row.booked_at),
                actor=row.actor or "",
                reason=row.reason or "",
            )
            yield Violation(
                "I28",
                f"{row.kind} {row.ref} of {describe_stock_item(stock_item)}",
                "is in the ledger, and not in the history",
                f"{row.units} units",
                call(write_ledger_entries, *stock_item, source, [(row.kind, row.units)]),
            )


CHECKS = (
    Check(
        "stock items",
        ("I1", "I2", "I4", "I27", "I28", "I31"),
        _iterate_stock_items,
        _check_stock_item,
    ),
    Check(
        "stock transfers",
        ("I27",),
        column_subjects(TRANSFERS, "transfer_id", "transfers"),
        _check_transfer,
    ),
)

"""I1 and I4: a variant's numbers in a warehouse add up to what was received, and no hold outlives its time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from threading import Lock
from time import monotonic
from uuid import UUID

from cassandra_db import Row, scan
from consistency.findings import Check, Scope, Violation
from inventory import operations as inventory
from inventory import queries
from inventory.entities import BACKORDER_WAREHOUSE, Allocation, StockNumbers
from inventory.operations import rebuild_stock_numbers
from inventory.queries import WAREHOUSES
from jobs.minutes import floor_to_minute
from orders import parcels
from orders import queries as orders
from orders.entities import Order
from orders.items import Item
from orders.jobs import expire_reservations
from orders.operations import apply_effects
from orders.states import CANCELLED, EXPIRED, PENDING

# The worker looks at a minute's holds two minutes later, every quarter of a minute, and takes its time for them.
ONE_SWEEP = timedelta(minutes=5)

SHELVES = scan(
    "I1",
    """SELECT DISTINCT variant_id, warehouse_id FROM inventory
       WHERE token(variant_id, warehouse_id) > :start AND token(variant_id, warehouse_id) <= :end""",
)
HINTS = scan(
    "I4",
    "SELECT minute, hold_id FROM holds_by_minute WHERE token(minute) > :start AND token(minute) <= :end",
)

Shelf = tuple[UUID, str]


# ---- What an order has to have on the shelves


@dataclass(frozen=True)
class Kept:
    """Units of a line in a warehouse: held, committed, or nothing ('' and 0)."""

    line_number: int
    variant_id: UUID
    warehouse_id: str
    state: str
    units: int


def kept_for(order: Order, items: Sequence[Item]) -> list[tuple[Kept, Kept]]:
    """Return, of each part of an order's lines, what has to be kept for it, and what is. Raises CassandraUnavailable."""
    sent = parcels.sent_units(order.parcels())
    reading = [
        (
            each,
            queries.prefetch_stock_numbers(each.variant_id, each.warehouse_id, each.reservation_id),
        )
        for each in order.list_allocations(items)
    ]
    pairs = []
    for each, pending in reading:
        row = next((row for row in pending.rows() if row.hold_id == each.reservation_id), None)
        gone = sent.get(each.warehouse_id, {}).get(each.line_number, 0)
        state, units = _due(order, each.quantity - gone)
        found = Kept(each.line_number, each.variant_id, each.warehouse_id, *_standing(row))
        pairs.append(
            (Kept(each.line_number, each.variant_id, each.warehouse_id, state, units), found)
        )
    return pairs


def _due(order: Order, left: int) -> tuple[str, int]:
    if order.state in (CANCELLED, EXPIRED) or not left:
        return "", 0
    return ("held" if order.state == PENDING else "committed"), left


def _standing(row: Row | None) -> tuple[str, int]:
    return (row.state, row.quantity) if row and row.quantity else ("", 0)


# ---- I1


def _shelves(only: Scope | None) -> Iterator[Shelf]:
    _hints_forgotten()
    if only is not None:
        yield from (
            (variant_id, place)
            for variant_id in sorted(only.variants)
            for place in (*WAREHOUSES, BACKORDER_WAREHOUSE)
        )
    else:
        yield from ((row.variant_id, row.warehouse_id) for row in SHELVES.iterate_table())


def _violations(shelf: Shelf) -> Iterator[Violation]:
    numbers, rows = queries.get_stock_item(*shelf)
    yield from _sums(shelf, numbers, rows)
    yield from _holds(shelf, rows)


def name(shelf: Shelf) -> str:
    """Return which variant it is, and where."""
    return f"variant {shelf[0]} in {shelf[1]}"


def _sums(shelf: Shelf, numbers: StockNumbers, rows: Sequence[Row]) -> Iterator[Violation]:
    what, there = name(shelf), vars(numbers)
    told = ", ".join(f"{units} {field}" for field, units in there.items())

    def mend(now: datetime) -> None:
        rebuild_stock_numbers(*shelf)

    if None in there.values():
        yield Violation("I1", what, "has no number where there has to be one", told)
        return
    if numbers.received != numbers.available + numbers.held + numbers.committed + numbers.shipped:
        yield Violation("I1", what, "what was received is not where the numbers say", told, mend)
    for field, units in there.items():
        if units < 0:
            yield Violation("I1", what, f"there is less than nothing {field}", told, mend)
    made = queries.fold_stock_numbers(rows, queries.list_ledger_entries(*shelf))
    if made != numbers:
        made = queries.fold_stock_numbers(rows, queries.list_ledger_entries(*shelf, whole=True))
    # Goods that a loader has put there without a receipt are in no ledger.
    if made.received and made != numbers:
        right = ", ".join(f"{units} {field}" for field, units in vars(made).items())
        yield Violation(
            "I1",
            what,
            "the numbers are not what ledger and holds say",
            f"{told}; not {right}",
            mend,
        )


# ---- I4, and I2 from the shelf's side


def _holds(shelf: Shelf, rows: Sequence[Row]) -> Iterator[Violation]:
    for row in rows:
        if row.state == "held":
            yield from _hold(shelf, row, _looked_at(row))
        elif row.state in ("committed", "ended"):
            yield from _committed(shelf, row)


def _hold(shelf: Shelf, row: Row, until: datetime | None) -> Iterator[Violation]:
    what = f"hold {row.hold_id} of {name(shelf)} for order {row.order_id}"
    if until is None:
        yield Violation("I4", what, "nobody will look when it runs out", fix=_hinted(shelf, row))
    elif until < datetime.now(UTC) - ONE_SWEEP:
        yield Violation(
            "I4", what, "has run out and is still held", f"at {until:%H:%M}", fix=_swept(until)
        )


def _hinted(shelf: Shelf, row: Row) -> Callable[[datetime], None]:
    def mend(now: datetime) -> None:
        # Neither line nor product matter to a hint; the worker looks soon, and finds out when the hold ends.
        hold = Allocation(0, shelf[0], shelf[0], shelf[1], row.quantity, row.hold_id)
        inventory.record_reservation_expiries(row.order_id, [hold], now)
        _hints_forgotten()

    return mend


def _swept(until: datetime) -> Callable[[datetime], None]:
    def mend(now: datetime) -> None:
        expire_reservations([floor_to_minute(until)], now)
        _hints_forgotten()

    return mend


def _committed(shelf: Shelf, row: Row) -> Iterator[Violation]:
    order = orders.get_order(row.order_id) if row.order_id else None
    what = f"{row.quantity} units of {name(shelf)}, row {row.hold_id}"
    if order is None:
        yield Violation("I2", what, f"are {row.state} for order {row.order_id}, which is none")
        return
    own = {each.reservation_id for each in order.list_allocations(orders.list_items(order))}
    if row.hold_id not in own or order.state in (CANCELLED, EXPIRED) or row.state == "ended":
        fault = f"are {row.state} for order {order.number} ({order.order_id}), which has no use for them"
        yield Violation("I2", what, fault, fix=lambda now: apply_effects(order.order_id, now))


def _looked_at(row: Row) -> datetime | None:
    """Return until when a hold is kept, by the last of its hints; None if there is none."""
    now = datetime.now(UTC)
    order = orders.get_order(row.order_id) if row.order_id else None
    due = queries.list_reservation_expiries([floor_to_minute(order.pay_until)]) if order else {}
    found = [
        minute for minute, hints in due.items() if row.hold_id in {hint.hold_id for hint in hints}
    ]
    # What is dearer comes later, and only where it is not looked for in vain: these minutes, and then all of them.
    if all(minute <= now for minute in found):
        found += filter(None, [_near.hints().get(row.hold_id)])
    if not found:
        found += filter(None, [_all.hints().get(row.hold_id)])
    return max(found, default=None)


class _Hints:
    """Until when each hold is kept, by the last of its hints; read anew each half second."""

    def __init__(self, read: Callable[[], Iterator[tuple[UUID, datetime]]]) -> None:
        self._read, self._lock = read, Lock()
        self._kept: tuple[float, dict[UUID, datetime]] | None = None

    def hints(self) -> dict[UUID, datetime]:
        with self._lock:
            if self._kept is None or monotonic() - self._kept[0] > 0.5:
                found: dict[UUID, datetime] = {}
                for hold_id, minute in self._read():
                    found[hold_id] = max(minute, found.get(hold_id, minute))
                self._kept = monotonic(), found
            return self._kept[1]

    def forget(self) -> None:
        self._kept = None


def _hints_of_these_minutes() -> Iterator[tuple[UUID, datetime]]:
    now = floor_to_minute(datetime.now(UTC))
    minutes = [now + timedelta(minutes=away) for away in range(-15, 16)]
    for minute, hints in queries.list_reservation_expiries(minutes).items():
        yield from ((hint.hold_id, minute) for hint in hints)


_near = _Hints(_hints_of_these_minutes)
_all = _Hints(lambda: ((row.hold_id, row.minute) for row in HINTS.iterate_table()))


def _hints_forgotten() -> None:
    _near.forget()
    _all.forget()


CHECKS = (Check("shelves", ("I1", "I2", "I4"), _shelves, _violations),)

"""Reserve an order's units: all of them or none, without a read before the first attempt (Q17)."""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from time import monotonic
from uuid import UUID

from cassandra.query import BoundStatement

from cassandra_db import CassandraUnavailable, current_time, retry_attempts, write, write_batch
from inventory.allocation import needed_units, plan_allocations, sort_allocations
from inventory.entities import BACKORDER_WAREHOUSE, Allocation, WantedLine, make_reservation_id
from inventory.errors import NothingReceived, OutOfStock
from inventory.operations.group_commit import ReservationRequest, reserve_batched
from inventory.operations.ledger import rebuild_stock_numbers
from inventory.operations.movements import release_stock
from inventory.operations.stock_copies import copy_allocated_stock
from inventory.queries import RESERVATION_EXPIRIES, prefetch_stock_numbers
from inventory.shortages import read_clock, remember_shortages
from inventory.warehouses import list_stock_locations, list_warehouses
from jobs.due_rows import DueRows
from jobs.minutes import MINUTE, floor_to_minute

log = logging.getLogger(__name__)
# How long units are reserved for a shopper who is paying.
RESERVATION_DURATION = timedelta(minutes=10)
# A record of an expiry that took longer to write counts as not written: it may have been deleted with its minute.
MAX_WRITE_DURATION = timedelta(minutes=1)
# The most expiries in one batch with rows of other partitions. Cassandra refuses such a batch above 50 KiB, but no batch within
# one partition.
MAX_EXPIRIES_BESIDE = 30
# How often a reservation is planned anew if other buyers were faster.
MAX_ATTEMPTS = 10
INSERT_RESERVATION_EXPIRY = write(
    "Q17",
    """INSERT INTO reservations_by_minute (minute, variant_id, warehouse_id, reservation_id, order_id, quantity)
       VALUES (:minute, :variant_id, :warehouse_id, :reservation_id, :order_id, :quantity)""",
)
DELETE_RESERVATION_EXPIRY = write(
    "Q17",
    """DELETE FROM reservations_by_minute
       WHERE minute = :minute AND variant_id = :variant_id AND warehouse_id = :warehouse_id AND reservation_id = :reservation_id""",
)
# A reservation is released two minutes after its expiry, when no process writes to the rows of its minute any more.
DUE_EXPIRIES = DueRows(
    job="holds",
    label="reservations of order",
    select=RESERVATION_EXPIRIES,
    insert=INSERT_RESERVATION_EXPIRY,
    delete=DELETE_RESERVATION_EXPIRY,
    wait=2 * MINUTE,
)
DELETE_MINUTE = write(
    "Q17", "DELETE FROM reservations_by_minute USING TIMESTAMP :before WHERE minute = :minute"
)


def reserve_stock(
    order_id: UUID,
    wanted_lines: Sequence[WantedLine],
    now: datetime,
    take: int = 0,
    check: Callable[[], None] = lambda: None,
    *,
    allow_backorder: bool = True,
) -> tuple[Allocation, ...]:
    """Reserve an order's units for ten minutes: all of them or none, never more than are available (Q17).

    inventory.allocation chooses the warehouses. The function first looks for the order's reservations; `FirstReservation` is for an
    order that can have none. `allow_backorder=False` takes only arrived units.
    The expiry for the sweeper is written before each reservation: a crash may leave an expiry without a reservation, never the
    reverse. Only one process may reserve for an order at a time (orders.operations ensures it); `check` raises once the process's
    claim to the order may be over. Raises OutOfStock with the true numbers and nothing reserved. Raises CassandraUnavailable or
    the error of `check`; the sweeper then releases the reservations.
    """
    run = _ReservationRun(
        order_id,
        wanted_lines,
        now,
        take,
        check,
        list_stock_locations() if allow_backorder else list_warehouses(),
    )
    if run.is_covered():
        return sort_allocations(run.reserved.values())
    return run.reserve()


class FirstReservation:
    """The first attempt to reserve an order's units. It reads nothing.

    It trusts the page's `seen_units` (by variant and warehouse), and assumes enough units where the page has no number. Refused
    batches tell the true numbers. `record`, called before `reserve`, writes the first expiries together with other rows.
    """

    def __init__(
        self,
        order_id: UUID,
        wanted_lines: Sequence[WantedLine],
        now: datetime,
        seen_units: Mapping[UUID, Mapping[str, int]] | None = None,
    ) -> None:
        locations = list_stock_locations()
        self._run = _ReservationRun(order_id, wanted_lines, now, 0, lambda: None, locations)
        self._run.assume_seen(seen_units or {})

    def record(self, *beside: BoundStatement) -> None:
        """Write `beside` and the expiries of the planned reservations. Raises CassandraUnavailable."""
        self._run.record_plan(beside)

    def reserve(self, check: Callable[[], None] = lambda: None) -> tuple[Allocation, ...]:
        """Reserve the units, as `reserve_stock` does. Raises OutOfStock, CassandraUnavailable, or the error of `check`."""
        self._run.check = check
        return self._run.reserve()


@dataclass
class _ReservationRun:
    """One call of `reserve_stock`: the known numbers of the stock items, and the units that are reserved so far.

    A stock item's number includes this call's own reservations. A number is a guess until it was read from Cassandra.
    """

    order_id: UUID
    wanted_lines: Sequence[WantedLine]
    now: datetime
    take: int
    check: Callable[[], None]
    warehouses: tuple[str, ...]
    known: dict[tuple[UUID, str], int] = field(default_factory=dict)
    guessed: set[tuple[UUID, str]] = field(default_factory=set)
    reserved: dict[UUID, Allocation] = field(default_factory=dict)
    released: set[Allocation] = field(default_factory=set)
    # The first plan's allocations whose expiries were written before.
    recorded: tuple[Allocation, ...] = ()
    # when Cassandra told the numbers of each stock item
    heard_at: dict[tuple[UUID, str], float] = field(default_factory=dict)
    began: float = field(default_factory=read_clock)

    def __post_init__(self) -> None:
        self.needed = needed_units(self.wanted_lines)

    def known_units(self, variant_id: UUID, warehouse: str) -> int:
        return self.known.get((variant_id, warehouse), 0)

    def assume_seen(self, seen: Mapping[UUID, Mapping[str, int]]) -> None:
        """Guess the numbers that the page saw. Where it saw none, assume enough units until a write is refused."""
        for variant_id, most in self.needed.items():
            units = seen.get(variant_id)
            for warehouse in self.warehouses:
                unseen = most if units is None and warehouse != BACKORDER_WAREHOUSE else 0
                self.known[variant_id, warehouse] = (
                    unseen if units is None else units.get(warehouse, 0)
                )
                self.guessed.add((variant_id, warehouse))

    def is_covered(self) -> bool:
        """Read the stock items and the order's reservations; return whether the reservations are exactly the wanted units."""
        wanted_by_reservation = {
            make_reservation_id(
                self.order_id, want.line_number, want.variant_id, warehouse, self.take
            ): (want, warehouse)
            for want in self.wanted_lines
            for warehouse in self.warehouses
        }
        reading = [
            (prefetch_stock_numbers(want.variant_id, warehouse, id_), id_)
            for id_, (want, warehouse) in wanted_by_reservation.items()
        ]
        self.known = {
            (variant_id, warehouse): 0
            for variant_id in self.needed
            for warehouse in self.warehouses
        }
        for pending, reservation_id in reading:
            want, warehouse = wanted_by_reservation[reservation_id]
            for row in pending.rows():
                self.known[want.variant_id, warehouse] = row.available or 0
                if row.reservation_id == reservation_id:
                    ids = (want.line_number, want.product_id, want.variant_id)
                    self.reserved[reservation_id] = Allocation(
                        *ids, warehouse, row.quantity, reservation_id, self.order_id
                    )
        missing = {want.line_number: want.quantity for want in self.wanted_lines}
        for each in self.reserved.values():
            missing[each.line_number] -= each.quantity
        if any(missing.values()):
            for each in self.reserved.values():
                self.known[each.variant_id, each.warehouse_id] += each.quantity
            return False
        return True

    def record_plan(self, beside: Sequence[BoundStatement]) -> None:
        """Write `beside` and the expiries of the present plan. Raises CassandraUnavailable."""
        plan = self._plan() or ()
        self._record(plan, beside)
        self.recorded = plan

    def _record(
        self, allocations: Sequence[Allocation], beside: Sequence[BoundStatement] = ()
    ) -> None:
        until = max(self.now, current_time()) + RESERVATION_DURATION
        record_reservation_expiries(self.order_id, allocations, until, beside)

    def _plan(self) -> tuple[Allocation, ...] | None:
        return plan_allocations(self.order_id, self.wanted_lines, self.known_units, self.take)

    def reserve(self) -> tuple[Allocation, ...]:
        """Plan and reserve until a plan succeeds. Raises OutOfStock; nothing is reserved then."""
        try:
            return self._reserve_planned()
        finally:
            # The stock of these items may have been copied without the units that this call held for a moment.
            try:
                copy_allocated_stock(self.released)
            except CassandraUnavailable as error:
                log.warning(
                    "order %s: left to the sweeper of its reservations: %s", self.order_id, error
                )

    def _reserve_planned(self) -> tuple[Allocation, ...]:
        for _ in retry_attempts(MAX_ATTEMPTS):
            plan = self._plan()
            if plan is None:
                if not self.guessed:
                    break
                self._read_guessed()
                continue
            self._release(each for each in self.reserved.values() if each not in plan)
            left = [each for each in plan if each.reservation_id not in self.reserved]
            # A later attempt writes all of its expiries, since time has passed.
            recorded, self.recorded = self.recorded, ()
            if unrecorded := [each for each in left if each not in recorded]:
                self._record(unrecorded)
            if all(self._reserve(each) for each in left):
                return plan
        self._release(self.reserved.values())
        self._read_guessed()
        orderable = {variant: self._most(variant) for variant in self.needed}
        short = {v: units for v, units in orderable.items() if units < self.needed[v]}
        if BACKORDER_WAREHOUSE in self.warehouses:  # otherwise backorders are not counted
            for variant_id, units in short.items():
                heard = (at for (variant, _), at in self.heard_at.items() if variant == variant_id)
                remember_shortages({variant_id: units}, min(heard, default=self.began))
        raise OutOfStock(short or orderable)

    def _most(self, variant_id: UUID) -> int:
        """Return how many units of a variant a line can have. The line is sent from the warehouses, or waits as a whole."""
        ahead = self.known_units(variant_id, BACKORDER_WAREHOUSE)
        others = (each for each in self.warehouses if each != BACKORDER_WAREHOUSE)
        return max(sum(self.known_units(variant_id, each) for each in others), ahead)

    def _read_guessed(self) -> None:
        """Read the guessed numbers, so that no variant is called sold out because of an old page."""
        self.heard_at |= dict.fromkeys(self.guessed, read_clock())
        reading = [(stock_item, prefetch_stock_numbers(*stock_item)) for stock_item in self.guessed]
        self.guessed = set()
        for stock_item, pending in reading:
            row = pending.one()
            available = row.available or 0 if row else 0
            self.known[stock_item] = available + self._own_units(*stock_item)

    def _own_units(self, variant_id: UUID, warehouse: str) -> int:
        return sum(
            each.quantity
            for each in self.reserved.values()
            if (each.variant_id, each.warehouse_id) == (variant_id, warehouse)
        )

    def _reserve(self, each: Allocation) -> bool:
        self.check()
        request = _make_request(each, self.order_id, self.now)
        reserve_batched(each.variant_id, each.warehouse_id, request)
        if request.is_reserved:
            self.reserved[each.reservation_id] = each
            return True
        if request.has_other_quantity:
            # An earlier attempt reserved another number of units, although this call was thought to be the first.
            release_stock([each])
            self.released.add(each)
            self.guessed.add((each.variant_id, each.warehouse_id))
            return False
        stock_item = each.variant_id, each.warehouse_id
        self.heard_at[stock_item] = read_clock()
        self.known[stock_item] = request.available + self._own_units(*stock_item)
        if request.is_unknown:
            self.guessed.add(stock_item)  # to be read before the variant is called sold out
        else:
            self.guessed.discard(stock_item)
        return False

    def _release(self, allocations: Iterable[Allocation]) -> None:
        for each in tuple(allocations):
            self.check()
            release_stock([each])
            del self.reserved[each.reservation_id]
            self.released.add(each)


def reserve_again(order_id: UUID, allocations: Sequence[Allocation], now: datetime) -> None:
    """Reserve units of an order whose reservations are lost, for ten minutes, in the same warehouses, where they are available.

    Reservations that exist stay as they are. Raises StockNumbersChanging, CassandraUnavailable.
    """
    record_reservation_expiries(order_id, allocations, now + RESERVATION_DURATION)
    for each in sort_allocations(allocations):
        reserve_batched(each.variant_id, each.warehouse_id, _make_request(each, order_id, now))
        # The numbers may have counted the lost reservation by its entries in the ledger.
        with suppress(NothingReceived):
            rebuild_stock_numbers(each.variant_id, each.warehouse_id)


def _make_request(each: Allocation, order_id: UUID, now: datetime) -> ReservationRequest:
    return ReservationRequest(
        reservation_id=each.reservation_id,
        order_id=order_id,
        line_number=each.line_number,
        units=each.quantity,
        now=now,
    )


def record_reservation_expiries(
    order_id: UUID,
    allocations: Iterable[Allocation],
    until: datetime,
    beside: Sequence[BoundStatement] = (),
) -> None:
    """Write the expiry of these reservations for the sweeper, in one batch with `beside`. Raises CassandraUnavailable.

    If there are many reservations, `beside` is written before, in a batch of its own.
    """
    minute, began = floor_to_minute(until), monotonic()
    expiries = [
        INSERT_RESERVATION_EXPIRY.bind(
            minute=minute,
            variant_id=each.variant_id,
            warehouse_id=each.warehouse_id,
            reservation_id=each.reservation_id,
            order_id=order_id,
            quantity=each.quantity,
        )
        for each in allocations
    ]
    if beside and len(expiries) > MAX_EXPIRIES_BESIDE:
        write_batch(beside)
        beside = ()
    write_batch([*beside, *expiries])
    if monotonic() - began > MAX_WRITE_DURATION.total_seconds():
        raise CassandraUnavailable("the expiry of reservations took too long to be written")


def extend_reservations(order_id: UUID, until: datetime, allocations: Iterable[Allocation]) -> None:
    """Write a later expiry of these reservations, because their shopper is still paying. Raises CassandraUnavailable.

    The order's `pay_until` decides: the sweeper ignores an earlier expiry. So an outdated expiry does no harm, and the new one is
    written before `pay_until`.
    """
    if reserved := list(allocations):
        record_reservation_expiries(order_id, reserved, until)


def drop_expired_minute(minute: datetime, written_before: int) -> None:
    """Delete a minute's expiries that were written before a moment (microseconds since 1970). Raises CassandraUnavailable.

    One tombstone replaces the tombstones of all deleted rows, which slow down reads of the minute. Before the call, the caller
    has read that no expiry is left: after that moment, and at least MAX_WRITE_DURATION after the minute.
    """
    DELETE_MINUTE.run(minute=minute, before=written_before)

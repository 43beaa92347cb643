"""An order takes its units: all of them or none, and nobody reads anything before (Q17)."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from uuid import UUID

from cassandra_db import retry_attempts, write, write_batch
from inventory.allocation import needed_units, plan_allocations, sort_allocations
from inventory.entities import BACKORDER_WAREHOUSE, Allocation, WantedLine
from inventory.errors import OutOfStock
from inventory.operations.group_commit import ReservationRequest, reserve_batched
from inventory.operations.movements import release_stock
from inventory.operations.stock_copies import copy_stock
from inventory.queries import PLACES, WAREHOUSES, make_reservation_id, prefetch_stock_numbers
from jobs.minutes import floor_to_minute

# How long units are kept for somebody who is paying.
RESERVED_FOR = timedelta(minutes=10)
# How often a hold plans again when others were faster, before it gives up.
ROUNDS = 10

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


def reserve_stock(
    order_id: UUID,
    wanted_lines: Sequence[WantedLine],
    now: datetime,
    take: int = 0,
    check: Callable[[], None] = lambda: None,
    *,
    retry: bool = True,
    seen_units: Mapping[UUID, Mapping[str, int]] | None = None,
    allow_backorder: bool = True,
) -> tuple[Allocation, ...]:
    """Keep an order's units for ten minutes: all of them or none, never more than there are (Q17).

    From which warehouses: see inventory.allocation. A first try (`retry=False`) reads nothing: it believes what the
    page has `seen` (units by variant and warehouse; where it has seen nothing, it tries), and learns the rest from the
    batches that are refused. A further try looks for its own holds first, and finds the same again.
    `ahead=False` takes only what has arrived.
    The hint for the sweeper is written before each hold: a crash leaves a hint too many, never one too few. At most one
    process may hold for an order at a time (orders.operations sees to that; `check` raises when its claim may be over).
    Raises OutOfStock with the true numbers, and nothing held; CassandraUnavailable, or what `check` raises, with what
    may be held left to the sweeper.
    """
    taking = _ReservationRun(
        order_id, wanted_lines, now, take, check, PLACES if allow_backorder else WAREHOUSES
    )
    if not retry:
        taking.assume_seen(seen_units or {})
    elif taking.is_covered():
        return sort_allocations(taking.reserved.values())
    try:
        return taking.reserve_planned()
    except OutOfStock:
        # Meanwhile somebody may have copied the stock without the units that were ours for a moment.
        for product_id in taking.released_products:
            copy_stock(product_id)
        raise


@dataclass
class _ReservationRun:
    """One call of `held`: what it knows of the shelves, and what it keeps.

    A shelf's number counts what this call keeps itself. It is a guess until Cassandra has told it.
    """

    order_id: UUID
    wanted_lines: Sequence[WantedLine]
    now: datetime
    take: int
    check: Callable[[], None]
    places: tuple[str, ...]
    known: dict[tuple[UUID, str], int] = field(default_factory=dict)
    guessed: set[tuple[UUID, str]] = field(default_factory=set)
    reserved: dict[UUID, Allocation] = field(default_factory=dict)
    released_products: set[UUID] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.needed = needed_units(self.wanted_lines)

    def known_units(self, variant_id: UUID, place: str) -> int:
        return self.known.get((variant_id, place), 0)

    def assume_seen(self, seen: Mapping[UUID, Mapping[str, int]]) -> None:
        """Take what a page has seen for a guess; where it has seen nothing, there is enough until somebody says no."""
        for variant_id, most in self.needed.items():
            there = seen.get(variant_id)
            for place in self.places:
                unseen = most if there is None and place != BACKORDER_WAREHOUSE else 0
                self.known[variant_id, place] = unseen if there is None else there.get(place, 0)
                self.guessed.add((variant_id, place))

    def is_covered(self) -> bool:
        """Look at the shelves and for what the order holds already; tell whether that is just what is wanted."""
        wanted_by_reservation = {
            make_reservation_id(
                self.order_id, want.line_number, want.variant_id, place, self.take
            ): (
                want,
                place,
            )
            for want in self.wanted_lines
            for place in self.places
        }
        reading = [
            (prefetch_stock_numbers(want.variant_id, place, id_), id_)
            for id_, (want, place) in wanted_by_reservation.items()
        ]
        self.known = {(variant_id, place): 0 for variant_id in self.needed for place in self.places}
        for pending, reservation_id in reading:
            want, place = wanted_by_reservation[reservation_id]
            for row in pending.rows():
                self.known[want.variant_id, place] = row.available or 0
                if row.reservation_id == reservation_id:
                    self._note_reservation(
                        want.line_number,
                        want.product_id,
                        want.variant_id,
                        place,
                        row.quantity,
                        reservation_id,
                    )
        missing = {want.line_number: want.quantity for want in self.wanted_lines}
        for each in self.reserved.values():
            missing[each.line_number] -= each.quantity
        if any(missing.values()):
            for each in self.reserved.values():
                self.known[each.variant_id, each.warehouse_id] += each.quantity
            return False
        return True

    def _note_reservation(
        self,
        line: int,
        product_id: UUID,
        variant_id: UUID,
        place: str,
        units: int,
        reservation_id: UUID,
    ) -> None:
        self.reserved[reservation_id] = Allocation(
            line, product_id, variant_id, place, units, reservation_id, self.order_id
        )

    def reserve_planned(self) -> tuple[Allocation, ...]:
        """Plan and take until one plan holds. Raises OutOfStock, with nothing held."""
        for _ in retry_attempts(ROUNDS):
            plan = plan_allocations(self.order_id, self.wanted_lines, self.known_units, self.take)
            if plan is None:
                if not self.guessed:
                    break
                self._read_guessed()
                continue
            self._release(each for each in self.reserved.values() if each not in plan)
            left = [each for each in plan if each.reservation_id not in self.reserved]
            if left:
                record_reservation_expiries(
                    self.order_id, left, max(self.now, datetime.now(UTC)) + RESERVED_FOR
                )
            if all(self._reserve(each) for each in left):
                return plan
        self._release(self.reserved.values())
        self._read_guessed()
        there = {variant: self._most(variant) for variant in self.needed}
        raise OutOfStock(
            {v: units for v, units in there.items() if units < self.needed[v]} or there
        )

    def _most(self, variant_id: UUID) -> int:
        """How many a line could have: it is sent from the warehouses, or waits, as a whole."""
        return max(
            sum(self.known_units(variant_id, place) for place in WAREHOUSES),
            self.known_units(variant_id, BACKORDER_WAREHOUSE),
        )

    def _read_guessed(self) -> None:
        """Ask Cassandra for what was only guessed: nobody is told of too little because a page was old."""
        reading = [(shelf, prefetch_stock_numbers(*shelf)) for shelf in self.guessed]
        self.guessed = set()
        for stock_item, pending in reading:
            row = pending.one()
            self.known[stock_item] = (row.available or 0 if row else 0) + self._own_units(
                *stock_item
            )

    def _own_units(self, variant_id: UUID, place: str) -> int:
        there = (
            each
            for each in self.reserved.values()
            if (each.variant_id, each.warehouse_id) == (variant_id, place)
        )
        return sum(each.quantity for each in there)

    def _reserve(self, each: Allocation) -> bool:
        self.check()
        request = ReservationRequest(
            reservation_id=each.reservation_id,
            order_id=self.order_id,
            line_number=each.line_number,
            units=each.quantity,
            now=self.now,
        )
        reserve_batched(each.variant_id, each.warehouse_id, request)
        if request.is_reserved:
            self.reserved[each.reservation_id] = each
            return True
        if request.has_other_quantity:
            # An earlier try wanted another number of units; this one was not told that it is a further try.
            release_stock([each])
            self.released_products.add(each.product_id)
            self.guessed.add((each.variant_id, each.warehouse_id))
            return False
        stock_item = each.variant_id, each.warehouse_id
        self.known[stock_item] = request.available + self._own_units(*stock_item)
        if request.is_unknown:
            self.guessed.add(stock_item)  # looked at, before anybody is told of too little
        else:
            self.guessed.discard(stock_item)
        return False

    def _release(self, allocations: Iterable[Allocation]) -> None:
        for each in tuple(allocations):
            self.check()
            release_stock([each])
            del self.reserved[each.reservation_id]
            self.released_products.add(each.product_id)


def record_reservation_expiries(
    order_id: UUID, allocations: Iterable[Allocation], until: datetime
) -> None:
    """Note when these holds run out, for the sweeper, which lives in real time whatever `now` an importer passes.

    Raises CassandraUnavailable.
    """
    minute = floor_to_minute(until)
    write_batch(
        [
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
    )


def extend_reservations(order_id: UUID, until: datetime, allocations: Iterable[Allocation]) -> None:
    """Let the sweeper look at these holds when they run out now, because their shopper is still about to pay.

    How long they are kept is the order's to say (`pay_until`): the sweeper that comes by an older hint asks it, and
    goes. So a hint too many does no harm, and this is called before the order says so. Raises CassandraUnavailable.
    """
    if reserved := list(allocations):
        record_reservation_expiries(order_id, reserved, until)


def clear_reservation_expiry(
    minute: datetime, variant_id: UUID, warehouse_id: str, reservation_id: UUID
) -> None:
    """Forget when a hold runs out, because it has ended. Raises CassandraUnavailable."""
    DELETE_RESERVATION_EXPIRY.run(
        minute=minute,
        variant_id=variant_id,
        warehouse_id=warehouse_id,
        reservation_id=reservation_id,
    )

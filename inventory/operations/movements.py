"""The states of a reservation: reserved, then committed when it is paid, then sent in one or more parts, or released.

Each change names the final state of the reservation, not a difference. The first batch guesses the present state. A refused
batch returns the present state, from which the change continues. So a repeated change finds its work done. A late change takes
nothing back, since units only ever leave a reservation. A paid reservation's row is first marked as ended, and deleted once the
ledger has its entries.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID, uuid5

from cassandra_db import (
    SEND_AGAIN,
    Outcome,
    applied_if,
    apply_batch,
    conditional_write,
    retry_attempts,
)
from inventory.allocation import sort_allocations
from inventory.entities import SENTINEL, Allocation
from inventory.operations.group_commit import write_turn
from inventory.operations.ledger import (
    LedgerSource,
    write_ledger_entries,
    write_reservation_entries,
)
from inventory.queries import list_reservations

# How often a change continues from the state that it has read before it gives up.
MAX_ATTEMPTS = 10
MOVE_UNITS = conditional_write(
    "Q17",
    """UPDATE inventory SET available = available + :available, reserved = reserved + :reserved, committed = committed + :committed,
              shipped = shipped + :shipped
       WHERE variant_id = :variant_id AND warehouse_id = :warehouse_id IF reserved >= :least_reserved AND committed >= :least_committed""",
)
UPDATE_RESERVATION = conditional_write(
    "Q17",
    """UPDATE inventory SET state = :state, quantity = :quantity, sent = :sent, released = :released
       WHERE variant_id = :variant_id AND warehouse_id = :warehouse_id AND reservation_id = :reservation_id
       IF state = :was_state AND quantity = :was_quantity AND sent = :was_sent AND released = :was_released""",
)
DELETE_RESERVATION = conditional_write(
    "Q17",
    """DELETE FROM inventory
       WHERE variant_id = :variant_id AND warehouse_id = :warehouse_id AND reservation_id = :reservation_id
       IF state = :was_state AND quantity = :was_quantity AND sent = :was_sent AND released = :was_released""",
)
DELETE_ENDED_RESERVATION = conditional_write(
    "Q17",
    """DELETE FROM inventory
       WHERE variant_id = :variant_id AND warehouse_id = :warehouse_id AND reservation_id = :reservation_id IF state = 'ended'""",
)


@dataclass(frozen=True)
class ReservationState:
    """A reservation's state (None: it has no row), and how many of its units are reserved, sent and given back."""

    state: str | None
    quantity: int = 0
    sent: int = 0
    released: int = 0

    def advance(self, quantity: int, sent: int) -> "ReservationState":
        """Return the paid state with these reserved and sent units; the other units are given back."""
        released = self.quantity + self.sent + self.released - quantity - sent
        return ReservationState("committed" if quantity else "ended", quantity, sent, released)


NO_RESERVATION = ReservationState(None)
Step = Callable[[ReservationState], ReservationState]


def release_stock(allocations: Iterable[Allocation], *, paid: bool = True) -> None:
    """Give reserved or committed units back, so that other shoppers can buy them. Sent units stay sent.

    With `paid=False`, paid reservations keep their units. Raises CassandraUnavailable.
    """
    for each in sort_allocations(allocations):
        _bring_to(
            each,
            ReservationState("held", each.quantity),
            _release_step if paid else _release_unpaid_step,
        )


def _release_step(current: ReservationState) -> ReservationState:
    if current.state == "held":
        return NO_RESERVATION
    return current.advance(0, current.sent) if current.state == "committed" else current


def _release_unpaid_step(current: ReservationState) -> ReservationState:
    return NO_RESERVATION if current.state == "held" else current


def release_unpaid_stock(
    variant_id: UUID, warehouse_id: str, reservation_ids: Iterable[UUID]
) -> UUID | None:
    """Give the units of a stock item's unpaid reservations back, all in one batch. Other reservations keep their units.

    Return the product, whose stock has to be copied; None if there is no such stock item. Raises CassandraUnavailable.
    """
    rows = list_reservations(variant_id, warehouse_id, reservation_ids)
    product_id = next((row.product_id for row in rows if row.reservation_id == SENTINEL), None)
    held = [
        Allocation(
            row.line_number or 0,
            product_id or variant_id,
            variant_id,
            warehouse_id,
            row.quantity,
            row.reservation_id,
            row.order_id,
        )
        for row in rows
        if row.state == "held"
    ]
    # The batch is refused if another process has changed one of the reservations, or if its lost answer was a success.
    if held and not _release_together(held):
        release_stock(held, paid=False)
    return product_id


def _release_together(held: Sequence[Allocation]) -> Outcome:
    stock_item = {"variant_id": held[0].variant_id, "warehouse_id": held[0].warehouse_id}
    units = sum(each.quantity for each in held)
    with write_turn(held[0].variant_id, held[0].warehouse_id):
        return apply_batch(
            MOVE_UNITS.bind(
                available=units,
                reserved=-units,
                committed=0,
                shipped=0,
                least_reserved=units,
                least_committed=0,
                **stock_item,
            ),
            *(
                DELETE_RESERVATION.bind(
                    reservation_id=each.reservation_id,
                    **_was_columns(ReservationState("held", each.quantity)),
                    **stock_item,
                )
                for each in held
            ),
            if_lost=SEND_AGAIN,
        )


def set_reservation_units(
    allocation: Allocation, *, reserved_units: int, shipped_units: int
) -> bool:
    """Set a paid order's units of one line and warehouse: how many stay reserved, and how many were shipped in total.

    Other reserved units are given back. Units only leave a reservation, so an outdated call changes nothing. Returns whether the
    reservation exists or existed; False means that the order's units are reserved nowhere. Raises ValueError for negative
    numbers. Also raises CassandraUnavailable.
    """
    if min(reserved_units, shipped_units) < 0:
        raise ValueError(f"{reserved_units} left and {shipped_units} shipped")

    def units_step(current: ReservationState) -> ReservationState:
        if current.state not in ("held", "committed"):
            return current
        both = current.quantity + current.sent
        sent = min(max(shipped_units, current.sent), both)
        return current.advance(min(reserved_units, current.quantity, both - sent), sent)

    guess = ReservationState("committed" if shipped_units else "held", allocation.quantity)
    current = _bring_to(allocation, guess, units_step)
    return current.state == "committed" or not reserved_units


def _bring_to(each: Allocation, guess: ReservationState, step: Step) -> ReservationState:
    """Bring a reservation from any state to the state that `step` returns for it; return its final state."""
    current, wanted = guess, step(guess)
    for _ in retry_attempts(MAX_ATTEMPTS):
        with write_turn(each.variant_id, each.warehouse_id):
            outcome = _write_step(each, current, wanted)
        if outcome:
            current = wanted
        else:
            row = outcome.current
            current = (
                ReservationState(row.state, row.quantity, row.sent or 0, row.released or 0)
                if row and row.state
                else NO_RESERVATION
            )
        wanted = step(current)
        if wanted == current:
            return _record_in_ledger(each, current)
    raise LookupError(
        f"reservation {each.reservation_id} is {current}, and the stock numbers do not allow {wanted}"
    )


def _write_step(each: Allocation, current: ReservationState, wanted: ReservationState) -> Outcome:
    reserved = -current.quantity if current.state == "held" else 0
    committed = wanted.quantity if wanted.state == "committed" else 0
    committed -= current.quantity if current.state == "committed" else 0
    shipped = wanted.sent - current.sent
    stock_item = {"variant_id": each.variant_id, "warehouse_id": each.warehouse_id}
    was = _was_columns(current)
    if wanted.state is None:
        row = DELETE_RESERVATION.bind(reservation_id=each.reservation_id, **was, **stock_item)
    else:
        row = UPDATE_RESERVATION.bind(
            reservation_id=each.reservation_id, **_columns(wanted), **was, **stock_item
        )
    return apply_batch(
        MOVE_UNITS.bind(
            available=-(reserved + committed + shipped),
            reserved=reserved,
            committed=committed,
            shipped=shipped,
            least_reserved=max(0, -reserved),
            least_committed=max(0, -committed),
            **stock_item,
        ),
        row,
        # The caller compares the reservation's state, so it does not matter which call has written it.
        if_lost=SEND_AGAIN,
    )


def _columns(state: ReservationState) -> dict[str, str | int | None]:
    # A row has null for no sent or given back units.
    return vars(state) | {"sent": state.sent or None, "released": state.released or None}


def _was_columns(state: ReservationState) -> dict[str, str | int | None]:
    return {f"was_{name}": value for name, value in _columns(state).items()}


def _record_in_ledger(each: Allocation, there: ReservationState) -> ReservationState:
    """Write a reservation to the ledger. If it has ended, delete its row afterwards."""
    if there.state in ("committed", "ended"):
        write_reservation_entries(each, there.quantity, there.sent, there.released)
    if there.state == "ended":
        with write_turn(each.variant_id, each.warehouse_id):
            DELETE_ENDED_RESERVATION.apply(
                if_lost=SEND_AGAIN,
                variant_id=each.variant_id,
                warehouse_id=each.warehouse_id,
                reservation_id=each.reservation_id,
            )
    return there


RESTOCK = conditional_write(
    "Q17",
    """UPDATE inventory SET available = available + :units, shipped = shipped + :minus
       WHERE variant_id = :variant_id AND warehouse_id = :warehouse_id IF shipped >= :units""",
)
RESTOCK_ROW = conditional_write(
    "Q17",
    """INSERT INTO inventory (variant_id, warehouse_id, reservation_id, quantity, state, order_id, line_number, reserved_at)
       VALUES (:variant_id, :warehouse_id, :reservation_id, :units, 'returned', :order_id, :line_number, :now) IF NOT EXISTS""",
)


def restock_units(
    order_id: UUID,
    return_id: UUID | str,
    parts: Iterable[Allocation],
    now: datetime,
    *,
    allocations: Sequence[Allocation] = (),
) -> None:
    """Put returned units back into the warehouse that sent them, for sale.

    A part's `quantity` is the total number of units that this return brings back for a line and warehouse. So repeating the call
    changes nothing. Units that an earlier version put elsewhere in `allocations`, all of the order's, stay there. Raises
    LookupError if more units would come back than were sent. Also raises CassandraUnavailable.
    """
    parts = sort_allocations(parts)
    for each in parts:
        line = [one for one in allocations if one.line_number == each.line_number]
        there = _get_returned_units(order_id, return_id, line) if len(line) > 1 else {}
        wanted = sum(one.quantity for one in parts if one.line_number == each.line_number)
        if not there.get(each.warehouse_id) and sum(there.values()) >= wanted:
            continue
        if not _restock_one(each, order_id, _returned_row_id(order_id, return_id, each), now):
            raise LookupError(
                f"order {order_id}: more of line {each.line_number} comes back than had left"
            )


def _returned_row_id(order_id: UUID, return_id: UUID | str, each: Allocation) -> UUID:
    return uuid5(order_id, f"returned {return_id}:{each.reservation_id}")


def _get_returned_units(
    order_id: UUID, return_id: UUID | str, line: Iterable[Allocation]
) -> dict[str, int]:
    """Return the units of a line that a return has put back, by warehouse."""
    found: dict[str, int] = {}
    for each in line:
        row_id = _returned_row_id(order_id, return_id, each)
        rows = list_reservations(each.variant_id, each.warehouse_id, [row_id])
        found[each.warehouse_id] = sum(row.quantity for row in rows if row.reservation_id == row_id)
    return found


def _restock_one(each: Allocation, order_id: UUID, row_id: UUID, now: datetime) -> bool:
    stock_item = {"variant_id": each.variant_id, "warehouse_id": each.warehouse_id}
    with write_turn(each.variant_id, each.warehouse_id):
        outcome = apply_batch(
            RESTOCK.bind(units=each.quantity, minus=-each.quantity, **stock_item),
            RESTOCK_ROW.bind(
                reservation_id=row_id,
                units=each.quantity,
                order_id=order_id,
                line_number=each.line_number,
                now=now,
                **stock_item,
            ),
            if_lost=applied_if(lambda row: row.reservation_id == row_id),
        )
    units = each.quantity
    if not outcome:
        existing = outcome.current
        if existing is None or existing.reservation_id != row_id:
            return False
        units, now = existing.quantity, existing.reserved_at
    write_ledger_entries(
        each.variant_id,
        each.warehouse_id,
        LedgerSource(order_id, each.line_number, row_id, now),
        [("returned", units)],
    )
    return True

"""A hold's way: held, then committed when it is paid for, then sent, part by part or whole, or given back.

A step says where the hold shall stand in the end, not how far it shall go. It goes on from where its row stands: the
first batch guesses that, and a refused one tells. So a repeated step finds that it is there already, and one that comes
late takes nothing back, for units only ever leave a hold. A row with a paid order's units is marked as ended first, and
leaves the shelf when the ledger knows of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
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
from inventory.entities import Allocation
from inventory.operations.group_commit import write_turn
from inventory.operations.ledger import write_ledger_entries, write_reservation_entries

# How often a step goes on from what it was told, before something must be wrong.
TRIES = 10

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
    """Where a hold stands: its state (None: there is no row), the units it keeps, sent ones, and ones given back."""

    state: str | None
    quantity: int = 0
    sent: int = 0
    released: int = 0

    def advance(self, quantity: int, sent: int) -> ReservationState:
        """Return where it stands, paid for, when it keeps so many and has sent so many: the rest is given back."""
        released = self.quantity + self.sent + self.released - quantity - sent
        return ReservationState("committed" if quantity else "ended", quantity, sent, released)


NO_RESERVATION = ReservationState(None)
Step = Callable[[ReservationState], ReservationState]


def release_stock(allocations: Iterable[Allocation], *, paid: bool = True) -> None:
    """Give units back, held or committed, so that others can buy them; what was given back, or sent, stays so.

    With `paid=False` what is paid for stays, too. Raises CassandraUnavailable.
    """
    for each in sort_allocations(allocations):
        _bring_to(
            each,
            ReservationState("held", each.quantity),
            _release_step if paid else _release_unpaid_step,
        )


def _release_step(there: ReservationState) -> ReservationState:
    if there.state == "held":
        return NO_RESERVATION
    return there.advance(0, there.sent) if there.state == "committed" else there


def _release_unpaid_step(there: ReservationState) -> ReservationState:
    return NO_RESERVATION if there.state == "held" else there


def commit_stock(allocations: Iterable[Allocation]) -> tuple[Allocation, ...]:
    """Keep held units for good, because they are paid for. Returns those that were not held any more.

    Raises CassandraUnavailable.
    """

    def kept(there: ReservationState) -> ReservationState:
        return there.advance(there.quantity, there.sent) if there.state == "held" else there

    brought = [
        (each, _bring_to(each, ReservationState("held", each.quantity), kept))
        for each in sort_allocations(allocations)
    ]
    return tuple(each for each, there in brought if there.state != "committed")


def ship_stock(allocations: Iterable[Allocation]) -> None:
    """Note that all that is kept of these has left the house; what had left before stays so.

    Raises CassandraUnavailable.
    """

    def sent(there: ReservationState) -> ReservationState:
        return (
            there.advance(0, there.sent + there.quantity)
            if there.state in ("held", "committed")
            else there
        )

    for each in sort_allocations(allocations):
        _bring_to(each, ReservationState("committed", each.quantity), sent)


def set_reservation_units(
    allocation: Allocation, *, reserved_units: int, shipped_units: int
) -> bool:
    """Let a paid order's units of one line and warehouse stand so: `left` are kept, `shipped` have left in all.

    What was held beyond that is free again. Units only ever leave a hold: whoever comes with an older wish, of more
    that are left or fewer that were shipped, changes nothing. Tells whether the hold is (or was) there: False means
    that an order's units are kept nowhere. Raises ValueError for less than nothing, CassandraUnavailable.
    """
    if min(reserved_units, shipped_units) < 0:
        raise ValueError(f"{reserved_units} left and {shipped_units} shipped")

    def further(there: ReservationState) -> ReservationState:
        if there.state not in ("held", "committed"):
            return there
        both = there.quantity + there.sent
        sent = min(max(shipped_units, there.sent), both)
        return there.advance(min(reserved_units, there.quantity, both - sent), sent)

    guess = ReservationState("committed" if shipped_units else "held", allocation.quantity)
    there = _bring_to(allocation, guess, further)
    return there.state == "committed" or not reserved_units


def _bring_to(each: Allocation, guess: ReservationState, step: Step) -> ReservationState:
    """Bring a hold to where `step` wants it, from wherever it stands; return where it stands then."""
    there, wanted = guess, step(guess)
    for _ in retry_attempts(TRIES):
        with write_turn(each.variant_id, each.warehouse_id):
            outcome = _write_step(each, there, wanted)
        if outcome:
            there = wanted
        else:
            row = outcome.current
            there = (
                ReservationState(row.state, row.quantity, row.sent or 0, row.released or 0)
                if row and row.state
                else NO_RESERVATION
            )
        wanted = step(there)
        if wanted == there:
            return _record_in_ledger(each, there)
    raise LookupError(
        f"hold {each.reservation_id} stands as {there}, and the numbers around it do not allow {wanted}"
    )


def _write_step(each: Allocation, there: ReservationState, wanted: ReservationState) -> Outcome:
    reserved = -there.quantity if there.state == "held" else 0
    committed = wanted.quantity if wanted.state == "committed" else 0
    committed -= there.quantity if there.state == "committed" else 0
    shipped = wanted.sent - there.sent
    place = {"variant_id": each.variant_id, "warehouse_id": each.warehouse_id}
    was = {f"was_{name}": value for name, value in _columns(there).items()}
    if wanted.state is None:
        row = DELETE_RESERVATION.bind(reservation_id=each.reservation_id, **was, **place)
    else:
        row = UPDATE_RESERVATION.bind(
            reservation_id=each.reservation_id, **_columns(wanted), **was, **place
        )
    return apply_batch(
        MOVE_UNITS.bind(
            available=-(reserved + committed + shipped),
            reserved=reserved,
            committed=committed,
            shipped=shipped,
            least_reserved=max(0, -reserved),
            least_committed=max(0, -committed),
            **place,
        ),
        row,
        # Where the hold stands is looked at by the caller: it is the same whoever has brought it there.
        if_lost=SEND_AGAIN,
    )


def _columns(state: ReservationState) -> dict[str, str | int | None]:
    # Where nothing was sent or given back yet, a row says nothing of it.
    return vars(state) | {"sent": state.sent or None, "released": state.released or None}


def _record_in_ledger(each: Allocation, there: ReservationState) -> ReservationState:
    """Let the ledger know, and then take a row that has ended off the shelf."""
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
    order_id: UUID, return_id: UUID | str, parts: Iterable[Allocation], now: datetime
) -> None:
    """Put units that were sent back on the shelf from which they were sent, where others can buy them.

    A part's `quantity` is how many come back of its line and warehouse, in all, by this return: doing it again changes
    nothing. Raises LookupError when more would come back than had ever left; CassandraUnavailable.
    """
    for each in sort_allocations(parts):
        if not _restock_one(
            each, order_id, uuid5(order_id, f"returned {return_id}:{each.reservation_id}"), now
        ):
            raise LookupError(
                f"order {order_id}: more of line {each.line_number} comes back than had left"
            )


def _restock_one(each: Allocation, order_id: UUID, row_id: UUID, now: datetime) -> bool:
    place = {"variant_id": each.variant_id, "warehouse_id": each.warehouse_id}
    with write_turn(each.variant_id, each.warehouse_id):
        outcome = apply_batch(
            RESTOCK.bind(units=each.quantity, minus=-each.quantity, **place),
            RESTOCK_ROW.bind(
                reservation_id=row_id,
                units=each.quantity,
                order_id=order_id,
                line_number=each.line_number,
                now=now,
                **place,
            ),
            if_lost=applied_if(lambda row: row.reservation_id == row_id),
        )
    units = each.quantity
    if not outcome:
        there = outcome.current
        if there is None or there.reservation_id != row_id:
            return False
        units = there.quantity
    write_ledger_entries(
        each.variant_id,
        each.warehouse_id,
        order_id,
        [("returned", units)],
        line_number=each.line_number,
        ref=row_id,
    )
    return True

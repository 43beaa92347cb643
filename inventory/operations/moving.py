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

from cassandra_db import SEND_AGAIN, Outcome, applied_if, attempts, conditional, conditional_batch
from inventory.allocating import sort_allocations
from inventory.entities import Allocation
from inventory.operations.combining import turn
from inventory.operations.ledger import entered, hold_entered

# How often a step goes on from what it was told, before something must be wrong.
TRIES = 10

MOVE = conditional(
    "Q17",
    """UPDATE inventory SET available = available + :available, held = held + :held, committed = committed + :committed,
              shipped = shipped + :shipped
       WHERE variant_id = :variant_id AND warehouse_id = :warehouse_id IF held >= :least_held AND committed >= :least_committed""",
)
ROW = conditional(
    "Q17",
    """UPDATE inventory SET state = :state, quantity = :quantity, sent = :sent, freed = :freed
       WHERE variant_id = :variant_id AND warehouse_id = :warehouse_id AND hold_id = :hold_id
       IF state = :was_state AND quantity = :was_quantity AND sent = :was_sent AND freed = :was_freed""",
)
ROW_GONE = conditional(
    "Q17",
    """DELETE FROM inventory
       WHERE variant_id = :variant_id AND warehouse_id = :warehouse_id AND hold_id = :hold_id
       IF state = :was_state AND quantity = :was_quantity AND sent = :was_sent AND freed = :was_freed""",
)
ROW_ENDED = conditional(
    "Q17",
    """DELETE FROM inventory
       WHERE variant_id = :variant_id AND warehouse_id = :warehouse_id AND hold_id = :hold_id IF state = 'ended'""",
)


@dataclass(frozen=True)
class Standing:
    """Where a hold stands: its state (None: there is no row), the units it keeps, sent ones, and ones given back."""

    state: str | None
    quantity: int = 0
    sent: int = 0
    freed: int = 0

    def onwards(self, quantity: int, sent: int) -> Standing:
        """Return where it stands, paid for, when it keeps so many and has sent so many: the rest is given back."""
        freed = self.quantity + self.sent + self.freed - quantity - sent
        return Standing("committed" if quantity else "ended", quantity, sent, freed)


GONE = Standing(None)
Step = Callable[[Standing], Standing]


def released(allocations: Iterable[Allocation], *, paid: bool = True) -> None:
    """Give units back, held or committed, so that others can buy them; what was given back, or sent, stays so.

    With `paid=False` what is paid for stays, too. Raises CassandraUnavailable.
    """
    for each in sort_allocations(allocations):
        _brought(each, Standing("held", each.quantity), _given_back if paid else _let_go)


def _given_back(there: Standing) -> Standing:
    if there.state == "held":
        return GONE
    return there.onwards(0, there.sent) if there.state == "committed" else there


def _let_go(there: Standing) -> Standing:
    return GONE if there.state == "held" else there


def committed(allocations: Iterable[Allocation]) -> tuple[Allocation, ...]:
    """Keep held units for good, because they are paid for. Returns those that were not held any more.

    Raises CassandraUnavailable.
    """

    def kept(there: Standing) -> Standing:
        return there.onwards(there.quantity, there.sent) if there.state == "held" else there

    brought = [
        (each, _brought(each, Standing("held", each.quantity), kept))
        for each in sort_allocations(allocations)
    ]
    return tuple(each for each, there in brought if there.state != "committed")


def shipped(allocations: Iterable[Allocation]) -> None:
    """Note that all that is kept of these has left the house; what had left before stays so.

    Raises CassandraUnavailable.
    """

    def sent(there: Standing) -> Standing:
        return (
            there.onwards(0, there.sent + there.quantity)
            if there.state in ("held", "committed")
            else there
        )

    for each in sort_allocations(allocations):
        _brought(each, Standing("committed", each.quantity), sent)


def moved_to(allocation: Allocation, *, left: int, shipped: int) -> bool:
    """Let a paid order's units of one line and warehouse stand so: `left` are kept, `shipped` have left in all.

    What was held beyond that is free again. Units only ever leave a hold: whoever comes with an older wish, of more
    that are left or fewer that were shipped, changes nothing. Tells whether the hold is (or was) there: False means
    that an order's units are kept nowhere. Raises ValueError for less than nothing, CassandraUnavailable.
    """
    if min(left, shipped) < 0:
        raise ValueError(f"{left} left and {shipped} shipped")

    def further(there: Standing) -> Standing:
        if there.state not in ("held", "committed"):
            return there
        both = there.quantity + there.sent
        sent = min(max(shipped, there.sent), both)
        return there.onwards(min(left, there.quantity, both - sent), sent)

    guess = Standing("committed" if shipped else "held", allocation.quantity)
    there = _brought(allocation, guess, further)
    return there.state == "committed" or not left


def _brought(each: Allocation, guess: Standing, step: Step) -> Standing:
    """Bring a hold to where `step` wants it, from wherever it stands; return where it stands then."""
    there, wanted = guess, step(guess)
    for _ in attempts(TRIES):
        with turn(each.variant_id, each.warehouse_id):
            outcome = _moved(each, there, wanted)
        if outcome:
            there = wanted
        else:
            row = outcome.current
            there = (
                Standing(row.state, row.quantity, row.sent or 0, row.freed or 0)
                if row and row.state
                else GONE
            )
        wanted = step(there)
        if wanted == there:
            return _noted(each, there)
    raise LookupError(
        f"hold {each.reservation_id} stands as {there}, and the numbers around it do not allow {wanted}"
    )


def _moved(each: Allocation, there: Standing, wanted: Standing) -> Outcome:
    held = -there.quantity if there.state == "held" else 0
    committed = wanted.quantity if wanted.state == "committed" else 0
    committed -= there.quantity if there.state == "committed" else 0
    shipped = wanted.sent - there.sent
    place = {"variant_id": each.variant_id, "warehouse_id": each.warehouse_id}
    was = {f"was_{name}": value for name, value in _columns(there).items()}
    if wanted.state is None:
        row = ROW_GONE.bind(hold_id=each.reservation_id, **was, **place)
    else:
        row = ROW.bind(hold_id=each.reservation_id, **_columns(wanted), **was, **place)
    return conditional_batch(
        MOVE.bind(
            available=-(held + committed + shipped),
            held=held,
            committed=committed,
            shipped=shipped,
            least_held=max(0, -held),
            least_committed=max(0, -committed),
            **place,
        ),
        row,
        # Where the hold stands is looked at by the caller: it is the same whoever has brought it there.
        if_lost=SEND_AGAIN,
    )


def _columns(standing: Standing) -> dict[str, str | int | None]:
    # Where nothing was sent or given back yet, a row says nothing of it.
    return vars(standing) | {"sent": standing.sent or None, "freed": standing.freed or None}


def _noted(each: Allocation, there: Standing) -> Standing:
    """Let the ledger know, and then take a row that has ended off the shelf."""
    if there.state in ("committed", "ended"):
        hold_entered(each, there.quantity, there.sent, there.freed)
    if there.state == "ended":
        with turn(each.variant_id, each.warehouse_id):
            ROW_ENDED.apply(
                if_lost=SEND_AGAIN,
                variant_id=each.variant_id,
                warehouse_id=each.warehouse_id,
                hold_id=each.reservation_id,
            )
    return there


RESTOCK = conditional(
    "Q17",
    """UPDATE inventory SET available = available + :units, shipped = shipped + :minus
       WHERE variant_id = :variant_id AND warehouse_id = :warehouse_id IF shipped >= :units""",
)
RESTOCK_ROW = conditional(
    "Q17",
    """INSERT INTO inventory (variant_id, warehouse_id, hold_id, quantity, state, order_id, line_number, held_at)
       VALUES (:variant_id, :warehouse_id, :hold_id, :units, 'returned', :order_id, :line_number, :now) IF NOT EXISTS""",
)


def restocked(
    order_id: UUID, return_id: UUID | str, parts: Iterable[Allocation], now: datetime
) -> None:
    """Put units that were sent back on the shelf from which they were sent, where others can buy them.

    A part's `quantity` is how many come back of its line and warehouse, in all, by this return: doing it again changes
    nothing. Raises LookupError when more would come back than had ever left; CassandraUnavailable.
    """
    for each in sort_allocations(parts):
        if not _restocked(
            each, order_id, uuid5(order_id, f"returned {return_id}:{each.reservation_id}"), now
        ):
            raise LookupError(
                f"order {order_id}: more of line {each.line_number} comes back than had left"
            )


def _restocked(each: Allocation, order_id: UUID, row_id: UUID, now: datetime) -> bool:
    place = {"variant_id": each.variant_id, "warehouse_id": each.warehouse_id}
    with turn(each.variant_id, each.warehouse_id):
        outcome = conditional_batch(
            RESTOCK.bind(units=each.quantity, minus=-each.quantity, **place),
            RESTOCK_ROW.bind(
                hold_id=row_id,
                units=each.quantity,
                order_id=order_id,
                line_number=each.line_number,
                now=now,
                **place,
            ),
            if_lost=applied_if(lambda row: row.hold_id == row_id),
        )
    units = each.quantity
    if not outcome:
        there = outcome.current
        if there is None or there.hold_id != row_id:
            return False
        units = there.quantity
    entered(
        each.variant_id,
        each.warehouse_id,
        order_id,
        [("returned", units)],
        line_number=each.line_number,
        ref=row_id,
    )
    return True

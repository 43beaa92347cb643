"""Conditional writes of one shelf (a variant in a warehouse) take turns within a process: at most two are under way.

Who finds a shelf busy waits; and all who wait to hold units of it are served by one batch: the first of them leads, and
takes up to 31 others along. A hot SKU so costs one round of Paxos for 32 buyers, where each alone would meet the
others in it again and again. Between processes the batch's conditions decide, as ever.
"""

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from cassandra_db import (
    SEND_AGAIN,
    CassandraUnavailable,
    Outcome,
    Row,
    UnknownOutcome,
    conditional,
    conditional_batch,
)

# Conditional writes of one shelf that a process has under way.
AT_ONCE = 2
# How many holds one batch carries at most.
TOGETHER = 32
# How often a batch is tried again for those who did not come along, or whose units others took meanwhile.
ROUNDS = 10
# How long somebody waits for a turn, in seconds, before the shop says that it is too busy.
WAIT_SECONDS = 10.0

HOLD = conditional(
    "Q17",
    """UPDATE inventory SET available = available + :minus, held = held + :units
       WHERE variant_id = :variant_id AND warehouse_id = :warehouse_id IF available >= :units""",
)
HOLD_ROW = conditional(
    "Q17",
    """INSERT INTO inventory (variant_id, warehouse_id, hold_id, quantity, state, order_id, line_number, held_at)
       VALUES (:variant_id, :warehouse_id, :hold_id, :units, 'held', :order_id, :line_number, :now) IF NOT EXISTS""",
)

# For one hold alone: both in one statement, which costs hardly more than a bare conditional write.
HOLD_ONE = conditional(
    "Q17",
    """UPDATE inventory SET available = available + :minus, held = held + :units, quantity = :units, state = 'held',
              order_id = :order_id, line_number = :line_number, held_at = :now
       WHERE variant_id = :variant_id AND warehouse_id = :warehouse_id AND hold_id = :hold_id
       IF available >= :units AND state = null AND quantity = null""",
)


@dataclass(eq=False, kw_only=True)
class Turn:
    """Somebody's wish to write to a shelf, and the word that it is their turn."""

    called: threading.Event = field(default_factory=threading.Event)


@dataclass(eq=False, kw_only=True)
class Hold(Turn):
    """Units that somebody wants to hold, and what came of it: kept or not, and how many units there were for them."""

    hold_id: UUID
    order_id: UUID
    line_number: int
    units: int
    now: datetime
    kept: bool | None = None
    available: int = 0
    # The hold stood there before, with another number of units: what an earlier wish has left.
    differs: bool = False
    # Others were faster so often that nobody knows how many units there are.
    unknown: bool = False
    failed: BaseException | None = None


@dataclass
class Shelf:
    """Who writes to a shelf, and who waits. Only touched under the lock."""

    under_way: int = 0
    waiting: deque[Turn] = field(default_factory=deque)


_shelves: dict[tuple[UUID, str], Shelf] = {}
_lock = threading.Lock()


def held_together(variant_id: UUID, warehouse_id: str, hold: Hold) -> None:
    """Hold units, in one batch with all others of this process that wait for the same; `hold` tells what came of it.

    Raises CassandraUnavailable; UnknownOutcome when it could not be found out whether they are held.
    """
    key = (variant_id, warehouse_id)
    if not _entered(key, hold):
        _wait(key, hold)
    if hold.kept is None and hold.failed is None:
        _lead(key, hold)
    if hold.failed is not None:
        if isinstance(hold.failed, CassandraUnavailable):
            raise type(hold.failed)(str(hold.failed)) from hold.failed
        raise UnknownOutcome(
            f"whoever held for several was interrupted: {hold.failed!r}"
        ) from hold.failed


def alone(variant_id: UUID, warehouse_id: str, hold: Hold) -> None:
    """Hold units by a batch of one's own, without a turn: for whoever measures what turns are good for."""
    _hold_all((variant_id, warehouse_id), [hold])


@contextmanager
def turn(variant_id: UUID, warehouse_id: str) -> Iterator[None]:
    """Write to a shelf within the block, when it is one's turn. Raises CassandraUnavailable after too long a wait."""
    key, mine = (variant_id, warehouse_id), Turn()
    if not _entered(key, mine):
        _wait(key, mine)
    try:
        yield
    finally:
        _left(key)


def _entered(key: tuple[UUID, str], mine: Turn) -> bool:
    """Tell whether it is one's turn at once; if not, one stands in the queue."""
    with _lock:
        shelf = _shelves.setdefault(key, Shelf())
        if shelf.under_way < AT_ONCE:
            shelf.under_way += 1
            return True
        shelf.waiting.append(mine)
        return False


def _wait(key: tuple[UUID, str], mine: Turn) -> None:
    if mine.called.wait(WAIT_SECONDS):
        return
    with _lock:
        shelf = _shelves.get(key)
        if shelf is not None and mine in shelf.waiting:
            shelf.waiting.remove(mine)
            raise CassandraUnavailable(f"too many wait for variant {key[0]} in {key[1]}")
    mine.called.wait()  # somebody has taken it along, or called it, at this very moment


def _left(key: tuple[UUID, str]) -> None:
    """Hand one's turn on to whoever waits first."""
    with _lock:
        shelf = _shelves[key]
        if shelf.waiting:
            shelf.waiting.popleft().called.set()
            return
        shelf.under_way -= 1
        if not shelf.under_way:
            del _shelves[key]


def _lead(key: tuple[UUID, str], mine: Hold) -> None:
    """Hold for oneself and for those who wait, then hand one's turn on, whatever happens."""
    together = [mine, *_taken_along(key, mine)]
    try:
        _hold_all(key, together)
    except BaseException as error:
        for each in together:
            if each.kept is None:
                each.failed = error
        if not isinstance(error, CassandraUnavailable):
            raise
    finally:
        _left(key)
        for each in together[1:]:
            each.called.set()


def _taken_along(key: tuple[UUID, str], mine: Hold) -> list[Hold]:
    """Take those who wait to hold out of the queue, up to the most that one batch carries."""
    taken: list[Hold] = []
    ids = {mine.hold_id}
    with _lock:
        shelf = _shelves[key]
        others: deque[Turn] = deque()
        for each in shelf.waiting:
            # One hold twice in a batch would take its units twice and leave one row.
            if isinstance(each, Hold) and each.hold_id not in ids and len(taken) < TOGETHER - 1:
                ids.add(each.hold_id)
                taken.append(each)
            else:
                others.append(each)
        shelf.waiting = others
    return taken


def _hold_all(key: tuple[UUID, str], holds: list[Hold]) -> None:
    """Hold units for as many as possible, in the order of their coming."""
    waiting = holds
    for _ in range(ROUNDS):
        outcome = _hold_one(key, waiting[0]) if len(waiting) == 1 else _hold_several(key, waiting)
        if outcome:
            for each in waiting:
                each.kept = True
            return
        waiting = _sorted_out(waiting, outcome.rows)
        if not waiting:
            return
    for each in waiting:
        each.kept, each.unknown = False, True


def _hold_one(key: tuple[UUID, str], hold: Hold) -> Outcome:
    # Whose row stands in the way is looked at hold by hold (see `_sorted_out`).
    return HOLD_ONE.apply(if_lost=SEND_AGAIN, minus=-hold.units, **_row(key, hold))


def _hold_several(key: tuple[UUID, str], holds: list[Hold]) -> Outcome:
    units = sum(each.units for each in holds)
    return conditional_batch(
        HOLD.bind(units=units, minus=-units, variant_id=key[0], warehouse_id=key[1]),
        *(HOLD_ROW.bind(**_row(key, each)) for each in holds),
        if_lost=SEND_AGAIN,
    )


def _row(key: tuple[UUID, str], hold: Hold) -> dict[str, Any]:
    return {
        "variant_id": key[0],
        "warehouse_id": key[1],
        "hold_id": hold.hold_id,
        "units": hold.units,
        "order_id": hold.order_id,
        "line_number": hold.line_number,
        "now": hold.now,
    }


def _sorted_out(holds: list[Hold], rows: list[Row]) -> list[Hold]:
    """Settle those who have their hold already, and those for whom there is too little; return the others."""
    told = [row for row in rows if len(row) > 1]
    there = (
        {row.hold_id: row for row in told if row.hold_id}
        if len(holds) > 1
        else _alone(holds[0], told)
    )
    left = (told[0].available or 0) if told else 0
    fitting = []
    for each in holds:
        if row := there.get(each.hold_id):
            each.kept = row.quantity == each.units
            each.differs = not each.kept
        elif each.units <= left:
            fitting.append(each)
            left -= each.units
        else:
            each.available = left
            each.kept = False
    return fitting


def _alone(hold: Hold, told: list[Row]) -> dict[UUID, Row]:
    # The answer to one statement does not repeat its key.
    return dict.fromkeys([hold.hold_id], told[0]) if told and told[0].state else {}

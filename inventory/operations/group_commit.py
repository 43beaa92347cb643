"""Group commit: within a process, conditional writes to one stock item take turns; at most AT_ONCE of them run at a time.

A write to a busy stock item waits. All waiting reservations go into one batch: the first one writes it, with up to 31 others. So
a hot SKU costs one round of Paxos for 32 buyers, whose separate writes would collide. Between processes the conditions of the
batches decide.
"""

import threading
from collections import deque
from collections.abc import Iterable, Iterator
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
    apply_batch,
    conditional_write,
)

# How many conditional writes to one stock item a process runs at a time.
AT_ONCE = 2
# The largest number of reservations in one batch.
MAX_BATCH_SIZE = 32
# How often a batch is repeated for requests that did not fit, or whose units other buyers took.
MAX_ATTEMPTS = 10
# For how many seconds a request waits for its turn before the shop says that it is too busy.
WAIT_SECONDS = 10.0
RESERVE_UNITS = conditional_write(
    "Q17",
    """UPDATE inventory SET available = available + :minus, reserved = reserved + :units
       WHERE variant_id = :variant_id AND warehouse_id = :warehouse_id IF available >= :units""",
)
INSERT_RESERVATION = conditional_write(
    "Q17",
    """INSERT INTO inventory (variant_id, warehouse_id, reservation_id, quantity, state, order_id, line_number, reserved_at)
       VALUES (:variant_id, :warehouse_id, :reservation_id, :units, 'held', :order_id, :line_number, :now) IF NOT EXISTS""",
)
# One reservation in one statement, which costs little more than a conditional write without a reservation.
RESERVE_ONE = conditional_write(
    "Q17",
    """UPDATE inventory SET available = available + :minus, reserved = reserved + :units, quantity = :units, state = 'held',
              order_id = :order_id, line_number = :line_number, reserved_at = :now
       WHERE variant_id = :variant_id AND warehouse_id = :warehouse_id AND reservation_id = :reservation_id
       IF available >= :units AND state = null AND quantity = null""",
)


@dataclass(eq=False, kw_only=True)
class WriteTurn:
    """A write that waits for its turn at a stock item, and the event that ends its wait."""

    called: threading.Event = field(default_factory=threading.Event)


@dataclass(eq=False, kw_only=True)
class ReservationRequest(WriteTurn):
    """Units to reserve, and the result: whether they are reserved, and how many units were available."""

    reservation_id: UUID
    order_id: UUID
    line_number: int
    units: int
    now: datetime
    is_reserved: bool | None = None
    available: int = 0
    # The reservation exists with another number of units, from an earlier attempt.
    has_other_quantity: bool = False
    # Other processes were faster at each attempt, so the number of units is unknown.
    is_unknown: bool = False
    error: BaseException | None = None


@dataclass
class StockItemQueue:
    """The running and the waiting writes of a stock item. Only code that holds the lock may use it."""

    running_writes: int = 0
    waiting_turns: deque[WriteTurn] = field(default_factory=deque)


queues: dict[tuple[UUID, str], StockItemQueue] = {}
_lock = threading.Lock()


def reserve_batched(variant_id: UUID, warehouse_id: str, request: ReservationRequest) -> None:
    """Reserve units in one batch with all waiting requests of this process; `request` gets the result.

    Raises CassandraUnavailable. Raises UnknownOutcome if nobody knows whether the units are reserved.
    """
    key = (variant_id, warehouse_id)
    if not _enter_queue(key, request):
        _wait(key, request)
    if request.is_reserved is None and request.error is None:
        _lead_batch(key, request)
    if request.error is not None:
        if isinstance(request.error, CassandraUnavailable):
            raise type(request.error)(str(request.error)) from request.error
        raise UnknownOutcome(
            f"the leader of the batch was interrupted: {request.error!r}"
        ) from request.error


@contextmanager
def write_turn(variant_id: UUID, warehouse_id: str) -> Iterator[None]:
    """Wait for the turn to write to a stock item, and write within the block. Raises CassandraUnavailable after WAIT_SECONDS."""
    key, mine = (variant_id, warehouse_id), WriteTurn()
    if not _enter_queue(key, mine):
        _wait(key, mine)
    try:
        yield
    finally:
        _hand_on_turn(key)


def _enter_queue(key: tuple[UUID, str], mine: WriteTurn) -> bool:
    """Return whether the write may run at once; otherwise put it into the queue."""
    with _lock:
        queue = queues.setdefault(key, StockItemQueue())
        if queue.running_writes < AT_ONCE:
            queue.running_writes += 1
            return True
        queue.waiting_turns.append(mine)
        return False


def _wait(key: tuple[UUID, str], mine: WriteTurn) -> None:
    if mine.called.wait(WAIT_SECONDS):
        return
    with _lock:
        queue = queues.get(key)
        if queue is not None and mine in queue.waiting_turns:
            queue.waiting_turns.remove(mine)
            raise CassandraUnavailable(f"too many wait for variant {key[0]} in {key[1]}")
    mine.called.wait()  # Another thread has just taken it along, or called it.


def _hand_on_turn(key: tuple[UUID, str]) -> None:
    """Call the next waiting write."""
    with _lock:
        queue = queues[key]
        if queue.waiting_turns:
            queue.waiting_turns.popleft().called.set()
            return
        queue.running_writes -= 1
        if not queue.running_writes:
            del queues[key]


def _lead_batch(key: tuple[UUID, str], mine: ReservationRequest) -> None:
    """Reserve for this request and all waiting requests. Then call the next write, even after an error."""
    requests = [mine, *_take_waiting(key, mine)]
    try:
        reserve_all(key, requests)
    except BaseException as error:
        for each in requests:
            if each.is_reserved is None:
                each.error = error
        if not isinstance(error, CassandraUnavailable):
            raise
    finally:
        _hand_on_turn(key)
        for each in requests[1:]:
            each.called.set()


def _take_waiting(key: tuple[UUID, str], mine: ReservationRequest) -> list[ReservationRequest]:
    """Take the waiting reservation requests out of the queue, at most one batch of them."""
    taken: list[ReservationRequest] = []
    ids = {mine.reservation_id}
    with _lock:
        queue = queues[key]
        others: deque[WriteTurn] = deque()
        for each in queue.waiting_turns:
            # A reservation that is in a batch twice would take its units twice, and leave only one row.
            if (
                isinstance(each, ReservationRequest)
                and each.reservation_id not in ids
                and len(taken) < MAX_BATCH_SIZE - 1
            ):
                ids.add(each.reservation_id)
                taken.append(each)
            else:
                others.append(each)
        queue.waiting_turns = others
    return taken


def reserve_all(key: tuple[UUID, str], requests: list[ReservationRequest]) -> None:
    """Reserve for as many requests as possible, first come, first served; requests that do not fit beside the others come last."""
    waiting, later = requests, list[ReservationRequest]()
    for _ in range(MAX_ATTEMPTS):
        try:
            if len(waiting) == 1:
                outcome = _reserve_one(key, waiting[0])
            else:
                outcome = _reserve_several(key, waiting)
        except CassandraUnavailable:
            _leave_open(later)  # nothing of these requests was sent
            raise
        if outcome:
            for each in waiting:
                each.is_reserved = True
            waiting = []
        else:
            waiting, crowded_out = _sort_out(waiting, outcome.rows)
            later += crowded_out
        if not waiting:
            waiting, later = later, []
        if not waiting:
            return
    _leave_open(waiting + later)


def _leave_open(requests: Iterable[ReservationRequest]) -> None:
    """Set the result of these requests: nothing is reserved, and the number of units is unknown."""
    for each in requests:
        each.is_reserved, each.is_unknown = False, True


def _reserve_one(key: tuple[UUID, str], request: ReservationRequest) -> Outcome:
    # If the write is refused, `_sort_out` compares the conflicting row with the request.
    return RESERVE_ONE.apply(
        if_lost=SEND_AGAIN, minus=-request.units, **_reservation_columns(key, request)
    )


def _reserve_several(key: tuple[UUID, str], requests: list[ReservationRequest]) -> Outcome:
    units = sum(each.units for each in requests)
    return apply_batch(
        RESERVE_UNITS.bind(units=units, minus=-units, variant_id=key[0], warehouse_id=key[1]),
        *(INSERT_RESERVATION.bind(**_reservation_columns(key, each)) for each in requests),
        if_lost=SEND_AGAIN,
    )


def _reservation_columns(key: tuple[UUID, str], request: ReservationRequest) -> dict[str, Any]:
    return {
        "variant_id": key[0],
        "warehouse_id": key[1],
        "reservation_id": request.reservation_id,
        "units": request.units,
        "order_id": request.order_id,
        "line_number": request.line_number,
        "now": request.now,
    }


def _sort_out(
    requests: list[ReservationRequest], rows: list[Row]
) -> tuple[list[ReservationRequest], list[ReservationRequest]]:
    """Divide the requests of a refused write into decided ones and two lists to try again.

    A request is decided if its reservation exists, or if there are too few units: then its result is set. Return the requests
    that fit into the stock together, and the requests that would fit only without them.
    """
    conflicts = [row for row in rows if len(row) > 1]
    if len(requests) > 1:
        existing_rows = {row.reservation_id: row for row in conflicts if row.reservation_id}
    else:
        # A refused single statement does not return the key of its row.
        both = zip(requests, conflicts, strict=False)
        existing_rows = {each.reservation_id: row for each, row in both if row.state}
    available = left = (conflicts[0].available or 0) if conflicts else 0
    fitting, crowded_out = [], []
    for each in requests:
        if row := existing_rows.get(each.reservation_id):
            each.is_reserved = row.quantity == each.units
            each.has_other_quantity = not each.is_reserved
        elif each.units <= left:
            fitting.append(each)
            left -= each.units
        elif each.units <= available:
            crowded_out.append(each)
        else:
            each.available, each.is_reserved = available, False
    return fitting, crowded_out

"""An order's events: each is one conditional batch that changes the header and appends its row, guarded by state and version."""

from datetime import datetime, timedelta
from uuid import UUID

from cassandra.util import uuid_from_time

from cassandra_db import conditional, conditional_batch
from orders import queries
from orders.errors import MoveRefused, StaleOrder
from orders.operations.hints import Hint, hint_dropped, hint_written
from orders.queries import Order
from orders.states import MOVES, board_column

MOVE = conditional(
    "Q12",
    """UPDATE orders SET state = :state, payment = :payment, fulfilment = :fulfilment, version = :version,
                         payment_id = :payment_id, allocations = :allocations, placing = null
       WHERE order_id = :order_id IF state = :was AND version = :seen AND placing = :claim""",
)
EVENT = conditional(
    "Q14",
    """INSERT INTO orders (order_id, event_id, kind, actor, note, public, state_after, board_after)
       VALUES (:order_id, :event_id, :kind, :actor, :note, :public, :state, :board) IF NOT EXISTS""",
)


def event_written(
    order: Order,
    kind: str,
    *,
    actor: str,
    now: datetime,
    note: str = "",
    payment_id: UUID | None = None,
    allocated: str = "",
    claim: UUID | None = None,
) -> tuple[Order, Hint]:
    """Let something happen to the order as it was read; return what it is then, and the hint at what that owes.

    `claim` is that under which the order's units were taken; this ends it. Without one nobody may have one.
    Raises MoveRefused when the order's state does not allow it, StaleOrder when somebody was faster, CassandraUnavailable.
    """
    move = MOVES[kind]
    if not move.allowed(order):
        raise MoveRefused(order, kind)
    after = move.after(order)
    event_id = _event_id(order, now)
    hint = hint_written(order.order_id)
    outcome = conditional_batch(
        MOVE.bind(
            order_id=order.order_id,
            state=after.state,
            payment=after.payment,
            fulfilment=after.fulfilment,
            version=order.version + 1,
            payment_id=payment_id or order.payment_id,
            allocations=allocated or order.allocated,
            was=order.state,
            seen=order.version,
            claim=claim,
        ),
        EVENT.bind(
            order_id=order.order_id,
            event_id=event_id,
            kind=kind,
            actor=actor,
            note=note,
            public=bool(move.told),
            state=after.state,
            board=board_column(after),
        ),
        mine=lambda row: row.event_id == event_id,
    )
    fresh = queries.order(order.order_id)
    if fresh is None:
        raise LookupError(f"order {order.order_id} has vanished")
    if not outcome:
        hint_dropped(hint)
        raise StaleOrder(fresh)
    return fresh, hint


def note_added(order: Order, text: str, *, actor: str, now: datetime, public: bool = False) -> Order:
    """Write a note into the order's history, for staff unless `public`; return the order with it.

    A note changes nothing else, so it makes nobody's page stale. Raises CassandraUnavailable.
    """
    event_id = _event_id(order, now)
    EVENT.apply(
        mine=lambda row: row.event_id == event_id,
        order_id=order.order_id,
        event_id=event_id,
        kind="note",
        actor=actor,
        note=text,
        public=public,
        state=order.state,
        board="",
    )
    return queries.order(order.order_id) or order


def _event_id(order: Order, now: datetime) -> UUID:
    """Return an id for what happens now, later than all that has happened, whatever a host's clock says."""
    last = order.events[0].at if order.events else now
    made: UUID = uuid_from_time(max(now, last + timedelta(milliseconds=1)))
    return made

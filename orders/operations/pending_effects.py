"""Pending effects: rows of the orders that may have effects to apply, by the minute from which the worker checks the order.

A pending effect is recorded before an event, and cleared when the event's effects are applied. Both writes have the timestamp of
the recording, so clearing one keeps a later pending effect of the same order and minute.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from cassandra.query import BoundStatement

from cassandra_db import Row, current_time, write
from jobs.due_rows import DueRows
from jobs.minutes import MINUTE, floor_to_minute
from orders.queries import PENDING_EFFECTS

INSERT_PENDING_EFFECT = write(
    "Q12",
    """INSERT INTO pending_effects_by_minute (minute, order_id, has_effects) VALUES (:minute, :order_id, true)
       USING TIMESTAMP :written""",
)
# A column of its own: the timestamp is later than that of effects in this minute, and must not hide them.
INSERT_INQUIRY = write(
    "Q12",
    """INSERT INTO pending_effects_by_minute (minute, order_id, is_inquiry) VALUES (:minute, :order_id, true)
       USING TIMESTAMP :written""",
)
DELETE_PENDING_EFFECT = write(
    "Q12",
    "DELETE FROM pending_effects_by_minute USING TIMESTAMP :written WHERE minute = :minute AND order_id = :order_id",
)
# A process may still be applying the effects of the last two minutes. Clearing these would lose them after its crash.
DUE_EFFECTS = DueRows(
    job="orders",
    label="order",
    select=PENDING_EFFECTS,
    insert=INSERT_PENDING_EFFECT,
    delete=DELETE_PENDING_EFFECT,
    wait=2 * MINUTE,
)
# The time that the worker waits before it asks the gateway about a payment attempt without an outcome.
ASK_AFTER = timedelta(minutes=2)


@dataclass(frozen=True)
class PendingEffect:
    """A record that the worker checks an order from a minute on. `write_timestamp` is in microseconds since 1970."""

    minute: datetime
    order_id: UUID
    write_timestamp: int


def record_pending_effects(order_id: UUID, look_at: datetime | None = None) -> PendingEffect:
    """Record that the worker checks an order from `look_at` on (default: this minute in real time). Raises CassandraUnavailable."""
    row = DUE_EFFECTS.note(look_at, order_id=order_id)
    return PendingEffect(row["minute"], order_id, row["written"])


def record_payment_inquiry(
    order_id: UUID, started_at: datetime, after: timedelta = ASK_AFTER
) -> PendingEffect:
    """Record that the worker asks the gateway about a payment, some time after the payment's start. Raises CassandraUnavailable.

    The worker applies no effects then: whoever learns the payment's outcome records the effects itself.
    """
    look_at = max(started_at, current_time()) + after
    row = DUE_EFFECTS.date_row({"order_id": order_id}, look_at)
    INSERT_INQUIRY.run(**row)
    return PendingEffect(row["minute"], order_id, row["written"])


def make_placing_rows(
    order_id: UUID, started_at: datetime, *, has_inquiry: bool
) -> tuple[PendingEffect, list[BoundStatement]]:
    """Return the pending effect of an order that is being placed, and the writes of its rows.

    With `has_inquiry` the worker asks about its payment, too. A row without an order does no harm.
    """
    effects = DUE_EFFECTS.date_row({"order_id": order_id})
    rows = [INSERT_PENDING_EFFECT.bind(**effects)]
    if has_inquiry:
        look_at = max(started_at, current_time()) + ASK_AFTER
        rows.append(INSERT_INQUIRY.bind(**DUE_EFFECTS.date_row({"order_id": order_id}, look_at)))
    return PendingEffect(effects["minute"], order_id, effects["written"]), rows


def has_effects(row: Row) -> bool:
    """Return whether a pending row is about effects, or is older than the columns that say so."""
    return bool(row.has_effects or not row.is_inquiry)


# The pending effect of the effects that this thread is applying.
_under_way: ContextVar[PendingEffect | None] = ContextVar("pending_effect", default=None)


@contextmanager
def effects_under_way(pending_effect: PendingEffect) -> Iterator[None]:
    """Let the events inside the block share a pending effect. The caller clears this pending effect after the block."""
    token = _under_way.set(pending_effect)
    try:
        yield
    finally:
        _under_way.reset(token)


def ensure_pending_effects(order_id: UUID) -> PendingEffect:
    """Return the pending effect for an event that is about to be written: the shared one of this minute, or a new one.

    If another process has cleared the shared pending effect, it has also written an event. Then the present event is refused,
    and `forget_pending_effects` makes the next event record a new pending effect. Raises CassandraUnavailable.
    """
    shared = _under_way.get()
    if shared and (shared.order_id, shared.minute) == (order_id, floor_to_minute(current_time())):
        return shared
    return record_pending_effects(order_id)


def forget_pending_effects() -> None:
    """Stop sharing a pending effect, so that the next events inside the block record a new one."""
    _under_way.set(None)


def clear_pending_effects(pending_effect: PendingEffect) -> None:
    """Delete a pending effect that has been applied. Raises CassandraUnavailable."""
    DUE_EFFECTS.clear(
        {
            "minute": pending_effect.minute,
            "order_id": pending_effect.order_id,
            "written": pending_effect.write_timestamp,
        }
    )

"""Hints: which orders may owe something, and from when on to look.

Written before an event, dropped once all that follows from it is done. Both carry the time of the writing: dropping
one event's hint spares the hint that another event has written later for the same order and minute.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from time import time_ns
from uuid import UUID

from cassandra_db import write
from jobs.minutes import minute_of

HINT = write(
    "Q12",
    "INSERT INTO orders_to_settle (minute, order_id) VALUES (:minute, :order_id) USING TIMESTAMP :written",
)
DROP = write(
    "Q12",
    "DELETE FROM orders_to_settle USING TIMESTAMP :written WHERE minute = :minute AND order_id = :order_id",
)
# No event writes a hint of a minute so long after a moment of that minute, and no worker looks at it before.
LOOKED_AT_AFTER = timedelta(minutes=1)


@dataclass(frozen=True)
class Hint:
    """That an order is to be looked at from a minute on. `written` is in microseconds since 1970."""

    minute: datetime
    order_id: UUID
    written: int


def hint_written(order_id: UUID, look_at: datetime | None = None) -> Hint:
    """Note that an order is to be looked at, by default from this minute on. Raises CassandraUnavailable.

    Hints live in real time, as the worker does, whatever `now` an importer of old orders passes.
    """
    written = microseconds()
    if look_at:
        # Newer than the hints of events in that minute, which are dropped with them; older than the worker's look at it,
        # two minutes later (orders.jobs).
        written = max(written, int((look_at + LOOKED_AT_AFTER).timestamp() * 1_000_000))
    hint = Hint(minute_of(look_at or datetime.now(UTC)), order_id, written)
    HINT.run(minute=hint.minute, order_id=order_id, written=hint.written)
    return hint


def hint_dropped(hint: Hint) -> None:
    """Forget a hint whose work is done. Raises CassandraUnavailable."""
    DROP.run(minute=hint.minute, order_id=hint.order_id, written=hint.written)


def microseconds() -> int:
    """Return the present moment in microseconds since 1970, which is what Cassandra's timestamps count."""
    return time_ns() // 1000

"""Write timestamps. Of two plain writes to a column, the one with the later timestamp wins, in whatever order they arrive."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import time_ns

from cassandra.timestamps import MonotonicTimestampGenerator

# A clock that moves by this much against the monotonic time was set, in seconds.
CLOCK_JUMP = 1.0

_after: ContextVar[int] = ContextVar("after", default=0)


@contextmanager
def write_after(stamp: int) -> Iterator[None]:
    """Let writes within the block win against the timestamp `stamp`, in microseconds since 1970.

    Use it to repair rows with a timestamp in the future, from a wrong clock: until that time, ordinary writes to them are lost.
    """
    token = _after.set(stamp)
    try:
        yield
    finally:
        _after.reset(token)


def current_microseconds() -> int:
    """Return the present moment in microseconds since 1970, the unit of write timestamps."""
    # Two microseconds after the stamp: the deletion of an old row is written a microsecond before its new row.
    return max(time_ns() // 1000, _after.get() + 2)


class WriteTimestamps(MonotonicTimestampGenerator):  # type: ignore[misc]
    """Generates the timestamps of plain writes. Each is later than the timestamp before it, unless the clock was set back.

    After the clock was set back, the driver's own generator would continue from the former time. Its writes would win against
    the writes of other processes until their clocks have reached that time.
    """

    def _next_timestamp(self, now: int, last: int) -> int:
        now = max(now, _after.get() + 1 if _after.get() else 0)
        return int(super()._next_timestamp(now, 0 if last > now + CLOCK_JUMP * 1e6 else last))

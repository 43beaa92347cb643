"""The only clock of the application, and its comparison with the clocks of the nodes.

`current_time` is rounded to milliseconds, as Cassandra stores times. So a row has the same times when it is read, and a repeated
write recognises its row.

A process whose clock differs from the nodes' clocks by more than MAX_CLOCK_ERROR writes nothing (decision 026). If its clock is
ahead, its timestamps would win against all others, and it would run jobs too early. A process compares clocks before its first
write, then every CHECK_EVERY, and when its clock has jumped. While its clock is wrong, writes raise ClockWrong.
"""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import inf
from statistics import median_high, median_low
from time import monotonic, time

from cassandra import OperationTimedOut
from cassandra.cluster import ResponseFuture, Session
from cassandra.pool import Host

from cassandra_db.configuration import READ, SilentNodesLastPolicy
from cassandra_db.errors import CassandraUnavailable, ClockWrong
from cassandra_db.rows import truncate_to_milliseconds
from cassandra_db.session import DRIVER_ERRORS, get_session
from cassandra_db.timestamps import CLOCK_JUMP

MAX_CLOCK_ERROR = timedelta(seconds=5)
# Two right clocks may differ by this time. Nodes whose clocks differ more from the median are ignored.
CLOCKS_APART = 2 * MAX_CLOCK_ERROR
CHECK_EVERY = timedelta(seconds=10)
# After this time clocks are compared again if the clock is wrong or no node has answered.
CHECK_AGAIN_AFTER = timedelta(seconds=1)
# How many nodes are asked, and how long the answers may take, in seconds: the first comparison waits longer.
MAX_NODES = 5
PATIENCE, FIRST_PATIENCE = 1.0, 3.0

NODE_TIME = "SELECT toTimestamp(now()) AS node_time FROM system.local"

log = logging.getLogger(__name__)
_lock = threading.Lock()
last_comparison: ClockComparison | None = None
failed_at = -inf  # the last time (by `monotonic`) at which no node answered


def current_time() -> datetime:
    """Return the present moment (UTC), to the millisecond. No other code of the shop reads the clock."""
    return truncate_to_milliseconds(datetime.now(UTC))


def is_in_future(moment: datetime, now: datetime) -> bool:
    """Return whether a moment is in the future by more than right clocks can differ."""
    return moment > now + CLOCKS_APART


@dataclass(frozen=True)
class ClockComparison:
    """How far this process's clock was ahead of each node's clock at `checked_at` (by `monotonic`). A negative time means behind."""

    ahead_by_node: dict[str, timedelta]
    checked_at: float
    jumps_from: float  # the difference between clock and processor time

    @property
    def ahead(self) -> timedelta:
        """How far the clock is ahead of the nodes' median. If two nodes are in the middle, the node nearer to our clock counts.

        So it is enough if half of the nodes agree: the shop goes on with one node away and another node's clock wrong.
        """
        found = self.ahead_by_node.values()
        return min(median_low(found), median_high(found), key=abs)

    @property
    def wrong_nodes(self) -> dict[str, timedelta]:
        """The nodes whose clocks are wrong, each with the time by which it is ahead of the median. A negative time means behind."""
        offsets = {node: self.ahead - ahead for node, ahead in self.ahead_by_node.items()}
        return {node: offset for node, offset in offsets.items() if abs(offset) > CLOCKS_APART}

    @property
    def is_right(self) -> bool:
        return abs(self.ahead) <= MAX_CLOCK_ERROR

    @property
    def has_jumped(self) -> bool:
        return abs(time() - monotonic() - self.jumps_from) > CLOCK_JUMP

    @property
    def is_due(self) -> bool:
        """Whether it is time to compare the clocks again."""
        pause = CHECK_EVERY if self.is_right else CHECK_AGAIN_AFTER
        return monotonic() - self.checked_at > pause.total_seconds()

    @property
    def problem(self) -> str:
        """The problem with the clock, in words; '' if it is right."""
        if self.is_right:
            return ""
        return f"the clock of this process is {_in_words(self.ahead)} the nodes' clocks"


def require_right_clock() -> None:
    """Raise ClockWrong if this process's clock, compared anew if due, is too wrong to write. Raises CassandraUnavailable."""
    known = last_comparison
    if known is None or known.has_jumped:
        known = compare_clocks()
    elif known.is_due and _lock.acquire(blocking=False):
        # One thread compares; the other threads go on with the last comparison.
        try:
            known = _compare(PATIENCE)
        except CassandraUnavailable:
            pass  # the write itself will raise the same error
        finally:
            _lock.release()
    if not known.is_right:
        raise ClockWrong(f"{known.problem}: it writes nothing until they agree")


def is_clock_right() -> bool:
    """Return whether this process may write now. Raises CassandraUnavailable when no node answers."""
    try:
        require_right_clock()
    except ClockWrong:
        return False
    return True


def compare_clocks() -> ClockComparison:
    """Compare this process's clock with the nodes' clocks now. Raises CassandraUnavailable when no node answers."""
    called_at = monotonic()
    with _lock:
        # Another thread may have compared while this one waited for the lock.
        if (
            last_comparison
            and last_comparison.checked_at >= called_at
            and not last_comparison.has_jumped
        ):
            return last_comparison
        return _compare(FIRST_PATIENCE)


def earliest_node_time() -> datetime:
    """Return the earliest time of all nodes whose clocks are right. Raises CassandraUnavailable when no node answers."""
    known = last_comparison
    if known is None or known.has_jumped:
        known = compare_clocks()
    right = [ahead for node, ahead in known.ahead_by_node.items() if node not in known.wrong_nodes]
    return current_time() - max(right)


def has_wrong_node() -> bool:
    """Return whether a node's clock is known to be wrong. Raises CassandraUnavailable when no node answers."""
    return bool((last_comparison or compare_clocks()).wrong_nodes)


def _compare(patience: float) -> ClockComparison:
    global last_comparison, failed_at
    if monotonic() - failed_at < CHECK_AGAIN_AFTER.total_seconds():
        raise CassandraUnavailable("no Cassandra node said the time a moment ago")
    before = last_comparison
    try:
        found = ClockComparison(ask_nodes(patience), monotonic(), time() - monotonic())
    except CassandraUnavailable:
        failed_at = monotonic()
        raise
    last_comparison = found
    for node, offset in found.wrong_nodes.items():
        if not before or node not in before.wrong_nodes:
            log.error("the clock of the node %s is %s the other nodes'", node, _in_words(offset))
    if found.problem and not (before and before.problem):
        log.error("%s: nothing is written until they agree", found.problem)
    elif before and before.problem and not found.problem:
        log.warning("the clock of this process agrees with the nodes' clocks again")
    return found


def _in_words(ahead: timedelta) -> str:
    how = "ahead of" if ahead > timedelta(0) else "behind"
    return f"{timedelta(seconds=round(abs(ahead).total_seconds()))} {how}"


def ask_nodes(patience: float) -> dict[str, timedelta]:
    """Return how far this clock is ahead of each node that answers. Raises CassandraUnavailable when no node answers."""
    session = get_session()
    # Only nodes of this data centre have connections.
    hosts = [pool.host for pool in tuple(session.get_pools()) if pool.host.is_up is not False]
    answering = [host for host in hosts if not SilentNodesLastPolicy.is_silent(host)]
    asked = [
        (host, datetime.now(UTC), ask_node(session, host, patience))
        for host in sorted(answering or hosts, key=lambda host: str(host.host_id))[:MAX_NODES]
    ]
    found = {}
    for host, began, pending in asked:
        try:
            told = pending.result().one().node_time.replace(tzinfo=UTC)
        except OperationTimedOut:
            # A node that is slow for a second is asked at the next comparison.
            if patience >= FIRST_PATIENCE:
                SilentNodesLastPolicy.mark_silent(host)
        except DRIVER_ERRORS as error:
            log.debug("node %s does not say the time: %s", host, error)
        else:
            found[str(host.endpoint)] = clock_ahead(began, told, datetime.now(UTC))
    if not found:
        raise CassandraUnavailable("no Cassandra node says the time")
    return found


def ask_node(session: Session, host: Host, patience: float) -> ResponseFuture:
    return session.execute_async(NODE_TIME, execution_profile=READ, timeout=patience, host=host)


def clock_ahead(began: datetime, told: datetime, ended: datetime) -> timedelta:
    """Return how far our clock is ahead of a node that `told` its time between our moments `began` and `ended`.

    A negative time means behind. The result is zero if the clocks may be equal: a slow answer leaves more room for that.
    """
    if told < truncate_to_milliseconds(began):
        return began - told
    return min(ended - told, timedelta(0))

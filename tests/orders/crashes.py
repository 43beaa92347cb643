"""A process that dies at one of its writes, and the worker that comes after it."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from unittest.mock import Mock, patch
from uuid import UUID, uuid4

import pytest
from cassandra.query import BoundStatement

from cassandra_db import RAISE_UNKNOWN
from cassandra_db.configuration import CONDITIONAL, WRITE
from cassandra_db.session import get_session
from jobs.minutes import MINUTE, minutes_between
from orders import jobs
from orders.operations import placement
from tests.clock import now
from tests.orders.sweeps import apply_pending_effects
from tests.shards import ItemsShard, SingleItemShard


class Killed(BaseException):
    """The process is dead. No `except Exception` may catch it."""


def kill_in(module: Any, name: str, act: Callable[[], Any]) -> None:
    """Run `act` in a process that dies when it calls this function."""
    with patch.object(module, name, Mock(side_effect=Killed)):
        try:
            answer = act()
        except Killed:
            return
    pytest.fail(f"{name} is not called: {answer} {getattr(answer, 'content', b'').decode()}")


@dataclass(frozen=True)
class Write:
    """A write as it leaves the process: the text of its statement, or those of its batch; `occurrence` counts equal ones from 1."""

    texts: tuple[str, ...]
    occurrence: int

    @property
    def tables(self) -> str:
        """The names of the tables that it writes to."""
        return ", ".join(
            sorted({re.findall(r"(?:INTO|UPDATE|FROM) (\w+)", text)[0] for text in self.texts})
        )


def record_writes(act: Callable[[], Any]) -> list[Write]:
    """Run `act` and return all its writes, in order."""
    written: list[Write] = []
    with _watch_writes(written.append):
        act()
    return written


def first_writes(writes: Sequence[Write]) -> list[Write]:
    """Return the first occurrence of each distinct statement among the writes."""
    return [write for write in writes if write.occurrence == 1]


def first_and_last_writes(writes: Sequence[Write]) -> list[Write]:
    """Return the first and the last occurrence of each distinct statement among the writes."""
    last = Counter(write.texts for write in writes)
    return [write for write in writes if write.occurrence in (1, last[write.texts])]


def kill_at_write(target: Write, act: Callable[[], Any]) -> bool:
    """Run `act` in a process that dies at this write; return whether it came to it.

    Code that still runs after the death (a `finally`) writes nothing any more.
    """
    dead = False

    def die(write: Write) -> None:
        nonlocal dead
        dead = dead or write == target
        if dead:
            raise Killed

    with _watch_writes(die), suppress(Killed):
        act()
    return dead


@contextmanager
def _watch_writes(see: Callable[[Write], None]) -> Iterator[None]:
    """Pass each write within the block to `see` before it is sent.

    All writes, plain, conditional or in batches, go through the one function that is patched here: the driver's
    `execute_async`.
    """
    session = get_session()
    execute_async, seen = session.execute_async, Counter[tuple[str, ...]]()

    def watched(query: Any, *args: Any, **kwargs: Any) -> Any:
        if kwargs.get("execution_profile", args[4] if len(args) > 4 else None) in (
            WRITE,
            CONDITIONAL,
        ):
            texts = _texts(query)
            seen[texts] += 1
            see(Write(texts, seen[texts]))
        return execute_async(query, *args, **kwargs)

    with patch.object(session, "execute_async", watched):
        yield


def _texts(query: Any) -> tuple[str, ...]:
    """Return the texts of a bound statement, or the distinct ones of a batch: its rows may be more or fewer."""
    if isinstance(query, BoundStatement):
        return (query.prepared_statement.query_string,)
    known = get_session().cluster._prepared_statements
    return tuple(
        sorted(
            {known[query_id].query_string for _, query_id, _ in query._statements_and_parameters}
        )
    )


def run_worker(since: datetime, until: datetime, *order_ids: UUID) -> None:
    """Let the worker process what was due for these orders between two moments."""
    shard = ItemsShard("orders", item_ids=frozenset(order_ids))
    minutes = minutes_between(since - MINUTE, until)
    apply_pending_effects(minutes, until, shard)
    jobs.expire_reservations(minutes, until, shard)


def expire_claim(order_id: UUID) -> None:
    """Make the claim of a checkout expire at once: its TTL counts in the node's own time."""
    outcome = placement.CLAIM_AGAIN.apply(
        if_lost=RAISE_UNKNOWN, order_id=order_id, me=(me := uuid4()), seconds=1
    )
    holder = outcome.current.placing if outcome.current else None
    placement.UNCLAIM.apply(
        if_lost=RAISE_UNKNOWN, order_id=order_id, me=me if outcome else holder or me
    )


def run_worker_after(order_id: UUID, minutes: int) -> None:
    """Let the worker process, so many minutes from now, all that was due for an order by then."""
    run_worker(now() - timedelta(minutes=2), now() + timedelta(minutes=minutes), order_id)


def sweep_reservations(order_id: UUID) -> None:
    """Let the worker process only an order's reservations, after they have expired."""
    shard = SingleItemShard("holds", item_id=order_id)
    jobs.expire_reservations(
        minutes_between(now(), now() + timedelta(minutes=12)), now() + timedelta(minutes=13), shard
    )

"""A process that dies at its n-th write, and the worker that comes after it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any
from unittest.mock import patch
from uuid import UUID, uuid4

import pytest

from cassandra_db.configuration import CONDITIONAL, WRITE
from cassandra_db.minutes import MINUTE, minutes_between
from cassandra_db.session import session
from orders import jobs
from orders.operations import placing
from tests.shares import Only


class Killed(BaseException):
    """The process is gone. No `except Exception` may go on after it."""


def killed_in(module: Any, name: str, act: Callable[[], Any]) -> None:
    """Run `act` in a process that dies when it comes to this function."""

    def die(*_: Any, **__: Any) -> None:
        raise Killed

    with patch.object(module, name, die), pytest.raises(Killed):
        act()


@contextmanager
def killed_at(number: int) -> Iterator[None]:
    """Let this process die when it comes to its n-th write within the block.

    All writes, plain, conditional or in batches, leave by the one door that is watched here: the driver's
    `execute_async`. Whoever goes on after the death (a `finally`) writes nothing any more.
    """
    connected = session()
    through = connected.execute_async
    written = 0

    def watched(query: Any, *args: Any, **kwargs: Any) -> Any:
        nonlocal written
        if kwargs.get("execution_profile", args[4] if len(args) > 4 else None) in (WRITE, CONDITIONAL):
            written += 1
            if written >= number:
                raise Killed
        return through(query, *args, **kwargs)

    with patch.object(connected, "execute_async", watched):
        yield


def died_at(number: int, act: Callable[[], Any]) -> bool:
    """Run `act` with a process that dies at its n-th write; tell whether it came to it."""
    with killed_at(number):
        try:
            act()
        except Killed:
            return True
    return False


def worked(since: datetime, until: datetime, order_id: UUID | None = None) -> None:
    """Let the worker look at all that was due between two moments, as it would have; `order_id` spares it all others."""
    share = Only("orders", thing=order_id) if order_id else jobs.ALL_ORDERS
    minutes = minutes_between(since - MINUTE, until)
    jobs.orders_looked_after(minutes, until, share)
    jobs.holds_looked_after(minutes, until, share)


def claim_over(order_id: UUID) -> None:
    """Let the minute pass in which nobody else places a checkout: the claim's TTL counts in the node's own time."""
    outcome = placing.CLAIM.apply(order_id=order_id, me=(me := uuid4()), seconds=1)
    holder = outcome.current.placing if outcome.current else None
    placing.UNCLAIM.apply(order_id=order_id, me=me if outcome else holder or me)

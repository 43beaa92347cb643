"""Steps that are taken at the same time."""

from contextvars import ContextVar
from functools import partial
from threading import Barrier, Event, get_ident

import pytest

from cassandra_db import count_statements, read, run_side_by_side

LOCAL = read("test", "SELECT key FROM system.local WHERE key = 'local'")
named: ContextVar[str] = ContextVar("named", default="")


def test_steps_run_at_the_same_time_and_answer_in_their_order() -> None:
    meeting = Barrier(3)

    def meet(name: str) -> tuple[str, int]:
        meeting.wait(timeout=10)
        return name + named.get(), get_ident()

    named.set("!")
    answers = run_side_by_side(partial(meet, "a"), partial(meet, "b"), partial(meet, "c"))
    assert [name for name, _ in answers] == ["a!", "b!", "c!"]
    # Django keeps the language of a thread.
    assert [thread == get_ident() for _, thread in answers] == [False, False, True]


def test_one_that_fails_keeps_no_other_from_its_end() -> None:
    may_end, has_ended = Event(), []

    def slow() -> None:
        may_end.wait(timeout=10)
        has_ended.append("slow")

    def fail(error: Exception) -> None:
        may_end.set()
        raise error

    with pytest.raises(ValueError, match="first"):
        run_side_by_side(
            partial(fail, ValueError("first")), slow, partial(fail, LookupError("last"))
        )
    assert has_ended == ["slow"]


def test_the_longest_chain_counts() -> None:
    def ask(times: int) -> None:
        for _ in range(times):
            LOCAL.all()

    with count_statements() as meter:
        ask(1)
        run_side_by_side(partial(ask, 3), partial(ask, 2), partial(ask, 1))
        ask(1)
    assert (meter.statement_count, meter.round_count) == (8, 5)

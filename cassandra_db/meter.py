"""Counts the statements that are sent, tells observers the time of each, and logs the slow statements."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from django.conf import settings

from cassandra_db.configuration import READ, WRITE

log = logging.getLogger(__name__)


@dataclass
class Meter:
    """Counts reads, writes and conditional writes, and the written rows.

    A batch is one statement. Statements that are sent before the next answer comes are one round.
    """

    read_count: int = 0
    write_count: int = 0
    conditional_write_count: int = 0
    row_count: int = 0
    round_count: int = 0
    awaited_depth: int = field(default=0, repr=False)

    @property
    def statement_count(self) -> int:
        return self.read_count + self.write_count + self.conditional_write_count

    def count_sent(self, profile: str, rows: int = 0, depth: int | None = None) -> int:
        """Count a statement that is sent now. Return the number of its round, for `count_answered`."""
        if profile == READ:
            self.read_count += 1
        elif profile == WRITE:
            self.write_count += 1
        else:
            self.conditional_write_count += 1
        self.row_count += rows
        depth = self.awaited_depth + 1 if depth is None else depth
        self.round_count = max(self.round_count, depth)
        return depth

    def count_answered(self, depth: int) -> None:
        """Count an answer: the next statement is one round later."""
        self.awaited_depth = max(self.awaited_depth, depth)

    def branch(self) -> Meter:
        """Return a new meter for one of several steps that run side by side. `join` adds its counts."""
        return Meter(round_count=self.round_count, awaited_depth=self.awaited_depth)

    def join(self, branch: Meter) -> None:
        """Add the counts of a branch. Only the branch with the most rounds adds rounds."""
        self.read_count += branch.read_count
        self.write_count += branch.write_count
        self.conditional_write_count += branch.conditional_write_count
        self.row_count += branch.row_count
        self.round_count = max(self.round_count, branch.round_count)
        self.awaited_depth = max(self.awaited_depth, branch.awaited_depth)


_meter: ContextVar[Meter | None] = ContextVar("meter", default=None)
# The questions of slow statements, while a `collect_slow_statements` block collects them.
_slow: list[str] | None = None
# A function that is called with each statement's question, its profile, and its seconds (None if it failed).
Observer = Callable[[str, str, float | None], None]
_observers: list[Observer] = []


def current_meter() -> Meter | None:
    """Return the meter that counts this thread's statements, if one does."""
    return _meter.get()


def observe_statements(observer: Observer) -> None:
    """Call `observer` for each statement of this process from now on.

    The driver's own thread calls `observer`, too, so it must not block.
    """
    _observers.append(observer)


def note_statement(
    question: str, profile: str, cql: str, took: float, *, failed: bool = False
) -> None:
    """Tell the observers about a finished statement, and log it if it was slow."""
    for observer in _observers:
        observer(question, profile, None if failed else took)
    log_if_slow(question, cql, took)


@contextmanager
def count_statements() -> Iterator[Meter]:
    """Count the statements that this thread starts within the block."""
    meter = Meter()
    token = _meter.set(meter)
    try:
        yield meter
    finally:
        _meter.reset(token)


@contextmanager
def measure_branches(steps: Sequence[Callable[[], Any]]) -> Iterator[list[Callable[[], Any]]]:
    """Yield the steps, each in a copy of this context, to be run side by side. This thread's meter counts their statements."""
    meter = _meter.get()
    branches = [meter.branch() if meter else None for _ in steps]

    def run(step: Callable[[], Any], branch: Meter | None) -> Any:
        _meter.set(branch)
        return step()

    yield [partial(run, step, branch) for step, branch in zip(steps, branches, strict=True)]
    for branch in branches:
        if meter and branch:
            meter.join(branch)


@contextmanager
def counted(profile: str, rows: int) -> Iterator[None]:
    """Count the batch that the block sends, and its answer."""
    meter = _meter.get()
    depth = meter.count_sent(profile, rows) if meter else 0
    try:
        yield
    finally:
        if meter:
            meter.count_answered(depth)


@contextmanager
def collect_slow_statements() -> Iterator[list[str]]:
    """Collect the questions of this process's slow statements instead of logging each.

    A command that reads whole tables uses it, so that its own output stays readable.
    """
    global _slow
    found: list[str] = []
    _slow = found
    try:
        yield found
    finally:
        _slow = None


def log_if_slow(question: str, cql: str, took: float) -> None:
    if took <= settings.SLOW_STATEMENT_SECONDS:
        return
    if (found := _slow) is not None:
        found.append(question)
    else:
        log.warning("slow statement %s took %.0f ms: %s", question, took * 1000, cql)

"""Whether a history is linearizable: whether each operation could have happened at one moment between its call and its answer.

The search tries the operations one by one in every order that their calls and answers allow: J. M. Wing and C. Gong, "Testing
and Verifying Concurrent Objects" (1993). What was done and what state that led to is remembered, so that nothing is tried twice:
G. Lowe, "Testing for Linearizability" (2017). Things that do not depend on each other have a history each: A. Horn and D. Kroening,
"Faster Linearizability Checking via P-Compositionality" (2015). Anish Athalye's porcupine puts the three together, and is where the
idea comes from; no code of it is here.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

StateT = TypeVar("StateT", bound=Hashable)

# After so many steps a history counts as undecided.
MAX_STEPS = 2_000_000


@dataclass(frozen=True, kw_only=True)
class Operation(Generic[StateT]):
    """What a client has called, and what it was answered; a subclass says what that does to the state.

    Without an answer (the client was killed, or told that nobody knows) it may have happened at any time since, or never:
    then it is not `is_certain`, and has no end.
    """

    called: float
    answered: float = math.inf
    is_certain: bool = True

    def apply(self, state: StateT) -> StateT | None:
        """Return the state after the operation, the very same if it changes nothing; None if it cannot be answered so now."""
        raise NotImplementedError


@dataclass(frozen=True)
class Judgement(Generic[StateT]):
    """Whether there is an order that explains all answers; if not, how far the best attempt came, and what stood in its way."""

    is_linearizable: bool
    order: Sequence[Operation[StateT]]
    state: StateT
    obstacle: Operation[StateT] | None = None

    def __str__(self) -> str:
        if self.is_linearizable:
            return f"explained by one order of {len(self.order)} operations"
        return (
            f"after {len(self.order)} operations, at {self.state}, nothing explains {self.obstacle}"
        )


@dataclass
class _Step(Generic[StateT]):
    """A step of an attempt: which operations are done (a bit for each), the state, what can come next, and which one came last."""

    done: int
    state: StateT
    choices: list[tuple[int, StateT]]
    latest: int | None = None


def judge_history(
    operations: Iterable[Operation[StateT]], state: StateT, max_steps: int = MAX_STEPS
) -> Judgement[StateT]:
    """Look for an order of the operations of one thing that explains all answers. Raises TimeoutError after too many steps."""
    history = sorted(operations, key=lambda each: each.called)
    certain = sum(1 << number for number, each in enumerate(history) if each.is_certain)
    seen = set[tuple[int, StateT]]()
    path = [_Step(0, state, _choose(history, 0, state))]
    best = list(path)
    while path:
        here = path[-1]
        if (here.done & certain).bit_count() > (best[-1].done & certain).bit_count():
            best = list(path)
        if here.done & certain == certain:
            break
        if not here.choices:
            path.pop()
            continue
        number, following = here.choices.pop(0)
        done = here.done | 1 << number
        if (done, following) in seen:
            continue
        seen.add((done, following))
        if len(seen) > max_steps:
            raise TimeoutError(f"undecided after {max_steps} steps, {len(path)} operations deep")
        path.append(_Step(done, following, _choose(history, done, following), number))
    left = [
        each
        for number, each in enumerate(history)
        if each.is_certain and not best[-1].done >> number & 1
    ]
    return Judgement(
        not left,
        [history[step.latest] for step in best if step.latest is not None],
        best[-1].state,
        min(left, key=lambda each: each.answered, default=None),
    )


def _choose(
    history: Sequence[Operation[StateT]], done: int, state: StateT
) -> list[tuple[int, StateT]]:
    """Return what can come next, with the state after it; what has certainly happened comes first."""
    latest_call = history[done.bit_length() - 1].called if done else -math.inf
    choices = []
    must_begin_by = closes = math.inf
    first_open = (~done & (done + 1)).bit_length() - 1
    for number in range(first_open, len(history)):
        each = history[number]
        # Something else ended before this one began, and has to come first.
        if each.called > must_begin_by:
            break
        if done >> number & 1 or each.answered < latest_call:
            continue
        if each.is_certain:
            must_begin_by = min(must_begin_by, each.answered)
        else:
            closes = min(closes, each.answered)
        following = each.apply(state)
        if following is None:
            continue
        if following is not state:
            choices.append((number, following))
        elif each.is_certain and each.called <= closes:
            # It changes nothing, and keeps nothing from coming after it: later it would be no better.
            return [(number, state)]
        elif each.is_certain:
            choices.append((number, state))
    return sorted(choices, key=lambda choice: not history[choice[0]].is_certain)

"""The checker of histories, and the model of a stock item: what fits together is explained, and what cannot be is not."""

from collections.abc import Mapping
from dataclasses import replace
from random import Random
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.journeys.notebook import Note
from tests.journeys.stock_model import (
    Commit,
    Count,
    Receive,
    Refuse,
    Release,
    Reserve,
    Stock,
    list_operations,
)
from tests.linearizability import Operation, judge_history

History = list[Operation[Stock]]


def is_explained(*operations: Operation[Stock]) -> bool:
    return judge_history(operations, Stock(5)).is_linearizable


def reserve(order: str, called: float, answered: float, units: int = 5) -> Reserve:
    return Reserve(order=order, units=units, called=called, answered=answered)


def refuse(called: float, answered: float, left: int = 0) -> Refuse:
    return Refuse(order="refused", units=5, left=left, called=called, answered=answered)


def release(order: str, called: float, answered: float) -> Release:
    return Release(order=order, units=5, called=called, answered=answered)


def unanswered(order: str, called: float, units: int = 5) -> Reserve:
    return Reserve(order=order, units=units, called=called, is_certain=False)


FITS: dict[str, History] = {
    "nothing happens": [],
    "one after the other": [reserve("a", 1, 2), release("a", 3, 4), reserve("b", 5, 6)],
    "the one that is answered later comes first": [reserve("b", 1, 9), release("a", 3, 4), reserve("a", 1, 2)],
    "refused while somebody has them": [reserve("a", 1, 2), refuse(3, 4), release("a", 5, 6)],
    "refused by one who is not answered yet": [reserve("a", 1, 9), refuse(3, 4)],
    "refused after a lost answer that took effect": [unanswered("a", 1), refuse(8, 9)],
    "reserved after a lost answer that never took effect": [unanswered("a", 1), reserve("b", 8, 9)],
    "reserved before a lost answer takes effect": [
        *(unanswered("a", 1), reserve("b", 2, 3), release("b", 4, 5), refuse(8, 9)),
    ],
    "refused by an order that had some for a moment": [
        *(reserve("a", 1, 2, units=3), replace(refuse(3, 4, left=1), held_for_a_moment=frozenset({0, 1}))),
    ],
    "paid, and counted": [
        *(reserve("a", 1, 2), Commit(order="a", units=5, called=3, answered=4)),
        Count(called=5, answered=6, available=0, reserved=0, committed=5),
    ],
    "sold out, and delivered": [
        *(reserve("a", 1, 2), Receive(units=5, called=3, answered=4), reserve("b", 5, 6)),
    ],
}  # fmt: skip
CANNOT_BE: dict[str, History] = {
    "a unit sold twice": [reserve("a", 1, 2), reserve("b", 3, 4)],
    "a unit sold twice at once": [reserve("a", 1, 4), reserve("b", 2, 3)],
    "released before it is reserved": [reserve("b", 1, 2), release("a", 3, 4), reserve("a", 5, 6)],
    "a release that is answered after the reserve that used it": [
        *(reserve("a", 1, 2), reserve("b", 3, 4), release("a", 5, 6)),
    ],
    "refused while all are free": [refuse(1, 2)],
    "refused with another number than there was": [reserve("a", 1, 2, units=3), refuse(3, 4, left=1)],
    "refused before anybody wanted one": [refuse(1, 2), reserve("a", 3, 4)],
    "refused after they are free again": [reserve("a", 1, 2), release("a", 3, 4), refuse(5, 6)],
    "a lost answer took effect before it was asked": [refuse(1, 2), unanswered("a", 3)],
    "a lost answer took effect twice": [
        *(unanswered("a", 1, units=3), refuse(2, 3, left=2), reserve("b", 4, 5, units=2), refuse(6, 7)),
        Count(called=8, answered=9, available=-3, reserved=8, committed=0),
    ],
    "it reserves after it has ended": [
        *(reserve("a", 1, 2), release("a", 3, 4), replace(unanswered("a", 5), is_certain=True)),
    ],
    "paid, and reserved by nobody": [Commit(order="a", units=5, called=1, answered=2)],
    "paid, and sold to another": [
        *(reserve("a", 1, 2), Commit(order="a", units=5, called=3, answered=4), reserve("b", 5, 6)),
    ],
    "the worker found units where none were": [
        *(reserve("a", 1, 2), release("a", 3, 4), replace(release("a", 5, 6), had_units=True)),
    ],
    "the numbers lose a unit": [Count(called=1, answered=2, available=4, reserved=0, committed=0)],
}  # fmt: skip


@pytest.mark.parametrize("name", FITS)
def test_what_fits_together_is_explained(name: str) -> None:
    assert is_explained(*FITS[name])


@pytest.mark.parametrize("name", CANNOT_BE)
def test_what_cannot_be_is_not_explained(name: str) -> None:
    judgement = judge_history(CANNOT_BE[name], Stock(5))
    assert not judgement.is_linearizable
    assert judgement.obstacle in CANNOT_BE[name]


def test_too_long_a_search_is_no_answer() -> None:
    with pytest.raises(TimeoutError):
        judge_history(
            [unanswered(str(n), n, units=1) for n in range(5)] + [refuse(8, 9, left=1)], Stock(5), 3
        )


# ---- what clients have noted


def note(
    kind: str,
    thing: str,
    called: float,
    answer: object = None,
    units: int = 5,
    others: Mapping[str, int] = MappingProxyType({"B": 1}),
) -> Note:
    answered = None if answer is None else called + 1
    return Note(kind, thing, {"A": units, **others}, called, answered, answer)


SOLD_OUT = {"A": 0}
NOTED: dict[str, tuple[bool, list[Note]]] = {
    "a kill after the units were reserved": (True, [
        note("reserve", "a", 1), note("reserve", "b", 5, SOLD_OUT), note("end", "a", 9, {"A": True, "B": True}),
    ]),
    "a kill before any were": (True, [
        note("reserve", "a", 1), note("reserve", "b", 5, "reserved"), note("end", "a", 9, {"A": False, "B": False}),
    ]),
    "none were reserved, and somebody is refused": (False, [
        note("reserve", "a", 1, others={}), note("reserve", "b", 5, SOLD_OUT), note("end", "a", 9, {"A": False}),
    ]),
    "a kill after they were given back for want of another article": (True, [
        note("reserve", "a", 1), note("reserve", "b", 5, SOLD_OUT), note("end", "a", 9, {"A": False, "B": False}),
    ]),
    "a kill after they were given back, long ago": (False, [
        note("reserve", "a", 1), note("end", "a", 3, {"A": False, "B": False}), note("reserve", "b", 5, SOLD_OUT),
    ]),
    "a kill while it is paid for": (True, [
        note("reserve", "a", 1, "reserved"), note("commit", "a", 3), note("end", "a", 9, "paid"),
    ]),
    "a kill while it is cancelled": (True, [
        *(note("reserve", "a", 1, "reserved"), note("release", "a", 3), note("reserve", "b", 5, "reserved")),
        note("end", "a", 9, {"A": False, "B": False}),
    ]),
    "a kill while it is ended": (True, [
        *(note("reserve", "a", 1), note("end", "a", 3), note("reserve", "b", 5, SOLD_OUT)),
        *(note("reserve", "c", 7, "reserved"), note("end", "a", 9, {"A": False, "B": False})),
    ]),
    "what was cancelled is still there, and sold": (False, [
        *(note("reserve", "a", 1, "reserved"), note("release", "a", 3), note("reserve", "b", 5, "reserved")),
        note("end", "a", 9, {"A": True, "B": True}),
    ]),
    "another article was short": (True, [
        note("reserve", "a", 1, {"B": 0}, units=3), note("reserve", "b", 1.5, {"A": 2}), note("reserve", "c", 3, "reserved"),
    ]),
    "another article was short, long ago": (False, [
        note("reserve", "a", 1, {"B": 0}, units=3), note("reserve", "b", 9, {"A": 2}), note("reserve", "c", 12, "reserved"),
    ]),
    "a receipt that was sent again counts once": (True, [
        *(note("receive", "r", 1), note("reserve", "a", 3, "reserved"), note("reserve", "b", 5, "reserved")),
        *(note("receive", "r", 7, "received"), note("reserve", "c", 11, SOLD_OUT)),
    ]),
    "a receipt counts twice": (False, [
        *(note("receive", "r", 1), note("receive", "r", 3, "received"), note("reserve", "a", 5, "reserved")),
        *(note("reserve", "b", 7, "reserved"), note("reserve", "c", 9, "reserved")),
    ]),
}  # fmt: skip


@pytest.mark.parametrize("name", NOTED)
def test_a_kill_leaves_open_what_nobody_knows_and_no_more(name: str) -> None:
    fits, notes = NOTED[name]
    assert is_explained(*list_operations(notes, "A")) == fits


def test_a_refusal_may_be_as_old_as_the_model_says() -> None:
    notes = [
        note("reserve", "a", 1, "reserved"),
        note("release", "a", 3, "cancelled"),
        note("reserve", "b", 5.9, SOLD_OUT),
    ]
    ages = {age: is_explained(*list_operations(notes, "A", age)) for age in (0.0, 1.0, 2.0)}
    assert ages == {0.0: False, 1.0: False, 2.0: True}


# ---- any history at all


def happen(chance: Random, count: int) -> History:
    """Do things one after the other, and note of each an interval around the moment at which it is done."""
    stock, history = Stock(5), History()
    for moment in range(count):
        interval: Any = {
            "called": moment - chance.random() * 4,
            "answered": moment + chance.random() * 4,
        }
        units, order = chance.randint(1, 3), str(moment)
        existing = sorted(stock.reserved)
        if existing and chance.random() < 0.5:
            order, units = chance.choice(existing)
            kind = chance.choice([Commit, Release])
            each: Operation[Stock] = kind(**interval, order=order, units=units)
        elif stock.available >= units:
            each = Reserve(**interval, order=order, units=units)
        else:
            each = Refuse(**interval, order=order, units=units, left=stock.available)
        following = each.apply(stock)
        assert following is not None
        stock = following
        if not isinstance(each, Refuse) and chance.random() < 0.1:
            each = replace(each, is_certain=False, answered=float("inf"))
        history.append(each)
    chance.shuffle(history)
    return history


QUIET = settings(max_examples=60, suppress_health_check=list(HealthCheck))


@QUIET
@given(seed=st.integers(0, 2**32))
def test_whatever_has_happened_is_explained(seed: int) -> None:
    assert is_explained(*happen(Random(seed), 60))


@QUIET
@given(seed=st.integers(0, 2**32))
def test_what_has_happened_and_one_answer_more_is_not(seed: int) -> None:
    """Nobody can reserve more units than there ever were, or be told of more."""
    chance = Random(seed)
    called = chance.uniform(0, 20)
    wrong = chance.choice(
        [
            reserve("too many", called, called + 5, units=6),
            replace(refuse(called, called + 5, left=6), units=7),
            Count(called=called, answered=called + 5, available=3, reserved=1, committed=0),
            replace(release("never reserved", called, called + 5), had_units=True),
        ]
    )
    assert not is_explained(*happen(chance, 12), wrong)

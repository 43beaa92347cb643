"""What a stock item is to those who buy from it, and what each of their operations may do to it: the model of the proof by histories.

A SKU lies in one warehouse here: what an order takes from two warehouses are two stock items, which no single moment has both.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tests.journeys.notebook import Note
from tests.linearizability import Operation

# How old a refusal may be when it is called, in seconds. These clients' commands ask Cassandra each time; the checkout's page, which may
# tell a crowd for two seconds what it has heard before, is none of them.
MAX_REFUSAL_AGE = 0.0


@dataclass(frozen=True)
class Stock:
    """How many units are free, and which orders have how many: reserved, committed, or none any more."""

    available: int = 0
    reserved: frozenset[tuple[str, int]] = frozenset()
    committed: frozenset[tuple[str, int]] = frozenset()
    ended: frozenset[tuple[str, int]] = frozenset()

    def __str__(self) -> str:
        return f"{self.available} available, {_sum(self.reserved)} reserved, {_sum(self.committed)} committed"


def _sum(orders: frozenset[tuple[str, int]]) -> int:
    return sum(units for _, units in orders)


@dataclass(frozen=True, kw_only=True)
class OfOrder(Operation[Stock]):
    """An operation on the units of one order."""

    order: str
    units: int

    @property
    def mine(self) -> frozenset[tuple[str, int]]:
        return frozenset({(self.order, self.units)})


@dataclass(frozen=True, kw_only=True)
class Reserve(OfOrder):
    """The order was placed. An order that has ended reserves nothing any more."""

    def apply(self, stock: Stock) -> Stock | None:
        known = stock.reserved | stock.committed | stock.ended
        if self.mine <= known or stock.available < self.units:
            return None
        return replace(
            stock, available=stock.available - self.units, reserved=stock.reserved | self.mine
        )


@dataclass(frozen=True, kw_only=True)
class Refuse(OfOrder):
    """The order was not placed: so few units were left.

    Of those, others may have had some for a moment, whose orders were not placed either: they gave them back for want of another
    article, or to take both from another warehouse. In all that is any of the numbers `held_for_a_moment`.
    """

    left: int
    held_for_a_moment: frozenset[int] = frozenset({0})

    def apply(self, stock: Stock) -> Stock | None:
        is_true = stock.available - self.left in self.held_for_a_moment
        return stock if is_true and self.left < self.units else None


@dataclass(frozen=True, kw_only=True)
class Commit(OfOrder):
    """The order was paid for."""

    def apply(self, stock: Stock) -> Stock | None:
        if self.mine <= stock.committed:
            return stock
        if not self.mine <= stock.reserved:
            return None
        return replace(
            stock, reserved=stock.reserved - self.mine, committed=stock.committed | self.mine
        )


@dataclass(frozen=True, kw_only=True)
class Release(OfOrder):
    """The order has no units any more. `had_units`: whether it had some until now; None if nobody has looked."""

    had_units: bool | None = None

    def apply(self, stock: Stock) -> Stock | None:
        has_units = self.mine <= stock.reserved | stock.committed
        if self.had_units not in (None, has_units):
            return None
        if self.mine <= stock.ended:
            return stock
        return replace(
            stock,
            available=stock.available + has_units * self.units,
            reserved=stock.reserved - self.mine,
            committed=stock.committed - self.mine,
            ended=stock.ended | self.mine,
        )


@dataclass(frozen=True, kw_only=True)
class Receive(Operation[Stock]):
    """Units have arrived."""

    units: int

    def apply(self, stock: Stock) -> Stock | None:
        return replace(stock, available=stock.available + self.units)


@dataclass(frozen=True, kw_only=True)
class Count(Operation[Stock]):
    """Somebody has read the numbers."""

    available: int
    reserved: int
    committed: int

    def apply(self, stock: Stock) -> Stock | None:
        numbers = (stock.available, _sum(stock.reserved), _sum(stock.committed))
        return stock if numbers == (self.available, self.reserved, self.committed) else None


# ---- from what clients have noted


def list_operations(
    notes: Sequence[Note], sku: str, max_refusal_age: float = MAX_REFUSAL_AGE
) -> list[Operation[Stock]]:
    """Return what clients have noted about one SKU as operations on it."""
    things: dict[str, list[Operation[Stock]]] = {}
    refusals: list[Refuse] = []
    # Orders of several articles that may have had units for a moment, and gave them back.
    moments: list[Note] = []
    ends = {note.thing: note.answered for note in notes if note.kind == "end" and note.answered}
    for note in sorted(notes, key=lambda each: each.called):
        if note.kind == "reserve" and isinstance(note.answer, dict):
            left = note.answer.get(sku, math.inf)
            if left < note.units[sku]:
                refusals.append(_read_refusal(note, sku, left, max_refusal_age))
            if len(note.units) > 1:
                moments.append(note)
        else:
            things.setdefault(note.thing, []).append(_read_note(note, sku))
            if note.kind == "reserve" and note.answer is None and len(note.units) > 1:
                # Killed after that, at the latest before somebody looked after it.
                moments.append(replace(note, answered=ends.get(note.thing, math.inf)))
    return [
        *(replace(each, held_for_a_moment=_sums_held(each, moments, sku)) for each in refusals),
        *(each for operations in things.values() for each in _decide(operations)),
    ]


def _read_refusal(note: Note, sku: str, left: int, max_refusal_age: float) -> Refuse:
    assert note.answered is not None
    return Refuse(
        called=note.called - max_refusal_age,
        answered=note.answered,
        order=note.thing,
        units=note.units[sku],
        left=left,
    )


def _sums_held(refusal: Refuse, moments: Iterable[Note], sku: str) -> frozenset[int]:
    sums = {0}
    for note in moments:
        is_beside = note.called <= refusal.answered and (note.answered or 0) >= refusal.called
        if is_beside and note.thing != refusal.order:
            sums |= {each + note.units[sku] for each in sums}
    return frozenset(sums)


def _read_note(note: Note, sku: str) -> Operation[Stock]:
    units, answer = note.units[sku], note.answer
    answered = math.inf if note.answered is None else note.answered
    noted: dict[str, Any] = {"called": note.called, "answered": answered}
    mine = noted | {"order": note.thing, "units": units}
    match note.kind, answer:
        case "reserve", _:
            return Reserve(**mine, is_certain=answer is not None)
        case "commit" | "end", "paid":
            return Commit(**mine)
        case "end", dict(had_units):
            return Release(**mine, had_units=had_units[sku])
        case "commit", _:
            return Commit(**mine | {"answered": math.inf}, is_certain=False)
        case "release", "cancelled":
            return Release(**mine)
        case "release" | "end", _:
            return Release(**mine | {"answered": math.inf}, is_certain=False)
        case "receive", _:
            return Receive(**noted, units=units, is_certain=answer is not None)
        case "count", numbers:
            return Count(**noted, **numbers)
    raise ValueError(note)


def _decide(operations: list[Operation[Stock]]) -> Iterator[Operation[Stock]]:
    """Yield the operations on one thing, as far as they may have happened.

    Nobody else moves an order's units: so those who looked after it in the end have seen which of the unanswered ones had. A receipt
    that was sent again counts once, at some time since it was first sent.
    """
    first, *_, end = operations * 2
    if isinstance(first, Receive):
        yield replace(first, answered=end.answered, is_certain=end.is_certain)
        return
    unanswered_releases = sum(
        isinstance(each, Release) and not each.is_certain for each in operations
    )
    has_units = isinstance(end, Commit) or (isinstance(end, Release) and end.had_units)
    for each in operations:
        if each.is_certain or not end.is_certain:
            yield each
        elif isinstance(each, Reserve) and (has_units or unanswered_releases):
            yield replace(each, is_certain=bool(has_units))
        elif isinstance(each, Release) and not has_units:
            yield replace(each, is_certain=first.is_certain and unanswered_releases == 1)

"""Sales facts and the figures that are computed from them. This module reads and writes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import add, attrgetter
from uuid import UUID

# The category id that stands for the whole shop in visits.
ALL_CATEGORIES = UUID(int=0)


@dataclass(frozen=True)
class SoldLine:
    """A line of a paid order. Amounts are in minor units, after discounts. `gross` includes tax, `net` does not.

    `promotions` has the keys of the promotions that reduced the line, or made the order's delivery free.
    """

    line_number: int
    product_id: UUID
    variant_id: UUID
    units: int
    gross: int
    net: int
    refunded_units: int = 0
    refunded_gross: int = 0
    refunded_net: int = 0
    promotions: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Fact:
    """A sales fact: a sold line, and the ids of the categories in which it counts, the root category first.

    None: not known. A fact of an earlier version lacks these values until `manage.py rebuild sales`.
    """

    order_id: UUID
    line: SoldLine
    categories: tuple[UUID, ...]
    currency: str
    placed_at: datetime | None = None
    country: str | None = None
    payment_method: str | None = None
    is_returning: bool | None = None  # had the customer bought before? counted when the day is over


@dataclass(frozen=True)
class Figures:
    """Numbers of orders and units, and amounts in minor units, before refunds. `gross` includes tax, `net` does not."""

    orders: int = 0
    units: int = 0
    gross: int = 0
    net: int = 0
    refunded_units: int = 0
    refunded_gross: int = 0
    refunded_net: int = 0

    @property
    def average_order(self) -> int | None:
        """The average amount of a paid order, in minor units, rounded half up; None without orders."""
        return (2 * self.gross + self.orders) // (2 * self.orders) if self.orders else None

    @property
    def units_per_order(self) -> float | None:
        """The average number of units in a paid order; None without orders."""
        return self.units / self.orders if self.orders else None

    @property
    def gross_after_refunds(self) -> int:
        """The amount sold less the refunds, with tax."""
        return self.gross - self.refunded_gross

    @property
    def net_after_refunds(self) -> int:
        """The amount sold less the refunds, without tax."""
        return self.net - self.refunded_net

    def __add__(self, other: Figures) -> Figures:
        return Figures(*map(add, vars(self).values(), vars(other).values()))


_NUMBERS = attrgetter("units", "gross", "net", "refunded_units", "refunded_gross", "refunded_net")


def sum_facts(facts: Sequence[Fact]) -> Figures:
    """Return the sum of facts, in which each order counts once."""
    lines = zip(*(_NUMBERS(fact.line) for fact in facts), strict=True)
    return Figures(len({fact.order_id for fact in facts}), *map(sum, lines))

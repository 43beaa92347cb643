"""Sales facts and the figures that are computed from them. This module reads and writes nothing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date
from uuid import UUID

# The category id that stands for the whole shop.
ALL_CATEGORIES = UUID(int=0)


@dataclass(frozen=True)
class SoldLine:
    """A line of a paid order. Amounts are in minor units, after discounts. `gross` includes tax, `net` does not."""

    line_number: int
    product_id: UUID
    variant_id: UUID
    units: int
    gross: int
    net: int
    refunded_units: int = 0
    refunded_gross: int = 0
    refunded_net: int = 0


@dataclass(frozen=True)
class Fact:
    """A sales fact: a sold line, and the ids of the categories in which it counts, the root category first."""

    order_id: UUID
    line: SoldLine
    categories: tuple[UUID, ...]
    currency: str


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
    def gross_after_refunds(self) -> int:
        """The amount sold less the refunds, with tax."""
        return self.gross - self.refunded_gross

    @property
    def net_after_refunds(self) -> int:
        """The amount sold less the refunds, without tax."""
        return self.net - self.refunded_net

    def __add__(self, other: Figures) -> Figures:
        return Figures(
            self.orders + other.orders,
            self.units + other.units,
            self.gross + other.gross,
            self.net + other.net,
            self.refunded_units + other.refunded_units,
            self.refunded_gross + other.refunded_gross,
            self.refunded_net + other.refunded_net,
        )


@dataclass(frozen=True)
class DailySales:
    """The sales figures of one category on one day, in one currency."""

    day: date
    category_id: UUID
    currency: str
    figures: Figures


@dataclass
class _Sum:
    orders: set[UUID] = field(default_factory=set)
    lines: Figures = Figures()


def roll_up_facts(day: date, facts: Iterable[Fact]) -> list[DailySales]:
    """Return a day's sales by category and currency. A sold line counts in its category and in each category above it."""
    sums: dict[tuple[UUID, str], _Sum] = {}
    for fact in facts:
        line = fact.line
        less = (line.refunded_units, line.refunded_gross, line.refunded_net)
        figures = Figures(0, line.units, line.gross, line.net, *less)
        for category_id in {ALL_CATEGORIES, *fact.categories}:
            found = sums.setdefault((category_id, fact.currency), _Sum())
            found.orders.add(fact.order_id)
            found.lines += figures
    return [
        DailySales(day, category_id, currency, found.lines + Figures(orders=len(found.orders)))
        for (category_id, currency), found in sorted(sums.items())
    ]

"""Facts of sales and their sums, without reads and writes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date
from uuid import UUID

# The category of the whole shop.
ALL_CATEGORIES = UUID(int=0)


@dataclass(frozen=True)
class SoldLine:
    """A line of a paid order. Sums are in minor units, after discounts; `gross` includes tax."""

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
    """A sold line, with the categories in which it counts, root first."""

    order_id: UUID
    line: SoldLine
    categories: tuple[UUID, ...]
    currency: str


@dataclass(frozen=True)
class Figures:
    """Sales: orders, units and minor units of the currency, before refunds; `net` is without tax."""

    orders: int = 0
    units: int = 0
    gross: int = 0
    net: int = 0
    refunded_units: int = 0
    refunded_gross: int = 0
    refunded_net: int = 0

    @property
    def gross_after_refunds(self) -> int:
        """Sales after refunds, with tax."""
        return self.gross - self.refunded_gross

    @property
    def net_after_refunds(self) -> int:
        """Sales after refunds, without tax."""
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
    """The sales of a day in a category."""

    day: date
    category_id: UUID
    currency: str
    figures: Figures


@dataclass
class _Sum:
    orders: set[UUID] = field(default_factory=set)
    lines: Figures = Figures()


def roll_up_facts(day: date, facts: Iterable[Fact]) -> list[DailySales]:
    """Return the sums of a day's facts by category and currency. A line counts in its category and all above it."""
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

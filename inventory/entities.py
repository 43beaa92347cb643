"""What there is of a variant, and who has taken it."""

from dataclasses import dataclass, field
from datetime import date
from typing import Literal
from uuid import UUID

from django.utils.timezone import localdate

# Where units stand that are sold before they have arrived: no house, so nobody packs them.
AHEAD = "ahead"
# The row that is no hold: it sorts first and lets the numbers be read quickly.
SENTINEL = UUID(int=0)
BACKORDER, PREORDER = "backorder", "preorder"
Word = Literal["in", "few", "ahead", "out"]


@dataclass(frozen=True)
class Ahead:
    """That a variant is sold before it has arrived: how (backorder or preorder), how many more, and from when it is sent."""

    kind: str
    units: int
    on: date | None = None

    @property
    def words(self) -> str:
        """What its buyers are told: "Pre-order: sent from 3 December"; a day that is over is not told any more."""
        sort = "Pre-order" if self.kind == PREORDER else "On order"
        if self.on is None or self.on <= localdate():
            return f"{sort}: sent as soon as it is here"
        year = f" {self.on.year}" if self.on.year != localdate().year else ""
        return f"{sort}: sent from {self.on.day} {self.on:%B}{year}"


@dataclass(frozen=True)
class Stock:
    """What a page may say of a variant: how many can be bought, the word for it, and where they are.

    A line is sent from the warehouses or waits for goods as a whole: so what can be bought is the larger of the two.
    """

    available: int = 0
    word: Word = "out"
    by_warehouse: dict[str, int] = field(default_factory=dict)
    ahead: Ahead | None = None

    @property
    def in_house(self) -> int:
        """How many there are over all warehouses."""
        return sum(units for place, units in self.by_warehouse.items() if place != AHEAD)

    def waits(self, quantity: int) -> Ahead | None:
        """Return what so many units would wait for, or None when they are sent at once, or cannot be had."""
        return self.ahead if self.ahead and self.in_house < quantity <= self.ahead.units else None


@dataclass(frozen=True)
class Numbers:
    """A variant's numbers in one warehouse: received = available + held + committed + shipped (I1)."""

    received: int
    available: int
    held: int
    committed: int
    shipped: int


@dataclass(frozen=True)
class Want:
    """What an order's line needs."""

    line_number: int
    product_id: UUID
    variant_id: UUID
    quantity: int


@dataclass(frozen=True)
class Allocation:
    """Units of a line that one warehouse keeps, or has sent."""

    line_number: int
    product_id: UUID
    variant_id: UUID
    warehouse_id: str
    quantity: int
    hold_id: UUID
    # Whose they are; a hold that belongs to no order (any more) has nothing to tell the ledger.
    order_id: UUID = SENTINEL

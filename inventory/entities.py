"""A variant's stock, the units that orders have reserved, and those on their way between warehouses."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Literal
from uuid import UUID, uuid5

from django.utils.formats import date_format
from django.utils.timezone import localdate
from django.utils.translation import gettext as _

# The stock item of units that are sold before they have arrived: no real warehouse, so nobody packs them.
BACKORDER_WAREHOUSE = "ahead"
# The row that is no reservation: it sorts first and lets the numbers be read quickly.
SENTINEL = UUID(int=0)
# Up to so many units are few, where nobody has said otherwise.
DEFAULT_THRESHOLD = 5
BACKORDER, PREORDER = "backorder", "preorder"
Availability = Literal["in", "few", "ahead", "out"]


@dataclass(frozen=True)
class Backorder:
    """A variant is sold before it has arrived: how (backorder or preorder), how many more, and from when it is sent."""

    kind: str
    units: int
    expected_on: date | None = None

    @property
    def customer_label(self) -> str:
        """What its buyers are told: "Pre-order: ships from 3 December"; a day that is over is not told any more."""
        if self.expected_on is None or self.expected_on <= localdate():
            return (
                _("Pre-order: ships as soon as it arrives")
                if self.kind == PREORDER
                else _("On backorder: ships as soon as it arrives")
            )
        words = (
            _("Pre-order: ships from %(day)s")
            if self.kind == PREORDER
            else _("On backorder: ships from %(day)s")
        )
        is_this_year = self.expected_on.year == localdate().year
        return words % {"day": date_format(self.expected_on, "j F" if is_this_year else "j F Y")}


@dataclass(frozen=True)
class Stock:
    """What a page may say of a variant: how many can be bought, its availability, and where the units are.

    A line is sent from the warehouses or waits for new stock as a whole: so what can be bought is the larger of the two.
    """

    available: int = 0
    availability: Availability = "out"
    by_warehouse: dict[str, int] = field(default_factory=dict, hash=False)
    backorder: Backorder | None = None

    @property
    def total_in_stock(self) -> int:
        """How many there are over all warehouses."""
        return sum(
            units
            for warehouse, units in self.by_warehouse.items()
            if warehouse != BACKORDER_WAREHOUSE
        )

    def backorder_for(self, quantity: int) -> Backorder | None:
        """Return what so many units would wait for, or None when they are sent at once, or cannot be ordered."""
        return (
            self.backorder
            if self.backorder and self.total_in_stock < quantity <= self.backorder.units
            else None
        )


@dataclass(frozen=True)
class StockNumbers:
    """A variant's numbers in one warehouse: received = available + reserved + committed + shipped (I1)."""

    received: int
    available: int
    reserved: int
    committed: int
    shipped: int

    @property
    def on_hand(self) -> int:
        """How many units lie in the warehouse, those for orders with them."""
        return self.available + self.reserved + self.committed


@dataclass(frozen=True)
class WantedLine:
    """What an order's line needs."""

    line_number: int
    product_id: UUID
    variant_id: UUID
    quantity: int


@dataclass(frozen=True)
class Allocation:
    """Units of a line that are reserved in one warehouse, or were sent from it."""

    line_number: int
    product_id: UUID
    variant_id: UUID
    warehouse_id: str
    quantity: int
    reservation_id: UUID
    # The order that they belong to; a reservation of no order (any more) writes nothing to the ledger.
    order_id: UUID = SENTINEL


# The lists of a warehouse's stock items.
ALL, LOW, OUT = "all", "low", "out"
STOCK_LISTS = (ALL, LOW, OUT)


def list_names(available: int, threshold: int, *, is_sold: bool) -> frozenset[str]:
    """Return in which lists of its warehouse a stock item stands.

    Low is what is at or below its threshold, also what is out; where that is 0, nobody wants to hear of it. What is not sold
    is neither.
    """
    is_low = is_sold and 0 < threshold >= available
    is_out = is_sold and available < 1
    return frozenset([ALL, *[LOW] * is_low, *[OUT] * is_out])


@dataclass(frozen=True)
class ListedItem:
    """A row of one of a warehouse's lists."""

    warehouse_id: str
    sku: str
    product_id: UUID
    variant_id: UUID


LEAVING, IN_TRANSIT, ARRIVING, ARRIVED, REFUSED = (
    "leaving",
    "in_transit",
    "arriving",
    "arrived",
    "refused",
)


@dataclass(frozen=True)
class StockTransfer:
    """Units of a variant on their way from one warehouse to another. Called off, they arrive where they came from."""

    transfer_id: UUID
    product_id: UUID
    variant_id: UUID
    source: str
    destination: str
    units: int
    reason: str
    state: str
    actor: str
    started_at: datetime
    arrived_in: str = ""
    ended_by: str = ""
    ended_at: datetime | None = None

    @property
    def is_over(self) -> bool:
        return self.state in (ARRIVED, REFUSED)

    def is_same_as(self, other: StockTransfer) -> bool:
        """Return whether both move the same units from and to the same warehouses."""
        return (self.variant_id, self.source, self.destination, self.units) == (
            other.variant_id,
            other.source,
            other.destination,
            other.units,
        )


def make_reservation_id(
    order_id: UUID, line_number: int, variant_id: UUID, warehouse_id: str, take: int = 0
) -> UUID:
    """Return the id that a reservation always has, so that a repeated one is recognised by its own row.

    `take` numbers the times an order reserves its stock: a paid order that had expired reserves once more.
    """
    return uuid5(order_id, f"{take}:{line_number}:{variant_id}:{warehouse_id}")

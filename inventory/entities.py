"""A variant's stock, the units reserved for orders, and the units in transit between warehouses."""

from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Literal
from uuid import UUID, uuid5

from django.utils.formats import date_format
from django.utils.timezone import localdate
from django.utils.translation import gettext as _

# The stock item of units that are sold before they arrive. It is no real warehouse, so no orders are packed there.
BACKORDER_WAREHOUSE = "ahead"
# The id of the row that is no reservation. The row sorts first, so the numbers are read quickly.
SENTINEL = UUID(int=0)
# The default for how many units are "few".
DEFAULT_THRESHOLD = 5
BACKORDER, PREORDER = "backorder", "preorder"
Availability = Literal["in", "few", "ahead", "out"]


@dataclass(frozen=True)
class Backorder:
    """How a variant is sold before it arrives. `kind` is BACKORDER or PREORDER; `units` is how many more can be promised."""

    kind: str
    units: int
    expected_on: date | None = None

    @property
    def customer_label(self) -> str:
        """The text for customers, such as "Pre-order: ships from 3 December". It names no day once the day has passed."""
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
    """A variant's stock, for a page: how many units can be bought, its availability, and the units by warehouse.

    An order's line is either sent from warehouses or waits for new stock as a whole. So `available` is the units in the
    warehouses or the units that can be promised, whichever is larger.
    """

    available: int = 0
    availability: Availability = "out"
    by_warehouse: dict[str, int] = field(default_factory=dict, hash=False)
    backorder: Backorder | None = None

    @property
    def total_in_stock(self) -> int:
        """The units in all warehouses."""
        return sum(self.by_warehouse.values()) - self.by_warehouse.get(BACKORDER_WAREHOUSE, 0)

    def backorder_for(self, quantity: int) -> Backorder | None:
        """Return the backorder that a line of these units waits for; None if the line is sent at once or cannot be ordered."""
        is_promised = self.backorder and self.total_in_stock < quantity <= self.backorder.units
        return self.backorder if is_promised else None


@dataclass(frozen=True)
class StockNumbers:
    """The numbers of a variant in one warehouse. Always: received = available + reserved + committed + shipped (I1)."""

    received: int
    available: int
    reserved: int
    committed: int
    shipped: int

    @property
    def on_hand(self) -> int:
        """The units in the warehouse, including the units that are reserved or paid but not yet sent."""
        return self.available + self.reserved + self.committed


@dataclass(frozen=True)
class WantedLine:
    """A line of an order that needs stock."""

    line_number: int
    product_id: UUID
    variant_id: UUID
    quantity: int


@dataclass(frozen=True)
class Allocation:
    """Units of an order line that are reserved in one warehouse, or were sent from it."""

    line_number: int
    product_id: UUID
    variant_id: UUID
    warehouse_id: str
    quantity: int
    reservation_id: UUID
    # Without an order, no ledger entry is written.
    order_id: UUID = SENTINEL


# The names of the lists of a warehouse's stock items.
ALL, LOW, OUT = "all", "low", "out"
STOCK_LISTS = (ALL, LOW, OUT)


def find_stock_lists(available: int, threshold: int, *, is_sold: bool) -> frozenset[str]:
    """Return the names of the warehouse's lists that contain a stock item.

    A stock item is low at or below its threshold, even with no unit left; a threshold of 0 means never. A variant that is not
    sold is neither low nor out.
    """
    is_low = is_sold and 0 < threshold >= available
    is_out = is_sold and available < 1
    return frozenset([ALL, *[LOW] * is_low, *[OUT] * is_out])


@dataclass(frozen=True)
class ListedItem:
    """A row of one of the lists of a warehouse's stock items."""

    warehouse_id: str
    sku: str
    product_id: UUID
    variant_id: UUID


LEAVING, IN_TRANSIT, ARRIVING, ARRIVED = "leaving", "in_transit", "arriving", "arrived"
REFUSED = "refused"


@dataclass(frozen=True)
class StockTransfer:
    """Units of a variant in transit between two warehouses. If the transfer is called off, they arrive in `source`."""

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

    def is_same_as(self, other: "StockTransfer") -> bool:
        """Return whether both transfers move the same units between the same warehouses."""
        names = ("variant_id", "source", "destination", "units")
        return all(getattr(self, name) == getattr(other, name) for name in names)


def make_reservation_id(
    order_id: UUID, line_number: int, variant_id: UUID, warehouse_id: str, take: int = 0
) -> UUID:
    """Return the fixed id of a reservation, so that a repeated reservation finds its own row.

    `take` counts how often an order reserves its stock: a paid order that had expired reserves again.
    """
    return uuid5(order_id, f"{take}:{line_number}:{variant_id}:{warehouse_id}")

"""The lines of the nightly reports about products."""

from dataclasses import dataclass
from datetime import date, datetime
from uuid import UUID

from moneyed import Money

# Why a product needs attention.
SOLD_OUT, NOT_BOUGHT, RETURNED = "sold_out", "not_bought", "returned"
NO_PICTURE, NOT_SOLD, NO_COST_PRICE = "no_picture", "not_sold", "no_cost_price"
REASONS = (SOLD_OUT, NOT_BOUGHT, RETURNED, NO_PICTURE, NOT_SOLD, NO_COST_PRICE)


@dataclass(frozen=True, slots=True)
class ProductFigures:
    """The figures of a product, or of one variant if it has a `sku`. `sold` and `refunded` are units of the orders of 90 days."""

    product_id: UUID
    name: str
    sku: str = ""
    on_hand: int = 0
    visitors: int = 0
    subscribers: int = 0
    sold: int = 0
    refunded: int = 0

    @property
    def return_rate(self) -> float:
        """The refunded units in per cent of the sold units; 0 if none were sold."""
        return 100 * self.refunded / self.sold if self.sold else 0.0


@dataclass(frozen=True, slots=True)
class AttentionList:
    """The products that need attention for one reason. `total` counts also those beyond `lines`; None: never counted."""

    reason: str
    lines: tuple[ProductFigures, ...] = ()
    total: int = 0
    counted_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class StockValueLine:
    """The units on hand and their value at cost, in one warehouse ("" for all) and one currency."""

    warehouse_id: str
    units: int
    value: Money
    unpriced_units: int


@dataclass(frozen=True, slots=True)
class StockValueCount:
    """The stock value at the end of a day: a line for each warehouse and currency, and a total for each currency."""

    day: date
    counted_at: datetime
    lines: tuple[StockValueLine, ...]
    totals: tuple[StockValueLine, ...]

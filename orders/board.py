"""The filter by which staff select orders in a column of the board."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from datetime import date, timedelta
from typing import Self

from django.utils.timezone import localdate

from orders import board_queries
from orders.lifecycle.entities import BoardOrder
from orders.lifecycle.states import BOARD_COLUMNS

ONE_DAY = timedelta(days=1)


@dataclass(frozen=True)
class OrderFilter:
    """A filter over the orders of one column; empty fields match all.

    `country` is an ISO 3166 code, `delivery_method` and `payment_method` are codes, `payment` is a payment status of
    orders.lifecycle.states. The order was placed from `first_day` to `last_day` (shop's time zone). `sku` and `tag` ignore case.
    """

    status: str
    country: str = ""
    delivery_method: str = ""
    payment: str = ""
    payment_method: str = ""
    first_day: date | None = None
    last_day: date | None = None
    sku: str = ""
    tag: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether the filter matches all orders of its column."""
        return self == OrderFilter(self.status)

    def matches(self, order: BoardOrder) -> bool:
        """Return whether an order of the filter's column matches."""
        placed_on = localdate(order.placed_at)
        return (
            (self.first_day is None or self.first_day <= placed_on)
            and (self.last_day is None or placed_on <= self.last_day)
            and all(
                wanted in ("", found)
                for wanted, found in (
                    (self.country, order.country),
                    (self.delivery_method, order.delivery_method),
                    (self.payment, order.payment),
                    (self.payment_method, order.payment_method),
                )
            )
            and (not self.sku or self.sku.casefold() in map(str.casefold, order.skus))
            and (not self.tag or self.tag.casefold() in map(str.casefold, order.tags))
        )

    def has_day(self, day: date) -> bool:
        """Return whether orders placed on a UTC day can match. A day in the shop's time zone covers parts of two UTC days."""
        return (self.first_day is None or self.first_day - ONE_DAY <= day) and (
            self.last_day is None or day <= self.last_day + ONE_DAY
        )

    def to_dict(self) -> dict[str, str]:
        """Return the filter's non-empty fields as texts, keyed by field name, for JSON and URLs."""
        return {name: str(value) for name, value in asdict(self).items() if value}

    @classmethod
    def from_dict(cls, texts: Mapping[str, str]) -> Self:
        """Return the filter with the values of `to_dict`. Raises KeyError or ValueError for invalid values."""
        status = texts["status"]
        if status not in BOARD_COLUMNS:
            raise ValueError(f"the board has no column {status!r}")
        known = {each.name for each in fields(cls)}
        return cls(
            **{  # type: ignore[arg-type]
                name: date.fromisoformat(text) if name in ("first_day", "last_day") else text
                for name, text in texts.items()
                if name in known
            }
        )


def iterate_orders(chosen: OrderFilter) -> Iterator[BoardOrder]:
    """Yield all orders that match a filter, in the board's order, reading 500 at a time.

    Orders that change their column during the iteration may be missed. Raises CassandraUnavailable.
    """
    after = ""
    while True:
        found, after = board_queries.list_board_orders(
            chosen.status, after, 500, has_day=chosen.has_day
        )
        yield from filter(chosen.matches, found)
        if not after:
            return

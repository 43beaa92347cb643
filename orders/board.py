"""Which orders of the board somebody wants to see: a filter, and all that it finds."""

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
    """Orders in a column of the board that are like this; what is empty asks for nothing.

    `country` is an ISO 3166 code, `delivery_method` and `payment_method` are codes, `payment` a status of orders.lifecycle.states. From
    `first_day` to `last_day` they were placed (the shop's days, both included). `sku` is a whole SKU and `tag` a whole tag, however written.
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
        """Whether it finds all orders of its column."""
        return self == OrderFilter(self.status)

    def matches(self, order: BoardOrder) -> bool:
        """Return whether an order of its column is like it."""
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
        """Return whether orders of a day of the table can be among what it finds: that is UTC's, a shop's day is on two of them."""
        return (self.first_day is None or self.first_day - ONE_DAY <= day) and (
            self.last_day is None or day <= self.last_day + ONE_DAY
        )

    def to_dict(self) -> dict[str, str]:
        """Return what it asks for as texts by name, for JSON and for addresses; without what is empty."""
        return {name: str(value) for name, value in asdict(self).items() if value}

    @classmethod
    def from_dict(cls, texts: Mapping[str, str]) -> Self:
        """Return the filter of `to_dict`. Raises KeyError or ValueError for what is none."""
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
    """Yield all orders that a filter finds, those first that the board shows first, in bounded memory.

    It asks again every 500 orders, so it may take long: what moves meanwhile may be missed. Raises CassandraUnavailable.
    """
    after = ""
    while True:
        found, after = board_queries.list_board_orders(
            chosen.status, after, 500, has_day=chosen.has_day
        )
        yield from filter(chosen.matches, found)
        if not after:
            return

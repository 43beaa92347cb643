"""Orders of a former shop, and their rows."""

import json
from dataclasses import astuple, dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from moneyed import Money

from cassandra_db import Row
from pricing.money import from_minor_units, to_minor_units

_TEXTS = ("number", "placed_at", "email", "name", "address", "status")


@dataclass(frozen=True, slots=True)
class PastLine:
    """A line of a past order. `price` is that of one unit, or None if it is unknown."""

    name: str
    sku: str
    units: int
    price: Money | None = None


@dataclass(frozen=True, slots=True)
class PastOrder:
    """An order that was placed in a former shop. `email` is the address's key; `status` is in that shop's words.

    Orders with the same content are equal, whoever owns them.
    """

    number: str
    placed_at: datetime
    email: str
    name: str
    address: str
    status: str
    total: Money
    lines: tuple[PastLine, ...]
    user_id: UUID | None = field(default=None, compare=False)

    @property
    def owner(self) -> str:
        """The id of the member who has proved the e-mail address, or else the address."""
        return self.user_id.hex if self.user_id else self.email

    def columns(self) -> dict[str, Any]:
        """Return the values of the order's row, keyed by column."""
        lines = [astuple(line) for line in self.lines]
        return {name: getattr(self, name) for name in _TEXTS} | {
            "currency": self.total.currency.code,
            "total": to_minor_units(self.total),
            "lines": json.dumps(lines, default=to_minor_units, ensure_ascii=False),
        }


def past_order_from_row(row: Row) -> PastOrder:
    """Return the past order in a row."""
    lines = (
        PastLine(name, sku, units, None if price is None else from_minor_units(price, row.currency))
        for name, sku, units, price in json.loads(row.lines)
    )
    return PastOrder(
        **{name: getattr(row, name) for name in _TEXTS},
        total=from_minor_units(row.total, row.currency),
        lines=tuple(lines),
        user_id=row.user_id,
    )

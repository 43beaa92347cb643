"""Orders of a former shop, and the terms by which they are found."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID, uuid5

from moneyed import Money

from cassandra_db import Row
from catalogue.words import name_words
from pricing.money import from_minor_units, to_minor_units

# The kinds of terms. Names are found by the beginning of a word, of which the partition key has the first letters.
MEMBER, EMAIL, NUMBER, NAME = "member", "email", "number", "name"
HEAD = 2
# The namespace of past orders' ids.
_NAMESPACE = UUID("0d6b9c1e-52a7-4b6f-9a43-6f4c2f1f7a90")


def derive_order_id(shop: str, number: str) -> UUID:
    """Return the id of a former shop's order, so that an order that is sent twice is stored once."""
    return uuid5(_NAMESPACE, f"{shop.casefold()}\n{number}")


def fold_number(number: str) -> str:
    """Return an order number as it is searched: its letters and digits, without case."""
    return "".join(each for each in number.casefold() if each.isalnum())


@dataclass(frozen=True, slots=True)
class PastLine:
    """A line of a past order. `price` is that of one unit, or None if it is unknown."""

    name: str
    sku: str
    units: int
    price: Money | None = None

    def to_list(self) -> list[object]:
        """Return the line's values for JSON."""
        price = None if self.price is None else to_minor_units(self.price)
        return [self.name, self.sku, self.units, price]


@dataclass(frozen=True, slots=True)
class PastOrder:
    """An order that was placed in a former shop. `email` is the address's key; `status` is in that shop's words."""

    order_id: UUID
    shop: str
    number: str
    placed_at: datetime
    email: str
    name: str
    address: str
    status: str
    total: Money
    lines: tuple[PastLine, ...]
    user_id: UUID | None = None

    def columns(self) -> dict[str, Any]:
        """Return the values of the order's row, keyed by column."""
        copied = ("order_id", "user_id", "shop", "number", "placed_at", "email", "name")
        return {name: getattr(self, name) for name in (*copied, "address", "status")} | {
            "currency": self.total.currency.code,
            "total": to_minor_units(self.total),
            "lines": json.dumps([line.to_list() for line in self.lines], ensure_ascii=False),
        }

    def iterate_terms(self) -> Iterator[tuple[str, str]]:
        """Yield the kind and the text of each term by which the order is found, the member's last."""
        yield EMAIL, self.email
        if number := fold_number(self.number):
            yield NUMBER, number
        for word in name_words(self.name):
            yield NAME, word
        if self.user_id:
            yield MEMBER, self.user_id.hex


def past_order_from_row(row: Row | None) -> PastOrder | None:
    """Return the past order in a row, or None without a row."""
    if row is None:
        return None
    lines = tuple(
        PastLine(name, sku, units, None if price is None else from_minor_units(price, row.currency))
        for name, sku, units, price in json.loads(row.lines)
    )
    return PastOrder(
        row.order_id,
        row.shop or "",
        row.number,
        row.placed_at,
        row.email,
        row.name or "",
        row.address or "",
        row.status or "",
        from_minor_units(row.total, row.currency),
        lines,
        row.user_id,
    )


def find_head(kind: str, term: str) -> str:
    """Return the part of a term that belongs to the partition key."""
    return term[:HEAD] if kind == NAME else term

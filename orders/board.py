"""Which orders of the staff's board somebody wants: a column, and what its rows say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from datetime import date, datetime
from typing import Any

from cassandra_db import Row
from orders import queries
from orders.states import BOARD_COLUMNS


@dataclass(frozen=True)
class OrderFilter:
    """What orders of the board have to be; "" and None stand for whatever it is. Days are those on which they were placed, UTC."""

    status: str = ""  # one of BOARD_COLUMNS
    country: str = ""
    payment: str = ""
    first_day: date | None = None
    last_day: date | None = None

    def to_dict(self) -> dict[str, str]:
        """Return what is set, as texts."""
        return {name: str(value) for name, value in asdict(self).items() if value}

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> OrderFilter:
        """Return the filter of which `to_dict` has made this. Raises ValueError for what is no day."""
        known = {each.name for each in fields(cls)}
        values = {name: str(value) for name, value in found.items() if name in known and value}
        days = {
            name: date.fromisoformat(values[name])
            for name in ("first_day", "last_day")
            if name in values
        }
        return cls(**values | days)  # type: ignore[arg-type]

    def has_day(self, day: date) -> bool:
        """Return whether orders of a day may match."""
        return (self.first_day or day) <= day <= (self.last_day or day)

    def matches(self, row: Row) -> bool:
        """Return whether an order of the board, of a day and a column that match, does so too."""
        return self.country in ("", row.country) and self.payment in ("", row.payment)


def iterate_orders(chosen: OrderFilter, now: datetime) -> Iterator[Row]:
    """Yield the rows of the board that match, column by column, the oldest first; any number of them. Raises CassandraUnavailable."""
    for status in [chosen.status] if chosen.status else BOARD_COLUMNS:
        for day in queries.list_board_days(status):
            if chosen.has_day(day):
                yield from (
                    row for row in queries.iterate_board_day(status, day) if chosen.matches(row)
                )

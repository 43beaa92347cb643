"""The events of an order, as its partition stores them. The whole state of the order follows from its events."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from cassandra.util import datetime_from_uuid1


@dataclass(frozen=True)
class Event:
    """Something that happened to an order. `actor` is "shopper", "system" or "staff:<user id>:<name>"."""

    event_id: UUID
    kind: str
    actor: str
    note: str
    public: bool
    board_after: str
    details: dict[str, Any] = field(default_factory=dict)
    request_id: UUID | None = None
    submit_id: UUID | None = None

    @property
    def at(self) -> datetime:
        moment: datetime = datetime_from_uuid1(self.event_id)
        return moment.replace(tzinfo=UTC)


def parse_line_units(lines: Any) -> dict[int, int]:
    """Return the units by line number in an event's details. In JSON the line numbers are texts."""
    return {int(line): int(count) for line, count in (lines or {}).items() if int(count)}

"""Counts visits by minute, for the staff's live page.

Each process counts its own visits in memory, and writes the totals of each minute, not the changes. So a write can be repeated.
The page adds up the totals of all processes.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Self
from uuid import uuid4

from analytics.kinds import ORDER, PAGE_KINDS
from analytics.sketches import VisitorSketch
from cassandra_db import PendingResult, read, wait_for_all, write

MINUTE = timedelta(minutes=1)
LIVE_MINUTES = 30
MINUTES_OF_HOUR = read(
    "Q19", "SELECT minute, pages, orders, visitors FROM live_minutes WHERE hour = :hour"
)
WRITE_MINUTE = write(
    "Q19",
    """INSERT INTO live_minutes (hour, minute, process, pages, orders, visitors)
       VALUES (:hour, :minute, :process, :pages, :orders, :visitors)""",
)


@dataclass
class LiveTally:
    """The numbers of page loads and orders in a period, and a sketch of its visitors."""

    pages: int = 0
    orders: int = 0
    visitors: VisitorSketch = field(default_factory=VisitorSketch)

    def merge(self, other: Self) -> None:
        """Add the counts and the visitors of another tally."""
        self.pages += other.pages
        self.orders += other.orders
        self.visitors.merge(other.visitors)


class LiveCounter:
    """Counts the page loads, orders and visitors of this process by minute. Only its event writer's thread may use it."""

    def __init__(self) -> None:
        self._process = uuid4()
        self._minutes: dict[datetime, LiveTally] = {}
        self._changed: set[datetime] = set()

    def add(self, kind: str, at: datetime, visitor: bytes) -> None:
        """Count an event in its minute. `visitor` is the visitor's pseudonym, eight bytes."""
        minute = at.replace(second=0, microsecond=0)
        tally = self._minutes.setdefault(minute, LiveTally())
        tally.pages += kind in PAGE_KINDS
        tally.orders += kind == ORDER
        tally.visitors.add(visitor)
        self._changed.add(minute)

    def write(self) -> None:
        """Write the totals of the minutes that have changed. Raises CassandraUnavailable; the next call then writes them."""
        if not self._changed:
            return
        wait_for_all(
            [
                WRITE_MINUTE.start(
                    hour=minute.replace(minute=0),
                    minute=minute.minute,
                    process=self._process,
                    pages=tally.pages,
                    orders=tally.orders,
                    visitors=tally.visitors.to_bytes(),
                )
                for minute in self._changed
                if (tally := self._minutes[minute])
            ]
        )
        self._changed.clear()
        oldest = max(self._minutes) - LIVE_MINUTES * MINUTE
        self._minutes = {each: t for each, t in self._minutes.items() if each >= oldest}


def list_live_minutes(now: datetime) -> dict[datetime, LiveTally]:
    """Return the counts of all processes for each of the last thirty minutes (UTC), oldest first. Raises CassandraUnavailable."""
    last = now.replace(second=0, microsecond=0)
    first = last - (LIVE_MINUTES - 1) * MINUTE
    found = {first + n * MINUTE: LiveTally() for n in range(LIVE_MINUTES)}
    hours = {each.replace(minute=0) for each in (first, last)}
    reading: list[tuple[datetime, PendingResult]] = [
        (hour, MINUTES_OF_HOUR.start(hour=hour)) for hour in hours
    ]
    for hour, pending in reading:
        for row in pending.rows():
            minute = hour + row.minute * MINUTE
            if minute in found:
                found[minute].merge(LiveTally(row.pages, row.orders, VisitorSketch(row.visitors)))
    return found

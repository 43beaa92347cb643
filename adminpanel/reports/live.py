"""The live report: the visitors, page views and orders of the last half hour, minute by minute."""

import hashlib
from dataclasses import dataclass
from datetime import datetime

from analytics.live import LIVE_MINUTES, LiveTally, list_live_minutes

CHART_HEIGHT = 120
CHART_STEP = 10


@dataclass(frozen=True)
class LiveLine:
    """A minute in the live report, and its bar in units of the drawing."""

    at: datetime
    visitors: int
    pages: int
    orders: int
    x: int
    y: int
    height: int


@dataclass(frozen=True)
class LiveView:
    """The last thirty minutes, the oldest first. In the totals, each visitor counts once."""

    visitors: int
    pages: int
    orders: int
    minutes: tuple[LiveLine, ...]

    @property
    def lines(self) -> list[LiveLine]:
        """The minutes that had visitors, the latest first."""
        return [each for each in reversed(self.minutes) if each.visitors]

    @property
    def chart_width(self) -> int:
        return CHART_STEP * LIVE_MINUTES

    @property
    def fingerprint(self) -> str:
        """A hash of the report. An open page sends it, and learns whether the page is current."""
        return hashlib.sha256(repr((self.visitors, self.minutes)).encode()).hexdigest()[:16]


def get_live_view(now: datetime) -> LiveView:
    """Return the live report at the time `now`. Raises CassandraUnavailable."""
    minutes, total = list_live_minutes(now), LiveTally()
    for tally in minutes.values():
        total.merge(tally)
    most = max(each.pages for each in minutes.values()) or 1
    lines = []
    for n, (at, tally) in enumerate(minutes.items()):
        height = round(CHART_HEIGHT * tally.pages / most)
        numbers = tally.visitors.estimate(), tally.pages, tally.orders
        lines.append(LiveLine(at, *numbers, CHART_STEP * n, CHART_HEIGHT - height, height))
    return LiveView(total.visitors.estimate(), total.pages, total.orders, tuple(lines))

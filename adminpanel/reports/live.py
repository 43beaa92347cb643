"""The live report: the visitors, page views and orders of the last half hour, minute by minute."""

import hashlib
from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone
from django.utils.translation import gettext as _

from adminpanel.charts import Chart, Point, make_chart
from analytics.live import LiveTally, list_live_minutes


@dataclass(frozen=True)
class LiveLine:
    """A minute in the live report."""

    at: datetime
    visitors: int
    pages: int
    orders: int


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
    def chart(self) -> Chart:
        """The page views of each minute."""
        times = [timezone.localtime(line.at).strftime("%H:%M") for line in self.minutes]
        points = [
            Point(time, f"{time}: {line.pages}", line.pages)
            for time, line in zip(times, self.minutes, strict=True)
        ]
        return make_chart("pages", _("Page views"), points)

    @property
    def fingerprint(self) -> str:
        """A hash of the report. An open page sends it, and learns whether the page is current."""
        return hashlib.sha256(repr((self.visitors, self.minutes)).encode()).hexdigest()[:16]


def get_live_view(now: datetime) -> LiveView:
    """Return the live report at the time `now`. Raises CassandraUnavailable."""
    minutes, total = list_live_minutes(now), LiveTally()
    for tally in minutes.values():
        total.merge(tally)
    lines = (
        LiveLine(at, tally.visitors.estimate(), tally.pages, tally.orders)
        for at, tally in minutes.items()
    )
    return LiveView(total.visitors.estimate(), total.pages, total.orders, tuple(lines))

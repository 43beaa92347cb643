"""The searches report (Q19): searches by day, frequent and vain searches, and clicks by the place of the result."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import pairwise

from django.utils.translation import gettext as _

from adminpanel.charts import Chart
from adminpanel.reports.comparisons import share
from adminpanel.reports.visits import SearchLine, draw_days, list_searches
from analytics import queries
from analytics.clicks import FURTHER_DOWN, PLACES
from analytics.kinds import CLICK
from catalogue.queries import PAGE_LENGTH

SHOWN_SEARCHES = 50
# The first place of each line: ten places, then pages of results.
_FIRST_PLACES = (*range(1, 12), *range(PAGE_LENGTH + 1, PLACES, PAGE_LENGTH), FURTHER_DOWN)


@dataclass
class SearchDay:
    """The searches of a day, or of all days: all, those that found nothing, and their visitors; the clicks, and theirs."""

    day: date
    searches: int = 0
    empty: int = 0
    searchers: int = 0
    clicks: int = 0
    clickers: int = 0

    @property
    def empty_share(self) -> float | None:
        return share(self.empty, self.searches)

    @property
    def click_rate(self) -> float | None:
        """The per cent of visitors with a search who opened a result."""
        return share(min(self.clickers, self.searchers), self.searchers)


@dataclass(frozen=True)
class PlaceLine:
    """The clicks on results at some places, and their per cent of all clicks."""

    label: str
    clicks: int
    share: float | None


@dataclass(frozen=True)
class SearchesReport:
    """The searches of a period. `days` begin with the latest, `words` with the most frequent."""

    total: SearchDay
    last: date
    days: tuple[SearchDay, ...]
    chart: Chart
    words: tuple[SearchLine, ...]
    places: tuple[PlaceLine, ...]

    @property
    def as_query(self) -> str:
        """The query of the report's address."""
        return f"first={self.total.day}&last={self.last}"

    @property
    def vain(self) -> list[SearchLine]:
        """The searches that found nothing, the most frequent first."""
        found = [line for line in self.words if line.empty]
        return sorted(found, key=lambda line: -line.empty)[:SHOWN_SEARCHES]


def get_searches_report(first: date, last: date) -> SearchesReport:
    """Return the searches of a period. Raises CassandraUnavailable."""
    days = [first + timedelta(number) for number in range((last - first).days + 1)]
    visits = queries.prefetch_visits(first, last)
    searches = queries.prefetch_top_searches(days)
    clicks = queries.prefetch_search_clicks(first, last)
    lines, total = {day: SearchDay(day) for day in days}, SearchDay(first)
    for row in (row for pending in visits for row in pending.rows()):
        for line in (lines[row.day.date()], total):
            if row.kind == "search":
                line.searches += row.events
                line.empty += row.empty or 0
                line.searchers += row.visitors
            elif row.kind == CLICK:
                line.clicks += row.events
                line.clickers += row.visitors
    by_place: Counter[int] = Counter()
    for row in (row for pending in clicks for row in pending.rows()):
        by_place[row.place] += row.clicks
    return SearchesReport(
        total,
        last,
        tuple(lines.values())[::-1],
        draw_days("searches", _("Searches"), {day: line.searches for day, line in lines.items()}),
        list_searches(searches),
        tuple(_list_places(by_place, total.clicks)),
    )


def _list_places(clicks: Counter[int], total: int) -> Iterator[PlaceLine]:
    for first, following in pairwise((*_FIRST_PLACES, FURTHER_DOWN + 1)):
        count = sum(clicks[place] for place in range(first, following))
        label = str(first) if following == first + 1 else f"{first}–{following - 1}"
        label = _("Further down") if first == FURTHER_DOWN else label
        yield PlaceLine(label, count, share(count, total))
    count = max(0, total - clicks.total())
    yield PlaceLine(_("Filtered or suggested"), count, share(count, total))

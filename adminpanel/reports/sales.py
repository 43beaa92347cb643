"""The sales report (Q18): a period's sales by time or by a dimension, beside the previous period and the year before."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from urllib.parse import urlencode

from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from adminpanel.charts import Chart, Point, make_chart
from adminpanel.reports.comparisons import (
    Comparison,
    Sales,
    SummaryLine,
    compare,
    list_summary,
    share,
)
from adminpanel.reports.periods import DAY, PERIODS, Period, list_spans
from adminpanel.reports.sales_names import name_keys
from analytics import queries
from analytics.days import previous_period, shop_today, year_before
from analytics.dimensions import NOT_KNOWN, OTHERS, DimensionSales
from analytics.figures import Figures
from catalogue.queries import prefetch_categories
from pricing.templatetags.money import format_money
from web.types import StrOrPromise

# The longest period of a report, in days.
MAX_REPORT_DAYS = 366
# The rows of a table by products or other keys; the rest is one row. A chart of more days than these shows weeks.
MAX_ROWS = 100
MAX_CHART_DAYS = 92
BY_TIME: dict[str, StrOrPromise] = {
    "hour": gettext_lazy("Hours"),
    "day": gettext_lazy("Days"),
    "week": gettext_lazy("Weeks"),
    "month": gettext_lazy("Months"),
}
CHART_TITLES = {
    "hour": gettext_lazy("Sold by hour, %(currency)s"),
    "day": gettext_lazy("Sold by day, %(currency)s"),
    "week": gettext_lazy("Sold by week, %(currency)s"),
    "month": gettext_lazy("Sold by month, %(currency)s"),
}
BY_KEY: dict[str, StrOrPromise] = {
    "category": gettext_lazy("Categories"),
    "product": gettext_lazy("Products"),
    "variant": gettext_lazy("Variants"),
    "country": gettext_lazy("Countries"),
    "promotion": gettext_lazy("Promotions"),
    "payment": gettext_lazy("Payment methods"),
    "customer": gettext_lazy("Customers"),
}
ROWS = BY_TIME | BY_KEY


_BEST = gettext_lazy(
    "The 100 best-selling. Each day counts its 500 best-selling; all other sales are in All others."
)
NOTES: dict[str, StrOrPromise] = {
    "category": gettext_lazy("Sales in a category also count in the categories above it."),
    "promotion": gettext_lazy("An item with several promotions counts under each of them."),
    "product": _BEST,
    "variant": _BEST,
}


@dataclass(frozen=True)
class Link:
    """A link to another view of the report."""

    label: StrOrPromise
    query: str
    is_current: bool = False


@dataclass(frozen=True)
class SalesSelection:
    """The choices for a sales report: its first and last day, the table's rows (BY_TIME, BY_KEY) and the currency."""

    first: date
    last: date
    by: str
    currency: str

    @property
    def as_query(self) -> str:
        """The query of the report's address."""
        return urlencode(vars(self))

    @property
    def periods(self) -> tuple[Period, Period, Period]:
        """The period, the previous one, and the same days of the year before."""
        chosen = (self.first, self.last)
        return chosen, previous_period(*chosen), year_before(*chosen)

    @property
    def chosen_rows(self) -> str:
        """The rows for links to other periods; '' for those that their period shows by default."""
        return "" if self.by == default_rows(self.first, self.last) else self.by


def default_rows(first: date, last: date) -> str:
    """Return the rows of a period for which none are chosen."""
    return "hour" if first == last else "day"


@dataclass(frozen=True)
class SalesLine:
    """A row of the table: a span of days, an hour or a key. `sales` are of the period, the previous one and the year before."""

    name: str
    sales: Sequence[Sales]
    share: float | None = None  # of all sales, in per cent
    label: str = ""  # the short name in a chart
    day: date | None = None  # the first one of a span

    @property
    def now(self) -> Sales:
        return self.sales[0]

    @property
    def compared(self) -> list[Comparison]:
        """The sold amounts of the previous period and of the year before."""
        return [compare(self.now.gross, each.gross) for each in self.sales[1:]]

    @property
    def has_orders(self) -> bool:
        return any(each.figures.orders for each in self.sales)


@dataclass(frozen=True)
class SalesReport:
    """The sales of a period in one currency. `currencies` are all currencies in which the shop sold during the period."""

    selection: SalesSelection
    total: SalesLine
    summary: tuple[SummaryLine, ...]
    lines: tuple[SalesLine, ...]
    chart: Chart | None
    currencies: tuple[str, ...]

    @property
    def is_by_time(self) -> bool:
        return self.selection.by in BY_TIME

    @property
    def row_label(self) -> StrOrPromise:
        """The name of what the rows are."""
        return ROWS[self.selection.by]

    @property
    def row_links(self) -> list[Link]:
        """Links to the other rows of the same period."""
        return [
            Link(label, replace(self.selection, by=by).as_query, by == self.selection.by)
            for by, label in ROWS.items()
        ]

    @property
    def other_currencies(self) -> list[Link]:
        """Links to the sales in other currencies."""
        return [
            Link(code, replace(self.selection, currency=code).as_query)
            for code in self.currencies
            if code != self.selection.currency
        ]

    @property
    def period_links(self) -> list[Link]:
        """Links to the named periods. They keep the chosen rows and the currency."""
        kept = {"by": self.selection.chosen_rows, "currency": self.selection.currency}
        chosen, today = self.selection.periods[0], shop_today()
        return [
            Link(label, urlencode({"period": name, **kept}), find(today) == chosen)
            for name, (label, find) in PERIODS.items()
        ]

    @property
    def period_names(self) -> list[tuple[StrOrPromise, str]]:
        """The names and days of the period and of those that it is compared with."""
        names = (_("This period"), _("Previous period"), _("Year before"))
        days = (_name_span(*each) for each in self.selection.periods)
        return list(zip(names, days, strict=True))

    @property
    def has_today(self) -> bool:
        """Whether the last day is not over yet."""
        return self.selection.last >= shop_today()

    @property
    def note(self) -> StrOrPromise:
        """What one has to know to read the table, if anything."""
        return NOTES.get(self.selection.by, "")


@dataclass(frozen=True)
class _PeriodSales:
    """What is read of a period: each day's sales by customer and currency, and the sales of each key in one currency."""

    period: Period
    days: Mapping[date, Sequence[DimensionSales]]
    keys: Mapping[str, Figures]
    currency: str

    def sum_days(self, first: date, last: date) -> Sales:
        """Return the sales between two days."""
        days = map(date.fromordinal, range(first.toordinal(), last.toordinal() + 1))
        sales = (each for day in days for each in self.days.get(day, ()))
        found = [each for each in sales if each.currency == self.currency]
        figures = sum((each.figures for each in found), Figures())
        if all(each.key == NOT_KNOWN for each in found):
            return Sales(figures, self.currency)
        orders = Counter[str]()
        for each in found:
            orders[each.key] += each.figures.orders
        return Sales(figures, self.currency, orders["first"], orders["returning"])

    def get_key(self, key: str) -> Sales:
        """Return the sales of a key."""
        return Sales(self.keys.get(key, Figures()), self.currency)

    def sum_others(self, keys: Iterable[str]) -> Sales:
        """Return the sales of some keys, without orders: an order counts under the key of each of its lines."""
        found = sum((self.keys.get(key, Figures()) for key in keys), Figures())
        return Sales(replace(found, orders=0), self.currency)


def get_sales_report(selection: SalesSelection) -> SalesReport:
    """Return the sales of a period, all read in one round. Raises CassandraUnavailable."""
    if selection.by == "category":
        prefetch_categories()
    reading = [_prefetch(selection, each) for each in selection.periods]
    found = [collect() for collect in reading]
    currencies = {each.currency for sales in found[0].days.values() for each in sales}
    total = SalesLine(_("All sales"), [each.sum_days(*each.period) for each in found])
    spans: tuple[SalesLine, ...] = ()
    spans_by = selection.by
    if selection.by in ("day", "week", "month"):
        lines = spans = tuple(_list_spans(found, selection.by))
        if selection.by == "day" and len(spans) > MAX_CHART_DAYS:
            spans, spans_by = tuple(_list_spans(found, "week")), "week"
        lines = tuple(reversed([line for line in lines if line.has_orders]))
    elif selection.by == "hour":
        spans = tuple(_list_hours(found))
        unknown = _list_keys(found, "hour", [NOT_KNOWN], total)
        lines = (*spans, *(line for line in unknown if line.has_orders))
    else:
        lines = tuple(_list_best(found, selection.by, total))
    return SalesReport(
        selection,
        total,
        tuple(list_summary(*total.sales)),
        lines,
        _draw(spans, spans_by, selection.currency) if spans else None,
        tuple(sorted(currencies)),
    )


def _prefetch(selection: SalesSelection, period: Period) -> Callable[[], _PeriodSales]:
    has_keys = selection.by not in ("day", "week", "month")
    daily = queries.prefetch_sales_by("customer", *period)
    keyed = queries.prefetch_sales_by(selection.by, *period) if has_keys else []

    def collect() -> _PeriodSales:
        days = defaultdict[date, list[DimensionSales]](list)
        for each in queries.collect_sales_by(daily):
            days[each.day].append(each)
        keys = queries.sum_by_key(keyed, selection.currency)
        return _PeriodSales(period, days, keys, selection.currency)

    return collect


def _list_spans(found: Sequence[_PeriodSales], by: str) -> Iterator[SalesLine]:
    """Yield the days, weeks or months, each beside the span as many days into the previous period, and a year earlier.

    A year earlier, each span begins where the one before it ended: so each day counts once, also around 29 February.
    """
    now, previous, earlier = found
    shift = previous.period[0] - now.period[0]
    start = earlier.period[0]
    for first, last in list_spans(*now.period, by):
        _, end = year_before(first, last)
        yield SalesLine(
            _name_span(first, last),
            [
                now.sum_days(first, last),
                previous.sum_days(first + shift, last + shift),
                earlier.sum_days(start, end),
            ],
            label=date_format(first, "M Y" if by == "month" else "j M"),
            day=first,
        )
        start = end + DAY


def _name_span(first: date, last: date) -> str:
    if first == last:
        return date_format(first, "D, j M Y")
    start = "j M" if first.year == last.year else "j M Y"
    return f"{date_format(first, start)} – {date_format(last, 'j M Y')}"


def _list_hours(found: Sequence[_PeriodSales]) -> Iterator[SalesLine]:
    for hour in range(24):
        sales = [each.get_key(f"{hour:02}") for each in found]
        yield SalesLine(f"{hour:02}:00 – {hour:02}:59", sales, label=f"{hour}:00")


def _list_best(found: Sequence[_PeriodSales], by: str, total: SalesLine) -> Iterator[SalesLine]:
    """Yield the MAX_ROWS keys that sold most, and a line for all others; or all categories by name."""

    def rank(key: str) -> tuple[list[int], str]:
        return [-each.keys.get(key, Figures()).gross for each in found], key

    keys = sorted({key for each in found for key in each.keys} - {OTHERS}, key=rank)
    if by == "category":
        yield from sorted(_list_keys(found, by, keys, total), key=lambda line: line.name)
        return
    yield from _list_keys(found, by, keys[:MAX_ROWS], total)
    others = [*keys[MAX_ROWS:], OTHERS]
    if any(key in each.keys for each in found for key in others):
        yield SalesLine(_("All others"), [each.sum_others(others) for each in found])


def _list_keys(
    found: Sequence[_PeriodSales], by: str, keys: Sequence[str], total: SalesLine
) -> Iterator[SalesLine]:
    names = name_keys(by, keys)
    for key in keys:
        sales = [each.get_key(key) for each in found]
        part = share(sales[0].figures.gross, total.now.figures.gross)
        yield SalesLine(names[key], sales, part)


def _draw(lines: Sequence[SalesLine], by: str, currency: str) -> Chart:
    points = []
    for line in lines:
        now, previous = (each.gross for each in line.sales[:2])
        text = f"{line.name}: {format_money(now)}"
        detail = _("Previous period: %(amount)s") % {"amount": format_money(previous)}
        amounts = float(now.amount), float(previous.amount)
        points.append(Point(line.label, text, amounts[0], detail, amounts[1]))
    title = CHART_TITLES[by] % {"currency": currency}
    return make_chart("sold", title, points, _("Previous period"))

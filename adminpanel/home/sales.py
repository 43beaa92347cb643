"""The sales and the conversion that Home shows. docs/report-definitions.md defines each number."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from django.conf import settings
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from moneyed import Money

from adminpanel.charts import Chart, Point, make_chart
from adminpanel.reports.comparisons import Comparison, compare
from analytics.days import shop_day, shop_hour
from analytics.dimensions import DimensionSales
from analytics.figures import Figures
from analytics.queries import collect_sales_by, prefetch_sales_by, prefetch_visits
from analytics.roll_up import ANY_KIND
from pricing.money import from_minor_units
from pricing.templatetags.money import format_money

CHART_DAYS = 30
WEEK = timedelta(days=7)


@dataclass(frozen=True)
class DayLine:
    """The sales and the paid orders of a day in the shop's currency."""

    day: date
    gross: Money
    orders: int


@dataclass(frozen=True)
class HomeSales:
    """The sales of the last CHART_DAYS days, the last one today.

    `comparison` has what was sold a week ago in the hours of today that are over, until `until`. It is None in the day's
    first hour.
    """

    days: tuple[DayLine, ...]
    until: str
    comparison: Comparison | None
    chart: Chart

    @property
    def today(self) -> DayLine:
        return self.days[-1]

    @property
    def yesterday(self) -> DayLine:
        return self.days[-2]


def prefetch_home_sales(now: datetime) -> Callable[[], HomeSales]:
    """Start reading the sales by hour, at most three partitions. The returned function raises CassandraUnavailable."""
    today = shop_day(now)
    reading = prefetch_sales_by("hour", today - timedelta(CHART_DAYS - 1), today)
    return lambda: make_home_sales(collect_sales_by(reading), now)


def prefetch_visitors(now: datetime) -> Callable[[], int]:
    """Start reading today's number of visitors. The returned function raises CassandraUnavailable."""
    today = shop_day(now)
    reading = prefetch_visits(today, today)
    return lambda: sum(
        row.visitors for each in reading for row in each.rows() if row.kind == ANY_KIND
    )


def make_home_sales(sales: Sequence[DimensionSales], now: datetime) -> HomeSales:
    """Return what Home shows of the sales by hour of the last CHART_DAYS days."""
    today, hours, currency = shop_day(now), shop_hour(now), settings.CURRENCY
    first = today - timedelta(CHART_DAYS - 1)
    own = [each for each in sales if each.currency == currency]

    def sum_day(day: date, until: str = "~") -> DayLine:
        # An order whose time is not known has a key that sorts after "23", and before "~".
        found = (each.figures for each in own if each.day == day and each.key < until)
        figures = sum(found, Figures())
        return DayLine(day, from_minor_units(figures.gross, currency), figures.orders)

    days = tuple(sum_day(first + timedelta(n)) for n in range(CHART_DAYS))
    over = f"{hours:02}"
    compared = compare(sum_day(today, over).gross, sum_day(today - WEEK, over).gross)
    return HomeSales(days, f"{hours}:00", compared if hours else None, _chart(days))


def _chart(days: Sequence[DayLine]) -> Chart:
    points = [
        Point(
            date_format(each.day, "j M"),
            f"{date_format(each.day, 'D, j M')}: {format_money(each.gross)}",
            float(each.gross.amount),
        )
        for each in days
    ]
    title = _("Sales of the last 30 days, %(currency)s") % {"currency": settings.CURRENCY}
    return make_chart("sales", title, points, description=_("The folded table has the numbers"))

"""The sales and the conversion that Home shows. docs/report-definitions.md defines each number."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from django.conf import settings
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from moneyed import Money

from adminpanel.charts import Chart, Point, make_chart
from analytics.days import shop_day, shop_hour
from analytics.dimensions import DimensionSales
from analytics.figures import Figures
from analytics.queries import collect_sales_by, prefetch_sales_by, prefetch_visits
from analytics.roll_up import ANY_KIND
from cassandra_db import Row
from pricing.money import from_minor_units
from pricing.templatetags.money import format_money

CHART_DAYS = 30
WEEK = timedelta(days=7)


@dataclass(frozen=True)
class DayLine:
    """The sales of a day in the shop's currency, and its paid orders in all currencies."""

    day: date
    gross: Money
    orders: int


@dataclass(frozen=True)
class Comparison:
    """Today's sales in its first `hours` hours, which are over, and those of the same weekday a week ago."""

    hours: int
    now: Money
    before: Money

    @property
    def percent(self) -> int | None:
        """How many per cent more today has; below zero if it has less, None if there was nothing a week ago."""
        if not self.before:
            return None
        return round(100 * float((self.now.amount - self.before.amount) / self.before.amount))

    @property
    def percent_less(self) -> int:
        return -(self.percent or 0)

    @property
    def until(self) -> str:
        return f"{self.hours}:00"


@dataclass(frozen=True)
class HomeSales:
    """The sales of the last CHART_DAYS days, the last one today. `comparison` is None in the day's first hour."""

    days: tuple[DayLine, ...]
    comparison: Comparison | None
    chart: Chart

    @property
    def today(self) -> DayLine:
        return self.days[-1]

    @property
    def yesterday(self) -> DayLine:
        return self.days[-2]

    @property
    def week_ago(self) -> date:
        return self.today.day - WEEK

    @property
    def latest_first(self) -> Sequence[DayLine]:
        return self.days[::-1]


def prefetch_home_sales(now: datetime) -> Callable[[], HomeSales]:
    """Start reading the sales by hour, at most two partitions. The returned function raises CassandraUnavailable."""
    today = shop_day(now)
    reading = prefetch_sales_by("hour", today - timedelta(CHART_DAYS - 1), today)
    return lambda: make_home_sales(collect_sales_by(reading), now)


def prefetch_visitors(now: datetime) -> Callable[[], int]:
    """Start reading today's number of visitors. The returned function raises CassandraUnavailable."""
    today = shop_day(now)
    reading = prefetch_visits(today, today)
    return lambda: _count_visitors([row for each in reading for row in each.rows()])


def _count_visitors(rows: Sequence[Row]) -> int:
    return sum(row.visitors for row in rows if row.kind == ANY_KIND)


def make_home_sales(sales: Sequence[DimensionSales], now: datetime) -> HomeSales:
    """Return what Home shows of the sales by hour of the last CHART_DAYS days."""
    today, hours = shop_day(now), shop_hour(now)
    first = today - timedelta(CHART_DAYS - 1)
    by_day = {first + timedelta(n): list[DimensionSales]() for n in range(CHART_DAYS)}
    for each in sales:
        by_day[each.day].append(each)
    days = tuple(
        DayLine(day, _gross(found), sum(each.figures.orders for each in found))
        for day, found in by_day.items()
    )

    def until_now(day: date) -> Money:
        # An order whose time is not known has a key that sorts after "23".
        return _gross([each for each in by_day[day] if each.key < f"{hours:02}"])

    comparison = Comparison(hours, until_now(today), until_now(today - WEEK)) if hours else None
    return HomeSales(days, comparison, _chart(days))


def _gross(sales: Sequence[DimensionSales]) -> Money:
    currency = settings.CURRENCY
    own = (each.figures for each in sales if each.currency == currency)
    return from_minor_units(sum(own, Figures()).gross, currency)


def _chart(days: Sequence[DayLine]) -> Chart:
    points = [
        Point(
            date_format(each.day, "j M"),
            f"{date_format(each.day, 'D, j M')}: {format_money(each.gross)}",
            float(each.gross.amount),
        )
        for each in days
    ]
    return make_chart("sales", _("Sales of the last 30 days"), points)

"""The visits report (Q19): the steps from page views to paid orders, the viewed products, and the searches."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any, Self
from urllib.parse import urlencode
from uuid import UUID

from django.utils.formats import date_format
from django.utils.translation import gettext as _
from moneyed import Money

from adminpanel.charts import Chart, Point, make_chart
from adminpanel.reports.comparisons import Sales, share
from analytics import queries
from analytics.figures import ALL_CATEGORIES, Figures
from analytics.kinds import PAGE_KINDS
from analytics.roll_up import ANY_KIND
from cassandra_db import PendingResult
from catalogue.queries import get_products, leave_out

# The daily figures of products and of searches are kept for this long.
MAX_VISITS_DAYS = 90
SHOWN_PRODUCTS = 20
SHOWN_SEARCHES = 20


@dataclass
class VisitLine:
    """The visits of a day, or of a week that begins on `day`. A week's visitors are the sum of its days' visitors."""

    day: date
    visitors: int = 0
    page_views: int = 0
    adding: int = 0
    at_checkout: int = 0
    sales: Figures = field(default_factory=Figures)
    currency: str = ""
    first_orders: int = 0
    returning_orders: int = 0

    @property
    def returning(self) -> float | None:
        """The per cent of paid orders that came from returning customers. None if this is unknown for all orders."""
        return share(self.returning_orders, self.first_orders + self.returning_orders)

    @property
    def conversion(self) -> float | None:
        """The paid orders per hundred visitors. None if there are no visitors, or fewer visitors than orders."""
        if self.sales.orders > self.visitors:
            return None
        return share(self.sales.orders, self.visitors)

    @property
    def average_order(self) -> Money | None:
        """The average sum of a paid order, with tax and without delivery. None if there are no paid orders."""
        return Sales(self.sales, self.currency).average_order

    def add(self, other: Self) -> None:
        self.visitors += other.visitors
        self.page_views += other.page_views
        self.adding += other.adding
        self.at_checkout += other.at_checkout
        self.sales += other.sales
        self.first_orders += other.first_orders
        self.returning_orders += other.returning_orders


@dataclass(frozen=True)
class ProductLine:
    """A product with its page views and its daily visitors, added up."""

    product_id: UUID
    name: str
    views: int
    visitors: int


@dataclass(frozen=True)
class SearchLine:
    """The words of a search, the number of searches for them, and the number of searches without results."""

    words: str
    searches: int
    empty: int


@dataclass(frozen=True)
class VisitsReport:
    """The visits from the first to the last day of a period. `lines` are days or weeks, the latest first."""

    first: date
    last: date
    total: VisitLine
    lines: tuple[VisitLine, ...]
    chart: Chart
    products: tuple[ProductLine, ...]
    searches: tuple[SearchLine, ...]
    product_name: str
    product_days: tuple[VisitLine, ...]


@dataclass(frozen=True)
class VisitsSelection:
    """The choices for a visits report: its first and last day, lines per day or week, a category or product."""

    first: date
    last: date
    by_week: bool = False
    category_id: UUID = ALL_CATEGORIES
    product_id: UUID | None = None

    def to_initial(self) -> dict[str, Any]:
        """Return the selection as initial values of the form."""
        return {
            "first": self.first,
            "last": self.last,
            "by": "week" if self.by_week else "day",
            "category": "" if self.category_id == ALL_CATEGORIES else str(self.category_id),
        }

    @property
    def as_query(self) -> str:
        """The query of the report's address, without the selected product."""
        return urlencode({name: value for name, value in self.to_initial().items() if value})


def get_visits_report(selection: VisitsSelection, currency: str) -> VisitsReport:
    """Return the visits of a period, with a category's products and the days of one product. Raises CassandraUnavailable."""
    first, last, product_id = selection.first, selection.last, selection.product_id
    days = [first + timedelta(n) for n in range((last - first).days + 1)]
    visits = queries.prefetch_visits(first, last)
    customers = queries.prefetch_daily_customers(first, last)
    products = queries.prefetch_top_products(days, selection.category_id)
    searches = queries.prefetch_top_searches(days)
    looked_at = queries.prefetch_product_views(product_id, first, last) if product_id else None
    lines = {day: VisitLine(day, currency=currency) for day in days}
    for sold in queries.list_sales_by("customer", first, last):
        if sold.currency == currency:
            lines[sold.day].sales += sold.figures
    _add_visits(lines, visits)
    for row in (row for pending in customers for row in pending.rows()):
        line = lines[row.day.date()]
        line.first_orders, line.returning_orders = row.first_orders, row.returning_orders
    views, visitors = _count_views(products)
    most = [each for each, _count in views.most_common(SHOWN_PRODUCTS)]
    named = get_products({*most, product_id} if product_id else most, leave_out)
    total = VisitLine(first, currency=currency)
    for line in lines.values():
        total.add(line)
    return VisitsReport(
        first,
        last,
        total,
        tuple(_group(lines.values(), by_week=selection.by_week))[::-1],
        draw_days("visitors", _("Visitors"), {day: line.visitors for day, line in lines.items()}),
        tuple(
            ProductLine(each, named[each].name, views[each], visitors[each])
            for each in most
            if each in named
        ),
        list_searches(searches)[:SHOWN_SEARCHES],
        named[product_id].name if product_id in named else "",
        tuple(
            VisitLine(row.day.date(), row.visitors or 0, row.views or 0)
            for row in (looked_at.rows() if looked_at else ())
        ),
    )


def _add_visits(lines: Mapping[date, VisitLine], reading: Iterable[PendingResult]) -> None:
    for pending in reading:
        for row in pending.rows():
            line = lines[row.day.date()]
            if row.kind == ANY_KIND:
                line.visitors = row.visitors
            elif row.kind in PAGE_KINDS:
                line.page_views += row.events
            elif row.kind == "add":
                line.adding = row.visitors
            elif row.kind == "checkout":
                line.at_checkout = row.visitors


def _count_views(reading: Iterable[PendingResult]) -> tuple[Counter[UUID], Counter[UUID]]:
    views: Counter[UUID] = Counter()
    visitors: Counter[UUID] = Counter()
    for pending in reading:
        for row in pending.rows():
            views[row.product_id] += row.views
            visitors[row.product_id] += row.visitors
    return views, visitors


def list_searches(reading: Iterable[PendingResult]) -> tuple[SearchLine, ...]:
    """Return the most frequent searches of some days, the most frequent one first."""
    searches: Counter[str] = Counter()
    empty: Counter[str] = Counter()
    for pending in reading:
        for row in pending.rows():
            searches[row.words] += row.searches
            empty[row.words] += row.empty
    return tuple(SearchLine(words, count, empty[words]) for words, count in searches.most_common())


def _group(lines: Iterable[VisitLine], *, by_week: bool) -> Iterable[VisitLine]:
    """Yield the lines of days, or of weeks. A week begins on Monday, but the first week begins with the first day."""
    if not by_week:
        yield from lines
        return
    week: VisitLine | None = None
    for line in lines:
        if week is None or not line.day.weekday():
            if week:
                yield week
            week = VisitLine(line.day, currency=line.currency)
        week.add(line)
    if week:
        yield week


def draw_days(chart_id: str, title: str, numbers: Mapping[date, int]) -> Chart:
    """Return a chart of a number by day."""
    points = [
        Point(date_format(day, "j M"), f"{date_format(day, 'D, j M Y')}: {number}", number)
        for day, number in numbers.items()
    ]
    return make_chart(chart_id, title, points)

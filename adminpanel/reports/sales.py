"""The sales report. It is computed from the sales figures of each day (Q18)."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta

from django.utils.translation import gettext as _
from moneyed import Money

from analytics import queries
from analytics.figures import ALL_CATEGORIES, DailySales, Figures
from catalogue.queries import get_category_tree, prefetch_categories
from pricing.money import from_minor_units

# The longest period of a report, and the default one.
MAX_REPORT_PERIOD = timedelta(days=366)
USUAL = timedelta(days=29)


@dataclass(frozen=True)
class SalesLine:
    """The sales of a day or a category. `share` compares them with the best day or category, in per cent."""

    figures: Figures
    gross: Money
    refunded: Money
    gross_after_refunds: Money
    net_after_refunds: Money
    share: int = 0
    day: date | None = None
    name: str = ""


@dataclass(frozen=True)
class SalesReport:
    """The sales in one currency from the first to the last day of a period."""

    first: date
    last: date
    currency: str
    total: SalesLine
    days: tuple[SalesLine, ...]
    categories: tuple[SalesLine, ...]


def get_sales_report(first: date, last: date, currency: str) -> SalesReport:
    """Return the sales of a period, the last day first. Days without sales are left out. Raises CassandraUnavailable."""
    prefetch_categories()
    found = [each for each in queries.list_daily_sales(first, last) if each.currency == currency]
    whole = [each for each in found if each.category_id == ALL_CATEGORIES]
    return SalesReport(
        first,
        last,
        currency,
        _line(sum((each.figures for each in whole), Figures()), currency),
        _days(whole, currency),
        _categories(found, currency),
    )


def _days(whole: Iterable[DailySales], currency: str) -> tuple[SalesLine, ...]:
    by_day = sorted(whole, key=lambda each: each.day, reverse=True)
    best = max((each.figures.gross for each in by_day), default=0)
    return tuple(_line(each.figures, currency, best, day=each.day) for each in by_day)


def _categories(found: Iterable[DailySales], currency: str) -> tuple[SalesLine, ...]:
    """Return the categories' sales: categories with their paths in the order of the tree, then deleted categories."""
    sums = queries.sum_by_category(found)
    sums.pop(ALL_CATEGORIES, None)
    best = max((each.gross for each in sums.values()), default=0)
    named = [
        (" › ".join(each.name for each in node.path), node.category_id)
        for node in get_category_tree().nodes
    ]
    known = {category_id for _, category_id in named}
    named += [
        (_("Deleted category"), category_id) for category_id in sums if category_id not in known
    ]
    return tuple(
        _line(sums[category_id], currency, best, name=name)
        for name, category_id in named
        if category_id in sums
    )


def _line(
    figures: Figures, currency: str, best: int = 0, day: date | None = None, name: str = ""
) -> SalesLine:
    return SalesLine(
        figures,
        from_minor_units(figures.gross, currency),
        from_minor_units(figures.refunded_gross, currency),
        from_minor_units(figures.gross_after_refunds, currency),
        from_minor_units(figures.net_after_refunds, currency),
        100 * figures.gross // best if best else 0,
        day,
        name,
    )

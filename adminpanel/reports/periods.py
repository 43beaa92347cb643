"""The periods that reports offer by name, and the spans (days, weeks, months) into which a report cuts its period."""

from collections.abc import Callable, Iterator
from datetime import date, timedelta

from django.utils.translation import gettext_lazy as _

from analytics.days import month_start
from web.types import StrOrPromise

Period = tuple[date, date]
DAY = timedelta(1)


def _last_days(count: int) -> Callable[[date], Period]:
    return lambda today: (today - (count - 1) * DAY, today)


# The periods by their names in addresses. Each function takes the shop's today.
PERIODS: dict[str, tuple[StrOrPromise, Callable[[date], Period]]] = {
    "today": (_("Today"), _last_days(1)),
    "yesterday": (_("Yesterday"), lambda today: (today - DAY, today - DAY)),
    "last_7": (_("Last 7 days"), _last_days(7)),
    "last_30": (_("Last 30 days"), _last_days(30)),
    "last_90": (_("Last 90 days"), _last_days(90)),
    "this_month": (_("This month"), lambda today: (month_start(today), today)),
    "last_month": (
        _("Last month"),
        lambda today: (month_start(month_start(today) - DAY), month_start(today) - DAY),
    ),
    "this_year": (_("This year"), lambda today: (today.replace(month=1, day=1), today)),
}
DEFAULT = "last_30"


def list_spans(first: date, last: date, by: str) -> Iterator[Period]:
    """Yield the days, weeks (from Monday) or months of a period. The first and the last one may be cut short."""
    start = first
    while start <= last:
        end = start
        if by == "week":
            end = start + (6 - start.weekday()) * DAY
        elif by == "month":
            end = month_start(month_start(start) + 31 * DAY) - DAY
        yield start, min(end, last)
        start = min(end, last) + DAY

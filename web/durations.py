"""Writes durations and deadlines in words."""

from datetime import datetime, time

from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import ngettext_lazy

from web.days import last_day

_UNITS = (
    (86400, ngettext_lazy("%(count)s day", "%(count)s days", "count")),
    (3600, ngettext_lazy("%(count)s hour", "%(count)s hours", "count")),
    (60, ngettext_lazy("%(count)s minute", "%(count)s minutes", "count")),
    (1, ngettext_lazy("%(count)s second", "%(count)s seconds", "count")),
)


def format_duration(seconds: float) -> str:
    """Write a duration in its largest unit and the next smaller one: "13 days 22 hours", "9 minutes 5 seconds"."""
    left = max(0, round(seconds))
    parts: list[str] = []
    for size, words in _UNITS:
        if (count := left // size) or (size == 1 and not parts):
            parts.append(words % {"count": count})
            left %= size
        elif parts:
            break
    return " ".join(parts[:2])


def format_deadline(moment: datetime) -> str:
    """Write a deadline as its time, after its day unless that is today. `moment` is in UTC.

    A deadline at midnight is written as the day that ends then, without a time.
    """
    local = timezone.localtime(moment)
    if local.time() == time():
        return str(date_format(last_day(moment), "l j F"))
    is_today = local.date() == timezone.localdate()
    return str(date_format(local, "H:i" if is_today else "l j F, H:i"))

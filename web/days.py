"""Days as people enter and read them, and the moments at which they begin and end.

"Until 9 December" means until the end of 9 December in the shop's time zone. The shop stores the midnight after the day, and shows
the day.
"""

from datetime import UTC, date, datetime, time, timedelta

from django.core.exceptions import ValidationError
from django.utils import timezone
from django.utils.translation import gettext as _


def validate_shop_day(day: date) -> None:
    """Refuse a day before 1970 or after 2100. Raises ValidationError."""
    if not 1970 <= day.year <= 2100:
        raise ValidationError(_("Enter a date in the format 2026-11-21"))


def start_of_day(day: date) -> datetime:
    """Return the moment (UTC) at which a day begins in the shop's time zone."""
    return timezone.make_aware(datetime.combine(day, time())).astimezone(UTC)


def end_of_day(day: date) -> datetime:
    """Return the moment (UTC) at which a day ends: the beginning of the next day."""
    return start_of_day(day + timedelta(days=1))


def last_day(end: datetime) -> date:
    """Return the last day of a period that ends at `end`. If `end` is midnight, return the day before it."""
    return timezone.localdate(end - datetime.resolution)


def end_after_days(begin: datetime, days: int) -> datetime:
    """Return the end of the day that is this many days after a moment."""
    return end_of_day(timezone.localdate(begin) + timedelta(days=days))

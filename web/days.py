"""Days as people enter and read them, and the moments at which they begin and end.

What lasts "until 9 December" lasts to the end of that day in the shop's time zone. Its end is stored as that moment, the
midnight after the day, and shown as the day again.
"""

from datetime import UTC, date, datetime, time, timedelta

from django.core.exceptions import ValidationError
from django.utils import timezone
from django.utils.translation import gettext as _


def validate_shop_day(day: date) -> None:
    """Refuse a day that the shop has nothing of: of past centuries, or of the far future. Raises ValidationError."""
    if not 1970 <= day.year <= 2100:
        raise ValidationError(_("Enter a date in the format 2026-11-21"))


def start_of_day(day: date) -> datetime:
    """Return the moment (UTC) at which a day begins in the shop's time zone."""
    return timezone.make_aware(datetime.combine(day, time())).astimezone(UTC)


def end_of_day(day: date) -> datetime:
    """Return the moment (UTC) at which a day is over: the first one of the next day."""
    return start_of_day(day + timedelta(days=1))


def last_day(end: datetime) -> date:
    """Return the last day of what ends at this moment; what ends at midnight has the day before as its last one."""
    return timezone.localdate(end - datetime.resolution)


def end_after_days(begin: datetime, days: int) -> datetime:
    """Return the end of the day that is so many days after a moment."""
    return end_of_day(timezone.localdate(begin) + timedelta(days=days))

"""Computes days in the shop's time zone, which are 23, 24 or 25 hours long."""

from datetime import date, datetime, timedelta
from uuid import UUID

from django.utils import timezone

# The number of partitions for the sales facts of a day.
SHARDS = 16


def shop_day(moment: datetime) -> date:
    """Return the date in the shop's time zone at a moment (UTC)."""
    return moment.astimezone(timezone.get_default_timezone()).date()


def shop_hour(moment: datetime) -> int:
    """Return the hour, 0 to 23, of the shop's clock at a moment (UTC). Where the clock repeats an hour, both have its number."""
    return moment.astimezone(timezone.get_default_timezone()).hour


def shop_today() -> date:
    """Return today's date in the shop's time zone."""
    return timezone.localdate(timezone=timezone.get_default_timezone())


def previous_period(first: date, last: date) -> tuple[date, date]:
    """Return the first and last day of the period of the same length that ends the day before `first`."""
    day = timedelta(days=1)
    return first - (last - first) - day, first - day


def year_before(first: date, last: date) -> tuple[date, date]:
    """Return the same days of the year before. 29 February becomes 28 February."""
    return _year_before(first), _year_before(last)


def _year_before(day: date) -> date:
    is_leap_day = (day.month, day.day) == (2, 29)
    return day.replace(year=day.year - 1, day=28 if is_leap_day else day.day)


def month_start(day: date) -> date:
    """Return the first day of the month that contains `day`."""
    return day.replace(day=1)


def order_shard(order_id: UUID) -> int:
    """Return the number of the shard that stores an order's sales facts, among the SHARDS shards of its day."""
    return order_id.int % SHARDS

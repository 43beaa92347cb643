"""The shop's days. A day is one of the shop's own time zone: 23, 24 or 25 hours long."""

from datetime import date, datetime
from uuid import UUID

from django.utils import timezone

# Over so many partitions the facts of a day are spread.
SHARDS = 16


def shop_day(moment: datetime) -> date:
    """Return the day on which a moment (UTC) lies in the shop's time zone, whatever zone a page shows."""
    return moment.astimezone(timezone.get_default_timezone()).date()


def shop_today() -> date:
    """Return the shop's day now."""
    return timezone.localdate(timezone=timezone.get_default_timezone())


def month_start(day: date) -> date:
    """Return the first day of a day's month."""
    return day.replace(day=1)


def order_shard(order_id: UUID) -> int:
    """Return in which of a day's partitions an order's facts stand."""
    return order_id.int % SHARDS

"""The shop's days, in the shop's time zone: 23, 24 or 25 hours long."""

from datetime import date, datetime
from uuid import UUID

from django.utils import timezone

# The number of partitions for the facts of a day.
SHARDS = 16


def shop_day(moment: datetime) -> date:
    """Return the day of a moment (UTC) in the shop's time zone."""
    return moment.astimezone(timezone.get_default_timezone()).date()


def shop_today() -> date:
    """Return the shop's day now."""
    return timezone.localdate(timezone=timezone.get_default_timezone())


def month_start(day: date) -> date:
    """Return the first day of a day's month."""
    return day.replace(day=1)


def order_shard(order_id: UUID) -> int:
    """Return the partition of an order's facts within a day."""
    return order_id.int % SHARDS

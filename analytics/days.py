"""Computes days in the shop's time zone, which are 23, 24 or 25 hours long."""

from datetime import date, datetime
from uuid import UUID

from django.utils import timezone

# The number of partitions for the sales facts of a day.
SHARDS = 16


def shop_day(moment: datetime) -> date:
    """Return the date in the shop's time zone at a moment (UTC)."""
    return moment.astimezone(timezone.get_default_timezone()).date()


def shop_today() -> date:
    """Return today's date in the shop's time zone."""
    return timezone.localdate(timezone=timezone.get_default_timezone())


def month_start(day: date) -> date:
    """Return the first day of the month that contains `day`."""
    return day.replace(day=1)


def order_shard(order_id: UUID) -> int:
    """Return the number of the shard that stores an order's sales facts, among the SHARDS shards of its day."""
    return order_id.int % SHARDS

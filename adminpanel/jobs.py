"""The worker's job for staff: it sends a mail about low stock each morning."""

from datetime import datetime, timedelta

from django.utils.timezone import localdate, localtime
from django.utils.translation import ngettext

from adminpanel.stock.low_stock import queue_low_stock_mails
from jobs.leases import get_position, save_position
from jobs.registry import Job, describe_count

NAME = "low stock mail"
# The mails are sent from this hour on, in the shop's time zone.
HOUR = 7


def send_low_stock_mails(now: datetime) -> str:
    """Queue today's mails about low stock, if it is morning and none were queued today. Return the result in words."""
    position = get_position(NAME)
    is_done = position and localdate(datetime.fromisoformat(position)) >= localdate(now)
    if is_done or localtime(now).hour < HOUR:
        return ""
    count = queue_low_stock_mails(now)
    save_position(NAME, now.isoformat())
    return describe_count(
        ngettext("%(count)s low-stock email", "%(count)s low-stock emails", count), count
    )


JOBS = [Job(NAME, timedelta(hours=1), send_low_stock_mails, normal_lag=timedelta(days=1, hours=1))]

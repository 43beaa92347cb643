"""The worker's job for back-in-stock subscriptions."""

from datetime import datetime, timedelta

from django.utils.translation import ngettext

from jobs.registry import Job, describe_count
from stock_alerts.operations import notify_subscribers


def send_back_in_stock_mails(now: datetime) -> str:
    """Mail all subscribers of variants that are in stock again."""
    sent = notify_subscribers(now)
    return describe_count(
        ngettext(
            "%(count)s back-in-stock mail queued", "%(count)s back-in-stock mails queued", sent
        ),
        sent,
    )


JOBS = [
    Job(
        "back in stock",
        timedelta(minutes=1),
        send_back_in_stock_mails,
        idle_every=timedelta(minutes=2),
    )
]

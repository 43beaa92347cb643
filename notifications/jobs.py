"""What the worker does for those who wait."""

from datetime import datetime, timedelta

from jobs.registry import Job
from notifications.operations import notify_subscribers


def send_back_in_stock_mails(now: datetime) -> str:
    """Mail everybody who waits for something that is in stock again."""
    told = notify_subscribers(now)
    return f"{told} told that something is back" if told else ""


JOBS = [Job("back in stock", timedelta(minutes=1), send_back_in_stock_mails)]

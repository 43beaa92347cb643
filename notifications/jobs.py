"""What the worker does for those who wait."""

from datetime import datetime, timedelta

from jobs.registry import Job
from notifications.operations import waiters_told


def back_in_stock(now: datetime) -> str:
    """Mail everybody who waits for something that is in stock again."""
    told = waiters_told(now)
    return f"{told} told that something is back" if told else ""


JOBS = [Job("back in stock", timedelta(minutes=1), back_in_stock)]

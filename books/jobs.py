"""The worker's job that adds up the books."""

from datetime import datetime, timedelta

from django.utils.translation import ngettext

from books.operations import DUE_BOOK_DAYS, roll_up_day
from jobs.due_rows import MAX_WRITE_DELAY
from jobs.minutes import MINUTE
from jobs.registry import Job, describe_count


def roll_up_books(now: datetime) -> str:
    """Add up the books of each day with new entries. Return a line about the number of days."""
    with DUE_BOOK_DAYS.sweep(now) as sweep:
        for rows in sweep.groups("day"):
            with sweep.handle(rows, rows[0].day):
                roll_up_day(rows[0].day.date())
    return describe_count(
        ngettext(
            "%(count)s day of the books added up",
            "%(count)s days of the books added up",
            sweep.count,
        ),
        sweep.count,
    )


JOBS = [
    Job(
        DUE_BOOK_DAYS.job,
        timedelta(seconds=30),
        roll_up_books,
        normal_lag=MAX_WRITE_DELAY + MINUTE,
        idle_every=timedelta(minutes=4),
    )
]

"""What the worker does for questions: it finishes what a crash has left of them."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import partial

from django.utils.translation import ngettext

from jobs.periods import FINISHED_AFTER, sweep_periods
from jobs.registry import Job, describe_count
from jobs.rows import guard_row
from questions import operations, queries

NAME = "questions"


def sweep_questions(now: datetime) -> str:
    """Finish the queue and the mails of the questions and answers that were written."""
    count = sweep_periods(
        NAME, now, lambda periods: finish_questions(periods, now - FINISHED_AFTER)
    )
    return describe_count(
        ngettext("%(count)s question finished", "%(count)s questions finished", count), count
    )


def finish_questions(periods: list[datetime], until: datetime) -> int:
    """Finish the texts that were noted in these periods, up to a moment; return how many that were. Raises CassandraUnavailable."""
    latest = until.timestamp() * 1_000_000
    noted = [each for each in queries.list_pending(periods) if each.written <= latest]
    for each in noted:
        # Noted again before the old note goes: a later run finds it.
        with guard_row(each, partial(operations.mark_pending, each)):
            operations.follow_text(each.product_id, each.question_id, each.answer_id)
        operations.clear_pending(each)
    return len(noted)


JOBS = [
    Job(
        NAME,
        timedelta(seconds=30),
        sweep_questions,
        normal_lag=timedelta(minutes=30),
        # Only a crash leaves it anything that somebody would miss.
        idle_every=timedelta(minutes=10),
    ),
]

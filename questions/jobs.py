"""The worker's job for questions: finishing interrupted writes."""

from datetime import datetime, timedelta

from django.utils.translation import ngettext

from jobs.due_rows import Sweep
from jobs.registry import Job, describe_count
from questions.operations import PENDING_TEXTS, follow_text

# The request that has written a younger pending row may still run.
FINISHED_AFTER = timedelta(minutes=2)


def sweep_questions(now: datetime) -> str:
    """Update the queue and send the mails of new and changed texts, where a request has not done it."""
    with PENDING_TEXTS.sweep(now) as sweep:
        finish_questions(sweep, now - FINISHED_AFTER)
    return describe_count(
        ngettext("%(count)s question finished", "%(count)s questions finished", sweep.count),
        sweep.count,
    )


def finish_questions(sweep: Sweep, until: datetime) -> None:
    """Update the queue and send the mails of the texts whose pending rows are older than `until`. Raises CassandraUnavailable."""
    latest = until.timestamp() * 1_000_000
    for rows in sweep.groups("product_id", "question_id", "answer_id"):
        old = [row for row in rows if row.written <= latest]
        if old:
            key = old[0].product_id, old[0].question_id, old[0].answer_id
            with sweep.handle(old, "of product {}, question {}, answer {}".format(*key)):
                follow_text(*key)


JOBS = [
    Job(
        PENDING_TEXTS.job,
        timedelta(seconds=30),
        sweep_questions,
        normal_lag=timedelta(minutes=30),
        # Work is left only after a crash.
        idle_every=timedelta(minutes=10),
    )
]

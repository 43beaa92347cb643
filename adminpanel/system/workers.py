"""The state of the workers: the jobs, the mails that wait, and the alarms of rate limits."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.utils.translation import gettext_lazy as _

from cassandra_db import compare_clocks
from jobs.progress import TOO_LATE, JobProgress, list_progress
from jobs.registry import list_jobs
from mail.jobs import NAME as MAIL_JOB
from mail.queries import list_due_mail_minutes
from orders.board_queries import MAX_COUNTED
from orders.lifecycle.entities import CappedCount
from web.rate_limits import list_alarms
from web.text_cache import FRAGMENTS, WHOLE_PAGES, TextCache

# Older mails are not counted: by then the number already says that the mail server is away.
MAX_LOOK_BACK = timedelta(hours=6)
# The words for what is rate-limited.
ATTEMPT_LABELS = {
    "login": _("signing in"),
    "reset": _("resetting passwords"),
    "registration": _("creating accounts"),
    "lookup": _("finding orders"),
    "voucher": _("entering codes"),
    "invitation": _("inviting people to carts"),
    "waiting": _("back-in-stock emails"),
}


@dataclass(frozen=True)
class WorkerStatus:
    """The state of all jobs, and the mails that wait."""

    jobs: tuple[JobProgress, ...]
    mails: CappedCount
    oldest_mail: datetime | None
    now: datetime
    is_clock_right: bool = True
    # The words for rate limits of the whole shop that are exceeded.
    alarms: tuple[str, ...] = ()
    # This process's caches of drawn pages and parts, by name.
    text_caches: tuple[tuple[str, TextCache[Any]], ...] = ()

    @property
    def problem_count(self) -> int:
        return sum(bool(each.problem) for each in self.jobs)

    @property
    def is_mail_late(self) -> bool:
        return self.oldest_mail is not None and self.now - self.oldest_mail > TOO_LATE


def get_worker_status(now: datetime) -> WorkerStatus:
    """Return the workers' state, without jobs of other hosts (their search index). Raises CassandraUnavailable."""
    found = list_progress(list_jobs(), now)
    minutes = list_due_mail_minutes(_mail_position(found, now), now, MAX_COUNTED + 1)
    count = CappedCount(min(len(minutes), MAX_COUNTED), len(minutes) > MAX_COUNTED)
    return WorkerStatus(
        tuple(found),
        count,
        min(minutes, default=None),
        now,
        compare_clocks().is_right,
        tuple(str(ATTEMPT_LABELS.get(kind, kind)) for kind in list_alarms()),
        ((str(_("Parts of pages")), FRAGMENTS), (str(_("Whole pages")), WHOLE_PAGES)),
    )


def _mail_position(found: Iterable[JobProgress], now: datetime) -> datetime:
    """Return the moment until which all mails are sent."""
    reached = [datetime.fromisoformat(each.lease.position) for each in found if _is_mail_job(each)]
    return max(min(reached, default=now - MAX_LOOK_BACK), now - MAX_LOOK_BACK)


def _is_mail_job(each: JobProgress) -> bool:
    return (
        each.job.has_name(MAIL_JOB)
        and bool(each.lease.position)
        and not each.lease.is_position_wrong(each.now)
    )

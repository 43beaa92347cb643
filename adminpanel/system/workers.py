"""The state of the workers: their jobs, the waiting mails, and the rate limits that are exceeded."""

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

# Older mails and rows are not looked for. The number of these mails already shows that the mail server is down.
MAX_LOOK_BACK = timedelta(hours=6)
# The words for the kinds of attempt that have a rate limit.
ATTEMPT_LABELS = {
    "login": _("signing in"),
    "reset": _("resetting passwords"),
    "registration": _("creating accounts"),
    "lookup": _("finding orders"),
    "voucher": _("entering codes"),
    "invitation": _("inviting people to carts"),
    "waiting": _("back-in-stock emails"),
    "message": _("writing messages"),
    "contact": _("confirming a first message"),
}


@dataclass(frozen=True)
class WorkerStatus:
    """The state of all jobs, and the number of waiting mails."""

    jobs: tuple[JobProgress, ...]
    mails: CappedCount
    oldest_mail: datetime | None
    now: datetime
    is_clock_right: bool = True
    # The words for the limits on the whole shop's attempts that are exceeded.
    alarms: tuple[str, ...] = ()
    # The caches of drawn pages and parts of pages in this process, each with its name.
    text_caches: tuple[tuple[str, TextCache[Any]], ...] = ()

    @property
    def problem_count(self) -> int:
        return sum(bool(each.problem) for each in self.jobs)

    @property
    def is_mail_late(self) -> bool:
        return self.oldest_mail is not None and self.now - self.oldest_mail > TOO_LATE


def get_worker_status(now: datetime) -> WorkerStatus:
    """Return the state of the workers, without jobs for another host's search index. Raises CassandraUnavailable."""
    found = list_progress(list_jobs(), now)
    minutes = list_due_mail_minutes(find_position(found, MAIL_JOB, now), now, MAX_COUNTED + 1)
    count = CappedCount(min(len(minutes), MAX_COUNTED), len(minutes) > MAX_COUNTED)
    return WorkerStatus(
        tuple(found),
        count,
        min(minutes, default=None),
        now,
        compare_clocks().is_right,
        tuple(str(ATTEMPT_LABELS.get(kind, kind)) for kind in list_alarms()),
        ((str(_("Page fragments")), FRAGMENTS), (str(_("Whole pages")), WHOLE_PAGES)),
    )


def find_position(found: Iterable[JobProgress], family: str, now: datetime) -> datetime:
    """Return the time until which all shards of a job have done their work, at most MAX_LOOK_BACK before `now`."""
    reached = [
        datetime.fromisoformat(each.lease.position)
        for each in found
        if each.job.has_name(family)
        and each.lease.position
        and not each.lease.is_position_wrong(each.now)
    ]
    return max(min(reached, default=now - MAX_LOOK_BACK), now - MAX_LOOK_BACK)

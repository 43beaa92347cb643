"""The progress of the jobs: the times and results of their runs, and how late they are."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils.translation import gettext_noop as _

from jobs.leases import LeaseRow, list_leases
from jobs.registry import Job

# A job that is later than this needs attention. A killed worker is replaced within a minute.
TOO_LATE = timedelta(minutes=2)


@dataclass(frozen=True)
class JobProgress:
    """The progress of a job at the moment `now`."""

    job: Job
    lease: LeaseRow
    now: datetime

    @property
    def is_running(self) -> bool:
        return self.lease.is_running(self.now)

    @property
    def last_run(self) -> datetime | None:
        return self.lease.find_last_run(self.now)

    @property
    def pause(self) -> timedelta:
        """How long the job rests after its last run: longer if that run had no work and left none for a later run."""
        if self.last_run is None or self.lease.has_done_something or self._lag_at(self.last_run):
            return self.job.every
        return self.job.longest_pause

    @property
    def delay(self) -> timedelta | None:
        """How late the job is; None if it has never run."""
        return max(self.now - self.last_run - self.pause, timedelta(0)) if self.last_run else None

    @property
    def backlog_age(self) -> timedelta:
        """The age of the oldest work that the job has not done yet; zero for a job whose position is no time."""
        return max(self._lag_at(self.now) - self.pause, timedelta(0))

    def _lag_at(self, moment: datetime) -> timedelta:
        """Return how far the job's position was behind `moment`, beyond the normal lag."""
        try:
            reached = datetime.fromisoformat(self.lease.position)
        except ValueError:
            return timedelta(0)
        return max(moment - reached - self.job.normal_lag, timedelta(0))

    @property
    def problem(self) -> str:
        """The job's problem that needs attention, in words; '' if it has none."""
        if self.lease.is_in_future(self.now):
            return _("dated in the future")
        if self.lease.failure or self.lease.failed_rows:
            return _("failed")
        if self.delay is None:
            return "" if self.is_running else _("has never run")
        if self.delay > TOO_LATE and not self.is_running:
            return _("not running")
        return _("behind") if self.backlog_age > TOO_LATE else ""


def list_progress(jobs: Sequence[Job], now: datetime) -> list[JobProgress]:
    """Return the progress of these jobs. Raises CassandraUnavailable."""
    return [
        JobProgress(job, lease, now)
        for job, lease in zip(jobs, list_leases([job.name for job in jobs]), strict=True)
    ]

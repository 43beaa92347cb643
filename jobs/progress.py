"""What the workers have done, and how far behind they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from jobs.leases import Standing, standings
from jobs.registry import Job

# By so much a job may be behind before somebody should look: a killed worker is replaced within a minute.
TOO_LATE = timedelta(minutes=2)


@dataclass(frozen=True)
class Progress:
    """How a job stands at a moment."""

    job: Job
    standing: Standing
    now: datetime

    @property
    def running(self) -> bool:
        return self.standing.running(self.now)

    @property
    def late(self) -> timedelta | None:
        """For how long it should have run; None if it never has."""
        last = self.standing.last_run
        return max(self.now - last - self.job.every, timedelta(0)) if last else None

    @property
    def behind(self) -> timedelta:
        """Of how long ago the oldest thing is that it has left over; nothing for a job that keeps no place in time."""
        try:
            reached = datetime.fromisoformat(self.standing.position)
        except ValueError:
            return timedelta(0)
        return max(self.now - reached - self.job.trails - self.job.every, timedelta(0))

    @property
    def worry(self) -> str:
        """Why somebody should look, in words; '' if nobody has to."""
        if self.standing.failure:
            return "failed"
        if self.late is None:
            return "" if self.running else "has never run"
        if self.late > TOO_LATE and not self.running:
            return "does not run"
        return "behind" if self.behind > TOO_LATE else ""


def progress(jobs: Sequence[Job], now: datetime) -> list[Progress]:
    """Return how all of these jobs stand. Raises CassandraUnavailable."""
    return [
        Progress(job, standing, now)
        for job, standing in zip(jobs, standings([job.name for job in jobs]), strict=True)
    ]

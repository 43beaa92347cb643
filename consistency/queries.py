"""Reads the results of the last consistency checks."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from cassandra_db import PendingResult, read

RECENT_CHECKS = read(
    "consistency",
    """SELECT started_at, finished_at, violations, fixed, in_progress, rules FROM consistency_checks
       WHERE year = :year LIMIT :most""",
)


@dataclass(frozen=True)
class RecordedCheck:
    """A check of the whole shop: its times (UTC) and its result."""

    started_at: datetime
    finished_at: datetime
    violations: int
    fixed: int
    in_progress: int
    rules: tuple[str, ...]

    @property
    def duration(self) -> timedelta:
        return self.finished_at - self.started_at


def prefetch_recent_checks(now: datetime, most: int) -> list[PendingResult]:
    """Begin to read the newest consistency checks of this year and of the last year, for `parse_checks`."""
    return [RECENT_CHECKS.start(year=year, most=most) for year in (now.year, now.year - 1)]


def parse_checks(pending: list[PendingResult], most: int) -> list[RecordedCheck]:
    """Return at most `most` checks that `prefetch_recent_checks` began to read, newest first. Raises CassandraUnavailable."""
    return [
        RecordedCheck(
            row.started_at,
            row.finished_at,
            row.violations,
            row.fixed,
            row.in_progress,
            tuple(sorted(row.rules or (), key=lambda rule: int(rule[1:]))),
        )
        for each in pending
        for row in each.rows()
    ][:most]

"""Records the results of consistency checks."""

from datetime import datetime

from cassandra_db import write
from consistency.findings import Report

RECORD = write(
    "consistency",
    """INSERT INTO consistency_checks (year, started_at, finished_at, violations, fixed, in_progress, rules)
       VALUES (:year, :started_at, :finished_at, :violations, :fixed, :in_progress, :rules)""",
)


def record_check(report: Report, started_at: datetime, finished_at: datetime) -> None:
    """Record the report of a check of the whole shop. The times are in UTC. Raises CassandraUnavailable."""
    RECORD.run(
        year=started_at.year,
        started_at=started_at,
        finished_at=finished_at,
        violations=len(report.violations),
        fixed=len(report.fixed_violations),
        in_progress=len(report.in_progress),
        rules={violation.rule for violation in report.violations},
    )

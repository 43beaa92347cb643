"""Months, by which long work of staff is partitioned: each piece stands in the month in which its time-based id was made."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from uuid import UUID

from cassandra.util import datetime_from_uuid1

from cassandra_db import Statement

# So many months are listed with the present one; what is kept for 90 days begins in one of them.
_MONTHS_BEFORE = 3


def made_at(work_id: UUID) -> datetime:
    """Return when an id was made (UTC). Raises ValueError for an id that was made of no time."""
    moment: datetime = datetime_from_uuid1(work_id)
    return moment.replace(tzinfo=UTC)


def month_of(work_id: UUID) -> date:
    """Return the month in which a piece of work stands. Raises ValueError for an id that was made of no time."""
    return made_at(work_id).date().replace(day=1)


def list_months(now: datetime) -> list[date]:
    """Return the months in which work stands that is still known, the latest first."""
    months = [now.astimezone(UTC).date().replace(day=1)]
    for _step in range(_MONTHS_BEFORE):
        months.append((months[-1] - timedelta(days=1)).replace(day=1))
    return months


def list_recent_months(now: datetime) -> list[date]:
    """Return the months in which work stands that was begun today or yesterday: one, or two on the first days of a month."""
    today = now.astimezone(UTC).date()
    return list(dict.fromkeys(day.replace(day=1) for day in (today, today - timedelta(days=1))))


def read_unfinished(statement: Statement, months: Sequence[date]) -> list[UUID]:
    """Return the ids in the column `unfinished` of these months, the oldest first. Raises CassandraUnavailable."""
    reading = [statement.start(month=month) for month in months]
    found = {each for pending in reading for row in pending.rows() for each in row.unfinished or ()}
    return sorted(found, key=lambda each: each.time)

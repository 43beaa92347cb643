"""The months by which tables of staff's long-running work are partitioned: the month in which the work's time-based id was made."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from uuid import UUID

from cassandra.query import BoundStatement
from cassandra.util import datetime_from_uuid1

from cassandra_db import conditional_write, read

# How many months before the present month are listed: work is kept for 90 days.
_MONTHS_BEFORE = 3


def made_at(work_id: UUID) -> datetime:
    """Return the moment (UTC) at which an id was made. Raises ValueError for an id that is not time-based."""
    moment: datetime = datetime_from_uuid1(work_id)
    return moment.replace(tzinfo=UTC)


def month_of(work_id: UUID) -> date:
    """Return the month of the partition in which work with this id is stored. Raises ValueError for an id that is not time-based."""
    return made_at(work_id).date().replace(day=1)


def list_months(now: datetime) -> list[date]:
    """Return the months that may have stored work, newest first."""
    months = [now.astimezone(UTC).date().replace(day=1)]
    for _step in range(_MONTHS_BEFORE):
        months.append((months[-1] - timedelta(days=1)).replace(day=1))
    return months


def list_recent_months(now: datetime) -> list[date]:
    """Return the months in which work of today or yesterday is stored: one month, or two on the first day of a month."""
    today = now.astimezone(UTC).date()
    return list(dict.fromkeys(day.replace(day=1) for day in (today, today - timedelta(days=1))))


class UnfinishedWork:
    """The unfinished work of a table: the ids in the static column `unfinished` of each month.

    The conditional batch that starts or ends the work adds or removes its id.
    """

    def __init__(self, table: str) -> None:
        update = f"UPDATE {table} SET unfinished = unfinished"  # noqa: S608 - a table of ours
        self._add = conditional_write("Q1", f"{update} + :ids WHERE month = :month")
        self._remove = conditional_write("Q1", f"{update} - :ids WHERE month = :month")
        self._listed = read("Q1", f"SELECT unfinished FROM {table} WHERE month = :month LIMIT 1")  # noqa: S608

    def bind_add(self, work_id: UUID) -> BoundStatement:
        """Return the statement that adds an id to the unfinished work, for the batch that starts the work."""
        return self._add.bind(month=month_of(work_id), ids={work_id})

    def bind_remove(self, work_id: UUID) -> BoundStatement:
        """Return the statement that removes an id from the unfinished work, for the batch that ends the work."""
        return self._remove.bind(month=month_of(work_id), ids={work_id})

    def list(self, months: Sequence[date]) -> list[UUID]:
        """Return the ids of the unfinished work of these months, the oldest first. Raises CassandraUnavailable."""
        reading = [self._listed.start(month=month) for month in months]
        rows = (row for pending in reading for row in pending.rows())
        return sorted(
            {each for row in rows for each in row.unfinished or ()}, key=lambda each: each.time
        )

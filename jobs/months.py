"""Months, by which long work of staff is partitioned: each piece stands in the month in which its time-based id was made."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from uuid import UUID

from cassandra.query import BoundStatement
from cassandra.util import datetime_from_uuid1

from cassandra_db import conditional_write, read

# Months that are listed before the present one: work that is kept for 90 days began in one of them.
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


class UnfinishedWork:
    """The work of a table that is not done yet: ids in the static column `unfinished` of each month.

    Ids are added and removed in the conditional batch that starts or ends the work itself.
    """

    def __init__(self, table: str) -> None:
        update = f"UPDATE {table} SET unfinished = unfinished"  # noqa: S608 - a table of ours
        self._add = conditional_write("Q1", f"{update} + :ids WHERE month = :month")
        self._remove = conditional_write("Q1", f"{update} - :ids WHERE month = :month")
        self._listed = read("Q1", f"SELECT unfinished FROM {table} WHERE month = :month LIMIT 1")  # noqa: S608

    def bind_add(self, work_id: UUID) -> BoundStatement:
        """Return the statement of a batch that starts work."""
        return self._add.bind(month=month_of(work_id), ids={work_id})

    def bind_remove(self, work_id: UUID) -> BoundStatement:
        """Return the statement of a batch that ends work."""
        return self._remove.bind(month=month_of(work_id), ids={work_id})

    def list(self, months: Sequence[date]) -> list[UUID]:
        """Return the ids of these months, the oldest first. Raises CassandraUnavailable."""
        reading = [self._listed.start(month=month) for month in months]
        rows = (row for pending in reading for row in pending.rows())
        return sorted(
            {each for row in rows for each in row.unfinished or ()}, key=lambda each: each.time
        )

"""The worker that fetches and finds what the rows of one import name."""

from datetime import datetime
from typing import Any
from unittest.mock import patch

from cassandra_db import current_time
from jobs.due_rows import DueRows
from jobs.minutes import MINUTE
from spreadsheets import operations
from spreadsheets.entities import SpreadsheetTask


def follow(task: SpreadsheetTask, at: datetime | None = None) -> int:
    """Let the worker fetch and find at a time (default: now) what the rows of an import name. Return how many rows it handled."""
    list_rows = DueRows.list_rows

    def list_own(table: DueRows, partitions: Any) -> list[Any]:
        return [row for row in list_rows(table, partitions) if row.task_id == task.task_id]

    began = (task.started_at - MINUTE).isoformat()
    # A worker that was killed holds its lease for a while: no position is saved here, so none is needed.
    with (
        patch("jobs.due_rows.save_position"),
        patch.object(DueRows, "list_rows", list_own),
        patch("jobs.due_rows.get_position", lambda _: began),
    ):
        return operations.sweep_links(at or current_time())

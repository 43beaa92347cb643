"""Start, continue and end imports and exports as tasks of the worker."""

from datetime import datetime
from uuid import uuid4

from django.core.files.base import File
from django.core.files.storage import default_storage
from django.utils.translation import gettext as _

from cassandra_db import (
    REFUSED_MEANS_DONE,
    SEND_AGAIN,
    Row,
    applied_if,
    apply_batch,
    conditional_write,
    current_time,
)
from jobs.rows import MAX_FAILURES
from spreadsheets import entities, queries
from spreadsheets.entities import SpreadsheetTask
from spreadsheets.operations.stored_files import GONE, INCOMING

INSERT_TASK = conditional_write(
    "Q1",
    """INSERT INTO spreadsheet_tasks (month, task_id, layout, state, file_name, stored_as, format, total, started_by, started_at,
       changed_at, handled) VALUES (:month, :task_id, :layout, :state, :file_name, :stored_as, :format, :total, :started_by,
       :now, :now, 0) IF NOT EXISTS""",
)
REPLACE_FILE = conditional_write(
    "Q1",
    """UPDATE spreadsheet_tasks SET stored_as = :stored_as, source = :source, notes = :notes, encoding = :encoding, question = :question
       WHERE month = :month AND task_id = :task_id IF stored_as = :seen AND state = :state""",
)
NOTE_HANDLED = conditional_write(
    "Q1",
    """UPDATE spreadsheet_tasks SET handled = :handled, total = :total, failures = 0 WHERE month = :month AND task_id = :task_id
       IF state = :state""",
)
NOTE_FAILURE = conditional_write(
    "Q1",
    """UPDATE spreadsheet_tasks SET failures = :failures WHERE month = :month AND task_id = :task_id IF state = :state""",
)
NOTE_ENDED = conditional_write(
    "Q1",
    """UPDATE spreadsheet_tasks SET state = :then, changed_at = :now, problem = :problem
       WHERE month = :month AND task_id = :task_id IF state = :state""",
)


def start_task(task: SpreadsheetTask, now: datetime) -> SpreadsheetTask:
    """Put a task on the worker's list. Return it, or the existing task with its id. Raises CassandraUnavailable."""

    # If another process started a task with this id at the same time, that task has another stored file.
    def is_ours(row: Row) -> bool:
        return bool(row.stored_as == (task.stored_as or None) and row.started_at == now)

    insert = INSERT_TASK.bind(
        **task.key,
        layout=task.layout,
        state=task.state,
        file_name=task.file_name,
        stored_as=task.stored_as or None,
        format=task.format or None,
        total=task.total,
        started_by=task.started_by,
        now=now,
    )
    if apply_batch(insert, queries.UNFINISHED.bind_add(task.task_id), if_lost=applied_if(is_ours)):
        return task
    if task.stored_as:
        default_storage.delete(task.stored_as)
    started = queries.get_task(task.task_id)
    assert started
    return started


def replace_file(task: SpreadsheetTask, file: "File[bytes]") -> None:
    """Replace an import's file, and store what `task` says of it: its source, notes, encoding and question.

    Raises CassandraUnavailable and OSError.
    """
    stored_as = default_storage.save(f"{INCOMING}/{uuid4().hex}", file)
    outcome = REPLACE_FILE.apply(
        if_lost=applied_if(lambda row: bool(row.stored_as == stored_as)),
        **task.key,
        stored_as=stored_as,
        source=task.source or None,
        notes=dict(task.notes),
        encoding=task.encoding or None,
        question=task.question or None,
        seen=task.stored_as,
        state=task.state,
    )
    default_storage.delete(task.stored_as if outcome else stored_as)


def note_failure(task: SpreadsheetTask) -> None:
    """Count a failed run of a task. After MAX_FAILURES failed runs in a row the task is refused. Raises CassandraUnavailable."""
    failures = task.failures + 1
    if failures < MAX_FAILURES:
        NOTE_FAILURE.apply(if_lost=SEND_AGAIN, **task.key, failures=failures, state=task.state)
        return
    said = _("The import stopped because of an error. Rows marked as changed were changed.")
    end_task(task, entities.REFUSED, said)


def end_question(task: SpreadsheetTask) -> None:
    """Refuse an import that has waited for staff for as long as its file is kept. Raises CassandraUnavailable, OSError."""
    end_task(task, entities.REFUSED, str(GONE))


def note_handled(task: SpreadsheetTask, handled: int, total: int) -> None:
    """Store how many rows or parts of a task are done. Raises CassandraUnavailable."""
    NOTE_HANDLED.apply(
        if_lost=SEND_AGAIN, **task.key, handled=handled, total=total, state=task.state
    )


def end_task(task: SpreadsheetTask, state: str, problem: str = "") -> None:
    """End a task, take it off the worker's list, and delete its stored file. Raises CassandraUnavailable, OSError."""
    apply_batch(
        NOTE_ENDED.bind(
            **task.key, state=task.state, then=state, problem=problem or None, now=current_time()
        ),
        queries.UNFINISHED.bind_remove(task.task_id),
        if_lost=REFUSED_MEANS_DONE,
    )
    if task.stored_as:
        default_storage.delete(task.stored_as)

"""The worker's jobs for imports and exports."""

import logging
from datetime import datetime, timedelta

from django.utils.translation import ngettext

from cassandra_db import CassandraUnavailable
from catalogue.operations.picture_uploads import RAW_DURATION
from jobs.months import list_months, list_recent_months
from jobs.registry import Job, describe_count
from jobs.rows import guard_row
from spreadsheets import entities, operations, queries

log = logging.getLogger(__name__)
# The rows of one run: some ten seconds of work, so that the worker's other jobs get their turn. Unpacking or writing a workbook
# cannot be divided, and takes up to two minutes.
MAX_AT_ONCE = {entities.READING: 2000, entities.APPLYING: 300, entities.WRITING: 1000}


def _list_tasks(now: datetime) -> list[entities.SpreadsheetTask]:
    tasks = []
    for task_id in queries.list_unfinished(list_months(now)):
        with guard_row(f"import or export {task_id}"):
            if found := queries.get_task(task_id):
                tasks.append(found)
    return tasks


def go_on_with_spreadsheets(now: datetime) -> str:
    """Continue each import and export. If one fails, the others still continue; its error is raised at the end."""
    tasks = [each for each in _list_tasks(now) if each.state in MAX_AT_ONCE]
    count = 0
    failure: Exception | None = None
    for task in tasks:
        most = max(operations.CHUNK, MAX_AT_ONCE[task.state] // len(tasks))
        try:
            count += operations.run_task(task, most)
        except CassandraUnavailable as error:
            failure = error
        except Exception as error:
            log.exception("the import or export %s", task.task_id)
            operations.note_failure(task)
            failure = error
    if failure:
        raise failure
    return describe_count(
        ngettext(
            "%(count)s row imported or exported", "%(count)s rows imported or exported", count
        ),
        count,
    )


def has_spreadsheets(now: datetime) -> bool:
    """Return whether an import or export waits that began recently. The next scheduled run finds older ones."""
    return bool(queries.list_unfinished(list_recent_months(now)))


def add_links(now: datetime) -> str:
    """Fetch the pictures that applied rows name, and put them and related products on the rows' products."""
    count = 0
    for task in _list_tasks(now):
        if task.state == entities.LINKING:
            with guard_row(f"pictures of import {task.task_id}"):
                count += operations.follow_links(task)
    return describe_count(
        ngettext(
            "Pictures of %(count)s row looked at", "Pictures of %(count)s rows looked at", count
        ),
        count,
    )


def remove_old_exports(now: datetime) -> str:
    """Delete the files of old exports, and refuse imports that wait for staff and whose file is about to be deleted.

    One run marks an export as expired; the next run deletes its files.
    """
    until, count = now - timedelta(seconds=operations.EXPORT_SECONDS), 0
    for month in list_months(now)[:2]:
        for task in queries.iterate_tasks(month):
            with guard_row(f"export {task.task_id}"):
                if task.state == entities.WRITTEN and task.changed_at and task.changed_at < until:
                    operations.expire_export(task, now)
                    count += 1
                elif task.has_old_files:
                    operations.delete_export(task)
                elif task.state == entities.ASKING and task.started_at < now - RAW_DURATION:
                    operations.end_question(task)
    return describe_count(
        ngettext("%(count)s export deleted", "%(count)s exports deleted", count), count
    )


JOBS = [
    Job(
        "spreadsheets",
        timedelta(seconds=10),
        go_on_with_spreadsheets,
        idle_every=timedelta(minutes=2),
        has_work=has_spreadsheets,
    ),
    Job(
        "pictures by address",
        timedelta(seconds=10),
        add_links,
        idle_every=timedelta(minutes=2),
        has_work=has_spreadsheets,
        # It waits for other hosts.
        has_own_loop=True,
    ),
    Job("old exports", timedelta(minutes=10), remove_old_exports),
]

"""A run of the worker goes on with an import or export."""

from shop_settings.queries import renew_settings
from spreadsheets import entities
from spreadsheets.entities import SpreadsheetTask
from spreadsheets.operations.exports import write_on
from spreadsheets.operations.imports import apply_on, read_on


def run_task(task: SpreadsheetTask, most: int) -> int:
    """Go on with an import or export; return how many rows it has looked at, about `most` of them.

    Raises CassandraUnavailable, UnknownOutcome; then it is called again.
    """
    renew_settings()
    if task.state == entities.READING:
        return read_on(task, most)
    if task.state == entities.APPLYING:
        return apply_on(task, most)
    if task.state == entities.WRITING:
        return write_on(task, most)
    # It stays in the worker's list for a moment after another process has finished it.
    return 0

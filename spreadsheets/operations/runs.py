"""Continue an import or export, in a run of the worker."""

from shop_settings.queries import renew_settings
from spreadsheets import entities
from spreadsheets.entities import SpreadsheetTask
from spreadsheets.operations.exports import write_on
from spreadsheets.operations.imports import apply_on, read_on


def run_task(task: SpreadsheetTask, most: int) -> int:
    """Continue an import or export with about `most` rows; return how many rows were processed.

    Raises CassandraUnavailable and UnknownOutcome; the caller then repeats the call.
    """
    renew_settings()
    if task.state == entities.READING:
        return read_on(task, most)
    if task.state == entities.APPLYING:
        return apply_on(task, most)
    if task.state == entities.WRITING:
        return write_on(task, most)
    # Another process has finished the task, but not yet taken it off the worker's list.
    return 0

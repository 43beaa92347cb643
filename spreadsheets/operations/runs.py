"""Continue an import or export, in a run of the worker."""

from shop_settings.queries import renew_settings
from spreadsheets import entities
from spreadsheets.entities import SpreadsheetTask
from spreadsheets.operations.exports import write_on
from spreadsheets.operations.imports import apply_on, read_on


def run_task(task: SpreadsheetTask, most: int) -> int:
    """Continue an import or export; return how many rows were processed, about `most`.

    Raises CassandraUnavailable, UnknownOutcome; the caller then calls it again.
    """
    renew_settings()
    if task.state == entities.READING:
        return read_on(task, most)
    if task.state == entities.APPLYING:
        return apply_on(task, most)
    if task.state == entities.WRITING:
        return write_on(task, most)
    # It was finished by another process, which has not taken it off the worker's list yet.
    return 0

"""The faulty rows of an import as a file in our layout, which staff correct and send again."""

from codecs import BOM_UTF8
from collections.abc import Iterator

from spreadsheets import queries
from spreadsheets.entities import PlannedRow, SpreadsheetTask
from spreadsheets.files import csv_line
from spreadsheets.layouts import ERRORS, LAYOUTS


def iterate_faulty_rows(task: SpreadsheetTask) -> Iterator[bytes]:
    """Yield the faulty rows of an import as CSV, line by line, each with its errors. Raises CassandraUnavailable."""
    names = {cell.column for row in _iterate_faulty(task) for cell in row.changes}
    head = [name for name in LAYOUTS[task.layout].head if name in names]
    yield BOM_UTF8 + csv_line([*head, ERRORS])
    for row in _iterate_faulty(task):
        lines: dict[int, dict[str, str]] = {}
        for cell in row.changes:
            lines.setdefault(cell.line, {})[cell.column] = cell.after
        said: dict[int, list[str]] = {}
        for fault in row.faults:
            text = f"{fault.column}: {fault.text}" if fault.column else fault.text
            # The first line has the faults of lines that were joined.
            said.setdefault(fault.line if fault.line in lines else row.line, []).append(text)
        for line, cells in lines.items():
            errors = "\n".join(said.get(line, ()))
            yield csv_line([*(cells.get(name, "") for name in head), errors])


def _iterate_faulty(task: SpreadsheetTask) -> Iterator[PlannedRow]:
    first = 0
    while True:
        rows, first = queries.list_rows(task, first, plan="faulty")
        yield from rows
        if not first:
            return

"""The faulty rows of an import as a file in our layout, which staff correct and send again."""

from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence

from django.utils.translation import gettext as _

from spreadsheets import queries
from spreadsheets.entities import PlannedRow, SpreadsheetTask
from spreadsheets.files import csv_line
from spreadsheets.layouts import ERRORS, LAYOUTS


def iterate_faulty_rows(task: SpreadsheetTask) -> Iterator[bytes]:
    """Yield the faulty rows of an import as CSV, line by line, each with its errors. Raises CassandraUnavailable."""
    head, first = LAYOUTS[task.layout].head, 0
    yield BOM_UTF8 + csv_line([ERRORS, *head])
    while True:
        rows, first = queries.list_rows(task, first, plan="faulty")
        for row in rows:
            yield from _iterate_lines(row, head)
        if not first:
            return


def _iterate_lines(row: PlannedRow, head: Sequence[str]) -> Iterator[bytes]:
    lines: dict[int, dict[str, str]] = {}
    for cell in row.changes:
        lines.setdefault(cell.line, {})[cell.column] = cell.after
    said: dict[int, list[str]] = {}
    if not lines:
        text = _("Line %(line)d is too long for this file. Correct it in your own.")
        lines, said = {row.line: {}}, {row.line: [text % {"line": row.line}]}
    for fault in row.faults:
        text = f"{fault.column}: {fault.text}" if fault.column else fault.text
        # The first line has the faults of lines that were joined.
        said.setdefault(fault.line if fault.line in lines else row.line, []).append(text)
    for line, cells in lines.items():
        errors = "\n".join(said.get(line, ()))
        yield csv_line([errors, *(cells.get(name, "") for name in head)])

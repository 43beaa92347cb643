"""The faulty rows of an import as a file in our layout, which staff correct and send again. It is deleted after a day."""

from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator
from tempfile import TemporaryFile
from typing import IO
from uuid import uuid4

from django.core.files.storage import default_storage

from spreadsheets import queries
from spreadsheets.entities import Fault, FileRow, PlannedRow, SpreadsheetTask
from spreadsheets.files import csv_line
from spreadsheets.foreign.entities import ConvertedLine
from spreadsheets.foreign.groups import pack_line, read_converted
from spreadsheets.layouts import ERRORS, Layout
from spreadsheets.operations.stored_files import INCOMING, file_of


def save_faulty_rows(
    task: SpreadsheetTask, layout: Layout, rows: Iterable[FileRow], total: int
) -> str:
    """Save the lines of an import's faulty rows, each with what is wrong with it. Return the file's name; "" without any.

    `rows` are the first `total` rows of the file, whose plans are stored. Raises CassandraUnavailable and OSError.
    """
    names: set[str] = set()
    with TemporaryFile() as scratch:
        faulty = _iterate_faulty(task, total)
        planned = next(faulty, None)
        for row in rows:
            if planned is None:
                break
            if row.position == planned.position:
                for line in _describe(row, planned.faults):
                    names |= line.cells.keys()
                    scratch.write(pack_line(line))
                planned = next(faulty, None)
        if not names:
            return ""
        head = [*(name for name in layout.head if name in names), ERRORS]
        scratch.seek(0)
        return default_storage.save(
            f"{INCOMING}/{uuid4().hex}", file_of(_iterate_csv(head, scratch))
        )


def _iterate_faulty(task: SpreadsheetTask, total: int) -> Iterator[PlannedRow]:
    for first in range(0, total, queries.BUCKET_LENGTH):
        plans = queries.ROWS.list_bucket_results(task.task_id, first // queries.BUCKET_LENGTH)
        if any(row.plan == "faulty" for row in plans):
            rows = queries.list_bucket(task, first)
            yield from (row for row in rows if row.plan == "faulty")


def _describe(row: FileRow, faults: Iterable[Fault]) -> Iterator[ConvertedLine]:
    """Yield the lines of a row with their faults as texts. The first line has the faults of lines that were joined."""
    lines = {line for line, _cells in row.lines}
    said: dict[int, list[str]] = {}
    for fault in faults:
        text = f"{fault.column}: {fault.text}" if fault.column else fault.text
        said.setdefault(fault.line if fault.line in lines else row.line, []).append(text)
    for line, cells in row.lines:
        yield ConvertedLine(line, {**cells, ERRORS: "\n".join(said.get(line, ()))})


def _iterate_csv(head: list[str], scratch: IO[bytes]) -> Iterator[bytes]:
    yield BOM_UTF8 + csv_line(head)
    for line in read_converted(scratch):
        yield csv_line([line.cells.get(name, "") for name in head])

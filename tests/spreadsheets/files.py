"""Files as staff send them, and what the shop makes of them."""

import csv
import io
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

from cassandra.util import uuid_from_time
from django.core.files.base import ContentFile
from openpyxl import Workbook

from catalogue.entities import Product
from spreadsheets import operations, queries
from spreadsheets.entities import LINKING, PlannedRow, SpreadsheetTask

Lines = Iterable[Sequence[Any]]


def csv_of(lines: Lines, encoding: str = "utf-8", separator: str = ",") -> bytes:
    text = io.StringIO()
    csv.writer(text, delimiter=separator).writerows(lines)
    return text.getvalue().encode(encoding)


def xlsx_of(lines: Lines) -> bytes:
    book, file = Workbook(), io.BytesIO()
    for line in lines:
        book.worksheets[0].append(list(line))
    book.save(file)
    return file.getvalue()


def start(content: bytes, layout: str = "prices", now: datetime | None = None) -> SpreadsheetTask:
    now = now or datetime.now(UTC)
    file = ContentFile(content, "a")
    return operations.start_import(uuid_from_time(now), layout, file, "list.csv", uuid4(), now)


def stored(task: SpreadsheetTask) -> SpreadsheetTask:
    found = queries.get_task(task.task_id)
    assert found
    return found


def go_on(task: SpreadsheetTask, most: int = 1000) -> SpreadsheetTask:
    """Let the worker go on until it is through; what rows name is left to `follow`."""
    task = stored(task)
    while task.is_under_way and task.state != LINKING:
        operations.run_task(task, most)
        task = stored(task)
    return task


def follow(task: SpreadsheetTask) -> int:
    """Let the worker fetch and find what the rows of an import name, until it is through."""
    count = 0
    while (task := stored(task)).state == LINKING:
        count += operations.follow_links(task)
    return count


def read(content: bytes, layout: str = "prices") -> SpreadsheetTask:
    """An import whose file was read."""
    return go_on(start(content, layout))


def apply(task: SpreadsheetTask) -> SpreadsheetTask:
    """An import that was applied to the end."""
    assert operations.start_applying(task, datetime.now(UTC))
    return go_on(task)


def rows_of(task: SpreadsheetTask) -> list[PlannedRow]:
    return [
        row
        for first in range(0, task.total, queries.BUCKET_LENGTH)
        for row in queries.list_bucket(task, first)
    ]


def faults_of(task: SpreadsheetTask) -> list[tuple[int, str, str]]:
    return [(each.line, each.column, each.text) for row in rows_of(task) for each in row.faults]


def export(
    layout: str, file_format: str = "csv", products: Iterable[Product] | None = None
) -> bytes:
    """What comes out of these products, or of all."""
    ids: list[UUID] | None = None if products is None else [each.product_id for each in products]
    now = datetime.now(UTC)
    task = operations.start_export(uuid_from_time(now), layout, file_format, ids, uuid4(), now)
    task = go_on(task)
    assert task.state == "written", task.problem
    return b"".join(operations.iterate_export(task))


Maker = Callable[..., bytes]

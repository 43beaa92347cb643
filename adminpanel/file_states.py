"""Shared parts of pages about files: the words for a file's state, file ids, and downloads."""

from codecs import BOM_UTF8
from collections.abc import Iterable
from datetime import datetime
from typing import cast
from uuid import UUID

from cassandra.util import uuid_from_time
from django.http import HttpResponse, StreamingHttpResponse
from django.utils.translation import gettext_lazy

from jobs.bulk_changes import is_usable_id
from spreadsheets import entities
from spreadsheets.files import CONTENT_TYPES, csv_line
from spreadsheets.operations import iterate_export

STATE_LABELS = {
    entities.READING: (gettext_lazy("Being read"), "calm"),
    entities.ASKING: (gettext_lazy("Needs columns"), "warn"),
    entities.REFUSED: (gettext_lazy("Refused"), "warn"),
    entities.READ: (gettext_lazy("Needs review"), "calm"),
    entities.APPLYING: (gettext_lazy("Being applied"), "calm"),
    entities.LINKING: (gettext_lazy("Fetching pictures"), "calm"),
    entities.FINISHED: (gettext_lazy("Finished"), "good"),
    entities.WRITING: (gettext_lazy("Being written"), "calm"),
    entities.WRITTEN: (gettext_lazy("Ready"), "good"),
    entities.EXPIRED: (gettext_lazy("Deleted"), "plain"),
}


def renew_if_old(file_id: UUID, now: datetime) -> UUID:
    """Return the file id of a form. If the page was open for days, return a new id, because lists leave old ids out."""
    return file_id if is_usable_id(file_id, now) else uuid_from_time(now)


def send_csv(name: str, rows: Iterable[Iterable[object]]) -> HttpResponse:
    """Send a page's table as a file: its head, its lines, and its totals last. None is an empty cell."""
    lines = (["" if cell is None else str(cell) for cell in row] for row in rows)
    return HttpResponse(
        # Spreadsheets recognise UTF-8 by the byte order mark.
        BOM_UTF8 + b"".join(map(csv_line, lines)),
        content_type=CONTENT_TYPES["csv"],
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


def send_file(task: entities.SpreadsheetTask) -> HttpResponse:
    """Send a file that the worker has written, in pieces. Browsers open a PDF, and save a table."""
    response = StreamingHttpResponse(
        iterate_export(task),
        content_type=CONTENT_TYPES.get(task.format, f"application/{task.format}"),
    )
    stem = task.file_name.removesuffix(f".{task.format}")
    name = f"{stem}-{task.started_at:%Y-%m-%d-%H%M}.{task.format}"
    way = "inline" if task.format == "pdf" else "attachment"
    response["Content-Disposition"] = f'{way}; filename="{name}"'
    return cast(HttpResponse, response)  # Django's two response classes share no type

"""Puts the pictures and products that rows of an import name on the rows' products, after all rows are applied.

The worker goes through the rows page by page. It fetches the pictures of a few rows at a time, and stores each under its address, so
that it is not fetched again after a kill. A row is handled once: what is missing is noted, and fetched when the same file is imported
again.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from threading import BoundedSemaphore, Lock
from time import monotonic

from django.utils.translation import gettext as _

from cassandra_db import SEND_AGAIN, conditional_write, current_time, write
from catalogue.errors import DecoderFailed, PhotoRefused, ProductChanged, ProductRefused
from catalogue.operations import change_product
from catalogue.photos import MAX_PHOTO_BYTES, take_in_photo
from catalogue.queries import get_product_at_quorum
from jobs.rows import guard_row
from spreadsheets import queries
from spreadsheets.entities import (
    FAILED,
    FINISHED,
    WAITING,
    Fault,
    PlannedRow,
    SpreadsheetTask,
    pack,
)
from spreadsheets.errors import CellRefused
from spreadsheets.links import LINK_COLUMNS, Links, address_of, put_links, read_links, with_https
from spreadsheets.operations.tasks import end_task, note_handled
from web.fetching import FetchFailed, fetch_file

ROWS_AT_ONCE = 8
FILES_A_HOST = 2
# A decoder takes a processor and up to 300 MB (decision 040).
DECODERS_AT_ONCE = 2
# A run begins no row after this time.
RUN_SECONDS = 20.0
# A host that has failed this often is asked for nothing more in the run.
MAX_FAILURES_A_HOST = 3
PICTURE_TYPES = "image/jpeg, image/png, image/webp, image/avif;q=0.9"
_MAX_NAME_SHOWN = 200
NOTE_LINKS = conditional_write(
    "Q1",
    """UPDATE spreadsheet_rows SET links = :links, link_faults = :faults
       WHERE task_id = :task_id AND bucket = :bucket AND position = :position IF EXISTS""",
)
NOTE_FETCHED = write("Q1", "INSERT INTO fetched_pictures (url, picture) VALUES (:url, :picture)")


def follow_links(task: SpreadsheetTask) -> int:
    """Go through an import's waiting rows for about RUN_SECONDS; return how many were handled. After the last one, finish the import.

    Raises CassandraUnavailable and UnknownOutcome; the caller then repeats the call.
    """
    fetcher, first, count = _Fetcher(), task.handled, 0
    said = _("The pictures weren’t added because of an error. Import the row again.")
    while True:
        rows, after = queries.list_rows(task, first, result="done", links=WAITING)
        with ThreadPoolExecutor(ROWS_AT_ONCE) as threads:
            fetching = [(row, threads.submit(fetcher.fetch_missing, row)) for row in rows]
            for row, pending in fetching:
                name = f"pictures of row {row.position} of import {task.task_id}"
                give_up = partial(_note_missing, task, row, [Fault(row.line, "", said)])
                with guard_row(name, give_up):
                    if (found := pending.result()) is None:
                        return count  # the next run begins with this page
                    _finish_row(task, row, found)
                count += 1
        if not after:
            end_task(task, FINISHED)
            return count
        note_handled(task, after, task.total)
        first = after


def _read(row: PlannedRow) -> tuple[PlannedRow, Links]:
    """Return a row with only the changes that name something, and what they name now. Raises CassandraUnavailable."""
    changes = tuple(each for each in row.changes if each.column in LINK_COLUMNS)
    links = read_links((), ((each.column, each.after) for each in changes))
    if row.product_id and (product := get_product_at_quorum(row.product_id)):
        links.add_pictures(product)
    return replace(row, changes=changes), links


def _finish_row(
    task: SpreadsheetTask, row: PlannedRow, found: Mapping[str, str | FetchFailed]
) -> None:
    """Put what a row names on its product, and store what is missing.

    `found` are the pictures that were fetched just now by their addresses, or why they could not be. Raises CassandraUnavailable and
    UnknownOutcome, and ProductChanged if others are saving the product.
    """
    for url, picture in found.items():
        if isinstance(picture, str):
            # A later file may name it by the shop's own address.
            for each in (url, with_https(address_of(picture))):
                NOTE_FETCHED.run(url=each, picture=picture)
    row, links = _read(row)
    faults = []
    for change in row.changes:
        for name in links.list_missing(change.column, change.after):
            text = _("There is no product with the address “%(slug)s”.") % {"slug": name}
            if isinstance(failed := found.get(name), FetchFailed):
                text = f"{name[:_MAX_NAME_SHOWN]}: {failed}"
            faults.append(Fault(change.line, change.column, text))
    try:
        assert row.product_id
        change_product(row.product_id, partial(put_links, row.changes, links), current_time())
    except (CellRefused, ProductRefused) as refused:
        faults.append(Fault(row.line, "", str(refused)))
    except ProductChanged as changed:
        if changed.product:
            raise
        faults = []  # it was deleted
    _note_missing(task, row, faults)


def _note_missing(task: SpreadsheetTask, row: PlannedRow, faults: Sequence[Fault]) -> None:
    """Store that a row does not wait any longer, and what it lacks."""
    NOTE_LINKS.apply(
        if_lost=SEND_AGAIN,
        task_id=task.task_id,
        bucket=row.position // queries.BUCKET_LENGTH,
        position=row.position,
        links=FAILED if faults else None,
        faults=pack(faults),
    )


class _Fetcher:
    """Fetches pictures in a run of the worker, few of one host at a time."""

    def __init__(self) -> None:
        self._until = monotonic() + RUN_SECONDS
        self._lock = Lock()
        self._turns: dict[str, BoundedSemaphore] = defaultdict(
            lambda: BoundedSemaphore(FILES_A_HOST)
        )
        self._failures = Counter[str]()
        self._decoders = BoundedSemaphore(DECODERS_AT_ONCE)

    def fetch_missing(self, row: PlannedRow) -> dict[str, str | FetchFailed] | None:
        """Fetch the pictures of a row that are not known. Return them by their addresses, or why there is none.

        Return None, and fetch nothing, if the run's time is up. Raises CassandraUnavailable.
        """
        if monotonic() > self._until:
            return None
        row, links = _read(row)
        names = {name for it in row.changes for name in links.list_missing(it.column, it.after)}
        return {each: self._fetch(each) for each in sorted(names) if "://" in each}

    def _fetch(self, url: str) -> str | FetchFailed:
        host = url.split("/")[2].lower()
        with self._lock:
            turn = self._turns[host]
        try:
            with turn:
                if self._failures[host] >= MAX_FAILURES_A_HOST:
                    return FetchFailed(_("The host didn’t answer."))
                content = fetch_file(url, MAX_PHOTO_BYTES, PICTURE_TYPES)
            with self._decoders:
                # An address need not end with the right suffix.
                return str(take_in_photo(content, ""))
        except FetchFailed as failed:
            with self._lock:
                self._failures[host] += failed.is_temporary
            return failed
        except PhotoRefused as refused:
            return FetchFailed(str(refused))
        except DecoderFailed:
            return FetchFailed(_("This picture can’t be read."))
        except Exception:  # noqa: BLE001 -- each storage raises its own errors
            return FetchFailed(_("The picture can’t be stored."))

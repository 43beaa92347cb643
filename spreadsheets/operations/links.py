"""Puts pictures and products that rows of an import name by their addresses on the rows' products, after the rows are applied.

A pending row is written before the import's row is marked as done. The worker fetches what is not known yet, a few files at a time,
and forgets them if it is killed: what it has fetched is stored under the address. A row whose pictures cannot be fetched is tried
again later, and is given up after the last of RETRY_DELAYS, with the reasons.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from itertools import islice
from threading import BoundedSemaphore, Lock
from time import monotonic

from django.utils.translation import gettext as _

from cassandra_db import SEND_AGAIN, Row, conditional_write, current_time, read, write
from catalogue.entities import Product
from catalogue.errors import DecoderFailed, PhotoRefused, ProductChanged, ProductRefused
from catalogue.operations import change_product
from catalogue.photos import MAX_PHOTO_BYTES, take_in_photo
from catalogue.queries import get_product_at_quorum
from jobs.due_rows import DueRows, Sweep
from spreadsheets.entities import Change, Fault, PlannedRow, pack
from spreadsheets.links import (
    LINK_COLUMNS,
    PICTURES,
    Links,
    address_of,
    is_address,
    link_columns,
    list_names,
    picture_column,
    read_links,
    split_pictures,
)
from spreadsheets.queries import ROWS, planned_row
from web.fetching import FetchFailed, fetch_file, find_host

WAITING, DONE, FAILED = "waiting", "done", "failed"
# The pause after each failed attempt. After the last one the row is given up.
RETRY_DELAYS = [
    timedelta(minutes=1),
    timedelta(minutes=5),
    timedelta(minutes=30),
    timedelta(hours=2),
    timedelta(hours=12),
]
ROWS_AT_ONCE = 25
FILES_AT_ONCE = 8
FILES_A_HOST = 2
# A decoder takes a processor and up to 300 MB (decision 040).
DECODERS_AT_ONCE = 2
# No file is begun after this time of a run, and no further one from a host that has failed this often in the run.
RUN_SECONDS = 20.0
MAX_FAILURES_A_HOST = 3
# For how long it is remembered that an address has no picture.
FAILURE_TTL = 3600
PICTURE_TYPES = "image/jpeg, image/png, image/webp, image/avif;q=0.9"
# The beginnings of files, and the suffixes of their names: addresses need not end with the right one.
_SUFFIXES = {b"\xff\xd8\xff": ".jpg", b"\x89PNG": ".png", b"RIFF": ".webp"}
_AVIF = b"ftypavif"
_MAX_URL_SHOWN = 200

NOTE_LINKS = conditional_write(
    "Q1",
    """UPDATE spreadsheet_rows SET links = :links, link_tries = :tries, link_faults = :faults
       WHERE task_id = :task_id AND bucket = :bucket AND position = :position IF EXISTS""",
)
NOTE_WAITING = conditional_write(
    "Q1",
    """UPDATE spreadsheet_rows SET links = :links WHERE task_id = :task_id AND bucket = :bucket AND position = :position
       IF links = :nothing""",
)
NOTE_FETCHED = write("Q1", "INSERT INTO fetched_pictures (url, picture) VALUES (:url, :picture)")
NOTE_NOT_FETCHED = write(
    "Q1", "INSERT INTO fetched_pictures (url, reason) VALUES (:url, :reason) USING TTL :seconds"
)
PENDING_ROWS = read(
    "Q1",
    "SELECT minute, task_id, position, written FROM pending_links_by_minute WHERE minute = :minute",
)
INSERT_PENDING = write(
    "Q1",
    """INSERT INTO pending_links_by_minute (minute, task_id, position, written)
       VALUES (:minute, :task_id, :position, :written) USING TIMESTAMP :written""",
)
DELETE_PENDING = write(
    "Q1",
    """DELETE FROM pending_links_by_minute USING TIMESTAMP :written
       WHERE minute = :minute AND task_id = :task_id AND position = :position""",
)
PENDING_LINKS = DueRows(
    job="pictures by address",
    label="pictures of row",
    select=PENDING_ROWS,
    insert=INSERT_PENDING,
    delete=DELETE_PENDING,
)


def has_links(row: PlannedRow) -> bool:
    """Return whether a row's changes name something that may have to be fetched or found."""
    return any(list_names(each.column, each.after) for each in row.changes)


def note_waiting(stored: Row) -> None:
    """Let the worker put what an applied row names on its product. May be repeated. Raises CassandraUnavailable."""
    PENDING_LINKS.note(task_id=stored.task_id, position=stored.position)
    NOTE_WAITING.apply(if_lost=SEND_AGAIN, **ROWS.key_of(stored), links=WAITING, nothing=None)


# ---- The worker


def sweep_links(now: datetime) -> int:
    """Handle the pending rows for about RUN_SECONDS; return how many were handled. Raises CassandraUnavailable."""
    with PENDING_LINKS.sweep(now) as sweep:
        sweep.ends = monotonic() + RUN_SECONDS
        fetcher = _Fetcher(sweep.ends)
        groups = sweep.groups("task_id", "position")
        while chunk := list(islice(groups, ROWS_AT_ONCE)):
            _handle_rows(sweep, fetcher, chunk)
    return sweep.count


def _handle_rows(sweep: Sweep, fetcher: "_Fetcher", chunk: Sequence[list[Row]]) -> None:
    reading = [(group, ROWS.start_read(group[0].task_id, group[0].position, 1)) for group in chunk]
    wanted, rows = set[str](), list[tuple[list[Row], Row]]()
    for group, pending in reading:
        with sweep.attempt(group, _name(group)):
            # A row without a plan has expired.
            if (stored := pending.one()) and stored.plan:
                wanted |= _list_urls(*_read_links(planned_row(stored)))
                rows.append((group, stored))
            else:
                sweep.clear(group)
    failures = fetcher.fetch(wanted)
    for group, stored in rows:
        with sweep.handle(group, _name(group)):
            delay = finish_links(stored, failures)
            if delay:
                sweep.postpone(group, delay)
            elif delay is not None:
                sweep.keep(group)


def _name(group: Sequence[Row]) -> str:
    return f"{group[0].position} of import {group[0].task_id}"


def _read_links(row: PlannedRow) -> tuple[list[Change], Links]:
    """Return a row's changes that name something, and what they name now. Raises CassandraUnavailable."""
    changes = [each for each in row.changes if each.column in LINK_COLUMNS]
    links = read_links(((each.column, each.after) for each in changes), ())
    if row.product_id and (product := get_product_at_quorum(row.product_id)):
        links.add_pictures(product)
    return changes, links


def _list_open(changes: Iterable[Change], links: Links) -> Iterator[tuple[Change, str]]:
    """Yield the addresses of pictures and products in these changes that name nothing yet, each with its change."""
    for change in changes:
        for name in list_names(change.column, change.after):
            if name not in (links.pictures if is_address(name) else links.product_ids):
                yield change, name


def _list_urls(changes: Iterable[Change], links: Links) -> set[str]:
    """Return the web addresses in these changes of which nothing is known."""
    return {name for _change, name in _list_open(changes, links) if is_address(name)} - set(
        links.failures
    )


def finish_links(stored: Row, failures: Mapping[str, FetchFailed]) -> timedelta | None:
    """Put what a row names on its product. Return after which time to try again, or None if the row is finished or given up.

    `failures` are the addresses whose pictures could not be fetched just now. Raises CassandraUnavailable and UnknownOutcome.
    """
    row = planned_row(stored)
    changes, links = _read_links(row)
    if _list_urls(changes, links) - failures.keys():
        return timedelta(0)  # the run's time was over
    still_open = list(_list_open(changes, links))
    faults = [
        Fault(change.line, change.column, _explain(name, links, failures))
        for change, name in still_open
    ]
    try:
        assert row.product_id
        change_product(row.product_id, partial(put_links, changes, links), current_time())
    except ProductRefused as refused:
        faults.append(Fault(row.line, PICTURES, str(refused)))
    except ProductChanged as changed:
        if changed.product:
            raise
        faults = []  # it was deleted
    tries = (stored.link_tries or 0) + 1
    is_hopeful = any(
        not is_address(name) or (name in failures and failures[name].is_temporary)
        for _change, name in still_open
    )
    is_given_up = not (faults and is_hopeful) or tries > len(RETRY_DELAYS)
    delay = None if is_given_up else RETRY_DELAYS[tries - 1]
    NOTE_LINKS.apply(
        if_lost=SEND_AGAIN,
        **ROWS.key_of(stored),
        links=WAITING if delay else FAILED if faults else DONE,
        tries=tries,
        faults=pack(faults),
    )
    return delay


def _explain(name: str, links: Links, failures: Mapping[str, FetchFailed]) -> str:
    if not is_address(name):
        return _("There is no product with the address “%(slug)s”.") % {"slug": name}
    shown = f"{name[:_MAX_URL_SHOWN]}…" if len(name) > _MAX_URL_SHOWN else name
    return f"{shown}: {failures.get(name) or links.failures[name]}"


def put_links(changes: Iterable[Change], links: Links, product: Product) -> Product:
    """Return the product with what these changes name. Pictures that were added since stay; the same product if nothing changes."""
    columns = {each.name: each for each in link_columns(links)}
    picture, after, former = picture_column(links), product, set[str]()
    for change in changes:
        if change.sku:
            variants = (
                picture.write(each, change.after) if each.sku == change.sku else each
                for each in after.variants
            )
            after = replace(after, variants=tuple(variants))
        else:
            after = columns[change.column].write(after, change.after)
            former |= {url for url, _alt in split_pictures(change.before or "")}
    after = links.settle(after, product, former)
    return product if after == product else after


# ---- Fetching


class _Fetcher:
    """Fetches pictures until the run's time is over, a few files at a time, and few of one host."""

    def __init__(self, until: float) -> None:
        self._until = until
        self._lock = Lock()
        self._hosts: dict[str, BoundedSemaphore] = defaultdict(
            lambda: BoundedSemaphore(FILES_A_HOST)
        )
        self._failures = Counter[str]()
        self._decoders = BoundedSemaphore(DECODERS_AT_ONCE)

    def fetch(self, urls: Collection[str]) -> dict[str, FetchFailed]:
        """Fetch and store the pictures of these addresses. Return the failures. Raises CassandraUnavailable."""
        wanted = sorted(urls)
        failures = {}
        with ThreadPoolExecutor(FILES_AT_ONCE) as threads:
            for url, found in zip(wanted, threads.map(self._fetch, wanted), strict=True):
                if isinstance(found, str):
                    # A later step of an import finds it by the shop's own address, too.
                    for each in (url, address_of(found)):
                        NOTE_FETCHED.run(url=each, picture=found)
                elif found:
                    failures[url] = found
                    if not found.is_temporary:
                        NOTE_NOT_FETCHED.run(url=url, reason=str(found), seconds=FAILURE_TTL)
        return failures

    def _fetch(self, url: str) -> str | FetchFailed | None:
        """Return the picture of an address, why there is none, or None if the run's time is over."""
        host = ""
        try:
            host = find_host(url)
            with self._lock:
                turn = self._hosts[host]
            with turn:
                if monotonic() > self._until:
                    return None
                if self._failures[host] >= MAX_FAILURES_A_HOST:
                    return FetchFailed(_("The host didn’t answer."), is_temporary=True)
                content = fetch_file(url, MAX_PHOTO_BYTES, PICTURE_TYPES)
            with self._decoders:
                return str(take_in_photo(content, f"picture{_find_suffix(content)}"))
        except FetchFailed as failed:
            with self._lock:
                self._failures[host] += failed.is_temporary
            return failed
        except PhotoRefused as refused:
            return FetchFailed(str(refused))
        except DecoderFailed:
            return FetchFailed(_("This picture can’t be read."), is_temporary=True)
        except Exception:  # noqa: BLE001 -- each storage raises its own errors
            return FetchFailed(_("The picture can’t be stored."), is_temporary=True)


def _find_suffix(content: bytes) -> str:
    """Return the suffix of a picture's format; "" for other files, which the decoder refuses."""
    if content[4:12] == _AVIF:
        return ".avif"
    return next((each for start, each in _SUFFIXES.items() if content.startswith(start)), "")

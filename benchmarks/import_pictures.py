"""Measures an import of products with pictures by address: the seconds to read, apply and fetch, and products a minute.

    python -m benchmarks.import_pictures                         # 2,000 products, in a keyspace of its own
    python -m benchmarks.import_pictures --products 100          # quicker

The files have the shop's own columns. Each product has one picture of its own, a JPEG of 1,200 pixels, which a server on this machine sends.
One worker does all, as in a shop. Ends with status 1 if 2,000 products would take more than ten minutes.
"""

import csv
import io
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from tempfile import TemporaryDirectory
from threading import Thread
from time import perf_counter
from typing import TYPE_CHECKING
from uuid import uuid4

from PIL import Image

from benchmarks.setup import make_parser, own_keyspace

if TYPE_CHECKING:
    from spreadsheets.entities import SpreadsheetTask

PRODUCTS, MOST_SECONDS = 2_000, 600
_PIXELS = 1200
_HEAD = ("product", "name", "status", "category", "pictures", "sku", "price")


def main() -> int:
    """Measure, print, and return the exit status."""
    parser = make_parser("import_pictures", __doc__)
    parser.add_argument("--products", type=int, default=PRODUCTS)
    count: int = parser.parse_args().products
    with TemporaryDirectory() as media, _pictures() as host:
        name = f"stoa_pictures_{os.getpid()}"
        with own_keyspace(name, MEDIA_ROOT=media, FETCH_TEST_HOSTS=host):
            seconds = _import(host, count)
    total = sum(seconds.values())
    for what, taken in seconds.items():
        print(f"{what:8} {taken:7.1f} s")
    print(f"{count:,} products with a picture in {total:.0f} s: {60 * count / total:,.0f} a minute")
    return int(total * PRODUCTS / count > MOST_SECONDS)


def _import(host: str, count: int) -> dict[str, float]:
    """Import the files, and return the seconds of each step."""
    _apply(_read("categories", [("category", "name"), ("mugs", "Mugs")]))
    lines = [
        (f"mug-{n}", f"Mug {n}", "active", "mugs", f"https://{host}/{n}.jpg", f"MUG-{n}", "12.50")
        for n in range(count)
    ]
    began = perf_counter()
    task = _read("products", [_HEAD, *lines])
    read = perf_counter()
    task = _apply(task)
    applied = perf_counter()
    task = _go_on(task)
    assert task.results == {"done": count}, task.results
    return {"read": read - began, "apply": applied - read, "pictures": perf_counter() - applied}


def _read(layout: str, lines: Iterable[Sequence[str]]) -> "SpreadsheetTask":
    from cassandra.util import uuid_from_time
    from django.core.files.base import ContentFile

    from cassandra_db import current_time
    from spreadsheets import operations

    text, now = io.StringIO(), current_time()
    csv.writer(text).writerows(lines)
    file = ContentFile(text.getvalue().encode(), "file")
    return _go_on(
        operations.start_import(uuid_from_time(now), layout, file, "file.csv", uuid4(), now)
    )


def _apply(task: "SpreadsheetTask") -> "SpreadsheetTask":
    from cassandra_db import current_time
    from spreadsheets import operations
    from spreadsheets.entities import LINKING

    assert operations.start_applying(task, current_time()), task
    return _go_on(task, until=LINKING)


def _go_on(task: "SpreadsheetTask", until: str = "") -> "SpreadsheetTask":
    """Do the worker's part of an import until it is over, or in a state."""
    from spreadsheets import operations, queries
    from spreadsheets.entities import LINKING

    while (found := queries.get_task(task.task_id)) and found.is_under_way and found.state != until:
        if found.state == LINKING:
            operations.follow_links(found)
        else:
            operations.run_task(found, operations.CHUNK)
    assert found
    return found


@contextmanager
def _pictures() -> Iterator[str]:
    """Serve a different file at each address, and yield the host. To make the picture is not measured."""
    file = io.BytesIO()
    # The grain of a photo.
    Image.effect_noise((_PIXELS, _PIXELS), 10).convert("RGB").save(file, "JPEG", quality=80)

    class Pictures(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            content = file.getvalue() + self.path.encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Pictures) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{server.server_port}"
        server.shutdown()


if __name__ == "__main__":
    sys.exit(main())

"""Measures the cost of reading an import file of prices: lines a second and memory, with 1,000 lines and with 100,000.

    python -m benchmarks.import_products                         # the keyspace of the settings
    python -m benchmarks.import_products --lines 10000           # quicker
    python -m benchmarks.import_products --parse-only            # no Cassandra

Each file is read in a process of its own, whose memory is compared with the memory for 1,000 lines. The SKUs do not exist: each
line's SKU is looked up, and the error is recorded.

Bounds are ratios, because machines differ. Ends with status 1 if a bound is missed.
"""

import csv
import io
import json
import os
import resource
import sys
from argparse import SUPPRESS
from datetime import UTC, datetime
from pathlib import Path
from tempfile import NamedTemporaryFile
from time import perf_counter
from typing import IO
from uuid import uuid4

from benchmarks.setup import make_parser, run_probe, set_up_django

FEW, MANY = 1_000, 100_000
# The maximum ratio to the memory for few lines. The import keeps a hash of each line; the XLSX parser keeps nothing.
MEMORY_MAY_GROW = 1.5
FORMATS = ("csv", "xlsx")


def main() -> int:
    """Measure, print, and return the exit status."""
    parser = make_parser("import_products", __doc__)
    parser.add_argument("--keyspace", default=os.environ.get("CASSANDRA_KEYSPACE", "stoa"))
    parser.add_argument("--lines", type=int, default=MANY)
    parser.add_argument("--parse-only", action="store_true")
    parser.add_argument("--worker", nargs=3, help=SUPPRESS)
    args = parser.parse_args()
    if args.worker:
        set_up_django(args.keyspace)
        _work(*args.worker)
        return 0
    missed = []
    for what in ("parse",) if args.parse_only else ("parse", "compare"):
        for file_format in FORMATS:
            few, many = (_measure(args.keyspace, what, file_format, n) for n in (FEW, args.lines))
            ratio = many[1] / few[1]
            print(
                f"{what:8} {file_format:5} {args.lines:7,} lines: {args.lines / many[0]:8,.0f} a second,"
                f" memory {ratio:.2f} times that of {FEW:,} lines ({many[1] / 1024:.0f} MB)"
            )
            if ratio > MEMORY_MAY_GROW:
                missed.append(f"{what} {file_format}: {ratio:.2f}")
    for each in missed:
        print(f"more memory than {MEMORY_MAY_GROW} times: {each}")
    return 1 if missed else 0


def _measure(keyspace: str, what: str, file_format: str, lines: int) -> tuple[float, int]:
    """Return the seconds that a process took to read a file, and the largest memory of the process in KB."""
    with NamedTemporaryFile() as file:
        _write_file(file, file_format, lines)
        arguments = ("--keyspace", keyspace, "--worker", what, file.name, str(lines))
        seconds, size = run_probe("import_products", *arguments)
    return seconds, size


def _write_file(file: IO[bytes], file_format: str, lines: int) -> None:
    rows = [["sku", "price"], *([f"BENCH-{n}", "12.50"] for n in range(lines))]
    if file_format == "csv":
        text = io.StringIO()
        csv.writer(text).writerows(rows)
        file.write(text.getvalue().encode())
    else:
        from openpyxl import Workbook

        book = Workbook(write_only=True)
        sheet = book.create_sheet()
        for row in rows:
            sheet.append(row)
        book.save(file)
    file.flush()


def _work(what: str, path: str, lines: str) -> None:
    """Read a file, and print the seconds and the largest memory of this process as JSON."""
    from cassandra.util import uuid_from_time
    from django.core.files.base import File

    from spreadsheets import operations, queries
    from spreadsheets.files import open_table
    from spreadsheets.layouts import LAYOUTS, iterate_rows, read_lines

    layout = LAYOUTS["prices"]
    began = perf_counter()
    if what == "parse":
        with Path(path).open("rb") as file:
            count = sum(
                1
                for _row in iterate_rows(layout, read_lines(layout, open_table(file, layout.head)))
            )
    else:
        now = datetime.now(UTC)
        task_id = uuid_from_time(now)
        with Path(path).open("rb") as file:
            task = operations.start_import(
                task_id, layout.name, File(file, "bench"), "bench", uuid4(), now
            )
        while task.is_under_way:
            operations.run_task(task, 2000)
            found = queries.get_task(task_id)
            assert found
            task = found
        count = task.total
    assert count == int(lines)
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps([perf_counter() - began, size]))


if __name__ == "__main__":
    sys.exit(main())

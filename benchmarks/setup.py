"""The setup that several benchmarks share, and their exit status."""

import json
import os
import subprocess
import sys
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

from benchmarks.pages import ROOT, shop_environment
from cassandra_db import RAISE_UNKNOWN, Row, Statement, conditional_write, read
from cassandra_db.session import close_session, get_session


def make_parser(
    module: str, doc: str | None, *, slices: int = 0, in_shop: bool = True
) -> ArgumentParser:
    """Return the parser of a benchmark's arguments.

    With `slices`, the benchmark measures so many, in an existing keyspace if `in_shop`.
    """
    description = (doc or "").partition("\n")[0]
    parser = ArgumentParser(prog=f"python -m benchmarks.{module}", description=description)
    if slices and in_shop:
        parser.add_argument("--keyspace", default=os.environ.get("CASSANDRA_KEYSPACE", "stoa"))
    if slices:
        parser.add_argument("--slices", type=int, default=slices)
        parser.add_argument("--seconds", type=float, default=1.0, help="length of a slice")
    return parser


def set_up_django(keyspace: str, **environment: str) -> None:
    """Set up Django on a keyspace, in the environment of a shop, for this process and the processes that it starts."""
    os.environ |= shop_environment(keyspace, **environment)
    import django

    django.setup()


def run_command(*arguments: str) -> None:
    """Run a command of manage.py without its output. Raises CalledProcessError."""
    command = [sys.executable, "manage.py", *arguments]
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


def collect_static_files() -> None:
    run_command("collectstatic", "--no-input", "-v0")


def is_shop_consistent() -> bool:
    """Run the consistency check. Return whether it has no findings."""
    command = [sys.executable, "manage.py", "check_consistency"]
    return not subprocess.run(command, cwd=ROOT, check=False).returncode


@contextmanager
def own_keyspace(name: str, *, keep: bool = False, **environment: str) -> Iterator[None]:
    """Set Django up on a new keyspace with all tables, for a shop with its static files. Drop it at the end, unless `keep`.

    The keyspace of BENCHMARK_KEYSPACE is there already, and stays.
    """
    set_up_django(name, **environment)
    is_lent = "BENCHMARK_KEYSPACE" in os.environ
    if not is_lent:
        run_command("migrate")
        collect_static_files()
    try:
        yield
    finally:
        if not (keep or is_lent):
            drop_keyspace(name)
        close_session()


def drop_keyspace(name: str) -> None:
    get_session().execute(f"DROP KEYSPACE IF EXISTS {name}", timeout=180)


def run_probe(module: str, *arguments: str, environment: dict[str, str] | None = None) -> Any:
    """Run a benchmark in a process of its own, and return the last line that it prints, as JSON."""
    command = [sys.executable, "-m", f"benchmarks.{module}", *arguments]
    done = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout.splitlines()[-1])


@dataclass(frozen=True)
class BareRows:
    """Rows in a table of the benchmark's own: the yardstick for the shop's writes and reads."""

    ids: Sequence[UUID]
    update: Statement
    select: Statement

    def write(self, row_id: UUID) -> None:
        """Do one conditional write to a row. Raises RuntimeError if the write is refused."""
        if not self.update.apply(if_lost=RAISE_UNKNOWN, id=row_id):
            raise RuntimeError("a bare write was refused")

    def read(self, row_id: UUID) -> Row:
        return self.select.one(id=row_id)


@contextmanager
def make_bare_rows(count: int, units: int = 1_000_000) -> Iterator[BareRows]:
    """Make `count` rows with `units` each; each write takes one unit from a row. The table is dropped at the end."""
    execute = get_session().execute
    columns = "id uuid PRIMARY KEY, units int, taken int"
    execute(f"CREATE TABLE IF NOT EXISTS benchmark_rows ({columns})", timeout=180)
    insert = "INSERT INTO benchmark_rows (id, units, taken) VALUES (:id, :units, 0) IF NOT EXISTS"
    update = "UPDATE benchmark_rows SET units = units + -1 WHERE id = :id IF units >= 1"
    ids = [uuid4() for _ in range(count)]
    first = conditional_write("benchmark", insert)
    for row_id in ids:
        first.apply(if_lost=RAISE_UNKNOWN, id=row_id, units=units)
    select = read("benchmark", "SELECT units, taken FROM benchmark_rows WHERE id = :id")
    try:
        yield BareRows(ids, conditional_write("benchmark", update), select)
    finally:
        execute("DROP TABLE benchmark_rows", timeout=180)


def report_missed(missed: Sequence[str]) -> int:
    """Print the missed bounds. Return the exit status: 1 if a bound was missed, else 0."""
    print("\n".join(f"MISSED: {line}" for line in missed) or "All bounds are kept.")
    return 1 if missed else 0

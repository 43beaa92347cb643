"""`manage.py migrate` expands, fills and contracts the schema of an earlier version, one process at a time."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from itertools import count
from uuid import uuid4

import pytest
from cassandra.cqlengine import columns
from cassandra.cqlengine.models import Model
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError, call_command

from cassandra_db import CassandraUnavailable
from cassandra_db.schema import list_parts
from cassandra_db.session import get_session
from jobs import schema
from jobs.errors import BackfillIncomplete, DropRefused, MigrationBusy, SchemaOutdated
from jobs.leases import get_position, hold_lease, worker_name
from jobs.models import Lease
from jobs.rows import guard_row
from jobs.schema import Backfill, list_pending_steps, migrate, require_current_schema
from tests.environment import KEYSPACE
from tests.orders.crashes import Killed
from tests.threads import map_at_once


@dataclass
class Versions:
    """Versions of the shop, whose only table beside the leases has different columns in each."""

    patch: pytest.MonkeyPatch
    table: str

    def install(
        self, *names: str, backfills: Sequence[Backfill] = (), drops: Sequence[str] = ()
    ) -> None:
        """Let this process be of a version with these columns and steps."""
        fields = {name: columns.Text() for name in names}
        key = {"thing_id": columns.UUID(partition_key=True)}
        model = type("Thing", (Model,), {"__table_name__": self.table, **key, **fields})
        for module in ("cassandra_db.schema", "jobs.schema"):
            self.patch.setattr(f"{module}.list_models", lambda: [Lease, model])
        steps = {"BACKFILLS": [*backfills], "DROPS": [*drops]}
        self.patch.setattr(schema, "_collect", steps.__getitem__)


@pytest.fixture
def versions(monkeypatch: pytest.MonkeyPatch) -> Iterator[Versions]:
    table = f"things_{uuid4().hex[:8]}"
    yield Versions(monkeypatch, table)
    get_session().execute(f"DROP TABLE IF EXISTS {KEYSPACE}.{table}", timeout=60)


def silent(_: object) -> None:
    """Take what a migration reports."""


def make_backfill(run: Callable[[str], Iterator[tuple[str, str]]]) -> Backfill:
    return Backfill(f"test {uuid4().hex}", "colours of things", run)


def test_x562_tables_and_columns_are_planned_and_made(versions: Versions) -> None:
    versions.install("name")
    assert list_pending_steps().missing == [versions.table]
    with pytest.raises(SchemaOutdated, match=f"lacks {versions.table}: run `manage.py migrate`"):
        require_current_schema()
    migrate(silent)
    require_current_schema()
    versions.install("name", "colour")
    out = StringIO()
    call_command("migrate", "--plan", stdout=out)
    assert f"expand    make {versions.table}.colour" in out.getvalue()
    with pytest.raises(SystemExit, match="1"):
        call_command("migrate", "--check", stdout=out)
    assert f"{versions.table}.colour" not in list_parts(), "a plan has changed something"
    call_command("migrate", stdout=out)
    assert "Nothing is pending" in out.getvalue()
    assert f"{versions.table}.colour" in list_parts()


def test_x565_workers_refuse_an_older_schema_and_go_on_with_a_later_one(versions: Versions) -> None:
    versions.install("name")
    migrate(silent)
    versions.install("name", "colour")
    with pytest.raises(CommandError, match=rf"No job runs: .* lacks {versions.table}\.colour"):
        call_command("worker", "--once", "--job", "mail")
    migrate(silent)
    versions.install("name")
    require_current_schema()


def test_x562_a_process_whose_driver_has_not_read_the_schema_starts(versions: Versions) -> None:
    versions.install("name")
    migrate(silent)
    get_session().cluster.metadata.keyspaces[KEYSPACE].tables.pop(versions.table)
    require_current_schema()


def test_x562_two_migrations_at_once_do_each_step_once(versions: Versions) -> None:
    runs = []

    def fill(position: str) -> Iterator[tuple[str, str]]:
        runs.append(position)
        yield "1", "1 of 1 parts"

    versions.install("name", backfills=[make_backfill(fill)])
    map_at_once(lambda _: migrate(silent, backfill=True), range(2))
    assert f"{versions.table}.name" in list_parts()
    assert runs == [""]


def test_x562_a_migration_waits_for_another_one_and_says_whose(
    versions: Versions, monkeypatch: pytest.MonkeyPatch
) -> None:
    versions.install("name")
    monkeypatch.setattr(schema, "WAIT_SECONDS", 0)
    monkeypatch.setattr(schema, "sleep", silent)
    said: list[str] = []
    with hold_lease(schema.SCHEMA), pytest.raises(MigrationBusy, match=worker_name()):
        migrate(said.append)
    assert f"Waiting for the migration of the process {worker_name()}" in said
    assert versions.table not in list_parts()
    # A process that was killed in a backfill has held this lease, too, and maybe for longer.
    versions.install("name", backfills=[step := make_backfill(lambda _: iter(()))])
    with hold_lease(step.job), pytest.raises(MigrationBusy, match=worker_name()):
        migrate(silent, backfill=True)


def test_x563_a_backfill_goes_on_where_it_was_killed_and_is_done_once(versions: Versions) -> None:
    done: list[int] = []
    kills = [3]

    def fill(position: str) -> Iterator[tuple[str, str]]:
        for part in range(int(position or 0), 5):
            if part in kills:
                kills.clear()
                raise Killed
            done.append(part)
            yield str(part + 1), f"{part + 1} of 5 parts"

    step = make_backfill(fill)
    versions.install("name", backfills=[step])
    migrate(silent)
    assert list_pending_steps().backfills == [step], "it is not part of what runs before"
    with pytest.raises(Killed):
        migrate(silent, backfill=True)
    assert get_position(step.job) == "3"
    for _ in range(2):
        migrate(silent, backfill=True)
    assert done == [0, 1, 2, 3, 4]
    assert list_pending_steps().backfills == []


def test_x563_a_row_that_cannot_be_filled_holds_up_no_other_and_is_tried_again(
    versions: Versions,
) -> None:
    filled: list[int] = []
    broken = {1}

    def fill(position: str) -> Iterator[tuple[str, str]]:
        for part in range(int(position or 0), 4):
            with guard_row(f"thing {part}"):
                assert part not in broken, "cannot be read"
                filled.append(part)
            yield str(part + 1), f"{part + 1} of 4 parts"

    step = make_backfill(fill)
    versions.install("name", backfills=[step])
    with pytest.raises(BackfillIncomplete, match="1 rows failed, first thing 1"):
        migrate(silent, backfill=True)
    assert filled == [0, 2, 3]
    broken.clear()
    migrate(silent, backfill=True)
    assert filled == [0, 2, 3, 1, 2, 3], "it did again what it need not"
    assert list_pending_steps().backfills == []


def test_x563_a_backfill_rests_for_its_share_and_says_how_far_it_is(
    versions: Versions, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fill(position: str) -> Iterator[tuple[str, str]]:
        for part in range(4):
            worked.append(next(seconds))
            yield str(part), f"{part + 1} of 4 parts"

    # Each look at this clock takes ten seconds.
    seconds, worked, rested, said = count(step=10), list[float](), list[float](), list[str]()
    monkeypatch.setattr(schema, "monotonic", lambda: float(next(seconds)))
    monkeypatch.setattr(schema, "sleep", rested.append)
    versions.install("name", backfills=[make_backfill(fill)])
    migrate(said.append, backfill=True, share=25)
    assert len(rested) == len(worked) == 4
    assert {each % 30 for each in rested} == {0}
    assert min(rested) >= 30, "three quarters of the time are not for it"
    assert [line.strip() for line in said if "parts" in line] == [
        f"{number} of 4 parts" for number in range(1, 5)
    ]


def test_x564_nothing_is_dropped_before_all_rows_are_filled(versions: Versions) -> None:
    part = f"{versions.table}.colour"
    versions.install("name", "colour")
    migrate(silent)
    later = {"drops": [part, f"{versions.table}_of_before"]}
    versions.install("name", backfills=[make_backfill(lambda _: iter(()))], **later)
    with pytest.raises(DropRefused, match="test"):
        migrate(silent, contract=True)
    assert part in list_parts()
    migrate(silent, backfill=True)
    assert (list_pending_steps().drops, (part in list_parts())) == ([part], True)
    said: list[str] = []
    for _ in range(2):
        migrate(said.append, contract=True)
    assert [line for line in said if "Dropping" in line] == [f"Dropping {part}"]
    assert part not in list_parts()


def test_s127_what_a_model_has_cannot_be_dropped(versions: Versions) -> None:
    versions.install("name", "colour", drops=[f"{versions.table}.colour"])
    migrate(silent)
    with pytest.raises(ImproperlyConfigured, match="it cannot be dropped"):
        migrate(silent, contract=True)
    assert f"{versions.table}.colour" in list_parts()


def test_s127_the_shops_own_steps_drop_nothing_that_it_has() -> None:
    assert "daily_sales" in schema.list_drops()
    assert list_pending_steps().drops == []


def test_x562_a_new_keyspace_has_nothing_to_fill() -> None:
    assert {step.name for step in schema.list_backfills()} >= {"customer-sums", "sales", "books"}
    assert list_pending_steps().backfills == []


def test_x562_a_migration_without_cassandra_is_refused_in_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def away(*_: object) -> None:
        raise CassandraUnavailable("no Cassandra node answers")

    monkeypatch.setattr(schema, "get_lease", away)
    with pytest.raises(CommandError, match="no Cassandra node answers"):
        call_command("migrate", stdout=StringIO())

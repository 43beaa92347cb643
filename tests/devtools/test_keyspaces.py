"""A checkout whose tables are of another version fills a new keyspace, and says so."""

from collections.abc import Iterator
from datetime import timedelta
from io import StringIO
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import call_command

from cassandra_db.session import get_session, keyspace_name
from demo import mark
from devtools import doctor, shop_run
from devtools.keyspaces import choose_keyspace
from devtools.shop_run import ShopRun
from tests.clock import now

OF_BEFORE = "of_before"


@pytest.fixture
def keyspace_of_before(keyspace: str) -> Iterator[str]:
    """A keyspace with a table whose key is not its model's."""
    name = f"{keyspace}_{OF_BEFORE}"
    session = get_session()
    session.execute(
        f"CREATE KEYSPACE {name} WITH replication = {{'class': 'SimpleStrategy', 'replication_factor': 1}}"
    )
    session.execute(
        f"CREATE TABLE {name}.leases (job text, worker text, PRIMARY KEY (job, worker))"
    )
    yield name
    session.execute(f"DROP KEYSPACE {name}")


def test_a_keyspace_with_other_tables_is_left_alone(keyspace_of_before: str) -> None:
    assert choose_keyspace(keyspace_of_before) == f"{keyspace_of_before}_2"
    assert choose_keyspace(keyspace_name()) == keyspace_name()
    assert choose_keyspace("not_there_yet") == "not_there_yet"


def test_x564_a_keyspace_whose_tables_an_upgrade_changes_or_drops_is_not_of_another_version(
    keyspace_of_before: str,
) -> None:
    session = get_session()
    for cql in (
        "DROP TABLE {0}.leases",
        "CREATE TABLE {0}.leases (job text PRIMARY KEY)",
        "CREATE TABLE {0}.daily_sales (month date PRIMARY KEY)",
        "CREATE TABLE {0}.payments (order_id uuid, payment_id uuid, state text, PRIMARY KEY (order_id, payment_id))",
    ):
        session.execute(cql.format(keyspace_of_before), timeout=60)
    assert choose_keyspace(keyspace_of_before) == keyspace_of_before
    session.execute(f"CREATE TABLE {keyspace_of_before}.drawers (thing text PRIMARY KEY)")
    assert choose_keyspace(keyspace_of_before) == f"{keyspace_of_before}_2"


def test_a_run_says_which_keyspace_it_fills(
    keyspace_of_before: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    run = ShopRun(0, is_development=False, say=said.append, environment={})
    monkeypatch.setattr(ShopRun, "run_command", lambda *_: _printed("choose_keyspace"))
    monkeypatch.setitem(settings.DATABASES["default"], "NAME", keyspace_of_before)
    shop_run.take_keyspace(run)
    assert run.environment["CASSANDRA_KEYSPACE"] == f"{keyspace_of_before}_2"
    assert f"The shop uses {keyspace_of_before}_2" in said[0]


def test_a_demo_shop_that_was_filled_today_is_not_filled_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run, commands = ShopRun(0, is_development=False, say=lambda _: None, environment={}), []
    monkeypatch.setattr(ShopRun, "run_command", lambda *_: _printed("choose_keyspace"))
    monkeypatch.setattr(settings, "DEMO", True)
    mark.note_filled(mark.FILLED, now())
    shop_run.take_keyspace(run)
    assert run.filled == [mark.FILLED]
    monkeypatch.setattr(ShopRun, "run_command", lambda *args, **_: commands.append(args))
    shop_run.prepare_tables(run)
    assert not commands
    # The next day has visits of its own, and changed code or data fill the shop anew.
    assert mark.list_filled_parts(now() + timedelta(days=1)) == []
    monkeypatch.setattr(settings, "BASE_DIR", Path(__file__).parent)
    assert mark.list_filled_parts(now()) == []


def test_the_doctor_does_not_advise_to_add_columns_to_tables_of_before(
    keyspace_of_before: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(settings.DATABASES["default"], "NAME", keyspace_of_before)
    found = [each for each in doctor.run_checks() if "another version" in each.text]
    assert [(each.level, "migrate" in each.fix) for each in found] == [(doctor.WRONG, False)]


def _printed(command: str) -> str:
    out = StringIO()
    call_command(command, stdout=out)
    return out.getvalue()

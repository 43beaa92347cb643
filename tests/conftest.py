"""One keyspace for the whole run, on a real node; tests keep apart by fresh ids."""

import io
import time
from collections.abc import Iterator

import pytest
from django.conf import settings
from django.core.management import call_command
from django.test.utils import override_settings

from cassandra_db.session import close, session
from tests.beside import Toxiproxy, stripe_running, toxiproxy_running
from tests.environment import KEYSPACE

pytest_plugins = ["tests.proof"]


@pytest.fixture(scope="session", autouse=True)
def keyspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Make the tables once, in a keyspace of this run, and drop it at the end."""
    call_command("sync_cassandra", stdout=io.StringIO())
    close()
    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    with override_settings(
        STORAGES=settings.STORAGES | {"staticfiles": plain},
        SEARCH_INDEX_DIR=tmp_path_factory.mktemp("search"),
        MAILDIR=tmp_path_factory.mktemp("mail") / "caught",
    ):
        yield KEYSPACE
    session().execute(f"DROP KEYSPACE IF EXISTS {KEYSPACE}", timeout=180)
    close()


@pytest.fixture(autouse=True)
def honest_clock(keyspace: str) -> Iterator[None]:
    """Bring the driver back from a journey in time: its clock never runs backwards, and writes of the future win for ever."""
    yield
    clock = session().cluster.timestamp_generator
    clock.last = min(clock.last, time.time_ns() // 1000)


@pytest.fixture(scope="session")
def toxiproxy() -> Iterator[Toxiproxy]:
    """A toxiproxy; each test makes its own lines. A test fails, and says why, where it cannot be built."""
    with toxiproxy_running() as running:
        yield running


@pytest.fixture(scope="session")
def stripe_mock() -> Iterator[str]:
    """The address of a stripe-mock ("http://127.0.0.1:port"). A test fails, and says why, where it cannot be built."""
    with stripe_running() as address:
        yield address

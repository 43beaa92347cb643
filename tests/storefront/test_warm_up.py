"""A web process is warm before it serves: its first visitor waits for nothing that later ones do not wait for."""

import json
import os
import subprocess
import sys
from pathlib import Path
from runpy import run_path
from threading import Event

import pytest

from cassandra_db import CassandraUnavailable
from cassandra_db.session import get_session
from storefront import warm_up
from storefront.wsgi import application
from tests.environment import KEYSPACE, ROOT
from tests.factories import make_product
from tests.web_server import collect_static_files, find_free_port

# What a process still loads, prepares and compiles during its first checkout, after it was warmed up.
FIRST_CHECKOUT = """
import gc, json, sys
from threading import Event
from uuid import UUID
from benchmarks.guest_checkout import GuestCheckout
import django
django.setup()
from cassandra_db import statements
from django.template.base import Template
from storefront.warm_up import warm_up
from storefront.wsgi import application

def watch(owner, name, describe):
    real, seen = getattr(owner, name), []
    def watched(*args, **options):
        seen.append(describe(*args))
        return real(*args, **options)
    setattr(owner, name, watched)
    return seen

sent = watch(statements.Meter, "count_sent", lambda meter, profile, *_: profile)
warm_up(application, Event())
by_warm_up, frozen, loaded = sorted(set(sent)), gc.get_freeze_count(), set(sys.modules)
prepared = watch(statements, "prepare_cql", lambda session, cql: cql)
compiled = watch(Template, "compile_nodelist", lambda template: template.name)
product_id, slug, sku = sys.argv[1:]
guest = GuestCheckout()
guest.view_product(slug)
guest.add(UUID(product_id), sku)
steps = len(list(guest.buy()))
late = prepared + compiled + sorted(set(sys.modules) - loaded)
print(json.dumps({"by_warm_up": by_warm_up, "frozen": frozen, "steps": steps, "late": late}))
"""


def test_x83_a_warm_process_prepares_compiles_and_imports_nothing_at_its_first_checkout() -> None:
    product = make_product("Lamp", listed=True, stock=5)
    variant = product.variants[0]
    done = subprocess.run(
        [
            *(sys.executable, "-c", FIRST_CHECKOUT),
            *(str(product.product_id), product.slug, variant.sku),
        ],
        cwd=ROOT,
        env=os.environ | {"STATIC_ROOT": str(collect_static_files())},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "warm" not in done.stderr  # every page was drawn
    found = json.loads(done.stdout)
    assert found["by_warm_up"] == ["read"]  # nothing is written
    assert found["frozen"] > 10_000
    assert found["steps"] >= 10
    assert not found["late"]


def test_x83_without_cassandra_a_process_serves_and_warms_up_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    can_serve, tries, drawn = Event(), [], []

    def prepare() -> None:
        tries.append(can_serve.is_set())
        if len(tries) < 3:
            raise CassandraUnavailable("no node answers")

    monkeypatch.setattr(warm_up, "prepare_statements", prepare)
    monkeypatch.setattr(warm_up, "open_page", lambda application, path: drawn.append(path))
    monkeypatch.setattr(warm_up, "RETRY_SECONDS", 0)
    monkeypatch.setattr("gc.freeze", lambda: None)  # it would keep all of the suite's
    warm_up.warm_up(application, can_serve)
    assert tries == [False, True, True]
    assert {"/", "/cart/"} < set(drawn)


def test_x83_a_web_process_takes_nobody_before_it_is_warm(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    class ReadyAtTheThirdLook(Event):
        looks = 0

        def wait(self, timeout: float | None = None) -> bool:
            self.looks += 1
            return self.looks == 3

    class GunicornWorker:
        wsgi, alive, signs_of_life = application, True, 0

        def notify(self) -> None:
            self.signs_of_life += 1

    can_serve, worker = ReadyAtTheThirdLook(), GunicornWorker()
    monkeypatch.setattr(warm_up, "start_warm_up", lambda application: can_serve)
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", str(tmp_path))
    run_path(str(ROOT / "gunicorn.conf.py"))["post_worker_init"](worker)
    assert (can_serve.looks, worker.signs_of_life) == (3, 2)


def test_x565_a_server_ends_at_the_schema_of_an_earlier_version() -> None:
    older = f"{KEYSPACE}_older"
    replication = "{'class': 'SimpleStrategy', 'replication_factor': 1}"
    get_session().execute(f"CREATE KEYSPACE {older} WITH replication = {replication}")
    try:
        done = subprocess.run(
            [
                *(sys.executable, "-m", "gunicorn", "storefront.wsgi"),
                *("-c", "gunicorn.conf.py", "--bind", f"127.0.0.1:{find_free_port()}"),
            ],
            cwd=ROOT,
            env=os.environ
            | {"STATIC_ROOT": str(collect_static_files()), "CASSANDRA_KEYSPACE": older},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
    finally:
        get_session().execute(f"DROP KEYSPACE {older}", timeout=60)
    assert done.returncode > 0, done.stderr
    assert f"The keyspace {older} lacks leases, " in done.stderr
    assert "run `manage.py migrate` of this version first" in done.stderr

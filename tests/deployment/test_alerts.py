"""Each alert fires in its own situation, which the test makes: /metrics is read there, and promtool judges what it said."""

import json
import re
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from datetime import timedelta
from io import StringIO
from pathlib import Path
from unittest.mock import Mock
from uuid import uuid4

import pytest
import time_machine
from django.core.management import call_command, get_commands
from django.test import Client
from moneyed import Money
from prometheus_client.parser import text_string_to_metric_families
from pytest_django import Settings

from analytics.days import shop_day
from analytics.event_writer import EventWriter
from books.entities import BookDifference
from books.operations import record_difference
from cassandra_db import CassandraUnavailable, current_microseconds, current_time
from catalogue.index_files import note
from catalogue.operations import record_product_change
from catalogue.search_index import build_index, find_index_age, index_home
from jobs import progress
from jobs.leases import hold_lease, save_position, worker_name
from jobs.registry import list_jobs
from mail.jobs import NAME as MAIL_JOB
from mail.operations import queue_mail
from orders.operations.pending_effects import DUE_EFFECTS
from payments.operations import list_unmatched_payment, unlist_payment
from payments.queries import UnmatchedPayment
from storefront.metrics import BACKUP
from storefront.views import health
from tests.environment import ROOT
from tests.factories import make_product
from tests.tools import PROMTOOL, build_tool

RULES = ROOT / "deploy" / "prometheus-alerts.yml"
RUNBOOK = ROOT / "docs" / "runbook.md"
ALERTS = re.findall(r"- alert: (\w+)", RULES.read_text())
TOKEN = "a-token-of-thirty-two-characters"
MINUTES = 60
HOUR = timedelta(hours=1)
# A job that no other test of this process waits for.
A_JOB = "popular"


def scrape() -> dict[str, float]:
    """Return the shop's own samples, by the name that Prometheus gives their series."""
    answer = Client().get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    assert answer.status_code == 200
    found = {}
    for family in text_string_to_metric_families(answer.content.decode()):
        for name, labels, value, *_ in family.samples:
            if name.startswith("stoa_") and not name.endswith("_bucket"):
                # The scrape's own label comes first; a label of the shop with its name is renamed.
                own = {f"exported_{key}" if key == "job" else key: labels[key] for key in labels}
                pairs = {"job": "stoa", "instance": "shop-1:8001"} | own
                series = ", ".join(f"{key}={json.dumps(pairs[key])}" for key in sorted(pairs))
                found[f"{name}{{{series}}}"] = value
    return found


def make_case(
    before: Mapping[str, float], after: Mapping[str, float], firing: str, up: float = 1
) -> dict[str, object]:
    """Return promtool's test of an hour: gauges stay as they are `after`, counters go on to grow as they have.

    The alert `firing` fires at the end; if it is "", none does.
    """
    series = {'up{job="stoa", instance="shop-1:8001"}': [up] * MINUTES}
    for name, value in after.items():
        step = value - before.get(name, 0) if "_total{" in name else 0
        series[name] = [value + minute * step for minute in range(MINUTES)]
    query = f'count by (alertname) (ALERTS{{alertstate="firing", alertname=~"{firing or ".+"}"}})'
    fired = [{"labels": f'{{alertname="{firing}"}}', "value": 1}] if firing else []
    return {
        "name": firing or "quiet",
        "interval": "1m",
        "input_series": [
            {"series": name, "values": " ".join(str(each).replace("inf", "Inf") for each in values)}
            for name, values in series.items()
        ],
        "promql_expr_test": [
            {"expr": f"{query} > bool 0", "eval_time": f"{MINUTES - 1}m", "exp_samples": fired}
        ],
    }


def run_promtool(*arguments: str | Path) -> str:
    """Return what promtool prints. Raises AssertionError with it if promtool finds something wrong."""
    done = subprocess.run(
        [build_tool(PROMTOOL), *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


# ---- The situations


def move_jobs_to(family: str, age: timedelta) -> None:
    """Let the jobs of a family have done everything up to `age` ago, and nothing since."""
    for job in list_jobs():
        if job.has_name(family):
            with hold_lease(job.name):
                save_position(job.name, (current_time() - age).isoformat())


@contextmanager
def database_away(patch: pytest.MonkeyPatch, folder: Path) -> Iterator[None]:
    patch.setattr(progress, "list_leases", Mock(side_effect=CassandraUnavailable("no node")))
    yield


@contextmanager
def errors(patch: pytest.MonkeyPatch, folder: Path) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as broken:
        broken.setattr(health, "render_metrics", Mock(side_effect=RuntimeError("broken")))
        for _ in range(2):
            visitor = Client(raise_request_exception=False)
            answer = visitor.get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
            assert answer.status_code == 500
    yield


@contextmanager
def clock_ahead(patch: pytest.MonkeyPatch, folder: Path) -> Iterator[None]:
    with time_machine.travel(current_time() + timedelta(seconds=4), tick=True):
        yield


@contextmanager
def failed_job(patch: pytest.MonkeyPatch, folder: Path) -> Iterator[None]:
    with hold_lease(A_JOB) as lease:
        lease.failure = "RuntimeError: broken"
    yield
    with hold_lease(A_JOB) as lease:
        lease.failure = ""


@contextmanager
def vanished_worker(patch: pytest.MonkeyPatch, folder: Path) -> Iterator[None]:
    lease = hold_lease(A_JOB)  # without its block nothing renews it
    with time_machine.travel(current_time() + timedelta(minutes=2), tick=True):
        yield
    with lease:
        pass


@contextmanager
def pending_effect(patch: pytest.MonkeyPatch, folder: Path) -> Iterator[None]:
    move_jobs_to(DUE_EFFECTS.job, 2 * HOUR)
    row = DUE_EFFECTS.note(current_time() - HOUR, order_id=uuid4())
    yield
    DUE_EFFECTS.clear(row)
    move_jobs_to(DUE_EFFECTS.job, timedelta(0))


@contextmanager
def money_without_order(patch: pytest.MonkeyPatch, folder: Path) -> Iterator[None]:
    now = current_time()
    found = BookDifference(uuid4(), "26-0001", "EUR", 0, 0, 4200, now)
    settled = BookDifference(found.order_id, "26-0001", "EUR", 0, 0, 0, now)
    record_difference(shop_day(now), found, current_microseconds())
    yield
    record_difference(shop_day(now), settled, current_microseconds())


@contextmanager
def unmatched_payment(patch: pytest.MonkeyPatch, folder: Path) -> Iterator[None]:
    money, now = Money("42.00", "EUR"), current_time()
    found = UnmatchedPayment(uuid4(), "testbank", "a-reference", "26-0002", money, now)
    list_unmatched_payment(found)
    yield
    unlist_payment(found.payment_id)


@contextmanager
def late_mail(patch: pytest.MonkeyPatch, folder: Path) -> Iterator[None]:
    move_jobs_to(MAIL_JOB, HOUR)
    to, url = f"{uuid4().hex}@example.com", "https://x.example/"
    queue_mail(uuid4(), "asked", to, "registration", {"url": url}, current_time())
    with time_machine.travel(current_time() + HOUR / 2, tick=True):
        yield
    move_jobs_to(MAIL_JOB, timedelta(0))


@contextmanager
def old_index(patch: pytest.MonkeyPatch, folder: Path) -> Iterator[None]:
    patch.setattr("django.conf.settings.SEARCH_INDEX_DIR", folder)
    build_index([])
    (position,) = index_home().glob("*/position")
    note(position, (current_time() - HOUR).isoformat())
    record_product_change(make_product("Late cup").product_id, current_time() - HOUR / 2)
    yield
    assert find_index_age(current_time()) == timedelta(0)


@contextmanager
def shed_events(patch: pytest.MonkeyPatch, folder: Path) -> Iterator[None]:
    EventWriter()._shed(3)
    yield


@contextmanager
def old_backup(patch: pytest.MonkeyPatch, folder: Path) -> Iterator[None]:
    with hold_lease(BACKUP):
        save_position(BACKUP, (current_time() - 30 * HOUR).isoformat())
    yield


Situation = Callable[[pytest.MonkeyPatch, Path], AbstractContextManager[None]]
SITUATIONS: list[tuple[str, Situation]] = [
    ("StoaDatabaseAway", database_away),
    ("StoaErrors", errors),
    ("StoaClockOff", clock_ahead),
    ("StoaJobNeedsAttention", failed_job),
    ("StoaLeaseLost", vanished_worker),
    ("StoaEffectsPending", pending_effect),
    ("StoaPaymentWithoutOrder", money_without_order),
    ("StoaPaymentWithoutOrder", unmatched_payment),
    ("StoaMailLate", late_mail),
    ("StoaSearchIndexOld", old_index),
    ("StoaEventsShed", shed_events),
    ("StoaBackupOld", old_backup),
]


# The first command of the runbook, and what it says in the situation.
FIRST: dict[str, tuple[tuple[str, ...], str]] = {
    "StoaJobNeedsAttention": (("worker", "--status"), rf"{A_JOB} .*; FAILED: RuntimeError: broken"),
    "StoaLeaseLost": (("worker", "--status"), rf"{A_JOB} .*; by {re.escape(worker_name())}"),
    "StoaEffectsPending": (("worker", "--status"), r"orders 1 of 4 .*:\d\d behind"),
    "StoaMailLate": (("worker", "--status"), r"mail 1 of 4 .*:\d\d behind"),
    "StoaSearchIndexOld": (("worker", "--once", "--job", "NAME"), "1 jobs run, 0 failed"),
}


def assert_first_command_helps(alert: str) -> None:
    """Run what the runbook says to run first, if that is a command of the shop's that a test can run."""
    command, words = FIRST[alert]
    section = RUNBOOK.read_text().partition(f"## {alert}\n")[2].partition("\n## ")[0]
    assert f"`manage.py {' '.join(command)}`" in section
    said = StringIO()
    (index_job,) = [job.name for job in list_jobs() if job.name.startswith("search index")]
    with suppress(SystemExit):
        command = tuple(index_job if each == "NAME" else each for each in command)
        call_command(*command, stdout=said, stderr=said)
    assert re.search(words, said.getvalue()), said.getvalue()


def test_x568_x569_each_alert_fires_in_its_situation_and_none_in_a_shop_that_is_well(
    settings: Settings, tmp_path: Path
) -> None:
    settings.METRICS_TOKEN = TOKEN
    cases, after = [], {}
    for alert, situation in SITUATIONS:
        before = scrape()
        with pytest.MonkeyPatch.context() as patch, situation(patch, tmp_path):
            after = scrape()
            if alert in FIRST:
                assert_first_command_helps(alert)
        cases.append(make_case(before, after, alert))
    well = dict.fromkeys(after, 0.0)
    well |= {name: 1.0 for name in after if name.startswith("stoa_cassandra_answers")}
    cases.append(make_case(well, well, "StoaDown", up=0))
    cases.append(make_case(well, well, ""))
    assert {str(case["name"]) for case in cases} == {*ALERTS, "quiet"}
    judged = tmp_path / "alerts.json"
    judged.write_text(json.dumps({"rule_files": [str(RULES)], "tests": cases}))
    run_promtool("test", "rules", judged)
    cases[0]["promql_expr_test"] = cases[-1]["promql_expr_test"]
    judged.write_text(json.dumps({"rule_files": [str(RULES)], "tests": cases[:1]}))
    with pytest.raises(AssertionError, match="StoaDatabaseAway"):
        run_promtool("test", "rules", judged)


def test_x568_the_rules_are_valid_and_the_runbook_has_each_alert() -> None:
    run_promtool("check", "rules", "--lint=all", "--lint-fatal", RULES)
    sections = re.split(r"^## ", RUNBOOK.read_text(), flags=re.MULTILINE)[1:]
    assert [section.splitlines()[0] for section in sections] == ALERTS
    for section in sections:
        assert re.findall(r"^- \*\*(\w+)\.\*\* .{20}", section, re.MULTILINE) == [
            "Means",
            "First",
            "Tried",
        ], section
    named = set(re.findall(r"manage\.py (\w+)", RUNBOOK.read_text()))
    assert len(named) >= 4
    assert named <= get_commands().keys()

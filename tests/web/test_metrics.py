"""What is counted for whoever watches over the shop, and who may read it."""

import os
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families
from pytest_django import Settings

from analytics.event_writer import EventWriter
from cassandra_db import CassandraUnavailable
from jobs import progress
from tests.environment import ROOT
from web.checks import check_secrets
from web.metrics import estimate_quantile

TOKEN = "a-token-of-thirty-two-characters"


def scrape(client: Client) -> dict[tuple[str, ...], float]:
    """Return each sample's value by its name and its labels' values, in the order of their names."""
    answer = client.get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    assert answer.status_code == 200
    assert not answer.cookies
    assert answer["Cache-Control"] == "no-store"
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(answer.content.decode())
        for sample in family.samples
    }


def test_s98_metrics_are_for_who_knows_the_token_alone(client: Client, settings: Settings) -> None:
    right = {"Authorization": f"Bearer {TOKEN}"}
    settings.METRICS_TOKEN = ""
    for headers in ({}, right, {"Authorization": "Bearer "}):
        assert client.get("/metrics", headers=headers).status_code == 404
    settings.METRICS_TOKEN = TOKEN
    for sent in ("", "Bearer ", f"Bearer {TOKEN}x", f"Basic {TOKEN}", "Bearer é"):
        refused = client.get("/metrics", headers={"Authorization": sent})
        assert (refused.status_code, refused["WWW-Authenticate"]) == (401, "Bearer")
        assert b"stoa_" not in refused.content
    settings.METRICS_TOKEN = TOKEN[:-1]
    assert "cassandra_db.E009" in {each.id for each in check_secrets()}


def test_x211_answers_statements_and_jobs_are_counted_and_nothing_that_was_sent_is_a_label(
    client: Client, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.METRICS_TOKEN = TOKEN
    before = scrape(client)
    assert client.get("/help/delivery/").status_code == 200
    for path in ("/no/such/page-4711", "/p/no-such-product-4711/"):
        assert client.get(path).status_code == 404
    client.generic("BREW-4711", "/")
    EventWriter()._shed(3)
    after = scrape(client)

    def grown(*key: str) -> float:
        return after.get(key, 0) - before.get(key, 0)

    assert grown("stoa_requests_total", "GET", "200", "delivery") == 1
    assert grown("stoa_requests_total", "GET", "404", "none") == 1
    assert grown("stoa_requests_total", "GET", "404", "product") == 1
    assert grown("stoa_requests_total", "other", "405", "home") == 1
    assert grown("stoa_request_seconds_count", "delivery") == 1
    assert grown("stoa_request_statements_total", "product") >= 1
    assert grown("stoa_request_rounds_total", "product") >= 1
    assert grown("stoa_statement_seconds_count", "read", "Q1") >= 1
    assert grown("stoa_events_shed_total", "events") == 3
    assert after["stoa_cassandra_answers",] == 1
    assert ("stoa_job_needs_attention", "visits") in after
    assert not [key for key in after if "4711" in str(key)]
    monkeypatch.setattr(
        progress, "list_leases", Mock(side_effect=CassandraUnavailable("no node answers"))
    )
    assert scrape(client)["stoa_cassandra_answers",] == 0


# Three processes count; one of them ends as gunicorn's do.
PROCESSES = """
import os, sys
from prometheus_client import Counter
from web import metrics
THINGS = Counter("stoa_things", "Things")
def count(what):
    child = os.fork()
    if not child:
        THINGS.inc(what)
        metrics.count_statement("Q1", "read", 0.003)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    return child
def total(name):
    return [s.value for family in metrics.collect_metrics() for s in family.samples if s.name == name]
first = count(1)
count(10)
before = total("stoa_things_total"), total("stoa_statement_seconds_count")
metrics.add_up_ended_process(first)
metrics.add_up_ended_process(first)
metrics.add_up_ended_process(count(100))
after = total("stoa_things_total"), total("stoa_statement_seconds_count")
print(before, after)
"""


def test_x212_the_processes_of_a_server_are_added_up_also_those_that_have_ended(
    tmp_path: Path,
) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", PROCESSES],
        cwd=ROOT,
        env=os.environ | {"PROMETHEUS_MULTIPROC_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.stdout.strip() == "([11.0], [2.0]) ([111.0], [3.0])", ended.stderr
    # Of three children one has its files still, beside those of all that have ended, and those of who asked.
    assert len(list(tmp_path.glob("counter_*.db"))) == 3
    assert (tmp_path / "counter_0.db").exists()


def test_x212_a_quantile_lies_between_the_bounds_of_its_range() -> None:
    buckets = [(1.0, 50.0), (2.0, 90.0), (4.0, 100.0), (float("inf"), 100.0)]
    assert [estimate_quantile(buckets, share) for share in (0.25, 0.5, 0.7, 0.95)] == [
        0.5,
        1.0,
        1.5,
        3.0,
    ]
    beyond = [(1.0, 0.0), (float("inf"), 7.0)]
    assert estimate_quantile(beyond, 0.5) == 1.0
    assert estimate_quantile([(float("inf"), 0.0)], 0.5) == 0.0

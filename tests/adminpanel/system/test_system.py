"""The page of the system: nodes, tables, questions, jobs and consistency checks."""

import re
from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from prometheus_client import CollectorRegistry, Counter, Histogram

from adminpanel.system.pages import QuestionLine, TableLine, get_system_status, summarize_questions
from cassandra_db import current_time, nodes
from cassandra_db.partitions import MB, PartitionSize
from consistency.findings import Report, Violation
from consistency.management.commands import check_consistency as command
from consistency.operations import record_check


def test_x213_admins_see_nodes_tables_questions_and_checks(admin_client: Client) -> None:
    now = current_time()
    for minutes, rules in ((2, ()), (1, ("I4", "I12"))):
        began = now + timedelta(days=365, minutes=-minutes)
        violations = [Violation(rule, "a thing", "is wrong") for rule in rules]
        record_check(Report(violations=violations), began, began + timedelta(seconds=75))
    checks = get_system_status(now + timedelta(days=365)).checks[:2]
    assert [(each.violations, each.rules) for each in checks] == [(2, ("I4", "I12")), (0, ())]
    assert checks[0].duration == timedelta(seconds=75)
    record_check(Report(), now, now + timedelta(seconds=75))
    page = admin_client.get(reverse("adminpanel:system"))
    text = page.content.decode()
    assert "All database nodes answer" in text
    assert "1 minute 15 seconds" in text
    seen = page.context["system"]
    assert [node.is_up for node in seen.nodes] == [True]
    assert seen.table_count > 100
    assert {"read", "write"} & {line.kind for line in seen.questions}
    shown = [line for line in seen.questions if line.question != "other"]
    assert shown
    assert all(line.tables for line in shown)
    assert not re.search(r">\s*[A-Z]\d+\s*</th>", text), "names of questions"


def test_x213_a_node_that_gives_no_figures_leaves_the_rest_of_the_page(
    admin_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nodes, "QUESTIONS", ("SELECT figure FROM system_views.no_such_table",) * 2)
    text = admin_client.get(reverse("adminpanel:system")).content.decode()
    assert "No node reported its tables" in text
    assert "gave no figures" in text
    assert "Consistency checks" in text


def test_x213_tables_stand_there_that_are_worth_a_look() -> None:
    def seen(mebibytes: int, tombstones: float) -> bool:
        size = PartitionSize("things", mebibytes, 10 * MB)
        return TableLine(size, tombstones).is_worth_a_look

    assert [seen(0, 0), seen(1, 99), seen(2, 0), seen(0, 100)] == [False, False, True, True]


def test_x213_questions_stand_by_the_time_that_they_took_in_all() -> None:
    registry = CollectorRegistry()
    labels = ("question", "kind")
    seconds = Histogram("stoa_statement_seconds", "", labels, registry=registry, buckets=(1, 2))
    failures = Counter("stoa_statement_failures", "", labels, registry=registry)
    for _ in range(4):
        seconds.labels("Q1", "read").observe(0.25)
    seconds.labels("Q2", "write").observe(1.5)
    failures.labels("Q2", "write").inc()
    failures.labels("Q3", "read").inc(2)
    assert summarize_questions(registry.collect()) == [
        QuestionLine("Q2", "write", 1, 1.5, 1500, 1990, 1),
        QuestionLine("Q1", "read", 4, 1.0, 500, 990, 0),
        QuestionLine("Q3", "read", 0, 0, 0, 0, 2),
    ]


def test_x214_only_a_check_of_the_whole_shop_is_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    recorded: list[Report] = []
    report = Report(checked_counts={"orders": 1})
    monkeypatch.setattr(command, "check_consistency", lambda *_, **__: report)
    monkeypatch.setattr(command, "record_check", lambda found, *_: recorded.append(found))
    call_command("check_consistency", "--rule", "I4", stdout=StringIO())
    assert recorded == []
    call_command("check_consistency", stdout=StringIO())
    assert recorded == [report]

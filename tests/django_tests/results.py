"""A plugin for the run of Django's own tests: writes what became of each beside them, into `results.json`."""

import json
import os
from pathlib import Path

import pytest

_results: dict[str, str] = {}


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note how a test has ended, "passed", "failed" or "skipped": a part of it that failed, it has failed."""
    before = _results.get(report.nodeid)
    if before != "failed" and not (before and report.passed):
        _results[report.nodeid] = report.outcome


def pytest_sessionfinish() -> None:
    """Write them down."""
    results = Path(os.environ["DJANGO_TESTS"]) / "results.json"
    results.write_text(json.dumps(_results), encoding="utf-8")

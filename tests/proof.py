"""What clients got as answers beside what is stored: the big proofs (`make prove`) write it down, and it becomes one page, `.run/prove.html`.

A proof takes the fixture `proof_report`, says what it claims, and adds a row for each thing that a client asked for. A row that does not
agree fails the test, and the page is made of failed proofs, too. With LONG=1 in the environment proofs take more buyers, more
kills and the settings of a real shop.
"""

import json
import os
import platform
import re
import subprocess
import time
from collections.abc import Generator, Iterator
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import django
import pytest

from tests.environment import ROOT

LONG = os.environ.get("LONG", "0") not in ("", "0")
FOLDER, PAGE = ROOT / ".run" / "prove", ROOT / ".run" / "prove.html"
# So many rows of a table stand open on the page.
OPEN_ROWS = 5
_PASSED = pytest.StashKey[bool]()


@dataclass(frozen=True)
class ProofRow:
    """What a client asked for and got as an answer, what is stored of it, and whether the two agree."""

    request: str
    answer: str
    stored: str
    is_match: bool
    table: str


@dataclass
class ProofReport:
    """What one proof reports."""

    test: str
    title: str = ""
    claim: str = ""
    numbers: dict[str, str] = field(default_factory=dict)
    rows: list[ProofRow] = field(default_factory=list)

    def state_claim(self, title: str, claim: str) -> None:
        """Say what harm is done, in a few words, and what is true all the same, in a sentence."""
        self.title, self.claim = title, claim

    def add_figure(self, name: str, value: object) -> None:
        """Note a figure: "killed", 2."""
        self.numbers[name] = str(value)

    def add_row(
        self, request: str, answer: str, stored: str, *, is_match: bool, table: str = ""
    ) -> None:
        """Add a row; those of one `table` stand together under its name."""
        self.rows.append(ProofRow(request, answer, stored, is_match, table))

    @property
    def disagreements(self) -> list[str]:
        return [
            f"{row.request}: answered {row.answer!r}, stored: {row.stored}"
            for row in self.rows
            if not row.is_match
        ]


@pytest.fixture
def proof_report(request: pytest.FixtureRequest, keyspace: str) -> Iterator[ProofReport]:
    """Takes the answers that clients got beside what is stored, for the page; they have to agree."""
    report, began = ProofReport(request.node.nodeid), time.monotonic()
    yield report
    passed = request.node.stash.get(_PASSED, False)
    _write(report, passed=passed and not report.disagreements, seconds=time.monotonic() - began)
    if passed:
        assert report.claim, "a proof says what it claims"
        assert report.rows, "a proof has rows of what was asked, answered and stored"
        assert not report.disagreements, "\n".join(report.disagreements)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Remember how the test itself ended: its fixtures end before it is reported."""
    report = yield
    if call.when == "call":
        item.stash[_PASSED] = report.passed
    return report


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Make the page of what is there, in the process that has started the others."""
    if hasattr(session.config, "workerinput"):
        return
    proofs = [_read(path) for path in FOLDER.glob("*.jsonl")]
    # One that was renamed since would stay there for ever.
    if existing := [proof for proof in proofs if _is_there(proof["test"])]:
        PAGE.write_text(render_page(existing), encoding="utf-8")


# ---- one file a proof: how it went, and then its rows


def _write(report: ProofReport, *, passed: bool, seconds: float) -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    head = {
        "test": report.test,
        "title": report.title,
        "claim": report.claim,
        "numbers": report.numbers,
        "passed": passed,
        "seconds": round(seconds, 1),
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": _commit(),
        "made_with": _made_with(),
        "long": LONG,
    }
    lines = [head, *map(asdict, report.rows)]
    name = re.sub(r"[^a-z0-9]+", "-", report.test.removeprefix("tests/").lower()).strip("-")
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    (FOLDER / f"{name}.jsonl").write_text(text, encoding="utf-8")


def _commit() -> str:
    def git(*words: str) -> str:
        done = subprocess.run(
            ["git", *words], cwd=ROOT, capture_output=True, text=True, check=False
        )
        return done.stdout.strip()

    return (git("rev-parse", "--short=10", "HEAD") or "no commit") + (
        ", changed" if git("status", "--porcelain") else ""
    )


def _made_with() -> str:
    from cassandra_db.session import get_session

    (node,) = get_session().execute("SELECT release_version FROM system.local")
    engine = node["release_version"] if isinstance(node, dict) else node[0]
    return f"Apache Cassandra {engine}, Python {platform.python_version()}, Django {django.get_version()}, {os.cpu_count()} processors"


def _read(path: Path) -> dict[str, Any]:
    head, *rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return {**head, "rows": rows}


def _is_there(test: str) -> bool:
    file, name = test.partition("[")[0].split("::")
    return (ROOT / file).exists() and f"def {name}(" in (ROOT / file).read_text(encoding="utf-8")


# ---- the page


def render_page(proofs: list[dict[str, Any]]) -> str:
    """Return the page of these proofs."""
    from django.template import Context, Engine

    template = Engine().from_string((ROOT / "tests" / "prove.html").read_text(encoding="utf-8"))
    proofs = sorted(map(_proof_context, proofs), key=lambda proof: proof["made"])
    return template.render(
        Context(
            {
                "proofs": proofs,
                "count": sum(proof["count"] for proof in proofs),
                "wrong": sum(proof["wrong"] for proof in proofs),
                "failed": [proof for proof in proofs if not proof["passed"]],
                "made_with": sorted({proof["made_with"] for proof in proofs}),
                "made": proofs[0]["made"],
                "commits": sorted({proof["commit"] for proof in proofs}),
                "long": all(proof["long"] for proof in proofs),
            }
        )
    )


def _proof_context(proof: dict[str, Any]) -> dict[str, Any]:
    file, _, name = proof["test"].partition("::")
    rows = sorted(
        proof["rows"], key=lambda row: row["is_match"]
    )  # what does not agree stands first
    tables = [
        [row for row in rows if row["table"] == each]
        for each in dict.fromkeys(row["table"] for row in proof["rows"])
    ]
    return proof | {
        # One case of several is named by its words.
        "arguments": file
        + (f" -k '{name.partition('[')[2].removesuffix(']')}'" if "[" in name else ""),
        "made": datetime.fromisoformat(proof["made"]),
        "count": len(rows),
        "wrong": sum(not row["is_match"] for row in rows),
        # A fold of two or three is more to read than they are.
        "tables": [
            {
                "name": table[0]["table"],
                "count": len(table),
                "parts": [table]
                if len(table) <= 2 * OPEN_ROWS
                else [table[:OPEN_ROWS], table[OPEN_ROWS:]],
            }
            for table in tables
        ],
    }

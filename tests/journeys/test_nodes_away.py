"""Checkouts while one node of three is killed, two are gone, and one is paused: the benchmark's own run, smaller."""

import re
import subprocess
import sys

import pytest

from tests.environment import ROOT
from tests.proof import ProofReport

CHECKOUTS = 60


@pytest.mark.proof
@pytest.mark.alone
@pytest.mark.long
@pytest.mark.timeout(1500)
def test_no_checkout_is_lost_or_doubled_while_nodes_go_away(proof_report: ProofReport) -> None:
    proof_report.state_claim(
        "Nodes go away among checkouts",
        f"{CHECKOUTS} buyers order from three nodes, {CHECKOUTS} while one of these is killed, {CHECKOUTS} while one hangs for half a minute: each gets"
        " one paid order confirmed, and there is that one. With two nodes gone the checkout says so, charges nothing, and goes on when they are back.",
    )
    command = [sys.executable, "-m", "benchmarks.nodes_away", "--checkouts", str(CHECKOUTS)]
    command += ["--without-bounds"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    parts = re.findall(
        r"^((?:no node|one node|two nodes) [^:]*): (.*); ([^;]*)$", done.stdout, re.MULTILINE
    )
    for what, answers, stored in parts:
        proof_report.add_row(what, answers, stored, is_match=stored == "none lost, none doubled")
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(parts) == 4, done.stdout

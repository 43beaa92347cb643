"""The drill of a loss, as a proof: what `tests.backups.drill` finds."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.environment import ROOT
from tests.proof import ProofReport


@pytest.mark.proof
@pytest.mark.alone
@pytest.mark.timeout(600)
def test_x560_after_a_loss_every_payment_is_an_order_or_listed(
    tmp_path: Path, proof_report: ProofReport
) -> None:
    proof_report.state_claim(
        "All tables are lost",
        "50 people buy while the shop is backed up, 20 more afterwards; then all tables are lost, restored and reconciled, and the"
        " reconciliation is killed once: each payment is an order's or listed, no number is given twice, nobody who was erased is back.",
    )
    command = [sys.executable, "-m", "tests.backups.drill", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    assert done.stdout.strip(), "its error is above"
    found = json.loads(done.stdout.splitlines()[-1])
    print(found)
    for step, seconds in found["seconds"].items():
        proof_report.add_figure(f"seconds of {step}", seconds)
    for name in ("orders", "lost_orders", "payments", "unmatched"):
        proof_report.add_figure(name.replace("_", " "), found[name])
    proof_report.add_row(
        "reconciled",
        next(line for line in found["said"] if line.startswith("testbank")),
        f"{found['unmatched']} of {found['payments']} payments listed",
        is_match=not found["problems"],
    )
    assert not found["problems"]
    assert done.returncode == 0
    # Else it would have shown nothing.
    assert found["lost_orders"] >= 10
    assert found["unmatched"] >= 10

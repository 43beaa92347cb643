"""A release under load: web servers, worker and nodes are restarted in turn, and no visitor notices."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.environment import ROOT
from tests.proof import ProofReport


@pytest.mark.proof
@pytest.mark.alone
@pytest.mark.long
@pytest.mark.timeout(900)
def test_a_rolling_restart_shows_nobody_an_error_page(
    tmp_path: Path, proof_report: ProofReport
) -> None:
    """X567."""
    proof_report.state_claim(
        "Everything is restarted in turn, under load",
        "Two web servers, a worker and three nodes are restarted one after the other behind Caddy with TLS, while buyers order and a"
        " visitor looks at pages: nobody gets an error page, and each buyer has one paid order.",
    )
    command = [sys.executable, "-m", "tests.deployment.rolling_restart", str(tmp_path)]
    with (tmp_path / "said.log").open("w+") as said:
        process = subprocess.Popen(command, cwd=ROOT, stdout=said, stderr=said)
        try:
            process.wait()
        finally:
            process.terminate()  # so that it ends its nodes, too
            process.wait(60)
        said.seek(0)
        text = said.read()
    parts = re.findall(r"^(web server \d|worker|node\d|in all): (.*); (.*)$", text, re.MULTILINE)
    for what, answers, noticed in parts:
        proof_report.add_row(what, answers, noticed, is_match=noticed.startswith("no error page"))
    logs = [path.read_text()[-3000:] for path in tmp_path.glob("*.log")]
    assert process.returncode == 0, "\n".join(logs)
    assert len(parts) == 7, text

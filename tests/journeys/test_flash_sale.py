"""More buyers than units, all at once, over real HTTP (the large one: `python -m benchmarks.flash_sale`)."""

import re
import subprocess
import sys
from collections.abc import Iterator

import pytest

from benchmarks import flash_sale
from tests.environment import ROOT
from tests.journeys.stored_state import buyer_name, report_buyers
from tests.proof import LONG, ProofReport
from tests.web_server import WebServer

BUYERS, UNITS = (600, 60) if LONG else (60, 10)


@pytest.fixture(scope="module")
def ports(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[int]]:
    shops = [
        WebServer(
            tmp_path_factory.mktemp(f"web{number}"), CHECKOUTS_AT_ONCE="1", CHECKOUTS_NEXT="1"
        )
        for number in range(2)
    ]
    try:
        for web in shops:
            web.start()
        yield [web.port for web in shops]
    finally:
        for web in shops:
            web.stop()


@pytest.mark.proof
@pytest.mark.alone
@pytest.mark.timeout(1800 if LONG else 600)
@pytest.mark.parametrize("name", flash_sale.SALES)
def test_a_flash_sale_sells_what_there_is(
    name: str, ports: list[int], proof_report: ProofReport
) -> None:
    proof_report.state_claim(
        f"A flash sale: {name}",
        f"{BUYERS} buyers come within half a second for {UNITS} units: all units are sold, none of them twice; whoever was"
        " told of a paid order has it, and whoever was told anything else has neither paid nor keeps a unit from others.",
    )
    kind = flash_sale.SALES[name]
    sale = flash_sale.make_sale(name, kind, ports[: kind.servers], BUYERS, UNITS)
    flash_sale.run_sale(sale, 0.5, looks_before=1.0)
    paid = sum(bool(buyer.paid_number) for buyer in sale.buyers)
    proof_report.add_figure("buyers", BUYERS)
    proof_report.add_figure("units", UNITS)
    proof_report.add_figure("orders paid", paid)
    proof_report.add_figure("refused, in words", BUYERS - paid)
    proof_report.add_figure("waits in line", sum(buyer.queue_waits for buyer in sale.buyers))
    proof_report.add_figure(
        "the last one answered after", f"{max(buyer.seconds for buyer in sale.buyers):.1f} s"
    )
    report_buyers(
        proof_report,
        sorted(sale.buyers, key=lambda buyer: not buyer.paid_number),
        [variant_id for _, variant_id in sale.products],
        lambda buyer: (
            f"{buyer_name(buyer)} comes"
            + (" with a card that is declined" if buyer.gives_up else "")
        ),
    )
    assert not sale.problems


@pytest.mark.proof
@pytest.mark.alone
@pytest.mark.long
@pytest.mark.timeout(1500)
def test_a_flash_sale_sells_what_there_is_while_a_node_is_killed(proof_report: ProofReport) -> None:
    proof_report.state_claim(
        "A flash sale while a node dies",
        "200 buyers come within a second and a half for 20 units, and one node of three is killed (kill -9) once four of these are paid for:"
        " all units are sold, none of them twice, and nobody sees an error.",
    )
    command = [sys.executable, "-m", "benchmarks.flash_sale", "--kill-node", "--sales", "plain"]
    command += ["--buyers", "200", "--units", "20", "--within", "1.5", "--without-bounds"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    (line,) = re.findall(r"^plain: .*$", done.stdout, re.MULTILINE)
    answers, _, stored = line.rpartition("; ")
    proof_report.add_row(
        "a node killed", answers, stored, is_match=stored == "nothing sold twice or lost"
    )
    assert "20 orders paid" in line
    assert done.returncode == 0, done.stdout + done.stderr

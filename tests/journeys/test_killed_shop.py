"""kill -9 of the web server in the middle of checkouts: a buyer who submits again goes on where they were."""

import asyncio
import time
from pathlib import Path

import pytest

from benchmarks.buyers import NO_ANSWER, run_buyers
from tests.journeys.crowd import Crowd
from tests.journeys.stored_state import buyer_name, report_buyers
from tests.proof import LONG, ProofReport
from tests.web_server import WebServer

CHECKOUTS = 200 if LONG else 40
KILLS_AFTER = (0.1, 0.25, 0.4, 0.55, 0.7, 0.85) if LONG else (0.2, 0.6)  # of the orders


async def _bought_while_killed(web: WebServer, crowd: Crowd) -> None:
    everybody = asyncio.create_task(run_buyers(crowd.buyers, within=4))
    for part in KILLS_AFTER:
        while (
            sum(bool(buyer.paid_number) for buyer in crowd.buyers) < CHECKOUTS * part
            and not everybody.done()
        ):
            await asyncio.sleep(0.02)
        web.kill()
        await asyncio.to_thread(web.start)
    await everybody


@pytest.mark.proof
@pytest.mark.timeout(1200 if LONG else 600)
def test_no_checkout_is_lost_or_doubled(tmp_path: Path, proof_report: ProofReport) -> None:
    """I10."""
    proof_report.state_claim(
        "The web server is killed among checkouts",
        f"{CHECKOUTS} buyers order while the web server is killed {len(KILLS_AFTER)} times by kill -9: each is told of one paid"
        " order in the end, and there is that order and no other, paid once, with its units in stock.",
    )
    web = WebServer(tmp_path, workers=2)
    crowd = Crowd(web.port, CHECKOUTS)
    try:
        web.start()
        started = time.monotonic()
        asyncio.run(_bought_while_killed(web, crowd))
        took = time.monotonic() - started
    finally:
        web.stop()
    proof_report.add_figure("checkouts", CHECKOUTS)
    proof_report.add_figure("kills of the web server", len(KILLS_AFTER))
    proof_report.add_figure("requests without an answer", crowd.answers[NO_ANSWER])
    proof_report.add_figure("took", f"{took:.0f} s")
    proof_report.add_figure("the slowest told after", f"{crowd.longest_seconds:.1f} s")
    assert crowd.answers[NO_ANSWER], "nobody was cut off"
    try:
        crowd.assert_one_order_each()
    finally:
        report_buyers(
            proof_report,
            crowd.buyers,
            crowd.variants,
            lambda buyer: f"{buyer_name(buyer)} orders a cup and a bowl",
        )

"""kill -9 of the web server in the middle of checkouts: whoever presses again goes on where they were."""

import asyncio
import time
from pathlib import Path

import pytest

from benchmarks.buyers import NO_ANSWER, all_bought
from tests.journeys.buying import Crowd
from tests.journeys.stored import name_of, tell_of_buyers
from tests.proof import LONG, Told
from tests.serving import Web

CHECKOUTS = 200 if LONG else 40
KILLS_AFTER = (0.1, 0.25, 0.4, 0.55, 0.7, 0.85) if LONG else (0.2, 0.6)  # of the orders


async def _bought_while_killed(web: Web, crowd: Crowd) -> None:
    everybody = asyncio.create_task(all_bought(crowd.buyers, within=4))
    for share in KILLS_AFTER:
        while (
            sum(bool(buyer.paid) for buyer in crowd.buyers) < CHECKOUTS * share
            and not everybody.done()
        ):
            await asyncio.sleep(0.02)
        web.kill()
        await asyncio.to_thread(web.start)
    await everybody


@pytest.mark.proof
@pytest.mark.timeout(1200 if LONG else 300)
def test_no_checkout_is_lost_or_doubled(tmp_path: Path, told: Told) -> None:
    """I10."""
    told.claims(
        "The web server is killed among checkouts",
        f"{CHECKOUTS} buyers order while the web server is killed {len(KILLS_AFTER)} times by kill -9: each is told of one paid"
        " order in the end, and there is that order and no other, paid once, with its units on the shelves.",
    )
    web = Web(tmp_path, workers=2)
    crowd = Crowd(web.port, CHECKOUTS)
    try:
        web.start()
        started = time.monotonic()
        asyncio.run(_bought_while_killed(web, crowd))
        took = time.monotonic() - started
    finally:
        web.stop()
    told.number("checkouts", CHECKOUTS)
    told.number("kills of the web server", len(KILLS_AFTER))
    told.number("requests without an answer", crowd.answers[NO_ANSWER])
    told.number("took", f"{took:.0f} s")
    told.number("the slowest told after", f"{crowd.slowest:.1f} s")
    assert crowd.answers[NO_ANSWER], "nobody was cut off"
    try:
        crowd.have_one_order_each()
    finally:
        tell_of_buyers(
            told,
            crowd.buyers,
            crowd.variants,
            lambda buyer: f"{name_of(buyer)} orders a cup and a bowl",
        )

"""kill -9 of the web server in the middle of checkouts: whoever presses again goes on where they were."""

import asyncio
import time
from pathlib import Path

import pytest

from benchmarks.buyers import NO_ANSWER, all_bought
from tests.journeys.buying import Crowd
from tests.serving import Web

CHECKOUTS = 40
KILLS_AFTER = (0.2, 0.6)  # of the orders


async def _bought_while_killed(web: Web, crowd: Crowd) -> None:
    everybody = asyncio.create_task(all_bought(crowd.buyers, within=4))
    for share in KILLS_AFTER:
        while sum(bool(buyer.paid) for buyer in crowd.buyers) < CHECKOUTS * share and not everybody.done():
            await asyncio.sleep(0.02)
        web.kill()
        await asyncio.to_thread(web.start)
    await everybody


@pytest.mark.timeout(300)
def test_no_checkout_is_lost_or_doubled(tmp_path: Path) -> None:
    web = Web(tmp_path, workers=2)
    crowd = Crowd(web.port, CHECKOUTS)
    try:
        web.start()
        started = time.monotonic()
        asyncio.run(_bought_while_killed(web, crowd))
        took = time.monotonic() - started
    finally:
        web.stop()
    print(
        f"{CHECKOUTS} checkouts and {len(KILLS_AFTER)} kills in {took:.0f} s, cut off: {crowd.answers[NO_ANSWER]}, "
        f"the slowest told after {crowd.slowest:.1f} s"
    )
    assert crowd.answers[NO_ANSWER], "nobody was cut off"
    crowd.have_one_order_each()

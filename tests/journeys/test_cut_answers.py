"""The answers of conditional writes are cut off on the wire between shop and node: nothing is lost, nothing happens twice."""

import asyncio
import random
import re
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.conf import settings

from benchmarks.buyers import NO_ANSWER, run_buyers
from tests.journeys.crowd import Crowd
from tests.journeys.stored_state import buyer_name, report_buyers
from tests.proof import LONG, ProofReport
from tests.sidecars import Proxy, Toxiproxy
from tests.web_server import WebServer

CHECKOUTS = 200 if LONG else 24
MAX_CROWDS = 12
# What the shop notes of a conditional write whose answer was lost, once it has asked again.
OUTCOME = re.compile(r"a conditional write of (.+) had no answer \((.+)\): it (.+)")
MEANS = {
    "had applied": "asked again, it turned out to have applied",
    "applies now": "it had not applied; sent again, it did",
    "was refused": "asked again, it was refused: it had been done, or somebody had come first",
    "stays unknown": "it stayed unknown: answered 503, the buyer submitted again",
}


@contextmanager
def cut_now_and_then(line: Proxy) -> Iterator[None]:
    """Within the block, cut connections in the middle of what they bring back: by bytes, or by a reset."""
    enough = threading.Event()

    def cut() -> None:
        while not enough.wait(random.uniform(0.5, 1.5)):
            if random.random() < 0.7:
                harm = line.add_toxic("limit_data", 0.7, bytes=random.randrange(1, 3000))
            else:
                harm = line.add_toxic("reset_peer", 0.7, timeout=random.randrange(100))
            enough.wait(random.uniform(0.1, 0.3))
            line.remove_toxic(harm)

    with ThreadPoolExecutor(1) as pool:
        cutting = pool.submit(cut)
        try:
            yield
        finally:
            enough.set()
            cutting.result()


@pytest.mark.proof
@pytest.mark.timeout(900)  # on a machine that may be busy: on a quiet one it takes a minute
def test_of_many_checkouts_none_is_lost_or_doubled(
    toxiproxy: Toxiproxy, tmp_path: Path, proof_report: ProofReport
) -> None:
    """I10."""
    proof_report.state_claim(
        "The database’s answers are cut off",
        "Buyers order while the connections between shop and database are cut in the middle of answers, so that the shop does not"
        " know whether its conditional writes applied: each buyer has one paid order in the end, that of which they were told.",
    )
    database = settings.DATABASES["default"]
    node = f"{database['HOST'].split(',')[0]}:{database['OPTIONS']['connection']['port']}"
    with toxiproxy.make_proxy(node) as line:
        web = WebServer(
            tmp_path, workers=2, CASSANDRA_HOSTS=line.host, CASSANDRA_PORT=str(line.port)
        )
        crowds: list[Crowd] = []
        lost: list[tuple[str, str, str]] = []
        started = time.monotonic()
        try:
            web.start()
            # Of few checkouts it may happen that none loses the answer of a conditional write.
            while not lost and len(crowds) < MAX_CROWDS:
                crowds.append(Crowd(web.port, CHECKOUTS))
                with cut_now_and_then(line):
                    asyncio.run(run_buyers(crowds[-1].buyers, within=CHECKOUTS / 3))
                lost = OUTCOME.findall((tmp_path / "gunicorn.log").read_text())
        finally:
            web.stop()
    took = time.monotonic() - started
    answers = sum((crowd.answers for crowd in crowds), Counter[int]())
    proof_report.add_figure("checkouts", CHECKOUTS * len(crowds))
    proof_report.add_figure("answers of conditional writes lost", len(lost))
    proof_report.add_figure("asked again by buyers", answers[NO_ANSWER] + answers[503])
    proof_report.add_figure("took", f"{took:.0f} s")
    proof_report.add_figure(
        "the slowest told after", f"{max(crowd.longest_seconds for crowd in crowds):.1f} s"
    )
    assert lost, "no answer was cut off"
    assert set(answers) <= {0, 200, 302, 303, 409, 503}, answers
    for crowd in crowds:
        try:
            crowd.assert_one_order_each()
        finally:
            report_buyers(
                proof_report,
                crowd.buyers,
                crowd.variants,
                lambda buyer: f"{buyer_name(buyer)} orders a cup and a bowl",
            )
    for (question, statement, outcome), times in sorted(Counter(lost).items()):
        proof_report.add_row(
            f"{statement} … IF …, for {question}",
            f"nothing, {times}×: the line was cut",
            MEANS[outcome],
            is_match=True,
            table="What the shop asked the database, and got no answer",
        )

"""Two workers, as processes of their own, share a backlog of mail; one is killed by kill -9 and replaced within a minute."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from email import message_from_bytes
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from aiosmtpd.controller import Controller

from cassandra_db.leases import Standing, lease, moved, standings
from cassandra_db.minutes import minute_of
from cassandra_db.progress import progress
from mail.jobs import JOBS
from mail.operations import mail_queued
from tests.environment import ROOT
from tests.serving import free_port

BACKLOG = 160
# How long the mail server thinks about each: long enough for a kill to come in between.
EACH_TAKES = 0.15
MINUTE = 60.0


class PostOffice:
    """A slow mail server that writes down the ids of what it took."""

    def __init__(self) -> None:
        self.took: list[str] = []

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:  # noqa: N802
        await asyncio.sleep(EACH_TAKES)
        self.took.append(str(message_from_bytes(envelope.content)["Message-ID"]))
        return "250 OK"


@pytest.fixture
def office() -> Iterator[tuple[PostOffice, int]]:
    handler = PostOffice()
    controller = Controller(handler, hostname="127.0.0.1", port=free_port())
    controller.start()
    yield handler, controller.port
    controller.stop()


class Hand:
    """A worker: a process of its own, that writes to a log of its own."""

    def __init__(self, folder: Path, name: str, mail_port: int) -> None:
        self.log = folder / f"{name}.log"
        environment = os.environ | {"EMAIL_URL": f"smtp://127.0.0.1:{mail_port}", "LOG_LEVEL": "INFO"}
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "manage.py", "worker", "--job", "mail"], cwd=ROOT, env=environment, stderr=log
            )

    def says(self, words: str) -> bool:
        return words in self.log.read_text()

    def of(self, found: list[Standing]) -> list[str]:
        """The jobs that it ran last, or runs now."""
        return [each.job for each in found if each.worker.endswith(f" {self.process.pid}")]

    def end(self, number: signal.Signals) -> None:
        if self.process.poll() is None:
            self.process.send_signal(number)
        self.process.wait(30)


def until(true: Callable[[], bool], seconds: float, what: str) -> float:
    """Wait until something is true; return how long that took."""
    began = time.monotonic()
    while not true():
        assert time.monotonic() - began < seconds, f"after {seconds:.0f} s: {what}"
        time.sleep(0.1)
    return time.monotonic() - began


def shares() -> list[Standing]:
    return standings([job.name for job in JOBS])


@pytest.mark.timeout(240)
def test_two_workers_share_a_backlog_of_mail_and_a_killed_one_is_replaced_within_a_minute(
    office: tuple[PostOffice, int], tmp_path: Path
) -> None:
    post, port = office
    for job in JOBS:  # what other tests have queued is nobody's here
        with lease(job.name):
            moved(job.name, minute_of(datetime.now(UTC)).isoformat())
    # An hour without a mail server has left all this.
    mails = [
        mail_queued(uuid4(), "asked", f"{uuid4().hex}@example.com", "registration", {"url": "https://x.example/"}, now)
        for now in [datetime.now(UTC)] * BACKLOG
    ]
    wanted = {f"<{mail_id}@stoa.example>" for mail_id in mails}
    hands = [Hand(tmp_path, name, port) for name in ("one", "other")]
    try:
        until(lambda: all(hand.says("working on") for hand in hands), 60, "a worker does not start")
        until(lambda: all(hand.of(shares()) for hand in hands), 30, "one of them does all the work")
        until(lambda: len(post.took) > BACKLOG // 4, 60, "no mail goes out")
        victim, heir = hands
        until(lambda: any(each.holder for each in shares() if each.job in victim.of([each])), 30, "it is idle")
        victim.end(signal.SIGKILL)
        killed = time.monotonic()
        assert heir.process.poll() is None

        # All but the one that was under way: its next attempt is due a minute after the last one.
        until(lambda: len(wanted - set(post.took)) <= 1, MINUTE, f"{len(wanted - set(post.took))} mails wait")
        until(lambda: not victim.of(shares()), MINUTE - (time.monotonic() - killed), "a job of the dead is left alone")
        assert set(heir.of(shares())) == {job.name for job in JOBS}
        counted = Counter(post.took)
        again = [mail for mail in wanted if counted[mail] > 1]
        assert len(again) <= 1, "at most the one that was under way goes out once more"
        # The last mail is out a moment before its run is over and tells what it did.
        until(lambda: all("sent" in each.did for each in shares()), 30, "a job does not tell what it did")
        assert [each.worry for each in progress(JOBS, datetime.now(UTC))] == [""] * len(JOBS)
    finally:
        for hand in hands:
            hand.end(signal.SIGKILL)
    assert heir.says(" sent, 0 failed (took ")

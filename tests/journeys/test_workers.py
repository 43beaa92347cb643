"""Two workers, as processes of their own, share a backlog of mail; one is killed by kill -9 and replaced within two leases.

With the settings of a shop these are a minute (tests/jobs/test_leases.py), which is waited for with LONG=1.
"""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from email import message_from_bytes
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from aiosmtpd.controller import Controller

from jobs.leases import LeaseRow, hold_lease, list_leases, save_position
from jobs.minutes import floor_to_minute, minutes_between
from jobs.progress import list_progress
from mail.jobs import JOBS
from mail.operations import LATEST_OUTBOX_ENTRY, queue_mail
from tests.environment import KEYSPACE, ROOT
from tests.journeys.stored_state import connect_node
from tests.proof import LONG, ProofReport
from tests.waiting import wait_until
from tests.web_server import find_free_port

BACKLOG = 160 if LONG else 60
LEASE = 30.0 if LONG else 10.0  # seconds
# How long the mail server thinks about each: long enough for a kill to come in between.
EACH_TAKES = 0.1


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
    controller = Controller(handler, hostname="127.0.0.1", port=find_free_port())
    controller.start()
    yield handler, controller.port
    controller.stop()


class WorkerProcess:
    """A worker: a process of its own, that writes to a log of its own."""

    def __init__(self, folder: Path, name: str, mail_port: int) -> None:
        self.log = folder / f"{name}.log"
        environment = os.environ | {
            "EMAIL_URL": f"smtp://127.0.0.1:{mail_port}",
            "LOG_LEVEL": "INFO",
            "LEASE_SECONDS": str(LEASE),
        }
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "manage.py", "worker", "--job", "mail"],
                cwd=ROOT,
                env=environment,
                stderr=log,
            )

    def says(self, words: str) -> bool:
        return words in self.log.read_text()

    def of(self, found: list[LeaseRow]) -> list[str]:
        """The jobs that it ran last, or runs now."""
        return [each.job for each in found if each.worker.endswith(f" {self.process.pid}")]

    def end(self, number: signal.Signals) -> None:
        if self.process.poll() is None:
            self.process.send_signal(number)
        self.process.wait(30)


def message_id(mail_id: UUID) -> str:
    return f"<{mail_id}@shop.example>"


def _forget_other_mails() -> None:
    """Leave out what other tests have queued: the workers look at the last minutes again and again."""
    now = datetime.now(UTC)
    for job in JOBS:
        with hold_lease(job.name):
            save_position(job.name, floor_to_minute(now).isoformat())
    with connect_node() as plain:
        for minute in minutes_between(now - 2 * LATEST_OUTBOX_ENTRY, now):
            plain.execute(f"DELETE FROM {KEYSPACE}.outbox_by_minute WHERE minute = %s", [minute])  # noqa: S608


def list_shard_leases() -> list[LeaseRow]:
    return list_leases([job.name for job in JOBS])


@pytest.mark.proof
@pytest.mark.alone
@pytest.mark.timeout(600)
def test_two_workers_share_a_backlog_of_mail_and_a_killed_one_is_replaced_within_two_leases(
    office: tuple[PostOffice, int], tmp_path: Path, proof_report: ProofReport
) -> None:
    proof_report.state_claim(
        "One of two workers is killed",
        f"Of two workers that send {BACKLOG} mails one is killed by kill -9: the other one does its jobs within two leases"
        f" ({2 * LEASE:.0f} s), every mail goes out, and none twice but, at most, the one that was under way.",
    )
    post, port = office
    _forget_other_mails()
    # An hour without a mail server has left all this.
    mails = [
        queue_mail(
            uuid4(),
            "asked",
            f"{uuid4().hex}@example.com",
            "registration",
            {"url": "https://x.example/"},
            now,
        )
        for now in [datetime.now(UTC)] * BACKLOG
    ]
    wanted = set(map(message_id, mails))
    workers = [WorkerProcess(tmp_path, name, port) for name in ("one", "other")]
    try:
        wait_until(
            lambda: all(worker.says("working on") for worker in workers),
            "a worker does not start",
            seconds=60,
        )
        wait_until(
            lambda: all(worker.of(list_shard_leases()) for worker in workers),
            "one of them does all the work",
            seconds=30,
        )
        # Early enough that a share is not done yet: what is left of it is sent by the other worker.
        wait_until(lambda: len(post.took) > BACKLOG // 8, "no mail goes out", seconds=60)
        victim, heir = workers
        wait_until(
            lambda: any(
                each.holder for each in list_shard_leases() if each.job in victim.of([each])
            ),
            "it is idle",
            seconds=30,
        )
        victim.end(signal.SIGKILL)
        killed, before = time.monotonic(), len(post.took)
        assert heir.process.poll() is None

        wait_until(
            lambda: not victim.of(list_shard_leases()),
            "a job of the dead is left alone",
            seconds=2 * LEASE,
        )
        replaced = time.monotonic() - killed
        # All but the one that was under way: its next attempt is due two minutes after the last one.
        wait_until(lambda: len(wanted - set(post.took)) <= 1, "mails wait", seconds=60)
        # The last mail is out a moment before its run is over and notes what it did.
        wait_until(
            lambda: all("sent" in each.result for each in list_shard_leases()),
            "a job does not note what it did",
            seconds=30,
        )
        heir.end(signal.SIGTERM)  # after the job at hand
    except AssertionError as error:
        for worker in workers:
            error.add_note(f"--- {worker.process.pid}\n{worker.log.read_text()}")
        error.add_note(str(list_shard_leases()))
        raise
    finally:
        for worker in workers:
            worker.end(signal.SIGKILL)
    counted = Counter(post.took)
    proof_report.add_figure("mails", BACKLOG)
    proof_report.add_figure("sent before the kill", before)
    proof_report.add_figure("a lease", f"{LEASE:.0f} s")
    proof_report.add_figure("replaced after", f"{replaced:.1f} s")
    report_mails(proof_report, mails, counted)
    assert set(heir.of(list_shard_leases())) == {job.name for job in JOBS}
    again = [mail for mail in wanted if counted[mail] > 1]
    assert len(again) <= 1, "at most the one that was under way goes out once more"
    assert [each.problem for each in list_progress(JOBS, datetime.now(UTC))] == [""] * len(JOBS)
    assert heir.says(" sent, 0 failed (took ")


def report_mails(report: ProofReport, mails: Sequence[UUID], taken: Counter[str]) -> None:
    """Add a row for each mail. Of one that was under way at the kill it is unknown whether it went out: it is tried again."""
    with connect_node() as plain:
        for number, mail_id in enumerate(mails, start=1):
            query = f"SELECT sent_at, attempts, due_at FROM {KEYSPACE}.mails WHERE mail_id = %s"  # noqa: S608
            (sent_at, attempts, due_at) = plain.execute(query, [mail_id]).one()
            times = taken[message_id(mail_id)]
            report.add_row(
                f"mail {number} is to go out",
                f"the mail server took it {times}×" if times else "the mail server has not seen it",
                f"sent at {sent_at:%H:%M:%S}, attempts: {attempts}"
                if sent_at
                else f"under way at the kill; attempts: {attempts}, the next one at {due_at:%H:%M:%S}",
                is_match=times >= 1 if sent_at else attempts == 1 and due_at is not None,
            )

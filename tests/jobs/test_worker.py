"""The worker on a real node, in this process and as a process of its own."""

import logging
import os
import signal
import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta
from io import StringIO
from unittest.mock import Mock
from uuid import uuid4

import pytest
from django.core.management import CommandError, call_command

from cassandra_db import CassandraUnavailable
from jobs import worker
from jobs.leases import claim_lease, get_lease, hold_lease
from jobs.registry import Job, list_jobs
from jobs.worker import Worker
from tests.environment import ROOT
from tests.waiting import wait_until


class Clock:
    """A clock that a test moves; leases are compared with real time, so it only ever stands near it or ahead."""

    def __init__(self) -> None:
        self.now = datetime.now(UTC)

    def __call__(self) -> datetime:
        return self.now

    def pass_by(self, **time: float) -> None:
        self.now += timedelta(**time)


def counting(
    every: timedelta = timedelta(hours=1), did: str = "1 done"
) -> tuple[Job, list[datetime]]:
    runs: list[datetime] = []

    def run(now: datetime) -> str:
        runs.append(now)
        return did

    return Job(f"test-{uuid4()}", every, run), runs


def test_it_runs_a_job_when_it_is_due_and_not_before() -> None:
    clock = Clock()
    job, runs = counting()
    worker = Worker([job], clock)
    worker.run_due_jobs()
    worker.run_due_jobs()
    assert len(runs) == 1
    clock.pass_by(minutes=59)
    worker.run_due_jobs()
    assert len(runs) == 1
    clock.pass_by(minutes=2)
    worker.run_due_jobs()
    assert runs[1] == clock.now


def test_a_second_worker_sees_what_the_first_has_run() -> None:
    job, runs = counting()
    Worker([job]).run_due_jobs()
    Worker([job]).run_due_jobs()
    assert len(runs) == 1


def test_two_workers_at_once_run_a_job_once() -> None:
    others_are_done, runs = threading.Event(), []

    def run(now: datetime) -> str:
        runs.append(now)
        assert others_are_done.wait(20)
        return ""

    job = Job(f"test-{uuid4()}", timedelta(hours=1), run)
    workers = [threading.Thread(target=Worker([job]).run_due_jobs) for _ in range(4)]
    for each in workers:
        each.start()
    wait_until(lambda: sum(each.is_alive() for each in workers) == 1)
    others_are_done.set()
    for each in workers:
        each.join()
    assert len(runs) == 1


def test_a_failing_job_is_logged_with_its_traceback_and_does_not_stop_the_others(
    caplog: pytest.LogCaptureFixture,
) -> None:
    failing = Job(
        f"test-{uuid4()}", timedelta(seconds=10), Mock(side_effect=RuntimeError("the roof leaks"))
    )
    job, runs = counting()
    worker = Worker([failing, job])
    worker.run_due_jobs()
    assert len(runs) == 1
    assert (worker.tally.run_count, worker.tally.failure_count) == (2, 1)
    record = next(record for record in caplog.records if failing.name in record.getMessage())
    assert record.exc_info
    assert "the roof leaks" in caplog.text
    # It did not run, so it stays due; but no worker tries again at once.
    assert get_lease(failing.name).last_run is None
    assert not get_lease(failing.name).is_free(datetime.now(UTC))
    assert get_lease(failing.name).is_free(datetime.now(UTC) + timedelta(seconds=11))


def test_a_dead_workers_job_is_taken_over_within_a_minute() -> None:
    clock = Clock()
    job, runs = counting()
    assert claim_lease(get_lease(job.name), clock.now)  # and never given back
    worker = Worker([job], clock)
    worker.run_due_jobs()
    assert runs == []
    clock.pass_by(seconds=55)
    worker.run_due_jobs()
    assert len(runs) == 1


def test_it_logs_what_a_run_did_and_how_late_it_was(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "worker")
    clock = Clock()
    job, _ = counting(timedelta(minutes=1), did="3 mails sent")
    worker = Worker([job], clock)
    worker.run_due_jobs()
    clock.pass_by(seconds=75)
    worker.run_due_jobs()
    lines = [record.getMessage() for record in caplog.records if job.name in record.getMessage()]
    assert "3 mails sent" in lines[0]
    assert " 15." in lines[1]
    assert "late" in lines[1]


def test_it_survives_cassandra_being_away(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The leases fail twice, as they do when no node answers; the worker waits, tries again and runs the job."""
    job, runs = counting()
    tries = 0

    def away_at_first(name: str) -> object:
        nonlocal tries
        tries += 1
        if tries < 3:
            raise CassandraUnavailable("no Cassandra node answers")
        return get_lease(name)

    slept: list[float] = []
    monkeypatch.setattr(worker, "get_lease", away_at_first)
    running = Worker([job])

    def instead_of_sleeping(seconds: float) -> None:
        slept.append(seconds)
        running._stopping = bool(runs)

    monkeypatch.setattr(running, "_sleep", instead_of_sleeping)
    running.run()
    assert len(runs) == 1
    assert slept[:2] == [1.0, 2.0]
    assert "Cassandra is away" in caplog.text


def test_every_apps_jobs_are_collected_and_named_once() -> None:
    found = list_jobs()
    assert len({job.name for job in found}) == len(found)
    assert all(job.every > timedelta(0) and callable(job.run) for job in found)


def test_the_command_refuses_an_unknown_job() -> None:
    with pytest.raises(CommandError, match="No such job: sweep-the-yard"):
        call_command("worker", "--once", "--job", "sweep-the-yard")


def test_the_command_lists_its_jobs() -> None:
    out = StringIO()
    call_command("worker", "--list", stdout=out)
    assert [line.split("  ")[0] for line in out.getvalue().splitlines()] == [
        job.name for job in list_jobs()
    ]


def test_it_stops_cleanly_on_a_signal() -> None:
    signals = (signal.SIGTERM, signal.SIGINT)
    command = [sys.executable, "manage.py", "worker", "--job", "holds"]
    environment = os.environ | {"LOG_LEVEL": "INFO"}
    started = [
        subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True)
        for _ in signals
    ]
    ended = {}
    for number, process in zip(signals, started, strict=True):
        assert process.stderr
        for line in process.stderr:
            if "working on" in line:
                break
        process.send_signal(number)
        _, rest = process.communicate(timeout=60)
        ended[number] = (process.returncode, "stopped:" in rest)
    assert ended == dict.fromkeys(signals, (0, True))


def test_a_job_leased_elsewhere_is_left_alone() -> None:
    job, runs = counting()
    with hold_lease(job.name):
        Worker([job]).run_due_jobs()
    assert runs == []

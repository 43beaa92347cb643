"""A worker whose clock is wrong runs nothing, and what an earlier one has left in the leases silences nobody."""

import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from io import StringIO
from uuid import uuid4

import pytest
from django.core.management import call_command

from cassandra_db import RAISE_UNKNOWN, SEND_AGAIN, ClockWrong, clock
from jobs import worker as worker_module
from jobs.leases import (
    LOOK_BACK,
    RELEASE,
    SAVE_POSITION,
    Lease,
    claim_lease,
    get_lease,
    get_position,
    hold_lease,
    list_leases,
    save_position,
)
from jobs.management.commands import worker as command
from jobs.progress import list_progress
from jobs.registry import Job, list_jobs
from jobs.worker import Worker
from mail.operations import queue_mail
from mail.queries import get_mail
from orders import queries
from orders.lifecycle.states import PENDING
from tests.environment import ROOT
from tests.factories import make_order

DAY = timedelta(days=1)
# A process whose clock is off, as no setting of the shop can make it.
WORKER = """
import sys, time, time_machine
from django.core.management import execute_from_command_line
with time_machine.travel(time.time() + float(sys.argv[1]), tick=True):
    execute_from_command_line(["manage.py", "worker"])
"""


def job_that_counts() -> tuple[Job, list[datetime]]:
    runs: list[datetime] = []

    def run(now: datetime) -> str:
        runs.append(now)
        return "1 done"

    return Job(f"test-{uuid4()}", timedelta(seconds=10), run), runs


def leave_in_future(job: str, now: datetime) -> None:
    """Leave a lease as a worker did whose clock was a day ahead and compared it with nobody's."""
    lease = claim_lease(get_lease(job), now)
    assert isinstance(lease, Lease)
    ahead = now + DAY
    assert SAVE_POSITION.apply(
        if_lost=SEND_AGAIN, job=job, me=lease.holder, position=ahead.isoformat()
    )
    assert RELEASE.apply(
        if_lost=RAISE_UNKNOWN,
        job=job,
        me=lease.holder,
        nobody=None,
        until=ahead,
        ran_at=ahead,
        result="1 done",
        result_at=ahead,
        duration_ms=1,
        failure=None,
        failed_rows=None,
    )


def test_i11_workers_a_day_ahead_and_a_day_behind_run_nothing_and_say_so() -> None:
    now = datetime.now(UTC)
    order = make_order(now=now - timedelta(minutes=2))
    mail_id = queue_mail(uuid4(), "asked", "a@example.com", "registration", {"url": "x"}, now)
    names = [job.name for job in list_jobs()]
    before = list_leases(names)
    for offset in (DAY, -DAY):
        process = subprocess.Popen(
            [sys.executable, "-c", WORKER, str(offset.total_seconds())],
            cwd=ROOT,
            env=os.environ | {"LOG_LEVEL": "INFO"},
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stderr
        said = next(line for line in process.stderr if "no job runs" in line)
        process.terminate()
        process.communicate(timeout=60)
        assert ("ahead of" if offset == DAY else "behind") in said
    assert list_leases(names) == before, "no lease was taken, no position saved"
    found, mail = queries.get_order(order.order_id), get_mail(mail_id)
    assert found
    assert found.state == PENDING, "nothing expires early"
    assert mail
    assert (mail.attempts, mail.sent_at) == (0, None)


def test_i11_a_worker_goes_on_when_its_clock_is_right_again(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Its clock jumps a day in the middle of its work: it does not sleep until then, or count from there."""
    job, runs = job_that_counts()
    now, offset = datetime.now(UTC), timedelta(0)
    working = Worker([job], lambda: now + offset)
    working.run_due_jobs()
    for offset in (DAY, -DAY):
        with monkeypatch.context() as patch:
            patch.setattr(worker_module, "require_right_clock", _refuse)
            with pytest.raises(ClockWrong):
                working.run_due_jobs()
        working._look_at[job.name] = now + offset + job.every
        assert working._idle_seconds() <= 5
    # Right again: what was reckoned with the other time does not count.
    working._look_at[job.name] = now + DAY
    offset = timedelta(seconds=11)
    working.run_due_jobs()
    assert runs == [now, now + offset]
    slept: list[float] = []

    def stop(seconds: float) -> None:
        slept.append(seconds)
        working._stopping = True

    monkeypatch.setattr(working, "_sleep", stop)
    monkeypatch.setattr(worker_module, "require_right_clock", _refuse)
    working.run()
    assert slept == [5.0]
    assert "no job runs: a day ahead" in caplog.text


def _refuse() -> None:
    raise ClockWrong("a day ahead")


def test_i11_what_lies_in_the_future_counts_as_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    now = datetime.now(UTC)
    job, runs = job_that_counts()
    leave_in_future(job.name, now)
    (progress,) = list_progress([job], now)
    assert progress.problem == "dated in the future"
    monkeypatch.setattr(command, "list_jobs", lambda: [job])
    said = StringIO()
    with pytest.raises(SystemExit):
        call_command("worker", "--status", stdout=said)
    assert "DATED IN THE FUTURE" in said.getvalue()

    looked_back = datetime.fromisoformat(get_position(job.name))
    assert abs(looked_back + LOOK_BACK - now) < timedelta(minutes=1)
    Worker([job]).run_due_jobs()
    assert len(runs) == 1
    # A day later the position is no longer in the future, and still one that nobody can have come to when it was saved.
    assert get_lease(job.name).is_position_wrong(now + 2 * DAY)
    with hold_lease(job.name):
        save_position(job.name, now.isoformat())
    assert list_progress([job], now)[0].problem == ""


def test_i11_a_position_never_passes_the_earliest_node(monkeypatch: pytest.MonkeyPatch) -> None:
    job, now = f"test-{uuid4()}", datetime.now(UTC)
    monkeypatch.setattr(clock, "last_comparison", nodes_behind(0, 3))
    with hold_lease(job):
        save_position(job, (now - timedelta(minutes=5)).isoformat())
        assert get_position(job) == (now - timedelta(minutes=5)).isoformat()
        save_position(job, (now + DAY).isoformat())
        reached = datetime.fromisoformat(get_lease(job).position)
    assert reached < datetime.now(UTC) - timedelta(seconds=2.9)


def test_i11_a_node_that_is_behind_takes_no_position_back(monkeypatch: pytest.MonkeyPatch) -> None:
    job, now = f"test-{uuid4()}", datetime.now(UTC)
    since_1970 = now.timestamp()
    with hold_lease(job):
        # No job waits for a node that is far behind.
        for seconds, behind in enumerate((0, DAY.total_seconds(), since_1970)):
            monkeypatch.setattr(clock, "last_comparison", nodes_behind(0, 0, behind))
            reached = (now - timedelta(seconds=2 - seconds)).isoformat()
            save_position(job, reached)
            assert get_position(job) == reached, behind
        # One that is a little behind is waited for.
        monkeypatch.setattr(clock, "last_comparison", nodes_behind(0, 8))
        save_position(job, datetime.now(UTC).isoformat())
        assert get_position(job) == now.isoformat()
        save_position(job, (now - DAY).isoformat())
        assert get_position(job) == (now - DAY).isoformat(), "a job may still go back by itself"


def test_i11_what_a_wrong_node_says_of_a_positions_writing_does_not_count(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The node that is a day behind writes the position, too, and says that it was in the future then."""
    job, now = f"test-{uuid4()}", datetime.now(UTC)
    leave_in_future(job, now)
    later = now + 2 * DAY
    monkeypatch.setattr(clock, "last_comparison", nodes_behind(0, 0, DAY.total_seconds()))
    assert not get_lease(job).is_position_wrong(later)
    assert get_lease(job).is_position_wrong(now), "it is still in the future"
    monkeypatch.setattr(clock, "last_comparison", nodes_behind(0, 0, 0))
    assert get_lease(job).is_position_wrong(later)


def nodes_behind(*seconds: float) -> clock.ClockComparison:
    """A comparison with nodes that are so far behind, made just now."""
    found = clock.compare_clocks()
    nodes = {str(number): timedelta(seconds=each) for number, each in enumerate(seconds)}
    return clock.ClockComparison(nodes, found.checked_at, found.jumps_from)

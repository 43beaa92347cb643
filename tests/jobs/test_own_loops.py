"""A job with a loop of its own: it waits for no other job, and stops and fails with its worker."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from uuid import uuid4

import pytest

from cassandra_db import CassandraUnavailable
from jobs import worker
from jobs.leases import get_lease
from jobs.registry import Job
from jobs.worker import Worker
from tests.waiting import wait_until

OFTEN = timedelta(milliseconds=20)


@contextmanager
def running(*jobs: Job) -> Iterator[list[Exception]]:
    """Run a worker in a thread; yield what it raised. Stop it at the end of the block."""
    raised: list[Exception] = []
    present = Worker(jobs)

    def run() -> None:
        try:
            present.run()
        except Exception as error:  # noqa: BLE001 -- the test looks at it
            raised.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield raised
    finally:
        present.stop()
        thread.join(30)
        assert not thread.is_alive()


def make_job(run: Callable[[datetime], str], **options: bool) -> Job:
    return Job(f"test-{uuid4()}", OFTEN, run, **options)  # type: ignore[arg-type]


def test_x300_a_job_with_its_own_loop_waits_for_no_other_job_and_stops_with_its_worker() -> None:
    runs, may_end = list[str](), threading.Event()

    def run(now: datetime) -> str:
        runs.append(threading.current_thread().name)
        return "1 done"

    def stall(now: datetime) -> str:
        assert may_end.wait(30)
        return ""

    own = make_job(run, has_own_loop=True)
    with running(make_job(stall), own):
        wait_until(lambda: len(runs) >= 3)
        assert set(runs) == {own.name}
        may_end.set()
    count = len(runs)
    assert not [thread for thread in threading.enumerate() if thread.name == own.name]
    assert (get_lease(own.name).result, len(runs)) == ("1 done", count)
    assert get_lease(own.name).is_free(datetime.now().astimezone())


def test_x300_a_loop_that_breaks_ends_its_worker_with_its_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    own = make_job(lambda now: "", has_own_loop=True)

    def break_down(name: str) -> object:
        raise OSError("no space left on device")

    monkeypatch.setattr(worker, "get_lease", break_down)
    with running(own) as raised:
        wait_until(lambda: bool(raised))
    assert str(raised[0]) == "no space left on device"


def test_x300_an_own_loop_goes_on_after_cassandra_was_away(monkeypatch: pytest.MonkeyPatch) -> None:
    runs, answers = list[datetime](), threading.Event()

    def run(now: datetime) -> str:
        runs.append(now)
        return ""

    def away_at_first(name: str) -> object:
        if answers.is_set():
            return get_lease(name)
        answers.set()
        raise CassandraUnavailable("no Cassandra node answers")

    monkeypatch.setattr(worker, "get_lease", away_at_first)
    with running(make_job(run, has_own_loop=True)):
        wait_until(lambda: bool(runs))

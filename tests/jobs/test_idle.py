"""An idle shop's worker asks Cassandra little, and what falls due meanwhile is done as soon as before (decision 014)."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock
from uuid import UUID, uuid4

import pytest
from pytest_django import Settings

from cassandra_db import CassandraUnavailable, Statement, truncate_to_milliseconds
from cassandra_db.configuration import READ
from inventory.entities import Allocation
from inventory.operations import record_reservation_expiries
from inventory.queries import RESERVATION_EXPIRIES
from jobs.leases import (
    CLAIM,
    RELEASE,
    SAVE_POSITION,
    SELECT_LEASE,
    get_lease,
    hold_lease,
    save_position,
)
from jobs.minutes import floor_to_minute
from jobs.progress import JobProgress
from jobs.registry import Job, list_jobs, make_sharded_jobs
from jobs.shards import Shard
from jobs.worker import Worker
from mail.jobs import send_mails
from mail.operations import queue_mail
from mail.queries import derive_mail_id, get_mail
from orders.jobs import sweep_expired_reservations, sweep_pending_effects
from orders.operations import record_pending_effects
from orders.queries import PENDING_EFFECTS
from tests.jobs.test_worker import Clock
from tests.shards import SingleItemShard

EVERY, IDLE_EVERY = timedelta(seconds=10), timedelta(minutes=1)
LEASE_COLUMNS = (
    *("holder", "held_until", "position", "position_written", "last_run"),
    *("worker", "result", "result_at", "duration_ms", "failure", "failed_rows"),
)


class Post:
    """A job's things to do, and when it ran and was asked for them."""

    def __init__(self) -> None:
        self.waiting = 0
        self.runs: list[datetime] = []
        self.asked: list[datetime] = []

    def run(self, now: datetime) -> str:
        self.runs.append(now)
        done, self.waiting = self.waiting, 0
        return f"{done} done" if done else ""

    def has_work(self, now: datetime) -> bool:
        self.asked.append(now)
        return bool(self.waiting)

    def make_job(self, *, asks: bool = False) -> Job:
        return Job(
            f"test-{uuid4()}",
            EVERY,
            self.run,
            idle_every=IDLE_EVERY,
            has_work=self.has_work if asks else None,
        )


def run_for(worker: Worker, clock: Clock, time: timedelta) -> None:
    """Let a worker work as long as its clock says, without waiting for it."""
    until = clock.now + time
    worker.run_due_jobs()
    while clock.now < until:
        nap = timedelta(seconds=max(worker._idle_seconds(), 0.001))
        clock.now += min(nap, until - clock.now)
        worker.run_due_jobs()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    clock.now = truncate_to_milliseconds(clock.now)
    monkeypatch.setattr("jobs.leases.current_time", clock)
    return clock


def test_a_job_that_cannot_say_whether_it_has_work_runs_and_stops_no_other(clock: Clock) -> None:
    post, other = Post(), Post()
    worker = Worker((post.make_job(asks=True), other.make_job()), clock=clock)
    run_for(worker, clock, EVERY)
    job = replace(
        post.make_job(asks=True),
        has_work=Mock(side_effect=CassandraUnavailable("no node has this minute")),
    )
    worker.jobs = (job, other.make_job())
    run_for(worker, clock, IDLE_EVERY)
    assert len(post.runs) > 3
    assert len(other.runs) >= 2


def test_s80_a_job_that_found_nothing_rests_longer_until_it_finds_something(clock: Clock) -> None:
    post = Post()
    worker = Worker([post.make_job()], clock)
    run_for(worker, clock, timedelta(minutes=10))
    assert 10 <= len(post.runs) <= 11
    post.waiting, before, count = 3, clock.now, len(post.runs)
    run_for(worker, clock, IDLE_EVERY + EVERY)
    found, following, *_ = post.runs[count:]
    assert found - before <= IDLE_EVERY
    assert following - found == EVERY


def test_s80_a_job_that_must_not_be_late_is_asked_without_a_lease_and_runs_at_once(
    clock: Clock,
) -> None:
    post = Post()
    job = post.make_job(asks=True)
    worker = Worker([job], clock)
    run_for(worker, clock, timedelta(minutes=10))
    assert 10 <= len(post.runs) <= 11
    assert len(post.asked) >= 40
    post.waiting, count = 1, len(post.runs)
    run_for(worker, clock, EVERY)
    assert len(post.runs) == count + 1
    # A worker that has just started asks as well, and so does `worker --once`.
    run_for(worker, clock, IDLE_EVERY / 2)
    post.waiting, count = 1, len(post.runs)
    clock.now += EVERY
    Worker([job], clock).run_due_jobs()
    assert len(post.runs) == count + 1


def test_s80_the_shards_of_a_job_are_asked_together(clock: Clock) -> None:
    post = Post()
    worker = Worker([post.make_job(asks=True) for _ in range(4)], clock)
    run_for(worker, clock, timedelta(minutes=1))
    asked = len(post.asked)
    run_for(worker, clock, timedelta(minutes=10))
    assert len(post.asked) - asked <= 61


def test_s80_only_the_shard_with_work_runs(clock: Clock) -> None:
    runs: list[Shard] = []

    def run(now: datetime, shard: Shard) -> str:
        runs.append(shard)
        return ""

    work: set[UUID] = set()
    jobs = make_sharded_jobs(
        f"test-{uuid4()}", EVERY, run, idle_every=IDLE_EVERY, has_work=lambda now: work
    )
    worker = Worker(jobs, clock)
    run_for(worker, clock, EVERY * 1.5)
    assert len(runs) == len(jobs)
    work.add(UUID(int=2))
    run_for(worker, clock, EVERY)
    assert [shard.number for shard in runs[len(jobs) :]] == [2]


def test_s80_workers_rest_together_and_one_that_rests_is_not_behind(clock: Clock) -> None:
    post = Post()
    job = post.make_job()
    run_for(Worker([job], clock), clock, timedelta(seconds=1))
    run_for(Worker([job], clock), clock, IDLE_EVERY - timedelta(seconds=2))
    assert len(post.runs) == 1
    later = post.runs[0] + IDLE_EVERY
    assert JobProgress(job, get_lease(job.name), later).delay == timedelta(0)
    assert JobProgress(job, get_lease(job.name), later).problem == ""


def test_s80_a_job_that_has_left_something_over_or_failed_does_not_rest() -> None:
    job, now = Post().make_job(), datetime.now(UTC)

    def find_pause(position: datetime, failure: str = "") -> timedelta:
        with hold_lease(job.name) as lease:
            lease.last_run, lease.failure = now, failure
            save_position(job.name, position.isoformat())
        return JobProgress(job, get_lease(job.name), now).pause

    assert find_pause(now) == IDLE_EVERY
    assert find_pause(now, "RuntimeError: the roof leaks") == EVERY
    assert find_pause(now - timedelta(minutes=2)) == EVERY


class IdleTables:
    """Answers as the tables of an idle shop do: the leases as they were left, and nothing else. What is asked is counted."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.leases: dict[str, dict[str, Any]] = {}
        self.asked: Counter[str] = Counter()
        monkeypatch.setattr(Statement, "start", lambda statement, **key: self.read(statement, key))
        monkeypatch.setattr(
            Statement, "apply", lambda statement, if_lost, **sent: self.write(statement, sent)
        )

    def read(self, statement: Statement, key: dict[str, Any]) -> "IdleTables.Answer":
        assert statement.profile == READ, f"an idle worker writes {statement}"
        self.asked[statement.question] += 1
        lease = self.leases.get(key["job"]) if statement is SELECT_LEASE else None
        return self.Answer([SimpleNamespace(**lease)] if lease else [])

    def write(self, statement: Statement, sent: dict[str, Any]) -> bool:
        assert statement in (CLAIM, SAVE_POSITION, RELEASE), f"an idle worker writes {statement}"
        self.asked[statement.question] += 1
        lease = self.leases.setdefault(sent["job"], dict.fromkeys(LEASE_COLUMNS))
        if statement is CLAIM:
            lease |= {"holder": sent["me"], "held_until": sent["until"]}
        elif statement is RELEASE:
            lease |= {"holder": None, "held_until": sent["until"], "last_run": sent["ran_at"]}
        lease |= {name: sent[name] for name in LEASE_COLUMNS if name in sent}
        return True

    @dataclass
    class Answer:
        found: list[Any]

        def rows(self) -> list[Any]:
            return self.found

        def one(self) -> Any:
            return self.found[0] if self.found else None


def test_s80_an_idle_worker_asks_at_most_six_times_a_second(
    clock: Clock, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, settings: Settings
) -> None:
    settings.SEARCH_INDEX_DIR = tmp_path
    monkeypatch.setattr("jobs.leases.earliest_node_time", clock)
    monkeypatch.setattr(Statement, "iterate_table", lambda *_, **__: iter(()))
    tables = IdleTables(monkeypatch)
    # What runs once an hour, or once a day, looks through the shop then.
    jobs = [job for job in list_jobs() if job.longest_pause < timedelta(hours=1)]
    worker = Worker(jobs, clock)
    run_for(worker, clock, timedelta(minutes=1))  # what each does first
    tables.asked.clear()
    run_for(worker, clock, timedelta(hours=1))
    print(tables.asked)
    assert worker.tally.failure_count == 0
    assert len(tables.leases) == len(jobs) >= 20
    assert tables.asked["mail"] > 1800
    # With the comparisons of clocks, and what runs once an hour, six a second.
    assert tables.asked.total() <= 5.8 * 3600
    for job in jobs:
        assert JobProgress(job, get_lease(job.name), clock.now).problem == ""


def find_job(family: str, run: Callable[[datetime, Shard], str], item_id: UUID) -> Job:
    """Return the first shard of a job, as it is, but for one thing alone and with a lease of its own."""
    job = next(job for job in list_jobs() if job.family == family)
    shard = SingleItemShard(f"test-{uuid4()}", item_id=item_id)
    return replace(job, name=shard.job_name, run=lambda now: run(now, shard), shard=shard)


def test_s80_mail_effects_and_expiry_are_as_soon_as_when_the_shop_is_busy(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A time that no other test has left anything in.
    clock.now = datetime(2001, 1, 1, tzinfo=UTC) + timedelta(minutes=uuid4().int % 10**6)
    monkeypatch.setattr("mail.operations.current_time", clock)
    subject_id, order_id = uuid4(), uuid4()
    mail_id = derive_mail_id(subject_id, "asked")
    mail = find_job("mail", send_mails, mail_id)
    effects = find_job("orders", sweep_pending_effects, order_id)
    expiry = find_job("holds", sweep_expired_reservations, order_id)
    for job in (mail, effects, expiry):
        with hold_lease(job.name):
            save_position(job.name, floor_to_minute(clock.now).isoformat())
    worker = Worker([mail, effects, expiry], clock)
    run_for(worker, clock, timedelta(minutes=9))
    runs = worker.tally.run_count
    run_for(worker, clock, timedelta(seconds=100))
    assert worker.tally.run_count - runs <= 3  # it rests

    queue_mail(subject_id, "asked", "ada@example.com", "registration", {"url": "/"}, clock.now)
    minute = floor_to_minute(clock.now)
    record_pending_effects(order_id, clock.now)
    reserved = Allocation(1, uuid4(), uuid4(), "berlin", 1, uuid4())
    record_reservation_expiries(order_id, [reserved], clock.now)
    run_for(worker, clock, mail.every)
    sent = get_mail(mail_id)
    assert sent
    assert sent.sent_at
    # A minute is looked at two minutes later, when nobody writes to it any more.
    run_for(worker, clock, minute + timedelta(minutes=2) - clock.now + effects.every)
    assert not PENDING_EFFECTS.all(minute=minute)
    run_for(worker, clock, expiry.every - effects.every)
    assert not RESERVATION_EXPIRIES.all(minute=minute)

    # A process that was delayed writes four minutes late (MAX_WRITE_DELAY), and everything rests again.
    run_for(worker, clock, timedelta(minutes=9))
    late = clock.now - timedelta(minutes=4)
    record_pending_effects(order_id, late)
    record_reservation_expiries(order_id, [reserved], late)
    run_for(worker, clock, effects.every)
    assert not PENDING_EFFECTS.all(minute=floor_to_minute(late))
    run_for(worker, clock, expiry.every - effects.every)
    assert not RESERVATION_EXPIRIES.all(minute=floor_to_minute(late))

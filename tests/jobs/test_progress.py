"""Shards of a heavy job, and what the workers record of what they did and how far behind they are."""

from datetime import UTC, datetime, timedelta
from io import StringIO
from uuid import uuid4

import pytest
from django.core.management import call_command

from jobs import registry as registered
from jobs.leases import claim_lease, get_lease, hold_lease, list_leases, save_position, worker_name
from jobs.management.commands import worker as command
from jobs.progress import TOO_LATE, list_progress
from jobs.registry import SHARDS, Job, make_sharded_jobs
from jobs.shards import Shard
from jobs.worker import Worker


def made(
    did: str = "1 done",
    every: timedelta = timedelta(seconds=10),
    normal_lag: timedelta = timedelta(0),
) -> Job:
    return Job(f"test-{uuid4()}", every, lambda now: did, normal_lag)


def test_each_thing_belongs_to_one_shard_and_none_is_left_out() -> None:
    found: dict[str, list[int]] = {}
    things = [uuid4() for _ in range(400)]
    name = f"test-{uuid4()}"

    def run(now: datetime, shard: Shard) -> str:
        found[shard.job_name] = [
            number for number, thing in enumerate(things) if shard.has_id(thing)
        ]
        return f"{len(found[shard.job_name])} things"

    jobs = make_sharded_jobs(name, timedelta(hours=1), run)
    assert [job.name for job in jobs] == [
        f"{name} {number} of {SHARDS}" for number in range(1, SHARDS + 1)
    ]
    assert all(
        job.has_name(name) and job.has_name(job.name) and not job.has_name("mail") for job in jobs
    )
    Worker(jobs).run_due_jobs()
    assert sorted(number for numbers in found.values() for number in numbers) == list(range(400))
    assert all(len(numbers) > 50 for numbers in found.values())
    assert Shard("alone").job_name == "alone"
    assert all(Shard("alone").has_id(thing) for thing in things)


def test_a_run_leaves_what_it_did_how_long_it_took_and_who_it_was() -> None:
    job = made("3 mails sent")
    before = datetime.now(UTC)
    Worker([job]).run_due_jobs()
    lease = get_lease(job.name)
    assert (lease.result, lease.worker, lease.failure) == ("3 mails sent", worker_name(), "")
    assert lease.result_at
    assert lease.result_at >= before - timedelta(seconds=1)
    assert lease.duration is not None
    assert lease.duration < timedelta(minutes=1)
    # A run with nothing to do does not hide what was done last.
    Worker(
        [Job(job.name, job.every, lambda now: "")],
        lambda: datetime.now(UTC) + timedelta(seconds=11),
    ).run_due_jobs()
    assert get_lease(job.name).result == "3 mails sent"


def test_a_failure_is_shown_until_a_run_succeeds() -> None:
    fails = True

    def run(now: datetime) -> str:
        if fails:
            raise RuntimeError("the roof leaks")
        return ""

    job = Job(f"test-{uuid4()}", timedelta(seconds=5), run)
    Worker([job]).run_due_jobs()
    (progress,) = list_progress([job], datetime.now(UTC))
    assert (progress.lease.failure, progress.problem) == ("RuntimeError: the roof leaks", "failed")
    fails = False
    later = datetime.now(UTC) + timedelta(seconds=90)
    Worker([job], lambda: later).run_due_jobs()
    (progress,) = list_progress([job], later)
    assert (progress.lease.failure, progress.problem) == ("", "")


def test_it_shows_how_late_a_job_is_and_how_far_behind_its_position() -> None:
    job, now = made(normal_lag=timedelta(minutes=5)), datetime.now(UTC)
    assert list_progress([job], now)[0].problem == "has never run"
    with hold_lease(job.name) as lease:
        lease.last_run = now
        save_position(job.name, (now - timedelta(minutes=5)).isoformat())
    (progress,) = list_progress([job], now)
    assert (progress.problem, progress.delay, progress.backlog_age, progress.is_running) == (
        "",
        timedelta(0),
        timedelta(0),
        False,
    )
    (progress,) = list_progress([job], now + timedelta(seconds=70))
    assert progress.delay
    assert round(progress.delay.total_seconds()) == 60
    assert progress.problem == ""
    (progress,) = list_progress([job], now + TOO_LATE + timedelta(seconds=20))
    assert progress.problem == "not running"
    with hold_lease(job.name) as lease:
        lease.last_run = now
        save_position(job.name, (now - timedelta(minutes=65)).isoformat())
    (progress,) = list_progress([job], now)
    assert progress.problem == "behind"
    assert timedelta(minutes=59) < progress.backlog_age <= timedelta(hours=1)


def test_a_job_at_which_somebody_is_just_now_is_running_and_not_late() -> None:
    job = made()
    with hold_lease(job.name) as lease:
        lease.last_run = datetime.now(UTC) - timedelta(hours=1)
    now = datetime.now(UTC)
    assert claim_lease(get_lease(job.name), now)
    (progress,) = list_progress([job], now)
    assert progress.is_running
    assert progress.problem == ""
    (progress,) = list_progress([job], now + timedelta(minutes=1))  # it fell silent: killed
    assert progress.problem == "not running"


def test_several_standings_are_read_side_by_side() -> None:
    names = [f"test-{uuid4()}" for _ in range(3)]
    with hold_lease(names[1]):
        found = list_leases(names)
    assert [each.job for each in found] == names
    assert [each.holder is not None for each in found] == [False, True, False]


def test_the_command_reports_and_its_status_says_whether_somebody_should_look(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    well, ill = made("3 mails sent"), made()
    Worker([well]).run_due_jobs()
    monkeypatch.setattr(command, "list_jobs", lambda: [well])
    out = StringIO()
    call_command("worker", "--status", stdout=out)
    output = out.getvalue()
    assert f"{well.name}" in output
    assert f"by {worker_name()}; 3 mails sent at " in output
    assert output.endswith("1 jobs, 0 to look at.\n")
    monkeypatch.setattr(command, "list_jobs", lambda: [well, ill])
    out = StringIO()
    with pytest.raises(SystemExit, match="1"):
        call_command("worker", "--status", stdout=out)
    assert f"{ill.name:32}  has never run" in out.getvalue()
    assert "2 jobs, 1 to look at." in out.getvalue()


def test_the_heavy_jobs_of_the_shop_are_shared() -> None:
    families = [job.family for job in registered.list_jobs() if job.family]
    assert {family: families.count(family) for family in families} == dict.fromkeys(
        ("mail", "orders", "holds"), SHARDS
    )

"""Shares of a heavy job, and what the workers tell about what they did and how far behind they are."""

from datetime import UTC, datetime, timedelta
from io import StringIO
from uuid import uuid4

import pytest
from django.core.management import call_command

from jobs import registry as registered
from jobs.leases import claim_lease, get_lease, hold_lease, list_leases, save_position, worker_name
from jobs.management.commands import worker as command
from jobs.progress import TOO_LATE, list_progress
from jobs.registry import SHARDS, Job, sharded
from jobs.shards import Shard
from jobs.worker import Worker


def made(
    did: str = "1 done", every: timedelta = timedelta(seconds=10), trails: timedelta = timedelta(0)
) -> Job:
    return Job(f"test-{uuid4()}", every, lambda now: did, trails)


def test_each_thing_belongs_to_one_share_and_none_is_left_out() -> None:
    seen: dict[str, list[int]] = {}
    things = [uuid4() for _ in range(400)]
    name = f"test-{uuid4()}"

    def run(now: datetime, share: Shard) -> str:
        seen[share.job_name] = [place for place, thing in enumerate(things) if share.has_id(thing)]
        return f"{len(seen[share.job_name])} things"

    made = sharded(name, timedelta(hours=1), run)
    assert [job.name for job in made] == [
        f"{name} {number} of {SHARDS}" for number in range(1, SHARDS + 1)
    ]
    assert all(
        job.has_name(name) and job.has_name(job.name) and not job.has_name("mail") for job in made
    )
    Worker(made).run_due_jobs()
    assert sorted(place for places in seen.values() for place in places) == list(range(400))
    assert all(len(places) > 50 for places in seen.values())
    assert Shard("alone").job_name == "alone"
    assert all(Shard("alone").has_id(thing) for thing in things)


def test_a_run_leaves_what_it_did_how_long_it_took_and_who_it_was() -> None:
    job = made("3 mails sent")
    before = datetime.now(UTC)
    Worker([job]).run_due_jobs()
    told = get_lease(job.name)
    assert (told.result, told.worker, told.failure) == ("3 mails sent", worker_name(), "")
    assert told.result_at
    assert told.result_at >= before - timedelta(seconds=1)
    assert told.duration is not None
    assert told.duration < timedelta(minutes=1)
    # A run with nothing to do does not hide what was done last.
    Worker(
        [Job(job.name, job.every, lambda now: "")],
        lambda: datetime.now(UTC) + timedelta(seconds=11),
    ).run_due_jobs()
    assert get_lease(job.name).result == "3 mails sent"


def test_a_failure_is_told_until_a_run_succeeds() -> None:
    fails = True

    def run(now: datetime) -> str:
        if fails:
            raise RuntimeError("the roof leaks")
        return ""

    job = Job(f"test-{uuid4()}", timedelta(seconds=5), run)
    Worker([job]).run_due_jobs()
    (told,) = list_progress([job], datetime.now(UTC))
    assert (told.lease.failure, told.problem) == ("RuntimeError: the roof leaks", "failed")
    fails = False
    Worker([job], lambda: datetime.now(UTC) + timedelta(seconds=90)).run_due_jobs()
    (told,) = list_progress([job], datetime.now(UTC))
    assert (told.lease.failure, told.problem) == ("", "")


def test_it_tells_how_late_a_job_is_and_how_far_behind_its_place() -> None:
    job, now = made(trails=timedelta(minutes=5)), datetime.now(UTC)
    assert list_progress([job], now)[0].problem == "has never run"
    with hold_lease(job.name) as held:
        held.last_run = now
        save_position(job.name, (now - timedelta(minutes=5)).isoformat())
    (told,) = list_progress([job], now)
    assert (told.problem, told.delay, told.backlog_age, told.is_running) == (
        "",
        timedelta(0),
        timedelta(0),
        False,
    )
    (told,) = list_progress([job], now + timedelta(seconds=70))
    assert told.delay
    assert round(told.delay.total_seconds()) == 60
    assert told.problem == ""
    (told,) = list_progress([job], now + TOO_LATE + timedelta(seconds=20))
    assert told.problem == "not running"
    with hold_lease(job.name) as held:
        held.last_run = now
        save_position(job.name, (now - timedelta(minutes=65)).isoformat())
    (told,) = list_progress([job], now)
    assert told.problem == "behind"
    assert timedelta(minutes=59) < told.backlog_age <= timedelta(hours=1)


def test_a_job_at_which_somebody_is_just_now_is_running_and_not_late() -> None:
    job = made()
    with hold_lease(job.name) as held:
        held.last_run = datetime.now(UTC) - timedelta(hours=1)
    now = datetime.now(UTC)
    assert claim_lease(get_lease(job.name), now)
    (told,) = list_progress([job], now)
    assert told.is_running
    assert told.problem == ""
    (told,) = list_progress([job], now + timedelta(minutes=1))  # it fell silent: killed
    assert told.problem == "not running"


def test_several_standings_are_read_side_by_side() -> None:
    names = [f"test-{uuid4()}" for _ in range(3)]
    with hold_lease(names[1]):
        found = list_leases(names)
    assert [each.job for each in found] == names
    assert [each.holder is not None for each in found] == [False, True, False]


def test_the_command_tells_and_its_status_says_whether_somebody_should_look(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    well, ill = made("3 mails sent"), made()
    Worker([well]).run_due_jobs()
    monkeypatch.setattr(command, "list_jobs", lambda: [well])
    out = StringIO()
    call_command("worker", "--status", stdout=out)
    said = out.getvalue()
    assert f"{well.name}" in said
    assert f"by {worker_name()}; 3 mails sent at " in said
    assert said.endswith("1 jobs, 0 to look at.\n")
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

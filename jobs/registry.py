"""The jobs that the worker runs: each app's `jobs.py` has a list `JOBS` of `Job` objects."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from importlib import import_module
from uuid import UUID

from django.apps import apps
from django.core.exceptions import ImproperlyConfigured
from django.utils.module_loading import module_has_submodule

from jobs.shards import Shard

# A heavy job is divided into this many shards, so that as many workers can share it.
SHARDS = 4
EVERYTHING = Shard("")
# Returns whether there is work at a moment, or the ids of the items with work.
HasWork = Callable[[datetime], bool | Collection[UUID]]


@dataclass(frozen=True)
class Job:
    """Work that is repeated for ever, by one worker at a time.

    `run` gets the current time (UTC) and returns a line about its work, or '' if it had none. A crash may end it at any point. Two
    workers may run it at the same time: one that stalls for longer than its lease continues beside the one that replaced it.
    A job that works through time keeps its position as a time in ISO 8601. `normal_lag` is the time from this position to the
    present when no work is left.

    While there is no work, the job runs only every `idle_every`. Meanwhile the worker calls `has_work`, if there is one, every
    `every`: without a lease, and once for all shards. A run follows at once if `has_work` returns True, or an id of the shard.

    A job that must not wait for other jobs has a loop of its own: the worker runs it in a thread beside the other jobs.
    """

    name: str
    every: timedelta
    run: Callable[[datetime], str]
    normal_lag: timedelta = timedelta(0)
    family: str = ""  # the job of which it is a shard
    idle_every: timedelta = timedelta(0)
    has_work: HasWork | None = None
    has_own_loop: bool = False
    shard: Shard = EVERYTHING

    @property
    def longest_pause(self) -> timedelta:
        return max(self.every, self.idle_every)

    def must_do(self, work: bool | Collection[UUID]) -> bool:
        """Return whether the answer of `has_work` has work for this job."""
        return work if isinstance(work, bool) else any(map(self.shard.has_id, work))

    def has_name(self, name: str) -> bool:
        """Return whether `name` is the name of this job or of its family."""
        return name in (self.name, self.family)


def describe_count(text: str, count: int) -> str:
    """Return `text` with the count in place of its `%(count)s`, or "" for a count of 0."""
    return text % {"count": count} if count else ""


def make_sharded_jobs(
    name: str,
    every: timedelta,
    run: Callable[[datetime, Shard], str],
    normal_lag: timedelta = timedelta(0),
    idle_every: timedelta = timedelta(0),
    has_work: HasWork | None = None,
) -> list[Job]:
    """Divide a heavy job into SHARDS jobs, and return them. Each handles its shard of the items, under its own lease."""

    def of(shard: Shard) -> Job:
        return Job(
            shard.job_name,
            every,
            lambda now: run(now, shard),
            normal_lag,
            name,
            idle_every,
            has_work,
            shard=shard,
        )

    return [of(Shard(name, number, SHARDS)) for number in range(SHARDS)]


def list_jobs() -> list[Job]:
    """Return the jobs of all installed apps. Raises ImproperlyConfigured when two have one name."""
    found: dict[str, Job] = {}
    for app in apps.get_app_configs():
        if app.module is None or not module_has_submodule(app.module, "jobs"):
            continue
        for job in import_module(f"{app.name}.jobs").JOBS:
            if job.name in found:
                raise ImproperlyConfigured(
                    f"{app.name}.jobs: there is a job {job.name!r} already; a lease has one job's name"
                )
            found[job.name] = job
    return list(found.values())

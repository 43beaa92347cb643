"""What the worker runs: each app's `jobs.py` has a list `JOBS` of these."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from importlib import import_module

from django.apps import apps
from django.core.exceptions import ImproperlyConfigured
from django.utils.module_loading import module_has_submodule

from jobs.shards import Shard

# A heavy job is divided into this many, so that as many workers can share it.
SHARDS = 4


@dataclass(frozen=True)
class Job:
    """Work that is done again and again, by one worker at a time.

    `run` gets the current time (UTC) and returns a line about what it did, or '' for nothing. It may be cut off at any point, and
    may run twice at once: a worker that stalls for longer than its lease continues beside the one that replaced it. A job that
    works through time keeps its position as a time in ISO 8601. `normal_lag` is how far behind the present that is when nothing is
    left to do.

    While there is nothing to do, the job runs only every `idle_every`. If it has `has_work`, that is asked every `every` in between,
    without a lease and once for all shards. A run follows at once if the answer is yes.
    """

    name: str
    every: timedelta
    run: Callable[[datetime], str]
    normal_lag: timedelta = timedelta(0)
    family: str = ""  # the job of which it is a shard
    idle_every: timedelta = timedelta(0)
    has_work: Callable[[datetime], bool] | None = None

    @property
    def longest_pause(self) -> timedelta:
        return max(self.every, self.idle_every)

    def has_name(self, name: str) -> bool:
        """Return whether a name is the job's own or its family's."""
        return name in (self.name, self.family)


def describe_count(text: str, count: int) -> str:
    """Return `text` with its `%(count)s`, or "" for a count of 0."""
    return text % {"count": count} if count else ""


def make_sharded_jobs(
    name: str,
    every: timedelta,
    run: Callable[[datetime, Shard], str],
    normal_lag: timedelta = timedelta(0),
    idle_every: timedelta = timedelta(0),
    has_work: Callable[[datetime], bool] | None = None,
) -> list[Job]:
    """Return a heavy job as SHARDS jobs, which share its things and have a lease each."""

    def of(shard: Shard) -> Job:
        return Job(
            shard.job_name,
            every,
            lambda now: run(now, shard),
            normal_lag,
            name,
            idle_every,
            has_work,
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

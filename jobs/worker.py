"""The worker's loops: they find the due jobs, claim one after the other, and run each."""

import logging
import signal
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from threading import Thread
from time import monotonic, sleep
from types import FrameType
from uuid import UUID

from cassandra_db import CassandraUnavailable, ClockWrong, current_time, require_right_clock
from jobs.leases import COOLDOWN_AFTER_FAILURE, RECHECK_AFTER, Lease, claim_lease, get_lease
from jobs.progress import JobProgress
from jobs.registry import HasWork, Job
from jobs.rows import collect_failed_rows
from jobs.schema import require_current_schema

MAX_BACKOFF = 30.0
_NAP = 0.5
# How many characters of a run's result or error are kept for the status page.
_MAX_SUMMARY_LENGTH = 200

log = logging.getLogger("worker")


@dataclass
class RunCounts:
    """How many runs a worker has made, and how many have failed."""

    run_count: int = 0
    failure_count: int = 0


@dataclass
class Worker:
    """Runs jobs whenever they are due. Several may run, on several hosts: a lease for each job keeps them apart.

    A job with a loop of its own has a worker and a thread of its own, which stop with this worker.
    """

    jobs: Sequence[Job]
    clock: Callable[[], datetime] = current_time
    tally: RunCounts = field(default_factory=RunCounts)
    _stopping: bool = False
    _is_schema_checked: bool = False
    _look_at: dict[str, datetime] = field(default_factory=dict)
    # Until when a job without work rests, unless its `has_work` returns True.
    _rests_until: dict[str, datetime] = field(default_factory=dict)
    # The time and the result of the last call of each `has_work`.
    _asked: dict[HasWork, tuple[datetime, bool | Collection[UUID]]] = field(default_factory=dict)

    def stop_on_signals(self) -> None:
        """Let SIGTERM and SIGINT stop the worker after its present job. A second signal stops it at once."""

        def stop(number: int, frame: FrameType | None) -> None:
            self.stop()
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            log.info("stopping after the job at hand")

        signal.signal(signal.SIGTERM, stop)
        signal.signal(signal.SIGINT, stop)

    def run(self) -> None:
        """Run jobs until stopped. While Cassandra is away, try again after 1, 2, 4 … 30 seconds; while the clock is wrong, every 5.

        Raises what stops the loop of any job.
        """
        log.info(
            "working on %s", ", ".join(job.name for job in self.jobs) or "nothing: no app has jobs"
        )
        loops = [_OwnLoop(job, self) for job in self.jobs if job.has_own_loop]
        self.jobs = [job for job in self.jobs if not job.has_own_loop]
        for loop in loops:
            loop.start()
        try:
            self.run_loop()
        finally:
            for loop in loops:
                loop.worker.stop()
        for loop in loops:
            loop.finish()
        log.info("stopped: %d runs, %d failed", self.tally.run_count, self.tally.failure_count)

    def stop(self) -> None:
        """Stop the worker after its present job."""
        self._stopping = True

    def run_loop(self) -> None:
        """Run the jobs in this thread, one after the other, until stopped."""
        backoff = 1.0
        while not self._stopping:
            try:
                self.run_due_jobs()
                backoff = 1.0
                self._sleep(self._idle_seconds())
            except ClockWrong as error:
                log.error("no job runs: %s", error)
                self._sleep(RECHECK_AFTER.total_seconds())
            except CassandraUnavailable as error:
                log.warning("Cassandra is away, trying again in %.0f s: %s", backoff, error)
                self._sleep(backoff)
                backoff = min(backoff * 2, MAX_BACKOFF)

    def run_due_jobs(self) -> None:
        """Run each job that is due and free one time.

        Raises ClockWrong if this worker must not write, SchemaOutdated. Raises CassandraUnavailable if the leases cannot be read.
        """
        if not self._is_schema_checked:
            require_current_schema()
            self._is_schema_checked = True
        require_right_clock()
        for job in self.jobs:
            if self._stopping:
                return
            now = self.clock()
            wait = self._look_at.get(job.name, now) - now
            # If the wait is longer than any job can have, the clock was set after the wait was computed.
            if wait <= timedelta(0) or wait > job.longest_pause + COOLDOWN_AFTER_FAILURE:
                self._run_if_due(job)

    def _run_if_due(self, job: Job) -> None:
        now = self.clock()
        if self._rests(job, now):
            return
        lease_row = get_lease(job.name)
        progress = JobProgress(job, lease_row, now)
        due = progress.last_run + job.every if progress.last_run else now
        if due > now:
            # Another worker may run the job meanwhile; then the job is due even later.
            self._look_at[job.name] = due
            return
        if progress.last_run:
            self._rests_until[job.name] = due = progress.last_run + progress.pause
            if self._rests(job, now):
                return
        lease = claim_lease(lease_row, now)
        if lease is None:
            self._look_at[job.name] = now + RECHECK_AFTER
            return
        self._rests_until.pop(job.name, None)
        with lease:
            self._run_with_lease(job, lease, now, late=max(now - due, timedelta(0)))
        if lease.last_run == now and not lease.is_lost:
            self._rests_until[job.name] = now + JobProgress(job, lease.make_row(), now).pause
        self._look_at[job.name] = self.clock() + (
            lease.cooldown or job.every - min(job.every, self.clock() - now)
        )

    def _rests(self, job: Job, now: datetime) -> bool:
        """Return whether a job had no work in its last run and has none yet. Store when to check it again."""
        until = self._rests_until.get(job.name, now)
        if not timedelta(0) < until - now <= job.longest_pause:
            return False
        if job.has_work is None:
            self._look_at[job.name] = until
            return True
        asked = self._asked.get(job.has_work)
        # `has_work` is called once for all shards of a job.
        if asked is None or not timedelta(0) <= now - asked[0] < job.every:
            asked = self._asked[job.has_work] = now, _has_work(job.has_work, now)
        asked_at, work = asked
        self._look_at[job.name] = asked_at + job.every
        return not job.must_do(work)

    def _run_with_lease(self, job: Job, lease: Lease, now: datetime, late: timedelta) -> None:
        started = monotonic()
        self.tally.run_count += 1
        try:
            with collect_failed_rows(lease.failed_rows) as failed:
                try:
                    did = job.run(now)
                finally:
                    lease.failed_rows = failed.list_remembered(now)
        except Exception as error:  # one job must not stop the others
            self.tally.failure_count += 1
            lease.duration, lease.failure = (
                timedelta(seconds=monotonic() - started),
                _in_short(error),
            )
            lease.cooldown = min(job.every, COOLDOWN_AFTER_FAILURE)
            away = isinstance(error, CassandraUnavailable)
            log.error(
                "%s failed after %.2f s: %s",
                job.name,
                monotonic() - started,
                error,
                exc_info=None if away else error,
            )
            return
        # The other rows are done: the job is not late, and runs again at its usual time.
        lease.last_run, lease.failure, lease.duration = (
            now,
            str(failed)[:_MAX_SUMMARY_LENGTH],
            timedelta(seconds=monotonic() - started),
        )
        if lease.failure:
            self.tally.failure_count += 1
            log.error("%s: %s", job.name, lease.failure)
        if did:
            lease.result, lease.result_at = did[:_MAX_SUMMARY_LENGTH], now
        level = logging.INFO if did else logging.DEBUG
        log.log(
            level,
            "%s: %s (took %.2f s, %.1f s late)",
            job.name,
            did or "nothing to do",
            monotonic() - started,
            late.total_seconds(),
        )

    def _idle_seconds(self) -> float:
        """Return the seconds until a job has to be checked again, at most RECHECK_AFTER, since the clock may be set meanwhile."""
        now, longest = self.clock(), RECHECK_AFTER.total_seconds()
        return min(
            [longest, *(max((at - now).total_seconds(), 0.0) for at in self._look_at.values())]
        )

    def _sleep(self, seconds: float) -> None:
        # Short naps: the signal handler only sets a flag, which does not end a sleep.
        until = monotonic() + seconds
        while not self._stopping and (left := until - monotonic()) > 0:
            sleep(min(left, _NAP))


class _OwnLoop(Thread):
    """A thread that runs one job beside the other jobs of its parent. If it fails, it stops the parent, which raises its error."""

    def __init__(self, job: Job, parent: Worker) -> None:
        # A second signal stops the process at once: so the process does not wait for this thread.
        super().__init__(name=job.name, daemon=True)
        self.worker = Worker([job], parent.clock, parent.tally)
        self._parent = parent
        self._error: BaseException | None = None

    def run(self) -> None:
        try:
            self.worker.run_loop()
        except BaseException as error:  # noqa: BLE001 -- the parent raises it
            self._error = error
            self._parent.stop()

    def finish(self) -> None:
        """Wait for the end of the loop, and raise its error."""
        self.join()
        if self._error:
            raise self._error


def _in_short(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:_MAX_SUMMARY_LENGTH]


def _has_work(ask: HasWork, now: datetime) -> bool | Collection[UUID]:
    """Return the result of `has_work`, or True if it raises: then the job's run reports the error, and stops no other job."""
    try:
        return ask(now)
    except Exception as error:  # noqa: BLE001
        log.warning("whether there is work cannot be seen: %s", error)
        return True

"""Leases: one worker at a time does a job, and a dead one is replaced.

A claim is a compare-and-set on the row that was read: it fails if another worker has renewed, released or claimed the lease
meanwhile. A lease lasts for LEASE_SECONDS (30) and is renewed every 10 seconds. Other workers wait 10 seconds longer, because
clocks differ. So two hosts whose clocks are 10 seconds apart never share a job. A killed worker is replaced after 40 seconds,
by a worker that reads the leases every 5 seconds. A process whose clock is wrong by more than 10 seconds writes no lease
(cassandra_db.clock). A time in the future counts as unknown: otherwise no other worker could claim the job until that time.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from time import monotonic, sleep
from types import TracebackType
from uuid import UUID, uuid4

from django.conf import settings

from cassandra_db import (
    SEND_AGAIN,
    CassandraUnavailable,
    Row,
    applied_if,
    compare_clocks,
    conditional_write,
    current_time,
    earliest_node_time,
    has_wrong_node,
    is_in_future,
    read,
)
from jobs.errors import LeaseLost
from jobs.minutes import parse_moment
from jobs.rows import FailedRow, dump_failed_rows, parse_failed_rows

LEASE_DURATION = timedelta(seconds=settings.LEASE_SECONDS)
RENEW_EVERY = CLOCK_SKEW = LEASE_DURATION / 3
# After this time a worker reads the lease of a job again that another worker holds: a dead worker's jobs must not wait for long.
RECHECK_AFTER = LEASE_DURATION / 6
# After a failure a job rests, for all workers, so that it does not spin.
COOLDOWN_AFTER_FAILURE = timedelta(minutes=1)
# How far a job with an unknown position looks back. The worker whose clock was ahead has done the earlier work.
LOOK_BACK = timedelta(days=1)

SELECT_LEASE = read(
    "lease",
    """SELECT job, holder, held_until, position, writetime(position) AS position_written, last_run, worker, result, result_at, duration_ms, failure,
              failed_rows
       FROM leases WHERE job = :job""",
)
# The same statement claims a job that has no row yet: then the three columns of its condition are null.
CLAIM = conditional_write(
    "lease",
    """UPDATE leases SET holder = :me, held_until = :until, worker = :worker WHERE job = :job
       IF holder = :seen_holder AND held_until = :seen_until AND last_run = :seen_run""",
)
RENEW = conditional_write(
    "lease", "UPDATE leases SET held_until = :until WHERE job = :job IF holder = :me"
)
SAVE_POSITION = conditional_write(
    "lease", "UPDATE leases SET position = :position WHERE job = :job IF holder = :me"
)
RELEASE = conditional_write(
    "lease",
    """UPDATE leases SET holder = :nobody, held_until = :until, last_run = :ran_at, result = :result, result_at = :result_at,
              duration_ms = :duration_ms, failure = :failure, failed_rows = :failed_rows WHERE job = :job IF holder = :me""",
)
FORGET_FUTURE = conditional_write(
    "lease",
    """UPDATE leases SET position = :position, last_run = :last_run, held_until = :until WHERE job = :job
       IF holder = :seen_holder AND held_until = :seen_until AND last_run = :seen_run""",
)

log = logging.getLogger(__name__)
_held_leases: ContextVar[dict[str, Lease]] = ContextVar("held")


@dataclass(frozen=True)
class LeaseRow:
    """A job's lease, as it was read from the table."""

    job: str
    holder: UUID | None = None
    held_until: datetime | None = None
    position: str = ""
    last_run: datetime | None = None
    worker: str = ""
    result: str = ""
    result_at: datetime | None = None
    duration: timedelta | None = None
    failure: str = ""
    failed_rows: tuple[FailedRow, ...] = ()  # the rows that wait for their next attempt
    # By the clock of a node; None while the clock of a node is wrong.
    position_saved_at: datetime | None = None

    def is_running(self, now: datetime) -> bool:
        """Return whether a worker runs the job, or did until a moment ago."""
        return self.holder is not None and not self.is_free(now)

    def is_free(self, now: datetime) -> bool:
        """Return whether the job may be claimed at `now`."""
        if self.held_until is None or self._is_held_too_long(now):
            return True
        # A released lease is free at once. The lease of a silent worker is free when it has run out by all clocks.
        return self.held_until + (CLOCK_SKEW if self.holder else timedelta(0)) <= now

    def find_last_run(self, now: datetime) -> datetime | None:
        """Return when the job last ran; None if it never has, or if the row has a time in the future."""
        return None if self.last_run is None or is_in_future(self.last_run, now) else self.last_run

    @property
    def has_done_something(self) -> bool:
        """Return whether the last run had work to do, or failed."""
        return bool(self.failure) or self.result_at == self.last_run

    def is_position_wrong(self, now: datetime) -> bool:
        """Return whether the position is later than `now`, or later than the moment at which it was saved."""
        reached = parse_moment(self.position)
        return reached is not None and is_in_future(
            reached, min(now, self.position_saved_at or now)
        )

    def look_back_from(self, now: datetime) -> datetime:
        """Return the moment from which the job continues if its position is wrong."""
        return min(now, self.position_saved_at or now) - LOOK_BACK

    def is_in_future(self, now: datetime) -> bool:
        """Return whether the row has a time that only a wrong clock can have written."""
        return (
            self.is_position_wrong(now)
            or self.find_last_run(now) != self.last_run
            or self._is_held_too_long(now)
        )

    def _is_held_too_long(self, now: datetime) -> bool:
        longest = max(LEASE_DURATION, COOLDOWN_AFTER_FAILURE)
        return self.held_until is not None and is_in_future(self.held_until - longest, now)


def get_lease(job: str) -> LeaseRow:
    """Return the lease of a job. Raises CassandraUnavailable."""
    return list_leases([job])[0]


def list_leases(jobs: Sequence[str]) -> list[LeaseRow]:
    """Return the leases of several jobs, read side by side. Raises CassandraUnavailable."""
    reading = [(job, SELECT_LEASE.start(job=job)) for job in jobs]
    return [_lease_row(job, pending.one()) for job, pending in reading]


def _lease_row(job: str, row: Row | None) -> LeaseRow:
    if row is None:
        return LeaseRow(job)
    return LeaseRow(
        job,
        row.holder,
        row.held_until,
        row.position or "",
        row.last_run,
        row.worker or "",
        row.result or "",
        row.result_at,
        timedelta(milliseconds=row.duration_ms) if row.duration_ms is not None else None,
        row.failure or "",
        parse_failed_rows(row.failed_rows or ""),
        datetime.fromtimestamp(row.position_written // 1000 / 1000, UTC)
        if row.position_written and not has_wrong_node()
        else None,
    )


def worker_name() -> str:
    """Return the name of this process as a worker: its host and process id."""
    return f"{socket.gethostname()} {os.getpid()}"


class Lease:
    """A claim on a job. It is renewed in the background while the `with` block runs, and released at the block's end."""

    def __init__(self, seen: LeaseRow, holder: UUID) -> None:
        self.job = seen.job
        # The row at the claim, with the position as this process has saved it since.
        self.seen = seen
        self.holder = holder
        # These values are written when the lease is released.
        self.last_run, self.result, self.result_at = seen.last_run, seen.result, seen.result_at
        self.duration, self.failure = seen.duration, seen.failure
        self.failed_rows = seen.failed_rows
        self.cooldown = timedelta(0)  # how long no worker may claim the job after the release
        self.is_lost = False
        self._over = threading.Event()
        self._renewing = threading.Thread(target=self._renew, name=f"lease {self.job}", daemon=True)

    def __enter__(self) -> Lease:
        _held_leases.set(_held_leases.get({}) | {self.job: self})
        self._renewing.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        self._renewing.join()
        _held_leases.set(
            {job: lease for job, lease in _held_leases.get({}).items() if lease is not self}
        )
        try:
            self._release()
        except CassandraUnavailable as away:
            log.warning(
                "%s: could not give the job back, its lease runs out by itself: %s", self.job, away
            )

    def make_row(self) -> LeaseRow:
        """Return the row as the release leaves it."""
        return replace(
            self.seen,
            last_run=self.last_run,
            result_at=self.result_at,
            failure=self.failure,
            failed_rows=self.failed_rows,
        )

    def _release(self) -> None:
        given_back = RELEASE.apply(
            if_lost=applied_if(lambda row: row.holder is None),
            job=self.job,
            me=self.holder,
            nobody=None,
            until=current_time() + self.cooldown,
            ran_at=self.last_run,
            result=self.result or None,
            result_at=self.result_at,
            duration_ms=self.duration // timedelta(milliseconds=1)
            if self.duration is not None
            else None,
            failure=self.failure or None,
            failed_rows=dump_failed_rows(self.failed_rows) or None,
        )
        if not given_back:
            self._lose()

    def _lose(self) -> None:
        self.is_lost = True
        log.warning("%s: another worker took the job over", self.job)

    def _renew(self) -> None:
        while not self._over.wait(RENEW_EVERY.total_seconds()):
            try:
                compare_clocks()
                renewed = RENEW.apply(
                    if_lost=SEND_AGAIN,
                    job=self.job,
                    me=self.holder,
                    until=current_time() + LEASE_DURATION,
                )
            except CassandraUnavailable as error:
                log.warning("%s: could not renew the lease: %s", self.job, error)
                continue
            if not renewed:
                self._lose()
                return


def claim_lease(seen: LeaseRow, now: datetime) -> Lease | None:
    """Claim a job whose lease was read as `seen`. Return None if another worker holds it or was faster.

    Raises CassandraUnavailable. Raises UnknownOutcome if the claim may have been stored; then it runs out by itself.
    """
    if not seen.is_free(now):
        return None
    me = uuid4()
    outcome = CLAIM.apply(
        if_lost=applied_if(lambda row: row.holder == me),
        job=seen.job,
        me=me,
        until=now + LEASE_DURATION,
        worker=worker_name(),
        seen_holder=seen.holder,
        seen_until=seen.held_until,
        seen_run=seen.last_run,
    )
    return Lease(seen, me) if outcome else None


def hold_lease(job: str, wait_seconds: float = 0) -> Lease:
    """Claim the job, for `with hold_lease(job) as lease:`, and wait for a worker that holds it, or died a moment ago.

    Raises LeaseLost if it is held for `wait_seconds`, CassandraUnavailable.
    """
    until = monotonic() + wait_seconds
    while (lease := claim_lease(get_lease(job), current_time())) is None:
        if monotonic() >= until:
            raise LeaseLost(f"{job}: another worker holds the job")
        sleep(1)
    return lease


def forget_future(seen: LeaseRow, now: datetime) -> None:
    """Remove times in the future from a lease, unless the lease has changed since it was read. Raises CassandraUnavailable."""
    if not seen.is_position_wrong(now):
        position = seen.position
    else:
        position = seen.look_back_from(now).isoformat()
    FORGET_FUTURE.apply(
        if_lost=SEND_AGAIN,
        job=seen.job,
        position=position or None,
        last_run=seen.find_last_run(now),
        until=None if seen.is_free(now) else seen.held_until,
        seen_holder=seen.holder,
        seen_until=seen.held_until,
        seen_run=seen.last_run,
    )


def get_position(job: str) -> str:
    """Return the job's position, as `save_position` stored it; '' before the first save. Raises CassandraUnavailable.

    A position is wrong if it is, or was when it was saved, in the future. Then return the moment of `LeaseRow.look_back_from`.
    A holder of the lease knows the position: the claim would have failed if another worker had run the job since the row was read.
    """
    held, now = _held_leases.get({}).get(job), current_time()
    lease = held.seen if held else get_lease(job)
    if not lease.is_position_wrong(now):
        return lease.position
    since = lease.look_back_from(now)
    log.warning(
        "%s: its position, %s, is in the future; it goes on at %s", job, lease.position, since
    )
    return since.isoformat()


def save_position(job: str, position: str) -> None:
    """Store the job's position, limited to the earliest time of the nodes whose clocks are right.

    Only the lease's holder may call this function: in the job's `run`, or within `with hold_lease(job):`. Raises LeaseLost if this
    process does not hold the lease: then the work since the last stored position is repeated. Raises CassandraUnavailable.
    """
    lease = _held_leases.get({}).get(job)
    reached = parse_moment(position)
    if reached is not None:
        position = _limit_position(job, reached).isoformat()
    if (
        lease is None
        or lease.is_lost
        or not SAVE_POSITION.apply(if_lost=SEND_AGAIN, job=job, me=lease.holder, position=position)
    ):
        raise LeaseLost(f"{job}: this process does not hold the job")
    lease.seen = replace(lease.seen, position=position, position_saved_at=None)


def _limit_position(job: str, reached: datetime) -> datetime:
    """Return the earlier of two times, `reached` and the earliest node's time, but never a time before the stored position."""
    earliest = earliest_node_time()
    if reached <= earliest:
        return reached
    before = parse_moment(get_position(job)) or earliest
    return min(reached, max(earliest, before))

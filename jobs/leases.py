"""Leases: one worker at a time does a job, and a dead one is replaced.

A claim is a compare-and-set on the row that was seen: whoever renewed, released or took over in between makes it
fail. A holder holds for LEASE_SECONDS, 30, and renews every 10; others wait 10 more, for clocks that differ. So two hosts
whose clocks are 10 seconds apart never share a job, and a killed worker is replaced after 40 seconds, by one that looks every 5.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from types import TracebackType
from uuid import UUID, uuid4

from django.conf import settings

from cassandra_db import SEND_AGAIN, CassandraUnavailable, Row, applied_if, conditional, read
from jobs.errors import LeaseLost

HOLD = timedelta(seconds=settings.LEASE_SECONDS)
RENEW_EVERY = CLOCKS_DIFFER = HOLD / 3
# A held job is looked at again after this time, so that a dead worker's jobs do not wait for long.
LOOK_AGAIN = HOLD / 6
# Within this time the jobs of a killed worker go on with another that has its hands free.
REPLACED_WITHIN = 2 * HOLD

LOOK = read(
    "lease",
    """SELECT job, holder, held_until, position, last_run, worker, did, did_at, took, failure
       FROM leases WHERE job = :job""",
)
# On a job that has no row yet, all three are null: the same statement claims it.
CLAIM = conditional(
    "lease",
    """UPDATE leases SET holder = :me, held_until = :until, worker = :worker WHERE job = :job
       IF holder = :seen_holder AND held_until = :seen_until AND last_run = :seen_run""",
)
RENEW = conditional(
    "lease", "UPDATE leases SET held_until = :until WHERE job = :job IF holder = :me"
)
MOVE = conditional(
    "lease", "UPDATE leases SET position = :position WHERE job = :job IF holder = :me"
)
RELEASE = conditional(
    "lease",
    """UPDATE leases SET holder = :nobody, held_until = :until, last_run = :ran_at, did = :did, did_at = :did_at,
              took = :took, failure = :failure WHERE job = :job IF holder = :me""",
)

log = logging.getLogger(__name__)
_held: ContextVar[dict[str, Lease]] = ContextVar("held")


@dataclass(frozen=True)
class Standing:
    """A job's lease as it was read."""

    job: str
    holder: UUID | None = None
    held_until: datetime | None = None
    position: str = ""
    last_run: datetime | None = None
    worker: str = ""
    did: str = ""
    did_at: datetime | None = None
    took: timedelta | None = None
    failure: str = ""

    def running(self, now: datetime) -> bool:
        """Tell whether somebody is at it, or was until a moment ago."""
        return self.holder is not None and not self.free(now)

    def free(self, now: datetime) -> bool:
        """Tell whether the job may be claimed at `now`."""
        if self.held_until is None:
            return True
        # A lease that was given back is over at once; one whose holder fell silent, once all clocks agree on it.
        return self.held_until + (CLOCKS_DIFFER if self.holder else timedelta(0)) <= now


def standing(job: str) -> Standing:
    """Return who holds the job, until when, how far it has come and when it last ran. Raises CassandraUnavailable."""
    return standings([job])[0]


def standings(jobs: Sequence[str]) -> list[Standing]:
    """Return how several jobs stand, read side by side. Raises CassandraUnavailable."""
    reading = [(job, LOOK.start(job=job)) for job in jobs]
    return [_standing(job, pending.one()) for job, pending in reading]


def _standing(job: str, row: Row | None) -> Standing:
    if row is None:
        return Standing(job)
    return Standing(
        job,
        row.holder,
        row.held_until,
        row.position or "",
        row.last_run,
        row.worker or "",
        row.did or "",
        row.did_at,
        timedelta(milliseconds=row.took) if row.took is not None else None,
        row.failure or "",
    )


def this_worker() -> str:
    """Return how this process is called among the workers: host and process id."""
    return f"{socket.gethostname()} {os.getpid()}"


class Lease:
    """A claim on a job: renewed in the background while the `with` block runs, and given back at its end."""

    def __init__(self, seen: Standing, holder: UUID) -> None:
        self.job = seen.job
        self.holder = holder
        # What the row shall say when it is given back.
        self.last_run, self.did, self.did_at = seen.last_run, seen.did, seen.did_at
        self.took, self.failure = seen.took, seen.failure
        self.rest = timedelta(0)  # for how long nobody shall claim the job after that
        self.lost = False
        self._over = threading.Event()
        self._renewing = threading.Thread(target=self._renew, name=f"lease {self.job}", daemon=True)

    def __enter__(self) -> Lease:
        _held.set(_held.get({}) | {self.job: self})
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
        _held.set({job: lease for job, lease in _held.get({}).items() if lease is not self})
        try:
            self._release()
        except CassandraUnavailable as away:
            log.warning(
                "%s: could not give the job back, its lease runs out by itself: %s", self.job, away
            )

    def _release(self) -> None:
        given_back = RELEASE.apply(
            if_lost=applied_if(lambda row: row.holder is None),
            job=self.job,
            me=self.holder,
            nobody=None,
            until=datetime.now(UTC) + self.rest,
            ran_at=self.last_run,
            did=self.did or None,
            did_at=self.did_at,
            took=self.took // timedelta(milliseconds=1) if self.took is not None else None,
            failure=self.failure or None,
        )
        if not given_back:
            self._lose()

    def _lose(self) -> None:
        self.lost = True
        log.warning("%s: another worker took the job over", self.job)

    def _renew(self) -> None:
        while not self._over.wait(RENEW_EVERY.total_seconds()):
            try:
                renewed = RENEW.apply(
                    if_lost=SEND_AGAIN, job=self.job, me=self.holder, until=datetime.now(UTC) + HOLD
                )
            except CassandraUnavailable as error:
                log.warning("%s: could not renew the lease: %s", self.job, error)
                continue
            if not renewed:
                self._lose()
                return


def claimed(seen: Standing, now: datetime) -> Lease | None:
    """Claim the job that stands as `seen`, or return None if it is held or somebody was faster.

    Raises CassandraUnavailable; UnknownOutcome if a claim of ours may stand, which then runs out by itself.
    """
    if not seen.free(now):
        return None
    me = uuid4()
    outcome = CLAIM.apply(
        if_lost=applied_if(lambda row: row.holder == me),
        job=seen.job,
        me=me,
        until=now + HOLD,
        worker=this_worker(),
        seen_holder=seen.holder,
        seen_until=seen.held_until,
        seen_run=seen.last_run,
    )
    return Lease(seen, me) if outcome else None


def lease(job: str) -> Lease:
    """Claim the job now, for `with lease(job) as held:`. Raises LeaseLost if another worker holds it, CassandraUnavailable."""
    now = datetime.now(UTC)
    held = claimed(standing(job), now)
    if held is None:
        raise LeaseLost(f"{job}: another worker holds the job")
    return held


def position(job: str) -> str:
    """Return how far the job has come, as it said itself by `moved`; '' at first. Raises CassandraUnavailable."""
    return standing(job).position


def moved(job: str, position: str) -> None:
    """Note how far the job has come. Only its holder may: call it from the job's `run`, or within `with lease(job):`.

    Raises LeaseLost when this process does not hold the job, or no longer: what it has done since is done again
    from the last position that was noted. Raises CassandraUnavailable.
    """
    held = _held.get({}).get(job)
    if (
        held is None
        or held.lost
        or not MOVE.apply(if_lost=SEND_AGAIN, job=job, me=held.holder, position=position)
    ):
        raise LeaseLost(f"{job}: this process does not hold the job")

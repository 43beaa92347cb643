"""Leases on a real node."""

import time
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from django.conf import settings

from cassandra_db import RAISE_UNKNOWN
from jobs import leases
from jobs.errors import LeaseLost
from jobs.leases import (
    CLOCK_SKEW,
    COOLDOWN_AFTER_FAILURE,
    LEASE_DURATION,
    RECHECK_AFTER,
    RENEW_EVERY,
    claim_lease,
    get_lease,
    get_position,
    hold_lease,
    save_position,
)
from tests.reads import existing
from tests.threads import map_at_once


def job() -> str:
    return f"test-{uuid4()}"


def test_a_job_has_one_lease_holder() -> None:
    name = job()
    with hold_lease(name) as lease:
        assert get_lease(name).holder == lease.holder
        with pytest.raises(LeaseLost):
            hold_lease(name)
    assert get_lease(name).holder is None
    with hold_lease(name):
        pass


def test_of_many_who_claim_at_once_one_gets_it() -> None:
    name, now = job(), datetime.now(UTC)
    lease_row = get_lease(name)
    got = map_at_once(lambda _: claim_lease(lease_row, now), range(8))
    assert sum(one is not None for one in got) == 1


def test_a_killed_worker_is_replaced_within_two_leases_which_are_a_minute() -> None:
    two_leases = 2 * timedelta(seconds=settings.LEASE_SECONDS)
    assert two_leases > LEASE_DURATION + CLOCK_SKEW + RECHECK_AFTER
    assert timedelta(minutes=1) >= two_leases, (
        "as the settings have it where the environment says nothing"
    )
    assert 2 * RENEW_EVERY < LEASE_DURATION, "one renewal may fail"


def test_a_holder_that_fell_silent_is_replaced_and_not_before_its_time() -> None:
    name, now = job(), datetime.now(UTC)
    assert claim_lease(get_lease(name), now)
    assert (
        claim_lease(get_lease(name), now + LEASE_DURATION + CLOCK_SKEW - timedelta(seconds=1))
        is None
    )
    heir = claim_lease(get_lease(name), now + LEASE_DURATION + CLOCK_SKEW + timedelta(seconds=1))
    assert heir
    assert get_lease(name).holder == heir.holder


def test_a_renewal_in_between_makes_a_takeover_fail() -> None:
    name, now = job(), datetime.now(UTC)
    lease = existing(claim_lease(get_lease(name), now))
    lease_row = get_lease(name)
    assert leases.RENEW.apply(
        if_lost=RAISE_UNKNOWN, job=name, me=lease.holder, until=now + 2 * LEASE_DURATION
    )
    assert claim_lease(lease_row, now + timedelta(hours=1)) is None
    assert get_lease(name).holder == lease.holder


def test_a_run_by_somebody_else_in_between_makes_a_claim_fail() -> None:
    name, now = job(), datetime.now(UTC)
    lease_row = get_lease(name)
    with hold_lease(name) as other:
        other.last_run = now
    assert claim_lease(lease_row, now + timedelta(minutes=1)) is None
    assert get_lease(name).last_run == now.replace(microsecond=now.microsecond // 1000 * 1000)


def test_it_renews_while_the_job_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leases, "RENEW_EVERY", timedelta(milliseconds=50))
    name = job()
    with hold_lease(name):
        renewed = first = get_lease(name).held_until
        assert first
        until = time.monotonic() + 20
        while renewed == first and time.monotonic() < until:
            renewed = get_lease(name).held_until
    assert renewed
    assert renewed > first


def test_s110_a_holder_that_was_overtaken_in_the_middle_of_a_run_takes_nothing_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(leases, "RENEW_EVERY", timedelta(milliseconds=50))
    name = job()
    with hold_lease(name) as lease:
        save_position(name, "2026-01-02")
        # The holder fell silent for longer than its lease, and another worker took over. Then it goes on.
        heir = existing(claim_lease(get_lease(name), datetime.now(UTC) + timedelta(hours=1)))
        taken_over = get_lease(name)
        # It ends as soon as a renewal is refused.
        lease._renewing.join(timeout=5)
        assert not lease._renewing.is_alive()
        assert lease.is_lost
        assert get_lease(name) == taken_over
        with pytest.raises(LeaseLost):
            save_position(name, "2026-01-03")
        lease.last_run, lease.result, lease.failure = datetime.now(UTC), "late", "late"
    assert get_lease(name) == taken_over
    assert taken_over.holder == heir.holder
    assert get_position(name) == "2026-01-02"


def test_a_rest_keeps_the_job_shut_for_everybody() -> None:
    name, now = job(), datetime.now(UTC)
    with hold_lease(name) as lease:
        lease.cooldown = COOLDOWN_AFTER_FAILURE
    with pytest.raises(LeaseLost):
        hold_lease(name)
    assert claim_lease(get_lease(name), now + 2 * COOLDOWN_AFTER_FAILURE)


def test_only_the_holder_moves_the_position() -> None:
    name = job()
    assert get_position(name) == ""
    with hold_lease(name) as lease:
        save_position(name, "2026-01-02")
        assert get_position(name) == "2026-01-02"
        heir = existing(claim_lease(get_lease(name), datetime.now(UTC) + timedelta(hours=1)))
        with pytest.raises(LeaseLost):
            save_position(name, "2026-01-03")
    assert lease.is_lost
    with pytest.raises(LeaseLost):
        save_position(name, "2026-01-03")
    assert get_position(name) == "2026-01-02"
    assert get_lease(name).holder == heir.holder

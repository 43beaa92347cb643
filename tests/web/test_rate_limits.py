"""Limits: exactly so many tries pass, in a race, too; a slot comes free a window after it was taken; the table does not show whose."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from uuid import uuid4

import pytest
from django.http import HttpRequest
from django.test import RequestFactory
from pytest_django import Settings

from cassandra_db import count_statements, scan
from web import rate_limits
from web.errors import TooManyAttempts
from web.rate_limits import hit_local_rate_limit, hit_rate_limit, network_address

ALL = scan(
    "test",
    """SELECT bucket, shard, slot, TTL(hit_id) AS seconds FROM rate_limit_slots
       WHERE token(bucket, shard) > :start AND token(bucket, shard) <= :end""",
)
_addresses = count(int(time.time()) % 2**20 * 2**10)


def visit(address: str = "", **more: str) -> HttpRequest:
    """A request from a network that no other test comes from."""
    number = next(_addresses) % 2**32
    new_address = ".".join(str(number >> bits & 255) for bits in (24, 16, 8, 0))
    return RequestFactory().post("/", REMOTE_ADDR=address or new_address, headers=more)


def passes(kind: str, request: HttpRequest, *accounts: str, own: str = "") -> bool:
    try:
        hit_rate_limit(request, kind, *accounts, device_bucket=own)
    except TooManyAttempts:
        return False
    return True


@pytest.fixture
def kind(settings: Settings) -> str:
    """A kind of tries of the test's own: three for an account, five for a network, seven in all."""
    name = f"test-{uuid4().hex}"
    settings.RATE_LIMITS = settings.RATE_LIMITS | {name: (3, 5, 7, 60)}
    return name


def test_it_counts_by_account_by_network_and_by_all(kind: str) -> None:
    assert [passes(kind, visit(), "alice") for _ in range(4)] == [True] * 3 + [False]
    mallory = visit()
    assert [passes(kind, mallory, uuid4().hex) for _ in range(4)] == [True] * 4
    assert not passes(kind, visit(), uuid4().hex)  # seven in all


def test_it_counts_by_network(kind: str, settings: Settings) -> None:
    settings.RATE_LIMITS |= {kind: (3, 5, 0, 60)}
    mallory = visit()
    assert [passes(kind, mallory, uuid4().hex) for _ in range(6)] == [True] * 5 + [False]
    assert passes(kind, visit(), uuid4().hex)


def test_each_thing_that_a_try_is_about_counts(kind: str) -> None:
    assert [passes(kind, visit(), f"mail {n}", "order 1") for n in range(4)] == [True] * 3 + [False]


def test_a_refused_try_takes_no_slot_anywhere(kind: str, settings: Settings) -> None:
    settings.RATE_LIMITS |= {kind: (3, 5, 0, 60)}
    mallory = visit()
    assert [passes(kind, mallory, "alice") for _ in range(30)].count(True) == 3
    assert [passes(kind, mallory, uuid4().hex) for _ in range(3)] == [True, True, False]


def test_hammering_reads_and_writes_nothing(kind: str) -> None:
    mallory = visit()
    while passes(kind, mallory, "alice"):
        pass
    with count_statements() as meter:
        assert not passes(kind, mallory, "alice")
    assert (meter.statement_count, meter.read_count) == (3, 3)


def test_a_bucket_of_ones_own_is_the_only_one_that_counts(kind: str) -> None:
    for _ in range(20):
        passes(kind, visit(), "alice")
    assert not passes(kind, visit(), "alice")
    mine = [passes(kind, visit(), "alice", own="alices browser") for _ in range(4)]
    assert mine == [True] * 3 + [False]
    assert passes(kind, visit(), "alice", own="another of hers")


def test_a_try_that_was_none_gives_its_slots_back(kind: str) -> None:
    request = visit()
    for _ in range(10):
        hit_rate_limit(request, kind, "alice").release_slots()
    assert [passes(kind, request, "alice") for _ in range(4)] == [True] * 3 + [False]


def test_a_slot_comes_free_a_window_after_it_was_taken(kind: str, settings: Settings) -> None:
    for window in (4, 60):
        settings.RATE_LIMITS |= {kind: (2, 0, 0, window)}
        hit_rate_limit(visit(), kind, "alice")
    with pytest.raises(TooManyAttempts) as refused:
        hit_rate_limit(visit(), kind, "alice")
    assert 1 <= refused.value.retry_after <= 4  # the first one's, not the last one's
    time.sleep(refused.value.retry_after + 1)
    assert passes(kind, visit(), "alice")  # the first slot alone is free again
    assert not passes(kind, visit(), "alice")


@pytest.mark.parametrize("most", [10, 130])
def test_fifty_and_more_at_once_are_let_through_exactly_so_often(
    kind: str, settings: Settings, most: int
) -> None:
    settings.RATE_LIMITS |= {kind: (0, 0, most, 120)}
    tries = most + 40
    start = threading.Barrier(50)

    def go(number: int) -> bool:
        if number < 50:
            start.wait(20)
        return passes(kind, visit())

    with ThreadPoolExecutor(50) as pool:
        assert list(pool.map(go, range(tries))).count(True) == most


def test_a_measure_of_many_is_spread_over_partitions_of_a_hundred_that_expire_by_themselves(
    kind: str, settings: Settings
) -> None:
    settings.RATE_LIMITS |= {kind: (0, 0, 250, 60)}
    before = {(row.bucket, row.shard, row.slot) for row in ALL.iterate_table()}
    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(lambda _: passes(kind, visit()), range(250)))
    made = [row for row in ALL.iterate_table() if (row.bucket, row.shard, row.slot) not in before]
    assert {row.shard for row in made} == {0, 1, 2}
    assert max(row.slot for row in made) < rate_limits.SLOTS_PER_PARTITION
    assert all(0 < row.seconds <= 60 for row in made)


def test_the_table_does_not_reveal_whose_tries_it_holds(kind: str) -> None:
    request = visit("203.0.113.77")
    hit_rate_limit(request, kind, "alice.canary@example.com")
    text = " ".join(row.bucket for row in ALL.iterate_table())
    assert "canary" not in text
    assert "203.0.113.77" not in text
    assert kind not in text


def test_the_clients_address_is_the_one_that_somebody_trusted_has_seen(settings: Settings) -> None:
    headers = {"x-forwarded-for": "9.9.9.9, 198.51.100.4"}
    # no proxy in front: every client may write this
    assert network_address(visit("203.0.113.5", **headers)) == "203.0.113.5"
    settings.BEHIND_PROXY = True
    # the proxy's own word is the last one
    assert network_address(visit("127.0.0.1", **headers)) == "198.51.100.4"
    assert (
        network_address(visit("127.0.0.1", **{"x-forwarded-for": "198.51.100.4:4711"}))
        == "198.51.100.4"
    )
    assert (
        network_address(visit("127.0.0.1", **{"x-forwarded-for": "[2001:db8::1]:4711"}))
        == "2001:db8::/64"
    )
    assert network_address(visit("127.0.0.1")) == "127.0.0.1"
    assert network_address(visit("127.0.0.1", **{"x-forwarded-for": "rubbish"})) == "unknown"


def test_a_household_counts_once_however_many_addresses_it_has() -> None:
    networks = {
        "2001:db8:1:2:aaaa::1": "2001:db8:1:2::/64",
        "2001:db8:1:2:bbbb:cccc:dddd:eeee": "2001:db8:1:2::/64",
        "2001:db8:1:3::1": "2001:db8:1:3::/64",
        "::ffff:203.0.113.5": "203.0.113.5",
        "203.0.113.5": "203.0.113.5",
        "not an address": "unknown",
    }
    assert {address: network_address(visit(address)) for address in networks} == networks


def test_in_memory_tries_are_counted_by_network_and_window_without_any_statement(
    kind: str, settings: Settings
) -> None:
    settings.RATE_LIMITS |= {kind: (0, 5, 0, 3600)}
    request = visit()
    with count_statements() as meter:
        for _ in range(5):
            hit_local_rate_limit(request, kind)
        with pytest.raises(TooManyAttempts) as refused:
            hit_local_rate_limit(request, kind)
        hit_local_rate_limit(visit(), kind)
    assert meter.statement_count == 0
    assert 0 < refused.value.retry_after <= 3600


def test_how_long_to_wait_is_said_in_words() -> None:
    expected = {
        0: "30 seconds",
        20: "30 seconds",
        45: "1 minute",
        61: "2 minutes",
        900: "15 minutes",
    }
    words_by_seconds = {seconds: str(TooManyAttempts(seconds)) for seconds in expected}
    assert {
        seconds: words_by_seconds[seconds]
        for seconds, words in expected.items()
        if words not in words_by_seconds[seconds]
    } == {}

"""Limits: exactly so many tries pass, in a race, too; a slot comes free a window after it was taken; the table does not show whose."""

import threading
import time
from itertools import count
from uuid import uuid4

import pytest
from django.http import HttpRequest
from django.test import RequestFactory
from pytest_django import Settings

from cassandra_db import count_statements, scan
from tests.threads import map_at_once
from tests.waiting import wait_until
from web import rate_limits
from web.errors import TooManyAttempts
from web.rate_limits import hit_local_rate_limit, hit_rate_limit, list_networks, network_address

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


def passes(kind: str, request: HttpRequest, *accounts: str, own: str = "", named: str = "") -> bool:
    try:
        hit_rate_limit(request, kind, *accounts, device_bucket=own, named=[named] if named else [])
    except TooManyAttempts:
        return False
    return True


@pytest.fixture
def kind(settings: Settings) -> str:
    """A kind of tries of the test's own: three for an account, five for a network, seven in all."""
    name = f"test-{uuid4().hex}"
    settings.RATE_LIMITS = settings.RATE_LIMITS | {name: (3, 5, 7, 60)}
    return name


@pytest.fixture
def delays(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long each one waited who was slowed down; nobody really waits."""
    waited: list[float] = []
    settings.RATE_LIMIT_DELAY_SECONDS = 3
    monkeypatch.setattr(rate_limits, "sleep", waited.append)
    return waited


def test_it_counts_by_account_by_network_and_by_all(kind: str, delays: list[float]) -> None:
    assert [passes(kind, visit(), "alice") for _ in range(4)] == [True] * 3 + [False]
    mallory = visit()
    assert [passes(kind, mallory, uuid4().hex) for _ in range(4)] == [True] * 4
    assert delays == []
    assert passes(kind, visit(), uuid4().hex)  # seven in all: whoever comes now waits
    assert delays == [3]


def test_s63_strangers_slow_an_account_down_and_lock_nobody_out(
    kind: str, settings: Settings, delays: list[float]
) -> None:
    settings.RATE_LIMITS |= {kind: (3, 0, 0, 60)}
    mallory, bot = visit(), visit()
    assert [passes(kind, mallory, named="alice") for _ in range(5)] == [True] * 3 + [False] * 2
    assert delays == []
    # From anywhere else it goes on, with a delay; and each network has no more than its own tries.
    assert passes(kind, visit(), named="alice")
    assert [passes(kind, bot, named="alice") for _ in range(5)] == [True] * 3 + [False] * 2
    assert delays == [3] * 4
    assert passes(kind, mallory, named="ben")
    assert len(delays) == 4


def test_s63_of_fifty_at_once_from_one_network_exactly_so_many_pass(
    kind: str, settings: Settings
) -> None:
    settings.RATE_LIMITS |= {kind: (3, 0, 0, 60)}
    mallory = visit()
    passed = map_at_once(lambda _: passes(kind, mallory, named="alice"), range(50))
    assert passed.count(True) == 3


def test_s63_who_is_slowed_down_takes_few_threads_and_only_crowds_are_refused_then(
    kind: str, settings: Settings, delays: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.RATE_LIMITS |= {kind: (0, 20, 1, 60)}
    mallory = visit()
    assert passes(kind, visit())  # the whole shop's only one
    monkeypatch.setattr(rate_limits, "_delays", threading.BoundedSemaphore(1))
    assert [passes(kind, mallory) for _ in range(3)] == [True] * 3
    assert delays == [3] * 3  # each gave its room back
    rate_limits._delays.acquire()  # now another one waits there
    with pytest.raises(TooManyAttempts) as refused:
        hit_rate_limit(mallory, kind)  # has tried more than a tenth of what its network may
    assert refused.value.retry_after == 30
    assert passes(kind, visit())  # a visitor whose network has tried nothing
    assert len(delays) == 3
    rate_limits._delays.release()
    assert passes(kind, mallory)


def test_s64_above_the_whole_shops_limit_staff_see_an_alarm_and_nobody_is_refused(
    kind: str, settings: Settings, delays: list[float]
) -> None:
    settings.RATE_LIMITS |= {kind: (0, 0, 2, 60)}
    hits = [hit_rate_limit(visit(), kind) for _ in range(2)]
    assert kind not in rate_limits.list_alarms()
    hits += [hit_rate_limit(visit(), kind) for _ in range(3)]
    assert [hit.is_above_overall for hit in hits] == [False] * 2 + [True] * 3
    assert kind in rate_limits.list_alarms()
    assert delays == [3] * 3
    hits[0].release_slots()
    assert not hit_rate_limit(visit(), kind).is_above_overall
    assert kind in rate_limits.list_alarms()  # for an hour


def test_while_the_alarm_stands_a_try_looks_at_one_partition_of_many(
    kind: str, settings: Settings, delays: list[float]
) -> None:
    settings.RATE_LIMITS |= {kind: (0, 0, 300, 60)}
    map_at_once(lambda _: hit_rate_limit(visit(), kind), range(301), 8)
    with count_statements() as meter:
        assert hit_rate_limit(visit(), kind).is_above_overall
    assert meter.statement_count == 2


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


def test_hammering_an_account_that_anybody_can_name_writes_nothing_either(kind: str) -> None:
    mallory = visit()
    while passes(kind, mallory, named="alice"):
        pass
    with count_statements() as meter:
        assert not passes(kind, mallory, named="alice")
    assert (meter.statement_count, meter.round_count) == (4, 1)


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


def test_s104_a_try_that_comes_again_counts_once_and_is_not_refused(
    kind: str, settings: Settings
) -> None:
    settings.RATE_LIMITS |= {kind: (3, 5, 0, 60)}
    request, known = visit(), uuid4()
    hit_rate_limit(request, kind, "alice", hit_id=known)
    assert [passes(kind, request, "alice") for _ in range(3)] == [True, True, False]
    again = hit_rate_limit(request, kind, "alice", hit_id=known)
    # It gives back no slot but its own: the first one may be under way.
    again.release_slots()
    assert not passes(kind, request, "alice")
    # Two tabs send one form for the last slot at the same moment.
    last = uuid4()
    settings.RATE_LIMITS |= {kind: (1, 0, 0, 60)}
    map_at_once(lambda _: hit_rate_limit(request, kind, "ben", hit_id=last), range(8))


def test_a_slot_comes_free_a_window_after_it_was_taken(kind: str, settings: Settings) -> None:
    for window in (4, 60):
        settings.RATE_LIMITS |= {kind: (2, 0, 0, window)}
        hit_rate_limit(visit(), kind, "alice")
    with pytest.raises(TooManyAttempts) as refused:
        hit_rate_limit(visit(), kind, "alice")
    assert 1 <= refused.value.retry_after <= 4  # the first one's, not the last one's
    # The first slot alone is free again.
    wait_until(lambda: passes(kind, visit(), "alice"), seconds=refused.value.retry_after + 1)
    assert not passes(kind, visit(), "alice")


@pytest.mark.parametrize("most", [10, 130])
def test_fifty_and_more_at_once_are_let_through_exactly_so_often(
    kind: str, settings: Settings, most: int
) -> None:
    settings.RATE_LIMITS |= {kind: (0, most, 0, 120)}
    tries, mallory = most + 40, visit()
    passed = map_at_once(lambda _: passes(kind, mallory), range(tries), 50)
    assert passed.count(True) == most


def test_a_measure_of_many_is_spread_over_partitions_of_a_hundred_that_expire_by_themselves(
    kind: str, settings: Settings
) -> None:
    settings.RATE_LIMITS |= {kind: (0, 0, 250, 60)}
    before = {(row.bucket, row.shard, row.slot) for row in ALL.iterate_table()}
    assert all(map_at_once(lambda _: passes(kind, visit()), range(250), 8))
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


def test_s63_a_provider_of_ipv6_networks_counts_by_56_and_48_bits_as_well(
    kind: str, settings: Settings
) -> None:
    settings.RATE_LIMITS |= {kind: (0, 2, 0, 60)}
    home = next(_addresses) % 2**16
    counted = {
        name: sum(passes(kind, visit(address)) for address in addresses)
        for name, addresses in {
            "one /64": [f"2001:db8:{home:x}:1::{n:x}" for n in range(5)],
            "one /56": [f"2001:db8:{home:x}:1{n:02x}::1" for n in range(12)],
            "one /48": [f"2001:db8:{home:x}:{n:x}ff::1" for n in range(2, 50)],
        }.items()
    }
    assert counted == {"one /64": 2, "one /56": 8, "one /48": 32 - 2 - 8}
    assert list_networks(visit("2001:db8:1:234::1")) == [
        ("2001:db8:1:234::/64", 1),
        ("2001:db8:1:200::/56", 4),
        ("2001:db8:1::/48", 16),
    ]
    # An account that anybody can name is refused to the widest of them.
    settings.RATE_LIMITS |= {kind: (3, 0, 0, 60)}
    tries = [passes(kind, visit(f"2001:db8:{home:x}:{n:x}::1"), named="alice") for n in range(5)]
    assert tries == [True] * 3 + [False] * 2


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
        home = next(_addresses) % 2**16
        local = [visit(f"2001:db8:{home:x}:{n:x}::1") for n in range(21)]
        for each in local[:20]:  # of one /56
            hit_local_rate_limit(each, kind)
        with pytest.raises(TooManyAttempts):
            hit_local_rate_limit(local[20], kind)
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


def test_what_is_counted_in_memory_is_counted_for_each_kind_by_itself(settings: Settings) -> None:
    kinds = {f"test-{uuid4().hex}": (0, 2, 0, window) for window in (86400, 3600 * 7)}
    settings.RATE_LIMITS = settings.RATE_LIMITS | kinds
    visitor = visit()
    for _ in range(2):
        for kind in kinds:
            hit_local_rate_limit(visitor, kind)
    for kind in kinds:
        with pytest.raises(TooManyAttempts):
            hit_local_rate_limit(visitor, kind)

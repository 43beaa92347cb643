"""The one clock: to the millisecond, compared with the nodes', and nothing is written while it is wrong."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from math import inf
from time import monotonic, time
from unittest.mock import Mock
from uuid import UUID, uuid4

import pytest
import time_machine
from cassandra import OperationTimedOut
from django.test import Client
from django.urls import reverse

from cassandra_db import CassandraUnavailable, ClockWrong, bulk, clock, current_time
from cassandra_db.configuration import SilentNodesLastPolicy
from cassandra_db.session import get_session
from cassandra_db.timestamps import WriteTimestamps
from jobs.leases import SAVE_POSITION, SELECT_LEASE, hold_lease
from tests.factories import make_product

DAY = timedelta(days=1)
MOMENT = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
def strict_clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Forbid what other tests may do: to write at another time than the nodes'."""
    monkeypatch.setattr(clock, "MAX_CLOCK_ERROR", timedelta(seconds=5))
    monkeypatch.setattr(clock, "last_comparison", None)
    monkeypatch.setattr(clock, "failed_at", -inf)
    yield
    clock.last_comparison = None


@contextmanager
def clock_off_by(offset: timedelta) -> Iterator[None]:
    with time_machine.travel(time() + offset.total_seconds(), tick=True):
        yield


def comparison(*ahead: float) -> clock.ClockComparison:
    nodes = {str(number): timedelta(seconds=each) for number, each in enumerate(ahead)}
    return clock.ClockComparison(nodes, monotonic(), time() - monotonic())


def test_it_is_rounded_as_cassandra_keeps_it() -> None:
    with time_machine.travel(MOMENT + timedelta(microseconds=123_987), tick=False):
        assert current_time() == MOMENT + timedelta(milliseconds=123)


def test_i11_who_is_a_day_off_reads_and_writes_nothing() -> None:
    job = f"test-{uuid4()}"
    for offset in (DAY, -DAY, timedelta(seconds=7)):
        with clock_off_by(offset):
            assert SELECT_LEASE.one(job=job) is None
            with pytest.raises(ClockWrong, match="ahead of" if offset > -offset else "behind"):
                hold_lease(job)
            with pytest.raises(ClockWrong), bulk.BulkWriter() as writer:
                writer.send(SAVE_POSITION.bind(job=job, position="x", me=uuid4()))
    assert SELECT_LEASE.one(job=job) is None
    # A clock that was set right is noticed at once, and one that is a little off is right.
    with hold_lease(job), clock_off_by(timedelta(seconds=3)):
        assert clock.is_clock_right()


def test_i11_the_median_decides_and_a_slow_answer_says_little() -> None:
    assert comparison(0, 0, 86_400).is_right
    assert not comparison(0, 86_400, 86_400).is_right
    assert "1 day, 0:00:00 behind" in comparison(-86_400).problem
    told, second = MOMENT, timedelta(seconds=1)
    assert clock.clock_ahead(told - 30 * second, told, told + 30 * second) == timedelta(0)
    assert clock.clock_ahead(told + 7 * second, told, told + 8 * second) == 7 * second
    assert clock.clock_ahead(told - 9 * second, told, told - 7 * second) == -7 * second


def test_i11_with_one_node_away_half_of_the_others_are_enough(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    for ahead in ((0, 12), (-12, 0), (0, 1, 12, 86_400)):
        assert comparison(*ahead).is_right, ahead
    for ahead in ((12, 86_400), (-12, -86_400), (-12, 12)):
        assert not comparison(*ahead).is_right, ahead
    assert comparison(0, 12, -9).wrong_nodes == {"1": timedelta(seconds=-12)}

    told = {"one": timedelta(0), "two": timedelta(seconds=12)}
    monkeypatch.setattr(clock, "ask_nodes", lambda patience: told)
    for _ in range(2):
        assert clock.compare_clocks().is_right
    said = [each.getMessage() for each in caplog.records if each.levelname == "ERROR"]
    assert said == ["the clock of the node two is 0:00:12 behind the other nodes'"]


def test_i11_a_node_that_is_slow_for_a_second_is_asked_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(SilentNodesLastPolicy, "_silent", {})
    late = Mock(result=Mock(side_effect=OperationTimedOut()))
    monkeypatch.setattr(clock, "ask_node", lambda *_: late)
    silent = []
    for patience in (clock.PATIENCE, clock.FIRST_PATIENCE):
        with pytest.raises(CassandraUnavailable):
            clock.ask_nodes(patience)
        silent.append(len(SilentNodesLastPolicy._silent))
    assert silent[0] == 0 < silent[1]


def test_i11_nodes_of_another_data_centre_take_no_nodes_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    metadata = get_session().cluster.metadata
    remote = [
        Mock(is_up=True, host_id=UUID(int=number), endpoint=f"remote {number}")
        for number in range(2 * clock.MAX_NODES)
    ]
    every = remote + metadata.all_hosts()
    monkeypatch.setattr(metadata, "all_hosts", lambda: every)
    assert clock.compare_clocks().is_right


def test_i11_who_waits_for_another_threads_comparison_takes_what_it_finds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[float] = []

    def ask(patience: float) -> dict[str, timedelta]:
        asked.append(patience)
        raise CassandraUnavailable("no Cassandra node says the time")

    class HeldByAnotherThread:
        def __enter__(self) -> None:
            clock.last_comparison = comparison(0)

        def __exit__(self, *_: object) -> None:
            pass

    monkeypatch.setattr(clock, "ask_nodes", ask)
    with monkeypatch.context() as patch:
        patch.setattr(clock, "_lock", HeldByAnotherThread())
        assert clock.compare_clocks() is clock.last_comparison
    assert asked == []
    # That nobody answers is known for a moment, too; then it is asked again.
    clock.last_comparison = None
    for _ in range(2):
        with pytest.raises(CassandraUnavailable):
            clock.require_right_clock()
    assert len(asked) == 1
    clock.failed_at -= clock.CHECK_AGAIN_AFTER.total_seconds()
    with pytest.raises(CassandraUnavailable):
        clock.require_right_clock()
    assert len(asked) == 2


def test_i11_timestamps_follow_a_clock_that_was_set_back() -> None:
    stamps = WriteTimestamps()
    with time_machine.travel(MOMENT, tick=False):
        assert stamps() < stamps() < stamps(), "each later than the one before"
    with time_machine.travel(MOMENT + DAY, tick=False):
        stamps()
    with time_machine.travel(MOMENT + timedelta(minutes=1), tick=False):
        assert stamps() == (MOMENT + timedelta(minutes=1)).timestamp() * 1_000_000


def test_i11_pages_are_read_and_changes_are_refused_in_words(client: Client) -> None:
    product = make_product("Sundial", stock=5)
    variant = product.variants[0]
    page = reverse("product", args=(product.slug,))
    form = {"variant": variant.sku, "quantity": "1", "operation": str(uuid4())}
    with clock_off_by(DAY):
        assert client.get(page).status_code == 200
        refused = client.post(reverse("cart:add"), form)
        ready = client.get("/readyz")
        assert client.get("/healthz").status_code == 200
    assert (refused.status_code, refused["Retry-After"]) == (503, "10")
    assert "What you sent wasn’t saved." in refused.content.decode()
    assert (ready.status_code, b"1 day, 0:00:00 ahead of" in ready.content) == (503, True)
    assert client.post(reverse("cart:add"), form).status_code == 303
    assert client.get("/readyz").status_code == 200

"""Group commit: a waiting request is served with all others that wait; never more than two writes at once, and none is lost."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import Mock
from uuid import UUID, uuid4

import pytest
from cassandra import OperationTimedOut
from cassandra.cluster import NoHostAvailable
from cassandra.query import BatchStatement

from cassandra_db import CassandraUnavailable, UnknownOutcome, statements
from cassandra_db.configuration import CONDITIONAL
from cassandra_db.session import get_session
from inventory import operations
from inventory.entities import StockNumbers
from inventory.operations import group_commit
from inventory.operations.group_commit import ReservationRequest, reserve_batched
from tests.factories import make_stock
from tests.inventory.test_operations import NOW, numbers, want
from tests.orders.crashes import Killed
from tests.stock import commit_stock, ship_stock
from tests.threads import map_at_once
from tests.waiting import wait_until


def make_request(units: int = 1, reservation_id: UUID | None = None) -> ReservationRequest:
    return ReservationRequest(
        reservation_id=reservation_id or uuid4(),
        order_id=uuid4(),
        line_number=1,
        units=units,
        now=NOW,
    )


class Watched:
    """The driver's session, which notes conditional writes, and lets a test do something around each."""

    def __init__(
        self, around: Callable[[int, Callable[[], Any]], Any] = lambda _, go: go()
    ) -> None:
        self.real, self.around = get_session(), around
        self.lock = threading.Lock()
        self.now = self.most = self.writes = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.real, name)

    def execute(self, statement: Any, **kwargs: Any) -> Any:
        if kwargs.get("execution_profile") != CONDITIONAL:
            return self.real.execute(statement, **kwargs)
        with self.lock:
            self.writes += 1
            self.now += 1
            self.most = max(self.most, self.now)
            mine = self.writes
        try:
            return self.around(mine, lambda: self.real.execute(statement, **kwargs))
        finally:
            with self.lock:
                self.now -= 1


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Watched]:
    def watched(*around: Any) -> Watched:
        made = Watched(*around)
        monkeypatch.setattr(statements, "get_session", lambda: made)
        return made

    return watched


@contextmanager
def busy(variant_id: UUID) -> Iterator[None]:
    """Occupy all turns of a stock item, so that all requests that come now wait."""
    with ExitStack() as turns:
        for _ in range(group_commit.AT_ONCE):
            turns.enter_context(group_commit.write_turn(variant_id, "berlin"))
        yield


@pytest.fixture
def one_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Allow a single leader, which takes all others along."""
    monkeypatch.setattr(group_commit, "AT_ONCE", 1)


def wait_for_queue(variant_id: UUID, count: int) -> None:
    """Return when so many are in the queue."""
    key = variant_id, "berlin"
    wait_until(lambda: len(group_commit.queues[key].waiting_turns) >= count)


def all_at_once(variant_id: UUID, requests: list[ReservationRequest]) -> list[BaseException | None]:
    """Reserve each in a thread of its own; they come in this order, and wait for the stock item together."""

    def take(each: ReservationRequest) -> BaseException | None:
        try:
            reserve_batched(variant_id, "berlin", each)
        except BaseException as error:  # noqa: BLE001 the test looks at what was raised
            return error
        return None

    with ThreadPoolExecutor(len(requests)) as pool:
        with busy(variant_id):
            futures = []
            for count, each in enumerate(requests, 1):
                futures.append(pool.submit(take, each))
                wait_for_queue(variant_id, count)
        return [each.result(60) for each in futures]


@pytest.mark.usefixtures("one_turn")
def test_who_waits_is_served_by_one_batch_with_the_others(watch: Callable[..., Watched]) -> None:
    variant_id = make_stock(100)
    session = watch()
    requests = [make_request() for _ in range(60)]
    assert all_at_once(variant_id, requests) == [None] * 60
    assert all(each.is_reserved for each in requests)
    assert session.writes == 2, "32 and 28"
    assert numbers(variant_id) == StockNumbers(100, 40, 60, 0, 0)
    assert group_commit.queues == {}


def test_never_more_than_two_writes_of_a_stock_item_are_under_way(
    watch: Callable[..., Watched],
) -> None:
    variant_id = make_stock(400)
    session = watch()

    def buy(_: int) -> None:
        allocations = operations.FirstReservation(uuid4(), [want(variant_id)], NOW).reserve()
        commit_stock(allocations)
        ship_stock(allocations)

    map_at_once(buy, range(96), 24)
    assert session.most <= group_commit.AT_ONCE
    assert numbers(variant_id) == StockNumbers(400, 304, 0, 0, 96)


@pytest.mark.usefixtures("one_turn")
def test_if_the_sum_does_not_fit_as_many_come_along_as_fit_in_their_order() -> None:
    variant_id = make_stock(7)
    requests = [make_request(units) for units in (3, 5, 2, 2, 1)]
    all_at_once(variant_id, requests)
    assert [each.is_reserved for each in requests] == [True, False, True, True, False]
    assert [each.available for each in requests if not each.is_reserved] == [0, 0], (
        "what was left after the others"
    )
    assert numbers(variant_id) == StockNumbers(7, 0, 7, 0, 0)


@pytest.mark.usefixtures("one_turn")
def test_nobody_is_refused_for_units_that_another_one_does_not_get(
    watch: Callable[..., Watched],
) -> None:
    """I15."""
    variant_id = make_stock(3)

    def another_process_takes_one(write: int, go: Callable[[], Any]) -> Any:
        if write == 2:
            group_commit.reserve_all((variant_id, "berlin"), [make_request()])
        return go()

    watch(another_process_takes_one)
    wants_all, wants_two = make_request(3), make_request(2)
    all_at_once(variant_id, [wants_all, wants_two])
    assert (wants_all.is_reserved, wants_all.available) == (False, 2)
    assert wants_two.is_reserved, "two were free all the time"


@pytest.mark.usefixtures("one_turn")
def test_whoever_did_not_fit_beside_others_has_an_answer_if_theirs_is_lost(
    watch: Callable[..., Watched],
) -> None:
    variant_id = make_stock(3)

    def answer_is_lost(write: int, go: Callable[[], Any]) -> Any:
        if write == 2:
            raise CassandraUnavailable("no node answers")
        return go()

    watch(answer_is_lost)
    wants_all, wants_two = make_request(3), make_request(2)
    raised = all_at_once(variant_id, [wants_all, wants_two])
    assert isinstance(raised[0], CassandraUnavailable)
    assert (wants_two.is_reserved, wants_two.is_unknown, wants_two.error) == (False, True, None)


@pytest.mark.usefixtures("one_turn")
def test_a_reservation_that_exists_already_is_kept_and_the_rest_is_tried() -> None:
    variant_id = make_stock(10)
    before, other = make_request(2), make_request(3)
    reserve_batched(variant_id, "berlin", before)
    reserve_batched(variant_id, "berlin", other)
    again, changed = make_request(2, before.reservation_id), make_request(1, other.reservation_id)
    fresh = [make_request(), make_request()]
    all_at_once(variant_id, [fresh[0], again, changed, fresh[1]])
    assert [each.is_reserved for each in (fresh[0], again, fresh[1])] == [True] * 3
    assert (changed.is_reserved, changed.has_other_quantity) == (False, True)
    assert numbers(variant_id) == StockNumbers(10, 3, 7, 0, 0)


@pytest.mark.usefixtures("one_turn")
def test_one_reservation_twice_at_once_takes_its_units_once() -> None:
    variant_id, reservation_id = make_stock(10), uuid4()
    requests = [make_request(2, reservation_id), make_request(2, reservation_id), make_request(1)]
    all_at_once(variant_id, requests)
    assert all(each.is_reserved for each in requests)
    assert numbers(variant_id) == StockNumbers(10, 7, 3, 0, 0)


def test_nothing_was_ever_received_is_nothing_there() -> None:
    alone = make_request()
    reserve_batched(uuid4(), "berlin", alone)
    assert (alone.is_reserved, alone.available) == (False, 0)
    variant_id, several = uuid4(), [make_request(), make_request()]
    all_at_once(variant_id, several)
    assert [each.is_reserved for each in several] == [False, False]


@pytest.mark.parametrize("count", [1, 12])
def test_a_lost_answer_is_resolved_for_each_who_waited(
    watch: Callable[..., Watched], count: int
) -> None:
    variant_id = make_stock(10)

    def lost(write: int, go: Callable[[], Any]) -> Any:
        answer = go()
        if write == 1:
            raise OperationTimedOut
        return answer

    watch(lost)
    requests = [make_request() for _ in range(count)]
    assert all_at_once(variant_id, requests) == [None] * count
    assert sum(bool(each.is_reserved) for each in requests) == min(count, 10)
    assert numbers(variant_id).reserved == min(count, 10)


@pytest.mark.usefixtures("one_turn")
def test_who_cannot_get_an_answer_learns_so_and_the_stock_item_goes_on(
    watch: Callable[..., Watched], monkeypatch: pytest.MonkeyPatch
) -> None:
    variant_id = make_stock(10)
    monkeypatch.setattr(statements, "PAUSES", (0.0, 0.0))

    def silent(write: int, go: Callable[[], Any]) -> Any:
        if write <= 3:
            go()
            raise OperationTimedOut
        return go()

    watch(silent)
    results = all_at_once(variant_id, [make_request(), make_request(), make_request()])
    assert [type(each) for each in results] == [UnknownOutcome] * 3
    after = make_request()
    reserve_batched(variant_id, "berlin", after)
    assert after.is_reserved
    assert numbers(variant_id).reserved == 4, (
        "the three are reserved, and their expiries lead the sweeper to them"
    )


def test_without_a_node_everybody_reads_so(watch: Callable[..., Watched]) -> None:
    variant_id = make_stock(10)
    watch(Mock(side_effect=NoHostAvailable("away", {})))
    results = all_at_once(variant_id, [make_request(), make_request()])
    assert [type(each) for each in results] == [CassandraUnavailable] * 2
    assert group_commit.queues == {}


@pytest.mark.usefixtures("one_turn")
def test_who_leads_and_is_interrupted_leaves_nobody_waiting(watch: Callable[..., Watched]) -> None:
    variant_id = make_stock(10)

    def interrupted(write: int, go: Callable[[], Any]) -> Any:
        if write == 1:
            raise Killed
        return go()

    watch(interrupted)
    first, *others = all_at_once(variant_id, [make_request(), make_request(), make_request()])
    assert isinstance(first, Killed)
    assert [type(each) for each in others] == [UnknownOutcome] * 2
    assert group_commit.queues == {}


def test_who_waits_too_long_is_sent_away_politely(monkeypatch: pytest.MonkeyPatch) -> None:
    variant_id = make_stock(10)
    monkeypatch.setattr(group_commit, "WAIT_SECONDS", 0.1)
    with busy(variant_id):
        with pytest.raises(CassandraUnavailable, match="too many wait"):
            reserve_batched(variant_id, "berlin", make_request())
        with (
            pytest.raises(CassandraUnavailable, match="too many wait"),
            group_commit.write_turn(variant_id, "berlin"),
        ):
            pass
        with group_commit.write_turn(uuid4(), "berlin"):
            pass
    assert group_commit.queues == {}
    assert numbers(variant_id).reserved == 0


def test_all_conditional_writes_of_a_stock_item_meet_at_one_coordinator() -> None:
    variant_id = make_stock(10)
    session = get_session()
    policy = session.cluster.profile_manager.profiles[CONDITIONAL].load_balancing_policy
    assert policy.shuffle_replicas is False, "the same replica comes first each time"
    keys = set()
    for statement, bound in (
        (group_commit.RESERVE_UNITS, {"units": 1, "minus": -1}),
        (operations.movements.MOVE_UNITS, dict.fromkeys(["available", "reserved", "committed", "shipped"], 0)
         | {"least_reserved": 0, "least_committed": 0}),
    ):  # fmt: skip
        batch = BatchStatement()
        batch.add(statement.bind(variant_id=variant_id, warehouse_id="berlin", **bound))
        keys.add(batch.routing_key)
        assert next(
            iter(policy.make_query_plan(session.keyspace, batch))
        ) in session.cluster.metadata.get_replicas(session.keyspace, batch.routing_key)
    assert len(keys) == 1

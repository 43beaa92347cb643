"""What could block a sweep, or an order's other effects: a bank that hangs, units that do not move, left-over reservations."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest.mock import Mock
from uuid import UUID, uuid4

import pytest

from cassandra_db.session import get_session
from demo.testbank.gateway import TestBank
from inventory import operations as inventory
from inventory import queries as stock
from inventory.entities import Allocation, WantedLine, make_reservation_id
from jobs.leases import hold_lease, save_position
from jobs.minutes import floor_to_minute, minutes_between
from mail.queries import list_recipient_mails
from orders import jobs, operations, queries
from orders.operations import effects
from orders.operations.pending_effects import DUE_EFFECTS
from payments import gateways
from payments.errors import GatewayUnavailable
from tests.clock import now
from tests.factories import make_draft, make_payment, make_stocked_product
from tests.orders.consistency_checks import assert_order_consistent
from tests.shards import ItemsShard, SingleItemShard
from tests.stock import commit_stock


def test_a_bank_that_hangs_is_waited_for_once_in_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def hang(*_: Any) -> None:
        calls.append(1)
        raise TimeoutError("no answer")

    monkeypatch.setattr(TestBank, "get_outcome", hang)
    monkeypatch.setattr(gateways, "SLOW_CALL_SECONDS", 0)
    bank = gateways.get_gateway("testbank")
    with gateways.gateway_circuit_breaker():
        for _ in range(3):
            with pytest.raises(GatewayUnavailable):
                bank.get_outcome(uuid4().hex)
    assert len(calls) == 1
    # Calls outside the block, such as for a single order, ask again.
    for _ in range(2):
        with pytest.raises(GatewayUnavailable):
            bank.get_outcome(uuid4().hex)
    assert len(calls) == 3


def test_a_bank_that_refuses_quickly_is_asked_about_each_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls = []

    def refuse(*_: Any) -> None:
        calls.append(1)
        raise ConnectionError("no bank")

    monkeypatch.setattr(TestBank, "get_outcome", refuse)
    bank = gateways.get_gateway("testbank")
    with gateways.gateway_circuit_breaker():
        for _ in range(2):
            with pytest.raises(GatewayUnavailable):
                bank.get_outcome(uuid4().hex)
    assert len(calls) == 2


def test_a_sweep_does_not_wait_for_a_hanging_bank_order_by_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls, ids = [], [uuid4(), uuid4(), uuid4()]

    def hang(*_: Any) -> None:
        calls.append(1)
        raise TimeoutError("no answer")

    def ask(order_id: UUID, at: datetime) -> None:
        gateways.get_gateway("testbank").get_outcome(order_id.hex)

    monkeypatch.setattr(TestBank, "get_outcome", hang)
    monkeypatch.setattr(gateways, "SLOW_CALL_SECONDS", 0)
    monkeypatch.setattr(jobs, "recover_order", ask)
    at = now()
    for order_id in ids:
        DUE_EFFECTS.note(at - timedelta(minutes=4), order_id=order_id)
    shard = ItemsShard(f"test {uuid4()}", item_ids=frozenset(ids))
    with hold_lease(shard.job_name):
        save_position(shard.job_name, floor_to_minute(at - timedelta(minutes=5)).isoformat())
        jobs.sweep_pending_effects(at, shard)
    postponed = DUE_EFFECTS.list_between(at, at + timedelta(minutes=10))
    assert {row.order_id for row in postponed} >= set(ids)
    assert len(calls) == 1


def test_units_that_do_not_move_keep_nobody_from_being_charged_and_notified(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    order = operations.place_order(
        make_draft((make_stocked_product(3), 1), email=f"{uuid4().hex}@example.com"), now()
    )
    with monkeypatch.context() as patch:
        patch.setattr(
            effects, "sync_stock", Mock(side_effect=LookupError("a row that does not move"))
        )
        paid = make_payment(order)
        with pytest.raises(LookupError):
            operations.apply_effects(order.order_id, now())
    fresh = queries.get_order(order.order_id)
    assert fresh
    assert fresh.captured == paid.total
    assert list_recipient_mails(order.email)
    operations.apply_effects(order.order_id, now())
    assert_order_consistent(order.order_id)


def test_what_is_paid_for_is_no_left_over_of_a_try() -> None:
    product = make_stocked_product(5)
    variant_id = product.variants[0].variant_id
    order = make_payment(operations.place_order(make_draft((product, 1)), now()))
    wanted_lines = [WantedLine(7, product.product_id, variant_id, 2)]
    (allocation,) = inventory.reserve_stock(order.order_id, wanted_lines, now(), 9)
    commit_stock([allocation])
    _sweep_reservations(order.order_id)
    assert stock.get_stock_numbers(variant_id, allocation.warehouse_id).committed == 3


def test_a_reservation_that_has_become_the_orders_own_is_not_released(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    product = make_stocked_product(5)
    variant_id = product.variants[0].variant_id
    order = make_payment(operations.place_order(make_draft((product, 1)), now()))
    (allocation,) = inventory.reserve_stock(
        order.order_id, [WantedLine(7, product.product_id, variant_id, 2)], now(), 9
    )
    assert allocation.reservation_id == make_reservation_id(
        order.order_id, 7, variant_id, allocation.warehouse_id, 9
    )
    reads = []

    def own_reservation_ids(_: Any) -> set[Any]:
        reads.append(1)
        return set() if len(reads) == 1 else {allocation.reservation_id, *first}

    first = {each.reservation_id for each in order.list_allocations(queries.list_items(order))}
    monkeypatch.setattr(jobs, "_own_reservation_ids", own_reservation_ids)
    _sweep_reservations(order.order_id)
    assert stock.get_stock_numbers(variant_id, allocation.warehouse_id).reserved == 2


def _sweep_reservations(order_id: UUID) -> None:
    minutes = minutes_between(now() + timedelta(minutes=8), now() + timedelta(minutes=12))
    jobs.expire_reservations(
        minutes, now() + timedelta(minutes=13), SingleItemShard("holds", item_id=order_id)
    )


def test_x252_reads_of_a_swept_minute_meet_no_mark_of_each_reservation() -> None:
    """A minute is read for five more minutes by all shards; a busy one has thousands of reservations."""
    minute = datetime(2001, 1, 1, tzinfo=UTC) + timedelta(minutes=uuid4().int % 10_000_000)
    item = uuid4(), "main"
    orders = [uuid4(), uuid4()]
    for order_id, count in zip(orders, (jobs.MANY_EXPIRIES, 1), strict=True):
        inventory.record_reservation_expiries(
            order_id,
            [Allocation(1, uuid4(), *item, 1, uuid4(), order_id) for _ in range(count)],
            minute,
        )
    first, second = (SingleItemShard("holds", item_id=order_id) for order_id in orders)
    assert jobs.expire_reservations([minute], now(), first) == set()
    assert _meet(minute) == (1, jobs.MANY_EXPIRIES), "another shard's reservation stays"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jobs, "MANY_EXPIRIES", 1)
        assert jobs.expire_reservations([minute], now(), second) == set()
    assert _meet(minute) == (0, 0)
    # What comes later is found.
    inventory.record_reservation_expiries(
        orders[0], [Allocation(1, uuid4(), *item, 1, uuid4(), orders[0])], minute
    )
    assert _meet(minute)[0] == 1


def _meet(minute: datetime) -> tuple[int, int]:
    """Return how many live and how many deleted rows a sweep's read of a minute meets."""
    reading = get_session().execute_async(
        stock.RESERVATION_EXPIRIES.bind(minute=minute), trace=True
    )
    reading.result()
    trace = reading.get_query_trace(max_wait=10)
    (found,) = (
        found
        for event in trace.events
        if (found := re.match(r"Read (\d+) live rows and (\d+) tombstone", event.description))
    )
    return int(found[1]), int(found[2])

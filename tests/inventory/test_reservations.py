"""An order reserves its units: nothing is read before, all or nothing, and a refusal has the true numbers."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from cassandra_db import count_statements, current_microseconds
from inventory import operations
from inventory.entities import Allocation, StockNumbers, WantedLine
from inventory.errors import OutOfStock
from inventory.operations import group_commit, reservations
from inventory.operations.reservations import DUE_EXPIRIES
from shop_settings.queries import get_settings
from tests.factories import make_stock
from tests.inventory.test_operations import NOW, numbers, want
from tests.threads import map_at_once


def first_try(order_id: UUID, *wants: WantedLine, **knows: Any) -> tuple[Allocation, ...]:
    return operations.FirstReservation(order_id, wants, NOW, **knows).reserve()


def test_a_first_try_reads_nothing() -> None:
    one, other = make_stock(5), make_stock(5)
    first_try(uuid4(), want(one), want(other, 2, 2))  # statements are prepared
    with count_statements() as meter:
        first_try(uuid4(), want(one), want(other, 2, 2))
    assert (meter.read_count, meter.write_count, meter.conditional_write_count) == (0, 1, 2), (
        "the expiry, then one conditional write each, and no read"
    )
    assert (numbers(one).reserved, numbers(other).reserved) == (2, 4)


def test_a_page_says_where_the_units_are() -> None:
    variant_id = make_stock(0, cork=5)
    with count_statements() as meter:
        (allocation,) = first_try(
            uuid4(), want(variant_id, 2), seen_units={variant_id: {"berlin": 0, "cork": 5}}
        )
    assert (allocation.warehouse_id, meter.statement_count) == ("cork", 2), (
        "the expiry, and one conditional write"
    )


def test_a_noted_plan_is_not_noted_again_and_another_plan_is() -> None:
    for berlin, writes, tries in ((2, (0, 1), ["berlin"]), (0, (1, 2), ["berlin", "cork"])):
        variant_id, order_id = make_stock(berlin, cork=5), uuid4()
        seen = {variant_id: {"berlin": 2, "cork": 5}}
        first = operations.FirstReservation(order_id, [want(variant_id, 2)], NOW, seen)
        first.record()
        with count_statements() as meter:
            (allocation,) = first.reserve(lambda: None)
        assert (meter.write_count, meter.conditional_write_count) == writes
        assert (meter.read_count, allocation.warehouse_id) == (0, tries[-1])
        soon = datetime.now(UTC) + timedelta(minutes=9)
        noted = DUE_EXPIRIES.list_between(soon, soon + timedelta(minutes=2))
        assert sorted(row.warehouse_id for row in noted if row.order_id == order_id) == tries


def test_the_expiries_of_a_large_order_are_written_beside_other_rows() -> None:
    """Cassandra refuses a batch of this size across partitions."""
    order_id, variant_id, later = uuid4(), uuid4(), NOW + timedelta(hours=1)
    allocations = [
        Allocation(number, uuid4(), variant_id, "berlin", 1, uuid4()) for number in range(1000)
    ]
    beside = reservations.INSERT_RESERVATION_EXPIRY.bind(
        minute=later,
        variant_id=variant_id,
        warehouse_id="berlin",
        reservation_id=uuid4(),
        order_id=order_id,
        quantity=1,
    )
    operations.record_reservation_expiries(order_id, allocations, NOW, [beside])
    found = [row.minute for row in DUE_EXPIRIES.list_rows([NOW, later]) if row.order_id == order_id]
    for minute in (NOW, later):
        operations.drop_expired_minute(minute, current_microseconds())
    assert (found.count(NOW), found.count(later)) == (1000, 1)


def test_what_a_refused_batch_answers_leads_on() -> None:
    variant_id = make_stock(1, cork=5)
    (allocation,) = first_try(uuid4(), want(variant_id, 2))
    assert allocation.warehouse_id == "cork"
    split = first_try(uuid4(), want(variant_id, 4))
    assert sorted((each.warehouse_id, each.quantity) for each in split) == [
        ("berlin", 1),
        ("cork", 3),
    ]


@pytest.mark.parametrize("seen", [0, 99], ids=["the page had nothing", "the page had plenty"])
def test_nobody_is_refused_for_too_little_because_a_page_was_old(seen: int) -> None:
    variant_id = make_stock(3)
    page = {variant_id: {"berlin": seen}}
    assert first_try(uuid4(), want(variant_id, 2), seen_units=page)[0].quantity == 2
    with pytest.raises(OutOfStock) as refused:
        first_try(uuid4(), want(variant_id, 2), seen_units=page)
    assert refused.value.shortages == {variant_id: 1}
    assert numbers(variant_id) == StockNumbers(3, 1, 2, 0, 0)


def test_the_numbers_of_a_refusal_count_what_was_reserved_for_a_moment() -> None:
    plenty, short = make_stock(2, cork=2), make_stock(1)
    with pytest.raises(OutOfStock) as refused:
        first_try(uuid4(), want(plenty, 4, 1), want(short, 2, 2))
    assert refused.value.shortages == {short: 1}
    assert (
        numbers(plenty, "berlin").reserved
        == numbers(plenty, "cork").reserved
        == numbers(short).reserved
        == 0
    )


def test_a_first_try_that_failed_finds_its_own_reservation() -> None:
    variant_id, order_id = make_stock(5), uuid4()
    mine = want(variant_id, 3)
    assert first_try(order_id, mine) == first_try(order_id, mine)
    assert numbers(variant_id).reserved == 3
    assert first_try(order_id, want(variant_id, 4))[0].quantity == 4, (
        "another quantity replaces the former"
    )
    assert numbers(variant_id).reserved == 4


def test_a_further_try_gives_back_only_what_is_not_wanted_any_more() -> None:
    one, other, order_id = make_stock(5), make_stock(5), uuid4()
    operations.reserve_stock(order_id, [want(one, 2, 1), want(other, 2, 2)], NOW)
    get_settings()  # which a process reads once in a while
    with count_statements() as meter:
        allocations = operations.reserve_stock(order_id, [want(one, 2, 1), want(other, 3, 2)], NOW)
    assert {each.variant_id: each.quantity for each in allocations} == {one: 2, other: 3}
    assert (numbers(one).reserved, numbers(other).reserved) == (2, 3)
    assert meter.statement_count == 6 + 3 + 7, (
        "reads six stock items, releases one reservation, writes an expiry and reserves one; copies what it released, "
        "and reads whether the product is still sold, as it may be low now"
    )


def test_the_same_variant_on_two_lines_is_counted_together() -> None:
    variant_id = make_stock(5)
    with pytest.raises(OutOfStock) as refused:
        first_try(uuid4(), want(variant_id, 3, 1), want(variant_id, 3, 2))
    assert refused.value.shortages == {variant_id: 5}
    assert len(first_try(uuid4(), want(variant_id, 2, 1), want(variant_id, 3, 2))) == 2
    assert numbers(variant_id).reserved == 5


def test_orders_that_overlap_in_opposite_order_neither_wait_for_each_other_nor_starve() -> None:
    variants = [make_stock(12) for _ in range(3)]

    def buy(n: int) -> bool:
        chosen = variants if n % 2 else variants[::-1]
        try:
            first_try(
                uuid4(), *(want(variant, 1 + n % 2, line) for line, variant in enumerate(chosen, 1))
            )
        except OutOfStock:
            return False
        return True

    won = map_at_once(buy, range(40), 16)
    units = sum(1 + n % 2 for n, one in enumerate(won) if one)
    assert [numbers(variant).reserved for variant in variants] == [units] * 3
    assert 11 <= units <= 12, "at most one unit is left, which two would have wanted together"


def test_who_lost_the_claim_reserves_nothing_more() -> None:
    one, other = sorted((make_stock(5), make_stock(5)))
    checks = iter([None, RuntimeError("the claim is over")])

    def check() -> None:
        if error := next(checks):
            raise error

    with pytest.raises(RuntimeError):
        operations.FirstReservation(uuid4(), [want(one), want(other, 1, 2)], NOW).reserve(check)
    assert (numbers(one).reserved, numbers(other).reserved) == (1, 0), (
        "what was reserved is left to the sweeper"
    )


def test_a_renewed_reservation_is_looked_at_when_it_runs_out_now() -> None:
    order_id = uuid4()
    allocations = first_try(order_id, want(make_stock(5)))
    until = datetime.now(UTC) + timedelta(minutes=25)
    operations.extend_reservations(order_id, until, allocations)
    operations.extend_reservations(order_id, until, ())
    (expiry,) = (row for row in DUE_EXPIRIES.list_between(until, until) if row.order_id == order_id)
    assert (expiry.reservation_id, expiry.quantity) == (allocations[0].reservation_id, 1)


def test_a_reservation_gives_up_when_others_are_always_faster(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    variant_id = make_stock(5)
    tries = []

    def faster(*of: Any) -> None:
        request = of[-1]
        tries.append(request)
        request.is_reserved, request.available = False, 5

    monkeypatch.setattr(reservations, "reserve_batched", faster)
    with pytest.raises(OutOfStock):
        first_try(uuid4(), want(variant_id))
    assert len(tries) == reservations.MAX_ATTEMPTS
    assert group_commit.queues == {}


def test_who_was_refused_too_often_to_know_reads_the_true_numbers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    variant_id = make_stock(5)
    monkeypatch.setattr(group_commit, "MAX_ATTEMPTS", 0)
    with pytest.raises(OutOfStock) as refused:
        first_try(uuid4(), want(variant_id, 2), seen_units={variant_id: {"berlin": 5}})
    assert refused.value.shortages == {variant_id: 5}, (
        "there are five, and it does not say that there are none"
    )
    monkeypatch.undo()
    rounds = iter((0, 10, 10))
    whole = group_commit.reserve_all

    def once(*of: Any) -> None:
        monkeypatch.setattr(group_commit, "MAX_ATTEMPTS", next(rounds))
        whole(*of)

    monkeypatch.setattr(group_commit, "reserve_all", once)
    assert (
        first_try(uuid4(), want(variant_id, 2), seen_units={variant_id: {"berlin": 5}})[0].quantity
        == 2
    )

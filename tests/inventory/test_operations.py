"""Stock under load: nothing is sold twice, and doing a step twice does it once."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from threading import Event
from typing import Any
from unittest.mock import Mock
from uuid import UUID, uuid4

import pytest

from cassandra_db import CassandraUnavailable, count_statements, session, statements
from catalogue import operations as catalogue
from catalogue.queries import get_product_at_quorum
from inventory import operations, queries
from inventory.entities import SENTINEL, Allocation, StockNumbers, WantedLine
from inventory.errors import OutOfStock
from inventory.operations import group_commit, reservations, stock_copies
from inventory.operations.reservations import DUE_EXPIRIES
from inventory.warehouses import list_warehouses
from jobs.minutes import floor_to_minute
from tests.factories import make_product, make_stock
from tests.lost_answers import AnswerLosingSession
from tests.reads import existing
from tests.stock import commit_stock, ship_stock
from tests.threads import map_at_once
from tests.waiting import wait_until

NOW = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)


def want(variant_id: UUID, quantity: int = 1, line: int = 1) -> WantedLine:
    return WantedLine(line, uuid4(), variant_id, quantity)


def reserve(order_id: UUID, wants: list[WantedLine], *, retry: bool) -> tuple[Allocation, ...]:
    if retry:
        return operations.reserve_stock(order_id, wants, NOW)
    return operations.FirstReservation(order_id, wants, NOW).reserve()


def numbers(variant_id: UUID, place: str = "berlin") -> StockNumbers:
    found = queries.get_stock_numbers(variant_id, place)
    assert (
        found.received == found.available + found.reserved + found.committed + found.shipped
    )  # I1
    assert min(found.available, found.reserved, found.committed, found.shipped) >= 0
    return found


def test_a_receipt_counts_once() -> None:
    product_id, variant_id, receipt_id = uuid4(), uuid4(), uuid4()
    booked = [
        operations.receive_stock(
            product_id, variant_id, "berlin", 7, 2, receipt_id, NOW + timedelta(days=n)
        )
        for n in range(3)
    ]
    assert booked == [True, False, False]
    assert operations.receive_stock(product_id, variant_id, "berlin", 5, 2, uuid4(), NOW)
    assert numbers(variant_id).available == 12


def test_a_receipt_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one"):
        operations.receive_stock(uuid4(), uuid4(), "berlin", 0, 2, uuid4(), NOW)


def test_forty_units_and_a_hundred_and_twenty_buyers() -> None:
    variant_id = make_stock(40)

    def buy(_: int) -> int:
        try:
            return len(operations.reserve_stock(uuid4(), [want(variant_id)], NOW))
        except OutOfStock:
            return 0

    won = sum(map_at_once(buy, range(120), 24))
    assert won == 40
    assert numbers(variant_id) == StockNumbers(
        received=40, available=0, reserved=40, committed=0, shipped=0
    )


def test_buyers_of_several_things_get_all_or_nothing() -> None:
    plenty, rare = make_stock(30), make_stock(6)

    def buy(n: int) -> int:
        wants = [want(plenty, 1, 1), want(rare, 1, 2)]
        try:
            return len(operations.reserve_stock(uuid4(), wants if n % 2 else wants[::-1], NOW))
        except OutOfStock:
            return 0

    assert sum(map_at_once(buy, range(30), 16)) == 12
    assert numbers(plenty).reserved == numbers(rare).reserved == 6


def test_reserving_again_finds_the_same_reservations() -> None:
    variant_id, order_id = make_stock(5), uuid4()
    wants = [want(variant_id, 3)]
    first = operations.reserve_stock(order_id, wants, NOW)
    assert operations.reserve_stock(order_id, wants, NOW) == first
    assert numbers(variant_id).reserved == 3


def test_a_changed_quantity_releases_the_former_reservation() -> None:
    variant_id, order_id = make_stock(5), uuid4()
    operations.reserve_stock(order_id, [want(variant_id, 4)], NOW)
    operations.reserve_stock(order_id, [want(variant_id, 5)], NOW)
    assert numbers(variant_id).reserved == 5


def test_too_few_reserve_nothing() -> None:
    plenty, short = make_stock(9), make_stock(2)
    with pytest.raises(OutOfStock) as refused:
        operations.reserve_stock(uuid4(), [want(plenty, 1, 1), want(short, 3, 2)], NOW)
    assert refused.value.shortages == {short: 2}
    assert numbers(plenty).reserved == numbers(short).reserved == 0


def test_one_warehouse_sends_all_if_it_can() -> None:
    first, second = make_stock(5, cork=5), make_stock(0, cork=5)
    allocations = operations.reserve_stock(uuid4(), [want(first, 2, 1), want(second, 2, 2)], NOW)
    assert {each.warehouse_id for each in allocations} == {"cork"}


def test_a_line_is_split_only_when_no_warehouse_has_it_all() -> None:
    variant_id = make_stock(3, cork=2)
    allocations = operations.reserve_stock(uuid4(), [want(variant_id, 5)], NOW)
    assert sorted((each.warehouse_id, each.quantity) for each in allocations) == [
        ("berlin", 3),
        ("cork", 2),
    ]


def test_each_step_happens_once() -> None:
    variant_id = make_stock(10)
    allocations = operations.reserve_stock(uuid4(), [want(variant_id, 4)], NOW)
    assert commit_stock(allocations) == commit_stock(allocations) == ()
    assert numbers(variant_id) == StockNumbers(10, 6, 0, 4, 0)
    ship_stock(allocations)
    ship_stock(allocations)
    assert numbers(variant_id) == StockNumbers(10, 6, 0, 0, 4)
    operations.release_stock(allocations)
    assert numbers(variant_id) == StockNumbers(10, 6, 0, 0, 4)
    assert commit_stock(allocations) == allocations, "what is gone cannot be committed"


def test_released_units_come_back_once_whether_reserved_or_committed() -> None:
    variant_id = make_stock(10)
    unpaid = operations.reserve_stock(uuid4(), [want(variant_id, 4)], NOW)
    paid = operations.reserve_stock(uuid4(), [want(variant_id, 3)], NOW)
    commit_stock(paid)
    map_at_once(operations.release_stock, [unpaid, paid] * 4, 8)
    assert numbers(variant_id) == StockNumbers(10, 10, 0, 0, 0)


def test_what_ships_before_it_was_committed_is_committed_on_the_way() -> None:
    variant_id = make_stock(10)
    ship_stock(operations.reserve_stock(uuid4(), [want(variant_id, 4)], NOW))
    assert numbers(variant_id) == StockNumbers(10, 6, 0, 0, 4)


def test_a_lost_answer_is_resolved_at_each_step(monkeypatch: pytest.MonkeyPatch) -> None:
    variant_id, back = make_stock(10), make_stock(10)
    flaky = AnswerLosingSession(session.get_session())
    monkeypatch.setattr(statements, "get_session", lambda: flaky)
    product_id, order_id = uuid4(), uuid4()
    assert operations.receive_stock(product_id, variant_id, "berlin", 5, 2, uuid4(), NOW)
    allocations = operations.reserve_stock(order_id, [want(variant_id, 4)], NOW)
    assert numbers(variant_id) == StockNumbers(15, 11, 4, 0, 0)
    assert commit_stock(allocations) == ()
    ship_stock(allocations)
    operations.release_stock(operations.reserve_stock(order_id, [want(back, 4)], NOW))
    assert flaky.lost_count >= 6
    assert numbers(variant_id) == StockNumbers(15, 11, 0, 0, 4)
    assert numbers(back) == StockNumbers(10, 10, 0, 0, 0)


def test_the_expiry_is_written_before_the_reservation(monkeypatch: pytest.MonkeyPatch) -> None:
    variant_id, order_id = make_stock(5), uuid4()
    monkeypatch.setattr(group_commit, "reserve_all", Mock(side_effect=RuntimeError("killed")))
    before = datetime.now(UTC)
    with pytest.raises(RuntimeError):
        operations.reserve_stock(order_id, [want(variant_id)], before)
    minutes = [
        floor_to_minute(before + operations.RESERVATION_DURATION) + timedelta(minutes=n)
        for n in (0, 1)
    ]
    expiries = DUE_EXPIRIES.list_rows(minutes)
    assert order_id in {row.order_id for row in expiries}
    assert numbers(variant_id).reserved == 0


def test_a_past_date_does_not_hide_the_expiry_from_the_sweeper() -> None:
    variant_id, order_id = make_stock(5), uuid4()
    start = datetime.now(UTC)
    operations.reserve_stock(order_id, [want(variant_id)], NOW - timedelta(days=90))
    minutes = [
        floor_to_minute(start + operations.RESERVATION_DURATION) + timedelta(minutes=n)
        for n in (0, 1)
    ]
    assert order_id in {row.order_id for row in DUE_EXPIRIES.list_rows(minutes)}


def test_pages_see_the_copy_and_its_availability() -> None:
    product_id, variant_id = uuid4(), make_stock(0)
    operations.receive_stock(product_id, variant_id, "berlin", 4, 3, uuid4(), NOW)
    operations.copy_stock(product_id)
    assert queries.get_stock(product_id)[variant_id].availability == "in"
    allocations = operations.reserve_stock(uuid4(), [WantedLine(1, product_id, variant_id, 2)], NOW)
    operations.copy_stock(product_id)
    found = queries.get_stock(product_id)[variant_id]
    assert (found.available, found.availability, found.by_warehouse) == (2, "few", {"berlin": 2})
    operations.reserve_stock(uuid4(), [WantedLine(1, product_id, variant_id, 2)], NOW)
    operations.copy_stock(product_id)
    assert queries.get_stock(product_id)[variant_id].availability == "out"
    operations.release_stock(allocations)
    operations.copy_stock(product_id)
    assert queries.get_stock(product_id)[variant_id].availability == "few"


def test_what_was_reserved_for_a_moment_is_seen_again(monkeypatch: pytest.MonkeyPatch) -> None:
    products = uuid4(), uuid4()
    variants = sorted((uuid4(), uuid4()))
    for product_id, variant_id in zip(products, variants, strict=True):
        operations.receive_stock(product_id, variant_id, "berlin", 1, 3, uuid4(), NOW)
        operations.copy_stock(product_id)
    reserve = group_commit.reserve_batched

    def reserve_late(variant_id: UUID, warehouse_id: str, request: Any) -> None:
        if variant_id == variants[1]:
            operations.copy_stock(products[0])  # another request copies while the first is ours
            monkeypatch.setattr(reservations, "reserve_batched", reserve)
            reserve(
                variant_id, warehouse_id, replace(request, reservation_id=uuid4())
            )  # and buys the second
        reserve(variant_id, warehouse_id, request)

    monkeypatch.setattr(reservations, "reserve_batched", reserve_late)
    wants = [WantedLine(n, *of, 1) for n, of in enumerate(zip(products, variants, strict=True), 1)]
    with pytest.raises(OutOfStock):
        operations.reserve_stock(uuid4(), wants, NOW)
    assert queries.get_stock(products[0])[variants[0]].available == 1


def test_an_older_copy_that_comes_late_loses(monkeypatch: pytest.MonkeyPatch) -> None:
    product_id, variant_id = uuid4(), uuid4()
    operations.receive_stock(product_id, variant_id, "berlin", 9, 3, uuid4(), NOW)
    real_read = queries.prefetch_stock_numbers

    def overtaken(*stock_item: Any) -> Any:
        pending = real_read(*stock_item)
        row = existing(pending.one())
        assert row.available == 9
        monkeypatch.setattr(stock_copies, "prefetch_stock_numbers", real_read)
        operations.receive_stock(product_id, variant_id, "berlin", 5, 3, uuid4(), NOW)
        # As another process does: in this one the second copy would wait for the first.
        stock_copies.copy_numbers(product_id, [(variant_id, "berlin")])
        return pending

    monkeypatch.setattr(stock_copies, "prefetch_stock_numbers", overtaken)
    operations.copy_stock(product_id)
    assert queries.get_stock(product_id)[variant_id].available == 14


def test_a_product_says_what_is_left_of_all_its_variants_though_one_was_copied() -> None:
    product = make_product(options={"Size": ["S", "M"]})
    for variant in product.variants:
        make_stock(9, product_id=product.product_id, variant_id=variant.variant_id)
    operations.copy_stock(product.product_id)
    words, (small, medium) = [], product.variants
    for variant, units in ((small, 5), (small, 4), (medium, 9)):
        wanted = WantedLine(1, product.product_id, variant.variant_id, units)
        allocations = operations.reserve_stock(uuid4(), [wanted], NOW)
        with count_statements() as meter:
            operations.copy_allocated_stock(allocations)
        found = get_product_at_quorum(product.product_id)
        words.append((found and found.availability, meter.row_count))
    assert words[0] == ("in", 1), "one variant has changed, and one row is written"
    assert [word for word, _ in words] == ["in", "in", "out"]
    assert words[2][1] > 1, "it stands in the list of what is out, too"


def test_a_copy_of_a_host_whose_clock_is_ahead_is_overwritten() -> None:
    product = make_product(stock=3)
    variant_id = product.variants[0].variant_id
    ahead = (datetime.now(UTC) + timedelta(seconds=4)).timestamp()
    session.get_session().execute(
        "UPDATE stock_by_product USING TIMESTAMP %s SET available = 9 WHERE product_id = %s AND variant_id = %s AND warehouse_id = %s",
        (int(ahead * 1_000_000), product.product_id, variant_id, "berlin"),
    )
    wanted = WantedLine(1, product.product_id, variant_id, 3)
    operations.copy_allocated_stock(operations.reserve_stock(uuid4(), [wanted], NOW))
    assert queries.get_stock(product.product_id)[variant_id].available == 0
    found = existing(get_product_at_quorum(product.product_id))
    assert found.availability == "out"


def test_two_copies_at_once_leave_what_the_later_one_has_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    product = make_product(stock=5)
    variant_id = product.variants[0].variant_id
    set_availability = catalogue.set_availability

    def set_late(product_id: UUID, *new: Any, **how: Any) -> None:
        monkeypatch.setattr(catalogue, "set_availability", set_availability)
        # Another process sells all, copies, and has nothing to do: the word is what it was.
        wanted = WantedLine(1, product_id, variant_id, 5)
        operations.reserve_stock(uuid4(), [wanted], NOW)
        stock_copies.copy_numbers(product_id, [(variant_id, "berlin")])
        set_availability(product_id, *new, **how)

    monkeypatch.setattr(catalogue, "set_availability", set_late)
    catalogue.UPDATE_AVAILABILITY.run(product_id=product.product_id, word="out", in_stock_ids=set())
    operations.copy_stock(product.product_id)
    found = existing(get_product_at_quorum(product.product_id))
    assert found.availability == "out"


def test_x302_a_variant_that_goes_in_or_out_of_stock_is_a_change_of_its_product() -> None:
    """Also if the product's availability stays, since another variant is there."""
    product = make_product(stock=5, options={"Size": ["Small", "Large"]})
    small, large = (each.variant_id for each in product.variants)
    make_stock(9, product_id=product.product_id, variant_id=large)
    operations.copy_stock(product.product_id)

    def changes_when_sold(units: int) -> bool:
        began = datetime.now(UTC) + timedelta(milliseconds=2)
        wait_until(lambda: datetime.now(UTC) > began)
        wanted = WantedLine(1, product.product_id, small, units)
        allocations = operations.reserve_stock(uuid4(), [wanted], NOW)
        operations.copy_allocated_stock(allocations)
        return product.product_id in catalogue.list_changed_products(began, datetime.now(UTC))

    assert not changes_when_sold(1)
    assert changes_when_sold(4)
    # Units come, and the variant can be sold again.
    began = datetime.now(UTC)
    operations.receive_stock(product.product_id, small, "berlin", 3, 2, uuid4(), began)
    operations.copy_stock(product.product_id)
    assert product.product_id in catalogue.list_changed_products(began, datetime.now(UTC))


def test_one_copy_is_for_all_who_ask_while_another_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    product_id = uuid4()
    copied: list[set[Any]] = []
    under_way = Event()

    def copy_once_all_have_asked(product_id: UUID, stock_items: Any) -> None:
        under_way.set()
        wait_until(lambda: copied or len(waiting()) == 7)
        copied.append(set(stock_items))

    def waiting() -> set[Any]:
        copy = stock_copies.next_copies.get(product_id)
        return copy.stock_items if copy else set()

    monkeypatch.setattr(stock_copies, "copy_numbers", copy_once_all_have_asked)
    stock_items = [(uuid4(), "berlin") for _ in range(8)]
    with ThreadPoolExecutor(8) as pool:
        first = pool.submit(operations.copy_stock, product_id, stock_items[:1])
        assert under_way.wait(10)
        others = [
            pool.submit(operations.copy_stock, product_id, [each]) for each in stock_items[1:]
        ]
        for each in (first, *others):
            each.result()
    assert copied == [set(stock_items[:1]), set(stock_items[1:])]


def test_a_copy_that_fails_is_told_to_all_who_waited_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    product_id = uuid4()
    with monkeypatch.context() as patch:
        patch.setattr(stock_copies, "copy_numbers", Mock(side_effect=CassandraUnavailable("away")))
        with pytest.raises(CassandraUnavailable, match="away"):
            operations.copy_stock(product_id, [(uuid4(), "berlin")])
    assert product_id not in stock_copies.next_copies


def test_a_hundred_reservations_do_not_hide_the_numbers() -> None:
    variant_id = make_stock(120)
    for _ in range(100):
        operations.reserve_stock(uuid4(), [want(variant_id)], NOW)
    rows = queries.prefetch_stock_numbers(variant_id, "berlin").rows()
    assert [row.reservation_id for row in rows] == [SENTINEL]
    assert numbers(variant_id).available == 20
    assert list_warehouses() == ("berlin", "cork")

"""The lists of a warehouse: all of its stock, what is low, what is out; they follow the numbers, the thresholds and the products."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import pytest

from cassandra_db import InvalidPageToken, current_microseconds
from catalogue.entities import Product
from catalogue.operations import change_product_status, save_product
from catalogue.queries import get_product_at_quorum
from consistency.findings import Scope
from inventory import operations, queries
from inventory.entities import STOCK_LISTS, WantedLine
from inventory.errors import StockChanged
from inventory.operations import stock_copies, stock_lists
from tests.consistency.test_check_consistency import found, repair
from tests.factories import make_product
from tests.orders.crashes import kill_at_write, record_writes
from tests.reads import existing

NOW = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)


def receive(product: Product, units: int, place: str = "berlin") -> None:
    variant_id = product.variants[0].variant_id
    operations.receive_stock(product.product_id, variant_id, place, units, 3, uuid4(), NOW)
    operations.copy_stock(product.product_id)


def buy(product: Product, units: int) -> UUID:
    order_id = uuid4()
    wanted = [WantedLine(1, product.product_id, product.variants[0].variant_id, units)]
    operations.copy_allocated_stock(operations.reserve_stock(order_id, wanted, NOW))
    return order_id


def lists_of(product: Product, place: str = "berlin") -> list[str]:
    """In which lists of a warehouse a product's first variant stands by its SKU of now."""
    product = get_product_at_quorum(product.product_id) or product
    variant = product.variants[0]
    return [
        name
        for name in STOCK_LISTS
        if variant.variant_id
        in {
            each.variant_id
            for each in queries.prefetch_listed_items(place, name, variant.sku).collect()[0]
        }
    ]


def only(product: Product) -> Scope:
    return Scope(products=frozenset({product.product_id}))


def test_x149_x154_a_stock_item_stands_where_its_numbers_its_threshold_and_its_product_put_it() -> (
    None
):
    product = make_product(listed=True)
    variant_id = product.variants[0].variant_id
    receive(product, 5)
    assert (lists_of(product), lists_of(product, "cork")) == (["all"], [])
    buy(product, 2)
    assert lists_of(product) == ["all", "low"]
    buy(product, 3)
    assert lists_of(product) == ["all", "low", "out"]
    receive(product, 4)
    assert lists_of(product) == ["all"]
    for threshold, seen, expected in (
        (4, 3, ["all", "low"]),
        (0, 4, ["all"]),
        (9, 0, ["all", "low"]),
    ):
        for _ in range(2):
            operations.set_threshold(variant_id, "berlin", threshold, seen=seen)
        operations.copy_stock(product.product_id)
        assert lists_of(product) == expected
    with pytest.raises(StockChanged):
        operations.set_threshold(variant_id, "berlin", 2, seen=3)
    with pytest.raises(LookupError):
        operations.set_threshold(variant_id, "cork", 2, seen=None)
    receive(product, 1)
    numbers = existing(queries.prefetch_stock_numbers(variant_id, "berlin").one())
    assert numbers.threshold == 9, "a receipt leaves it as it is"
    # Under another SKU it stands there alone, and what is no longer sold is not low.
    stored = existing(get_product_at_quorum(product.product_id))
    former = stored.variants[0].sku
    renamed = replace(stored.variants[0], sku=f"A-{uuid4().hex.upper()}")
    save_product(replace(stored, variants=(renamed,)), datetime.now(UTC))
    assert operations.follow_product(product.product_id)
    assert lists_of(product) == ["all", "low"]
    for name in STOCK_LISTS:
        listed, _ = queries.prefetch_listed_items("berlin", name, former).collect()
        assert listed == []
    assert not operations.follow_product(product.product_id)
    stored = existing(get_product_at_quorum(product.product_id))
    for status, expected in (("archived", ["all"]), ("active", ["all", "low"])):
        stored = change_product_status(stored, status, datetime.now(UTC))
        operations.follow_product(product.product_id)
        assert lists_of(product) == expected
    assert found(only(product), "I13", "I26") == []


def test_x149_a_list_is_paged_by_sku_and_a_token_is_of_one_list(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(queries, "LIST_PAGE_LENGTH", 2)
    mark = f"PG{uuid4().hex[:10].upper()}"
    product = make_product(options={"Size": ["s", "m", "l"]})
    variants = tuple(replace(each, sku=f"{mark}-{n}") for n, each in enumerate(product.variants))
    product = save_product(replace(product, variants=variants), datetime.now(UTC))
    for each in product.variants:
        operations.open_stock_item(product.product_id, each.variant_id, "cork", 3)
    operations.copy_stock(product.product_id)
    first, token = queries.prefetch_listed_items("cork", "all", mark).collect()
    rest, end = queries.prefetch_listed_items("cork", "all", mark, token).collect()
    assert [each.sku for each in (*first, *rest)] == [f"{mark}-{n}" for n in range(3)]
    assert (len(first), end) == (2, "")
    for other in (("berlin", "all", mark), ("cork", "low", mark), ("cork", "all", "")):
        with pytest.raises(InvalidPageToken):
            queries.prefetch_listed_items(*other, token)


def test_x154_i26_a_copy_that_is_killed_at_any_write_leaves_a_row_too_many_and_none_too_few() -> (
    None
):
    def sell_out(product: Product) -> None:
        buy(product, 3)
        receive(product, 8)

    recorded = make_product(listed=True)
    receive(recorded, 3)
    writes = [
        each
        for each in record_writes(lambda: sell_out(recorded))
        if "stock_items_by_warehouse" in each.tables or "stock_by_product" in each.tables
    ]
    assert len(writes) >= 5
    for target in writes:
        product = make_product(listed=True)
        receive(product, 3)
        assert kill_at_write(target, lambda product=product: sell_out(product))  # type: ignore[misc]
        # Somebody does what comes next, and copies; a row too many is not shown, and the check removes it.
        operations.copy_stock(product.product_id)
        numbers = queries.get_stock_numbers(product.variants[0].variant_id, "berlin")
        expected = {"all"} | ({"low"} if numbers.available <= 3 else set())
        expected |= {"out"} if numbers.available < 1 else set()
        assert expected <= set(lists_of(product)), target
        assert repair(only(product), "I26").is_clean, target
        assert set(lists_of(product)) == expected, target


def test_x154_i26_rows_of_a_killed_copy_go_with_the_next_one_though_the_numbers_have_come_back() -> (
    None
):
    recorded = make_product(listed=True)
    receive(recorded, 8)
    of_copies = [
        each
        for each in record_writes(lambda: buy(recorded, 6))
        if "stock_items_by_warehouse" in each.tables or "stock_by_product" in each.tables
    ]
    # The mark, the rows that come, the copy, the rows that go, the mark's end.
    assert len(of_copies) >= 5
    for target in of_copies:
        product = make_product(listed=True)
        receive(product, 8)
        assert kill_at_write(target, lambda product=product: buy(product, 6))  # type: ignore[misc]
        receive(product, 6)
        assert lists_of(product) == ["all"], target
        assert found(only(product), "I13", "I26") == [], target


# Before the copy marks that it will delete rows, and after it.
@pytest.mark.parametrize("step", ["plan_list_changes", "write_copies"])
def test_x154_i26_what_gets_low_again_while_a_copy_takes_it_out_of_the_list_stays_there(
    step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    product = make_product(listed=True)
    receive(product, 3)
    key = (product.variants[0].variant_id, "berlin")
    operations.receive_stock(product.product_id, *key, 5, 3, uuid4(), NOW)
    take_step = getattr(stock_copies, step)

    def be_overtaken(*args: Any) -> Any:
        # Another process, which sees the copy of before, and numbers that are low as that is.
        monkeypatch.setattr(stock_copies, step, take_step)
        correction = {"adjustment_id": uuid4(), "actor": "", "reason": "broken", "now": NOW}
        operations.adjust_stock(*key, -6, **correction)  # type: ignore[arg-type]
        stock_copies.copy_numbers(product.product_id, [key])
        return take_step(*args)

    monkeypatch.setattr(stock_copies, step, be_overtaken)
    operations.copy_stock(product.product_id)
    assert lists_of(product) == ["all", "low"]
    assert found(only(product), "I13", "I26") == []


def test_x152_i26_a_receipt_that_brings_another_threshold_hides_no_move_between_the_lists() -> None:
    product = make_product(listed=True)
    variant_id = product.variants[0].variant_id
    receive(product, 5)
    operations.set_threshold(variant_id, "berlin", 9, seen=3)
    operations.copy_stock(product.product_id)
    assert lists_of(product) == ["all", "low"]
    receive(product, 20)
    assert lists_of(product) == ["all"]


def test_i26_lists_that_say_otherwise_than_the_stock_are_named_and_put_right() -> None:
    product = make_product(listed=True)
    receive(product, 2)
    variant = product.variants[0]
    key = {"warehouse_id": "berlin", "variant_id": variant.variant_id}
    at = current_microseconds()
    stock_lists.DELETE_LISTED.run(list_name="low", sku=variant.sku, at=at, **key)
    stray = {"list_name": "out", "sku": "NO-LONGER", "at": at, **key}
    stock_lists.INSERT_LISTED.run(product_id=product.product_id, **stray)
    what = f"I26 variant {variant.variant_id} in berlin"
    assert found(only(product), "I26") == [
        f"{what}: is missing in the list low ({variant.sku})",
        f"{what}: stands in the list out and does not belong there (NO-LONGER)",
    ]
    assert repair(only(product), "I26").is_clean
    assert lists_of(product) == ["all", "low"]

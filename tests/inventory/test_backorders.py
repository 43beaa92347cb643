"""Backorders: up to a limit, whole lines, and only when the warehouses do not have them."""

import io
from datetime import date
from uuid import UUID, uuid4

import pytest
from django.core.management import CommandError, call_command

from cassandra_db import session, statements
from inventory import entities, operations, queries
from inventory.entities import (
    BACKORDER,
    BACKORDER_WAREHOUSE,
    PREORDER,
    Backorder,
    StockNumbers,
    WantedLine,
)
from inventory.errors import OutOfStock
from tests.factories import make_product, make_stock
from tests.inventory.test_operations import NOW, numbers, reserve, want
from tests.lost_answers import AnswerLosingSession
from tests.stock import commit_stock

SOON = date(2026, 12, 3)


def promised(limit: int, *, berlin: int = 0, kind: str = PREORDER) -> tuple[UUID, UUID]:
    """Make a variant that can be backordered, with so many in Berlin; return its product and it."""
    product_id, variant_id = uuid4(), uuid4()
    make_stock(berlin, product_id=product_id, variant_id=variant_id)
    assert sell(product_id, variant_id, kind, limit) == limit
    return product_id, variant_id


def sell(product_id: UUID, variant_id: UUID, kind: str, limit: int) -> int:
    return operations.set_backorder(product_id, variant_id, kind, limit, SOON, actor="Ada", now=NOW)


def test_what_is_in_stock_goes_first_and_a_line_waits_as_a_whole() -> None:
    _product_id, variant_id = promised(5, berlin=2)
    allocations = operations.FirstReservation(
        uuid4(), [want(variant_id, 2, 1), want(variant_id, 3, 2)], NOW
    ).reserve()
    assert [(each.line_number, each.warehouse_id, each.quantity) for each in allocations] == [
        (2, BACKORDER_WAREHOUSE, 3),
        (1, "berlin", 2),
    ]
    assert numbers(variant_id, BACKORDER_WAREHOUSE) == StockNumbers(5, 2, 3, 0, 0)


def test_the_ledger_knows_of_a_limit_whose_answer_was_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    flaky = AnswerLosingSession(session.get_session())
    monkeypatch.setattr(statements, "get_session", lambda: flaky)
    _product_id, variant_id = promised(5)
    assert numbers(variant_id, BACKORDER_WAREHOUSE) == StockNumbers(5, 5, 0, 0, 0)
    assert [
        (row.kind, row.units, row.actor)
        for row in queries.list_ledger_entries(variant_id, BACKORDER_WAREHOUSE)
    ] == [("adjusted", 5, "Ada")]


@pytest.mark.parametrize("retry", [False, True])
def test_no_more_is_promised_than_the_limit_says(retry: bool) -> None:
    _product_id, variant_id = promised(3, berlin=1)
    order_id, two = uuid4(), want(variant_id, 2)
    mine = reserve(order_id, [two], retry=retry)
    assert operations.reserve_stock(order_id, [two], NOW) == mine
    with pytest.raises(OutOfStock) as refused:
        reserve(uuid4(), [want(variant_id, 2)], retry=retry)
    assert refused.value.shortages == {variant_id: 1}
    with pytest.raises(OutOfStock):
        operations.reserve_stock(uuid4(), [want(variant_id, 2)], NOW, allow_backorder=False)


def test_pages_say_that_it_can_be_backordered() -> None:
    product_id, variant_id = promised(4, berlin=1)
    stock = queries.get_stock(product_id)[variant_id]
    assert (stock.available, stock.total_in_stock, stock.availability) == (4, 1, "few")
    assert stock.backorder_for(1) is None
    assert stock.backorder_for(3) == Backorder(PREORDER, 4, SOON)
    assert stock.backorder_for(5) is None
    operations.reserve_stock(uuid4(), [WantedLine(1, product_id, variant_id, 1)], NOW)
    operations.copy_stock(product_id)
    assert queries.get_stock(product_id)[variant_id].availability == "ahead"
    sell(product_id, variant_id, "", 0)
    ended = queries.get_stock(product_id)[variant_id]
    assert (ended.available, ended.availability, ended.backorder) == (0, "out", None)


def test_the_limit_counts_those_who_wait_already() -> None:
    product_id, variant_id = promised(5, kind=BACKORDER)
    allocations = operations.reserve_stock(uuid4(), [want(variant_id, 4)], NOW)
    commit_stock(allocations)
    assert sell(product_id, variant_id, BACKORDER, 10) == 6
    assert sell(product_id, variant_id, BACKORDER, 10) == 6
    assert sell(product_id, variant_id, BACKORDER, 3) == 0, "what is promised is not taken back"
    assert numbers(variant_id, BACKORDER_WAREHOUSE) == StockNumbers(4, 0, 0, 4, 0)
    assert sell(product_id, variant_id, "", 0) == 0
    assert (variant_id, product_id) in queries.list_backordered_variants()
    rebuilt = operations.rebuild_stock_numbers(variant_id, BACKORDER_WAREHOUSE)
    assert rebuilt[0] == rebuilt[1]


def test_nonsense_is_refused(subtests: pytest.Subtests) -> None:
    for kind, limit in (("some day", 1), (PREORDER, -1)):
        with subtests.test(kind=kind, limit=limit), pytest.raises(ValueError, match=str(limit)):
            sell(uuid4(), uuid4(), kind, limit)


def test_the_oldest_order_that_waits_comes_first_when_stock_arrives() -> None:
    product_id, variant_id = promised(9)
    orders = [uuid4(), uuid4()]
    for index, order_id in enumerate(orders):
        when = NOW.replace(minute=30 - index)
        commit_stock(
            operations.reserve_stock(order_id, [WantedLine(1, product_id, variant_id, 2)], when)
        )
    operations.reserve_stock(
        uuid4(), [WantedLine(1, product_id, variant_id, 2)], NOW
    )  # not paid for
    assert queries.list_waiting_orders(variant_id) == [], "nothing has arrived"
    operations.receive_stock(product_id, variant_id, "cork", 3, 2, uuid4(), NOW)
    assert queries.list_waiting_orders(variant_id) == orders[::-1]


def run_stock_command(*arguments: str) -> str:
    out = io.StringIO()
    call_command("stock", *arguments, stdout=out)
    return out.getvalue()


def test_staff_do_it_by_a_command() -> None:
    sku = make_product().variants[0].sku
    for message in ("20 received.", "booked before"):
        assert message in run_stock_command("receive", sku, "berlin", "20", "--receipt", "N 7")
    assert "1 fewer." in run_stock_command("adjust", sku, "berlin", "-1", "--reason", "Broken.")
    assert "4 more may be sold ahead." in run_stock_command(
        "ahead", sku, PREORDER, "--limit", "4", "--on", "2026-12-03"
    )
    assert "berlin: 19 received, 19 available" in run_stock_command("show", sku)
    assert "They were right." in run_stock_command("rebuild", sku, "berlin")
    assert "any more" in run_stock_command("ahead", sku, "end")
    for wrong in (
        ("show", "NONE"),
        ("adjust", sku, "berlin", "-50", "--reason", "?"),
        ("rebuild", sku, "cork"),
    ):
        with pytest.raises(CommandError):
            run_stock_command(*wrong)


def test_the_words_for_it(monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests) -> None:
    monkeypatch.setattr(entities, "localdate", lambda: date(2026, 11, 21))
    for kind, on, words in (
        (PREORDER, date(2026, 12, 3), "Pre-order: ships from 3 December"),
        (BACKORDER, date(2027, 1, 31), "On backorder: ships from 31 January 2027"),
        (BACKORDER, None, "On backorder: ships as soon as it arrives"),
        (PREORDER, date(2026, 11, 2), "Pre-order: ships as soon as it arrives"),
    ):
        with subtests.test(kind=kind, on=on):
            assert Backorder(kind, 1, on).customer_label == words

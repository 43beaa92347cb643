"""A process that dies at a write of an import: the worker goes on, and nothing is changed twice or left out."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest
import time_machine
from cassandra.util import uuid_from_time
from django.core.files.base import ContentFile

import catalogue.queries
from cassandra_db import truncate_to_milliseconds
from catalogue.entities import Product
from consistency.findings import Scope
from inventory.queries import get_stock_numbers
from jobs.months import list_months
from orders.papers.order_files import ORDER_FILES
from spreadsheets import operations, queries
from spreadsheets.layouts import LAYOUTS
from tests.consistency.test_check_consistency import found, repair
from tests.factories import make_product, make_stock
from tests.forged_results import forge_result
from tests.orders.crashes import Write, first_and_last_writes, kill_at_write, record_writes
from tests.spreadsheets.files import apply, csv_of, go_on, read, rows_of


def make(count: int = 2) -> list[Product]:
    products = [make_product(f"Sextant {n}", price="20.00") for n in range(count)]
    for each in products:
        make_stock(5, product_id=each.product_id, variant_id=each.variants[0].variant_id)
    return products


def price_file(products: list[Product]) -> bytes:
    return csv_of(
        [["sku", "price"], *([each.variants[0].sku, "22.00"] for each in products), ["NO", "1"]]
    )


def stock_file(products: list[Product]) -> bytes:
    head = ["sku", "warehouse", "units"]
    new = [[products[0].variants[0].sku, "cork", "3"]]
    return csv_of([head, *([each.variants[0].sku, "berlin", "9"] for each in products), *new])


def import_all(content: bytes, layout: str, now: datetime) -> None:
    """Sent, read, and applied, in one process."""
    task = operations.start_import(
        uuid_from_time(now), layout, ContentFile(content, "a"), "a.csv", uuid4(), now
    )
    task = go_on(task)
    operations.start_applying(task, now)
    go_on(task)


def prices(products: list[Product]) -> list[str]:
    now = catalogue.queries.get_products_at_quorum(each.product_id for each in products)
    return [f"{now[each.product_id].variants[0].price.amount:.0f}" for each in products]


def units(products: list[Product]) -> list[int]:
    return [
        get_stock_numbers(each.variants[0].variant_id, warehouse).available
        for each in products
        for warehouse in ("berlin", "cork")
    ]


def unfinished() -> list[UUID]:
    return queries.list_unfinished(list_months(datetime.now(UTC)))


def is_ours(write: Write) -> bool:
    """Whether a write is the import's own, or the one that makes a change; of what follows from that the catalogue's tests know."""
    return any(
        name in write.tables for name in ("spreadsheet", "inventory", "stock_ledger")
    ) or any("save_id" in text for text in write.texts)


@pytest.mark.parametrize(
    ("layout", "make_file"),
    [("prices", price_file), ("stock", stock_file)],
    ids=["prices", "stock"],
)
def test_x108_i24_an_import_that_is_killed_at_any_write_is_done_once(
    layout: str, make_file: Callable[[list[Product]], bytes]
) -> None:
    recorded, now = make(), datetime.now(UTC)
    writes = record_writes(lambda: import_all(make_file(recorded), layout, now))
    targets = [each for each in first_and_last_writes(writes) if is_ours(each)]
    assert len(targets) >= 10
    states, task_ids = set(), set()
    for number, target in enumerate(targets):
        products = make()
        since = truncate_to_milliseconds(now + timedelta(milliseconds=number + 1))
        assert kill_at_write(
            target,
            lambda products=products, since=since: import_all(  # type: ignore[misc]
                make_file(products), layout, since
            ),
        )
        last = queries.list_tasks(datetime.now(UTC), LAYOUTS)
        task = next((each for each in last if each.started_at == since), None)
        states.add(task.state if task else "")
        if task is None:
            continue
        if task.is_under_way:
            assert task.task_id in unfinished()
            task = go_on(task)
        assert (len(rows_of(task)), sum(task.counts.values())) == (3, 3), target
        task = task if task.state == "finished" else apply(task)
        assert task.task_id not in unfinished()
        if layout == "prices":
            assert prices(products) == ["22", "22"], target
        else:
            assert units(products) == [9, 3, 9, 0], target
        assert task.results == {"done": 2 if layout == "prices" else 3}, target
        task_ids.add(task.task_id)
    assert states == {"", "reading", "read", "applying"}
    with time_machine.travel(datetime.now(UTC) + timedelta(minutes=10), tick=True):
        assert found(Scope(changes=frozenset(task_ids)), "I24") == []


def test_i24_a_file_of_orders_is_no_import() -> None:
    now = datetime.now(UTC)
    kind = ORDER_FILES["picking"]
    task = go_on(operations.start_order_file(uuid_from_time(now), kind, [uuid4()], uuid4(), now))
    assert found(Scope(changes=frozenset({task.task_id})), "I24") == []


def test_i24_a_result_that_a_product_does_not_know_is_named() -> None:
    products = make()
    task = apply(read(price_file(products)))
    only = Scope(changes=frozenset({task.task_id}))
    forge_result("spreadsheet_rows", queries.ROWS, queries.ROWS.read(task.task_id, 0)[1])
    named = f"I24 import {task.task_id}, row 1: says refused of what was saved"
    assert found(only, "I24") == [named]
    assert repair(only, "I24").is_clean
    assert [each.result for each in rows_of(task)] == ["done", "done", ""]

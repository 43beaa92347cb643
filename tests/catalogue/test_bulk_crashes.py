"""A process that dies at a write of a bulk change: the worker goes on, and no product is changed twice or left out."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from uuid import UUID, uuid4

import time_machine
from cassandra.util import uuid_from_time

from cassandra_db import truncate_to_milliseconds
from catalogue import bulk_changes, operations, queries
from catalogue.bulk_acts import BulkAct
from catalogue.bulk_changes import BulkChange, Selected
from catalogue.entities import Product
from consistency.findings import Scope
from jobs.months import list_months
from tests.consistency.test_check_consistency import found, repair
from tests.factories import make_product
from tests.forged_results import forge_result
from tests.orders.crashes import first_and_last_writes, kill_at_write, record_writes


def make() -> list[Product]:
    return [make_product(f"Quadrant {n}", price="20.00") for n in range(2)]


def raise_prices(products: list[Product], now: datetime) -> None:
    """Ten per cent more, noted and done."""
    selected = [Selected(each.product_id) for each in products]
    change_id = uuid_from_time(now)
    change = bulk_changes.start_change(
        change_id, BulkAct("percent", by="10"), selected, uuid4(), now
    )
    bulk_changes.run_change(change, 100)


def find_started(since: datetime) -> BulkChange | None:
    changes = bulk_changes.STORE.list_changes(datetime.now(UTC))
    return next((each for each in changes if each.started_at == since), None)


def unfinished() -> list[UUID]:
    return bulk_changes.list_unfinished(list_months(datetime.now(UTC)))


def prices(products: list[Product]) -> list[Decimal]:
    found = queries.get_products_at_quorum(each.product_id for each in products)
    return [found[each.product_id].variants[0].price.amount for each in products]


def test_x100_i21_a_change_that_is_killed_at_any_write_is_done_once() -> None:
    recorded, now = make(), datetime.now(UTC)
    writes = first_and_last_writes(record_writes(lambda: raise_prices(recorded, now)))
    assert len(writes) >= 15
    outcomes = set()
    for number, target in enumerate(writes):
        products = make()
        since = truncate_to_milliseconds(now + timedelta(milliseconds=number + 1))
        assert kill_at_write(
            target,
            lambda products=products, since=since: raise_prices(products, since),  # type: ignore[misc]
        )
        change = find_started(since)
        outcomes.add(bool(change))
        if change is None:
            assert prices(products) == [Decimal(20)] * 2, target
            continue
        if not change.finished_at:
            assert change.change_id in unfinished()
            bulk_changes.run_change(change, 100)
        assert prices(products) == [Decimal(22)] * 2, target
        rows = list(bulk_changes.iterate_results(change))
        assert [each.result for each in rows] == ["done"] * 2, target
        only = Scope(changes=frozenset({change.change_id}))
        with time_machine.travel(datetime.now(UTC) + timedelta(minutes=10), tick=True):
            assert found(only, "I21") == [], target
    assert outcomes == {True, False}


def test_x100_a_death_after_the_save_and_somebody_elses_save_is_not_forgotten() -> None:
    """The product's version alone would not tell whose save was the next one."""
    (product, other), now = make(), datetime.now(UTC)
    writes = record_writes(lambda: raise_prices([other], now))
    noted = next(each for each in writes if "SET result" in str(each.texts))
    since = truncate_to_milliseconds(now + timedelta(seconds=1))
    assert kill_at_write(noted, lambda: raise_prices([product], since))
    stored = queries.get_product_at_quorum(product.product_id)
    assert stored
    operations.save_product(replace(stored, name="Renamed since"), datetime.now(UTC))
    change = find_started(since)
    assert change
    bulk_changes.run_change(change, 100)
    assert prices([product]) == [Decimal(22)]
    assert [each.result for each in bulk_changes.iterate_results(change)] == ["done"]


def test_i21_a_result_that_the_product_does_not_know_is_named() -> None:
    products = make()
    now = datetime.now(UTC)
    selected = [Selected(each.product_id) for each in products]
    change = bulk_changes.start_change(
        uuid_from_time(now), BulkAct("percent", by="10"), selected, uuid4(), now
    )
    only = Scope(changes=frozenset({change.change_id}))
    bulk_changes.run_change(change, 100)
    store = bulk_changes.STORE
    forge_result("bulk_change_rows", store.rows, store.read_rows(change, 0)[1])
    assert found(only, "I21") == [
        f"I21 change {change.change_id}, row 1: says refused of what was saved"
    ]
    assert repair(only, "I21").is_clean
    assert [each.result for each in bulk_changes.iterate_results(change)] == ["done"] * 2

"""Every number can be rebuilt: whatever is done to stock, in whatever order and however often, ledger and reservations agree."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.test import override_settings
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from cassandra_db.session import get_session
from inventory import operations, queries
from inventory.entities import Allocation, StockNumbers, WantedLine
from inventory.errors import NotEnoughAvailable, NothingReceived, OutOfStock, StockNumbersChanging
from tests.factories import make_stock
from tests.inventory.test_movements import paid
from tests.inventory.test_operations import NOW, numbers, reserve, want
from tests.orders.consistency_checks import assert_stock_adds_up
from tests.stock import commit_stock
from tests.threads import map_at_once

PLACES = ("berlin", "cork")
UNITS = st.integers(1, 4)
PICK = st.integers(0, 99)


@dataclass
class ModelReservation:
    """A reservation of a part of an order's line, in the model."""

    allocation: Allocation
    state: str
    left: int
    sent: int = 0
    back: int = 0


class Stock(RuleBasedStateMachine):
    """One variant in two warehouses. Each step is done in the shop, now and then twice, and once in the model."""

    def __init__(self) -> None:
        super().__init__()
        self.product_id, self.variant_id = uuid4(), uuid4()
        self.free = dict.fromkeys(PLACES, 0)
        self.received = dict.fromkeys(PLACES, 0)
        self.parts: list[ModelReservation] = []

    def again(self, act: Callable[[], Any], often: int) -> None:
        for _ in range(often):
            act()

    @rule(place=st.sampled_from(PLACES), units=UNITS, often=st.integers(1, 2))
    def receive(self, place: str, units: int, often: int) -> None:
        receipt_id = uuid4()
        receipt = (self.product_id, self.variant_id, place, units, 2, receipt_id, NOW)
        self.again(lambda: operations.receive_stock(*receipt), often)
        self.free[place] += units
        self.received[place] += units

    @rule(
        place=st.sampled_from(PLACES),
        units=st.integers(-3, 3).filter(bool),
        often=st.integers(1, 2),
    )
    def put_right(self, place: str, units: int, often: int) -> None:
        how = {"adjustment_id": uuid4(), "actor": "Ada", "reason": "Counted.", "now": NOW}

        def act() -> None:
            operations.adjust_stock(self.variant_id, place, units, **how)  # type: ignore[arg-type]

        if not self.received[place] and numbers(self.variant_id, place) == StockNumbers(
            0, 0, 0, 0, 0
        ):
            return
        if self.free[place] + units < 0:
            with pytest.raises(NotEnoughAvailable):
                act()
            return
        self.again(act, often)
        self.free[place] += units
        self.received[place] += units

    @rule(units=UNITS, retry=st.booleans(), often=st.integers(1, 2))
    def reserve(self, units: int, retry: bool, often: int) -> None:
        order_id, wants = uuid4(), [WantedLine(1, self.product_id, self.variant_id, units)]
        available = sum(self.free.values())
        if units > available:
            with pytest.raises(OutOfStock) as refused:
                reserve(order_id, wants, retry=retry)
            assert refused.value.shortages == {self.variant_id: available}
            return
        allocations = [reserve(order_id, wants, retry=retry) for _ in range(often)][-1]
        assert len(allocations) == (1 if max(self.free.values()) >= units else 2)
        for each in allocations:
            self.free[each.warehouse_id] -= each.quantity
            self.parts.append(ModelReservation(each, "held", each.quantity))

    def some(self, pick: int, *states: str) -> ModelReservation | None:
        fitting = [each for each in self.parts if each.state in states]
        return fitting[pick % len(fitting)] if fitting else None

    @precondition(lambda self: self.parts)
    @rule(pick=PICK, often=st.integers(1, 2))
    def release(self, pick: int, often: int) -> None:
        if part := self.some(pick, "held", "committed"):
            self.again(lambda: operations.release_stock([part.allocation]), often)
            self.free[part.allocation.warehouse_id] += part.left
            part.state, part.left = "gone", 0

    @precondition(lambda self: self.parts)
    @rule(pick=PICK, often=st.integers(1, 2))
    def commit(self, pick: int, often: int) -> None:
        if part := self.some(pick, "held"):
            self.again(lambda: commit_stock([part.allocation]), often)
            part.state = "committed"

    @precondition(lambda self: self.parts)
    @rule(pick=PICK, send=st.integers(0, 4), give_up=st.integers(0, 4), often=st.integers(1, 2))
    def move(self, pick: int, send: int, give_up: int, often: int) -> None:
        if part := self.some(pick, "held", "committed"):
            send = min(send, part.left)
            give_up = min(give_up, part.left - send)
            left, sent = part.left - send - give_up, part.sent + send
            self.again(
                lambda: operations.set_reservation_units(
                    part.allocation, reserved_units=left, shipped_units=sent
                ),
                often,
            )
            self.free[part.allocation.warehouse_id] += give_up
            part.left, part.sent = left, sent
            part.state = "committed" if left else "gone"

    @precondition(lambda self: self.parts)
    @rule(pick=PICK, units=UNITS, often=st.integers(1, 2))
    def restock(self, pick: int, units: int, often: int) -> None:
        part = self.parts[pick % len(self.parts)]
        units = min(units, part.sent - part.back)
        if units:
            return_id, of = str(uuid4()), replace(part.allocation, quantity=units)
            self.again(lambda: operations.restock_units(of.order_id, return_id, [of], NOW), often)
            self.free[of.warehouse_id] += units
            part.back += units

    @invariant()
    def numbers_add_up_and_ledger_and_model_agree(self) -> None:
        for place in PLACES:
            here = [each for each in self.parts if each.allocation.warehouse_id == place]
            model = StockNumbers(
                self.received[place],
                self.free[place],
                sum(each.left for each in here if each.state == "held"),
                sum(each.left for each in here if each.state == "committed"),
                sum(each.sent - each.back for each in here),
            )
            found, stock_rows = queries.get_stock_item(self.variant_id, place)
            entries = queries.list_ledger_entries(self.variant_id, place)
            assert found == model
            assert queries.fold_stock_numbers(stock_rows, entries) == model
            alone = queries.fold_stock_numbers(
                [row for row in stock_rows if row.state == "held"], entries
            )
            assert alone == model, (
                "but for reservations that are not paid for, the ledger knows all"
            )


TestStock = Stock.TestCase
TestStock.settings = settings(
    max_examples=8, stateful_step_count=15, suppress_health_check=list(HealthCheck)
)


def damaged(variant_id: UUID, **wrong: int) -> None:
    """Write wrong numbers."""
    columns = ", ".join(f"{name} = {units}" for name, units in wrong.items())
    get_session().execute(
        f"UPDATE inventory SET {columns} WHERE variant_id = %s AND warehouse_id = 'berlin' IF received >= 0",  # noqa: S608
        (variant_id,),
    )


def test_wrong_numbers_are_made_anew() -> None:
    variant_id, order_id = make_stock(20), uuid4()
    sent = paid(variant_id, 5, order_id)
    operations.set_reservation_units(sent, reserved_units=0, shipped_units=4)
    operations.restock_units(order_id, "R", [replace(sent, quantity=1)], NOW)
    paid(variant_id, 2)
    operations.reserve_stock(uuid4(), [want(variant_id, 3)], NOW)
    right = StockNumbers(20, 12, 3, 2, 3)
    assert numbers(variant_id) == right
    assert operations.rebuild_stock_numbers(variant_id, "berlin") == (right, right)
    damaged(variant_id, available=19, reserved=0, shipped=1)
    before, after = operations.rebuild_stock_numbers(variant_id, "berlin")
    assert before == StockNumbers(20, 19, 0, 2, 1)
    assert after == right == numbers(variant_id)


@override_settings(STOCK_LEDGER_SHARDS=16)
def test_a_ledger_is_spread_over_its_partitions() -> None:
    variant_id = make_stock(40)
    for n in range(16):
        operations.set_reservation_units(
            paid(variant_id, 2, UUID(int=uuid4().int // 16 * 16 + n)),
            reserved_units=1,
            shipped_units=1,
        )
    right = StockNumbers(40, 8, 0, 16, 16)
    entries = [
        queries.LEDGER.all(variant_id=variant_id, warehouse_id="berlin", shard=shard)
        for shard in range(queries.MAX_SHARDS)
    ]
    assert all(len(rows) >= 2 for rows in entries), "each has its order's: committed, and sent"
    assert sum(map(len, entries)) == len(queries.list_ledger_entries(variant_id, "berlin"))
    assert (
        queries.fold_stock_numbers([], queries.list_ledger_entries(variant_id, "berlin")) == right
    )
    assert operations.rebuild_stock_numbers(variant_id, "berlin") == (right, right)


def test_over_how_many_partitions_a_ledger_is_spread_may_be_changed_at_any_time() -> None:
    variant_id, order_id = make_stock(20), UUID(int=uuid4().int // 16 * 16 + 13)
    (allocation,) = operations.FirstReservation(order_id, [want(variant_id, 6)], NOW).reserve()
    for sent, shards in enumerate((16, 2, 16, 4, 1), 1):
        with override_settings(STOCK_LEDGER_SHARDS=shards):
            for _ in range(2):
                operations.set_reservation_units(
                    allocation, reserved_units=6 - sent, shipped_units=sent
                )
            right = StockNumbers(20, 14, 0, 6 - sent, sent)
            assert assert_stock_adds_up(variant_id)["shipped"] == sent, (
                "the consistency check finds nothing"
            )
            damaged(variant_id, available=19, shipped=0)
            assert (
                operations.rebuild_stock_numbers(variant_id, "berlin")[1]
                == right
                == numbers(variant_id)
            )


def test_a_stock_item_that_never_received_anything_is_left_alone() -> None:
    with pytest.raises(NothingReceived):
        operations.rebuild_stock_numbers(uuid4(), "berlin")


def test_numbers_that_never_stand_still_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    variant_id = make_stock(20)
    damaged(variant_id, available=19)
    real_read = queries.list_ledger_entries

    def meanwhile(*stock_item: Any, whole: bool) -> Any:
        operations.FirstReservation(uuid4(), [want(variant_id)], NOW).reserve()
        return real_read(*stock_item, whole=whole)

    monkeypatch.setattr(queries, "list_ledger_entries", meanwhile)
    with pytest.raises(StockNumbersChanging):
        operations.rebuild_stock_numbers(variant_id, "berlin")


def test_a_stock_item_that_changed_while_it_was_read_is_read_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    variant_id = make_stock(20)
    operations.reserve_stock(uuid4(), [want(variant_id, 3)], NOW)
    right, real_read = numbers(variant_id), queries.get_stock_item
    torn: list[int] = []

    def pages(*stock_item: Any) -> Any:
        found, rows = real_read(*stock_item)
        if torn:
            return found, rows
        torn.append(1)
        return found, [
            row for row in rows if row.state != "held"
        ]  # as if it had come after the first page

    monkeypatch.setattr(queries, "get_stock_item", pages)
    assert operations.rebuild_stock_numbers(variant_id, "berlin") == (right, right)
    assert numbers(variant_id) == right


def test_numbers_are_made_anew_while_people_buy() -> None:
    variant_id = make_stock(200)
    damaged(variant_id, available=150)

    def buy(n: int) -> None:
        if n % 20 == 3:
            with suppress(StockNumbersChanging):
                operations.rebuild_stock_numbers(variant_id, "berlin")
        allocations = operations.FirstReservation(uuid4(), [want(variant_id)], NOW).reserve()
        commit_stock(allocations)
        operations.set_reservation_units(allocations[0], reserved_units=0, shipped_units=1)

    map_at_once(buy, range(60), 4)
    operations.rebuild_stock_numbers(variant_id, "berlin")
    assert numbers(variant_id) == StockNumbers(200, 140, 0, 0, 60)

"""A reservation's way to the parcel and back: each step once, however often and in whatever order it is repeated."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from random import Random
from typing import Any
from uuid import UUID, uuid4

import pytest
from cassandra import OperationTimedOut

from cassandra_db import session, statements
from cassandra_db.configuration import CONDITIONAL
from inventory import operations, queries
from inventory.entities import Allocation, StockNumbers
from inventory.errors import NotEnoughAvailable
from inventory.operations import ledger
from tests.factories import make_stock
from tests.inventory.test_operations import NOW, numbers, want
from tests.orders.crashes import kill_in
from tests.stock import commit_stock, ship_stock
from tests.threads import map_at_once


def paid(variant_id: UUID, units: int, order_id: UUID | None = None) -> Allocation:
    (allocation,) = operations.FirstReservation(
        order_id or uuid4(), [want(variant_id, units)], NOW
    ).reserve()
    assert commit_stock([allocation]) == ()
    return allocation


def rows(variant_id: UUID) -> list[tuple[str, int, int | None]]:
    return [
        (row.state, row.quantity, row.sent)
        for row in queries.get_stock_item(variant_id, "berlin")[1]
    ]


def reservation_rows(variant_id: UUID) -> list[tuple[str, int, int | None]]:
    return [row for row in rows(variant_id) if row[0] not in ("received", "adjusted", "returned")]


def test_an_order_leaves_in_parts() -> None:
    variant_id = make_stock(10)
    allocation = paid(variant_id, 5)
    for _ in range(2):
        assert operations.set_reservation_units(allocation, reserved_units=3, shipped_units=2)
    assert numbers(variant_id) == StockNumbers(10, 5, 0, 3, 2)
    assert reservation_rows(variant_id) == [("committed", 3, 2)]
    for _ in range(2):
        assert operations.set_reservation_units(allocation, reserved_units=0, shipped_units=5)
    assert numbers(variant_id) == StockNumbers(10, 5, 0, 0, 5)
    assert reservation_rows(variant_id) == [], "the row of what has ended is deleted"


def test_what_an_order_gives_up_others_can_buy() -> None:
    variant_id = make_stock(10)
    allocation = paid(variant_id, 5)
    for _ in range(2):
        assert operations.set_reservation_units(
            replace(allocation, quantity=3), reserved_units=3, shipped_units=0
        ), "as a changed order's lines say"
    assert numbers(variant_id) == StockNumbers(10, 7, 0, 3, 0)
    assert operations.set_reservation_units(allocation, reserved_units=0, shipped_units=2)
    assert numbers(variant_id) == StockNumbers(10, 8, 0, 0, 2)
    assert operations.set_reservation_units(
        replace(allocation, quantity=0), reserved_units=0, shipped_units=0
    )
    assert reservation_rows(variant_id) == []


def test_an_older_request_takes_nothing_back() -> None:
    variant_id = make_stock(10)
    allocation = paid(variant_id, 5)
    operations.set_reservation_units(allocation, reserved_units=2, shipped_units=2)
    for left, shipped in ((5, 0), (4, 1), (3, 0), (3, 2), (2, 0)):
        assert operations.set_reservation_units(
            allocation, reserved_units=left, shipped_units=shipped
        )
        assert numbers(variant_id) == StockNumbers(10, 6, 0, 2, 2)
    operations.release_stock([allocation])
    assert numbers(variant_id) == StockNumbers(10, 8, 0, 0, 2), "what was shipped is not given back"
    assert not operations.set_reservation_units(allocation, reserved_units=2, shipped_units=2), (
        "it returns that nothing is reserved any more"
    )
    assert numbers(variant_id) == StockNumbers(10, 8, 0, 0, 2)


def test_less_than_nothing_is_refused() -> None:
    allocation = paid(make_stock(5), 2)
    with pytest.raises(ValueError, match="left"):
        operations.set_reservation_units(allocation, reserved_units=-1, shipped_units=0)


def test_what_was_never_reserved_is_stored_nowhere() -> None:
    variant_id = make_stock(5)
    allocation = paid(variant_id, 2)
    assert not operations.set_reservation_units(
        replace(allocation, reservation_id=uuid4()), reserved_units=2, shipped_units=0
    )
    assert numbers(variant_id) == StockNumbers(5, 3, 0, 2, 0)


def test_twelve_hands_at_once_do_it_once() -> None:
    variant_id = make_stock(40)
    allocations = [paid(variant_id, 4) for _ in range(4)]
    calls: list[Callable[[], Any]] = []
    for each in allocations:
        calls += [
            lambda each=each, n=n: operations.set_reservation_units(
                each, reserved_units=4 - n, shipped_units=n
            )
            for n in range(4)
        ] * 3
    Random(7).shuffle(calls)
    map_at_once(lambda call: call(), calls, 12)
    assert numbers(variant_id) == StockNumbers(40, 24, 0, 4, 12)
    assert reservation_rows(variant_id) == [("committed", 1, 3)] * 4


def test_what_comes_back_is_put_into_stock_once() -> None:
    variant_id, order_id = make_stock(10), uuid4()
    allocation = paid(variant_id, 5, order_id)
    ship_stock([allocation])
    for _ in range(2):
        operations.restock_units(order_id, "R1", [replace(allocation, quantity=2)], NOW)
    assert numbers(variant_id) == StockNumbers(10, 7, 0, 0, 3)
    operations.restock_units(order_id, "R2", [replace(allocation, quantity=3)], NOW)
    assert numbers(variant_id) == StockNumbers(10, 10, 0, 0, 0)
    with pytest.raises(LookupError, match="more of line 1 comes back"):
        operations.restock_units(order_id, "R3", [replace(allocation, quantity=1)], NOW)
    assert numbers(variant_id) == StockNumbers(10, 10, 0, 0, 0)


def test_staff_put_a_number_right_once_and_say_why() -> None:
    variant_id, lost, found = make_stock(10), uuid4(), uuid4()
    paid(variant_id, 4)

    def adjusted(adjustment_id: UUID, units: int) -> bool:
        return operations.adjust_stock(
            *(variant_id, "berlin", units),
            adjustment_id=adjustment_id,
            actor="Ada",
            reason="Counted.",
            now=NOW,
        )

    assert [adjusted(lost, -3), adjusted(lost, -3), adjusted(found, 2)] == [True, False, True]
    assert numbers(variant_id) == StockNumbers(9, 5, 0, 4, 0)
    with pytest.raises(NotEnoughAvailable) as refused:
        adjusted(uuid4(), -6)
    assert refused.value.available == 5
    entries = [
        (row.units, row.actor, row.reason)
        for row in queries.list_ledger_entries(variant_id, "berlin")
        if row.kind == "adjusted"
    ]
    assert sorted(entries) == [(-3, "Ada", "Counted."), (2, "Ada", "Counted.")]
    for units, reason in ((0, "Counted."), (1, " ")):
        with pytest.raises(ValueError, match="a reason"):
            operations.adjust_stock(
                *(variant_id, "berlin", units),
                adjustment_id=uuid4(),
                actor="Ada",
                reason=reason,
                now=NOW,
            )
    with pytest.raises(LookupError):
        operations.adjust_stock(
            uuid4(), "berlin", 1, adjustment_id=uuid4(), actor="Ada", reason="Found.", now=NOW
        )


class Lossy:
    """The driver's session, which loses the answer to every second conditional write after it was carried out."""

    def __init__(self) -> None:
        self.real, self.lost, self.count = session.get_session(), 0, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.real, name)

    def execute(self, statement: Any, **kwargs: Any) -> Any:
        answer = self.real.execute(statement, **kwargs)
        if kwargs.get("execution_profile") == CONDITIONAL:
            self.count += 1
            if self.count % 2:
                self.lost += 1
                raise OperationTimedOut
        return answer


def test_a_lost_answer_is_resolved_at_each_step(monkeypatch: pytest.MonkeyPatch) -> None:
    variant_id, order_id = make_stock(10), uuid4()
    lossy = Lossy()
    monkeypatch.setattr(statements, "get_session", lambda: lossy)
    allocation = paid(variant_id, 6, order_id)
    assert operations.set_reservation_units(allocation, reserved_units=4, shipped_units=2)
    assert operations.set_reservation_units(allocation, reserved_units=2, shipped_units=3)
    operations.release_stock([allocation])
    operations.restock_units(order_id, "R", [replace(allocation, quantity=1)], NOW)
    assert operations.adjust_stock(
        *(variant_id, "berlin", -1), adjustment_id=uuid4(), actor="Ada", reason="Broken.", now=NOW
    )
    assert lossy.lost >= 7
    assert numbers(variant_id) == StockNumbers(9, 7, 0, 0, 2)
    assert reservation_rows(variant_id) == []


def test_a_crash_before_the_ledger_loses_nothing(subtests: pytest.Subtests) -> None:
    for step in ("committed", "in parts", "given up", "sent", "released", "restocked", "adjusted"):
        with subtests.test(step):
            variant_id, order_id, booking = make_stock(20), uuid4(), uuid4()
            (allocation,) = operations.FirstReservation(
                order_id, [want(variant_id, 6)], NOW
            ).reserve()
            if step != "committed":
                commit_stock([allocation])
            if step == "restocked":
                ship_stock([allocation])
            back = [replace(allocation, quantity=1)]
            adjustment: dict[str, Any] = {
                "adjustment_id": booking,
                "actor": "Ada",
                "reason": "Found.",
                "now": NOW,
            }
            steps: dict[str, Callable[[], Any]] = {
                "committed": partial(commit_stock, [allocation]),
                "in parts": partial(
                    operations.set_reservation_units, allocation, reserved_units=4, shipped_units=2
                ),
                "given up": partial(
                    operations.set_reservation_units, allocation, reserved_units=0, shipped_units=2
                ),
                "sent": partial(ship_stock, [allocation]),
                "released": partial(operations.release_stock, [allocation]),
                "restocked": partial(operations.restock_units, order_id, "R", back, NOW),
                "adjusted": partial(operations.adjust_stock, variant_id, "berlin", 3, **adjustment),
            }
            kill_in(ledger.ENTRY, "start", steps[step])
            found, stock_rows = queries.get_stock_item(variant_id, "berlin")
            assert (
                queries.fold_stock_numbers(
                    stock_rows, queries.list_ledger_entries(variant_id, "berlin")
                )
                == found
            )
            steps[step]()
            assert numbers(variant_id) == found, "once, whichever call finishes it"
            alone = queries.fold_stock_numbers(
                [], queries.list_ledger_entries(variant_id, "berlin")
            )
            assert alone == found, "and now the ledger alone knows"

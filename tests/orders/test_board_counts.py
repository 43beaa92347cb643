"""The numbers of the board's columns: exact whatever was cut off, and cheap while nothing changes."""

from datetime import UTC, datetime, timedelta

import pytest
from cassandra.query import BoundStatement

from cassandra_db import current_microseconds, write, write_batch
from cassandra_db.meter import Meter, count_statements
from orders import board_queries, operations
from orders.lifecycle.states import BOARD_COLUMNS
from orders.lifecycle.transitions import Transition
from orders.operations import board_counts, copies
from tests.factories import make_order
from tests.threads import call_at_once

FORGET_ALL = write("test", "DELETE FROM board_counts WHERE shop = :shop")


def counted() -> dict[str, int]:
    """The numbers as the board shows them."""
    return {name: each.number for name, each in operations.count_board_orders().numbers.items()}


def stored() -> dict[str, int]:
    """The numbers of the orders' own rows."""
    days = {name: board_queries.list_board_days(name) for name in BOARD_COLUMNS}
    return {
        name: board_queries.cap(
            sum(board_queries.count_days([(name, day) for day in days[name]]))
        ).number
        for name in BOARD_COLUMNS
    }


def cost_of_a_count() -> Meter:
    with count_statements() as meter:
        operations.count_board_orders()
    return meter


def settle(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let all changes be old enough to be forgotten, even those that other tests have dated to later years, and count them."""
    with monkeypatch.context() as patch:
        patch.setattr(board_counts, "SETTLES", -(10**16))
        operations.count_board_orders()


def test_x400_the_numbers_are_those_of_the_rows_after_each_change(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    order = make_order(paid=True)
    settle(monkeypatch)
    before = counted()
    assert before == stored()
    held = operations.transition_order(order, Transition("held", actor="Ann", at=datetime.now(UTC)))
    after = counted()
    assert (before["to_pack"] - after["to_pack"], after["on_hold"] - before["on_hold"]) == (1, 1)
    operations.write_copies(held)
    assert counted() == after == stored()


def test_x400_what_has_not_changed_is_not_counted_again(monkeypatch: pytest.MonkeyPatch) -> None:
    make_order(paid=True, now=datetime(2017, 4, 1, tzinfo=UTC))
    settle(monkeypatch)
    meter = cost_of_a_count()
    assert (meter.statement_count, meter.round_count) == (1, 1)
    make_order(paid=True)
    assert cost_of_a_count().statement_count < 20, "the days of one order, not all"


def test_x400_a_change_is_counted_again_until_all_of_its_batch_must_be_visible(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    order = make_order(paid=True)
    settle(monkeypatch)
    # A batch of which the changes are visible before the copies.
    for column in ("to_pack", "on_hold"):
        board_counts.note_board_change(column, order.placed_at.date())
    before = counted()

    def write_copies_alone(batch: list[BoundStatement]) -> None:
        write_batch([each for each in batch if "board_counts" not in _cql(each)])

    monkeypatch.setattr(copies, "write_batch", write_copies_alone)
    operations.transition_order(order, Transition("held", actor="Ann", at=datetime.now(UTC)))
    after = counted()
    assert (before["to_pack"] - after["to_pack"], after["on_hold"] - before["on_hold"]) == (1, 1)
    settle(monkeypatch)
    assert cost_of_a_count().statement_count == 1


def _cql(bound: BoundStatement) -> str:
    return str(bound.prepared_statement.query_string)


def test_x400_many_count_at_once_while_orders_come(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(board_counts, "SETTLES", 0)
    call_at_once(*[lambda: make_order(paid=True)] * 6, *[operations.count_board_orders] * 6)
    assert counted() == stored()


def test_x400_a_shop_of_an_earlier_version_counts_all_once(monkeypatch: pytest.MonkeyPatch) -> None:
    make_order(paid=True)
    settle(monkeypatch)
    before = counted()
    FORGET_ALL.run(shop=board_queries.SHOP)
    assert counted() == before == stored()
    assert cost_of_a_count().statement_count == 1


def test_an_older_count_loses(monkeypatch: pytest.MonkeyPatch) -> None:
    order = make_order(paid=True)
    settle(monkeypatch)
    before = counted()
    hour = timedelta(hours=1) // timedelta(microseconds=1)
    board_counts.COUNT_DAY.run(
        status="to_pack", day=order.placed_at.date(), count=0, at=current_microseconds() - hour
    )
    operations.recount_column("to_pack")
    assert counted() == before

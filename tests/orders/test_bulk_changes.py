"""Many orders at once: each exactly once, whatever dies, and whoever changes them meanwhile."""

from datetime import UTC, datetime
from functools import partial
from uuid import UUID, uuid4

import pytest
from cassandra.util import uuid_from_time

from cassandra_db import Row
from consistency.findings import Scope
from mail.queries import order_mails_from_rows, prefetch_order_mails
from orders import bulk_changes, jobs
from orders.bulk_acts import CONFIRMATION, DISPATCH, OrderAct
from orders.bulk_changes import OrderChange
from orders.lifecycle.entities import Order
from orders.operations import resent_mails
from orders.operations.tracking_numbers import find_tracking_owner, take_tracking_number
from tests.consistency.test_check_consistency import found as find_violations
from tests.consistency.test_check_consistency import repair
from tests.factories import make_order
from tests.forged_results import forge_result
from tests.orders.crashes import first_and_last_writes, kill_at_write, record_writes
from tests.orders.reads import fresh, list_event_kinds
from tests.threads import map_at_once

ANN = "staff:1:Ann"


def start(
    act: OrderAct,
    orders: list[Order],
    tracking: dict[UUID, str] | None = None,
    change_id: UUID | None = None,
) -> OrderChange:
    now = datetime.now(UTC)
    ids = [each.order_id for each in orders]
    return bulk_changes.start_change(
        change_id or uuid_from_time(now), act, ids, tracking or {}, uuid4(), now
    )


def results(change: OrderChange) -> list[tuple[str, str]]:
    return [(each.result, each.reason) for each in bulk_changes.STORE.iterate_results(change)]


def test_x172_orders_are_shipped_once_and_what_cannot_be_says_why() -> None:
    paid, unpaid, held = make_order(paid=True), make_order(), make_order(paid=True)
    bulk_changes.run_change(start(OrderAct("held", ANN), [held]), 100)
    number = f"T{uuid4().hex[:12]}"
    act = OrderAct("shipped", ANN, carrier="DHL")
    change = start(act, [paid, unpaid, held], {paid.order_id: number})
    jobs.go_on_with_bulk_changes(datetime.now(UTC))
    assert [each[0] for each in results(change)] == ["done", "refused", "refused"]
    assert "waiting for payment" in results(change)[1][1]
    assert "on hold" in results(change)[2][1]
    (parcel,) = fresh(paid).parcels()
    assert (parcel.carrier, parcel.tracking, parcel.is_sent) == ("DHL", number, True)
    finished = bulk_changes.STORE.get_change(change.change_id)
    assert finished
    assert finished.counts == {"done": 1, "refused": 2}
    # The same form again is the same change; what was done is not done again.
    assert start(act, [paid], change_id=change.change_id).selection_id == change.selection_id
    bulk_changes.run_change(change, 100)
    assert list_event_kinds(paid).count("shipped") == 1


def test_x173_two_changes_of_overlapping_orders_ship_each_once() -> None:
    orders = [make_order(paid=True) for _ in range(4)]
    act = OrderAct("shipped", ANN)
    changes = [start(act, orders[:3]), start(act, orders[1:])]
    map_at_once(lambda each: bulk_changes.run_change(each, 100), changes, 2)
    assert [list_event_kinds(each).count("shipped") for each in orders] == [1] * 4
    found = [each[0] for change in changes for each in results(change)]
    assert sorted(found) == ["done"] * 4 + ["unchanged"] * 2


def test_x174_a_change_that_is_killed_at_any_write_is_done_once() -> None:
    def ship(order: Order, change_id: UUID) -> None:
        change = start(
            OrderAct("shipped", ANN), [order], {order.order_id: str(change_id)}, change_id
        )
        bulk_changes.run_change(change, 100)

    first = make_order(paid=True)
    writes = first_and_last_writes(
        record_writes(lambda: ship(first, uuid_from_time(datetime.now(UTC))))
    )
    ours = [
        each
        for each in writes
        if any(name in str(each.texts) for name in ("order_change", "tracking_n", "INTO orders "))
    ]
    assert len(ours) >= 5
    for target in ours:
        order, change_id = make_order(paid=True), uuid_from_time(datetime.now(UTC))
        assert kill_at_write(target, partial(ship, order, change_id))
        change = bulk_changes.STORE.get_change(change_id)
        if change and not change.finished_at:
            bulk_changes.run_change(change, 100)
        assert list_event_kinds(order).count("shipped") == (1 if change else 0), target
        if change:
            assert results(change) == [("done", "")], target


def test_x175_a_tracking_number_belongs_to_one_order() -> None:
    one, other = make_order(paid=True), make_order(paid=True)
    number = f"T{uuid4().hex[:12]}"
    act = OrderAct("shipped", ANN)
    bulk_changes.run_change(start(act, [one], {one.order_id: number}), 100)
    now = datetime.now(UTC)
    (seen,) = bulk_changes.preview_act(act, [other.order_id], {other.order_id: number}, now)
    change = start(act, [other], {other.order_id: number})
    bulk_changes.run_change(change, 100)
    assert results(change) == [("refused", seen.reason)]
    assert number in seen.reason
    assert not fresh(other).parcels()
    # A process takes one and dies, and somebody else changes the order: what is refused then has no number.
    unused = f"T{uuid4().hex[:12]}"
    change = start(act, [other], {other.order_id: unused})
    take_tracking_number(unused, other)
    bulk_changes.run_change(start(OrderAct("held", ANN), [other]), 100)
    bulk_changes.run_change(change, 100)
    assert [each[0] for each in results(change)] == ["changed"]
    assert find_tracking_owner(unused) is None


def test_x172_orders_are_tagged_packed_and_cancelled_and_what_is_so_already_stays() -> None:
    order = make_order(paid=True)
    acts = [
        (OrderAct("tagged", ANN, tags=("gift",)), "done"),
        (OrderAct("tagged", ANN, tags=("gift",)), "unchanged"),
        (OrderAct("untagged", ANN, tags=("gift", "none")), "done"),
        (OrderAct("held", ANN), "done"),
        (OrderAct("resumed", ANN), "done"),
        (OrderAct("packed", ANN), "done"),
        (OrderAct("packed", ANN), "unchanged"),
        (OrderAct("cancelled", ANN), "refused"),
    ]
    for act, expected in acts:
        change = start(act, [order])
        bulk_changes.run_change(change, 100)
        assert [each[0] for each in results(change)] == [expected], act


def test_x197_a_mail_is_sent_again_once_whatever_dies_and_whoever_sends_it_too() -> None:
    paid, unpaid = make_order(paid=True), make_order()
    act = OrderAct("mailed", ANN, mail=CONFIRMATION)
    now = datetime.now(UTC)
    seen = bulk_changes.preview_act(act, [paid.order_id, unpaid.order_id], {}, now)
    assert [(each.is_changed, bool(each.reason)) for each in seen] == [(True, False), (False, True)]
    change = start(act, [paid, unpaid])
    map_at_once(lambda each: bulk_changes.run_change(each, 100), [change, change])
    assert results(change) == [("done", ""), ("refused", seen[1].reason)]
    assert (len(mails_of(paid)), len(mails_of(unpaid))) == (1, 0)
    assert list_event_kinds(paid).count("note") == 1
    # What was dispatched last before the change is mailed again, whatever is since.
    shipped = start(OrderAct("shipped", ANN), [paid])
    bulk_changes.run_change(shipped, 100)
    before = {each.mail_id for each in mails_of(paid)}
    again = start(OrderAct("mailed", ANN, mail=DISPATCH), [paid, unpaid])
    rows = bulk_changes.STORE.read_rows(again, 0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(resent_mails, "add_note", raise_interrupt)
        with pytest.raises(KeyboardInterrupt):
            bulk_changes._change_order(again, rows[0])
    bulk_changes.run_change(again, 100)
    assert [each[0] for each in results(again)] == ["done", "refused"]
    (mail,) = (each for each in mails_of(paid) if each.mail_id not in before)
    assert list_event_kinds(paid).count("note") == 2
    assert mail.subject in fresh(paid).events[0].note
    only = Scope(changes=frozenset({change.change_id, again.change_id}))
    assert find_violations(only, "I33") == []


def mails_of(order: Order) -> list[Row]:
    return order_mails_from_rows(prefetch_order_mails(order.number).rows())


def raise_interrupt(*args: object, **more: object) -> None:
    raise KeyboardInterrupt


def test_i33_a_result_that_the_order_does_not_know_is_named() -> None:
    order = make_order(paid=True)
    change = start(OrderAct("held", ANN), [order])
    bulk_changes.run_change(change, 100)
    store = bulk_changes.STORE
    forge_result("order_change_rows", store.rows, store.read_rows(change, 0)[0])
    only = Scope(changes=frozenset({change.change_id}))
    assert find_violations(only, "I33") == [
        f"I33 change {change.change_id}, row 0: says refused of what was done"
    ]
    assert repair(only, "I33").is_clean
    assert results(change) == [("done", "")]

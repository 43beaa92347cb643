"""Parcels, changes and returns on the real database: stock, money and lists follow, even if a process dies on the way."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import uuid4

import pytest
from moneyed import Money

from inventory import operations as inventory
from jobs.minutes import minutes_between
from orders import board_queries, jobs, operations, queries
from orders.lifecycle import balance
from orders.lifecycle.entities import BoardOrder, Order
from orders.lifecycle.errors import OrderChanged, TransitionRefused
from orders.lifecycle.transitions import Transition
from orders.operations import effects, transitions
from pricing.money import from_minor_units
from tests.clock import now
from tests.factories import make_draft, make_order, make_payment, make_product, make_stock
from tests.orders.consistency_checks import (
    assert_order_consistent,
    assert_stock_adds_up,
    get_stock_numbers,
)
from tests.orders.crashes import kill_in
from tests.orders.paper_orders import AT_HOME
from tests.orders.reads import fresh
from tests.orders.sweeps import apply_pending_effects
from tests.shards import SingleItemShard
from tests.threads import map_at_once


def run_worker(order: Order) -> None:
    """Let the worker process what was due for an order just now."""
    minutes = minutes_between(now() - timedelta(minutes=2), now() + timedelta(minutes=1))
    apply_pending_effects(
        minutes, now() + timedelta(minutes=4), SingleItemShard("orders", item_id=order.order_id)
    )


def make_order_from_two_warehouses() -> tuple[Order, Any]:
    """A paid order of five units, of which one warehouse has three."""
    product = make_product(price="10.00")
    make_stock(3, cork=4, product_id=product.product_id, variant_id=product.variants[0].variant_id)
    draft = make_draft((product, 5), user_id=uuid4())
    return make_payment(operations.place_order(draft, now())), product.variants[0].variant_id


def make_delivered_order(quantity: int = 3) -> Order:
    order = make_order(quantity=quantity, price="10.00", stock=10, paid=True)
    for kind in ("packed", "shipped", "delivered"):
        order = operations.transition_order(order, Transition(kind, actor="Ann", at=now()))
    return order


AFTERWARDS = (
    "apply_order_effects",
    "sync_stock",
    "settle_captures_and_refunds",
    "write_copies",
    "queue_order_mails",
    "clear_pending_effects",
)


# ---- Parcels


def test_units_leave_the_stock_parcel_by_parcel() -> None:
    order, variant_id = make_order_from_two_warehouses()
    units_by_warehouse = order.units_to_pack
    assert (
        sorted(units for lines in units_by_warehouse.values() for units in lines.values()) == [1, 4]
        or len(units_by_warehouse) == 2
    )
    first, second = units_by_warehouse
    order = operations.pack_parcel(order, first, units_by_warehouse[first], actor="Ann", now=now())
    order = operations.ship_parcel(order, "1", "DHL", "JD 014", actor="Ann", now=now())
    done = assert_order_consistent(order.order_id)
    sent = sum(units_by_warehouse[first].values())
    assert (
        assert_stock_adds_up(variant_id)["shipped"],
        assert_stock_adds_up(variant_id)["committed"],
    ) == (sent, 5 - sent)
    assert (done.board_column, done.parcels()[0].tracking) == ("partly_shipped", "JD 014")
    order = operations.pack_parcel(done, second, units_by_warehouse[second], actor="Ben", now=now())
    order = operations.ship_parcel(order, "2", actor="Ben", now=now())
    assert order.parcels()[1].carrier == order.method.carrier
    assert assert_stock_adds_up(variant_id)["shipped"] == 5
    for _ in range(2):
        operations.apply_effects(order.order_id, now())
    assert assert_order_consistent(order.order_id).board_column == "shipped"
    order = operations.mark_parcel_delivered(order, "1", actor="Ann", now=now())
    order = operations.mark_parcel_lost(order, "2", actor="Ann", now=now())
    assert (assert_order_consistent(order.order_id).fulfilment, order.board_column) == (
        "delivered",
        "done",
    )


def test_a_parcel_that_is_taken_apart_keeps_its_units_for_the_order() -> None:
    order, variant_id = make_order_from_two_warehouses()
    order = operations.transition_order(order, Transition("packed", actor="Ann", at=now()))
    order = operations.unpack_parcel(order, "1", actor="Ann", now=now())
    assert assert_stock_adds_up(variant_id)["committed"] == 5
    assert len(assert_order_consistent(order.order_id).units_to_pack) == 1


def test_killed_while_a_parcel_is_sent(subtests: pytest.Subtests) -> None:
    for name in AFTERWARDS:
        with subtests.test(name):
            order, variant_id = make_order_from_two_warehouses()
            warehouse = next(iter(order.units_to_pack))
            order = operations.pack_parcel(
                order, warehouse, order.units_to_pack[warehouse], actor="Ann", now=now()
            )
            kill_in(
                effects, name, partial(operations.ship_parcel, order, "1", actor="Ann", now=now())
            )
            run_worker(order)
            done = assert_order_consistent(order.order_id)
            assert done.fulfilment == "partially_shipped"
            assert get_stock_numbers(variant_id)["shipped"] == done.parcels()[0].count


def test_killed_before_the_event_nothing_has_happened() -> None:
    order = make_order(quantity=2, paid=True)
    kill_in(
        transitions,
        "apply_batch",
        lambda: operations.transition_order(order, Transition("packed", actor="A", at=now())),
    )
    run_worker(order)
    assert assert_order_consistent(order.order_id) == order


def test_two_who_pack_the_same_things_make_one_parcel_and_the_other_reads_who() -> None:
    order = make_order(quantity=2, paid=True)
    lost: list[OrderChanged] = []

    def pack(who: str) -> bool:
        try:
            operations.pack_parcel(order, "berlin", {1: 2}, actor=who, now=now())
        except OrderChanged as stale:
            lost.append(stale)
            return False
        return True

    assert sum(map_at_once(pack, ["Ann", "Ben", "Cem", "Dea"])) == 1
    (parcel,) = assert_order_consistent(order.order_id).parcels()
    assert {stale.event.at for stale in lost if stale.event} == {parcel.packed_at}
    assert all(stale.event and stale.event.actor in ("Ann", "Ben", "Cem", "Dea") for stale in lost)


# ---- Changes


def test_fewer_of_a_line_gives_units_and_money_back() -> None:
    order, variant_id = make_order_from_two_warehouses()
    before = order.total
    order = operations.change_order(order, {1: 2}, actor="shopper", now=now())
    done = assert_order_consistent(order.order_id)
    assert assert_stock_adds_up(variant_id)["committed"] == 2
    assert assert_stock_adds_up(variant_id)["available"] == 5
    assert (done.total, done.item_count) == (before - Money(30, "EUR"), 2)
    assert (done.captured, done.refunded, done.payment) == (
        before,
        Money(30, "EUR"),
        "partially_refunded",
    )
    assert [event.kind for event in done.events][:3] == ["refunded", "refund_owed", "changed"]
    assert done.user_id
    (listed,) = queries.list_orders_by_year(done.user_id, [done.placed_at.year])[
        done.placed_at.year
    ]
    assert (listed.total, listed.item_count) == (done.total, 2)
    order = operations.transition_order(done, Transition("shipped", actor="Ann", at=now()))
    assert assert_stock_adds_up(variant_id)["shipped"] == 2
    assert assert_order_consistent(order.order_id).fulfilment == "shipped"


def test_killed_while_an_order_is_changed(subtests: pytest.Subtests) -> None:
    for name in AFTERWARDS:
        with subtests.test(name):
            order, variant_id = make_order_from_two_warehouses()
            kill_in(
                effects,
                name,
                partial(operations.change_order, order, {1: 4}, actor="shopper", now=now()),
            )
            run_worker(order)
            done = assert_order_consistent(order.order_id)
            assert (done.item_count, done.refunded) == (4, Money(10, "EUR"))
            assert (
                get_stock_numbers(variant_id)["committed"],
                get_stock_numbers(variant_id)["available"],
            ) == (4, 3)


def test_another_address_is_the_orders_and_its_copies() -> None:
    order = make_order(quantity=2, paid=True)
    address = replace(order.delivery_address, name="Bea Byron", street="Hof 2")
    order = operations.change_order(order, {}, address, actor="shopper", now=now())
    done = assert_order_consistent(order.order_id)
    assert (done.delivery_address, done.name, done.billing_address.name) == (
        address,
        "Bea Byron",
        "Ada Lovelace",
    )


def test_of_a_change_and_a_packing_at_once_one_wins() -> None:
    order, variant_id = make_order_from_two_warehouses()

    def change(_: int) -> str:
        try:
            operations.change_order(order, {1: 1}, actor="shopper", now=now())
        except OrderChanged:
            return "lost"
        return "changed"

    def pack(_: int) -> str:
        try:
            operations.transition_order(order, Transition("packed", actor="Ann", at=now()))
        except OrderChanged:
            return "lost"
        return "packed"

    with ThreadPoolExecutor(2) as pool:
        results = {future.result() for future in (pool.submit(change, 0), pool.submit(pack, 0))}
    assert "lost" in results
    done = assert_order_consistent(order.order_id)
    assert (
        assert_stock_adds_up(variant_id)["committed"]
        == (1 if "changed" in results else 5)
        == done.item_count
    )


# ---- Returns and refunds


def test_a_return_from_the_request_to_the_money() -> None:
    order = make_delivered_order(3)
    variant_id = queries.list_items(order)[0].variant_id
    order = operations.request_return(order, {1: 2}, "Too small", actor="shopper", now=now())
    assert assert_order_consistent(order.order_id).board_column == "returns_waiting"
    order = operations.approve_return(order, "1", actor="Ann", now=now())
    order = operations.receive_return(order, "1", {1: 1}, actor="Ann", now=now())
    for _ in range(2):
        operations.apply_effects(order.order_id, now())
    assert (
        assert_stock_adds_up(variant_id)["shipped"],
        assert_stock_adds_up(variant_id)["available"],
    ) == (2, 8)
    paid = queries.list_items(order)[0].units_total(2)
    order = operations.decide_refund(
        order, paid, {1: 2}, "It is back", actor="Ann", now=now(), return_id="1"
    )
    done = assert_order_consistent(order.order_id)
    assert (done.returns[0].state, done.board_column, done.refunded) == (
        "refunded",
        "done",
        Money(20, "EUR"),
    )
    with pytest.raises(TransitionRefused):
        operations.request_return(done, {1: 2}, "", actor="shopper", now=now())


def test_what_arrived_too_long_ago_is_not_taken_back() -> None:
    order = make_delivered_order(1)
    with pytest.raises(TransitionRefused):
        operations.request_return(
            order, {1: 1}, "", actor="shopper", now=now() + timedelta(days=31)
        )


def test_killed_while_a_return_is_received(subtests: pytest.Subtests) -> None:
    for module, name in [*((effects, name) for name in AFTERWARDS), (inventory, "restock_units")]:
        with subtests.test(name):
            order = make_delivered_order(3)
            variant_id = queries.list_items(order)[0].variant_id
            order = operations.request_return(order, {1: 2}, "", actor="shopper", now=now())
            order = operations.approve_return(order, "1", actor="Ann", now=now())
            kill_in(
                module,
                name,
                partial(operations.receive_return, order, "1", {1: 2}, actor="Ann", now=now()),
            )
            run_worker(order)
            assert assert_order_consistent(order.order_id).returns[0].state == "received"
            assert (
                get_stock_numbers(variant_id)["shipped"],
                get_stock_numbers(variant_id)["available"],
            ) == (1, 9)


def test_never_more_goes_back_than_was_taken_however_many_decide_at_once() -> None:
    order = make_delivered_order(2)
    half = from_minor_units(int(order.total.amount * 100) // 2 + 1, "EUR")

    def refund(who: str) -> bool:
        for _ in range(9):
            try:
                operations.decide_refund(fresh(order), half, {}, "Sorry", actor=who, now=now())
            except OrderChanged:
                continue
            except TransitionRefused:
                return False
            return True
        return False

    assert sum(map_at_once(refund, ["Ann", "Ben", "Cem"])) == 1
    done = assert_order_consistent(order.order_id)
    assert (done.refunded, done.payment) == (half, "partially_refunded")
    operations.decide_refund(
        done, balance.refundable_amount(done), {}, "All of it", actor="Ann", now=now()
    )
    assert assert_order_consistent(order.order_id).payment == "refunded"


def test_x498_killed_while_money_and_units_go_back(subtests: pytest.Subtests) -> None:
    targets = [*((effects, name) for name in AFTERWARDS), (inventory, "restock_units")]
    order, amount = make_delivered_order(len(targets)), Money("0.50", "EUR")
    variant_id = queries.list_items(order)[0].variant_id
    for times, (module, name) in enumerate(targets, 1):
        with subtests.test(name):
            order, back = fresh(order), {"restock": {1: 1}}
            refund = partial(
                operations.decide_refund,
                order,
                amount,
                {},
                "Back",
                actor="Ann",
                now=now(),
                more=back,
            )
            kill_in(module, name, refund)
            run_worker(order)
            assert assert_order_consistent(order.order_id).refunded == amount * times
            numbers = get_stock_numbers(variant_id)
            sent = len(targets) - times
            assert (numbers["shipped"], numbers["available"]) == (sent, 10 - sent)


def test_x498_units_that_an_earlier_version_put_elsewhere_are_not_put_back_twice() -> None:
    order, variant_id = make_order_from_two_warehouses()
    for kind in ("packed", "shipped"):
        order = operations.transition_order(order, Transition(kind, actor="Ann", at=now()))
    for parcel in ("2", "1"):
        order = operations.mark_parcel_delivered(order, parcel, actor="Ann", now=now())
    # Earlier versions began with the parcel that was packed first.
    first = order.parcels()[0].warehouse
    allocations = order.list_allocations(queries.list_items(order))
    (part,) = (each for each in allocations if each.warehouse_id == first)
    inventory.restock_units(order.order_id, "1", [replace(part, quantity=1)], now())
    order = operations.request_return(order, {1: 2}, "", actor="shopper", now=now())
    order = operations.approve_return(order, "1", actor="Ann", now=now())
    operations.receive_return(order, "1", {1: 1}, actor="Ann", now=now())
    assert_order_consistent(order.order_id)
    assert assert_stock_adds_up(variant_id)["shipped"] == 4


# ---- Late orders, and what an erased order still contains


def test_an_order_that_was_to_pack_for_two_days_is_late(monkeypatch: pytest.MonkeyPatch) -> None:
    order, other = make_order(paid=True), make_order(paid=True)
    entries = [_board_order(order), _board_order(other)]
    monkeypatch.setattr(board_queries, "list_board_orders", lambda *_, **__: (entries, ""))
    assert jobs.mark_late_orders(now() + timedelta(hours=47)) == ""
    assert jobs.mark_late_orders(now() + timedelta(hours=49)) == "2 orders are late"
    assert jobs.mark_late_orders(now() + timedelta(hours=49)) == ""
    done = assert_order_consistent(order.order_id)
    assert (done.board_column, done.customer_label, done.version) == (
        "late",
        "Confirmed",
        order.version + 1,
    )
    assert "late" not in {event.kind for event in done.history}
    sent = operations.transition_order(done, Transition("shipped", actor="Ann", at=now()))
    assert assert_order_consistent(sent.order_id).board_column == "shipped"


def _board_order(order: Order) -> BoardOrder:
    return BoardOrder(
        order.order_id,
        order.number,
        order.placed_at,
        order.name,
        order.email,
        order.country,
        order.total,
        order.item_count,
        order.payment,
        order.fulfilment,
        order.version,
        "to_pack",
    )


def test_an_erased_order_shows_no_address_no_reason_and_no_number_at_the_carrier() -> None:
    order = make_order(quantity=2, paid=True)
    order = operations.change_order(
        order, {}, replace(AT_HOME, street="Secret Lane 9"), actor="shopper", now=now()
    )
    order = operations.transition_order(order, Transition("packed", actor="Ann", at=now()))
    order = operations.ship_parcel(order, "1", "DHL", "TRACKME", actor="Ann", now=now())
    order = operations.transition_order(order, Transition("delivered", actor="Ann", at=now()))
    order = operations.request_return(order, {1: 1}, "My knee hurts", actor="shopper", now=now())
    order = operations.reject_return(order, "1", actor="Ann", now=now(), note="Dear Ada")
    operations.anonymize_order(order, now())
    remaining = str([(event.note, event.details) for event in fresh(order).events])
    for secret in ("Secret Lane", "TRACKME", "knee", "Ada"):
        assert secret not in remaining
    assert fresh(order).fulfilment == "delivered"
    assert [each.state for each in fresh(order).returns] == ["rejected"]

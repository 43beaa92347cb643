"""Parcels: packed, sent, delivered and lost, and the order's fulfilment."""

from typing import Any

import pytest

from orders.lifecycle.errors import TransitionRefused
from tests.orders import paper_orders
from tests.orders.paper_orders import apply_event, make_items, make_paid_order

TWO_WAREHOUSES = {"berlin": {1: 2}, "cork": {1: 1, 2: 4}}


def pack_parcel(order: Any, warehouse: str, **lines: int) -> Any:
    return apply_event(
        order,
        "packed",
        parcel=str(len(order.parcels()) + 1),
        warehouse=warehouse,
        lines={name.removeprefix("line"): units for name, units in lines.items()},
    )


def test_what_is_left_to_pack_is_shown_by_warehouse_and_line() -> None:
    order = make_paid_order(make_items(3, 4), TWO_WAREHOUSES)
    assert order.units_to_pack == TWO_WAREHOUSES
    order = pack_parcel(order, "cork", line1=1, line2=1)
    assert order.units_to_pack == {"berlin": {1: 2}, "cork": {2: 3}}
    (parcel,) = order.parcels()
    assert (parcel.parcel_id, parcel.warehouse, parcel.lines, parcel.state) == (
        "1",
        "cork",
        {1: 1, 2: 1},
        "packed",
    )
    assert parcel.packed_at == order.events[0].at
    assert (order.has_packed_parcel, order.has_units_to_pack, order.customer_label) == (
        True,
        True,
        "Confirmed",
    )


def test_one_submit_packs_a_parcel_for_each_warehouse_and_one_sends_them_all() -> None:
    order = apply_event(make_paid_order(make_items(3, 4), TWO_WAREHOUSES), "packed")
    assert [(each.warehouse, each.lines) for each in order.parcels()] == [
        ("berlin", {1: 2}),
        ("cork", {1: 1, 2: 4}),
    ]
    assert (order.customer_label, order.fulfilment, order.has_units_to_pack) == (
        "Packed",
        "unfulfilled",
        False,
    )
    order = apply_event(order, "shipped")
    assert [each.state for each in order.parcels()] == ["shipped", "shipped"]
    assert (order.customer_label, order.fulfilment, order.board_column) == (
        "On its way",
        "shipped",
        "shipped",
    )
    order = apply_event(order, "delivered")
    assert (order.customer_label, order.fulfilment, order.board_column) == (
        "Delivered",
        "delivered",
        "done",
    )


def test_sending_what_nobody_has_packed_packs_it() -> None:
    order = apply_event(make_paid_order(make_items(3, 4), TWO_WAREHOUSES), "shipped")
    assert [each.state for each in order.parcels()] == ["shipped", "shipped"]
    assert order.fulfilment == "shipped"


def test_parcels_go_their_own_ways() -> None:
    order = pack_parcel(
        pack_parcel(make_paid_order(make_items(3, 4), TWO_WAREHOUSES), "berlin", line1=2),
        "cork",
        line1=1,
    )
    order = apply_event(order, "shipped", parcel="2", carrier="An Post", tracking="AB 1")
    assert [each.state for each in order.parcels()] == ["packed", "shipped"]
    second = order.parcels()[1]
    assert (second.carrier, second.tracking, second.shipped_at) == (
        "An Post",
        "AB 1",
        order.events[0].at,
    )
    assert (order.fulfilment, order.board_column, order.customer_label) == (
        "partially_shipped",
        "partly_shipped",
        "Partly sent",
    )
    order = apply_event(order, "delivered", parcel="2")
    assert order.fulfilment == "partially_shipped", "the rest is to be sent"
    order = apply_event(pack_parcel(order, "cork", line2=4), "shipped")
    assert order.fulfilment == "shipped"
    order = apply_event(apply_event(order, "delivered", parcel="1"), "delivered", parcel="3")
    assert (order.fulfilment, apply_event(order, "closed").state) == ("delivered", "closed")


def test_a_parcel_that_is_taken_apart_is_to_be_packed_again() -> None:
    order = apply_event(
        pack_parcel(make_paid_order(make_items(2)), "berlin", line1=2), "unpacked", parcel="1"
    )
    assert order.parcels()[0].state == "cancelled"
    assert order.units_to_pack == {"berlin": {1: 2}}
    assert pack_parcel(order, "berlin", line1=2).parcels()[1].parcel_id == "2"


def test_what_is_lost_stays_sent_and_does_not_keep_an_order_open() -> None:
    order = apply_event(
        apply_event(apply_event(make_paid_order(make_items(2)), "packed"), "shipped"),
        "lost",
        parcel="1",
    )
    assert (order.parcels()[0].state, order.fulfilment, order.board_column) == (
        "lost",
        "shipped",
        "shipped",
    )
    assert apply_event(order, "closed").board_column == "done"
    two = pack_parcel(
        pack_parcel(make_paid_order(make_items(2)), "berlin", line1=1), "berlin", line1=1
    )
    two = apply_event(
        apply_event(apply_event(two, "shipped"), "lost", parcel="1"), "delivered", parcel="2"
    )
    assert two.fulfilment == "delivered"


def test_what_cannot_happen_to_a_parcel_is_refused(subtests: pytest.Subtests) -> None:
    refused: tuple[tuple[str, dict[str, Any]], ...] = (
        ("packed", {"parcel": "2", "warehouse": "berlin", "lines": {"1": 2}}),
        ("packed", {"parcel": "2", "warehouse": "cork", "lines": {"1": 1}}),
        ("packed", {"parcel": "2", "warehouse": "berlin", "lines": {"7": 1}}),
        ("packed", {"parcel": "2", "warehouse": "berlin", "lines": {"1": -1}}),
        ("packed", {"parcel": "2", "warehouse": "berlin", "lines": {}}),
        ("packed", {"parcel": "1", "warehouse": "berlin", "lines": {"1": 1}}),
        ("packed", {"parcel": "2", "warehouse": "ahead", "lines": {"2": 1}}),
        ("shipped", {"parcel": "2"}),
        ("delivered", {"parcel": "1"}),
        ("lost", {"parcel": "1"}),
        ("unpacked", {"parcel": "2"}),
        ("cancelled", {}),
    )
    order = pack_parcel(
        make_paid_order(make_items(2, 1), {"berlin": {1: 2}, "ahead": {2: 1}}), "berlin", line1=1
    )
    for kind, details in refused:
        with subtests.test(kind=kind, details=details), pytest.raises(TransitionRefused):
            apply_event(order, kind, **details)


def test_what_waits_for_stock_is_not_packed() -> None:
    order = apply_event(
        make_paid_order(make_items(2, 1), {"berlin": {1: 2}, "ahead": {2: 1}}), "packed"
    )
    assert [each.lines for each in order.parcels()] == [{1: 2}]
    order = apply_event(order, "shipped")
    assert (order.fulfilment, order.has_units_to_pack) == ("partially_shipped", False)
    allocated = apply_event(
        order, "allocated", allocated='{"take": 1, "berlin": [[1, 2]], "cork": [[2, 1]]}'
    )
    assert allocated.units_to_pack == {"cork": {2: 1}}
    assert apply_event(apply_event(allocated, "packed"), "shipped").fulfilment == "shipped"


def test_an_order_that_was_to_pack_for_too_long_is_late_until_it_is_sent_or_put_on_hold() -> None:
    order = apply_event(make_paid_order(make_items(2)), "late")
    assert (order.is_late, order.board_column) == (True, "late")
    assert apply_event(order, "packed").board_column == "late"
    assert apply_event(apply_event(order, "held"), "resumed").board_column == "to_pack"
    assert apply_event(order, "shipped").board_column == "shipped"
    with pytest.raises(TransitionRefused):
        apply_event(order, "late")


def test_orders_of_former_days_name_no_parcels_and_have_some() -> None:
    order = make_paid_order(make_items(2, 1))
    for kind in ("packed", "shipped"):
        event = order.events[0].__class__(
            order.events[0].event_id, kind, "Ann", "", public=True, board_after=""
        )
        order = order.__class__(**{**order_fields(order), "events": (event, *order.events)})
    assert [(each.state, each.lines) for each in order.parcels()] == [("shipped", {1: 2, 2: 1})]


def order_fields(order: Any) -> dict[str, Any]:
    return {name: getattr(order, name) for name in order.__dataclass_fields__}


def test_the_lines_stand_in_the_parcel_where_they_are_at_hand() -> None:
    items = make_items(2, 1)
    order = apply_event(make_paid_order(items), "packed")
    assert [(each.item.sku, each.units) for each in order.parcels(items)[0].contents] == [
        ("T-1", 2),
        ("T-2", 1),
    ]
    assert order.parcels()[0].contents == ()
    assert order.parcels()[0].packed_at > paper_orders.START

"""Returns: what may be sent back, and how a return goes on."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils.timezone import localdate

from orders.lifecycle import balance, returns
from orders.lifecycle.errors import TransitionRefused
from orders.presentation import return_deadline
from tests.orders.paper_orders import apply_event, make_items, make_paid_order
from web.days import end_of_day


def make_delivered_order(*quantities: int) -> Any:
    order = make_paid_order(make_items(*quantities))
    for kind in ("packed", "shipped", "delivered"):
        order = apply_event(order, kind)
    return order


def request_return(order: Any, return_id: str = "1", **lines: int) -> Any:
    wanted = {name.removeprefix("line"): units for name, units in lines.items()}
    return apply_event(
        order, "return_requested", **{"return": return_id, "lines": wanted, "reason": "Too small"}
    )


def test_x256_what_has_arrived_may_come_back_to_the_end_of_the_thirtieth_day() -> None:
    order = make_delivered_order(3, 1)
    delivered_at = order.parcels()[0].delivered_at
    assert delivered_at
    deadline = return_deadline(order)
    assert deadline == localdate(delivered_at) + timedelta(days=30)
    assert order.returnable_units(end_of_day(deadline) - timedelta(seconds=1)) == {1: 3, 2: 1}
    assert order.returnable_units(end_of_day(deadline)) == {}
    assert order.returnable_units() == {1: 3, 2: 1}, "whatever the day"
    assert make_paid_order(make_items(2)).returnable_units() == {}


def test_the_way_of_a_return() -> None:
    order = request_return(make_delivered_order(3, 1), line1=2)
    (customer_return,) = order.returns
    assert (
        customer_return.lines,
        customer_return.reason,
        customer_return.state,
        customer_return.requested_at,
    ) == ({1: 2}, "Too small", "requested", order.events[0].at)
    assert (order.board_column, order.returnable_units()) == ("returns_waiting", {1: 1, 2: 1})
    order = apply_event(order, "return_approved", **{"return": "1"})
    assert (order.returns[0].state, order.board_column) == ("approved", "returns_waiting")
    order = apply_event(order, "return_received", **{"return": "1", "restock": {"1": 1}})
    assert (order.returns[0].state, order.returns[0].restock) == ("received", {1: 1})
    order = apply_event(
        order, "refund_owed", refund="r", amount=2000, lines={"1": 2}, reason="", **{"return": "1"}
    )
    assert order.returns[0].state == "received", "until the money has gone"
    (due_refund,) = order.due_refunds
    payment = next(iter(balance.balance_by_payment(order)))
    order = apply_event(
        order, "refunded", refund=due_refund.refund_id, amount=2000, of={str(payment): 2000}
    )
    assert (order.returns[0].state, order.payment, order.board_column) == (
        "refunded",
        "partially_refunded",
        "done",
    )


def test_x498_what_is_back_in_a_warehouse_stays_there_whatever_comes_later() -> None:
    items = make_items(4)
    order = make_paid_order(items, {"berlin": {1: 1}, "cork": {1: 2}, "delft": {1: 1}})
    for kind in ("packed", "shipped"):
        order = apply_event(order, kind)
    # Berlin's parcel was packed first and arrives last.
    for parcel in ("2", "3"):
        order = apply_event(order, "delivered", parcel=parcel)
    for return_id in ("1", "2"):
        order = request_return(order, return_id, line1=1)
        order = apply_event(order, "return_approved", **{"return": return_id})
    order = apply_event(order, "return_received", **{"return": "2", "restock": {"1": 1}})
    refund = {"refund": "r", "amount": 1, "lines": {}, "reason": "", "restock": {"1": 1}}
    order = apply_event(order, "refund_owed", **refund)
    places = {"2": {"cork": {1: 1}}, "refund r": {"cork": {1: 1}}}
    assert returns.restocked_units(order.parcels(), order.events) == places
    order = apply_event(order, "delivered", parcel="1")
    order = apply_event(order, "return_received", **{"return": "1", "restock": {"1": 1}})
    places["1"] = {"delft": {1: 1}}
    assert returns.restocked_units(order.parcels(), order.events) == places
    for wrong in ({"restock": {"1": 2}}, {"restock": {"1": 1}, "return": "1"}):
        with pytest.raises(TransitionRefused, match="back into stock"):
            apply_event(order, "refund_owed", **refund | {"refund": "s"} | wrong)


def test_x498_a_warehouses_later_parcel_moves_nothing_that_is_back() -> None:
    order = make_paid_order(make_items(2, 1), {"berlin": {1: 1, 2: 1}, "cork": {1: 1}})
    for parcel, warehouse, line in (("1", "berlin", 2), ("2", "cork", 1), ("3", "berlin", 1)):
        order = apply_event(order, "packed", parcel=parcel, warehouse=warehouse, lines={line: 1})
    order = apply_event(order, "shipped")
    for parcel in ("1", "2"):
        order = apply_event(order, "delivered", parcel=parcel)
    refund = {"refund": "r", "amount": 1, "lines": {}, "reason": "", "restock": {"1": 1}}
    order = apply_event(order, "refund_owed", **refund)
    places = {"refund r": {"cork": {1: 1}}}
    assert returns.restocked_units(order.parcels(), order.events) == places
    order = apply_event(order, "delivered", parcel="3")
    assert returns.restocked_units(order.parcels(), order.events) == places


def test_a_return_that_is_refused_says_why_and_leaves_the_items_to_be_returned() -> None:
    order = apply_event(
        request_return(make_delivered_order(2), line1=2),
        "return_rejected",
        note="It was used",
        **{"return": "1"},
    )
    assert (order.returns[0].state, order.returns[0].answer) == ("rejected", "It was used")
    assert (order.returnable_units(), order.board_column) == ({1: 2}, "done")
    assert request_return(order, "2", line1=1).returns[1].state == "requested"


def test_a_closed_order_waits_for_what_comes_back() -> None:
    order = request_return(apply_event(make_delivered_order(2), "closed"), line1=1)
    assert (order.state, order.board_column, order.customer_label) == (
        "closed",
        "returns_waiting",
        "Completed",
    )


def test_what_cannot_happen_to_a_return_is_refused(subtests: pytest.Subtests) -> None:
    refused: tuple[tuple[str, dict[str, Any]], ...] = (
        ("return_requested", {"return": "2", "lines": {"1": 3}}),
        ("return_requested", {"return": "2", "lines": {"1": -1}}),
        ("return_requested", {"return": "2", "lines": {"9": 1}}),
        ("return_requested", {"return": "2", "lines": {}}),
        ("return_requested", {"return": "1", "lines": {"1": 1}}),
        ("return_received", {"return": "1"}),
        ("return_approved", {"return": "2"}),
        ("return_rejected", {"return": "2"}),
    )
    order = request_return(make_delivered_order(3), line1=1)
    for kind, details in refused:
        with subtests.test(kind=kind, details=details), pytest.raises(TransitionRefused):
            apply_event(order, kind, **details)


def test_no_more_goes_into_stock_than_came_back() -> None:
    order = apply_event(
        request_return(make_delivered_order(3), line1=1), "return_approved", **{"return": "1"}
    )
    with pytest.raises(TransitionRefused):
        apply_event(order, "return_received", **{"return": "1", "restock": {"1": 2}})
    for kind in ("return_approved", "return_rejected"):
        with pytest.raises(TransitionRefused):
            apply_event(order, kind, **{"return": "1"})


def test_nothing_comes_back_of_what_is_on_its_way() -> None:
    order = apply_event(apply_event(make_paid_order(make_items(2)), "packed"), "shipped")
    with pytest.raises(TransitionRefused):
        request_return(order, line1=1)

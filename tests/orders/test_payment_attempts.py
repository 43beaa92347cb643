"""The attempts to pay an order, as its events tell of them, and what an event leaves behind."""

from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
import time_machine
from cassandra.util import uuid_from_time

from cassandra_db import write
from demo.testbank import cards
from jobs.minutes import floor_to_minute
from orders import operations, queries
from orders.lifecycle.entities import Order
from orders.lifecycle.errors import OrderChanged, TransitionRefused
from orders.lifecycle.events import Event
from orders.lifecycle.payment_attempts import derive_payment_id, started_details
from orders.lifecycle.transitions import Transition
from orders.operations import PendingEffect, effects, refunds, transitions
from orders.operations.pending_effects import effects_under_way, ensure_pending_effects
from pricing.money import to_minor_units
from tests.clock import now
from tests.factories import make_order, make_payment
from tests.orders.consistency_checks import assert_order_consistent
from tests.orders.paper_orders import START, apply_event, make_items, make_paper_order
from tests.orders.test_payments import decide_refund

ORIGIN = "http://testserver"
DELETE_EVENT = write(
    "test", "DELETE FROM orders WHERE order_id = :order_id AND event_id = :event_id"
)


def start(order: Order, gateway: str = "testbank") -> tuple[Order, dict[str, Any]]:
    """Start an attempt on paper; return the order, and the details that name the attempt."""
    payment_id = uuid4()
    details = started_details(payment_id, gateway, order.total)
    event_id = uuid_from_time(START + timedelta(hours=len(order.events)))
    event = Event(event_id, "payment_started", "shopper", "", False, "to_pay", details)
    return replace(order, events=(event, *order.events)), {"payment_id": str(payment_id)}


def states(order: Order) -> list[str]:
    return [each.state for each in order.payment_attempts]


def test_an_attempt_is_what_the_events_say_that_name_it() -> None:
    order, first = start(make_paper_order(make_items(2)))
    total = to_minor_units(order.total)
    assert states(order) == ["started"]
    order = apply_event(order, "payment_failed", cause="left_unpaid", **first)
    order, second = start(order)
    assert states(order) == ["left_unpaid", "started"]
    for kind, state, details in (
        ("authorized", "authorized", {"amount": total}),
        ("captured", "captured", {"amount": total, "key": "1"}),
    ):
        order = apply_event(order, kind, **second, **details)
        assert states(order) == ["left_unpaid", state]
    for refund_id, cents, state in (("a", 100, "captured"), ("b", total - 100, "refunded")):
        order = apply_event(order, "refund_owed", refund=refund_id, amount=cents, lines={})
        of = {second["payment_id"]: cents}
        order = apply_event(order, "refunded", refund=refund_id, amount=cents, of=of)
        assert states(order) == ["left_unpaid", state]


def test_an_attempt_that_pays_nothing_ends_as_its_money_has_gone(subtests: pytest.Subtests) -> None:
    for kinds, state in (
        (("authorized", "cancelled", "voided"), "voided"),
        (("authorized", "capture_refused"), "failed"),
        (("cancelled", "payment_closed"), "refunded"),
    ):
        with subtests.test(state):
            order, named = start(make_paper_order(make_items(2)))
            for kind in kinds:
                amount = to_minor_units(order.total)
                order = apply_event(order, kind, amount=amount, outcome="refunded", **named)
            assert states(order) == [state]


def test_a_transfer_is_captured_once_all_of_it_has_confirmed_the_order() -> None:
    paper = replace(make_paper_order(make_items(2)), payment_method="transfer")
    order, named = start(paper, "transfer")
    total = to_minor_units(order.total)
    for key, cents in (("a", 100), ("b", total - 100)):
        order = apply_event(order, "captured", amount=cents, key=key, **named)
        assert states(order) == ["started"], "the order is not confirmed yet"
    assert states(apply_event(order, "confirmed", **named)) == ["captured"]


def test_one_attempt_is_open_at_a_time() -> None:
    order = make_order()
    details = started_details(order.payment_attempts[0].payment_id, "testbank", order.total)
    with pytest.raises(TransitionRefused):
        operations.transition_order(
            order, Transition("payment_started", actor="shopper", at=now(), details=details)
        )


def test_an_order_of_former_days_is_paid_and_refunded_like_any_other() -> None:
    order = make_order()
    started = operations.start_payment(order, ORIGIN, now())
    (event,) = (each for each in order.events if each.kind == "payment_started")
    DELETE_EVENT.run(order_id=order.order_id, event_id=event.event_id)
    former = queries.get_order(order.order_id)
    assert former
    (attempt,) = former.payment_attempts
    assert (attempt.payment_id, attempt.state) == (started.payment_id, "started")
    paid = make_payment(former)
    assert (paid.payment, states(paid)) == ("paid", ["captured"])
    refunded = decide_refund(paid, to_minor_units(paid.total))
    assert (refunded.payment, states(refunded)) == ("refunded", ["refunded"])
    assert_order_consistent(order.order_id)


def test_a_second_attempt_of_former_days_is_known_by_its_number() -> None:
    order = apply_event(make_paper_order(make_items(2)), "payment_failed", cause="left_unpaid")
    assert states(order) == ["left_unpaid", "started"]
    assert [each.payment_id for each in order.payment_attempts] == [
        derive_payment_id(order.order_id, number) for number in range(2)
    ]


# ---- What an event leaves behind


def test_what_an_event_has_written_is_what_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def checked(order: Order, transition: Transition) -> tuple[Order, PendingEffect]:
        written, pending_effect = transitions.append_event(order, transition)
        assert written == queries.get_order(order.order_id), transition.kind
        seen.append(transition.kind)
        return written, pending_effect

    for module in (effects, refunds):
        monkeypatch.setattr(module, "append_event", checked)
    order = make_order(quantity=3)
    assert order == queries.get_order(order.order_id)
    order = make_payment(make_payment(order, cards.DECLINED))
    for warehouse, lines in order.units_to_pack.items():
        order = operations.pack_parcel(order, warehouse, lines, actor="Ann", now=now())
        order = operations.ship_parcel(order, "1", "DHL", "JD 1", actor="Ann", now=now())
    order = operations.mark_parcel_delivered(order, "1", actor="Ann", now=now())
    decide_refund(order, 100)
    assert seen == [
        "payment_failed",
        "payment_started",
        "authorized",
        "captured",
        "packed",
        "shipped",
        "delivered",
        "refund_owed",
        "refunded",
    ]


def test_the_events_of_one_effect_share_a_pending_effect_until_another_was_faster() -> None:
    order = make_order()
    with time_machine.travel(floor_to_minute(now()) + timedelta(seconds=10), tick=True):
        pending_effect = operations.record_pending_effects(order.order_id)
        with effects_under_way(pending_effect):
            assert ensure_pending_effects(order.order_id) is pending_effect
            assert ensure_pending_effects(make_order().order_id) is not pending_effect
            operations.transition_order(
                order, Transition("cancelled", actor="Ann", at=now()), with_effects=False
            )
            with pytest.raises(OrderChanged):
                transitions.append_event(order, Transition("expired", actor="system", at=now()))
            # Whoever was faster may have cleared it.
            assert ensure_pending_effects(order.order_id) is not pending_effect
        with effects_under_way(pending_effect), time_machine.travel(now() + timedelta(minutes=1)):
            assert ensure_pending_effects(order.order_id) is not pending_effect


def test_two_who_ask_the_gateway_at_once_tell_of_a_failure_once() -> None:
    order = make_order()
    started = operations.start_payment(order, ORIGIN, now())
    seen_by_other = queries.get_order(order.order_id)
    assert seen_by_other
    declined = make_payment(order, cards.DECLINED)
    again = operations.settle_order_payment(seen_by_other, started.payment_id, now())
    assert again == declined
    assert [each.kind for each in again.events].count("payment_failed") == 1

"""An order's money: authorized, captured in parts, voided, refunded in parts; by card, by transfer and on delivery."""

import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any
from unittest.mock import Mock
from uuid import UUID, uuid4

import pytest
from django.conf import settings
from django.utils.formats import date_format
from django.utils.timezone import localdate
from moneyed import Money

from demo.testbank import cards
from demo.testbank import operations as bank
from demo.testbank import queries as books
from demo.testbank.gateway import TestBank
from inventory import operations as inventory
from inventory.entities import WantedLine
from jobs.minutes import floor_to_minute
from jobs.rows import FIRST_RETRY_DELAY, collect_failed_rows
from orders import jobs, operations, queries
from orders.lifecycle import balance
from orders.lifecycle.entities import Order
from orders.lifecycle.errors import NotPayable, OrderChanged, SettlementUnstable, TransitionRefused
from orders.lifecycle.transitions import Transition
from orders.operations import payments, refunds
from orders.operations.pending_effects import DUE_EFFECTS
from payments import gateways
from payments.errors import GatewayUnavailable
from payments.gateways import CaptureRefused
from payments.methods import MANUAL_METHODS
from pricing.money import to_minor_units
from pricing.quotes import LineDiscounts, QuotedLine
from tests.accounts.mails import list_mails_to
from tests.clock import now
from tests.factories import make_draft, make_order, make_payment, make_product
from tests.orders.attempts import list_attempts
from tests.orders.consistency_checks import assert_order_consistent, assert_stock_adds_up
from tests.orders.crashes import kill_in
from tests.orders.reads import fresh
from tests.orders.sweeps import apply_pending_effects
from tests.payments.bank import euros
from tests.reads import existing
from tests.shards import SingleItemShard
from tests.threads import map_at_once
from web.days import end_after_days

ORIGIN = "http://testserver"


def kinds(order: Order) -> list[str]:
    """The kinds of its events, the oldest first."""
    return [event.kind for event in reversed(order.events)]


def get_bank_payment(order: Order) -> Any:
    (attempt,) = list_attempts(order.order_id)
    return existing(books.get_payment(attempt.payment_id))


def place_order_with(
    method: str, *, stock: int = 20, quantity: int = 1, price: str = "12.00"
) -> Order:
    """An order with another payment method than card, placed as the checkout places it."""
    product = make_product(price=price, stock=stock)
    draft = replace(make_draft((product, quantity)), payment_method=method)
    order = operations.place_order(draft, now())
    operations.start_payment(order, ORIGIN, now())
    return fresh(order)


def record_payment(order: Order, cents: int, key: str = "") -> tuple[Order, Money]:
    return operations.record_manual_payment(
        order, euros(cents), key=key or uuid4().hex, actor="Ann", now=now()
    )


def decide_refund(order: Order, cents: int) -> Order:
    """Decide a refund of this amount."""
    return operations.decide_refund(
        fresh(order), euros(cents), {}, "scratched", actor="Ann", now=now()
    )


def expire_order(order: Order) -> Order:
    return operations.transition_order(
        fresh(order), Transition("expired", actor="system", at=now())
    )


def sell_to_another(order: Order) -> None:
    item = queries.list_items(order)[0]
    inventory.reserve_stock(uuid4(), [WantedLine(1, item.product_id, item.variant_id, 1)], now())


def run_worker(order: Order, after: timedelta = timedelta(minutes=3)) -> Order:
    """Let the worker process the order."""
    jobs.recover_order(order.order_id, now() + after)
    return assert_order_consistent(order.order_id)


# ---- By card


def test_it_is_set_aside_confirmed_and_then_taken() -> None:
    order = make_order(paid=True)
    assert kinds(order) == ["placed", "payment_started", "authorized", "captured"]
    assert (order.payment, order.captured, to_minor_units(order.refunded)) == (
        "paid",
        order.total,
        0,
    )
    row = get_bank_payment(order)
    assert (row.state, row.captured, row.refunded) == ("captured", to_minor_units(order.total), 0)
    (attempt,) = list_attempts(order.order_id)
    assert attempt.state == "captured"
    assert assert_order_consistent(order.order_id).events[0].details == {
        "payment_id": str(attempt.payment_id),
        "amount": to_minor_units(order.total),
        "key": f"capture {attempt.payment_id}",
    }


def test_s100_the_bank_reports_to_the_shops_own_address_whatever_the_request_names() -> None:
    order = make_order()
    operations.start_payment(order, "http://127.0.0.1:4444", now())
    asked = get_bank_payment(fresh(order))
    assert asked.return_url.startswith("http://127.0.0.1:4444/"), "where the shopper's cookies are"
    assert asked.notice_url.startswith(f"{settings.PUBLIC_URL}/")


def test_the_bank_away_at_the_capture_keeps_the_order_and_the_worker_takes_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    order = make_order()
    with monkeypatch.context() as patch:
        patch.setattr(TestBank, "capture", Mock(side_effect=ConnectionError("no bank")))
        waiting = make_payment(order)
        assert (waiting.customer_label, waiting.payment) == ("Confirmed", "authorized")
        assert_order_consistent(order.order_id)
    assert run_worker(order).payment == "paid"


def test_killed_at_the_taking(subtests: pytest.Subtests) -> None:
    for module, name in ((TestBank, "capture"), (refunds, "append_event")):
        with subtests.test(name):
            order = make_order()
            kill_in(module, name, partial(make_payment, order))
            done = run_worker(order)
            assert (done.payment, kinds(done).count("captured")) == ("paid", 1)
            assert get_bank_payment(order).captured == to_minor_units(order.total)


def test_what_the_bank_will_not_pay_out_stops_the_order(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        order = make_payment(make_order(), cards.REFUSED_LATER)
    assert (order.state, order.payment, order.board_column) == ("on_hold", "failed", "on_hold")
    assert "does not pay out" in caplog.text
    assert [each.state for each in list_attempts(order.order_id)] == ["failed"]
    assert assert_order_consistent(order.order_id).history[0].kind == "capture_refused"
    cancelled = operations.transition_order(order, Transition("cancelled", actor="Ann", at=now()))
    assert assert_order_consistent(cancelled.order_id).payment == "voided"


def capture_elsewhere(order: Order, cents: int) -> None:
    """Capture a part of what was authorized, on the bank's own pages."""
    bank.capture_payment(get_bank_payment(order).payment_id, cents, "by hand")


def authorize_payment(order: Order) -> Order:
    """Confirm the order, with nothing captured yet."""
    started = operations.start_payment(order, ORIGIN, now())
    bank.submit_card(started.payment_id, cards.APPROVED, now())
    operations.settle_payment(order.order_id, started.payment_id, now(), with_effects=False)
    return fresh(order)


def test_a_part_that_was_taken_elsewhere_counts_once_and_the_rest_is_taken() -> None:
    order = authorize_payment(make_order(price="20.00"))
    capture_elsewhere(order, 600)
    done = run_worker(order)
    assert (done.payment, done.captured, to_minor_units(done.refunded)) == ("paid", done.total, 0)
    assert [event.details["amount"] for event in done.events if event.kind == "captured"] == [
        to_minor_units(done.total) - 600,
        600,
    ]
    assert (get_bank_payment(order).captured, get_bank_payment(order).refunded) == (
        to_minor_units(done.total),
        0,
    )


def test_a_part_that_was_taken_elsewhere_is_not_given_away_where_the_rest_cannot_be_had(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    order = authorize_payment(make_order(price="20.00"))
    capture_elsewhere(order, 600)
    monkeypatch.setattr(
        TestBank, "capture", Mock(side_effect=CaptureRefused("a payment is taken once"))
    )
    with caplog.at_level(logging.ERROR):
        done = run_worker(order)
    assert (done.state, done.payment, to_minor_units(done.captured)) == ("on_hold", "failed", 600)
    assert get_bank_payment(order).refunded == 0
    assert "does not pay out" in caplog.text
    operations.transition_order(done, Transition("cancelled", actor="Ann", at=now()))
    cancelled = assert_order_consistent(order.order_id)
    assert (
        cancelled.payment,
        to_minor_units(cancelled.refunded),
        get_bank_payment(order).refunded,
    ) == ("refunded", 600, 600)


def test_money_that_does_not_come_to_rest_is_put_off_and_all_else_is_done(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    order = authorize_payment(make_order())
    pending_effect = operations.record_pending_effects(order.order_id)

    def in_circles(order: Order) -> Any:
        return lambda order, now: order

    with monkeypatch.context() as patch:
        patch.setattr(refunds, "_next_step", in_circles)
        with pytest.raises(SettlementUnstable, match=order.number):
            operations.apply_effects(order.order_id, now())
        at = now()
        with collect_failed_rows() as failed:
            apply_pending_effects(
                [pending_effect.minute], at, SingleItemShard("orders", item_id=order.order_id)
            )
    assert "SettlementUnstable" in str(failed)
    later = DUE_EFFECTS.list_rows([floor_to_minute(at + FIRST_RETRY_DELAY)])
    assert order.order_id in {row.order_id for row in later}
    assert assert_stock_adds_up(queries.list_items(order)[0].variant_id)["committed"] == 1
    assert run_worker(order).payment == "paid"


def test_another_sum_goes_back_and_is_reported(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        order = make_payment(make_order(), cards.WRONG_AMOUNT)
    assert (order.state, order.payment) == ("pending_payment", "failed")
    assert "the gateway has" in caplog.text
    assert get_bank_payment(order).state == "voided"
    assert any(
        "not what this order costs" in event.note
        for event in assert_order_consistent(order.order_id).history
    )
    assert make_payment(order).customer_label == "Confirmed"


def test_a_code_is_asked_for_and_three_wrong_ones_are_enough() -> None:
    order = make_order()
    assert make_payment(order, cards.CHALLENGED).state == "pending_payment"
    payment_id = get_bank_payment(order).payment_id
    assert not bank.submit_code(payment_id, "000000", now())
    assert bank.submit_code(payment_id, cards.CODE, now())
    paid = existing(operations.settle_payment(order.order_id, payment_id, now()))
    assert paid.customer_label == "Confirmed"
    other = make_order()
    make_payment(other, cards.CHALLENGED)
    payment_id = get_bank_payment(other).payment_id
    for _ in range(cards.WRONG_CODES):
        assert not bank.submit_code(payment_id, "111111", now())
    assert not bank.submit_code(payment_id, cards.CODE, now())
    assert run_worker(other).customer_label == "Payment failed"


def test_a_bank_that_times_out_is_asked_again() -> None:
    order = make_order()
    started = operations.start_payment(order, ORIGIN, now())
    bank.submit_card(started.payment_id, cards.AWAY, now())
    with pytest.raises(GatewayUnavailable):
        operations.settle_payment(order.order_id, started.payment_id, now())
    assert assert_order_consistent(order.order_id).customer_label == "Waiting for payment"
    row = get_bank_payment(order)
    assert bank.change_payment(row, answers_at=now() - timedelta(seconds=1))
    assert run_worker(order).customer_label == "Confirmed"


def test_a_second_payment_is_voided_and_reported() -> None:
    order = make_order()
    first = operations.start_payment(order, ORIGIN, now())
    bank.submit_card(first.payment_id, cards.DECLINED, now())
    operations.settle_payment(order.order_id, first.payment_id, now())
    second = operations.start_payment(fresh(order), ORIGIN, now())
    # The bank changes its mind about the first, when the second is paid already.
    bank.submit_card(second.payment_id, cards.APPROVED, now())
    operations.settle_payment(order.order_id, second.payment_id, now())
    states = [each.state for each in list_attempts(order.order_id)]
    assert states == ["declined", "captured"]
    assert assert_order_consistent(order.order_id).payment_id == second.payment_id


@pytest.mark.parametrize("raced", [False, True])
def test_cancelled_while_it_is_being_taken_gives_it_back(
    monkeypatch: pytest.MonkeyPatch, raced: bool
) -> None:
    order = make_order()
    capture = TestBank.capture

    def cancelled_meanwhile(self: TestBank, reference: str, amount: Money, key: str) -> None:
        monkeypatch.setattr(TestBank, "capture", capture)
        if (
            raced
        ):  # by a process that saw it before the capture and voids it: nothing can be captured
            operations.transition_order(
                fresh(order), Transition("cancelled", actor="Ann", at=now())
            )
            capture(self, reference, amount, key)
        else:  # by a process that finds it captured, without an event
            capture(self, reference, amount, key)
            operations.transition_order(
                fresh(order), Transition("cancelled", actor="Ann", at=now())
            )

    monkeypatch.setattr(TestBank, "capture", cancelled_meanwhile)
    make_payment(order)
    done = run_worker(order)
    row = get_bank_payment(order)
    assert done.state == "cancelled"
    if raced:
        assert (done.payment, row.state, row.captured) == ("voided", "voided", 0)
    else:
        assert (done.payment, row.captured, row.refunded) == (
            "refunded",
            to_minor_units(order.total),
            to_minor_units(order.total),
        )


def test_a_payment_for_an_order_whose_person_is_erased_goes_back() -> None:
    order = make_order(stock=5)
    started = operations.start_payment(order, ORIGIN, now())
    expire_order(order)
    operations.anonymize_order(fresh(order), now())
    bank.submit_card(started.payment_id, cards.APPROVED, now())
    operations.settle_payment(order.order_id, started.payment_id, now())
    done = fresh(order)
    assert (done.state, get_bank_payment(order).state) == ("expired", "voided")
    assert [each.state for each in list_attempts(order.order_id)] == ["voided"]
    assert assert_stock_adds_up(queries.list_items(order)[0].variant_id)["available"] == 5


# ---- Refunds


def test_parts_go_back_until_nothing_is_left() -> None:
    order = make_order(price="20.00", paid=True)
    for cents in (500, 1, 999):
        order = decide_refund(order, cents)
    assert assert_order_consistent(order.order_id).payment == "partially_refunded"
    order = decide_refund(order, to_minor_units(order.total) - 1500)
    done = assert_order_consistent(order.order_id)
    assert (done.payment, done.refunded, get_bank_payment(order).refunded) == (
        "refunded",
        done.total,
        to_minor_units(done.total),
    )
    assert [each.state for each in list_attempts(order.order_id)] == ["refunded"]
    with pytest.raises(TransitionRefused):
        decide_refund(done, 1)


def test_never_more_than_was_taken() -> None:
    order = make_order(price="20.00", paid=True)
    with pytest.raises(TransitionRefused):
        decide_refund(order, to_minor_units(order.total) + 1)
    for cents in (0, -100):
        with pytest.raises(TransitionRefused):
            decide_refund(order, cents)
    unpaid = make_order()
    with pytest.raises(TransitionRefused):
        operations.transition_order(
            unpaid,
            Transition(
                "refund_owed",
                actor="Ann",
                at=now(),
                details={"refund": "1", "amount": 1, "lines": {}},
            ),
        )
    details = {"payment_id": str(order.payment_id), "amount": 1, "key": "another"}
    with pytest.raises(TransitionRefused):
        operations.transition_order(
            fresh(order), Transition("captured", actor="Ann", at=now(), details=details)
        )
    assert fresh(order) == order


def test_many_at_once_give_no_more_back_than_there_is() -> None:
    order = make_order(price="20.00", paid=True)
    half = to_minor_units(order.total) // 2 + 1

    def give(_: int) -> bool:
        try:
            decide_refund(order, half)
        except (TransitionRefused, OrderChanged):
            return False
        return True

    assert sum(map_at_once(give, range(6))) == 1
    done = run_worker(order)
    assert to_minor_units(done.refunded) == half == get_bank_payment(order).refunded


def test_owed_while_the_bank_is_away_goes_back_later_and_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    order = make_order(price="20.00", paid=True)
    with monkeypatch.context() as patch:
        patch.setattr(TestBank, "refund", Mock(side_effect=ConnectionError("no bank")))
        decide_refund(order, 500)
        order_with_refunds = decide_refund(order, 700)
        assert [to_minor_units(each.amount) for each in order_with_refunds.due_refunds] == [
            500,
            700,
        ]
        # What is due already cannot be decided again.
        with pytest.raises(TransitionRefused):
            decide_refund(order, to_minor_units(order.total) - 1199)
    for _ in range(2):
        done = run_worker(order)
    assert (to_minor_units(done.refunded), get_bank_payment(order).refunded) == (1200, 1200)


def test_killed_while_money_goes_back(subtests: pytest.Subtests) -> None:
    for module, name in ((TestBank, "refund"), (refunds, "record_refund")):
        with subtests.test(name):
            order = make_order(price="20.00", paid=True)
            kill_in(module, name, partial(decide_refund, order, to_minor_units(order.total)))
            done = run_worker(order)
            assert (done.payment, kinds(done).count("refunded")) == ("refunded", 1)
            assert get_bank_payment(order).refunded == to_minor_units(done.total)


def test_what_each_payment_has_is_known() -> None:
    order = place_order_with("transfer", price="20.00")
    first, _ = record_payment(order, 1000)
    paid, _ = record_payment(first, to_minor_units(order.total) - 1000)
    assert paid.payment_id
    assert balance.balance_by_payment(paid) == {paid.payment_id: paid.total}
    assert balance.refund_sources(paid, euros(300)) == {paid.payment_id: euros(300)}


# ---- By transfer


def test_x256_a_transfer_reserves_the_units_to_the_end_of_the_seventh_day() -> None:
    order = place_order_with("transfer", stock=3, quantity=2)
    assert (order.customer_label, order.payment) == ("Waiting for payment", "unpaid")
    assert order.pay_until == end_after_days(order.placed_at, 7)
    (mail,) = [each for each in list_mails_to(order.email) if order.number in each.text]
    assert (
        f"by {date_format(localdate(order.placed_at) + timedelta(days=7), 'l j F Y')}" in mail.text
    )
    (attempt,) = list_attempts(order.order_id)
    assert (attempt.gateway, attempt.reference, attempt.state) == (
        "transfer",
        order.number,
        "started",
    )
    done = run_worker(order, timedelta(days=6))
    assert done.state == "pending_payment"
    assert assert_stock_adds_up(queries.list_items(order)[0].variant_id)["reserved"] == 2


def test_money_received_confirms_it() -> None:
    order = place_order_with("transfer")
    paid, too_much = record_payment(order, to_minor_units(order.total))
    assert (paid.customer_label, paid.payment, to_minor_units(too_much)) == ("Confirmed", "paid", 0)
    done = assert_order_consistent(order.order_id)
    assert kinds(done) == ["placed", "payment_started", "captured", "confirmed"]
    assert [each.state for each in list_attempts(order.order_id)] == ["captured"]


def test_too_little_is_reported_and_the_rest_completes_it() -> None:
    order = place_order_with("transfer", price="20.00")
    part, _ = record_payment(order, 1000)
    assert (part.state, part.payment, to_minor_units(part.captured)) == (
        "pending_payment",
        "unpaid",
        1000,
    )
    assert "is still missing" in part.history[0].note
    assert_order_consistent(order.order_id)
    paid, _ = record_payment(part, to_minor_units(order.total) - 1000)
    assert (assert_order_consistent(order.order_id).customer_label, paid.payment) == (
        "Confirmed",
        "paid",
    )


def test_too_much_is_reported_and_is_no_part_of_the_order() -> None:
    order = place_order_with("transfer")
    paid, too_much = record_payment(order, to_minor_units(order.total) + 555)
    assert (paid.payment, paid.captured, to_minor_units(too_much)) == ("paid", order.total, 555)
    assert any(
        "more has arrived" in event.note
        for event in assert_order_consistent(order.order_id).history
    )
    with pytest.raises(NotPayable):
        record_payment(paid, 100)


def test_the_same_submit_twice_notes_it_once() -> None:
    order = place_order_with("transfer", price="20.00")
    part, _ = record_payment(order, 1000, key="one submit")
    again, _ = record_payment(part, 1000, key="one submit")
    assert to_minor_units(again.captured) == 1000
    assert kinds(again).count("captured") == 1


def test_a_transfer_that_never_comes_releases_the_units() -> None:
    order = place_order_with("transfer", stock=3, quantity=2)
    expire_order(order)
    assert assert_order_consistent(order.order_id).customer_label == "Not paid in time"
    assert assert_stock_adds_up(queries.list_items(order)[0].variant_id)["available"] == 3


def test_a_transfer_after_the_end_reserves_the_units_again() -> None:
    order = place_order_with("transfer", stock=3, quantity=2)
    late, _ = record_payment(expire_order(order), to_minor_units(order.total))
    assert (late.customer_label, late.payment) == ("Confirmed", "paid")
    assert kinds(assert_order_consistent(order.order_id)) == [
        "placed",
        "payment_started",
        "expired",
        "captured",
        "paid_late",
    ]


def test_a_transfer_after_the_units_were_sold_is_sent_back_by_hand() -> None:
    order = place_order_with("transfer", stock=1)
    ended = expire_order(order)
    sell_to_another(order)
    late, _ = record_payment(ended, to_minor_units(order.total))
    assert (late.state, late.payment) == ("expired", "paid")
    (refund,) = late.due_refunds
    assert refund.amount == order.total
    # Only staff can send this money back, however often the worker runs.
    assert run_worker(order).due_refunds == (refund,)
    done = operations.record_manual_refund(fresh(order), refund.refund_id, actor="Ann", now=now())
    assert (assert_order_consistent(order.order_id).payment, done.customer_label) == (
        "refunded",
        "Refunded",
    )
    with pytest.raises(NotPayable):
        operations.record_manual_refund(done, refund.refund_id, actor="Ann", now=now())


def test_part_of_a_transfer_after_the_end_is_owed_back() -> None:
    order = place_order_with("transfer", stock=3, price="20.00")
    late, _ = record_payment(expire_order(order), 700)
    assert (late.state, [to_minor_units(each.amount) for each in late.due_refunds]) == (
        "expired",
        [700],
    )
    assert_order_consistent(order.order_id)


def test_a_transfer_for_a_cancelled_order_is_owed_back() -> None:
    order = place_order_with("transfer")
    cancelled = operations.transition_order(
        order, Transition("cancelled", actor="shopper", at=now())
    )
    late, _ = record_payment(cancelled, to_minor_units(order.total))
    assert (late.state, [each.amount for each in late.due_refunds]) == ("cancelled", [order.total])


@pytest.mark.parametrize("late", [False, True])
def test_killed_after_the_money_was_noted(late: bool) -> None:
    order = place_order_with("transfer", stock=5)
    order = expire_order(order) if late else order
    kill_in(
        payments,
        "_settle_manual_payment",
        lambda: record_payment(order, to_minor_units(order.total)),
    )
    done = run_worker(order)
    assert (done.customer_label, done.payment) == ("Confirmed", "paid")
    assert [each.state for each in list_attempts(order.order_id)] == ["captured"]


# ---- Cash on delivery


def test_who_pays_on_delivery_has_ordered_at_once() -> None:
    order = place_order_with("cod", quantity=2, stock=5)
    assert (order.customer_label, order.payment, order.board_column) == (
        "Confirmed",
        "unpaid",
        "to_pack",
    )
    assert kinds(assert_order_consistent(order.order_id)) == [
        "placed",
        "payment_started",
        "confirmed",
    ]
    assert assert_stock_adds_up(queries.list_items(order)[0].variant_id)["committed"] == 2
    with pytest.raises(NotPayable):
        operations.start_payment(order, ORIGIN, now())


def test_submitting_twice_for_cash_on_delivery_orders_once() -> None:
    product = make_product(stock=5)
    order = operations.place_order(replace(make_draft((product, 1)), payment_method="cod"), now())

    def submit(_: int) -> str:
        try:
            return operations.start_payment(order, ORIGIN, now()).url
        except NotPayable:
            return ""

    assert any(map_at_once(submit, range(4)))
    assert kinds(assert_order_consistent(order.order_id)).count("confirmed") == 1


def test_the_money_on_delivery_is_noted_when_it_is_there() -> None:
    order = place_order_with("cod")
    for kind in ("packed", "shipped", "delivered"):
        order = operations.transition_order(order, Transition(kind, actor="Ann", at=now()))
    paid, _ = record_payment(order, to_minor_units(order.total))
    assert (paid.payment, assert_order_consistent(order.order_id).customer_label) == (
        "paid",
        "Delivered",
    )
    back = decide_refund(paid, 300)
    assert [to_minor_units(each.amount) for each in back.due_refunds] == [300]
    (refund,) = back.due_refunds
    done = operations.record_manual_refund(back, refund.refund_id, actor="Ann", now=now())
    assert assert_order_consistent(done.order_id).payment == "partially_refunded"


def test_the_second_parcel_is_paid_on_delivery_after_some_went_back() -> None:
    order = place_order_with("cod", price="20.00")
    first, _ = record_payment(order, 1000)
    owed = decide_refund(first, 200)
    (refund,) = owed.due_refunds
    assert owed.board_column == "payment_problem"
    back = operations.record_manual_refund(owed, refund.refund_id, actor="Ann", now=now())
    assert (back.payment, back.board_column) == ("partially_refunded", "to_pack")
    whole, _ = record_payment(back, to_minor_units(order.total) - 1000)
    done = assert_order_consistent(order.order_id)
    assert (whole.payment, done.captured, to_minor_units(done.refunded)) == (
        "partially_refunded",
        done.total,
        200,
    )


def test_a_cancelled_order_paid_on_delivery_owes_nothing() -> None:
    order = place_order_with("cod", stock=5)
    operations.transition_order(order, Transition("cancelled", actor="shopper", at=now()))
    assert assert_order_consistent(order.order_id).payment == "voided"
    assert assert_stock_adds_up(queries.list_items(order)[0].variant_id)["available"] == 5


def test_a_card_is_not_noted_by_hand() -> None:
    for order in (make_order(), make_order(paid=True)):
        with pytest.raises(NotPayable):
            record_payment(order, 100)


# ---- For nothing


class Gift:
    """A promotion with a discount of everything."""

    key = "gift"
    title = "A gift"

    def compute_line_discounts(
        self, lines: Sequence[QuotedLine], remaining: Sequence[int]
    ) -> LineDiscounts:
        """Return the whole remaining amount."""
        return LineDiscounts(tuple(remaining), has_free_delivery=True)


def test_what_costs_nothing_asks_no_bank() -> None:
    product = make_product(stock=3)
    order = operations.place_order(replace(make_draft((product, 2)), promotions=(Gift(),)), now())
    assert not to_minor_units(order.total)
    started = operations.start_payment(order, ORIGIN, now())
    assert started.url.endswith(f"/orders/{order.number}/")
    done = assert_order_consistent(order.order_id)
    assert (done.customer_label, done.payment, list_attempts(order.order_id)) == (
        "Confirmed",
        "paid",
        (),
    )
    operations.transition_order(done, Transition("cancelled", actor="Ann", at=now()))
    cancelled = assert_order_consistent(order.order_id)
    assert (cancelled.state, cancelled.due_refunds) == ("cancelled", ())


# ---- The bank's own side


def test_the_bank_does_each_thing_once_for_a_key() -> None:
    payment_id = uuid4()
    bank.open_payment(payment_id, "7KQF-3M9X", 3000, "EUR", "An order", "/back", "")
    with pytest.raises(CaptureRefused):
        bank.capture_payment(payment_id, 1000, "a")
    bank.submit_card(payment_id, cards.APPROVED, now())
    map_at_once(lambda _: bank.capture_payment(payment_id, 1000, "a"), range(5))
    bank.capture_payment(payment_id, 2000, "b")
    with pytest.raises(CaptureRefused):
        bank.capture_payment(payment_id, 1, "c")
    for _ in range(2):
        bank.refund_payment(payment_id, 500, "r1")
    bank.void_payment(payment_id)  # what was captured stays
    row = existing(books.get_payment(payment_id))
    assert (row.state, row.captured, row.refunded) == ("captured", 3000, 500)
    with pytest.raises(ValueError, match="more than is left"):
        bank.refund_payment(payment_id, 2501, "r2")
    with pytest.raises(LookupError):
        bank.capture_payment(uuid4(), 1, "k")


def test_each_way_to_pay_names_who_takes_the_money() -> None:
    assert [each.code for each in gateways.list_enabled_methods()] == ["card", "transfer", "cod"]
    assert [
        gateways.resolve_gateway_name(each.code) for each in gateways.list_enabled_methods()
    ] == ["testbank", "transfer", "cod"]
    assert set(gateways.METHODS) == {"card", *MANUAL_METHODS}


def test_events_carry_what_the_money_is_about() -> None:
    order = decide_refund(make_order(price="20.00", paid=True), 500)
    (decided,) = order.refunds
    done = next(event for event in order.events if event.kind == "refunded")
    assert done.details == {
        "refund": decided.refund_id,
        "amount": 500,
        "of": {str(order.payment_id): 500},
    }
    assert UUID(decided.refund_id)

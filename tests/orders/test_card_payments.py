"""Orders are paid by card: declined, twice, too late, never, and killed at every step."""

import logging
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4, uuid5

import pytest

from cart import operations as carts
from cart import queries as cart_queries
from cassandra_db import RAISE_UNKNOWN, conditional_write, statements
from cassandra_db import session as sessions
from demo.testbank import cards
from demo.testbank import operations as bank
from demo.testbank import queries as bank_queries
from inventory import operations as inventory
from inventory.entities import WantedLine
from mail import queries as mails
from orders import operations, queries
from orders.lifecycle.entities import Order
from orders.lifecycle.errors import NotPayable, TooManyPaymentAttempts
from orders.lifecycle.transitions import Transition
from orders.operations import effects, payments, refunds, transitions
from tests.cart.guests import get_active_cart
from tests.clock import now
from tests.factories import make_draft, make_order, make_payment, make_stocked_product
from tests.lost_answers import AnswerLosingSession
from tests.orders.attempts import ORIGIN, list_attempts, settle
from tests.orders.consistency_checks import all_free, assert_order_consistent, assert_stock_adds_up
from tests.orders.crashes import expire_claim, kill_in, run_worker_after, sweep_reservations
from tests.orders.reads import fresh, get_bank_state
from tests.reads import existing
from tests.threads import map_at_once

PAYING: list[tuple[Any, str]] = [
    (payments, "transition_order"),
    (transitions, "apply_batch"),
    (effects, "apply_order_effects"),
    (effects, "sync_stock"),
    (effects, "write_copies"),
    (effects, "remove_bought_items"),
    (effects, "queue_order_mails"),
    (effects, "clear_pending_effects"),
]


def test_killed_while_it_is_paid(subtests: pytest.Subtests) -> None:
    for module, name in PAYING:
        with subtests.test(f"{module.__name__}.{name}"):
            order = make_order(quantity=3, user_id=uuid4())
            started = operations.start_payment(order, ORIGIN, now())
            bank.submit_card(started.payment_id, cards.APPROVED, now())
            kill_in(module, name, settle(order, started.payment_id))
            run_worker_after(order.order_id, 4)
            done = assert_order_consistent(order.order_id)
            assert (done.state, done.payment) == ("confirmed", "paid")
            assert [event.kind for event in done.events].count("captured") == 1


def test_a_payment_confirms_the_order_and_empties_the_cart_of_what_was_bought() -> None:
    product = make_stocked_product(9)
    variant, owner_id = product.variants[0], uuid4()
    carts.add_line(owner_id, product, variant, 2, uuid4(), now())
    cart = existing(get_active_cart(owner_id))
    order = operations.place_order(
        make_draft((product, 2), owner_id=owner_id, cart_id=cart.cart_id), now()
    )
    # in another tab, while paying (S38)
    carts.add_line(owner_id, product, variant, 1, uuid4(), now())
    paid = make_payment(order)
    for _ in range(2):
        operations.apply_effects(order.order_id, now())
    assert assert_order_consistent(order.order_id).payment_id == paid.payment_id
    left = cart_queries.get_cart(cart.cart_id)
    assert [line.quantity for line in left.lines] == [1]


def test_the_confirmation_mail_is_written_once() -> None:
    order = make_order(paid=True)
    mail_id = uuid5(order.order_id, "confirmed")
    mail = existing(mails.get_mail(mail_id))
    assert mail.recipient == order.email
    assert order.number in mail.subject
    assert "/o/" in mail.text


def test_declined_then_paid() -> None:
    order = make_order(quantity=2)
    declined = make_payment(order, cards.DECLINED)
    assert (declined.customer_label, declined.board_column) == ("Payment failed", "payment_problem")
    assert_order_consistent(order.order_id)
    paid = make_payment(declined)
    assert (assert_order_consistent(order.order_id).customer_label, paid.board_column) == (
        "Confirmed",
        "to_pack",
    )
    assert [attempt.state for attempt in list_attempts(order.order_id)] == ["declined", "captured"]


def test_a_late_answer_leaves_the_order_waiting_until_it_is_there() -> None:
    order = make_order()
    waiting = make_payment(order, cards.LATE)
    assert waiting.customer_label == "Waiting for payment"
    (attempt,) = list_attempts(order.order_id)
    assert operations.settle_payment(order.order_id, attempt.payment_id, now()) == waiting
    row = existing(bank_queries.get_payment(attempt.payment_id))
    assert bank.change_payment(row, answers_at=now() - timedelta(seconds=1))
    run_worker_after(order.order_id, 4)
    assert assert_order_consistent(order.order_id).customer_label == "Confirmed"


def test_a_bank_that_never_answers_costs_the_order_and_nothing_else() -> None:
    order = make_order(quantity=3, stock=5)
    variant_id = queries.list_items(order)[0].variant_id
    assert make_payment(order, cards.SILENT).customer_label == "Waiting for payment"
    run_worker_after(order.order_id, 12)
    assert assert_order_consistent(order.order_id).customer_label == "Not paid in time"
    assert assert_stock_adds_up(variant_id) == all_free(5)


def test_two_submits_at_once_open_one_payment() -> None:
    order = make_order()
    started = map_at_once(lambda _: operations.start_payment(order, ORIGIN, now()), range(4))
    assert len({each.payment_id for each in started}) == 1
    assert len(list_attempts(order.order_id)) == 1


def test_everybody_asks_at_once_and_it_is_paid_once() -> None:
    order = make_order(quantity=2)
    started = operations.start_payment(order, ORIGIN, now())
    bank.submit_card(started.payment_id, cards.APPROVED, now())
    map_at_once(
        lambda _: operations.settle_payment(order.order_id, started.payment_id, now()), range(5)
    )
    assert [event.kind for event in assert_order_consistent(order.order_id).events].count(
        "captured"
    ) == 1


def test_a_payment_over_another_sum_does_not_count(caplog: pytest.LogCaptureFixture) -> None:
    order = make_order()
    started = operations.start_payment(order, ORIGIN, now())
    bank.submit_card(started.payment_id, cards.APPROVED, now())
    cheap = conditional_write(
        "test",
        "UPDATE testbank_payments SET amount = 1 WHERE payment_id = :payment_id IF state = 'authorized'",
    )
    assert cheap.apply(if_lost=RAISE_UNKNOWN, payment_id=started.payment_id)
    with caplog.at_level(logging.ERROR):
        operations.settle_payment(order.order_id, started.payment_id, now())
    assert "the gateway has" in caplog.text
    assert assert_order_consistent(order.order_id).customer_label == "Payment failed"


def test_another_orders_payment_does_not_count() -> None:
    unpaid, other = make_order(), make_order(paid=True)
    assert other.payment_id
    assert operations.settle_payment(unpaid.order_id, other.payment_id, now()) == unpaid


def test_a_payment_can_be_tried_only_so_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(payments, "MAX_ATTEMPTS", 2)
    order = make_order()
    for _ in range(2):
        order = make_payment(order, cards.DECLINED)
    with pytest.raises(TooManyPaymentAttempts):
        operations.start_payment(order, ORIGIN, now())


def test_what_is_paid_cannot_be_paid_again() -> None:
    with pytest.raises(NotPayable):
        operations.start_payment(make_order(paid=True), ORIGIN, now())


def test_trying_again_keeps_the_units_longer_but_not_for_ever() -> None:
    placed = now() - timedelta(minutes=9)
    order = make_order(now=placed)
    make_payment(order, cards.DECLINED, now=placed)
    operations.start_payment(fresh(order), ORIGIN, now())
    assert fresh(order).pay_until > now() + timedelta(minutes=9)
    old = make_order(now=now() - timedelta(minutes=55))
    make_payment(old, cards.DECLINED)
    operations.start_payment(fresh(old), ORIGIN, now())
    assert fresh(old).pay_until <= old.placed_at + payments.MAX_RESERVATION_DURATION


def test_an_unpaid_order_expires_and_gives_its_units_back_once() -> None:
    order = make_order(quantity=3, stock=5)
    variant_id = queries.list_items(order)[0].variant_id
    run_worker_after(order.order_id, 9)
    assert fresh(order).state == "pending_payment", "too early"
    for _ in range(2):
        run_worker_after(order.order_id, 12)
    assert assert_order_consistent(order.order_id).customer_label == "Not paid in time"
    assert assert_stock_adds_up(variant_id) == all_free(5)


def test_a_paid_order_survives_the_end_of_its_reservation() -> None:
    order = make_order(quantity=3, paid=True)
    run_worker_after(order.order_id, 12)
    assert assert_order_consistent(order.order_id).customer_label == "Confirmed"


def test_an_order_that_was_paid_unnoticed_does_not_expire() -> None:
    order = make_order()
    started = operations.start_payment(order, ORIGIN, now())
    bank.submit_card(started.payment_id, cards.APPROVED, now())
    sweep_reservations(order.order_id)
    assert assert_order_consistent(order.order_id).customer_label == "Confirmed"


def test_an_order_with_longer_to_pay_keeps_its_units_till_then() -> None:
    product = make_stocked_product(5)
    order = operations.place_order(make_draft((product, 2)), now(), now() + timedelta(hours=1))
    run_worker_after(order.order_id, 12)
    assert_order_consistent(order.order_id)
    run_worker_after(order.order_id, 62)
    assert assert_order_consistent(order.order_id).customer_label == "Not paid in time"


def test_a_payment_after_the_end_reserves_the_units_again() -> None:
    order = make_order(quantity=3, stock=5, user_id=uuid4())
    started = operations.start_payment(order, ORIGIN, now())
    operations.transition_order(fresh(order), Transition("expired", actor="system", at=now()))
    bank.submit_card(started.payment_id, cards.APPROVED, now())
    operations.settle_payment(order.order_id, started.payment_id, now())
    done = assert_order_consistent(order.order_id)
    assert (done.customer_label, done.payment) == ("Confirmed", "paid")
    assert assert_stock_adds_up(queries.list_items(done)[0].variant_id)["committed"] == 3
    run_worker_after(order.order_id, 12)
    assert_order_consistent(order.order_id)


def test_a_payment_after_the_end_goes_back_when_the_units_are_sold() -> None:
    order = make_order(quantity=3, stock=3)
    started = operations.start_payment(order, ORIGIN, now())
    operations.transition_order(fresh(order), Transition("expired", actor="system", at=now()))
    item = queries.list_items(order)[0]
    inventory.reserve_stock(uuid4(), [WantedLine(1, item.product_id, item.variant_id, 1)], now())
    bank.submit_card(started.payment_id, cards.APPROVED, now())
    operations.settle_payment(order.order_id, started.payment_id, now())
    done = assert_order_consistent(order.order_id)
    assert (done.customer_label, done.state) == ("Not paid in time", "expired")
    assert [attempt.state for attempt in list_attempts(order.order_id)] == ["voided"]
    assert get_bank_state(started.payment_id) == "voided"


def expire_and_pay(order: Order) -> UUID:
    """Let the bank approve a payment after the order has expired; return the payment's id."""
    started = operations.start_payment(order, ORIGIN, now())
    operations.transition_order(fresh(order), Transition("expired", actor="system", at=now()))
    bank.submit_card(started.payment_id, cards.APPROVED, now())
    return started.payment_id


def test_only_one_takes_the_units_of_a_late_payment() -> None:
    order = make_order(quantity=3, stock=5)
    payment_id = expire_and_pay(order)
    claim = existing(operations.claim_expired_order(fresh(order)))
    assert operations.settle_payment(order.order_id, payment_id, now()) == fresh(order)
    assert fresh(order).state == "expired"
    assert assert_stock_adds_up(queries.list_items(order)[0].variant_id)["reserved"] == 0
    operations.unclaim_expired_order(order, claim)
    map_at_once(lambda _: operations.settle_payment(order.order_id, payment_id, now()), range(3))
    assert assert_order_consistent(order.order_id).customer_label == "Confirmed"


def test_killed_while_a_late_payment_goes_back(subtests: pytest.Subtests) -> None:
    for module, name in (
        (payments, "transition_order"),
        (effects, "settle_captures_and_refunds"),
        (refunds, "append_event"),
    ):
        with subtests.test(name):
            order = make_order(quantity=1, stock=1)
            payment_id = expire_and_pay(order)
            item = queries.list_items(order)[0]
            inventory.reserve_stock(
                uuid4(), [WantedLine(1, item.product_id, item.variant_id, 1)], now()
            )
            kill_in(module, name, settle(order, payment_id))
            # a minute later
            expire_claim(order.order_id)
            run_worker_after(order.order_id, 4)
            assert assert_order_consistent(order.order_id).payment == "voided"
            assert get_bank_state(payment_id) == "voided"
            assert [attempt.state for attempt in list_attempts(order.order_id)] == ["voided"]


def test_killed_after_a_second_payment_went_back() -> None:
    order = make_order()
    started = operations.start_payment(order, ORIGIN, now())
    operations.transition_order(fresh(order), Transition("cancelled", actor="Ann", at=now()))
    bank.submit_card(started.payment_id, cards.APPROVED, now())
    kill_in(payments, "transition_as_planned", settle(order, started.payment_id))
    assert get_bank_state(started.payment_id) == "voided"
    run_worker_after(order.order_id, 4)
    assert [attempt.state for attempt in list_attempts(order.order_id)] == ["voided"]
    assert "nothing was charged" in assert_order_consistent(order.order_id).history[0].note


def test_the_reservations_of_an_order_are_committed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    draft = make_draft(*[(make_stocked_product(2), 1) for _ in range(4)])
    order = operations.place_order(draft, now())
    # As if the process had died before the effects.
    confirmed = Transition("confirmed", actor="system", at=now())
    operations.transition_order(order, confirmed, with_effects=False)
    whole = make_payment(operations.place_order(make_draft((make_stocked_product(2), 1)), now()))
    applied_to = []

    def settle(order_id: UUID, at: datetime) -> None:
        applied_to.append(order_id)

    monkeypatch.setattr(operations, "apply_effects", settle)
    sweep_reservations(order.order_id)
    sweep_reservations(whole.order_id)
    assert applied_to == [order.order_id]


def test_an_order_that_ends_while_an_answer_is_lost_is_not_said_to_be_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    order = operations.place_order(
        make_draft((make_stocked_product(1), 1)), now() - timedelta(minutes=5)
    )
    flaky, pauses = AnswerLosingSession(sessions.get_session()), []

    def cancelled(pause: float) -> None:
        pauses.append(pause)
        if len(pauses) == 1:
            operations.transition_order(
                order, Transition("cancelled", actor="Ann", at=now()), with_effects=False
            )

    monkeypatch.setattr(statements, "get_session", lambda: flaky)
    monkeypatch.setattr(statements, "sleep", cancelled)
    with pytest.raises(NotPayable):
        operations.extend_payment_deadline(order, now())
    assert fresh(order).state == "cancelled"

"""Orders under stress: repeated, raced, killed at every step, and paid at the wrong moment."""

import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any
from unittest.mock import patch
from uuid import UUID, uuid4, uuid5

import pytest
import time_machine
from moneyed import Money

from accounts.addresses import Address
from cart import operations as carts
from cart import queries as cart_queries
from cassandra_db import RAISE_UNKNOWN, conditional_write, current_microseconds, statements, write
from cassandra_db import session as sessions
from demo.testbank import cards
from demo.testbank import operations as bank
from demo.testbank import queries as bank_queries
from demo.testbank.gateway import TestBank
from inventory import operations as inventory
from inventory import queries as stock
from inventory.entities import WantedLine
from inventory.errors import OutOfStock
from inventory.operations import reservations
from inventory.operations.reservations import DUE_EXPIRIES
from jobs.leases import get_position, hold_lease
from jobs.minutes import floor_to_minute, minutes_between
from jobs.rows import FIRST_RETRY_DELAY, collect_failed_rows
from jobs.shards import Shard
from mail import queries as mails
from orders import board_queries, jobs, operations, queries
from orders.lifecycle.entities import Order
from orders.lifecycle.errors import (
    CheckoutAbandoned,
    CheckoutBusy,
    CheckoutUsed,
    NotPayable,
    OrderChanged,
    TooManyPaymentAttempts,
    TransitionRefused,
)
from orders.lifecycle.transitions import Transition
from orders.operations import copies, effects, payments, placement, refunds, transitions
from orders.operations.order_values import OrderDraft
from orders.operations.pending_effects import DUE_EFFECTS
from orders.operations.user_stats import DUE_USER_STATS
from payments.errors import GatewayMissing, GatewayUnavailable
from tests.factories import make_draft, make_order, make_payment, make_product, make_stock
from tests.lost_answers import AnswerLosingSession
from tests.orders.attempts import list_attempts
from tests.orders.consistency_checks import (
    assert_order_consistent,
    assert_stock_adds_up,
    get_stock_numbers,
)
from tests.orders.crashes import kill_in, run_worker
from tests.shards import ItemsShard, SingleItemShard

ORIGIN = "http://testserver"


def now() -> datetime:
    return datetime.now(UTC)


def make_stocked_product(units: int, price: str = "12.00") -> Any:
    product = make_product(price=price)
    make_stock(units, product_id=product.product_id, variant_id=product.variants[0].variant_id)
    return product


def run_worker_after(order_id: UUID, minutes: int) -> None:
    """Let the worker process, so many minutes from now, all that was due for an order by then."""
    run_worker(now() - timedelta(minutes=2), now() + timedelta(minutes=minutes), order_id)


def sweep_reservations(order_id: UUID) -> None:
    """Let the worker process only an order's reservations, after they have expired."""
    shard = SingleItemShard("holds", item_id=order_id)
    jobs.expire_reservations(
        minutes_between(now(), now() + timedelta(minutes=12)), now() + timedelta(minutes=13), shard
    )


def get_bank_state(payment_id: UUID) -> str:
    payment = bank_queries.get_payment(payment_id)
    assert payment
    return str(payment.state)


def fresh(order: Order) -> Order:
    found = queries.get_order(order.order_id)
    assert found
    return found


# ---- Placing


def test_an_order_is_written_with_all_its_copies() -> None:
    user_id = uuid4()
    order = make_order(quantity=2, user_id=user_id)
    assert_order_consistent(order.order_id)
    assert queries.get_order_by_number(order.number) == order
    assert (order.customer_label, order.board_column, order.version) == (
        "Waiting for payment",
        "to_pay",
        1,
    )
    assert [event.kind for event in order.events] == ["payment_started", "placed"]


def test_placing_again_returns_the_first_order() -> None:
    product = make_stocked_product(5)
    draft = make_draft((product, 2))
    first = operations.place_order(draft, now())
    assert operations.place_order(draft, now()) == first
    assert assert_stock_adds_up(product.variants[0].variant_id)["reserved"] == 2


def test_two_submits_at_once_make_one_order() -> None:
    product = make_stocked_product(20)
    draft = make_draft((product, 2))
    with ThreadPoolExecutor(6) as pool:
        placed = list(pool.map(lambda _: operations.place_order(draft, now()), range(6)))
    assert len({order.number for order in placed}) == 1
    assert assert_stock_adds_up(product.variants[0].variant_id)["reserved"] == 2
    assert_order_consistent(draft.order_id)


def test_the_same_checkout_with_another_content_is_refused() -> None:
    product = make_stocked_product(5)
    draft = make_draft((product, 2))
    first = operations.place_order(draft, now())
    other = make_draft((product, 3), fingerprint="something else")
    with pytest.raises(CheckoutUsed) as refused:
        operations.place_order(OrderDraft(**{**vars(other), "order_id": draft.order_id}), now())
    assert refused.value.order.number == first.number
    assert_order_consistent(draft.order_id)


def test_forty_units_and_ninety_checkouts_make_forty_orders() -> None:
    product = make_stocked_product(40)

    def buy(_: int) -> int:
        try:
            operations.place_order(make_draft((product, 1)), now())
        except OutOfStock:
            return 0
        return 1

    with ThreadPoolExecutor(12) as pool:
        assert sum(pool.map(buy, range(90))) == 40
    assert assert_stock_adds_up(product.variants[0].variant_id)["reserved"] == 40


def test_short_stock_places_nothing_and_the_same_checkout_can_try_again() -> None:
    product = make_stocked_product(2)
    draft = make_draft((product, 3))
    with pytest.raises(OutOfStock):
        operations.place_order(draft, now())
    assert queries.get_order(draft.order_id) is None
    make_stock(1, product_id=product.product_id, variant_id=product.variants[0].variant_id)
    assert_order_consistent(operations.place_order(draft, now()).order_id)


def test_a_claim_that_ran_out_places_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    product = make_stocked_product(5)
    draft = make_draft((product, 1))
    claim = placement.claim_order_number

    def slept(order_id: UUID) -> str:
        # As after half a minute: the claim's TTL has removed it.
        placement.UNCLAIM.apply(if_lost=RAISE_UNKNOWN, order_id=order_id, me=_claimant(order_id))
        return claim(order_id)

    monkeypatch.setattr(placement, "claim_order_number", slept)
    with pytest.raises(CheckoutBusy):
        operations.place_order(draft, now())
    assert queries.get_order(draft.order_id) is None


def test_who_was_delayed_after_the_claim_reserves_nothing_any_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    product = make_stocked_product(5)
    monkeypatch.setattr(placement, "WORK_SECONDS", -1)
    draft = make_draft((product, 1))
    with pytest.raises(CheckoutBusy):
        operations.place_order(draft, now())
    assert assert_stock_adds_up(product.variants[0].variant_id)["reserved"] == 0
    assert not queries.ITEMS.all(order_id=draft.order_id)


# ---- Crashes: killed before each write, then found by the worker

STEPS: list[tuple[Any, str]] = [
    (placement, "record_pending_effects"),
    (reservations, "record_reservation_expiries"),
    (reservations, "reserve_batched"),
    (placement, "write_batch"),
    (placement, "claim_order_number"),
    (placement, "apply_batch"),
    (placement, "apply_order_effects"),
    (effects, "write_copies"),
    (placement, "clear_pending_effects"),
]


def test_killed_while_placing(subtests: pytest.Subtests) -> None:
    for module, name in STEPS:
        product = make_stocked_product(5)
        variant_id = product.variants[0].variant_id
        draft = make_draft((product, 2))
        with subtests.test(name):
            kill_in(module, name, partial(operations.place_order, draft, now()))
            assert_stock_adds_up(variant_id)
            if (order := queries.get_order(draft.order_id)) is not None:
                # It was placed: the worker completes it, and it can be paid.
                run_worker_after(order.order_id, 2)
                assert_order_consistent(order.order_id)
                assert_order_consistent(make_payment(order).order_id)
                continue
            # The claim is over after half a minute; then the units are released, and the checkout can become no order.
            placement.UNCLAIM.apply(
                if_lost=RAISE_UNKNOWN, order_id=draft.order_id, me=_claimant(draft.order_id)
            )
            run_worker_after(draft.order_id, 12)
            assert assert_stock_adds_up(variant_id) == {
                "received": 5,
                "available": 5,
                "reserved": 0,
                "committed": 0,
                "shipped": 0,
            }
            assert not queries.ITEMS.all(order_id=draft.order_id)


def _claimant(order_id: UUID) -> UUID:
    outcome = placement.CLAIM_AGAIN.apply(
        if_lost=RAISE_UNKNOWN, order_id=order_id, me=uuid4(), seconds=1
    )
    return outcome.current.placing if outcome.current and outcome.current.placing else uuid4()


def test_killed_while_placing_and_sent_again(subtests: pytest.Subtests) -> None:
    for module, name in STEPS[3:6]:
        product = make_stocked_product(2)
        draft = make_draft((product, 2))
        with subtests.test(name):
            kill_in(module, name, partial(operations.place_order, draft, now()))
            placement.UNCLAIM.apply(
                if_lost=RAISE_UNKNOWN, order_id=draft.order_id, me=_claimant(draft.order_id)
            )
            # The last two units are reserved by the shopper's own first try.
            order = operations.place_order(draft, now())
            assert_order_consistent(order.order_id)
            assert assert_stock_adds_up(product.variants[0].variant_id)["reserved"] == 2


def test_a_checkout_that_was_given_up_becomes_no_order() -> None:
    product = make_stocked_product(5)
    draft = make_draft((product, 2))
    kill_in(placement, "claim_order_number", lambda: operations.place_order(draft, now()))
    assert not operations.mark_checkout_abandoned(draft.order_id), (
        "while it is being placed, it is not abandoned"
    )
    placement.UNCLAIM.apply(
        if_lost=RAISE_UNKNOWN, order_id=draft.order_id, me=_claimant(draft.order_id)
    )
    assert operations.mark_checkout_abandoned(draft.order_id)
    with pytest.raises(CheckoutAbandoned):
        operations.place_order(draft, now())


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


def settle(order: Order, payment_id: UUID) -> Callable[[], Any]:
    """Return what the shop does when the bank has decided on a payment."""
    return lambda: operations.settle_payment(order.order_id, payment_id, now())


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


# ---- Payment


def test_a_payment_confirms_the_order_and_empties_the_cart_of_what_was_bought() -> None:
    product = make_stocked_product(9)
    variant, owner_id = product.variants[0], uuid4()
    carts.add_line(owner_id, product, variant, 2, uuid4(), now())
    cart = cart_queries.get_active_cart(owner_id)
    assert cart
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
    mail = mails.get_mail(mail_id)
    assert mail
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
    row = bank_queries.get_payment(attempt.payment_id)
    assert row
    assert bank.change_payment(row, answers_at=now() - timedelta(seconds=1))
    run_worker_after(order.order_id, 4)
    assert assert_order_consistent(order.order_id).customer_label == "Confirmed"


def test_a_bank_that_never_answers_costs_the_order_and_nothing_else() -> None:
    order = make_order(quantity=3, stock=5)
    variant_id = queries.list_items(order)[0].variant_id
    assert make_payment(order, cards.SILENT).customer_label == "Waiting for payment"
    run_worker_after(order.order_id, 12)
    assert assert_order_consistent(order.order_id).customer_label == "Not paid in time"
    assert assert_stock_adds_up(variant_id) == {
        "received": 5,
        "available": 5,
        "reserved": 0,
        "committed": 0,
        "shipped": 0,
    }


def test_two_submits_at_once_open_one_payment() -> None:
    order = make_order()
    with ThreadPoolExecutor(4) as pool:
        started = list(pool.map(lambda _: operations.start_payment(order, ORIGIN, now()), range(4)))
    assert len({each.payment_id for each in started}) == 1
    assert len(list_attempts(order.order_id)) == 1


def test_everybody_asks_at_once_and_it_is_paid_once() -> None:
    order = make_order(quantity=2)
    started = operations.start_payment(order, ORIGIN, now())
    bank.submit_card(started.payment_id, cards.APPROVED, now())
    with ThreadPoolExecutor(5) as pool:
        list(
            pool.map(
                lambda _: operations.settle_payment(order.order_id, started.payment_id, now()),
                range(5),
            )
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


# ---- Not paid in time


def test_an_unpaid_order_expires_and_gives_its_units_back_once() -> None:
    order = make_order(quantity=3, stock=5)
    variant_id = queries.list_items(order)[0].variant_id
    run_worker_after(order.order_id, 9)
    assert fresh(order).state == "pending_payment", "too early"
    for _ in range(2):
        run_worker_after(order.order_id, 12)
    assert assert_order_consistent(order.order_id).customer_label == "Not paid in time"
    assert assert_stock_adds_up(variant_id) == {
        "received": 5,
        "available": 5,
        "reserved": 0,
        "committed": 0,
        "shipped": 0,
    }


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
    claim = operations.claim_expired_order(fresh(order))
    assert claim
    assert operations.settle_payment(order.order_id, payment_id, now()) == fresh(order)
    assert fresh(order).state == "expired"
    assert assert_stock_adds_up(queries.list_items(order)[0].variant_id)["reserved"] == 0
    operations.unclaim_expired_order(order, claim)
    with ThreadPoolExecutor(3) as pool:
        list(
            pool.map(
                lambda _: operations.settle_payment(order.order_id, payment_id, now()), range(3)
            )
        )
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
            placement.UNCLAIM.apply(
                if_lost=RAISE_UNKNOWN, order_id=order.order_id, me=_claimant(order.order_id)
            )
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


# ---- Staff


def test_the_whole_way_to_the_delivery() -> None:
    order = make_order(quantity=2, user_id=uuid4(), paid=True)
    for kind in ("packed", "shipped", "delivered", "closed"):
        order = operations.transition_order(order, Transition(kind, actor="Ann", at=now()))
        assert_order_consistent(order.order_id)
    assert assert_stock_adds_up(queries.list_items(order)[0].variant_id)["shipped"] == 2
    assert [event.kind for event in order.events] == [
        "closed",
        "delivered",
        "shipped",
        "packed",
        "captured",
        "authorized",
        "payment_started",
        "placed",
    ]
    assert "closed" not in {event.kind for event in order.history}


def test_of_two_at_once_one_wins_and_the_other_reads_who() -> None:
    order = make_order(paid=True)

    lost: list[tuple[str, OrderChanged]] = []

    def transition(who: str) -> str:
        try:
            operations.transition_order(
                order, Transition("held" if who == "Ann" else "packed", actor=who, at=now())
            )
        except OrderChanged as stale:
            lost.append((who, stale))
            return "lost"
        return "won"

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(transition, ["Ann", "Bob"])) == ["lost", "won"]
    ((loser, stale),) = lost
    assert stale.event
    assert stale.event.actor != loser
    assert stale.order.version == order.version + 1
    assert_order_consistent(order.order_id)


def test_a_cancelled_order_gives_back_the_units_and_the_money() -> None:
    order = make_order(quantity=2, stock=5, paid=True)
    assert order.payment_id
    operations.transition_order(
        order, Transition("cancelled", actor="Ann", at=now(), note="Changed their mind")
    )
    done = assert_order_consistent(order.order_id)
    assert done.customer_label == "Cancelled and refunded"
    assert get_bank_state(order.payment_id) == "refunded"
    assert assert_stock_adds_up(queries.list_items(done)[0].variant_id)["available"] == 5


def test_killed_while_cancelling(subtests: pytest.Subtests) -> None:
    for name in ("sync_stock", "settle_captures_and_refunds", "write_copies"):
        order = make_order(quantity=2, stock=5, paid=True)
        cancel = partial(
            operations.transition_order, order, Transition("cancelled", actor="Ann", at=now())
        )
        with subtests.test(name):
            kill_in(effects, name, cancel)
            run_worker_after(order.order_id, 3)
            assert (
                assert_order_consistent(order.order_id).customer_label == "Cancelled and refunded"
            )


def test_two_at_once_may_return_the_money(monkeypatch: pytest.MonkeyPatch) -> None:
    order = make_order(paid=True)
    refund = TestBank.refund
    raced: list[str] = []

    def refund_twice(self: TestBank, reference: str, amount: Money, key: str) -> None:
        refund(self, reference, amount, key)
        if not raced:
            raced.append(reference)
            operations.apply_effects(order.order_id, now())  # as the worker may

    monkeypatch.setattr(TestBank, "refund", refund_twice)
    assert (
        operations.transition_order(
            order, Transition("cancelled", actor="Ann", at=now())
        ).customer_label
        == "Cancelled and refunded"
    )
    assert raced
    assert [event.kind for event in assert_order_consistent(order.order_id).events].count(
        "refunded"
    ) == 1


def test_with_the_bank_away_the_rest_is_done_and_the_money_follows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    order = make_order(quantity=2, stock=5, paid=True)

    def away(*_: Any) -> None:
        raise ConnectionError("no bank")

    with monkeypatch.context() as patch:
        patch.setattr(TestBank, "refund", away)
        operations.transition_order(order, Transition("cancelled", actor="Ann", at=now()))
        assert assert_order_consistent(order.order_id).customer_label == "Cancelled"
        with pytest.raises(GatewayUnavailable):
            operations.apply_effects(order.order_id, now())
        run_worker_after(order.order_id, 2)  # still away: the worker tries again
    run_worker_after(order.order_id, 12)
    assert assert_order_consistent(order.order_id).customer_label == "Cancelled and refunded"


def test_with_another_bank_than_it_was_paid_at_all_but_the_money_is_done(
    subtests: pytest.Subtests,
) -> None:
    for error in (
        LookupError("no such payment"),
        ValueError("nothing was taken"),
        GatewayMissing(),
    ):
        with subtests.test(error=error):
            order = make_order(quantity=2, stock=5, paid=True)
            with patch.object(TestBank, "refund", side_effect=error):
                operations.transition_order(
                    order, Transition("cancelled", actor="Ann", at=now()), with_effects=False
                )
                with pytest.raises(GatewayUnavailable):
                    operations.apply_effects(order.order_id, now())
            assert assert_order_consistent(order.order_id).customer_label == "Cancelled", (
                "its copies and its stock are right"
            )
            assert get_stock_numbers(queries.list_items(order)[0].variant_id)["available"] == 5
            run_worker_after(order.order_id, 12)
            assert (
                assert_order_consistent(order.order_id).customer_label == "Cancelled and refunded"
            )


def test_an_order_whose_bank_is_no_longer_ours_expires_and_is_paid_late_if_it_answers(
    subtests: pytest.Subtests,
) -> None:
    for error in (LookupError("no such payment"), GatewayMissing()):
        with subtests.test(error=error):
            order = make_order(quantity=3, stock=5)
            started = operations.start_payment(order, ORIGIN, now())
            bank.submit_card(started.payment_id, cards.APPROVED, now())
            with patch.object(TestBank, "get_outcome", side_effect=error):
                run_worker_after(order.order_id, 12)
                assert assert_order_consistent(order.order_id).customer_label == "Not paid in time"
                assert get_stock_numbers(queries.list_items(order)[0].variant_id)["available"] == 5
            settle(order, started.payment_id)()
            assert assert_order_consistent(order.order_id).customer_label == "Confirmed"


def test_a_bank_that_only_does_not_answer_ends_no_order(monkeypatch: pytest.MonkeyPatch) -> None:
    order = make_order()
    started = operations.start_payment(order, ORIGIN, now())
    bank.submit_card(started.payment_id, cards.APPROVED, now())

    def away(*_: Any) -> None:
        raise ConnectionError("no bank")

    monkeypatch.setattr(TestBank, "get_outcome", away)
    run_worker_after(order.order_id, 12)
    assert fresh(order).state == "pending_payment"


def test_what_needs_no_bank_is_done_while_a_payment_cannot_be_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    order = make_order()
    operations.start_payment(order, ORIGIN, now())
    done: list[UUID] = []

    def away(*_: Any) -> None:
        raise ConnectionError("no bank")

    monkeypatch.setattr(TestBank, "get_outcome", away)
    monkeypatch.setattr(operations, "apply_effects", lambda order_id, _: done.append(order_id))
    with pytest.raises(GatewayUnavailable):
        jobs.recover_order(order.order_id, now())
    assert done == [order.order_id]


def test_what_is_not_allowed_is_refused() -> None:
    order = make_order(paid=True)
    with pytest.raises(TransitionRefused):
        operations.transition_order(order, Transition("delivered", actor="Ann", at=now()))
    assert fresh(order) == order


def test_a_note_makes_nobody_stale() -> None:
    order = make_order(paid=True)
    noted = operations.add_note(order, "Called; wants blue ribbon", actor="Ann", now=now())
    assert noted.events[0].note == "Called; wants blue ribbon"
    assert noted.history == order.history
    assert operations.transition_order(
        order, Transition("packed", actor="Bob", at=now())
    ).has_packed_parcel


def test_events_stand_in_order_whatever_the_clock_says() -> None:
    order = make_order(paid=True)
    order = operations.transition_order(
        order, Transition("packed", actor="Ann", at=order.placed_at - timedelta(hours=1))
    )
    assert order.events[0].kind == "packed"


# ---- The board


def test_a_late_copy_of_an_older_version_loses() -> None:
    order = make_order(paid=True)
    later = operations.transition_order(order, Transition("held", actor="Ann", at=now()))
    copies.write_copies(order)
    assert assert_order_consistent(later.order_id).board_column == "on_hold"


def test_the_board_pages_over_days_the_oldest_first() -> None:
    start = datetime(2019, 3, 1, 23, tzinfo=UTC)
    order_ids = [
        make_order(now=start + timedelta(hours=9 * n), paid=True).order_id for n in range(5)
    ]
    seen: list[UUID] = []
    after = ""
    while not set(order_ids) <= set(seen):
        entries, after = board_queries.list_board_orders("to_pack", after, limit=2)
        seen += [entry.order_id for entry in entries]
        assert after or set(order_ids) <= set(seen)
    assert [order_id for order_id in seen if order_id in order_ids] == order_ids
    assert len(seen) == len(set(seen))
    counts = board_queries.count_board_orders()
    assert counts["to_pack"].number >= 5


def test_counts_are_exact_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    make_order()
    before = board_queries.count_board_orders()["to_pay"]
    make_order()
    assert board_queries.count_board_orders()["to_pay"].number == before.number + 1
    monkeypatch.setattr(board_queries, "MAX_COUNTED", 1)
    assert str(board_queries.count_board_orders()["to_pay"]) == "1+"


def test_an_emptied_day_is_forgotten_later_and_a_fresh_one_stays() -> None:
    day = datetime(2018, 7, 1, 12, tzinfo=UTC)
    order = make_order(now=day, paid=True)
    operations.transition_order(order, Transition("packed", actor="Ann", at=day))
    assert day.date() in board_queries.list_board_days("to_pay")
    operations.delete_empty_days(now())
    assert day.date() in board_queries.list_board_days("to_pay"), (
        "it was written less than an hour ago"
    )
    old = current_microseconds() - 2 * 3600 * 10**6
    stale = write(
        "test",
        "INSERT INTO order_days_by_status (status, order_date) VALUES (:status, :day) USING TIMESTAMP :at",
    )
    stale.run(status="on_hold", day=day.date() - timedelta(days=9), at=old)
    assert operations.delete_empty_days(now()) >= 1
    assert day.date() - timedelta(days=9) not in board_queries.list_board_days("on_hold")
    assert day.date() in board_queries.list_board_days("to_pack")


# ---- The jobs


def test_the_jobs_remember_how_far_they_came(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jobs.due_rows.FIRST_LOOK_BACK", timedelta(minutes=20))
    order = make_order()
    moment = now()
    orders_shard, reservations_shard = (
        SingleItemShard(f"{name} {order.order_id}", item_id=order.order_id)
        for name in ("orders", "holds")
    )
    with hold_lease(orders_shard.job_name), hold_lease(reservations_shard.job_name):
        jobs.sweep_pending_effects(moment, orders_shard)
        jobs.sweep_expired_reservations(moment, reservations_shard)
        assert datetime.fromisoformat(get_position(orders_shard.job_name)) <= moment
        jobs.sweep_pending_effects(moment, orders_shard)
    assert fresh(order).customer_label == "Waiting for payment"
    assert jobs.sweep_empty_board_days(moment) is not None


def test_one_order_that_fails_does_not_keep_others_from_their_turn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    broken, other = make_order(), make_order()
    pending = [operations.record_pending_effects(order.order_id) for order in (broken, other)]
    seen = []

    def recover(order_id: UUID, at: datetime) -> None:
        seen.append(order_id)
        if order_id == broken.order_id:
            raise ValueError("broken")

    monkeypatch.setattr(jobs, "recover_order", recover)
    at = now()
    # Nor does it keep the worker at its minute: it is postponed.
    ours = ItemsShard("orders", item_ids=frozenset({broken.order_id, other.order_id}))
    minutes = [pending[0].minute, pending[1].minute]
    with collect_failed_rows():
        assert not jobs.apply_pending_effects(minutes, at, ours)
    assert {broken.order_id, other.order_id} == set(seen)
    remaining = {row.order_id for row in DUE_EFFECTS.list_rows(minutes)}
    assert not {broken.order_id, other.order_id} & remaining
    assert has_pending_effect(floor_to_minute(at + FIRST_RETRY_DELAY), broken.order_id)


def test_pending_effects_of_the_last_minute_are_left_alone() -> None:
    # A pending effect of 12:00:59 may be of an event that is written at 12:01:01.
    at, shard = now(), Shard(f"test {uuid4()}")
    for table in (DUE_EFFECTS, DUE_EXPIRIES, DUE_USER_STATS):
        with hold_lease(shard.job_name), table.sweep(at, shard) as sweep:
            assert sweep.partitions[-1] == floor_to_minute(at) - timedelta(minutes=2)


def test_the_reservations_of_an_order_are_committed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    order = make_payment(
        operations.place_order(make_draft(*[(make_stocked_product(2), 1) for _ in range(4)]), now())
    )
    applied_to = []

    def settle(order_id: UUID, at: datetime) -> None:
        applied_to.append(order_id)

    monkeypatch.setattr(operations, "apply_effects", settle)
    sweep_reservations(order.order_id)
    assert applied_to == [order.order_id]


def test_what_a_try_has_left_over_goes_back_when_the_order_expires() -> None:
    first, second = make_stocked_product(5), make_stocked_product(5)
    draft = make_draft((first, 2))
    kill_in(placement, "claim_order_number", lambda: operations.place_order(draft, now()))
    placement.UNCLAIM.apply(
        if_lost=RAISE_UNKNOWN, order_id=draft.order_id, me=_claimant(draft.order_id)
    )
    # The same checkout with its lines in another order: these are other reservations.
    again = make_draft((second, 1), (first, 2))
    order = operations.place_order(OrderDraft(**{**vars(again), "order_id": draft.order_id}), now())
    run_worker_after(order.order_id, 12)
    assert fresh(order).customer_label == "Not paid in time"
    for product in (first, second):
        assert assert_stock_adds_up(product.variants[0].variant_id)["available"] == 5
        # The pages have it, too.
        assert stock.get_stock(product.product_id)[product.variants[0].variant_id].available == 5


def test_dropping_pending_effects_spares_later_ones() -> None:
    order_id = uuid4()
    first = operations.record_pending_effects(order_id)
    second = operations.record_pending_effects(order_id, first.minute)
    operations.clear_pending_effects(first)
    assert has_pending_effect(second.minute, order_id)
    operations.clear_pending_effects(second)
    assert not has_pending_effect(second.minute, order_id)


def has_pending_effect(minute: datetime, order_id: UUID) -> bool:
    return order_id in {row.order_id for row in DUE_EFFECTS.list_rows([minute])}


def test_who_is_too_late_leaves_the_pending_effects_of_who_was_faster() -> None:
    order = make_order(paid=True)
    moment = now()
    faster = operations.transition_order(
        order, Transition("held", actor="Ann", at=moment), with_effects=False
    )
    with pytest.raises(OrderChanged):
        operations.transition_order(order, Transition("held", actor="Bob", at=moment))
    assert faster.state == "on_hold"
    assert any(
        has_pending_effect(floor_to_minute(moment + timedelta(minutes=n)), order.order_id)
        for n in (-1, 0, 1)
    )


def test_an_event_in_the_minute_of_a_later_look_spares_its_pending_effects() -> None:
    order_id = uuid4()
    with time_machine.travel(now() + timedelta(days=1), tick=False) as travel:
        later = operations.record_pending_effects(order_id, now() + timedelta(minutes=2))
        travel.move_to(later.minute + timedelta(seconds=59))
        event = operations.record_pending_effects(order_id)
        assert event.minute == later.minute
        operations.clear_pending_effects(event)
        assert has_pending_effect(later.minute, order_id)
        # The worker, which processes all orders, comes two minutes later, whenever in its minute it was due.
        travel.move_to(later.minute + timedelta(minutes=2))
        jobs.apply_pending_effects([later.minute], now())
        assert not has_pending_effect(later.minute, order_id)


def test_an_old_order_writes_no_mail_and_takes_nothing_from_a_cart() -> None:
    order = make_order(paid=True, now=now() - timedelta(days=30))
    assert mails.get_mail(uuid5(order.order_id, "confirmed")) is None
    assert_order_consistent(order.order_id)


def test_an_address_is_kept_as_it_was() -> None:
    order = make_order()
    assert order.delivery_address == Address("Ada Lovelace", "Torstraße 1", "10115", "Berlin", "DE")


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

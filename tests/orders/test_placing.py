"""Orders are placed once: repeated, raced, and killed at every step."""

from functools import partial
from typing import Any
from uuid import UUID, uuid4

import pytest

from inventory import queries as stock
from inventory.errors import OutOfStock
from inventory.operations import group_commit, reservations
from orders import operations, queries
from orders.lifecycle.errors import CheckoutAbandoned, CheckoutBusy, CheckoutUsed
from orders.operations import effects, placement
from orders.operations.order_values import OrderDraft
from tests.clock import now
from tests.factories import make_draft, make_order, make_payment, make_stock, make_stocked_product
from tests.orders.consistency_checks import all_free, assert_order_consistent, assert_stock_adds_up
from tests.orders.crashes import Killed, expire_claim, kill_in, run_worker_after
from tests.orders.reads import fresh
from tests.threads import map_at_once


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
    placed = map_at_once(lambda _: operations.place_order(draft, now()), range(6))
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

    assert sum(map_at_once(buy, range(90), 12)) == 40
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
        expire_claim(order_id)
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


STEPS: list[tuple[Any, str]] = [
    (placement, "_prepare_reservation"),
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
            expire_claim(draft.order_id)
            run_worker_after(draft.order_id, 12)
            assert assert_stock_adds_up(variant_id) == all_free(5)
            assert not queries.ITEMS.all(order_id=draft.order_id)


def test_killed_while_placing_and_sent_again(subtests: pytest.Subtests) -> None:
    for module, name in STEPS[3:6]:
        product = make_stocked_product(2)
        draft = make_draft((product, 2))
        with subtests.test(name):
            kill_in(module, name, partial(operations.place_order, draft, now()))
            expire_claim(draft.order_id)
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
    expire_claim(draft.order_id)
    assert operations.mark_checkout_abandoned(draft.order_id)
    with pytest.raises(CheckoutAbandoned):
        operations.place_order(draft, now())


def test_a_reservation_that_lands_after_its_checkout_was_given_up_is_released(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    product = make_stocked_product(5)
    draft, variant_id = make_draft((product, 2)), product.variants[0].variant_id
    delayed: list[tuple[Any, ...]] = []

    def hang(*args: Any) -> None:
        delayed.append(args)
        raise Killed

    with monkeypatch.context() as slow:
        slow.setattr(reservations, "reserve_batched", hang)
        with pytest.raises(Killed):
            operations.place_order(draft, now())
    expire_claim(draft.order_id)
    assert operations.abandon_checkout(draft.order_id)
    group_commit.reserve_batched(*delayed[0])
    assert assert_stock_adds_up(variant_id)["reserved"] == 2
    run_worker_after(draft.order_id, 12)
    assert assert_stock_adds_up(variant_id) == all_free(5)


def test_what_a_try_has_left_over_goes_back_when_the_order_expires() -> None:
    first, second = make_stocked_product(5), make_stocked_product(5)
    draft = make_draft((first, 2))
    kill_in(placement, "claim_order_number", lambda: operations.place_order(draft, now()))
    expire_claim(draft.order_id)
    # The same checkout with its lines in another order: these are other reservations.
    again = make_draft((second, 1), (first, 2))
    order = operations.place_order(OrderDraft(**{**vars(again), "order_id": draft.order_id}), now())
    run_worker_after(order.order_id, 12)
    assert fresh(order).customer_label == "Not paid in time"
    for product in (first, second):
        assert assert_stock_adds_up(product.variants[0].variant_id)["available"] == 5
        # The pages have it, too.
        assert stock.get_stock(product.product_id)[product.variants[0].variant_id].available == 5

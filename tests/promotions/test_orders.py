"""S37, I6, I9: orders with a code. A use is taken once, and given back once by what ends the order."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.test import Client
from moneyed import EUR, Money

from accounts.operations import change_email, register_user
from catalogue.entities import Product
from consistency.findings import Scope
from demo.testbank import cards
from demo.testbank import operations as bank
from inventory import queries as stock
from orders import operations, queries
from orders.lifecycle.entities import Order
from orders.lifecycle.transitions import Transition
from orders.operations import effects, placement
from orders.operations.order_values import OrderDraft
from promotions import queries as promotions
from promotions.errors import VoucherRefused
from promotions.operations import has_voucher_use, redeem_voucher, release_voucher
from promotions.queries import CODE, get_promotion
from promotions.rules import code_key
from tests.cart.test_voucher import filled, use
from tests.clock import now
from tests.consistency.test_check_consistency import found
from tests.factories import make_draft, make_payment, make_stocked_product
from tests.orders.crashes import expire_claim, kill_in, run_worker
from tests.orders.reads import fresh
from tests.promotions.test_vouchers import make_voucher, somebody, used
from tests.threads import map_at_once


def draft(
    code: str, *products: Product, user_id: UUID | None = None, email: str = ""
) -> OrderDraft:
    made = make_draft(
        *((product, 1) for product in products or (make_stocked_product(50, "33.33"),)),
        user_id=user_id,
        email=email or f"{uuid4().hex}@example.com",
    )
    terms = get_promotion(CODE, code_key(code))
    assert terms
    return replace(made, voucher=code, promotions=(terms,))


def placed(code: str, **more: Any) -> Order:
    return operations.place_order(draft(code, **more), now())


def swept(order_id: UUID, at: datetime) -> None:
    run_worker(now() - timedelta(minutes=3), at, order_id)


def test_i9_an_orders_lines_carry_its_discount() -> None:
    order = operations.place_order(
        draft(
            make_voucher(),
            make_stocked_product(50, "33.33"),
            make_stocked_product(50, "0.05"),
            make_stocked_product(50, "10.00"),
        ),
        now(),
    )
    items = queries.list_items(order)
    assert order.discount == Money("4.34", EUR)
    assert sum((item.discount for item in items), order.total * 0) == order.discount
    assert order.subtotal + order.delivery - order.discount == order.total
    assert sum((item.final_total for item in items), order.delivery) == order.total
    assert [(each.name, each.amount) for each in order.discounts] == [
        ("Ten per cent off", order.discount)
    ]
    assert items[0].units_total(1) == items[0].final_total


def test_s37_fifty_checkouts_with_one_use_left_make_one_order_with_it() -> None:
    code, product = make_voucher(uses=1), make_stocked_product(50, "33.33")
    drafts = [draft(code, product) for _ in range(50)]

    def place(each: OrderDraft) -> bool:
        try:
            operations.place_order(each, now())
        except VoucherRefused:
            return False
        return True

    won = map_at_once(place, drafts, 16)
    assert won.count(True) == 1
    assert used(code) == 1
    # The refused orders have nothing reserved.
    assert stock.get_stock(product.product_id)[product.variants[0].variant_id].available == 49


def test_s37_one_person_on_a_second_cart_reads_so() -> None:
    code, alice = make_voucher(limit_per_customer=1), uuid4()
    placed(code, user_id=alice)
    with pytest.raises(VoucherRefused, match="You’ve already used code"):
        placed(code, user_id=alice)
    placed(code, user_id=uuid4())
    placed(code, email="Bob@example.com")
    with pytest.raises(VoucherRefused):
        placed(code, email="bob@EXAMPLE.com ".strip())


def test_a_member_who_orders_as_a_guest_is_one_person() -> None:
    code, email = make_voucher(limit_per_customer=1), f"bob-{uuid4().hex}@example.com"
    bob = register_user(email, "Bob", "seven wet otters", now(), verified=True)
    placed(code, user_id=bob.user_id)
    with pytest.raises(VoucherRefused, match="You’ve already used code"):
        placed(code, email=bob.email.upper())
    placed(code, email=f"{uuid4().hex}@example.com")


def test_x255_a_guest_who_registers_has_used_a_code_and_gets_it_back_as_both() -> None:
    code, email = make_voucher(limit_per_customer=1), f"eve-{uuid4().hex}@example.com"
    guests = placed(code, email=email)
    eve = register_user(email, "Eve", "seven wet otters", now(), verified=True)
    with pytest.raises(VoucherRefused, match="You’ve already used code"):
        placed(code, user_id=eve.user_id, email=f"{uuid4().hex}@example.com")
    browser = Client()
    browser.force_login(eve)
    assert "You’ve already used code" in use(browser, filled(browser), code).content.decode()
    assert release_voucher(code, guests.order_id)
    members = placed(code, user_id=eve.user_id)
    change_email(eve, f"new-{email}", now())
    with pytest.raises(VoucherRefused, match="You’ve already used code"):
        placed(code, email=email)
    assert found(Scope(codes=frozenset({code_key(code)})), "I6") == []
    assert release_voucher(code, members.order_id)
    placed(code, email=email)
    placed(code, user_id=eve.user_id)


def test_placed_twice_is_one_use() -> None:
    code = make_voucher(uses=3)
    made = draft(code)
    orders = map_at_once(lambda _: operations.place_order(made, now()), range(4))
    assert len({each.number for each in orders}) == 1
    assert used(code) == 1


def test_s37_cancelled_gives_the_use_back_once() -> None:
    code, alice = make_voucher(uses=1, limit_per_customer=1), uuid4()
    order = make_payment(placed(code, user_id=alice))
    assert used(code) == 1
    cancelled = operations.transition_order(order, Transition("cancelled", actor="Ann", at=now()))
    assert used(code) == 0
    placed(code, user_id=alice)
    operations.apply_effects(cancelled.order_id, now())
    assert used(code) == 1


def test_s37_not_paid_in_time_gives_the_use_back() -> None:
    code = make_voucher(uses=1)
    order = placed(code)
    swept(order.order_id, now() + timedelta(minutes=12))
    assert used(code) == 0


def test_killed_between_the_use_and_the_order_gives_it_back() -> None:
    code = make_voucher(uses=1)
    made = draft(code)
    kill_in(placement, "claim_order_number", lambda: operations.place_order(made, now()))
    assert used(code) == 1
    expire_claim(made.order_id)
    swept(made.order_id, now() + timedelta(minutes=12))
    assert used(code) == 0


def test_tried_with_one_code_and_ordered_with_another_keeps_one_use() -> None:
    first, second = make_voucher(uses=1), make_voucher(uses=1)
    made = draft(first)
    kill_in(placement, "claim_order_number", lambda: operations.place_order(made, now()))
    expire_claim(made.order_id)
    order = make_payment(operations.place_order(replace(made, voucher=second), now()))
    assert (used(first), used(second)) == (1, 1)
    swept(made.order_id, now() + timedelta(minutes=12))
    assert (used(first), used(second)) == (0, 1)
    assert order.voucher == second


def _expired_and_paid(order: Order) -> UUID:
    started = operations.start_payment(order, "http://testserver", now())
    operations.transition_order(fresh(order), Transition("expired", actor="system", at=now()))
    bank.submit_card(started.payment_id, cards.APPROVED, now())
    return started.payment_id


def test_a_late_payment_takes_the_use_again() -> None:
    code = make_voucher(uses=1)
    order = placed(code)
    payment_id = _expired_and_paid(order)
    assert used(code) == 0
    operations.settle_payment(order.order_id, payment_id, now())
    assert fresh(order).customer_label == "Confirmed"
    assert used(code) == 1


def test_a_late_payment_whose_code_is_used_by_another_is_refunded() -> None:
    code = make_voucher(uses=1)
    order = placed(code)
    payment_id = _expired_and_paid(order)
    other = uuid4()
    redeem_voucher(code, somebody(), other, now())
    operations.settle_payment(order.order_id, payment_id, now())
    ended = fresh(order)
    assert (ended.state, ended.payment) == ("expired", "voided")
    assert used(code) == 1
    assert promotions.get_promotion(CODE, code_key(code))


def test_a_late_confirmation_of_a_payment_takes_nothing_from_an_order_that_was_paid_late() -> None:
    code = make_voucher(uses=1)
    order = placed(code)
    payment_id = _expired_and_paid(order)
    old = fresh(order)
    operations.settle_payment(order.order_id, payment_id, now())
    assert (old.state, fresh(order).customer_label, used(code)) == ("expired", "Confirmed", 1)
    effects._sync_voucher(old, now())
    assert used(code) == 1


def test_a_use_that_was_lost_under_way_is_taken_again() -> None:
    code = make_voucher(uses=1)
    order = make_payment(placed(code))
    release_voucher(code, order.order_id)
    assert used(code) == 0
    operations.apply_effects(order.order_id, now())
    assert used(code) == 1


def test_the_use_of_a_guests_order_stays_when_it_becomes_a_members(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    code, email = make_voucher(uses=1, limit_per_customer=1), f"{uuid4().hex}@example.com"
    order = placed(code, email=email)
    payment_id = _expired_and_paid(order)
    operations.settle_payment(order.order_id, payment_id, now())
    operations.claim_guest_orders(uuid4(), email)
    # Another customer would take the use the moment that it is given back.
    monkeypatch.setattr("promotions.operations.GIVE", None)
    operations.apply_effects(order.order_id, now())
    assert used(code) == 1
    assert has_voucher_use(code, order.order_id)

"""The checkout: how it is paid, its one id, what is sent twice or dies on the way, and the reservation."""

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any
from unittest.mock import patch
from uuid import uuid4, uuid5

import pytest
from django.conf import settings
from django.test import Client, override_settings
from django.urls import reverse
from lxml import html

from cart import operations as cart_operations
from cart.errors import CartChanged
from catalogue.entities import Product
from checkout import views
from checkout.checkouts import get_checkout
from inventory import operations as inventory
from jobs.minutes import floor_to_minute
from mail import queries as mails
from orders import jobs, operations, queries
from orders.lifecycle.entities import Order
from orders.lifecycle.errors import CartOrdered
from orders.operations import placement
from pricing.money import to_minor_units
from promotions.operations import PromotionTerms, create_promotion
from promotions.rules import PERCENTAGE
from tests.cart.shared_carts import make_person
from tests.checkout.shopper import (
    TYPED,
    Shopper,
    at,
    count_reserved,
    end_order,
    get_cart,
    get_owner_id,
    list_orders,
    make_email,
    make_member_shopper,
    open_tab,
    send_and_die,
    set_payment_deadline,
    text,
    token_in,
)
from tests.clock import now
from tests.factories import make_draft, make_payment, make_stocked_product, make_user
from tests.orders.attempts import list_attempts
from tests.orders.consistency_checks import assert_order_consistent
from tests.orders.crashes import expire_claim, kill_in, run_worker_after
from tests.shards import SingleItemShard
from tests.threads import map_at_once
from web.days import end_after_days

# ---- How it is paid


def test_cash_is_for_countries_where_the_carrier_takes_it(
    shopper: Shopper, subtests: pytest.Subtests
) -> None:
    for country, ways, status in (
        ("DE", ["card", "transfer", "cod"], 303),
        ("FR", ["card", "transfer"], 422),
    ):
        with subtests.test(country):
            page = shopper.ways(country=country, postal_code="75002")
            assert page.xpath("//input[@name='payment']/@value") == ways
            assert (
                shopper.typed(country=country, postal_code="75002", payment="cod").status_code
                == status
            )


def test_by_transfer_a_members_cart_is_free_at_once_and_the_units_stay_reserved_for_days(
    mug: Product,
) -> None:
    shopper = make_member_shopper(mug)
    email = shopper.details().xpath("//input[@name='email']/@value")[0]
    review = shopper.look(email=email, payment="transfer")
    assert "to confirm your order" not in text(review)
    assert text(review.get_element_by_id("pay")) == "Order and pay €16.90"
    assert "/orders/" in shopper.send(token_in(review), email=email, payment="transfer")["Location"]
    (order,) = list_orders(email)
    assert (order.state, order.payment_method) == ("pending_payment", "transfer")
    assert (order.is_email_confirmed, order.board_column) == (True, "to_pay")
    assert order.pay_until == end_after_days(order.placed_at, 7)
    shopper.add(mug)
    assert shopper.send(shopper.token(email=email), email=email).status_code == 303
    assert len(list_orders(email)) == 2
    assert count_reserved(mug) == 2


def test_cash_on_delivery_confirms_a_members_order_at_once(mug: Product) -> None:
    shopper = make_member_shopper(mug)
    email = shopper.details().xpath("//input[@name='email']/@value")[0]
    shopper.send(shopper.token(email=email, payment="cod"), email=email, payment="cod")
    (order,) = list_orders(email)
    assert (order.state, order.payment_method) == ("confirmed", "cod")
    assert "confirmed" in {event.kind for event in order.events}


def test_s57_a_member_who_types_another_address_has_to_confirm_it(mug: Product) -> None:
    shopper, email = make_member_shopper(mug), make_email()
    shopper.send(shopper.token(email=email, payment="cod"), email=email, payment="cod")
    (order,) = list_orders(email)
    assert order.needs_email_confirmation


def test_s57_what_a_voucher_pays_for_has_to_be_confirmed_and_the_review_says_so() -> None:
    shopper, email = Shopper((make_stocked_product(price="100.00"), 1)), make_email()
    code = f"T{uuid4().hex[:10].upper()}"
    create_promotion(PromotionTerms("All of it", PERCENTAGE, code, percent=Decimal(100)), now())
    cart_operations.set_voucher(get_owner_id(shopper), get_cart(shopper).cart_id, code, now())
    review = shopper.look(email=email)
    assert "Open it within 30 minutes to confirm your order, or it expires." in text(review)
    # Who has nothing to pay is asked for no payment.
    assert text(review.get_element_by_id("pay")) == "Place order"
    assert "Nothing to pay" in text(review)
    for words in ("payment partner", "agree to pay"):
        assert words not in text(review)
    shopper.send(token_in(review), email=email)
    (order,) = list_orders(email)
    assert (to_minor_units(order.total), order.needs_email_confirmation) == (0, True)
    assert "Nothing to pay" in text(
        shopper.client.get(reverse("orders:detail", args=[order.number]))
    )
    # Nor does a button keep its units for longer than that.
    later = order.placed_at + timedelta(minutes=29)
    assert operations.next_payment_deadline(order, later) is None


def test_whoever_was_signed_out_in_another_tab_is_told_so_and_goes_on_after_the_login(
    mug: Product,
) -> None:
    shopper = make_member_shopper(mug)
    email = shopper.details().xpath("//input[@name='email']/@value")[0]
    token = shopper.token(email=email)
    shopper.client.post(reverse("accounts:logout"))
    for step, more in (("review", {}), ("review", {"update": "yes"}), ("delivery", {})):
        sent = TYPED | {"checkout": token, "email": email} | more
        answer = shopper.client.post(at(step), sent, follow=True)
        assert answer.redirect_chain[0][0] == f"{reverse('accounts:login')}?next={at(step)}"
        assert "You were signed out, so nothing was ordered." in text(answer)
    assert list_orders(email) == []
    # A guest whose cart is empty reads that, and is asked for no login.
    guest = Shopper((mug, 1))
    token, key = guest.token(), mug.variants[0].variant_id
    cart_operations.remove_line(get_owner_id(guest), get_cart(guest).cart_id, str(key), now())
    answer = guest.client.post(at(), TYPED | {"checkout": token}, follow=True)
    assert answer.redirect_chain[0][0] == reverse("cart:show")
    assert "Your cart is empty now, so nothing was ordered." in text(answer)


def test_whoever_comes_back_from_paying_finds_nothing_bought_in_the_cart(shopper: Shopper) -> None:
    """The gateway's webhook was faster, and what follows from it is still under way."""
    order, bank_page = shopper.place(email=make_email())
    with patch(
        "orders.operations.effects.apply_order_effects", side_effect=lambda order, *_: order
    ):
        assert make_payment(order).state == "confirmed"
    assert get_cart(shopper).lines
    payment_id = bank_page.rstrip("/").rpartition("/")[2]
    shopper.client.get(reverse("orders:return_from_payment", args=[order.number, payment_id]))
    assert not get_cart(shopper).lines


# ---- One cart, one checkout, one order


def test_a_cart_has_one_checkout_until_it_changes(shopper: Shopper, mug: Product) -> None:
    first = get_checkout(get_cart(shopper), now())
    assert first == get_checkout(get_cart(shopper), now())
    shopper.add(mug)
    assert get_checkout(get_cart(shopper), now()).checkout_id != first.checkout_id


def test_s20_looking_at_a_checkout_writes_nothing(shopper: Shopper) -> None:
    before = get_cart(shopper)
    shopper.look()
    assert get_cart(shopper) == before
    assert queries.prefetch_order(get_checkout(before, now()).checkout_id).rows() == []


def submit_again(shopper: Shopper, token: str, email: str) -> Any:
    return shopper.send(token, email=email)


def submit_from_another_tab(shopper: Shopper, token: str, email: str) -> Any:
    other = open_tab(shopper)
    return other.send(token, email=email)


def submit_after_back(shopper: Shopper, token: str, email: str) -> Any:
    """The page before was shown once more; what it leads to is the same."""
    assert "/orders/" in shopper.client.get(at("review"))["Location"]
    return shopper.send(token, email=email)


@pytest.mark.parametrize("second", [submit_again, submit_from_another_tab, submit_after_back])
def test_whatever_is_sent_twice_is_one_order_and_one_charge(
    shopper: Shopper, mug: Product, second: Callable[[Shopper, str, str], Any]
) -> None:
    email = make_email()
    token = shopper.token(email=email)
    other = open_tab(shopper).token(email=email)
    first = shopper.send(token, email=email)
    for each in (token, other):
        assert second(shopper, each, email)["Location"] == first["Location"]
    (order,) = list_orders(email)
    assert len(list_attempts(order.order_id)) == 1
    shopper.pay(first["Location"])
    assert assert_order_consistent(order.order_id).customer_label == "Confirmed"
    assert count_reserved(mug) == 0


def test_an_answer_that_never_came_is_asked_for_again(shopper: Shopper, mug: Product) -> None:
    email = make_email()
    token = shopper.token(email=email)
    kill_in(views, "redirect_to_payment", lambda: shopper.send(token, email=email))
    # The order is there, and the browser does not know it: it knows its cart.
    assert settings.ORDER_COOKIE_NAME not in shopper.client.cookies
    page = shopper.client.get(at(), follow=True)
    (order,) = list_orders(email)
    assert order.number in text(page)
    assert "/testbank/" in shopper.send(token, email=email)["Location"]
    assert len(list_orders(email)) == 1
    assert count_reserved(mug) == 1


def test_a_first_try_that_died_is_found_again(shopper: Shopper, mug: Product) -> None:
    """Its units are reserved already: the second try is a second claim, and looks for them."""
    email = make_email()
    token = shopper.token(email=email)
    send_and_die(shopper, token, email)
    assert count_reserved(mug) == 1
    order_id = get_checkout(get_cart(shopper), now()).checkout_id
    expire_claim(order_id)
    assert shopper.send(token, email=email).status_code == 303
    assert count_reserved(mug) == 1
    assert assert_order_consistent(order_id).state == "pending_payment"


def test_another_body_under_the_same_id_is_refused(shopper: Shopper, mug: Product) -> None:
    email = make_email()
    token = shopper.token(email=email)
    assert shopper.send(token, email=email).status_code == 303
    refused = shopper.send(token, email=email, city="Potsdam")
    assert refused.status_code == 409
    assert "You’ve already placed this order" in text(refused)
    assert count_reserved(mug) == 1


@pytest.mark.parametrize("how", ["given up", "expired", "overdue"])
def test_what_ended_without_payment_can_be_ordered_again(
    shopper: Shopper, mug: Product, how: str
) -> None:
    email = make_email()
    numbers = set()
    for turn in range(3):
        token = shopper.token(email=email)
        assert shopper.send(token, email=email).status_code == 303
        order = next(
            each
            for each in list_orders(email)
            if each.state == "pending_payment" and each.pay_until > now()
        )
        numbers.add(order.number)
        assert len(numbers) == turn + 1
        assert count_reserved(mug) == 1
        end_order(shopper, order, how)
        # The earlier page is refused with a message, and can be submitted as it is shown then.
        refused = shopper.send(token, email=email)
        assert refused.status_code == 409
        assert f"Order {order.number} wasn’t paid" in text(refused)
    assert shopper.send(token_in(refused), email=email).status_code == 303
    assert len(list_orders(email)) == 4
    assert count_reserved(mug) == 1


def test_a_shared_cart_is_ordered_by_one_of_its_buyers(mug: Product) -> None:
    alice = make_user("Alice")
    cart_id = cart_operations.create_cart(alice.user_id, "Gifts", uuid4(), now())
    ben = make_person(alice, cart_id, "buyer")
    first, second = Shopper(client=Client()), Shopper(client=Client())
    first.client.force_login(alice)
    second.client.force_login(ben)
    first.add(mug)
    cart_operations.switch_cart(ben.user_id, cart_id, now())
    mine, theirs = {"email": alice.email}, {"email": ben.email, "name": "Ben B.", "city": "Köln"}
    token, other = first.token(**mine), second.token(**theirs)
    assert first.send(token, **mine).status_code == 303
    (order,) = list_orders(alice.email)
    for answer in (second.send(other, **theirs), second.client.get(at())):
        assert answer.status_code == 409
        page_text = text(answer)
        assert "This cart has already been ordered" in page_text
        assert f"until {order.pay_until:%H}:" in page_text or "until" in page_text
        for secret in (order.number, "Torstraße", alice.email):
            assert secret not in page_text
    assert not list_orders(ben.email)
    assert settings.ORDER_COOKIE_NAME not in second.client.cookies
    assert second.client.get(reverse("orders:detail", args=[order.number])).status_code == 404
    assert count_reserved(mug) == 1
    # Once it is given up, it is the other's turn.
    first.client.post(reverse("orders:give_up", args=[order.number]))
    assert second.send(second.token(**theirs), **theirs).status_code == 303
    assert count_reserved(mug) == 1


def test_s38_what_is_added_during_the_checkout_is_neither_free_nor_lost(
    shopper: Shopper, mug: Product
) -> None:
    plate, email = make_stocked_product(name="Plate"), make_email()
    token = shopper.token(email=email)
    shopper.add(plate)
    refused = shopper.send(token, email=email)
    assert "Plate was added to your cart, so it’s now in this order." in text(refused)
    shopper.add(mug)
    url = shopper.send(token_in(shopper.look(email=email)), email=email)["Location"]
    shopper.add(plate)  # while the bank is asked
    shopper.pay(url)
    (order,) = list_orders(email)
    assert sorted(item.name for item in queries.list_items(order)) == ["Mug", "Plate"]
    assert assert_order_consistent(order.order_id).item_count == 3
    assert [(line.name, line.quantity) for line in get_cart(shopper).lines] == [("Plate", 1)]


def test_s38_a_cart_that_changed_after_it_was_read_is_not_ordered(
    shopper: Shopper, mug: Product
) -> None:
    cart = get_cart(shopper)
    draft = replace(make_draft((mug, 1)), cart=cart, cart_id=cart.cart_id, order_id=uuid4())
    shopper.add(mug)
    with pytest.raises(CartChanged):
        operations.place_order(draft, now())
    assert queries.get_order(draft.order_id) is None
    assert count_reserved(mug) == 0


def test_two_checkouts_of_one_cart_become_one_order(shopper: Shopper, mug: Product) -> None:
    cart = get_cart(shopper)
    drafts = [
        replace(make_draft((mug, 1)), cart=cart, cart_id=cart.cart_id, order_id=uuid4())
        for _ in range(4)
    ]

    def place(draft: operations.OrderDraft) -> Order | Exception:
        try:
            return operations.place_order(draft, now())
        except (CartOrdered, CartChanged) as refused:
            return refused

    answers = map_at_once(place, drafts, 4)
    assert sum(isinstance(each, Order) for each in answers) == 1
    assert sum(isinstance(each, CartOrdered) for each in answers) == 3
    assert count_reserved(mug) == 1


def test_the_rest_of_a_checkout_that_died_is_in_nobodys_way(shopper: Shopper, mug: Product) -> None:
    """It claimed the cart and died; the cart has changed since, and its new checkout is placed."""
    email = make_email()
    token = shopper.token(email=email)
    kill_in(inventory.FirstReservation, "reserve", lambda: shopper.send(token, email=email))
    dead = get_cart(shopper).checkout_id
    assert dead
    expire_claim(dead)
    shopper.add(mug)
    assert shopper.send(shopper.token(email=email), email=email).status_code == 303
    (order,) = list_orders(email)
    assert order.order_id != dead
    assert jobs.expire_reservations([], now()) == set()
    assert count_reserved(mug) == 2


def test_a_checkout_that_died_before_it_had_the_cart_is_placed_later(
    shopper: Shopper, mug: Product
) -> None:
    """The cart keeps this checkout, so the worker must not have abandoned it."""
    email = make_email()
    token = shopper.token(email=email)
    checkout_id = get_checkout(get_cart(shopper), now()).checkout_id
    kill_in(cart_operations, "claim_cart_for_checkout", lambda: shopper.send(token, email=email))
    assert get_cart(shopper).checkout_id is None
    expire_claim(checkout_id)
    run_worker_after(checkout_id, 12)
    answer = shopper.send(shopper.token(email=email), email=email)
    assert answer.status_code == 303, text(answer)
    assert [order.order_id for order in list_orders(email)] == [checkout_id]
    assert count_reserved(mug) == 1


def test_x76_who_presses_again_after_a_crash_waits_on_a_page_that_asks_by_itself(
    shopper: Shopper, mug: Product, monkeypatch: pytest.MonkeyPatch
) -> None:
    email = make_email()
    token = shopper.token(email=email)
    send_and_die(shopper, token, email)
    dead = get_cart(shopper).checkout_id
    assert dead
    with monkeypatch.context() as hurry:
        hurry.setattr(placement, "WAIT_SECONDS", 0.0)
        waiting = shopper.send(token, email=email)
    assert (waiting.status_code, waiting["Retry-After"]) == (409, "3")
    page = html.fromstring(waiting.content)
    (form,) = page.forms
    assert (form.get("data-resend"), form.action) == ("3", reverse("checkout:review"))
    assert dict(form.form_values())["email"] == email, "all that was sent is sent again"
    assert len(page.xpath("//script[contains(@src, 'again')]")) == 1
    (refresh,) = page.xpath("//noscript/meta/@content")
    assert refresh == f"25; url={reverse('checkout:review')}"
    assert placement.CLAIM_SECONDS == placement.WORK_SECONDS + 5
    # The claim runs out, by its TTL.
    expire_claim(dead)
    sent = shopper.client.post(form.action, dict(form.form_values()))
    assert sent.status_code == 303
    assert [order.order_id for order in list_orders(email)] == [dead]


def test_a_dead_checkout_of_ones_own_is_not_in_the_way() -> None:
    """It died with the last unit and the only use of a voucher; the cart has changed since, and so has its checkout."""
    last, plate, email = make_stocked_product(1), make_stocked_product(name="Plate"), make_email()
    shopper = Shopper((last, 1))
    code = f"T{uuid4().hex[:10].upper()}"
    create_promotion(
        PromotionTerms("Ten off", PERCENTAGE, code, percent=Decimal(10), uses=1), now()
    )
    cart_operations.set_voucher(get_owner_id(shopper), get_cart(shopper).cart_id, code, now())
    kill_in(
        placement,
        "claim_order_number",
        lambda: shopper.send(shopper.token(email=email), email=email),
    )
    dead = get_cart(shopper).checkout_id
    assert dead
    expire_claim(dead)
    assert count_reserved(last) == 1
    shopper.add(plate)
    answer = shopper.send(shopper.token(email=email), email=email)
    assert answer.status_code == 303, text(answer)
    (order,) = list_orders(email)
    assert {item.name for item in queries.list_items(order)} == {"Mug", "Plate"}
    assert (order.order_id != dead, order.voucher) == (True, code)
    assert count_reserved(last) == 1
    assert_order_consistent(order.order_id)


def test_an_order_number_cannot_be_worked_out_from_its_cart(shopper: Shopper) -> None:
    """People who see a shared cart know its id and can guess its version."""
    cart = get_cart(shopper)
    checkout_id = get_checkout(cart, now()).checkout_id
    assert checkout_id == get_checkout(cart, now()).checkout_id
    assert checkout_id != uuid5(cart.cart_id, f"checkout {cart.version} 0")
    with override_settings(SECRET_KEY="another" * 10):
        assert get_checkout(cart, now()).checkout_id != checkout_id


def test_a_checkout_that_is_open_while_the_key_changes_is_one_order(
    shopper: Shopper, mug: Product
) -> None:
    email = make_email()
    token = shopper.token(email=email)
    with override_settings(SECRET_KEY="another" * 10, SECRET_KEY_FALLBACKS=[settings.SECRET_KEY]):
        refused = shopper.send(token, email=email)
        assert refused.status_code == 409
        assert shopper.send(token_in(refused), email=email).status_code == 303
    assert "/orders/" in shopper.send(token, email=email)["Location"]
    assert len(list_orders(email)) == 1
    assert count_reserved(mug) == 1


@pytest.mark.parametrize(("days", "emptied"), [(5, True), (40, False)])
def test_a_cart_is_emptied_and_its_shopper_notified_however_late(
    shopper: Shopper, mug: Product, days: int, emptied: bool
) -> None:
    """No worker ran for days. Once the cart has forgotten what it was emptied for, nothing is removed: it may be new."""
    cart, then = get_cart(shopper), now() - timedelta(days=days)
    draft = make_draft((mug, 1), cart_id=cart.cart_id)
    order = make_payment(operations.place_order(draft, then), now=then)
    operations.apply_effects(order.order_id, now())
    assert bool(get_cart(shopper).lines) is not emptied
    assert bool(mails.get_mail(uuid5(order.order_id, "confirmed"))) is emptied
    shopper.add(mug)
    operations.apply_effects(order.order_id, now())
    assert get_cart(shopper).lines
    imported = make_payment(operations.place_order(make_draft((mug, 1)), then), now=then)
    assert mails.get_mail(uuid5(imported.order_id, "confirmed")) is None


# ---- The reservation


def test_the_reservation_runs_down_and_a_submit_renews_it_for_an_hour_at_most(
    shopper: Shopper, mug: Product
) -> None:
    order, _ = shopper.place()
    at = reverse("orders:detail", args=[order.number])
    page = html.fromstring(shopper.client.get(at).content)
    assert re.search(r"for another \d+ minutes?( \d+ seconds?)?, until .*\d\d:\d\d", text(page))
    assert not page.xpath("//button[@id='extend-deadline']"), (
        "just placed, there is nothing to renew"
    )
    (polling,) = page.xpath("//a[@id='refresh']/@hx-trigger")
    assert "every 5s" in polling
    old = replace(
        order, placed_at=now() - timedelta(minutes=55), pay_until=now() + timedelta(minutes=1)
    )
    assert operations.next_payment_deadline(old, now()) == old.placed_at + timedelta(hours=1)
    assert (
        operations.next_payment_deadline(
            replace(old, placed_at=now() - timedelta(minutes=59)), now()
        )
        is None
    )
    set_payment_deadline(order, now() + timedelta(minutes=2))
    page = html.fromstring(shopper.client.get(at).content)
    assert re.search(r"for another [12] min", text(page)), text(
        page.get_element_by_id("order-status")
    )
    (extend_url,) = page.xpath("//form[.//button[@id='extend-deadline']]/@action")
    extended = text(shopper.client.post(extend_url, follow=True))
    assert "The reservation is extended." in extended
    assert extended.count("reserved") == 1
    fresh = queries.get_order(order.order_id)
    assert fresh
    assert fresh.pay_until > now() + timedelta(minutes=9)
    shard = SingleItemShard("holds", item_id=order.order_id)
    jobs.expire_reservations(
        [floor_to_minute(order.pay_until)], now() + timedelta(minutes=9), shard
    )
    assert count_reserved(mug) == 1
    assert shopper.client.get(extend_url)["Location"] == at


def test_a_reservation_that_is_over_is_not_renewed(shopper: Shopper) -> None:
    order, _ = shopper.place()
    set_payment_deadline(order, now() - timedelta(seconds=1))
    answer = shopper.client.post(
        reverse("orders:extend_deadline", args=[order.number]), follow=True
    )
    assert "isn’t waiting for payment" in text(answer)
    assert Client().post(reverse("orders:extend_deadline", args=[order.number])).status_code == 404


def test_the_reservation_is_not_in_the_way_of_its_own_shopper() -> None:
    last = make_stocked_product(1)
    shopper = Shopper((last, 1))
    token = shopper.token()
    order, url = shopper.place()
    assert shopper.send(token)["Location"] == url, (
        "what they have reserved themselves is not sold out for them"
    )
    shopper.client.post(reverse("orders:give_up", args=[order.number]))
    assert shopper.place()[0].number != order.number

"""The way to the bank and back."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from django.conf import settings
from django.core import signing
from django.test import Client
from django.test.utils import override_settings
from django.urls import reverse
from lxml import html

from catalogue.entities import Product
from demo.testbank import cards
from demo.testbank import operations as bank
from demo.testbank import queries as bank_queries
from orders import links
from tests.cart.guests import get_active_cart
from tests.checkout.shopper import HTMX, Shopper, count_reserved, text
from tests.factories import make_order
from tests.orders.attempts import list_attempts
from tests.orders.consistency_checks import assert_order_consistent
from tests.payments.bank import make_webhook


def test_a_guests_whole_visit(mug: Product) -> None:
    shopper = Shopper((mug, 2))
    order, url = shopper.place()
    answer = shopper.pay(url, "4242 4242-4242 4242")
    assert answer.redirect_chain[-1][0] == reverse("orders:detail", args=[order.number])
    assert assert_order_consistent(order.order_id).customer_label == "Confirmed"
    owner_id = UUID(
        hex=signing.loads(
            shopper.client.cookies[settings.CART_COOKIE_NAME].value, salt="cart.owner"
        )[0]
    )
    cart = get_active_cart(owner_id)
    assert cart
    assert not cart.lines


def test_the_bank_is_another_website(mug: Product) -> None:
    shopper = Shopper((mug, 1))
    _, url = shopper.place()
    page = html.fromstring(shopper.client.get(url).content)
    assert page.xpath("//title/text()") == ["Pay €16.90 · Test bank"]
    assert not page.xpath("//link[contains(@href, 'stoa.css')]")
    assert "4242 4242 4242 4242" in text(page)


def test_a_declined_card_can_be_tried_again(mug: Product) -> None:
    shopper = Shopper((mug, 1))
    order, url = shopper.place()
    answer = shopper.pay(url, cards.DECLINED)
    assert text(answer).count("reserved") == 1  # until when, is said once
    assert "Your payment didn’t go through. Nothing was charged." in text(answer)
    assert "Try again: pay €16.90" in text(answer)
    again = shopper.client.post(reverse("orders:pay", args=[order.number]))
    assert again.status_code == 303
    assert again["Location"] != url
    shopper.pay(again["Location"])
    assert assert_order_consistent(order.order_id).customer_label == "Confirmed"


def test_leaving_the_bank_charges_nothing(mug: Product) -> None:
    shopper = Shopper((mug, 1))
    order, url = shopper.place()
    back = shopper.client.post(url, {"leave": "yes"})
    assert "Nothing was charged" in text(shopper.client.get(back["Location"], follow=True))
    assert assert_order_consistent(order.order_id).payment == "failed"


def test_a_late_answer_is_waited_for(mug: Product) -> None:
    shopper = Shopper((mug, 1))
    order, url = shopper.place()
    answer = shopper.pay(url, cards.LATE)
    assert "waiting for your bank" in text(answer)
    (attempt,) = list_attempts(order.order_id)
    row = bank_queries.get_payment(attempt.payment_id)
    assert row
    assert bank.change_payment(row, answers_at=datetime.now(UTC) - timedelta(seconds=1))
    part = shopper.client.get(reverse("orders:detail", args=[order.number]), headers=HTMX)
    assert "Thank you, Ada Lovelace" in text(part)
    assert b"<html" not in part.content
    assert_order_consistent(order.order_id)


def test_a_wrong_card_number_is_explained(mug: Product, subtests: pytest.Subtests) -> None:
    shopper = Shopper((mug, 1))
    _, url = shopper.place()
    for card in ("", "12", "4242 4242 4242 424x", "٤٢٤٢٤٢٤٢٤٢٤٢٤٢٤٢"):
        with subtests.test(card=card):
            assert shopper.client.post(url, {"card": card}).status_code == 422


def test_coming_back_without_paying_believes_the_bank_alone(mug: Product) -> None:
    shopper = Shopper((mug, 1))
    order, url = shopper.place()
    payment_id = url.rstrip("/").rpartition("/")[2]
    back = reverse("orders:return_from_payment", args=[order.number, payment_id])
    answer = shopper.client.get(back + "?state=paid&outcome=paid&amount=0", follow=True)
    assert "Waiting for payment" in text(answer)
    assert assert_order_consistent(order.order_id).state == "pending_payment"


def test_too_late_to_pay_is_explained() -> None:
    order = make_order(now=datetime.now(UTC) - timedelta(minutes=30))
    visitor = Client()
    visitor.get(reverse("orders:track", args=[links.order_access_token(order.order_id)]))
    answer = visitor.post(reverse("orders:pay", args=[order.number]), follow=True)
    assert "time to pay for this order has run out" in text(answer)


def test_outside_a_demo_shop_nobody_orders_what_cannot_be_paid_and_the_test_bank_is_not_there(
    mug: Product, subtests: pytest.Subtests
) -> None:
    order, url = Shopper((mug, 1)).place()
    payment_id = UUID(url.rstrip("/").rpartition("/")[2])
    body, signature = make_webhook(payment_id, order.number)
    for named in ("", "none", "testbank"):
        with (
            subtests.test(named=named),
            override_settings(DEMO=False, PAYMENT_GATEWAY=named, PAYMENT_METHODS=["card"]),
        ):
            shopper = Shopper((mug, 1))
            page = shopper.send() if named == "testbank" else shopper.typed()
            assert page.status_code in (409, 422)
            assert "can’t take payments yet" in text(page)
            assert count_reserved(mug) == 1
            assert shopper.client.get(url).status_code == 404
            at = reverse("orders:payment_webhook", args=["testbank"])
            response = shopper.client.post(
                at, body, "application/json", headers={"X-Signature": signature}
            )
            assert response.status_code == 404

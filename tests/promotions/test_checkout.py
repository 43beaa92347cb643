"""A code from the cart to the bank: what was shown is charged, and a code that ends on the way is explained."""

from datetime import UTC, datetime
from uuid import uuid4

from django.urls import reverse
from lxml import html

from cart import queries as carts
from orders import queries
from pricing.templatetags.money import format_money
from promotions.operations import end_promotion, redeem_voucher, voucher_customer_keys
from promotions.queries import CODE
from promotions.rules import code_key
from tests.cart.test_voucher import make_code
from tests.checkout.shopper import Shopper, remembered, text, token_in
from tests.factories import make_stocked_product
from tests.promotions.test_vouchers import somebody, used


def with_code(code: str, price: str = "20.00") -> Shopper:
    shopper = Shopper((make_stocked_product(price=price), 1))
    cart = shopper.client.get(reverse("cart:show")).context["cart"]
    shopper.client.post(reverse("cart:voucher"), {"cart": cart.cart_id, "code": code})
    return shopper


def test_the_discount_that_was_shown_is_charged_and_the_code_goes_with_the_order() -> None:
    code = make_code(uses=5, limit_per_customer=1)
    shopper = with_code(code)
    page_text = text(shopper.look())
    for words in ("Ten per cent off", "−€2.00", "€22.90"):
        assert words in page_text
    order, url = shopper.place()
    assert (format_money(order.discount), format_money(order.total), order.voucher) == (
        "€2.00",
        "€22.90",
        code,
    )
    assert used(code) == 1
    shopper.pay(url)
    assert order.cart_id
    assert carts.get_cart(order.cart_id).voucher == ""
    paid = queries.get_order(order.order_id)
    assert paid
    assert paid.captured == order.total


def test_x66_a_code_that_ends_on_the_way_is_explained_and_nothing_is_charged() -> None:
    code = make_code()
    shopper = with_code(code)
    token = shopper.token()
    end_promotion(CODE, code_key(code), datetime.now(UTC))
    answer = shopper.send(token)
    page = html.fromstring(answer.content)
    assert answer.status_code == 409
    assert f"Code {code} is no longer valid." in text(page)
    assert "The total is now €24.90. It was €22.90 before." in text(page)
    assert used(code) == 0
    assert shopper.send(token_in(page)).status_code == 303
    order = queries.get_order(remembered(shopper.client)[0])
    assert order
    assert (format_money(order.total), order.voucher) == ("€24.90", "")


def test_s37_the_last_use_that_goes_to_another_on_the_way_is_explained() -> None:
    code = make_code(uses=1)
    shopper = with_code(code)
    token = shopper.token()
    redeem_voucher(code, somebody(), uuid4(), datetime.now(UTC))
    answer = shopper.send(token)
    assert answer.status_code == 409
    assert "has reached its usage limit" in text(answer)
    assert used(code) == 1


def test_s37_a_guest_is_known_by_the_address_at_the_checkout() -> None:
    code, email = make_code(limit_per_customer=1), f"{uuid4().hex}@example.com"
    redeem_voucher(code, voucher_customer_keys(None, email), uuid4(), datetime.now(UTC))
    shopper = with_code(code)
    page = shopper.look(email=email.upper())
    assert "You’ve already used code" in text(page)
    assert "€24.90" in text(page)

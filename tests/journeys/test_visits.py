"""Whole visits by the forms that stand in the pages, without a browser: what is shown is what is sent."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from uuid import uuid4

import pyotp
import pytest
from django.core import mail

from accounts.operations import register_user
from catalogue.entities import Product
from tests.factories import make_category, make_product, make_stock
from tests.journeys.visitor import Visitor, parse_forms
from tests.outbox import deliver_mail

TO = {
    "name": "Ann Other",
    "street": "12 Harbour Street",
    "postal_code": "10115",
    "city": "Berlin",
    "country": "DE",
}


@pytest.fixture
def mug() -> Product:
    """A mug in two sizes, ten of each in stock."""
    product = make_product(
        "Mug", options={"Size": ["Small", "Large"]}, category=make_category("Mugs")
    )
    for variant in product.variants:
        make_stock(10, product_id=product.product_id, variant_id=variant.variant_id)
    return product


@pytest.fixture
def email() -> Iterator[str]:
    """An address of this test's own, with an empty mailbox."""
    mail.outbox.clear()
    yield f"{uuid4().hex}@example.org"
    mail.outbox.clear()


def mailed(to: str, path: str) -> str:
    """Send what waits for an address and return the path of the first link of this kind that went there."""
    for message in deliver_mail(to):
        if found := re.search(rf"https?://[^/\s]+({re.escape(path)}\S+)", str(message.body)):
            return found[1]
    raise AssertionError(f"no link to {path} was mailed to {to}")


def fill_cart(visitor: Visitor, product: Product) -> None:
    for variant in product.variants[:2]:
        visitor.open(f"/p/{product.slug}/?variant={variant.sku}")
        visitor.submit("Add to cart", quantity="1")
        assert "was added to your cart" in visitor.text


def buy(visitor: Visitor, email: str, card: str = "4242 4242 4242 4242") -> str:
    """Check out what is in the cart, pay, and return the order's number."""
    visitor.open("/checkout/")
    visitor.submit("Continue to delivery and payment", email=email, **TO)
    visitor.submit("Review order", delivery="standard", payment="card")
    visitor.submit("Pay €")
    assert "Test bank" in visitor.text
    visitor.submit("Pay €", card=card)
    number = re.search(r"<h1>Order <span class=\"num\">([^<]+)", visitor.text)
    assert number
    return number[1]


def test_a_guest_buys_two_variants_and_follows_the_mailed_link(mug: Product, email: str) -> None:
    ann, friend = Visitor(), Visitor()
    ann.open("/")
    assert ann.status == 200
    fill_cart(ann, mug)
    ann.open("/cart/")
    assert ann.text.count("data-row") == 2
    number = buy(ann, email)
    assert "Thank you, Ann Other" in ann.text
    ann.open("/cart/")
    assert "Your cart is empty" in ann.text
    friend.open(f"/orders/{number}/")
    assert friend.status == 404
    friend.open(mailed(email, "/o/"))
    assert friend.address == f"/orders/{number}/"
    assert "12 Harbour Street" in friend.text


def test_a_guest_finds_the_order_by_its_number_and_address(mug: Product, email: str) -> None:
    ann, later = Visitor(), Visitor()
    fill_cart(ann, mug)
    number = buy(ann, email)
    later.open("/orders/")
    later.submit("Find order", number=number, email=f"nobody-{email}")
    assert "12 Harbour Street" not in later.text
    later.submit("Find order", number=number.lower().replace("-", " "), email=email.upper())
    assert later.address == f"/orders/{number}/"


def test_a_declined_card_is_explained_and_another_one_pays(mug: Product, email: str) -> None:
    ann = Visitor()
    fill_cart(ann, mug)
    number = buy(ann, email, "4000 0000 0000 0002")
    assert "Your payment didn’t go through. Nothing was charged." in ann.text
    ann.submit("Try again: pay €")
    ann.submit("Pay €", card="4242 4242 4242 4242")
    assert "Thank you" in ann.text
    assert number in ann.text


def test_somebody_registers_and_the_guests_cart_comes_along(mug: Product, email: str) -> None:
    bob = Visitor()
    fill_cart(bob, mug)
    bob.open("/account/register/")
    bob.submit("Send link", email=email)
    assert "Check your email" in bob.text
    bob.open(mailed(email, "/account/register/"))
    bob.submit("Create account", name="Bob", password="a long row of words")
    bob.open("/cart/")
    assert bob.text.count("data-row") == 2
    number = buy(bob, email)
    bob.open("/account/orders/")
    assert number in bob.text


def test_staff_move_an_order_on_and_the_shopper_sees_it(mug: Product, email: str) -> None:
    ann, staff = Visitor(), Visitor()
    fill_cart(ann, mug)
    number = buy(ann, email)
    login = f"{uuid4().hex}@example.org"
    register_user(login, "Sam", "pack and send it", datetime.now(UTC), role="warehouse")
    staff.open("/account/login/")
    staff.submit("Sign in", email=login, password="pack and send it")
    secret = re.search(r'class="num key">([A-Z2-7 ]+)<', staff.text)
    assert secret
    # The one submit whose answer is no redirect: it shows what is never shown again.
    codes_page = staff.client.post(
        staff.address, {"code": pyotp.TOTP(secret[1].replace(" ", "")).now()}
    )
    assert "Your recovery codes" in codes_page.content.decode()
    staff.open("/staff/")
    staff.submit("Search", q=number)
    assert staff.address.startswith(f"/staff/orders/{number}/")
    assert "Ship" in next(words for _, _, words in _moves(staff))
    staff.submit("Ship", tracking="RR123456785IE")
    ann.open(f"/orders/{number}/")
    assert "Your parcel is on its way" in ann.text


def _moves(staff: Visitor) -> list[tuple[str, str, str]]:
    return [
        button
        for form in parse_forms(staff.text)
        if form.action.endswith("/move/")
        for button in form.buttons
    ]

"""Two people, or eight requests, order one cart at the same moment, over real HTTP."""

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse
from lxml import html

from cart import operations as cart_operations
from catalogue.entities import Product
from orders import queries
from tests.cart.shared_carts import make_person
from tests.checkout.shopper import (
    TYPED,
    Shopper,
    at,
    count_reserved,
    get_cart,
    list_orders,
    make_email,
    token_in,
)
from tests.clock import now
from tests.environment import KEYSPACE
from tests.factories import make_stocked_product, make_user
from tests.journeys.connection import CSRF, ShopConnection
from tests.orders.attempts import list_attempts
from tests.orders.consistency_checks import assert_order_consistent
from tests.threads import call_at_once
from tests.web_server import serve_shop


@pytest.fixture(scope="module")
def shop(keyspace: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    assert keyspace == KEYSPACE
    with serve_shop(Path(tmp_path_factory.mktemp("checkout")), workers=2) as address:
        yield address


def open_connections(shop: str, shopper: Shopper, count: int) -> list[ShopConnection]:
    """Return connections of the shopper's browser."""
    cookies = {name: morsel.value for name, morsel in shopper.client.cookies.items()} | {
        "stoa_csrf": CSRF
    }
    return [ShopConnection(shop, dict(cookies)) for _ in range(count)]


def add_until_confirmed(connection: ShopConnection, product: Product) -> None:
    """Add one unit, and submit again until the shop confirms it."""
    idempotency_key = uuid4()
    for _ in range(20):
        if connection.add_to_cart(product.variants[0].sku, idempotency_key):
            return
    raise AssertionError(connection.status)


def review_form(token: str, email: str, **fields: str) -> dict[str, str]:
    return TYPED | {"checkout": token, "email": email} | fields


def test_eight_submits_at_once_are_one_order_and_one_charge(
    shop: str, shopper: Shopper, mug: Product
) -> None:
    email = make_email()
    sent = review_form(shopper.token(email=email), email)
    tabs = open_connections(shop, shopper, 8)
    assert set(
        call_at_once(
            *(lambda connection=connection: connection.post(at(), sent) for connection in tabs)
        )
    ) == {303}
    (order,) = list_orders(email)
    (attempt,) = list_attempts(order.order_id)
    # A submit that comes when the cart is the order's already is redirected there; the others to the one payment.
    locations = {connection.headers["Location"] for connection in tabs} - {
        reverse("orders:detail", args=[order.number])
    }
    assert locations == {reverse("testbank:pay", args=[attempt.payment_id])}
    assert count_reserved(mug) == 1
    assert_order_consistent(order.order_id)


def test_two_buyers_of_a_shared_cart_at_once_are_one_order(shop: str, mug: Product) -> None:
    alice = make_user("Alice")
    cart_id = cart_operations.create_cart(alice.user_id, "Gifts", uuid4(), now())
    ben = make_person(alice, cart_id, "buyer")
    submits = []
    for user in (alice, ben):
        shopper = Shopper(client=Client())
        shopper.client.force_login(user)
        if user is alice:
            shopper.add(mug)
        cart_operations.switch_cart(user.user_id, cart_id, now())
        sent = review_form(shopper.token(email=user.email), user.email)
        submits += [
            lambda line=line, sent=sent: line.post(at(), sent)
            for line in open_connections(shop, shopper, 3)
        ]
    statuses = call_at_once(*submits)
    assert sorted(statuses) == [303, 303, 303, 409, 409, 409]
    assert len([*list_orders(alice.email), *list_orders(ben.email)]) == 1
    assert count_reserved(mug) == 1


def test_s38_adds_at_the_moment_of_ordering_are_in_the_order_or_in_the_cart(
    shop: str, shopper: Shopper
) -> None:
    email, plate = make_email(), make_stocked_product(60, name="Plate")
    sent = review_form(shopper.token(email=email), email)
    tabs = open_connections(shop, shopper, 7)
    statuses = call_at_once(
        lambda: tabs[0].post(at(), sent),
        *(lambda line=line: add_until_confirmed(line, plate) for line in tabs[1:]),
    )
    for _ in range(20):
        if statuses[0] == 409:  # as the page says, one submit accepts it
            assert "Plate" in tabs[0].text or "has just changed" in tabs[0].text
            sent = review_form(token_in(html.fromstring(tabs[0].text)), email)
        if statuses[0] == 303:
            break
        statuses[0] = tabs[0].post(at(), sent)
    (order,) = list_orders(email)
    in_order = sum(item.quantity for item in queries.list_items(order) if item.name == "Plate")
    shopper.client.cookies[settings.ORDER_COOKIE_NAME] = tabs[0].cookies[settings.ORDER_COOKIE_NAME]
    shopper.pay(tabs[0].headers["Location"])
    assert assert_order_consistent(order.order_id).customer_label == "Confirmed"
    left = {line.name: line.quantity for line in get_cart(shopper).lines}
    assert "Mug" not in left
    assert in_order + left.get("Plate", 0) == 6

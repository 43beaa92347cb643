"""What was looked at lately: in a cookie of the browser, and nowhere else."""

import re
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse

from catalogue.entities import Product
from storefront.recently_viewed import MAX_VIEWED, VIEWED_SECONDS
from tests.factories import make_product

HTMX = {"HX-Request": "true"}


@pytest.fixture
def things() -> list[Product]:
    return [make_product(f"Thing {place}") for place in range(3)]


def look(client: Client, product: Product) -> str:
    response = client.get(reverse("product", args=[product.slug]))
    assert response.status_code == 200
    return response.content.decode()


def strip(client: Client, query: str = "", headers: Any = HTMX) -> str:
    return client.get(reverse("viewed") + query, headers=headers).content.decode()


def names(text: str) -> list[str]:
    return re.findall(r'class="strip__name">([^<]+)<', text)


def test_the_last_looked_at_stands_first_and_each_once(
    client: Client, things: list[Product]
) -> None:
    for place in (0, 1, 2, 0):
        look(client, things[place])
    assert names(strip(client)) == ["Thing 0", "Thing 2", "Thing 1"]
    assert names(strip(client, f"?without={things[0].product_id}")) == ["Thing 2", "Thing 1"]
    assert names(strip(client, headers=None)) == ["Thing 0", "Thing 2", "Thing 1"]


def test_twelve_are_kept(client: Client) -> None:
    for place in range(MAX_VIEWED + 2):
        look(client, make_product(f"Thing {place}"))
    assert names(strip(client)) == [f"Thing {place}" for place in range(MAX_VIEWED + 1, 1, -1)]


def test_s20_looking_writes_nothing_but_a_cookie_that_no_script_reads(
    client: Client, things: list[Product]
) -> None:
    response = client.get(reverse("product", args=[things[0].slug]))
    cookie = response.cookies[settings.VIEWED_COOKIE_NAME]
    assert cookie["httponly"]
    assert cookie["samesite"] == "Lax"
    assert cookie["max-age"] == VIEWED_SECONDS
    assert (
        client.get(reverse("product", args=[things[0].slug])).cookies.get(
            settings.VIEWED_COOKIE_NAME
        )
        is None
    )
    assert len(client.cookies[settings.VIEWED_COOKIE_NAME].value) < 500


def test_the_strip_comes_later_and_its_page_works_without_a_script(
    client: Client, things: list[Product]
) -> None:
    assert "viewed-strip" not in look(client, things[0])
    text = look(client, things[1])
    assert re.search(
        r'<a class="link" href="/viewed/" hx-get="/viewed/\?without=[0-9a-f-]+" hx-trigger="revealed"',
        text,
    )
    assert "Thing 0" not in text
    assert "rounds=1" in client.get(reverse("viewed"), headers=HTMX)["X-Cassandra"]
    assert "viewed-strip" in client.get(reverse("cart:show")).content.decode()


def test_it_can_be_forgotten(client: Client, things: list[Product]) -> None:
    look(client, things[0])
    assert client.get(reverse("viewed_forget")).status_code == 302
    assert names(strip(client)) == ["Thing 0"]
    assert client.post(reverse("viewed_forget")).status_code == 303
    assert "No recently viewed products" in strip(client, headers=None)


def test_a_cookie_that_is_not_ours_counts_as_none(things: list[Product]) -> None:
    cookies = ["x", "a:b:c", "WyJ4Il0:1xUlfT:IGoTIUi7ot1TW8GQYNmxpit_QyIdJMtdFFYuEngATAA"]
    shown = {}
    for cookie in cookies:
        client = Client()
        client.cookies[settings.VIEWED_COOKIE_NAME] = cookie
        before = names(strip(client))
        look(client, things[0])
        shown[cookie] = (before, names(strip(client)))
    assert shown == dict.fromkeys(cookies, ([], ["Thing 0"]))


def test_the_privacy_page_mentions_it(client: Client) -> None:
    text = client.get(reverse("privacy")).content.decode()
    assert "Recently viewed" in text
    assert "Country" in text

"""Back-in-stock subscriptions: members with one click, guests by a mailed link."""

import re
from datetime import UTC, datetime, timedelta
from itertools import product as combinations
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from cassandra_db import read
from catalogue.entities import Product
from inventory.operations import copy_stock, receive_stock
from stock_alerts import queries
from stock_alerts.jobs import send_back_in_stock_mails
from stock_alerts.operations import notify_subscribers, subscribe, unsubscribe
from stock_alerts.queries import Subscription, unsubscribe_token
from tests.accounts.mails import find_link, list_mails_to
from tests.factories import make_product, make_stock, make_user
from tests.shards import SingleItemShard
from tests.threads import map_at_once

HTMX = {"HX-Request": "true"}


def sold_out(name: str = "Lamp") -> Product:
    product = make_product(name)
    receive_stock(
        product.product_id,
        product.variants[0].variant_id,
        "berlin",
        1,
        3,
        uuid4(),
        datetime.now(UTC),
    )
    # The stock is not copied yet: on the pages it is sold out.
    return product


def address() -> str:
    return f"{uuid4().hex}@example.org"


def ask(client: Client, product: Product, headers: Any = None, **fields: str) -> Any:
    return client.post(
        reverse("stock_alerts:subscribe"),
        {"variant": product.variants[0].sku} | fields,
        headers=headers,
    )


def make_subscription(product: Product, email: str) -> Subscription:
    return Subscription(product.product_id, product.variants[0].variant_id, email)


def subscribed_emails(product: Product) -> set[str]:
    return {row.email for row in queries.SUBSCRIBERS.all(variant_id=product.variants[0].variant_id)}


def come_back(product: Product) -> None:
    copy_stock(product.product_id)


def notify(product: Product, now: datetime) -> int:
    """Let the worker notify the subscribers of this product alone."""
    return notify_subscribers(
        now, SingleItemShard("back in stock", item_id=product.variants[0].variant_id)
    )


def test_a_sold_out_variant_offers_a_mail_and_one_in_stock_does_not(client: Client) -> None:
    lamp, mug = sold_out(), make_product("Mug")
    make_stock(5, product_id=mug.product_id, variant_id=mug.variants[0].variant_id)
    text = client.get(reverse("product", args=[lamp.slug])).content.decode()
    assert "Notify me when it’s back" in text
    assert 'autocomplete="email"' in text
    assert (
        "Notify me when it’s back"
        not in client.get(reverse("product", args=[mug.slug])).content.decode()
    )
    client.force_login(make_user())
    text = client.get(reverse("product", args=[lamp.slug])).content.decode()
    assert "Notify me when it’s back" in text
    assert 'id="subscribe-email"' not in text


def test_a_member_submits_once(client: Client) -> None:
    member, lamp = make_user(), sold_out()
    client.force_login(member)
    response = ask(client, lamp)
    assert response.status_code == 303
    assert "We’ll email you as soon as" in client.get(response["Location"]).content.decode()
    assert subscribed_emails(lamp) == {member.email}
    assert not list_mails_to(member.email)


@pytest.mark.parametrize("headers", [{}, HTMX], ids=["plain", "htmx"])
def test_a_guest_is_asked_by_mail_first(client: Client, headers: dict[str, str]) -> None:
    lamp, email = sold_out(), address()
    response = ask(client, lamp, headers, email=email)
    text = (response if headers else client.get(response["Location"])).content.decode()
    assert "We’ve sent you an email." in text
    assert subscribed_emails(lamp) == set()  # nobody has proved anything yet
    (mail,) = list_mails_to(email)
    assert mail.subject == "Confirm your back-in-stock alert for Lamp"
    link = find_link(mail.text, "/cart/wait/")
    page = client.get(link).content.decode()
    assert email in page
    assert subscribed_emails(lamp) == set()  # opening the page changes nothing
    assert client.post(link).status_code == 303
    assert client.post(link).status_code == 303
    assert subscribed_emails(lamp) == {email}


def test_known_and_unknown_addresses_are_answered_alike(client: Client) -> None:
    member, lamp = make_user(), sold_out()
    answers = []
    for email in (member.email, address()):
        response = ask(client, lamp, HTMX, email=email)
        answers.append(
            (
                response.status_code,
                response.content.decode().replace(email, "…"),
                response["X-Cassandra"],
            )
        )
        assert len(list_mails_to(email)) == 1
    strip = re.compile(r'value="[^"]+"')
    assert strip.sub("", answers[0][1]) == strip.sub("", answers[1][1])
    assert answers[0][2] == answers[1][2]
    assert subscribed_emails(lamp) == set()


def test_what_is_no_address_is_explained_at_its_place(
    client: Client, subtests: pytest.Subtests
) -> None:
    lamp, emails = (
        sold_out(),
        ("", "x", "a@b", "a b@example.org", "a@example.org\nBcc: b@example.org"),
    )
    for headers, email in combinations(({}, HTMX), emails):
        with subtests.test(email, headers=headers):
            response = ask(client, lamp, headers, email=email)
            text = response.content.decode()
            assert response.status_code == 422
            assert "Enter an email address in the format name@example.com" in text
            assert 'aria-invalid="true"' in text


def test_asking_twice_mails_once_and_too_often_is_refused(
    client: Client, settings: Settings
) -> None:
    settings.RATE_LIMITS = settings.RATE_LIMITS | {"waiting": (4, 0, 0, 3600)}
    email, lamp = address(), sold_out()
    for _ in range(2):
        ask(client, lamp, email=email)
    assert len(list_mails_to(email)) == 1
    assert [ask(client, lamp, email=email).status_code for _ in range(4)] == [303, 303, 429, 429]


def test_what_is_here_needs_no_waiting(client: Client) -> None:
    mug, email = make_product("Mug"), address()
    make_stock(5, product_id=mug.product_id, variant_id=mug.variants[0].variant_id)
    response = ask(client, mug, email=email)
    assert "Mug is in stock." in client.get(response["Location"]).content.decode()
    assert not list_mails_to(email)


def test_nobody_waits_for_what_is_no_longer_sold(client: Client) -> None:
    response = client.post(
        reverse("stock_alerts:subscribe"), {"variant": "NO-SUCH", "email": address()}
    )
    assert response.status_code == 422
    assert "no longer sold" in response.content.decode()


def test_a_made_up_link_does_nothing(client: Client, subtests: pytest.Subtests) -> None:
    tokens = ("x", "a:b:c", "WyJ4Il0:1xUlfT:IGoTIUi7ot1TW8GQYNmxpit_QyIdJMtdFFYuEngATAA")
    for name, token in combinations(("stock_alerts:confirm", "stock_alerts:unsubscribe"), tokens):
        with subtests.test(name, token=token):
            for method in (client.get, client.post):
                assert method(reverse(name, args=[token])).status_code == 410


def test_an_address_waits_once_however_often_and_however_it_is_typed() -> None:
    lamp, email = sold_out(), address()
    map_at_once(
        lambda n: subscribe(
            make_subscription(lamp, email.upper() if n % 2 else email), datetime.now(UTC)
        ),
        range(16),
        8,
    )
    assert len(subscribed_emails(lamp)) == 1


def test_whoever_asks_again_waits_from_then_on() -> None:
    lamp, email = sold_out(), address()
    asked = [datetime(2026, 11, day, tzinfo=UTC) for day in (1, 21)]
    for at in asked:
        subscribe(make_subscription(lamp, email), at)
    (row,) = queries.list_subscriptions(email)
    assert row.asked_at == asked[1]


def test_when_it_is_back_each_gets_one_mail() -> None:
    lamp, lost, emails = sold_out(), sold_out("Lost"), [address(), address()]
    now = datetime.now(UTC)
    for email in emails:
        subscribe(make_subscription(lamp, email), now)
        subscribe(make_subscription(lost, email), now)
    notify(lost, now)
    notify(lamp, now)
    assert not list_mails_to(emails[0])
    come_back(lamp)
    result = re.fullmatch(r"(\d+) back-in-stock mails queued", send_back_in_stock_mails(now))
    assert result
    assert int(result[1]) >= 2
    for email in emails:
        (mail,) = list_mails_to(email)
        assert mail.subject == "Lamp is back in stock"
        assert f"/p/{lamp.slug}/?variant={lamp.variants[0].sku}" in mail.text
        assert "/cart/wait/end/" in mail.text
    assert subscribed_emails(lamp) == set()
    assert subscribed_emails(lost) == set(emails)
    assert notify(lamp, now) == 0
    assert len(list_mails_to(emails[0])) == 1


def test_a_worker_that_died_between_mail_and_forgetting_mails_nobody_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lamp, email, now = sold_out(), address(), datetime.now(UTC)
    subscribe(make_subscription(lamp, email), now)
    come_back(lamp)
    with monkeypatch.context() as broken:
        broken.setattr("stock_alerts.operations.DELETE_SUBSCRIPTION", None)
        with pytest.raises(AttributeError):
            notify(lamp, now)
    assert subscribed_emails(lamp) == {email}
    assert notify(lamp, now) == 1
    assert len(list_mails_to(email)) == 1
    assert subscribed_emails(lamp) == set()


def test_a_variant_that_nobody_waits_for_any_more_is_not_looked_at_for_ever() -> None:
    lamp, now = sold_out(), datetime.now(UTC)
    subscribe(make_subscription(lamp, address()), now)
    come_back(lamp)

    def is_looked_at() -> bool:
        return lamp.variants[0].variant_id in {
            row.variant_id for row in queries.iterate_subscribed_variants()
        }

    notify(lamp, now)
    notify(lamp, now)
    assert is_looked_at()  # its subscriber might just be about to be written
    notify(lamp, now + timedelta(minutes=10))
    assert not is_looked_at()


def test_the_link_in_the_mail_ends_all_waiting_of_an_address(client: Client) -> None:
    lamp, mug, email = sold_out(), sold_out("Mug"), address()
    for each in (lamp, mug):
        subscribe(make_subscription(each, email), datetime.now(UTC))
    assert {row.product_id for row in queries.list_subscriptions(email)} == {
        lamp.product_id,
        mug.product_id,
    }
    link = reverse("stock_alerts:unsubscribe", args=[unsubscribe_token(email)])
    assert email in client.get(link).content.decode()
    assert subscribed_emails(lamp) == {email}
    assert client.post(link).status_code == 303
    assert subscribed_emails(lamp) == subscribed_emails(mug) == set()
    assert not queries.list_subscriptions(email)
    assert unsubscribe(email) == 0


def test_waiting_is_forgotten_after_thirty_days() -> None:
    seconds = read(
        "test",
        "SELECT TTL(asked_at) AS left FROM subscriptions_by_variant WHERE variant_id = :variant_id",
    )
    lamp = sold_out()
    subscribe(make_subscription(lamp, address()), datetime.now(UTC))
    row = seconds.one(variant_id=lamp.variants[0].variant_id)
    assert row
    assert 30 * 24 * 3600 - 60 < row.left <= 30 * 24 * 3600


def test_a_line_in_the_cart_that_is_sold_out_offers_it_too(client: Client) -> None:
    mug = make_product("Mug")
    variant_id = make_stock(1, product_id=mug.product_id, variant_id=mug.variants[0].variant_id)
    sent = {"variant": mug.variants[0].sku, "quantity": "1", "operation": str(uuid4())}
    client.post(reverse("cart:add"), sent)
    from inventory.entities import WantedLine
    from inventory.operations import reserve_stock

    reserve_stock(uuid4(), [WantedLine(1, mug.product_id, variant_id, 1)], datetime.now(UTC))
    copy_stock(mug.product_id)
    text = client.get(reverse("cart:show")).content.decode()
    assert f'href="/cart/wait/?variant={mug.variants[0].sku}"' in text
    page = client.get(f"/cart/wait/?variant={mug.variants[0].sku}").content.decode()
    assert f'name="variant" value="{mug.variants[0].sku}"' in page

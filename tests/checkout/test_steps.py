"""The steps of the checkout: their addresses, their order, and what each keeps."""

from typing import Any

import pytest
from django.conf import settings
from django.core import signing
from lxml import html

from catalogue.entities import Product
from checkout.forms import CheckoutForm
from checkout.steps import STEPS
from tests.checkout.shopper import (
    HTMX,
    TYPED,
    Shopper,
    at,
    count_reserved,
    heading,
    list_orders,
    make_email,
    text,
    token_in,
)
from tests.orders.attempts import list_attempts
from tests.orders.consistency_checks import assert_order_consistent


def test_x64_steps_are_numbered_and_finished_ones_collapse_to_a_summary_with_change(
    shopper: Shopper,
) -> None:
    page = shopper.details()
    assert [
        text(each) for each in page.xpath("//form[@data-checkout]//h2[.//*[@class='num']]")
    ] == ["1 Your details", "2 Delivery and payment", "3 Review and place order"]
    assert heading(page) == "1 Your details"
    ways = shopper.ways()
    assert heading(ways) == "2 Delivery and payment"
    assert not ways.xpath("//input[@name='street']")
    assert "Torstraße 1" in text(ways)
    assert [text(each) for each in ways.xpath("//button[@name='to']")] == ["Change your details"]
    review = shopper.look(delivery="express", payment="transfer")
    assert heading(review) == "3 Review and place order"
    assert len(review.xpath("//button[@name='to']")) == 2
    for expected in (
        "ada@example.com",
        "Torstraße 1",
        "DHL Express",
        "Bank transfer",
        "Same as delivery address",
        "€21.90",
    ):
        assert expected in text(review), expected
    assert not review.xpath("//form[@data-checkout]//input[not(@type='hidden')]")


def test_x64_reload_resumes_and_back_loses_nothing(shopper: Shopper) -> None:
    assert heading(shopper.client.get(at(), follow=True)) == "1 Your details"
    assert shopper.typed("details", city="Köln")["Location"] == at("delivery")
    assert heading(shopper.client.get(at(), follow=True)) == "2 Delivery and payment"
    assert shopper.typed(city="Köln", delivery="express")["Location"] == at("review")
    for _ in range(2):
        page = html.fromstring(shopper.client.get(at()).content)
        assert heading(page) == "3 Review and place order"
        assert "Köln" in text(page)
    back = html.fromstring(shopper.client.get(at("delivery")).content)
    assert back.xpath("//input[@name='delivery'][@checked]/@value") == ["express"]
    back = html.fromstring(shopper.client.get(at("details")).content)
    assert back.xpath("//input[@name='city']/@value") == ["Köln"]


def test_x64_change_keeps_what_was_not_sent_yet(shopper: Shopper) -> None:
    shopper.typed("details")
    sent = {"to": "details", "delivery": "express", "payment": "cod", "billing-name": "Wor"}
    left = shopper.client.post(at("delivery"), sent)
    assert left["Location"] == at("details")
    ways = html.fromstring(shopper.client.get(at("delivery")).content)
    assert ways.xpath("//input[@name='delivery'][@checked]/@value") == ["express"]
    assert ways.xpath("//input[@name='payment'][@checked]/@value") == ["cod"]
    assert ways.xpath("//input[@name='billing-name']/@value") == ["Wor"]


def test_x64_a_choice_is_kept_as_it_is_made(shopper: Shopper) -> None:
    shopper.typed("details")
    sent = {"update": "yes", "delivery": "express", "payment": "card"}
    shopper.client.post(at("delivery"), sent, headers=HTMX)
    ways = html.fromstring(shopper.client.get(at("delivery")).content)
    assert ways.xpath("//input[@name='delivery'][@checked]/@value") == ["express"]


def test_what_was_typed_stays_with_who_typed_it(shopper: Shopper, mug: Product) -> None:
    answer = shopper.typed("details")
    cookie = answer.cookies[settings.CHECKOUT_COOKIE_NAME]
    assert (cookie["httponly"], cookie["samesite"], cookie["max-age"]) == (True, "Lax", "")
    assert "@" not in answer["Location"]
    other = Shopper((mug, 1))
    other.client.cookies[settings.CHECKOUT_COOKIE_NAME] = cookie.value
    assert other.details().xpath("//input[@name='email']/@value") in ([], [""])
    for made_up in (
        "x",
        "a:b:c",
        signing.dumps(3, salt="orders.typed"),
        signing.dumps(["x", {}], salt="checkout.typed"),
    ):
        other.client.cookies[settings.CHECKOUT_COOKIE_NAME] = made_up
        assert heading(other.client.get(at(), follow=True)) == "1 Your details"


def test_more_than_a_browser_stores_is_explained(shopper: Shopper) -> None:
    long = {
        f"billing-{name}": "".join(chr(0x4E00 + n * 37 % 9000) for n in range(2000))
        for name in ("name", "street")
    }
    answer = shopper.typed("details", **long)
    assert answer.status_code == 422
    assert "What you’ve typed is too long" in text(answer)


def test_s39_no_step_can_be_skipped(shopper: Shopper, mug: Product) -> None:
    assert shopper.client.get(at("review"))["Location"] == at("details")
    assert shopper.client.get(at("delivery"))["Location"] == at("details")
    early = token_in(shopper.details())
    shopper.typed("details")
    assert shopper.client.get(at("review"))["Location"] == at("delivery")
    for token in (early, token_in(shopper.ways())):
        refused = shopper.send(token)
        assert refused.status_code == 409
        assert "Check your order before you place it" in text(refused)
    assert shopper.client.post(at(), {"checkout": early}).status_code == 422
    assert count_reserved(mug) == 0
    # What the refused page shows has been reviewed, then.
    assert shopper.send(token_in(refused)).status_code == 303


def test_each_step_has_an_address_and_its_form_is_sent_there(shopper: Shopper) -> None:
    shopper.look()
    for number, step in enumerate(STEPS, 1):
        answer = shopper.client.get(at(step))
        assert answer.status_code == 200
        (form_element,) = html.fromstring(answer.content).xpath("//form[@data-checkout]")
        assert heading(answer).startswith(str(number))
        assert form_element.action == at(step)
    assert [at(step) for step in STEPS] == [
        "/checkout/",
        "/checkout/delivery/",
        "/checkout/review/",
    ]


def test_whoever_comes_too_early_or_too_late_is_led_to_the_step_that_is_missing(
    shopper: Shopper,
) -> None:
    for step in ("delivery", "review"):
        answer = shopper.client.get(at(step), follow=True)
        assert answer.redirect_chain == [(at("details"), 302)]
        assert heading(answer) == "1 Your details"
    shopper.look()
    # The browser was closed, or a day has passed: the form of the last step has all fields, that of the second has not.
    page, later = (
        shopper.client.get(at()),
        shopper.client.cookies.pop(settings.CHECKOUT_COOKIE_NAME),
    )
    submitted = shopper.client.post(
        at("delivery"), {"delivery": "standard", "payment": "card", "same_billing": "on"}
    )
    assert submitted["Location"] == at("review")
    assert heading(shopper.client.get(at(), follow=True)) == "1 Your details"
    assert later.value
    assert shopper.send(token_in(page)).status_code == 303


def test_the_addresses_of_before_lead_on(shopper: Shopper) -> None:
    shopper.look()
    for name, step in (("ways", "delivery"), ("review", "review")):
        assert shopper.client.get(at("details") + f"?step={name}")["Location"] == at(step)
    for query in ("?step=details", "?step=made-up"):
        assert heading(shopper.client.get(at("details") + query)) == "1 Your details"


class OldPage:
    """A page that was opened before each step had an address: all its forms are sent to the first one's."""

    def __init__(self, shopper: Shopper) -> None:
        self.client = shopper.client

    def send(self, sent: dict[str, str], headers: dict[str, str] | None = None) -> Any:
        """Send it as a browser does, which sends the same once more where 307 leads."""
        answer = self.client.post(at("details"), sent, headers=headers)
        return (
            self.client.post(answer["Location"], sent, headers=headers)
            if answer.status_code == 307
            else answer
        )


def test_where_nothing_is_chosen_there_is_no_sum_to_draw_anew(shopper: Shopper) -> None:
    page = OldPage(shopper)
    page.send(TYPED | {"email": make_email(), "on": "ways", "step": "ways"})
    for headers in ({}, HTMX):
        answer = shopper.client.post(at("review"), {"update": "yes"}, headers=headers)
        assert answer.status_code in (200, 303)
        assert at("review") in (answer.get("Location") or answer.get("HX-Redirect") or "")


def test_the_forms_of_a_page_from_before_lose_nothing(shopper: Shopper) -> None:
    page, email = OldPage(shopper), make_email()
    details = {
        name: value for name, value in TYPED.items() if name not in CheckoutForm.DELIVERY_FIELDS
    } | {"email": email}
    assert page.send(details | {"on": "details", "step": "details"})["Location"] == at("delivery")
    express = {"on": "ways", "delivery": "express", "payment": "card", "same_billing": "on"}
    assert 'id="summary"' in page.send(express | {"update": "yes"}, HTMX).content.decode()
    assert page.send(express | {"to": "details"})["Location"] == at("details")
    assert page.send(express | {"step": "ways"})["Location"] == at("review")
    review = shopper.client.get(at())
    typed = {
        each.name: each.value or ""
        for each in html.fromstring(review.content).xpath("//form//input[@name]")
    }
    assert page.send(typed | {"on": "review", "to": "ways"})["Location"] == at("delivery")
    for _ in range(2):
        assert "/testbank/" in page.send(typed | {"on": "review"})["Location"]
    (order,) = list_orders(email)
    assert order.method.code == "express"


def test_a_form_of_before_that_is_wrong_or_late_is_answered_by_its_step(
    shopper: Shopper, mug: Product
) -> None:
    page = OldPage(shopper)
    wrong = page.send(TYPED | {"on": "ways", "step": "ways", "delivery": "by owl"})
    assert (wrong.status_code, heading(wrong)) == (422, "2 Delivery and payment")
    late = page.send(TYPED | {"on": "review", "checkout": token_in(shopper.details())})
    assert (late.status_code, heading(late)) == (409, "3 Review and place order")
    assert count_reserved(mug) == 0


def test_s39_only_what_was_looked_over_is_ordered(
    shopper: Shopper, mug: Product, subtests: pytest.Subtests
) -> None:
    for name, sent, expected in (
        ("city", "Potsdam", "Potsdam"),
        ("payment", "transfer", "Bank transfer"),
        ("email", "eve@example.com", "eve@example.com"),
    ):
        with subtests.test(name):
            answer = shopper.send(**{name: sent})
            assert answer.status_code == 409
            assert expected in text(answer)
            assert count_reserved(mug) == 0


def test_s39_a_paid_checkout_is_not_replayed(shopper: Shopper, mug: Product) -> None:
    email = make_email()
    token = shopper.token(email=email)
    shopper.pay(shopper.send(token, email=email)["Location"])
    for _ in range(2):
        assert "/orders/" in shopper.send(token, email=email)["Location"]
    shopper.add(mug)
    assert "/orders/" in shopper.send(token, email=email)["Location"]
    (order,) = list_orders(email)
    assert assert_order_consistent(order.order_id).item_count == 1
    assert len(list_attempts(order.order_id)) == 1

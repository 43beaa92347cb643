"""The fields of the checkout: few, labelled, filled in by the browser, and kept when one is wrong."""

from datetime import UTC, datetime
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse
from lxml import html

from accounts.addresses import Address
from accounts.operations import register_user, save_address, save_profile
from catalogue.entities import Product
from orders import queries
from tests.checkout.shopper import TYPED, Shopper, count_reserved, remembered, text, token_in


def test_x53_a_guest_is_asked_for_no_account(mug: Product) -> None:
    page = Shopper((mug, 1)).details()
    assert "You can also check out as a guest" in text(page)
    assert not page.xpath("//main//input[@type='password']")


def test_x53_the_account_is_offered_once_it_is_paid(mug: Product) -> None:
    shopper = Shopper((mug, 1))
    _, url = shopper.place()
    assert "Create an account" in text(shopper.pay(url))


def test_x54_there_are_few_fields(mug: Product) -> None:
    shopper = Shopper((mug, 1))
    details, ways = shopper.details(), shopper.ways()
    for page in (details, ways, shopper.look()):
        fields = page.xpath(
            "//form[@data-checkout]//*[self::input or self::select or self::textarea][not(@type='hidden')]"
        )
        visible = [field for field in fields if not field.xpath("ancestor::details[not(@open)]")]
        assert len(visible) <= 11, [field.get("name") for field in visible]
    assert (
        len(details.xpath("//form[@data-checkout]//details[not(@open)]//input[@name='street2']"))
        == 1
    )
    assert ways.xpath("//input[@name='same_billing'][@checked]")


def test_x55_each_field_has_a_visible_label_and_says_whether_it_is_needed(mug: Product) -> None:
    page = Shopper((mug, 1)).details()
    for field in page.xpath(
        "//form[@data-checkout]//input[@type='text' or @type='email' or @type='tel']"
    ):
        (label,) = page.xpath(f"//label[@for='{field.get('id')}']")
        assert "required" in label.text_content() or "optional" in label.text_content()
        assert not field.get("placeholder")
    assert page.xpath("//input[@name='email']/@type") == ["email"]
    assert page.xpath("//input[@name='phone']/@type") == ["tel"]


def test_x56_the_browser_can_fill_it_in(mug: Product) -> None:
    page = Shopper((mug, 1)).details()
    found = [
        *page.xpath("//form//*[@autocomplete]"),
        *Shopper((mug, 1)).ways().xpath("//form//*[@autocomplete]"),
    ]
    tokens = {each.get("name"): each.get("autocomplete") for each in found}
    assert tokens["email"] == "email"
    assert tokens["name"] == "shipping name"
    assert tokens["postal_code"] == "shipping postal-code"
    assert tokens["country"] == "shipping country"
    assert tokens["phone"] == "shipping tel"
    assert tokens["billing-street"] == "billing address-line1"


def test_x57_spaces_dashes_and_case_do_not_matter(mug: Product) -> None:
    order, _ = Shopper((mug, 1)).place(
        country="IE",
        postal_code="d02-x285",
        city="Dublin",
        phone="+353 (1) 234-5678",
        email=" Ada@Example.com ",
    )
    assert (order.delivery_address.postal_code, order.delivery_address.phone) == (
        "D02 X285",
        "+35312345678",
    )
    assert order.email == "Ada@Example.com"


def test_x58_the_telephone_is_optional_and_says_what_for(mug: Product) -> None:
    page = Shopper((mug, 1)).details()
    (field,) = page.xpath("//input[@name='phone']")
    assert "carrier" in text(page.get_element_by_id(field.get("aria-describedby").split()[0]))
    assert Shopper((mug, 1)).place(phone="")


def test_x59_errors_are_listed_with_links_to_their_fields(mug: Product) -> None:
    shopper = Shopper((mug, 1))
    for answer in (
        shopper.typed("details", email="ada", postal_code="1"),
        shopper.send(email="ada", postal_code="1"),
    ):
        assert answer.status_code == 422
        page = html.fromstring(answer.content)
        assert page.xpath("//title/text()")[0].startswith("Error: ")
        hrefs = page.xpath("//*[@data-error-summary]//a/@href")
        assert set(hrefs) == {"#id_email", "#id_postal_code"}
        for href in hrefs:
            field = page.get_element_by_id(href[1:])
            assert field.get("aria-invalid") == "true"
            assert any(name.endswith("_error") for name in field.get("aria-describedby").split())


def test_x60_what_was_typed_is_kept(mug: Product) -> None:
    page = html.fromstring(
        Shopper((mug, 1)).typed("details", email="ada", city="Köln", postal_code="1").content
    )
    assert page.xpath("//input[@name='email']/@value") == ["ada"]
    assert page.xpath("//input[@name='city']/@value") == ["Köln"]
    assert page.xpath("//input[@name='postal_code']/@value") == ["1"]


def test_x61_the_browser_does_not_interrupt_while_one_types(mug: Product) -> None:
    shopper = Shopper((mug, 1))
    for page in (shopper.details(), shopper.ways()):
        (form,) = page.xpath("//form[@data-checkout]")
        assert form.get("novalidate") is not None
        assert not form.xpath(".//*[@required or @pattern]")
        assert not [
            each for each in form.xpath(".//@hx-trigger") if "blur" in each or "input" in each
        ]


def test_x62_nothing_is_asked_twice(mug: Product) -> None:
    user_id, member = uuid4(), Client()
    user = register_user(
        f"{user_id.hex}@example.com",
        "Ada L.",
        "correct horse battery",
        datetime.now(UTC),
        user_id=user_id,
    )
    first = save_address(
        user_id, Address("Ada L.", "Rue de la Paix 1", "75002", "Paris", "FR"), default=True
    )
    other = save_address(user_id, Address("Ada at work", "Torstraße 9", "10115", "Berlin", "DE"))
    member.force_login(user)
    shopper = Shopper((mug, 1), client=member)
    page = shopper.details()
    values = {
        each.get("name"): each.get("value") for each in page.xpath("//form[@data-checkout]//input")
    }
    assert (values["email"], values["name"], values["street"]) == (
        f"{user_id.hex}@example.com",
        "Ada L.",
        "Rue de la Paix 1",
    )
    assert page.xpath("//select[@name='country']/option[@selected]/@value") == ["FR"]
    save_profile(user_id, "Ada L.", "+49 30 1234567")
    # All of the first step is known, so the visit begins with the second.
    begins = html.fromstring(member.get(reverse("checkout:review"), follow=True).content)
    assert "Colissimo" in text(begins.get_element_by_id("ways"))
    assert "Rue de la Paix 1" in text(begins)
    page = shopper.details(f"?address={other}")
    assert page.xpath("//input[@name='street']/@value") == ["Torstraße 9"]
    # An address without a number has the member's own, or the one that was typed.
    assert page.xpath("//input[@name='phone']/@value") == ["+49 30 1234567"]
    shopper.ways(phone="+49 30 7654321")
    page = shopper.details(f"?address={other}")
    assert page.xpath("//input[@name='phone']/@value") == ["+49 30 7654321"]
    assert first != other
    _, url = shopper.place(email=values["email"])
    assert [
        each.get("name")
        for each in html.fromstring(member.get(url).content).xpath(
            "//main//input[not(@type='hidden')]"
        )
    ] == ["card"]


def test_enter_in_a_field_goes_on(mug: Product) -> None:
    shopper = Shopper((mug, 1))
    for step, page in {"details": shopper.details(), "delivery": shopper.ways()}.items():
        (form,) = page.xpath("//form[@data-checkout]")
        assert form.action == reverse(f"checkout:{step}")
        assert form.xpath(".//button[@type='submit']")[0].get("name") is None, (
            "the buttons with names do something else"
        )


def test_the_invoice_can_go_elsewhere(mug: Product) -> None:
    shopper = Shopper((mug, 1))
    elsewhere = {name: value for name, value in TYPED.items() if name != "same_billing"}
    refused = shopper.client.post(reverse("checkout:delivery"), elsewhere)
    assert refused.status_code == 422
    page = html.fromstring(refused.content)
    assert "Enter the name for the invoice" in text(page)
    assert page.xpath("//details[@open]//input[@name='billing-name']")
    billing = {
        "name": "Works Ltd",
        "street": "Quay 2",
        "street2": "",
        "postal_code": "",
        "city": "Cork",
        "country": "IE",
    }
    elsewhere |= {f"billing-{name}": value for name, value in billing.items()}
    at = shopper.client.post(reverse("checkout:delivery"), elsewhere)["Location"]
    review = shopper.client.get(at)
    assert "Works Ltd" in text(review)
    sent = elsewhere | {"checkout": token_in(review)}
    assert shopper.client.post(reverse("checkout:review"), sent).status_code == 303
    (order_id,) = remembered(shopper.client)
    order = queries.get_order(order_id)
    assert order
    assert (order.billing_address.name, order.delivery_address.name) == (
        "Works Ltd",
        "Ada Lovelace",
    )


def test_bad_input_is_explained_at_its_place(mug: Product, subtests: pytest.Subtests) -> None:
    shopper = Shopper((mug, 1))
    token = shopper.token()
    for name, typed in (
        ("country", "US"),
        ("country", ""),
        ("delivery", "drone"),
        ("delivery", ""),
        ("email", "a" * 300 + "@example.com"),
        ("name", "\x00"),
        ("street", "x" * 5000),
        ("postal_code", "١٠١١٥"),
    ):
        with subtests.test(name, typed=typed):
            answer = shopper.send(token, **{name: typed})
            assert answer.status_code == 422
            assert html.fromstring(answer.content).xpath("//*[@data-error-summary]//a")
            assert count_reserved(mug) == 0

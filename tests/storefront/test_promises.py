"""What the shop's pages promise is what its settings say."""

from typing import Any

from django.test import Client
from django.urls import reverse
from lxml import html
from pytest_django import Settings

from catalogue.prices import REFERENCE_DURATION
from tests.factories import make_product


def text(client: Client, address: str) -> str:
    page: Any = html.fromstring(client.get(address).content)
    return " ".join(page.text_content().split())


def test_x82_the_help_names_the_ways_to_pay_that_the_checkout_offers(
    client: Client, settings: Settings
) -> None:
    settings.PAYMENT_METHODS = ["card", "transfer", "cod"]
    found = text(client, reverse("help"))
    for name in ("Card:", "Bank transfer:", "Cash on delivery:"):
        assert name in found, name
    settings.PAYMENT_METHODS = ["transfer"]
    found = text(client, reverse("help"))
    assert "Bank transfer:" in found
    assert "Card:" not in found


def test_x82_the_days_of_returns_and_of_withdrawal_are_the_settings(
    client: Client, settings: Settings
) -> None:
    settings.RETURN_DAYS, settings.WITHDRAWAL_DAYS = 41, 17
    product = make_product()
    for address, days in (
        (reverse("help"), (41, 17)),
        (reverse("delivery"), (41,)),
        (reverse("terms"), (41, 17)),
        (reverse("orders:withdraw"), (17,)),
        (reverse("product", args=[product.slug]), (41,)),
    ):
        found = text(client, address).replace("30 days before the reduction", "")
        for each in days:
            assert f"{each} days" in found, (address, each)
        for typed_in in ("30 days", "14 days of delivery", "within 14 days without"):
            assert typed_in not in found, (address, typed_in)


def test_x82_x94_the_terms_say_what_is_crossed_out_as_it_is_computed(client: Client) -> None:
    assert (
        f"never above the lowest price we asked in the {REFERENCE_DURATION.days} days before the reduction began"
        in text(client, reverse("terms"))
    )
    for address in (reverse("help"), reverse("delivery")):
        assert "lowest" not in text(client, address), address


def test_x77_the_instructions_on_withdrawal_name_the_function(client: Client) -> None:
    for address in (reverse("help"), reverse("terms")):
        page = html.fromstring(client.get(address).content)
        (link,) = page.xpath("//main//a[@href=$to]", to=reverse("orders:withdraw"))
        assert link.text == "Withdraw from contract here", address

"""X9: a shop that is slow, broken or out of reach says so, and the same submit works once it is back."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Route, expect

from tests.browser.conftest import OpenPage
from tests.browser.page_watch import assert_accessible
from tests.browser.steps import TWO_CHOICES, add_to_cart, cart_badge, open_product

# htmx writes each of its failures to the console, too.
ON_PURPOSE = r"cart/(add|change)|Failed to load resource|htmx:"


Answer = Callable[[Route], None]
FAILURES: list[tuple[str, Answer, str]] = [
    (
        "500",
        lambda route: route.fulfill(status=500, body="<h1>no</h1>"),
        "Something went wrong on our side.",
    ),
    (
        "503",
        lambda route: route.fulfill(status=503, body="<h1>no</h1>"),
        "The shop is away for a moment.",
    ),
    (
        "unreachable",
        lambda route: route.abort("connectionrefused"),
        "The shop couldn’t be reached.",
    ),
]


@pytest.mark.parametrize(("name", "answer", "words"), FAILURES, ids=[each[0] for each in FAILURES])
def test_x9_a_failed_add_says_so_and_can_be_tried_again(
    open_page: OpenPage, name: str, answer: Answer, words: str
) -> None:
    page = open_page(allow=ON_PURPOSE)
    open_product(page)
    page.route("**/cart/add/", answer)
    page.get_by_role("button", name="Add to cart").click()
    expect(page.locator("#status")).to_contain_text(words)
    expect(page.locator("body")).not_to_contain_text("<h1>no</h1>")
    assert_accessible(page, name)
    page.unroute("**/cart/add/")
    page.get_by_role("button", name="Try again").click()
    expect(page.locator("#added")).to_contain_text("1 item,")


def test_x9_offline_is_shown_and_nothing_is_lost(open_page: OpenPage) -> None:
    page = open_page(allow=ON_PURPOSE)
    open_product(page)
    page.context.set_offline(True)
    page.get_by_role("button", name="Add to cart").click()
    expect(page.locator("#status")).to_contain_text("You seem to be offline.")
    page.context.set_offline(False)
    page.get_by_role("button", name="Try again").click()
    expect(cart_badge(page)).to_contain_text("1")


def test_x9_an_answer_that_does_not_come_is_given_up(open_page: OpenPage) -> None:
    page = open_page(allow=ON_PURPOSE)
    open_product(page)
    assert page.evaluate("htmx.config.timeout") == 10_000
    page.evaluate("htmx.config.timeout = 400")
    page.route("**/cart/add/", lambda _: None)
    page.get_by_role("button", name="Add to cart").click()
    expect(page.locator("#status")).to_contain_text("The shop took too long to answer.")
    page.unroute("**/cart/add/")
    page.get_by_role("button", name="Try again").click()
    expect(page.locator("#added")).to_contain_text("1 item,")


def test_x9_an_add_whose_answer_was_lost_counts_once_when_tried_again(open_page: OpenPage) -> None:
    def lose(route: Route) -> None:
        route.fetch()
        route.abort("connectionreset")

    page = open_page(allow=ON_PURPOSE)
    open_product(page)
    page.route("**/cart/add/", lose)
    page.get_by_role("button", name="Add to cart").click()
    expect(page.locator("#status")).to_contain_text("The shop couldn’t be reached.")
    page.unroute("**/cart/add/")
    page.get_by_role("button", name="Try again").click()
    expect(page.locator("#added")).to_contain_text("1 item,")


def test_x9_a_failed_change_keeps_the_cart_on_the_page(open_page: OpenPage) -> None:
    page = open_page(allow=ON_PURPOSE)
    add_to_cart(page, TWO_CHOICES)
    page.goto("/cart/")
    page.route("**/cart/change/", lambda route: route.fulfill(status=500, body="no"))
    page.get_by_role("button", name="Increase quantity").click()
    expect(page.locator("#status")).to_contain_text("Something went wrong on our side.")
    expect(page.locator("[data-row]")).to_have_count(1)
    page.unroute("**/cart/change/")
    page.get_by_role("button", name="Try again").click()
    expect(cart_badge(page)).to_contain_text(re.compile("2"))


def test_a_submit_before_the_scripts_have_loaded_works_as_a_plain_form(open_page: OpenPage) -> None:
    page = open_page(allow=r"\.js|ERR_FAILED")
    page.route("**/*.js", lambda route: route.abort())
    open_product(page)
    page.get_by_role("button", name="Add to cart").click()
    expect(page.locator("#cart-title")).to_have_text("My cart")

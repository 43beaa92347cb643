"""What a shopper with a telephone sees without scrolling, at 390 by 844 pixels; and where large text leaves as little room."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import DEVICES, OpenPage, ServedShop
from tests.browser.page_watch import assert_accessible
from tests.browser.steps import TWO_CHOICES, add_to_cart, fill_in_details, open_product
from tests.browser.test_keyboard import tabbed

HEIGHT = DEVICES["phone"]["viewport"]["height"]
POSITION = "each => getComputedStyle(each.closest('.action-bar')).position"
# How far the icon of a text lies below its first line; an icon on a line of its own lies above.
ICON_BELOW_LINE = """icon => {
  const words = document.createRange();
  words.selectNodeContents(icon.nextSibling);
  return icon.getBoundingClientRect().bottom - words.getClientRects()[0].top;
}"""


def top_of(each: Locator) -> float:
    """Return how far from the window's upper edge it begins."""
    box = each.bounding_box()
    assert box
    return box["y"]


def test_x122_the_front_page_begins_with_something_to_buy(phone_page: Page) -> None:
    phone_page.goto("/")
    first = phone_page.locator(".card").first
    assert top_of(first.locator(".picture")) < HEIGHT - 150
    second, third = (
        phone_page.locator("main .cards").first.locator(".card").nth(n) for n in (1, 2)
    )
    assert top_of(second) == top_of(third) == top_of(first)  # one row, which is swiped
    third.get_by_role("link").focus()
    expect(third.get_by_role("link")).to_be_in_viewport()
    assert phone_page.evaluate("document.documentElement.scrollHeight") < 5.5 * HEIGHT


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "plain"])
def test_x118_what_one_came_to_do_stays_in_sight(open_page: OpenPage, scripts: bool) -> None:
    page = open_page("phone", scripts=scripts)
    open_product(page)
    add = page.get_by_role("button", name="Add to cart")
    expect(add).to_be_in_viewport(ratio=1)
    page.locator(".product .facts").last.scroll_into_view_if_needed()
    expect(add).to_be_in_viewport(ratio=1)
    page.evaluate("scrollTo(0, 0)")
    if scripts:
        page.locator("#quantity").fill("0")
        add.click()
        expect(page.locator("#quantity_error")).to_be_in_viewport(ratio=1)
        page.locator("#quantity").fill("1")
        expect(page.locator("#quantity_error")).to_be_hidden()
        page.evaluate("scrollTo(0, 0)")
        expect(add).to_be_in_viewport(ratio=1)
    add.click()
    expect(page.locator("body")).to_contain_text("added to your cart")
    if scripts:
        expect(page.locator("#added-title")).to_be_focused()
        expect(page.locator("#added-title")).to_be_in_viewport(ratio=1)
    add_to_cart(page, index=1)
    page.goto("/cart/")
    checkout, total = page.locator("#checkout"), page.locator(".action-bar__sum strong")
    expect(checkout).to_be_in_viewport(ratio=1)
    expect(total).to_be_in_viewport(ratio=1)
    expect(page.locator("dd.sums__total")).to_have_text(total.inner_text())
    if scripts:
        before = total.inner_text()
        page.get_by_role("button", name="Increase quantity").first.click()
        expect(total).not_to_have_text(before)
        expect(page.locator("dd.sums__total")).to_have_text(total.inner_text())


def test_x118_nothing_that_has_the_focus_lies_behind_a_bar(phone_page: Page) -> None:
    add_to_cart(phone_page)
    for address in (f"/p/{TWO_CHOICES.slug}/", "/cart/"):
        phone_page.goto(address)
        assert phone_page.locator(".action-bar .button").evaluate(POSITION) == "sticky"
        assert len(list(tabbed(phone_page))) > 20
        # A keyboard on the screen, and a phone on its side, leave too little.
        phone_page.set_viewport_size({"width": 390, "height": 400})
        assert phone_page.locator(".action-bar .button").evaluate(POSITION) == "static"
        phone_page.set_viewport_size(DEVICES["phone"]["viewport"])


def test_x119_x120_x121_each_step_of_the_checkout_says_where_one_is_and_what_it_comes_to(
    phone_page: Page,
) -> None:
    page = phone_page
    add_to_cart(page)
    page.goto("/checkout/")
    summary, total = page.locator("#summary"), page.locator("#summary-total")
    heading = page.locator("[aria-current=step] h2")
    titles = []
    for step, action in (
        ("Your details", "Continue to delivery and payment"),
        ("Delivery and payment", "Review order"),
        ("Review and place order", ""),
    ):
        expect(heading).to_contain_text(step)
        expect(heading).to_be_focused()
        assert page.title().startswith(f"{step} · Checkout, step ")
        titles.append(page.title())
        assert page.evaluate("scrollY") == 0
        assert top_of(total) < 300
        expect(page.locator("nav:not(footer nav), [role=search], #cart-link")).to_have_count(0)
        expect(page.locator("header").get_by_role("link")).to_have_text(
            ["Stoa", re.compile("Back to cart")]
        )
        if action:
            expect(summary).to_be_hidden()
            page.locator("summary", has_text="Order summary").click()
        expect(summary).to_be_visible()
        expect(summary.locator("dd.sums__total")).to_have_text(total.inner_text())
        if step == "Your details":
            fill_in_details(page)
        elif action:
            before = total.inner_text()
            page.locator("#ways input[type=radio]").last.check()
            expect(total).not_to_have_text(before)
            expect(summary).to_be_visible()  # what was opened stays open
            expect(summary.locator("dd.sums__total")).to_have_text(total.inner_text())
            assert page.title() == titles[-1]
            expect(page.locator("#ways input[type=radio]").last).to_be_focused()
            assert_accessible(page, "the open summary")
        if action:
            page.get_by_role("button", name=action).click()
    assert len(set(titles)) == 3
    expect(page.locator("#pay")).to_contain_text(total.inner_text())


def test_x119_on_a_desk_the_summary_stands_open_beside_the_steps(open_page: OpenPage) -> None:
    page = open_page(who="guest")
    page.goto("/checkout/")
    expect(page.locator("#summary dd.sums__total")).to_be_visible()
    expect(page.locator("summary", has_text="Order summary")).to_be_hidden()
    steps = page.locator("[aria-current=step]").bounding_box()
    beside = page.locator("#summary").bounding_box()
    assert steps
    assert beside
    assert beside["x"] > steps["x"] + steps["width"]
    assert beside["y"] < steps["y"] + 50


def test_x12_large_text_leaves_the_search_its_room_and_an_icon_stands_in_its_line(
    open_page: OpenPage, shop: ServedShop
) -> None:
    page = open_page("phone", who="guest", bypass_csp=True)
    page.goto(f"/orders/{shop.things['unpaid']}/")
    assert page.locator("#deadline p > .icon").evaluate(ICON_BELOW_LINE) > 8
    page.add_style_tag(content="html { font-size: 200% !important; }")
    for width in (1280, 390, 320):
        page.set_viewport_size({"width": width, "height": HEIGHT})
        box = page.locator("#q").bounding_box()
        assert box
        assert box["width"] > 5 * 32, f"of {width} pixels the search has {box['width']}"

"""Two people in one cart, each in a browser of their own."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage, ServedShop
from tests.browser.page_watch import assert_accessible
from tests.browser.steps import ONE_CHOICE, TWO_CHOICES, add_to_cart, cart_badge, focused_element


@pytest.fixture
def cart(shop: ServedShop) -> str:
    """A cart with people in it that no other test knows."""
    return shop.shared_carts.pop()


def come(visit: OpenPage, cart: str, who: str, device: str = "desktop", **options: Any) -> Page:
    """Open the cart as its owner, editor or viewer, with a clock that `later` moves."""
    page = visit(device, who=f"{who} of {cart}", **options)
    page.clock.install()
    page.goto("/cart/")
    expect(page.locator("#cart-title")).to_have_text("Gifts for Mom")
    return page


def later(page: Page) -> None:
    """Let more time go by on a page than it waits before it looks for changes, and have what it asked for answered."""
    page.clock.run_for(5000)
    page.wait_for_load_state("networkidle")


def test_two_people_in_one_cart_see_each_others_changes(open_page: OpenPage, cart: str) -> None:
    ann, ben = come(open_page, cart, "owner"), come(open_page, cart, "editor", "phone")
    add_to_cart(ben, TWO_CHOICES)
    later(ann)
    expect(ann.locator("#cart .line")).to_have_count(1)
    expect(ann.locator("#cart")).to_contain_text(TWO_CHOICES.name)
    expect(cart_badge(ann)).to_contain_text("1 item")
    expect(ann.locator("#status")).to_contain_text(
        "This cart was updated. Gifts for Mom: 1 item, €"
    )
    assert_accessible(ann)
    ben.goto("/cart/")
    ann.get_by_role("button", name="Increase quantity").click()
    expect(cart_badge(ann)).to_contain_text("2 items")
    later(ben)
    expect(ben.locator("#cart input[name=quantity]")).to_have_value("2")
    viewer = come(open_page, cart, "viewer")
    expect(viewer.locator("#cart .line")).to_have_count(1)
    ben.get_by_role("button", name="Remove").click()
    expect(ben.locator("#cart")).to_contain_text("Your cart is empty")
    for page in (viewer, ann):
        later(page)
        expect(page.locator("#cart")).to_contain_text("Your cart is empty")
    # Another user's change does not take Undo away from the user who has removed something.
    ann.goto("/")
    add_to_cart(ann, ONE_CHOICE)
    later(ben)
    expect(ben.locator("#cart")).to_contain_text(ONE_CHOICE.name)
    ben.get_by_role("button", name="Undo").click()
    expect(ben.locator("#cart .line")).to_have_count(2)
    assert_accessible(ben)


def test_changes_of_others_wait_for_whoever_types_and_can_be_paused(
    open_page: OpenPage, cart: str
) -> None:
    ann, ben = come(open_page, cart, "owner"), come(open_page, cart, "editor")
    add_to_cart(ann, TWO_CHOICES)
    ann.goto("/cart/")
    field = ann.locator("#cart input[name=quantity]")
    field.focus()
    before = focused_element(ann)
    add_to_cart(ben, ONE_CHOICE)
    later(ann)
    expect(ann.locator("#cart .line")).to_have_count(2)
    assert focused_element(ann) == before  # the swap has left it where it was
    ann.keyboard.press("End")
    ann.keyboard.type("2")
    add_to_cart(ben, ONE_CHOICE)
    later(ann)
    typed = ann.locator(":focus")
    expect(typed).to_have_value("12")
    expect(cart_badge(ann)).to_contain_text("2 items")
    ann.keyboard.press("Enter")
    expect(cart_badge(ann)).to_contain_text("14 items")
    pause = ann.locator("#pause")
    pause.click()
    expect(pause).to_have_text("Resume updates")
    add_to_cart(ben, ONE_CHOICE)
    later(ann)
    expect(cart_badge(ann)).to_contain_text("14 items")
    pause.click()
    later(ann)
    expect(cart_badge(ann)).to_contain_text("15 items")


def test_a_withdrawn_role_ends_while_its_page_is_open(open_page: OpenPage, cart: str) -> None:
    ann, ben = come(open_page, cart, "owner"), come(open_page, cart, "editor", allow="404")
    ann.goto(f"/carts/{cart}/people/")
    assert_accessible(ann)
    ann.locator("form", has_text="Remove Editor").get_by_role("button", name="Remove").click()
    expect(ann.locator("#status")).to_contain_text("no longer has access to the cart")
    later(ben)
    expect(ben.locator("#status")).to_contain_text("That’s no longer there.")
    ben.goto(f"/carts/{cart}/")
    expect(ben.locator("h1")).not_to_contain_text("Gifts")

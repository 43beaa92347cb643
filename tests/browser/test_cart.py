"""The cart in a browser: in place, by itself, without losing the focus."""

import re

from playwright.sync_api import Page, Route, expect

from demo.catalogue_data import PRODUCTS
from tests.browser.conftest import OpenPage
from tests.browser.page_watch import assert_accessible
from tests.browser.steps import (
    ONE_CHOICE,
    TWO_CHOICES,
    add_to_cart,
    cart_badge,
    focused_element,
    open_product,
    quantity_field,
    sold_out_skus,
)


def test_x37_adding_stays_on_the_page_and_says_which_cart_and_how_much(page: Page) -> None:
    open_product(page)
    address = page.url
    page.get_by_role("button", name="Add to cart").click()
    panel = page.locator("#added")
    expect(panel).to_contain_text("is in My cart")
    expect(panel).to_contain_text(re.compile(r"1 item, €\d+\.\d\d"))
    expect(cart_badge(page)).to_contain_text(re.compile(r"My cart\s*1"))
    assert page.url == address
    assert_accessible(page)


def test_x8_the_live_region_is_there_at_load_and_hears_of_the_add(page: Page) -> None:
    open_product(page)
    region = page.locator("#status[role=status]")
    expect(region).to_have_count(1)
    region.evaluate("element => { element.dataset.same = 'yes' }")
    page.get_by_role("button", name="Add to cart").click()
    expect(region).to_contain_text(re.compile(r"was added to your cart\. My cart: 1 item, €"))
    assert region.get_attribute("data-same") == "yes"


def test_a_second_submit_on_the_same_page_counts_again(page: Page) -> None:
    open_product(page)
    for count in ("1 item,", "2 items,"):
        page.get_by_role("button", name="Add to cart").click()
        expect(page.locator("#added")).to_contain_text(count)


def test_x18_a_double_click_counts_once_and_only_its_button_rests(page: Page) -> None:
    on_their_way: list[Route] = []
    open_product(page)
    page.route("**/cart/add/", lambda route: on_their_way.append(route))
    button = page.get_by_role("button", name="Add to cart")
    button.dblclick()
    expect(button).to_be_disabled()
    expect(page.locator("#added")).to_have_attribute("aria-busy", "true")
    assert page.locator("button:disabled").count() == 1
    for route in on_their_way:
        route.continue_()
    expect(page.locator("#added")).to_contain_text("1 item,")
    expect(button).to_be_enabled()
    page.unroute("**/cart/add/")
    page.goto("/cart/")
    expect(page.locator("#cart input[name=quantity]")).to_have_value("1")


def test_x18_a_double_click_counts_once_without_htmx(open_page: OpenPage) -> None:
    page = open_page(scripts=False)
    open_product(page)
    page.get_by_role("button", name="Add to cart").dblclick()
    expect(page.locator("#cart-title")).to_have_text("My cart")
    expect(page.locator("#cart input[name=quantity]")).to_have_value("1")


def test_x46_a_changed_quantity_applies_by_itself(page: Page) -> None:
    add_to_cart(page)
    page.goto("/cart/")
    expect(page.get_by_role("button", name="Update")).to_be_hidden()
    page.get_by_role("button", name="Increase quantity").click()
    expect(cart_badge(page)).to_contain_text("2 items")
    assert "button#" in focused_element(page)
    field = page.locator("#cart input[name=quantity]")
    field.fill("5")
    field.press("Enter")
    expect(cart_badge(page)).to_contain_text("5 items")
    assert focused_element(page).startswith("input#quantity-")
    assert_accessible(page)


def test_x46_without_scripts_there_is_a_button(page_without_scripts: Page) -> None:
    add_to_cart(page_without_scripts)
    page_without_scripts.locator("#cart input[name=quantity]").fill("3")
    page_without_scripts.get_by_role("button", name="Update").click()
    expect(cart_badge(page_without_scripts)).to_contain_text("3 items")


def test_x43_a_quantity_that_is_none_is_explained_at_its_place_and_kept(page: Page) -> None:
    open_product(page)
    quantity_field(page).fill("1.5")
    page.get_by_role("button", name="Add to cart").click()
    expect(page.locator("#quantity_error")).to_contain_text("Enter a whole number from 1 to 999.")
    expect(quantity_field(page)).to_have_value("1.5")
    expect(quantity_field(page)).to_have_attribute("aria-invalid", "true")
    assert_accessible(page)
    quantity_field(page).fill("2")
    page.get_by_role("button", name="Add to cart").click()
    expect(page.locator("#added")).to_contain_text("2 items")
    assert quantity_field(page).get_attribute("aria-invalid") is None
    # More than is left (X126): how many there are, and one button that takes them.
    quantity_field(page).fill("999")
    page.get_by_role("button", name="Add to cart").click()
    expect(page.locator("#quantity_error")).to_contain_text("left, and you already have 2")
    expect(quantity_field(page)).to_have_value("999")
    assert_accessible(page, "more than is left")
    page.get_by_role("button", name=re.compile("^Set to")).click()
    expect(page.locator("#added")).to_contain_text(re.compile(r"Quantity: \d+"))


def test_x7_the_focus_goes_to_the_new_panel(page: Page) -> None:
    open_product(page)
    page.get_by_role("button", name="Add to cart").click()
    expect(page.locator("#added-title")).to_be_focused()


def test_x7_a_removed_row_hands_the_focus_to_the_next_and_undo_brings_it_back(page: Page) -> None:
    add_to_cart(page, TWO_CHOICES, 0)
    add_to_cart(page, TWO_CHOICES, 1)
    page.goto("/cart/")
    rows = page.locator("[data-row]")
    second = rows.nth(1).get_attribute("id")
    rows.nth(0).get_by_role("button", name=re.compile("Remove")).click()
    expect(rows).to_have_count(1)
    expect(page.locator(f"[id='{second}']")).to_be_focused()
    assert_accessible(page, "after removing")
    page.get_by_role("button", name=re.compile("^Undo")).click()
    expect(rows).to_have_count(2)
    assert not focused_element(page).startswith("body")
    rows.nth(0).get_by_role("button", name=re.compile("Remove")).click()
    expect(rows).to_have_count(1)
    rows.nth(0).get_by_role("button", name=re.compile("Remove")).click()
    expect(page.locator("#cart")).to_contain_text("Your cart is empty")
    assert not focused_element(page).startswith("body")
    assert_accessible(page, "the emptied cart")


def test_x7_a_refused_quantity_puts_the_focus_on_the_summary(page: Page) -> None:
    add_to_cart(page)
    page.goto("/cart/")
    field = page.locator("#cart input[name=quantity]")
    field.fill("0")
    field.press("Enter")
    summary = page.locator("[data-error-summary]")
    expect(summary).to_be_focused()
    expect(field).to_have_value("0")
    assert page.title().startswith("Error: ")
    assert_accessible(page)
    summary.get_by_role("link").click()
    expect(field).to_be_focused()


def test_two_tabs_of_a_new_guest_fill_one_cart(page: Page) -> None:
    other = page.context.new_page()
    open_product(page, TWO_CHOICES, 0)
    open_product(other, TWO_CHOICES, 1)
    for tab in (page, other):
        tab.get_by_role("button", name="Add to cart").click()
    expect(other.locator("#added")).to_contain_text("2 items")
    page.goto("/cart/")
    expect(page.locator("[data-row]")).to_have_count(2)


def test_x52_a_tab_that_comes_back_shows_the_badge_as_it_is(page: Page) -> None:
    page.goto("/")
    add_to_cart(page.context.new_page())
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    expect(cart_badge(page)).to_contain_text(re.compile(r"My cart\s*1"))


def test_x50_a_country_changes_the_sums_in_place(page: Page) -> None:
    add_to_cart(page)
    page.goto("/cart/")
    page.get_by_label("Deliver to").focus()
    page.get_by_label("Deliver to").select_option("FR")
    expect(page.locator("#sums")).to_contain_text("tax at 20%")
    expect(page).to_have_url(re.compile(r"/cart/\?country=FR$"))
    assert focused_element(page).startswith("select#country")
    assert_accessible(page)
    page.goto("/cart/")
    expect(page.get_by_label("Deliver to")).to_have_value("FR")


def test_x50_without_scripts_the_country_has_a_button(page_without_scripts: Page) -> None:
    add_to_cart(page_without_scripts)
    page_without_scripts.goto("/cart/")
    page_without_scripts.get_by_label("Deliver to").select_option("IE")
    page_without_scripts.get_by_role("button", name="Show", exact=True).click()
    expect(page_without_scripts.locator("#sums")).to_contain_text("tax at 23%")


def test_what_was_looked_at_comes_when_it_is_scrolled_to(page: Page) -> None:
    open_product(page, ONE_CHOICE)
    open_product(page)
    page.locator("#viewed-title").scroll_into_view_if_needed()
    page.mouse.wheel(0, 2000)
    expect(page.locator(".strip__item")).to_have_count(1)
    assert_accessible(page)
    page.get_by_role("button", name="Clear").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("No recently viewed products")


def test_x7_whoever_wants_a_mail_is_led_to_the_answer(page: Page) -> None:
    gone = next((each, sku) for each in PRODUCTS for sku in sold_out_skus(each))
    page.goto(f"/p/{gone[0].slug}/?variant={gone[1]}")
    field = page.get_by_label("Notify me when it’s back")
    field.fill("x")
    page.get_by_role("button", name="Notify me").click()
    expect(page.locator("#subscribe-email_error")).to_contain_text("Enter an email address")
    expect(field).to_be_focused()
    assert_accessible(page, "after an error")
    field.fill("ann@example.org")
    page.get_by_role("button", name="Notify me").click()
    expect(page.locator("#subscribe [data-focus]")).to_be_focused()
    expect(page.locator("#subscribe")).to_contain_text("We’ve sent you an email.")
    assert_accessible(page, "after asking")

"""Whole visits, with scripts and without: a guest, a member, the staff."""

import re
from uuid import uuid4

import pyotp
import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage, ServedShop
from tests.browser.page_watch import assert_accessible
from tests.browser.steps import (
    DECLINED_CARD,
    ONE_CHOICE,
    TWO_CHOICES,
    add_to_cart,
    cart_badge,
    continue_to_review,
    fill_in_checkout,
    pay_by_card,
    place_order,
    read_order_number,
    sign_in,
    skus_in_stock,
)
from tests.waiting import wait_until

WAYS = pytest.mark.parametrize(
    ("device", "scripts"),
    [("desktop", True), ("phone", True), ("desktop", False), ("phone", False)],
    ids=["desktop", "phone", "desktop-plain", "phone-plain"],
)


def test_a_page_opens_fast_enough_to_be_photographed_for_the_readme(
    open_page: OpenPage, shop: ServedShop
) -> None:
    page = open_page(device_scale_factor=1)
    add_to_cart(page)
    page.goto("/", wait_until="networkidle")
    page.evaluate("document.querySelectorAll('img').forEach((e) => { e.loading = 'eager' })")
    page.wait_for_load_state("networkidle")
    picture = page.screenshot(full_page=False)
    shop.save_picture("docs/screenshot.png", picture)


@WAYS
def test_x1_a_guest_buys_two_variants_and_follows_the_order(
    open_page: OpenPage, device: str, scripts: bool
) -> None:
    page = open_page(device, scripts=scripts)
    page.goto("/")
    page.locator("main a.tile").first.click()
    expect(page.locator("h1")).to_be_visible()
    page.locator("#q").fill("cotton towel")
    page.locator("#q").press("Enter")
    page.get_by_role("link", name=TWO_CHOICES.name).first.click()
    expect(page.locator("h1")).to_have_text(TWO_CHOICES.name)
    for sku in skus_in_stock(TWO_CHOICES)[:2]:
        page.goto(f"/p/{TWO_CHOICES.slug}/?variant={sku}")
        page.get_by_role("button", name="Add to cart").click()
        expect(page.locator("body")).to_contain_text("added to your cart")
    page.goto("/cart/")
    expect(page.locator("[data-row]")).to_have_count(2)
    page.get_by_role("link", name="Go to checkout").click()
    fill_in_checkout(page, f"{uuid4().hex}@example.org")
    place_order(page)
    pay_by_card(page)
    expect(page.locator("body")).to_contain_text("Thank you, Ann Other")
    number = read_order_number(page)
    expect(cart_badge(page)).to_contain_text("0")
    page.reload()
    assert read_order_number(page) == number


def test_x71_the_mailed_link_opens_the_order_in_another_browser(
    open_page: OpenPage, shop: ServedShop
) -> None:
    page = open_page()
    email = f"{uuid4().hex}@example.org"
    add_to_cart(page)
    page.goto("/checkout/")
    fill_in_checkout(page, email)
    place_order(page)
    pay_by_card(page)
    number = read_order_number(page)
    link = wait_until(lambda: shop.find_mailed_link(email, "/o/"), seconds=40)
    elsewhere = open_page("phone", allow="404")
    elsewhere.goto(f"/orders/{number}/")
    expect(elsewhere.locator("body")).not_to_contain_text("12 Harbour Street")
    elsewhere.goto(link)
    assert read_order_number(elsewhere) == number
    assert "/o/" not in elsewhere.url
    third = open_page()
    third.goto("/orders/")
    third.get_by_label("Order number").fill(f" {number.lower()} ")
    third.get_by_label("Email address").fill(email.upper())
    third.get_by_role("button", name="Find order").click()
    assert read_order_number(third) == number


def test_a_declined_card_leaves_the_order_payable(page: Page) -> None:
    add_to_cart(page, ONE_CHOICE)
    page.goto("/checkout/")
    fill_in_checkout(page)
    place_order(page)
    pay_by_card(page, DECLINED_CARD)
    expect(page.locator("body")).to_contain_text(
        "Your payment didn’t go through. Nothing was charged."
    )
    assert_accessible(page)
    page.get_by_role("button", name=re.compile("Try again: pay €")).click()
    pay_by_card(page)
    expect(page.locator("body")).to_contain_text("Thank you")


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "plain"])
def test_x1_somebody_registers_and_buys_with_an_address_of_their_own(
    open_page: OpenPage, shop: ServedShop, scripts: bool
) -> None:
    page = open_page(scripts=scripts)
    email = f"{uuid4().hex}@example.org"
    add_to_cart(page)
    page.goto("/account/register/")
    page.get_by_label("Email address").fill(email)
    page.get_by_role("button", name="Send link").click()
    expect(page.locator("h1")).to_have_text("Check your email")
    page.goto(wait_until(lambda: shop.find_mailed_link(email, "/account/register/"), seconds=40))
    page.get_by_label("Your name").fill("Bob Shopper")
    page.locator("#id_password").fill("a long row of words")
    page.get_by_role("button", name="Create account").click()
    expect(cart_badge(page)).to_contain_text("1")  # the guest's cart has come along
    page.goto("/account/addresses/add/")
    for field, value in {
        "#id_name": "Bob Shopper",
        "#id_street": "1 Quay",
        "#id_city": "Cork",
    }.items():
        page.locator(field).fill(value)
    page.locator("#id_country").select_option("IE")
    page.locator("main form button[type=submit]").first.click()
    page.goto("/cart/")
    page.get_by_role("link", name="Go to checkout").click()
    expect(page).to_have_url(re.compile("/checkout/delivery/$"))  # all of the first step is known
    expect(page.locator("main")).to_contain_text(email)
    expect(page.locator("main")).to_contain_text("1 Quay")
    continue_to_review(page)
    place_order(page)
    pay_by_card(page)
    number = read_order_number(page)
    page.goto("/account/orders/")
    expect(page.get_by_role("link", name=f"Order {number}", exact=True)).to_be_visible()


def test_staff_see_a_new_order_by_themselves_and_move_it_and_the_shopper_sees_it(
    open_page: OpenPage,
) -> None:
    board, shopper = open_page(), open_page("phone")
    sign_in(board, "Staff")
    for page in (board, shopper):
        page.clock.install()
    board.goto("/staff/orders/?column=to_pack")
    add_to_cart(shopper)
    shopper.goto("/checkout/")
    fill_in_checkout(shopper)
    place_order(shopper)
    pay_by_card(shopper)
    number = read_order_number(shopper)
    board.clock.run_for(5000)
    expect(board.locator("#board")).to_contain_text(number)
    assert_accessible(board, "the board after it refreshed itself")
    board.get_by_role("link", name=number).click()
    board.locator("#transition-packed").click()
    expect(board.locator("#order")).to_contain_text(re.compile("Packed|Shipped|Sent"))
    assert_accessible(board, "the order after a move")
    board.locator("#transition-shipped").click()
    expect(board.locator("#order")).to_contain_text("On its way")
    shopper.clock.run_for(16_000)
    expect(shopper.locator("#order-status")).to_contain_text("Your parcel is on its way")
    assert_accessible(shopper, "the shopper's order after it refreshed itself")


def test_x1_staff_work_without_scripts(open_page: OpenPage) -> None:
    shopper = open_page(scripts=False)
    add_to_cart(shopper)
    shopper.goto("/checkout/")
    fill_in_checkout(shopper)
    place_order(shopper)
    pay_by_card(shopper)
    number = read_order_number(shopper)
    staff = open_page(scripts=False)
    sign_in(staff, "Admin")
    staff.goto("/staff/")
    staff.locator("#bar_q").first.fill(number)
    staff.locator("#bar_q").first.press("Enter")
    expect(staff.locator("h1")).to_contain_text(number)
    staff.locator("#transition-packed").click()
    staff.locator("#transition-shipped").click()
    shopper.reload()
    expect(shopper.locator("#order-status")).to_contain_text("Your parcel is on its way")


def test_somebody_new_on_the_staff_enrols_a_telephone_and_is_shown_recovery_codes(
    open_page: OpenPage,
) -> None:
    page = open_page(who="to be enrolled")
    page.goto("/staff/second-factor/")
    page.get_by_text("Enter the key instead").click()
    secret = page.locator(".key").inner_text().replace(" ", "")
    page.locator("#id_code").fill(pyotp.TOTP(secret).now())
    page.get_by_role("button", name="Continue").click()
    expect(page.locator("h1")).to_have_text("Your recovery codes")
    expect(page.locator(".codes li")).to_have_count(10)
    assert_accessible(page)
    page.get_by_role("link", name="I have saved them").click()
    expect(page.locator("h1")).to_have_text("Home")

"""An order's page in a browser: what its script adds to the forms of refunds and parcels."""

import re

from playwright.sync_api import Locator, expect

from tests.browser.conftest import OpenPage, ServedShop
from tests.browser.page_watch import assert_accessible

MAKE = """
from tests.factories import make_order

orders = [make_order(paid=True), make_order(paid=True), make_order(), make_order(paid=True)]
print(",".join(str(each.order_id) for each in orders))
"""


def paste(source: Locator, text: str, field: Locator) -> None:
    """Cut a text out of another field, and paste it by the keyboard."""
    source.fill(text)
    source.press("ControlOrMeta+A")
    source.press("ControlOrMeta+X")
    field.press("ControlOrMeta+V")


def test_x497_pasted_numbers_stay_with_their_orders(open_page: OpenPage, shop: ServedShop) -> None:
    page = open_page(who="admin")
    page.goto(f"/staff/orders/{shop.things['to_pack']}/")
    one = page.locator("#shipped-tracking")
    paste(page.locator("#note-note"), "1Z999AA10123456784", one)
    expect(one).to_have_value("1Z999AA10123456784")
    page.goto(f"/staff/orders/changes/new/?act=shipped&orders={shop.run_script(MAKE).split()[-1]}")
    page.locator("summary", has_text="Paste tracking numbers").click()
    source, fields = page.locator("#shipped-tracking"), page.locator("[data-tracking]")
    # The third order is refused: it has a row without a field.
    for text, is_taken in (
        ("A1\n\n\nA4\n", True),
        ("B1\nB2\nB3\nB4", False),
        ("C1\n\n\nC4\nC5", False),
    ):
        paste(source, text, fields.first)
        assert [each.input_value() for each in fields.all()] == ["A1", "", "A4"]
        said = fields.first.evaluate("field => field.validationMessage")
        assert bool(said) != is_taken


def test_x497_x498_an_orders_forms_follow_what_is_typed(
    open_page: OpenPage, shop: ServedShop
) -> None:
    page = open_page(who="admin")
    page.goto(f"/staff/orders/{shop.things['to_pack']}/")
    carrier = page.locator("#shipped-carrier")
    page.locator("#shipped-tracking").fill("1z 999 aa1 0123456784")
    expect(carrier).to_have_value("UPS")
    # What was typed stays.
    carrier.fill("GLS")
    page.locator("#shipped-tracking").fill("RR123456785IE")
    expect(carrier).to_have_value("GLS")
    refund = page.locator("#refund")
    refund.locator("summary").click()
    button, units = page.locator("#refund-submit"), refund.locator("[data-total]").first
    expect(button).to_have_text("Refund")
    units.fill("1")
    expect(button).to_have_text(re.compile(r"^Refund €\d+\.\d\d$"))
    one_unit = button.inner_text()
    expect(refund.get_by_role("status")).to_contain_text(one_unit.removeprefix("Refund "))
    page.locator("#refund-amount").fill("€3,5")
    expect(button).to_have_text("Refund €3.50")
    page.locator("#refund-amount").fill("")
    expect(button).to_have_text(one_unit)
    page.locator("#refund-reason").fill("Scratched")
    assert_accessible(page, "an order whose refund is being typed")
    button.click()
    # The sum that the script said is the one that the shop computes.
    expect(page.locator("#order .sums")).to_contain_text(f"−{one_unit.removeprefix('Refund ')}")

"""X142: a purchase by ear: each step is found by role and name, in an order that makes sense, and what happens is said."""

import re

from playwright.sync_api import Page, expect

from tests.browser.screen_reader import ScreenReader
from tests.browser.steps import ADDRESS, GOOD_CARD, TWO_CHOICES, open_product

FIELDS = {
    "Full name": ADDRESS["#id_name"],
    "Street and number": ADDRESS["#id_street"],
    "Post": ADDRESS["#id_postal_code"],
    "City|Town": ADDRESS["#id_city"],
}


def test_x142_a_screen_reader_leads_from_a_product_to_the_paid_order(page: Page) -> None:
    reader = ScreenReader(page)
    open_product(page)
    reader.assert_reads(
        ("RootWebArea", TWO_CHOICES.name),
        ("link", "^Skip to main content$"),
        ("banner", ""),
        ("search", ""),
        ("combobox", "^Search products$"),
        ("link", "cart|Cart"),
        ("main", ""),
        ("navigation", "(?i)breadcrumb"),
        ("heading", f"^{TWO_CHOICES.name}$"),
        ("StaticText", "^€"),
        ("group", "^Colour"),
        ("radio", r"\w"),
        ("textbox", "^Quantity$"),
        ("button", "^Add to cart$"),
        ("contentinfo", ""),
    )
    quiet = reader.get_announced()
    assert (quiet.states["live"], quiet.name) == ("polite", "")
    reader.type("textbox", "^Quantity$", "2")
    reader.press("button", "^Add to cart$")
    reader.assert_reads(("status", "was added to your cart"))
    said = reader.get_announced()
    assert said.node == quiet.node, "another live region: what is new in it is not said"
    at = reader.get_focused()
    assert (at.role, at.name) == ("heading", "Added to cart")
    reader.assert_reads(
        ("region", "^Added to cart$"),
        ("heading", "^Added to cart$"),
        ("StaticText", "^2 items, €"),
        ("link", "^View cart$"),
        ("link", "^Go to checkout$"),
    )
    reader.press("link", "^Go to checkout$")

    expect(page).to_have_title(re.compile("Checkout"))
    first_step = (
        ("heading", "^Checkout$"),
        ("heading", "Your details$"),
        ("textbox", "^Email address required$"),
        ("combobox", "^Country required$"),
        *(("textbox", f"^({name}).* required$") for name in FIELDS),
        ("textbox", "^Phone optional$"),
        ("button", "^Continue to delivery and payment$"),
    )
    reader.assert_reads(*first_step)
    reader.assert_reads(("region", "^Order summary$"), ("term", "Total"), ("definition", ""))
    reader.press("button", "^Continue to delivery and payment$")
    # What is wrong is said first: in the title, and where the focus is.
    expect(page).to_have_title(re.compile("^Error: "))
    at = reader.get_focused()
    assert (at.role, at.name) == ("group", "There is a problem")
    reader.assert_reads(
        ("group", "^There is a problem$"), ("link", "(?i)email address"), *first_step
    )
    email = reader.find("textbox", "^Email address required$")
    assert email.states["invalid"] == "true"
    assert "Error:" in email.description
    reader.type("textbox", "^Email address required$", "ann@example.org")
    reader.type("combobox", "^Country required$", "Germany")
    for name, text in FIELDS.items():
        reader.type("textbox", f"^({name}).* required$", text)
    reader.press("button", "^Continue to delivery and payment$")

    reader.assert_reads(
        ("heading", "^Checkout$"),
        ("button", "^Change your details$"),
        ("StaticText", "ann@example.org"),
        ("group", "^Delivery required$"),
        ("radio", r"^Standard with .* \d+ \w+"),
        ("group", "^Payment required$"),
        ("radio", "(?i)^card"),
        ("button", "^Review order$"),
    )
    assert reader.find("radio", "^Standard").states["checked"] == "true"
    reader.press("radio", "(?i)^card", key="Space")
    assert reader.find("radio", "(?i)^card").states["checked"] == "true"
    reader.press("button", "^Review order$")

    reader.assert_reads(
        ("heading", "^Checkout$"),
        ("button", "^Change delivery and payment$"),
        ("heading", "Review and place order$"),
        ("button", "^Pay €"),
    )
    reader.press("button", "^Pay €")
    expect(page).to_have_title(re.compile("^Pay €.* Test bank$"))
    reader.type("textbox", "^Card number", GOOD_CARD)
    reader.press("button", "^Pay €")

    expect(page).to_have_title(re.compile("^Order "))
    reader.assert_reads(
        ("main", ""),
        ("heading", "^Order "),
        ("region", "^Status$"),
        ("StaticText", "^Thank you, Ann Other"),
        ("heading", "^What you ordered$"),
        ("heading", f"^{TWO_CHOICES.name}$"),
        ("heading", "^Delivery address$"),
    )

"""The shop's pages, each ready to be looked at: with something in the cart, an order placed, somebody logged in."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import BrowserContext, Page

from tests.browser.steps import TWO_CHOICES, add_to_cart, fill_in_checkout, order, order_number, pay, sign_in

PLACES = {
    "front": "/",
    "category": "/c/kitchen/",
    "product": f"/p/{TWO_CHOICES.slug}/",
    "search": "/search?q=cotton",
    "search without a result": "/search?q=zzzzzz",
    "cart": "/cart/",
    "empty cart": "/cart/",
    "checkout": "/checkout/",
    "bank": "",
    "order": "",
    "find an order": "/orders/",
    "sign in": "/account/login/",
    "register": "/account/register/",
    "profile": "/account/",
    "addresses": "/account/addresses/",
    "history": "/account/orders/",
    "help": "/help/",
    "delivery": "/help/delivery/",
    "privacy": "/help/privacy/",
    "imprint": "/help/imprint/",
    "mail": "/demo/mail/",
    "not found": "/p/no-such-thing/",
    "board": "/staff/",
    "staff's order": "",
}


@dataclass
class Places:
    """Where the pages are, and the cookies that open them."""

    addresses: dict[str, str] = field(default_factory=lambda: dict(PLACES))
    states: dict[str, Any] = field(default_factory=dict)

    def state(self, name: str) -> Any:
        """Return the cookies of somebody who may see the page."""
        return self.states.get(name)

    def open(self, page: Page, name: str) -> Page:
        """Open the page."""
        page.goto(self.addresses[name])
        return page


def furnished(somebody: Callable[[], BrowserContext]) -> Places:
    """Return all places, after `somebody` has filled a cart, placed an order and logged in."""
    found = Places()
    guest, member, staff = somebody(), somebody(), somebody()
    page = guest.new_page()
    add_to_cart(page, TWO_CHOICES, 0, quantity=2)
    page.goto("/checkout/")
    fill_in_checkout(page)
    order(page)
    found.addresses["bank"] = page.url
    found.states["bank"] = guest.storage_state()
    pay(page)
    found.addresses["order"] = page.url
    found.addresses["staff's order"] = f"/staff/orders/{order_number(page)}/"
    add_to_cart(page, TWO_CHOICES, 0, quantity=2)
    add_to_cart(page, TWO_CHOICES, 1)
    found.states["order"] = found.states["cart"] = found.states["checkout"] = guest.storage_state()
    for context, who, names in (
        (member, "Shopper", ("profile", "addresses", "history")),
        (staff, "Staff", ("board", "staff's order")),
    ):
        sign_in(context.new_page(), who)
        found.states |= dict.fromkeys(names, context.storage_state())
    for context in (guest, member, staff):
        context.close()
    return found

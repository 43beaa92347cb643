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
    "carts": "/carts/",
    "cart's people": "",
    "shared cart": "",
    "checkout": "/checkout/",
    "checkout's first step": "/checkout/?step=details",
    "checkout's second step": "/checkout/?step=ways",
    "bank": "",
    "order": "",
    "buy again": "",
    "cancel": "",
    "take something out": "",
    "another door": "",
    "send back": "",
    "find an order": "/orders/",
    "sign in": "/account/login/",
    "register": "/account/register/",
    "profile": "/account/",
    "addresses": "/account/addresses/",
    "new address": "/account/addresses/add/",
    "security": "/account/security/",
    "new password": "/account/password/",
    "forgotten password": "/account/reset/",
    "new e-mail address": "/account/email/",
    "preferences": "/account/preferences/",
    "own data": "/account/privacy/",
    "erasing": "/account/privacy/erase/",
    "goodbye": "/account/privacy/erased/",
    "history": "/account/orders/",
    "help": "/help/",
    "delivery": "/help/delivery/",
    "privacy": "/help/privacy/",
    "imprint": "/help/imprint/",
    "mail": "/demo/mail/",
    "not found": "/p/no-such-thing/",
    "board": "/staff/",
    "staff's order": "",
    "own second factor": "/staff/second-factor/",
    "people": "/staff/people/",
    "audit log": "/staff/log/",
}
# Those that a shopper has to sign in for.
MEMBERS = (
    "profile",
    "addresses",
    "new address",
    "security",
    "new password",
    "new e-mail address",
    "preferences",
    "own data",
    "erasing",
    "history",
)


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
    guest, member, staff, admin = somebody(), somebody(), somebody(), somebody()
    page = guest.new_page()
    add_to_cart(page, TWO_CHOICES, 0, quantity=2)
    page.goto("/checkout/")
    fill_in_checkout(page)
    order(page)
    found.addresses["bank"] = page.url
    found.states["bank"] = guest.storage_state()
    pay(page)
    found.addresses["order"] = page.url
    afterwards = {"take something out": "change", "another door": "address", "send back": "return"}
    found.addresses |= {name: f"{page.url}{tail}/" for name, tail in afterwards.items()}
    found.addresses |= {"buy again": f"{page.url}again/", "cancel": f"{page.url}cancel/"}
    found.addresses["staff's order"] = f"/staff/orders/{order_number(page)}/"
    add_to_cart(page, TWO_CHOICES, 0, quantity=2)
    add_to_cart(page, TWO_CHOICES, 1)
    found.states["buy again"] = found.states["cancel"] = found.states["order"] = found.states["cart"] = found.states[
        "checkout"
    ] = found.states["checkout's first step"] = found.states["checkout's second step"] = guest.storage_state()
    found.states |= dict.fromkeys(afterwards, guest.storage_state())
    page.goto("/cart/")
    page.get_by_role("link", name="Share this cart").click()
    found.addresses["cart's people"] = page.url
    page.get_by_role("button", name="Make a link").click()
    found.addresses["shared cart"] = page.get_by_label("The link").input_value()
    found.states |= dict.fromkeys(("carts", "cart's people"), guest.storage_state())
    for context, who, names in (
        (member, "Shopper", MEMBERS),
        (staff, "Staff", ("board", "staff's order", "own second factor")),
        (admin, "Admin", ("people", "audit log")),
    ):
        sign_in(context.new_page(), who)
        found.states |= dict.fromkeys(names, context.storage_state())
    for context in (guest, member, staff, admin):
        context.close()
    return found

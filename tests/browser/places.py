"""The shop's pages, each ready to be looked at: with something in the cart, an order placed, somebody logged in."""

from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import Page

from tests.browser.steps import TWO_CHOICES

PLACES = {
    "front": "/",
    "category": "/c/kitchen/",
    "product": f"/p/{TWO_CHOICES.slug}/",
    "search": "/search?q=cotton",
    "search without a result": "/search?q=zzzzzz",
    "cart": "/cart/",
    "empty cart": "/cart/",
    "sign in": "/account/login/",
    "register": "/account/register/",
    "help": "/help/",
    "delivery": "/help/delivery/",
    "not found": "/p/no-such-thing/",
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

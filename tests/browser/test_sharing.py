"""Two people in one cart, each in a browser of their own."""

import json

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Shop, Visit
from tests.browser.steps import ONE_CHOICE, TWO_CHOICES, add_to_cart, badge, focused
from tests.browser.watching import assert_accessible

SECONDS = 5_000
SHARED_CART = """
import json
from datetime import UTC, datetime
from cart import operations
from tests.cart.sharing import make_person, make_shared_cart
from tests.factories import PASSWORD, make_user
ann = make_user("Ann")
cart_id = make_shared_cart(ann, things=0)
people = {role: make_person(ann, cart_id, role, name=role.title()) for role in ("editor", "viewer")}
for person in people.values():
    operations.cart_switched(person.user_id, cart_id, datetime.now(UTC))
print(json.dumps({"cart": str(cart_id), "password": PASSWORD, "ann": ann.email} | {r: p.email for r, p in people.items()}))
"""


@pytest.fixture
def known(shop: Shop) -> dict[str, str]:
    """Who is in the cart, and how they sign in."""
    return dict(json.loads(shop.command("shell", "-v0", "-c", SHARED_CART).splitlines()[-1]))


def sign_in(page: Page, known: dict[str, str], who: str) -> Page:
    page.goto("/account/login/?next=/cart/")
    page.get_by_label("E-mail address").fill(known[who])
    page.locator("[name=password]").fill(known["password"])
    page.locator("main").get_by_role("button", name="Sign in").click()
    expect(page.locator("#cart-title")).to_have_text("Gifts for Mom")
    return page


def test_two_people_in_one_cart_see_each_others_changes(visit: Visit, known: dict[str, str]) -> None:
    ann, ben = sign_in(visit(), known, "ann"), sign_in(visit("phone"), known, "editor")
    add_to_cart(ben, TWO_CHOICES)
    expect(ann.locator("#cart .line")).to_have_count(1, timeout=SECONDS)
    expect(ann.locator("#cart")).to_contain_text(TWO_CHOICES.name)
    expect(badge(ann)).to_contain_text("1 item")
    expect(ann.locator("#status")).to_contain_text("Changed meanwhile. Gifts for Mom: 1 item, €")
    assert_accessible(ann)
    ben.goto("/cart/")
    ann.get_by_role("button", name="One more").click()
    expect(ben.locator("#cart input[name=quantity]")).to_have_value("2", timeout=SECONDS)
    viewer = sign_in(visit(), known, "viewer")
    expect(viewer.locator("#cart .line")).to_have_count(1)
    ben.get_by_role("button", name="Remove").click()
    expect(viewer.locator("#cart")).to_contain_text("Your cart is empty", timeout=SECONDS)
    expect(ann.locator("#cart")).to_contain_text("Your cart is empty", timeout=SECONDS)
    # Somebody else's change does not take Undo away from whoever has removed something.
    ann.goto("/")
    add_to_cart(ann, ONE_CHOICE)
    expect(ben.locator("#cart")).to_contain_text(ONE_CHOICE.name, timeout=SECONDS)
    ben.get_by_role("button", name="Undo").click()
    expect(ben.locator("#cart .line")).to_have_count(2)
    assert_accessible(ben)


def test_changes_of_others_wait_for_whoever_types_and_can_be_paused(visit: Visit, known: dict[str, str]) -> None:
    ann, ben = sign_in(visit(), known, "ann"), sign_in(visit(), known, "editor")
    add_to_cart(ann, TWO_CHOICES)
    ann.goto("/cart/")
    field = ann.locator("#cart input[name=quantity]")
    field.focus()
    before = focused(ann)
    add_to_cart(ben, ONE_CHOICE)
    expect(ann.locator("#cart .line")).to_have_count(2, timeout=SECONDS)
    assert focused(ann) == before  # the swap has left it where it was
    ann.keyboard.press("End")
    ann.keyboard.type("2")
    add_to_cart(ben, ONE_CHOICE)
    ann.wait_for_timeout(SECONDS)
    typed = ann.locator(":focus")
    expect(typed).to_have_value("12")
    expect(badge(ann)).to_contain_text("2 items")
    ann.keyboard.press("Enter")
    expect(badge(ann)).to_contain_text("14 items")
    pause = ann.locator("#pause")
    pause.click()
    expect(pause).to_have_text("Resume showing changes")
    add_to_cart(ben, ONE_CHOICE)
    ann.wait_for_timeout(SECONDS)
    expect(badge(ann)).to_contain_text("14 items")
    pause.click()
    expect(badge(ann)).to_contain_text("15 items", timeout=SECONDS)


def test_a_withdrawn_role_ends_while_its_page_is_open(visit: Visit, known: dict[str, str]) -> None:
    ann = sign_in(visit(), known, "ann")
    ben = sign_in(visit(allow="404"), known, "editor")
    ann.goto(f"/carts/{known['cart']}/people/")
    assert_accessible(ann)
    ann.locator("form", has_text="Take out Editor").get_by_role("button", name="Take out").click()
    expect(ann.locator("#status")).to_contain_text("no longer shared with this person")
    expect(ben.locator("#status")).to_contain_text("That is no longer there.", timeout=SECONDS)
    ben.goto(f"/carts/{known['cart']}/")
    expect(ben.locator("h1")).not_to_contain_text("Gifts")

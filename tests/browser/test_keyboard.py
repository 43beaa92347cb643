"""X6: everything by keyboard alone, with a ring that can be seen, nothing hidden, no trap."""

import re
from collections.abc import Iterator

from playwright.sync_api import Page, expect

from tests.browser.steps import GOOD_CARD, open_product

# What is wrong with the focus where it is now; an empty text if nothing is.
FOCUS_FAULT = """() => {
  const active = document.activeElement;
  if (active === document.body) return '';
  const rings = [active, active.closest('label, .chip, .choice, .search, .card__name, .quantity')].filter(Boolean)
    .flatMap((e) => [getComputedStyle(e), getComputedStyle(e, '::after')]);
  const ringed = rings.some((s) => s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 2);
  const box = active.getBoundingClientRect();
  const inside = box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth;
  const at = document.elementFromPoint(Math.min(Math.max(box.left + Math.min(box.width, 40) / 2, 1), innerWidth - 1),
    Math.min(Math.max(box.top + Math.min(box.height, 40) / 2, 1), innerHeight - 1));
  const seen = at && (active.contains(at) || at.contains(active) || at.closest('label')?.contains(active));
  return [ringed || 'no ring', inside || 'outside the window', seen || `behind ${at?.outerHTML.slice(0, 80)}`]
    .filter((each) => each !== true).map((each) => `${active.outerHTML.slice(0, 120)}: ${each}`).join();
}"""
WHO = "() => { const a = document.activeElement; return a === document.body ? '' : a.outerHTML.slice(0, 300) }"


def tabbed(page: Page, most: int = 150) -> Iterator[str]:
    """Press Tab until the focus leaves the page; yield what had it."""
    for _ in range(most):
        page.keyboard.press("Tab")
        who = str(page.evaluate(WHO))
        if not who:
            return
        fault = page.evaluate(FOCUS_FAULT)
        assert not fault, fault
        yield who
    raise AssertionError("the focus is trapped")


def tab_to(page: Page, selector: str) -> None:
    """Press Tab until the focus is on what the selector names."""
    for who in tabbed(page):
        if page.evaluate("(s) => document.activeElement.matches(s)", selector):
            return
        del who
    raise AssertionError(f"no Tab leads to {selector}")


def test_x6_tab_reaches_everything_in_order_and_leaves(page: Page) -> None:
    for address in ("/", "/c/kitchen/", "/cart/", "/account/login/"):
        page.goto(address)
        reached = list(tabbed(page))
        assert 'class="skip"' in reached[0]
        places = page.evaluate(
            """() => [...document.querySelectorAll('a[href], button, input:not([type=hidden]), select, summary')]
            .filter((e) => e.checkVisibility({visibilityProperty: true}) && !e.disabled && e.tabIndex >= 0).length"""
        )
        assert len(reached) >= places, address


def test_x6_the_skip_link_leads_to_the_content(page: Page) -> None:
    page.goto("/c/kitchen/")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
    page.keyboard.press("Tab")
    assert page.evaluate("document.querySelector('main').contains(document.activeElement)")


def test_x6_escape_closes_the_menu_and_gives_the_focus_back(phone_page: Page) -> None:
    phone_page.goto("/")
    menu = phone_page.locator("details.menu")
    tab_to(phone_page, "details.menu > summary")
    phone_page.keyboard.press("Enter")
    expect(menu).to_have_attribute("open", "")
    phone_page.keyboard.press("Tab")
    phone_page.keyboard.press("Escape")
    expect(menu).not_to_have_attribute("open", "")
    expect(menu.locator("summary")).to_be_focused()


def test_x6_a_guest_buys_by_keyboard_alone(page: Page) -> None:
    open_product(page)
    tab_to(page, "#quantity")
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("2")
    tab_to(page, "#add-button")
    page.keyboard.press("Enter")
    expect(page.locator("#added-title")).to_be_focused()
    tab_to(page, "#added a[href='/checkout/review/']")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("Checkout")
    for field, value in (
        ("#id_email", "ann@example.org"),
        ("#id_name", "Ann Other"),
        ("#id_street", "12 Harbour Street"),
        ("#id_postal_code", "10115"),
        ("#id_city", "Berlin"),
    ):
        tab_to(page, field)
        page.keyboard.type(value)
    page.keyboard.press("Enter")
    expect(page.locator("#ways")).to_be_visible()
    tab_to(page, "input[name=payment]")
    page.keyboard.press("Enter")
    expect(page.locator("#pay")).to_be_visible()
    tab_to(page, "#pay")
    page.keyboard.press("Enter")
    expect(page).to_have_title(re.compile("Test bank"))
    tab_to(page, "input[autocomplete='cc-number']")
    page.keyboard.type(GOOD_CARD)
    page.keyboard.press("Enter")
    expect(page.locator("body")).to_contain_text("Thank you, Ann Other")

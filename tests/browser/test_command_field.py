"""The staff's command field in a browser: keys, what is announced, a scanner's Enter, and the page without scripts."""

import re

from playwright.sync_api import expect

from tests.browser.conftest import OpenPage, ServedShop
from tests.browser.page_watch import assert_accessible

CLOSE_AND_PRESS = """() => {
  document.getElementById("command").close();
  document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {key: "/", bubbles: true}));
}"""


def test_x495_the_command_field_is_used_by_keyboard(open_page: OpenPage, shop: ServedShop) -> None:
    page, number = open_page(who="admin"), shop.things["to_pack"]
    page.goto("/staff/people/")
    dialog, box = page.locator("#command"), page.locator("#command_q")
    options, said = dialog.get_by_role("option"), dialog.get_by_role("status")
    page.keyboard.press("Control+k")
    expect(box).to_be_focused()
    page.keyboard.type("re")
    expect(options.filter(has_text="Reports")).to_be_in_viewport()
    expect(said).to_have_text(re.compile("^[0-9]+ results$"))
    for width in (390, 1280):
        for scheme in ("light", "dark"):
            page.set_viewport_size({"width": width, "height": 844})
            page.emulate_media(color_scheme=scheme)
            assert_accessible(page, f"the command field, {width} pixels, {scheme}")
    for key, place in (("ArrowDown", 1), ("ArrowUp", 0), ("ArrowUp", -1), ("ArrowDown", 0)):
        page.keyboard.press(key)
        chosen = options.nth(place)
        expect(chosen).to_have_attribute("aria-selected", "true")
        expect(box).to_have_attribute("aria-activedescendant", chosen.get_attribute("id") or "")
    page.keyboard.press("Escape")
    expect(dialog).not_to_be_visible()
    # A scanner's Enter comes before the results. Its first key may come before the frame that takes the focus from the closed field.
    page.keyboard.press("/")
    page.evaluate(CLOSE_AND_PRESS)
    expect(box).to_be_focused()
    page.keyboard.type(f"{number}\n", delay=0)
    expect(page).to_have_url(re.compile(f"/staff/orders/{number}/$"))
    page.get_by_role("button", name="Search", exact=True).click()
    expect(options.filter(has_text=number)).to_be_visible()
    # One letter finds nothing, so Enter would open no recent item.
    page.keyboard.type("z")
    expect(options).to_have_count(0)
    page.keyboard.type("zzzzz")
    expect(said).to_contain_text("No results")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/staff/search/[?]sealed="))
    expect(page.locator("main")).to_contain_text("No results for “zzzzzz”")
    # On a phone a product's name keeps its room beside picture, status and price.
    page.set_viewport_size({"width": 390, "height": 844})
    page.keyboard.press("Control+k")
    page.keyboard.type("towel")
    name = options.filter(has=page.locator(".picture")).first.locator(":scope > span").first
    assert name.bounding_box()["width"] >= 128  # type: ignore[index]
    # On a Mac, Ctrl-K is a key of text fields.
    page.add_init_script("Object.defineProperty(navigator, 'platform', {value: 'MacIntel'})")
    page.reload()
    page.keyboard.press("Control+k")
    expect(dialog).not_to_be_visible()
    page.keyboard.press("Meta+k")
    expect(dialog).to_be_visible()


def test_x495_without_scripts_the_search_page_does_the_same(
    open_page: OpenPage, shop: ServedShop
) -> None:
    page = open_page("phone", who="admin", scripts=False)
    page.goto("/staff/people/")
    expect(page.locator("[data-command]")).not_to_be_visible()
    field = page.locator("#bar_q")
    field.fill(shop.things["to_pack"])
    field.press("Enter")
    expect(page).to_have_url(re.compile(f"/staff/orders/{shop.things['to_pack']}/$"))
    field.fill("Wilhelmina")
    field.press("Enter")
    expect(page).to_have_url(re.compile("/staff/search/[?]sealed="))

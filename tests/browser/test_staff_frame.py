"""The frame of the staff's pages in a browser: keys, the menu of a phone, tables whose head stays."""

import re

import pytest
from django.template.loader import render_to_string
from playwright.sync_api import Page, expect

from adminpanel.conflicts import Conflict, FieldConflict
from tests.browser.conftest import OpenPage, ServedShop
from tests.browser.page_watch import assert_accessible

# In whose place a list of products will have its boxes.
ADD_BOXES = """() => document.querySelectorAll('main tbody tr').forEach((row, i) =>
  row.cells[1].insertAdjacentHTML('beforeend', `<input type="checkbox" aria-label="row ${i}">`))"""
HEADS = "() => document.querySelector('main thead th').getBoundingClientRect().top"


def open_people(page: Page) -> Page:
    page.goto("/staff/people/")
    return page


def test_x87_the_keys_walk_through_a_list_tick_and_open_its_rows(open_page: OpenPage) -> None:
    page = open_people(open_page(who="admin"))
    page.evaluate(ADD_BOXES)
    rows = page.locator("main tbody tr")
    assert rows.count() >= 3
    page.keyboard.press("k")
    expect(rows.nth(0)).to_be_focused()
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    expect(rows.nth(1)).to_be_focused()
    outline = rows.nth(1).evaluate("e => getComputedStyle(e).outlineStyle")
    assert outline != "none"
    assert_accessible(page, "a list with a row that has the focus")
    page.keyboard.press("x")
    expect(rows.nth(1).locator("input")).to_be_checked()
    expect(rows.nth(0).locator("input")).not_to_be_checked()
    rows.nth(1).locator("input").focus()
    page.keyboard.press("j")
    expect(rows.nth(2)).to_be_focused()
    name = rows.nth(2).locator("th a").inner_text()
    page.keyboard.press("e")
    expect(page.locator("h1")).to_have_text(name)
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.go_back()
    expect(page.locator("h1")).to_have_text("People")
    assert page.evaluate("document.readyState") == "complete"
    assert not errors


def test_x87_the_row_keeps_the_focus_when_the_board_refreshes_itself(open_page: OpenPage) -> None:
    page = open_page(who="staff")
    page.clock.install()
    page.goto("/staff/orders/?column=to_pack")
    rows = page.locator("#board tbody tr")
    assert rows.count() >= 1
    page.keyboard.press("j")
    expect(rows.nth(0)).to_be_focused()
    # It does not say what it shows, and so is answered with all of it.
    page.route(
        "**/staff/orders/?*seen=*",
        lambda route: route.continue_(url=route.request.url.split("&seen")[0]),
    )
    tick = rows.nth(0).locator("input[name=order]")
    tick.check()
    rows.nth(0).focus()
    page.evaluate("document.querySelector('#board').dataset.old = 'yes'")
    page.clock.run_for(5000)
    expect(page.locator("#board[data-old]")).to_have_count(0)
    expect(rows.nth(0)).to_be_focused()
    # What was ticked stays so.
    expect(tick).to_be_checked()


def test_x87_no_key_counts_in_a_field_with_others_held_or_once_they_are_off(
    open_page: OpenPage,
) -> None:
    page = open_people(open_page(who="admin"))
    keys, search = page.locator("#keys"), page.locator("#command_q")
    page.keyboard.press("/")
    expect(search).to_be_focused()
    page.keyboard.type("j?x/e")
    expect(search).to_have_value("j?x/e")
    expect(keys).not_to_be_visible()
    page.keyboard.press("Escape")
    page.locator("h1").click()
    for held in ("Control+j", "Alt+j", "Meta+j"):
        page.keyboard.press(held)
    assert page.locator("tr:focus").count() == 0
    page.keyboard.press("?")
    expect(keys).to_be_visible()
    assert_accessible(page, "the list of keys")
    page.keyboard.press("j")
    assert page.locator("tr:focus").count() == 0
    keys.get_by_role("checkbox").uncheck()
    page.keyboard.press("Escape")
    expect(keys).not_to_be_visible()
    page.reload()
    page.keyboard.press("j")
    page.keyboard.press("?")
    assert page.locator("tr:focus").count() == 0
    expect(keys).not_to_be_visible()
    page.get_by_role("button", name="Shortcuts").click()
    keys.get_by_role("checkbox").check()
    keys.get_by_role("button", name="Close").click()
    expect(page.get_by_role("button", name="Shortcuts")).to_be_focused()
    page.keyboard.press("j")
    expect(page.locator("main tbody tr").first).to_be_focused()


def test_x148_a_row_is_dragged_to_the_place_of_another(
    open_page: OpenPage, shop: ServedShop
) -> None:
    page = open_page(who="admin")
    # A browser scrolls by itself while something is dragged; Playwright does not.
    page.set_viewport_size({"width": 1280, "height": 3000})
    page.goto("/staff/categories/")
    # A value as that of a button: categories move among their neighbours alone.
    grips = page.locator("[data-list=top]")
    first, below = grips.nth(0).get_attribute("data-value"), page.locator("[data-list]").nth(1)
    assert below.get_attribute("data-list") != "top"
    grips.nth(0).drag_to(below)
    grips.nth(0).drag_to(grips.nth(2))
    expect(grips.nth(2)).to_have_attribute("data-value", first or "")
    expect(page.locator("#status")).to_contain_text("moved down")
    grips.nth(2).drag_to(grips.nth(0))
    expect(grips.nth(0)).to_have_attribute("data-value", first or "")
    # A number that may be typed as well.
    page.goto(f"/staff/categories/{shop.things['category']}/order/")
    for count in (1, 2):
        page.locator("[name=pin]").first.click()
        expect(page.locator("[data-list=pin]")).to_have_count(count)
    names = page.locator("tbody th")
    last = names.nth(1).inner_text()
    page.locator("[data-list=pin]").nth(1).drag_to(names.nth(0))
    expect(names.nth(0)).to_have_text(last)
    for count in (1, 0):
        page.locator("[name=unpin]").first.click()
        expect(page.locator("[data-list=pin]")).to_have_count(count)


def test_x178_a_scanner_counts_what_goes_into_a_parcel(
    open_page: OpenPage, shop: ServedShop
) -> None:
    page = open_page(who="staff")
    page.goto(f"/staff/orders/{shop.things['to_pack']}/")
    fold = page.locator("details[id^=pack-]").first
    fold.locator("summary").click()
    lines, field = fold.locator("[data-sku]"), fold.locator("[data-scan]")
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        room, taken = (
            each.evaluate("e => e.clientWidth") for each in (fold.locator("form"), field)
        )
        assert taken > min(room, 400) * 0.9, width
    sku, said = lines.first.get_attribute("data-sku") or "", fold.get_by_role("status")
    field.fill("NOBODYS")
    field.press("Enter")
    expect(said).to_have_text("NOBODYS isn’t in this order")
    expect(lines.first.get_by_role("textbox")).to_have_value("2")
    # As a scanner types: letter by letter, and Enter.
    field.press_sequentially(f"{sku.lower()}\n")
    expect(said).to_have_text(f"{sku}: 1 of 2")
    expect(lines.first.get_by_role("textbox")).to_have_value("1")
    expect(lines.nth(1).get_by_role("textbox")).to_have_value("")
    expect(field).to_be_focused()
    field.press_sequentially(f"{sku}\n")
    expect(lines.first).to_have_class(re.compile("is-full"))
    field.press_sequentially(f"{sku}\n")
    expect(said).to_have_text(f"All of {sku} packed: 2")
    expect(lines.first.get_by_role("textbox")).to_have_value("2")
    expect(field).to_have_value("")
    assert_accessible(page, "a parcel that is being packed with a scanner")


@pytest.mark.parametrize("scripts", [True, False])
def test_x88_on_a_phone_the_side_bar_is_a_menu(open_page: OpenPage, scripts: bool) -> None:
    page = open_page("phone", who="admin", scripts=scripts)
    page.goto("/staff/promotions/")
    entry = page.locator(".bar__fold").get_by_role("link", name="People")
    expect(entry).not_to_be_visible()
    expect(page.locator(".bar__column")).not_to_be_visible()
    page.get_by_text("Menu", exact=True).click()
    expect(entry).to_be_visible()
    if scripts:
        assert_accessible(page, "the open menu")
        page.keyboard.press("Escape")
        expect(entry).not_to_be_visible()
        page.get_by_text("Menu", exact=True).click()
    entry.click()
    expect(page.locator("h1")).to_have_text("People")


def test_x88_a_tables_head_stays_in_sight_at_a_desk_and_the_side_bar_with_it(
    open_page: OpenPage,
) -> None:
    page = open_people(open_page(who="admin"))
    assert page.locator(".bar").bounding_box()["width"] == 208  # type: ignore[index]
    page.set_viewport_size({"width": 1280, "height": 300})
    page.locator("main tbody tr").last.evaluate(
        "row => scrollTo(0, row.getBoundingClientRect().top + scrollY - 60)"
    )
    assert abs(page.evaluate(HEADS)) < 1  # within a pixel: the position is a fraction
    assert abs(page.locator(".bar").bounding_box()["y"]) < 1  # type: ignore[index]


@pytest.mark.parametrize("device", ["phone", "desktop"])
def test_x89_a_stale_edit_and_long_work_can_be_read_by_everybody(
    open_page: OpenPage, device: str
) -> None:
    page = open_people(open_page(device, who="admin"))
    fields = (FieldConflict("Name", "Mug, olive", "Cup"), FieldConflict("Brand", "", "Stoa"))
    parts = render_to_string(
        "adminpanel/_conflict.html",
        {"conflict": Conflict("Ann", None, "7", fields), "form_id": "f", "fresh_url": "/staff/"},
    ) + render_to_string(
        "adminpanel/_progress.html",
        {"id": "i", "label": "Import", "done": 4, "total": 9, "url": "/staff/"},
    )
    page.evaluate(
        "text => { document.querySelector('main .wrap').innerHTML = '<h1>A product</h1>' + text; }",
        parts,
    )
    expect(page.get_by_role("button", name="Overwrite with my version")).to_be_visible()
    assert_accessible(page, f"a conflict and long work on a {device}")

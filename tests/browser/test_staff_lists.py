"""The lists of the staff's pages in a browser: how many rows a window shows, how high they are, and how rows are selected."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.page_watch import assert_accessible

LISTS = ("/staff/orders/", "/staff/products/", "/staff/stock/")
# Each row of a list that is long enough, made of its own rows: its height, and whether the window shows all of it.
ROWS = """() => {
  const body = document.querySelector('main tbody'), own = [...body.rows];
  for (let i = 0; body.rows.length < 30; i++) body.append(own[i % own.length].cloneNode(true));
  return [...body.rows].map((row) => row.getBoundingClientRect()).map((box) => [box.height, box.bottom <= innerHeight]);
}"""

# The prices whose field reaches into the button behind it.
OVERLAPS = """(forms) => forms.filter((form) => {
  const [end, start] = ["input[name=price]", "button"].map((part) => form.querySelector(part).getBoundingClientRect());
  return end.right > start.left;
}).map((form) => form.id)"""


def measure(page: Page, address: str) -> tuple[int, set[int]]:
    """Return how many rows the window shows without scrolling, and the heights of rows."""
    page.goto(address)
    rows = page.evaluate(ROWS)
    return sum(shown for _, shown in rows), {round(height) for height, _ in rows}


def test_x490_a_window_shows_many_rows_of_one_height(open_page: OpenPage) -> None:
    page, phone, bare = (
        open_page(who="admin"),
        open_page("phone", who="admin"),
        open_page(who="admin", scripts=False),
    )
    faults = []
    for width, height, most, least in ((1600, 1000, 48, 14), (1280, 900, 48, 11)):
        page.set_viewport_size({"width": width, "height": height})
        for address in LISTS:
            shown, heights = measure(page, address)
            if shown < least or min(heights) < 40 or max(heights) > most:
                faults.append(f"{address} at {width}: {shown} rows of {heights}")
    for address in LISTS:
        shown, heights = measure(phone, address)
        if shown < 3:
            faults.append(f"{address} on a phone: {shown} rows of {heights}")
    assert not faults, "\n".join(faults)
    # No button covers the field beside it.
    page.goto("/staff/products/")
    assert page.locator("main .price-cell").evaluate_all(OVERLAPS) == []
    # The choice works without scripts, leads back to its page, and is kept.
    bare.set_viewport_size({"width": 1600, "height": 1000})
    bare.goto("/staff/stock/?show=low")
    bare.get_by_role("button", name="Compact rows").click()
    expect(bare).to_have_url(re.compile(r"/staff/stock/\?show=low$"))
    bare.goto("/staff/products/")
    heights = {
        round(row.bounding_box()["height"])  # type: ignore[index]
        for row in bare.locator("main tbody tr").all()[:5]
    }
    assert max(heights) <= 41, heights
    bare.get_by_role("button", name="Comfortable rows").click()
    expect(bare.get_by_role("button", name="Compact rows")).to_be_visible()


@pytest.mark.parametrize("device", ["desktop", "phone"])
def test_x491_selected_rows_open_a_bar_with_their_actions(open_page: OpenPage, device: str) -> None:
    page = open_page(device, who="admin")
    page.goto("/staff/products/")
    boxes, bar = page.locator("main .tick input"), page.locator(".select-bar")
    # The announcement is rendered before the bar is.
    expect(bar).not_to_be_visible()
    expect(page.locator("#selected")).to_be_attached()
    assert page.locator("#selected").evaluate("e => e.checkVisibility()")
    boxes.nth(0).check()
    boxes.nth(2).click(modifiers=["Shift"])
    expect(bar).to_contain_text("3 selected")
    expect(page.locator("#selected")).to_have_text("3 selected")
    box = bar.bounding_box()
    assert box
    assert abs(box["y"] + box["height"] - page.viewport_size["height"]) < 1  # type: ignore[index]
    # At the page's end the bar covers no box by half.
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    assert_accessible(page, f"a list with selected rows on a {device}")
    bar.get_by_label("Select all").check()
    expect(page.locator("#selected")).to_have_text(re.compile(r"^All \d+ selected$"))
    expect(boxes.last).to_be_checked()
    boxes.nth(1).uncheck()
    expect(bar.get_by_label("Select all")).not_to_be_checked()
    bar.get_by_role("button", name="Clear").click()
    expect(bar).not_to_be_visible()
    boxes.nth(1).check()
    bar.get_by_role("button", name="Change category").click()
    expect(page.locator("h1")).to_contain_text("product")
    assert "#category" in page.url


def test_x491_without_scripts_the_bar_stands_below_the_table(open_page: OpenPage) -> None:
    page = open_page(who="admin", scripts=False)
    page.goto("/staff/orders/?column=to_pack")
    bar, table = (
        page.locator(".select-bar").bounding_box(),
        page.locator("main table").bounding_box(),
    )
    assert bar
    assert table
    assert bar["y"] >= table["y"] + table["height"] - 1
    page.locator("main .tick input").first.check()
    page.get_by_role("button", name="Pack", exact=True).click()
    expect(page.locator("h1")).to_contain_text("Pack")

"""The page of one product in a browser: options as chips, the grid of variants, pictures before they are saved."""

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.page_watch import assert_accessible
from tests.catalogue.photo_files import make_file

PASTE = """(field, text) => {
  const clipboardData = new DataTransfer();
  clipboardData.setData("text/plain", text);
  field.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
}"""
DROP = """async (zone, [name, bytes]) => {
  const dataTransfer = new DataTransfer();
  dataTransfer.items.add(new File([new Uint8Array(bytes)], name, { type: "image/jpeg" }));
  zone.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
}"""


@pytest.fixture
def new(open_page: OpenPage) -> Page:
    page = open_page(who="admin", allow="status of 422")
    page.goto("/staff/products/new/")
    page.locator("[name=name]").fill("Browser bowl")
    page.locator("[name=category_id]").select_option(index=1)
    return page


def cells(page: Page, column: str) -> Locator:
    """The cells of a column in the rows that are shown."""
    return page.locator(f"#variants-grid tbody:not([data-all]) tr:visible [name$='-{column}']")


def type_option(page: Page, number: int, name: str, *values: str) -> None:
    page.locator(f"[name=option-{number}-name]").fill(name)
    page.locator(f"#option-{number}-values").focus()
    for each in values:
        page.keyboard.type(each)
        page.keyboard.press("Enter")


def values(found: Locator) -> list[str]:
    return [each.input_value() for each in found.all()]


def test_x505_variants_follow_the_chips_and_keep_what_was_typed(new: Page) -> None:
    rows = new.locator("#variants-grid tbody:not([data-all]) tr:visible [data-variant-label]")
    expect(new.get_by_text("Unsaved changes")).to_be_visible()
    expect(rows).to_have_count(1)
    for name, text in (("price", "12.00"), ("compare_at", "15.00"), ("content", "250")):
        cells(new, name).fill(text)
    type_option(new, 0, "Size", "S", "M")
    assert rows.all_inner_texts() == ["S", "M"]
    assert values(cells(new, "price")) == ["12.00", "12.00"]
    # A new variant has the content of the one it is like, but no former price: it was never sold.
    assert values(cells(new, "content")) == ["250", "250"]
    assert values(cells(new, "compare_at")) == ["15.00", ""]
    cells(new, "compare_at").first.fill("")
    cells(new, "price").nth(1).fill("14.00")
    type_option(new, 1, "Colour", "Oat", "Slate, dark")
    assert rows.all_inner_texts() == [
        "S, Oat",
        "S, Slate",
        "S, dark",
        "M, Oat",
        "M, Slate",
        "M, dark",
    ]
    new.keyboard.press("Backspace")
    assert rows.all_inner_texts() == ["S, Oat", "S, Slate", "M, Oat", "M, Slate"]
    assert values(cells(new, "price")) == ["12.00", "12.00", "14.00", "14.00"]
    # What goes and comes back has what was typed.
    cells(new, "price").nth(2).fill("15.00")
    new.get_by_role("button", name="Remove M").click()
    expect(rows).to_have_count(2)
    type_option(new, 0, "Size", "M")
    assert values(cells(new, "price")) == ["12.00", "12.00", "15.00", "14.00"]
    assert_accessible(new, "a product with options")
    zone = new.locator("[data-drop-zone]")
    zone.evaluate(DROP, ["side.jpg", list(make_file())])
    new.locator("[name=pictures]").set_input_files(
        {"name": "top.jpg", "mimeType": "image/jpeg", "buffer": make_file(shade=9)}
    )
    expect(zone.locator("canvas")).to_have_count(2)
    zone.get_by_role("button", name="side.jpg").click()
    expect(zone.locator("li")).to_have_count(1)
    new.get_by_role("button", name="Save draft").click()
    expect(new.locator("h1")).to_contain_text("Browser bowl")
    expect(new.get_by_text("Unsaved changes")).to_be_hidden()
    assert rows.all_inner_texts() == ["S, Oat", "S, Slate", "M, Oat", "M, Slate"]
    assert values(cells(new, "price")) == ["12.00", "12.00", "15.00", "14.00"]
    # The saved rows stay as well: one that goes is not sold, one that comes back is.
    new.get_by_role("button", name="Remove Oat").click()
    assert rows.all_inner_texts() == ["S, Slate", "M, Slate"]
    type_option(new, 1, "Colour", "Oat")
    expect(rows).to_have_count(4)
    new.get_by_role("button", name="Save product").click()
    expect(new.get_by_text("Unsaved changes")).to_be_hidden()
    assert values(cells(new, "price")) == ["12.00", "12.00", "14.00", "15.00"]
    # With one option more each goes on as the first variant that has its values.
    skus = values(cells(new, "sku"))
    type_option(new, 2, "Glaze", "Matt", "Gloss")
    assert values(cells(new, "sku")) == [each for sku in skus for each in (sku, "")]
    new.get_by_role("button", name="Save product").click()
    expect(new.get_by_text("Unsaved changes")).to_be_hidden()
    expect(rows).to_have_count(8)
    assert values(cells(new, "sku"))[::2] == skus
    # A cell that does not fit goes with its variant, and keeps nothing from being saved.
    second = cells(new, "price").nth(1)
    second.evaluate(PASTE, "12\t\nsoon\t")
    expect(new.get_by_text("“soon” doesn’t fit here")).to_be_visible()
    new.get_by_role("button", name="Remove Matt").click()
    new.get_by_role("button", name="Save product").click()
    expect(new.get_by_text("Unsaved changes")).to_be_hidden()


def test_x505_cells_are_filled_by_keys_by_a_pasted_block_and_all_at_once(new: Page) -> None:
    type_option(new, 0, "Size", "S", "M", "L")
    price, weight = cells(new, "price"), cells(new, "weight_grams")
    price.first.focus()
    new.keyboard.type("10")
    new.keyboard.press("Enter")
    expect(price.nth(1)).to_be_focused()
    new.keyboard.type("11")
    new.keyboard.press("ArrowLeft")
    expect(price.nth(1)).to_be_focused()
    new.keyboard.press("ArrowUp")
    expect(price.first).to_be_focused()
    new.keyboard.press("ArrowRight")
    expect(cells(new, "compare_at").first).to_be_focused()
    new.keyboard.press("ArrowDown")
    new.keyboard.press("ArrowLeft")
    expect(price.nth(1)).to_be_focused()
    new.keyboard.press("End")
    new.keyboard.type("5")
    assert values(price) == ["10", "115", ""]
    new.keyboard.press("Tab")
    expect(cells(new, "compare_at").nth(1)).to_be_focused()
    names = new.locator("#variants-grid thead [data-column^='stock-']").all()[:2]
    first, second = (cells(new, each.get_attribute("data-column") or "") for each in names)
    first.first.evaluate(PASTE, '12\t15\r\n"13"\tsoon\r\n14\t\r\n15\t16\r\n')
    assert values(first) == ["12", "13", "14"]
    assert values(second) == ["15", "soon", ""]
    said = "Cells pasted: 5, refused: 1, outside the table: 2"
    expect(new.locator("[role=status]", has_text=said)).to_be_visible()
    assert_accessible(new, "a grid with a refused cell")
    # Nothing is saved before the cell is right; what the server refuses is marked in its cell as well.
    new.get_by_role("button", name="Save draft").click()
    expect(second.nth(1)).to_be_focused()
    expect(new.get_by_text("“soon” doesn’t fit here")).to_be_visible()
    new.keyboard.type("1,2,3")
    expect(new.get_by_text("“soon” doesn’t fit here")).to_be_hidden()
    new.get_by_label("Set all: Weight").fill("450")
    new.keyboard.press("Enter")
    assert values(weight) == ["450", "450", "450"]
    new.locator("[name=option-1-name]").fill("Colour")
    new.get_by_role("button", name="Save draft").click()
    summary = new.locator("[data-error-summary]")
    summary.get_by_role("link", name="Enter the values of").click()
    expect(new.locator("#option-1-values")).to_be_focused()
    new.locator("[name=option-1-name]").fill("")
    assert "/staff/products/new/" in new.url
    # Neither has the third one a price.
    expect(new.locator("#variants-grid [aria-invalid=true]")).to_have_count(2)
    second.nth(1).fill("16")
    price.nth(2).fill("14,50")
    new.get_by_role("button", name="Save draft").click()
    expect(new.locator("h1")).to_contain_text("Browser bowl")
    assert values(price) == ["10.00", "115.00", "14.50"]
    assert values(first) == ["12", "13", "14"]
    assert values(second)[:2] == ["15", "16"]
    assert values(weight) == ["450", "450", "450"]

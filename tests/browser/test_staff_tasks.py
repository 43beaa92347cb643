"""Ten tasks of staff in a browser: the clicks that each takes from the first staff page on, and what is stored then.

A click is a click, a choice from a list, a chosen file, or Enter. Typing is free, and so is the Tab key: only the first field of a
page counts a click, unless it has the focus. docs/staff-tasks.md has the counts and the bounds.
"""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Locator, Page, expect
from pypdf import PdfReader

from tests.browser.conftest import OpenPage, ServedShop
from tests.environment import ROOT
from tests.waiting import wait_until

# The clicks of each task, and how many they may be.
STATED = {
    task: (int(clicks), int(most))
    for task, clicks, most in re.findall(
        r"^\| ([^|]+?) \| (\d+) \| (\d+) \|",
        (ROOT / "docs/staff-tasks.md").read_text(),
        re.MULTILINE,
    )
}
# What these tasks are done with is theirs alone.
MAKE = """
import json
from datetime import UTC, datetime, timedelta
from uuid import uuid4
from orders.operations.placement import place_order
from tests.factories import make_draft, make_payment, make_product, make_user

mark, now = uuid4().hex[:6], datetime.now(UTC)
product = make_product(f"Tumbler {mark}", stock=90, listed=True)
def sell(at):
    return make_payment(place_order(make_draft((product, 2)), at), now=at).number
sell(now - timedelta(days=1))
print(json.dumps({
    "mark": mark, "product": str(product.product_id), "sku": product.variants[0].sku,
    "orders": [sell(now) for _ in range(10)], "person": str(make_user(f"Philippa Quill{mark}").user_id),
}))
"""
READ = """
import json
from uuid import UUID
from catalogue.queries import find_product_id_by_slug, get_product, list_uploads
from inventory.queries import get_stock
from orders.queries import get_order_by_number
from promotions.queries import get_promotion

made = MADE
orders = [get_order_by_number(each) for each in made["orders"]]
product = get_product(UUID(made["product"]))
new = get_product(find_product_id_by_slug(f"tray-{made['mark']}"))
code = get_promotion("code", f"quill{made['mark']}")
def units(of):
    return sorted(each.available for each in get_stock(of.product_id).values())
print(json.dumps({
    "tracking": [[each.tracking for each in order.parcels()] for order in orders[:4]],
    "columns": [order.board_column for order in orders[:4]],
    "refunded": f"{orders[4].refunded.amount:.2f}",
    "price": f"{product.variants[0].price.amount:.2f}",
    "units": units(product),
    "new": sorted([" ".join(each.options.values()), f"{each.price.amount:.2f}"] for each in new.variants),
    "new_units": units(new),
    "pictures": len(new.pictures) + len(list_uploads(new.product_id)),
    "percent": str(code.percent),
}))
"""


class Hand:
    """The hand of a member of staff, whose clicks are counted."""

    def __init__(self, page: Page) -> None:
        self.page, self.clicks, self.typed_at = page, 0, ""

    def click(self, there: Locator, **options: Any) -> None:
        there.click(**options)
        self.clicks += 1

    def type(self, field: Locator, text: str) -> None:
        field.wait_for()
        if self.typed_at != self.page.url and not field.evaluate(
            "e => e === document.activeElement"
        ):
            self.clicks += 1
        self.typed_at = self.page.url
        field.fill(text)

    def choose(self, there: Locator, place: int) -> None:
        there.select_option(index=place)
        self.clicks += 1

    def choose_file(self, there: Locator, path: Path) -> None:
        there.set_input_files(path)
        self.clicks += 1

    def enter(self) -> None:
        self.page.keyboard.press("Enter")
        self.clicks += 1

    def open_found(self, text: str, name: str = "") -> None:
        """Type into the command field, and click on the result that has this name."""
        page = self.page
        page.keyboard.press("/")
        page.keyboard.type(text)
        self.click(page.locator("#command").get_by_role("option").filter(has_text=name or text))

    def open_entry(self, label: str) -> None:
        """Click on an entry of the side bar."""
        self.click(self.page.locator(".bar__nav").get_by_role("link", name=label, exact=True))

    def press(self, name: str | re.Pattern[str]) -> None:
        """Click on a button."""
        self.click(self.page.get_by_role("button", name=name, exact=isinstance(name, str)))

    def tick(self, *numbers: str) -> None:
        """Select orders of the board: of more than three the first and, with the shift key, the last."""
        first, *rest = numbers
        self.click(self.page.locator(f"#tick-{first}"))
        for each in rest[-1:] if len(numbers) > 3 else rest:
            modifiers = ["Shift"] if len(numbers) > 3 else []
            self.click(self.page.locator(f"#tick-{each}"), modifiers=modifiers)


def test_x509_ten_tasks_take_few_clicks(
    open_page: OpenPage, shop: ServedShop, tmp_path: Path
) -> None:
    made = json.loads(shop.run_script(MAKE).splitlines()[-1])
    page, mark = open_page(who="admin"), made["mark"]
    hand, clicks = Hand(page), {}
    page.goto("/staff/orders/")
    rows = page.locator("main tbody tr").all()
    orders = [
        each for row in rows for each in made["orders"] if row.get_attribute("id") == f"row-{each}"
    ]
    made["orders"] = orders

    @contextmanager
    def task(name: str) -> Iterator[None]:
        page.goto("/staff/")
        hand.clicks, hand.typed_at = 0, ""
        yield
        clicks[name] = hand.clicks

    with task("Ship one order with its tracking number"):
        hand.open_entry("Orders")
        hand.click(page.locator(f"#order-{orders[0]}"))
        hand.type(page.locator("#shipped-tracking"), "RR123456785IE")
        hand.press("Ship")
        expect(page.locator("#order")).to_contain_text("RR123456785IE")
    with task("Ship three orders"):
        hand.open_entry("Orders")
        hand.tick(*orders[1:4])
        hand.press("Ship")
        hand.press("Ship: 3 orders")
        expect(page.locator("main")).to_contain_text("3 of 3")
    with task("Print the slips of five orders"):
        hand.open_entry("Orders")
        hand.tick(*orders[5:10])
        with page.expect_download() as download:
            hand.press("Print slips")
        printed = "".join(each.extract_text() for each in PdfReader(download.value.path()).pages)
        assert [each for each in orders[5:10] if each not in printed] == [], printed
    with task("Find a customer by the beginning of a name"):
        hand.open_found(f"quill{mark}")
        expect(page).to_have_url(re.compile(f"/staff/customers/{made['person']}/"))
    with task("Refund one line"):
        hand.open_found(orders[4])
        refund = page.locator("#refund")
        hand.click(refund.locator("summary"))
        hand.type(refund.locator("[data-total]").first, "1")
        hand.type(refund.locator("#refund-reason"), "Scratched")
        hand.press("Refund €12.00")
        expect(page.locator("#order .sums")).to_contain_text("−€12.00")
    with task("Change one price"):
        hand.open_found(made["sku"], f"Tumbler {mark}")
        hand.type(page.locator("[name=variant-0-price]"), "15.50")
        hand.press("Save product")
        expect(page.locator("body")).to_contain_text("Saved")
    with task("Adjust stock"):
        hand.open_found(made["sku"], f"Tumbler {mark}")
        hand.type(page.locator("[name=variant-0-stock-berlin]"), "33")
        hand.press("Save product")
        expect(page.locator("body")).to_contain_text("Saved")
    with task("Add a product: 2 × 2 variants, a picture, stock"):
        Image.new("RGB", (900, 900), "sienna").save(picture := tmp_path / "tray.jpg")
        add_product(hand, f"Tray {mark}", picture)
    with task("Create a promotion code"):
        hand.open_entry("Promotions")
        hand.click(page.get_by_role("link", name=re.compile("Percentage off")))
        hand.type(page.locator("#promotion-title"), "For Philippa")
        hand.type(page.locator("#promotion-voucher"), f"QUILL{mark}")
        hand.type(page.locator("#promotion-percent"), "20")
        hand.press("Create promotion")
        expect(page.locator("main")).to_contain_text(f"QUILL{mark}")
    with task("See yesterday’s sales"):

        def shows_sales() -> bool:
            page.reload()
            return "€24.00" in page.locator("#sales-yesterday").inner_text()

        # The worker adds up an earlier day's sales within the minute.
        wait_until(shows_sales, "yesterday's sales are not shown", seconds=60)
    assert clicks == {name: stated for name, (stated, _most) in STATED.items()}
    assert [name for name, (stated, most) in STATED.items() if stated > most] == []
    assert json.loads(shop.run_script(READ.replace("MADE", repr(made))).splitlines()[-1]) == {
        "tracking": [["RR123456785IE"], [""], [""], [""]],
        "columns": ["shipped"] * 4,
        "refunded": "12.00",
        "price": "15.50",
        "units": [33],
        "new": [[f"{size} {colour}", "48.00"] for size in "LS" for colour in ("Oak", "Walnut")],
        "new_units": [9, 9, 9, 9],
        "pictures": 1,
        "percent": "20",
    }


def add_product(hand: Hand, name: str, picture: Path) -> None:
    """Add a product on its one page."""
    page = hand.page
    hand.open_entry("Products")
    hand.click(page.get_by_role("link", name="Add product"))
    hand.type(page.locator("#id_name"), name)
    hand.choose(page.locator("#id_category_id"), 1)
    hand.choose_file(page.locator("#id_pictures"), picture)
    for place, (option, values) in enumerate((("Size", "S, L,"), ("Wood", "Oak, Walnut,"))):
        hand.type(page.locator(f"#option-{place}-name"), option)
        hand.type(page.locator(f"#option-{place}-values"), values)
    hand.type(page.get_by_label("Set all: Price"), "48")
    hand.type(page.locator("[data-all] [data-column=stock-berlin] input"), "9")
    page.keyboard.press("Tab")
    hand.press("Save draft")
    expect(page.locator("h1")).to_contain_text(name)

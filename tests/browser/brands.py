"""The pictures of docs/brands.md: five pages of the demo shop, in the brand that it has now.

    make run PORT=8196
    .venv/bin/python -m tests.browser.brands http://127.0.0.1:8196 first
    STOA_DEMO=true .venv/bin/python manage.py load_brand quire-and-nib
    .venv/bin/python -m tests.browser.brands http://127.0.0.1:8196 quire-and-nib

Wait a minute after the brand was loaded: the worker and the processes follow.
"""

import io
import os
import sys

from PIL import Image
from playwright.sync_api import Locator, Page, sync_playwright

from demo.catalogue_data import PRODUCTS
from devtools.chromium import find_chromium
from tests.browser import steps
from tests.environment import ROOT
from tests.waiting import wait_until

FOLDER = ROOT / "docs" / "brands"
MAX_BYTES = 60_000
# The category of each brand that is shown, and two products, the first of which is shown.
SHOWN = {
    "first": ("mugs-tea-and-coffee", ("everyday-mug", "teapot")),
    "quire-and-nib": ("notebooks-and-paper", ("a5-notebook", "pencil-set")),
}


def take_picture(page: Page, name: str) -> None:
    """Save what the window shows as a WebP file of at most MAX_BYTES."""
    page.wait_for_load_state("networkidle")
    picture, made = Image.open(io.BytesIO(page.screenshot())).convert("RGB"), io.BytesIO()
    for quality in range(80, 20, -5):
        made = io.BytesIO()
        picture.save(made, "WEBP", quality=quality, method=6)
        if made.tell() <= MAX_BYTES:
            break
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / f"{name}.webp").write_bytes(made.getvalue())


def find_mail(page: Page, email: str) -> Locator | None:
    """Return the link to the newest mail to an address; None if the worker has not sent it yet."""
    page.goto("/demo/mail/")
    links = page.locator("tr", has_text=email).locator("a").all()
    return links[0] if links else None


def walk(page: Page, brand: str) -> None:
    """Show the front page, a category and a product, fill a cart, order, and read the mail."""
    category, keys = SHOWN[brand]
    products = [next(each for each in PRODUCTS if each.key == key) for key in keys]
    page.goto("/")
    take_picture(page, f"1-front-{brand}")
    page.goto(f"/c/{category}/")
    take_picture(page, f"2-category-{brand}")
    steps.open_product(page, products[0])
    take_picture(page, f"3-product-{brand}")
    for product in products:
        steps.add_to_cart(page, product)
    page.goto("/cart/")
    take_picture(page, f"4-cart-{brand}")
    email = f"{os.urandom(4).hex()}@example.com"
    page.goto("/checkout/")
    steps.fill_in_checkout(page, email)
    steps.place_order(page)
    steps.pay_by_card(page)
    wait_until(lambda: find_mail(page, email), "no mail about the order", seconds=60).click()
    take_picture(page, f"5-mail-{brand}")


def main(shop: str, brand: str) -> None:
    """Take the five pictures."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium())
        window = {"width": 1280, "height": 1000}
        page = browser.new_context(base_url=shop, viewport=window, color_scheme="light").new_page()  # type: ignore[arg-type]
        walk(page, brand)
        browser.close()


if __name__ == "__main__":
    main(*sys.argv[1:])

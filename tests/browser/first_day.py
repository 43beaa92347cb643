"""The pictures of docs/first-day.md, made by walking through it in a browser.

    STOA_DEMO=0 PORT=8199 make run
    echo 'a long row of words' | .venv/bin/python manage.py staff add ada@example.com --role admin --name Ada --password-stdin
    .venv/bin/python -m tests.browser.first_day http://127.0.0.1:8199 ada@example.com 'a long row of words'

The shop has to be empty, and the account without a second factor.
"""

import io
import re
import sys

import pyotp
from PIL import Image, ImageDraw, ImageFont
from playwright.sync_api import Page, sync_playwright

from tests.environment import ROOT
from tests.waiting import wait_until

FOLDER = ROOT / "docs" / "first-day"
# Where an empty shop on this machine puts its mails (devtools.shop_run).
MAIL_FOLDER = ROOT / ".run" / "mail"
CHROMIUM = "/usr/bin/chromium-headless-shell"
WIDTH, HEIGHT = 1100, 720
ADDRESS = {
    "email": "ada@example.com",
    "name": "Ada Miller",
    "street": "12 Harbour Street",
    "postal_code": "10115",
    "city": "Berlin",
}
TERMS = """
We are a pottery of two. Who buys from us agrees to these terms.

- Each piece is thrown by hand, so yours differs a little from its picture.
- We pack within two days. If a piece arrives broken, we throw another one.
- You can return what you don’t like within {return_days}. [How to return an item](/help/delivery/#returns)

## Right of withdrawal {#withdrawal}
{withdrawal}
"""

DESCRIPTION = "A vase for *a few* flowers, glazed in **white**."


def take_picture(page: Page, name: str) -> None:
    """Save what the window shows as a small WebP file."""
    page.wait_for_load_state("networkidle")
    FOLDER.mkdir(exist_ok=True)
    picture = Image.open(io.BytesIO(page.screenshot()))
    picture.convert("RGB").save(FOLDER / f"{name}.webp", quality=60, method=6)


def submit(page: Page, words: str) -> None:
    """Press the first button with these words, and wait for the page that follows."""
    page.locator("main button", has_text=words).first.click()
    page.wait_for_load_state()


def fill(page: Page, **values: str) -> None:
    """Type into the fields of these names."""
    for name, value in values.items():
        page.locator(f"main [name={name}]").first.fill(value)


def sign_in(page: Page, shop: str, email: str, password: str) -> None:
    """Sign in, and set the second factor up."""
    page.goto(f"{shop}/staff/")
    fill(page, email=email, password=password)
    submit(page, "Sign in")
    page.locator("summary", has_text="Enter the key instead").click()
    take_picture(page, "1-second-factor")
    found = re.search(r"(?:[A-Z2-7]{4} ?){6,}", page.locator("main details").inner_text())
    assert found
    fill(page, code=pyotp.TOTP(found[0].replace(" ", "")).now())
    submit(page, "Continue")


def draw_logo() -> bytes:
    """Return a vase and a name as a PNG, transparent around them."""
    picture, file = Image.new("RGBA", (620, 140), "#2f6f5e00"), io.BytesIO()
    pen = ImageDraw.Draw(picture)
    pen.rectangle((38, 10, 72, 50), "#2f6f5e")
    pen.ellipse((10, 34, 100, 130), "#2f6f5e")
    pen.text((124, 34), "Miller Pottery", "#2f6f5e", ImageFont.load_default(68))
    picture.save(file, "PNG")
    return file.getvalue()


def set_up_brand(page: Page, shop: str) -> None:
    """Give the shop its name, logo and colours, and its own terms of sale."""
    page.goto(f"{shop}/staff/settings/brand/")
    logo = {"name": "logo.png", "mimeType": "image/png", "buffer": draw_logo()}
    page.locator("main [name=files]").set_input_files(logo)  # type: ignore[arg-type]
    submit(page, "Upload")
    page.locator("main a", has_text="Choose among the new pictures").click()
    fill(page, name="Miller Pottery", tagline="Vases and bowls, thrown by hand in Berlin")
    fill(page, accent="#24594b", ground="#f1f4ec")
    page.locator("main [name=logo]").nth(1).check()
    page.locator("main button", has_text="Preview").click()
    page.locator("#preview", has_text="Vases and bowls").wait_for()
    take_picture(page, "2-brand")
    submit(page, "Save brand")
    page.goto(f"{shop}/staff/pages/terms/")
    fill(page, description="The terms on which our pottery sells.", text=TERMS.strip())
    page.locator("main [name=text]").scroll_into_view_if_needed()
    take_picture(page, "3-terms")
    submit(page, "Publish page")
    page.locator("body", has_text="Published.").wait_for()


def make_products(page: Page, shop: str) -> None:
    """Add a category and three products with units, and put them on sale: the second one comes in three sizes."""
    page.goto(f"{shop}/staff/categories/")
    page.locator("main a", has_text="Add category").first.click()
    fill(page, name="Vases", description="Thrown by hand in our workshop.")
    take_picture(page, "4-category")
    submit(page, "Add category")
    for name, price, sizes in (
        ("Bud vase", "16", ""),
        ("Floor vase", "120", "S, M, L,"),
        ("Round vase", "24", ""),
    ):
        page.goto(f"{shop}/staff/products/")
        page.locator("main a", has_text="Add product").first.click()
        fill(page, name=name, brand="Miller", description=DESCRIPTION)
        fill(page, maker="Miller Pottery, 1 Kiln Lane, 10115 Berlin")
        fill(page, maker_contact="hello@example.com")
        page.locator("main [name=category_id]").select_option(label="Vases")
        if sizes:
            page.locator("#option-0-name").fill("Size")
            page.locator("#option-0-values").fill(sizes)
        for column, text in {"price": price, "weight_grams": "900", "stock-berlin": "12"}.items():
            for cell in page.locator(f"main [name^=variant-][name$=-{column}]").all():
                cell.fill(text)
        page.evaluate("scrollTo(0, 0)")
        take_picture(page, "5-product")
        submit(page, "Save draft")
        submit(page, "Put on sale")
    take_picture(page, "6-on-sale")
    page.locator("main a", has_text="Stock by warehouse").click()
    take_picture(page, "7-stock")


def buy(page: Page, shop: str) -> None:
    """Order one, to be paid by transfer."""
    page.goto(f"{shop}/c/vases/")
    # A list may be some seconds old.
    wait_until(lambda: page.reload() and page.locator("main .card").count() == 3, seconds=60)
    page.locator("main .card a").first.click()
    take_picture(page, "8-shop")
    submit(page, "Add to cart")
    page.locator("[role=status]", has_text="cart").first.wait_for(state="attached")
    page.goto(f"{shop}/checkout/")
    for name, value in ADDRESS.items():
        field = page.locator(f"main [name={name}]:not([type=hidden])")
        if field.count():
            field.first.fill(value)
    submit(page, "Continue to delivery and payment")
    submit(page, "Review order")
    submit(page, "Order and pay")
    take_picture(page, "9-ordered")


def send(page: Page, shop: str) -> None:
    """Confirm the order's address by its mail, note that the money has come, pack the parcel and send it."""
    page.goto(find_mailed_link())
    submit(page, "Confirm")
    page.goto(f"{shop}/staff/orders/?column=to_pay")
    page.locator("main tbody th a").first.click()
    page.locator("#received-submit").scroll_into_view_if_needed()
    take_picture(page, "10-to-pay")
    submit(page, "Record payment")
    page.locator("body", has_text="Pack parcel").wait_for()
    page.locator("summary", has_text="Pack").first.click()
    submit(page, "Pack parcel")
    page.locator("#transition-shipped").scroll_into_view_if_needed()
    take_picture(page, "11-packed")


def find_mailed_link() -> str:
    """Return the link that confirms the order, from its mail, which the worker has put into a file."""

    def find() -> re.Match[str] | None:
        mails = (
            each.read_text(encoding="utf-8", errors="replace")
            for each in MAIL_FOLDER.glob("*")
            if each.is_file()  # a demo shop's mails of this checkout lie in folders there
        )
        return re.search(r"http\S+/o/\S+/confirm/", "\n".join(mails))

    return wait_until(find, "no mail about an order", seconds=60)[0]


def main(shop: str, email: str, password: str) -> None:
    """Walk through the first day."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM)
        page = browser.new_context(viewport={"width": WIDTH, "height": HEIGHT}).new_page()
        sign_in(page, shop, email, password)
        set_up_brand(page, shop)
        make_products(page, shop)
        buy(page, shop)
        send(page, shop)
        browser.close()


if __name__ == "__main__":
    main(*sys.argv[1:])

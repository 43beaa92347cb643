"""What shoppers and staff do, step by step, so that tests read like visits."""

import re

from playwright.sync_api import Locator, Page, expect

from demo.catalogue_data import PRODUCTS, DemoProduct
from demo.logins import LOGINS

# Two sizes of it can be bought, and it has a choice of colours.
TWO_CHOICES = next(each for each in PRODUCTS if each.slug == "heavy-cotton-towel")
ONE_CHOICE = next(each for each in PRODUCTS if each.slug == "corduroy-cushion")
GOOD_CARD, DECLINED_CARD = "4242 4242 4242 4242", "4000 0000 0000 0002"
ADDRESS = {
    "#id_name": "Ann Other",
    "#id_street": "12 Harbour Street",
    "#id_postal_code": "10115",
    "#id_city": "Berlin",
}


def skus_in_stock(product: DemoProduct) -> list[str]:
    """Return the SKUs of a product of the demo shop that there are plenty of."""
    return [variant.sku for variant in product.variants if sum(variant.stock.values()) > 8]


def sold_out_skus(product: DemoProduct) -> list[str]:
    """Return the SKUs of a product of the demo shop that there are none of."""
    return [variant.sku for variant in product.variants if not sum(variant.stock.values())]


def open_product(page: Page, product: DemoProduct = TWO_CHOICES, index: int = 0) -> None:
    """Open a product with the choice of one of its variants that is in stock."""
    page.goto(f"/p/{product.slug}/?variant={skus_in_stock(product)[index]}")


def add_to_cart(
    page: Page, product: DemoProduct = TWO_CHOICES, index: int = 0, quantity: int = 1
) -> None:
    """Open a product and put it into the cart, with scripts or without."""
    open_product(page, product, index)
    quantity_field(page).fill(str(quantity))
    page.get_by_role("button", name="Add to cart").click()
    expect(page.locator("body")).to_contain_text("added to your cart")


def fill_in_details(page: Page, email: str = "ann@example.org") -> None:
    """Type a guest's particulars at the checkout's first step."""
    page.locator("#id_email").fill(email)
    for field, value in ADDRESS.items():
        page.locator(field).fill(value)
    page.locator("#id_country").select_option("DE")


def fill_in_checkout(page: Page, email: str = "ann@example.org") -> None:
    """Go through the checkout as a guest, up to its last step."""
    fill_in_details(page, email)
    page.get_by_role("button", name="Continue to delivery and payment").click()
    expect(page).to_have_url(re.compile("/checkout/delivery/$"))
    continue_to_review(page)


def continue_to_review(page: Page) -> None:
    """Leave delivery and payment as they are preset."""
    page.get_by_role("button", name="Review order").click()
    expect(page).to_have_url(re.compile("/checkout/review/$"))
    expect(page.locator("#pay")).to_be_visible()


def place_order(page: Page) -> None:
    """Click the button that orders."""
    page.get_by_role("button", name=re.compile(r"^Pay €")).click()
    expect(page).to_have_title(re.compile("Test bank"))


def pay_by_card(page: Page, card: str = GOOD_CARD) -> None:
    """Pay at the bank, and come back."""
    page.get_by_label("Card number").fill(card)
    page.get_by_role("button", name=re.compile(r"^Pay €")).click()
    expect(page.locator("h1")).to_contain_text("Order")


def read_order_number(page: Page) -> str:
    """Return the number of the order that is shown."""
    return page.locator("h1 .num").inner_text()


def sign_in(page: Page, who: str) -> None:
    """Log in as one of the demo shop's users: Shopper, Staff, Admin."""
    login = next(each for each in LOGINS if each.label == who)
    page.goto("/account/login/")
    page.get_by_label("Email address").fill(login.email)
    page.get_by_label("Password", exact=False).first.fill(login.password)
    page.get_by_role("button", name="Sign in").click()
    expect(page).not_to_have_title(re.compile("Sign in"))
    if login.totp:
        # A code counts once: whoever signs in twice within half a minute waits for the next.
        if waits := re.search(r"valid in (\d+) second", page.locator("main").inner_text()):
            page.wait_for_timeout((int(waits[1]) + 1) * 1000)
        page.locator("#id_code").fill(page.locator("#demo-code").inner_text())
        page.get_by_role("button", name="Continue").click()
        expect(page).not_to_have_title(re.compile("two-step sign-in", re.IGNORECASE))


def quantity_field(page: Page) -> Locator:
    """Return a product page's quantity."""
    return page.locator("#quantity")


def cart_badge(page: Page) -> Locator:
    """Return the header's cart."""
    return page.locator("#cart-badge")


def focused_element(page: Page) -> str:
    """Return what has the focus: its tag, id and words."""
    return str(
        page.evaluate(
            "() => { const a = document.activeElement;"
            " return `${a.tagName.toLowerCase()}#${a.id} ${(a.innerText || a.value || '').trim().slice(0, 60)}`; }"
        )
    )

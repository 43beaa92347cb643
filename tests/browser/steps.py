"""What shoppers and staff do, step by step, so that tests read like visits."""

from playwright.sync_api import Locator, Page, expect

from catalogue.showroom.data import PRODUCTS, Product

# Two sizes of it can be bought, and it has a choice of colours.
TWO_CHOICES = next(each for each in PRODUCTS if each.slug == "heavy-cotton-towel")
ONE_CHOICE = next(each for each in PRODUCTS if each.slug == "corduroy-cushion")


def in_stock(product: Product) -> list[str]:
    """Return the SKUs of a product of the showroom that there are plenty of."""
    return [variant.sku for variant in product.variants if sum(variant.stock.values()) > 8]


def open_product(page: Page, product: Product = TWO_CHOICES, place: int = 0) -> None:
    """Open a product with the choice of one of its variants that is in stock."""
    page.goto(f"/p/{product.slug}/?variant={in_stock(product)[place]}")


def add_to_cart(page: Page, product: Product = TWO_CHOICES, place: int = 0, quantity: int = 1) -> None:
    """Open a product and put it into the cart, with scripts or without."""
    open_product(page, product, place)
    quantity_field(page).fill(str(quantity))
    page.get_by_role("button", name="Add to cart").click()
    expect(page.locator("body")).to_contain_text("in your cart")


def quantity_field(page: Page) -> Locator:
    """Return a product page's quantity."""
    return page.locator("#quantity")


def badge(page: Page) -> Locator:
    """Return the header's cart."""
    return page.locator("#cart-badge")


def focused(page: Page) -> str:
    """Return what has the focus: its tag, id and words."""
    return str(
        page.evaluate(
            "() => { const a = document.activeElement;"
            " return `${a.tagName.toLowerCase()}#${a.id} ${(a.innerText || a.value || '').trim().slice(0, 60)}`; }"
        )
    )

"""The kinds of visitors in benchmarks, and the pages of a keyspace that they view."""

from uuid import NAMESPACE_URL, UUID, uuid4, uuid5

from django.conf import settings
from django.test import Client

from accounts.errors import EmailTaken
from accounts.operations import register_user
from accounts.queries import find_user_by_email, get_user
from cart.operations import add_line
from cassandra_db import current_time
from catalogue.entities import ProductCard
from catalogue.queries import PAGE_LENGTH, get_category_page, get_product, list_root_categories
from catalogue.search import search_products

MEMBER = uuid5(NAMESPACE_URL, "benchmarks/member")
MEMBER_EMAIL = "benchmark@shop.example"


def page_urls() -> dict[str, str]:
    """Return an address for each kind of page. The pages of category, product and search belong to the first category."""
    category = list_root_categories()[0]
    card = _card()
    return {
        "front": "/",
        "category": f"/c/{category.slug}/",
        "product": f"/p/{card.slug}/",
        "cart": "/cart/",
        "search": f"/search?q={_find_common_word(category.category_id)}",
        "help": "/help/",
    }


def _find_common_word(category_id: UUID) -> str:
    """Return the word in a category's product names that finds the most products, so that any shop renders a full page."""
    names = [card.name for card in get_category_page(category_id).cards]
    # A word with digits would be looked up as a SKU, too.
    words = sorted({word.lower() for name in names for word in name.split() if word.isalpha()})
    return max(words, key=lambda word: min(search_products(word).total, PAGE_LENGTH))


def make_second_page_cookies() -> dict[str, str]:
    """Return the cookies of a visitor who has only viewed another product."""
    category, product = list_root_categories()[0], _card()
    cards = get_category_page(category.category_id).cards
    other = next(card for card in cards if card.product_id != product.product_id)
    client = Client()
    client.get(f"/p/{other.slug}/")
    return {name: morsel.value for name, morsel in client.cookies.items()}


def make_guest_cookies() -> dict[str, str]:
    """Return the cookies of a guest with a product in the cart."""
    found = get_product(_card().product_id)
    if found is None:
        raise SystemExit("the first product of the first category is not there")
    client = Client()
    client.get(f"/p/{found.slug}/")
    sent = {"variant": found.variants[0].sku, "quantity": "2", "operation": str(uuid4())}
    answer = client.post("/cart/add/", sent)
    if answer.status_code != 303 or settings.CART_COOKIE_NAME not in client.cookies:
        raise SystemExit(f"putting {sent['variant']} into a cart answered {answer.status_code}")
    return {name: morsel.value for name, morsel in client.cookies.items()}


def make_member_cookies() -> dict[str, str]:
    """Return the cookies of a member who is logged in and has a product in the cart."""
    try:
        member = register_user(MEMBER_EMAIL, "Benchmark", None, current_time(), user_id=MEMBER)
    except EmailTaken:
        found = get_user(MEMBER) or find_user_by_email(MEMBER_EMAIL)
        if found is None:
            raise
        member = found
    found_product = get_product(_card().product_id)
    if found_product:
        add_line(
            member.pk,
            found_product,
            found_product.variants[0],
            1,
            uuid5(MEMBER, "once"),
            current_time(),
        )
    client = Client()
    client.force_login(member)
    client.get(f"/p/{_card().slug}/")
    return {name: morsel.value for name, morsel in client.cookies.items()}


def _card() -> ProductCard:
    category = list_root_categories()[0]
    cards = get_category_page(category.category_id).cards
    return next((card for card in cards if card.availability != "out"), cards[0])

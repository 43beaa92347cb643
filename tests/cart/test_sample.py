"""The source document's sample, query by query: the user jen, two carts, and a box that makes 111.50."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4, uuid5

import pytest

from cart import operations, queries
from cart.operations import carts
from catalogue.entities import Product
from catalogue.operations import rebuild_prefixes
from catalogue.queries import find_variant_by_sku, get_product, list_suggestions
from pricing.money import from_minor_units
from tests.factories import make_product
from tests.reads import existing

# The document calls the user jen; a user's id is a UUID here.
JEN = uuid5(UUID(int=0), "jen")
BIRTHDAY = UUID("4e66baf8-f3ad-4c3b-9151-52be4574f2de")
GIFTS = UUID("19925cc1-4f8b-4a44-b893-2a49a8434fc8")
NOW = datetime(2026, 11, 21, 10, 0, tzinfo=UTC)


@pytest.fixture(scope="module")
def shop() -> dict[str, Product]:
    """Two boxes and a cake, priced so that Box2 makes the second cart 111.50."""
    return {
        "Box1": make_product("Gift Box One", price="12.50"),
        "Box2": make_product("Gift Box Two", price="81.50"),
        "Chocolate Cake": make_product("Chocolate Cake", price="15.00"),
    }


@pytest.fixture(scope="module", autouse=True)
def sample(shop: dict[str, Product]) -> None:
    make_sample(shop, JEN, GIFTS, BIRTHDAY)


def make_sample(shop: dict[str, Product], jen: UUID, gifts: UUID, birthday: UUID) -> None:
    """Jen's carts as the document has them: "My Birthday" is active, "Gifts for Mom" is saved."""
    for cart_id, name in ((gifts, "Gifts for Mom"), (birthday, "My Birthday")):
        carts.add_cart_to_list(jen, cart_id, name, NOW, activate=True)
    add(jen, shop["Box1"], 1, NOW)
    operations.switch_cart(jen, gifts, NOW)
    add(jen, shop["Chocolate Cake"], 2, NOW)
    operations.switch_cart(jen, birthday, NOW)


def add(jen: UUID, product: Product, quantity: int, now: datetime) -> operations.LineResult:
    return operations.add_line(jen, product, product.variants[0], quantity, uuid4(), now)


def active(jen: UUID) -> tuple[UUID, str]:
    found = existing(queries.find_active_cart_row(queries.CARTS.all(owner_id=jen)))
    return found.cart_id, found.cart_name


def test_k1_the_active_cart_of_jen() -> None:
    assert active(JEN) == (BIRTHDAY, "My Birthday")


def test_k4_all_carts_of_jen_by_name() -> None:
    rows = queries.CARTS.all(owner_id=JEN)
    assert [(row.cart_name, row.cart_id) for row in rows] == [
        ("Gifts for Mom", GIFTS),
        ("My Birthday", BIRTHDAY),
    ]


def test_k2_an_item_by_its_id(shop: dict[str, Product]) -> None:
    box = shop["Box2"]
    row = existing(find_variant_by_sku(box.variants[0].sku))
    found = existing(get_product(row.product_id))
    assert (found.name, found.variants[0].price) == ("Gift Box Two", from_minor_units(8150, "EUR"))


def test_k3_items_by_their_name(shop: dict[str, Product]) -> None:
    rebuild_prefixes(shop.values())
    assert shop["Chocolate Cake"].slug in [each.slug for each in list_suggestions("chocolat")]


def test_k5_a_carts_items_and_their_subtotal_the_newest_first(shop: dict[str, Product]) -> None:
    cart = queries.get_cart(GIFTS)
    assert [(line.name, line.quantity) for line in cart.lines] == [("Chocolate Cake", 2)]
    assert cart.subtotal == from_minor_units(3000, "EUR")
    assert queries.get_line(GIFTS, str(shop["Chocolate Cake"].variants[0].variant_id))
    assert queries.get_line(GIFTS, str(shop["Box2"].variants[0].variant_id)) is None


def test_u2_then_u1_another_cart_is_active_and_box2_makes_it_111_50(
    shop: dict[str, Product],
) -> None:
    # A copy is changed: the other tests read the document's own cart.
    jen, gifts, birthday = uuid4(), uuid4(), uuid4()
    make_sample(shop, jen, gifts, birthday)
    assert operations.switch_cart(jen, gifts, NOW) == "Gifts for Mom"
    assert active(jen) == (gifts, "Gifts for Mom")
    assert [
        each.cart_id
        for each in queries.listed_carts_from_rows(queries.CARTS.all(owner_id=jen))
        if each.is_active
    ] == [gifts]
    added = add(jen, shop["Box2"], 1, NOW + timedelta(minutes=1))
    assert added.cart_id == gifts
    cart = queries.get_cart(gifts)
    assert [line.name for line in cart.lines] == ["Gift Box Two", "Chocolate Cake"]
    assert cart.subtotal == from_minor_units(11150, "EUR")
    assert queries.get_cart(birthday).subtotal == from_minor_units(1250, "EUR")


def test_a_new_price_in_the_catalogue_leaves_the_cart_as_it_is(shop: dict[str, Product]) -> None:
    box = shop["Box1"]
    dearer = replace(box.variants[0], price=from_minor_units(9900, "EUR"))
    assert dearer.price != queries.get_cart(BIRTHDAY).lines[0].price
    assert queries.get_cart(BIRTHDAY).subtotal == from_minor_units(1250, "EUR")

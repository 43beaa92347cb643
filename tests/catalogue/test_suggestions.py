"""What the search field suggests from the index: products, categories and brands."""

from collections.abc import Iterator
from dataclasses import replace
from math import inf
from pathlib import Path

import pytest
from django.test import override_settings

from catalogue import queries, suggestions
from catalogue.entities import Product
from catalogue.search_index import READER, build_index
from catalogue.search_rules import PINNED, TWO_WAY
from catalogue.suggestions import find_suggestions
from tests.catalogue.search_rules import make_search_rule, remove_search_rule
from tests.factories import make_category, make_product


@pytest.fixture(scope="module")
def products(keyspace: str) -> list[Product]:
    kitchen = make_category("Qirsh Kitchen")
    cups = make_category("Qirsh cups", parent=kitchen)
    make_category("Qirsh without products", parent=kitchen)
    made = [
        make_product("Café Crème Bowl", category=cups, price="30.00"),
        make_product("Bowler Hat", brand="Kiln & Söhne", description="With a bowl's form."),
        make_product("Tall Vase", brand="Bowles"),
        make_product("Garden Chair", options={"Colour": ["Red", "Bowline blue"]}),
        make_product("Blue Sofa", brand="Söhnlein"),
        *(make_product(f"Lamp {number}") for number in range(6)),
    ]
    return [replace(each, popularity=place) for place, each in enumerate(made)]


@pytest.fixture(autouse=True)
def index(products: list[Product], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    queries.clear_category_cache()
    folder = tmp_path_factory.mktemp("index")
    with override_settings(SEARCH_INDEX_DIR=folder):
        build_index(products)
        yield folder


def suggested(typed: str) -> list[str]:
    READER.looked_at = -inf
    return [card.name for card in find_suggestions(typed).products]


def test_x331_products_are_suggested_by_name_then_by_brand_and_option() -> None:
    by_name = ["Bowler Hat", "Café Crème Bowl"]
    assert suggested("bo") == suggested("BOWL") == [*by_name, "Garden Chair", "Tall Vase"]
    assert suggested("bowle") == ["Bowler Hat", "Tall Vase"]
    assert suggested("crème bo") == suggested("creme bowls") == ["Café Crème Bowl"]
    assert suggested("blue ch") == suggested("chair blu") == ["Garden Chair"]
    # The card is that of the colour.
    READER.looked_at = -inf
    (chair,) = find_suggestions("blue ch").products
    assert chair.sku.endswith("-1")
    # What is longer than the indexed beginnings, and words that are nowhere.
    assert suggested("bowline b") == ["Garden Chair"]
    assert suggested("bowlineandmore") == suggested("crème vase") == suggested("!") == []


def test_x331_the_five_most_popular_come_first() -> None:
    assert suggested("lam") == [f"Lamp {number}" for number in (5, 4, 3, 2, 1)]
    assert suggested("lamp 3") == ["Lamp 3"]


def test_x331_only_what_is_on_sale_is_suggested(products: list[Product]) -> None:
    build_index([replace(products[0], status="archived"), products[1]])
    assert suggested("bow") == ["Bowler Hat"]


def test_x331_rules_and_prices_count_as_in_the_search(products: list[Product]) -> None:
    rules = [
        make_search_rule(TWO_WAY, "couch, sofa"),
        make_search_rule(PINNED, "bow", products[5].variants[0].sku),
    ]
    try:
        assert suggested("couch") == ["Blue Sofa"]
        assert suggested("bow")[:2] == ["Lamp 0", "Bowler Hat"]
    finally:
        for rule in rules:
            remove_search_rule(rule)
    assert suggested("bowl over 20") == ["Café Crème Bowl"]


def test_x335_of_too_many_products_the_bestsellers_are_suggested(
    products: list[Product], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(suggestions, "MAX_SORTED", 1)
    best = ("Garden Chair", "Lamp 1")
    build_index([replace(each, bestseller=each.name in best) for each in products])
    # Of words of a name all others follow; of words elsewhere there would be too many.
    assert suggested("lam") == [f"Lamp {number}" for number in (1, 5, 4, 3, 2)]
    assert suggested("kilnb") == ["Lamp 1", "Garden Chair"]


def test_x332_categories_with_products_are_suggested() -> None:
    found = find_suggestions("QI").categories
    assert [node.name for node in found] == ["Qirsh Kitchen", "Qirsh cups"]
    assert [node.name for node in find_suggestions("cu qir").categories] == ["Qirsh cups"]
    assert find_suggestions("irsh").categories == ()


def test_x332_brands_with_products_are_suggested(products: list[Product]) -> None:
    assert find_suggestions("so").brands == ("Söhnlein", "Kiln & Söhne")
    assert find_suggestions("kiln").brands == ("Kilnbrook", "Kiln & Söhne")
    build_index([replace(products[1], status="draft"), *products[2:]])
    READER.looked_at = -inf
    assert find_suggestions("kiln").brands == ("Kilnbrook",)

"""Search by words: what people type, and an index that follows the products."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from functools import partial
from itertools import count
from math import inf
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.test import override_settings

from catalogue import filtered_lists, operations, queries, search, search_index
from catalogue.entities import Product, ProductPicture
from catalogue.filtered_lists import list_selected, new_arrivals_scope
from catalogue.filters import NOTHING_CHOSEN
from catalogue.index_documents import SCHEMA_VERSION
from catalogue.photos import Photo
from catalogue.search_index import (
    READER,
    SearchIndexMissing,
    build_index,
    index_home,
    refresh_index,
)
from catalogue.staff_search import StaffFilters, count_products_without_alt, find_products_for_staff
from tests.clock import now
from tests.factories import make_category, make_product
from tests.rules import for_each


@pytest.fixture(scope="module")
def products(keyspace: str) -> dict[str, Product]:
    clothing = make_category("Clothing")
    shirts = make_category("Tops & shirts", parent=clothing)
    kitchen = make_category("Kitchen")
    made = [
        make_product(
            "Everyday T-Shirt",
            category=shirts,
            brand="Nordlicht",
            options={"Colour": ["Rust", "Sky"]},
        ),
        make_product("Linen Tshirt Dress", category=clothing, brand="Hald"),
        make_product(
            "Café Crème Bowl", category=kitchen, price="30.00", description="For the first coffee."
        ),
        make_product(
            "Bread Knife", category=kitchen, price="20.00", now=now() - timedelta(days=40)
        ),
        make_product("Enamel Kettle", category=kitchen, price="40.00"),
    ]
    return {product.name: product for product in made}


@pytest.fixture(autouse=True)
def index(products: dict[str, Product], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """An index of these products alone."""
    folder = tmp_path_factory.mktemp("index")
    with override_settings(SEARCH_INDEX_DIR=folder):
        build_index(products.values())
        yield folder


def found(query: str, **how: str) -> list[str]:
    READER.looked_at = -inf
    return [card.name for card in search.search_products(query, **how).cards]  # type: ignore[arg-type]


@for_each(
    [
        ("KETTLE", "Enamel Kettle"),
        ("cafe creme", "Café Crème Bowl"),
        ("CAFÉ", "Café Crème Bowl"),
        ("bowls", "Café Crème Bowl"),
        ("kettles", "Enamel Kettle"),
        ("knives", "Bread Knife"),
        ("knife", "Bread Knife"),
        ("t shirt", "Everyday T-Shirt"),
        ("t-shirt", "Everyday T-Shirt"),
        ("tshirt", "Everyday T-Shirt"),
        ("T-Shirts", "Everyday T-Shirt"),
        ("t shirt", "Linen Tshirt Dress"),
        ("ketle", "Enamel Kettle"),
        ("kettel", "Enamel Kettle"),
        ("evryday", "Everyday T-Shirt"),
        ("everyday shir", "Everyday T-Shirt"),
        ("shirt everyday", "Everyday T-Shirt"),
    ]
)
def test_x33_what_people_type_finds_it(typed: tuple[str, str]) -> None:
    query, name = typed
    assert name in found(query)


@for_each(
    [
        "bred",
        "zzzz",
        "bread kettle",
        "",
        "   ",
        "\0",
        "%",
        ".*",
        "(",
        "a" * 5000,
        "日本" * 500,
        "é" * 300 + " " + "x" * 300,
    ],
    lambda query: repr(query[:40]),
)
def test_x33_what_is_not_meant_finds_nothing(query: str) -> None:
    assert found(query) == []


@for_each(
    [
        ("clothing", "Everyday T-Shirt"),
        ("tops", "Everyday T-Shirt"),
        ("nordlicht", "Everyday T-Shirt"),
        ("rust", "Everyday T-Shirt"),
        ("coffee", "Café Crème Bowl"),
        ("kitchen knife", "Bread Knife"),
    ]
)
def test_x34_category_brand_colour_and_description_find_it(typed: tuple[str, str]) -> None:
    query, name = typed
    assert name in found(query)


def test_x34_a_sku_finds_it(products: dict[str, Product]) -> None:
    sku = products["Bread Knife"].variants[0].sku
    assert found(sku.lower()) == ["Bread Knife"]
    assert found(sku.replace("-", " ")) == ["Bread Knife"]
    assert found(sku.replace("-", "")) == ["Bread Knife"]


def test_the_name_counts_more_than_the_description(products: dict[str, Product]) -> None:
    named = make_product("Coffee Mill")
    build_index([*products.values(), named])
    assert found("coffee") == ["Coffee Mill", "Café Crème Bowl"]


def test_the_orders_of_a_search() -> None:
    assert found("kitchen", sort="price") == ["Bread Knife", "Café Crème Bowl", "Enamel Kettle"]
    assert found("kitchen", sort="price-down") == [
        "Enamel Kettle",
        "Café Crème Bowl",
        "Bread Knife",
    ]
    assert found("kitchen", sort="newest")[-1] == "Bread Knife"


def test_the_parts_of_what_was_found_are_the_whole() -> None:
    whole = search.search_products("kitchen", sort="price")
    parts = [
        search.search_products("kitchen", limit=1, offset=place, sort="price").cards[0]
        for place in range(3)
    ]
    assert (parts, whole.total) == (list(whole.cards), 3)


def test_x35_near_queries_find_something() -> None:
    assert search.find_near_queries("nordlict kettel zzzzzz")
    assert "kettle" in search.find_near_queries("kattlle")
    for query in search.find_near_queries("bread kettle"):
        assert found(query)


def test_s65_eight_misspelt_words_cost_three_times_one_at_most(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls: Counter[str] = Counter()

    def counted(name: str) -> None:
        original = getattr(search, name)

        def spy(*args: Any, **kwargs: Any) -> Any:
            calls[name] += 1
            return original(*args, **kwargs)

        monkeypatch.setattr(search, name, spy)

    for name in ("_with_typo", "_spellings", "_finds_something"):
        counted(name)

    def cost(query: str) -> dict[str, int]:
        calls.clear()
        assert found(query) == []
        search.find_near_queries(query)
        return {name: calls[name] for name in ("_with_typo", "_spellings", "_finds_something")}

    one = cost("kttlle")
    words = ["kttlle", "bwlle", "knfee", "nrdlcht", "evrdya", "tshrtt", "cfeee", "crmeee"]
    for number in range(2, len(words) + 1):
        many = cost(" ".join(words[:number]))
        assert many["_with_typo"] <= 3 * one["_with_typo"]
        assert many["_spellings"] <= 3
        assert many["_finds_something"] <= 8


def test_a_typo_is_forgiven_among_many_words_that_are_right() -> None:
    assert found("nordlicht everyday shirt rust tops clothng") == ["Everyday T-Shirt"]
    assert found("evryday shrit nordlcht") == ["Everyday T-Shirt"]


def test_the_index_follows_a_change(products: dict[str, Product]) -> None:
    came = make_product("Paper Boat", listed=True)
    assert refresh_index(now()) >= 1
    assert found("paper boat") == ["Paper Boat"]
    ship = operations.save_product(replace(came, name="Paper Ship"), now())
    refresh_index(now())
    assert found("paper") == ["Paper Ship"]
    operations.save_product(replace(ship, status="archived"), now())
    at = now()
    refresh_index(at)
    assert found("paper") == []
    # At the same time: later, changes of other tests are indexed again once they have settled.
    assert refresh_index(at) == 0


def test_an_availability_and_a_price_are_those_of_the_product() -> None:
    product = make_product(
        "Glass Jug", price="18.00", compare_at="25.00", availability="few", listed=True
    )
    refresh_index(now())
    READER.looked_at = -inf
    (card,) = search.search_products("glass jug").cards
    assert (card.availability, card.price, card.compare_at) == (
        "few",
        product.variants[0].price,
        product.variants[0].compare_at,
    )


def test_x91_a_shopper_finds_what_is_on_sale_now_and_the_staff_finds_all(
    products: dict[str, Product],
) -> None:
    day = timedelta(days=1)
    shown = make_product("Zinc Bucket", brand="Hald")
    draft = replace(make_product("Zinc Draft", brand="Hald"), status="draft")
    coming = replace(make_product("Zinc Tomorrow"), active_from=now() + day)
    gone = replace(make_product("Zinc Yesterday"), active_until=now() - day)
    unpictured = replace(shown.variants[0], sku=f"Z-{uuid4().hex.upper()}", picture="")
    bare = replace(make_product("Zinc Bare", price="5.00"), variants=(unpictured,))
    draft = replace(draft, pictures=(ProductPicture(str(Photo("f" * 32, 800, 600)), ""),))
    build_index([*products.values(), shown, draft, coming, gone, bare])
    assert sorted(found("zinc")) == ["Zinc Bare", "Zinc Bucket"]

    def staff(query: str = "", sort: str = "changed", **filters: Any) -> list[str]:
        READER.looked_at = -inf
        found = find_products_for_staff(query, StaffFilters(**filters), sort=sort)
        return [each.name for each in found.products]

    assert sorted(staff("zin")) == [
        "Zinc Bare",
        "Zinc Bucket",
        "Zinc Draft",
        "Zinc Tomorrow",
        "Zinc Yesterday",
    ]
    assert staff("zinc", status="draft") == ["Zinc Draft"]
    assert sorted(staff(brand="hald", query="zinc")) == ["Zinc Bucket", "Zinc Draft"]
    assert staff("zinc", without_picture=True) == ["Zinc Bare"]
    assert staff(without_alt=True) == ["Zinc Draft"]
    assert count_products_without_alt() == 1
    assert staff("zinc", sort="name")[:2] == ["Zinc Bare", "Zinc Bucket"]
    assert staff(category_id=products["Bread Knife"].category_id, sort="price-down") == [
        "Enamel Kettle",
        "Café Crème Bowl",
        "Bread Knife",
    ]
    assert staff() == [each.name for each in find_products_for_staff().products]
    part = find_products_for_staff("zinc", sort="name", limit=2, offset=2)
    assert ([each.name for each in part.products], part.total, part.matched) == (
        ["Zinc Draft", "Zinc Tomorrow"],
        5,
        "words",
    )
    by_sku = find_products_for_staff(shown.variants[0].sku.lower())
    assert ([each.name for each in by_sku.products], by_sku.matched) == (["Zinc Bucket"], "sku")
    assert staff("no such thing at all") == []


def test_an_index_of_another_schema_is_built_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_index, "SCHEMA_VERSION", SCHEMA_VERSION + 1)
    monkeypatch.setattr(READER, "looked_at", -inf)
    with pytest.raises(SearchIndexMissing):
        search.search_products("kettle")
    assert refresh_index(now()) >= 5
    assert "Enamel Kettle" in found("kettle")


def test_without_an_index_it_says_so(tmp_path: Path) -> None:
    with override_settings(SEARCH_INDEX_DIR=tmp_path), pytest.raises(SearchIndexMissing):
        search.search_products("kettle")


def test_a_build_that_fails_leaves_the_index_in_use() -> None:
    def broken() -> Iterator[Product]:
        yield replace(make_product("Half"), name="Half")
        raise RuntimeError("stopped")

    with pytest.raises(RuntimeError, match="stopped"):
        build_index(broken())
    assert found("kettle") == ["Enamel Kettle"]
    assert found("half") == []


def test_old_versions_are_removed(index: Path, products: dict[str, Product]) -> None:
    for _ in range(3):
        build_index(products.values())
    versions = [path for path in index_home().iterdir() if path.is_dir()]
    assert len(versions) == 2
    assert found("kettle")


def test_an_unknown_product_in_the_changes_is_no_harm() -> None:
    operations.record_product_change(uuid4(), now())
    assert refresh_index(now()) >= 1


def test_what_was_found_counts_until_the_index_is_looked_at_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(search_index, "LOOK_EVERY_SECONDS", 3600.0)
    kettles = found("kettle")
    with monkeypatch.context() as asked:
        asked.setattr(search, "_list", None)  # a second search would call it
        assert [card.name for card in search.search_products("kettle").cards] == kettles
        with pytest.raises(TypeError):
            search.search_products("kettle", sort="price")
        with pytest.raises(TypeError):
            found("kettle")


def test_the_last_part_of_a_long_list_is_as_long_as_what_is_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(search, "DEEPEST", 2)
    monkeypatch.setattr(filtered_lists, "DEEPEST", 2)
    assert [len(search.search_products("kitchen", 2, offset).cards) for offset in range(4)] == [
        *(2, 1, 0, 0)
    ]
    new = partial(list_selected, new_arrivals_scope(), NOTHING_CHOSEN, search.SORTS["newest"], 2)
    assert [len(new(offset).cards) for offset in range(4)] == [2, 1, 0, 0]


def test_what_is_counted_is_what_a_category_has_now(
    products: dict[str, Product], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search_index, "LOOK_EVERY_SECONDS", 3600.0)
    kitchen = queries.get_category(products["Enamel Kettle"].category_id)
    clothing = queries.get_category(products["Linen Tshirt Dress"].category_id)
    assert kitchen
    assert clothing
    assert search.count_on_sale_in(kitchen) == 3
    # The tree changes, and the index does not.
    assert search.count_on_sale_in(replace(kitchen, children=[clothing])) == 5


def test_a_count_is_not_kept_of_a_former_index(
    products: dict[str, Product], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search_index, "LOOK_EVERY_SECONDS", 3600.0)
    kitchen = queries.get_category(products["Enamel Kettle"].category_id)
    assert kitchen
    READER.looked_at = -inf
    former = READER.opened()
    build_index([products["Enamel Kettle"]])
    READER.looked_at = -inf
    READER.opened()
    with monkeypatch.context() as patch:
        patch.setattr(READER, "opened", lambda: former)  # of a page that began before
        assert search.count_on_sale_in(kitchen) == 3
    assert search.count_on_sale_in(kitchen) == 1


@pytest.mark.usefixtures("products")
def test_what_was_counted_is_kept_for_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    def count_anew(seconds: float) -> int:
        monkeypatch.setattr(search_index, "COUNTED_EVERY_SECONDS", seconds)
        READER.looked_at = -inf
        counted: int = READER.opened().keep("key", partial(next, numbers))
        return counted

    numbers = count()
    assert [count_anew(3600.0), count_anew(3600.0), count_anew(0.0)] == [0, 0, 1]

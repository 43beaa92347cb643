"""Filters beside lists: their addresses, counts, chips, messages and cards."""

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit
from uuid import uuid4

import pytest
from django.conf import settings
from django.test import Client, override_settings
from django.urls import reverse
from moneyed import EUR, Money

from catalogue import filters, index_queries
from catalogue.entities import CategoryNode, Product
from catalogue.search_index import build_index
from tests.clock import now
from tests.factories import make_category, make_product
from tests.storefront.page_parts import names, rounds, texts, tree


@pytest.fixture(scope="module")
def category(keyspace: str) -> CategoryNode:
    return make_category("Shirts to filter")


@pytest.fixture(scope="module")
def products(category: CategoryNode) -> list[Product]:
    colours = {"Filtered linen shirt": ["Navy", "Red"], "Filtered wool shirt": ["Navy"]}
    return [
        make_product(
            name,
            category=category,
            price=f"{20 + 10 * place}.00",
            options={"Colour": values, "Size": ["S", "M"]},
            brand=("Hald", "Nordlicht")[place],
            listed=True,
        )
        for place, (name, values) in enumerate(colours.items())
    ]


@pytest.fixture(autouse=True)
def index(products: list[Product], tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with override_settings(SEARCH_INDEX_DIR=tmp_path_factory.mktemp("index")):
        build_index(products)
        yield


@pytest.fixture
def url(category: CategoryNode) -> str:
    return reverse("category", args=(category.slug,))


def counts(page: object, name: str) -> dict[str, str]:
    found = page.cssselect(f"#filter-{name} li:has(label)")  # type: ignore[attr-defined]
    return {
        each.cssselect("span")[0].text_content(): each.cssselect(".num")[0].text.strip()
        for each in found
    }


def test_x323_each_value_says_how_many_products_one_more_click_leaves(
    client: Client, url: str
) -> None:
    page = tree(client.get(url))
    assert counts(page, "colour") == {"Red": "1", "Blue": "2"}
    assert counts(page, "size") == {"S": "2", "M": "2"}
    page = tree(client.get(f"{url}?filter=colour:red&filter=size:M"))
    assert names(page) == ["Filtered linen shirt"]
    assert counts(page, "colour") == {"Red": "1", "Blue": "2"}
    assert counts(page, "brand") == {"Hald": "1", "Nordlicht": "0"}
    (nordlicht,) = page.cssselect("input[value='brand:nordlicht']")
    assert nordlicht.get("disabled") is not None
    assert texts(page, ".chosen .chip") == ["Remove Red", "Remove M"]
    assert texts(page, ".list-tools p") == ["1 product"]
    (without_red,) = (each.get("href") for each in page.cssselect(".chosen .chip")[:1])
    assert parse_qsl(urlsplit(without_red).query) == [("filter", "size:m")]
    assert [each.get("href") for each in page.cssselect(".chosen .link")] == [url]


def test_x324_a_filtered_card_shows_the_variant_that_was_asked_for(
    client: Client, url: str, products: list[Product]
) -> None:
    page = tree(client.get(f"{url}?filter=colour:red"))
    red = products[0].variants[2]
    assert red.options["Colour"] == "Red"
    (link,) = page.cssselect(".card__name a")
    assert link.get("href").endswith(f"?variant={red.sku}")
    assert red.picture.partition("/")[2] in page.cssselect(".card img")[0].get("src")
    (whole,) = tree(client.get(f"{url}?filter=brand:hald")).cssselect(".card__name a")
    assert "variant" not in whole.get("href")


def test_x325_a_filtered_list_keeps_its_order_and_is_not_for_search_engines(
    client: Client, url: str
) -> None:
    page = tree(client.get(f"{url}?sort=price-down&filter=colour:blue&filter=unknown:x"))
    assert names(page) == ["Filtered wool shirt", "Filtered linen shirt"]
    assert page.xpath("string(//meta[@name='robots']/@content)") == "noindex"
    assert page.xpath("string(//link[@rel='canonical']/@href)").endswith(url)
    assert ("sort", "price-down") in [
        (each.get("name"), each.get("value")) for each in page.cssselect("#filters input")
    ]
    kept = [each.get("value") for each in page.cssselect("form.sort input[name=filter]")]
    assert kept == ["colour:blue"]
    plain = tree(client.get(url))
    assert not plain.cssselect("meta[name=robots]")
    assert names(tree(client.get(url))) == ["Filtered wool shirt", "Filtered linen shirt"]


def test_x326_prices_are_typed_and_stay_beside_what_is_wrong(client: Client, url: str) -> None:
    answer = client.get(url, {"from": "25", "to": "", "filter": "size:m"})
    assert answer["Location"] == f"{url}?filter=size:m&price=25-"
    assert names(tree(client.get(answer["Location"]))) == ["Filtered wool shirt"]
    assert names(tree(client.get(f"{url}?price=30-25"))) == ["Filtered wool shirt"]
    for low, high in (("NaN", ""), ("20", "many"), ("", "1e99"), ("-5", "")):
        page = tree(client.get(url, {"from": low, "to": high}))
        assert texts(page, "#price-error") == ["Enter prices such as 20 or 19.99."]
        typed = [page.cssselect(f"#price-{each}")[0].get("value") for each in ("from", "to")]
        assert typed == [low, high]
        assert len(names(page)) == 2


def test_x327_a_change_of_a_filter_renews_the_list_and_the_counts(client: Client, url: str) -> None:
    typed = {"filter": "colour:red", "from": "", "to": ""}
    answer = client.get(url, typed, headers={"HX-Request": "true"})
    assert answer["HX-Push-Url"] == f"{url}?filter=colour:red"
    part = answer.content.decode()
    assert "<html" not in part
    assert "innerHTML:#filter-brand" in part
    assert "Filtered linen shirt" in part
    assert "Filtered wool shirt" not in part


def test_x328_any_address_is_answered_by_a_clean_page_and_bounded_work(
    client: Client, url: str, products: list[Product], monkeypatch: pytest.MonkeyPatch
) -> None:
    counted, faults = [], []

    def count(searcher: object, wanted: object) -> int:
        counted.append(wanted)
        return counts_of(searcher, wanted)

    counts_of = index_queries.count
    for module in ("facets", "filtered_lists"):
        monkeypatch.setattr(f"catalogue.{module}.count", count)
    sizes = [f"{number}" for number in range(300)]
    variants = tuple(
        replace(products[0].variants[0], variant_id=uuid4(), options={"Size": each})
        for each in sizes
    )
    build_index([*products, replace(products[0], product_id=uuid4(), variants=variants)])
    for query in (
        "all=size",
        "all=size&filter=colour:blue&filter=stock:yes",
        "&".join(f"filter=size:{number}" for number in range(1000)),
        "&".join(f"filter=colour:{number}" for number in range(1000)),
        "&".join(f"filter=size:{number}" for number in range(300)),
        "filter=" + "x" * 5000,
        "filter=size:%00&filter=:&filter=colour:",
        "filter=rating:many&filter=rating:-1",
        "filter=category:none",
        "price=NaN-Infinity",
        "price=99999999999-1",
        "filter=stock:no&filter=size:S&show=999999",
        "filter=size:S&after=forged",
    ):
        counted.clear()
        answer = client.get(f"{url}?{query}")
        if answer.status_code not in (200, 400, 404) or len(counted) > 300:
            faults.append(f"{query[:50]}: {answer.status_code}, {len(counted)} counts")
        elif answer.status_code == 200 and rounds(answer) > 2:
            faults.append(f"{query[:50]}: {rounds(answer)} rounds")
    assert not faults, "\n".join(faults)


# What a card shows of a product, and the filter by which shoppers choose products that have it.
FILTERS_OF_CARDS = {
    "brand": "filter=brand:hald",
    "price": "price=20-20",
    "price_varies": "price=-20",
    "compare_at": "filter=sale:yes",
    "is_new": "filter=new:yes",
    "bestseller": "filter=bestseller:yes",
    "rating": "filter=rating:4",
    "rating_count": "filter=rating:1",
    "swatches": "filter=colour:red",
    "variant_count": "filter=size:l",
    "availability": "filter=stock:yes",
}
# What names and shows the product as a whole: its words are searched for.
_OF_THE_PRODUCT = {"name", "slug", "variant_query", "picture", "is_eager", "is_first"}
# The price filters; what a unit of it costs only tells more about that.
_OF_THE_PRICE = {"unit_price", "unit"}


def test_x343_whatever_a_card_shows_can_be_filtered(
    client: Client, url: str, products: list[Product], tmp_path: Path
) -> None:
    drawn = (settings.BASE_DIR / "templates/catalogue/_card.html").read_text()
    shown = {each for each in re.findall(r"card\.(\w+)", drawn) if each != "product"}
    shown |= set(re.findall(r"card\.product\.(\w+)", drawn))
    assert shown == FILTERS_OF_CARDS.keys() | _OF_THE_PRODUCT | _OF_THE_PRICE
    first, other = products
    variants = tuple(
        replace(each, compare_at=Money(40, EUR), options=each.options | {"Size": "L"})
        for each in first.variants
    )
    rich = replace(
        first,
        variants=variants,
        rating=4.5,
        rating_count=2,
        bestseller=True,
        in_stock_ids=frozenset(each.variant_id for each in variants),
    )
    poor = replace(other, created_at=now() - timedelta(days=90), in_stock_ids=frozenset())
    with override_settings(SEARCH_INDEX_DIR=tmp_path):
        build_index([rich, poor])
        found = {
            each: names(tree(client.get(f"{url}?{query}")))
            for each, query in FILTERS_OF_CARDS.items()
        }
    assert found == {key: [first.name] for key in FILTERS_OF_CARDS}


def test_x345_a_filter_shows_twenty_values_and_more_on_request(
    client: Client, url: str, products: list[Product], tmp_path: Path
) -> None:
    first = products[0].variants[0]
    variants = tuple(
        replace(first, variant_id=uuid4(), sku=f"{first.sku}-{size}", options={"Size": f"{size}"})
        for size in range(30, 55)
    )
    with override_settings(SEARCH_INDEX_DIR=tmp_path):
        build_index([replace(products[0], variants=variants)])
        page = tree(client.get(f"{url}?filter=size:54"))
        (more,) = page.cssselect("#filters li > a.link")
        shown = counts(page, "size")
        whole = tree(client.get(more.get("href")))
    assert len(shown) == 21, "the chosen value is one of them"
    assert shown["54"] == "1"
    assert [each.get("value") for each in whole.cssselect("#filters [name=all]")] == ["size"]
    assert list(counts(whole, "size")) == [f"{size}" for size in range(30, 55)]


def test_x344_a_list_says_that_some_filters_were_too_many(client: Client, url: str) -> None:
    many = "&".join(f"filter=size:{number}" for number in range(filters.MAX_CHOSEN + 1))
    said = "Those are too many filters at once. The last ones aren’t used."
    assert said in texts(tree(client.get(f"{url}?{many}")), ".notice")
    assert said not in texts(tree(client.get(f"{url}?filter=size:m")), ".notice")


def test_x329_without_an_index_the_list_is_there_without_filters(
    client: Client, url: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with override_settings(SEARCH_INDEX_DIR=tmp_path_factory.mktemp("none")):
        page = tree(client.get(f"{url}?filter=colour:red"))
    assert len(names(page)) == 2
    assert not page.cssselect("#filters")
    assert any("Filters aren’t available right now" in each for each in texts(page, ".notice"))


def test_x330_a_colours_word_finds_products_of_its_family(
    client: Client, products: list[Product]
) -> None:
    for query in ("blue shirt", "marine blue shirt", "azure shirt", "shirts navy"):
        assert "Filtered wool shirt" in names(tree(client.get("/search", {"q": query}))), query
    assert names(tree(client.get("/search", {"q": "red shirt"}))) == ["Filtered linen shirt"]
    (picture,) = tree(client.get("/search", {"q": "red shirt"})).cssselect(".card img")
    assert products[0].variants[2].picture.partition("/")[2] in picture.get("src")
    page = tree(client.get("/search", {"q": "red shirt", "filter": "size:m"}))
    (link,) = page.cssselect(".card__name a")
    assert link.get("href").endswith(f"?variant={products[0].variants[3].sku}")
    page = tree(client.get("/search", {"q": "shirt", "filter": "colour:red"}))
    assert names(page) == ["Filtered linen shirt"]
    assert counts(page, "colour") == {"Red": "1", "Blue": "2"}

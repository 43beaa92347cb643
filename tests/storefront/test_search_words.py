"""The search page: redirects, prices in words, fewer words, and the end of a long list."""

from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client

from catalogue import filtered_lists, queries, search
from catalogue.entities import Product
from catalogue.search_rules import CURRENT_RULES, PINNED, REDIRECT, TWO_WAY
from storefront import product_lists
from storefront.views import search as views
from tests.catalogue.search_rules import make_search_rule, remove_search_rule
from tests.storefront.page_parts import names, rounds, texts, tree

pytestmark = pytest.mark.usefixtures("index")


@pytest.fixture
def rules(jug: Product) -> Iterator[None]:
    made = [
        make_search_rule(REDIRECT, "Sale, half price", "/deals/"),
        make_search_rule(TWO_WAY, "jug, pitcher"),
        make_search_rule(PINNED, "quaich", jug.variants[0].sku),
    ]
    yield
    for rule in made:
        remove_search_rule(rule)


def search_for(client: Client, query: str) -> list[str]:
    return names(tree(client.get("/search", {"q": query})))


@pytest.mark.usefixtures("rules")
def test_x312_a_redirected_query_leads_to_its_page(client: Client) -> None:
    for query in ("sale", "SALE!", " half  Price"):
        answer = client.get("/search", {"q": query})
        assert (answer.status_code, answer["Location"]) == (302, "/deals/"), query
    assert client.get("/search", {"q": "sales"}).status_code == 200


@pytest.mark.usefixtures("rules")
def test_x310_rules_cost_a_search_no_further_round(client: Client) -> None:
    for query in ("quaich", "stone pitcher", "T-1", "zzzz"):
        for forget in (CURRENT_RULES.forget, queries.clear_category_cache, lambda: None):
            forget()
            assert rounds(client.get("/search", {"q": query})) <= 2, query


@pytest.mark.usefixtures("rules")
def test_x313_pinned_products_are_on_the_first_page_alone(client: Client) -> None:
    page = tree(client.get("/search", {"q": "quaich"}))
    assert names(page)[0] == "Stone Jug"
    assert texts(page, ".list-tools p") == ["31 products"]
    (more,) = page.cssselect("a[rel=next]")
    rest = names(tree(client.get(more.get("href"))))
    assert sorted([*names(page), *rest]) == sorted({*names(page), *rest})
    assert len(names(page)) + len(rest) == 31


@pytest.mark.usefixtures("rules")
def test_x311_a_synonym_finds_it(client: Client) -> None:
    assert "Stone Jug" in search_for(client, "stone pitchers")


def test_x315_a_price_stands_in_a_chip_that_takes_it_out(client: Client) -> None:
    page = tree(client.get("/search", {"q": "quaich under 12,50", "sort": "price"}))
    assert names(page) == ["Quaich 00", "Quaich 01", "Quaich 02"]
    (chip,) = page.cssselect("main .chips a")
    assert chip.text_content().split() == ["Remove", "Under", "€12.50"]
    assert parse_qs(urlsplit(chip.get("href")).query) == {"q": ["quaich"], "sort": ["price"]}
    labels = {
        query: texts(tree(client.get("/search", {"q": query})), "main .chips .chip")
        for query in ("quaich 20-40", "over 30 €", "quaich")
    }
    assert labels == {
        "quaich 20-40": ["Remove €20–€40"],
        "over 30 €": ["Remove Over €30"],
        "quaich": [],
    }


def test_x314_a_search_without_results_shows_those_of_fewer_words(client: Client) -> None:
    page = tree(client.get("/search", {"q": "stone quaich xylophone"}))
    assert texts(page, "h1") == ["Nothing for “stone quaich xylophone”"]
    assert "30 results for “quaich”" in texts(page, "main h2")
    (other,) = texts(page, "[aria-labelledby=shorter] .chip")
    assert other.endswith("for “stone”")
    assert len(names(page)) == queries.PAGE_LENGTH


def test_x314_the_spelling_of_all_words_is_suggested_beside(client: Client) -> None:
    page = tree(client.get("/search", {"q": "stne jgu"}))
    assert texts(page, "main .chips .chip")[:1] == ["stone jug"]


def test_x314_if_nothing_matches_there_are_popular_products(client: Client) -> None:
    page = tree(client.get("/search", {"q": "qqqq xxxx"}))
    assert "Popular now" in texts(page, "main h2")
    assert 0 < len(names(page)) <= 8


def test_x316_a_list_that_is_cut_says_so(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (search, filtered_lists, product_lists, views):
        monkeypatch.setattr(module, "DEEPEST", queries.PAGE_LENGTH + 2)
    page = tree(client.get("/search", {"q": "quaich"}))
    address = page.cssselect("a[rel=next]")[0].get("href")
    part = tree(client.get(address, headers={"HX-Request": "true"}))
    assert len(names(part)) == 2
    assert texts(part, "#load-more")[0].startswith(
        f"Only the first {filtered_lists.DEEPEST} products can be shown."
    )


@pytest.mark.parametrize(
    "query", ["NaN", "under NaN", "40-20", "over 999999", "0-0", "under 99999999999", "20-40" * 20]
)
def test_x315_nonsense_prices_are_a_clean_page(client: Client, query: str) -> None:
    assert client.get("/search", {"q": query}).status_code == 200

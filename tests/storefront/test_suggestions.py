"""The suggestions of the search field: their groups, with scripts and without, and what they cost."""

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client

from analytics.days import shop_today
from analytics.popular_searches import POPULAR_SEARCHES
from analytics.roll_up import SEARCHES
from cassandra_db import current_microseconds
from catalogue import queries
from catalogue.search_rules import CURRENT_RULES
from tests.storefront.page_parts import rounds, texts, tree

pytestmark = pytest.mark.usefixtures("index")


@pytest.fixture(autouse=True)
def popular(keyspace: str) -> None:
    day: dict[str, Any] = {"day": shop_today(), "at": current_microseconds(), "empty": 0}
    SEARCHES.run(**day, rank=990, words="kitchen & table", searches=9, visitors=3)
    POPULAR_SEARCHES.forget()
    queries.clear_category_cache()


def suggest(client: Client, typed: str) -> Any:
    return client.get("/search/suggest", {"q": typed}, headers={"HX-Request": "true"})


def test_x334_suggestions_are_groups_of_options(client: Client) -> None:
    part = tree(suggest(client, "ki"))
    groups = part.xpath("//*[@role='group']")
    titles = [part.get_element_by_id(each.get("aria-labelledby")).text_content() for each in groups]
    assert titles == ["Products", "Categories", "Brands", "Popular searches"]
    options = part.cssselect("[role=option]")
    assert len({each.get("id") for each in options}) == len(options)
    assert all(each.getparent().get("role") == "group" for each in options)
    addresses = {
        title: [urlsplit(each.get("data-href")) for each in group.cssselect("[role=option]")]
        for title, group in zip(titles, groups, strict=True)
    }
    brand = {"q": ["Kilnbrook"], "filter": ["brand:kilnbrook"]}
    assert brand in [parse_qs(each.query) for each in addresses["Brands"]]
    assert [parse_qs(each.query) for each in addresses["Popular searches"]] == [
        {"q": ["kitchen & table"]}
    ]
    for found in addresses.values():
        assert {client.get(each.geturl()).status_code for each in found} == {200}


def test_x334_a_product_has_its_picture_and_price(client: Client) -> None:
    (option,) = tree(suggest(client, "stone ju")).cssselect("#suggested-products-1")
    assert option.cssselect("span")[0].text_content().strip() == "Stone Jug"
    assert texts(option, ".price") == ["now €40.00 was €55.00"]
    assert option.cssselect("img")[0].get("alt") == ""


def test_x334_without_a_script_the_same_are_links(client: Client) -> None:
    part, page = tree(suggest(client, "ki")), tree(client.get("/search/suggest", {"q": "ki"}))
    assert texts(page, "main h2") == texts(part, ".suggestions__title")
    links = [each.get("href") for each in page.cssselect("main section a")]
    assert links == [each.get("data-href") for each in part.cssselect("[role=option]")]


def test_x335_suggestions_cost_at_most_a_round(client: Client) -> None:
    for forget in (
        *(POPULAR_SEARCHES.forget, CURRENT_RULES.forget, queries.clear_category_cache),
        lambda: None,
    ):
        forget()
        assert rounds(suggest(client, "quaich")) <= 1
    assert suggest(client, "stone")["X-Cassandra"].startswith("statements=0, rounds=0,")
    assert tree(client.get("/search/suggest", {"q": "q"})).cssselect("main section") == []

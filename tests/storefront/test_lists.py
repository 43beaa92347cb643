"""Lists of products: categories, deals and new arrivals, their order, their pages and their cards."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from math import inf
from pathlib import Path
from urllib.parse import quote

import pytest
from django.conf import settings
from django.test import Client, override_settings
from django.urls import reverse

from catalogue import operations, queries
from catalogue.entities import CategoryNode, Product
from catalogue.search_index import READER, build_index, refresh_index
from tests.factories import make_category, make_product
from tests.storefront.page_parts import NONSENSE, names, page_of, texts, tree


def test_x5_a_category_page_has_its_way_and_its_children(
    client: Client, leaf_category: CategoryNode
) -> None:
    root, middle = leaf_category.ancestors
    page = tree(client.get(reverse("category", args=(root.slug,))))
    assert middle.name in texts(page, "main nav a")
    assert len(names(page)) == queries.PAGE_LENGTH
    page = tree(client.get(reverse("category", args=(leaf_category.slug,))))
    assert texts(page, ".crumbs li") == ["Home", root.name, middle.name, leaf_category.name]
    assert leaf_category.name in page.findtext(".//title")
    assert page.xpath("string(//link[@rel='canonical']/@href)").endswith(
        f"/c/{leaf_category.slug}/"
    )


def test_x24_the_order_is_named_in_the_address_and_survives_paging(
    client: Client, leaf_category: CategoryNode
) -> None:
    url = reverse("category", args=(leaf_category.slug,))
    upwards = list(range(30))
    expected = {
        "newest": upwards[::-1],
        "price": upwards,
        "price-down": upwards[::-1],
        "name": upwards,
    }
    shown, said = {}, {}
    for sort in expected:
        page = tree(client.get(url, {"sort": sort}))
        more = page.cssselect("a[rel=next]")[0].get("href")
        following = tree(client.get(more))
        shown[sort] = [int(name.split()[1]) for name in names(page) + names(following)]
        forms = [(form.get("method"), form.get("action")) for form in page.cssselect("form.sort")]
        chosen = [
            each.cssselect("form.sort option[selected]")[0].get("value")
            for each in (page, following)
        ]
        said[sort] = (forms, chosen, f"sort={sort}" in more or sort == "newest")
    assert shown == expected
    assert said == {sort: ([("get", url)], [sort] * 2, True) for sort in expected}


def test_x28_load_more_is_a_link_whose_answer_is_the_rest(
    client: Client, leaf_category: CategoryNode
) -> None:
    page = tree(client.get(reverse("category", args=(leaf_category.slug,))))
    assert 15 <= len(names(page)) <= 30
    (more,) = page.cssselect("a[rel=next]")
    assert more.get("hx-get") == more.get("href")
    part = client.get(more.get("href"), headers={"HX-Request": "true"})
    assert b"<html" not in part.content
    assert len(re.findall(rb'class="card"', part.content)) == 30 - queries.PAGE_LENGTH
    assert b'rel="next"' not in part.content


@pytest.mark.usefixtures("index")
def test_x128_a_list_says_how_many_products_it_has(
    client: Client, leaf_category: CategoryNode, tmp_path: Path
) -> None:
    def count_at(address: str) -> list[str]:
        READER.looked_at = -inf
        return texts(tree(client.get(address)), ".list-tools p")

    category, root = (
        reverse("category", args=(each.slug,))
        for each in (leaf_category, leaf_category.ancestors[0])
    )
    for address in (category, root, "/search?q=quaich"):
        assert count_at(address) == ["30 products"], address
    one_more = make_product("Another cup", category=leaf_category, listed=True)
    refresh_index(datetime.now(UTC) + timedelta(seconds=1))
    assert [count_at(category), count_at(root)] == [["31 products"]] * 2
    operations.change_product_status(one_more, "archived", datetime.now(UTC))
    refresh_index(datetime.now(UTC) + timedelta(seconds=2))
    assert count_at(category) == ["30 products"]
    # A host whose index is not there yet counts nothing, and sorts all the same.
    with override_settings(SEARCH_INDEX_DIR=tmp_path / "none"):
        assert count_at(category) == []
        assert tree(client.get(category)).cssselect("form.sort")


def test_x129_deals_and_new_arrivals_have_pages_of_their_own(
    client: Client, tmp_path: Path
) -> None:
    start = datetime.now(UTC) - timedelta(days=90)
    made = [
        make_product(
            f"Reduced {place:02}",
            price=f"{20 + place}.00",
            compare_at="60.00",
            now=start + timedelta(hours=place),
        )
        for place in range(20)
    ]
    old = [
        make_product(f"Old {place:02}", now=start - timedelta(days=1 + place)) for place in range(9)
    ]
    new = [
        make_product(f"New {place}", now=datetime.now(UTC) - timedelta(days=place))
        for place in range(3)
    ]
    out = make_product("Gone", compare_at="90.00", availability="out", now=datetime.now(UTC))
    names_of_all: dict[str, list[str]] = {}
    with override_settings(SEARCH_INDEX_DIR=tmp_path):
        build_index([*made, *old, *new, out])
        for address in ("/deals/", "/deals/?sort=newest", "/deals/?sort=price-down", "/new/"):
            page = tree(client.get(address))
            assert page.xpath("string(//link[@rel='canonical']/@href)") == (
                settings.PUBLIC_URL + address.partition("?")[0]
            )
            more = page.cssselect("a[rel=next]")[0].get("href")
            part = client.get(more, headers={"HX-Request": "true"})
            assert b"<html" not in part.content
            names_of_all[address] = names(page) + names(tree(client.get(more)))
            assert texts(page, ".list-tools p") == [f"{len(names_of_all[address])} products"]
        assert client.get(more.replace("/new/", "/deals/")).status_code == 404
        assert client.get("/deals/?sort=best").status_code == 302
        build_index(old[:1])
        READER.looked_at = -inf
        empty = tree(client.get("/deals/"))
        assert empty.cssselect(".empty a[href='/new/']")
        assert names(tree(client.get("/new/"))) == ["Old 00"]
    reduced = [each.name for each in made]
    # New is what came in 30 days, and the newest 24 at least.
    assert names_of_all == {
        "/deals/": reduced,
        "/deals/?sort=newest": reduced[::-1],
        "/deals/?sort=price-down": reduced[::-1],
        "/new/": [*(each.name for each in new), *reduced[::-1], old[0].name],
    }
    links = [
        each.get("href") for each in tree(client.get("/help/")).cssselect("header a, footer a")
    ]
    assert [links.count(each) for each in ("/deals/", "/new/")] == [3, 3]
    # Without an index on this host it is the front page's row.
    operations.rebuild_featured(queries.get_products([made[0].product_id]).values())
    with override_settings(SEARCH_INDEX_DIR=tmp_path / "none"):
        assert names(tree(client.get("/deals/"))) == [made[0].name]
    operations.rebuild_featured(queries.iterate_products())


def test_x3_x4_a_part_is_distinguished_from_the_page(
    client: Client, leaf_category: CategoryNode
) -> None:
    url = (
        tree(client.get(reverse("category", args=(leaf_category.slug,))))
        .cssselect("a[rel=next]")[0]
        .get("href")
    )
    whole, part = client.get(url), client.get(url, headers={"HX-Request": "true"})
    assert "HX-Request" in whole["Vary"]
    assert "HX-Request" in part["Vary"]
    assert b"</html>" in whole.content
    assert len(tree(whole).cssselect("h1")) == 1
    restored = client.get(url, headers={"HX-Request": "true", "HX-History-Restore-Request": "true"})
    assert b"</html>" in restored.content


def test_x16_an_empty_category_offers_a_next_step(client: Client) -> None:
    empty = make_category("Empty")
    page = tree(client.get(reverse("category", args=(empty.slug,))))
    assert page.cssselect(".empty a[href='/']")


def test_x27_x29_what_a_card_says(client: Client) -> None:
    leaf_category = make_category("Cards")
    make_product(
        "Sold Out Bowl",
        price="20.00",
        compare_at="30.00",
        category=leaf_category,
        availability="out",
        listed=True,
    )
    many = make_product(
        "Many Bowls",
        price="10.00",
        options={"Colour": ["A", "B"]},
        category=leaf_category,
        listed=True,
    )
    dearer = replace(many.variants[1], price=many.variants[1].price * 2)
    operations.save_product(replace(many, variants=(many.variants[0], dearer)), datetime.now(UTC))
    cards = tree(
        client.get(reverse("category", args=(leaf_category.slug,)), {"sort": "name"})
    ).cssselect(".card")
    assert [len(card.cssselect("a")) for card in cards] == [1, 1]
    varied, gone = (" ".join(card.text_content().split()) for card in cards)
    assert "from €10.00" in varied
    assert "In stock" in varied
    assert "2 colours" in varied
    assert "Sold out" in gone
    assert "now €20.00 was €30.00" in gone
    assert cards[1].cssselect("s .vh")[0].text_content().strip() == "was"
    assert all(card.cssselect("img[alt][width][height]") for card in cards)


def test_x30_the_first_row_is_loaded_at_once_and_one_picture_first(
    client: Client, leaf_category: CategoryNode
) -> None:
    page = tree(client.get(reverse("category", args=(leaf_category.slug,))))
    loading = [image.get("loading") for image in page.cssselect(".card img")]
    assert loading[:4] == ["eager"] * 4
    assert set(loading[4:]) == {"lazy"}
    assert len(page.cssselect("[fetchpriority=high]")) == 1


def test_x19_the_page_speaks_english_and_euros(client: Client, jug: Product) -> None:
    page = tree(client.get(page_of(jug)))
    assert page.get("lang") == "en"
    assert "€40.00" in texts(page, ".price")[0]


def test_nonsense_in_a_lists_address_is_a_page(client: Client, leaf_category: CategoryNode) -> None:
    url, wrong = reverse("category", args=(leaf_category.slug,)), []
    for nonsense in NONSENSE:
        for address in (
            f"{url}?after={quote(nonsense)}",
            f"{url}?sort={quote(nonsense)}",
            f"/c/{quote(nonsense, safe='')}/",
        ):
            response = client.get(address)
            styled = (
                response.status_code == 404
                and tree(response).cssselect("h1")
                and b"Stoa" in response.content
            )
            if response.status_code != 302 and not styled:
                wrong.append(f"{address} answered {response.status_code}")
    assert wrong == []


def test_a_page_token_of_another_list_is_refused(
    client: Client, leaf_category: CategoryNode
) -> None:
    url = reverse("category", args=(leaf_category.slug,))
    href = tree(client.get(url, {"sort": "price"})).cssselect("a[rel=next]")[0].get("href")
    assert client.get(href.replace("sort=price", "sort=name")).status_code == 404

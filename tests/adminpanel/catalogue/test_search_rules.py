"""The staff's pages about rules for searches."""

import csv
import io
from math import inf
from pathlib import Path
from uuid import uuid4

import pytest
from django.test import Client, override_settings
from django.urls import reverse

from catalogue.search_index import READER, build_index
from catalogue.search_rules import (
    BLOCKED,
    ONE_WAY,
    PINNED,
    REDIRECT,
    SEARCH_RULES,
    TWO_WAY,
    SearchRule,
)
from tests.catalogue.search_rules import list_rules, make_search_rule
from tests.factories import make_category, make_product, make_user, sign_in_staff
from tests.storefront.page_parts import texts, tree

LIST = "/staff/search-rules/"


@pytest.fixture
def client() -> Client:
    return sign_in_staff(Client(), make_user("Cat", role="catalogue"))


def add(client: Client, kind: str, words: str, target: str = "", **more: str) -> list[str]:
    """Add a rule by the form; return the errors beside its fields."""
    body = {"key": str(uuid4()), "version": "", "words": words, "target": target} | more
    answer = client.post(reverse("adminpanel:search_rule_new", args=(kind,)), body)
    if answer.status_code == 303:
        return []
    assert answer.status_code == 422
    page = tree(answer)
    assert page.cssselect("[name=words]")[0].get("value", "") == words
    return texts(page, ".field .error") or texts(page, ".summary li, .field__error")


def stored(words: str) -> list[SearchRule]:
    return [each for each in list_rules().values() if each.words == words]


def test_x310_staff_add_change_and_delete_a_rule(client: Client) -> None:
    words = f"{uuid4().hex[:8]}, couch"
    rule_id = str(uuid4())
    for _twice in range(2):
        assert add(client, TWO_WAY, words, key=rule_id) == []
    (rule,) = stored(words)
    assert rule.kind == TWO_WAY
    listed = tree(client.get(LIST, {"kind": TWO_WAY}))
    assert words in texts(listed, "th a")
    assert words not in texts(tree(client.get(LIST, {"kind": PINNED})), "th a")
    page = reverse("adminpanel:search_rule", args=(TWO_WAY, rule_id))
    form = tree(client.get(page)).cssselect("#rule")[0]
    body = dict(form.form_values()) | {"words": f"{words}, divan"}
    assert client.post(page, body).status_code == 303
    (changed,) = stored(f"{words}, divan")
    removed = client.post(f"{page}remove/", {"version": SEARCH_RULES.fingerprint(changed)})
    assert removed.status_code == 303
    assert client.get(page).status_code == 404
    # What was typed about a rule that is gone is not lost: saved once more, it is there again.
    late = client.post(page, body)
    assert late.status_code == 409
    assert tree(late).cssselect("[name=words]")[0].get("value") == body["words"]
    assert client.post(page, body | {"overwrite": ""}).status_code == 303
    assert stored(f"{words}, divan")


def test_x310_all_rules_are_exported_as_a_file(client: Client) -> None:
    words = f'=formula"{uuid4().hex[:8]}, other'
    make_search_rule(TWO_WAY, words)
    answer = client.get(reverse("adminpanel:search_rule_file"))
    assert answer["Content-Type"].startswith("text/csv")
    rows = list(csv.reader(io.StringIO(answer.content.decode())))
    assert rows[0] == ["kind", "words", "target"]
    assert len(rows) == 1 + len(list_rules())
    (line,) = [row for row in rows if words in row[1]]
    assert not line[1].startswith("=")


def test_x312_a_redirect_leads_only_to_a_public_page_of_the_shop(client: Client) -> None:
    category = make_category(f"Shelf {uuid4().hex[:8]}")
    for path in ("/deals/", f"/c/{category.slug}/", "/search?q=mug&sort=price"):
        assert add(client, REDIRECT, f"to {uuid4().hex}", path) == [], path
    for path in (
        *("//evil.example/", "https://evil.example/", "/\\evil.example", "/none/", "deals"),
        *("/staff/", "/account/", "/c/no-such-category/", "/p/no-such-product/", "javascript:1"),
    ):
        assert add(client, REDIRECT, f"to {uuid4().hex}", path), path


def test_x313_pins_are_up_to_eight_products_by_sku(client: Client) -> None:
    products = [make_product("Pinned", options={"Size": ["S", "L"]}) for _ in range(9)]
    skus = [each.variants[0].sku for each in products]
    words = f"pins {uuid4().hex}"
    assert add(client, PINNED, words, ", ".join(skus))
    assert add(client, PINNED, words, "NO-SUCH-SKU")
    assert add(client, PINNED, words, ", ".join(v.sku for v in products[0].variants))
    assert add(client, PINNED, words, ",")
    assert add(client, PINNED, words, ", ".join(skus[:8]).lower()) == []
    (rule,) = stored(words)
    assert rule.target == ", ".join(skus[:8])
    # The same query cannot have other pins, or a redirect.
    assert add(client, REDIRECT, f"x, {words.upper()}", "/deals/")


@pytest.mark.parametrize(
    ("kind", "words", "target"),
    [
        (TWO_WAY, "alone", ""),
        (TWO_WAY, ",,!", ""),
        (TWO_WAY, "", ""),
        (TWO_WAY, "x" * 201, ""),
        (ONE_WAY, "phone", ""),
        (ONE_WAY, "phone", "!?"),
        (REDIRECT, "", "/deals/"),
        (BLOCKED, "!", ""),
    ],
)
def test_x310_what_cannot_be_is_said_beside_its_field(
    client: Client, kind: str, words: str, target: str
) -> None:
    assert add(client, kind, words, target)


def test_x310_a_query_can_be_tried(client: Client, tmp_path: Path) -> None:
    word = f"w{uuid4().hex[:8]}"
    make_search_rule(ONE_WAY, word, "smartphone")
    make_search_rule(REDIRECT, f"{word} now", "/deals/")
    assert add(client, BLOCKED, f"other, {word}") == []
    with override_settings(SEARCH_INDEX_DIR=tmp_path):
        assert texts(tree(client.get(LIST, {"q": word})), "main .notice__text")
        build_index([make_product("Smartphone Stand", price="10.00")])
        READER.looked_at = -inf
        page = tree(client.get(LIST, {"q": f"{word} under 20"}))
        assert f"{word} or smartphone" in texts(page, "main li")
        assert "“under 20” is read as a price" in texts(page, "main li")
        assert "Never suggested." in texts(page, "main li")
        assert "1 product" in texts(page, "main p")
        page = tree(client.get(LIST, {"q": f"{word} now"}))
        assert "Redirects to /deals/" in texts(page, "main p")
        for nonsense in ("\0", "a" * 3000, "<script>", "٣"):
            assert client.get(LIST, {"q": nonsense}).status_code == 200
    assert client.get(LIST, {"kind": "nonsense"}).status_code == 404
    assert client.get(f"{LIST}nonsense/new/").status_code == 404


def test_x341_x342_a_tried_query_says_why_and_what_was_left_out(
    client: Client, tmp_path: Path
) -> None:
    word = f"w{uuid4().hex[:8]}"
    product = make_product("Smartphone <b>Stand", price="10.00")
    make_search_rule(ONE_WAY, word, "smartphone")
    make_search_rule(PINNED, f"{word} pinned", product.variants[0].sku)

    def reasons(query: str) -> list[str]:
        page = tree(client.get(LIST, {"q": query}))
        return texts(page, "main td[data-label=Why] li")

    with override_settings(SEARCH_INDEX_DIR=tmp_path):
        build_index([product])
        READER.looked_at = -inf
        assert reasons(f"{word} under 20") == [f"Name: smartphone (synonym of {word}) +4.8"]
        assert reasons("smart phone") == ["Name: smartphone (written together) +7.5"]
        assert reasons("smartphnoe st") == [
            "Name: starts with st +2.0",
            "Name: like smartphnoe, typo forgiven +1.5",
        ]
        assert reasons(f"{word} pinned") == ["Pinned by staff +80,000.0"]
        assert reasons("under 20") == ["The price alone"]
        page = tree(client.get(LIST, {"q": "Smartphone zebra"}))
        assert texts(page, "main ul.chips li") == ["smartphone (1)"]
        page = tree(client.get(LIST, {"q": "a b c d e f g h stand zoo"}))
        assert "Only the first eight words count. Ignored: stand zoo" in texts(page, "main li")
        page = tree(client.get(LIST, {"q": "zebra"}))
        assert "No product matches any of the words. Shoppers see popular products." in texts(
            page, "main p"
        )

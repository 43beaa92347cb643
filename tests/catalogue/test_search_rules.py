"""What staff say about searches, and what a search does if no product has all its words."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import tantivy
from django.test import override_settings

from catalogue import index_queries, search, search_relaxation, search_rules
from catalogue.entities import Product
from catalogue.index_documents import make_document
from catalogue.search_explanations import ExplainedResult, explain_search
from catalogue.search_index import READER, build_index
from catalogue.search_relaxation import find_shorter_queries
from catalogue.search_rules import (
    CURRENT_RULES,
    MAX_SYNONYMS,
    ONE_WAY,
    PARTITION,
    PINNED,
    REDIRECT,
    SEARCH_RULES,
    TWO_WAY,
    SearchRule,
    SearchRules,
    get_search_rules,
)
from catalogue.words import search_terms
from shop_settings.errors import SettingChanged, SettingRefused
from shop_settings.operations import remove_setting, save_setting
from shop_settings.queries import get_settings_at_quorum
from tests.catalogue.search_rules import list_rules, make_search_rule, remove_search_rule
from tests.clock import now
from tests.factories import make_product


@pytest.fixture(scope="module")
def products(keyspace: str) -> list[Product]:
    return [
        make_product("Blue Velvet Sofa", price="400.00"),
        make_product("Corner Couch", price="300.00"),
        make_product("Smartphone Stand", price="20.00"),
        make_product("Telephone Table", price="90.00", description="For a phone."),
        make_product("Blue Bowl", price="20.00"),
        make_product("Blue Plate", price="15.00"),
        make_product("Wool Socks", price="12.00", options={"Size": ["36–40", "41–46"]}),
        make_product("Red Bowl", price="35.50"),
    ]


@pytest.fixture(autouse=True)
def index(products: list[Product], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("index")
    with override_settings(SEARCH_INDEX_DIR=folder):
        build_index(products)
        yield folder


@pytest.fixture
def save() -> Iterator[Callable[..., SearchRule]]:
    """Saves a rule for the time of a test."""
    saved = []

    def save(kind: str, words: str, target: str = "") -> SearchRule:
        saved.append(make_search_rule(kind, words, target))
        return saved[-1]

    yield save
    for rule in saved:
        remove_search_rule(rule)


def found(query: str, **how: Any) -> list[str]:
    READER.looked_at = -inf
    return [card.name for card in search.search_products(query, **how).cards]


# ---- Synonyms


def test_x311_two_way_synonyms_find_each_other(save: Callable[..., SearchRule]) -> None:
    assert found("settees") == []
    save(TWO_WAY, "Sofa, couch, SETTEE")
    assert found("settees") == ["Blue Velvet Sofa", "Corner Couch"]
    # What was typed comes first.
    assert found("couch") == ["Corner Couch", "Blue Velvet Sofa"]
    assert found("blue couch") == ["Blue Velvet Sofa"]


def test_x311_a_one_way_synonym_is_not_followed_back(save: Callable[..., SearchRule]) -> None:
    before = found("smartphone")
    save(ONE_WAY, "phone", "smartphone")
    assert sorted(found("phone")) == ["Smartphone Stand", "Telephone Table"]
    assert found("smartphone") == before == ["Smartphone Stand"]


def test_x311_a_synonym_may_have_several_words(save: Callable[..., SearchRule]) -> None:
    save(TWO_WAY, "corner couch, L-shape")
    assert found("l shape") == found("lshape") == ["Corner Couch"]
    assert found("shape") == []


def test_x311_a_query_is_searched_with_a_bounded_number_of_synonyms() -> None:
    many = ", ".join(f"w{number}" for number in range(60))
    rules = SearchRules([SearchRule("1", TWO_WAY, many)])
    parts = rules.find_synonyms([f"w{number}" for number in range(8)])
    assert sum(len(synonyms) for _, synonyms in parts) == MAX_SYNONYMS
    assert [words for words, _ in parts] == [(f"w{number}",) for number in range(8)]


# ---- Pinned results


def test_x313_pinned_products_come_first_and_once(
    products: list[Product], save: Callable[..., SearchRule]
) -> None:
    natural = found("blue")
    skus = [products[place].variants[0].sku for place in (3, 4)]
    save(PINNED, "Blue, azure", ", ".join(skus))
    whole = search.search_products("BLUE")
    names = [card.name for card in whole.cards]
    assert names[:2] == ["Telephone Table", "Blue Bowl"]
    assert sorted(names) == sorted([*natural, "Telephone Table"])
    assert whole.total == 4
    paged = [found("blue", limit=1, offset=place) for place in range(5)]
    assert paged == [[name] for name in names] + [[]]
    # In another order they are among the others; of another query they are no results.
    assert found("blue", sort="price")[0] == "Blue Plate"
    assert "Telephone Table" not in found("blue bowl")
    assert found("azure") == ["Telephone Table", "Blue Bowl"]


def test_x313_a_pinned_product_that_is_not_on_sale_is_left_out(
    products: list[Product], save: Callable[..., SearchRule]
) -> None:
    save(PINNED, "blue", products[3].variants[0].sku)
    build_index([replace(products[3], status="archived"), *products[4:]])
    assert sorted(found("blue")) == ["Blue Bowl", "Blue Plate"]


# ---- Explanations


def explained(query: str) -> list[ExplainedResult]:
    READER.looked_at = -inf
    return explain_search(query)


@pytest.mark.usefixtures("index")
def test_x341_the_points_of_each_word_in_each_field_add_up_to_the_score(
    products: list[Product], save: Callable[..., SearchRule]
) -> None:
    build_index([*products, make_product("Cup", options={"Colour": ["Blue", "Red"]})])
    save(TWO_WAY, "sofa, couch, corner couch")
    save(PINNED, "blue", products[3].variants[0].sku)
    wrong, seen = [], set[str]()
    for query in (
        *("blue", "blue blue", "blue bowl", "bowls", "sof", "velvt sofas", "smart phone", "corner"),
        *(
            "blue couch",
            "tele phone",
            "blue under 18",
            "under 16",
            "navy cup",
            "azure",
            "wool 36-40",
        ),
        *(
            "corner couches",
            "blue velvet so",
            "zzzz",
            "",
            "-",
            "bleu bwol",
            products[4].variants[0].sku,
        ),
    ):
        results = explained(query)
        assert [each.card.name for each in results] == found(query, limit=10), query
        for each in results:
            points = sum(reason.points for reason in each.reasons)
            if points != pytest.approx(each.score, rel=1e-5):
                wrong.append((query, each.card.name, points, each.score))
            seen.update(reason.how for reason in each.reasons)
    assert wrong == []
    assert seen == {*search.MATCHES}


def test_x341_a_reason_names_the_word_the_field_and_how_it_matches(
    save: Callable[..., SearchRule],
) -> None:
    save(TWO_WAY, "settee, sofa")

    def why(query: str) -> list[tuple[str, str, str, str]]:
        return [
            (each.word, each.field, each.how, each.synonym_of)
            for each in explained(query)[0].reasons
        ]

    assert why("settee") == [("sofa", "name", "has", "settee")]
    assert why("smart phone") == [("smartphone", "name", "has", "")]
    assert why("smartphnoe stan") == [
        ("stan", "name", "begins", ""),
        ("smartphnoe", "name", "typo", ""),
    ]
    assert why("phone table") == [("table", "name", "has", ""), ("phone", "text", "has", "")]


# ---- Rules


def test_x310_a_saved_rule_counts_at_once_here_and_within_five_seconds_elsewhere(
    save: Callable[..., SearchRule],
) -> None:
    save(REDIRECT, "Ünique  Offers", "/deals/")
    assert get_search_rules().redirects["unique offers"] == "/deals/"
    assert CURRENT_RULES.max_seconds <= 5


def test_x310_a_repeat_changes_nothing_and_a_stale_save_is_refused() -> None:
    rule = make_search_rule(TWO_WAY, "hassock, tuffet")
    revision = get_settings_at_quorum(PARTITION).revision
    save_setting(SEARCH_RULES, rule.key, rule, "", now())
    assert get_settings_at_quorum(PARTITION).revision == revision
    newer = replace(rule, words="hassock, tuffet, pouffe")
    seen = SEARCH_RULES.fingerprint(rule)
    save_setting(SEARCH_RULES, rule.key, newer, seen, now())
    late = replace(rule, words="late, later")
    with pytest.raises(SettingChanged):
        save_setting(SEARCH_RULES, rule.key, late, seen, now())
    with pytest.raises(SettingChanged):
        remove_setting(SEARCH_RULES, rule.key, seen, now())
    assert list_rules()[rule.key] == newer
    # The last rule can be removed, too.
    remove_search_rule(newer)
    remove_search_rule(newer)
    assert rule.key not in list_rules()


def test_x310_the_number_of_rules_is_bounded(save: Callable[..., SearchRule]) -> None:
    rule = save(TWO_WAY, "one, single")
    full = replace(SEARCH_RULES, max_settings=len(list_rules()))
    more = SearchRule(str(uuid4()), TWO_WAY, "two, pair")
    with pytest.raises(SettingRefused):
        save_setting(full, more.key, more, "", now())
    newer = replace(rule, words="one, sole")
    save_setting(full, rule.key, newer, full.fingerprint(rule), now())
    save_setting(full, rule.key, rule, full.fingerprint(newer), now())


@pytest.mark.parametrize(
    "target",
    ["//evil.example/", "https://evil.example/", "/\\evil.example", "deals/", "/a b", "/a\n", ""],
)
def test_x312_a_redirect_never_leaves_the_shop(target: str) -> None:
    with pytest.raises(SettingRefused):
        make_search_rule(REDIRECT, "away", target)


def test_x312_redirects_form_no_chain_and_no_loop(save: Callable[..., SearchRule]) -> None:
    for words, target in (("ring", "/search?q=Ring"), ("a, b", "/search?sort=price&q=b")):
        with pytest.raises(SettingRefused):
            save(REDIRECT, words, target)
    save(REDIRECT, "first", "/search?q=second+word")
    with pytest.raises(SettingRefused):
        save(REDIRECT, "Second Word", "/search?q=first")
    with pytest.raises(SettingRefused):
        save(REDIRECT, "second-word", "/deals/")


def test_x312_x313_a_query_has_one_redirect_or_one_row_of_pins(
    save: Callable[..., SearchRule],
) -> None:
    save(REDIRECT, "bargain, bargains", "/deals/")
    for kind in (REDIRECT, PINNED):
        with pytest.raises(SettingRefused, match="bargains"):
            save(kind, "other, Bargains", "/new/")


def test_x312_of_many_who_redirect_a_query_at_once_one_is_not_refused() -> None:
    def save_one(path: str) -> SearchRule | None:
        try:
            return make_search_rule(REDIRECT, "contested", path)
        except SettingRefused:
            return None

    with ThreadPoolExecutor(4) as pool:
        saved = [rule for rule in pool.map(save_one, ("/1", "/2", "/3", "/4")) if rule]
    stored = [rule for rule in list_rules().values() if rule.words == "contested"]
    assert len(saved) == 1
    assert stored == saved
    remove_search_rule(saved[0])


# ---- Prices in words


def test_x315_a_price_in_words_is_no_word_to_find() -> None:
    assert found("bowl under 20") == ["Blue Bowl"]
    assert found("bowl over 20 euros", sort="price") == ["Blue Bowl", "Red Bowl"]
    assert found("bowl 30–40 €") == ["Red Bowl"]
    assert found("under 15", sort="price") == ["Wool Socks", "Blue Plate"]
    assert found("bowl under 1") == []


def test_x315_a_size_that_products_have_is_no_price() -> None:
    assert found("socks 36-40") == ["Wool Socks"]
    assert found("socks 10-15") == ["Wool Socks"]
    assert found("socks 36-41") == []


# ---- Fewer words


def shorter(query: str) -> list[tuple[str, int]]:
    READER.looked_at = -inf
    return [(each.query, each.total) for each in find_shorter_queries(query)]


def test_x314_words_that_no_product_has_are_left_out_first() -> None:
    assert shorter("blue zanzibar") == [("blue", 3)]
    assert shorter("blue zanzibar bowl") == [("blue bowl", 1)]
    assert shorter("zanzibar") == shorter("zanzibar quux") == shorter("") == []
    # A misspelt word is one that products have.
    assert shorter("velvett zanzibar") == [("velvett", 1)]


def test_x314_then_the_word_whose_removal_leaves_most() -> None:
    assert shorter("blue socks") == [("blue", 3), ("socks", 1)]
    assert shorter("blue red bowl") == [("red bowl", 1), ("blue bowl", 1)]
    assert shorter("bowl under 5") == [("bowl", 2)]
    # If it takes more than one, the search shows single words.
    assert shorter("blue socks stand table")[0] == ("blue", 3)


def test_x314_it_takes_at_most_a_few_searches_more_than_the_query_has_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counted: list[str] = []
    original = index_queries.count

    def spy(searcher: Any, wanted: Any) -> int:
        counted.append("")
        return original(searcher, wanted)

    monkeypatch.setattr(search_relaxation, "count", spy)
    known = ["blue", "velvet", "sofa", "corner", "couch", "smartphone", "stand", "telephone"]
    for size in range(1, 9):
        for words in (known[:size], [f"zz{number}q" for number in range(size)]):
            for query in (words, [*words, "under 5"], [*words[: size // 2], "zzyx", "zzyy"]):
                counted.clear()
                find_shorter_queries(" ".join(query))
                assert len(counted) <= size + 5, query


# ---- Long lists


def test_x316_all_of_ten_thousand_products_of_one_name_are_reached(
    index: Path, products: list[Product]
) -> None:
    """K3 of document 001: the items of one name."""
    READER.searcher()
    assert READER._path
    opened = tantivy.Index.open(str(READER._path))
    writer = opened.writer(heap_size=64_000_000, num_threads=1)
    same = make_document(products[4]).to_dict()
    same["name"] = [" ".join(search_terms("Common Thing"))]
    for number in range(10_000):
        writer.add_document(
            tantivy.Document(**(same | {"id": [f"{number:032x}"], "price": [number]}))
        )
    writer.commit()
    writer.wait_merging_threads()
    READER._path = None
    reached, prices = 0, set[int]()
    schema, searcher = READER.searcher()
    for offset in range(0, 10_100, 1000):
        page = search.search_products("common thing", 1000, offset, "price")
        assert page.total == 10_000
        reached += len(page.cards)
        wanted = search.product_query(schema, search.read_query("common thing"))
        hits = searcher.search(wanted, limit=1000, offset=offset).hits
        prices |= {int(searcher.doc(address)["id"][0], 16) for _, address in hits}
    assert (reached, len(prices)) == (10_000, 10_000)


@pytest.mark.parametrize("offset", [99_990, 100_000, 10**9, 2**62])
def test_x316_a_place_far_beyond_the_end_is_empty(offset: int) -> None:
    for sort in ("best", "price"):
        page = search.search_products("blue", 24, offset, sort)
        assert (page.cards, page.total) == ((), 3)


def test_the_rules_need_no_database() -> None:
    assert search_rules.split_phrases("T-Shirt, tee,, Café crème, Tee") == [
        *(("t", "shirt"), ("tee",), ("cafe", "creme"))
    ]

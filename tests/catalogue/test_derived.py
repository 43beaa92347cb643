"""What is derived from products: the front page's rows, related products, suggestions."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from uuid import UUID, uuid4

import pytest
from moneyed import EUR, Money

from cassandra_db import LOCAL_QUORUM, PendingResult, Row
from catalogue import jobs, operations, queries
from catalogue.entities import Product, ProductCard
from catalogue.operations import related
from catalogue.words import name_prefixes, search_terms, split_words, word_forms
from jobs.leases import hold_lease, save_position
from tests.clock import now
from tests.factories import make_category, make_product


def list_related(product_id: UUID) -> list[ProductCard]:
    return [each.card for each in operations.list_related_with_pins(product_id)]


def names(typed: str) -> list[str]:
    return [suggestion.name for suggestion in queries.list_suggestions(typed, most=50)]


@pytest.fixture
def front_page_of_others() -> Iterator[None]:
    """The rows of the front page belong to the whole shop: restore what other tests may look at."""
    yield
    operations.rebuild_featured(queries.iterate_products())


@pytest.mark.usefixtures("front_page_of_others")
def test_q4_the_rows_of_the_front_page() -> None:
    category = make_category()
    start = now() - timedelta(days=3)
    plain = make_product("Plain", category=category, now=start)
    flagged = make_product(
        "Flagged", category=category, featured=True, now=start + timedelta(hours=1)
    )
    small = make_product(
        "Small deal",
        price="9.00",
        compare_at="10.00",
        category=category,
        now=start + timedelta(hours=2),
    )
    large = make_product(
        "Large deal",
        price="5.00",
        compare_at="10.00",
        category=category,
        now=start + timedelta(hours=3),
    )
    gone = make_product(
        "Sold out", compare_at="50.00", featured=True, category=category, availability="out"
    )
    found = queries.get_products(each.product_id for each in (plain, flagged, small, large, gone))
    operations.rebuild_featured(found.values())
    assert [card.name for card in queries.list_featured("featured")] == ["Flagged"]
    assert [card.name for card in queries.list_featured("deals")] == ["Large deal", "Small deal"]
    assert [card.name for card in queries.list_featured("new_arrivals")] == [
        "Large deal",
        "Small deal",
        "Flagged",
        "Plain",
    ]


@pytest.mark.usefixtures("front_page_of_others")
def test_q4_a_row_that_grows_shorter_loses_its_end() -> None:
    category = make_category()
    both = [
        replace(make_product(category=category, featured=True), availability="in") for _ in range(2)
    ]
    operations.rebuild_featured(both)
    operations.rebuild_featured(both[:1])
    assert [card.product_id for card in queries.list_featured("featured")] == [both[0].product_id]


def related_names(product: Product) -> list[str]:
    return [card.name for card in list_related(product.product_id)]


def test_x130_q5_pinned_first_then_what_has_a_category_or_a_tag_in_common() -> None:
    category, other = make_category(), make_category()
    product, neighbour, further = (
        make_product(name, category=category) for name in ("This", "Neighbour", "Further")
    )
    pinned, together, teapot, tagged, hat = (
        make_product(name, category=other)
        for name in ("Pinned", "Together", "Teapot", "Tagged", "Hat")
    )
    product = replace(product, related_ids=(pinned.product_id,), tags=frozenset(["wool", "winter"]))
    together, tagged, further = (
        replace(each, tags=frozenset(["wool"])) for each in (together, tagged, further)
    )
    hat = replace(hat, category_id=uuid4(), category_ids=frozenset([other.category_id]))
    bought = [teapot.product_id, together.product_id, pinned.product_id]
    everything = [product, neighbour, further, pinned, together, teapot, tagged, hat]
    operations.rebuild_related(everything, {product.product_id: bought})
    # The teapot was bought with it the most often, and has nothing to do with it.
    assert related_names(product) == ["Pinned", "Together", "Further", "Neighbour", "Tagged"]
    assert related_names(neighbour) == ["Further", "This"]
    assert related_names(hat) == ["Pinned", "Together", "Teapot", "Tagged"]
    operations.rebuild_related([product, teapot], {product.product_id: [teapot.product_id]})
    assert related_names(product) == []


def test_q5_lists_are_rebuilt_in_steps_between_which_a_backfill_may_rest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(related, "STEP", 2)
    category = make_category()
    products = [make_product(category=category) for _ in range(5)]
    assert list(operations.rebuild_related_in_steps(products, {})) == [0, 0, 2, 4, 5]
    assert {len(list_related(each.product_id)) for each in products} == {4}


def test_q5_a_list_that_is_changed_is_read_from_a_majority_of_the_nodes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The whole list is written again: one that a single node still has would bring back what others have replaced."""
    one, asked, rows = make_product("One"), list[int](), PendingResult.rows

    def note(self: PendingResult) -> list[Row]:
        if "related_cards" in self.statement.cql:
            asked.append(self.statement.consistency)
        return rows(self)

    monkeypatch.setattr(PendingResult, "rows", note)
    operations.replace_related_card(one.product_id, uuid4(), None)
    assert asked == [LOCAL_QUORUM]


def test_q5_a_changed_product_is_renewed_where_it_stands() -> None:
    category = make_category()
    one, other = make_product("One", category=category), make_product("Other", category=category)
    operations.rebuild_related([one, other], {})
    dearer = replace(one.variants[0], price=Money("99.00", EUR))
    saved = operations.save_product(replace(one, variants=(dearer,)), now())
    operations.refresh_related(saved)
    assert [card.price for card in list_related(other.product_id)] == [Money("99.00", EUR)]
    operations.refresh_related(operations.save_product(replace(saved, status="archived"), now()))
    assert list_related(other.product_id) == []


def test_x33_every_typed_letter_narrows() -> None:
    category = make_category()
    made = [
        make_product(name, category=category)
        for name in ("Qoppa lamp", "Qoppaling", "Old Qoppa", "Qop")
    ]
    operations.rebuild_prefixes(made)
    assert set(names("qo")) == {"Qoppa lamp", "Qoppaling", "Old Qoppa", "Qop"}
    assert set(names("qopp")) == {"Qoppa lamp", "Qoppaling", "Old Qoppa"}
    assert names("qoppali") == ["Qoppaling"]
    assert names("qoppaling") == ["Qoppaling"]
    assert names("qoppalingx") == []
    assert names("QOPPA la") == ["Qoppa lamp"]
    assert names("q") == names("") == names("\0") == []
    # A first word counts more than a later one.
    assert names("qoppa")[-1] == "Old Qoppa"


def test_q3_a_prefix_keeps_its_best_fifty_and_what_is_gone_leaves() -> None:
    category = make_category()
    one = make_product("Xyzzy One", category=category)
    crowd = [
        replace(
            one,
            product_id=UUID(int=place + 1),
            name=f"Xyzzy {place}",
            created_at=now() - timedelta(days=place),
        )
        for place in range(60)
    ]
    operations.rebuild_prefixes(crowd)
    stored_names = [row.name for row in queries.BY_PREFIX.all(prefix="xyzzy")]
    assert stored_names == [f"Xyzzy {place}" for place in range(50)]
    operations.rebuild_prefixes([one])
    assert names("xyz") == ["Xyzzy One"]
    operations.rebuild_prefixes([])
    assert names("xyz") == []


def test_q3_one_products_suggestions_follow_it() -> None:
    product = make_product("Wqwq lamp")
    operations.refresh_prefixes(product)
    assert names("wqw") == ["Wqwq lamp"]
    renamed = operations.save_product(replace(product, name="Vqvq lamp"), now())
    assert names("wqw") == []
    assert names("vqv") == ["Vqvq lamp"]
    operations.refresh_prefixes(operations.save_product(replace(renamed, status="archived"), now()))
    assert names("vqv") == []


def test_words_forms_and_terms() -> None:
    assert split_words("Café-Crème, GRÖSSE 45 × 45") == ["cafe", "creme", "grosse", "45", "45"]
    assert "mug" in word_forms("mugs")
    assert "knife" in word_forms("knives")
    assert "brush" in word_forms("brushes")
    assert word_forms("glass") == {"glass"}
    assert {"t", "shirt", "tshirt"} <= set(search_terms("T-Shirts"))
    assert name_prefixes("Old Lamp") == {"ol": 0, "old": 0, "la": 1, "lam": 1, "lamp": 1}


@pytest.mark.usefixtures("front_page_of_others")
def test_the_job_follows_what_has_changed() -> None:
    before = now()
    product = make_product("Kjkj jug", listed=True)
    with hold_lease(jobs.LISTS):
        # other tests have changed more products than one run handles
        save_position(jobs.LISTS, before.isoformat())
        jobs.update_lists(now() + jobs.COMPLETE_AFTER)
        assert names("kjkj") == ["Kjkj jug"]
        assert jobs.update_lists(now() + jobs.COMPLETE_AFTER) == ""
    assert any(
        card.product_id == product.product_id for card in queries.list_featured("new_arrivals")
    )

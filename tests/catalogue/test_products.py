"""Products: claims, cards in every list, and what happens when something stops half-way."""

import contextlib
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from functools import cache
from typing import Any
from uuid import uuid4

import pytest
from moneyed import EUR, Money

from cassandra_db import CassandraUnavailable, InvalidPageToken, apply_batch
from catalogue import operations, queries
from catalogue.entities import CategoryNode, Product, ProductCard
from catalogue.errors import CategoryRefused, ProductChanged, ProductRefused, SkuTaken, SlugTaken
from catalogue.operations import cards as list_cards
from catalogue.operations import products as product_saves
from tests.catalogue.reads import changed
from tests.clock import now
from tests.factories import make_category, make_product
from tests.reads import existing
from tests.rules import for_each
from tests.threads import map_at_once


def listed(category_id: Any, sort: str = "name") -> list[str]:
    return [card.name for card in queries.get_category_page(category_id, sort).cards]


def test_a_product_comes_back_as_it_was_saved() -> None:
    saved = make_product(
        "Teapot",
        price="48.00",
        compare_at="60.00",
        options={"Colour": ["Teal", "Oat"]},
        listed=True,
    )
    found = existing(queries.get_product(saved.product_id))
    assert replace(found, updated_at=None, created_at=None) == replace(
        saved, updated_at=None, created_at=None
    )
    assert [variant.label for variant in found.variants] == ["Teal", "Oat"]
    assert found.variants[0].price == Money("48.00", EUR)
    assert queries.find_product_id_by_slug(saved.slug) == saved.product_id
    row = existing(queries.find_variant_by_sku(found.variants[1].sku))
    assert row.variant_id == found.variants[1].variant_id


def test_an_unknown_product_is_none() -> None:
    assert queries.get_product(uuid4()) is None
    assert queries.find_product_id_by_slug("no-such-slug") is None
    assert queries.find_variant_by_sku("NO-SUCH-SKU") is None


def test_q2_a_product_stands_in_its_category_and_in_all_above_it() -> None:
    root = make_category("Root")
    middle = make_category("Middle", parent=root)
    leaf = make_category("Leaf", parent=middle)
    make_product("Anvil", category=leaf, listed=True)
    for node in (root, middle, leaf):
        assert listed(node.category_id) == ["Anvil"]
    assert [node.name for node in leaf.ancestors] == ["Root", "Middle"]


def test_q2_the_four_orders() -> None:
    category = make_category()
    start = now() - timedelta(days=10)
    for place, (name, price) in enumerate(
        [("Zebra", "5.00"), ("äpfel", "100.00"), ("Apfelbaum", "20.00")]
    ):
        make_product(
            name, price=price, category=category, now=start + timedelta(days=place), listed=True
        )
    assert listed(category.category_id, "newest") == ["Apfelbaum", "äpfel", "Zebra"]
    assert listed(category.category_id, "price") == ["Zebra", "Apfelbaum", "äpfel"]
    assert listed(category.category_id, "price-down") == ["äpfel", "Apfelbaum", "Zebra"]
    assert listed(category.category_id, "name") == ["äpfel", "Apfelbaum", "Zebra"]


@cache
def five_of_one_name() -> CategoryNode:
    category = make_category()
    for price in ("3.00", "1.00", "2.00", "2.00", "2.00"):
        make_product("Same name", price=price, category=category, listed=True)
    return category


@for_each(sorted(queries.SORTS), at_least=4)
def test_q2_the_parts_of_a_list_are_the_list(sort: str) -> None:
    category = five_of_one_name()
    whole = queries.get_category_page(category.category_id, sort)
    assert whole.next_token == ""
    parts: list[ProductCard] = []
    token = ""
    while True:
        part = queries.get_category_page(category.category_id, sort, token, limit=2)
        parts += part.cards
        token = part.next_token
        if not token:
            break
    assert parts == list(whole.cards)
    assert len(parts) == 5


def test_a_page_token_fits_one_list_and_cannot_be_made_up() -> None:
    category, other = make_category(), make_category()
    for _ in range(2):
        make_product(category=category, listed=True)
    token = queries.get_category_page(category.category_id, "price", limit=1).next_token
    for category_id, sort, sent in (
        (other.category_id, "price", token),
        (category.category_id, "name", token),
        (category.category_id, "price", token[:-1]),
        (category.category_id, "price", "\0"),
    ):
        with pytest.raises(InvalidPageToken):
            queries.get_category_page(category_id, sort, sent)


def test_bytes_sort_as_the_numbers_they_stand_for() -> None:
    numbers = [-(10**12), -1, 0, 1, 255, 256, 10**12]
    assert sorted(numbers, key=list_cards._sortable) == numbers


def test_a_changed_price_moves_the_card_and_leaves_none_behind() -> None:
    category = make_category()
    product = make_product(price="10.00", category=category, listed=True)
    dearer = replace(product.variants[0], price=Money("30.00", EUR))
    operations.save_product(replace(product, variants=(dearer,)), now())
    cards = queries.get_category_page(category.category_id, "price").cards
    assert [card.price for card in cards] == [Money("30.00", EUR)]
    assert len(operations.list_positions(product.product_id)) == 5


def test_another_category_takes_the_cards_along() -> None:
    former, new = make_category(), make_category()
    product = make_product(category=former, listed=True)
    operations.save_product(replace(product, category_id=new.category_id), now())
    assert listed(former.category_id) == []
    assert listed(new.category_id) == [product.name]


def test_an_archived_product_leaves_all_lists() -> None:
    category = make_category()
    product = make_product(category=category, listed=True)
    operations.save_product(replace(product, status="archived"), now())
    assert listed(category.category_id) == []
    assert operations.list_positions(product.product_id) == set()


def test_a_variant_that_is_left_out_is_kept_as_no_longer_sold() -> None:
    product = make_product(options={"Size": ["S", "L"]})
    small, large = product.variants
    operations.save_product(replace(product, variants=(large,)), now())
    found = existing(queries.get_product(product.product_id))
    gone = existing(found.get_variant(small.variant_id))
    assert not gone.sold
    card = queries.product_card(found)
    assert card.variant_count == 1


def test_a_slug_and_a_sku_belong_to_one() -> None:
    first, second = make_product(listed=True), make_product(listed=True)
    with pytest.raises(SlugTaken):
        operations.save_product(replace(second, slug=first.slug), now())
    stolen = replace(second.variants[0], sku=first.variants[0].sku)
    with pytest.raises(SkuTaken):
        operations.save_product(replace(second, variants=(stolen,)), now())
    assert queries.get_product(second.product_id) is not None


def test_of_two_who_claim_a_slug_at_once_one_wins() -> None:
    category = make_category()
    slug, won = f"race-{uuid4().hex}", []
    drafts = [
        replace(make_product(category=category), product_id=uuid4(), slug=slug, version=0)
        for _ in range(6)
    ]
    drafts = [
        replace(
            draft,
            variants=(
                replace(draft.variants[0], variant_id=uuid4(), sku=f"R-{uuid4().hex.upper()}"),
            ),
        )
        for draft in drafts
    ]

    def save(draft: Product) -> None:
        with contextlib.suppress(SlugTaken):
            won.append(operations.save_product(draft, now()).product_id)

    map_at_once(save, drafts)
    assert won == [queries.find_product_id_by_slug(slug)]


def test_the_former_address_still_leads_to_the_product() -> None:
    product = make_product(listed=True)
    renamed = operations.save_product(replace(product, slug=f"{product.slug}-new"), now())
    assert queries.find_product_id_by_slug(product.slug) == product.product_id
    assert queries.find_product_id_by_slug(renamed.slug) == product.product_id


@cache
def sound() -> Product:
    return make_product()


SPOILT: dict[str, Callable[[Product], Product]] = {
    "no variant": lambda product: replace(product, variants=()),
    "too many variants": lambda product: replace(product, variants=product.variants * 201),
    "an address with blanks": lambda product: replace(product, slug="No Slug"),
    "no name": lambda product: replace(product, name=" "),
    "an unknown category": lambda product: replace(product, category_id=uuid4()),
    "a SKU in small letters": lambda product: changed(product, sku="low er"),
    "nothing to pay": lambda product: changed(product, price=Money(0, EUR)),
    "once cheaper than now": lambda product: changed(product, compare_at=Money(1, EUR)),
    "an option that it does not have": lambda product: changed(product, options={"Size": "L"}),
}


@for_each(SPOILT)
def test_a_product_that_breaks_a_rule_is_refused(wrong: str) -> None:
    before = queries.get_product(sound().product_id)
    with pytest.raises(ProductRefused):
        operations.save_product(SPOILT[wrong](sound()), now())
    assert before is not None
    assert queries.get_product(sound().product_id) == before


def test_a_fraction_of_a_cent_is_refused() -> None:
    product = make_product()
    odd = replace(product.variants[0], price=Money(Decimal("1.005"), EUR))
    with pytest.raises(ValueError, match="fraction"):
        operations.save_product(replace(product, variants=(odd,)), now())


def test_a_product_goes_into_a_category_that_another_process_has_just_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """This process has a slightly old copy of the tree."""
    before = queries.get_category_tree()
    category = make_category()
    monkeypatch.setattr(queries.CURRENT_TREE, "get", lambda: before)
    make_product("Anvil", category=category, listed=True)
    assert listed(category.category_id) == ["Anvil"]


@pytest.mark.parametrize("stops_at", range(8))
def test_a_save_that_is_cut_off_is_finished_from_what_it_left(
    stops_at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    category = make_category()
    product = make_product(price="10.00", category=category, listed=True)
    began = now()
    count = 0

    def cut(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            nonlocal count
            count += 1
            if count > stops_at:
                raise CassandraUnavailable("pulled out")
            return real(*args, **kwargs)

        return call

    cheaper = replace(product, variants=(replace(product.variants[0], price=Money("4.00", EUR)),))
    with monkeypatch.context() as patch:
        steps = (
            operations.ADD_LIST_PLACES,
            operations.INSERT_CARD,
            operations.DELETE_CARD,
            operations.REMOVE_LIST_PLACES,
        )
        for statement in steps:
            patch.setattr(statement, "start", cut(statement.start))
        patch.setattr(product_saves, "apply_batch", cut(apply_batch))
        with contextlib.suppress(CassandraUnavailable):
            operations.save_product(cheaper, now())
    # What the job does with every recorded change.
    assert operations.list_changed_products(began, now())[product.product_id] >= began
    operations.refresh_cards(product.product_id)
    found = existing(queries.get_product(product.product_id))
    prices = [card.price for card in queries.get_category_page(category.category_id, "price").cards]
    assert prices == [found.variants[0].price]
    assert len(operations.list_positions(product.product_id)) == 5


def test_two_who_save_at_once_leave_one_card() -> None:
    category = make_category()
    product = make_product(price="10.00", category=category, listed=True)
    for version in range(1, 6):
        won = list[int]()

        def save(price: int, won: list[int] = won, version: int = version) -> None:
            changed = replace(product.variants[0], price=Money(price, EUR))
            with contextlib.suppress(ProductChanged):
                saved = operations.save_product(
                    replace(product, variants=(changed,), version=version), now()
                )
                won.append(saved.version)

        map_at_once(save, (11, 12, 13, 14))
        assert won == [version + 1]
        found = existing(queries.get_product_at_quorum(product.product_id))
        cards = queries.get_category_page(category.category_id, "price").cards
        assert [card.price for card in cards] == [found.variants[0].price]
        assert len(operations.list_positions(product.product_id)) == 5


@pytest.mark.parametrize("step", ["ADD_LIST_PLACES", "INSERT_CARD"])
def test_a_card_that_is_written_after_another_save_has_removed_its_place_is_deleted(
    step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    category = make_category()
    product = make_product(price="10.00", category=category, listed=True)
    statement, saved = getattr(operations, step), list[Product]()
    real = statement.start

    def save_first(**columns: Any) -> Any:
        if not saved:
            saved.append(product)
            dearer = replace(product.variants[0], price=Money("30.00", EUR))
            operations.save_product(replace(product, variants=(dearer,)), now())
        return real(**columns)

    monkeypatch.setattr(statement, "start", save_first)
    operations.refresh_cards(product.product_id)
    assert saved == [product]
    cards = queries.get_category_page(category.category_id, "price").cards
    assert [card.price for card in cards] == [Money("30.00", EUR)]
    assert len(operations.list_positions(product.product_id)) == 5


def test_x29_an_availability_reaches_every_card_and_survives_a_save() -> None:
    category = make_category()
    product = make_product(category=category, availability="in", listed=True)
    operations.set_availability(product.product_id, "few", ())
    for sort in queries.SORTS:
        assert [
            card.availability
            for card in queries.get_category_page(category.category_id, sort).cards
        ] == ["few"]
    operations.save_product(replace(product, name="Renamed"), now())
    assert queries.get_category_page(category.category_id).cards[0].availability == "few"
    with pytest.raises(ValueError, match="none of"):
        operations.set_availability(product.product_id, "plenty", ())


def test_an_availability_for_nobody_makes_no_product() -> None:
    product_id = uuid4()
    operations.set_availability(product_id, "in", ())
    assert queries.get_product(product_id) is None


def test_the_tree_refuses_a_fourth_level_a_circle_and_a_taken_address() -> None:
    root = make_category("Root")
    leaf = make_category("Leaf", parent=make_category("Middle", parent=root))
    with pytest.raises(CategoryRefused):
        make_category("Too deep", parent=leaf)
    with pytest.raises(CategoryRefused):
        operations.save_category(
            category_id=root.category_id,
            slug=root.slug,
            name="Root",
            parent_id=leaf.ancestors[1].category_id,
            seen=operations.fingerprint_category(root),
        )
    with pytest.raises(CategoryRefused):
        operations.save_category(category_id=uuid4(), slug=root.slug, name="Twin")


def test_changes_are_found_by_the_time_they_were_noted() -> None:
    began = now()
    product = make_product(listed=True)
    changed = operations.list_changed_products(began, now())
    assert began <= changed[product.product_id] <= now()
    assert product.product_id not in operations.list_changed_products(
        now(), now() + timedelta(days=1)
    )

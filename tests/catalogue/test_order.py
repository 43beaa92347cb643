"""The order of a category's products, and of the front page's rows: what is pinned stands first, the others follow by a rule."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest
from django.test import Client
from django.urls import reverse

from catalogue import operations, queries
from catalogue.entities import CategoryNode, ListOrder, Product
from catalogue.errors import CategoryRefused
from consistency.findings import Scope
from tests.catalogue.reads import stored_category
from tests.consistency.test_check_consistency import cql, found, repair
from tests.factories import make_category, make_product
from tests.orders.crashes import first_and_last_writes, kill_at_write, record_writes


def order(node: CategoryNode, *pinned: Product, rule: str = "price") -> CategoryNode:
    wanted = ListOrder(rule, tuple(each.product_id for each in pinned))
    return operations.order_category_products(node.category_id, lambda _: wanted)


def follow(node: CategoryNode, most: int = 100) -> None:
    """Do what the worker does for one category, to its end."""
    queries.clear_category_cache()
    while (present := stored_category(node)).changed_at:
        operations.follow_category(present, most)
    queries.clear_category_cache()


def shown(node: CategoryNode) -> list[str]:
    """What shoppers see who have not chosen an order, in two parts."""
    present = stored_category(node)
    sort = queries.default_sort(present)
    first = queries.get_category_page(node.category_id, sort, limit=2)
    if not first.next_token:
        return [card.name for card in first.cards]
    rest = queries.get_category_page(node.category_id, sort, first.next_token)
    return [card.name for card in (*first.cards, *rest.cards)]


def make_priced(node: CategoryNode, count: int = 4) -> list[Product]:
    return [
        make_product(name, price=price, category=node, listed=True)
        for name, price in (("Dear", "40"), ("Cheap", "10"), ("Fair", "20"), ("Steep", "30"))[
            :count
        ]
    ]


def test_x109_pinned_products_stand_first_and_the_others_follow_by_the_rule(client: Client) -> None:
    above = make_category("Above")
    node = make_category("Node", parent=above)
    dear, cheap, fair, steep = make_priced(node)
    address = reverse("category", args=(node.slug,))
    assert 'value="featured"' not in client.get(address).content.decode()
    order(node, rule="price")
    queries.clear_category_cache()
    assert shown(node) == ["Cheap", "Fair", "Steep", "Dear"], (
        "an order that is there is read as it is"
    )
    assert 'value="price" selected' in client.get(address).content.decode()
    order(node, steep, dear)
    assert shown(node) == ["Cheap", "Fair", "Steep", "Dear"], "the list is not written yet"
    follow(node, most=2)
    assert shown(node) == ["Steep", "Dear", "Cheap", "Fair"]
    page = client.get(address)
    text = page.content.decode()
    assert 'value="featured" selected>Featured' in text
    assert text.index(steep.slug) < text.index(dear.slug) < text.index(cheap.slug)
    assert "price-down" in text
    # Nor is the choice of orders the one that was drawn before.
    assert 'value="featured"' in client.get(address, {"sort": "newest"}).content.decode()
    assert stored_category(above).order == ListOrder(), "each category has its own"
    # A change of the pins alone moves these alone, and the list is shown meanwhile.
    order(node, fair, steep)
    assert (stored_category(node).has_featured_list, stored_category(node).is_repinned) == (
        True,
        True,
    )
    follow(node)
    assert shown(node) == ["Fair", "Steep", "Cheap", "Dear"]
    for rule, expected in (
        ("price-down", ["Fair", "Dear", "Steep", "Cheap"]),
        ("name", ["Fair", "Cheap", "Dear", "Steep"]),
        ("newest", ["Fair", "Steep", "Cheap", "Dear"]),
    ):
        order(node, fair, rule=rule)
        follow(node)
        assert shown(node) == expected, rule
    # What is added later, or sold out and back, finds its place by itself.
    make_product("Brand new", category=node, listed=True)
    operations.set_availability(fair.product_id, "few", ())
    assert shown(node) == ["Fair", "Brand new", "Steep", "Cheap", "Dear"]
    only = Scope(products=frozenset((fair.product_id, cheap.product_id)))
    assert found(only, "I14") == []
    order(node, rule="name")
    follow(node)
    queries.clear_category_cache()
    assert found(only, "I14") == []
    positions = operations.list_positions(fair.product_id)
    assert {sort for _, sort, _ in positions} == {"created", "price", "name", "popular", "rating"}
    answer = client.get(address, {"sort": "featured"})
    assert (answer.status_code, answer["Location"]) == (302, address)


def test_x109_a_rename_while_pins_are_followed_is_followed_to_the_end() -> None:
    node = make_category("Lamps")
    first, second, *_ = make_priced(node)
    order(node, first)
    follow(node)
    order(node, second)
    present = stored_category(node)
    operations.save_category(
        category_id=node.category_id,
        slug=node.slug,
        name="Lights",
        seen=operations.fingerprint_category(present),
    )
    assert not stored_category(node).is_repinned
    follow(node)
    assert shown(node)[0] == second.name


def test_x109_what_cannot_be_an_order_is_refused() -> None:
    node = make_category("Node")
    many = tuple(uuid4() for _ in range(operations.MAX_PINNED_IN_CATEGORY + 1))
    for wanted in (ListOrder("weight"), ListOrder("newest", many)):
        with pytest.raises(CategoryRefused):
            operations.order_category_products(
                node.category_id,
                lambda _order, wanted=wanted: wanted,  # type: ignore[misc]
            )
    assert stored_category(node).order == ListOrder()


def test_x109_i25_an_order_whose_writing_is_cut_off_anywhere_is_written_to_the_end() -> None:
    node = make_category("Node")
    first, second = make_priced(node, 2)
    only = Scope(products=frozenset((first.product_id, second.product_id)))

    def pin() -> None:
        order(node, second)
        follow(node, most=2)

    for before in ((), (first,)):  # the whole list is written, or the pinned ones alone
        order(node, *before)
        follow(node)
        for target in first_and_last_writes(record_writes(pin)):
            order(node, *before)
            follow(node)
            assert kill_at_write(target, pin), target
            pin()
            assert shown(node)[0] == second.name, target
            assert found(only, "I14") == [], target


def test_i25_an_order_that_is_not_the_one_chosen_is_named_and_followed_again() -> None:
    node = make_category("Node")
    product = make_product(category=node, listed=True)
    only = Scope(tables=frozenset(("categories",)))
    cql(
        "UPDATE categories SET has_featured_list = true WHERE tree = 'shop' AND category_id = %s",
        node.category_id,
    )
    named = [each for each in found(only, "I25") if str(node.category_id) in each]
    assert len(named) == 1
    repair(only, "I25")
    assert not stored_category(node).has_featured_list
    follow(node)
    assert shown(node) == [product.name]
    assert [each for each in found(only, "I25") if str(node.category_id) in each] == []


def listed_first(feature_type: str, count: int) -> list[UUID]:
    return [card.product_id for card in queries.list_featured(feature_type)[:count]]


def test_x110_i25_what_is_pinned_stands_first_in_its_row_while_it_is_sold(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = datetime.now(UTC)
    old, reduced, gone = (
        # One stands in no category's list: the worker finds it because it is pinned.
        make_product(name, now=now - timedelta(days=200), compare_at=was, listed=name != "Old")
        for name, was in (("Old", None), ("Reduced", "12.01"), ("Gone", None))
    )
    pinned = (gone.product_id, reduced.product_id, old.product_id)
    for feature_type in operations.FEATURE_TYPES:
        operations.pin_on_front_page(feature_type, lambda _: pinned)
    try:
        operations.set_availability(gone.product_id, "out", ())
        operations.refresh_featured(())
        assert listed_first("new_arrivals", 2) == [reduced.product_id, old.product_id]
        assert listed_first("featured", 2) == [reduced.product_id, old.product_id]
        assert listed_first("popular", 2) == [reduced.product_id, old.product_id]
        assert listed_first("deals", 1) == [reduced.product_id]
        assert old.product_id not in listed_first("deals", 24), "it is not reduced"
        operations.set_availability(gone.product_id, "in", ())

        def pin_meanwhile() -> Iterator[Product]:
            yield from queries.iterate_products()
            operations.pin_on_front_page("new_arrivals", lambda _: pinned)

        operations.pin_on_front_page("new_arrivals", lambda _: ())
        operations.rebuild_featured(pin_meanwhile())
        assert listed_first("new_arrivals", 3) == list(pinned)
        # A row that is not so is named, and drawn again.
        only = Scope(tables=frozenset(("front_page_pins",)))
        cql(
            "UPDATE featured_products SET product_id = %s WHERE feature_type = 'deals' AND position = 0",
            old.product_id,
        )
        assert found(only, "I25") == [], "the worker may be about to draw it"
        monkeypatch.setattr("consistency.catalogue.SOON", timedelta(0))
        assert ["front page, deals" in each for each in found(only, "I25")] == [True]
        assert repair(only, "I25").is_clean
    finally:
        for feature_type in operations.FEATURE_TYPES:
            operations.pin_on_front_page(feature_type, lambda _: ())


def test_x110_two_who_pin_at_once_both_have_pinned() -> None:
    one, other = uuid4(), uuid4()

    def come_late(present: tuple[UUID, ...]) -> tuple[UUID, ...]:
        if other not in present:
            operations.pin_on_front_page("featured", lambda each: (*each, other))
        return (*present, one)

    try:
        assert {one, other} <= set(operations.pin_on_front_page("featured", come_late))
    finally:
        operations.pin_on_front_page("featured", lambda _: ())

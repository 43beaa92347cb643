"""The tree of categories: changed by several people at once, and followed by products and addresses."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
import time_machine
from django.test import Client
from django.urls import reverse

from cassandra_db import session, write
from catalogue import jobs, operations, queries
from catalogue.entities import CategoryNode
from catalogue.errors import CategoryChanged, CategoryRefused
from catalogue.operations import categories as category_tree
from consistency.findings import Scope
from tests.catalogue.reads import stored_category
from tests.clock import now
from tests.consistency.test_check_consistency import found, repair
from tests.factories import make_category, make_product
from tests.lost_answers import AnswerLosingSession
from tests.orders.crashes import kill_at_write, record_writes
from tests.threads import map_at_once

LATER = jobs.TREE_SETTLED + timedelta(seconds=1)
PLAIN_ROW = write(
    "test",
    "INSERT INTO categories (tree, category_id, slug, name, parent_id) VALUES (:tree, :category_id, :slug, :name, :parent_id)",
)


def change(node: CategoryNode, **changes: Any) -> CategoryNode:
    """Save a category as it was read, but for some fields."""
    values: dict[str, Any] = {
        "category_id": node.category_id,
        "slug": node.slug,
        "name": node.name,
        "parent_id": node.parent.category_id if node.parent else None,
        "description": node.description,
        "seen": operations.fingerprint_category(node),
    }
    return operations.save_category(**values | changes)


def listed_in(node: CategoryNode) -> set[UUID]:
    return {card.product_id for card in queries.get_category_page(node.category_id).cards}


def follow(node: CategoryNode, most: int = 100) -> None:
    """Do what the worker does for one category, to its end."""
    queries.clear_category_cache()
    while (present := stored_category(node)).changed_at:
        operations.follow_category(present, most)


def test_x97_of_many_who_change_the_tree_at_once_none_loses_anything() -> None:
    parent = make_category("Parent")
    children = [make_category(f"Child {n}", parent=parent) for n in range(3)]
    # Each sees the tree as it was before the others.
    acts: list[Callable[[], Any]] = [
        *(lambda each=each: change(each, name=f"{each.name}, renamed") for each in children),
        lambda: change(parent, description="With a text"),
        lambda: operations.reorder_category(children[2].category_id, -1),
        lambda: make_category("Child 3", parent=parent),
    ]
    with ThreadPoolExecutor(len(acts)) as pool:
        for each in [pool.submit(act) for act in acts]:
            each.result()
    now_there = stored_category(parent)
    assert now_there.description == "With a text"
    names = [each.name for each in now_there.children]
    assert sorted(names) == ["Child 0, renamed", "Child 1, renamed", "Child 2, renamed", "Child 3"]
    assert names.index("Child 2, renamed") < names.index("Child 1, renamed")


def test_x97_of_two_who_change_one_category_the_later_learns_what_it_is_now() -> None:
    seen = make_category("Jars")
    change(seen, name="Vases")
    with pytest.raises(CategoryChanged) as late:
        change(seen, name="Bottles")
    assert late.value.category
    assert (late.value.category.name, stored_category(seen).name) == ("Vases", "Vases")
    assert change(seen, name="Vases").name == "Vases", "both have entered the same"


def test_x97_neither_a_circle_nor_one_address_for_two_comes_of_two_changes_at_once() -> None:
    left, right = make_category("Left"), make_category("Right")
    slug = f"wanted-{uuid4().hex[:10]}"

    def refused(act: Callable[[], Any]) -> bool:
        try:
            act()
        except CategoryRefused:
            return True
        return False

    pairs: list[list[Callable[[], Any]]] = [
        [
            lambda: change(left, parent_id=right.category_id),
            lambda: change(right, parent_id=left.category_id),
        ],
        [
            lambda: operations.save_category(category_id=uuid4(), slug=slug, name="One"),
            lambda: operations.save_category(category_id=uuid4(), slug=slug, name="Two"),
        ],
    ]
    for pair in pairs:
        assert sorted(map_at_once(refused, pair, 2)) == [False, True]


def test_x97_what_is_written_was_checked_on_the_tree_that_it_changes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    left, right = make_category("Left"), make_category("Right")
    apply_to_tree = category_tree._apply_to_tree

    def come_late(*args: Any) -> bool:
        # Another one is faster between the check and the write.
        monkeypatch.setattr(category_tree, "_apply_to_tree", apply_to_tree)
        change(right, parent_id=left.category_id)
        return apply_to_tree(*args)

    monkeypatch.setattr(category_tree, "_apply_to_tree", come_late)
    with pytest.raises(CategoryRefused, match="outside this category"):
        change(left, parent_id=right.category_id)
    assert stored_category(left).parent is None


def test_x97_what_cannot_be_is_refused_beside_its_field() -> None:
    root = make_category("Root")
    middle = make_category("Middle", parent=root)
    make_category("Leaf", parent=middle)
    other = change(make_category("Other"), slug=f"other-{uuid4().hex[:8]}")
    violations: list[Any] = []
    cases: list[tuple[CategoryNode, dict[str, Any], str]] = [
        (root, {"parent_id": middle.category_id}, "parent"),
        (root, {"parent_id": root.category_id}, "parent"),
        (root, {"parent_id": uuid4()}, "parent"),
        (middle, {"parent_id": make_category("Two", parent=other).category_id}, "parent"),
        (root, {"slug": other.slug}, "slug"),
        (root, {"slug": other.former_slugs[0]}, "slug"),
        (root, {"slug": "No Address"}, "slug"),
        (root, {"slug": "x" * 101}, "slug"),
        (root, {"name": "  "}, "name"),
        (root, {"name": "x" * 101}, "name"),
        (root, {"description": "x" * 1001}, "description"),
    ]
    for node, changes, field in cases:
        try:
            change(node, **changes)
        except CategoryRefused as refused:
            if refused.field != field:
                violations.append((changes, refused.field))
        else:
            violations.append((changes, "saved"))
    assert violations == []
    assert stored_category(root).parent is None


def test_x97_categories_change_places_and_the_last_one_stays() -> None:
    parent = make_category("Shelf")
    first, second = (make_category(name, parent=parent) for name in ("First", "Second"))
    for step in (-1, -1):
        operations.reorder_category(second.category_id, step)
    assert [each.name for each in stored_category(parent).children] == ["Second", "First"]
    operations.reorder_category(second.category_id, 1)
    assert [each.name for each in stored_category(parent).children] == ["First", "Second"]
    # A new one, and one that moves there, come last.
    moved = change(make_category("Moved"), parent_id=parent.category_id)
    assert [each.name for each in stored_category(parent).children][-1] == moved.name
    assert first.position == 0


def test_x97_a_change_whose_answer_is_lost_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    parent = make_category("Shelf")
    children = [make_category(name, parent=parent) for name in "ABC"]
    losing = AnswerLosingSession(session.get_session())
    monkeypatch.setattr("cassandra_db.statements.get_session", lambda: losing)
    assert operations.reorder_category(children[2].category_id, -1)
    assert losing.lost_count == 1
    assert [each.name for each in stored_category(parent).children] == ["A", "C", "B"]


def test_x97_a_tree_of_before_versions_is_changed_and_counted_from_then() -> None:
    node = make_category("Old")
    session.get_session().execute(
        "UPDATE categories SET version = null, save_id = null WHERE tree = %s", [queries.SHOP_TREE]
    )
    assert change(node, name="New").name == "New"
    assert queries.get_category_tree_at_quorum().version == 1


def test_x97_there_is_a_bound_on_categories(monkeypatch: pytest.MonkeyPatch) -> None:
    node = make_category("The last one")
    monkeypatch.setattr(
        category_tree, "MAX_CATEGORIES", len(queries.get_category_tree_at_quorum().by_id)
    )
    with pytest.raises(CategoryRefused, match="categories is reached"):
        make_category("One too many")
    assert change(node, name="Still changed").name == "Still changed"


def test_x98_products_follow_a_move_with_all_below_it(client: Client) -> None:
    old, new = make_category("Old"), make_category("New")
    moved = make_category("Moved", parent=old)
    leaf = make_category("Leaf", parent=moved)
    products = [make_product(f"Pot {n}", category=leaf, listed=True) for n in range(5)]
    ids = {each.product_id for each in products}
    assert listed_in(old) == ids
    began = now()
    change(moved, parent_id=new.category_id)
    only = Scope(products=frozenset(ids))
    assert found(only, "I14", "I20") == [], "the worker is about to move them"
    # Two at a time: each run begins where the one before ended.
    follow(moved, most=2)
    assert (listed_in(old), listed_in(new), listed_in(moved)) == (set(), ids, ids)
    assert found(only, "I14") == []
    # Suggestions and the index follow what was recorded.
    assert ids <= operations.list_changed_products(began, now()).keys()


def test_x98_the_job_waits_until_no_process_has_the_former_tree() -> None:
    old, new = make_category("Old"), make_category("New")
    moved = make_category("Moved", parent=old)
    product = make_product(category=moved, listed=True)
    change(moved, parent_id=new.category_id)
    began = now()
    while jobs.follow_categories(began):
        pass  # what other tests have left comes first
    assert listed_in(old) == {product.product_id}
    later = now() + LATER
    while jobs.follow_categories(later):
        pass
    assert (listed_in(old), listed_in(new)) == (set(), {product.product_id})
    assert stored_category(moved).changed_at is None


def test_x98_what_changed_again_while_products_followed_is_followed_again() -> None:
    moved = make_category("Moved", parent=make_category("Old"))
    products = [make_product(f"Cup {n}", category=moved, listed=True) for n in range(3)]
    target = make_category("Target")
    seen = change(moved, parent_id=make_category("New").category_id)
    operations.follow_category(seen, 2)
    half = stored_category(moved)
    assert half.followed_to
    change(half, parent_id=target.category_id)
    # Whoever still follows the former move does not end the new one.
    operations.follow_category(half, 2)
    assert stored_category(moved).changed_at
    follow(moved)
    assert listed_in(target) == {each.product_id for each in products}


def test_x98_a_move_that_is_killed_at_any_write_is_there_or_not_and_followed_to_its_end() -> None:
    old, new = make_category("Old"), make_category("New")

    def make() -> CategoryNode:
        node = make_category("Moved", parent=old)
        make_product(category=node, listed=True)
        make_product(category=node, listed=True)
        return node

    def act(node: CategoryNode) -> None:
        change(node, parent_id=new.category_id, slug=f"new-{node.slug}")
        follow(node, most=1)

    recorded = make()
    writes = record_writes(lambda: act(recorded))
    assert len(writes) > 10
    outcomes = set()
    for target in writes[:: len(writes) // 8]:
        node = make()
        assert kill_at_write(target, lambda node=node: act(node))  # type: ignore[misc]
        present = stored_category(node)
        is_new = present.slug != node.slug
        outcomes.add(is_new)
        assert present.parent
        assert (present.parent.category_id == new.category_id) == is_new
        follow(node)
        ids = listed_in(node)
        assert len(ids) == 2
        assert found(Scope(products=frozenset(ids)), "I14", "I20") == [], target
    assert outcomes == {False, True}


def test_x98_former_addresses_lead_on(client: Client) -> None:
    node = make_category("Bowls", parent=make_category("Table"))
    present = change(node, slug=f"dishes-{uuid4().hex[:8]}")
    answer = client.get(reverse("category", args=(node.slug,)), {"sort": "price"})
    address = reverse("category", args=(present.slug,))
    assert (answer.status_code, answer["Location"]) == (301, f"{address}?sort=price")
    back = change(present, slug=node.slug)
    assert back.former_slugs == (present.slug,)
    assert client.get(reverse("category", args=(node.slug,))).status_code == 200
    # Of many only the last are kept.
    for number in range(operations.MAX_FORMER_SLUGS + 2):
        back = change(back, slug=f"{node.slug}-{number}")
    assert len(back.former_slugs) == operations.MAX_FORMER_SLUGS
    assert node.slug not in back.former_slugs


def test_x98_only_what_is_empty_is_removed_and_its_addresses_lead_up(client: Client) -> None:
    top = make_category("Top")
    node = make_category("Empty", parent=top)
    seen = operations.fingerprint_category(node)
    with pytest.raises(CategoryRefused, match="below it"):
        operations.remove_category(top.category_id, operations.fingerprint_category(top))
    full = make_category("Full")
    make_product(category=full, listed=True)
    with pytest.raises(CategoryRefused, match="products"):
        operations.remove_category(full.category_id, operations.fingerprint_category(full))
    with pytest.raises(CategoryChanged):
        operations.remove_category(node.category_id, "other")
    operations.remove_category(node.category_id, seen)
    operations.remove_category(node.category_id, seen)
    answer = client.get(reverse("category", args=(node.slug,)))
    assert (answer.status_code, answer["Location"]) == (301, reverse("category", args=(top.slug,)))
    operations.remove_category(
        top.category_id, operations.fingerprint_category(stored_category(top))
    )
    answer = client.get(reverse("category", args=(node.slug,)))
    assert (answer.status_code, "no longer have this category" in answer.content.decode()) == (
        410,
        True,
    )
    again = operations.save_category(category_id=uuid4(), slug=node.slug, name="Again")
    assert client.get(reverse("category", args=(again.slug,))).status_code == 200


def test_i19_a_circle_and_one_address_for_two_are_named_and_put_right() -> None:
    only = Scope(tables=frozenset({"categories"}))
    ids, slug = [uuid4(), uuid4()], f"circle-{uuid4().hex[:10]}"
    twin = make_category("Twin")
    for category_id, parent_id in zip(ids, reversed(ids), strict=True):
        # As two people could write it before the tree had a version.
        PLAIN_ROW.run(
            tree=queries.SHOP_TREE,
            category_id=category_id,
            slug=f"{slug}-{category_id.hex[:4]}",
            name="In a circle",
            parent_id=parent_id,
        )
    lost = uuid4()
    PLAIN_ROW.run(
        tree=queries.SHOP_TREE, category_id=lost, slug=twin.slug, name="Twin", parent_id=None
    )
    named = [line.split(": ")[1].split(" (")[0] for line in found(only, "I19")]
    assert sorted(named) == ["another category has its address", "stands below itself"]
    assert repair(only, "I19").is_clean
    tree = queries.get_category_tree_at_quorum()
    assert {tree.by_id[each].depth for each in ids} == {1, 2}
    assert tree.by_id[lost].slug != tree.by_id[twin.category_id].slug


def test_i20_a_product_that_was_saved_in_a_category_while_it_was_removed_gets_it_back() -> None:
    node = make_category("Removed")
    operations.remove_category(node.category_id, operations.fingerprint_category(node))
    product = make_product(category=node, listed=False)
    only = Scope(products=frozenset({product.product_id}))
    with time_machine.travel(now() + timedelta(minutes=1), tick=True):
        assert [line.split(": ")[1].split(" (")[0] for line in found(only, "I20")] == [
            "stands in a category that was removed"
        ]
        assert repair(only, "I20").is_clean
    assert stored_category(node).name == "Removed"

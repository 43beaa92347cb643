"""The staff's pages of categories: the tree, and what follows a change said before it is saved."""

from math import inf
from typing import Any
from unittest.mock import Mock
from uuid import UUID, uuid4

import pytest
from django.test import Client
from django.urls import reverse

from adminpanel.catalogue.category_forms import CategoryForm
from catalogue import operations, queries
from catalogue.entities import CategoryNode
from catalogue.search_index import READER, SearchIndexMissing, build_index
from catalogue.staff_search import StaffFilters, find_products_for_staff
from consistency.findings import Scope
from tests.consistency.test_check_consistency import found
from tests.factories import make_category, make_product

TREE, NEW, MOVE = (
    reverse(f"adminpanel:{name}") for name in ("categories", "category_new", "category_move")
)


def address(node: CategoryNode, name: str = "category") -> str:
    return reverse(f"adminpanel:{name}", args=(node.category_id,))


def stored(category_id: UUID) -> CategoryNode:
    return queries.get_category_tree_at_quorum().by_id[category_id]


def index_products() -> None:
    build_index()
    READER.looked_at = -inf


def typed(node: CategoryNode, **changes: Any) -> dict[str, Any]:
    """What the category's form would send as it is shown, with some fields typed anew."""
    form = CategoryForm.of(queries.get_category_tree_at_quorum(), node)
    return {name: form[name].value() for name in form.fields} | changes


def test_x97_a_category_is_added_below_another_and_sent_twice_it_is_one(cleo: Client) -> None:
    parent = make_category("Chairs")
    page = cleo.get(NEW, {"below": str(parent.category_id)}).content.decode()
    assert f'<option value="{parent.category_id}" selected>' in page
    name = f"Oak chairs {uuid4().hex[:8]}"
    sent = {"category_id": str(uuid4()), "name": name, "parent": str(parent.category_id)}
    answers = [cleo.post(NEW, sent) for _ in range(2)]
    assert [each.status_code for each in answers] == [303, 303]
    (made,) = stored(parent.category_id).children
    assert (made.name, made.slug) == (name, name.lower().replace(" ", "-"))
    page = cleo.get(TREE).content.decode()
    assert page.index(f"row-{parent.category_id}") < page.index(f"row-{made.category_id}")
    assert 'aria-current="page"' in page


def test_x97_bad_input_is_said_beside_its_field_and_stays_typed(cleo: Client) -> None:
    node, other = make_category("Node"), make_category("Other")
    below = make_category("Below", parent=node)
    violations: list[Any] = []
    for fields, sentence in (
        ({"name": ""}, "Enter a name"),
        ({"name": "x" * 101}, "at most 100 characters"),
        ({"slug": "Not An Address"}, "lower-case letters, digits and single hyphens"),
        ({"slug": other.slug}, "already used by Other"),
        ({"parent": str(below.category_id)}, "Choose a parent outside this category."),
        ({"parent": str(node.category_id)}, "Choose a parent outside this category."),
        ({"parent": "no id"}, "Choose a category"),
        ({"description": "x" * 1001}, "at most 1000 characters"),
    ):
        answer = cleo.post(address(node), typed(node, **{"description": "Kept words"} | fields))
        page = answer.content.decode()
        kept = "x" * 1001 if "description" in fields else "Kept words"
        if answer.status_code != 422 or sentence not in page or kept not in page:
            violations.append((fields, answer.status_code))
    assert violations == []
    assert stored(node.category_id).name == "Node"
    named = found(Scope(tables=frozenset(("categories",))), "I19", "I25")
    assert [each for each in named if str(node.category_id) in each] == []
    refused = cleo.post(NEW, {"category_id": str(uuid4()), "name": "Two", "slug": other.slug})
    assert (refused.status_code, "already used by Other" in refused.content.decode()) == (422, True)
    assert cleo.post(NEW, {"category_id": "no id", "name": "Two"}).status_code == 422


def test_x98_what_follows_is_said_before_it_is_saved(cleo: Client) -> None:
    old, new = make_category("Old home"), make_category("New home")
    node = make_category("Lamps", parent=old)
    make_category("Bulbs", parent=node)
    make_product(category=node, listed=True)
    index_products()
    slug = f"lights-{uuid4().hex[:8]}"
    sent = typed(node, slug=slug, parent=str(new.category_id))
    answer = cleo.post(address(node), sent)
    page = answer.content.decode()
    assert answer.status_code == 422
    for sentence in (
        "1 product moves with it to New home. 1 subcategory moves, too.",
        "They are removed from: Old home.",
        "They are added to: New home.",
        f"Its address becomes /c/{slug}/. /c/{node.slug}/ redirects there.",
        "Nothing has been saved yet.",
    ):
        assert sentence in page
    assert stored(node.category_id).slug == node.slug
    # A confirmation is for what was shown, and for nothing else.
    confirmed = f"{slug} {new.category_id}"
    elsewhere = cleo.post(address(node), sent | {"parent": "", "confirmed": confirmed})
    assert (elsewhere.status_code, stored(node.category_id).slug) == (422, node.slug)
    answer = cleo.post(address(node), sent | {"confirmed": confirmed})
    assert (answer.status_code, answer["Location"]) == (303, address(node))
    saved = stored(node.category_id)
    assert saved.parent
    assert (saved.slug, saved.parent.category_id) == (slug, new.category_id)
    page = cleo.get(address(node)).content.decode()
    assert "The last change is being applied." in page
    assert f"Addresses that redirect here: /c/{node.slug}/" in page


def test_x97_of_two_who_change_one_category_the_later_sees_both_states(cleo: Client) -> None:
    node = make_category("Rugs")
    first, late = typed(node, name="Carpets"), typed(node, name="Mats", description="For the hall")
    assert cleo.post(address(node), first).status_code == 303
    answer = cleo.post(address(node), late)
    page = answer.content.decode()
    assert answer.status_code == 409
    assert "Someone else has changed this" in page
    assert all(text in page for text in ("Carpets", 'value="Mats"', "For the hall"))
    assert stored(node.category_id).name == "Carpets"
    newer = operations.fingerprint_category(stored(node.category_id))
    assert f'name="overwrite" value="{newer}"' in page
    # Writing over it, too, is confirmed where something follows.
    slug = f"mats-{uuid4().hex[:8]}"
    answer = cleo.post(address(node), late | {"slug": slug, "overwrite": newer})
    assert answer.status_code == 422
    assert f'name="version" value="{newer}"' in answer.content.decode()
    sent = late | {"slug": slug, "version": newer, "confirmed": f"{slug} "}
    assert cleo.post(address(node), sent).status_code == 303
    assert (stored(node.category_id).name, stored(node.category_id).slug) == ("Mats", slug)


def test_x97_buttons_move_a_category_among_its_neighbours(cleo: Client) -> None:
    parent = make_category("Shelf")
    first, second = (make_category(name, parent=parent) for name in ("First", "Second"))
    answer = cleo.post(MOVE, {"up": str(second.category_id)})
    row = f"{TREE}#row-{second.category_id}"
    assert (answer.status_code, answer["Location"]) == (303, row)
    assert [each.name for each in stored(parent.category_id).children] == ["Second", "First"]
    part = cleo.post(MOVE, {"down": str(second.category_id)}, HTTP_HX_REQUEST="true")
    text = part.content.decode()
    assert part.status_code == 200
    assert "<h1>" not in text
    assert text.index(f"down-{first.category_id}") < text.index(f"down-{second.category_id}")
    assert "Second moved down." in text
    again = cleo.post(MOVE, {"down": str(second.category_id)}, follow=True).content.decode()
    assert "Second is the last there already." in again
    # X148: dragged, it is sent with by how many places.
    make_category("Third", parent=parent, position=7)
    for step, expected in (("2", "Second Third First"), ("-1", "Second First Third"), ("5", "")):
        cleo.post(MOVE, {"by": f"{first.category_id} {step}"})
        names = [each.name for each in stored(parent.category_id).children]
        assert names == (expected or "Second First Third").split(), step
    for sent in ({}, {"up": "no id"}, {"up": str(uuid4())}, {"by": f"{first.category_id} x"}):
        assert cleo.post(MOVE, sent).status_code == 404


def test_x98_only_an_empty_category_can_be_removed(cleo: Client) -> None:
    node, full = make_category("Empty"), make_category("Full")
    make_product("A draft", category=full)
    product = make_product(category=full, listed=True)
    index_products()
    page = cleo.get(address(full)).content.decode()
    assert "Only an empty category can be removed." in page
    version = operations.fingerprint_category(full)
    answer = cleo.post(address(full, "category_remove"), {"version": version}, follow=True)
    assert "in it or below it. Move" in answer.content.decode()
    assert stored(full.category_id).name == "Full"
    assert queries.get_product(product.product_id)
    version = operations.fingerprint_category(node)
    answer = cleo.post(address(node, "category_remove"), {"version": "another"}, follow=True)
    assert "Someone else has changed this category" in answer.content.decode()
    answer = cleo.post(address(node, "category_remove"), {"version": version})
    assert (answer.status_code, answer["Location"]) == (303, TREE)
    assert cleo.get(address(node)).status_code == 404


def test_products_are_counted_with_those_below_and_not_twice(
    cleo: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    top = make_category("Top")
    leaf = make_category("Leaf", parent=top)
    make_product(category=leaf, listed=True)
    make_product(category=top, listed=True)
    index_products()
    link = f'?category={top.category_id}">2<'
    assert link in cleo.get(TREE).content.decode()
    found = find_products_for_staff(filters=StaffFilters(category_id=top.category_id))
    assert found.total == 2
    monkeypatch.setattr(
        "adminpanel.catalogue.category_pages.count_products_in",
        Mock(side_effect=SearchIndexMissing),
    )
    page = cleo.get(TREE)
    assert (page.status_code, link in page.content.decode()) == (200, False)
    assert cleo.get(address(top)).status_code == 200

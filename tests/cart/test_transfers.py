"""Transfers between carts: nothing is lost, nothing counts twice, and an interrupted move is finished."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.test import Client
from django.urls import reverse

from cart import jobs, operations, queries
from cart.entities import Cart
from cart.errors import (
    CartError,
    NoSuchLine,
    SameCart,
    TooManyLines,
    TooManyUnitsTogether,
    UndoExpired,
)
from cart.merge_preview import preview_merge
from cart.operations import contents, transfers
from catalogue.entities import Product
from jobs.leases import hold_lease, save_position
from jobs.minutes import floor_to_minute
from pricing.money import from_minor_units, to_minor_units
from tests.cart.guests import owner
from tests.cart.products import make_mug, with_price
from tests.cart.test_carts import active, make, named, submit_new_cart
from tests.cart.test_operations import NOW, add
from tests.cart.test_views import submit_add
from tests.factories import make_product
from tests.orders.crashes import kill_in


def checked(cart_id: UUID) -> Cart:
    """Return a cart whose sums equal its lines, by what the table says."""
    found = contents.get_contents(cart_id)
    cart = queries.get_cart(cart_id)
    assert cart.line_count == len(found.lines) == len(cart.lines)
    assert cart.item_count == sum(row.quantity for row in found.lines.values())
    assert to_minor_units(cart.subtotal) == sum(
        row.quantity * row.price for row in found.lines.values()
    )
    assert (found.sums.later_count or 0 if found.sums else 0) == len(found.saved_lines)
    return cart


def units(cart_id: UUID) -> dict[str, int]:
    return {line.key: line.quantity for line in checked(cart_id).lines}


def saved_units(cart_id: UUID) -> dict[str, int]:
    return {key: row.quantity for key, row in contents.get_contents(cart_id).saved_lines.items()}


class Two:
    """A person with two carts: three small mugs and a large one in the first, two small ones in the second."""

    def __init__(self) -> None:
        self.person, self.product = uuid4(), make_mug(sizes=("Small", "Large", "Huge"))
        self.small, self.large, self.huge = (
            str(variant.variant_id) for variant in self.product.variants
        )
        self.first = make(self.person, "First")
        add(self.person, self.product, 0, 3)
        add(self.person, self.product, 1, 1)
        self.second = make(self.person, "Second")
        variant = with_price(self.product.variants[0], 1000)
        operations.add_line(self.person, self.product, variant, 2, uuid4(), NOW)

    def move(self, key: str, operation: UUID | None = None, **kwargs: Any) -> operations.MoveResult:
        return operations.move_line(
            self.person, self.first, self.second, key, operation or uuid4(), NOW, **kwargs
        )

    def merge(self, operation: UUID | None = None) -> Any:
        return operations.merge_carts(
            self.person, self.first, self.second, operation or uuid4(), NOW
        )


@pytest.fixture
def two() -> Two:
    return Two()


def list_pending_moves() -> list[Any]:
    now = datetime.now(UTC)
    return transfers.PENDING_MOVES.list_between(now - timedelta(minutes=2), now)


def finish() -> str:
    """Let the worker finish all moves that were begun before now, as it does two minutes later."""
    now = datetime.now(UTC)
    with hold_lease("moves"):
        save_position("moves", floor_to_minute(now - timedelta(minutes=5)).isoformat())
        return jobs.finish_moves(now + timedelta(minutes=4))


def test_a_line_moves_with_its_units_and_meets_the_other_at_its_price(two: Two) -> None:
    did = two.move(two.small)
    assert (did.label, did.quantity, did.source, did.target) == (
        "Mug, Oat, Small",
        3,
        "First",
        "Second",
    )
    assert units(two.first) == {two.large: 1}
    assert units(two.second) == {two.small: 5}
    assert checked(two.second).subtotal == from_minor_units(5000, "EUR")
    two.move(two.large)
    assert checked(two.second).subtotal == from_minor_units(6200, "EUR")
    assert units(two.first) == {}


def test_a_copy_stays_where_it_was(two: Two) -> None:
    two.move(two.small, copy=True)
    assert (units(two.first), units(two.second)) == ({two.small: 3, two.large: 1}, {two.small: 5})


@pytest.mark.parametrize("copy", [False, True])
def test_the_same_submit_moves_once(two: Two, copy: bool) -> None:
    operation = uuid4()
    for _ in range(3):
        assert two.move(two.small, operation, copy=copy).quantity == 3
    assert units(two.second) == {two.small: 5}


def test_what_does_not_fit_is_refused_in_words_and_changes_nothing(
    two: Two, monkeypatch: pytest.MonkeyPatch
) -> None:
    operations.change_line_quantity(two.person, two.second, two.product.variants[0], 998, NOW)
    with pytest.raises(TooManyUnitsTogether, match=r"1001 of Mug, .*999 of one item"):
        two.move(two.small)
    with pytest.raises(TooManyUnitsTogether):
        two.merge()
    monkeypatch.setattr(contents, "MAX_LINES", 1)
    with pytest.raises(TooManyLines, match="2 different items"):
        two.move(two.large)
    with pytest.raises(SameCart):
        operations.move_line(two.person, two.first, two.first, two.small, uuid4(), NOW)
    with pytest.raises(NoSuchLine):
        two.move(two.huge)
    assert (units(two.first), units(two.second)) == ({two.small: 3, two.large: 1}, {two.small: 998})
    assert not [move for move in list_pending_moves() if move.person_id == two.person]


def test_a_cart_is_duplicated_once_at_its_prices(two: Two) -> None:
    operation = uuid4()
    for _ in range(2):
        copy_id, name = operations.duplicate_cart(two.person, two.second, operation, NOW)
    assert name == "Second (copy)"
    assert named(two.person) == {"First": False, "Second": True, "Second (copy)": False}
    assert units(copy_id) == units(two.second)
    assert checked(copy_id).subtotal == from_minor_units(2000, "EUR")


def test_an_emptied_cart_is_filled_again_on_top_of_what_has_come_since(two: Two) -> None:
    operations.save_line_for_later(two.person, two.first, two.large, uuid4(), NOW)
    undo = operations.empty_cart(two.person, two.first, uuid4(), NOW)
    assert units(two.first) == {}
    assert saved_units(two.first) == {two.large: 1}
    operations.switch_cart(two.person, two.first, NOW)
    add(two.person, two.product, 0, 2)
    add(two.person, two.product, 2, 4)
    for _ in range(2):
        assert operations.refill_cart(two.person, undo, NOW) == "First"
    assert units(two.first) == {two.small: 5, two.huge: 4}


def test_what_is_saved_for_later_is_out_of_the_sums_and_comes_back(two: Two) -> None:
    operation = uuid4()
    for _ in range(2):
        operations.save_line_for_later(two.person, two.first, two.small, operation, NOW)
    assert (units(two.first), saved_units(two.first)) == ({two.large: 1}, {two.small: 3})
    assert checked(two.first).subtotal == from_minor_units(1200, "EUR")
    operations.switch_cart(two.person, two.first, NOW)
    add(two.person, two.product, 0, 4)
    operations.move_saved_line_to_cart(two.person, two.first, two.small, uuid4(), NOW)
    assert (units(two.first), saved_units(two.first)) == ({two.small: 7, two.large: 1}, {})
    operations.save_line_for_later(two.person, two.first, two.large, uuid4(), NOW)
    operations.remove_saved_line(two.person, two.first, two.large, uuid4(), NOW)
    assert (units(two.first), saved_units(two.first)) == ({two.small: 7}, {})
    with pytest.raises(NoSuchLine):
        operations.move_saved_line_to_cart(two.person, two.first, two.large, uuid4(), NOW)


def test_x44_a_preview_shows_what_a_merge_then_does(two: Two) -> None:
    preview = preview_merge(
        queries.get_cart(two.first, "First"), queries.get_cart(two.second, "Second")
    )
    two.merge()
    became = checked(two.second)
    merged = preview.merged
    total = sum((line.total for line in merged.lines), became.subtotal * 0)
    assert (preview.line_count, preview.item_count, total) == (
        became.line_count,
        became.item_count,
        became.subtotal,
    )
    assert not preview.obstacles
    assert [each.has_other_price for each in preview.lines if each.existing_line] == [True]


def test_x44_one_submit_merges_and_one_submit_parts(two: Two) -> None:
    operations.save_line_for_later(two.person, two.first, two.large, uuid4(), NOW)
    operations.switch_cart(two.person, two.first, NOW)
    before = {
        each: (units(each), saved_units(each), checked(each).subtotal)
        for each in (two.first, two.second)
    }
    operation = uuid4()
    for _ in range(2):
        undo = two.merge(operation)
    assert named(two.person) == {"Second": True}
    assert (units(two.second), saved_units(two.second)) == ({two.small: 5}, {two.large: 1})
    for _ in range(2):
        assert operations.unmerge_carts(two.person, undo, NOW) == "First"
    assert named(two.person) == {"First": True, "Second": False}
    assert {
        each: (units(each), saved_units(each), checked(each).subtotal)
        for each in (two.first, two.second)
    } == before


def test_parting_once_more_leaves_a_second_merge_alone(two: Two) -> None:
    first = two.merge()
    operations.unmerge_carts(two.person, first, NOW)
    second = two.merge()
    with pytest.raises(UndoExpired):
        operations.unmerge_carts(two.person, first, NOW)
    assert (units(two.second), named(two.person)) == (
        {two.small: 5, two.large: 1},
        {"Second": True},
    )
    operations.unmerge_carts(two.person, second, NOW)
    assert (units(two.first), units(two.second)) == ({two.small: 3, two.large: 1}, {two.small: 2})


def test_parting_takes_no_more_than_came_and_leaves_what_was_bought_since(two: Two) -> None:
    undo = two.merge()
    operations.remove_bought_lines(two.second, {two.small: 4}, uuid4(), NOW)
    add(two.person, two.product, 1, 2)
    operations.unmerge_carts(two.person, undo, NOW)
    assert units(two.second) == {two.large: 2}
    assert units(two.first) == {two.small: 3, two.large: 1}


def test_x44_what_is_added_to_a_cart_while_it_is_merged_stays_in_it(
    two: Two, monkeypatch: pytest.MonkeyPatch
) -> None:
    operations.switch_cart(two.person, two.first, NOW)
    real = transfers._finish_merge

    def meanwhile(*args: Any) -> None:
        add(two.person, two.product, 2, 7)
        real(*args)

    with monkeypatch.context() as patch:
        patch.setattr(transfers, "_finish_merge", meanwhile)
        undo = two.merge()
    assert named(two.person) == {"First": True, "Second": False}
    assert units(two.first) == {two.huge: 7}
    assert units(two.second) == {two.small: 5, two.large: 1}
    operations.unmerge_carts(two.person, undo, NOW)
    assert units(two.first) == {two.small: 3, two.large: 1, two.huge: 7}
    assert units(two.second) == {two.small: 2}


@pytest.mark.parametrize("kind", ["move", "merge"])
def test_a_move_that_broke_off_is_finished_by_the_worker(two: Two, kind: str) -> None:
    act: Callable[[], Any] = two.merge if kind == "merge" else lambda: two.move(two.small)
    kill_in(transfers, "_finish_merge" if kind == "merge" else "_take_units", act)
    assert units(two.first)[two.small] == 3  # in both for the moment, and never in none
    assert units(two.second)[two.small] == 5
    assert "finished" in finish()
    assert units(two.second)[two.small] == 5
    assert named(two.person) == (
        {"Second": True} if kind == "merge" else {"First": False, "Second": True}
    )
    if kind == "move":
        assert units(two.first) == {two.large: 1}
    assert finish() == ""


def test_a_move_that_never_came_to_its_target_cannot_come_any_more(two: Two) -> None:
    operation = uuid4()
    kill_in(transfers, "change_contents", lambda: two.move(two.small, operation))
    finish()
    with pytest.raises(CartError):
        two.move(two.small, operation)  # the slow process wakes up
    assert (units(two.first), units(two.second)) == ({two.small: 3, two.large: 1}, {two.small: 2})
    two.move(two.small)
    assert units(two.second) == {two.small: 5}


# Through the shop's pages


def test_a_line_goes_to_another_cart_without_a_script(client: Client, teapot: Product) -> None:
    submit_add(client, teapot, quantity="2")
    first = active(client)
    submit_new_cart(client, "Gifts")
    gifts = active(client)
    key = queries.get_cart(first).lines[0].key
    url = reverse("cart:move", args=[first, key])
    text = client.get(url).content.decode()
    assert f'name="into" value="{gifts}"' in text
    operation = re.search(r'name="operation" value="([^"]+)"', text)
    assert operation
    response = client.post(url, {"operation": operation[1]})
    assert response.status_code == 422
    assert "Choose a cart." in response.content.decode()
    response = client.post(url, {"into": gifts, "operation": operation[1], "copy": "1"})
    assert response.status_code == 303
    assert "copied to Gifts." in client.get(response["Location"]).content.decode()
    assert (queries.get_cart(first).item_count, queries.get_cart(gifts).item_count) == (2, 2)
    client.post(url, {"into": gifts, "operation": str(uuid4())})
    assert (queries.get_cart(first).item_count, queries.get_cart(gifts).item_count) == (0, 4)


def test_x44_a_merge_shows_first_and_changes_nothing_before_the_submit(
    client: Client, teapot: Product
) -> None:
    submit_add(client, teapot, quantity="2")
    first = active(client)
    submit_new_cart(client, "Gifts")
    gifts = active(client)
    submit_add(client, teapot, quantity="3")
    url = reverse("cart:merge", args=[first])
    assert f'value="{gifts}"' in client.get(url).content.decode()
    text = " ".join(client.get(url, {"into": str(gifts)}).content.decode().split())
    assert "Merge My cart into Gifts" in text
    assert "2 plus 3 already there: 5 in total" in text
    assert '<dd class="sums__total">€60.00</dd>' in text
    assert queries.get_cart(gifts).item_count == 3
    operation = re.search(r'name="operation" value="([^"]+)"', text)
    assert operation
    for _ in range(2):
        response = client.post(url, {"into": gifts, "operation": operation[1]})
        if response.status_code == 404:
            break  # sent again, the cart is gone from the list
    assert queries.get_cart(gifts).item_count == 5
    assert named(owner(client)) == {"Gifts": True}


def test_for_later_and_back_without_a_script(client: Client, teapot: Product) -> None:
    submit_add(client, teapot, quantity="2")
    cart_id = active(client)
    key = queries.get_cart(cart_id).lines[0].key
    assert "Save for later" in client.get(reverse("cart:show")).content.decode()
    response = client.post(reverse("cart:later", args=[cart_id, key]), {"operation": str(uuid4())})
    text = client.get(response["Location"]).content.decode()
    assert "Saved for later" in text
    assert queries.get_cart(cart_id).item_count == 0
    client.post(reverse("cart:now", args=[cart_id, key]), {"operation": str(uuid4())})
    assert queries.get_cart(cart_id).item_count == 2


def test_two_submits_on_one_page_are_two(client: Client, teapot: Product) -> None:
    cup = make_product("Bowl", stock=5)
    submit_add(client, teapot, quantity="2")
    submit_add(client, cup)
    # all forms of a page send the same key
    cart_id, page = (active(client), {"operation": str(uuid4())})
    for key in units(cart_id):
        assert client.post(reverse("cart:later", args=[cart_id, key]), page).status_code == 303
    assert (units(cart_id), len(saved_units(cart_id))) == ({}, 2)
    first, second = saved_units(cart_id)
    for name, key in (("now", first), ("drop", second), ("now", first), ("drop", second)):
        assert client.post(reverse(f"cart:{name}", args=[cart_id, key]), page).status_code == 303
    assert (list(units(cart_id)), saved_units(cart_id)) == ([first], {})
    for name in ("empty", "duplicate"):
        assert client.post(reverse(f"cart:{name}", args=[cart_id]), page).status_code == 303
    assert units(cart_id) == {}


def test_x3_the_addresses_of_actions_on_carts_lead_to_the_list(client: Client) -> None:
    names = ("make", "switch", "undo")
    led = {name: client.get(reverse(f"cart:{name}"))["Location"] for name in names}
    assert led == dict.fromkeys(names, reverse("cart:carts"))

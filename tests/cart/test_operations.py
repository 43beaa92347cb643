"""Carts: the sums equal the lines at any moment, nothing is lost, nothing counts twice."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from cassandra import OperationTimedOut
from cassandra.cluster import Session
from cassandra.query import BatchStatement

from cart import operations, queries
from cart.entities import Cart
from cart.errors import (
    CartFull,
    NoSuchCart,
    NoSuchLine,
    NotEnoughLeft,
    SoldOut,
    TooManyCarts,
    TooManyUnits,
)
from cart.limits import MAX_CARTS
from cart.operations import carts, line_batches
from cart.undo import parse_removed_line
from cassandra_db.session import get_session
from catalogue.entities import Product
from pricing.money import from_minor_units, to_minor_units
from tests.cart.guests import get_active_cart
from tests.cart.products import make_mug, with_price
from tests.orders.crashes import kill_in
from tests.threads import map_at_once

NOW = datetime(2026, 11, 21, 10, 0, tzinfo=UTC)


def add(
    owner: UUID,
    product: Product,
    place: int = 0,
    quantity: int = 1,
    operation: UUID | None = None,
    **kwargs: Any,
) -> operations.LineResult:
    return operations.add_line(
        owner,
        product,
        product.variants[place],
        quantity,
        operation or uuid4(),
        kwargs.get("now", NOW),
    )


def cart_of(owner: UUID) -> Cart:
    found = get_active_cart(owner)
    assert found is not None
    assert found.line_count == len(found.lines)
    assert found.item_count == sum(line.quantity for line in found.lines)
    assert to_minor_units(found.subtotal) == sum(to_minor_units(line.total) for line in found.lines)
    return found


def full(owner: UUID) -> UUID:
    """Give an owner as many carts as allowed."""
    get_session().execute(
        "UPDATE carts_by_user SET cart_count = %s WHERE owner_id = %s", (MAX_CARTS, owner)
    )
    return owner


def test_the_first_add_makes_my_cart() -> None:
    owner, product = uuid4(), make_mug()
    added = add(owner, product, quantity=2)
    cart = cart_of(owner)
    assert (added.cart_name, cart.name, cart.cart_id) == ("My cart", "My cart", added.cart_id)
    (line,) = cart.lines
    assert (line.quantity, line.price, line.total) == (
        2,
        from_minor_units(1200, "EUR"),
        from_minor_units(2400, "EUR"),
    )
    assert line.label == "Mug, Oat, 250 ml"


def test_x47_two_sizes_are_two_lines_the_newest_first() -> None:
    owner, product = uuid4(), make_mug()
    add(owner, product, 0)
    add(owner, product, 1, now=NOW + timedelta(seconds=5))
    assert [line.options["Size"] for line in cart_of(owner).lines] == ["350 ml", "250 ml"]


def test_a_second_add_gives_more_units() -> None:
    owner, product = uuid4(), make_mug()
    add(owner, product, quantity=2)
    assert add(owner, product, quantity=3).price_changed_from is None
    assert cart_of(owner).item_count == 5


def test_a_repeated_operation_counts_once() -> None:
    owner, product, operation = uuid4(), make_mug(), uuid4()
    assert not add(owner, product, operation=operation).is_repeated
    assert add(owner, product, operation=operation).is_repeated
    assert cart_of(owner).item_count == 1


def test_a_second_add_takes_todays_price_for_the_whole_line_and_says_so() -> None:
    owner, product = uuid4(), make_mug(4000)
    add(owner, product, quantity=2)
    variant = with_price(product.variants[0], 3500)
    added = operations.add_line(owner, product, variant, 1, uuid4(), NOW)
    assert added.price_changed_from == from_minor_units(4000, "EUR")
    assert cart_of(owner).subtotal == from_minor_units(3 * 3500, "EUR")


def test_fifty_adds_from_eight_threads_all_count() -> None:
    owner, product = uuid4(), make_mug()
    map_at_once(lambda place: add(owner, product, place % 2), range(50), 8)
    cart = cart_of(owner)
    assert (cart.item_count, cart.line_count, cart.version) == (50, 2, 50)


def test_adds_at_two_prices_at_once_keep_the_sums() -> None:
    """Fault 18."""
    owner, product = uuid4(), make_mug()
    cheap = with_price(product.variants[0], 900)
    add(owner, product)
    with ThreadPoolExecutor(4) as pool:
        for each in [
            pool.submit(operations.add_line, owner, product, v, 1, uuid4(), NOW)
            for v in (cheap, product.variants[0]) * 8
        ]:
            each.result()
    assert cart_of(owner).item_count == 17


def test_a_line_has_999_units_at_most() -> None:
    owner, product = uuid4(), make_mug()
    add(owner, product, quantity=998)
    with pytest.raises(
        TooManyUnits, match=r"You can have up to 999 of one item\. You already have 998"
    ):
        add(owner, product, quantity=2)
    add(owner, product, quantity=1)
    assert cart_of(owner).item_count == 999


def test_x126_adds_at_once_never_hold_more_than_is_left() -> None:
    owner, product = uuid4(), make_mug()
    variant = product.variants[0]

    def put(units: int, key: UUID | None = None, left: int = 10) -> bool:
        try:
            operations.add_line(
                owner,
                product,
                variant,
                units,
                key or uuid4(),
                NOW,
                already_read=operations.AlreadyRead(available=left),
            )
        except NotEnoughLeft:
            return False
        return True

    key = uuid4()
    assert put(1, key)
    assert sum(map_at_once(put, [3] * 6, 4)) == 3
    assert cart_of(owner).item_count == 10
    # Sent again it has been done, whatever is left by now.
    assert put(1, key, left=0)
    with pytest.raises(SoldOut):
        put(1, left=0)
    assert cart_of(owner).item_count == 10


def test_x45_a_full_cart_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    owner = uuid4()
    add(owner, make_mug())
    monkeypatch.setattr(line_batches, "MAX_LINES", 1)
    with pytest.raises(CartFull, match="It can hold 1 different items"):
        add(owner, make_mug())


def test_x45_the_limit_of_carts_is_explained() -> None:
    owner = full(uuid4())
    with pytest.raises(TooManyCarts, match="You have 100 carts"):
        add(owner, make_mug())


def test_a_line_is_set_to_a_quantity_and_keeps_its_price() -> None:
    owner, product = uuid4(), make_mug()
    cart_id = add(owner, product, quantity=5).cart_id
    for price in (1200, 1300, 900):
        operations.change_line_quantity(
            owner, cart_id, with_price(product.variants[0], price), 2, NOW
        )
        assert cart_of(owner).subtotal == from_minor_units(2400, "EUR")


def test_two_tabs_add_and_change_and_remove_and_the_sums_still_equal_the_lines() -> None:
    owner, product = uuid4(), make_mug()
    cart_id = add(owner, product).cart_id
    add(owner, product, 1)

    def act(number: int) -> None:
        variant = product.variants[number % 2]
        try:
            if number % 5 == 0:
                operations.remove_line(owner, cart_id, str(variant.variant_id), NOW)
            elif number % 3 == 0:
                operations.change_line_quantity(owner, cart_id, variant, number % 7 + 1, NOW)
            else:
                operations.add_line(owner, product, variant, 2, uuid4(), NOW)
        except NoSuchLine:
            pass

    map_at_once(act, range(60), 6)
    cart_of(owner)


def test_a_removed_line_is_gone_and_comes_back_once_where_it_stood() -> None:
    owner, product = uuid4(), make_mug()
    cart_id = add(owner, product, quantity=3).cart_id
    add(owner, product, 1, now=NOW + timedelta(minutes=1))
    removed = operations.remove_line(owner, cart_id, str(product.variants[0].variant_id), NOW)
    assert [line.quantity for line in cart_of(owner).lines] == [1]
    assert parse_removed_line(removed.token()) == removed
    later = with_price(product.variants[0], 1100)
    for repeated in (False, True):
        assert operations.restore_line(owner, removed, product, later, NOW).is_repeated is repeated
    cart = cart_of(owner)
    assert [line.quantity for line in cart.lines] == [1, 3]
    assert cart.lines[1].price == from_minor_units(1200, "EUR")


def test_what_was_added_again_meanwhile_is_not_lost_by_undo() -> None:
    owner, product = uuid4(), make_mug()
    cart_id = add(owner, product, quantity=3).cart_id
    removed = operations.remove_line(owner, cart_id, str(product.variants[0].variant_id), NOW)
    add(owner, product, quantity=2)
    operations.restore_line(owner, removed, product, product.variants[0], NOW)
    assert cart_of(owner).item_count == 5


def test_a_changed_undo_token_is_refused() -> None:
    owner, product = uuid4(), make_mug()
    removed = operations.remove_line(
        owner, add(owner, product).cart_id, str(product.variants[0].variant_id), NOW
    )
    assert parse_removed_line(removed.token()[:-2] + "xx") is None
    assert parse_removed_line("") is None


def test_somebody_elses_cart_is_left_alone(subtests: pytest.Subtests) -> None:
    alice, charlie, product = uuid4(), uuid4(), make_mug()
    variant = product.variants[0]
    cart_id = add(alice, product).cart_id
    add(alice, product, 1)
    removed = operations.remove_line(alice, cart_id, str(product.variants[1].variant_id), NOW)
    add(charlie, product)
    actions: dict[str, Callable[[], Any]] = {
        "change": lambda: operations.change_line_quantity(charlie, cart_id, variant, 9, NOW),
        "remove": lambda: operations.remove_line(charlie, cart_id, str(variant.variant_id), NOW),
        "restore": lambda: operations.restore_line(
            charlie, removed, product, product.variants[1], NOW
        ),
    }
    for name, act in actions.items():
        with subtests.test(name):
            before = cart_of(alice)
            assert before.item_count
            with pytest.raises(NoSuchCart):
                act()
            assert cart_of(alice) == before


def test_a_line_that_is_not_there_is_no_longer_in_the_cart() -> None:
    owner, product = uuid4(), make_mug()
    cart_id = add(owner, product).cart_id
    with pytest.raises(NoSuchLine, match="no longer in your cart"):
        operations.change_line_quantity(owner, cart_id, product.variants[1], 2, NOW)
    with pytest.raises(NoSuchLine):
        operations.remove_line(owner, cart_id, "nothing", NOW)


def test_checkout_takes_what_was_bought_and_leaves_what_came_later() -> None:
    """Fault 12."""
    owner, product, order_id = uuid4(), make_mug(sizes=("S", "M", "L")), uuid4()
    small, middle, large = product.variants
    cart_id = add(owner, product, 0, 2).cart_id
    add(owner, product, 1, 2)
    bought = {str(small.variant_id): 2, str(middle.variant_id): 2}
    add(owner, product, 1, 1)  # another tab
    add(owner, product, 2, 4)
    operations.remove_bought_lines(cart_id, bought, order_id, NOW)
    left = {line.variant_id: line.quantity for line in cart_of(owner).lines}
    assert left == {middle.variant_id: 1, large.variant_id: 4}
    operations.remove_bought_lines(cart_id, bought, order_id, NOW)
    assert cart_of(owner).item_count == 5


def test_what_comes_after_the_checkout_stays_even_if_nothing_was_there_to_take() -> None:
    owner, product = uuid4(), make_mug()
    key, order_id = str(product.variants[0].variant_id), uuid4()
    cart_id = add(owner, product).cart_id
    operations.remove_line(owner, cart_id, key, NOW)  # in another tab, while paying
    operations.remove_bought_lines(cart_id, {key: 1}, order_id, NOW)
    add(owner, product)
    operations.remove_bought_lines(cart_id, {key: 1}, order_id, NOW)
    assert cart_of(owner).item_count == 1
    operations.remove_bought_lines(uuid4(), {key: 1}, order_id, NOW)


def test_checkout_of_everything_leaves_an_empty_cart_that_can_be_filled_again() -> None:
    owner, product = uuid4(), make_mug()
    cart_id = add(owner, product, 0, 2).cart_id
    operations.remove_bought_lines(cart_id, {str(product.variants[0].variant_id): 2}, uuid4(), NOW)
    assert cart_of(owner).lines == ()
    add(owner, product)
    assert cart_of(owner).item_count == 1


def test_a_lost_answer_is_resolved_by_the_operations_row(monkeypatch: pytest.MonkeyPatch) -> None:
    owner, product = uuid4(), make_mug()
    add(owner, product)
    real: Callable[..., Any] = Session.execute
    lost: list[BatchStatement] = []

    def execute(self: Session, statement: Any, *args: Any, **kwargs: Any) -> Any:
        answer = real(self, statement, *args, **kwargs)
        if not lost and isinstance(statement, BatchStatement) and answer.one().applied:
            lost.append(statement)
            raise OperationTimedOut("the answer was lost")
        return answer

    monkeypatch.setattr(Session, "execute", execute)
    add(owner, product)
    assert lost
    assert cart_of(owner).item_count == 2


def test_two_first_adds_at_once_make_one_cart() -> None:
    owner, product = uuid4(), make_mug()
    map_at_once(lambda place: add(owner, product, place % 2), range(8), 4)
    assert cart_of(owner).item_count == 8
    assert len(queries.CARTS.all(owner_id=owner)) == 1


def test_x44_a_guests_cart_arrives_at_login_as_a_cart_of_its_own() -> None:
    guest, member, product = uuid4(), uuid4(), make_mug()
    add(member, product, 0, 1)
    theirs = add(guest, product, 1, 2).cart_id
    adopted = operations.claim_guest_carts(guest, member, NOW, "phone")
    assert (adopted.names, adopted.unadopted_count) == (("From your phone, 21 November",), 0)
    rows = queries.CARTS.all(owner_id=member)
    assert {row.cart_name for row in rows} == {"My cart", "From your phone, 21 November"}
    assert rows[0].cart_count == 2
    assert cart_of(member).item_count == 1  # the member's own stays active
    assert queries.get_cart(theirs).item_count == 2
    assert get_active_cart(guest) is None


def test_a_guests_cart_becomes_active_for_a_member_without_lines() -> None:
    guest, member, product = uuid4(), uuid4(), make_mug()
    add(guest, product, 1, 2)
    assert operations.claim_guest_carts(guest, member, NOW).names == (
        "From your device, 21 November",
    )
    assert cart_of(member).item_count == 2


def test_an_empty_guest_cart_is_not_carried_over() -> None:
    guest, member, product = uuid4(), uuid4(), make_mug()
    operations.remove_line(
        guest, add(guest, product).cart_id, str(product.variants[0].variant_id), NOW
    )
    assert operations.claim_guest_carts(guest, member, NOW).names == ()
    assert get_active_cart(member) is None


def test_adopting_goes_on_where_a_crash_stopped_it() -> None:
    guest, member, product = uuid4(), uuid4(), make_mug()
    add(member, product)
    cart_id = add(guest, product, 1).cart_id
    kill_in(
        carts, "remove_cart_from_list", lambda: operations.claim_guest_carts(guest, member, NOW)
    )
    assert get_active_cart(guest) is not None
    operations.claim_guest_carts(guest, member, NOW + timedelta(days=1))
    operations.claim_guest_carts(guest, member, NOW)
    assert [row.cart_id for row in queries.CARTS.all(owner_id=member)].count(cart_id) == 1
    assert get_active_cart(guest) is None


def test_carts_beyond_the_limit_stay_with_the_guest() -> None:
    guest, member, product = uuid4(), full(uuid4()), make_mug()
    add(guest, product)
    assert operations.claim_guest_carts(guest, member, NOW).unadopted_count == 1
    assert cart_of(guest).item_count == 1


def test_a_guest_may_start_anew_after_the_carts_have_moved() -> None:
    guest, member, product = uuid4(), uuid4(), make_mug()
    add(guest, product)
    operations.claim_guest_carts(guest, member, NOW)
    add(guest, product, quantity=3)
    assert cart_of(guest).item_count == 3

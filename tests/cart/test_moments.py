"""What happens to a cart between another request's read and its write. Each test plays the order that hurts."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from cart import operations, queries
from cart.errors import NoSuchCart
from cart.operations import bulk_lines, carts, cleanup, lines
from cart.operations.bulk_lines import VariantQuantity, add_variants
from cart.operations.carts import ActiveCart
from cassandra_db import SEND_AGAIN
from tests.cart.guests import get_active_cart
from tests.cart.products import make_mug

NOW = datetime(2026, 11, 21, 10, 0, tzinfo=UTC)
LATE = NOW + timedelta(days=31)


def before(
    module: Any, name: str, happens: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Do something, once, just before a function is called from this module."""
    real: Callable[..., Any] = getattr(module, name)

    def then(*args: Any, **kwargs: Any) -> Any:
        monkeypatch.setattr(module, name, real)
        happens()
        return real(*args, **kwargs)

    monkeypatch.setattr(module, name, then)


def names(person_id: UUID) -> list[str]:
    return sorted(
        row.cart_name for row in queries.CARTS.all(owner_id=person_id) if row.cart_id is not None
    )


def swept(cart_id: UUID) -> bool:
    (row,) = [row for row in cleanup.iterate_stale_carts(LATE) if row.cart_id == cart_id]
    return cleanup.remove_stale_cart(row, LATE)


def guests_cart(guest: UUID) -> UUID:
    product = make_mug()
    return operations.add_line(
        guest, product, product.variants[0], 1, uuid4(), NOW, guest=True
    ).cart_id


def items(person_id: UUID) -> int:
    cart = get_active_cart(person_id)
    return cart.item_count if cart else 0


def test_an_add_that_has_looked_before_the_sweep_is_in_a_cart_that_is_listed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    guest, product = uuid4(), make_mug()
    cart_id = guests_cart(guest)
    before(lines, "put_units", lambda: swept(cart_id), monkeypatch)
    operations.add_line(guest, product, product.variants[0], 2, uuid4(), LATE, guest=True)
    assert items(guest) == 2


@pytest.mark.parametrize("step", ["remove_cart_from_list", "end_sharing"])
def test_an_add_in_the_middle_of_the_sweep_is_in_a_cart_that_is_listed(
    step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    guest, product = uuid4(), make_mug()
    cart_id = guests_cart(guest)
    before(
        cleanup,
        step,
        lambda: operations.add_line(
            guest, product, product.variants[0], 2, uuid4(), LATE, guest=True
        ),
        monkeypatch,
    )
    swept(cart_id)
    assert items(guest) == 2


def test_a_cart_that_is_brought_back_while_an_add_gives_it_up_stays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    person, product = uuid4(), make_mug()
    cart_id = operations.add_line(person, product, product.variants[0], 1, uuid4(), NOW).cart_id
    undone: list[str] = []

    def deleted_and_undone() -> None:
        # The add has seen the deletion mark. Now the delete goes on, and its undo, before the add takes the cart off the list.
        undo = operations.delete_cart(person, cart_id, NOW)
        undone.append(operations.undelete_cart(person, undo, NOW))

    def marked(*args: Any, **kwargs: Any) -> ActiveCart:
        active = carts.get_or_create_active_cart(person, NOW)
        carts.MARK_DELETED.apply(if_lost=SEND_AGAIN, cart_id=cart_id, owner_id=person, now=NOW)
        monkeypatch.setattr(lines, "get_or_create_active_cart", carts.get_or_create_active_cart)
        return active

    monkeypatch.setattr(lines, "get_or_create_active_cart", marked)
    before(lines, "drop_closed_cart", deleted_and_undone, monkeypatch)
    operations.add_line(person, product, product.variants[0], 1, uuid4(), NOW)
    assert undone == ["My cart"]
    assert "My cart" in names(person)
    assert items(person) == 2


def test_what_is_added_to_a_guests_empty_cart_at_the_login_comes_along(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    guest, member, product = uuid4(), uuid4(), make_mug()
    gone = operations.add_line(guest, product, product.variants[0], 1, uuid4(), NOW, guest=True)
    operations.remove_line(guest, gone.cart_id, str(product.variants[0].variant_id), NOW)
    before(
        carts,
        "remove_cart_from_list",
        lambda: operations.add_line(
            guest, product, product.variants[0], 3, uuid4(), NOW, guest=True
        ),
        monkeypatch,
    )
    operations.claim_guest_carts(guest, member, NOW, "phone")
    assert items(member) == 3
    assert names(guest) == []


def test_what_comes_into_a_guests_empty_cart_after_the_login_is_in_a_cart_that_is_listed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    guest, member, product = uuid4(), uuid4(), make_mug()
    gone = operations.add_line(guest, product, product.variants[0], 1, uuid4(), NOW, guest=True)
    operations.remove_line(guest, gone.cart_id, str(product.variants[0].variant_id), NOW)
    before(
        lines,
        "put_units",
        lambda: operations.claim_guest_carts(guest, member, NOW, "phone"),
        monkeypatch,
    )
    operations.add_line(guest, product, product.variants[0], 3, uuid4(), NOW, guest=True)
    # the response to the add sets the guest's cookie again, and the next login brings the cart
    assert items(guest) == 3
    operations.claim_guest_carts(guest, member, NOW, "phone")
    assert items(member) == 3


def test_a_cart_that_comes_along_while_it_is_swept_stays_and_takes_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    guest, member, product = uuid4(), uuid4(), make_mug()
    cart_id = guests_cart(guest)
    before(
        cleanup,
        "remove_cart_from_list",
        lambda: operations.claim_guest_carts(guest, member, LATE, "phone"),
        monkeypatch,
    )
    assert not swept(cart_id)
    operations.add_line(member, product, product.variants[0], 2, uuid4(), LATE)
    assert items(member) == 3


def test_a_cart_that_comes_along_before_anything_is_in_it_is_no_guests_cart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    guest, member, product = uuid4(), uuid4(), make_mug()
    before(
        bulk_lines,
        "change_contents",
        lambda: operations.claim_guest_carts(guest, member, NOW, "phone"),
        monkeypatch,
    )
    variants = [VariantQuantity(product, product.variants[0], 2)]
    cart_id, _ = add_variants(guest, None, "Again", variants, uuid4(), NOW, guest=True)
    assert names(member) == ["Again"]
    assert queries.get_cart(cart_id).item_count == 2
    assert cart_id not in {row.cart_id for row in cleanup.iterate_stale_carts(LATE)}


def test_a_submit_that_is_sent_again_after_its_cart_was_deleted_brings_nothing_back() -> None:
    person, product, idempotency_key = uuid4(), make_mug(), uuid4()
    variants = [VariantQuantity(product, product.variants[0], 2)]
    cart_id, name = add_variants(person, None, "Again", variants, idempotency_key, NOW)
    assert add_variants(person, None, "Again", variants, idempotency_key, NOW) == (cart_id, name)
    operations.delete_cart(person, cart_id, NOW)
    with pytest.raises(NoSuchCart):
        add_variants(person, None, "Again", variants, idempotency_key, NOW)
    assert names(person) == []

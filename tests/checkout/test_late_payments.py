"""A payment that arrives after its order has expired, while the cart went on."""

from datetime import timedelta
from uuid import UUID, uuid4

import pytest

from cart import operations as cart_operations
from catalogue.entities import Product
from orders import operations, queries
from orders.operations import placement
from pricing.money import to_minor_units
from tests.checkout.shopper import (
    Shopper,
    count_reserved,
    end_order,
    get_cart,
    get_owner_id,
    list_orders,
    make_email,
    set_payment_deadline,
)
from tests.clock import now
from tests.factories import make_stocked_product
from tests.orders.attempts import list_attempts
from tests.orders.consistency_checks import assert_order_consistent
from tests.orders.crashes import expire_claim, kill_in
from tests.orders.reads import get_bank_state


def test_s38_a_bank_page_of_an_expired_order_cannot_pay_for_a_cart_that_was_bought_since(
    shopper: Shopper, mug: Product
) -> None:
    """Two tabs: the first one's order expires at the bank, the second's is paid, and then the first's is approved."""
    email = make_email()
    first_url = shopper.send(shopper.token(email=email), email=email)["Location"]
    (first,) = list_orders(email)
    set_payment_deadline(first, now() - timedelta(seconds=1))
    second_url = shopper.send(shopper.token(email=email), email=email)["Location"]
    assert get_bank_state(list_attempts(first.order_id)[0].payment_id) == "voided", (
        "the page is closed"
    )
    shopper.pay(second_url)
    shopper.add(mug)
    shopper.pay(first_url)
    fresh = assert_order_consistent(first.order_id)
    assert (fresh.state, to_minor_units(fresh.captured)) == ("expired", 0)
    assert sum(to_minor_units(each.captured) for each in list_orders(email)) == to_minor_units(
        first.total
    )
    assert [line.quantity for line in get_cart(shopper).lines] == [1], "what was put in since stays"
    assert count_reserved(mug) == 0


@pytest.mark.parametrize("second", ["bought", "waits", "given up", "being placed", "died"])
def test_s38_a_late_payment_reserves_the_units_again_only_for_its_own_cart(
    shopper: Shopper, mug: Product, second: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The gateway is away when the second checkout claims the cart, so the first one's page stays open."""
    email = make_email()
    monkeypatch.setattr(placement, "_close_payment_pages", lambda order: None)
    first_url = shopper.send(shopper.token(email=email), email=email)["Location"]
    (first,) = list_orders(email)
    operations.expire_order(first, now())
    token = shopper.token(email=email)
    dead: UUID | None = None
    if second in ("being placed", "died"):
        kill_in(placement, "claim_order_number", lambda: shopper.send(token, email=email))
        dead = get_cart(shopper).checkout_id
        assert dead
        if second == "died":
            expire_claim(dead)
    else:
        url = shopper.send(token, email=email)["Location"]
        if second == "bought":
            shopper.pay(url)
            shopper.add(mug)
        elif second == "given up":
            (other,) = (each for each in list_orders(email) if each.state == "pending_payment")
            end_order(shopper, other, second)
    shopper.pay(first_url)
    fresh = queries.get_order(first.order_id)
    assert fresh
    if second in ("given up", "died"):
        assert assert_order_consistent(first.order_id).customer_label == "Confirmed"
        assert not get_cart(shopper).lines
        assert count_reserved(mug) == 0, "what the dead checkout had reserved is released"
    else:
        assert (fresh.state, to_minor_units(fresh.captured)) == ("expired", 0)
        assert len(get_cart(shopper).lines) == 1
    if second in ("bought", "waits"):
        (note,) = (event.note for event in fresh.events if event.kind == "paid_too_late")
        assert "its cart was ordered anew" in note
        assert fresh.payment == "voided"
        assert assert_order_consistent(first.order_id)


@pytest.mark.parametrize("how", ["untouched", "more", "taken out"])
def test_a_late_payment_looks_at_what_is_in_the_cart(
    shopper: Shopper, mug: Product, how: str
) -> None:
    email, plate = make_email(), make_stocked_product(name="Plate")
    url = shopper.send(shopper.token(email=email), email=email)["Location"]
    (order,) = list_orders(email)
    operations.expire_order(order, now())
    cart = get_cart(shopper)
    if how == "more":
        shopper.add(plate)
    elif how == "taken out":
        cart_operations.remove_line(get_owner_id(shopper), cart.cart_id, cart.lines[0].key, now())
    shopper.pay(url)
    fresh = assert_order_consistent(order.order_id)
    if how == "taken out":
        assert (fresh.state, fresh.payment, to_minor_units(fresh.captured)) == (
            "expired",
            "voided",
            0,
        )
    else:
        assert (fresh.customer_label, fresh.payment) == ("Confirmed", "paid")
        assert [line.name for line in get_cart(shopper).lines] == (
            ["Plate"] if how == "more" else []
        )


def test_a_late_payment_and_a_new_checkout_do_not_decide_at_once(
    shopper: Shopper, mug: Product
) -> None:
    """While a late payment is decided, no checkout claims the cart; and while one claims it, no late payment is decided."""
    email = make_email()
    shopper.send(shopper.token(email=email), email=email)
    (order,) = list_orders(email)
    order = operations.expire_order(order, now())
    claim = operations.claim_expired_order(order)
    assert claim
    with placement._free_cart(get_cart(shopper), uuid4(), now()) as free:
        assert not free
    operations.unclaim_expired_order(order, claim)
    with placement._free_cart(get_cart(shopper), uuid4(), now()) as free:
        assert free
        assert operations.claim_expired_order(order) is None
    assert operations.claim_expired_order(order)

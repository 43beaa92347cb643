"""Whoever can get nothing is told so from memory; whoever can, or has got something already, is not (X84)."""

from typing import Any
from uuid import uuid4

import pytest
from django.urls import reverse

from catalogue.entities import Product
from inventory import shortages
from inventory.entities import Allocation
from inventory.operations import FirstReservation, copy_stock, release_stock, stock_copies
from inventory.shortages import KNOWN_SECONDS, read_clock, remember_shortages
from orders import queries
from orders.operations import placement
from tests.checkout.shopper import Shopper, count_reserved, get_cart, text
from tests.factories import make_stocked_product
from tests.inventory.test_operations import NOW, want
from tests.inventory.test_shortages import Clock
from tests.orders.crashes import expire_claim, kill_in


@pytest.fixture
def last() -> Product:
    """A product of which there is one unit."""
    return make_stocked_product(1)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Time stands still, so that a slow machine forgets nothing meanwhile."""
    clock = Clock()
    monkeypatch.setattr(shortages, "monotonic", clock)
    return clock


def take(product: Product, units: int = 1) -> tuple[Allocation, ...]:
    """Let somebody else reserve units, and say so on the pages."""
    taken = FirstReservation(uuid4(), [want(product.variants[0].variant_id, units)], NOW).reserve()
    copy_stock(product.product_id)
    return taken


def come_back(product: Product, taken: tuple[Allocation, ...]) -> None:
    """Let units lapse, as another process does it: this one hears nothing of it."""
    with pytest.MonkeyPatch.context() as elsewhere:
        elsewhere.setattr(stock_copies, "forget_shortages", lambda variant_ids: None)
        release_stock(taken)
        copy_stock(product.product_id)


def open_checkout(shopper: Shopper) -> Any:
    return shopper.client.get(reverse("checkout:details"))


def cost(answer: Any) -> dict[str, int]:
    """Return what an answer says that it cost in Cassandra."""
    counts = (part.split("=") for part in answer["X-Cassandra"].split(", "))
    return {name: int(count) for name, count in counts}


def is_told(answer: Any) -> bool:
    return answer.status_code == 409 and "is sold out and was left out" in text(answer)


def test_x84_the_crowd_is_told_from_memory_that_it_is_sold_out(last: Product, clock: Clock) -> None:
    first, late, later = (Shopper((last, 1)) for _ in range(3))
    token, taken = late.token(), take(last)
    answer = open_checkout(first)
    assert is_told(answer)
    assert cost(answer)["reads"] == 4, "their carts and the cart, then the product and its stock"
    answer = open_checkout(later)
    assert is_told(answer)
    assert (cost(answer)["statements"], cost(answer)["rounds"]) == (2, 1), "whose cart, what is in"
    answer = late.send(token)
    assert is_told(answer)
    assert (cost(answer)["reads"], cost(answer)["writes"]) == (3, 0), (
        "whether the form was sent before, and the cart: no stock is read, and nothing is tried"
    )
    come_back(last, taken)
    assert is_told(open_checkout(later))
    clock.seconds += KNOWN_SECONDS
    assert late.send(token).status_code == 303, "units that come back are sold within two seconds"


def test_units_that_this_process_brings_back_are_sold_at_once(last: Product, clock: Clock) -> None:
    shopper = Shopper((last, 1))
    token, taken = shopper.token(), take(last)
    assert is_told(open_checkout(shopper))
    release_stock(taken)
    copy_stock(last.product_id)
    assert shopper.send(token).status_code == 303


def test_who_wants_fewer_than_were_missing_gets_them(clock: Clock) -> None:
    mug = make_stocked_product(3)
    one, two = Shopper((mug, 1)), Shopper((mug, 2))
    tokens = one.token(), two.token()
    taken = take(mug, 2)
    remember_shortages({mug.variants[0].variant_id: 1}, read_clock())
    clock.seconds += KNOWN_SECONDS / 2
    answer = two.send(tokens[1])
    assert answer.status_code == 409
    assert "Only 1 of " in text(answer)
    assert cost(answer)["writes"] == 0, "nothing was tried"
    come_back(mug, taken[:1])
    clock.seconds += KNOWN_SECONDS / 2
    assert two.send(tokens[1]).status_code == 303, "to say it again made it last no longer"
    remember_shortages({mug.variants[0].variant_id: 1}, read_clock())
    assert one.send(tokens[0]).status_code == 303
    assert count_reserved(mug) == 3


def test_what_else_is_in_the_cart_can_be_ordered(last: Product, clock: Clock) -> None:
    mug = make_stocked_product()
    shopper = Shopper((last, 1), (mug, 1))
    shopper.token()
    take(last)
    remember_shortages({last.variants[0].variant_id: 0}, read_clock())
    page = open_checkout(shopper)
    assert page.status_code == 200
    assert shopper.send().status_code == 303
    assert count_reserved(mug) == 1


def test_x84_a_retry_of_ones_own_order_is_not_refused(last: Product, clock: Clock) -> None:
    shopper, variant_id = Shopper((last, 1)), last.variants[0].variant_id
    token = shopper.token()

    kill_in(placement, "claim_order_number", lambda: shopper.send(token))
    assert count_reserved(last) == 1
    checkout_id = get_cart(shopper).checkout_id
    assert checkout_id
    expire_claim(checkout_id)
    remember_shortages({variant_id: 0}, read_clock())
    placed = shopper.send(token)
    assert placed.status_code == 303, text(placed)
    assert shopper.send(token)["Location"] == placed["Location"]
    order = queries.get_order(checkout_id)
    assert order
    shopper.client.post(reverse("orders:give_up", args=[order.number]))
    remember_shortages({variant_id: 0}, read_clock())
    assert shopper.send().status_code == 303, "what the cart's earlier checkout had is back"
    assert count_reserved(last) == 1

"""Backorders: orders that wait for stock, and get their units in turn when it arrives."""

from datetime import UTC, date, datetime, timedelta
from io import StringIO
from uuid import UUID, uuid4

import pytest
from django.core.management import call_command
from django.test import Client

from catalogue.entities import Product
from inventory import operations as inventory
from inventory import queries as stock
from inventory.entities import BACKORDER_WAREHOUSE, PREORDER, Backorder, StockNumbers
from orders import queries
from orders.lifecycle.entities import Order
from orders.lifecycle.transitions import Transition
from orders.operations import (
    allocate_backorders,
    apply_effects,
    backorders,
    place_order,
    transition_order,
)
from tests.factories import make_draft, make_payment, make_product, make_stock
from tests.orders.crashes import Killed

SOON = (datetime.now(UTC) + timedelta(days=40)).date()


def make_backordered_product(limit: int = 9, *, berlin: int = 0) -> Product:
    product = make_product(stock=berlin)
    variant_id = product.variants[0].variant_id
    inventory.set_backorder(
        product.product_id, variant_id, PREORDER, limit, SOON, actor="Ada", now=datetime.now(UTC)
    )
    return product


def place_paid_order(*lines: tuple[Product, int]) -> Order:
    return make_payment(place_order(make_draft(*lines), datetime.now(UTC)))


def receive_stock(product: Product, units: int, warehouse: str = "berlin") -> None:
    ids = (product.product_id, product.variants[0].variant_id)
    inventory.receive_stock(*ids, warehouse, units, 2, uuid4(), datetime.now(UTC))


def get_backorder_stock(product: Product) -> StockNumbers:
    return stock.get_stock_numbers(product.variants[0].variant_id, BACKORDER_WAREHOUSE)


@pytest.fixture(autouse=True)
def only_ours(monkeypatch: pytest.MonkeyPatch) -> list[UUID]:
    """Process the variants of this test alone, not those of all others."""
    ours: list[UUID] = []
    monkeypatch.setattr(stock, "list_backordered_variants", lambda: [(each, each) for each in ours])
    return ours


def test_an_order_waits_and_gets_its_units_when_they_arrive(only_ours: list[UUID]) -> None:
    product, in_stock = make_backordered_product(), make_product()
    make_stock(5, product_id=in_stock.product_id, variant_id=in_stock.variants[0].variant_id)
    only_ours.append(product.variants[0].variant_id)
    order = place_paid_order((product, 2), (in_stock, 1))
    assert order.reserved_units == {BACKORDER_WAREHOUSE: {1: 2}, "berlin": {2: 1}}
    assert get_backorder_stock(product) == StockNumbers(9, 7, 0, 2, 0)
    assert allocate_backorders(datetime.now(UTC)) == 0
    receive_stock(product, 3, "cork")
    assert allocate_backorders(datetime.now(UTC)) == 1
    assert allocate_backorders(datetime.now(UTC)) == 0
    fresh = queries.get_order(order.order_id)
    assert fresh
    assert fresh.reserved_units == {BACKORDER_WAREHOUSE: {1: 0}, "berlin": {2: 1}, "cork": {1: 2}}
    assert any(event.kind == "allocated" for event in fresh.events)
    assert get_backorder_stock(product) == StockNumbers(9, 9, 0, 0, 0), "the backorder is released"
    assert stock.get_stock_numbers(product.variants[0].variant_id, "cork") == StockNumbers(
        3, 1, 0, 2, 0
    )
    sent = transition_order(transition_order(fresh, Transition("packed", actor="Bo", at=datetime.now(UTC))), Transition("shipped", actor="Bo",
                       at=datetime.now(UTC)))  # fmt: skip
    assert sent.fulfilment == "shipped"
    assert stock.get_stock_numbers(product.variants[0].variant_id, "cork") == StockNumbers(
        3, 1, 0, 0, 2
    )


def test_the_oldest_comes_first_and_is_not_overtaken(only_ours: list[UUID]) -> None:
    product = make_backordered_product()
    only_ours.append(product.variants[0].variant_id)
    first, second = place_paid_order((product, 3)), place_paid_order((product, 1))
    receive_stock(product, 2)
    assert allocate_backorders(datetime.now(UTC)) == 0, "the first needs three"
    receive_stock(product, 2)
    assert allocate_backorders(datetime.now(UTC)) == 2
    for order in (first, second):
        fresh = queries.get_order(order.order_id)
        assert fresh
        assert set(fresh.reserved_units["berlin"]) == {1}
    assert stock.get_stock_numbers(product.variants[0].variant_id, "berlin") == StockNumbers(
        4, 0, 0, 4, 0
    )


def test_an_order_that_was_cancelled_waits_no_more(only_ours: list[UUID]) -> None:
    product = make_backordered_product()
    only_ours.append(product.variants[0].variant_id)
    order = place_paid_order((product, 2))
    transition_order(order, Transition("cancelled", actor="shopper", at=datetime.now(UTC)))
    assert get_backorder_stock(product).committed == 0
    receive_stock(product, 2)
    assert allocate_backorders(datetime.now(UTC)) == 0
    assert stock.get_stock_numbers(product.variants[0].variant_id, "berlin").available == 2


@pytest.mark.parametrize("step", ["transition_order", "apply_order_effects"])
def test_a_crash_on_the_way_is_finished(
    step: str, only_ours: list[UUID], monkeypatch: pytest.MonkeyPatch
) -> None:
    product = make_backordered_product()
    only_ours.append(product.variants[0].variant_id)
    order = place_paid_order((product, 2))
    receive_stock(product, 2)

    def crash(*_: object, **__: object) -> None:
        raise Killed

    with monkeypatch.context() as patched:
        if step == "transition_order":
            patched.setattr(backorders, "transition_order", crash)
        else:
            patched.setattr("orders.operations.effects.apply_order_effects", crash)
        with pytest.raises(Killed):
            allocate_backorders(datetime.now(UTC))
    allocate_backorders(datetime.now(UTC))
    apply_effects(order.order_id, datetime.now(UTC))
    assert get_backorder_stock(product) == StockNumbers(9, 9, 0, 0, 0)
    assert stock.get_stock_numbers(product.variants[0].variant_id, "berlin") == StockNumbers(
        2, 0, 0, 2, 0
    )


def test_the_pages_say_when_it_is_sent(client: Client) -> None:
    product = make_backordered_product(4, berlin=1)
    page = client.get(f"/p/{product.slug}/").content.decode()
    words = Backorder(PREORDER, 4, SOON).customer_label
    assert (
        f"If you order more than 1, your items will ship together when the rest arrive. {words}."
        in page
    )
    place_paid_order((product, 1))
    page = client.get(f"/p/{product.slug}/").content.decode()
    assert f'<p class="stock">{words}</p>' in page
    assert "schema.org/PreOrder" in page
    assert "Add to cart" in page
    client.post(
        "/cart/add/",
        {"variant": product.variants[0].sku, "quantity": "2", "operation": str(uuid4())},
    )
    cart = client.get("/cart/").content.decode()
    assert words in cart
    assert date.today() < SOON  # noqa: DTZ011 the shop's words are of its own day


def test_new_buyers_do_not_see_the_units_before_those_who_wait_have_theirs(
    only_ours: list[UUID],
) -> None:
    product = make_backordered_product()
    (variant,) = product.variants
    place_paid_order((product, 2))
    output = StringIO()
    call_command("stock", "receive", variant.sku, "berlin", "3", stdout=output)
    assert "Orders that wait for it: 1" in output.getvalue()
    assert stock.get_stock(product.product_id)[variant.variant_id].total_in_stock == 0
    # With the variant's own product, whose page gets the new stock.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            stock, "list_backordered_variants", lambda: [(variant.variant_id, product.product_id)]
        )
        assert allocate_backorders(datetime.now(UTC)) == 1
    assert stock.get_stock(product.product_id)[variant.variant_id].total_in_stock == 1
    call_command("stock", "receive", variant.sku, "berlin", "3", stdout=output)
    assert stock.get_stock(product.product_id)[variant.variant_id].total_in_stock == 4


def test_the_pages_see_what_those_who_wait_leave(monkeypatch: pytest.MonkeyPatch) -> None:
    product = make_backordered_product()
    (variant,) = product.variants
    place_paid_order((product, 5))
    receive_stock(product, 3)
    monkeypatch.setattr(
        stock, "list_backordered_variants", lambda: [(variant.variant_id, product.product_id)]
    )
    assert allocate_backorders(datetime.now(UTC)) == 0
    assert stock.get_stock(product.product_id)[variant.variant_id].total_in_stock == 3

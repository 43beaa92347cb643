"""What the figures know of orders: sold when they are paid, less when something goes back, nothing that was never paid (Q18, I7)."""

from analytics import queries
from analytics.days import shop_day
from analytics.figures import SoldLine
from orders import operations
from orders.lifecycle.entities import Order
from orders.lifecycle.transitions import Transition
from pricing.money import from_minor_units
from tests.clock import now
from tests.factories import make_draft, make_order, make_payment, make_product, make_stock
from tests.orders.consistency_checks import assert_order_consistent


def facts(order: Order) -> dict[int, SoldLine]:
    return {
        fact.line.line_number: fact.line
        for fact in queries.list_order_facts(shop_day(order.placed_at), order.order_id)
    }


def test_an_order_is_sold_once_it_is_paid() -> None:
    order = make_order(quantity=2, price="11.90")
    assert facts(order) == {}
    order = make_payment(order)
    sold = facts(order)[1]
    assert (sold.units, sold.gross, sold.net) == (2, 2380, 2000)
    assert (sold.refunded_units, sold.refunded_gross) == (0, 0)
    before = facts(order)
    operations.apply_effects(order.order_id, now())
    assert facts(order) == before


def test_a_cancelled_order_has_given_all_back_but_its_day_still_knows_of_it() -> None:
    order = make_order(quantity=2, price="11.90", paid=True)
    order = operations.transition_order(order, Transition("cancelled", actor="shopper", at=now()))
    sold = facts(order)[1]
    assert (sold.units, sold.gross) == (2, 2380)
    assert (sold.refunded_units, sold.refunded_gross, sold.refunded_net) == (2, 2380, 2000)
    assert_order_consistent(order.order_id)


def test_one_that_was_never_paid_sold_nothing() -> None:
    order = operations.transition_order(
        make_order(), Transition("cancelled", actor="shopper", at=now())
    )
    assert facts(order) == {}


def test_units_that_are_given_up_before_packing_were_not_sold() -> None:
    order = make_order(quantity=3, price="11.90", paid=True)
    order = operations.change_order(order, {1: 2}, actor="shopper", now=now())
    sold = facts(order)[1]
    assert (sold.units, sold.gross, sold.net) == (2, 2380, 2000)
    assert (sold.refunded_units, sold.refunded_gross) == (0, 0)
    assert_order_consistent(order.order_id)


def test_a_line_of_which_nothing_is_left_sold_nothing_any_more() -> None:
    lamp, mug = make_product("Lamp", price="20.00"), make_product("Mug", price="11.90")
    for product in (lamp, mug):
        make_stock(5, product_id=product.product_id, variant_id=product.variants[0].variant_id)
    order = make_payment(operations.place_order(make_draft((lamp, 1), (mug, 2)), now()))
    assert {number: line.gross for number, line in facts(order).items()} == {1: 2000, 2: 2380}
    order = operations.change_order(order, {1: 0}, actor="shopper", now=now())
    assert {number: (line.units, line.gross) for number, line in facts(order).items()} == {
        1: (0, 0),
        2: (2, 2380),
    }
    assert_order_consistent(order.order_id)


def test_money_back_for_units_belongs_to_their_line_and_the_rest_is_spread() -> None:
    lamp, mug = make_product("Lamp", price="20.00"), make_product("Mug", price="10.00")
    for product in (lamp, mug):
        make_stock(5, product_id=product.product_id, variant_id=product.variants[0].variant_id)
    order = make_payment(operations.place_order(make_draft((lamp, 1), (mug, 2)), now()))
    order = operations.decide_refund(
        order, from_minor_units(1000, "EUR"), {2: 1}, "broken", actor="staff", now=now()
    )
    noted = facts(order)
    assert (noted[2].refunded_units, noted[2].refunded_gross) == (1, 1000)
    assert (noted[1].refunded_units, noted[1].refunded_gross) == (0, 0)
    order = operations.decide_refund(
        order, from_minor_units(300, "EUR"), {}, "late", actor="staff", now=now()
    )
    noted = facts(order)
    assert (noted[1].refunded_units, noted[1].refunded_gross) == (0, 200)
    assert (noted[2].refunded_units, noted[2].refunded_gross) == (1, 1100)
    assert_order_consistent(order.order_id)

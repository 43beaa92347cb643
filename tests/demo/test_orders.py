"""The demo's orders, one of each kind: paid by card, transfer or cash, cheaper by a promotion, with a note at the end."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from consistency.findings import Scope
from demo import orders
from demo.orders import OrderPlan
from orders.lifecycle.entities import Order
from orders.queries import get_order
from payments.methods import CARD, CASH_ON_DELIVERY, TRANSFER
from promotions.rules import AMOUNT, Promotion
from tests.consistency.test_check_consistency import found
from tests.factories import make_product
from tests.reads import existing

FIVER = Promotion("fiver", "", "€5 off", AMOUNT, amount=500)


def test_the_orders_of_each_payment_method_and_those_with_a_note_at_the_end_are_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    product, now = make_product(price="30.00", stock=20), datetime.now(UTC)
    line = product.quote_line(product.variants[0], 1)
    monkeypatch.setattr(orders, "_random_lines", lambda *_: (line,))

    def load(number: int, fate: str, days: int) -> Order:
        plan = OrderPlan(number, now - timedelta(days=days), fate)
        monkeypatch.setattr(OrderPlan, "order_id", uuid4())
        placed = orders._place_order(plan, {}, set(), [FIVER])
        orders._let_happen(placed, plan, now)
        orders._let_happen(existing(get_order(placed.order_id)), plan, now)
        return existing(get_order(placed.order_id))

    noted, wired, cash = load(13, "paid", 2), load(3, "shipped", 5), load(67, "closed", 300)
    methods = (noted.payment_method, wired.payment_method, cash.payment_method)
    assert methods == (CARD, TRANSFER, CASH_ON_DELIVERY)
    assert [each.events[0].kind for each in (noted, cash)] == ["note", "closed"]
    assert [each.captured == each.total for each in (wired, cash)] == [True, True]
    assert [each.discount.amount for each in (noted, wired, cash)] == [5, 0, 5]
    scope = Scope(
        orders=frozenset(each.order_id for each in (noted, wired, cash)),
        variants=frozenset({product.variants[0].variant_id}),
    )
    assert found(scope, "I1", "I2", "I3", "I7", "I9") == []

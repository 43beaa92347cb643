"""The numbers of customers in docs/report-definitions.md, computed again from the orders by another way than the list."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from functools import cache
from uuid import UUID
from zoneinfo import ZoneInfo

from django.conf import settings
from moneyed import Money

from orders.customers import ListedCustomer, find_listed_at, get_customer
from orders.lifecycle.entities import Order
from orders.lifecycle.transitions import Transition
from orders.operations import count_user_stats, decide_refund, transition_order
from orders.operations.customer_segments import count_segments
from orders.queries import get_order, list_order_ids_by_email
from pricing.money import to_minor_units
from tests.consistency.test_check_consistency import cql
from tests.factories import make_order, make_user
from tests.reads import existing

NOW = datetime.now(UTC)


@cache
def list_members() -> dict[UUID, list[Order]]:
    """Make members with orders of all ages, count them, and return their paid orders as they are stored."""
    found = {}
    for number, ages in enumerate(((1,), (29, 400), (179,), (180, 181, 300), (12, 5, 2))):
        user = make_user("Ada")
        more = {"user_id": user.pk, "email": user.email}
        made = [make_order(paid=True, now=NOW - timedelta(each), **more) for each in ages]
        make_order(now=NOW, **more)  # unpaid
        if number == 4:
            decide_refund(made[0], Money(5, "EUR"), {}, "", actor="staff", now=NOW)
            transition_order(made[1], Transition("cancelled", actor="staff:0:Bea", at=NOW))
            cql("UPDATE orders SET currency = 'USD' WHERE order_id = %s", made[2].order_id)
        count_user_stats(user.pk)
        stored = [existing(get_order(each)) for each in list_order_ids_by_email(user.email)]
        found[user.pk] = [order for order in stored if order.captured.amount]
    return found


def list_customers() -> list[ListedCustomer]:
    return [existing(get_customer(each, find_listed_at(each))) for each in list_members()]


def spent_on(order: Order) -> int:
    return to_minor_units(order.captured) - to_minor_units(order.refunded)


def count_kept(orders: list[Order]) -> int:
    return sum(spent_on(order) > 0 for order in orders)


def count_of(segment: str) -> int:
    return {each.name: each.count for each in count_segments(list_customers(), NOW)}[segment]


def age_of(orders: list[Order]) -> int:
    """Return how many days ago the last order was placed, by the shop's calendar."""
    zone = ZoneInfo(settings.TIME_ZONE)
    last = max(order.placed_at for order in orders)
    return (NOW.astimezone(zone).date() - last.astimezone(zone).date()).days


def test_orders_of_a_customer() -> None:
    counts = [each.order_count for each in list_customers()]
    assert counts == [count_kept(each) for each in list_members().values()] == [1, 2, 1, 3, 2]


def test_spending_of_a_customer() -> None:
    for listed, orders in zip(list_customers(), list_members().values(), strict=True):
        spent = Counter[str]()
        for order in orders:
            spent[order.total.currency.code] += spent_on(order)
        assert listed.spent == dict(spent)
    assert listed.spent.keys() == {"EUR", "USD"}


def test_last_order_of_a_customer() -> None:
    found = [each.last_order_at for each in list_customers()]
    assert found == [max(order.placed_at for order in each) for each in list_members().values()]


def test_all_customers() -> None:
    assert count_of("all") == len([each for each in list_members().values() if each]) == 5


def test_new_customers() -> None:
    found = [
        each for each in list_members().values() if count_kept(each) == 1 and age_of(each) < 30
    ]
    assert count_of("new") == len(found) == 1


def test_customers_with_two_orders() -> None:
    found = [each for each in list_members().values() if count_kept(each) >= 2]
    assert count_of("returning") == len(found) == 3


def test_customers_not_seen() -> None:
    found = [each for each in list_members().values() if age_of(each) >= 180]
    assert count_of("not_seen") == len(found) == 1


def test_best_tenth() -> None:
    spent = [
        sum(spent_on(order) for order in orders if order.total.currency.code == settings.CURRENCY)
        for orders in list_members().values()
    ]
    least = int(f"{max(spent)}"[:3]) * 10 ** (len(f"{max(spent)}") - 3)
    assert count_of("best") == sum(each >= least for each in spent) == 1

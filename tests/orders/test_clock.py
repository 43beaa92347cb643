"""An order across special moments of clocks and calendars: midnight, a leap day, summer time."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
import time_machine
from django.conf import settings
from django.test import Client
from django.urls import reverse

from accounts import queries as accounts
from inventory.operations import RESERVATION_DURATION
from inventory.operations.reservations import DUE_EXPIRIES
from jobs.minutes import minutes_between
from orders import jobs, operations, queries
from orders.lifecycle.entities import Order
from tests.factories import make_draft, make_payment, make_product, make_user
from tests.orders.consistency_checks import assert_order_consistent, assert_stock_adds_up
from tests.orders.reads import fresh
from tests.orders.sweeps import apply_pending_effects

# Half a minute before each. The shop's days are Ireland's (SHOP_TIME_ZONE), its tables' are UTC's. The earliest first: the
# driver's clock moves along, and never back.
MOMENTS = {
    "midnight": datetime(2027, 3, 10, 23, 59, 30, tzinfo=UTC),
    "summer time begins": datetime(2027, 3, 28, 0, 59, 30, tzinfo=UTC),
    "midnight in the shop": datetime(2027, 6, 30, 22, 59, 30, tzinfo=UTC),
    "summer time ends": datetime(2027, 10, 31, 0, 59, 30, tzinfo=UTC),
    "new year": datetime(2027, 12, 31, 23, 59, 30, tzinfo=UTC),
    "a leap day begins": datetime(2028, 2, 28, 23, 59, 30, tzinfo=UTC),
    "a leap day ends": datetime(2028, 2, 29, 23, 59, 30, tzinfo=UTC),
}


def place_order(at: datetime) -> Order:
    """An order of two of five units by a member, placed at that moment."""
    product = make_product(stock=5)
    user = make_user()
    return operations.place_order(
        make_draft((product, 2), user_id=user.user_id, email=user.email), at
    )


def get_stock_numbers(order: Order) -> dict[str, int]:
    (item,) = queries.list_items(order)
    return assert_stock_adds_up(item.variant_id)


def run_worker(since: datetime, until: datetime) -> None:
    """Let the worker process everything: at these moments there are only the orders of this test."""
    minutes = minutes_between(since, until)
    apply_pending_effects(minutes, until)
    jobs.expire_reservations(minutes, until)


def test_what_is_placed_before_and_paid_after_it_is_one_order(subtests: pytest.Subtests) -> None:
    for name, moment in MOMENTS.items():
        with subtests.test(name):
            with time_machine.travel(moment, tick=True):
                order = place_order(moment)
            with time_machine.travel(moment + timedelta(minutes=2), tick=True):
                paid = make_payment(order)
                run_worker(moment, moment + timedelta(minutes=30))
            assert assert_order_consistent(order.order_id).state == "confirmed"
            assert get_stock_numbers(order)["committed"] == 2
            # Its lists have it under the day and the year in which it was placed.
            assert paid.placed_at == order.placed_at
            years = (
                queries.list_orders_by_year(order.user_id, [moment.year]) if order.user_id else {}
            )
            assert [row.order_id for row in years[moment.year]] == [order.order_id]


def test_a_reservation_lasts_for_ten_minutes(subtests: pytest.Subtests) -> None:
    for name, moment in MOMENTS.items():
        with subtests.test(name):
            with time_machine.travel(moment, tick=True):
                order = place_order(moment)
            assert order.pay_until - order.placed_at == RESERVATION_DURATION
            # In local time that may be an hour and ten minutes, or minus fifty.
            with time_machine.travel(moment + timedelta(minutes=9), tick=True):
                run_worker(moment, moment + timedelta(minutes=9))
            assert fresh(order).state == "pending_payment"
            assert get_stock_numbers(order)["reserved"] == 2
            with time_machine.travel(moment + timedelta(minutes=13), tick=True):
                run_worker(moment, moment + timedelta(minutes=13))
            assert assert_order_consistent(order.order_id).state == "expired"
            assert get_stock_numbers(order)["available"] == 5
            minutes = minutes_between(moment, moment + timedelta(minutes=14))
            own_ids = {
                each.reservation_id for each in order.list_allocations(queries.list_items(order))
            }
            left = {row.reservation_id for row in DUE_EXPIRIES.list_rows(minutes)}
            assert not own_ids & left, "its expiry rows are gone"


def test_its_page_shows_the_shops_day(subtests: pytest.Subtests) -> None:
    for name, moment in MOMENTS.items():
        with subtests.test(name):
            at = moment + timedelta(seconds=45)
            with time_machine.travel(at, tick=True):
                order = place_order(at)
                make_payment(order)
                client, member = Client(), accounts.find_user_by_email(order.email)
                assert member
                client.force_login(member)
                page = client.get(reverse("orders:detail", args=[order.number]))
                listed = client.get(reverse("orders:history"))
            local = at.astimezone(ZoneInfo(settings.TIME_ZONE))
            assert page.status_code == listed.status_code == 200
            day = f"{local.day} {local:%B} {local.year}"
            assert day in page.content.decode(), day
            first, last = order.method.delivery_estimate(at)
            assert at.date() < first <= last < at.date() + timedelta(days=30)

"""Who had bought before, counted by the worker when a day is over (Q18)."""

from datetime import UTC, date, datetime, timedelta
from functools import partial
from itertools import count
from uuid import uuid4

from django.test import Client
from django.urls import reverse

from analytics import queries
from analytics.days import shop_day
from analytics.operations import remove_facts, roll_up_day
from cassandra_db import current_microseconds
from orders.operations import count_returning_customers
from orders.operations.returning_customers import count_customers_of_day
from tests.factories import make_order, make_payment, make_user, sign_in_staff
from tests.orders.crashes import kill_at_write, record_writes

# A year in which nobody else buys anything.
NOON = datetime(1994, 6, 15, 12, tzinfo=UTC)


def counted(day: date) -> list[tuple[int, int, int]]:
    return [
        (row.orders, row.first_orders, row.returning_orders)
        for pending in queries.prefetch_daily_customers(day, day)
        for row in pending.rows()
    ]


def test_x207_a_day_says_how_many_had_bought_before(client: Client) -> None:
    known, new, late = (f"{uuid4()}@example.com" for _ in range(3))
    day, next_night = shop_day(NOON), NOON + timedelta(hours=15)
    make_order(paid=True, email=known, now=NOON - timedelta(days=800))
    unpaid = make_order(email=new, now=NOON - timedelta(days=1))  # and not paid yet
    make_order(paid=True, email=known.upper(), now=NOON)
    make_order(paid=True, email=new, now=NOON)
    roll_up_day(day)
    assert count_returning_customers(NOON + timedelta(hours=1), 9) == 0, "the day is not over"
    assert count_returning_customers(next_night, 9) == 1
    assert counted(day) == [(2, 1, 1)]
    assert count_returning_customers(next_night, 9) == 0
    # One that was placed on that day is paid later.
    make_order(paid=True, email=late, now=NOON + timedelta(hours=1))
    roll_up_day(day)
    assert count_returning_customers(next_night + timedelta(days=3), 9) == 1
    assert counted(day) == [(3, 2, 1)]
    roll_up_day(day)
    by_customer = queries.sum_by_key(queries.prefetch_sales_by("customer", day, day), "EUR")
    assert {key: figures.orders for key, figures in by_customer.items()} == {
        "first": 2,
        "returning": 1,
    }

    sign_in_staff(client, make_user(role="analyst"))
    asked = {"first": str(day - timedelta(days=1)), "last": str(day)}
    page = client.get(reverse("adminpanel:visits"), asked)
    shown = [line.returning for line in page.context["visits"].lines]
    assert shown == [100 / 3, None]
    assert page.content.decode().count(">33 %<") == 2
    lines = client.get(reverse("adminpanel:visits"), asked | {"format": "csv"}).content.decode()
    assert [line.rsplit(",", 1)[1] for line in lines.splitlines()[1:]] == ["33.33", ""]

    # One that was placed before is paid later: its customer's next order is no first one any more.
    make_payment(unpaid, now=NOON - timedelta(hours=23, minutes=55))
    roll_up_day(day - timedelta(days=1))
    later = next_night + timedelta(days=3)
    assert [count_returning_customers(later, 9) for _ in range(3)] == [1, 1, 0]
    assert counted(day) == [(3, 1, 2)]
    facts = queries.list_day_facts(day)
    assert sorted(fact.is_returning for fact in facts if fact.is_returning is not None) == [
        False,
        True,
        True,
    ]
    # What was once counted as returning is never taken back, and a further count says the same.
    (before,) = queries.list_day_facts(day - timedelta(days=1))
    remove_facts(day - timedelta(days=1), before.order_id, current_microseconds())
    count_customers_of_day(day)
    assert counted(day) == [(3, 1, 2)]


def test_x207_an_order_that_is_paid_late_is_its_customers_first_also_after_a_kill() -> None:
    numbers, day_long = count(1), timedelta(days=1)

    def make_late_order() -> date:
        """Return the day of an order that is paid after the next day's customers were counted."""
        at, email = NOON + timedelta(days=30 * next(numbers)), f"{uuid4()}@example.com"
        late = make_order(email=email, now=at)
        make_order(paid=True, email=email, now=at + day_long)
        count_customers_of_day(shop_day(at + day_long))
        assert counted(shop_day(at + day_long)) == [(1, 1, 0)]
        make_payment(late, now=at + timedelta(minutes=5))
        return shop_day(at)

    writes = record_writes(partial(count_customers_of_day, make_late_order()))
    for target in writes:
        day = make_late_order()
        run = partial(count_customers_of_day, day)
        assert kill_at_write(target, run)
        run()
        for each in (day, day + day_long):
            roll_up_day(each)
        count_returning_customers(NOON + timedelta(days=30 * len(writes) + 99), 99)
        assert (counted(day), counted(day + day_long)) == ([(1, 1, 0)], [(1, 0, 1)])

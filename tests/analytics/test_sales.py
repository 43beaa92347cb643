"""What was sold by day and category: facts that can be recorded twice, sums that equal them, days of the shop's own zone (Q18, I7)."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from itertools import count
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.utils import timezone

from analytics import operations, queries
from analytics.days import order_shard, shop_day
from analytics.dimensions import NOT_KNOWN, roll_up_dimension
from analytics.figures import Fact, Figures, SoldLine
from analytics.jobs import roll_up_sales
from analytics.operations import (
    LATEST_FACT,
    Sale,
    record_sale,
    remove_facts,
    roll_up_changed_days,
    roll_up_day,
)
from cassandra_db import write_batch
from catalogue.entities import CategoryNode
from catalogue.operations import save_product
from tests.factories import make_category, make_product

# Each test has days of its own, long ago.
_days = count()


def noon() -> datetime:
    """Noon of a day on which nothing else is sold."""
    return datetime(1990, 1, 1, 12, tzinfo=UTC) + timedelta(days=40 * next(_days))


def line(number: int = 1, product_id: UUID | None = None, **more: Any) -> SoldLine:
    given = {"units": 2, "gross": 2380, "net": 2000} | more
    return SoldLine(number, product_id or uuid4(), uuid4(), **given)


def make_sale(
    *lines: SoldLine, placed_at: datetime, version: int = 2, order_id: UUID | None = None
) -> Sale:
    return Sale(order_id or uuid4(), placed_at, version, "EUR", lines or (line(),))


def figures(first: date, last: date | None = None) -> Figures:
    """What the whole shop sold."""
    reading = queries.prefetch_sales_by("customer", first, last or first)
    return queries.sum_by_key(reading, "EUR").get(NOT_KNOWN, Figures())


def make_categories() -> tuple[CategoryNode, CategoryNode]:
    above = make_category("House")
    return above, make_category("Lamps", parent=above)


def test_a_line_counts_once_in_its_category_in_each_above_it_and_in_the_whole_shop() -> None:
    above, below = make_categories()
    lamp, mug = make_product("Lamp", category=below), make_product("Mug", category=above)
    sale = make_sale(
        line(1, lamp.product_id),
        line(2, mug.product_id, units=1, gross=500, net=420),
        placed_at=noon(),
    )
    assert record_sale(sale)
    roll_up_day(sale.day)
    reading = queries.prefetch_sales_by("category", sale.day, sale.day)
    assert queries.sum_by_key(reading, "EUR") == {
        str(below.category_id): Figures(1, 2, 2380, 2000),
        str(above.category_id): Figures(1, 3, 2880, 2420),
    }
    assert figures(sale.day) == Figures(1, 3, 2880, 2420)


def test_i7_the_same_sale_reported_twice_is_one_and_a_refund_rewrites_it() -> None:
    sale = make_sale(placed_at=noon())
    assert record_sale(sale)
    assert not record_sale(sale)
    (first,) = sale.lines
    back = SoldLine(1, first.product_id, first.variant_id, 2, 2380, 2000, 1, 1190, 1000)
    later = make_sale(back, placed_at=sale.placed_at, version=5, order_id=sale.order_id)
    assert record_sale(later)
    # The write of a process that was asleep meanwhile: it carries the order's older version.
    write_batch([operations.fact_row(Fact(sale.order_id, first, (), "EUR"), sale)])
    assert [fact.line for fact in queries.list_order_facts(sale.day, sale.order_id)] == [back]
    roll_up_day(sale.day)
    found = figures(sale.day)
    assert found == Figures(1, 2, 2380, 2000, 1, 1190, 1000)
    assert (found.gross_after_refunds, found.net_after_refunds) == (1190, 1000)


def test_a_product_that_moves_stays_where_it_was_sold() -> None:
    above, below = make_categories()
    product = make_product("Lamp", category=below)
    sale = make_sale(line(1, product.product_id), placed_at=noon())
    record_sale(sale)
    save_product(replace(product, category_id=above.category_id), datetime.now(UTC))
    (there,) = sale.lines
    gone = SoldLine(1, there.product_id, there.variant_id, 2, 2380, 2000, 2, 2380, 2000)
    record_sale(make_sale(gone, placed_at=sale.placed_at, version=3, order_id=sale.order_id))
    (fact,) = queries.list_order_facts(sale.day, sale.order_id)
    assert fact.categories == (above.category_id, below.category_id)
    assert fact.line.refunded_units == 2


def test_the_job_adds_up_the_days_that_changed_and_forgets_them_only_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sale = make_sale(placed_at=noon())
    record_sale(sale)
    now, noted = datetime.now(UTC), queries.list_changed_days
    # What other tests have sold is left alone.
    monkeypatch.setattr(
        queries, "list_changed_days", lambda: [each for each in noted() if each[0] == sale.day]
    )
    assert roll_up_changed_days(now) == 1
    assert figures(sale.day).units == 2
    # A process that was delayed between noting the day and writing its facts still finds the day noted.
    assert sale.day in dict(queries.list_changed_days())
    assert roll_up_changed_days(now) == 0, "nothing has changed since"
    assert roll_up_sales(now + LATEST_FACT + timedelta(minutes=1))
    assert sale.day not in dict(queries.list_changed_days())


def test_a_day_noted_again_meanwhile_stays_noted() -> None:
    day = noon().date()
    operations.mark_day_changed(day)
    seen = dict(queries.list_changed_days())[day]
    operations.mark_day_changed(day)
    operations.DAY_DONE.run(shop=queries.SHOP, day=day, written=seen)
    assert dict(queries.list_changed_days())[day] > seen


def test_facts_that_are_removed_leave_the_sums() -> None:
    above, below = make_categories()
    product = make_product("Lamp", category=below)
    sale = make_sale(line(1, product.product_id), placed_at=noon())
    record_sale(sale)
    roll_up_day(sale.day)
    remove_facts(sale.day, sale.order_id, sale.written_at)
    roll_up_day(sale.day)
    assert figures(sale.day) == Figures()
    assert queries.list_sales_by("category", sale.day, sale.day) == []
    assert above.category_id


def test_sums_of_several_months_come_in_one() -> None:
    first = datetime(1985, 11, 30, 12, tzinfo=UTC)
    sales = [make_sale(placed_at=first + timedelta(days=days)) for days in (0, 1, 40)]
    for sale in sales:
        record_sale(sale)
        roll_up_day(sale.day)
    found = queries.list_sales_by("customer", sales[0].day, sales[2].day)
    assert [each.day for each in found] == [sale.day for sale in sales]
    assert figures(sales[1].day).orders == 1


# ---- The shop's days: Europe/Dublin


MIDNIGHTS = {
    "2026-06-30T22:59:59+00:00": date(2026, 6, 30),  # in summer the day ends at 23:00 UTC
    "2026-06-30T23:00:00+00:00": date(2026, 7, 1),
    "2026-01-15T23:59:59+00:00": date(2026, 1, 15),  # in winter at midnight UTC
    "2026-01-16T00:00:00+00:00": date(2026, 1, 16),
    # summer time begins on the 29th, a day of 23 hours
    "2026-03-28T23:59:59+00:00": date(2026, 3, 28),
    "2026-03-29T00:00:00+00:00": date(2026, 3, 29),
    "2026-03-29T22:59:59+00:00": date(2026, 3, 29),
    "2026-03-29T23:00:00+00:00": date(2026, 3, 30),
    # it ends on the 25th of October, a day of 25 hours
    "2026-10-24T23:00:00+00:00": date(2026, 10, 25),
    "2026-10-25T23:59:59+00:00": date(2026, 10, 25),
    "2028-02-28T23:59:59+00:00": date(2028, 2, 28),
    "2028-02-29T00:00:00+00:00": date(2028, 2, 29),  # a leap day is a day of its own
    "2028-02-29T23:59:59+00:00": date(2028, 2, 29),
    "2028-03-01T00:00:00+00:00": date(2028, 3, 1),
}


def test_a_sale_belongs_to_the_shops_day_at_midnight_summer_time_and_leap_day() -> None:
    assert {moment: shop_day(datetime.fromisoformat(moment)) for moment in MIDNIGHTS} == MIDNIGHTS
    with timezone.override("Pacific/Auckland"):  # whatever zone a page shows
        assert {
            moment: shop_day(datetime.fromisoformat(moment)) for moment in MIDNIGHTS
        } == MIDNIGHTS


def test_both_sides_of_a_summers_midnight_at_the_months_end_stand_in_their_months() -> None:
    midnight = datetime(1988, 6, 30, 23, tzinfo=UTC)
    before, after = (
        make_sale(placed_at=midnight - timedelta(milliseconds=1)),
        make_sale(placed_at=midnight),
    )
    for sale in (before, after):
        record_sale(sale)
        roll_up_day(sale.day)
    assert (before.day, after.day) == (date(1988, 6, 30), date(1988, 7, 1))
    assert figures(before.day).orders == 1
    assert figures(date(1988, 6, 1), date(1988, 7, 31)).orders == 2


def test_pure_sums_count_an_order_once_and_currencies_apart() -> None:
    order_id, category = uuid4(), uuid4()
    facts = [
        Fact(order_id, line(1), (category,), "EUR"),
        Fact(order_id, line(2), (category,), "EUR"),
        Fact(uuid4(), line(1), (), "SEK"),
    ]
    found = {
        (each.key, each.currency): each.figures
        for dimension in ("customer", "category")
        for each in roll_up_dimension(date(2026, 1, 1), facts, dimension)
    }
    assert found == {
        (NOT_KNOWN, "EUR"): Figures(1, 4, 4760, 4000),
        (str(category), "EUR"): Figures(1, 4, 4760, 4000),
        (NOT_KNOWN, "SEK"): Figures(1, 2, 2380, 2000),
    }
    assert 0 <= order_shard(order_id) < 16

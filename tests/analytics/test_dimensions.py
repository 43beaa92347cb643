"""X510-X512: a day's sales by hour, product, country and more, added up once from the facts, and compared with other days."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, astuple, replace
from datetime import UTC, date, datetime, timedelta
from itertools import count
from typing import Any
from unittest.mock import patch
from uuid import UUID, uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analytics import queries
from analytics.days import previous_period, shop_day, year_before
from analytics.dimensions import (
    DIMENSIONS,
    MAX_KEYS,
    NO_PROMOTION,
    NOT_KNOWN,
    OTHERS,
    roll_up_dimension,
)
from analytics.figures import Fact, Figures, SoldLine
from analytics.operations import DAILY, Sale, record_sale, roll_up_changed_days, roll_up_day
from cassandra_db import count_statements, write, write_batch
from jobs.rows import collect_failed_rows
from orders import operations
from orders import queries as order_queries
from orders.lifecycle.entities import Order
from orders.operations import effects
from orders.operations.sales import build_sale
from orders.queries import list_items
from orders.rebuild import fill_sales
from promotions.rules import AMOUNT, FREE_DELIVERY, Promotion
from tests.factories import make_category, make_draft, make_order, make_payment, make_product
from tests.orders.crashes import first_and_last_writes, kill_at_write, record_writes

# Each test has days of its own, long ago.
_days = count()


def noon() -> datetime:
    return datetime(1975, 1, 1, 12, tzinfo=UTC) + timedelta(days=40 * next(_days))


def make_fact(placed_at: datetime | None, currency: str = "EUR", **more: Any) -> Fact:
    line = SoldLine(1, uuid4(), uuid4(), 2, 2380, 2000)
    return replace(Fact(uuid4(), line, (), currency, placed_at), **more)


def keys(day: date, dimension: str, currency: str = "EUR") -> dict[str, Figures]:
    return queries.sum_by_key(queries.prefetch_sales_by(dimension, day, day), currency)


# On the days of 23 and of 25 hours, or unknown.
MOMENTS = st.one_of(
    st.none(),
    st.builds(
        lambda month, day, minutes: (
            datetime(2026, month, day, tzinfo=UTC) + timedelta(0, 60 * minutes)
        ),
        *(st.sampled_from([3, 10]), st.just(25), st.integers(0, 6 * 24 * 60)),
    ),
)
IDS = st.uuids(version=4)
LINES = st.builds(
    SoldLine,
    st.integers(1, 9),
    IDS,
    IDS,
    *[st.integers(1, 10_000)] * 6,
    st.one_of(st.none(), st.lists(st.sampled_from("abc"), unique=True, max_size=2).map(tuple)),
)
FACTS = st.builds(
    Fact,
    st.sampled_from([uuid4() for _ in range(4)]),
    LINES,
    st.just(()),
    st.sampled_from(["EUR", "SEK", "JPY"]),
    MOMENTS,
    st.sampled_from([None, "DE", "IE"]),
    st.sampled_from([None, "card", "transfer"]),
    st.sampled_from([None, True, False]),
)


@settings(max_examples=50)
@given(st.lists(FACTS, max_size=12), st.integers(1, 4))
def test_x510_each_dimension_adds_up_to_the_whole_shop_in_each_currency(
    facts: list[Fact], most: int
) -> None:
    day = date(2026, 1, 1)
    whole: defaultdict[str, Figures] = defaultdict(Figures)
    for fact in facts:
        whole[fact.currency] += Figures(0, *astuple(fact.line)[3:9])
    with patch("analytics.dimensions.MAX_KEYS", most):
        for dimension in DIMENSIONS.keys() - {"promotion", "category"}:
            sums: defaultdict[str, Figures] = defaultdict(Figures)
            rows = roll_up_dimension(day, facts, dimension)
            for each in rows:
                sums[each.currency] += replace(each.figures, orders=0)
            assert sums == whole, dimension
            assert all(
                sum(each.currency == currency for each in rows) <= most + 1 for currency in sums
            )


def test_x510_the_hour_that_a_day_has_twice_is_one_and_the_one_that_it_lacks_has_no_sales() -> None:
    longest, shortest = date(2026, 10, 25), date(2026, 3, 29)
    found = {}
    for day in (longest, shortest):
        first = datetime(day.year, day.month, day.day, tzinfo=UTC) - timedelta(hours=2)
        moments = [first + timedelta(hours=hours) for hours in range(28)]
        facts = [make_fact(moment) for moment in moments if shop_day(moment) == day]
        rolled = roll_up_dimension(day, facts, "hour")
        found[day] = {each.key: each.figures.orders for each in rolled}
    hours = [f"{hour:02}" for hour in range(24)]
    assert found[longest] == {hour: 1 + (hour == "01") for hour in hours}
    assert found[shortest] == {hour: 1 for hour in hours if hour != "01"}


def test_x511_a_day_keeps_the_best_products_and_adds_the_rest_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("analytics.dimensions.MAX_KEYS", 2)
    order_id, at = uuid4(), noon()
    lines = [SoldLine(n, uuid4(), uuid4(), 1, 100 * n, 80 * n) for n in range(1, 6)]
    sale = Sale(order_id, at, 2, "EUR", tuple(lines), "DE", "card")
    record_sale(sale)
    record_sale(replace(sale, order_id=uuid4(), lines=(replace(lines[0], line_number=1),)))
    roll_up_day(sale.day)
    found = keys(sale.day, "product")
    best = {str(line.product_id): Figures(1, 1, line.gross, line.net) for line in lines[3:]}
    # The first line's product was in two orders, and is in the rest with two others.
    assert found == best | {OTHERS: Figures(2, 4, 700, 560)}


def test_x511_all_categories_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("analytics.dimensions.MAX_KEYS", 1)
    ids = tuple(uuid4() for _ in range(3))
    found = roll_up_dimension(date(2026, 1, 1), [make_fact(None, categories=ids)], "category")
    assert {each.key for each in found} == {str(each) for each in ids}


def test_x511_a_line_whose_units_were_all_removed_leaves_only_its_order() -> None:
    day, at = date(2026, 1, 1), datetime(2026, 1, 1, 12, tzinfo=UTC)
    removed = SoldLine(1, uuid4(), uuid4(), 0, 0, 0, promotions=("spring",))
    facts = [make_fact(at, line=removed, categories=(uuid4(),), country="DE", payment_method="x")]
    keys_of = {
        name: [each.key for each in roll_up_dimension(day, facts, name)] for name in DIMENSIONS
    }
    assert {name: each for name, each in keys_of.items() if each} == {
        "hour": ["12"],
        "country": ["DE"],
        "payment": ["x"],
        "customer": ["?"],
    }


def test_x511_what_is_not_known_is_told_from_nothing() -> None:
    day = date(2026, 1, 1)
    facts = [
        make_fact(None),
        make_fact(None, line=SoldLine(1, uuid4(), uuid4(), 1, 100, 80, promotions=())),
    ]
    rolled = {
        name: {each.key for each in roll_up_dimension(day, facts, name)} for name in DIMENSIONS
    }
    assert rolled["promotion"] == {NOT_KNOWN, NO_PROMOTION}
    assert rolled["hour"] == rolled["country"] == rolled["payment"] == rolled["customer"] == {"?"}


# ---- Compared periods


def test_x512_a_period_is_compared_with_the_one_before_and_with_the_year_before() -> None:
    leap = date(2028, 2, 29)
    assert previous_period(date(2026, 3, 1), date(2026, 3, 7)) == (
        date(2026, 2, 22),
        date(2026, 2, 28),
    )
    assert previous_period(leap, leap) == (date(2028, 2, 28), date(2028, 2, 28))
    assert year_before(date(2028, 2, 1), leap) == (date(2027, 2, 1), date(2027, 2, 28))
    assert year_before(date(2029, 2, 28), date(2029, 3, 1)) == (date(2028, 2, 28), date(2028, 3, 1))


def test_x512_a_year_reads_at_most_thirteen_partitions_of_a_dimension() -> None:
    first = date(2027, 12, 31)
    reading = queries.prefetch_sales_by("hour", first, first + timedelta(days=365))
    assert len(reading) == 13
    assert queries.sum_by_key(reading, "EUR") == {}


def test_x512_a_months_best_products_are_read_in_one_round() -> None:
    month, figures = noon().date().replace(day=1), Figures(1, 2, 300, 240)
    place = {"month": month, "dimension": "test", "currency": "EUR", "at": 1}
    keys = [str(number) for number in range(MAX_KEYS + 1)]
    days = [month + timedelta(days) for days in range(11)]
    for day in days:
        write_batch([DAILY.bind(day=day, key=key, **place, **asdict(figures)) for key in keys])
    with count_statements() as meter:
        found = queries.sum_by_key(queries.prefetch_sales_by("test", month, days[-1]), "EUR")
    assert found == dict.fromkeys(keys, Figures(11, 22, 3300, 2640))
    assert (meter.statement_count, meter.round_count) == (1, 1)


# ---- Kills and repeats


@contextmanager
def only_day(day: date) -> Iterator[None]:
    """Leave what other tests have sold alone."""
    noted = queries.list_changed_days
    with patch.object(
        queries, "list_changed_days", lambda: [each for each in noted() if each[0] == day]
    ):
        yield


def test_x510_a_sale_is_added_up_once_however_often_it_is_killed_and_repeated() -> None:
    def make_run(sale: Sale) -> Callable[[], None]:
        def run() -> None:
            record_sale(sale)
            roll_up_changed_days(datetime.now(UTC))

        return run

    def make_sale(at: datetime) -> Sale:
        line = SoldLine(1, uuid4(), uuid4(), 2, 2380, 2000, promotions=("spring",))
        return Sale(uuid4(), at, 3, "EUR", (line,), "DE", "card")

    sale = make_sale(noon())
    with only_day(sale.day):
        writes = record_writes(make_run(sale))
    assert len(writes) == 2 + len(DIMENSIONS)
    killed = 0
    for target in writes:
        sale = make_sale(noon())
        with only_day(sale.day):
            killed += kill_at_write(target, make_run(sale))
            make_run(sale)()
            make_run(sale)()
        once = Figures(1, 2, 2380, 2000)
        assert keys(sale.day, "country") == {"DE": once}
        assert keys(sale.day, "payment") == {"card": once}
        assert keys(sale.day, "promotion") == {"spring": once}
        assert keys(sale.day, "customer") == {NOT_KNOWN: once}
        assert keys(sale.day, "hour").keys() <= {"12", "13"}
        (line,) = sale.lines
        assert keys(sale.day, "variant") == {f"{line.product_id} {line.variant_id}": once}
    assert killed == len(writes)


def test_x510_an_order_that_goes_to_another_country_is_sold_there() -> None:
    line = SoldLine(1, uuid4(), uuid4(), 2, 2380, 2000)
    sale = Sale(uuid4(), noon(), 3, "EUR", (line,), "DE", "card")
    assert record_sale(sale)
    assert record_sale(replace(sale, version=4, country="IE", payment_method="transfer"))
    roll_up_day(sale.day)
    assert keys(sale.day, "country").keys() == {"IE"}
    assert keys(sale.day, "payment").keys() == {"transfer"}


def test_x510_three_currencies_of_a_day_stay_apart() -> None:
    at = noon()
    for currency in ("EUR", "SEK", "JPY"):
        line = SoldLine(1, uuid4(), uuid4(), 1, 100, 80)
        record_sale(Sale(uuid4(), at, 2, currency, (line,), "DE", "card"))
    roll_up_day(shop_day(at))
    rows = queries.list_sales_by("country", shop_day(at), shop_day(at))
    assert [(each.key, each.currency, each.figures.gross) for each in rows] == [
        ("DE", currency, 100) for currency in ("EUR", "JPY", "SEK")
    ]


def test_x510_the_latest_days_are_added_up_first(monkeypatch: pytest.MonkeyPatch) -> None:
    days, seen = [date(1960, 1, number) for number in (1, 2, 3)], list[date]()
    monkeypatch.setattr(queries, "list_changed_days", lambda: [(day, 1) for day in days])
    monkeypatch.setattr("analytics.operations.roll_up_day", seen.append)
    roll_up_changed_days(datetime.now(UTC))
    assert seen == days[::-1]


# ---- The facts of orders


def make_promotion(kind: str, **terms: Any) -> Promotion:
    return Promotion(key=f"{kind}-key", code="", title=f"A {kind}", kind=kind, **terms)


def promotions_by_line(order: Order) -> dict[int, tuple[str, ...] | None]:
    facts = queries.list_order_facts(shop_day(order.placed_at), order.order_id)
    return {fact.line.line_number: fact.line.promotions for fact in facts}


def test_x510_a_line_knows_the_promotions_that_reduced_it_and_its_orders_country() -> None:
    lamps = make_category("Lamps")
    lamp, mug = make_product("Lamp", category=lamps, stock=5), make_product("Mug", stock=5)
    covered = {"category_id": lamps.category_id, "categories": frozenset({lamps.category_id})}
    promotions = (make_promotion(AMOUNT, amount=100, **covered), make_promotion(FREE_DELIVERY))
    draft = replace(make_draft((lamp, 1), (mug, 1), country="FR"), promotions=promotions)
    order = make_payment(operations.place_order(draft, noon()))
    assert promotions_by_line(order) == {
        1: ("amount-key", "free_delivery-key"),
        2: ("free_delivery-key",),
    }
    facts = queries.list_order_facts(shop_day(order.placed_at), order.order_id)
    assert {(each.placed_at, each.country, each.payment_method) for each in facts} == {
        (order.placed_at, "FR", "card")
    }
    # An order of an earlier version knows names only, and of two promotions not which line each reduced.
    former = replace(
        order, discounts=tuple(replace(each, key="", lines=()) for each in order.discounts)
    )
    sale = build_sale(former, list_items(order))
    assert sale
    assert [line.promotions for line in sale.lines] == [
        ("A amount", "A free_delivery"),
        ("A free_delivery",),
    ]
    # What staff type as the reason of a discount may name somebody.
    placed = order.events[-1]
    offered = replace(
        former, events=(*order.events[:-1], replace(placed, details={"offered_by": "staff"}))
    )
    sale = build_sale(offered, list_items(order))
    assert sale
    assert {line.promotions for line in sale.lines} == {("staff",)}


# ---- Facts of earlier versions


def complete_facts() -> str:
    """Run the backfill `sales`; return which row failed, and the orders of all its days."""
    with collect_failed_rows() as failed:
        days = [progress for _, progress in fill_sales("")]
    return f"{days[-1] if days else '0 orders'}; {failed}"


FORMER = write(
    "test",
    """INSERT INTO sales_facts (day, shard, order_id, line_number, product_id, variant_id, categories, currency, units,
                                gross, net, refunded_units, refunded_gross, refunded_net)
       VALUES (:day, :shard, :order_id, 1, :product_id, :variant_id, '[]', 'EUR', 1, 1200, 1008, 0, 0, 0)
       USING TIMESTAMP :at""",
)


def make_former_order(at: datetime, email: str) -> Order:
    """An order whose facts an earlier version has written."""
    with patch.object(effects, "record_order_sale", lambda *_: None):
        order = make_order(paid=True, now=at, email=email)
    sale = build_sale(order, list_items(order))
    assert sale
    (line,) = sale.lines
    FORMER.run(
        day=sale.day,
        shard=sale.order_id.int % 16,
        order_id=sale.order_id,
        product_id=line.product_id,
        variant_id=line.variant_id,
        at=sale.written_at,
    )
    return order


def test_x513_facts_of_an_earlier_version_are_completed_however_often_that_is_killed() -> None:
    at, email = noon(), f"{uuid4().hex}@example.com"
    make_order(paid=True, now=at - timedelta(days=3), email=email)

    def make_orders(at: datetime) -> list[Order]:
        return [make_former_order(at, each) for each in (email, f"{uuid4().hex}@example.com")]

    orders = make_orders(at)
    for target in [None, *first_and_last_writes(record_writes(complete_facts))]:
        if target:
            at = noon()
            orders = make_orders(at)
            assert kill_at_write(target, complete_facts)
        complete_facts()
        assert complete_facts().startswith("0 orders")
        found = {
            fact.order_id: (fact.placed_at, fact.country, fact.payment_method, fact.is_returning)
            for fact in queries.list_day_facts(shop_day(at))
        }
        assert found == {
            order.order_id: (order.placed_at, "DE", "card", order.email == email)
            for order in orders
        }
        roll_up_day(shop_day(at))
        assert {key: each.orders for key, each in keys(shop_day(at), "customer").items()} == {
            "first": 1,
            "returning": 1,
        }


def test_x513_days_of_an_earlier_version_are_added_up_as_they_are_and_then_completed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    at = noon()
    made = [make_former_order(at, f"{uuid4().hex}@example.com") for _ in range(2)]
    broken, day = min(order.order_id for order in made), shop_day(at)
    get_order, seen = order_queries.get_order, list[set[str]]()

    def look_at_sums(order_id: UUID) -> Order | None:
        with only_day(day):
            roll_up_changed_days(datetime.now(UTC))
        seen.append(set(keys(day, "hour")))
        assert order_id != broken, "cannot be read"
        return get_order(order_id)

    monkeypatch.setattr(order_queries, "get_order", look_at_sums)
    done = complete_facts()
    assert done.startswith("1 orders, ")
    assert f"; 1 rows failed, first sales of order {broken}" in done
    assert seen == [{NOT_KNOWN}, {NOT_KNOWN}]
    monkeypatch.undo()
    assert complete_facts().startswith("1 orders, ")
    roll_up_day(day)
    assert NOT_KNOWN not in keys(day, "hour")

"""How popular products are: counted once a day of visits and sales, said as a coarse step, followed by lists, search and front page."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from itertools import count
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from analytics import jobs
from analytics.figures import SoldLine
from analytics.operations import Sale, record_sale, roll_up_day
from analytics.popularity import (
    MIN_BESTSELLER_ORDERS,
    compute_popularity,
    popularity_day,
    update_popularity,
)
from analytics.roll_up import DAILY, VIEWS
from cassandra_db import current_microseconds
from catalogue import operations, queries, search
from catalogue.entities import Product
from catalogue.search_index import READER, build_index
from jobs.leases import get_position, hold_lease
from tests.factories import make_category, make_product

# Each test has a month of its own, long ago.
_months = count()


def a_night() -> datetime:
    """An hour of a night, before which nothing else has happened for a month."""
    return datetime(1975, 1, 1, 3, tzinfo=UTC) + timedelta(days=40 * next(_months))


def look(product: Product, day: date, visitors: int) -> None:
    same = {"day": day, "visitors": visitors, "at": current_microseconds()}
    VIEWS.run(product_id=product.product_id, views=2 * visitors, **same)
    DAILY.run(month=day.replace(day=1), kind="visit", events=2 * visitors, empty=0, **same)


def buy(product: Product, placed_at: datetime, units: int = 1, back: int = 0) -> None:
    sold = SoldLine(1, product.product_id, uuid4(), units, 500, 420, back, 500 * back, 420 * back)
    record_sale(Sale(uuid4(), placed_at, 2, "EUR", (sold,)))


def read_again(products: Sequence[Product]) -> list[Product]:
    found = queries.get_products_at_quorum(each.product_id for each in products)
    return [found[each.product_id] for each in products]


def listed(category_id: UUID) -> list[str]:
    return [each.name for each in queries.get_category_page(category_id, "popular").cards]


def test_x204_x205_what_is_bought_and_looked_at_most_stands_first(
    client: Client, settings: Settings, tmp_path: Path
) -> None:
    now, top = a_night(), make_category("House")
    node = make_category("Lamps", parent=top)
    made = [
        make_product(f"Lamp {name}", category=node, listed=True)
        for name in ("sold", "seen", "bulk", "returned", "plain", "second")
    ]
    sold, seen, bulk, returned, _plain, second = made
    day = popularity_day(now) - timedelta(days=1)
    look(seen, day, 60)
    look(seen, day - timedelta(days=29), 30)
    look(bulk, day - timedelta(days=30), 900)  # too long ago
    noon = now - timedelta(days=3)
    for n in range(MIN_BESTSELLER_ORDERS):
        for each in (sold, second):
            buy(each, noon + timedelta(minutes=n))
        buy(returned, noon + timedelta(minutes=n), back=1)
    buy(sold, noon)
    buy(bulk, noon, units=50)
    roll_up_day(popularity_day(noon))

    assert update_popularity(made, now, 2) == 2
    made = read_again(made)
    assert update_popularity(made, now, 9) == 4
    made = read_again(made)
    assert [each.popularity for each in made] == [7, 7, 3, 0, 0, 7]
    # One in ten of what the category sells, and one at least.
    assert [each.bestseller for each in made] == [True, *[False] * 5]
    assert update_popularity(made, now, 9) == 0
    # Of equal ones the newest; what nobody looks at stands there as well.
    expected = [f"Lamp {each}" for each in ("second", "seen", "sold", "bulk", "plain", "returned")]
    assert listed(node.category_id) == listed(top.category_id) == expected
    address = reverse("category", args=(node.slug,))
    shown = client.get(address, {"sort": "popular"}).content.decode()
    assert shown.count(">Bestseller<") == 1
    assert '<option value="popular" selected>' in shown
    settings.SEARCH_INDEX_DIR = tmp_path
    READER.looked_at = 0.0
    build_index(made)
    cards = search.search_products("lamp", sort="popular").cards
    assert [each.name for each in cards] == expected
    assert [each.bestseller for each in cards] == [False, False, True, False, False, False]

    operations.rebuild_featured(made)
    row = [each.name for each in queries.list_featured("popular")]
    assert row == expected[:4]
    assert ">Popular now<" in client.get("/").content.decode()
    # Who edits a product changes nothing of it, and a month later it is forgotten.
    operations.change_product_status(made[0], "draft", datetime.now(UTC))
    (draft,) = read_again(made[:1])
    assert (draft.popularity, draft.bestseller) == (7, True)
    assert update_popularity(read_again(made), now + timedelta(days=31), 9) == 4
    assert {(each.popularity, each.bestseller) for each in read_again(made)} == {(0, False)}


def test_x204_what_was_there_before_gets_its_place_and_keeps_nobody_busy() -> None:
    node, now = make_category("Old lamps"), a_night()
    product = make_product("Old lamp", category=node, listed=True)
    for category_id, sort, key in operations.list_positions(product.product_id):
        if sort == "popular":
            place = {"category_id": category_id, "sort": sort, "sort_key": key}
            operations.cards.DELETE_CARD.run(product_id=product.product_id, **place)
            operations.REMOVE_LIST_PLACES.run(
                product_id=product.product_id, places={(category_id, sort, key)}
            )
    assert listed(node.category_id) == []
    began = datetime.now(UTC)
    assert update_popularity([product], now, 9) == 1
    assert listed(node.category_id) == ["Old lamp"]
    (counted,) = read_again([product])
    assert counted.popularity == 0
    assert update_popularity([counted], now, 9) == 0
    changed = operations.list_changed_products(began, datetime.now(UTC) + timedelta(minutes=1))
    assert product.product_id not in changed


def test_x204_a_step_is_coarse_and_left_only_for_good() -> None:
    assert [compute_popularity(n, None) for n in (0, 2, 10, 30, 70, 10_000)] == [0, 1, 2, 4, 6, 20]
    # Step 4 is the nearest one from 26 to 37; who has it leaves it below 21 and above 41.
    assert [compute_popularity(n, None) for n in (25, 26, 37, 38)] == [4, 4, 4, 5]
    assert [compute_popularity(n, 4) for n in (20, 21, 41, 42)] == [3, 4, 4, 5]
    assert compute_popularity(0, 1) == 0


def test_x204_it_is_counted_once_a_day_and_goes_on_until_all_have_changed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    name, left, asked = f"popular-{uuid4()}", [jobs.MAX_CHANGED, 3, 0, 0], list[datetime]()

    def update(products: object, now: datetime, most: int) -> int:
        asked.append(now)
        return left.pop(0)

    monkeypatch.setattr(jobs, "POPULAR", name)
    monkeypatch.setattr(jobs, "update_popularity", update)
    now = datetime.now(UTC)
    next_day = datetime.combine(
        popularity_day(now) + timedelta(days=1),
        datetime.min.time(),
        timezone.get_default_timezone(),
    )
    with hold_lease(name):
        assert jobs.update_popular(now)
        assert get_position(name) == ""
        assert jobs.update_popular(now) == "popularity of 3 products"
        # The day before is not added up to its end yet at half past twelve.
        for moment in (now, next_day + timedelta(minutes=30), next_day + timedelta(minutes=90)):
            jobs.update_popular(moment)
    assert asked == [now, now, next_day + timedelta(minutes=90)]

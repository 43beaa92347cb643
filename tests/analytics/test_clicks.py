"""Clicks on results of searches: noted where a product's page is sent, added up by place, and shown to staff."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any
from unittest.mock import Mock
from urllib.parse import quote
from uuid import uuid4

import pytest
from django.test import Client, override_settings
from django.urls import reverse

from adminpanel.reports.searches import get_searches_report
from analytics import clicks, event_writer, events, queries
from analytics.clicks import find_place, read_search
from analytics.days import shop_day
from analytics.event_writer import EventWriter, WaitingEvent, make_batches
from analytics.kinds import CLICK
from analytics.roll_up import (
    ALL_SUBJECTS,
    Tally,
    roll_up_hour,
    roll_up_visits_of_day,
    write_visits_of_day,
)
from catalogue.entities import Product
from catalogue.search_index import READER, build_index
from tests.analytics.test_visits import BROWSER, KeptEvents
from tests.factories import make_product, make_user, sign_in_staff
from tests.storefront.page_parts import texts, tree
from web.text_cache import WHOLE_PAGES

_days = count()
SEARCH = "http://testserver/search?"


@pytest.fixture(scope="module")
def kettles(keyspace: str) -> list[Product]:
    return [make_product(f"Kettle {price}", price=f"{price}.00") for price in (10, 20, 30, 40)]


@pytest.fixture
def index(kettles: list[Product], tmp_path: Path) -> Iterator[None]:
    with override_settings(SEARCH_INDEX_DIR=tmp_path):
        build_index(kettles)
        READER.looked_at = 0.0
        yield


@pytest.fixture
def hour() -> datetime:
    """An hour of a day of its own."""
    return datetime(2012, 1, 1, 10, tzinfo=UTC) + timedelta(days=next(_days))


def written(found: list[WaitingEvent]) -> list[WaitingEvent]:
    """The events that the writer makes of those that wait."""
    batches = EventWriter().make_batches(found)
    return [event for batch in batches for _, event in batch.events]


@pytest.mark.usefixtures("index")
def test_x337_a_product_opened_from_a_search_is_a_click_at_its_place(
    kettles: list[Product], monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = KeptEvents()
    monkeypatch.setattr(events, "WRITER", kept)
    monkeypatch.setattr(clicks, "PLACES", 2)
    monkeypatch.setattr(clicks, "FURTHER_DOWN", 3)
    WHOLE_PAGES.clear()

    def place(product: Product, address: str, **headers: str) -> list[int | None]:
        kept.found.clear()
        Client(headers={"user-agent": BROWSER, "referer": address, **headers}).get(
            reverse("product", args=(product.slug,))
        )
        return [event.found for event in written(kept.found) if event.kind == CLICK]

    by_price = f"{SEARCH}q=Kettles&sort=price"
    assert [place(each, by_price) for each in kettles] == [[1], [2], [3], [3]]
    assert place(kettles[3], f"{SEARCH}sort=price-down&q=kettle&show=32") == [1]
    (view, click) = written(kept.found)
    # What is stored of a click names neither its product nor the search.
    assert (view.kind, click.kind) == ("product", CLICK)
    assert (click.product_id, click.category_id, click.words) == (None, None, "")
    # Filters and orders that are unknown make another list, and suggestions are no results.
    for query in ("q=kettle&filter=is:stock", "q=kettle&sort=odd", "q=zzzz", "q=kettle&price=1-2"):
        assert place(kettles[0], SEARCH + query) == [None], query
    for address in (
        *("", "http://testserver/deals/?q=kettle", SEARCH, f"{SEARCH}q=%20", "http://[/search?q=x"),
        *("https://evil.example/search?q=kettle", "http://testserver/search/?q=kettle"),
        f"{SEARCH}q=kettle" + "&a=1" * 200,
    ):
        assert place(kettles[0], address) == [], address
    assert place(kettles[0], by_price, dnt="1") == []
    assert place(kettles[0], by_price, **{"hx-request": "true"}) == []


@pytest.mark.usefixtures("index")
def test_x337_forged_addresses_cost_few_searches_and_never_an_error(
    kettles: list[Product], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_writer, "MAX_PLACES_AT_ONCE", 2)
    find = Mock(return_value=1)
    monkeypatch.setattr(event_writer, "find_place", find)
    look = WaitingEvent("product", datetime.now(UTC), "192.0.2.1", BROWSER, product_id=uuid4())
    found = written([*[look] * 3, *[replace(look, referrer=f"{SEARCH}q=mug")] * 5])
    assert [event.found for event in found if event.kind == CLICK] == [1, 1, None, None, None]
    assert find.call_count == 2
    for odd in ("%00", "%zz", "%ff%fe", "a" * 2000, quote("😀") * 60, "((", "*", "under 20"):
        query, sort = read_search(f"{SEARCH}q=x{odd}") or ("", "")
        assert (len(query) <= 100, sort) == (True, "best")
        assert find_place(query, sort, uuid4()) is None


def test_x337_without_an_index_a_click_has_no_place(kettles: list[Product], tmp_path: Path) -> None:
    with override_settings(SEARCH_INDEX_DIR=tmp_path):
        READER.looked_at = 0.0
        assert find_place("kettle", "best", kettles[0].product_id) is None


@pytest.mark.usefixtures("told_apart")
def test_x338_clicks_are_added_up_by_day_and_place(hour: datetime) -> None:
    day = shop_day(hour)

    def click(place: int | None, visitor: int) -> WaitingEvent:
        return WaitingEvent(CLICK, hour, f"192.0.2.{visitor}", BROWSER, found=place)

    def sums() -> tuple[Any, ...]:
        roll_up_hour(hour)
        roll_up_visits_of_day(day)
        (places,) = queries.prefetch_search_clicks(day, day)
        (kinds,) = queries.prefetch_visits(day, day)
        return (
            {row.place: row.clicks for row in places.rows()},
            {row.kind: (row.events, row.empty, row.visitors) for row in kinds.rows()},
        )

    search = WaitingEvent("search", hour, "192.0.2.4", BROWSER, words="olive", found=0)
    batches = make_batches([click(1, 1), click(1, 2), click(49, 2), click(None, 3), search])
    EventWriter().write(batches)
    kinds = {CLICK: (4, 0, 3), "search": (1, 1, 1), "visit": (5, 0, 4)}
    assert sums() == sums() == ({1: 2, 49: 1}, kinds)
    EventWriter().write(make_batches([click(2, 9)]))
    assert sums()[0] == {1: 2, 2: 1, 49: 1}


def test_x339_x340_staff_see_searches_and_clicks_and_add_a_synonym(hour: datetime) -> None:
    day, visitors = shop_day(hour), [bytes([n]) * 8 for n in range(10)]

    def tally(count: int, empty: int = 0) -> Tally:
        made = Tally(count, empty)
        for visitor in visitors[:count]:
            made.visitors.add(visitor)
        return made

    kinds: dict[str, dict[str, Tally]] = {kind: {} for kind in ("product", "search", CLICK)}
    kinds["search"] = {"mug & bowl": tally(4), "=couch": tally(3, 3), ALL_SUBJECTS: tally(8, 4)}
    kinds[CLICK] = {"1": tally(3), "12": tally(1), "49": tally(1), ALL_SUBJECTS: tally(6)}
    write_visits_of_day(day, kinds, 1_000_000)
    url, days = reverse("adminpanel:searches"), {"first": f"{day}", "last": f"{day}"}
    analyst = sign_in_staff(Client(), make_user(role="analyst"))
    cat = sign_in_staff(Client(), make_user(role="catalogue"))
    page = tree(cat.get(url, days))
    vain, frequent, places, by_day = page.cssselect("main table")
    assert texts(vain, "tbody th") == ["=couch"]
    assert texts(frequent, "tbody th") == ["mug & bowl", "=couch"]
    (link,) = vain.cssselect("td a")
    assert link.text_content() == "Add synonym of =couch"
    form = tree(cat.get(link.get("href"))).cssselect("[name=words]")[0]
    assert form.get("value") == "=couch"
    cells = {
        row[0]: row[1:3] for row in (texts(each, "th, td") for each in places.cssselect("tbody tr"))
    }
    assert cells["1"] == ["3", "50.0 %"]
    assert (
        cells["11–16"] == cells["Further down"] == cells["Filtered or suggested"] == ["1", "16.7 %"]
    )
    assert texts(by_day, "tfoot td") == ["8", "4", "50.0 %", "6", "75.0 %"]
    assert get_searches_report(day, day).total.click_rate == 75
    # Analysts may not change rules.
    assert tree(analyst.get(url, days)).cssselect("main td a") == []
    lines = analyst.get(url, days | {"format": "csv"}).content.decode().splitlines()
    assert lines[1] == f"{day},8,4,8,6,6"
    words = analyst.get(url, days | {"format": "words"}).content.decode().splitlines()
    assert words[1:] == ["mug & bowl,4,0", "'=couch,3,3"]
    nobody = analyst.get(url, {"first": "1901-01-01", "last": "1901-01-02"}).content.decode()
    assert "There were no searches on these days." in nobody

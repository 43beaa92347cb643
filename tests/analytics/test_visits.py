"""Visits: counted where they are sent, written behind the pages' backs, added up by hour and day (Q19)."""

from datetime import UTC, date, datetime, timedelta
from itertools import count
from math import inf
from pathlib import Path
from random import Random
from threading import Event
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from adminpanel.reports.visits import VisitLine
from analytics import event_writer, events, queries
from analytics.days import shop_day
from analytics.event_writer import (
    EventWriter,
    WaitingEvent,
    get_or_create_salt,
    make_batches,
    make_pseudonym,
)
from analytics.events import classify_source, normalize_words
from analytics.figures import ALL_CATEGORIES, Figures
from analytics.roll_up import ANY_KIND, EVENTS, roll_up_hour, roll_up_hours, roll_up_visits_of_day
from analytics.sketches import VisitorSketch
from cassandra_db import CassandraUnavailable, batch_writer
from catalogue.search_index import READER, build_index
from tests.factories import make_product, make_user, sign_in_staff
from web.text_cache import WHOLE_PAGES

BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
_days = count()


class KeptEvents:
    """Stands where the writer does, and keeps what is put there."""

    def __init__(self) -> None:
        self.found: list[WaitingEvent] = []

    def put(self, event: WaitingEvent) -> None:
        self.found.append(event)


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> KeptEvents:
    found = KeptEvents()
    monkeypatch.setattr(events, "WRITER", found)
    return found


@pytest.fixture
def hour() -> datetime:
    """An hour of a day of its own, which no other test has; old ones are written with the table's TTL all the same."""
    return datetime(2003, 1, 1, 10, tzinfo=UTC) + timedelta(days=next(_days))


def look(product_id: UUID, at: datetime, visitor: int = 1) -> WaitingEvent:
    return WaitingEvent("product", at, f"192.0.2.{visitor}", BROWSER, product_id=product_id)


def stored(hour: datetime, kind: str = "product") -> list[Any]:
    return [
        row
        for shard in range(event_writer.EVENT_SHARDS)
        for row in EVENTS.all(kind=kind, hour=hour, shard=shard)
    ]


def test_x200_a_page_that_is_kept_for_all_is_counted_each_time(
    kept: KeptEvents, settings: Settings
) -> None:
    settings.WHOLE_PAGE_SECONDS = 60
    WHOLE_PAGES.clear()
    product = make_product("Mug")
    url = reverse("product", args=(product.slug,))
    for n in range(2):
        response = Client(headers={"user-agent": BROWSER, "referer": "https://www.google.de/"}).get(
            url, REMOTE_ADDR=f"192.0.2.{n}"
        )
        assert response.status_code == 200
        assert not any("visit" in name for name in response.cookies)
    assert [(each.kind, each.product_id, each.category_id) for each in kept.found] == [
        ("product", product.product_id, product.category_id)
    ] * 2
    assert {each.source for each in kept.found} == {"search"}
    assert len({each.network for each in kept.found}) == 2


def test_x200_s97_programs_parts_and_those_who_ask_are_not_counted(kept: KeptEvents) -> None:
    url = reverse("search")
    for headers in (
        {"user-agent": "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"},
        {"user-agent": "curl/8.5.0"},
        {"user-agent": ""},
        {"user-agent": BROWSER, "dnt": "1"},
        {"user-agent": BROWSER, "sec-gpc": "1"},
        {"user-agent": BROWSER, "sec-purpose": "prefetch;prerender"},
        {"user-agent": BROWSER, "hx-request": "true"},
    ):
        Client(headers=headers).get(url, {"q": "olive mug"})
    Client(headers={"user-agent": BROWSER}).head(url, {"q": "olive mug"})
    assert kept.found == []
    Client(headers={"user-agent": BROWSER}).get(url, {"q": " Olive  MUG nowhere"})
    assert [(each.kind, each.words, each.found) for each in kept.found] == [
        ("search", "olive mug nowhere", 0)
    ]


def test_s97_words_and_referrers_keep_nobodys_name() -> None:
    assert normalize_words("ann@example.com") == normalize_words("030 123 45 67") == ""
    assert classify_source("https://shop.example/a?b", "shop.example") == "own"
    assert classify_source("https://blog.example/ann", "shop.example") == "other"
    assert classify_source("", "shop.example") == "direct"


def test_s97_a_pseudonym_is_the_days_alone_and_all_processes_agree_on_its_salt() -> None:
    day = date(1970, 1, 1) + timedelta(days=next(_days))
    salt = get_or_create_salt(day)
    assert get_or_create_salt(day) == salt
    event = look(uuid4(), datetime.now(UTC))
    other = get_or_create_salt(day + timedelta(days=9001))
    assert make_pseudonym(salt, event) == make_pseudonym(salt, event)
    assert make_pseudonym(salt, event) != make_pseudonym(other, event)


def test_x201_what_waits_is_written_at_a_shutdown_and_stands_once_if_sent_twice(
    hour: datetime,
) -> None:
    writer = EventWriter()
    product_id = uuid4()
    for n in range(3):
        writer.put(look(product_id, hour + timedelta(minutes=n)))
    writer.close()
    assert len(stored(hour)) == 3
    batches = make_batches([look(product_id, hour, n) for n in range(150)])
    assert [len(each.events) for each in batches] == [100, 50]
    assert writer.write(batches) == writer.write(batches) == []
    assert len(stored(hour)) == 153
    # It goes on afterwards.
    writer.put(look(product_id, hour))
    writer.close()
    assert len(stored(hour)) == 154


def test_x201_what_is_too_much_is_shed_and_counted(
    hour: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch_writer, "MAX_WAITING", 5)
    writer, away = EventWriter(), Event()

    def write(batches: object) -> list[Any]:
        away.set()
        raise CassandraUnavailable("away")

    monkeypatch.setattr(writer, "write", write)
    monkeypatch.setattr(writer, "_start", lambda: None)
    for _ in range(8):
        writer.put(look(uuid4(), hour))
    assert writer.shed_count == 3
    monkeypatch.undo()
    monkeypatch.setattr(writer, "write", write)
    writer.put(look(uuid4(), hour))
    assert writer.shed_count == 4
    # While the database is away, the end of the process is not held up.
    writer.close()
    assert away.is_set()
    assert writer.shed_count == 9


@pytest.mark.usefixtures("told_apart")
def test_x202_late_events_are_counted_and_a_second_sum_changes_nothing(hour: datetime) -> None:
    writer, product = EventWriter(), make_product("Mug")
    day = shop_day(hour)

    def sums() -> tuple[Any, ...]:
        rows = queries.PRODUCT_VIEWS.all(product_id=product.product_id, first=day, last=day)
        (pending,) = queries.prefetch_top_products([day], ALL_CATEGORIES)
        kinds = {
            row.kind: (row.events, row.visitors)
            for pending_visits in queries.prefetch_visits(day, day)
            for row in pending_visits.rows()
        }
        return [(row.views, row.visitors) for row in rows], pending.rows()[0].views, kinds

    writer.write(make_batches([look(product.product_id, hour, n % 2) for n in range(4)]))
    assert roll_up_hour(hour)
    roll_up_visits_of_day(day)
    assert sums() == ([(4, 2)], 4, {"product": (4, 2), ANY_KIND: (4, 2)})
    later = hour + timedelta(hours=1)
    searches = [
        WaitingEvent("search", later, f"192.0.2.{n}", BROWSER, words="olive", found=0)
        for n in (7, 8, 9)
    ]
    writer.write(make_batches([look(product.product_id, hour, 7), *searches]))
    count, position = roll_up_hours(hour.isoformat(), later + timedelta(minutes=5))
    assert count == 2
    # The hour that has just ended may still get events.
    assert position == hour.isoformat()
    expected = ([(5, 3)], 5, {"product": (5, 3), "search": (3, 3), ANY_KIND: (8, 5)})
    assert sums() == expected
    assert roll_up_hours(position, later + timedelta(minutes=15)) == (2, later.isoformat())
    assert sums() == expected
    assert list_searches(day) == [("olive", 3, 3, 3)]


def list_searches(day: date) -> list[tuple[Any, ...]]:
    (pending,) = queries.prefetch_top_searches([day])
    return [tuple(row) for row in pending.rows()]


@pytest.mark.usefixtures("told_apart")
def test_s105_words_outlive_three_days_if_three_visitors_used_them_or_the_catalogue_has_them(
    hour: datetime, settings: Settings, tmp_path: Path
) -> None:
    product, day = make_product("Olive Mug", description="Glazed by hand."), shop_day(hour)

    def roll_up_searches(searches: list[tuple[int, str]]) -> list[str]:
        EventWriter().write(
            make_batches(
                [
                    WaitingEvent("search", hour, f"192.0.2.{n}", BROWSER, words=words, found=0)
                    for n, words in searches
                ]
            )
        )
        roll_up_hour(hour)
        roll_up_visits_of_day(day)
        return [words for words, *_ in list_searches(day)]

    settings.SEARCH_INDEX_DIR = tmp_path
    READER.looked_at = -inf
    # Who searches twice is one visitor. Without an index only numbers speak for words.
    seen = [(1, "anna weber"), (1, "anna weber"), (1, "anna weber"), (2, "anna weber")]
    seen += [(n, "yoga mat") for n in (1, 2, 3)]
    seen += [(4, words) for words in ("glazed mugs", "mug weber", "olvie mug", "mu", "★")]
    assert roll_up_searches(seen) == ["yoga mat"]
    build_index([product])
    READER.looked_at = -inf
    assert roll_up_searches([]) == ["yoga mat", "glazed mugs"]
    # What the catalogue has no more leaves the list, and nothing else.
    build_index([])
    READER.looked_at = -inf
    assert roll_up_searches([]) == ["yoga mat"]
    assert roll_up_searches([(5, "anna weber")]) == ["anna weber", "yoga mat"]


def test_x202_a_sketch_is_right_within_its_error_and_merging_twice_changes_nothing() -> None:
    random, one, other = Random(7), VisitorSketch(), VisitorSketch()
    for _ in range(20_000):
        one.add(random.randbytes(8))
        other.add(random.randbytes(8))
    other.merge(VisitorSketch(one.to_bytes()))
    assert abs(other.estimate() - 40_000) < 3 * 0.0325 * 40_000
    before = other.estimate()
    other.merge(one)
    assert other.estimate() == before


@pytest.fixture
def analyst(hour: datetime) -> Client:
    client = Client()
    sign_in_staff(client, make_user(role="analyst"))
    return client


@pytest.mark.usefixtures("told_apart")
def test_x203_analysts_see_visits_products_and_searches_and_take_them_along(
    analyst: Client, hour: datetime
) -> None:
    product, day = make_product("Mug"), shop_day(hour)
    searched = [
        WaitingEvent("search", hour, f"192.0.2.{n}", BROWSER, words="<b>olive", found=0)
        for n in (1, 2, 9)
    ]
    looks = [look(product.product_id, hour, n) for n in range(3)]
    EventWriter().write(make_batches([*looks, *searched]))
    roll_up_hour(hour)
    roll_up_visits_of_day(day)
    url = reverse("adminpanel:visits")
    days = {"first": day.isoformat(), "last": day.isoformat()}
    page = analyst.get(url, days | {"product": str(product.product_id), "by": "week"})
    text = page.content.decode()
    assert page.context["visits"].total.visitors == 4
    assert [(line.name, line.views) for line in page.context["visits"].products] == [("Mug", 3)]
    assert [line.page_views for line in page.context["visits"].product_days] == [3]
    assert '<title id="visitors-title">' in text
    assert "&lt;b&gt;olive" in text
    answer = analyst.get(url, days | {"format": "csv"})
    assert answer["Content-Type"].startswith("text/csv")
    assert answer.content.decode().splitlines()[1].startswith(f"{day},4,6,0,0,0,0.00,,")
    empty = analyst.get(url, {"first": "1901-01-01", "last": "1901-01-02"})
    assert "There were no visitors on these days." in empty.content.decode()


def test_x203_a_conversion_is_at_most_a_hundred_per_cent() -> None:
    """Orders by staff, and by people who are not counted, can be more than the visitors: then it says nothing."""

    def conversion(visitors: int, orders: int) -> float | None:
        return VisitLine(date(2026, 1, 1), visitors, sales=Figures(orders=orders)).conversion

    assert [conversion(*each) for each in ((7, 22), (0, 1), (4, 1), (4, 4))] == [
        None,
        None,
        25,
        100,
    ]

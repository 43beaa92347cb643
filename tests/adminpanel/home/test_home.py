"""Home: what each role sees of the shop, and that each number leads to exactly the rows that it counts."""

import re
from datetime import UTC, date, datetime, timedelta
from functools import cache
from math import inf
from pathlib import Path
from urllib.parse import urljoin
from uuid import uuid4
from zoneinfo import ZoneInfo

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse
from lxml import html
from moneyed import Money

from accounts.roles import ROLES
from adminpanel.board import pages as board_pages
from adminpanel.home.sales import HomeSales, make_home_sales, prefetch_home_sales
from adminpanel.home.to_do import QUEUES, oldest_order
from adminpanel.reports.comparisons import Comparison
from adminpanel.stock.low_stock import low_stock
from analytics.days import shop_day
from analytics.dimensions import NOT_KNOWN, DimensionSales
from analytics.figures import Figures
from analytics.kinds import KINDS
from analytics.operations import roll_up_day
from analytics.roll_up import ALL_SUBJECTS, Tally, write_visits_of_day
from cassandra_db import current_time
from catalogue.operations import add_picture
from catalogue.photos import Photo
from catalogue.queries import get_product_at_quorum
from catalogue.search_index import READER, build_index
from mail.operations import queue_mail, receive_hard_bounce
from mail.queries import derive_mail_id, get_mail
from orders import operations
from orders.lifecycle.entities import Order
from orders.queries import get_order
from tests.adminpanel.conftest import make_order_with_events
from tests.adminpanel.stock.test_low_stock import make_low
from tests.conversations.mailboxes import guest, start
from tests.factories import make_draft, make_payment, make_product, make_user, sign_in_staff
from tests.orders.test_submits import return_requested
from tests.reads import existing
from tests.reviews.writes import write

HOME, BOARD = reverse("adminpanel:home"), reverse("adminpanel:board")


@pytest.fixture(autouse=True)
def counted_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing that an earlier test has counted is shown."""
    for kept in (*(each.recent for each in QUEUES), oldest_order, low_stock):
        monkeypatch.setattr(kept, "seconds", 0)


def open_home(role: str) -> tuple[Client, html.HtmlElement]:
    client = sign_in_staff(Client(), make_user(password=None, role=role))
    return client, html.fromstring(client.get(HOME).content)


def list_to_do(page: html.HtmlElement) -> dict[str, tuple[str, str]]:
    """Return what waits: by its label the number, and the address of its link."""
    return {
        link.text_content().strip(): (
            row.cssselect(".badge")[0].text_content().strip(),
            link.get("href"),
        )
        for row in page.cssselect(".to-do > li")
        for link in row.cssselect("a")
    }


def make_failed_mail(at: datetime) -> None:
    email, subject_id, now = f"{uuid4().hex}@example.com", uuid4(), datetime.now(UTC)
    # Its subject stays in the list of failed mails, where the shop's name would, too.
    context = {"lines": [], "count": 1, "headline": "1 SKU is low in stock", "links": [], "url": ""}
    queue_mail(subject_id, "asked", email, "low_stock", context, now)
    receive_hard_bounce(existing(get_mail(derive_mail_id(subject_id, "asked"))), "no mailbox", at)


def count_rows(client: Client, address: str) -> int:
    """Return how many rows a list has, on all its pages."""
    found = 0
    while address:
        page = html.fromstring(client.get(address).content)
        tables = page.cssselect("main table")
        found += len(tables[0].cssselect("tbody tr")) if tables else 0
        following = page.cssselect("main a[rel=next]")
        address = urljoin(address, following[0].get("href")) if following else ""
    return found


def test_x518_each_number_leads_to_exactly_the_rows_that_it_counts(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(settings, "SEARCH_INDEX_DIR", tmp_path)
    monkeypatch.setattr(board_pages, "PAGE_LENGTH", 1_000)
    make_order_with_events("payment_failed")
    make_order_with_events("paid", "held")
    make_order_with_events("paid", "late")
    make_order_with_events("paid")
    return_requested()
    make_low()
    jug = make_product("Jug").product_id
    write(jug, held_for="links")
    add_picture(jug, str(Photo(uuid4().hex, 1600, 1200)), current_time())
    build_index([existing(get_product_at_quorum(jug))])
    READER.looked_at = -inf
    start(guest(), "Is it blue?")
    for days in (0, 9):  # the page lists the older one only among those of 30 days
        make_failed_mail(datetime.now(UTC) - timedelta(days))
    client, page = open_home("admin")
    found = list_to_do(page)
    (to_pack,) = page.cssselect("#to-pack a")
    found["Orders to pack"] = (to_pack.text_content().strip(), to_pack.get("href"))
    assert found.keys() >= {
        *("Orders to pack", "Late", "Payment problems", "Returns to answer", "On hold"),
        *("Messages to answer", "Reviews and questions", "Failed emails", "Delayed jobs"),
        *("Products with alt text to confirm", "Low stock in Berlin"),
    }
    wrong = [
        f"{label}: {number}, but {address} has {rows}"
        for label, (number, address) in found.items()
        if (rows := count_rows(client, address)) != int(number.rstrip("+"))
        and not (number.endswith("+") and rows > int(number.rstrip("+")))
    ]
    assert not wrong, "\n".join(wrong)


def test_x518_more_failed_emails_than_their_page_lists_have_a_plus(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for _ in range(2):
        make_failed_mail(datetime.now(UTC))
    monkeypatch.setattr("mail.queries.MAX_FAILED_SHOWN", 1)
    _, page = open_home("admin")
    assert list_to_do(page)["Failed emails"][0] == "1+"


def test_x518_a_role_sees_what_it_may_open_and_nothing_else() -> None:
    make_order_with_events("paid")
    make_low()
    shown = {}
    for role in ROLES:
        client, page = open_home(role)
        shown[role] = {
            part
            for part, rule in {
                "sales": "#sales-today, .chart",
                "conversion": "#conversion",
                "orders": "#to-pack",
                "stock": f".to-do a[href^='{reverse('adminpanel:stock')}']",
                "jobs": f".to-do a[href^='{reverse('adminpanel:worker')}']",
                "messages": f".to-do a[href^='{reverse('adminpanel:messages')}']",
            }.items()
            if page.cssselect(rule)
        }
        links = {link.get("href") for link in page.cssselect("main a[href^='/']")}
        refused = [each for each in links if client.get(each).status_code != 200]
        assert not refused, (role, refused)
    assert shown["admin"] >= {"sales", "conversion", "orders", "stock", "jobs"}
    assert shown["warehouse"] == {"orders", "stock", "jobs"}
    assert shown["support"] - {"messages"} == {"orders", "jobs"}
    assert shown["catalogue"] == {"stock"}
    assert shown["analyst"] == {"sales", "conversion"}


def test_x519_former_addresses_of_the_board_lead_to_it(staff_client: Client) -> None:
    for query in ("column=shipped&sku=MUG-1&after=x", "sort=newest", "column=to_pack&seen=abc"):
        assert staff_client.get(f"{HOME}?{query}")["Location"] == f"{BOARD}?{query}"
    for query in ("", "utm_source=mail"):
        assert staff_client.get(f"{HOME}?{query}").status_code == 200


# ---- The numbers

TODAY = date(2021, 6, 11)


def euros(amount: int) -> Money:
    return Money(amount, "EUR")


def sold(day: date, hour: str, gross: int, currency: str = "EUR") -> DimensionSales:
    return DimensionSales(day, hour, currency, Figures(1, 1, gross, gross))


def at(day: date, hour: int) -> datetime:
    """Half past an hour by the clock of Dublin, in summer."""
    return datetime(day.year, day.month, day.day, hour, 30, tzinfo=UTC) - timedelta(hours=1)


def test_x517_hours_that_are_over_are_compared_with_a_week_ago_and_currencies_are_not_added() -> (
    None
):
    week_ago, yesterday = TODAY - timedelta(7), TODAY - timedelta(1)
    found = make_home_sales(
        [
            *(sold(TODAY, "09", 1500), sold(TODAY, "14", 4000), sold(TODAY, "09", 900, "USD")),
            *(sold(week_ago, "13", 1000), sold(week_ago, "14", 7000)),
            *(sold(week_ago, NOT_KNOWN, 500), sold(yesterday, "23", 2400)),
        ],
        at(TODAY, 14),
    )
    assert (found.today.gross, found.today.orders) == (euros(55), 2)
    assert (found.yesterday.gross, found.yesterday.orders) == (euros(24), 1)
    assert found.comparison == Comparison("€10.00", "up 50.0 %")
    assert found.until == "14:00"
    assert next(each for each in found.days if each.day == week_ago).gross == euros(85)
    assert [bar.point.value for bar in found.chart.bars][-2:] == [24.0, 55.0]
    assert len(found.days) == 30
    less = make_home_sales([sold(week_ago, "00", 1000)], at(TODAY, 1)).comparison
    assert less == Comparison("€10.00", "down 100.0 %")
    assert make_home_sales([], at(TODAY, 1)).comparison == Comparison("€0.00", "")


def test_x517_the_first_hour_of_a_day_is_compared_with_nothing() -> None:
    night = datetime(2021, 6, 10, 23, 30, tzinfo=UTC)
    assert shop_day(night) == TODAY
    found = make_home_sales([sold(TODAY, "00", 100)], night)
    assert (found.comparison, found.today.gross) == (None, euros(1))


# Nobody else sells or looks at anything in this year.
DAY = date(1984, 6, 15)


@cache
def list_placed() -> tuple[Order, ...]:
    """Place and pay orders on the day, the day before and a week before; return them as they are stored."""
    mug = make_product("Mug", price="11.90", stock=50)
    days = {DAY: (9, 13, 14), DAY - timedelta(1): (0, 23), DAY - timedelta(7): (13, 14)}
    placed = []
    for day, hours in days.items():
        for hour in hours:
            draft = make_draft((mug, 1 + hour % 3))
            order = operations.place_order(draft, at(day, hour))
            placed.append(make_payment(order, now=at(day, hour)))
        operations.place_order(make_draft((mug, 9)), at(day, 13))  # it is never paid
        roll_up_day(day)
    return tuple(existing(get_order(each.order_id)) for each in placed)


def sum_of(day: date, until: int = 24) -> Money:
    zone = ZoneInfo(settings.TIME_ZONE)
    paid = [
        each.total - each.delivery
        for each in list_placed()
        if (local := each.placed_at.astimezone(zone)).date() == day and local.hour < until
    ]
    return sum(paid, euros(0))


def read_sales() -> HomeSales:
    list_placed()
    return prefetch_home_sales(at(DAY, 14))()


def test_sales_by_day_of_home() -> None:
    found = read_sales()
    assert {each.day: each.gross for each in found.days} == {
        day: sum_of(day) for day in (DAY - timedelta(n) for n in range(30))
    }
    assert [each.orders for each in (found.today, found.yesterday)] == [3, 2]
    assert found.yesterday.gross == sum_of(DAY - timedelta(1)) > found.today.gross * 0


def test_comparison_with_a_week_ago() -> None:
    now, before = sum_of(DAY, 14), sum_of(DAY - timedelta(7), 14)
    change = (now.amount - before.amount) / before.amount * 100
    words = f"{'up' if change > 0 else 'down'} {abs(change):.1f} %"
    assert change
    assert read_sales().comparison == Comparison(f"€{before.amount:.2f}", words)


def test_conversion_today(monkeypatch: pytest.MonkeyPatch) -> None:
    list_placed()
    seen = Tally(events=9)
    for visitor in range(8):
        # Two loads of each of eight visitors.
        for _ in range(2):
            seen.visitors.add((visitor << 54 | 1).to_bytes(8, "big"))
    by_kind: dict[str, dict[str, Tally]] = {kind: {} for kind in KINDS}
    write_visits_of_day(DAY, by_kind | {"category": {ALL_SUBJECTS: seen}}, 1)
    monkeypatch.setattr("adminpanel.home.views.current_time", lambda: at(DAY, 14))
    _, page = open_home("analyst")
    (number,) = page.cssselect("#conversion")
    assert number.text_content().strip() == f"{100 * 3 / 8:.1f} %"


def test_x517_the_page_says_the_comparison_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    week_ago = TODAY - timedelta(7)
    sales = [sold(TODAY, "09", 1500), sold(week_ago, "09", 1000)]
    monkeypatch.setattr("adminpanel.home.sales.collect_sales_by", lambda reading: sales)
    monkeypatch.setattr("adminpanel.home.views.current_time", lambda: at(TODAY, 14))

    def words() -> str:
        _, page = open_home("analyst")
        (tile,) = [each for each in page.cssselect(".stat") if each.cssselect("#sales-today")]
        return re.sub(r"\s+", " ", tile.text_content())

    assert "Last Friday until 14:00: €10.00 (up 50.0 %)" in words()
    sales[0] = sold(TODAY, "09", 1000)
    assert "Last Friday until 14:00: €10.00 (no change)" in words()

"""The list of customers by last order: filters, segments, its file, and rows that move with the customers' orders."""

import csv
import io
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any
from unittest.mock import patch
from uuid import UUID, uuid4

import pytest
from django.http import HttpResponseBase
from django.test import Client
from django.urls import reverse
from lxml import html

from accounts.models import User
from accounts.operations import erase_account, person_from_user, request_erasure
from analytics.days import shop_day
from consistency.findings import Scope, Violation
from consistency.user_stats import CHECKS
from orders import customers, queries
from orders.customers import (
    CustomerFilter,
    ListedCustomer,
    find_listed_at,
    get_customer,
    iterate_customers,
    list_customers,
    make_segment_filters,
)
from orders.lifecycle.entities import Order
from orders.lifecycle.transitions import Transition
from orders.operations import (
    change_tags,
    count_customer_segments,
    count_user_stats,
    transition_order,
    unlist_customer,
    user_stats,
)
from orders.operations.customer_segments import count_segments
from spreadsheets.entities import SpreadsheetTask
from spreadsheets.operations import iterate_export
from spreadsheets.queries import get_task
from tests.adminpanel.people.audit_entries import list_entries_this_month
from tests.checkout.shopper import text
from tests.consistency.test_check_consistency import cql, found, repair
from tests.factories import make_order, make_user, sign_in_staff
from tests.orders.crashes import kill_at_write, record_writes
from tests.reads import existing
from tests.spreadsheets.files import go_on, stored
from web import personal_data

NOW = datetime.now(UTC)
HOUR = timedelta(hours=1)
LIST = reverse("adminpanel:customers")
EXPORT = reverse("adminpanel:customers_export")
NEXT = "//a[@id='next']/@href"


# Each test has two months of its own, long ago.
_days = count()


@pytest.fixture
def bea() -> User:
    return make_user("Bea", role="support")


@pytest.fixture
def desk(client: Client, bea: User) -> Client:
    return sign_in_staff(client, bea)


@pytest.fixture
def noon() -> datetime:
    """The noon of a day on which no other test has orders."""
    return datetime(1983, 3, 1, 12, tzinfo=UTC) + timedelta(days=90 * next(_days))


def buy(user: User, at: datetime, **more: Any) -> Order:
    return make_order(paid=True, user_id=user.pk, email=user.email, now=at, **more)


def make_customer(name: str, *times: datetime, **more: Any) -> User:
    user = make_user(name)
    for at in times:
        buy(user, at, **more)
    count_user_stats(user.pk)
    return user


def on(noon: datetime, **filters: Any) -> dict[str, Any]:
    return {"first_day": f"{shop_day(noon)}", "last_day": f"{shop_day(noon)}", **filters}


def names_of(answer: HttpResponseBase) -> list[str]:
    rows = html.fromstring(answer.content).xpath(  # type: ignore[attr-defined]
        "//section[@aria-labelledby='listed']//tbody/tr/th/a"
    )
    return [text(each).strip() for each in rows]


def find_row(user: User) -> ListedCustomer | None:
    return get_customer(user.pk, find_listed_at(user.pk))


def list_places(user: User, noon: datetime) -> list[datetime]:
    """Return where a person is listed within some days."""
    days = CustomerFilter(
        first_day=shop_day(noon - timedelta(9)), last_day=shop_day(noon + timedelta(9))
    )
    return [each.last_order_at for each in iterate_customers(days) if each.user_id == user.pk]


# ---- The list


def test_x524_customers_are_listed_by_last_paid_order_and_move_when_they_order(
    desk: Client, noon: datetime
) -> None:
    ada, bob = make_customer("Ada", noon - HOUR), make_customer("Bob", noon)
    make_order(user_id=ada.pk, email=ada.email, now=noon + HOUR)  # unpaid
    count_user_stats(ada.pk)
    assert names_of(desk.get(LIST, on(noon))) == ["Bob", "Ada"]
    second = buy(ada, noon + HOUR, price="30.00")
    count_user_stats(ada.pk)
    page = desk.get(LIST, on(noon))
    assert names_of(page) == ["Ada", "Bob"]
    (sums,) = queries.stats_from_rows(queries.prefetch_user_stats(ada.pk).rows())
    (row,) = html.fromstring(page.content).xpath("//tbody/tr[th/a[contains(., 'Ada')]]")
    cells = [text(each).strip() for each in row.xpath("td")]
    assert cells[:4] == [ada.email, "DE", "2", f"€{sums.total_spent.amount:.2f}"]
    # What is refunded in full is no order any more; its day stays the customer's last.
    transition_order(second, Transition("cancelled", actor="staff:0:Bea", at=noon + HOUR))
    count_user_stats(ada.pk)
    assert names_of(desk.get(LIST, on(noon))) == ["Ada", "Bob"]
    listed = find_row(ada)
    assert listed
    assert listed.order_count == 1
    assert names_of(desk.get(LIST, on(noon + timedelta(1)))) == []
    assert list_places(ada, noon) == [noon + HOUR]
    assert list_places(bob, noon) == [noon]


def test_x524_each_filter_finds_its_customers(desk: Client, noon: datetime) -> None:
    ada = make_customer("Ada", noon - 2 * HOUR, noon - HOUR)
    bob = make_customer("Bob", noon, price="900.00")
    eve = make_customer("Eve", noon + HOUR)
    order = buy(eve, noon + 2 * HOUR)
    change_tags(order, ["Wholesale"], [], actor="staff:0:Bea", now=noon + 2 * HOUR)
    cql("UPDATE orders SET country = 'AT' WHERE order_id = %s", order.order_id)
    cql("UPDATE orders SET currency = 'USD' WHERE order_id = %s", order.order_id)
    for user in (ada, bob, eve):
        count_user_stats(user.pk)
    # What Eve spent in dollars does not count beside her euros.
    above = existing(find_row(eve)).spent["EUR"] + 1
    for filters, wanted in (
        ({}, ["Eve", "Bob", "Ada"]),
        ({"spent_from": f"{above / 100:.2f}"}, ["Bob", "Ada"]),
        ({"country": "AT"}, ["Eve"]),
        ({"tag": "wholesale"}, ["Eve"]),
        ({"tag": "sale"}, []),
        ({"spent_from": "500"}, ["Bob"]),
        ({"spent_to": "899.99"}, ["Eve", "Ada"]),
        ({"orders_from": "2"}, ["Eve", "Ada"]),
        ({"orders_to": "1", "spent_from": "1"}, ["Bob"]),
    ):
        assert names_of(desk.get(LIST, on(noon, **filters))) == wanted, filters
    # Currencies stand beside each other.
    page = desk.get(LIST, on(noon, country="AT"))
    (spent,) = html.fromstring(page.content).xpath("//tbody/tr/td[4]")
    assert all(sign in text(spent) for sign in "€$")
    outside = {"first_day": f"{shop_day(noon) + timedelta(1)}"}
    assert "Ada" not in names_of(desk.get(LIST, outside | {"last_day": outside["first_day"]}))


def test_x524_a_filter_that_cannot_be_is_refused_beside_its_field(desk: Client) -> None:
    tomorrow = shop_day(NOW) + timedelta(1)
    for filters, said in (
        ({"spent_from": "5", "spent_to": "4"}, "not below the first"),
        ({"orders_from": "5", "orders_to": "4"}, "not below the first"),
        ({"first_day": "2026-02-01", "last_day": "2026-01-31"}, "not before the first"),
        ({"first_day": f"{tomorrow}"}, "not in the future"),
        ({"last_day": f"{tomorrow}"}, "not in the future"),
        ({"first_day": "0001-01-01"}, "Enter a date"),
        ({"orders_from": "-1"}, "Enter 0 or more"),
        ({"spent_from": "1.001"}, "at most 2 decimal places"),
        ({"country": "XX"}, "Choose one of the options"),
    ):
        answer = desk.get(LIST, filters)
        (error,) = html.fromstring(answer.content).xpath("//*[contains(@class, 'field--bad')]")
        assert (answer.status_code, said in text(error)) == (422, True), text(error)
        assert names_of(answer) == []
    assert desk.get(LIST, {"after": "x"}).status_code in (302, 303)


def test_x524_a_filter_looks_through_a_bounded_number_and_says_so(
    desk: Client, noon: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_customer("Ada", noon - HOUR, price="700.00")
    for number in range(2):
        make_customer("Bob", noon + number * HOUR)
    monkeypatch.setattr(customers, "MAX_LOOKED_AT", 2)
    page = desk.get(LIST, on(noon, spent_from="500"))
    assert names_of(page) == []
    assert "2 customers searched so far" in text(page)
    (further,) = html.fromstring(page.content).xpath(NEXT)
    found = desk.get(further)
    assert names_of(found) == ["Ada"]
    # Months are bounded, too: a filter over long ago reads no hundred partitions.
    eve = make_customer("Eve", noon - timedelta(40), price="700.00")
    monkeypatch.setattr(customers, "MAX_MONTHS_A_PAGE", 1)
    since = on(noon, spent_from="500") | {"first_day": f"{shop_day(noon - timedelta(41))}"}
    address, names = f"{LIST}?", []
    for _page in range(9):
        answer = desk.get(address, since if address == f"{LIST}?" else None)
        names += names_of(answer)
        following = html.fromstring(answer.content).xpath(NEXT)
        if not following:
            break
        (address,) = following
    assert names == ["Ada", "Eve"]
    assert find_row(eve)


def test_x524_pages_follow_each_other_without_gaps_however_the_shards_are_filled(
    noon: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    users = [make_customer("Cy", noon + number * timedelta(minutes=1)) for number in range(7)]
    day = CustomerFilter(first_day=shop_day(noon), last_day=shop_day(noon))
    wanted = [each.pk for each in reversed(users)]
    assert len({each.pk.int % customers.SHARDS for each in users}) > 1
    for rows_at_once in (1, 2, 500):
        monkeypatch.setattr(customers, "_ROWS_AT_ONCE", rows_at_once)
        monkeypatch.setattr(customers, "PAGE_LENGTH", 3)
        assert [each.user_id for each in iterate_customers(day)] == wanted
        found, after = [], ""
        for _page in range(3):
            page = list_customers(day, after)
            found += [each.user_id for each in page.customers]
            after = page.next
        assert (found, after) == (wanted, "")


# ---- Segments


def test_x525_segments_are_counted_with_their_time_and_lead_to_their_customers(
    desk: Client, noon: datetime
) -> None:
    now = datetime.now(UTC)
    for times in ((now - timedelta(9),), (now - timedelta(200), now - timedelta(190)), (noon,)):
        make_customer("Ada", *times)
    make_customer("Rich", now - timedelta(3), price="9000.00")
    count_customer_segments(now)
    page = desk.get(LIST)
    tree = html.fromstring(page.content)
    (counted,) = tree.xpath("//time[@datetime][ancestor::p[contains(., 'Counted')]]/@datetime")
    assert abs(datetime.fromisoformat(counted) - now) < timedelta(seconds=1)
    tabs = {
        each.get("id").removeprefix("tally-"): (
            int(text(each.xpath("span")[0]).replace(",", "")),
            each.get("href"),
        )
        for each in tree.xpath("//a[@class='tally']")
    }
    assert list(tabs) == ["all", "new", "returning", "not_seen", "best"]
    best = customers.segments_from_rows(customers.prefetch_segments().rows())["best"].spent_from
    filters = make_segment_filters(shop_day(now), best)
    for name, (number, address) in tabs.items():
        answer = desk.get(address)
        assert answer.status_code == 200
        assert number == len(list(iterate_customers(filters[name]))) > 0, name
        first = [each.user_id for each in list_customers(filters[name]).customers]
        shown = html.fromstring(answer.content).xpath(
            "//section[@aria-labelledby='listed']//tbody/tr/th/a/@href"
        )
        assert shown == [reverse("adminpanel:customer", args=[each]) for each in first], name
        assert len(html.fromstring(answer.content).xpath("//a[@class='tally'][@aria-current]")) == 1


def test_x525_the_best_tenth_has_a_tenth_or_more_and_needs_bounded_memory() -> None:
    def make(spent: int) -> ListedCustomer:
        return ListedCustomer(uuid4(), NOW, 1, {"EUR": spent, "USD": 10**9}, "DE")

    def best_of(*amounts: int) -> tuple[int, int | None]:
        found = {each.name: each for each in count_segments(map(make, amounts), NOW)}
        assert found["all"].count == len(amounts)
        return found["best"].count, found["best"].spent_from

    assert best_of(*range(1, 21)) == (2, 19)
    assert best_of(*[500] * 20) == (20, 500), "those who have spent the same stay together"
    assert best_of(123_456, *[99] * 9) == (1, 123_000)
    assert best_of(0, 0) == (0, 1), "other currencies are not added"
    assert best_of() == (0, 1)


# ---- The file


def test_x526_the_file_has_the_listed_customers_and_their_sums_and_needs_a_code(
    desk: Client, bea: User, noon: datetime
) -> None:
    ada = make_customer("=Ada", noon, noon + HOUR)
    make_customer("Bob", noon - HOUR)
    page = desk.get(LIST, on(noon))
    (form,) = [each for each in html.fromstring(page.content).forms if each.action == EXPORT]
    sent = {name: value for name, value in form.form_values() if name != "csrfmiddlewaretoken"}
    with patch("adminpanel.code_again.has_fresh_code", return_value=False):
        refused = desk.post(EXPORT, sent)
    (code,) = html.fromstring(refused.content).xpath("//main//input[@name='code']")
    assert (refused.status_code, code.xpath("ancestor::form")[0].action) == (422, EXPORT)
    assert names_of(refused) == ["=Ada", "Bob"], "the filters are kept"
    answer = desk.post(EXPORT, sent)
    assert answer.status_code == 303
    assert desk.post(EXPORT, sent)["Location"] == answer["Location"], "sent twice, made once"
    paper = answer["Location"]
    (entry, *_) = [
        each
        for each in list_entries_this_month(bea)
        if each.act == "adminpanel:customers_export" and "customers.csv" in str(each)
    ]
    assert f"{shop_day(noon)}" in str(entry)

    task = stored_task(paper)
    go_on(task)
    with patch("adminpanel.code_again.has_fresh_code", return_value=False):
        assert desk.post(f"{paper}file/").status_code == 422
    content = b"".join(desk.post(f"{paper}file/").streaming_content)  # type: ignore[attr-defined]
    assert content == b"".join(iterate_export(stored(task)))
    lines = list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline="")))
    assert [(each["name"], each["orders"]) for each in lines] == [("'=Ada", "2"), ("Bob", "1")]
    assert lines[0]["email"] == f"'{ada.email}", "formulas are guarded"
    shown = html.fromstring(page.content).xpath("//tbody/tr/td[4]")
    assert [f"€{each['spent']}" for each in lines] == [text(each).strip() for each in shown]
    for role in ("warehouse", "analyst"):
        other = sign_in_staff(Client(), make_user("Will", role=role))
        assert other.post(EXPORT, sent).status_code == 403
        assert other.get(paper).status_code in (403, 404)


def stored_task(paper: str) -> SpreadsheetTask:
    return existing(get_task(UUID(paper.strip("/").split("/")[-1])))


# ---- Rows that move


def test_x524_a_count_that_dies_at_its_write_or_comes_twice_lists_a_customer_once(
    noon: datetime,
) -> None:
    ada = make_customer("Ada", noon)
    buy(ada, noon + HOUR)
    written = record_writes(lambda: count_user_stats(ada.pk))
    assert len(written) == 1, "sums and place are one batch"
    buy(ada, noon + 2 * HOUR)
    assert kill_at_write(written[0], lambda: count_user_stats(ada.pk))
    assert list_places(ada, noon) == [noon + HOUR]
    for _ in range(2):
        count_user_stats(ada.pk)
    assert list_places(ada, noon) == [noon + 2 * HOUR]


def test_x524_of_two_counts_at_once_the_one_that_read_later_stays(noon: datetime) -> None:
    ada = make_customer("Ada", noon)
    buy(ada, noon + HOUR)
    inside: list[Callable[[], None]] = []
    compute = queries.compute_user_stats

    def compute_and_wait(user_id: Any) -> Any:
        paid = compute(user_id)
        if inside:
            inside.pop()()  # another process counts between this one's reads and its write
        return paid

    def order_and_count(placed_at: datetime) -> None:
        buy(ada, placed_at)
        count_user_stats(ada.pk)

    inside.append(lambda: order_and_count(noon + 2 * HOUR))
    with patch.object(queries, "compute_user_stats", compute_and_wait):
        count_user_stats(ada.pk)
    assert list_places(ada, noon) == [noon + 2 * HOUR]
    assert find_row(ada)
    # The other way round: the later count reads where the person was listed before the earlier one has written.
    buy(ada, noon + 3 * HOUR)
    before = find_listed_at(ada.pk)
    count_user_stats(ada.pk)
    buy(ada, noon + 4 * HOUR)
    with patch.object(user_stats, "find_listed_at", return_value=before):
        count_user_stats(ada.pk)
    assert list_places(ada, noon) == [noon + 4 * HOUR]
    # Nobody has listed the person before: both counts are the first.
    buy(ada, noon + 5 * HOUR)
    inside.append(lambda: order_and_count(noon + 6 * HOUR))
    with (
        patch.object(queries, "compute_user_stats", compute_and_wait),
        patch.object(user_stats, "find_listed_at", return_value=None),
    ):
        count_user_stats(ada.pk)
    assert list_places(ada, noon) == [noon + 6 * HOUR]


def test_i35_a_wrong_row_of_the_list_is_named_and_repaired(noon: datetime) -> None:
    ada = make_customer("Ada", noon)
    only = Scope(users=frozenset({ada.pk}))
    with patch("consistency.user_stats.DUE_USER_STATS") as due:
        due.list_between.return_value = []  # the worker has counted already
        assert found(only, "I35") == []
        unlist_customer(ada.pk, noon)
        (named,) = found(only, "I35")
        assert "the list of customers is not that of the orders" in named
        assert repair(only, "I35").is_clean
    assert list_places(ada, noon) == [noon]
    # A row that was left at a former order.
    former = noon - timedelta(2)
    row = find_row(ada)
    assert row
    user_stats.LISTED.run(
        user_id=ada.pk,
        last_order_at=former,
        order_count=1,
        spent={},
        country="DE",
        tags=json.dumps([]),
        at=1,
        **customers.partition_of(former, ada.pk),
    )
    assert list_places(ada, noon) == [noon, former]
    (places,) = [each for each in CHECKS if each.name == "places of customers"]
    left = [each for each in places.iterate_subjects(None) if each.user_id == ada.pk]
    violations: list[Violation] = [one for each in left for one in places.find_violations(each)]
    (violation,) = violations
    assert violation.fix
    violation.fix(NOW)
    assert list_places(ada, noon) == [noon]


def test_x524_an_export_names_the_row_and_an_erasure_removes_it(noon: datetime) -> None:
    ada = make_customer("Ada", noon)
    order = buy(ada, noon + HOUR)
    count_user_stats(ada.pk)
    data = dict(personal_data.export_personal_data(person_from_user(ada)))["orders"]
    assert data["in_the_list_of_customers"] == {
        "last_order": noon + HOUR,
        "country": "DE",
        "tags": (),
    }
    for number in queries.list_order_ids_by_email(ada.email):
        each = queries.get_order(number)
        assert each
        transition_order(each, Transition("cancelled", actor="staff:0:Bea", at=NOW))
    assert order
    # A count under way has listed the person at an order that the erasure does not see in the sums.
    with patch.object(user_stats, "find_listed_at", return_value=None):
        request_erasure(ada.pk, NOW)
        assert erase_account(ada.pk, datetime.now(UTC))
    assert list_places(ada, noon) == []
    count_user_stats(ada.pk)
    assert list_places(ada, noon) == []
    assert find_listed_at(ada.pk) is None

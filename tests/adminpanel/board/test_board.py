"""The board: what stands where, and how it keeps up."""

import re
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from uuid import uuid4

import pytest
from django.http import QueryDict
from django.test import Client
from django.urls import reverse
from lxml import html

from adminpanel.board import pages
from adminpanel.orders import selection
from adminpanel.orders.selection import OrderFilterForm
from cassandra_db import current_time
from orders.board import OrderFilter, iterate_orders
from orders.board_queries import BoardCounts
from orders.lifecycle import states
from orders.lifecycle.entities import CappedCount, Order
from orders.operations import change_tags, place_order, write_copies
from tests.adminpanel.conftest import make_order_with_events
from tests.factories import (
    make_draft,
    make_order,
    make_payment,
    make_product,
    make_user,
    sign_in_staff,
)
from tests.reads import existing
from web.days import start_of_day

BOARD = reverse("adminpanel:board")
HTMX = {"HX-Request": "true"}


@pytest.fixture(autouse=True)
def long_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Show a column whole: the oldest come first, other tests' orders among them."""
    monkeypatch.setattr(pages, "PAGE_LENGTH", 1_000)


def poll_address(text: str) -> str:
    found = re.search(r'<div id="board"[^>]* hx-get="([^"]+)"', text)
    assert found
    return found[1].replace("&amp;", "&")


def show(now: datetime, query: str = "") -> pages.Board:
    """The board as a page of this address would show it."""
    data = QueryDict(query)
    view = pages.parse_view(OrderFilterForm(data), data, pages.USUAL_CHOICE)
    return existing(pages.get_board(view, now))


def numbers(text: str) -> list[str]:
    return re.findall(r'id="order-([0-9A-Z-]+)"', text)


def test_x73_it_shows_the_orders_to_pack_the_oldest_first_and_counts_the_open_ones(
    staff_client: Client,
) -> None:
    first, second = make_order_with_events("paid"), make_order_with_events("paid")
    answer = staff_client.get(BOARD)
    text = answer.content.decode()
    found = numbers(text)
    assert found.index(first.number) < found.index(second.number)
    for column, label in states.BOARD_COLUMNS.items():
        assert f'href="{BOARD}?column={column}"' in text
        assert label in text
    counts = dict(re.findall(r'id="tally-(\w+)"[^>]*><span class="tally__count">(\d+\+?)<', text))
    assert set(counts) == set(states.BOARD_COLUMNS)
    assert int(counts["to_pack"].rstrip("+")) >= 2
    assert "Sam Shopper" in text
    assert "€" in text


def test_x73_more_than_500_are_not_counted_further(
    staff_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = dict.fromkeys(states.BOARD_COLUMNS, CappedCount(500, has_more=True))
    monkeypatch.setattr(
        "orders.operations.count_board_orders", lambda reading: BoardCounts(many, {})
    )
    assert (
        '<span class="tally__count">500+</span>To pack' in staff_client.get(BOARD).content.decode()
    )


def test_an_order_stands_in_the_column_of_its_state_alone(staff_client: Client) -> None:
    made = {
        "to_pay": make_order_with_events(),
        "payment_problem": make_order_with_events("payment_failed"),
        "to_pack": make_order_with_events("paid"),
        "shipped": make_order_with_events("paid", "packed", "shipped"),
        "on_hold": make_order_with_events("paid", "held"),
    }
    for column in made:
        found = numbers(staff_client.get(BOARD, {"column": column}).content.decode())
        assert made[column].number in found
        assert not {order.number for key, order in made.items() if key != column} & set(found)


def test_x24_the_column_and_the_page_stand_in_the_address(
    staff_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "PAGE_LENGTH", 2)
    for _ in range(3):
        make_order_with_events("paid", "held")
    seen: list[str] = []
    address = f"{BOARD}?column=on_hold"
    for _ in range(50):
        text = staff_client.get(address).content.decode()
        assert 'id="tally-on_hold"' in text
        assert re.search(r'id="tally-on_hold"[^>]*aria-current="page"', text)
        found = numbers(text)
        assert 0 < len(found) <= 2
        assert not set(found) & set(seen)
        seen += found
        following = re.search(r'id="next" href="([^"]+)"', text)
        if not following:
            break
        address = following[1].replace("&amp;", "&")
        assert "column=on_hold" in address
    assert len(seen) >= 3


def test_what_it_does_not_understand_shows_the_orders_to_pack(staff_client: Client) -> None:
    violations = []
    for query in (
        "column=nowhere",
        "column=",
        "after=forged&column=to_pack",
        "after=%00",
        "column=to_pack&column=x",
    ):
        answer = staff_client.get(f"{BOARD}?{query}", follow=True)
        if answer.status_code != 200 or "<h1>Orders</h1>" not in answer.content.decode():
            violations.append(f"{query}: {answer.status_code}")
    assert not violations, "\n".join(violations)


def test_x16_an_empty_column_says_what_next(
    staff_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("orders.board_queries.list_board_orders", lambda *_, **__: ([], ""))
    text = staff_client.get(BOARD, {"column": "partly_shipped"}).content.decode()
    assert "No orders here" in text
    assert f'href="{BOARD}?column=to_pack"' in text
    assert "Everything is packed" in staff_client.get(BOARD).content.decode()


def test_x73_a_new_order_appears_without_a_reload(staff_client: Client) -> None:
    page = staff_client.get(BOARD, {"column": "to_pay"}).content.decode()
    poll = poll_address(page)
    order = make_order_with_events()
    answer = staff_client.get(poll, headers=HTMX)
    assert answer.status_code == 200
    part = answer.content.decode()
    assert part.lstrip().startswith('<div id="board"')
    assert "<html" not in part
    assert order.number in numbers(part)


def test_a_board_that_has_not_changed_sends_nothing(
    staff_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "find_fingerprint", lambda *_: "the same minute")
    make_order_with_events("paid")
    answer = staff_client.get(poll_address(staff_client.get(BOARD).content.decode()), headers=HTMX)
    assert answer.status_code == 204
    assert not answer.content


def test_what_is_seen_depends_on_orders_counts_and_ages() -> None:
    now = datetime.now(UTC)
    order = make_order_with_events("paid")
    seen = show(now)

    def is_seen(at: datetime = now, columns: tuple[str, ...] = pages.USUAL_CHOICE) -> bool:
        view = replace(seen.view, columns=columns)
        return pages.get_board(view, at, seen=seen.fingerprint) is None

    assert is_seen()
    assert not is_seen(now + timedelta(minutes=1))
    assert not is_seen(columns=("total",))
    change_tags(order, ["urgent"], [], actor="Ann", now=now)
    assert not is_seen()


def test_an_order_that_waits_for_over_two_days_is_marked(staff_client: Client) -> None:
    now = datetime.now(UTC)
    order = make_order_with_events("paid")
    late = next(row for row in show(now).rows if row.order.number == order.number)
    assert late.is_late
    assert not pages.is_late(late.order, late.order.placed_at + timedelta(hours=47))


def test_x3_the_pages_address_gives_the_whole_page(staff_client: Client) -> None:
    text = staff_client.get(BOARD, {"column": "shipped"}).content.decode()
    assert "<html" in text
    assert text.count('id="board"') == 1
    assert 'data-pause="board"' in text


def test_x168_filters_find_orders_by_what_is_in_them_and_stand_in_each_address(
    staff_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "MAX_SORTED", 3)
    monkeypatch.setattr(pages, "PAGE_LENGTH", 2)
    product = make_product("Findable", stock=9)
    made = []
    for place in range(6):
        # However the orders before these fall, a page ends within what was read.
        if place == 3:
            place_paid_orders(1)
        made.append(make_payment(place_order(make_draft((product, 1)), current_time())))
    (sku,) = made[0].skus
    for _ in range(4):
        make_order_with_events("paid")
    today = made[0].placed_at.date().isoformat()
    fitting = f"sku={sku.lower()}&country=DE&delivery=standard&payment=paid&first_day={today}"
    seen: list[str] = []
    address = f"{BOARD}?column=to_pack&{fitting}&last_day={today}"
    for _ in range(7):
        text = staff_client.get(address).content.decode()
        assert f"sku={sku.lower()}" in poll_address(text)
        seen += numbers(text)
        following = re.search(r'id="next" href="([^"]+)"', text)
        if not following:
            break
        address = following[1].replace("&amp;", "&")
    assert seen == [each.number for each in made]
    for other in ("sku=NO-SUCH", f"sku={sku}&country=AT", f"sku={sku}&last_day=2001-01-01"):
        assert numbers(staff_client.get(f"{BOARD}?column=to_pack&{other}").content.decode()) == []


def test_x256_a_filter_by_days_means_the_shops_days() -> None:
    """In summer an order of half past midnight is of the day before in the table, which has UTC's days."""
    year = 1970 + uuid4().int % 50
    midnight = start_of_day(date(year, 7, 2))
    order = make_order(now=midnight + timedelta(minutes=30))
    found = {
        day: order.order_id
        in {
            each.order_id
            for each in iterate_orders(OrderFilter("to_pay", first_day=day, last_day=day))
        }
        for day in (date(year, 7, 1), date(year, 7, 2), date(year, 7, 3))
    }
    assert list(found.values()) == [False, True, False]


def test_x168_what_a_filter_does_not_understand_is_said_beside_its_field(
    staff_client: Client,
) -> None:
    answer = staff_client.get(BOARD, {"first_day": "yesterday", "country": "XX", "sku": "x" * 99})
    assert answer.status_code == 422
    assert answer.context["filter"].errors.keys() == {"first_day", "country", "sku"}
    text = answer.content.decode()
    assert 'value="yesterday"' in text
    assert "yesterday" in poll_address(text)  # X277: no part of the page forgets a filter
    assert staff_client.get(poll_address(text)).status_code == 204


def test_x169_the_newest_the_oldest_and_those_that_were_promised_first_stand_above(
    staff_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "MAX_SORTED", 1_000)
    soon, long = make_order_with_events("paid"), make_order_with_events("paid")
    day = soon.placed_at.date()
    later = replace(long.method, first=day + timedelta(days=1), last=day + timedelta(days=30))
    write_copies(replace(soon, method=replace(later, last=day + timedelta(days=40))))
    write_copies(replace(long, method=later))
    for sort, expected in (
        ("newest", [long.number, soon.number]),
        ("oldest", [soon.number, long.number]),
        ("promised", [long.number, soon.number]),
    ):
        text = staff_client.get(BOARD, {"sort": sort}).content.decode()
        assert [each for each in numbers(text) if each in expected] == expected, sort
    late = show(datetime.now(UTC) + timedelta(days=35))
    assert {row.order.number for row in late.rows if row.is_late} >= {soon.number, long.number}


def test_x170_columns_are_chosen_and_kept_on_the_device(staff_client: Client) -> None:
    order = make_order_with_events("paid")
    sent = {"column": "to_pack", "country": "DE", "show_email": "on", "show_promised": "on"}
    answer = staff_client.post(reverse("adminpanel:board_columns"), sent)
    assert answer["Location"] == f"{BOARD}?column=to_pack&country=DE"
    text = staff_client.get(BOARD).content.decode()
    assert re.findall(r'<th scope="col"[^>]*>(?:<span[^>]*>)?([^<]+)', text) == [
        *("Select", "Order", "Email", "Promised until")
    ]
    assert order.email in text
    staff_client.post(reverse("adminpanel:board_columns"), {"column": "to_pack"})
    assert ">Total</th>" in staff_client.get(BOARD).content.decode()


def test_x171_orders_that_need_attention_lead_to_their_column(staff_client: Client) -> None:
    make_order_with_events("payment_failed")
    order = make_order_with_events("paid")
    found = {wait.label: wait for wait in show(order.placed_at + timedelta(days=3)).waits}
    assert found["Payment problems"].url == f"{BOARD}?column=payment_problem"
    assert int(found["Payment problems"].count.rstrip("+")) >= 1
    assert found["Oldest to pack"].count.endswith("days")
    assert "Payment problems" in staff_client.get(BOARD).content.decode()


def test_x168_all_that_a_filter_finds_is_selected_and_no_more_than_the_bound(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    placed = place_paid_orders(3)
    (sku,), made = placed[0].skus, [each.order_id for each in placed]
    everything = QueryDict(f"all=1&column=to_pack&sku={sku}&order={uuid4()}")
    assert selection.list_selected_orders(everything) == (made, 3)
    fields = selection.list_selection_fields(everything)
    assert fields == [("all", "1"), ("column", "to_pack"), ("sku", sku)]
    monkeypatch.setattr(selection, "MAX_SELECTED_ORDERS", 2)
    assert selection.list_selected_orders(everything) == (made[:2], 3)
    ticked = QueryDict(f"order={made[0]}&order=x&order={made[0]}&orders={made[1]},%00")
    assert selection.list_selected_orders(ticked) == (made[:2], 2)
    chosen = selection.OrderFilterForm(everything).build_filter()
    assert OrderFilter.from_dict(chosen.to_dict()) == chosen


def place_paid_orders(count: int) -> list[Order]:
    """So many orders of one product, the only ones of it, which are to be packed."""
    product = make_product("Findable", stock=9)
    drafts = [make_draft((product, 1)) for _ in range(count)]
    return [make_payment(place_order(draft, current_time())) for draft in drafts]


def test_x519_slips_are_printed_from_the_board_by_one_button() -> None:
    order = make_order_with_events("paid")
    client = Client(enforce_csrf_checks=True)
    sign_in_staff(client, make_user(password=None, role="warehouse"))
    page = html.fromstring(client.get(BOARD).content)
    (button,) = page.cssselect("#bulk-slips")
    address, sent = button.get("formaction"), {"order": str(order.order_id)}
    token = {button.get("name"): button.get("value")}
    assert client.post(address, sent).status_code == 403
    for _ in range(2):
        answer = client.post(address, sent | token)
        assert answer["Content-Type"] == "application/pdf"
        assert answer["Content-Disposition"].startswith('inline; filename="slips-')
    # Other buttons of the form send no token.
    names = {
        each.get("name") for each in page.cssselect("#bulk input, #bulk button:not(#bulk-slips)")
    }
    assert "csrfmiddlewaretoken" not in names

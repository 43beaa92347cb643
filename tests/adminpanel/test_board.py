"""The board: what stands where, and how it keeps up."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from django.http import QueryDict
from django.test import Client
from django.urls import reverse

from accounts.models import User
from adminpanel import board
from adminpanel.order_selection import OrderFilterForm
from orders import states
from orders.entities import CappedCount
from tests.adminpanel.conftest import make_order_with_events

BOARD = reverse("adminpanel:board")
HTMX = {"HX-Request": "true"}


@pytest.fixture(autouse=True)
def long_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Show a column whole: the oldest come first, other tests' orders among them."""
    monkeypatch.setattr(board, "PAGE_LENGTH", 1_000)


def poll_address(text: str) -> str:
    found = re.search(r'<div id="board"[^>]* hx-get="([^"]+)"', text)
    assert found
    return found[1].replace("&amp;", "&")


def show(now: datetime, query: str = "") -> board.Board:
    """The board as a page of this address would show it to somebody from the warehouse."""
    data = QueryDict(query)
    view = board.parse_view(OrderFilterForm(data), data, board.USUAL_CHOICE)
    return board.get_board(view, User(role="warehouse"), now)


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
    monkeypatch.setattr(
        "orders.queries.count_board_orders",
        lambda columns=(): dict.fromkeys(states.BOARD_COLUMNS, CappedCount(500, has_more=True)),
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
    monkeypatch.setattr(board, "PAGE_LENGTH", 2)
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
    monkeypatch.setattr("orders.queries.list_board_orders", lambda *_, **__: ([], ""))
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
    monkeypatch.setattr(board.Board, "fingerprint", "the same minute")
    make_order_with_events("paid")
    answer = staff_client.get(poll_address(staff_client.get(BOARD).content.decode()), headers=HTMX)
    assert answer.status_code == 204
    assert not answer.content


def test_what_is_seen_depends_on_orders_counts_and_ages(staff_client: Client) -> None:
    make_order_with_events("paid")
    now = datetime.now(UTC)
    seen = show(now)
    assert seen.fingerprint == replace(seen, now=now).fingerprint
    assert seen.fingerprint != replace(seen, now=now + timedelta(minutes=1)).fingerprint
    assert seen.fingerprint != replace(seen, rows=seen.rows[1:]).fingerprint
    other = replace(seen.view, shown=("total",))
    assert seen.fingerprint != replace(seen, view=other).fingerprint


def test_an_order_that_waits_for_over_two_days_is_marked(staff_client: Client) -> None:
    now = datetime.now(UTC)
    order = make_order_with_events("paid")
    late = next(row for row in show(now).rows if row.order.number == order.number)
    assert late.is_late
    assert not board.is_late(late.order, late.order.placed_at + timedelta(hours=47))


def test_x3_the_pages_address_gives_the_whole_page(staff_client: Client) -> None:
    text = staff_client.get(BOARD, {"column": "shipped"}).content.decode()
    assert "<html" in text
    assert text.count('id="board"') == 1
    assert 'data-pause="board"' in text


def test_x57_an_order_is_found_by_its_number_however_it_is_typed(staff_client: Client) -> None:
    number = make_order_with_events().number
    # 0 and O, 1 and l are read as the same.
    spoilt = (
        number.lower(),
        number.replace("-", ""),
        f"  {number.replace('-', ' ')} ",
        number.replace("0", "o").replace("1", "l"),
    )
    found = {
        typed: staff_client.get(reverse("adminpanel:find"), {"number": typed}) for typed in spoilt
    }
    led = {typed: (answer.status_code, answer.get("Location")) for typed, answer in found.items()}
    assert led == dict.fromkeys(spoilt, (302, reverse("adminpanel:order", args=[number])))


def test_x60_a_number_that_no_order_has_is_kept_and_explained(staff_client: Client) -> None:
    violations = []
    for typed in ("ZZZZ-ZZZZ", "7", "<script>", "", "x" * 300):
        answer = staff_client.get(reverse("adminpanel:find"), {"number": typed})
        text = answer.content.decode()
        expected = ["There is a problem", "<title>Error: "]
        if typed and "<" not in typed:
            expected.append(f'value="{typed}"')
        if answer.status_code != 422 or "<script>" in text.replace('<script src="', ""):
            violations.append(f"{typed!r}: {answer.status_code}, or a script in the page")
        violations += [f"{typed!r}: no {each} in the page" for each in expected if each not in text]
    assert not violations, "\n".join(violations)

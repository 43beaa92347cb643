"""The frame of the staff's pages: its side bar, and nothing of the shop's."""

from typing import Any
from unittest.mock import Mock

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from lxml import html
from pytest_django import Settings

from accounts.models import User
from accounts.roles import ADMIN, ROLES
from accounts.sessions import SessionStore
from adminpanel.side_bar import ENTRIES
from cart.request_cart import RequestCart
from cassandra_db import CassandraUnavailable, ClockWrong
from promotions import queries
from tests.adminpanel.conftest import make_order_with_events
from tests.adminpanel.people.audit_entries import list_entries_this_month
from tests.architecture.apps import ROOT, relative_path
from tests.architecture.routes import ROLES_BY_URL
from tests.factories import make_user, sign_in_staff
from tests.rules import for_each
from web.errors import TooManyAttempts

SHOPS = ".header, .footer, .menu, #q, #cart-link, #cart-badge, #cart-menu"
PAGES = sorted((ROOT / "templates" / "adminpanel").rglob("[!_]*.html"))


def parse(answer: Any) -> html.HtmlElement:
    assert isinstance(answer, HttpResponse)
    return html.fromstring(answer.content)


def current_links(page: html.HtmlElement) -> dict[str, str]:
    """Return the links of a page's side bar that are marked as current, with the mark."""
    return {
        link.get("href"): link.get("aria-current")
        for link in page.cssselect(".bar__column nav a[aria-current]")
    }


@pytest.fixture
def admin_user() -> User:
    return make_user("Ada", password=None, role=ADMIN)


@pytest.fixture
def admin(client: Client, admin_user: User) -> Client:
    return sign_in_staff(client, admin_user)


@for_each(ROLES)
def test_x86_a_role_finds_the_pages_that_it_may_open_and_no_others(role: str) -> None:
    client = sign_in_staff(Client(), make_user(password=None, role=role))
    shown = {
        link.get("href")
        for link in parse(client.get(reverse("adminpanel:second_factor"))).cssselect(
            ".bar__column nav a"
        )
    }
    assert shown == {each.url for each in ENTRIES if client.get(each.url).status_code == 200}
    assert shown == {
        each.url for each in ENTRIES if role in ROLES_BY_URL[f"adminpanel:{each.page}"]
    }
    # A telephone's menu has the same.
    narrow = parse(client.get(reverse("adminpanel:second_factor"))).cssselect(".bar__fold nav a")
    assert {link.get("href") for link in narrow} == shown


def test_x86_each_entry_is_named_once_and_an_admin_sees_all_in_their_order(admin: Client) -> None:
    page = parse(admin.get(reverse("adminpanel:people")))
    links = page.cssselect(".bar__column nav a")
    assert [link.get("href") for link in links] == [each.url for each in ENTRIES]
    assert [link.text_content().strip() for link in links] == [str(each.label) for each in ENTRIES]
    assert len({each.page for each in ENTRIES}) == len(ENTRIES) >= 7


@for_each(PAGES, relative_path, at_least=12)
def test_x86_each_page_of_the_staff_stands_in_their_frame(path: Any) -> None:
    extends = '{% extends "base.html" %}' if path.name == "base.html" else '"adminpanel/base.html"'
    assert extends in path.read_text()


def test_x86_no_page_of_the_staff_shows_or_reads_what_the_shops_frame_does(
    admin: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        RequestCart,
        "prefetch_badge",
        Mock(side_effect=AssertionError("the cart is read for a page that does not show it")),
    )
    for each in ENTRIES:
        page = parse(admin.get(each.url))
        assert not page.cssselect(SHOPS), each.page
        assert page.cssselect("body > .skip:first-child[href='#main']"), each.page
        assert page.cssselect("#status[role=status]"), each.page
        assert len(page.cssselect("h1")) == 1, each.page
        assert current_links(page) == {each.url: "page"}, each.page
        assert page.cssselect("meta[name=robots][content=noindex]"), each.page
        assert page.cssselect(".bar__column form[action='/account/logout/'] button"), each.page
        assert page.cssselect(".bar__column a[href='/']"), each.page
        assert "Ada" in page.cssselect(".bar__who")[0].text_content(), each.page


def test_x86_a_page_below_an_entry_marks_it(staff_client: Client, admin: Client) -> None:
    order = make_order_with_events("paid")
    address = reverse("adminpanel:order", args=[order.number])
    assert current_links(parse(staff_client.get(address))) == {"/staff/orders/": "true"}
    person = reverse("adminpanel:person", args=[make_user().pk])
    assert current_links(parse(admin.get(person))) == {"/staff/people/": "true"}


def test_x86_an_answer_to_htmx_brings_the_message_and_nothing_of_the_shops_frame(
    staff_client: Client,
) -> None:
    order = make_order_with_events("paid")
    answer = staff_client.post(
        reverse("adminpanel:note", args=[order.number]),
        {"note": "Fragile"},
        headers={"HX-Request": "true"},
    )
    text = answer.content.decode()
    assert 'hx-swap-oob="innerHTML:#status"' in text
    assert "cart" not in text.replace(order.number, "")


def test_x86_a_refusal_and_a_page_that_is_not_there_stand_in_the_frame_of_who_asks(
    staff_client: Client,
) -> None:
    shopper = Client()
    shopper.force_login(make_user(password=None))
    for address, status in (("/staff/people/", 403), ("/staff/orders/AAAA-BBBB/", 404)):
        answer = staff_client.get(address)
        assert answer.status_code == status
        page = parse(answer)
        assert page.cssselect(".bar nav a[href='/staff/']")
        assert current_links(page) == ({"/staff/orders/": "true"} if status == 404 else {})
        assert not page.cssselect(SHOPS)
        answer = shopper.get(address)
        assert answer.status_code == 404
        assert not parse(answer).cssselect(".bar")


def test_x86_errors_stand_in_the_frame_also_while_the_database_is_away(
    cleo: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(error: Exception) -> Any:
        monkeypatch.setattr(queries, "list_promotions_by_trigger", Mock(side_effect=error))
        answer = cleo.get(reverse("adminpanel:promotions"))
        (home,) = parse(answer).cssselect(".error-page a[href='/staff/']")
        assert parse(answer).cssselect(".bar nav")
        assert len(parse(answer).cssselect(".error-page .button")) == 1
        return answer.status_code, home.get("href"), answer.content.decode()

    assert refuse(CassandraUnavailable("away"))[:2] == (503, "/staff/")
    assert "Nothing can be saved" in refuse(ClockWrong("two minutes ahead"))[2]
    assert refuse(TooManyAttempts(60))[0] == 429
    away = Mock(side_effect=CassandraUnavailable("away"))
    monkeypatch.setattr(queries, "list_promotions_by_trigger", away)
    monkeypatch.setattr("adminpanel.context.get_side_bar", away)
    answer = cleo.get(reverse("adminpanel:promotions"))
    assert answer.status_code == 503
    assert not parse(answer).cssselect(".bar")
    # Not even the session can be read: the text is the staff's, without a frame.
    monkeypatch.setattr(SessionStore, "load", away)
    cleo.raise_request_exception = False
    answer = cleo.get(reverse("adminpanel:promotions"))
    assert answer.status_code == 503
    assert "check whether it was saved" in answer.content.decode()


def test_x86_who_has_not_passed_the_second_factor_is_shown_no_entry(settings: Settings) -> None:
    client = Client()
    client.force_login(make_user(password=None, role=ADMIN))
    page = parse(client.get(reverse("adminpanel:second_factor")))
    assert page.cssselect(".bar form[action='/account/logout/']")
    assert not page.cssselect(".bar nav")
    assert not page.cssselect(".bar [role=search]")


def test_x86_the_search_is_there_for_who_may_use_it() -> None:
    offered = {}
    for role in ROLES:
        client = sign_in_staff(Client(), make_user(password=None, role=role))
        page = parse(client.get(reverse("adminpanel:second_factor")))
        offered[role] = bool(page.cssselect(".bar [role=search] input[name=q]"))
    assert offered == {role: role in ROLES_BY_URL["adminpanel:search"] for role in ROLES}


def test_x490_the_density_of_lists_is_kept_on_the_device(admin: Client, admin_user: User) -> None:
    people, density = reverse("adminpanel:people"), reverse("adminpanel:density")
    plain = admin.get(people)
    answer = admin.post(
        density, {"density": "compact"}, headers={"Referer": f"http://testserver{people}?a=1"}
    )
    assert answer["Location"].endswith(f"{people}?a=1")
    dense = admin.get(people)
    assert [parse(each).cssselect("body.staff--compact") != [] for each in (plain, dense)] == [
        False,
        True,
    ]
    assert dense["X-Cassandra"].split(", reads")[0] == plain["X-Cassandra"].split(", reads")[0]
    answer = admin.post(density, {"density": "any"}, headers={"Referer": "https://evil.example/"})
    assert answer["Location"] == reverse("adminpanel:second_factor")
    assert not parse(admin.get(people)).cssselect("body.staff--compact")
    assert list_entries_this_month(admin_user) == []

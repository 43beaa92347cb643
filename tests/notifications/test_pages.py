"""The bell, its panel, the list and the choices: what they show, and what they cost."""

import re
from datetime import timedelta
from typing import Any
from uuid import uuid1, uuid4

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import User
from accounts.queries import get_user
from cassandra_db import current_time
from catalogue.entities import Product
from notifications import operations
from notifications.entities import DIGEST, PAGE, News
from notifications.jobs import LOOK_EVERY
from tests.factories import make_product, make_user
from tests.notifications.telling import TTLS, list_told, make_reviewed
from tests.reads import existing
from tests.storefront.page_parts import rounds, texts, tree

HTMX = {"HX-Request": "true"}
LIST, PANEL, BELL = (
    reverse(name)
    for name in ("accounts:notifications", "accounts:notification_panel", "notifications:bell")
)


@pytest.fixture
def user() -> User:
    return make_user()


@pytest.fixture
def member(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def tell(user: User, product: Product, count: int = 1, *, ago: int = 0) -> None:
    """Tell a member so many events, one a minute, the last one so many minutes ago."""
    make_reviewed(user.pk, product.product_id)
    now, ids = current_time(), {"product": product.product_id.hex}
    operations.tell(
        [
            News("review_published", user.pk, now - timedelta(minutes=ago + number), ids)
            for number in range(count)
        ]
    )


def bell(client: Client, address: str = "/help/") -> str:
    """What the bell says on a page."""
    found = tree(client.get(address)).xpath("//*[@id='bell']")
    return " ".join(found[0].text_content().split()) if found else ""


def statements(response: Any) -> dict[str, int]:
    return {name: int(count) for name, count in re.findall(r"(\w+)=(\d+)", response["X-Cassandra"])}


def test_x353_a_member_sees_how_many_are_new_and_a_guest_pays_nothing(
    user: User, member: Client
) -> None:
    assert bell(member) == "Notifications: 0 new"
    product = make_product("Jug")
    tell(user, product, 2)
    assert bell(member) == "Notifications: 2 new"
    assert bell(member, reverse("product", args=[product.slug])) == "Notifications: 2 new"
    guest = Client()
    assert bell(guest) == ""
    assert statements(Client().get("/orders/"))["statements"] == 0
    other = Client()
    other.force_login(make_user("Ben"))
    assert bell(other) == "Notifications: 0 new"  # whatever was drawn for others
    tell(user, product, 99, ago=5)
    assert bell(member) == "Notifications: 99+ new"


def test_x353_the_bell_is_read_in_the_round_of_the_member(user: User, member: Client) -> None:
    tell(user, make_product())
    for address in ("/", "/help/", "/cart/", LIST, reverse("accounts:notification_choices")):
        member.get(address)
        assert rounds(member.get(address)) <= 3, address


def test_x354_opening_the_panel_marks_all_as_seen_with_one_write(
    user: User, member: Client
) -> None:
    tell(user, make_product("Jug"), 3)
    answer = member.post(PANEL, headers=HTMX)
    assert statements(answer)["writes"] == 1
    assert 'hx-swap-oob="true"' in answer.content.decode()
    assert bell(member) == "Notifications: 0 new"
    assert statements(member.post(PANEL, headers=HTMX))["writes"] == 0
    assert sum(not each.note.is_read for each in list_told(user.pk)) == 3
    tell(user, make_product("Cup"))
    for method in (member.get, member.head):
        assert statements(method(LIST))["writes"] == 0
        assert method(PANEL)["Location"] == LIST
    assert bell(member) == "Notifications: 1 new"
    assert member.post(PANEL)["Location"] == LIST  # without a script
    assert bell(member) == "Notifications: 0 new"


def test_x354_the_panel_shows_fifty_unread_ones_first_and_the_list_shows_all(
    user: User, member: Client
) -> None:
    product = make_product("Jug")
    tell(user, product, 60, ago=10)
    newest = list_told(user.pk)[0].note
    assert member.get(LIST).status_code == 200
    opened = member.post(reverse("accounts:notification_open", args=[newest.notification_id]))
    assert opened["Location"] == f"/account/reviews/{product.slug}/"
    shown = tree(member.post(PANEL, headers=HTMX)).xpath("//li")
    assert len(shown) == 50
    assert all("Unread" in each.text_content() for each in shown)
    page = tree(member.get(LIST))
    assert len(page.xpath("//main//li[contains(@class, 'notification')]")) == 50
    (older,) = page.xpath("//main//a[contains(text(), 'older')]/@href")
    second = tree(member.get(f"{LIST}{older}"))
    assert len(second.xpath("//main//li[contains(@class, 'notification')]")) == 10
    assert member.get(f"{LIST}?after=forged").status_code == 302


def test_x354_a_read_mark_lasts_as_long_as_its_row(user: User, member: Client) -> None:
    tell(user, make_product("Jug"), 1, ago=60 * 24 * 3)
    (told,) = list_told(user.pk)
    for _ in range(2):
        member.post(reverse("accounts:notification_open", args=[told.note.notification_id]))
    (row,) = TTLS.all(user_id=user.pk)
    assert row.seconds - 5 <= row.read_seconds <= row.seconds
    assert list_told(user.pk)[0].note.is_read
    for stranger in (uuid1(), uuid4()):
        address = reverse("accounts:notification_open", args=[stranger])
        assert member.post(address).status_code == 404
    assert len(TTLS.all(user_id=user.pk)) == 1


def test_x355_marking_all_is_one_write_and_spares_what_came_since(
    user: User, member: Client
) -> None:
    product = make_product("Jug")
    tell(user, product, 5, ago=10)
    (form,) = tree(member.get(LIST)).xpath("//main//form[contains(@action, '/read/')]")
    sent = {name: value for name, value in form.form_values() if name != "csrfmiddlewaretoken"}
    assert all(each.get("formaction") for each in form.xpath(".//li//button"))
    tell(user, product)
    answer = member.post(form.action, sent)
    assert statements(answer)["writes"] == 1
    assert [each.note.is_read for each in list_told(user.pk)] == [False, *[True] * 5]
    assert bell(member) == "Notifications: 1 new"
    older = list_told(user.pk)[3].note.notification_id
    member.post(form.action, {"until": str(older)})  # a slower tab
    assert sum(each.note.is_read for each in list_told(user.pk)) == 5
    for bad in ("", "x", str(uuid4())):
        assert member.post(form.action, {"until": bad}).status_code == 303
    (panel,) = tree(member.post(PANEL, headers=HTMX)).xpath("//input[@name='until']/@value")
    part = member.post(form.action, {"until": panel}, headers=HTMX)
    assert "Mark all as read" not in part.content.decode()
    assert all(each.note.is_read for each in list_told(user.pk))


def test_x356_a_poll_is_one_read_beside_the_sessions(user: User, member: Client) -> None:
    tell(user, make_product("Jug"))
    (element,) = tree(member.get("/help/")).xpath("//*[@id='bell']")
    address = element.get("hx-get")
    seconds = int(element.get("hx-trigger").removeprefix("every ").removesuffix("s"))
    assert timedelta(seconds=seconds) + LOOK_EVERY < timedelta(minutes=1)
    same = member.get(address, headers=HTMX)
    assert (same.status_code, statements(same)["statements"]) == (204, 2)
    tell(user, make_product("Cup"))
    answer = member.get(address, headers=HTMX)
    assert statements(answer)["statements"] == 2
    assert texts(tree(answer), "#bell") == ["Notifications: 2 new"]
    guest = Client().get(BELL, headers=HTMX)
    assert (guest.status_code, statements(guest)["statements"]) == (286, 0)
    assert member.get(BELL).status_code == 302


def test_x352_a_thing_that_is_gone_shows_as_such(user: User, member: Client) -> None:
    operations.tell([News("review_published", user.pk, current_time(), {"product": uuid4().hex})])
    page = tree(member.get(LIST))
    (line,) = page.xpath("//main//li[contains(@class, 'notification')]")
    assert "News about a review that is gone" in line.text_content()
    assert not line.xpath(".//a | .//button")
    note = list_told(user.pk)[0].note
    answer = member.post(reverse("accounts:notification_open", args=[note.notification_id]))
    assert answer["Location"] == LIST


def test_x349_the_choices_of_each_kind_are_kept_and_bad_ones_are_explained(
    user: User, member: Client
) -> None:
    address = reverse("accounts:notification_choices")
    assert "No notifications" in member.get(LIST).content.decode()
    (form,) = tree(member.get(address)).xpath("//main//form")
    sent = {name: value for name, value in form.form_values() if name != "csrfmiddlewaretoken"}
    assert sent["order_shipped"] == "mail"
    answer = member.post(address, sent | {"order_shipped": DIGEST, "order_paid": PAGE})
    assert answer.status_code == 303
    assert existing(get_user(user.pk)).notification_choices["order_shipped"] == DIGEST
    bad = member.post(address, sent | {"order_paid": DIGEST})
    assert bad.status_code == 422
    assert "Choose one of the options" in bad.content.decode()
    assert Client().get(address).status_code == 302

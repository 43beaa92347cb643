"""Orders of a former shop on the staff's pages: found by the search, and from the customer's page."""

from datetime import UTC, datetime
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import User
from accounts.operations import register_user
from adminpanel.parameters import seal
from past_orders.operations import save_past_order
from tests.adminpanel.people.audit_entries import list_entries_this_month
from tests.factories import make_user, sign_in_staff
from tests.past_orders.making import make_past_order, new_past_order

SEARCH = reverse("adminpanel:search")


@pytest.fixture
def bea() -> User:
    return make_user("Bea", role="support")


@pytest.fixture
def desk(client: Client, bea: User) -> Client:
    return sign_in_staff(client, bea)


def find(desk: Client, typed: str) -> str:
    return desk.get(SEARCH, {"sealed": seal(typed)}).content.decode()


def test_x541_staff_find_past_orders_and_the_log_has_the_look(desk: Client, bea: User) -> None:
    order = new_past_order(f"ada-{uuid4().hex}@example.com", name=f"Ada {uuid4().hex[:10]}")
    assert save_past_order(order)
    for typed in (order.number, order.number.strip("#").lower(), order.email.upper()):
        page = find(desk, typed)
        assert order.number in page, typed
        assert order.email in page, typed
    assert order.email not in find(desk, f"#{uuid4().hex}")
    log = list_entries_this_month(bea)
    assert {each.act for each in log} == {"person_searched"}
    assert len(log) == 2  # a look a search, however its words are written
    assert not any(order.email in repr(each) or order.name in repr(each) for each in log)
    picker = sign_in_staff(Client(), make_user("Will", role="warehouse"))
    assert order.email not in find(picker, order.number)


def test_x541_a_customers_page_leads_to_past_orders_also_before_the_address_is_proved(
    desk: Client,
) -> None:
    proved = register_user(
        f"ada-{uuid4().hex}@example.com", "Ada", None, datetime.now(UTC), verified=True
    )
    unproved, without = make_user("Ben"), make_user("Cem")
    own, waiting = make_past_order(proved), new_past_order(unproved.email)
    assert save_past_order(waiting)
    for customer, number in ((proved, own.number), (unproved, waiting.number)):
        page = desk.get(reverse("adminpanel:customer", args=[customer.pk])).content.decode()
        link = page.split(f'href="{SEARCH}?sealed=', 1)[1].split('"', 1)[0]
        assert number in desk.get(f"{SEARCH}?sealed={link}").content.decode()
    page = desk.get(reverse("adminpanel:customer", args=[without.pk])).content.decode()
    assert f"{SEARCH}?sealed=" not in page

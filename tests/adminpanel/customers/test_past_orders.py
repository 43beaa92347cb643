"""Orders of a former shop on the staff's pages: found by a search, and from the customer's page."""

from datetime import UTC, datetime
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import User
from accounts.operations import register_user
from past_orders.operations import save_past_order
from tests.adminpanel.people.audit_entries import list_entries_this_month
from tests.factories import make_user, sign_in_staff
from tests.past_orders.making import make_past_order, new_past_order

PAGE, FIND = reverse("adminpanel:past_orders"), reverse("adminpanel:past_order_find")


@pytest.fixture
def bea() -> User:
    return make_user("Bea", role="support")


@pytest.fixture
def desk(client: Client, bea: User) -> Client:
    return sign_in_staff(client, bea)


def find(desk: Client, typed: str) -> str:
    answer = desk.post(FIND, {"q": typed})
    assert answer.status_code == 303
    assert typed not in answer["Location"]
    return desk.get(answer["Location"]).content.decode()


def test_x541_staff_find_past_orders_and_the_log_has_the_look(desk: Client, bea: User) -> None:
    order = new_past_order(f"ada-{uuid4().hex}@example.com", name=f"Ada {uuid4().hex[:10]}")
    assert save_past_order(order)
    for typed in (order.number, order.email, order.name):
        page = find(desk, typed)
        assert order.number in page, typed
        assert order.email in page, typed
    assert "No past orders found." in find(desk, f"#{uuid4().hex}")
    assert desk.post(FIND, {"q": ""}).status_code == 422
    log = list_entries_this_month(bea)
    assert {each.act for each in log} == {"person_searched"}
    assert len(log) == 4
    assert not any(order.email in repr(each) or order.name in repr(each) for each in log)


def test_x541_a_customers_page_leads_to_past_orders_also_before_the_address_is_proved(
    desk: Client, bea: User
) -> None:
    proved = register_user(
        f"ada-{uuid4().hex}@example.com", "Ada", None, datetime.now(UTC), verified=True
    )
    unproved, without = make_user("Ben"), make_user("Cem")
    own, waiting = make_past_order(proved), new_past_order(unproved.email)
    assert save_past_order(waiting)
    for customer, number in ((proved, own.number), (unproved, waiting.number)):
        address = f"{PAGE}?customer={customer.pk}"
        assert (
            address in desk.get(reverse("adminpanel:customer", args=[customer.pk])).content.decode()
        )
        assert number in desk.get(address).content.decode()
    page = desk.get(reverse("adminpanel:customer", args=[without.pk])).content.decode()
    assert PAGE not in page.split("<main", 1)[1]
    assert desk.get(f"{PAGE}?customer={uuid4()}").status_code == 404
    subjects = {each.subject for each in list_entries_this_month(bea)}
    assert {str(proved.pk), str(unproved.pk)} <= subjects

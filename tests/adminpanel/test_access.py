"""Who gets in. The staff's addresses are closed unless a view says who may."""

import pytest
from django.test import Client
from django.urls import URLPattern, reverse

from accounts.access import ORDER_STAFF
from accounts.models import User
from adminpanel.urls import urlpatterns
from tests.factories import make_user

ADDRESSES = [
    reverse(f"adminpanel:{pattern.name}", args=["AAAA-BBBB"] if "<str:number>" in str(pattern.pattern) else [])
    for pattern in urlpatterns
]


@pytest.fixture
def shopper() -> User:
    return make_user("Sam")


def test_every_address_is_walked() -> None:
    assert all(isinstance(pattern, URLPattern) for pattern in urlpatterns)
    assert len(ADDRESSES) >= 5


@pytest.mark.parametrize("method", ["get", "post", "put", "delete"])
@pytest.mark.parametrize("address", ADDRESSES)
def test_s25_a_guest_is_sent_to_log_in(client: Client, address: str, method: str) -> None:
    answer = getattr(client, method)(address)
    assert answer.status_code in (302, 303)
    assert answer["Location"].startswith(reverse("accounts:login"))
    if method == "get":
        assert f"next={address}" in answer["Location"]


@pytest.mark.parametrize("method", ["get", "post"])
@pytest.mark.parametrize("address", ADDRESSES)
def test_s24_for_a_shopper_there_is_no_such_page(client: Client, shopper: User, address: str, method: str) -> None:
    client.force_login(shopper)
    answer = getattr(client, method)(address)
    assert answer.status_code == 404
    assert "No order" not in answer.content.decode()


@pytest.mark.parametrize("role", ["catalogue", "analyst"])
@pytest.mark.parametrize("address", ADDRESSES)
def test_other_staff_have_no_business_with_orders(client: Client, role: str, address: str) -> None:
    client.force_login(make_user("Kim", role=role))
    assert client.get(address).status_code == 403
    assert client.post(address).status_code == 403


@pytest.mark.parametrize("role", [*ORDER_STAFF, "admin"])
def test_those_who_work_on_orders_get_in(client: Client, role: str) -> None:
    client.force_login(make_user("Ann", role=role))
    answer = client.get(reverse("adminpanel:board"))
    assert answer.status_code == 200
    assert "no-store" in answer["Cache-Control"]


@pytest.mark.parametrize("address", [a for a in ADDRESSES if a.endswith(("/move/", "/note/"))])
def test_s20_nothing_is_changed_by_a_get(client: Client, address: str) -> None:
    client.force_login(make_user("Ann", role="warehouse"))
    answer = client.get(address)
    assert (answer.status_code, answer["Location"]) == (302, address.rsplit("/", 2)[0] + "/")


def test_s19_a_press_without_a_token_is_refused() -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(make_user("Ann", role="warehouse"))
    assert client.post(reverse("adminpanel:move", args=["AAAA-BBBB"])).status_code == 403

"""Who gets in. The staff's addresses are closed unless a view says who may; this is the table of docs/operations.md."""

import logging
import re
from uuid import UUID

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import URLPattern, reverse
from pytest_django import Settings

from accounts import audit
from accounts.access import ADMIN, MAY, MONEY_STAFF, ORDER_STAFF, ROLES
from accounts.models import User
from adminpanel.urls import urlpatterns
from tests.adminpanel.reading import of_today
from tests.factories import make_user, staff_signed_in
from tests.house.rooms import ROOT

EVERYBODY = set(ROLES)
WHO_MAY = {
    "board": {*ORDER_STAFF, ADMIN},
    "find": {*ORDER_STAFF, ADMIN},
    "order": {*ORDER_STAFF, ADMIN},
    "move": {*ORDER_STAFF, ADMIN},
    "note": {*ORDER_STAFF, ADMIN},
    "pack": {*ORDER_STAFF, ADMIN},
    "parcel": {*ORDER_STAFF, ADMIN},
    "sent_back": {*ORDER_STAFF, ADMIN},
    "lines": {*ORDER_STAFF, ADMIN},
    "door": {*ORDER_STAFF, ADMIN},
    "refund": {*MONEY_STAFF, ADMIN},
    "return_refund": {*MONEY_STAFF, ADMIN},
    "received": {*MONEY_STAFF, ADMIN},
    "money_sent": {*MONEY_STAFF, ADMIN},
    "second_factor": EVERYBODY,
    "second_factor_picture": EVERYBODY,
    "recovery_codes": EVERYBODY,
    "people": {ADMIN},
    "person_find": {ADMIN},
    "person": {ADMIN},
    "person_role": {ADMIN},
    "person_sessions_end": {ADMIN},
    "person_factor_reset": {ADMIN},
    "log": {ADMIN},
    "sales": {"analyst", ADMIN},
    "worker": {*ORDER_STAFF, ADMIN},
    "promotions": {"catalogue", ADMIN},
    "promotion_make": {"catalogue", ADMIN},
    "promotion_end": {"catalogue", ADMIN},
}
# The second factor's own pages: whoever works here sees them before it is passed.
BEFORE = {"second_factor", "second_factor_picture"}


def address_of(name: str) -> str:
    pattern = next(str(each.pattern) for each in urlpatterns if each.name == name)
    known: dict[str, object] = {"number": "AAAA-BBBB", "user_id": UUID(int=7), "shelf": "code"}
    return reverse(
        f"adminpanel:{name}", kwargs={each: known.get(each, "nothing") for each in re.findall(r"<\w+:(\w+)>", pattern)}
    )


@pytest.fixture(scope="module")
def clients() -> dict[str, Client]:
    """One of each role, each past the second factor."""
    return {role: staff_signed_in(Client(), make_user(role.capitalize(), password=None, role=role)) for role in ROLES}


@pytest.fixture
def shopper() -> User:
    return make_user("Sam", password=None)


def test_every_address_stands_in_the_table_and_says_who_may() -> None:
    assert all(isinstance(pattern, URLPattern) for pattern in urlpatterns)
    assert {str(pattern.name) for pattern in urlpatterns} == set(WHO_MAY)
    for pattern in urlpatterns:
        assert pattern.callback.access == "staff"  # type: ignore[attr-defined]
        assert {*pattern.callback.roles, ADMIN} == WHO_MAY[str(pattern.name)]  # type: ignore[attr-defined]


def test_the_table_in_the_documents_says_the_same() -> None:
    text = (ROOT / "docs" / "operations.md").read_text().partition("## Who may what")[2].partition("\n## ")[0]
    told = {
        names: {role for role, mark in zip(MAY, cells.split("|"), strict=False) if "yes" in mark}
        for names, cells in re.findall(r"^\| [^|]+ \| `([a-z_`, ]+)` \|(.+)\|$", text, re.MULTILINE)
    }
    flat = {name.strip("` "): roles for names, roles in told.items() for name in names.split(",")}
    assert flat == WHO_MAY


@pytest.mark.parametrize("method", ["get", "post"])
@pytest.mark.parametrize("name", WHO_MAY)
@pytest.mark.parametrize("role", ROLES)
def test_each_role_gets_what_the_table_says(clients: dict[str, Client], role: str, name: str, method: str) -> None:
    answer: HttpResponse = getattr(clients[role], method)(address_of(name))
    if role in WHO_MAY[name]:
        # No such order, no such person: but they were let as far as to find that out.
        assert answer.status_code in (200, 302, 303, 404, 405, 422)
    else:
        assert answer.status_code == 403


@pytest.mark.parametrize("method", ["get", "post", "put", "delete"])
@pytest.mark.parametrize("name", WHO_MAY)
def test_s25_a_guest_is_sent_to_log_in(client: Client, name: str, method: str) -> None:
    address = address_of(name)
    answer = getattr(client, method)(address)
    assert answer.status_code in (302, 303)
    assert answer["Location"].startswith(reverse("accounts:login"))
    if method == "get":
        assert f"next={address}" in answer["Location"]


@pytest.mark.parametrize("method", ["get", "post"])
@pytest.mark.parametrize("name", WHO_MAY)
def test_s24_for_a_shopper_there_is_no_such_page(client: Client, shopper: User, name: str, method: str) -> None:
    client.force_login(shopper)
    answer = getattr(client, method)(address_of(name))
    assert answer.status_code == 404
    assert "No order" not in answer.content.decode()


def test_s24_a_shopper_who_asks_is_entered_in_both_logs(
    client: Client, shopper: User, caplog: pytest.LogCaptureFixture
) -> None:
    client.force_login(shopper)
    with caplog.at_level(logging.WARNING, "accounts.access"):
        answer = client.get(address_of("people"))
    assert f"user {shopper.pk}, no staff, asked for adminpanel:people" in caplog.text
    (entry,) = of_today(shopper, audit.ACCOUNTS)
    assert (entry.act, entry.outcome) == ("adminpanel:people", "refused: no such page for a shopper (404)")
    assert str(entry.request_id) == answer["X-Request-Id"]


def test_s24_who_goes_on_asking_does_not_fill_the_audit_log(client: Client, shopper: User, settings: Settings) -> None:
    settings.LIMITS = settings.LIMITS | {"password": (3, 0, 0, 60)}
    client.force_login(shopper)
    assert [client.get(address_of("people")).status_code for _ in range(6)] == [404] * 6
    assert len(of_today(shopper, audit.ACCOUNTS)) == 3


@pytest.mark.parametrize("name", sorted(set(WHO_MAY) - BEFORE))
def test_s26_without_the_second_factor_each_page_leads_to_it(client: Client, name: str) -> None:
    client.force_login(make_user("Ada", password=None, role="admin"))
    answer = client.get(address_of(name))
    assert answer.status_code == 302
    assert answer["Location"] == f"{reverse('adminpanel:second_factor')}?next={address_of(name)}"
    # What htmx asks for is answered by leading the whole page there.
    part = client.get(address_of(name), headers={"HX-Request": "true"})
    assert part["HX-Redirect"].startswith(reverse("adminpanel:second_factor"))
    assert client.post(address_of(name))["Location"].startswith(reverse("adminpanel:second_factor"))


def test_no_cache_keeps_a_staff_page(clients: dict[str, Client]) -> None:
    for name in ("board", "people", "log", "second_factor"):
        assert "no-store" in clients["admin"].get(address_of(name))["Cache-Control"]


@pytest.mark.parametrize(
    "name", ["move", "note", "recovery_codes", "person_find", "person_role", "person_sessions_end"]
)
def test_s20_nothing_is_changed_by_a_get(clients: dict[str, Client], name: str) -> None:
    answer = clients["admin"].get(address_of(name))
    assert answer.status_code == 302
    assert answer["Location"] != address_of(name)


def test_s19_a_press_without_a_token_is_refused() -> None:
    client = Client(enforce_csrf_checks=True)
    staff_signed_in(client, make_user("Ann", password=None, role="warehouse"))
    assert client.post(address_of("move")).status_code == 403

"""X545: staff list, add, change and remove redirects from addresses of a former shop."""

from uuid import uuid4

import pytest
from cassandra.util import uuid_from_time
from django.test import Client
from django.urls import reverse

from adminpanel.catalogue.views import redirects as page
from catalogue.missing_addresses import WRITE_SAMPLE
from catalogue.operations.redirects import get_redirect, save_redirect
from tests.catalogue.redirects import allow_in_shard, find_path_beside
from tests.clock import now
from tests.factories import make_user, sign_in_staff
from tests.rules import assert_explained
from tests.storefront.page_parts import texts, tree

LIST, REMOVE = reverse("adminpanel:redirects"), reverse("adminpanel:redirect_remove")


@pytest.fixture
def client() -> Client:
    return sign_in_staff(Client(), make_user("Cat", role="catalogue"))


def test_x545_staff_add_change_and_remove_a_redirect(client: Client) -> None:
    path = f"/pages/{uuid4().hex}"
    for address, target, seen in (("/deals/", "deals", ""), ("/new/", "new_arrivals", "deals")):
        body = {"old_address": f"https://a.example{path}/?x=1", "new_address": address}
        assert client.post(LIST, body | {"seen": seen})["Location"] == LIST
        assert get_redirect(path) == target
    shown = tree(client.get(LIST, {"begin": path}))
    assert texts(shown, "th[scope=row]")[0] == path
    assert texts(shown, "td a")[0] == "/new/"
    for _twice in range(2):
        assert client.post(REMOVE, {"path": path, "seen": "new_arrivals"}).status_code == 303
        assert get_redirect(path) == ""
    assert_explained(
        lambda typed: client.post(LIST, {"old_address": path, "new_address": "/deals/"} | typed),
        [
            ({"old_address": "mug"}, "Enter an old address such as /products/mug."),
            ({"old_address": "/deals"}, "The shop has a page at this address."),
            ({"new_address": "https://evil.example/"}, "Enter an address of the shop"),
            ({"new_address": "/nothing-here/"}, "The shop has no page at this address"),
            ({"new_address": ""}, "Enter"),
        ],
    )


def test_x546_an_address_that_was_not_found_is_redirected_from_its_row(client: Client) -> None:
    path = f"/pages/{uuid4().hex[:12]}"
    for _sample in range(9):
        WRITE_SAMPLE.run(day=now().date(), path=path, sample_id=uuid_from_time(now()))
    shown = tree(client.get(LIST))
    row = next(each for each in shown.cssselect("tr") if path in each.text_content())
    assert "9" in texts(row, "td")
    address = row.cssselect("a")[0].get("href")
    form = tree(client.get(f"{LIST}{address}"))
    assert form.cssselect("[name=old_address]")[0].get("value") == path
    client.post(LIST, {"old_address": path, "new_address": "/deals/"})
    section = tree(client.get(LIST)).xpath("string(//section[@aria-labelledby='missing'])")
    assert path not in section


def test_s122_what_was_typed_stays_when_there_are_too_many_redirects(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = f"/pages/{uuid4().hex}"
    save_redirect(path, "deals")
    allow_in_shard(monkeypatch, 1)
    for typed, seen, status in ((find_path_beside(path), "", 422), (path, "deals", 303)):
        answer = client.post(LIST, {"old_address": typed, "new_address": "/new/", "seen": seen})
        assert answer.status_code == status, typed
        if status == 422:
            assert tree(answer).cssselect("[name=old_address]")[0].get("value") == typed
            assert "There are too many redirects" in answer.content.decode()


def test_x545_who_types_an_address_that_is_redirected_sees_where_it_leads_and_may_change_it(
    client: Client,
) -> None:
    path = f"/pages/{uuid4().hex}"
    save_redirect(path, "deals")
    refused = client.post(LIST, {"old_address": path, "new_address": "/new/"})
    assert refused.status_code == 409
    shown = tree(refused)
    assert "It leads to /deals/ now." in texts(shown, ".field__error")[0]
    form = next(each for each in shown.forms if "new_address" in each.fields)
    assert client.post(LIST, dict(form.form_values())).status_code == 303
    assert get_redirect(path) == "new_arrivals"


def test_x545_the_list_of_redirects_goes_on_with_the_next_path(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page, "PAGE_LENGTH", 2)
    begin = f"/pages/{uuid4().hex}"
    paths = [f"{begin}/{number}" for number in range(3)]
    for path in paths:
        save_redirect(path, "deals")
    first = tree(client.get(LIST, {"begin": begin}))
    assert texts(first, "th[scope=row]")[:2] == paths[:2]
    further = first.cssselect("a[rel=next]")[0].get("href")
    assert texts(tree(client.get(f"{LIST}{further}")), "th[scope=row]")[0] == paths[2]
    assert "No redirects from this address on." in client.get(f"{LIST}?begin=/~").content.decode()

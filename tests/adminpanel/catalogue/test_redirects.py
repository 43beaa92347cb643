"""X545: staff list, add, change and remove redirects from addresses of a former shop."""

from uuid import uuid4

import pytest
from cassandra.util import uuid_from_time
from django.test import Client
from django.urls import reverse

from catalogue.missing_addresses import WRITE_SAMPLE
from catalogue.operations.redirects import get_redirect
from tests.clock import now
from tests.factories import make_user, sign_in_staff
from tests.reads import existing
from tests.rules import assert_explained
from tests.storefront.page_parts import texts, tree

LIST, SAVE = reverse("adminpanel:redirects"), reverse("adminpanel:redirect_save")


@pytest.fixture
def client() -> Client:
    return sign_in_staff(Client(), make_user("Cat", role="catalogue"))


def test_x545_staff_add_change_and_remove_a_redirect(client: Client) -> None:
    path = f"/pages/{uuid4().hex}"
    for address in ("/deals/", "/new/"):
        body = {"old_address": f"https://a.example{path}/?x=1", "new_address": address}
        assert client.post(SAVE, body)["Location"] == LIST
        assert existing(get_redirect(path)).address == address
    page = tree(client.get(LIST, {"after": path[:-1]}))
    assert texts(page, "th[scope=row]")[0] == path
    assert texts(page, "td a")[0] == "/new/"
    for _twice in range(2):
        assert client.post(reverse("adminpanel:redirect_remove"), {"path": path}).status_code == 303
        assert get_redirect(path) is None
    assert_explained(
        lambda typed: client.post(SAVE, {"old_address": path, "new_address": "/deals/"} | typed),
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
    page = tree(client.get(LIST))
    row = next(each for each in page.cssselect("tr") if path in each.text_content())
    assert "9" in texts(row, "td")
    address = row.cssselect("a")[0].get("href")
    form = tree(client.get(f"{LIST}{address}"))
    assert form.cssselect("[name=old_address]")[0].get("value") == path
    client.post(SAVE, {"old_address": path, "new_address": "/deals/"})
    section = tree(client.get(LIST)).xpath("string(//section[@aria-labelledby='missing'])")
    assert path not in section

"""The command field finds what staff type, letter by letter: recent items first, and no more than their role may open."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import Mock
from uuid import uuid4

import pytest
import time_machine
from django.test import Client, override_settings
from django.urls import reverse
from lxml import html

from accounts import looks
from accounts.models import User
from accounts.operations import set_role
from accounts.operations.search_terms import save_search_terms
from accounts.queries import get_user
from accounts.roles import ROLES
from cassandra_db import CassandraUnavailable
from catalogue.entities import Product
from catalogue.operations import change_product_status
from catalogue.search_index import build_index
from orders.operations.erasure import anonymize_order
from tests.adminpanel.conftest import make_order_with_events
from tests.adminpanel.people.audit_entries import list_entries_this_month
from tests.adminpanel.test_page_costs import read_cost
from tests.factories import make_product, make_user, sign_in_staff
from tests.reads import existing

if TYPE_CHECKING:
    from django.test.client import _MonkeyPatchedWSGIResponse

COMMAND, SEARCH = reverse("adminpanel:command"), reverse("adminpanel:search")
NOW = datetime.now(UTC)


def send(client: Client, typed: str = "") -> "_MonkeyPatchedWSGIResponse":
    return client.post(COMMAND, {"q": typed}, headers={"HX-Request": "true"})


def found(client: Client, typed: str = "") -> dict[str, str]:
    """The options for a typed text: their addresses and what they say, in their order."""
    answer = send(client, typed)
    assert answer.status_code == 200
    options = html.fromstring(answer.content.decode()).cssselect("[role=option]")
    return {each.get("data-href"): " ".join(each.text_content().split()) for each in options}


def url(page: str, key: object) -> str:
    return reverse(f"adminpanel:{page}", args=[key])


@pytest.fixture
def ada() -> User:
    return make_user("Ada", role="admin")


@pytest.fixture
def admin(client: Client, ada: User) -> Client:
    return sign_in_staff(client, ada)


@pytest.fixture
def draft(tmp_path: Path) -> Iterator[Product]:
    product = change_product_status(make_product(f"Teapot {uuid4().hex[:8]}"), "draft", NOW)
    with override_settings(SEARCH_INDEX_DIR=tmp_path):
        build_index([product])
        yield product


def test_x493_names_cities_numbers_and_skus_are_found_by_their_beginnings(
    admin: Client, draft: Product
) -> None:
    word = f"q{uuid4().hex[:9]}"
    member = make_user(f"Mia de {word.title()}")
    save_search_terms(member.pk)
    order = make_order_with_events("paid", now=NOW, name=f"Sam {word}")
    customer, number = url("customer", member.pk), url("order", order.number)
    product, sku = url("product", draft.product_id), draft.variants[0].sku
    expected = {
        word[:6]: {customer, number},
        f"mia {word[:4]}": {customer},
        order.number[:6]: {number},
        order.number.replace("-", " ").lower(): {number},
        order.email.upper(): {number},
        order.skus[0].lower(): {number},
        member.email: {customer},
        sku[:-2].lower(): {product},
        draft.name[:10]: {product},
        "aud": {reverse("adminpanel:log")},
        "tax": {reverse("adminpanel:tax_rates")},
        "bulk": {reverse("adminpanel:order_changes"), reverse("adminpanel:bulk_changes")},
    }
    missing = {typed: wanted - found(admin, typed).keys() for typed, wanted in expected.items()}
    assert not any(missing.values()), missing
    # An address is found as a whole only; one letter finds nothing.
    for typed in (order.email[:-1], member.email.split("@")[0] + "@", word[0]):
        assert not found(admin, typed).keys() & {customer, number}, typed


def test_x493_an_order_is_found_by_its_city_until_its_person_is_erased(admin: Client) -> None:
    order = make_order_with_events("paid", now=datetime.now(UTC))
    address = url("order", order.number)
    assert {address in found(admin, typed) for typed in ("berl", "Berlin")} == {True}
    assert address not in found(admin, "erlin")
    anonymize_order(order, datetime.now(UTC))
    assert address not in found(admin, "berlin")


def test_x493_an_option_says_status_total_and_picture(admin: Client, draft: Product) -> None:
    order = make_order_with_events("paid", now=NOW)
    said = found(admin, order.number[:6])[url("order", order.number)]
    assert said.startswith(f"{order.number} Sam Shopper, ")
    assert said.endswith("To pack €28.90")
    answer = send(admin, draft.name)
    (option,) = html.fromstring(answer.content.decode()).cssselect("[data-href*=products]")
    assert "Draft" in option.text_content()
    assert "€12.00" in option.text_content()
    assert option.cssselect("img")
    assert 'data-said="1 result"' in answer.content.decode()
    assert "No results" in send(admin, uuid4().hex).content.decode()


def test_x494_recent_items_come_first(admin: Client, ada: User, draft: Product) -> None:
    make_user("Root", role="admin")  # so that Ada is not the last one
    orders = [make_order_with_events(now=NOW, name=f"Quinn Recent{each}") for each in range(3)]
    member = make_user("Zoe")
    assert found(admin) == {}
    first, last = (url("order", orders[each].number) for each in (0, 2))
    pages = [first, url("customer", member.pk)]
    for address in pages:
        admin.get(address)
    admin.post(url("product_status", draft.product_id), {"status": "draft"})
    assert list(found(admin)) == [url("product", draft.product_id), *pages[::-1]]
    # Enter after one letter opens nothing that has no such letter.
    assert found(admin, "7") == {}
    # The newest order comes first, unless an older one was looked at.
    typed = [each for each in found(admin, "quinn recent") if "/orders/" in each]
    assert (typed[0], last in typed) == (first, True)
    with time_machine.travel(NOW + timedelta(days=8), tick=False):
        assert found(admin) == {}
    # Who has another role now is shown no more than that role may open.
    set_role(ada.pk, "catalogue", datetime.now(UTC))
    moved = sign_in_staff(Client(), existing(get_user(ada.pk)))
    assert list(found(moved)) == [url("product", draft.product_id)]


def test_x495_each_role_finds_what_it_may_open(client: Client, draft: Product) -> None:
    word = f"w{uuid4().hex[:9]}"
    member = make_user(f"Mia {word}")
    save_search_terms(member.pk)
    order = make_order_with_events(now=NOW, name=f"Sam {word}")
    for role in ROLES:
        sign_in_staff(client, make_user(password=None, role=role))
        if role == "analyst":
            assert send(client, word).status_code == 403
            continue
        shown = (
            found(client, word) | found(client, draft.name) | found(client, "au") | found(client)
        ) | found(client, "tax")
        expected = {
            url("order", order.number): role in ("support", "warehouse", "admin"),
            url("customer", member.pk): role in ("support", "admin"),
            url("product", draft.product_id): role in ("catalogue", "admin"),
            reverse("adminpanel:log"): role == "admin",
            reverse("adminpanel:tax_rates"): role == "admin",
        }
        assert {address: address in shown for address in expected} == expected, role
        nothing = send(client, uuid4().hex).content.decode()
        assert ("can search earlier years" in nothing) is (role != "catalogue"), role


def test_s92_what_was_typed_stands_in_no_address(admin: Client) -> None:
    order = make_order_with_events(now=NOW, name="Wilhelmina Quux")
    answer = send(admin, "Wilhelmina")
    assert order.number in answer.content.decode()
    assert not [name for name in answer.headers if name.startswith("HX-")]
    assert admin.get(COMMAND)["Location"] == SEARCH
    forms = html.fromstring(admin.get(SEARCH).content.decode()).cssselect("form.search")
    assert {(each.get("method"), each.get("action")) for each in forms} == {("post", COMMAND)}
    # Enter before there is an option, or without one: the page of results, with what was typed encrypted.
    for typed in ("Wilhelmina", order.email):
        leads_on = admin.post(COMMAND, {"q": typed})["Location"]
        assert leads_on.startswith(f"{SEARCH}?sealed=")
        assert typed not in leads_on
        page = admin.get(leads_on).content.decode()
        assert order.number in page
        assert typed not in page.split("</title>")[0]
        assert typed == order.email or "sealed=" in html.fromstring(page).cssselect("#results a")[
            -1
        ].get("href")
    assert admin.get(admin.post(COMMAND, {"q": order.number})["Location"])["Location"] == url(
        "order", order.number
    )
    assert admin.post(COMMAND, {"q": " "})["Location"] == SEARCH


def test_s107_typing_is_one_entry_in_ten_minutes_and_before_anybody_is_shown(
    admin: Client, ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    word = f"v{uuid4().hex[:9]}"
    order = make_order_with_events(now=NOW, name=f"Sam {word}")
    found(admin, uuid4().hex)
    found(admin, "audit")
    assert list_entries_this_month(ada, "staff") == [], "nobody was shown"
    for typed in (word[:4], word[:5], word, order.number):
        assert url("order", order.number) in found(admin, typed)
    (entry,) = list_entries_this_month(ada, "staff")
    assert (entry.act, entry.subject, entry.fields) == (looks.TYPED_LOOK, "", {})
    with monkeypatch.context() as away:
        away.setattr(looks, "LOGGED_AGAIN_AFTER", timedelta(0))
        gone = Mock(side_effect=CassandraUnavailable("the log is away"))
        away.setattr("accounts.audit_log.add_entry", gone)
        assert send(admin, word).status_code == 503, "what cannot be logged is not shown"
    later = datetime.now(UTC) + looks.LOGGED_AGAIN_AFTER + timedelta(minutes=1)
    with time_machine.travel(later, tick=False):
        found(admin, word)
    assert len(list_entries_this_month(ada, "staff")) == 2


def test_x496_a_keystroke_takes_two_rounds_of_bounded_reads(
    admin: Client, draft: Product, tmp_path: Path
) -> None:
    order = make_order_with_events(now=NOW, name="Quentin Zarathustra")
    admin.get(url("order", order.number))
    typed = ("zarath", order.number[:6], order.email, draft.name, "berlin")
    for each in typed:
        send(admin, each)
    # Before them: the session, and its user.
    costs = {each: read_cost(send(admin, each)) for each in (*typed, "")}
    statements = {each: cost[0] for each, cost in costs.items()}
    assert max(statements.values()) <= 2 + 2 + 11 + 5 + 10, statements
    # Of SKUs with the same beginning four are read for each year; of a text that may be a name, none.
    made = make_product(options={"Size": [f"{each}" for each in range(8)]})
    variants = (replace(each, sku=f"QUUX-{each.position}") for each in made.variants)
    with override_settings(SEARCH_INDEX_DIR=tmp_path / "skus"):
        build_index([replace(made, variants=tuple(variants))])
        costs |= {each: read_cost(send(admin, each)) for each in ("quux", "quux-")}
    assert costs["quux-"][0] - costs["quux"][0] == 4 * 2, costs
    rounds = {each: cost[1] for each, cost in costs.items()}
    assert rounds.pop("") <= 5
    assert max(rounds.values()) <= 4, rounds

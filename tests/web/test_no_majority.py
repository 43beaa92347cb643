"""Where no majority of nodes answers, a page waits for that once and then says so, and the process is not ready."""

from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse

from cassandra_db import LOCAL_ONE, CassandraUnavailable, Row
from cassandra_db.statements import PendingResult
from catalogue.search_rules import get_search_rules
from promotions.queries import clear_promotion_cache
from shop_settings.queries import get_settings
from tests.factories import make_product, make_user


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The statements that were waited for in vain: from now on all that one node cannot answer alone."""
    found: list[str] = []
    rows = PendingResult.rows

    def silent(self: PendingResult) -> list[Row]:
        if self.statement.consistency == LOCAL_ONE:
            return rows(self)
        found.append(self.statement.question)
        raise CassandraUnavailable("no answer")

    def conditional(first: Any, *_: object) -> None:
        found.append(first.prepared_statement.query_string)
        raise CassandraUnavailable("no answer")

    monkeypatch.setattr(PendingResult, "rows", silent)
    monkeypatch.setattr("cassandra_db.statements.apply_with_retries", conditional)
    return found


def test_a_page_waits_once(request: pytest.FixtureRequest) -> None:
    product = make_product("Hourglass", stock=5)
    variant = product.variants[0]
    add = {"variant": variant.sku, "quantity": "1", "operation": str(uuid4())}
    guest, member = (Client(raise_request_exception=False) for _ in range(2))
    member.force_login(make_user())
    for who in (guest, member):
        who.post(reverse("cart:add"), add)
    # As a process has read them before.
    get_settings()
    get_search_rules()
    # A read that another test began is no wait of these pages.
    clear_promotion_cache()
    pages = (
        *("/", reverse("product", args=(product.slug,)), "/search?q=glass", "/readyz", "/orders/"),
        *("/cart/", "/carts/", "/cart/panel/", "/checkout/"),
        *("/account/", "/account/login/", "/account/orders/"),
    )
    forms = (
        (reverse("cart:add"), add),
        ("/account/login/", {"email": "ada@example.com", "password": "x"}),
        ("/orders/", {"number": "ABCD", "email": "ada@example.com"}),
    )
    waits: list[str] = request.getfixturevalue("waits")
    found = []
    for who in (guest, member):
        for address, sent in (*((page, None) for page in pages), *forms):
            waits.clear()
            answer = who.get(address) if sent is None else who.post(address, sent)
            if len(waits) > 1 or (waits and answer.status_code != 503):
                found.append((address, answer.status_code, list(waits)))
    assert found == []


def test_without_a_majority_it_is_not_ready(client: Client, waits: list[str]) -> None:
    ready = client.get("/readyz")
    assert (ready.status_code, ready.content) == (
        503,
        b"no majority of Cassandra's nodes answers\n",
    )
    assert len(waits) == 1

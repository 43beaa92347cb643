"""What the staff's pages cost in Cassandra, at most: the statements and rounds of a page that is opened for the second time."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from uuid import uuid4

import pytest
from django.http import HttpResponseBase
from django.test import Client
from django.urls import NoReverseMatch, URLPattern, URLResolver, get_resolver, reverse

from accounts.queries import SHOP, STAFF
from adminpanel.conversations.inbox_page import current_people
from adminpanel.home.to_do import QUEUES, oldest_order
from adminpanel.promotions.pages import list_promotion_lines
from adminpanel.stock.low_stock import low_stock
from cassandra_db import current_time
from orders import operations
from orders.operations import board_counts
from promotions.operations import PromotionTerms, create_promotion
from promotions.queries import CODE
from promotions.rules import FREE_DELIVERY
from tests.adminpanel.conftest import make_order_with_events
from tests.factories import make_product, make_user, sign_in_staff

# Every page: the session, the user, and two rounds of its own.
USUAL = (8, 4)
BOUNDS = {
    "attention": (10, 3),  # a partition of each of six reasons
    "blocked_senders": (72, 4),  # sixteen partitions of addresses, and who blocked each of fifty
    "board": (20, 3),
    "brand": (28, 4),  # the names of those who saved the last twenty
    "bulk_changes": (58, 4),  # the names of those who started each of the fifty
    "customer": (14, 4),
    # The people of 25 rows and of ten looks, and four partitions of each of 24 months in four rounds; a month usually fills the page.
    "customers": (140, 8),
    "front_page_rows": (10, 4),
    "home": (10, 3),  # one round of its own, on the first of March with a third month
    "log": (90, 4),  # who acted in forty entries, and on whom
    "mails": (150, 4),  # a partition of each of 30 days, 16 of addresses, and 100 mails
    "open_invoices": (20, 3),  # sixteen partitions
    "order_changes": (58, 4),
    "order": (14, 6),  # the order leads to its customer, and to that customer's other orders
    "papers": (58, 4),
    "person": (8, 6),
    "promotions": (30, 5),  # and what each code has taken off
    "products": (60, 6),  # two for each of 25 rows
    "redirects": (72, 4),  # partitions of 32 shards and seven days, and 25 addresses
    "sales": (20, 4),  # three periods, each in two or three months
    "searches": (40, 3),  # a partition of each of 30 days
    "spreadsheets": (56, 4),  # the names of those who started each of the fifty
    "stock": (110, 4),  # two for each of fifty rows
    "stock_transfers": (110, 4),  # the product of each of fifty, and who started it
    "system": (72, 3),  # a lease of each job
    "unmatched_payments": (110, 4),  # the names of those who have decided
    "visits": (72, 3),  # two partitions of each of 30 days
    "worker": (
        460,
        11,
    ),  # a lease of each job, and the outbox since the worker stopped: 360 minutes at most
}


def list_page_names(resolver: URLResolver) -> Iterator[str]:
    for each in resolver.url_patterns:
        if isinstance(each, URLPattern):
            yield str(each.name)
        else:
            yield from list_page_names(each)


def read_cost(answer: HttpResponseBase) -> tuple[int, int]:
    """Return the statements and rounds of a page."""
    found = re.match(r"statements=(\d+), rounds=(\d+)", answer["X-Cassandra"])
    assert found
    return int(found[1]), int(found[2])


def test_x401_the_staffs_pages_stay_within_their_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    for kept in (low_stock, current_people, oldest_order, *(each.recent for each in QUEUES)):
        monkeypatch.setattr(kept, "seconds", 3600)
    monkeypatch.setattr(board_counts, "SETTLES", 0)
    orders = [make_order_with_events("paid") for _ in range(3)]
    products = [make_product(listed=True) for _ in range(3)]
    admin = make_user("Root", role="admin")
    client = sign_in_staff(Client(), admin)
    operations.count_board_orders()
    terms = PromotionTerms("Free", FREE_DELIVERY, f"FREE-{uuid4().hex}")
    promotion = create_promotion(terms, current_time())
    # What other tests have made is listed as well.
    listed = {
        "people": len(STAFF.all(shop=SHOP)) + 24,
        "promotions": len(list_promotion_lines(datetime.now(UTC))),
    }
    ids: dict[str, list[object]] = {
        "order": [orders[0].number],
        "product": [products[0].product_id],
        "product_pictures": [products[0].product_id],
        "stock_item": [products[0].product_id, products[0].variants[0].variant_id],
        "customer": [admin.pk],
        "person": [admin.pk],
        "text_page": ["help"],
        "promotion_make": [FREE_DELIVERY],
        "promotion": [CODE, promotion],
        "promotion_duplicate": [CODE, promotion],
    }
    _, resolver = get_resolver().namespace_dict["adminpanel"]
    looked_at, exceeded = 0, []
    for name in list_page_names(resolver):
        try:
            address = reverse(f"adminpanel:{name}", args=ids.get(name, ()))
        except NoReverseMatch:
            continue
        answer = client.get(address)
        if answer.status_code != 200:
            continue  # only sent to, or it needs something chosen
        looked_at += 1
        statements, rounds = BOUNDS.get(name, USUAL)
        bound = statements + listed.get(name, 0), rounds
        # What a process keeps for seconds may end while a page is opened, so a dear one is opened again.
        costs = (read_cost(client.get(address)) for _ in range(3))
        if all(cost[0] > bound[0] or cost[1] > bound[1] for cost in costs):
            exceeded.append(f"{address}: {read_cost(client.get(address))}, at most {bound}")
    assert looked_at >= 50
    assert not exceeded, "\n".join(exceeded)


def test_x517_home_reads_the_queues_side_by_side_if_none_is_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for kept in (low_stock, oldest_order, *(each.recent for each in QUEUES)):
        monkeypatch.setattr(kept, "seconds", 0)
    monkeypatch.setattr(board_counts, "SETTLES", 0)
    make_order_with_events("paid")
    client = sign_in_staff(Client(), make_user("Root", role="admin"))
    client.get(reverse("adminpanel:home"))
    # The session, the user, and two rounds: a list, and what it names.
    assert read_cost(client.get(reverse("adminpanel:home")))[1] <= 4


def test_x401_a_refresh_of_the_board_without_news_costs_three_statements() -> None:
    make_order_with_events("paid")
    client = sign_in_staff(Client(), make_user("Will", role="warehouse"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(board_counts, "SETTLES", 0)
        operations.count_board_orders()
    page = client.get(reverse("adminpanel:board")).content.decode()
    found = re.search(r'hx-get="([^"]+seen=[^"]+)"', page)
    assert found
    refresh = client.get(
        found[1].replace("&amp;", "&"), headers={"HX-Request": "true", "X-Refreshes-Itself": "1"}
    )
    assert (refresh.status_code, refresh["X-Cassandra"].split(", reads")[0]) == (
        204,
        "statements=3, rounds=2",
    )

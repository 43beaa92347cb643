"""The invoice of an order, read back from the PDF."""

import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from unittest.mock import Mock
from uuid import uuid4

import pytest
from cassandra.util import uuid_from_time
from django.conf import settings
from django.test import Client, override_settings
from django.urls import reverse

from accounts.addresses import Address
from orders import operations, queries
from orders.lifecycle.entities import Order
from orders.lifecycle.events import Event
from orders.lifecycle.items import Item
from orders.papers import drawn_invoices
from orders.papers.invoice import render_invoice
from pricing.money import from_minor_units
from pricing.quotes import Discount
from tests.environment import ROOT
from tests.factories import (
    make_draft,
    make_order,
    make_payment,
    make_product,
    make_stock,
    make_user,
)
from tests.orders.reads import open_browser, pages

# German, Polish, Greek, Russian, typographic quotes; then characters that the typeface does not have.
NAMES = [
    "Jörg Müller-Weiß",
    "Zażółć Gęślą",
    "Ὀδυσσεὺς Ελύτης",
    "Фёдор Достоевский",
    "Łukasz “O’Neill”",
]
UNWRITABLE = [
    "東京 太郎",
    "😀 🏳️‍🌈",
    "\u202eevil",
    "a\x00b\x1b[31m",
    "مرحبا",
    "ﬁne ½",
    "Z̷̧a̸l̶g̵o",
    "\U000e0041",
]


def test_what_draws_it_is_loaded_by_who_asks_for_one() -> None:
    # As each command does: its checks load all addresses with their views.
    look = "import django, sys; django.setup(); import storefront.urls; print([each for each in ('fpdf', 'fontTools') if each in sys.modules])"
    done = subprocess.run([sys.executable, "-c", look], check=True, capture_output=True, cwd=ROOT)
    assert done.stdout == b"[]\n"


def test_it_names_seller_buyer_items_tax_and_payment() -> None:
    cups, plate = (
        make_product("Größe Tasse", price="12.50"),
        make_product("Book", price="9.00", tax_class="reduced"),
    )
    for product in (cups, plate):
        make_stock(9, product_id=product.product_id, variant_id=product.variants[0].variant_id)
    order = make_payment(
        operations.place_order(make_draft((cups, 3), (plate, 1)), datetime.now(UTC))
    )
    answer = open_browser(order).get(reverse("orders:invoice", args=[order.number]))
    assert answer["Content-Type"] == "application/pdf"
    assert answer["Content-Disposition"] == f'attachment; filename="invoice-{order.number}.pdf"'
    assert "no-store" in answer["Cache-Control"]
    (page_text,) = pages(answer.content)
    for words in (
        order.number,
        "Stoa",
        "1 Example Street",
        "VAT IE",
        "Ada Lovelace",
        "Torstraße 1",
        "10115 Berlin",
        "Größe Tasse",
        cups.variants[0].sku,
        "€12.50",
        "€37.50",
        "€46.50",
        "Delivery, Standard €4.90",
        "Total €51.40",
        "19%",
        "7%",
        "Paid by card: €51.40.",
    ):
        assert words in page_text, words
    for part in order.taxes:
        assert all(f"€{amount.amount:.2f}" in page_text for amount in (part.net, part.tax))
    assert "Refunded" not in page_text


def test_s65_it_is_drawn_once_for_what_it_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[str] = []

    def spy(order: Order, items: Sequence[Item]) -> bytes:
        drawn.append(order.number)
        return render_invoice(order, items)

    monkeypatch.setattr("orders.papers.invoice.render_invoice", spy)
    drawn_invoices.forget_invoices()
    order = make_order(paid=True)
    browser, url = open_browser(order), reverse("orders:invoice", args=[order.number])
    first = browser.get(url).content
    assert [browser.get(url).content for _ in range(3)] == [first] * 3
    assert drawn == [order.number]
    with override_settings(SELLER=settings.SELLER | {"name": "Stoa & Daughters"}):
        assert "Stoa & Daughters" in pages(browser.get(url).content)[0]
    assert len(drawn) == 2
    operations.add_note(order, "Called.", actor="staff", now=datetime.now(UTC))
    browser.get(url)
    browser.get(url)
    assert len(drawn) == 3


def test_s65_few_drawn_invoices_are_kept_and_none_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn_invoices.forget_invoices()
    timers: list[Mock] = []
    order, drawn = make_order(paid=True), []

    def timer(seconds: float, forget: Callable[[], None]) -> Mock:
        timers.append(Mock(seconds=seconds, forget=forget))
        return timers[-1]

    monkeypatch.setattr("orders.papers.drawn_invoices.threading.Timer", timer)

    def draw(order: Order, items: Sequence[Item]) -> bytes:
        drawn.append(order.version)
        return b"%PDF-"

    monkeypatch.setattr("orders.papers.invoice.render_invoice", draw)
    monkeypatch.setattr(drawn_invoices, "MAX_KEPT", 3)
    for version in (*range(5), *range(5)):
        drawn_invoices.get_invoice(replace(order, version=version), ())
    assert drawn == [0, 1, 2, 3, 4, 3, 4]
    (only,) = timers
    assert only.start.called
    # As long as an erasure waits: orders.drawn_invoices.
    assert only.seconds <= 120
    only.forget()
    drawn_invoices.get_invoice(replace(order, version=0), ())
    assert drawn[-1] == 0


def test_the_letters_of_europe_are_in_it(subtests: pytest.Subtests) -> None:
    order = make_order(paid=True)
    items = queries.list_items(order)
    for name in NAMES:
        with subtests.test(name):
            address = Address(name, "Łąkowa 5", "10115", "Øresund", "DE")
            page_text = "".join(
                pages(render_invoice(replace(order, billing_address=address), items))
            )
            for words in (name, "Łąkowa 5", "Øresund"):
                assert words in page_text


def test_a_letter_that_cannot_be_written_is_no_error(
    subtests: pytest.Subtests, caplog: pytest.LogCaptureFixture
) -> None:
    order = make_order(paid=True)
    lines = queries.list_items(order)
    for name in UNWRITABLE:
        with subtests.test(ascii(name)):
            caplog.clear()
            address = Address(name, "Torstraße 1", "10115", "Berlin", "DE")
            items = [replace(item, name=name, options={"Colour": name}) for item in lines]
            assert "Torstraße 1" in "".join(
                pages(render_invoice(replace(order, billing_address=address), items))
            )
            assert caplog.text == ""  # S48


def test_discounts_and_what_was_given_back_stand_in_it() -> None:
    order = make_order(paid=True, quantity=2)
    now = datetime.now(UTC)

    def make_event(kind: str, **details: object) -> Event:
        return Event(uuid_from_time(now), kind, "system", "", True, "", details)

    order = replace(
        order,
        total=order.total - from_minor_units(200, "EUR"),
        discount=from_minor_units(200, "EUR"),
        discounts=(Discount("Spring: 2 euro off", from_minor_units(200, "EUR")),),
        payment="partially_refunded",
        captured=order.total - from_minor_units(200, "EUR"),
        refunded=from_minor_units(1200, "EUR"),
        events=(
            make_event("refunded", refund="a", amount=1200),
            make_event(
                "refund_owed", refund="a", amount=1200, lines={"1": 1}, reason="Returned: 1 × Mug"
            ),
            *order.events,
        ),
    )
    page_text = pages(render_invoice(order, queries.list_items(order)))[0]
    for words in (
        "Spring: 2 euro off −€2.00",
        "Refunded: €12.00.",
        f"{order.number}-1",
        "Returned: 1 × Mug -€12.00",
    ):
        assert words in page_text


def test_a_long_one_goes_on_over_pages_with_its_headings_and_is_the_same_each_time() -> None:
    order = make_order(paid=True)
    (item,) = queries.list_items(order)
    many = [
        replace(
            item, line_number=n, sku=f"SKU-{n:04}", name=f"A thing {'with a long name ' * 9}{n}"
        )
        for n in range(60)
    ]
    pdf = render_invoice(order, many)
    page_texts = pages(pdf)
    assert len(page_texts) > 3
    assert all("Item Tax Price Total" in page for page in page_texts[:-1])
    assert all(
        f"{order.number} · {number} / {len(page_texts)}" in page
        for number, page in enumerate(page_texts, 1)
    )
    assert all(f"SKU-{n:04}" in "".join(page_texts) for n in range(60))
    assert render_invoice(order, many) == pdf


def test_there_is_none_before_the_order_is_confirmed() -> None:
    order = make_order()
    client = open_browser(order)
    answer = client.get(reverse("orders:invoice", args=[order.number]))
    assert answer["Location"] == reverse("orders:detail", args=[order.number])
    page = client.get(answer["Location"]).content.decode()
    assert "once the order is confirmed" in page
    assert "invoice.pdf" not in page
    paid = make_payment(order)
    assert f"/orders/{paid.number}/invoice.pdf" in client.get(answer["Location"]).content.decode()


def test_s22_an_invoice_is_its_buyers_alone() -> None:
    alice = make_user()
    order = make_order(paid=True, user_id=alice.pk)
    address = reverse("orders:invoice", args=[order.number])
    bob = Client()
    bob.force_login(make_user("Bob"))
    for client in (bob, Client()):
        assert client.get(address).status_code == 404
        assert client.get(reverse("orders:invoice", args=["0000-0000"])).status_code == 404
    owner_client = Client()
    owner_client.force_login(alice)
    assert owner_client.get(address).status_code == 200
    assert owner_client.post(address, {"x": str(uuid4())}).status_code == 405


def test_s78_letters_that_the_typeface_lacks_are_told_with_the_orders_page() -> None:
    order = make_order(paid=True)
    items = queries.list_items(order)
    told = "Letters that cannot be printed here"
    (plain,) = pages(render_invoice(order, items))
    assert told not in plain
    asked = replace(order, billing_address=replace(order.billing_address, street="Why? 1"))
    assert told not in pages(render_invoice(asked, items))[0], "a question mark of their own"
    for name in ("東京 太郎", "Ann 😀"):
        named = replace(order, billing_address=replace(order.billing_address, name=name))
        (page,) = pages(render_invoice(named, items))
        assert told in page, name
        address = f"{settings.PUBLIC_URL}{reverse('orders:detail', args=[order.number])}"
        assert address in page.replace("\n", ""), name

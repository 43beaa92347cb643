"""What an order was placed with stays, whatever becomes of the shop's delivery methods and rates."""

import re
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from io import BytesIO

from django.test import Client
from django.urls import reverse
from moneyed import EUR, Money
from pypdf import PdfReader

from cassandra_db import current_time
from cassandra_db.session import get_session
from orders import operations, queries
from orders.lifecycle.entities import Order
from orders.lifecycle.transitions import Transition
from orders.links import order_access_token
from orders.operations import write_copies
from orders.operations.changes import recalculate_sums
from orders.operations.copies import copy_timestamp
from orders.operations.mail_texts import compose_mail
from orders.presentation import cash_on_delivery_text
from orders.privacy import export_personal_data
from payments.methods import CASH_ON_DELIVERY
from pricing.delivery import DeliveryMethod
from pricing.tax import TaxRates
from tests.accounts.mails import list_mails_to
from tests.environment import KEYSPACE
from tests.factories import (
    make_draft,
    make_payment,
    make_product,
    make_stock,
    make_user,
    sign_in_staff,
)
from tests.orders.reads import fresh
from web.personal_data import DataSubject

FRIDAY = datetime(2026, 5, 8, 10, tzinfo=UTC)
# No shop has them: they were changed since.
METHOD = DeliveryMethod("barge", "Slow boat", "Canal & Co", Money("3.21", EUR), (2, 6))
RATES = TaxRates({"standard": Decimal("16"), "reduced": Decimal("5.5")})


def place_order(method: DeliveryMethod = METHOD, quantity: int = 1) -> Order:
    product = make_product(price="11.60", stock=9)
    draft = replace(make_draft((product, quantity)), method=method, tax_rates=RATES)
    return operations.place_order(draft, FRIDAY)


def words(client: Client, address: str) -> str:
    return " ".join(client.get(address).content.decode().split())


def test_x156_what_was_promised_is_shown_after_the_method_and_the_rates_have_gone() -> None:
    placed = place_order()
    assert fresh(placed) == placed
    order = make_payment(placed)
    assert (order.method.first, order.method.last) == (date(2026, 5, 12), date(2026, 5, 18))
    assert [(part.rate, part.tax) for part in order.taxes] == [(Decimal(16), Money("2.04", EUR))]
    # It was confirmed on Wednesday: as many working days later as was promised.
    wednesday = datetime(2026, 5, 13, 9, tzinfo=UTC)
    assert order.method.delivery_estimate(wednesday) == (date(2026, 5, 15), date(2026, 5, 21))
    guest = Client()
    guest.get(reverse("orders:track", args=[order_access_token(order.order_id)]))
    address = reverse("orders:detail", args=[order.number])
    invoice = guest.get(reverse("orders:invoice", args=[order.number])).content
    printed = " ".join(PdfReader(BytesIO(invoice)).pages[0].extract_text().split())
    items = queries.list_items(order)
    mail = compose_mail(order, next(e for e in order.events if e.kind == "authorized"), items)
    assert mail
    staff = sign_in_staff(Client(), make_user("Sue", role="support"))
    staff_page = words(staff, reverse("adminpanel:order", args=[order.number]))
    assert any("It should arrive" in paragraph for paragraph in mail.paragraphs)
    for where, text in (("page", words(guest, address)), ("invoice", printed)):
        assert "Slow boat, Canal &" in text.replace("&amp;", "&"), where
        assert "3.21" in text, where
    assert "16%" in printed
    assert "Slow boat, Canal &amp; Co" in staff_page
    # Fewer units are summed up at the rates of the order.
    pair = place_order(quantity=2)
    assert recalculate_sums(pair, queries.list_items(pair), {1: 1})["taxes"] == [
        {"rate": "16", "net": 1277, "tax": 204}
    ]


def test_x156_what_is_picked_up_speaks_of_no_carrier() -> None:
    method = replace(METHOD, name="Our shop in Cork", carrier="")
    placed = place_order(method)
    cash = replace(placed, payment_method=CASH_ON_DELIVERY, state="confirmed")
    assert cash_on_delivery_text(cash) == "You pay €14.81 when you pick it up."
    order = make_payment(placed)
    guest = Client()
    guest.get(reverse("orders:track", args=[order_access_token(order.order_id)]))
    address = reverse("orders:detail", args=[order.number])
    assert "email you when it’s ready. You can pick it up" in words(guest, address)
    for kind, sentences in (
        ("packed", ["Packed on"]),
        ("shipped", ["Ready to pick up", "Ready since", "within 30 days after you’ve picked"]),
        ("delivered", ["Picked up on"]),
    ):
        step = Transition(kind, actor="system", at=current_time())
        order = operations.transition_order(order, step)
        page = words(guest, address)
        assert [each for each in sentences if each not in page] == []
        for wrong in ("Carrier:", "should arrive", "On its way", "Delivered"):
            assert wrong not in page, (kind, wrong)


def test_x258_what_is_picked_up_is_called_so_in_lists_on_staff_pages_in_mails_and_in_the_export() -> (
    None
):
    product, member = make_product(price="11.60"), make_user()
    make_stock(9, product_id=product.product_id, variant_id=product.variants[0].variant_id)
    method = replace(METHOD, name="Our shop in Cork", carrier="")
    draft = replace(
        make_draft((product, 2), user_id=member.user_id, email=member.email),
        method=method,
        tax_rates=RATES,
    )
    order = make_payment(operations.place_order(draft, current_time()))
    browser, staff = Client(), sign_in_staff(Client(), make_user("Sue", role="support"))
    browser.force_login(member)
    own, board = reverse("orders:history"), reverse("adminpanel:board")
    staffs = reverse("adminpanel:order", args=[order.number])
    customers = reverse("adminpanel:customer", args=[member.user_id])
    (warehouse,) = order.units_to_pack
    wrong: list[tuple[str, str]] = []
    for step, label, subject in (
        ("ship", "Some items ready to pick up", "Part of your order is ready"),
        ("ship", "Ready to pick up", "Your order is ready"),
        ("deliver", "Picked up", "You’ve picked up your order"),
    ):
        if step == "ship":
            order = operations.pack_parcel(
                order, warehouse, {1: 1}, actor="system", now=current_time()
            )
            parcel = order.parcels()[-1].parcel_id
            order = operations.ship_parcel(order, parcel, actor="system", now=current_time())
        else:
            delivered = Transition("delivered", actor="system", at=current_time())
            order = operations.transition_order(order, delivered)
        export = export_personal_data(DataSubject(member.user_id, member.email, member.name))
        pages = {
            "page": words(browser, reverse("orders:detail", args=[order.number])),
            "list": words(browser, own),
            "staff's page": words(staff, staffs),
            "customer": words(staff, customers),
            "board": words(staff, f"{board}?column={order.board_column}&sku={order.skus[0]}"),
            "export": str(export["orders"]),
            "mails": " ".join(each.subject for each in list_mails_to(member.email)),
        }
        sought = dict.fromkeys(pages, label) | {"mails": subject}
        wrong += [(name, label) for name, text in pages.items() if sought[name] not in text]
        for name, text in pages.items():
            wrong += [
                (name, word)
                for word in ("On its way", "on its way", "Partly sent", "Delivered", "arrived")
                if re.search(rf"\b{word}\b", text)
            ]
    assert not wrong
    # What an earlier version wrote into the lists is rewritten, though it was written at the same version.
    row = "user_id = %s AND year = %s AND placed_at = %s AND order_id = %s"
    get_session().execute(
        f"UPDATE {KEYSPACE}.orders_by_user USING TIMESTAMP {copy_timestamp(order)} SET customer_label = 'Delivered' WHERE {row}",  # noqa: S608
        (member.user_id, order.placed_at.year, order.placed_at, order.order_id),
    )
    write_copies(order)
    assert "Picked up" in words(browser, own)


def test_x156_an_order_of_former_days_says_what_its_method_said_then() -> None:
    order = place_order()
    names = ("delivery_title", "carrier", "estimated_from", "estimated_delivery", "tax_rates")
    emptied = ", ".join(f"{name} = null" for name in names)
    for code, label in (("standard", "Standard, DHL"), ("barge", "Barge")):
        get_session().execute(
            f"UPDATE {KEYSPACE}.orders SET {emptied}, delivery_method = %s WHERE order_id = %s",  # noqa: S608
            (code, order.order_id),
        )
        former = fresh(order)
        assert former.method.label == label
        assert former.tax_rates == {"standard": Decimal(19), "reduced": Decimal(7)}
        assert former.method.placed_on == FRIDAY.date()

"""An order's page and a member's list of orders, as a shopper sees them."""

import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from io import BytesIO
from itertools import product as combinations
from typing import Any
from unittest.mock import Mock
from uuid import UUID, uuid4

import pytest
from django.conf import settings
from django.core import signing
from django.test import Client
from django.urls import reverse
from lxml import html
from pypdf import PdfReader

from accounts.operations import register_user
from catalogue.entities import Product
from demo.testbank import gateway as bank_gateway
from mail.queries import list_recipient_mails
from orders import links, operations, queries
from orders.lifecycle.entities import Order
from orders.lifecycle.transitions import Transition
from promotions.operations import PromotionTerms, create_promotion
from promotions.rules import PERCENTAGE
from tests.checkout.shopper import HTMX, TYPED, Shopper, count_reserved, remembered, text
from tests.factories import make_order, make_stocked_product, make_user, sign_in_staff
from tests.orders.consistency_checks import assert_order_consistent
from tests.payments.bank import make_webhook


def test_x67_the_confirmation_says_all_that_one_wants_to_know(mug: Product) -> None:
    shopper = Shopper((mug, 1))
    order, url = shopper.place()
    shopper.pay(url)
    # opened again from a bookmark
    answer = shopper.client.get(reverse("orders:detail", args=[order.number]))
    page = html.fromstring(answer.content)
    for expected in (
        order.number,
        "We’ll pack it next",
        "It should arrive between",
        "email you when it leaves",
        "ada@example.com",
        "Ask about this order",
    ):
        assert expected in text(page), expected
    assert page.xpath("//button[@data-print]")
    assert page.xpath("//time[@datetime]")
    assert "no-store" in answer["Cache-Control"]


def test_s86_delivery_notes_are_shown_to_their_shopper_and_to_staff_alone(mug: Product) -> None:
    shopper, said = Shopper((mug, 1)), "Ring twice, then <b>leave it</b> in the shed"
    typed = said.replace(", ", ",\r\n")
    assert said in text(
        shopper.look(notes=typed).get_element_by_id("ways-title").getparent().getparent()
    )
    order, url = shopper.place(notes=typed)
    assert order.customer_notes == said
    shopper.pay(url)
    page = reverse("orders:detail", args=[order.number])
    assert said in text(shopper.client.get(page))
    assert Client().get(page).status_code == 404
    staff = sign_in_staff(Client(), make_user("Wim", role="admin"))
    seen = html.fromstring(staff.get(reverse("adminpanel:order", args=[order.number])).content)
    # Beside the address, and where parcels are packed.
    assert said in text(seen.xpath("//section[@aria-labelledby='who']")[0])
    assert said in text(seen.xpath("//section[@aria-labelledby='parcels']")[0])
    refused = Shopper((mug, 1)).typed(notes="x" * 251)
    assert refused.status_code == 422
    (field,) = html.fromstring(refused.content).xpath("//textarea[@name='notes']")
    assert (field.text.strip(), field.get("aria-invalid")) == ("x" * 251, "true")


def test_x124_the_rows_of_a_sum_are_the_same_from_the_cart_to_the_invoice(mug: Product) -> None:
    code, email = f"TEN-{uuid4().hex[:8].upper()}", f"{uuid4().hex}@example.com"
    terms = PromotionTerms("Ten per cent off", PERCENTAGE, code, percent=Decimal(10))
    create_promotion(terms, datetime.now(UTC))
    shopper = Shopper((mug, 2))
    cart_id = shopper.client.get(reverse("cart:show")).context["cart"].cart_id
    shopper.client.post(reverse("cart:voucher"), {"cart": str(cart_id), "code": code})
    wanted = ["Subtotal", "Ten per cent off", "Delivery, Standard", "Total"]

    def labels(page: Any) -> list[str]:
        (sums, *_) = page.xpath("//dl[@class='sums']")
        for dt in sums.xpath("dt[starts-with(normalize-space(), 'Delivery')]"):
            # The days are the cart's alone; below it stands no rest of them.
            days = " ".join(" ".join(dt.xpath("span//text()")).split())
            assert not days or re.search(r"\d", days), days
        rows = [each.text.strip() for each in sums.xpath("dt")]
        rows = [each for each in rows if not each.endswith("(alternative)")]
        return rows[: rows.index("Total") + 1]

    cart_page = html.fromstring(shopper.client.get(reverse("cart:show")).content)
    review = shopper.look(email=email)
    order, url = shopper.place(email=email)
    shopper.pay(url)
    staff = sign_in_staff(Client(), make_user("Wim", role="admin"))
    pages = {
        "cart": cart_page,
        "checkout": review,
        "order": html.fromstring(visit(order).content),
        "staff": html.fromstring(
            staff.get(reverse("adminpanel:order", args=[order.number])).content
        ),
    }
    assert {name: labels(page) for name, page in pages.items()} == dict.fromkeys(pages, wanted)
    (mail,) = [row for row in list_recipient_mails(email) if "Subtotal" in row.text]
    invoice = shopper.client.get(reverse("orders:invoice", args=[order.number]))
    (printed,) = [page.extract_text() for page in PdfReader(BytesIO(invoice.getvalue())).pages]
    # "Total" stands above the invoice's lines, too.
    sums_printed = printed[printed.index("Subtotal") :]
    for written in (mail.text, text(html.fromstring(mail.html)), sums_printed):
        places = [written.index(each) for each in wanted]
        assert places == sorted(places), written


def test_x15_the_print_has_lines_tax_and_addresses(mug: Product) -> None:
    order = make_order(quantity=2, paid=True)
    page = html.fromstring(visit(order).content)
    for part in page.xpath("//*[contains(@class, 'no-print')]"):
        part.getparent().remove(part)
    for expected in ("2 × €12.00", "€24.00", "19%", "Torstraße 1", "10115 Berlin", order.number):
        assert expected in text(page), expected


def visit(order: Order, client: Client | None = None) -> Any:
    client = client or Client()
    answer = client.get(
        reverse("orders:track", args=[links.order_access_token(order.order_id)]), follow=True
    )
    assert answer.status_code == 200
    return answer


def test_the_history_is_shown_without_what_is_for_staff_only() -> None:
    order = make_order(paid=True)
    operations.add_note(order, "looks like fraud?", actor="Ann", now=datetime.now(UTC))
    order = operations.transition_order(
        order,
        Transition(
            "shipped", actor="staff:1:Ann", at=datetime.now(UTC), note="Knows the fraud desk"
        ),
    )
    page = text(visit(order))
    assert "fraud" not in page
    assert "Ann" not in page
    page = page[page.index("Order history") :]
    assert page.index("On its way") < page.index("Payment received") < page.index("Ordered")


def test_staffs_move_is_seen_by_the_shopper_without_reloading() -> None:
    order, visitor = make_order(paid=True), Client()
    page = html.fromstring(visit(order, visitor).content)
    (again,) = page.xpath("//a[@id='refresh']")
    assert "every" in again.get("hx-trigger")
    operations.transition_order(order, Transition("shipped", actor="Ann", at=datetime.now(UTC)))
    part = visitor.get(again.get("hx-get"), headers=HTMX)
    assert "Your parcel is on its way" in text(part)


def test_each_state_has_a_page(subtests: pytest.Subtests) -> None:
    for kinds in (("cancelled",), ("held",), ("shipped", "delivered"), ("packed",)):
        with subtests.test(kinds=kinds):
            order = make_order(paid=True)
            for kind in kinds:
                order = operations.transition_order(
                    order, Transition(kind, actor="Ann", at=datetime.now(UTC))
                )
            fresh = queries.get_order(order.order_id)
            assert fresh
            assert fresh.customer_label in text(visit(order))


def not_there(number: str) -> list[tuple[str, str]]:
    return [
        ("get", reverse("orders:detail", args=[number])),
        ("post", reverse("orders:pay", args=[number])),
        ("get", reverse("orders:return_from_payment", args=[number, uuid4()])),
    ]


def test_s22_anothers_order_is_the_same_404_as_none(subtests: pytest.Subtests) -> None:
    order = make_order(user_id=uuid4(), paid=True)
    stranger = Client()
    visit(make_order(), stranger)  # a visitor with an order of their own
    member = Client()
    member.force_login(
        register_user(
            f"{uuid4().hex}@example.com", "Eve", "correct horse battery", datetime.now(UTC)
        )
    )
    requests = zip(not_there(order.number), not_there("ZZZZ-ZZZZ"), strict=True)
    for (who, client), ((method, theirs), (_, none)), headers in combinations(
        {"nobody": Client(), "stranger": stranger, "member": member}.items(), requests, ({}, HTMX)
    ):
        with subtests.test(who, method=method, address=none, headers=headers):
            real = getattr(client, method)(theirs, headers=headers)
            made_up = getattr(client, method)(none, headers=headers)
            assert real.status_code == made_up.status_code == 404
            assert scrubbed(real, order.number) == scrubbed(made_up, "ZZZZ-ZZZZ")


def scrubbed(answer: Any, number: str) -> str:
    # The header contains the requested address.
    changing = r'"x-csrftoken": "\w+"|value="\w{64}"|name="next" value="[^"]*"'
    return re.sub(changing, "", answer.content.decode()).replace(number, "")


def test_a_made_up_cookie_opens_nothing(subtests: pytest.Subtests) -> None:
    order = make_order()
    signed = (signing.dumps(made_up, salt="orders.cookie") for made_up in (["x"], [["x", 3]], 3))
    for cookie in ("", "x", "a:b:c", *signed):
        with subtests.test(cookie=cookie):
            client = Client()
            client.cookies[settings.ORDER_COOKIE_NAME] = cookie
            assert client.get(reverse("orders:detail", args=[order.number])).status_code == 404


def test_x71_the_mailed_link_opens_the_order_in_this_browser() -> None:
    order, client = make_order(paid=True), Client()
    answer = client.get(reverse("orders:track", args=[links.order_access_token(order.order_id)]))
    assert answer["Location"] == reverse("orders:detail", args=[order.number])
    assert client.get(answer["Location"]).status_code == 200
    cookie = client.cookies[settings.ORDER_COOKIE_NAME]
    assert cookie["httponly"]
    assert cookie["samesite"] == "Lax"


def test_x71_a_made_up_link_opens_nothing(client: Client, subtests: pytest.Subtests) -> None:
    signed = (signing.dumps(made_up, salt="orders.track") for made_up in ("x", uuid4().hex))
    for token in ("x", "a:b:c", *signed):
        with subtests.test(token=token):
            assert client.get(reverse("orders:track", args=[token])).status_code == 404


def test_x71_number_and_address_open_it_too(client: Client) -> None:
    order = make_order(email="Ada@Example.com")
    typed = {"number": order.number.lower().replace("-", " "), "email": "ada@example.COM "}
    answer = client.post(reverse("orders:lookup"), typed)
    assert answer.status_code == 303
    assert client.get(answer["Location"]).status_code == 200


def test_x71_one_sentence_for_both_errors(client: Client) -> None:
    order = make_order(email="ada@example.com")

    def error_text(**typed: str) -> str:
        answer = client.post(reverse("orders:lookup"), typed)
        assert answer.status_code == 422
        return str(html.fromstring(answer.content).xpath("string(//*[@data-error-summary])"))

    wrong_address = error_text(number=order.number, email="eve@example.com")
    wrong_number = error_text(number="ZZZZ-ZZZZ", email="ada@example.com")
    assert wrong_address == wrong_number
    assert "couldn’t find an order with this number and email address" in wrong_address
    assert settings.ORDER_COOKIE_NAME not in client.cookies


def test_a_browser_remembers_its_last_orders() -> None:
    client, made = Client(), [make_order() for _ in range(3)]
    for order in made:
        visit(order, client)
    assert remembered(client) == [order.order_id for order in reversed(made)]


def test_one_cart_makes_one_order_that_waits_for_its_payment() -> None:
    last_two = make_stocked_product(2)
    shopper = Shopper((last_two, 2))
    token = shopper.token()
    order, url = shopper.place()
    at = reverse("orders:detail", args=[order.number])
    assert shopper.client.get(reverse("checkout:details"))["Location"] == at
    assert shopper.send(token)["Location"] == url
    assert count_reserved(last_two) == 2
    page = html.fromstring(shopper.client.get(at).content)
    (give_up,) = page.xpath("//form[button[contains(., 'Cancel this order')]]/@action")
    assert shopper.client.post(give_up)["Location"] == reverse("cart:show")
    cancelled = assert_order_consistent(order.order_id)
    assert (cancelled.customer_label, cancelled.events[0].actor, count_reserved(last_two)) == (
        "Cancelled",
        "shopper",
        0,
    )
    assert shopper.place()[0].number != order.number
    # A paid order cannot be given up this way.
    paid, url = make_order(paid=True), reverse("orders:give_up", args=[order.number])
    visit(paid, shopper.client)
    shopper.client.post(reverse("orders:give_up", args=[paid.number]))
    assert assert_order_consistent(paid.order_id).customer_label == "Confirmed"
    assert shopper.client.get(url)["Location"] == at


def test_with_the_bank_away_the_order_is_shown_as_it_is(
    mug: Product, monkeypatch: pytest.MonkeyPatch
) -> None:
    shopper = Shopper((mug, 1))
    order, url = shopper.place()
    payment_id = UUID(url.rstrip("/").rpartition("/")[2])
    for name in ("start", "get_outcome"):
        monkeypatch.setattr(
            bank_gateway.TestBank, name, Mock(side_effect=ConnectionError("no bank"))
        )
    answer = shopper.client.post(reverse("orders:pay", args=[order.number]), follow=True)
    assert "We can’t reach the bank" in text(answer)
    back = reverse("orders:return_from_payment", args=[order.number, payment_id])
    assert "Waiting for payment" in text(shopper.client.get(back, follow=True))
    body, signature = make_webhook(payment_id, order.number)
    webhook_url = reverse("orders:payment_webhook", args=["testbank"])
    response = shopper.client.post(
        webhook_url, body, "application/json", headers={"X-Signature": signature}
    )
    assert response.status_code == 503


def test_a_members_order_closes_with_the_session(mug: Product, member: tuple[Client, UUID]) -> None:
    client, user_id = member
    order, _ = Shopper((mug, 1), client=client).place(email="ada@example.com")
    assert order.user_id == user_id
    at = reverse("orders:detail", args=[order.number])
    assert client.get(at).status_code == 200
    assert client.get(reverse("checkout:details"))["Location"] == at
    client.post(reverse("accounts:logout"))
    assert client.get(at).status_code == 404


# ---- A member's list


@pytest.fixture
def member(client: Client) -> tuple[Client, UUID]:
    user_id = uuid4()
    client.force_login(
        register_user(
            f"{user_id.hex}@example.com",
            "Ada",
            "correct horse battery",
            datetime.now(UTC),
            user_id=user_id,
        )
    )
    return client, user_id


def test_q11_a_members_orders_stand_in_a_list_the_newest_first(member: tuple[Client, UUID]) -> None:
    client, user_id = member
    now = datetime.now(UTC)
    old = make_order(user_id=user_id, paid=True, now=now - timedelta(days=370))
    new = make_order(user_id=user_id)
    page = text(client.get(reverse("orders:history")))
    assert page.index(new.number) < page.index(old.number)
    assert "Waiting for payment" in page
    assert "Confirmed" in page
    assert client.get(reverse("orders:detail", args=[old.number])).status_code == 200


def test_x16_no_orders_yet_has_a_next_step(member: tuple[Client, UUID]) -> None:
    assert "No orders yet" in text(member[0].get(reverse("orders:history")))


def test_the_list_is_for_members(client: Client) -> None:
    assert reverse("accounts:login") in client.get(reverse("orders:history"))["Location"]


def test_s20_looking_changes_nothing(mug: Product) -> None:
    shopper = Shopper((mug, 1))
    before = shopper.details()
    assert before is not None
    assert count_reserved(mug) == 0
    assert (
        shopper.client.get(reverse("orders:payment_webhook", args=["testbank"])).status_code == 405
    )
    answer = shopper.client.get(reverse("orders:pay", args=["ZZZZ-ZZZZ"]))
    assert answer["Location"] == reverse("orders:detail", args=["ZZZZ-ZZZZ"])
    assert shopper.client.delete(reverse("orders:lookup")).status_code == 405


def test_s19_a_form_without_its_token_is_refused(mug: Product) -> None:
    strict = Client(enforce_csrf_checks=True)
    for url in (
        reverse("checkout:details"),
        reverse("orders:lookup"),
        reverse("orders:pay", args=["ZZZZ-ZZZZ"]),
    ):
        assert strict.post(url, TYPED).status_code == 403

"""The pages of changes of many orders: chosen, looked at, done, and what became of each."""

import re
from datetime import UTC, datetime
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse

from orders import operations
from tests.factories import make_order, make_user, sign_in_staff
from tests.orders.reads import fresh

NEW, PREVIEW = reverse("adminpanel:order_changes_new"), reverse("adminpanel:order_changes_preview")


@pytest.fixture
def ann(client: Client) -> Client:
    return sign_in_staff(client, make_user("Ann", role="warehouse"))


def list_fields(page: str) -> dict[str, str]:
    """The hidden fields of the preview's form."""
    form = page[page.index('name="change_id"') - 3000 : page.index("<table")]
    return dict(re.findall(r'<input type="hidden" name="([a-z_]+)" value="([^"]*)"', form))


def test_x172_orders_are_looked_at_shipped_and_answered_for_each(ann: Client) -> None:
    paid, unpaid = make_order(paid=True), make_order()
    chosen = {"orders": f"{paid.order_id},{unpaid.order_id}"}
    assert "Edit 2 orders" in ann.get(NEW, chosen).content.decode()
    number = f"T{uuid4().hex[:12]}"
    sent = chosen | {"act": "shipped", "carrier": "DHL", "tracking": f"{paid.number}\t{number}"}
    page = ann.post(PREVIEW, sent).content.decode()
    assert "1 will change, 1 refused" in page
    assert "waiting for payment" in page
    assert not fresh(paid).parcels()
    fields = sent | list_fields(page)
    answer = ann.post(NEW, fields)
    assert answer.status_code == 303
    assert fresh(paid).parcels()[0].tracking == number
    # Sent twice, it is answered alike; with other words the preview comes again.
    assert ann.post(NEW, fields)["Location"] == answer["Location"]
    shown = ann.get(answer["Location"]).content.decode()
    assert "waiting for payment" in shown
    assert "Refused" in shown
    assert "Ann" in ann.get(reverse("adminpanel:order_changes")).content.decode()


def test_x197_mails_are_sent_again_by_those_who_may_on_an_orders_page(ann: Client) -> None:
    order = make_order(paid=True)
    sent = {"orders": str(order.order_id), "act": "mailed", "mail": "confirmation"}
    # A warehouse sends none, not even by a form of its own.
    assert "Resend an email" not in ann.post(PREVIEW, sent).content.decode()
    sam = sign_in_staff(Client(), make_user("Sam", role="support"))
    page = sam.post(PREVIEW, sent).content.decode()
    assert "Resend an email: Order confirmation" in page
    fields = sent | list_fields(page)
    assert "1 order" not in ann.post(NEW, fields).content.decode()
    assert not fresh(order).events[0].note
    assert sam.post(NEW, fields).status_code == 303
    assert "Email resent" in fresh(order).events[0].note


def test_x172_what_was_not_looked_at_is_not_done(ann: Client) -> None:
    order, other = make_order(paid=True), make_order(paid=True)
    sent = {"orders": str(order.order_id), "act": "held"}
    fields = list_fields(ann.post(PREVIEW, sent).content.decode())
    answer = ann.post(NEW, fields | {"orders": f"{order.order_id},{other.order_id}"})
    assert answer.status_code == 409
    assert {fresh(order).state, fresh(other).state} == {"confirmed"}


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("{one} A1\n{two} A1", "Line 2: A1 is also in line 1"),
        ("{one} A1\n{one} A2", "has a tracking number already"),
        ("ZZZZ-ZZZZ A1", "isn’t one of the selected orders"),
        ("{one}", "enter the order’s number, a space"),
    ],
)
def test_x175_tracking_numbers_that_cannot_be_are_named_and_kept(
    ann: Client, lines: str, message: str
) -> None:
    one, two = make_order(paid=True), make_order(paid=True)
    typed = lines.format(one=one.number, two=two.number)
    chosen = {"orders": f"{one.order_id},{two.order_id}"}
    answer = ann.post(PREVIEW, chosen | {"act": "shipped", "tracking": typed})
    assert answer.status_code == 422
    page = answer.content.decode()
    assert message in page
    assert typed.splitlines()[0] in page


def test_x497_each_order_takes_its_number_in_the_preview(ann: Client) -> None:
    orders = [make_order(paid=True, quantity=quantity) for quantity in (1, 2)]
    page = ann.get(NEW, {"order": [str(each.order_id) for each in orders], "act": "shipped"})
    assert f"Tracking number of {orders[0].number}" in page.content.decode()
    fields = {"act": "shipped"} | list_fields(page.content.decode())
    names = [f"number-{each.order_id}" for each in orders]
    number, other = f"1Z{uuid4().hex[:16]}".upper(), make_shipped_number()
    for typed, message in (
        ([number, number], f"{number} is entered for another order, too"),
        ([number, "<b>"], "letters, digits, spaces and dashes only"),
        ([number, other], f"{other} is used on another order"),
    ):
        refused = ann.post(NEW, fields | dict(zip(names, typed, strict=True)))
        assert refused.status_code == 422
        assert message in refused.content.decode()
        assert f'value="{number}"' in refused.content.decode()
    assert not any(fresh(each).parcels() for each in orders)
    answer = ann.post(NEW, fields | {names[0]: number})
    assert answer.status_code == 303
    first, second = ((fresh(each).parcels()[0]) for each in orders)
    assert (first.carrier, first.tracking, second.carrier, second.tracking) == (
        "UPS", number, orders[1].method.carrier, "",
    )  # fmt: skip


def make_shipped_number() -> str:
    """Return a tracking number that another order has."""
    order, number = make_order(paid=True), f"JD {uuid4().hex[:12]}"
    operations.ship_order(order, "DHL", number, actor="Ben", now=datetime.now(UTC))
    return number


def test_x497_lines_of_numbers_move_into_the_orders_fields(ann: Client) -> None:
    order, number = make_order(paid=True), f"T{uuid4().hex[:12]}"
    sent = {"orders": str(order.order_id), "act": "shipped", "tracking": f"{order.number} {number}"}
    page = ann.post(PREVIEW, sent).content.decode()
    fields = {"act": "shipped", f"number-{order.order_id}": number} | list_fields(page)
    assert f'value="{number}"' in page
    assert f"{order.number} {number}" not in page
    assert "gets an email" in page
    assert ann.post(NEW, fields).status_code == 303
    assert fresh(order).parcels()[0].tracking == number


def test_x500_the_preview_of_many_orders_says_who_is_mailed_on_other_pages(
    ann: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    unpaid, paid = make_order(), make_order(paid=True)
    sent = {"orders": f"{unpaid.order_id},{paid.order_id}", "act": "shipped"}
    monkeypatch.setattr("adminpanel.orders.views.bulk_changes.PAGE_LENGTH", 1)
    page = ann.post(PREVIEW, sent).content.decode()
    assert "0 will change, 1 refused" in page
    assert "Customers get an email" in page
    refused = ann.post(PREVIEW, sent | {"orders": str(unpaid.order_id)}).content.decode()
    assert "an email" not in refused


def test_x491_a_button_of_the_board_opens_its_preview_or_the_form_that_it_needs(
    ann: Client,
) -> None:
    order = make_order(paid=True)
    for act, is_preview in (("packed", True), ("tagged", False), ("mailed", False), ("", False)):
        page = ann.get(NEW, {"order": str(order.order_id), "act": act}).content.decode()
        assert ('name="change_id"' in page) == is_preview, act
    assert not fresh(order).parcels()

"""What staff do to an order's returns."""

from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from django.test import Client
from django.urls import reverse
from lxml import html
from moneyed import Money

from orders import links, operations
from orders.lifecycle import balance
from orders.lifecycle.entities import Order
from orders.lifecycle.transitions import Transition
from promotions.rules import BUY_GET, PERCENTAGE, Promotion
from tests.adminpanel.orders.submits import seen, submit, text_of, url
from tests.clock import now
from tests.factories import make_draft, make_payment, make_product, make_stock
from tests.orders.reads import fresh


def test_a_return_is_agreed_to_received_and_refunded(
    support_client: Client, requested_return: Order
) -> None:
    text = text_of(support_client, requested_return)
    for expected in ("Return 1", "Too small", "Waiting for an answer", "Returns waiting"):
        assert expected in text, expected
    assert (
        submit(support_client, "sent_back", requested_return, "1", event="return_approved") == 303
    )
    agreed = fresh(requested_return)
    assert submit(support_client, "sent_back", agreed, "1", line_1="1") == 303
    received = fresh(requested_return)
    assert (received.returns[0].state, received.returns[0].restock) == ("received", {1: 1})
    form = text_of(support_client, received)
    assert url("return_refund", requested_return, "1") in form
    sent = seen(received, line_1="2", reason="It is back with us")
    assert support_client.post(url("return_refund", requested_return, "1"), sent).status_code == 303
    done = fresh(requested_return)
    assert (done.returns[0].state, done.refunded, done.board_column) == (
        "refunded",
        Money(24, "EUR"),
        "done",
    )
    assert url("return_refund", requested_return, "1") not in text_of(support_client, done)


@pytest.mark.parametrize("case", ["free unit", "free order", "refunded in advance"])
def test_x250_a_return_of_which_nothing_is_refunded_ends_by_the_form_as_it_is_drawn(
    support_client: Client, case: str
) -> None:
    order = make_delivered_order(case)
    if case == "refunded in advance":
        amount = balance.refundable_amount(order)
        order = operations.decide_refund(order, amount, {}, "Sorry", actor="Bea", now=now())
    # Of two lines it is the second that comes back: the free one.
    order = operations.request_return(order, {2: 1}, "", actor="shopper", now=now())
    order = operations.approve_return(order, "1", actor="Ann", now=now())
    order = operations.receive_return(order, "1", {}, actor="Ann", now=now())
    tracking = reverse("orders:track", args=[links.order_access_token(order.order_id)])
    assert "refund you within a few days" in Client().get(tracking, follow=True).content.decode()
    address = url("return_refund", order, "1")
    (form,) = html.fromstring(text_of(support_client, order)).xpath(f"//form[@action='{address}']")
    assert (form.get("data-refund"), form.get("data-close")) == ("Refund {amount}", "Close return")
    sent = {name: value or "" for name, value in form.form_values()}
    if case == "free unit":
        looked_at = support_client.post(address, sent | {"amount": "5"})
        assert looked_at.status_code == 422
        (button,) = html.fromstring(looked_at.content).xpath("//button[@id='refund-1-submit']")
        assert button.text_content().strip() == "Refund €5.00"
    assert support_client.post(address, sent).status_code == 303
    done = fresh(order)
    assert (done.returns[0].state, done.board_column) == ("closed", "done")
    assert done.refunded == order.refunded
    page = Client().get(tracking, follow=True).content.decode()
    assert "refund you within a few days" not in page
    assert "Nothing was paid for it, or it is already refunded." in page
    assert "Closed without a refund" in text_of(support_client, done)


def make_delivered_order(case: str) -> Order:
    """An order of two products that has arrived: the second one was free, or both were, or none."""
    products = [make_product(price=price) for price in ("40.00", "30.00")]
    for product in products:
        make_stock(5, product_id=product.product_id, variant_id=product.variants[0].variant_id)
    draft = make_draft(*((product, 1) for product in products))
    if case != "refunded in advance":
        gift = Promotion("gift", "", "A gift", PERCENTAGE, percent=Decimal(100))
        free_unit = Promotion("two", "", "Buy one, get one", BUY_GET, buy=1, free=1)
        draft = replace(draft, promotions=(gift if case == "free order" else free_unit,))
    order = operations.place_order(draft, now())
    if order.state == "pending_payment":
        order = make_payment(order)
    for kind in ("packed", "shipped", "delivered"):
        order = operations.transition_order(order, Transition(kind, actor="Ann", at=now()))
    return order


def test_a_refusal_needs_words_and_the_customer_reads_them(
    staff_client: Client, requested_return: Order
) -> None:
    bare = staff_client.post(
        url("sent_back", requested_return, "1"), seen(requested_return, event="return_rejected")
    )
    assert (bare.status_code, "Tell the customer why" in bare.content.decode()) == (422, True)
    sent = seen(requested_return, event="return_rejected", note="It was worn outside")
    assert staff_client.post(url("sent_back", requested_return, "1"), sent).status_code == 303
    done = fresh(requested_return)
    assert (done.returns[0].state, done.returns[0].answer) == ("rejected", "It was worn outside")
    assert "Our answer: <bdi>It was worn outside</bdi>" in text_of(staff_client, done)


def test_no_more_goes_into_stock_than_came_back(
    staff_client: Client, requested_return: Order
) -> None:
    agreed = operations.approve_return(requested_return, "1", actor="Ben", now=datetime.now(UTC))
    answer = staff_client.post(url("sent_back", requested_return, "1"), seen(agreed, line_1="3"))
    assert answer.status_code == 422
    assert fresh(requested_return) == agreed

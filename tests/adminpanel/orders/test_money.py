"""What staff do to an order's money: refunds, payments by hand."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pyotp
import pytest
from django.test import Client, override_settings
from lxml import html
from moneyed import Money

from accounts import second_factor as factors
from accounts.sessions import PASSED_AT
from orders import operations
from orders.lifecycle.entities import Order
from orders.lifecycle.errors import TransitionRefused
from orders.lifecycle.transitions import Transition
from orders.queries import list_items
from pricing.templatetags.money import format_money
from tests.adminpanel.conftest import make_order_with_events
from tests.adminpanel.orders.submits import seen, submit, text_of, url
from tests.factories import make_draft, make_product, make_user, sign_in_staff
from tests.orders.consistency_checks import assert_order_consistent, get_stock_numbers
from tests.orders.reads import fresh


def test_money_goes_back_for_lines_with_the_delivery(support_client: Client) -> None:
    order = make_order_with_events("paid")
    sent = seen(order, line_1="1", delivery="on", reason="One was broken")
    assert support_client.post(url("refund", order), sent).status_code == 303
    done = fresh(order)
    assert (done.refunded, done.payment) == (
        Money(12, "EUR") + order.delivery,
        "partially_refunded",
    )
    (refund,) = done.refunds
    assert (refund.lines, refund.reason) == ({1: 1}, "One was broken")
    text = text_of(support_client, done)
    assert "Refunded</dt>" in text
    assert 'value="2"' not in text.split('id="refund"')[1], "one of the two is refunded already"


def test_s76_a_large_refund_asks_for_a_code_again_and_keeps_what_was_typed() -> None:
    bea, secret = make_user("Bea", role="support"), pyotp.random_base32()
    earlier = datetime.now(UTC) - timedelta(minutes=10)
    assert factors.enrol_second_factor(bea, secret, pyotp.TOTP(secret).at(earlier), earlier)
    client, order = sign_in_staff(Client(), bea), make_order_with_events("paid")
    session = client.session
    session[PASSED_AT] -= 6 * 60
    session.save()
    with override_settings(REFUND_CODE_ABOVE=10):
        small = seen(order, amount="6", reason="Sorry")
        assert client.post(url("refund", order), small).status_code == 303
        # With what went back before it is more than ten.
        sent = seen(fresh(order), amount="5", reason="Broken on arrival")
        answer = client.post(url("refund", order), sent)
        assert answer.status_code == 422
        (form,) = html.fromstring(answer.content).xpath(
            f"//form[@action='{url('refund', order)}'][.//input[@name='code']]"
        )
        assert form.xpath(".//input[@name='amount']/@value") == ["5"]
        assert form.xpath(".//input[@name='reason']/@value") == ["Broken on arrival"]
        assert fresh(order).refunded == Money(6, "EUR")
        sent["code"] = pyotp.TOTP(secret).now()
        assert client.post(url("refund", order), sent).status_code == 303
    assert fresh(order).refunded == Money(11, "EUR")


def test_money_goes_back_for_nothing_in_particular(support_client: Client) -> None:
    order = make_order_with_events("paid")
    assert submit(support_client, "refund", order, amount="3,50", reason="Sorry") == 303
    assert fresh(order).refunded == Money("3.50", "EUR")


def test_a_refund_that_will_not_do_is_explained_and_kept(support_client: Client) -> None:
    violations = []
    order = make_order_with_events("paid")
    for sent, expected in (
        ({"amount": "1"}, "Enter a reason for the refund"),
        ({"reason": "x"}, "Enter what to refund, or an amount"),
        ({"reason": "x", "amount": "1000"}, "You can refund at most"),
        ({"reason": "x", "amount": "-1"}, "Enter an amount like 12.50"),
        ({"reason": "x", "amount": "1e3"}, "Enter an amount like 12.50"),
        ({"reason": "x", "amount": "0.001"}, "Enter an amount like 12.50"),
        ({"reason": "x", "amount": "0"}, "Enter an amount above zero"),
        ({"reason": "x", "line_1": "3"}, "Enter a whole number from 0 to 2"),
    ):
        answer = support_client.post(url("refund", order), seen(order, **sent))
        wanted = (expected, *(f'value="{value}"' for value in sent.values()))
        violations += [
            f"{sent}: no {each} in the page"
            for each in wanted
            if each not in answer.content.decode()
        ]
        if answer.status_code != 422:
            violations.append(f"{sent}: {answer.status_code}")
        if fresh(order) != order:
            violations.append(f"{sent} changes the order")
            order = make_order_with_events("paid")
    assert not violations, "\n".join(violations)


def test_x498_the_button_says_what_is_refunded_and_nothing_else_is(support_client: Client) -> None:
    order = make_order_with_events("paid")
    page = html.fromstring(text_of(support_client, order))
    (form,) = page.xpath("//details[@id='refund']//form")
    assert "of €28.90 left" in " ".join(form.text_content().split())
    sent = dict(form.form_values()) | {"line_1": "1", "reason": "Broken"}
    # Without scripts the button could not follow what was typed.
    asked = support_client.post(url("refund", order), sent)
    (form,) = html.fromstring(asked.content).xpath("//details[@id='refund'][@open]//form")
    assert asked.status_code == 422
    assert "Nothing is refunded yet" in asked.content.decode()
    assert "Refund €12.00" in form.text_content()
    assert not fresh(order).refunds
    again = dict(form.form_values())
    assert support_client.post(url("refund", order), again | {"line_1": "2"}).status_code == 422
    for _ in range(2):
        assert support_client.post(url("refund", order), again).status_code == 303
    assert fresh(order).refunded == Money(12, "EUR")


def test_x498_all_that_is_left_is_refunded_by_one_button(support_client: Client) -> None:
    order = make_order_with_events("paid")
    assert submit(support_client, "refund", order, amount="3", reason="Late") == 303
    assert f"Refund all {format_money(order.total - Money(3, 'EUR'))}" in text_of(
        support_client, order
    )
    assert submit(support_client, "refund", fresh(order), full="1", shown="0") == 303
    done = fresh(order)
    assert (done.payment, done.refunded) == ("refunded", order.total)
    assert (done.refunds[-1].lines, done.events[1].details["delivery"]) == ({1: 2}, True)


def test_x498_delivered_units_go_back_into_stock_with_their_refund_once(
    support_client: Client, arrived: Order
) -> None:
    (item,) = list_items(arrived)
    before = get_stock_numbers(item.variant_id)["available"]
    for units, message in (("2", "Enter at most the number of units"), ("3", "from 0 to 2")):
        sent = seen(arrived, line_1="1", restock_1=units, reason="Back")
        refused = support_client.post(url("refund", arrived), sent)
        assert (refused.status_code, message in refused.content.decode()) == (422, True)
    assert (
        submit(support_client, "refund", arrived, line_1="2", restock_1="1", reason="Back") == 303
    )
    done = fresh(arrived)
    assert "1 unit back in stock" in text_of(support_client, done)
    assert (get_stock_numbers(item.variant_id)["available"], done.returnable_units()) == (
        before + 1,
        {1: 1},
    )
    operations.apply_effects(done.order_id, datetime.now(UTC))
    assert get_stock_numbers(item.variant_id)["available"] == before + 1
    # What came back cannot come back again.
    details = {"refund": "again", "amount": 1, "lines": {}, "reason": "", "restock": {1: 2}}
    with pytest.raises(TransitionRefused, match="back into stock"):
        operations.transition_order(
            done, Transition("refund_owed", actor="Bea", at=datetime.now(UTC), details=details)
        )
    assert_order_consistent(done.order_id)


def test_two_refunds_from_two_pages_are_one(support_client: Client) -> None:
    order = make_order_with_events("paid")
    sent = seen(order, amount="5", reason="Sorry")
    assert [support_client.post(url("refund", order), sent).status_code for _ in range(2)] == [
        303,
        303,
    ]
    assert fresh(order).refunded == Money(5, "EUR")


def test_an_unpaid_order_has_nothing_to_give_back(support_client: Client) -> None:
    order = make_order_with_events()
    assert url("refund", order) not in text_of(support_client, order)
    assert submit(support_client, "refund", order, amount="1", reason="x") == 422


def test_the_delivery_goes_back_once(support_client: Client) -> None:
    order = make_order_with_events("paid")
    assert 'id="refund-delivery"' in text_of(support_client, order)
    assert submit(support_client, "refund", order, delivery="on", reason="Late") == 303
    done = fresh(order)
    assert (done.refunded, done.events[1].details["delivery"]) == (order.delivery, True)
    assert 'id="refund-delivery"' not in text_of(support_client, done)
    for more in ({}, {"line_1": "1"}):
        again = support_client.post(
            url("refund", order), seen(done, delivery="on", reason="Late", **more)
        )
        assert (again.status_code, "already refunded" in again.content.decode()) == (422, True)
    assert fresh(order) == done


def test_what_was_taken_out_before_it_was_paid_is_not_given_back(support_client: Client) -> None:
    product = make_product(stock=5)
    draft = make_draft((product, 3))
    placed = operations.place_order(replace(draft, payment_method="cod"), datetime.now(UTC))
    operations.start_payment(placed, "http://testserver", datetime.now(UTC))
    order = operations.change_order(fresh(placed), {1: 2}, actor="shopper", now=datetime.now(UTC))
    assert not order.refunds, "nothing was paid yet"
    order, _ = operations.record_manual_payment(
        order, order.total, key=str(uuid4()), actor="Bea", now=datetime.now(UTC)
    )
    assert submit(support_client, "refund", order, line_1="3", reason="All") == 422
    assert submit(support_client, "refund", order, line_1="2", reason="All") == 303
    done = fresh(order)
    assert [refund.amount for refund in done.refunds] == [order.total - order.delivery]
    assert submit(support_client, "refund", done, line_1="1", reason="More") == 422


def test_what_was_taken_out_and_paid_back_is_counted_once(support_client: Client) -> None:
    order = make_order_with_events("paid", quantity=3)
    changed = operations.change_order(order, {1: 2}, actor="shopper", now=datetime.now(UTC))
    assert submit(support_client, "refund", changed, line_1="3", reason="All") == 422
    assert submit(support_client, "refund", changed, line_1="2", reason="All") == 303
    assert fresh(order).refunded == order.total - order.delivery


@pytest.mark.parametrize("state", ["requested", "approved", "rejected", "refunded"])
def test_only_what_has_arrived_with_us_is_refunded_and_once(
    support_client: Client, requested_return: Order, state: str
) -> None:
    now = datetime.now(UTC)
    if state == "rejected":
        requested_return = operations.reject_return(
            requested_return, "1", actor="Ann", now=now, note="Worn"
        )
    elif state != "requested":
        requested_return = operations.approve_return(requested_return, "1", actor="Ann", now=now)
    if state == "refunded":
        requested_return = operations.receive_return(
            requested_return, "1", {1: 2}, actor="Ann", now=now
        )
        requested_return = operations.decide_refund(
            requested_return, Money(12, "EUR"), {1: 1}, "Back", actor="Bea", now=now, return_id="1"
        )
    assert requested_return.returns[0].state == state
    before = fresh(requested_return)
    answer = support_client.post(
        url("return_refund", requested_return, "1"), seen(before, line_1="1", reason="Back")
    )
    assert answer.status_code == 409
    assert fresh(requested_return) == before


def test_s24_who_packs_moves_no_money(staff_client: Client, support_client: Client) -> None:
    order, owed = make_order_with_events("paid"), by_transfer()
    for waiting, name, sent in (
        (order, "refund", {"amount": "1", "reason": "Mine"}),
        (owed, "received", {"amount": "1", "press": str(uuid4())}),
    ):
        assert url(name, waiting) in text_of(support_client, waiting)
        assert url(name, waiting) not in text_of(staff_client, waiting)
        assert staff_client.post(url(name, waiting), seen(waiting, **sent)).status_code == 403
        assert fresh(waiting) == waiting


def by_transfer() -> Order:
    product = make_product(stock=5)
    draft = make_draft((product, 1))
    placed = operations.place_order(
        type(draft)(**{**vars(draft), "payment_method": "transfer"}), datetime.now(UTC)
    )
    operations.start_payment(placed, "http://testserver", datetime.now(UTC))
    return fresh(placed)


def test_a_transfer_is_noted_once_and_confirms_the_order(support_client: Client) -> None:
    order = by_transfer()
    text = text_of(support_client, order)
    idempotency_key = re.search(r'name="press" value="([^"]+)"', text)
    assert idempotency_key
    sent = seen(order, amount=str(order.total.amount), press=idempotency_key[1])
    assert support_client.post(url("received", order), sent).status_code == 303
    assert support_client.post(url("received", order), sent).status_code == 303
    done = fresh(order)
    assert (done.state, done.payment, done.captured) == ("confirmed", "paid", order.total)
    assert url("received", order) not in text_of(support_client, done)


def test_money_that_nobody_but_staff_can_send_waits_for_them(
    support_client: Client, staff_client: Client
) -> None:
    order = by_transfer()
    idempotency_key = str(uuid4())
    paid, _ = operations.record_manual_payment(
        order, order.total, key=idempotency_key, actor="Ann", now=datetime.now(UTC)
    )
    gone = operations.transition_order(
        paid, Transition("cancelled", actor="shopper", at=datetime.now(UTC))
    )
    (owed,) = gone.due_refunds
    assert "Mark as sent" in text_of(support_client, gone)
    assert "Mark as sent" not in text_of(staff_client, gone)
    assert (
        staff_client.post(url("money_sent", order), {"refund": owed.refund_id}).status_code == 403
    )
    assert (
        support_client.post(url("money_sent", order), {"refund": owed.refund_id}).status_code == 303
    )
    assert (
        support_client.post(url("money_sent", order), {"refund": owed.refund_id}).status_code == 303
    )
    assert (fresh(order).payment, fresh(order).refunded) == ("refunded", order.total)

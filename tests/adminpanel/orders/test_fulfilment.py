"""What staff do to an order's parcels, returns, money and lines: by plain forms, guarded by what their page has shown."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

import pyotp
import pytest
from django.test import Client, override_settings
from django.urls import reverse
from lxml import html
from moneyed import Money

from accounts import audit_log
from accounts import second_factor as factors
from accounts.models import User
from accounts.sessions import PASSED_AT
from adminpanel.orders.labels import actor_label
from consistency import order_search
from consistency.findings import Violation
from orders import links, operations, queries
from orders.lifecycle import balance
from orders.lifecycle.entities import Order
from orders.lifecycle.errors import OrderChanged, TransitionRefused
from orders.lifecycle.transitions import Transition
from orders.operations import effects
from orders.operations.erasure import anonymize_order
from orders.operations.tracking_numbers import (
    find_tracking_owner,
    release_unused_numbers,
    take_tracking_number,
)
from orders.presentation import list_history
from orders.search import found_orders, prefetch_order_search
from promotions.rules import BUY_GET, PERCENTAGE, Promotion
from tests.accounts.mails import list_mails_to
from tests.adminpanel.conftest import make_order_with_events
from tests.factories import (
    make_draft,
    make_payment,
    make_product,
    make_stock,
    make_user,
    sign_in_staff,
)
from tests.orders.consistency_checks import assert_order_consistent
from tests.orders.crashes import kill_in, run_worker

HTMX = {"HX-Request": "true"}


def url(name: str, order: Order, *more: str) -> str:
    return reverse(f"adminpanel:{name}", args=[order.number, *more])


def now_of(order: Order) -> Order:
    found = queries.get_order(order.order_id)
    assert found
    return found


def seen(order: Order, **sent: Any) -> dict[str, Any]:
    return {"version": str(order.version), **sent}


def utc_now() -> datetime:
    return datetime.now(UTC)


def text_of(client: Client, order: Order) -> str:
    return client.get(url("order", order)).content.decode()


@pytest.fixture
def arrived() -> Order:
    return make_order_with_events("paid", "packed", "shipped", "delivered")


@pytest.fixture
def requested_return(arrived: Order) -> Order:
    return operations.request_return(
        arrived, {1: 2}, "Too small", actor="shopper", now=datetime.now(UTC)
    )


# ---- Parcels


def test_a_parcel_is_packed_and_sent_with_its_number(staff_client: Client, ann: User) -> None:
    order = make_order_with_events("paid")
    warehouse = next(iter(order.units_to_pack))
    assert f"Pack a parcel in <bdi>{warehouse.capitalize()}</bdi>" in text_of(staff_client, order)
    answer = staff_client.post(url("pack", order, warehouse), seen(order, line_1="1"))
    assert (answer.status_code, answer["Location"]) == (303, url("order", order))
    packed = now_of(order)
    assert (packed.parcels()[0].lines, packed.units_to_pack) == ({1: 1}, {warehouse: {1: 1}})
    sent = seen(packed, event="shipped", carrier="An Post", tracking=" AB 12-3 ")
    assert staff_client.post(url("parcel", order, "1"), sent).status_code == 303
    done = now_of(order)
    assert (done.fulfilment, done.parcels()[0].carrier, done.parcels()[0].tracking) == (
        "partially_shipped", "An Post", "AB 12-3",
    )  # fmt: skip
    assert actor_label(done.events[0]) == "Ann"
    text = text_of(staff_client, order)
    for expected in ("AB 12-3", "Parcel 1", "On its way", "Mark as delivered", "Partly shipped"):
        assert expected in text, expected
    assert (
        staff_client.post(url("parcel", order, "1"), seen(done, event="delivered")).status_code
        == 303
    )
    assert now_of(order).parcels()[0].state == "delivered"


@pytest.mark.parametrize(("event", "state"), [("unpacked", "cancelled"), ("shipped", "shipped")])
def test_a_packed_parcel_is_taken_apart_or_sent_without_a_number(
    staff_client: Client, event: str, state: str
) -> None:
    order = make_order_with_events("paid", "packed")
    assert staff_client.post(url("parcel", order, "1"), seen(order, event=event)).status_code == 303
    assert now_of(order).parcels()[0].state == state


def test_a_parcel_on_its_way_is_lost(staff_client: Client) -> None:
    order = make_order_with_events("paid", "packed", "shipped")
    # No carrier is known: the sentence begins with what happened.
    (parcels,) = html.fromstring(text_of(staff_client, order)).xpath(
        "//section[@aria-labelledby='parcels']"
    )
    said = [" ".join(each.text_content().split()) for each in parcels.xpath(".//p")]
    assert any(each.startswith("Shipped ") for each in said)
    assert [each for each in said if each.startswith(",")] == []
    assert (
        staff_client.post(url("parcel", order, "1"), seen(order, event="lost")).status_code == 303
    )
    assert "Lost" in text_of(staff_client, order)


def test_x60_a_number_that_will_not_do_is_explained_beside_its_field_and_kept(
    staff_client: Client,
) -> None:
    violations = []
    order = make_order_with_events("paid")
    for typed in ("3", "-1", "1.5", "1e1", "x", "٣"):
        warehouse = next(iter(order.units_to_pack))
        answer = staff_client.post(
            url("pack", order, warehouse), seen(order, line_1=typed), headers=HTMX
        )
        expected = (
            "There is a problem",
            f'href="#pack-{warehouse}-line_1"',
            f'value="{typed}"',
            "Enter a whole number from 0 to 2",
        )
        violations += [
            f"{typed}: no {each} in the page"
            for each in expected
            if each not in answer.content.decode()
        ]
        if answer.status_code != 422:
            violations.append(f"{typed}: {answer.status_code}")
        if now_of(order) != order:
            violations.append(f"{typed} changes the order")
            order = make_order_with_events("paid")
    assert not violations, "\n".join(violations)


def test_an_empty_parcel_and_a_wrong_number_of_a_carrier_are_explained(
    staff_client: Client,
) -> None:
    order = make_order_with_events("paid")
    warehouse = next(iter(order.units_to_pack))
    empty = staff_client.post(url("pack", order, warehouse), seen(order, line_1="0"))
    assert (
        empty.status_code,
        "Enter a number for at least one item" in empty.content.decode(),
    ) == (422, True)
    order = operations.transition_order(
        order, Transition("packed", actor="Ben", at=datetime.now(UTC))
    )
    wrong = staff_client.post(
        url("parcel", order, "1"), seen(order, event="shipped", tracking="<b>")
    )
    assert wrong.status_code == 422
    assert "Enter the tracking number with letters" in wrong.content.decode()
    assert 'value="&lt;b&gt;"' in wrong.content.decode()
    assert now_of(order).version == order.version


def test_x198_a_tracking_number_of_another_order_is_refused_beside_its_field(
    staff_client: Client,
) -> None:
    one, other = (make_order_with_events("paid", "packed") for _ in range(2))
    number = f"JD {uuid4().hex[:12]}"
    first = seen(one, event="shipped", tracking=number)
    for _ in range(2):
        assert staff_client.post(url("parcel", one, "1"), first).status_code == 303
    assert find_tracking_owner(number) == one.order_id
    for headers in ({}, HTMX):
        refused = staff_client.post(
            url("parcel", other, "1"),
            seen(other, event="shipped", tracking=number),
            headers=headers,
        )
        text = refused.content.decode()
        assert refused.status_code == 422
        assert f"{number} is used on another order" in text
        assert f'value="{number}"' in text
    assert now_of(other).version == other.version
    anonymize_order(now_of(one), datetime.now(UTC))
    assert find_tracking_owner(number) is None


def make_number() -> str:
    return f"JD {uuid4().hex[:12]}"


def found_by(number: str, order: Order) -> set[UUID]:
    """Return the orders of an order's year that the staff's search finds by a tracking number."""
    found = found_orders(prefetch_order_search(number, "", [order.placed_at.year]))
    return {order.order_id for group in found for order in group.orders}


def test_x257_a_number_is_added_after_shipping_corrected_and_mailed(staff_client: Client) -> None:
    order = make_order_with_events("paid", "packed", "shipped")
    first, second = make_number(), make_number()
    assert "Add tracking number" in text_of(staff_client, order)
    added = seen(order, event="tracked", carrier="DHL", tracking=first)
    assert staff_client.post(url("parcel", order, "1"), added).status_code == 303
    order = now_of(order)
    assert (order.parcels()[0].carrier, order.parcels()[0].tracking) == ("DHL", first)
    assert find_tracking_owner(first) == order.order_id
    about_number = "The tracking number of your parcel"
    assert not [each for each in list_mails_to(order.email) if about_number in each.subject]
    assert order.order_id in found_by(first, order)
    corrected = seen(order, event="tracked", carrier="UPS", tracking=second, mail="on")
    for _ in range(2):
        assert staff_client.post(url("parcel", order, "1"), corrected).status_code == 303
    order = now_of(order)
    (parcel,) = order.parcels()
    assert (parcel.carrier, parcel.tracking, parcel.state) == ("UPS", second, "shipped")
    assert [find_tracking_owner(each) for each in (first, second)] == [None, order.order_id]
    assert [found_by(each, order) for each in (first, second)] == [set(), {order.order_id}]
    (mail,) = [each for each in list_mails_to(order.email) if about_number in each.subject]
    assert second in mail.text
    # Another customer may have the former number by now.
    assert first not in str([each.detail for each in list_history(order)])
    take_tracking_number(first, make_order_with_events("paid"))
    closed = operations.transition_order(
        operations.mark_parcel_delivered(order, "1", actor="Ann", now=datetime.now(UTC)),
        Transition("closed", actor="Ann", at=datetime.now(UTC)),
    )
    removed = seen(closed, event="tracked", carrier="UPS", tracking="")
    assert staff_client.post(url("parcel", closed, "1"), removed).status_code == 303
    assert (now_of(closed).parcels()[0].tracking, now_of(closed).state) == ("", "closed")
    assert find_tracking_owner(second) is None
    assert_order_consistent(order.order_id)


def test_x257_a_number_that_will_not_do_is_explained_and_changes_nothing(
    staff_client: Client,
) -> None:
    taken = make_number()
    other = make_order_with_events("paid", "packed", "shipped")
    operations.correct_tracking(other, "1", "DHL", taken, actor="Ann", now=datetime.now(UTC))
    order = make_order_with_events("paid", "packed", "shipped")
    wrong = []
    for sent, words in (
        ({"tracking": "<b>"}, "letters, digits, spaces and dashes only"),
        ({"carrier": "DHL"}, "Enter another tracking number or carrier"),
        ({"mail": "on"}, "Enter the tracking number to email"),
        ({"tracking": taken}, f"{taken} is used on another order"),
        ({"tracking": "x" * 61}, "at most 60 characters"),
    ):
        answer = staff_client.post(url("parcel", order, "1"), seen(order, event="tracked", **sent))
        if answer.status_code != 422 or words not in answer.content.decode():
            wrong.append((sent, answer.status_code))
    assert not wrong
    stale = seen(order, event="tracked", tracking="SECOND") | {"version": "1"}
    answer = staff_client.post(url("parcel", order, "1"), stale)
    assert answer.status_code == 409
    assert "SECOND" in answer.content.decode()
    assert now_of(order).version == order.version
    packed = make_order_with_events("paid", "packed")
    delivered = operations.mark_parcel_delivered(order, "1", actor="Ann", now=datetime.now(UTC))
    anonymize_order(delivered, datetime.now(UTC))
    for each in (packed, now_of(delivered)):
        sent = seen(each, event="tracked", tracking=make_number())
        assert staff_client.post(url("parcel", each, "1"), sent).status_code == 409


def test_x257_a_corrected_number_is_free_after_a_crash_and_one_that_comes_back_is_kept() -> None:
    order = make_order_with_events("paid", "packed", "shipped")
    first, second = make_number(), make_number()

    def correct(order: Order, tracking: str) -> Order:
        return operations.correct_tracking(
            order, "1", "DHL", tracking, actor="Ann", now=datetime.now(UTC)
        )

    order = correct(order, first)
    kill_in(effects, "release_unused_numbers", lambda: correct(order, second))
    assert find_tracking_owner(first) == order.order_id
    now = datetime.now(UTC)
    run_worker(now - timedelta(minutes=2), now + timedelta(minutes=1), order.order_id)
    assert [find_tracking_owner(each) for each in (first, second)] == [None, order.order_id]
    stale = now_of(order)
    correct(stale, first)
    # As a process does that was slow after the event before.
    release_unused_numbers(stale, stale.former_tracking_numbers)
    assert [find_tracking_owner(each) for each in (first, second)] == [order.order_id, None]


def test_x198_a_number_whose_event_lost_is_free_and_a_winners_is_not() -> None:
    order, now = make_order_with_events("paid", "packed"), datetime.now(UTC)
    number, other = make_number(), make_number()

    def ship(order: Order, tracking: str) -> Order:
        return operations.ship_parcel(order, "1", "DHL", tracking, actor="Ann", now=now)

    def find_violations(tracking: str) -> list[Violation]:
        return list(order_search.check_number(order_search.NUMBER.one(tracking=tracking)))

    tags = {"added": ["gift"], "removed": []}
    newer = operations.transition_order(
        order, Transition("tagged", actor="Ben", at=now, details=tags)
    )
    with pytest.raises(OrderChanged):
        ship(order, number)
    assert find_tracking_owner(number) is None
    # Another submit is about to give it to the order; then it has.
    take_tracking_number(number, order)
    take_tracking_number(number, newer)
    with pytest.raises(OrderChanged):
        ship(order, number)
    assert find_tracking_owner(number) == order.order_id
    shipped = ship(newer, number)
    with pytest.raises(OrderChanged):
        ship(newer, number)
    with pytest.raises(TransitionRefused):
        ship(shipped, other)
    assert [find_tracking_owner(each) for each in (number, other)] == [order.order_id, None]
    # A process dies before its event.
    take_tracking_number(other, shipped)
    assert find_violations(other) == [], "the event may still be written"
    operations.mark_parcel_delivered(shipped, "1", actor="Ann", now=now)
    (violation,) = find_violations(other)
    assert violation.fix
    violation.fix(now)
    assert (find_tracking_owner(other), find_violations(number)) == (None, [])


def test_x73_a_stale_submit_shows_who_was_faster_and_what_it_had_typed(
    staff_client: Client,
) -> None:
    order = make_order_with_events("paid", "packed")
    operations.ship_parcel(order, "1", "DHL", "FIRST", actor="Ben", now=datetime.now(UTC))
    answer = staff_client.post(
        url("parcel", order, "1"), seen(order, event="shipped", tracking="SECOND"), headers=HTMX
    )
    text = answer.content.decode()
    assert answer.status_code == 409
    assert "Ben changed it" in text
    assert "shipped" in text
    assert now_of(order).parcels()[0].tracking == "FIRST"


def test_a_stale_packing_keeps_what_was_typed_in_sight(staff_client: Client) -> None:
    order = make_order_with_events("paid")
    warehouse = next(iter(order.units_to_pack))
    operations.change_order(order, {1: 1}, actor="shopper", now=datetime.now(UTC))
    answer = staff_client.post(url("pack", order, warehouse), seen(order, line_1="2"))
    text = answer.content.decode()
    assert answer.status_code == 409
    assert "The customer changed it" in text
    assert "You had entered" in text
    assert now_of(order).parcels() == ()


def test_what_the_order_does_not_have_is_a_conflict_and_changes_nothing(
    support_client: Client,
) -> None:
    violations = []
    order = make_order_with_events("paid")
    requests: list[tuple[str, tuple[str, ...], dict[str, str]]] = [
        ("pack", ("mars",), {"line_1": "1"}),
        ("pack", ("ahead",), {"line_1": "1"}),
        ("parcel", ("9",), {"event": "shipped"}),
        ("sent_back", ("9",), {"event": "return_approved"}),
        ("return_refund", ("9",), {"amount": "1", "reason": "x"}),
        ("lines", (), {"version": "1"}),
        ("lines", (), {"version": "x"}),
        ("received", (), {"amount": "1", "press": str(uuid4())}),
        ("money_sent", (), {"refund": "nothing"}),
    ]
    for name, more, sent in requests:
        answer = support_client.post(url(name, order, *more), seen(order) | sent)
        if answer.status_code != 409 or "Nothing was changed" not in answer.content.decode():
            violations.append(
                f"{name} {more} {sent}: {answer.status_code}, or nothing is explained"
            )
        if now_of(order) != order:
            violations.append(f"{name} {more} {sent} changes the order")
            order = make_order_with_events("paid")
    assert not violations, "\n".join(violations)


# ---- Returns


def test_a_return_is_agreed_to_received_and_refunded(
    support_client: Client, requested_return: Order
) -> None:
    text = text_of(support_client, requested_return)
    for expected in ("Return 1", "Too small", "Waiting for an answer", "Returns waiting"):
        assert expected in text, expected
    assert (
        support_client.post(
            url("sent_back", requested_return, "1"), seen(requested_return, event="return_approved")
        ).status_code
        == 303
    )
    agreed = now_of(requested_return)
    assert (
        support_client.post(
            url("sent_back", requested_return, "1"), seen(agreed, line_1="1")
        ).status_code
        == 303
    )
    received = now_of(requested_return)
    assert (received.returns[0].state, received.returns[0].restock) == ("received", {1: 1})
    form = text_of(support_client, received)
    assert url("return_refund", requested_return, "1") in form
    sent = seen(received, line_1="2", reason="It is back with us")
    assert support_client.post(url("return_refund", requested_return, "1"), sent).status_code == 303
    done = now_of(requested_return)
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
        order = operations.decide_refund(order, amount, {}, "Sorry", actor="Bea", now=utc_now())
    # Of two lines it is the second that comes back: the free one.
    order = operations.request_return(order, {2: 1}, "", actor="shopper", now=utc_now())
    order = operations.approve_return(order, "1", actor="Ann", now=utc_now())
    order = operations.receive_return(order, "1", {}, actor="Ann", now=utc_now())
    tracking = reverse("orders:track", args=[links.order_access_token(order.order_id)])
    assert "refund you within a few days" in Client().get(tracking, follow=True).content.decode()
    address = url("return_refund", order, "1")
    (form,) = html.fromstring(text_of(support_client, order)).xpath(f"//form[@action='{address}']")
    sent = {name: value or "" for name, value in form.form_values()}
    assert support_client.post(address, sent).status_code == 303
    done = now_of(order)
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
    order = operations.place_order(draft, utc_now())
    if order.state == "pending_payment":
        order = make_payment(order)
    for kind in ("packed", "shipped", "delivered"):
        order = operations.transition_order(order, Transition(kind, actor="Ann", at=utc_now()))
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
    done = now_of(requested_return)
    assert (done.returns[0].state, done.returns[0].answer) == ("rejected", "It was worn outside")
    assert "Our answer: <bdi>It was worn outside</bdi>" in text_of(staff_client, done)


def test_no_more_goes_into_stock_than_came_back(
    staff_client: Client, requested_return: Order
) -> None:
    agreed = operations.approve_return(requested_return, "1", actor="Ben", now=datetime.now(UTC))
    answer = staff_client.post(url("sent_back", requested_return, "1"), seen(agreed, line_1="3"))
    assert answer.status_code == 422
    assert now_of(requested_return) == agreed


# ---- Money


def test_money_goes_back_for_lines_with_the_delivery(support_client: Client) -> None:
    order = make_order_with_events("paid")
    sent = seen(order, line_1="1", delivery="on", reason="One was broken")
    assert support_client.post(url("refund", order), sent).status_code == 303
    done = now_of(order)
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
        sent = seen(now_of(order), amount="5", reason="Broken on arrival")
        answer = client.post(url("refund", order), sent)
        assert answer.status_code == 422
        (form,) = html.fromstring(answer.content).xpath(
            f"//form[@action='{url('refund', order)}'][.//input[@name='code']]"
        )
        assert form.xpath(".//input[@name='amount']/@value") == ["5"]
        assert form.xpath(".//input[@name='reason']/@value") == ["Broken on arrival"]
        assert now_of(order).refunded == Money(6, "EUR")
        sent["code"] = pyotp.TOTP(secret).now()
        assert client.post(url("refund", order), sent).status_code == 303
    assert now_of(order).refunded == Money(11, "EUR")


def test_money_goes_back_for_nothing_in_particular(support_client: Client) -> None:
    order = make_order_with_events("paid")
    assert (
        support_client.post(
            url("refund", order), seen(order, amount="3,50", reason="Sorry")
        ).status_code
        == 303
    )
    assert now_of(order).refunded == Money("3.50", "EUR")


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
        if now_of(order) != order:
            violations.append(f"{sent} changes the order")
            order = make_order_with_events("paid")
    assert not violations, "\n".join(violations)


def test_two_refunds_from_two_pages_are_one(support_client: Client) -> None:
    order = make_order_with_events("paid")
    sent = seen(order, amount="5", reason="Sorry")
    assert [support_client.post(url("refund", order), sent).status_code for _ in range(2)] == [
        303,
        303,
    ]
    assert now_of(order).refunded == Money(5, "EUR")


def test_an_unpaid_order_has_nothing_to_give_back(support_client: Client) -> None:
    order = make_order_with_events()
    assert url("refund", order) not in text_of(support_client, order)
    assert (
        support_client.post(url("refund", order), seen(order, amount="1", reason="x")).status_code
        == 422
    )


def test_the_delivery_goes_back_once(support_client: Client) -> None:
    order = make_order_with_events("paid")
    assert 'id="refund-delivery"' in text_of(support_client, order)
    assert (
        support_client.post(
            url("refund", order), seen(order, delivery="on", reason="Late")
        ).status_code
        == 303
    )
    done = now_of(order)
    assert (done.refunded, done.events[1].details["delivery"]) == (order.delivery, True)
    assert 'id="refund-delivery"' not in text_of(support_client, done)
    for more in ({}, {"line_1": "1"}):
        again = support_client.post(
            url("refund", order), seen(done, delivery="on", reason="Late", **more)
        )
        assert (again.status_code, "already refunded" in again.content.decode()) == (422, True)
    assert now_of(order) == done


def test_what_was_taken_out_before_it_was_paid_is_not_given_back(support_client: Client) -> None:
    product = make_product()
    make_stock(5, product_id=product.product_id, variant_id=product.variants[0].variant_id)
    draft = make_draft((product, 3))
    placed = operations.place_order(replace(draft, payment_method="cod"), datetime.now(UTC))
    operations.start_payment(placed, "http://testserver", datetime.now(UTC))
    order = operations.change_order(now_of(placed), {1: 2}, actor="shopper", now=datetime.now(UTC))
    assert not order.refunds, "nothing was paid yet"
    order, _ = operations.record_manual_payment(
        order, order.total, key=str(uuid4()), actor="Bea", now=datetime.now(UTC)
    )
    assert (
        support_client.post(url("refund", order), seen(order, line_1="3", reason="All")).status_code
        == 422
    )
    assert (
        support_client.post(url("refund", order), seen(order, line_1="2", reason="All")).status_code
        == 303
    )
    done = now_of(order)
    assert [refund.amount for refund in done.refunds] == [order.total - order.delivery]
    assert (
        support_client.post(url("refund", order), seen(done, line_1="1", reason="More")).status_code
        == 422
    )


def test_what_was_taken_out_and_paid_back_is_counted_once(support_client: Client) -> None:
    order = make_order_with_events("paid", quantity=3)
    changed = operations.change_order(order, {1: 2}, actor="shopper", now=datetime.now(UTC))
    assert (
        support_client.post(
            url("refund", order), seen(changed, line_1="3", reason="All")
        ).status_code
        == 422
    )
    assert (
        support_client.post(
            url("refund", order), seen(changed, line_1="2", reason="All")
        ).status_code
        == 303
    )
    assert now_of(order).refunded == order.total - order.delivery


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
    before = now_of(requested_return)
    answer = support_client.post(
        url("return_refund", requested_return, "1"), seen(before, line_1="1", reason="Back")
    )
    assert answer.status_code == 409
    assert now_of(requested_return) == before


def test_s24_who_packs_moves_no_money(staff_client: Client, support_client: Client) -> None:
    order, owed = make_order_with_events("paid"), by_transfer()
    for waiting, name, sent in (
        (order, "refund", {"amount": "1", "reason": "Mine"}),
        (owed, "received", {"amount": "1", "press": str(uuid4())}),
    ):
        assert url(name, waiting) in text_of(support_client, waiting)
        assert url(name, waiting) not in text_of(staff_client, waiting)
        assert staff_client.post(url(name, waiting), seen(waiting, **sent)).status_code == 403
        assert now_of(waiting) == waiting


def by_transfer() -> Order:
    product = make_product()
    make_stock(5, product_id=product.product_id, variant_id=product.variants[0].variant_id)
    draft = make_draft((product, 1))
    placed = operations.place_order(
        type(draft)(**{**vars(draft), "payment_method": "transfer"}), datetime.now(UTC)
    )
    operations.start_payment(placed, "http://testserver", datetime.now(UTC))
    return now_of(placed)


def test_a_transfer_is_noted_once_and_confirms_the_order(support_client: Client) -> None:
    order = by_transfer()
    text = text_of(support_client, order)
    idempotency_key = re.search(r'name="press" value="([^"]+)"', text)
    assert idempotency_key
    sent = seen(order, amount=str(order.total.amount), press=idempotency_key[1])
    assert support_client.post(url("received", order), sent).status_code == 303
    assert support_client.post(url("received", order), sent).status_code == 303
    done = now_of(order)
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
    assert (now_of(order).payment, now_of(order).refunded) == ("refunded", order.total)


# ---- Changes


def test_something_is_taken_out_and_its_money_goes_back(support_client: Client) -> None:
    order = make_order_with_events("paid")
    assert support_client.post(url("lines", order), seen(order, line_1="1")).status_code == 303
    done = now_of(order)
    assert (done.item_count, done.total, done.refunded) == (
        1,
        order.total - Money(12, "EUR"),
        Money(12, "EUR"),
    )
    text = text_of(support_client, done)
    assert "1 × €12.00" in text
    assert "1 item<" in text


def test_a_change_that_is_none_is_explained(staff_client: Client) -> None:
    violations = []
    order = make_order_with_events("paid")
    for typed, expected in (
        ("0", "Keep at least one item"),
        ("2", "Enter a smaller number"),
        ("3", "from 0 to 2"),
    ):
        answer = staff_client.post(url("lines", order), seen(order, line_1=typed))
        if answer.status_code != 422 or expected not in answer.content.decode():
            violations.append(f"{typed}: {answer.status_code}, or no {expected} in the page")
        if now_of(order) != order:
            violations.append(f"{typed} changes the order")
            order = make_order_with_events("paid")
    assert not violations, "\n".join(violations)


def test_what_is_packed_stays(staff_client: Client) -> None:
    order = make_order_with_events("paid")
    order = operations.pack_parcel(
        order, next(iter(order.units_to_pack)), {1: 1}, actor="Ben", now=datetime.now(UTC)
    )
    answer = staff_client.post(url("lines", order), seen(order, line_1="0"))
    assert (
        answer.status_code,
        "Enter at least 1: that many are already packed" in answer.content.decode(),
    ) == (
        422,
        True,
    )


def test_an_order_goes_to_another_address(staff_client: Client) -> None:
    order = make_order_with_events("paid")
    address = {
        "country": "DE",
        "name": "Sam Shopper",
        "street": "Hof 2",
        "postal_code": "10115",
        "city": "Berlin",
    }
    assert staff_client.post(url("door", order), seen(order, **address)).status_code == 303
    assert now_of(order).delivery_address.street == "Hof 2"
    wrong = staff_client.post(
        url("door", order), seen(now_of(order), **(address | {"postal_code": "1"}))
    )
    assert (wrong.status_code, "Enter a German postcode" in wrong.content.decode()) == (422, True)
    abroad = staff_client.post(
        url("door", order), seen(now_of(order), **(address | {"country": "FR"}))
    )
    assert abroad.status_code == 422


def test_the_history_shows_what_each_step_was_about(
    staff_client: Client,
) -> None:
    order = make_order_with_events("paid", "packed")
    staff_client.post(
        url("parcel", order, "1"), seen(order, event="shipped", carrier="DHL", tracking="JD 7")
    )
    assert "parcel 1, DHL, JD 7" in text_of(staff_client, order)


def test_s50_a_form_of_many_lines_is_one_field_in_the_log(staff_client: Client, ann: User) -> None:
    order = make_order_with_events("paid")
    sent = {f"line_{line}": str(line % 2) for line in range(1, 200)}
    answer = staff_client.post(
        url("pack", order, next(iter(order.units_to_pack))), seen(order, **sent)
    )
    assert answer.status_code == 303
    entries, _ = audit_log.list_actor_entries(
        ann.pk, datetime.now(UTC).date().replace(day=1), "", 20
    )
    assert entries[0].fields["lines"].startswith("1: 1, 2: 0, 3: 1")
    assert len(entries[0].fields) == 2

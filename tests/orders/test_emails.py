"""The mails about an order: what each says, and that each goes out once."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.conf import settings

from cassandra_db import Row
from mail.queries import list_recipient_mails
from orders import operations, queries
from orders.carriers import tracking_url
from orders.lifecycle.entities import Order
from orders.links import order_id_from_access_token
from orders.operations.emails import queue_order_mails
from orders.operations.mail_texts import MailContent, compose_mail
from pricing.delivery_settings import list_first_settings
from tests.factories import make_draft, make_order, make_payment, make_product
from tests.orders.paper_orders import (
    apply_event,
    change_order,
    make_items,
    make_paid_order,
    make_paper_order,
)


def last_mail(order: Order, items: Any = ()) -> MailContent:
    """The mail about the last event."""
    found = compose_mail(order, order.events[0], items)
    assert found
    return found


def mail_text(mail: MailContent) -> str:
    return " ".join((mail.headline, *mail.paragraphs))


def apply_events(order: Order, *kinds: str) -> Order:
    for kind in kinds:
        order = apply_event(order, kind)
    return order


# ---- The content of each


def test_each_parcel_has_a_mail_with_its_items_and_the_carriers_page() -> None:
    items = make_items(2, 1)
    first = apply_event(
        make_paid_order(items), "packed", parcel="1", warehouse="berlin", lines={"1": 2}
    )
    first = apply_event(first, "shipped", parcel="1", carrier="DHL", tracking="0034 1")
    mail = last_mail(first, items)
    assert mail.headline == "A parcel is on its way"
    assert [(each.item.sku, each.units) for each in mail.contents] == [("T-1", 2)]
    assert "The tracking number is 0034 1." in mail.paragraphs
    assert "The rest will follow in another parcel" in mail_text(mail)
    assert (
        mail.tracking_url
        == "https://www.dhl.de/en/privatkunden/pakete-empfangen/verfolgen.html?piececode=0034%201"
    )
    second = apply_event(first, "packed", parcel="2", warehouse="berlin", lines={"2": 1})
    second = apply_event(second, "shipped", parcel="2", carrier="Cargo bike", tracking="")
    mail = last_mail(second, items)
    assert (mail.headline, mail.tracking_url) == ("Your order is on its way", "")
    assert [(each.item.sku, each.units) for each in mail.contents] == [("T-2", 1)]
    assert "with Cargo bike" in mail_text(mail)


def test_an_arrived_parcel_says_until_when_things_may_come_back() -> None:
    items = make_items(1)
    sent = apply_events(make_paid_order(items), "packed", "shipped")
    arrived = apply_event(sent, "delivered")
    until = arrived.events[0].at + timedelta(days=settings.RETURN_DAYS)
    assert f"until {until:%A} {until.day} {until:%B}" in mail_text(last_mail(arrived, items))
    assert len(last_mail(arrived, items).contents) == 1
    assert "You don’t need to do anything" in mail_text(last_mail(apply_event(sent, "lost"), items))


def test_a_changed_order_says_what_it_is_now_and_what_comes_back() -> None:
    items = make_items(3, cents=1000)
    order = change_order(make_paid_order(items), items, {1: 1})
    event = next(event for event in order.events if event.kind == "changed")
    mail = compose_mail(order, event, items)
    assert mail
    assert mail.has_order_summary
    assert "We’ll refund you €20.00" in mail_text(mail)
    refund = next(event for event in order.events if event.kind == "refund_owed").details
    done = apply_event(
        order,
        "refunded",
        refund=refund["refund"],
        amount=refund["amount"],
        of={order_payment(order): 2000},
    )
    mail = last_mail(done, items)
    assert mail.headline == "Your refund of €20.00 is on its way"
    assert "The order was changed." in mail_text(mail)
    assert "back on your card" in mail_text(mail)
    assert [(each.item.sku, each.units) for each in mail.contents] == [("T-1", 2)]


def order_payment(order: Order) -> str:
    return str(
        next(event.details["payment_id"] for event in order.events if event.kind == "captured")
    )


def test_the_way_of_a_return_is_mailed_step_by_step() -> None:
    items = make_items(2)
    order = apply_events(make_paid_order(items), "packed", "shipped", "delivered")
    requested = apply_event(
        order, "return_requested", **{"return": "1", "lines": {"1": 1}, "reason": "Too small"}
    )
    approved = apply_event(requested, "return_approved", **{"return": "1"})
    for mail, words in (
        (last_mail(requested, items), "Don’t send anything until you hear from us."),
        (
            last_mail(approved, items),
            f"note with {order.number} / 1 in the parcel and send it to: Stoa, 1 Example Street",
        ),
        (
            last_mail(
                apply_event(requested, "return_rejected", note="It was worn.", **{"return": "1"}),
                items,
            ),
            "It was worn.",
        ),
        (
            last_mail(
                apply_event(approved, "return_received", **{"return": "1", "restock": {}}), items
            ),
            "We’re checking it now.",
        ),
    ):
        assert words in mail_text(mail)
        assert [(each.item.sku, each.units) for each in mail.contents] == [("T-1", 1)]


def test_what_is_said_of_the_money_fits_how_it_is_paid(subtests: pytest.Subtests) -> None:
    items = make_items(2)
    for method, kind, words in (
        ("card", "authorized", "We’ll pack it next"),
        ("cod", "confirmed", "You pay the carrier €24.90 on delivery."),
        ("transfer", "placed", "Please transfer €24.90 by"),
        ("card", "payment_failed", "Nothing was charged."),
        ("card", "expired", "you can order them again"),
        ("transfer", "expired", "If your payment is already on its way"),
        ("card", "cancelled", "Nothing was charged."),
    ):
        with subtests.test(method=method, kind=kind):
            waiting = replace(make_paper_order(items), payment_method=method)
            details = {"payment_id": str(uuid4()), "amount": 2490} if kind == "authorized" else {}
            mail = last_mail(
                waiting if kind == "placed" else apply_event(waiting, kind, **details), items
            )
            assert words in mail_text(mail)
            assert bool(mail.bank_account) == (method == "transfer" and kind == "placed")


def test_what_is_none_of_the_shoppers_business_has_no_letter(subtests: pytest.Subtests) -> None:
    items = make_items(2)
    for kind in ("packed", "held", "late", "captured", "note"):
        with subtests.test(kind=kind):
            order = make_paid_order(items)
            if kind == "note":
                order = replace(
                    order, events=(replace(order.events[0], kind="note"), *order.events)
                )
            elif kind != "captured":
                order = apply_event(order, kind)
            assert compose_mail(order, order.events[0], items) is None


def test_a_failed_payment_that_was_made_good_meanwhile_sends_no_mail() -> None:
    items = make_items(1)
    failed = apply_event(make_paper_order(items), "payment_failed")
    done = apply_event(failed, "authorized", payment_id=str(uuid4()), amount=1490)
    assert compose_mail(done, failed.events[0], items) is None


def test_each_carrier_has_its_page(subtests: pytest.Subtests) -> None:
    carriers = sorted({setting.carrier for setting in list_first_settings().values()})
    assert len(carriers) >= 17
    for carrier in carriers:
        with subtests.test(carrier):
            assert re.fullmatch(
                r"https://[\w.-]+/\S*A%2F1%20%26x%3D%22", tracking_url(carrier, 'A/1 &x="')
            )
            assert tracking_url(carrier, "") == ""


def test_of_a_carrier_that_is_not_known_there_is_no_page() -> None:
    assert tracking_url("javascript:alert(1)//", "1") == ""


# ---- How often


def list_mails(order: Order) -> list[Row]:
    return sorted(list_recipient_mails(order.email), key=lambda row: row.queued_at)


def test_each_event_is_mailed_once_however_often_effects_are_applied() -> None:
    product = make_product("Cup", stock=9)
    email = f"ada-{uuid4().hex}@example.com"
    order = make_payment(
        operations.place_order(make_draft((product, 2), email=email), datetime.now(UTC))
    )
    for line in ({1: 1}, {1: 1}):
        order = operations.pack_parcel(
            order, "berlin", line, actor="staff:1:Ann", now=datetime.now(UTC)
        )
        order = operations.ship_parcel(
            order,
            order.parcels()[-1].parcel_id,
            "DHL",
            "0034",
            actor="staff:1:Ann",
            now=datetime.now(UTC),
        )
    order = operations.mark_parcel_delivered(order, "1", actor="system", now=datetime.now(UTC))
    for _ in range(3):
        operations.apply_effects(order.order_id, datetime.now(UTC))
    subjects = [row.subject for row in list_mails(order)]
    assert subjects == [
        f"Your order {order.number} at Stoa",
        f"A parcel is on its way: {order.number}",
        f"Your order is on its way: {order.number}",
        f"Your parcel has arrived: {order.number}",
    ]
    for row in list_mails(order):
        for part in (row.text, row.html):
            assert order.number in part
            link = re.search(r"/o/([^/\"<\s]+)/", part)
            assert link
            assert order_id_from_access_token(link[1]) == order.order_id
    parcel = list_mails(order)[1]
    for part in (parcel.text, parcel.html):
        for words in ("1 × Cup", "0034", "https://www.dhl.de/"):
            assert words in part


def test_what_is_older_than_two_days_or_erased_sends_no_mail() -> None:
    old = make_order(
        paid=True, email=f"ada-{uuid4().hex}@example.com", now=datetime.now(UTC) - timedelta(days=3)
    )
    assert list_mails(old) == []
    order = make_order(paid=True, email=f"ada-{uuid4().hex}@example.com")
    nobody = f"ada-{uuid4().hex}@example.com"
    erased = replace(
        order, email=nobody, events=(replace(order.events[0], kind="erased"), *order.events)
    )
    queue_order_mails(erased, queries.list_items(order), datetime.now(UTC))
    assert list_recipient_mails(nobody) == []

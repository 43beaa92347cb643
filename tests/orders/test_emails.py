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
from orders.entities import Order
from orders.links import order_id_from_token
from orders.operations.emails import MailContent, compose_mail, queue_order_mails
from pricing.delivery import DELIVERY_METHODS
from tests.factories import make_draft, make_order, make_payment, make_product, make_stock
from tests.orders.paper_orders import (
    apply_event,
    change_order,
    make_items,
    make_paid_order,
    make_paper_order,
)


def letter(order: Order, goods: Any = ()) -> MailContent:
    """The letter about what has happened last."""
    found = compose_mail(order, order.events[0], goods)
    assert found
    return found


def said(letter: MailContent) -> str:
    return " ".join((letter.headline, *letter.paragraphs))


def happened(order: Order, *kinds: str) -> Order:
    for kind in kinds:
        order = apply_event(order, kind)
    return order


# ---- What each says


def test_each_parcel_has_a_letter_with_its_goods_and_the_carriers_page() -> None:
    goods = make_items(2, 1)
    first = apply_event(
        make_paid_order(goods), "packed", parcel="1", warehouse="berlin", lines={"1": 2}
    )
    first = apply_event(first, "shipped", parcel="1", carrier="DHL", tracking="0034 1")
    told = letter(first, goods)
    assert told.headline == "A parcel is on its way"
    assert [(each.item.sku, each.units) for each in told.contents] == [("T-1", 2)]
    assert "The tracking number is 0034 1." in told.paragraphs
    assert "The rest will follow in another parcel" in said(told)
    assert (
        told.tracking_url
        == "https://www.dhl.de/en/privatkunden/pakete-empfangen/verfolgen.html?piececode=0034%201"
    )
    second = apply_event(first, "packed", parcel="2", warehouse="berlin", lines={"2": 1})
    second = apply_event(second, "shipped", parcel="2", carrier="Cargo bike", tracking="")
    told = letter(second, goods)
    assert (told.headline, told.tracking_url) == ("Your order is on its way", "")
    assert [(each.item.sku, each.units) for each in told.contents] == [("T-2", 1)]
    assert "with Cargo bike" in said(told)


def test_an_arrived_parcel_says_until_when_things_may_come_back() -> None:
    goods = make_items(1)
    sent = happened(make_paid_order(goods), "packed", "shipped")
    arrived = apply_event(sent, "delivered")
    until = arrived.events[0].at + timedelta(days=settings.RETURN_DAYS)
    assert f"until {until:%A} {until.day} {until:%B}" in said(letter(arrived, goods))
    assert len(letter(arrived, goods).contents) == 1
    assert "You do not need to do anything" in said(letter(apply_event(sent, "lost"), goods))


def test_a_changed_order_says_what_it_is_now_and_what_comes_back() -> None:
    goods = make_items(3, cents=1000)
    order = change_order(make_paid_order(goods), goods, {1: 1})
    event = next(event for event in order.events if event.kind == "changed")
    told = compose_mail(order, event, goods)
    assert told
    assert told.has_order_summary
    assert "We will refund you €20.00" in said(told)
    refund = next(event for event in order.events if event.kind == "refund_owed").details
    done = apply_event(
        order,
        "refunded",
        refund=refund["refund"],
        amount=refund["amount"],
        of={order_payment(order): 2000},
    )
    told = letter(done, goods)
    assert told.headline == "Your refund of €20.00 is on its way"
    assert "The order was changed." in said(told)
    assert "back on your card" in said(told)
    assert [(each.item.sku, each.units) for each in told.contents] == [("T-1", 2)]


def order_payment(order: Order) -> str:
    return str(
        next(event.details["payment_id"] for event in order.events if event.kind == "captured")
    )


def test_the_way_of_a_return_is_told_step_by_step() -> None:
    goods = make_items(2)
    order = happened(make_paid_order(goods), "packed", "shipped", "delivered")
    asked = apply_event(
        order, "return_requested", **{"return": "1", "lines": {"1": 1}, "reason": "Too small"}
    )
    approved = apply_event(asked, "return_approved", **{"return": "1"})
    for told, words in (
        (letter(asked, goods), "Do not send anything until you hear from us."),
        (
            letter(approved, goods),
            f"note with {order.number} / 1 in the parcel and send it to: Stoa, 1 Example Street",
        ),
        (
            letter(
                apply_event(asked, "return_rejected", note="It was worn.", **{"return": "1"}), goods
            ),
            "It was worn.",
        ),
        (
            letter(
                apply_event(approved, "return_received", **{"return": "1", "restock": {}}), goods
            ),
            "We are checking it now.",
        ),
    ):
        assert words in said(told)
        assert [(each.item.sku, each.units) for each in told.contents] == [("T-1", 1)]


def test_what_is_said_of_the_money_fits_how_it_is_paid(subtests: pytest.Subtests) -> None:
    goods = make_items(2)
    for method, kind, words in (
        ("card", "authorized", "We will pack it next"),
        ("cod", "confirmed", "You pay the carrier €24.90 on delivery."),
        ("transfer", "placed", "Please transfer €24.90 by"),
        ("card", "payment_failed", "Nothing was charged."),
        ("card", "expired", "you can order them again"),
        ("transfer", "expired", "If your payment is already on its way"),
        ("card", "cancelled", "Nothing was charged."),
    ):
        with subtests.test(method=method, kind=kind):
            waiting = replace(make_paper_order(goods), payment_method=method)
            details = {"payment_id": str(uuid4()), "amount": 2490} if kind == "authorized" else {}
            told = letter(
                waiting if kind == "placed" else apply_event(waiting, kind, **details), goods
            )
            assert words in said(told)
            assert bool(told.bank_account) == (method == "transfer" and kind == "placed")


def test_what_is_none_of_the_shoppers_business_has_no_letter(subtests: pytest.Subtests) -> None:
    goods = make_items(2)
    for kind in ("packed", "held", "late", "captured", "note"):
        with subtests.test(kind=kind):
            there = make_paid_order(goods)
            if kind == "note":
                there = replace(
                    there, events=(replace(there.events[0], kind="note"), *there.events)
                )
            elif kind != "captured":
                there = apply_event(there, kind)
            assert compose_mail(there, there.events[0], goods) is None


def test_a_failed_payment_that_was_made_good_meanwhile_is_not_told() -> None:
    goods = make_items(1)
    failed = apply_event(make_paper_order(goods), "payment_failed")
    done = apply_event(failed, "authorized", payment_id=str(uuid4()), amount=1490)
    assert compose_mail(done, failed.events[0], goods) is None


def test_each_carrier_has_its_page(subtests: pytest.Subtests) -> None:
    carriers = sorted({way.carrier for ways in DELIVERY_METHODS.values() for way in ways})
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


def mailed(order: Order) -> list[Row]:
    return sorted(list_recipient_mails(order.email), key=lambda row: row.queued_at)


def test_each_event_is_told_once_however_often_the_order_is_settled() -> None:
    product = make_product("Cup")
    make_stock(9, product_id=product.product_id, variant_id=product.variants[0].variant_id)
    email = f"ada-{uuid4().hex}@example.com"
    there = make_payment(
        operations.place_order(make_draft((product, 2), email=email), datetime.now(UTC))
    )
    for line in ({1: 1}, {1: 1}):
        there = operations.pack_parcel(
            there, "berlin", line, actor="staff:1:Ann", now=datetime.now(UTC)
        )
        there = operations.ship_parcel(
            there,
            there.parcels()[-1].parcel_id,
            "DHL",
            "0034",
            actor="staff:1:Ann",
            now=datetime.now(UTC),
        )
    there = operations.mark_parcel_delivered(there, "1", actor="system", now=datetime.now(UTC))
    for _ in range(3):
        operations.apply_effects(there.order_id, datetime.now(UTC))
    subjects = [row.subject for row in mailed(there)]
    assert subjects == [
        f"Your order {there.number} at Stoa",
        f"A parcel is on its way: {there.number}",
        f"Your order is on its way: {there.number}",
        f"Your parcel has arrived: {there.number}",
    ]
    for row in mailed(there):
        for part in (row.text, row.html):
            assert there.number in part
            link = re.search(r"/o/([^/\"<\s]+)/", part)
            assert link
            assert order_id_from_token(link[1]) == there.order_id
        assert "style=" not in row.html
    parcel = mailed(there)[1]
    for part in (parcel.text, parcel.html):
        for words in ("1 × Cup", "0034", "https://www.dhl.de/"):
            assert words in part


def test_what_is_older_than_two_days_or_erased_is_not_told() -> None:
    old = make_order(
        paid=True, email=f"ada-{uuid4().hex}@example.com", now=datetime.now(UTC) - timedelta(days=3)
    )
    assert mailed(old) == []
    there = make_order(paid=True, email=f"ada-{uuid4().hex}@example.com")
    nobody = f"ada-{uuid4().hex}@example.com"
    erased = replace(
        there, email=nobody, events=(replace(there.events[0], kind="erased"), *there.events)
    )
    queue_order_mails(erased, queries.list_items(there), datetime.now(UTC))
    assert list_recipient_mails(nobody) == []

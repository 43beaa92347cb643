"""Stripe: its calls checked against Stripe's own description (stripe-mock), and their effects at a stateful fake."""

import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from unittest.mock import Mock
from uuid import uuid4

import pytest
from django.conf import settings
from django.core.checks import CheckMessage
from django.test import Client
from django.test.utils import override_settings
from django.urls import reverse
from stripe import HTTPClient

from inventory import operations as inventory
from inventory.entities import WantedLine
from orders import jobs, operations, queries
from orders.lifecycle.entities import Order
from orders.lifecycle.transitions import Transition
from payments import gateways
from payments.checks import check_payment_settings
from payments.errors import GatewayMissing, GatewayUnavailable
from payments.gateways import CaptureRefused, PaymentRequest, stripe
from pricing.money import to_minor_units
from tests.clock import now
from tests.environment import ROOT
from tests.factories import make_order
from tests.orders.attempts import list_attempts
from tests.orders.consistency_checks import assert_order_consistent
from tests.orders.reads import fresh
from tests.payments.bank import euros, make_stripe_event, sign_stripe_event
from tests.payments.fake_stripe import FakeStripe, serve_fake_stripe
from tests.web_server import find_free_port

ORIGIN = "https://shop.example"
SECRET = "whsec_of_this_test"


def request(**changes: Any) -> PaymentRequest:
    fields: dict[str, Any] = {
        "payment_id": uuid4(),
        "order_id": uuid4(),
        "number": "7KQF-3M9X",
        "amount": euros(4320),
        "description": "Stoa, order 7KQF-3M9X",
        "return_url": f"{ORIGIN}/back",
        "leave_url": f"{ORIGIN}/left",
        "webhook_url": f"{ORIGIN}/notice",
    }
    return PaymentRequest(**(fields | changes))


@pytest.fixture
def mock(stripe_mock: str) -> Iterator[None]:
    with override_settings(
        PAYMENT_GATEWAY="stripe", STRIPE_SECRET_KEY="sk_test_123", STRIPE_API=stripe_mock
    ):
        yield


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeStripe]:
    # Stripe's own client waits between its tries.
    monkeypatch.setattr(HTTPClient, "INITIAL_DELAY", 0)
    with (
        serve_fake_stripe() as (fake_stripe, address),
        override_settings(
            PAYMENT_GATEWAY="stripe",
            STRIPE_SECRET_KEY="sk_test_123",
            STRIPE_WEBHOOK_SECRET=SECRET,
            STRIPE_API=address,
        ),
    ):
        yield fake_stripe


def start_payment(order: Order) -> tuple[operations.PaymentRedirect, str]:
    """Start a payment; return it, and Stripe's reference."""
    opened = operations.start_payment(order, ORIGIN, now())
    return opened, next(
        each.reference for each in list_attempts(order.order_id) if each.state == "started"
    )


def settle(order: Order, opened: operations.PaymentRedirect) -> Order:
    settled = operations.settle_payment(order.order_id, opened.payment_id, now())
    assert settled
    return settled


# ---- What Stripe's description says


@pytest.mark.usefixtures("mock")
def test_each_call_is_one_that_stripe_knows() -> None:
    bank = gateways.get_gateway("stripe")
    opened = bank.start(request())
    assert opened.reference.startswith("cs_")
    assert opened.url.startswith("https://checkout.stripe.com/")
    assert bank.get_outcome(opened.reference).state == "pending"
    bank.capture(opened.reference, euros(4320), "capture 1")
    bank.refund(opened.reference, euros(4320), "refund 1")
    bank.void(opened.reference)
    client = stripe._client()
    assert (
        client.v1.payment_intents.cancel("pi_1", {"cancellation_reason": "abandoned"}).object
        == "payment_intent"
    )


@pytest.mark.usefixtures("mock")
def test_an_order_leads_to_stripes_page() -> None:
    opened, reference = start_payment(make_order())
    assert opened.url.startswith("https://checkout.stripe.com/")
    assert reference.startswith("cs_")


# ---- What the calls do


def test_set_aside_then_taken_then_given_back_in_parts(fake: FakeStripe) -> None:
    order = make_order(quantity=2, price="20.00")
    opened, reference = start_payment(order)
    session = fake.sessions[reference]
    assert session["amount_total"] == to_minor_units(order.total)
    assert session["metadata"] == {
        "order": str(order.order_id),
        "number": order.number,
        "payment": str(opened.payment_id),
    }
    assert settle(order, opened).state == "pending_payment"
    intent = fake.approve(reference)
    paid = settle(order, opened)
    assert (paid.customer_label, paid.payment, intent["status"]) == (
        "Confirmed",
        "paid",
        "succeeded",
    )
    assert intent["amount_received"] == to_minor_units(order.total)
    bank = gateways.get_gateway("stripe")
    assert bank.get_outcome(reference).fee == euros(to_minor_units(order.total) // 100 + 25)
    for part in (500, 700):
        details: dict[str, Any] = {
            "refund": uuid4().hex,
            "amount": part,
            "lines": {},
            "reason": "scratched",
        }
        paid = operations.transition_order(
            fresh(order), Transition("refund_owed", actor="Ann", at=now(), details=details)
        )
    done = assert_order_consistent(order.order_id)
    assert (done.payment, to_minor_units(done.refunded)) == ("partially_refunded", 1200)
    assert intent["latest_charge"]["amount_refunded"] == 1200
    for _ in range(3):
        operations.apply_effects(order.order_id, now())
    assert [each["amount"] for each in fake.refunds] == [500, 700]


def test_a_fee_in_the_currency_of_another_account_is_not_known(fake: FakeStripe) -> None:
    order = make_order()
    opened, reference = start_payment(order)
    intent = fake.approve(reference)
    assert gateways.get_gateway("stripe").get_outcome(reference).fee is None, "not yet captured"
    settle(order, opened)
    intent["latest_charge"]["balance_transaction"]["currency"] = "usd"
    assert gateways.get_gateway("stripe").get_outcome(reference).fee is None


def test_choosing_pay_again_leads_to_the_same_page(fake: FakeStripe) -> None:
    order = make_order()
    first, second = start_payment(order), start_payment(fresh(order))
    assert first == second
    assert len(fake.sessions) == 1


def test_whoever_paid_for_a_cancelled_order_gets_the_money_back(fake: FakeStripe) -> None:
    order = make_order()
    opened, reference = start_payment(order)
    intent = fake.approve(reference)
    operations.transition_order(fresh(order), Transition("cancelled", actor="Ann", at=now()))
    done = settle(order, opened)
    assert (intent["status"], intent["cancellation_reason"]) == ("canceled", "abandoned")
    assert "nothing was charged" in done.history[0].note
    assert [each.state for each in list_attempts(order.order_id)] == ["voided"]


def test_cancelled_before_it_was_taken_lets_the_money_go(
    fake: FakeStripe, monkeypatch: pytest.MonkeyPatch
) -> None:
    order = make_order()
    opened, reference = start_payment(order)
    intent = fake.approve(reference)
    with monkeypatch.context() as patch:
        patch.setattr(stripe.Stripe, "capture", Mock(side_effect=ConnectionError("no Stripe")))
        assert settle(order, opened).payment == "authorized"
    operations.transition_order(fresh(order), Transition("cancelled", actor="Ann", at=now()))
    assert (assert_order_consistent(order.order_id).payment, intent["status"]) == (
        "voided",
        "canceled",
    )


def test_taken_but_not_noted_is_noted_and_not_taken_twice(
    fake: FakeStripe, monkeypatch: pytest.MonkeyPatch
) -> None:
    order = make_order()
    opened, reference = start_payment(order)
    intent = fake.approve(reference)
    capture = stripe.Stripe.capture

    def lost(self: stripe.Stripe, *args: Any) -> None:
        capture(self, *args)
        raise TimeoutError("the answer was lost")

    with monkeypatch.context() as patch:
        patch.setattr(stripe.Stripe, "capture", lost)
        assert settle(order, opened).payment == "authorized"
    # A day later Stripe has forgotten the key: it says that there is nothing to capture, and the shop asks why.
    fake.answers_by_key.clear()
    operations.apply_effects(order.order_id, now())
    assert assert_order_consistent(order.order_id).payment == "paid"
    assert intent["amount_received"] == to_minor_units(order.total)


def test_a_refund_that_was_not_noted_is_not_given_twice(
    fake: FakeStripe, monkeypatch: pytest.MonkeyPatch
) -> None:
    order = make_order()
    opened, reference = start_payment(order)
    fake.approve(reference)
    settle(order, opened)
    refund = stripe.Stripe.refund

    def lost(self: stripe.Stripe, *args: Any) -> None:
        refund(self, *args)
        raise TimeoutError("the answer was lost")

    with monkeypatch.context() as patch:
        patch.setattr(stripe.Stripe, "refund", lost)
        operations.transition_order(fresh(order), Transition("cancelled", actor="Ann", at=now()))
    fake.answers_by_key.clear()  # a day later
    operations.apply_effects(order.order_id, now())
    assert assert_order_consistent(order.order_id).customer_label == "Cancelled and refunded"
    assert len(fake.refunds) == 1


@pytest.mark.parametrize("state", ["failed", "canceled"])
def test_a_refund_that_failed_is_not_taken_for_one_that_was_made(
    fake: FakeStripe, state: str
) -> None:
    order = make_order()
    opened, reference = start_payment(order)
    intent = fake.approve(reference)
    settle(order, opened)
    bank = gateways.get_gateway("stripe")
    for tries in (1, 2, 3):
        for _ in range(2):
            bank.refund(reference, euros(500), "refund 1")
        assert len(fake.refunds) == tries
        fake.refunds[-1]["status"] = state
        intent["latest_charge"]["amount_refunded"] -= 500


def test_another_sum_currency_or_order_is_given_back(
    fake: FakeStripe, subtests: pytest.Subtests
) -> None:
    for changes in ({"amount": 1}, {"currency": "usd"}, {"metadata": {"number": "OTHR-0000"}}):
        with subtests.test(changes=changes):
            order = make_order()
            opened, reference = start_payment(order)
            intent = fake.approve(reference, **changes)
            if "metadata" in changes:
                fake.sessions[reference] |= changes
            done = settle(order, opened)
            assert (done.state, done.payment, intent["status"]) == (
                "pending_payment",
                "failed",
                "canceled",
            )
            assert [each.state for each in list_attempts(order.order_id)] == ["failed"]


def test_a_page_that_was_left_open_for_too_long_counts_as_declined(fake: FakeStripe) -> None:
    order = make_order()
    opened, reference = start_payment(order)
    fake.sessions[reference]["status"] = "expired"
    assert settle(order, opened).payment == "failed"


def test_stripe_paid_after_the_units_were_sold_is_voided(fake: FakeStripe) -> None:
    order = make_order(stock=1)
    opened, reference = start_payment(order)
    operations.transition_order(fresh(order), Transition("expired", actor="system", at=now()))
    item = queries.list_items(order)[0]
    inventory.reserve_stock(uuid4(), [WantedLine(1, item.product_id, item.variant_id, 1)], now())
    intent = fake.approve(reference)
    assert settle(order, opened).payment == "voided"
    assert intent["status"] == "canceled"
    assert assert_order_consistent(order.order_id).state == "expired"


# ---- Stripe is away, or refuses


def test_nobody_there_is_reported_as_the_gateway_being_away() -> None:
    address = f"http://127.0.0.1:{find_free_port()}"
    with (
        override_settings(
            PAYMENT_GATEWAY="stripe", STRIPE_SECRET_KEY="sk_test_123", STRIPE_API=address
        ),
        pytest.raises(GatewayUnavailable),
    ):
        gateways.get_gateway("stripe").get_outcome("cs_1")


def test_a_hiccup_is_tried_again_under_the_same_key(fake: FakeStripe) -> None:
    fake.next_statuses = [500, 503]
    opened = gateways.get_gateway("stripe").start(payment_request := request())
    assert opened.reference in fake.sessions
    assert [key for _, _, key in fake.calls] == [f"start {payment_request.payment_id}"] * 3


def test_stripes_troubles_are_nobody_elses(fake: FakeStripe, subtests: pytest.Subtests) -> None:
    for status in (401, 403, 429, 500):
        fake.next_statuses = [status] * 5
        with subtests.test(status=status), pytest.raises(GatewayUnavailable):
            gateways.get_gateway("stripe").start(request())


def test_what_stripe_does_not_know_is_an_error_of_its_own(fake: FakeStripe) -> None:
    with pytest.raises(LookupError):
        gateways.get_gateway("stripe").get_outcome("cs_nowhere")


def test_nothing_is_taken_where_nothing_was_set_aside(fake: FakeStripe) -> None:
    bank = gateways.get_gateway("stripe")
    opened = bank.start(request())
    with pytest.raises(CaptureRefused):
        bank.capture(opened.reference, euros(4320), "k")
    with pytest.raises(ValueError, match="nothing was captured"):
        bank.refund(opened.reference, euros(1), "k")
    bank.void(opened.reference)
    assert fake.sessions[opened.reference]["status"] == "expired"
    assert bank.get_outcome(opened.reference).state == "left_unpaid"


# ---- Webhooks


def post_webhook(body: bytes, header: str, gateway: str = "stripe") -> int:
    at = reverse("orders:payment_webhook", args=[gateway])
    return (
        Client()
        .post(at, body, "application/json", headers={"Stripe-Signature": header})
        .status_code
    )


def test_a_webhook_confirms_the_order_though_nobody_comes_back(fake: FakeStripe) -> None:
    order = make_order()
    _, reference = start_payment(order)
    fake.approve(reference)
    body = make_stripe_event("checkout.session.completed", fake.sessions[reference])
    assert [post_webhook(body, sign_stripe_event(body, SECRET)) for _ in range(2)] == [204, 204]
    assert assert_order_consistent(order.order_id).customer_label == "Confirmed"


def test_a_webhook_believes_nothing_but_what_stripe_says_when_asked(fake: FakeStripe) -> None:
    order = make_order()
    _, reference = start_payment(order)
    body = make_stripe_event(
        "checkout.session.completed", fake.sessions[reference] | {"status": "complete"}
    )
    assert post_webhook(body, sign_stripe_event(body, SECRET)) == 204
    assert fresh(order).state == "pending_payment"


def test_webhooks_about_something_else_are_taken_and_left_alone(fake: FakeStripe) -> None:
    body = make_stripe_event("customer.created", {"id": "cus_1"})
    assert post_webhook(body, sign_stripe_event(body, SECRET)) == 204
    assert not fake.calls


def test_the_sessions_of_another_shop_of_the_account_are_left_alone(
    fake: FakeStripe, subtests: pytest.Subtests
) -> None:
    sessions: tuple[dict[str, Any], ...] = (
        {"metadata": {}},
        {"metadata": None},
        {"metadata": {"order": "4711"}},
        {},
    )
    for session in sessions:
        fake.calls.clear()
        with subtests.test(session=session):
            body = make_stripe_event(
                "checkout.session.completed", {"id": "cs_another_shops", **session}
            )
            assert post_webhook(body, sign_stripe_event(body, SECRET)) == 204
            assert not fake.calls


def test_a_refund_that_fails_later_is_reported_to_staff_once(
    fake: FakeStripe, caplog: pytest.LogCaptureFixture
) -> None:
    order = make_order()
    opened, reference = start_payment(order)
    fake.approve(reference)
    paid = settle(order, opened)
    operations.decide_refund(paid, euros(500), {}, "scratched", actor="Ann", now=now())
    failed = fake.refunds[0] | {
        "status": "failed",
        "currency": "eur",
        "failure_reason": "lost_or_stolen_card",
    }
    for _ in range(2):  # as two events: staff are notified once
        body = make_stripe_event("refund.failed", failed)
        assert post_webhook(body, sign_stripe_event(body, SECRET)) == 204
    (note,) = [event for event in fresh(order).events if event.kind == "note"]
    assert not note.public
    assert "5.00 has failed at Stripe (lost or stolen card)" in note.note
    assert failed["id"] in note.note
    assert "has failed at Stripe" in caplog.text
    foreign = make_stripe_event("refund.failed", failed | {"metadata": {}})
    assert post_webhook(foreign, sign_stripe_event(foreign, SECRET)) == 204
    swapped = make_stripe_event(
        "refund.failed", failed | {"metadata": failed["metadata"] | {"session": "cs_another"}}
    )
    assert post_webhook(swapped, sign_stripe_event(swapped, SECRET)) == 403


def test_s46_stripes_signature_is_over_the_raw_body(fake: FakeStripe) -> None:
    order = make_order()
    _, reference = start_payment(order)
    fake.approve(reference)
    body = make_stripe_event("checkout.session.completed", fake.sessions[reference])
    assert post_webhook(body + b" ", sign_stripe_event(body, SECRET)) == 403
    assert post_webhook(b"\xff" + body, sign_stripe_event(body, SECRET)) == 403
    assert fresh(order).state == "pending_payment"


def test_s47_forged_old_and_swapped_stripe_webhooks_are_refused(fake: FakeStripe) -> None:
    order, other = make_order(), make_order()
    _, reference = start_payment(order)
    start_payment(other)
    fake.approve(reference)
    session = fake.sessions[reference]
    body = make_stripe_event("checkout.session.completed", session)
    good = sign_stripe_event(body, SECRET)
    for header in (
        "",
        "t=,v1=",
        "v1=" + good.rpartition("=")[2],
        sign_stripe_event(body, "whsec_another"),
        sign_stripe_event(body, SECRET, age=301),
        sign_stripe_event(body, SECRET, age=-400),
        good.replace("v1=", "v0="),
        good + "é",
    ):
        assert post_webhook(body, header) == 403, header
    swapped = make_stripe_event(
        "checkout.session.completed",
        session | {"metadata": session["metadata"] | {"number": other.number}},
    )
    renamed = make_stripe_event("checkout.session.completed", session | {"id": "cs_another"})
    for forged in (swapped, renamed, b"{}", b"[]"):
        assert post_webhook(forged, sign_stripe_event(forged, SECRET)) == 403
    assert fresh(order).state == fresh(other).state == "pending_payment"
    with override_settings(STRIPE_WEBHOOK_SECRET=""):
        assert post_webhook(body, sign_stripe_event(body, "")) == 403
    assert post_webhook(body, good) == 204
    assert assert_order_consistent(order.order_id).customer_label == "Confirmed"


# ---- The configuration


def ids(found: list[CheckMessage]) -> list[str]:
    return [str(each.id) for each in found]


def test_the_checks_complain_of_what_stripe_lacks(subtests: pytest.Subtests) -> None:
    for key, secret, is_demo, expected in (
        ("", "", False, ["orders.E003", "orders.E004"]),
        ("sk_live_1", "", False, ["orders.E004"]),
        ("sk_test_1", "whsec_1", False, ["orders.W002"]),
        ("sk_test_1", "whsec_1", True, []),
        ("sk_live_1", "whsec_1", False, []),
    ):
        given = {
            "PAYMENT_GATEWAY": "stripe",
            "STRIPE_SECRET_KEY": key,
            "STRIPE_WEBHOOK_SECRET": secret,
        }
        with (
            subtests.test(key=key, secret=secret, is_demo=is_demo),
            override_settings(DEMO=is_demo, PAYMENT_METHODS=["card"], **given),
        ):
            assert ids(check_payment_settings()) == expected


def test_the_checks_of_a_configuration_name_its_gateway(subtests: pytest.Subtests) -> None:
    for named, is_demo, expected in (
        ("", False, ["orders.W001"]),
        ("none", False, []),
        ("testbank", False, ["orders.E002"]),
        ("testbank", True, []),
        ("other", False, ["orders.E001"]),
    ):
        with (
            subtests.test(named=named, is_demo=is_demo),
            override_settings(DEMO=is_demo, PAYMENT_GATEWAY=named),
        ):
            assert ids(check_payment_settings()) == expected


def test_the_checks_know_the_ways_to_pay() -> None:
    with override_settings(PAYMENT_METHODS=["card", "shells"], BANK_ACCOUNT=""):
        assert ids(check_payment_settings()) == ["orders.E005"]
    with override_settings(PAYMENT_METHODS=["card", "transfer"], BANK_ACCOUNT=""):
        assert ids(check_payment_settings()) == ["orders.E006"]


def test_without_its_key_stripe_takes_nothing() -> None:
    with override_settings(PAYMENT_GATEWAY="stripe", STRIPE_SECRET_KEY=""):
        with pytest.raises(GatewayMissing):
            gateways.resolve_gateway_name("card")
        assert post_webhook(b"{}", "x") == 404


def test_the_late_worker_finds_what_no_webhook_reported(fake: FakeStripe) -> None:
    order = make_order()
    opened, reference = start_payment(order)
    fake.approve(reference)
    jobs.recover_order(order.order_id, now() + timedelta(minutes=3))
    assert assert_order_consistent(order.order_id).payment_id == opened.payment_id


def test_a_form_may_lead_to_stripes_page_and_nowhere_else() -> None:
    code = "import django; django.setup(); from django.test import Client; print(Client().get('/healthz').headers)"
    given = {
        "PAYMENT_GATEWAY": "stripe",
        "STRIPE_SECRET_KEY": "sk_test_1",
        "STRIPE_WEBHOOK_SECRET": "whsec_1",
    }
    answer = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=os.environ | given,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "form-action 'self' https://checkout.stripe.com" in answer.stdout
    assert answer.stdout.count("https://") == 1
    # Here, without Stripe.
    assert settings.PAYMENT_GATEWAY == "testbank"
    headers = str(Client().get("/healthz").headers)
    assert "form-action 'self'" in headers
    assert "https://" not in headers

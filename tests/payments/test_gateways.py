"""What every gateway must do, tested for each; and the test bank's page, where each card behaves as its number says."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID, uuid4

import pytest
from django.test import Client
from django.test.utils import override_settings
from django.urls import reverse
from lxml import html

from demo.testbank import cards
from demo.testbank import operations as bank
from demo.testbank import queries as books
from orders import operations
from orders.lifecycle.entities import Order
from payments import gateways
from payments.errors import GatewayMissing, GatewayUnavailable
from payments.gateways import CaptureRefused, Gateway, PaymentRequest
from tests.clock import now
from tests.factories import make_order
from tests.orders.attempts import list_attempts
from tests.orders.consistency_checks import assert_order_consistent
from tests.payments.bank import euros
from tests.payments.fake_stripe import serve_fake_stripe


@dataclass(frozen=True)
class GatewayCase:
    """A gateway, and what a shopper does there: approve a payment, by its reference, or leave."""

    gateway: Gateway
    approve: Callable[[str], object]
    leave: Callable[[str], object]


@pytest.fixture(params=["testbank", "stripe"])
def case(request: pytest.FixtureRequest) -> Iterator[GatewayCase]:
    """Each gateway in turn."""
    if request.param == "testbank":
        yield GatewayCase(
            gateways.get_gateway("testbank"),
            lambda reference: bank.submit_card(UUID(hex=reference), cards.APPROVED, now()),
            lambda reference: bank.abandon_payment(UUID(hex=reference), now()),
        )
        return
    with (
        serve_fake_stripe() as (fake, address),
        override_settings(
            PAYMENT_GATEWAY="stripe", STRIPE_SECRET_KEY="sk_test_1", STRIPE_API=address
        ),
    ):
        yield GatewayCase(
            gateways.get_gateway("stripe"),
            fake.approve,
            lambda reference: fake.sessions[reference].update(status="expired"),
        )


def make_request(cents: int = 3000) -> PaymentRequest:
    """A payment to be started."""
    at = "https://shop.example"
    return PaymentRequest(
        uuid4(),
        uuid4(),
        "7KQF-3M9X",
        euros(cents),
        "Stoa, order 7KQF-3M9X",
        f"{at}/back",
        f"{at}/left",
        f"{at}/notice",
    )


def test_starting_again_goes_on_with_the_same_payment(case: GatewayCase) -> None:
    request = make_request()
    first = case.gateway.start(request)
    assert case.gateway.start(request) == first
    assert first.url
    verdict = case.gateway.get_outcome(first.reference)
    assert (verdict.state, verdict.number, verdict.amount) == (
        "pending",
        request.number,
        request.amount,
    )
    assert case.gateway.start(make_request()).reference != first.reference


def test_set_aside_taken_and_given_back_each_once_for_a_key(case: GatewayCase) -> None:
    reference = case.gateway.start(make_request()).reference
    case.approve(reference)
    aside = case.gateway.get_outcome(reference)
    assert (aside.state, aside.captured) == ("authorized", euros(0))
    for _ in range(2):
        case.gateway.capture(reference, euros(3000), "take")
    taken = case.gateway.get_outcome(reference)
    assert (taken.state, taken.captured, taken.refunded) == ("captured", euros(3000), euros(0))
    for key, cents in (("a", 1000), ("a", 1000), ("b", 500)):
        case.gateway.refund(reference, euros(cents), key)
    part = case.gateway.get_outcome(reference)
    assert (part.state, part.refunded) == ("captured", euros(1500))
    case.gateway.refund(reference, euros(1500), "c")
    assert case.gateway.get_outcome(reference).state == "refunded"


def test_x558_a_gateway_lists_the_payments_since_a_moment(case: GatewayCase) -> None:
    began = now()
    requests = [make_request() for _ in range(3)]
    open_one, approved, taken = (case.gateway.start(request).reference for request in requests)
    case.approve(approved)
    case.approve(taken)
    case.gateway.capture(taken, euros(3000), "take")
    case.gateway.refund(taken, euros(1000), "give")
    listed = {each.reference: each for each in case.gateway.list_payments(began)}
    for reference, request in zip((open_one, approved, taken), requests, strict=True):
        found = listed[reference]
        assert found.payment_id == request.payment_id
        assert found.outcome == case.gateway.get_outcome(reference)
        assert abs(found.started_at - began) < timedelta(minutes=1)
    assert [listed[each].outcome.has_money for each in (open_one, approved, taken)] == [
        False,
        True,
        True,
    ]
    assert not set(listed) & {
        each.reference for each in case.gateway.list_payments(began + timedelta(days=3))
    }


def test_what_was_let_go_cannot_be_taken(case: GatewayCase) -> None:
    reference = case.gateway.start(make_request()).reference
    case.approve(reference)
    for _ in range(2):
        case.gateway.void(reference)
    assert case.gateway.get_outcome(reference).state == "voided"
    with pytest.raises(CaptureRefused):
        case.gateway.capture(reference, euros(3000), "take")


def test_releasing_gives_nothing_back_that_was_taken(case: GatewayCase) -> None:
    reference = case.gateway.start(make_request()).reference
    case.approve(reference)
    case.gateway.capture(reference, euros(3000), "take")
    case.gateway.void(reference)
    verdict = case.gateway.get_outcome(reference)
    assert (verdict.state, verdict.captured, verdict.refunded) == (
        "captured",
        euros(3000),
        euros(0),
    )


def test_nothing_is_taken_before_it_is_approved(case: GatewayCase) -> None:
    reference = case.gateway.start(make_request()).reference
    with pytest.raises(CaptureRefused):
        case.gateway.capture(reference, euros(3000), "take")


def test_whoever_leaves_has_left_it_unpaid(case: GatewayCase) -> None:
    reference = case.gateway.start(make_request()).reference
    case.leave(reference)
    assert case.gateway.get_outcome(reference).state == "left_unpaid"


def test_an_unknown_payment_is_an_error_of_its_own(case: GatewayCase) -> None:
    for call in (
        lambda: case.gateway.get_outcome(uuid4().hex),
        lambda: case.gateway.capture(uuid4().hex, euros(1), "k"),
        lambda: case.gateway.void(uuid4().hex),
        lambda: case.gateway.refund(uuid4().hex, euros(1), "k"),
    ):
        with pytest.raises(LookupError):
            call()


def test_what_is_signed_by_nobody_is_refused(case: GatewayCase) -> None:
    for headers in ({}, {"X-Signature": "1.x"}, {"Stripe-Signature": "t=1,v1=x"}):
        with pytest.raises(PermissionError):
            case.gateway.parse_webhook(b"{}", headers)


def test_there_are_no_others(subtests: pytest.Subtests) -> None:
    for name in ("", "none", "other", "transfer", "cod"):
        with subtests.test(name), pytest.raises(GatewayMissing):
            gateways.get_gateway(name)


def test_a_shop_without_cards_offers_the_other_ways() -> None:
    with override_settings(PAYMENT_GATEWAY="none", PAYMENT_METHODS=["card", "transfer"]):
        assert [each.code for each in gateways.list_enabled_methods()] == ["transfer"]


# ---- The test bank's page


def start_payment() -> tuple[Order, str, UUID]:
    order = make_order()
    started = operations.start_payment(order, "http://testserver", now())
    return order, started.url, started.payment_id


def settle_payment(order: Order, payment_id: UUID) -> Order:
    operations.settle_payment(order.order_id, payment_id, now())
    return assert_order_consistent(order.order_id)


def test_the_banks_page_names_every_card(client: Client) -> None:
    _, url, _ = start_payment()
    page = client.get(url).content.decode()
    for card in cards.CARDS:
        assert card.number in page
        assert card.meaning in page
    assert len({card.digits for card in cards.CARDS}) == len(cards.CARDS) == 10


def test_each_card_behaves_as_it_says(client: Client, subtests: pytest.Subtests) -> None:
    for card, word in (
        (cards.APPROVED, "Confirmed"),
        (cards.DECLINED, "Payment failed"),
        (cards.TWICE, "Confirmed"),
        (cards.OUT_OF_ORDER, "Confirmed"),
        (cards.WRONG_AMOUNT, "Payment failed"),
        (cards.REFUSED_LATER, "On hold"),
        (cards.SILENT, "Waiting for payment"),
        (cards.LATE, "Waiting for payment"),
        ("4000000000009995", "Payment failed"),
    ):
        with subtests.test(card):
            order, url, payment_id = start_payment()
            back = client.post(url, {"card": card})
            assert back["Location"].endswith(
                reverse("orders:return_from_payment", args=[order.number, payment_id])
            )
            assert settle_payment(order, payment_id).customer_label == word


def test_a_card_that_asks_for_a_code(client: Client) -> None:
    order, url, payment_id = start_payment()
    assert client.post(url, {"card": cards.CHALLENGED})["Location"] == url
    page = client.get(url)
    assert "Confirm it’s you" in page.content.decode()
    assert html.fromstring(page.content).xpath("//input[@name='code']/@autocomplete") == [
        "one-time-code"
    ]
    assert settle_payment(order, payment_id).customer_label == "Waiting for payment"
    for wrong in ("", "000000"):
        refused = client.post(url, {"code": wrong})
        assert refused.status_code == 422
        assert html.fromstring(refused.content).xpath("//title/text()")[0].startswith("Error: ")
    assert client.post(url, {"code": cards.CODE}).status_code == 303
    assert settle_payment(order, payment_id).customer_label == "Confirmed"


def test_three_wrong_codes_decline(client: Client) -> None:
    order, url, payment_id = start_payment()
    client.post(url, {"card": cards.CHALLENGED})
    answers = [client.post(url, {"code": "000000"}).status_code for _ in range(cards.WRONG_CODES)]
    assert answers == [422, 422, 303]
    assert settle_payment(order, payment_id).customer_label == "Payment failed"


def test_leaving_while_the_code_is_asked_for(client: Client) -> None:
    order, url, payment_id = start_payment()
    client.post(url, {"card": cards.CHALLENGED})
    assert client.post(url, {"leave": "yes"}).status_code == 303
    assert settle_payment(order, payment_id).customer_label == "Payment failed"


def test_a_bank_that_cannot_be_reached_answers_later(client: Client) -> None:
    order, url, payment_id = start_payment()
    client.post(url, {"card": cards.AWAY})
    with pytest.raises(GatewayUnavailable):
        operations.settle_payment(order.order_id, payment_id, now())
    row = books.get_payment(payment_id)
    assert row
    assert bank.change_payment(row, answers_at=now() - timedelta(seconds=1))
    assert settle_payment(order, payment_id).customer_label == "Confirmed"
    assert [each.state for each in list_attempts(order.order_id)] == ["captured"]

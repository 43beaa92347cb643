"""The bank's webhooks, over real HTTP: twice, late, out of order, forged, and to a shop that is away."""

import threading
from collections.abc import Iterator
from datetime import datetime, timedelta
from http.client import HTTPConnection
from typing import Any
from unittest.mock import Mock, patch
from urllib.parse import urlsplit
from uuid import UUID, uuid4

import pytest
from django.core.servers.basehttp import ThreadedWSGIServer, WSGIRequestHandler
from django.core.wsgi import get_wsgi_application
from django.test.utils import override_settings

from cassandra_db import RAISE_UNKNOWN, conditional_write, read
from demo.testbank import cards, jobs
from demo.testbank import operations as bank
from demo.testbank import queries as books
from demo.testbank.gateway import TestBank
from inventory import operations as inventory
from inventory.entities import WantedLine
from jobs.minutes import floor_to_minute, minutes_between
from orders import operations, queries
from orders.lifecycle.entities import Order
from orders.lifecycle.errors import WebhookBusy
from orders.lifecycle.transitions import Transition
from orders.operations import webhooks
from payments.gateways import WebhookEvent
from tests.clock import now
from tests.factories import make_order
from tests.orders.attempts import list_attempts
from tests.orders.consistency_checks import assert_order_consistent, assert_stock_adds_up
from tests.orders.crashes import kill_in
from tests.orders.reads import fresh
from tests.payments.bank import make_webhook
from tests.threads import map_at_once


class _Quiet(WSGIRequestHandler):
    def log_message(self, *_: Any) -> None:
        """Log nothing."""


class _Server(ThreadedWSGIServer):
    daemon_threads = True


@pytest.fixture(scope="module")
def shop() -> Iterator[str]:
    """The shop's address: served over HTTP, from this process."""
    server = _Server(("127.0.0.1", 0), _Quiet)
    server.set_app(get_wsgi_application())
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def post(
    shop: str, body: bytes, signature: str = "", gateway: str = "testbank", **headers: str
) -> int:
    """Post a webhook byte for byte; return the status."""
    connection = HTTPConnection(urlsplit(shop).netloc, timeout=20)
    sent = {"Content-Type": "application/json", "X-Signature": signature} | headers
    connection.request(
        "POST",
        f"/payments/{gateway}/notice/",
        body,
        {name: value for name, value in sent.items() if value},
    )
    status = connection.getresponse().status
    connection.close()
    return status


def list_pending_webhooks(payment_id: UUID, within: timedelta = timedelta(minutes=3)) -> list[Any]:
    """The webhooks about a payment that the bank has still to send."""
    first = floor_to_minute(now()) - timedelta(minutes=1)
    minutes = [first + timedelta(minutes=n) for n in range(within // timedelta(minutes=1) + 1)]
    return [row for row in books.list_webhooks(minutes) if str(payment_id) in row.body]


def send_webhooks(payment_id: UUID, at: datetime | None = None) -> int:
    """Let the bank send what is due about a payment by then, by default by now."""
    at, list_webhooks = at or now(), books.list_webhooks

    def list_matching_webhooks(minutes: list[datetime]) -> list[Any]:
        return [row for row in list_webhooks(minutes) if str(payment_id) in row.body]

    with patch.object(books, "list_webhooks", list_matching_webhooks):
        return jobs.send_due_webhooks(
            minutes_between(now() - timedelta(minutes=1), at + timedelta(minutes=1)), at
        )


def pay_with_card(card: str, shop: str, order: Order | None = None) -> tuple[Order, UUID]:
    """Pay an order with a card at the bank, without coming back to the shop."""
    order = order or make_order()
    with override_settings(PUBLIC_URL=shop):
        started = operations.start_payment(order, shop, now())
    bank.submit_card(started.payment_id, card, now())
    return order, started.payment_id


@pytest.fixture
def gateway_calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The payments about which the shop has asked the bank."""
    seen: list[str] = []
    outcome = TestBank.get_outcome

    def ask(self: TestBank, reference: str) -> Any:
        seen.append(reference)
        return outcome(self, reference)

    monkeypatch.setattr(TestBank, "get_outcome", ask)
    return seen


# ---- The bank sends


def test_the_bank_sends_webhooks_though_nobody_comes_back(shop: str) -> None:
    order, payment_id = pay_with_card(cards.APPROVED, shop)
    assert len(list_pending_webhooks(payment_id)) == 1
    send_webhooks(payment_id)
    assert assert_order_consistent(order.order_id).customer_label == "Confirmed"
    assert not list_pending_webhooks(payment_id)


def test_a_declined_card_is_reported_too(shop: str) -> None:
    order, payment_id = pay_with_card(cards.DECLINED, shop)
    send_webhooks(payment_id)
    assert assert_order_consistent(order.order_id).customer_label == "Payment failed"


def test_two_webhooks_ask_the_gateway_once(shop: str, gateway_calls: list[str]) -> None:
    order, payment_id = pay_with_card(cards.TWICE, shop)
    assert len(list_pending_webhooks(payment_id)) == 2
    send_webhooks(payment_id)
    assert not list_pending_webhooks(payment_id)
    assert gateway_calls.count(payment_id.hex) == 1
    assert [event.kind for event in assert_order_consistent(order.order_id).events].count(
        "captured"
    ) == 1


def test_webhooks_in_the_wrong_order_leave_it_paid(shop: str) -> None:
    order, payment_id = pay_with_card(cards.OUT_OF_ORDER, shop)
    send_webhooks(payment_id)
    assert assert_order_consistent(order.order_id).customer_label == "Confirmed"
    (straggler,) = list_pending_webhooks(payment_id)
    assert "payment.opened" in straggler.body
    send_webhooks(payment_id, now() + bank.OUT_OF_ORDER_DELAY)
    assert not list_pending_webhooks(payment_id)
    assert assert_order_consistent(order.order_id).customer_label == "Confirmed"


def test_a_late_answer_is_shown_when_it_is_there(shop: str) -> None:
    order, payment_id = pay_with_card(cards.LATE, shop)
    assert fresh(order).state == "pending_payment"
    row = books.get_payment(payment_id)
    assert row
    assert bank.change_payment(row, answers_at=now() - timedelta(seconds=1))
    send_webhooks(payment_id, now() + bank.LATE_DELAY)
    assert assert_order_consistent(order.order_id).customer_label == "Confirmed"


def test_a_shop_that_is_away_gets_the_webhook_again_later() -> None:
    _, payment_id = pay_with_card(cards.APPROVED, "http://127.0.0.1:9")
    send_webhooks(payment_id)
    (again,) = list_pending_webhooks(payment_id)
    assert again.tries == 1
    assert again.due_at > now()


def test_the_bank_gives_up_after_a_while() -> None:
    _, payment_id = pay_with_card(cards.APPROVED, "http://127.0.0.1:9")
    (row,) = list_pending_webhooks(payment_id)
    bank.record_webhook_attempt(row._replace(tries=bank.MAX_ATTEMPTS - 1), False, now())
    assert not list_pending_webhooks(payment_id)


# ---- Delayed by an hour


def test_an_hour_late_the_units_are_reserved_again(shop: str) -> None:
    order = make_order(stock=5, quantity=2, now=now() - timedelta(hours=1))
    order, payment_id = pay_with_card(cards.APPROVED, shop, order)
    operations.transition_order(fresh(order), Transition("expired", actor="system", at=now()))
    assert post(shop, *make_webhook(payment_id, order.number)) == 204
    done = assert_order_consistent(order.order_id)
    assert (done.customer_label, done.payment) == ("Confirmed", "paid")
    assert "paid_late" in {event.kind for event in done.events}


def test_an_hour_late_with_the_units_gone_nothing_is_charged(shop: str) -> None:
    order = make_order(stock=2, quantity=2, now=now() - timedelta(hours=1))
    order, payment_id = pay_with_card(cards.APPROVED, shop, order)
    operations.transition_order(fresh(order), Transition("expired", actor="system", at=now()))
    item = queries.list_items(order)[0]
    inventory.reserve_stock(uuid4(), [WantedLine(1, item.product_id, item.variant_id, 1)], now())
    assert post(shop, *make_webhook(payment_id, order.number)) == 204
    done = assert_order_consistent(order.order_id)
    assert (done.state, done.payment) == ("expired", "voided")
    assert [event.kind for event in done.history[:2]] == ["voided", "paid_too_late"]
    assert assert_stock_adds_up(item.variant_id)["available"] == 1


# ---- Forged


def test_s46_a_webhook_counts_only_as_the_bank_has_signed_it(shop: str) -> None:
    order, payment_id = pay_with_card(cards.APPROVED, shop)
    body, signature = make_webhook(payment_id, order.number)
    for forged in (body + b" ", body.replace(b": ", b":"), body[:-1], b"", b"\xff"):
        assert post(shop, forged, signature) == 403
    moment = signature.partition(".")[0]
    for nonsense in (
        "",
        ".",
        "1.x",
        f"{moment}.",
        f"{moment}.é".encode().decode("latin-1"),
        signature[:-1] + "x",
    ):
        assert post(shop, body, nonsense) == 403
    assert fresh(order).state == "pending_payment"
    # A valid signature over the exact bytes: only then is the content read.
    assert post(shop, *make_webhook(payment_id, order.number)) == 204
    assert assert_order_consistent(order.order_id).customer_label == "Confirmed"


SWAPS = {
    "amount": conditional_write(
        "test",
        "UPDATE testbank_payments SET amount = :value WHERE payment_id = :payment_id IF EXISTS",
    ),
    "currency": conditional_write(
        "test",
        "UPDATE testbank_payments SET currency = :value WHERE payment_id = :payment_id IF EXISTS",
    ),
    "reference": conditional_write(
        "test",
        "UPDATE testbank_payments SET reference = :value WHERE payment_id = :payment_id IF EXISTS",
    ),
}


def test_s46_amount_currency_and_order_are_compared_with_the_banks_own_answer(
    shop: str, subtests: pytest.Subtests
) -> None:
    # The webhook is the bank's and correct; the bank's own records say something else.
    for column, value in (("amount", 1), ("currency", "USD"), ("reference", "OTHR-0000")):
        with subtests.test(column):
            order, payment_id = pay_with_card(cards.APPROVED, shop)
            assert SWAPS[column].apply(if_lost=RAISE_UNKNOWN, payment_id=payment_id, value=value)
            assert post(shop, *make_webhook(payment_id, order.number)) == 204
            done = assert_order_consistent(order.order_id)
            assert (done.state, done.payment) == ("pending_payment", "failed")
            assert [each.state for each in list_attempts(order.order_id)] == ["failed"]
            left = books.get_payment(payment_id)
            assert left
            assert left.state == "voided"


def test_s47_replayed_old_wrong_and_swapped_webhooks_are_refused(
    shop: str, gateway_calls: list[str]
) -> None:
    order, payment_id = pay_with_card(cards.APPROVED, shop)
    other, other_payment_id = pay_with_card(cards.SILENT, shop)
    for age in (301, 3600, -301):
        assert post(shop, *make_webhook(payment_id, order.number, age=age)) == 403, age
    with override_settings(SECRET_KEY="another shop's"):
        forged = make_webhook(payment_id, order.number)
    assert post(shop, *forged) == 403
    for forged_webhook in (
        make_webhook(payment_id, other.number),  # a payment for another order
        make_webhook(other_payment_id, order.number),
        make_webhook(uuid4(), order.number),
        make_webhook(payment_id, "ZZZZ-ZZZZ"),
    ):
        assert post(shop, *forged_webhook) == 403
    assert not gateway_calls
    assert fresh(order).state == fresh(other).state == "pending_payment"
    body, signature = make_webhook(payment_id, order.number)
    # Sent again while it is valid, it does nothing more.
    assert [post(shop, body, signature) for _ in range(3)] == [204] * 3
    assert len(gateway_calls) == 1
    assert assert_order_consistent(order.order_id).customer_label == "Confirmed"
    assert fresh(other).state == "pending_payment"


def test_other_gateways_webhooks_and_other_methods_are_nowhere(shop: str) -> None:
    order, payment_id = pay_with_card(cards.APPROVED, shop)
    body, signature = make_webhook(payment_id, order.number)
    assert post(shop, body, signature, gateway="other") == 404
    assert post(shop, body, signature, gateway="transfer") == 404
    assert post(shop, body, signature, gateway="stripe") == 404
    with override_settings(DEMO=False, DEBUG=False):
        assert post(shop, body, signature) == 404


# ---- Many at once, and interrupted


def test_the_same_webhook_from_all_sides_is_followed_once(
    shop: str, gateway_calls: list[str]
) -> None:
    order, payment_id = pay_with_card(cards.APPROVED, shop)
    body, signature = make_webhook(payment_id, order.number)
    answers = map_at_once(lambda _: post(shop, body, signature), range(8))
    assert set(answers) <= {204, 409}
    assert 204 in answers
    assert len(gateway_calls) == 1
    assert [event.kind for event in assert_order_consistent(order.order_id).events].count(
        "captured"
    ) == 1


def test_different_webhooks_at_once_confirm_it_once(shop: str) -> None:
    order, payment_id = pay_with_card(cards.APPROVED, shop)
    answers = map_at_once(lambda _: post(shop, *make_webhook(payment_id, order.number)), range(6))
    assert answers == [204] * 6
    assert [event.kind for event in assert_order_consistent(order.order_id).events].count(
        "authorized"
    ) == 1


def test_what_could_not_be_followed_may_come_again(
    shop: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    order, payment_id = pay_with_card(cards.APPROVED, shop)
    body, signature = make_webhook(payment_id, order.number)
    with monkeypatch.context() as patch:
        patch.setattr(TestBank, "get_outcome", Mock(side_effect=ConnectionError("no bank")))
        assert post(shop, body, signature) == 503
    assert post(shop, body, signature) == 204
    assert assert_order_consistent(order.order_id).customer_label == "Confirmed"


CLAIM = read(
    "test",
    "SELECT TTL(handler) AS left FROM payment_webhooks WHERE gateway = :gateway AND event_id = :event_id",
)
CLAIM_OVER = conditional_write(
    "test",
    "DELETE FROM payment_webhooks WHERE gateway = :gateway AND event_id = :event_id IF EXISTS",
)


def test_whoever_died_over_a_webhook_is_forgotten() -> None:
    order, payment_id = pay_with_card(cards.APPROVED, "http://127.0.0.1:9")
    webhook = WebhookEvent(uuid4().hex, order.number, payment_id, payment_id.hex)

    kill_in(
        webhooks,
        "settle_order_payment",
        lambda: operations.process_webhook("testbank", webhook, now()),
    )
    with pytest.raises(WebhookBusy):
        operations.process_webhook("testbank", webhook, now())
    key: dict[str, Any] = {"gateway": "testbank", "event_id": webhook.event_id}
    (row,) = CLAIM.all(**key)
    assert 0 < row.left <= webhooks.BUSY_SECONDS
    assert CLAIM_OVER.apply(if_lost=RAISE_UNKNOWN, **key)
    assert operations.process_webhook("testbank", webhook, now())
    assert not operations.process_webhook("testbank", webhook, now())
    assert assert_order_consistent(order.order_id).customer_label == "Confirmed"

"""Why a payment has failed is told as it was: the bank's no, the shopper's, or another amount."""

from datetime import UTC, datetime

import pytest
from django.urls import reverse

from demo.testbank import cards
from demo.testbank import operations as bank
from mail.queries import list_recipient_mails
from orders import operations
from orders.lifecycle.entities import Order
from orders.lifecycle.errors import OrderChanged
from orders.operations import effects
from orders.payment_status import poll_open_payment
from tests.accounts.browsers import fresh_email
from tests.checkout.shopper import text
from tests.factories import make_order
from tests.orders.reads import fresh, open_browser


def decided(card: str = "") -> Order:
    """An order whose shopper has been at the bank, with this card, or has left without one."""
    order, now = make_order(email=fresh_email()), datetime.now(UTC)
    started = operations.start_payment(order, "http://testserver", now)
    if card:
        bank.submit_card(started.payment_id, card, now)
    else:
        bank.abandon_payment(started.payment_id, now)
    operations.settle_payment(order.order_id, started.payment_id, now)
    return fresh(order)


def test_an_order_that_changes_again_and_again_is_shown_as_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    order, now = make_order(email=fresh_email()), datetime.now(UTC)
    bank.abandon_payment(operations.start_payment(order, "http://testserver", now).payment_id, now)

    def lose(order: Order, *_: object, **__: object) -> Order:
        raise OrderChanged(order)

    with monkeypatch.context() as patch:
        patch.setattr(effects, "transition_order", lose)
        assert poll_open_payment(fresh(order)).payment == "unpaid"
    assert poll_open_payment(fresh(order)).payment == "failed"


@pytest.mark.parametrize(
    ("card", "cause", "words"),
    [
        (cards.DECLINED, "declined", "Your bank declined it."),
        ("", "left_unpaid", "You left the payment page without paying."),
        (cards.WRONG_AMOUNT, "failed", "approved for another amount than this order costs"),
    ],
)
def test_x82_a_payment_that_failed_says_why(card: str, cause: str, words: str) -> None:
    order = decided(card)
    assert order.payment == "failed"
    shown = text(open_browser(order).get(reverse("orders:detail", args=[order.number])))
    (mail,) = (
        row.text for row in list_recipient_mails(order.email) if "payment didn’t" in row.subject
    )
    attempts = {"Your bank declined", "You left the payment page", "approved for another amount"}
    for told in (shown, mail):
        assert words in told
        assert [each for each in attempts if each in told] == [
            each for each in attempts if each in words
        ]
    event = next(each for each in order.events if each.kind == "payment_failed")
    (attempt,) = order.payment_attempts
    assert event.details == {"cause": cause, "payment_id": str(attempt.payment_id)}


def test_x82_what_failed_before_causes_were_noted_is_told_as_before() -> None:
    assert "declined" in make_order().payment_failure.explanation

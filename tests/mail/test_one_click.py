"""The button of a mail program that ends mails of a kind."""

from datetime import UTC, datetime
from types import SimpleNamespace
from uuid import uuid1, uuid4

import pytest
from django.test import Client
from django.urls import reverse

from mail.messages import build_message
from reviews.links import stop_token
from reviews.queries import get_stop_time
from stock_alerts.operations import subscribe
from stock_alerts.queries import Subscription, list_subscriptions, unsubscribe_token
from tests.factories import make_product


def post(client: Client, name: str, token: str, body: dict[str, str]) -> tuple[int, str]:
    """Return the status and the text of a submit without a cookie and without a form's token."""
    client.cookies.clear()
    answer = client.post(reverse(name, args=[token]), body)
    return answer.status_code, answer.content.decode()


def test_x237_the_button_of_a_mail_program_ends_the_mails_without_a_page() -> None:
    client, email = Client(enforce_csrf_checks=True), f"{uuid4().hex}@example.com"
    product = make_product()
    variant_id = product.variants[0].variant_id
    subscribe(Subscription(product.product_id, variant_id, email), datetime.now(UTC))
    button = {"List-Unsubscribe": "One-Click"}
    for name, token in (
        ("stock_alerts:unsubscribe", unsubscribe_token(email)),
        ("reviews:stop", stop_token(email)),
    ):
        assert post(client, name, f"{token[:-4]}AAAA", button)[0] == 410
        assert (list_subscriptions(email) != []) == (name == "stock_alerts:unsubscribe")
        for _ in range(2):
            assert post(client, name, token, button) == (200, "You’ve unsubscribed.\n")
    assert list_subscriptions(email) == []
    assert get_stop_time(email)


@pytest.mark.parametrize("scheme", ["https", "http"])
def test_x237_the_mail_says_so_where_the_link_is_safe(scheme: str) -> None:
    link = f"{scheme}://shop.example/reviews/stop/x/"
    mail = SimpleNamespace(
        mail_id=uuid1(),
        subject="How is it?",
        text="Tell us.",
        html=None,
        recipient="ann@example.com",
        unsubscribe_url=link,
        thread_id=None,
    )
    message = build_message(mail, None).message()
    assert message["List-Unsubscribe"] == f"<{link}>"
    expected = "List-Unsubscribe=One-Click" if scheme == "https" else None
    assert message["List-Unsubscribe-Post"] == expected

"""The staff's pages of the mails' texts: what they refuse, the preview, the test mail, and the way back."""

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from lxml import html

from accounts.looks import ORDER_LOOK
from accounts.models import User
from adminpanel.settings.mail_texts import MailTextsForm
from mail.kinds import get_mail_kinds
from mail.rendering import render_mail
from mail.texts import MAIL_TEXTS, PARTITION, MailTexts
from shop_settings.queries import get_settings_at_quorum, settings_copy
from tests.adminpanel.people.audit_entries import list_entries_this_month
from tests.factories import make_order, make_user, sign_in_staff
from tests.outbox import deliver_mail
from tests.shop_settings.saved import own_settings

__all__ = ["own_settings"]
pytestmark = pytest.mark.usefixtures("own_settings")
KEY = "order_confirmed"


@pytest.fixture
def admin() -> User:
    return make_user("Ada", role="admin")


@pytest.fixture
def ada(client: Client, admin: User) -> Client:
    return sign_in_staff(client, admin)


def saved(key: str = KEY) -> MailTexts | None:
    return get_settings_at_quorum(PARTITION).get_values(MAIL_TEXTS).get(key)


def typed(key: str = KEY, **changes: str) -> dict[str, Any]:
    """Return what the form would send as it is shown, with some fields typed anew."""
    form = MailTextsForm(saved(key), mail=get_mail_kinds()[key])
    return {name: str(form[name].value() or "") for name in form.fields} | changes


def send(client: Client, page: str = "mail_text", key: str = KEY, **changes: str) -> Any:
    return client.post(reverse(f"adminpanel:{page}", args=(key,)), typed(key, **changes))


def faults(response: Any, name: str) -> str:
    page = html.fromstring(response.content)
    found = page.xpath(f"//*[@id='id_{name}_field']//*[contains(@class, 'error')]")
    return " ".join(each.text_content() for each in found)


def test_x471_staff_change_the_texts_of_a_mail_and_the_next_one_has_them(
    ada: Client, admin: User
) -> None:
    assert b"{headline}" in ada.get(reverse("adminpanel:mail_texts")).content
    answer = send(ada, subject="Thanks, {order} from {shop}", closing="Yours,\r\n{shop}")
    assert answer.status_code == 303
    # What was left as it is follows the shop's own text.
    assert saved() == MailTexts(KEY, "Thanks, {order} from {shop}", None, "Yours,\n{shop}")
    settings_copy(PARTITION).forget()
    order = make_order(paid=True)
    kind = get_mail_kinds()[KEY]
    assert kind.preview
    mail = render_mail(KEY, kind.preview(order))
    assert mail.subject == f"Thanks, {order.number} from Stoa"
    assert "Thank you for your order" in mail.text
    assert "Yours,\nStoa\n" in mail.text
    assert "Yours,<br>Stoa" in (mail.html or "")
    (entry,) = [
        each for each in list_entries_this_month(admin) if each.act == "adminpanel:mail_text"
    ]
    assert entry.changes


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("subject", "Hello {nobody}", "You can’t use {nobody} here. You can use: {order}"),
        ("subject", "Hello {name}", "You can’t use {name} here"),
        ("subject", "", "Enter a subject"),
        ("intro", "Order {order", "A brace is open"),
        ("intro", "Order {order.total}", "A brace is open"),
        ("closing", "Order {order!r:>99}", "A brace is open"),
        ("closing", "}", "A brace is open"),
        ("intro", "x" * 3001, "at most 3000 characters"),
    ],
)
def test_x471_a_broken_brace_is_refused_beside_its_field_with_those_that_exist(
    ada: Client, name: str, text: str, says: str
) -> None:
    for page in ("mail_text", "mail_text_test", "mail_text_preview"):
        answer = send(ada, page, **{name: text})
        assert answer.status_code == 422
        assert says in (
            answer.content.decode() if page == "mail_text_preview" else faults(answer, name)
        )
    assert saved() is None


def test_x471_what_the_law_wants_said_cannot_be_left_out(ada: Client) -> None:
    for event in ("confirmed", "changed", "cancelled", "refunded", "withdrawn"):
        answer = send(ada, key=f"order_{event}", intro="Hello {name}")
        assert (answer.status_code, faults(answer, "intro")) == (
            422,
            "Error: This email must say {details}.",
        )


def test_x472_of_two_who_change_the_texts_the_later_sees_both(ada: Client) -> None:
    late = typed(subject="Late")
    assert send(ada, subject="First").status_code == 303
    page = reverse("adminpanel:mail_text", args=(KEY,))
    answer = ada.post(page, late)
    assert answer.status_code == 409
    assert {"First", "Late"} <= set(re.findall(r"First|Late", answer.content.decode()))
    reset = reverse("adminpanel:mail_text_reset", args=(KEY,))
    assert ada.post(reset, {"version": "0" * 16}).status_code == 409
    assert saved() == MailTexts(KEY, "First")
    seen = MAIL_TEXTS.fingerprint(saved())
    for _twice in range(2):
        assert ada.post(reset, {"version": seen}).status_code == 303
    assert saved() is None
    assert MailTextsForm(None, mail=get_mail_kinds()[KEY])["version"].value() == ""


def test_x472_a_test_mail_goes_to_its_sender_once_and_saves_nothing(
    ada: Client, admin: User
) -> None:
    order = make_order(paid=True)
    body = typed(subject="Try {order}", order=order.number.lower())
    url = reverse("adminpanel:mail_text_test", args=(KEY,))
    assert [ada.post(url, body).status_code for _twice in range(2)] == [200, 200]
    (message,) = deliver_mail(admin.email)
    assert message.subject == f"Try {order.number}"
    assert "/o/" not in str(message.body), "the customer's own links stay the customer's"
    shown = str([message.body, *message.alternatives])  # type: ignore[attr-defined]
    assert "1 Example Street" in shown
    for own in (order.email, order.delivery_address.street, order.delivery_address.city):
        assert own not in shown
    assert saved() is None
    assert "order" in faults(ada.post(url, typed(order="7KQF-0000")), "order")
    assert [each.subject for each in list_entries_this_month(admin)].count(order.number) == 1


def test_x473_a_preview_runs_nothing_and_shows_html_and_text_side_by_side(
    ada: Client, subtests: pytest.Subtests
) -> None:
    make_order(paid=True)
    for key in get_mail_kinds():
        answer = send(ada, "mail_text_preview", key)
        with subtests.test(key):
            policy_said = answer["Content-Security-Policy"]
            assert "default-src 'none'" in policy_said
            assert "script-src" not in policy_said
            assert "sandbox allow-popups allow-popups-to-escape-sandbox" in policy_said
            assert answer["X-Frame-Options"] == "SAMEORIGIN"
            page = html.fromstring(answer.content)
            shown = page.cssselect("iframe")[0].get("srcdoc", "")
            assert shown.startswith("<!doctype html>")
            for each in (page, html.fromstring(shown)):
                assert each.cssselect("base")[0].get("target") == "_blank"
            assert page.cssselect("pre")[0].text_content().strip()
    page = ada.get(reverse("adminpanel:mail_text", args=(KEY,)))
    assert "frame-src 'self'" in page["Content-Security-Policy"]
    frame = html.fromstring(page.content).cssselect("iframe")[0]
    assert "allow-scripts" not in frame.get("sandbox", "allow-scripts")
    answer = send(ada, "mail_text_preview", intro="<script> {details}")
    assert (answer.status_code, "<script>" in answer.content.decode()) == (200, False)


def test_x473_a_preview_opens_an_order_only_on_request(ada: Client, admin: User) -> None:
    def list_looks() -> list[str]:
        entries = list_entries_this_month(admin)
        return [each.subject for each in entries if each.act == ORDER_LOOK]

    make_order(paid=True)
    answer = ada.get(reverse("adminpanel:mail_text_preview", args=(KEY,)))
    assert "Press “Preview”" in answer.content.decode()
    assert list_looks() == []
    assert b"srcdoc" in send(ada, "mail_text_preview").content
    assert len(list_looks()) == 1

"""The withdrawal function: two steps for everybody, acknowledged by mail, and what becomes of the order."""

from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest
from django.conf import settings
from django.test import Client, override_settings
from django.urls import reverse
from lxml import html
from pytest_django import Settings

from mail.queries import list_recipient_mails
from orders import operations
from orders.lifecycle.entities import Order
from orders.lifecycle.errors import OrderChanged
from orders.lifecycle.transitions import Transition
from orders.operations import apply_effects, withdrawals
from tests.accounts.browsers import fresh_email
from tests.checkout.shopper import text
from tests.factories import make_order, make_user
from tests.orders.reads import fresh, list_event_kinds
from tests.orders.test_changes import deliver_parcel, pack_parcel, place_paid_order, sent
from tests.orders.test_confirmation import place_unproved

WITHDRAW = reverse("orders:withdraw")
NAME = "Ada Lovelace"


def statement(order: Order, **typed: str) -> dict[str, str]:
    return {"name": NAME, "number": order.number, "email": order.email, **typed}


def withdraw(order: Order, client: Client | None = None, **typed: str) -> Any:
    """Confirm a withdrawal, and let the worker do what follows."""
    answer = (client or Client()).post(WITHDRAW, statement(order, confirm="1", **typed))
    apply_effects(order.order_id, datetime.now(UTC))
    return answer


def mails(email: str) -> dict[str, str]:
    return {row.subject: row.text for row in list_recipient_mails(email)}


def test_x77_two_steps_without_a_login_and_without_a_word_about_the_order() -> None:
    order = place_paid_order(2)
    visitor = Client()
    first = visitor.get(WITHDRAW)
    (form,) = html.fromstring(first.content).xpath("//main//form")
    assert form.xpath("string(.//button)") == "Withdraw from contract here"
    second = visitor.post(form.get("action"), statement(order, number=order.number.lower()))
    assert "withdrawn" not in list_event_kinds(order), "nothing is sent before it is confirmed"
    (form,) = html.fromstring(second.content).xpath("//main//form")
    confirm, change = form.xpath(".//button")
    assert (confirm.text, change.text) == ("Confirm withdrawal", "Change")
    typed = dict(form.form_values())
    assert (typed["name"], typed["email"]) == (NAME, order.email)
    again = html.fromstring(visitor.post(WITHDRAW, typed | {"change": "1"}).content)
    assert again.xpath("//input[@name='name']/@value") == [NAME]
    last = visitor.post(WITHDRAW, typed | {"confirm": "1"})
    assert (last.status_code, last["Location"]) == (303, reverse("orders:withdrawn"))
    assert "We’ve received your withdrawal" in text(visitor.get(last["Location"]))
    for page in (first, second, last):
        assert "Cup" not in page.content.decode()
    assert settings.ORDER_COOKIE_NAME not in visitor.cookies


def test_x77_the_function_is_on_each_page_in_mails_and_needs_no_login_of_a_member() -> None:
    alice = make_user()
    order = place_paid_order(1, user_id=alice.pk)
    footer = html.fromstring(Client().get("/help/").content).xpath(
        "//footer//a[@href=$to]", to=WITHDRAW
    )
    assert [each.text for each in footer] == ["Withdraw from contract here"]
    (mail,) = mails(order.email).values()
    link = f"{settings.PUBLIC_URL}{WITHDRAW}?number={order.number}"
    assert link in mail
    page = html.fromstring(Client().get(link.removeprefix(settings.PUBLIC_URL)).content)
    assert page.xpath("//input[@name='number']/@value") == [order.number]
    assert not page.xpath("//input[@name='email']/@value"), "not a word of the order's"
    assert withdraw(order).status_code == 303
    assert fresh(order).state == "cancelled"
    member = Client()
    member.force_login(alice)
    page = html.fromstring(member.get(WITHDRAW).content)
    assert page.xpath("//input[@name='email']/@value") == [alice.email]
    assert link.removeprefix(settings.PUBLIC_URL) in page_of(order, member)


def page_of(order: Order, client: Client) -> str:
    return client.get(reverse("orders:detail", args=[order.number])).content.decode()


def test_x78_it_is_acknowledged_by_mail_with_its_content_and_its_time() -> None:
    order = place_paid_order(1)
    withdraw(order)
    at = next(event.at for event in fresh(order).events if event.kind == "withdrawn")
    lines = mails(order.email)[f"We’ve received your withdrawal: {order.number}"]
    acknowledged = " ".join(lines.split())
    for words in (
        f"“I withdraw from my contract of sale, order {order.number}. Acknowledge this to {order.email}.”",
        f"{at:%H:%M:%S}",
        f"Name: “{NAME}”",
    ):
        assert words in acknowledged, words


def test_x78_what_names_no_order_is_acknowledged_too_and_goes_to_the_shop(
    settings: Settings,
) -> None:
    settings.SELLER = settings.SELLER | {"email": fresh_email()}
    order, email = place_paid_order(1), fresh_email()
    spam = "Your account is locked! http://evil.example/x"
    answers = [
        withdraw(order, email=email, name=spam),
        withdraw(order, email=email, name=spam),
        withdraw(order, number="ZZZZ-ZZZZ"),
    ]
    matching = withdraw(order)
    for answer in answers:
        assert (answer.status_code, answer["Location"]) == (303, matching["Location"]), (
            "as if it fitted"
        )
    assert list_event_kinds(order).count("withdrawn") == 1, "by the matching one"
    ((subject, acknowledged),) = mails(email).items()
    assert (order.number in subject, order.number in acknowledged) == (True, True)
    assert "evil" not in subject + acknowledged, "none of a stranger's words"
    shops = list_recipient_mails(settings.SELLER["email"])
    assert sorted(row.subject.rpartition(" ")[2] for row in shops) == sorted(
        [order.number, "ZZZZ-ZZZZ"]
    )
    texts = [" ".join(row.text.split()) for row in shops]
    assert any(spam in text and email in text for text in texts)


def test_s77_an_unconfirmed_orders_address_gets_none_of_the_typed_words() -> None:
    order = place_unproved("transfer")
    withdraw(order, name="Your account is locked")
    found = mails(order.email)
    assert any("received your withdrawal" in subject for subject in found)
    assert "locked" not in "".join(found.values())
    assert fresh(order).state == "cancelled"


def test_x79_before_it_is_packed_the_order_is_cancelled_and_its_money_goes_back() -> None:
    order = place_paid_order(2)
    withdraw(order)
    after = fresh(order)
    assert (after.state, after.payment) == ("cancelled", "refunded")
    assert list_event_kinds(order)[:3][-1] != "placed"


def test_x79_what_is_packed_is_put_on_hold_and_cancelled_once_it_is_taken_apart() -> None:
    order = place_paid_order(2)
    pack_parcel(order)
    withdraw(order)
    held = fresh(order)
    assert (held.state, held.board_column) == ("on_hold", "on_hold")
    operations.unpack_parcel(
        held, held.parcels()[-1].parcel_id, actor="staff:1:Ann", now=datetime.now(UTC)
    )
    assert fresh(order).state == "cancelled"


def test_x79_staff_who_resume_it_are_not_stopped_again() -> None:
    order = place_paid_order(2)
    pack_parcel(order)
    withdraw(order)
    resumed = operations.transition_order(
        fresh(order), Transition("resumed", actor="staff:1:Ann", at=datetime.now(UTC))
    )
    assert (resumed.state, resumed.board_column) == ("confirmed", "returns_waiting")


def test_x79_what_is_on_its_way_is_returned_once_it_has_arrived() -> None:
    order = place_paid_order(2)
    under_way = sent(pack_parcel(order))
    withdraw(order)
    assert (fresh(order).board_column, fresh(order).returns) == ("returns_waiting", ())
    arrived = operations.mark_parcel_delivered(
        fresh(order), under_way.parcels()[-1].parcel_id, actor="system", now=datetime.now(UTC)
    )
    (opened,) = arrived.returns
    assert (opened.lines, opened.reason, arrived.board_column) == (
        {1: 2},
        "Withdrawal from the contract",
        "returns_waiting",
    )
    declined = operations.reject_return(
        arrived, opened.return_id, actor="staff:1:Ann", now=datetime.now(UTC), note="Too late"
    )
    assert len(declined.returns) == 1, "it is not opened again and again"


def test_x79_what_has_arrived_long_ago_is_answered_by_staff() -> None:
    order = place_paid_order(1)
    deliver_parcel(order)
    with override_settings(RETURN_DAYS=0):
        withdraw(order)
    assert [each.state for each in fresh(order).returns] == ["requested"]


def test_x80_confirmed_twice_it_is_one_withdrawal_and_one_mail() -> None:
    order = place_paid_order(1)
    visitor = Client()
    answers = [withdraw(order, visitor) for _ in range(2)]
    assert {(each.status_code, each["Location"]) for each in answers} == {
        (303, reverse("orders:withdrawn"))
    }
    assert list_event_kinds(order).count("withdrawn") == 1
    received = [
        row
        for row in list_recipient_mails(order.email)
        if "received your withdrawal" in row.subject
    ]
    assert len(received) == 1


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ({"name": " "}, "Enter your name"),
        ({"number": ""}, "Enter your order number"),
        ({"number": "Look at evil.example"}, "Enter the eight letters and digits"),
        ({"email": "ada"}, "Enter an email address"),
    ],
)
def test_x77_what_is_missing_is_said_beside_its_field(typed: dict[str, str], message: str) -> None:
    answer = Client().post(
        WITHDRAW,
        {"name": NAME, "number": "7KQF-3M9X", "email": "a@example.com", "confirm": "1"} | typed,
    )
    assert (answer.status_code, message in text(answer)) == (422, True)


def test_s77_a_mailbox_is_sent_so_many_acknowledgements_and_no_more(settings: Settings) -> None:
    settings.RATE_LIMITS = settings.RATE_LIMITS | {"withdrawal": (2, 0, 0, 900)}
    settings.SELLER = settings.SELLER | {"email": fresh_email()}
    email = fresh_email()
    answers = [
        Client().post(WITHDRAW, {"name": NAME, "number": number, "email": email, "confirm": "1"})
        for number in ("2222-2222", "3333-3333", "4444-4444")
    ]
    assert {(answer.status_code, answer["Location"]) for answer in answers} == {
        (303, reverse("orders:withdrawn"))
    }
    assert len(mails(email)) == len(list_recipient_mails(settings.SELLER["email"])) == 2


@pytest.mark.parametrize("limit", [(1, 0, 0, 900), (0, 1, 0, 900)], ids=["mailbox", "network"])
def test_s77_strangers_close_the_function_to_nobody(
    settings: Settings, limit: tuple[int, ...]
) -> None:
    settings.RATE_LIMITS = settings.RATE_LIMITS | {"withdrawal": limit}
    order = place_paid_order(1)
    client = Client(REMOTE_ADDR=f"2001:db8:{uuid4().hex[:4]}::1")
    withdraw(order, client, number="2222-2222")
    answer = withdraw(order, client)
    assert (answer.status_code, answer["Location"]) == (303, reverse("orders:withdrawn"))
    assert f"We’ve received your withdrawal: {order.number}" in mails(order.email)
    assert fresh(order).state == "cancelled"
    withdraw(order, client, name="Somebody else")
    assert list_event_kinds(order).count("withdrawn") == 1, (
        "above the limit it is the first one alone"
    )


def test_s77_what_cannot_be_written_to_its_order_goes_to_the_shop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    order = make_order(email=fresh_email())

    def changed_again(order: Order, *_: Any) -> Any:
        raise OrderChanged(order)

    monkeypatch.setattr(withdrawals, "append_event", changed_again)
    assert Client().post(WITHDRAW, statement(order, confirm="1")).status_code == 303
    assert list_event_kinds(order).count("withdrawn") == 0
    assert any("received your withdrawal" in subject for subject in mails(order.email))
    shops = list_recipient_mails(settings.SELLER["email"])
    assert any(order.number in row.subject for row in shops)

"""Each form of an order, of the shopper and of the staff, sent twice; and what is said where an order does not allow something."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from accounts.roles import ADMIN
from mail.queries import derive_mail_id
from orders import operations
from orders.lifecycle.entities import Order
from orders.lifecycle.refusals import describe_refusal
from orders.lifecycle.transitions import Transition
from tests.adminpanel.orders.test_money import by_transfer
from tests.architecture.routes import ROUTES
from tests.checkout.shopper import text
from tests.clock import now
from tests.factories import make_order, make_user, sign_in_staff
from tests.orders.reads import fresh, list_event_kinds, open_browser
from tests.orders.test_changes import NEW_ADDRESS, deliver_parcel, pack_parcel, place_paid_order
from tests.orders.test_confirmation import place_unproved

# Addresses of an order without a form.
PAGES = {
    "orders:detail",
    "orders:invoice",
    "orders:return_from_payment",
    "adminpanel:order",
    "adminpanel:pack_scan",  # changes nothing
    "adminpanel:order_mail",
    "adminpanel:viewers",  # of seconds, and of no order
}


def paid() -> Order:
    return place_paid_order(3)


def unpaid() -> Order:
    return make_order()


def delivered() -> Order:
    return deliver_parcel(place_paid_order(3))


def return_requested() -> Order:
    return operations.request_return(delivered(), {1: 2}, "", actor="shopper", now=now())


def return_received() -> Order:
    approved = operations.approve_return(return_requested(), "1", actor="system", now=now())
    return operations.receive_return(approved, "1", {1: 2}, actor="system", now=now())


def refund_due() -> Order:
    order = by_transfer()
    complete, _ = operations.record_manual_payment(
        order, order.total, key="k", actor="system", now=now()
    )
    return operations.transition_order(complete, Transition("cancelled", actor="system", at=now()))


@dataclass(frozen=True)
class Form:
    """A form about an order: what order it stands on, and what is sent (a function of the order where that depends on it)."""

    make: Callable[[], Order]
    sent: dict[str, str] | Callable[[Order], dict[str, str]]
    more: tuple[str, ...] | Callable[[Order], tuple[str, ...]] = ()


def seen(order: Order) -> str:
    return order.events[0].event_id.hex


FORMS: dict[str, list[Form]] = {
    "orders:pay": [Form(unpaid, {})],
    "orders:extend_deadline": [Form(unpaid, {})],
    "orders:give_up": [Form(unpaid, {})],
    "orders:confirmation_mail": [Form(lambda: place_unproved("transfer"), {})],
    "orders:cancel": [Form(paid, lambda order: {"seen": seen(order)}), Form(paid, {})],
    "orders:reorder": [
        Form(paid, {"cart": "new", "operation": "2f1f7a52-5d0c-4d52-9f5a-6a2f3b1c9d10"})
    ],
    "orders:change": [Form(paid, lambda order: {"seen": seen(order), "line_1": "1"})],
    "orders:change_address": [Form(paid, lambda order: {"seen": seen(order), **NEW_ADDRESS})],
    "orders:request_return": [
        Form(delivered, lambda order: {"seen": seen(order), "line_1": "1", "reason": "mind"})
    ],
    "adminpanel:move": [
        Form(paid, {"event": "packed"}),
        Form(paid, {"event": "shipped"}),
        Form(paid, {"event": "held", "note": "Wait"}),
        Form(paid, {"event": "cancelled"}),
        Form(delivered, {"event": "closed"}),
    ],
    "adminpanel:note": [Form(paid, lambda order: {"note": "Hello", "seen": seen(order)})],
    "adminpanel:mail_again": [
        Form(
            paid,
            lambda order: {"seen": seen(order)},
            lambda order: (str(derive_mail_id(order.order_id, "confirmed")),),
        )
    ],
    "adminpanel:tags": [Form(paid, lambda order: {"add": "gift", "seen": seen(order)})],
    "adminpanel:pack": [Form(paid, {"line_1": "1"}, ("berlin",))],
    "adminpanel:parcel": [
        Form(
            lambda: pack_parcel(paid()),
            lambda order: {"event": "shipped", "tracking": f"T {order.number}"},
            ("1",),
        ),
        Form(lambda: pack_parcel(paid()), {"event": "unpacked"}, ("1",)),
    ],
    "adminpanel:sent_back": [
        Form(return_requested, {"event": "return_approved"}, ("1",)),
        Form(return_requested, {"event": "return_rejected", "note": "It was used"}, ("1",)),
    ],
    "adminpanel:return_refund": [
        Form(return_received, {"line_1": "1", "reason": "It is back"}, ("1",))
    ],
    "adminpanel:refund": [Form(paid, {"amount": "5", "reason": "Sorry"})],
    "adminpanel:lines": [Form(paid, {"line_1": "1"})],
    "adminpanel:door": [Form(paid, {**NEW_ADDRESS})],
    "adminpanel:received": [
        Form(by_transfer, {"amount": "99", "press": "2f1f7a52-5d0c-4d52-9f5a-6a2f3b1c9d10"})
    ],
    "adminpanel:money_sent": [
        Form(refund_due, lambda order: {"refund": order.due_refunds[0].refund_id})
    ],
}


def test_x80_each_form_about_an_order_is_sent_twice_here() -> None:
    named = {
        each.name
        for each in ROUTES
        if each.name.startswith(("orders:", "adminpanel:")) and "<str:number>" in each.pattern
    }
    assert named - PAGES == FORMS.keys()


def send(client: Client, name: str, order: Order, form: Form) -> tuple[Any, ...]:
    """Send a form, and return what its sender sees: where they are led to and what is said there."""
    sent = form.sent(order) if callable(form.sent) else form.sent
    if name.startswith("adminpanel:"):
        sent = {"version": str(order.version), **sent}
    more = form.more(order) if callable(form.more) else form.more
    answer = client.post(reverse(name, args=[order.number, *more]), sent)
    shown = client.get(answer["Location"])
    return (
        answer.status_code,
        answer["Location"],
        [str(message) for message in shown.context["messages"]],
    )


def test_x80_a_form_that_is_sent_twice_does_its_work_once_and_is_answered_alike() -> None:
    staff, wrong, tried = sign_in_staff(Client(), make_user(role=ADMIN)), [], 0
    for name, forms in FORMS.items():
        for form in forms:
            order = form.make()
            client = staff if name.startswith("adminpanel:") else open_browser(order)
            first = send(client, name, order, form)
            happened = list_event_kinds(order)
            second = send(client, name, order, form)
            tried += 1
            if first[0] != 303 or not (first[2] or name == "orders:pay"):
                wrong.append(f"{name} {form.sent}: {first}")
            if second != first:
                wrong.append(f"{name} {form.sent}: {first}, then {second}")
            if list_event_kinds(order) != happened:
                wrong.append(f"{name} {form.sent}: {happened}, then {list_event_kinds(order)}")
    assert tried >= 26
    assert not wrong, "\n".join(wrong)


def test_x80_the_same_form_of_a_later_page_or_of_somebody_else_is_another_one() -> None:
    order = place_paid_order(3)
    ann, ben = (sign_in_staff(Client(), make_user(role=ADMIN)) for _ in range(2))
    to = reverse("adminpanel:note", args=[order.number])
    for client, words in ((ann, "Called"), (ben, "Called")):
        assert client.post(to, {"note": words, "seen": seen(order)}).status_code == 303
    later = fresh(order)
    assert ann.post(to, {"note": "Called", "seen": seen(later)}).status_code == 303
    assert list_event_kinds(order).count("note") == 3


def test_x80_of_two_at_the_same_moment_the_second_is_answered_as_the_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    order = place_paid_order(3)
    client = sign_in_staff(Client(), make_user(role=ADMIN))
    to, sent = (
        reverse("adminpanel:refund", args=[order.number]),
        {"version": str(order.version), "amount": "5", "reason": "Sorry"},
    )
    assert client.post(to, sent).status_code == 303
    # As the second one has read the order before the first has written.
    monkeypatch.setattr("orders.queries.get_order_by_number", lambda _: order)
    assert client.post(to, sent).status_code == 303
    assert list_event_kinds(order).count("refund_owed") == 1


# ---- What an order does not allow


def test_x81_what_is_not_possible_is_said_with_why() -> None:
    order = operations.transition_order(
        place_paid_order(1), Transition("shipped", actor="staff:1:Ben", at=now())
    )
    said = "This order has been shipped and can no longer be cancelled."
    assert describe_refusal(order, "cancelled") == said
    assert describe_refusal(order, "packed", "nothing is left") == (
        "This order can’t be packed: nothing is left."
    )
    client = sign_in_staff(Client(), make_user(role=ADMIN))
    to = reverse("adminpanel:move", args=[order.number])
    for version in (order.version, order.version - 1):  # its page, and one of before
        answer = client.post(to, {"event": "cancelled", "version": str(version)})
        assert answer.status_code == 409
        assert said in text(answer), version
        assert "has changed since you opened it" not in text(answer), version
    # What may still be done is a matter of the old page alone.
    answer = client.post(to, {"event": "delivered", "version": str(order.version - 1)})
    assert "has changed since you opened it" in text(answer)
    answer = open_browser(order).post(reverse("orders:cancel", args=[order.number]))
    assert (answer.status_code, "can no longer be cancelled" in text(answer)) == (409, True)
    assert "It’s on its way" in text(answer)

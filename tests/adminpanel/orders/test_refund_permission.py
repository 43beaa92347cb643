"""Whoever of the staff gives money back may do so, and enters a code for large sums: by whatever act, at once or bit by bit."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pyotp
import pytest
from django.test import Client, override_settings
from django.urls import reverse
from lxml import html

from accounts import audit_log
from accounts import second_factor as factors
from accounts.models import User
from accounts.second_factor import CODE_AT
from accounts.sessions import PASSED_AT
from adminpanel.orders.bulk_change_forms import ACT_FORMS
from cassandra_db import current_time
from orders import bulk_changes, operations
from orders.bulk_acts import ActRefused, OrderAct, plan_event
from orders.bulk_changes import CancellationSum
from orders.lifecycle import balance
from orders.lifecycle.entities import Order
from orders.lifecycle.states import STAFF_TRANSITIONS
from pricing.money import from_minor_units, to_minor_units
from tests.adminpanel.conftest import make_order_with_events
from tests.factories import make_order, make_payment, make_user, sign_in_staff
from tests.orders.paper_orders import apply_event, make_items, make_paid_order, make_paper_order
from tests.orders.reads import fresh

NEW, PREVIEW = reverse("adminpanel:order_changes_new"), reverse("adminpanel:order_changes_preview")


def url(name: str, order: Order) -> str:
    return reverse(f"adminpanel:{name}", args=[order.number])


def seen(order: Order, **sent: Any) -> dict[str, Any]:
    return {"version": str(fresh(order).version), **sent}


def money_of(order: Order) -> tuple[Any, ...]:
    """What an order has of its buyer's money, and what it owes them."""
    found = fresh(order)
    return found.payment, found.captured, found.refunded, found.due_refunds


def change_many(client: Client, act: str, *orders: Order, **sent: str) -> Any:
    """Send the form of the preview of a change of these orders."""
    chosen = {"orders": ",".join(str(each.order_id) for each in orders), "act": act}
    (form, *_) = html.fromstring(client.post(PREVIEW, chosen).content).xpath(
        "//form[.//input[@name='change_id']]"
    )
    return client.post(NEW, dict(form.form_values()) | sent)


@pytest.fixture
def ann() -> Client:
    """A packer's browser."""
    return sign_in_staff(Client(), make_user("Ann", role="warehouse"))


class Bea:
    """Somebody of the support, whose last code is more than five minutes old."""

    def __init__(self) -> None:
        self.user: User = make_user("Bea", role="support")
        self.secret = pyotp.random_base32()
        earlier = datetime.now(UTC) - timedelta(minutes=10)
        code = pyotp.TOTP(self.secret).at(earlier)
        assert factors.enrol_second_factor(self.user, self.secret, code, earlier)
        self.client = sign_in_staff(Client(), self.user)
        self.forget_code()

    def forget_code(self) -> None:
        session = self.client.session
        session[PASSED_AT] -= 6 * 60
        session.pop(CODE_AT, None)
        session.save()

    @property
    def code(self) -> str:
        return pyotp.TOTP(self.secret).now()

    @property
    def given_back(self) -> int:
        now = datetime.now(UTC)
        return audit_log.sum_money(self.user.pk, now - timedelta(hours=1), now)


@pytest.fixture
def bea() -> Bea:
    return Bea()


def test_s101_nothing_that_a_packer_sends_gives_money_back(ann: Client) -> None:
    order = make_order(paid=True, quantity=2)
    page = ann.get(url("order", order)).content.decode()
    assert 'value="cancelled"' not in page
    assert url("lines", order) not in page
    forms = [(url("move", order), {"event": each.kind}) for each in STAFF_TRANSITIONS]
    forms += [
        (url("lines", order), {"line_1": "1"}),
        (url("refund", order), {"amount": "1", "reason": "x"}),
    ]
    # The order as it is, before it is packed: what ends it or lowers it first.
    forms.sort(key=lambda form: form[1].get("event") != "cancelled" and "line_1" not in form[1])
    before, given = money_of(order), []
    for address, sent in forms:
        ann.post(address, seen(order, **sent))
        if money_of(order) != before:
            given.append(f"{address} {sent}")
            order = make_order(paid=True, quantity=2)
    for act in ACT_FORMS:
        paid = make_order(paid=True)
        before = money_of(paid)
        answer = ann.post(PREVIEW, {"orders": str(paid.order_id), "act": act, "tags": "x"})
        if b'name="change_id"' in answer.content:
            ann.post(NEW, list_fields(answer))
        if money_of(paid) != before:
            given.append(f"many at once: {act}")
    assert not given, "\n".join(given)


def list_fields(answer: Any) -> dict[str, str]:
    (form, *_) = html.fromstring(answer.content).xpath("//form[.//input[@name='change_id']]")
    return dict(form.form_values())


def test_s101_a_packer_cancels_what_nobody_has_paid_for(ann: Client) -> None:
    first, second, paid = make_order(), make_order(), make_order(paid=True)
    assert 'value="cancelled"' in ann.get(url("order", first)).content.decode()
    assert ann.post(url("move", first), seen(first, event="cancelled")).status_code == 303
    assert change_many(ann, "cancelled", second, paid).status_code == 303
    assert [fresh(each).state for each in (first, second, paid)] == [
        "cancelled", "cancelled", "confirmed",
    ]  # fmt: skip


def test_s101_what_a_bank_has_approved_is_money_that_goes_back_too() -> None:
    items = make_items(2)
    order = make_paper_order(items)
    approved = apply_event(order, "authorized", payment_id=str(uuid4()), amount=2490)
    assert balance.amount_to_give_up(approved) == order.total
    assert balance.amount_to_give_up(order) == order.total * 0
    paid = make_paid_order(items)
    now = paid.events[0].at
    cents = to_minor_units(paid.total)
    for until, refundable, is_refused in (
        ("", None, True),
        ("", cents, True),
        (order.placed_at.isoformat(), None, True),
        (now.isoformat(), None, False),
        (order.placed_at.isoformat(), cents, False),
        (now.isoformat(), cents - 1, True),
    ):
        act = OrderAct("cancelled", "Ann", refunds_until=until)
        if is_refused:
            with pytest.raises(ActRefused, match="paid"):
                plan_event(act, paid, "", now, refundable)
        else:
            assert plan_event(act, paid, "", now, refundable)


def test_s101_a_payment_that_began_before_the_sum_and_is_recorded_after_it_stays(
    bea: Bea, monkeypatch: pytest.MonkeyPatch
) -> None:
    order, paid = make_order(), make_order(paid=True)

    def pay(*_: object) -> bool:
        make_payment(order, now=order.placed_at)
        return True

    monkeypatch.setattr("adminpanel.orders.views.bulk_changes.confirm_refund", pay)
    answer = change_many(bea.client, "cancelled", order, paid)
    assert [fresh(each).state for each in (order, paid)] == ["confirmed", "cancelled"]
    page = bea.client.get(answer["Location"]).content.decode()
    assert "It was paid for after this change was started." in page


@pytest.mark.parametrize("act", ["cancelled", "lines", "many"])
def test_s101_a_large_sum_needs_a_code_by_whatever_act_it_goes_back(bea: Bea, act: str) -> None:
    order, other = make_order(paid=True, quantity=2), make_order(paid=True)

    def send(**sent: str) -> Any:
        if act == "many":
            return change_many(bea.client, "cancelled", order, other, **sent)
        form = {"line_1": "1"} if act == "lines" else {"event": "cancelled", "note": "Sorry"}
        address = url("lines" if act == "lines" else "move", order)
        return bea.client.post(address, seen(order, **form, **sent))

    with override_settings(REFUND_CODE_ABOVE=40 if act == "many" else 10):
        before = money_of(order), money_of(other)
        for wrong in ({}, {"code": "000000"}):
            answer = send(**wrong)
            assert answer.status_code == 422
            (form,) = html.fromstring(answer.content).xpath("//form[.//input[@name='code']]")
            # Enter presses the first button: with a code there is no other.
            assert len(form.xpath(".//button[not(@formaction)]")) == 1
            assert "Sorry" in answer.content.decode() or act != "cancelled"
        assert (money_of(order), money_of(other)) == before
        assert bea.given_back == 0, "what was not done does not count"
        assert send(code=bea.code).status_code == 303
        assert money_of(order) != before[0]
    assert bea.given_back > 0


def test_s101_many_small_sums_within_an_hour_need_a_code_and_a_crash_loses_none(bea: Bea) -> None:
    def refund(amount: str, **sent: str) -> int:
        order = make_order(paid=True)
        form = seen(order, amount=amount, reason="Sorry", **sent)
        return bea.client.post(url("refund", order), form).status_code

    with override_settings(REFUND_CODE_ABOVE=10):
        assert [refund("4"), refund("4"), refund("4")] == [303, 303, 422]
        assert (refund("2"), bea.given_back) == (303, 1000)
        assert refund("4", code=bea.code) == 303
        # A code confirms for five minutes; then it is asked for again, within the hour.
        assert refund("4") == 303
        bea.forget_code()
        assert refund("0.01") == 422
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(operations, "decide_refund", _crash)
        with pytest.raises(RuntimeError):
            refund("3")
    assert bea.given_back == 2100
    assert audit_log.sum_money(bea.user.pk, datetime.now(UTC), datetime.now(UTC)) == 0


def test_s101_what_others_have_given_back_of_an_order_counts(bea: Bea) -> None:
    order, now = make_order(paid=True), datetime.now(UTC)
    eight = from_minor_units(800, "EUR")
    order = operations.decide_refund(order, eight, {}, "Sorry", actor="Cleo", now=now)
    with override_settings(REFUND_CODE_ABOVE=10):
        sent = seen(order, amount="3", reason="Sorry")
        assert bea.client.post(url("refund", order), sent).status_code == 422
        assert bea.client.post(url("refund", order), sent | {"amount": "2"}).status_code == 303


def _crash(*_: object, **__: object) -> Order:
    raise RuntimeError


def test_s101_a_change_of_very_many_orders_is_more_than_anybody_gives_without_a_code() -> None:
    ids = [uuid4() for _ in range(bulk_changes.MAX_SUMMED + 1)]
    assert bulk_changes.sum_cancellations(ids, 100).amount > 100
    assert bulk_changes.sum_cancellations(ids[:3], 100) == CancellationSum(
        0, 0, dict.fromkeys(ids[:3], 0)
    )


def test_s101_what_was_not_summed_up_counts_as_more_than_may_be_given(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An order of which much was given back before ends the sum, and the others behind it still count."""
    monkeypatch.setattr("orders.bulk_changes.PAGE_LENGTH", 1)
    order = make_order_with_events("paid", now=current_time())
    cents = to_minor_units(order.total)
    by_order = {order.order_id: cents}
    found = bulk_changes.sum_cancellations([order.order_id], cents - 1)
    assert found == CancellationSum(cents, cents, by_order)
    monkeypatch.setattr(balance, "amount_given_back", lambda order: order.total * 9)
    found = bulk_changes.sum_cancellations([order.order_id, uuid4()], 5 * cents)
    assert found == CancellationSum(5 * cents + 1, 10 * cents, by_order)

"""What staff do to an order's parcels: by plain forms, guarded by the version that their page has shown."""

from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest
from django.test import Client
from lxml import html

from accounts.models import User
from adminpanel.orders.labels import actor_label
from consistency import order_search
from consistency.findings import Violation
from orders import operations
from orders.lifecycle.entities import Order
from orders.lifecycle.errors import OrderChanged, TransitionRefused
from orders.lifecycle.transitions import Transition
from orders.operations import effects
from orders.operations.erasure import anonymize_order
from orders.operations.tracking_numbers import (
    find_tracking_owner,
    release_unused_numbers,
    take_tracking_number,
)
from orders.presentation import list_history
from orders.search import found_orders, prefetch_order_search
from tests.accounts.mails import list_mails_to
from tests.adminpanel.conftest import make_order_with_events
from tests.adminpanel.orders.submits import HTMX, seen, submit, text_of, url
from tests.orders.consistency_checks import assert_order_consistent
from tests.orders.crashes import kill_in, run_worker
from tests.orders.reads import fresh
from tests.rules import assert_explained


def test_a_parcel_is_packed_and_sent_with_its_number(staff_client: Client, ann: User) -> None:
    order = make_order_with_events("paid")
    warehouse = next(iter(order.units_to_pack))
    assert f"Pack a parcel in <bdi>{warehouse.capitalize()}</bdi>" in text_of(staff_client, order)
    answer = staff_client.post(url("pack", order, warehouse), seen(order, line_1="1"))
    assert (answer.status_code, answer["Location"]) == (303, url("order", order))
    packed = fresh(order)
    assert (packed.parcels()[0].lines, packed.units_to_pack) == ({1: 1}, {warehouse: {1: 1}})
    sent = seen(packed, event="shipped", carrier="An Post", tracking=" AB 12-3 ")
    assert staff_client.post(url("parcel", order, "1"), sent).status_code == 303
    done = fresh(order)
    assert (done.fulfilment, done.parcels()[0].carrier, done.parcels()[0].tracking) == (
        "partially_shipped", "An Post", "AB 12-3",
    )  # fmt: skip
    assert actor_label(done.events[0]) == "Ann"
    text = text_of(staff_client, order)
    for expected in ("AB 12-3", "Parcel 1", "On its way", "Mark as delivered", "Partly shipped"):
        assert expected in text, expected
    assert submit(staff_client, "parcel", done, "1", event="delivered") == 303
    assert fresh(order).parcels()[0].state == "delivered"


@pytest.mark.parametrize(("event", "state"), [("unpacked", "cancelled"), ("shipped", "shipped")])
def test_a_packed_parcel_is_taken_apart_or_sent_without_a_number(
    staff_client: Client, event: str, state: str
) -> None:
    order = make_order_with_events("paid", "packed")
    assert submit(staff_client, "parcel", order, "1", event=event) == 303
    assert fresh(order).parcels()[0].state == state


def test_a_parcel_on_its_way_is_lost(staff_client: Client) -> None:
    order = make_order_with_events("paid", "packed", "shipped")
    # No carrier is known: the sentence begins with what happened.
    (parcels,) = html.fromstring(text_of(staff_client, order)).xpath(
        "//section[@aria-labelledby='parcels']"
    )
    said = [" ".join(each.text_content().split()) for each in parcels.xpath(".//p")]
    assert any(each.startswith("Shipped ") for each in said)
    assert [each for each in said if each.startswith(",")] == []
    assert submit(staff_client, "parcel", order, "1", event="lost") == 303
    assert "Lost" in text_of(staff_client, order)


def test_x60_a_number_that_will_not_do_is_explained_beside_its_field_and_kept(
    staff_client: Client,
) -> None:
    violations = []
    order = make_order_with_events("paid")
    for typed in ("3", "-1", "1.5", "1e1", "x", "٣"):
        warehouse = next(iter(order.units_to_pack))
        answer = staff_client.post(
            url("pack", order, warehouse), seen(order, line_1=typed), headers=HTMX
        )
        expected = (
            "There is a problem",
            f'href="#pack-{warehouse}-line_1"',
            f'value="{typed}"',
            "Enter a whole number from 0 to 2",
        )
        violations += [
            f"{typed}: no {each} in the page"
            for each in expected
            if each not in answer.content.decode()
        ]
        if answer.status_code != 422:
            violations.append(f"{typed}: {answer.status_code}")
        if fresh(order) != order:
            violations.append(f"{typed} changes the order")
            order = make_order_with_events("paid")
    assert not violations, "\n".join(violations)


def test_an_empty_parcel_and_a_wrong_number_of_a_carrier_are_explained(
    staff_client: Client,
) -> None:
    order = make_order_with_events("paid")
    warehouse = next(iter(order.units_to_pack))
    empty = staff_client.post(url("pack", order, warehouse), seen(order, line_1="0"))
    assert (
        empty.status_code,
        "Enter a number for at least one item" in empty.content.decode(),
    ) == (422, True)
    order = operations.transition_order(
        order, Transition("packed", actor="Ben", at=datetime.now(UTC))
    )
    wrong = staff_client.post(
        url("parcel", order, "1"), seen(order, event="shipped", tracking="<b>")
    )
    assert wrong.status_code == 422
    assert "Enter the tracking number with letters" in wrong.content.decode()
    assert 'value="&lt;b&gt;"' in wrong.content.decode()
    assert fresh(order).version == order.version


def test_x198_a_tracking_number_of_another_order_is_refused_beside_its_field(
    staff_client: Client,
) -> None:
    one, other = (make_order_with_events("paid", "packed") for _ in range(2))
    number = f"JD {uuid4().hex[:12]}"
    first = seen(one, event="shipped", tracking=number)
    for _ in range(2):
        assert staff_client.post(url("parcel", one, "1"), first).status_code == 303
    assert find_tracking_owner(number) == one.order_id
    for headers in ({}, HTMX):
        refused = staff_client.post(
            url("parcel", other, "1"),
            seen(other, event="shipped", tracking=number),
            headers=headers,
        )
        text = refused.content.decode()
        assert refused.status_code == 422
        assert f"{number} is used on another order" in text
        assert f'value="{number}"' in text
    assert fresh(other).version == other.version
    anonymize_order(fresh(one), datetime.now(UTC))
    assert find_tracking_owner(number) is None


def test_x497_an_order_is_shipped_in_one_step_with_its_number(staff_client: Client) -> None:
    order, number = make_order_with_events("paid"), f"RR{uuid4().int % 10**9:09}IE"
    (form,) = html.fromstring(text_of(staff_client, order)).xpath(
        "//form[.//button[@id='transition-shipped']]"
    )
    sent = dict(form.form_values())
    assert (sent["carrier"], sent["event"]) == (order.method.carrier, "shipped")
    assert "gets an email" in form.text_content()
    # Without a carrier, the form of the number says it.
    sent |= {"carrier": "", "tracking": number}
    for _ in range(2):
        assert staff_client.post(url("move", order), sent).status_code == 303
    (parcel,) = fresh(order).parcels()
    assert (parcel.state, parcel.carrier, parcel.tracking) == ("shipped", "An Post", number)
    assert [event.kind for event in fresh(order).events].count("shipped") == 1
    other = make_order_with_events("paid")
    sent |= seen(other)
    for headers in ({}, HTMX):
        refused = staff_client.post(url("move", other), sent, headers=headers)
        assert refused.status_code == 422
        assert f"{number} is used on another order" in refused.content.decode()
        assert f'value="{number}"' in refused.content.decode()
    stale = staff_client.post(url("move", other), sent | {"version": "1"})
    assert (stale.status_code, number in stale.content.decode()) == (409, True)
    assert not fresh(other).parcels()


def test_x497_a_number_that_was_packed_stays_when_all_is_shipped_and_goes_with_its_parcel(
    staff_client: Client,
) -> None:
    order, number, other = make_order_with_events("paid"), make_number(), make_number()
    warehouse = next(iter(order.units_to_pack))
    packed = seen(order, line_1="1", tracking=number, carrier="GLS")
    assert staff_client.post(url("pack", order, warehouse), packed).status_code == 303
    order = fresh(order)
    assert find_tracking_owner(number) == order.order_id
    again = seen(order, line_1="1", tracking=other)
    assert staff_client.post(url("pack", order, warehouse), again).status_code == 303
    assert submit(staff_client, "parcel", fresh(order), "2", event="unpacked") == 303
    assert find_tracking_owner(other) is None
    page = html.fromstring(text_of(staff_client, order))
    (form,) = page.xpath("//form[.//button[@id='transition-shipped']]")
    assert form.fields["tracking"] == number
    assert not page.xpath("//button[@id='parcel-1-shipped']"), "it is shipped above"
    operations.ship_order(fresh(order), actor="Ann", now=datetime.now(UTC))
    first = fresh(order).parcels()[0]
    assert (first.state, first.carrier, first.tracking) == ("shipped", "GLS", number)
    assert_order_consistent(order.order_id)


def test_x497_a_number_that_was_packed_is_removed_or_corrected_when_the_order_is_shipped(
    staff_client: Client,
) -> None:
    for typed in ("", make_number()):
        order, number = make_order_with_events("paid"), make_number()
        packed = seen(order, line_1="2", tracking=number, carrier="GLS")
        warehouse = next(iter(order.units_to_pack))
        assert staff_client.post(url("pack", order, warehouse), packed).status_code == 303
        sent = {"event": "shipped", "carrier": "UPS", "tracking": typed}
        assert submit(staff_client, "move", fresh(order), **sent) == 303
        (parcel,) = fresh(order).parcels()
        assert (parcel.state, parcel.carrier, parcel.tracking) == ("shipped", "UPS", typed)
        assert find_tracking_owner(number) is None
        assert_order_consistent(order.order_id)


def make_number() -> str:
    return f"JD {uuid4().hex[:12]}"


def found_by(number: str, order: Order) -> set[UUID]:
    """Return the orders of an order's year that the staff's search finds by a tracking number."""
    found = found_orders(prefetch_order_search(number, "", [order.placed_at.year]))
    return {order.order_id for group in found for order in group.orders}


def test_x257_a_number_is_added_after_shipping_corrected_and_mailed(staff_client: Client) -> None:
    order = make_order_with_events("paid", "packed", "shipped")
    first, second = make_number(), make_number()
    assert "Add tracking number" in text_of(staff_client, order)
    added = seen(order, event="tracked", carrier="DHL", tracking=first)
    assert staff_client.post(url("parcel", order, "1"), added).status_code == 303
    order = fresh(order)
    assert (order.parcels()[0].carrier, order.parcels()[0].tracking) == ("DHL", first)
    assert find_tracking_owner(first) == order.order_id
    about_number = "The tracking number of your parcel"
    assert not [each for each in list_mails_to(order.email) if about_number in each.subject]
    assert order.order_id in found_by(first, order)
    corrected = seen(order, event="tracked", carrier="UPS", tracking=second, mail="on")
    for _ in range(2):
        assert staff_client.post(url("parcel", order, "1"), corrected).status_code == 303
    order = fresh(order)
    (parcel,) = order.parcels()
    assert (parcel.carrier, parcel.tracking, parcel.state) == ("UPS", second, "shipped")
    assert [find_tracking_owner(each) for each in (first, second)] == [None, order.order_id]
    assert [found_by(each, order) for each in (first, second)] == [set(), {order.order_id}]
    (mail,) = [each for each in list_mails_to(order.email) if about_number in each.subject]
    assert second in mail.text
    # Another customer may have the former number by now.
    assert first not in str([each.detail for each in list_history(order)])
    take_tracking_number(first, make_order_with_events("paid"))
    closed = operations.transition_order(
        operations.mark_parcel_delivered(order, "1", actor="Ann", now=datetime.now(UTC)),
        Transition("closed", actor="Ann", at=datetime.now(UTC)),
    )
    removed = seen(closed, event="tracked", carrier="UPS", tracking="")
    assert staff_client.post(url("parcel", closed, "1"), removed).status_code == 303
    assert (fresh(closed).parcels()[0].tracking, fresh(closed).state) == ("", "closed")
    assert find_tracking_owner(second) is None
    assert_order_consistent(order.order_id)


def test_x257_a_number_that_will_not_do_is_explained_and_changes_nothing(
    staff_client: Client,
) -> None:
    taken = make_number()
    other = make_order_with_events("paid", "packed", "shipped")
    operations.correct_tracking(other, "1", "DHL", taken, actor="Ann", now=datetime.now(UTC))
    order = make_order_with_events("paid", "packed", "shipped")
    assert_explained(
        lambda sent: staff_client.post(
            url("parcel", order, "1"), seen(order, event="tracked", **sent)
        ),
        (
            ({"tracking": "<b>"}, "letters, digits, spaces and dashes only"),
            ({"carrier": "DHL"}, "Enter another tracking number or carrier"),
            ({"mail": "on"}, "Enter the tracking number to email"),
            ({"tracking": taken}, f"{taken} is used on another order"),
            ({"tracking": "x" * 61}, "at most 60 characters"),
        ),
    )
    stale = seen(order, event="tracked", tracking="SECOND") | {"version": "1"}
    answer = staff_client.post(url("parcel", order, "1"), stale)
    assert answer.status_code == 409
    assert "SECOND" in answer.content.decode()
    assert fresh(order).version == order.version
    packed = make_order_with_events("paid", "packed")
    delivered = operations.mark_parcel_delivered(order, "1", actor="Ann", now=datetime.now(UTC))
    anonymize_order(delivered, datetime.now(UTC))
    for each in (packed, fresh(delivered)):
        sent = seen(each, event="tracked", tracking=make_number())
        assert staff_client.post(url("parcel", each, "1"), sent).status_code == 409


def test_x257_a_corrected_number_is_free_after_a_crash_and_one_that_comes_back_is_kept() -> None:
    order = make_order_with_events("paid", "packed", "shipped")
    first, second = make_number(), make_number()

    def correct(order: Order, tracking: str) -> Order:
        return operations.correct_tracking(
            order, "1", "DHL", tracking, actor="Ann", now=datetime.now(UTC)
        )

    order = correct(order, first)
    kill_in(effects, "release_unused_numbers", lambda: correct(order, second))
    assert find_tracking_owner(first) == order.order_id
    now = datetime.now(UTC)
    run_worker(now - timedelta(minutes=2), now + timedelta(minutes=1), order.order_id)
    assert [find_tracking_owner(each) for each in (first, second)] == [None, order.order_id]
    stale = fresh(order)
    correct(stale, first)
    # As a process does that was slow after the event before.
    release_unused_numbers(stale, stale.former_tracking_numbers)
    assert [find_tracking_owner(each) for each in (first, second)] == [order.order_id, None]


def test_x198_a_number_whose_event_lost_is_free_and_a_winners_is_not() -> None:
    order, now = make_order_with_events("paid", "packed"), datetime.now(UTC)
    number, other = make_number(), make_number()

    def ship(order: Order, tracking: str) -> Order:
        return operations.ship_parcel(order, "1", "DHL", tracking, actor="Ann", now=now)

    def find_violations(tracking: str) -> list[Violation]:
        return list(order_search.check_number(order_search.NUMBER.one(tracking=tracking)))

    tags = {"added": ["gift"], "removed": []}
    newer = operations.transition_order(
        order, Transition("tagged", actor="Ben", at=now, details=tags)
    )
    with pytest.raises(OrderChanged):
        ship(order, number)
    assert find_tracking_owner(number) is None
    # Another submit is about to give it to the order; then it has.
    take_tracking_number(number, order)
    take_tracking_number(number, newer)
    with pytest.raises(OrderChanged):
        ship(order, number)
    assert find_tracking_owner(number) == order.order_id
    shipped = ship(newer, number)
    with pytest.raises(OrderChanged):
        ship(newer, number)
    with pytest.raises(TransitionRefused):
        ship(shipped, other)
    assert [find_tracking_owner(each) for each in (number, other)] == [order.order_id, None]
    # A process dies before its event.
    take_tracking_number(other, shipped)
    assert find_violations(other) == [], "the event may still be written"
    operations.mark_parcel_delivered(shipped, "1", actor="Ann", now=now)
    (violation,) = find_violations(other)
    assert violation.fix
    violation.fix(now)
    assert (find_tracking_owner(other), find_violations(number)) == (None, [])


def test_x73_a_stale_submit_shows_who_was_faster_and_what_it_had_typed(
    staff_client: Client,
) -> None:
    order = make_order_with_events("paid", "packed")
    operations.ship_parcel(order, "1", "DHL", "FIRST", actor="Ben", now=datetime.now(UTC))
    answer = staff_client.post(
        url("parcel", order, "1"), seen(order, event="shipped", tracking="SECOND"), headers=HTMX
    )
    text = answer.content.decode()
    assert answer.status_code == 409
    assert "Ben changed it" in text
    assert "shipped" in text
    assert fresh(order).parcels()[0].tracking == "FIRST"


def test_a_stale_packing_keeps_what_was_typed_in_sight(staff_client: Client) -> None:
    order = make_order_with_events("paid")
    warehouse = next(iter(order.units_to_pack))
    operations.change_order(order, {1: 1}, actor="shopper", now=datetime.now(UTC))
    answer = staff_client.post(url("pack", order, warehouse), seen(order, line_1="2"))
    text = answer.content.decode()
    assert answer.status_code == 409
    assert "The customer changed it" in text
    assert "You had entered" in text
    assert fresh(order).parcels() == ()


def test_what_the_order_does_not_have_is_a_conflict_and_changes_nothing(
    support_client: Client,
) -> None:
    violations = []
    order = make_order_with_events("paid")
    requests: list[tuple[str, tuple[str, ...], dict[str, str]]] = [
        ("pack", ("mars",), {"line_1": "1"}),
        ("pack", ("ahead",), {"line_1": "1"}),
        ("parcel", ("9",), {"event": "shipped"}),
        ("sent_back", ("9",), {"event": "return_approved"}),
        ("return_refund", ("9",), {"amount": "1", "reason": "x"}),
        ("lines", (), {"version": "1"}),
        ("lines", (), {"version": "x"}),
        ("received", (), {"amount": "1", "press": str(uuid4())}),
        ("money_sent", (), {"refund": "nothing"}),
    ]
    for name, more, sent in requests:
        answer = support_client.post(url(name, order, *more), seen(order) | sent)
        if answer.status_code != 409 or "Nothing was changed" not in answer.content.decode():
            violations.append(
                f"{name} {more} {sent}: {answer.status_code}, or nothing is explained"
            )
        if fresh(order) != order:
            violations.append(f"{name} {more} {sent} changes the order")
            order = make_order_with_events("paid")
    assert not violations, "\n".join(violations)

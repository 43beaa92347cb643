"""An order's page: what it shows, and what staff do there."""

from datetime import UTC, datetime
from uuid import uuid4

from django.test import Client
from django.urls import reverse
from lxml import html

from accounts.models import User
from adminpanel.orders.labels import actor_label
from adminpanel.orders.mail_notices import MailNotice, make_mail_notice
from notifications.entities import PAGE
from orders import operations
from orders.lifecycle.entities import Order
from orders.lifecycle.transitions import Transition
from orders.notifications import SHIPPED
from orders.operations.erasure import anonymize_order
from tests.adminpanel.conftest import make_order_with_events
from tests.factories import make_user, sign_in_staff
from tests.orders.reads import fresh

HTMX = {"HX-Request": "true"}


def page(order: Order) -> str:
    return reverse("adminpanel:order", args=[order.number])


def move(order: Order) -> str:
    return reverse("adminpanel:move", args=[order.number])


def note(order: Order) -> str:
    return reverse("adminpanel:note", args=[order.number])


def form_of(order: Order, kind: str, **more: str) -> dict[str, str]:
    return {"event": kind, "version": str(order.version), **more}


def test_q12_q13_q14_it_shows_all_of_an_order(staff_client: Client) -> None:
    order = make_order_with_events("paid")
    operations.add_note(
        order, "Called: leave it with the neighbour", actor="Ben", now=datetime.now(UTC)
    )
    text = staff_client.get(page(order)).content.decode()
    for expected in (
        order.number, "Sam Shopper", order.email, "Hauptstraße 1", "10115 Berlin", "Germany", "€24.00", "Olive",
        "2 × €12.00", "Order placed", "To pack", "Paid", "Standard, DHL", "Called: leave it with the neighbour", "Ben", "Staff only",
    ):  # fmt: skip
        assert expected in text, expected
    assert text.count("<h1") == 1
    assert text.index("Called: leave") < text.index("Order placed"), "the newest comes first"


def test_an_unknown_number_is_a_404(staff_client: Client) -> None:
    numbers = "ZZZZ-ZZZZ", "x", "%00", "x" * 500
    answered = {
        number: staff_client.get(f"/staff/orders/{number}/").status_code for number in numbers
    }
    assert answered == dict.fromkeys(numbers, 404)


def test_an_address_that_is_none_stands_in_the_frame_of_whoever_asks(staff_client: Client) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.cookies = staff_client.cookies
    answers = [
        staff_client.get("/staff/nowhere/"),
        staff_client.get("/staff/orders/ZZZZ-ZZZZ/"),
        strict.post(reverse("adminpanel:board_columns")),
    ]
    assert [each.status_code for each in answers] == [404, 404, 403]
    for answer in answers:
        page = html.fromstring(answer.content)
        assert page.xpath("//header[@class='bar']"), answer
        assert not page.xpath("//header[@class='header']"), answer
    for stranger in (Client().get("/staff/nowhere/"), staff_client.get("/nowhere/")):
        page = html.fromstring(stranger.content)
        assert stranger.status_code == 404
        assert page.xpath("//header[@class='header']")
        assert not page.xpath("//header[@class='bar']")


def test_x57_a_number_in_lower_case_leads_to_the_page(staff_client: Client) -> None:
    order = make_order_with_events()
    answer = staff_client.get(page(order).lower())
    assert answer.status_code == 302
    assert answer["Location"] == page(order)


def test_s41_it_offers_what_is_allowed_and_nothing_else(staff_client: Client) -> None:
    text = staff_client.get(page(make_order_with_events())).content.decode()
    assert 'value="cancelled"' in text
    assert 'value="packed"' not in text
    text = staff_client.get(page(make_order_with_events("paid"))).content.decode()
    assert 'value="packed"' in text
    assert 'value="delivered"' not in text
    assert (
        'name="event"'
        not in staff_client.get(page(make_order_with_events("cancelled"))).content.decode()
    )


def test_x500_technical_entries_are_folded_and_mails_are_announced(staff_client: Client) -> None:
    order = make_order_with_events("paid")
    found = html.fromstring(staff_client.get(page(order)).content)
    shown = found.xpath("//ol[@class='timeline']/li/strong/text()")
    folded = found.xpath("//details//ol[@class='timeline']//strong/text()")
    assert "Payment approved" in folded
    assert {"Order placed", "Payment received"} <= set(shown) - set(folded)
    assert len(folded) + len(set(shown) - set(folded)) == len(order.events)

    def list_notices(order: Order) -> list[str]:
        found = html.fromstring(staff_client.get(page(order)).content)
        said = [" ".join(each.text_content().split()) for each in found.xpath("//form//p")]
        return [each for each in said if each.endswith("gets an email.")]

    # Shipping, changing the lines and changing the address; and what may not be cancelled by this role.
    assert list_notices(order) == ["Sam Shopper gets an email."] * 2
    sent = make_order_with_events("paid", "packed", "shipped")
    assert list_notices(sent) == ["Sam Shopper gets an email."] * 2
    anonymize_order(sent, datetime.now(UTC))
    assert list_notices(fresh(sent)) == []


def test_x500_who_wants_no_mail_is_not_announced_to_get_one() -> None:
    order, member = make_order_with_events("paid"), make_user("Ada")
    member.notification_choices = {SHIPPED: PAGE}
    steps = {"shipped": "Ship", "cancelled": "Cancel", "packed": "Pack"}
    notice = make_mail_notice(order, member, steps)
    assert notice
    assert (notice.name, notice.buttons) == ("Sam Shopper", "Cancel")
    assert make_mail_notice(order, member, {"shipped": ""}) is None
    assert make_mail_notice(order, None, {"shipped": ""}) == MailNotice("Sam Shopper")


def test_an_action_moves_the_order_on(staff_client: Client, ann: User) -> None:
    order = make_order_with_events("paid")
    answer = staff_client.post(move(order), form_of(order, "shipped", note="Two parcels"))
    assert answer.status_code == 303
    assert answer["Location"] == page(order)
    changed = fresh(order)
    assert (changed.fulfilment, changed.board_column, changed.version) == (
        "shipped",
        "shipped",
        order.version + 1,
    )
    assert (changed.events[0].kind, actor_label(changed.events[0]), changed.events[0].note) == (
        "shipped",
        "Ann",
        "Two parcels",
    )
    assert f"Order {order.number}: shipped." in staff_client.get(page(order)).content.decode()


def test_the_same_submit_by_htmx_swaps_the_order_in_place(staff_client: Client) -> None:
    order = make_order_with_events("paid")
    answer = staff_client.post(move(order), form_of(order, "packed"), headers=HTMX)
    text = answer.content.decode()
    assert answer.status_code == 200
    assert text.lstrip().startswith('<div id="order"')
    assert "<html" not in text
    assert "Packed" in text
    assert "hx-swap-oob" in text


def test_x73_a_stale_page_shows_who_did_what_and_keeps_the_note(staff_client: Client) -> None:
    order = make_order_with_events("paid")
    operations.transition_order(order, Transition("held", actor="Ben", at=datetime.now(UTC)))
    answer = staff_client.post(
        move(order), form_of(order, "packed", note="Wrapped as a present"), headers=HTMX
    )
    text = answer.content.decode()
    assert answer.status_code == 409
    assert "Ben changed it" in text
    assert "put on hold" in text
    assert "ago" in text or "just now" in text
    assert "Wrapped as a present" in text
    assert 'value="resumed"' in text, "the fresh state's buttons"
    changed = fresh(order)
    assert changed.state == "on_hold"
    assert changed.version == order.version + 1
    assert f'name="version" value="{changed.version}"' in text


def test_x73_the_same_without_scripts_is_a_whole_page(staff_client: Client) -> None:
    order = make_order_with_events("paid")
    operations.transition_order(order, Transition("packed", actor="Ben", at=datetime.now(UTC)))
    answer = staff_client.post(move(order), form_of(order, "held"))
    assert answer.status_code == 409
    assert "<html" in answer.content.decode()
    assert "Ben changed it" in answer.content.decode()


def test_x18_a_second_submit_changes_nothing_more(staff_client: Client) -> None:
    order = make_order_with_events("paid")
    assert staff_client.post(move(order), form_of(order, "packed")).status_code == 303
    assert staff_client.post(move(order), form_of(order, "packed")).status_code == 303
    assert [event.kind for event in fresh(order).events].count("packed") == 1


def test_s41_an_action_that_the_state_does_not_allow_changes_nothing(staff_client: Client) -> None:
    order = make_order_with_events()
    answer = staff_client.post(move(order), form_of(order, "delivered"))
    assert answer.status_code == 409
    assert fresh(order).version == order.version


def test_bad_input_is_explained_and_changes_nothing(staff_client: Client) -> None:
    violations = []
    for note in ("x" * 1001,):
        order = make_order_with_events("paid")
        answer = staff_client.post(move(order), form_of(order, "packed", note=note))
        if answer.status_code != 422 or "There is a problem" not in answer.content.decode():
            violations.append(f"{note!r}: {answer.status_code}, or no problem is explained")
        if fresh(order).version != order.version:
            violations.append(f"{note!r} changes the order")
    assert not violations, "\n".join(violations)


def test_what_no_page_of_today_sends_counts_as_an_old_page_and_keeps_the_note(
    staff_client: Client,
) -> None:
    violations = []
    order = make_order_with_events("paid")
    for sent in (
        {},
        {"event": "paid", "version": str(order.version)},
        {"event": "refunded", "version": str(order.version)},
        {"event": "packed"},
        {"event": "packed", "version": "x"},
        {"event": "packed", "version": "-1"},
    ):
        answer = staff_client.post(move(order), sent | {"note": "Wrapped"})
        text = answer.content.decode()
        if (
            answer.status_code != 409
            or "Nothing was changed" not in text
            or "Wrapped</textarea>" not in text
        ):
            violations.append(f"{sent}: {answer.status_code}, or the note is not kept")
        if fresh(order).version != order.version:
            violations.append(f"{sent} changes the order")
            order = make_order_with_events("paid")
    assert not violations, "\n".join(violations)


def test_nobody_of_the_staff_passes_for_the_shop_by_choosing_a_name(client: Client) -> None:
    mallory = make_user("system", role="support")
    sign_in_staff(client, mallory)
    order = make_order_with_events("paid")
    client.post(move(order), form_of(order, "held", note="They called twice"))
    event = fresh(order).events[0]
    assert event.actor == f"staff:{mallory.pk}:system"
    text = client.get(page(order)).content.decode()
    assert "</time>, <bdi>system</bdi>" in text
    assert "Note for staff only" in text


def test_after_a_submit_the_way_back_leads_to_where_the_order_stands_now(
    staff_client: Client,
) -> None:
    order = make_order_with_events("paid")
    text = staff_client.post(move(order), form_of(order, "held"), headers=HTMX).content.decode()
    assert "All orders: On hold" in text


def test_s40_other_fields_change_nothing(staff_client: Client) -> None:
    order = make_order_with_events("paid")
    staff_client.post(
        move(order), form_of(order, "packed", total="1", state="closed", actor="Mallory")
    )
    changed = fresh(order)
    assert (changed.total, changed.state, actor_label(changed.events[0])) == (
        order.total,
        "confirmed",
        "Ann",
    )


def test_a_note_is_for_staff_and_says_who_and_when(staff_client: Client) -> None:
    order = make_order_with_events("paid")
    answer = staff_client.post(note(order), {"note": "Ring twice\nThen wait"})
    assert answer.status_code == 303
    changed = fresh(order)
    assert (changed.events[0].kind, actor_label(changed.events[0]), changed.events[0].public) == (
        "note",
        "Ann",
        False,
    )
    assert changed.version == order.version, "a note makes nobody's page stale"
    text = staff_client.get(page(order)).content.decode()
    assert "Ring twice<br>Then wait" in text
    assert "Staff only" in text


def test_x18_the_same_note_submitted_twice_stands_once(staff_client: Client) -> None:
    order = make_order_with_events()
    for _ in range(2):
        assert staff_client.post(note(order), {"note": "Once"}).status_code == 303
    assert [event.note for event in fresh(order).events].count("Once") == 1


def test_x60_a_note_that_will_not_do_is_kept_and_explained(staff_client: Client) -> None:
    violations = []
    order = make_order_with_events()
    for text in ("", "   ", "x" * 1001):
        answer = staff_client.post(note(order), {"note": text}, headers=HTMX)
        expected = "There is a problem", text.strip()
        if answer.status_code != 422 or any(
            each not in answer.content.decode() for each in expected
        ):
            violations.append(f"{text!r}: {answer.status_code}, or it is not kept and explained")
        if len(fresh(order).events) != len(order.events):
            violations.append(f"{text!r} is written down")
            order = make_order_with_events()
    assert not violations, "\n".join(violations)


def test_s27_a_note_is_text(staff_client: Client) -> None:
    order = make_order_with_events()
    evil = f'<img src=x onerror=alert(1)> <a hx-get="/staff/">{uuid4()}</a>'
    staff_client.post(note(order), {"note": evil})
    text = staff_client.get(page(order)).content.decode()
    assert evil not in text
    assert "&lt;img src=x" in text


def test_x2_a_reload_after_a_submit_repeats_nothing(staff_client: Client) -> None:
    order = make_order_with_events("paid")
    answer = staff_client.post(move(order), form_of(order, "packed"), follow=True)
    assert answer.status_code == 200
    assert answer.redirect_chain == [(page(order), 303)]


def test_x19_times_are_the_shops_and_carry_their_zone(staff_client: Client) -> None:
    order = make_order_with_events(now=datetime(2026, 7, 1, 22, 30, tzinfo=UTC))
    text = staff_client.get(page(order)).content.decode()
    assert '<time datetime="2026-07-01T23:30:00+01:00">1 July 2026, 23:30</time>' in text

"""An order that nobody pays before it is sent: whoever reads its mail confirms it, and what is not paid for is bounded."""

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID, uuid4

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse
from lxml import html
from pytest_django import Settings

from accounts import operations as accounts
from cassandra_db import Row, read
from demo.testbank import cards
from inventory import operations as inventory
from mail.queries import list_mail_ids_about, list_recipient_mails
from orders import links, operations, privacy, queries
from orders.lifecycle.entities import Order
from orders.lifecycle.errors import (
    ConfirmationTooLate,
    OrderChanged,
    TooManyUnpaidUnits,
    TransitionRefused,
)
from orders.lifecycle.transitions import Transition
from orders.operations import OrderDraft, unpaid_units
from orders.operations.mail_texts import compose_mail
from pricing.money import to_minor_units
from tests.cart.guests import get_active_cart
from tests.checkout.shopper import (
    Shopper,
    count_reserved,
    get_cart,
    list_orders,
    make_email,
    text,
    token_in,
)
from tests.clock import now
from tests.factories import (
    make_draft,
    make_payment,
    make_product,
    make_stocked_product,
    make_user,
    sign_in_staff,
)
from tests.orders.attempts import list_attempts
from tests.orders.consistency_checks import assert_order_consistent, get_stock_numbers
from tests.orders.crashes import (
    expire_claim,
    first_and_last_writes,
    kill_at_write,
    kill_in,
    record_writes,
    run_worker,
)
from tests.orders.paper_orders import apply_event, make_items, make_paper_order
from tests.orders.reads import fresh
from tests.orders.test_emails import list_mails
from tests.threads import map_at_once
from web.days import end_after_days
from web.personal_data import DataSubject

ORIGIN = "http://testserver"
LURE = "Your account is locked! Visit http://evil.example/login now"
COUNTED = read(
    "test", "SELECT order_id, units, TTL(units) AS seconds FROM unpaid_units WHERE bucket = :bucket"
)


def make_unproved_draft(method: str, *, units: int = 1, stock: int = 20, **more: Any) -> OrderDraft:
    """A guest's order as the checkout would place it."""
    product = make_product(stock=stock)
    return replace(
        make_draft((product, units), email=make_email()),
        payment_method=method,
        is_email_confirmed=False,
        **more,
    )


def place_unproved(method: str, **more: Any) -> Order:
    order = operations.place_order(make_unproved_draft(method, **more), now())
    operations.start_payment(order, ORIGIN, now())
    return fresh(order)


def confirmation_path(order: Order) -> str:
    return urlsplit(links.confirmation_url(order.order_id)).path


def confirmed_order_id(body: str) -> UUID | None:
    """Return the order that the confirmation link in a mail is about; its token has the second of its making."""
    link = re.search(r"/o/([^/]+)/confirm/", body)
    return links.order_id_from_confirmation_token(link[1]) if link else None


def expire(order: Order) -> Order:
    run_worker(order.placed_at, now() + timedelta(minutes=45), order.order_id)
    return assert_order_consistent(order.order_id)


def list_counted(bucket: str) -> list[Row]:
    return [row for row in COUNTED.all(bucket=bucket) if row.order_id]


def list_counted_of(order: Order) -> list[int]:
    """In each of its buckets, the order's units that are counted there."""
    return [
        sum(row.units for row in list_counted(bucket) if row.order_id == order.order_id)
        for bucket in order.unpaid_unit_buckets
    ]


# ---- Until it is confirmed


def test_x74_s57_a_guests_transfer_is_reserved_for_half_an_hour_and_its_page_says_so() -> None:
    mug, email = make_stocked_product(), make_email()
    shopper = Shopper((mug, 1))
    review = shopper.look(email=email, payment="transfer")
    assert "Open it within 30 minutes to confirm your order, or it expires." in text(review)
    answer = shopper.send(token_in(review), email=email, payment="transfer")
    page = shopper.client.get(answer["Location"])
    (order,) = list_orders(email)
    assert order.pay_until - order.placed_at == timedelta(minutes=30)
    assert (order.state, order.board_column) == ("pending_payment", "unconfirmed")
    assert order.customer_label == "Waiting for your confirmation"
    assert f"We’ve sent an email to {email}." in text(page)
    assert settings.BANK_ACCOUNT.split("|")[-1] not in text(page)
    # Its lines are still in the cart, and another checkout of it leads here.
    assert get_cart(shopper).lines
    again = shopper.client.get(reverse("checkout:review"), follow=True)
    assert "Confirm it with the link that we emailed" in text(again)
    assert count_reserved(mug) == 1


def test_s57_nothing_but_the_button_confirms_and_staff_have_nothing_to_pack() -> None:
    order = place_unproved("cod")
    client = Client()
    for _ in range(2):  # as mail scanners do
        page = client.get(confirmation_path(order))
        assert "Yes, confirm my order" in text(page)
        assert "Lovelace" not in text(page)
        assert client.head(confirmation_path(order)).status_code == 200
    operations.start_payment(fresh(order), ORIGIN, now())
    run_worker(order.placed_at, now() + timedelta(minutes=15), order.order_id)
    assert fresh(order).version == order.version
    assert fresh(order).board_column_label == "Email not confirmed"
    for kind in ("packed", "confirmed"):
        with pytest.raises(TransitionRefused):
            operations.transition_order(fresh(order), Transition(kind, actor="Ann", at=now()))
    assert assert_order_consistent(order.order_id).state == "pending_payment"


def test_x75_staff_see_which_orders_are_not_confirmed_yet() -> None:
    order = place_unproved("cod")
    staff = sign_in_staff(Client(), make_user("Stan", role="support"))
    board = staff.get(reverse("adminpanel:board"), {"column": "unconfirmed"}).content.decode()
    assert order.number in board
    page = html.fromstring(staff.get(reverse("adminpanel:order", args=[order.number])).content)
    assert (
        text(page.xpath("//main//header//span[contains(@class, 'badge')]")[0])
        == "Email not confirmed"
    )
    assert [button.get("value") for button in page.xpath("//button[@name='event']")] == [
        "cancelled"
    ]
    operations.confirm_email(order, now())
    page = text(staff.get(reverse("adminpanel:order", args=[order.number])))
    assert "Email address confirmed" in page


@pytest.mark.parametrize("method", ["transfer", "cod"])
def test_s57_what_nobody_confirms_expires_and_is_told_to_nobody(method: str) -> None:
    order = place_unproved(method, units=3)
    assert len(list_mails(order)) == 1
    expired = expire(order)
    assert (expired.state, expired.customer_label) == ("expired", "Not confirmed in time")
    assert expired.events[0].note == "Nobody confirmed the email address in time."
    assert get_stock_numbers(queries.list_items(order)[0].variant_id)["available"] == 20
    assert len(list_mails(order)) == 1
    assert list_counted_of(expired) == [0]
    with pytest.raises(ConfirmationTooLate):
        operations.confirm_email(expired, now())
    late = Client().post(confirmation_path(order), {"confirm": "yes"})
    assert (late.status_code, "This order has expired" in text(late)) == (409, True)


def test_s57_after_its_time_the_button_comes_too_late_though_no_worker_was_there() -> None:
    order = place_unproved("cod")
    with pytest.raises(ConfirmationTooLate):
        operations.confirm_email(order, order.pay_until)
    assert fresh(order).needs_email_confirmation


# ---- The first mail


def test_s58_the_first_mail_has_none_of_a_strangers_words() -> None:
    email, client = make_email(), Client()
    shopper = Shopper((make_stocked_product(name="Teapot"), 2), client=client)
    typed = {"email": email, "payment": "transfer", "name": LURE[:60], "street": "evil.example 1"}
    shopper.send(shopper.token(**typed), **typed)
    (order,) = list_orders(email)
    assert order.name == LURE[:60]
    (mail,) = list_mails(order)
    assert mail.subject == f"Please confirm your order: {order.number}"
    for body in (mail.text, mail.html):
        assert not re.search("evil|locked|Berlin|10115", mail.subject + body)
        assert "2 × Teapot" in body
        assert confirmed_order_id(body) == order.order_id
        assert "This was not me" in body or "it wasn’t you" in body
    assert "Total: €28.90" in mail.text


def test_s58_whoever_paid_too_late_hears_of_it() -> None:
    order = operations.place_order(make_unproved_draft("card"), now())
    for kind, details in (
        ("expired", {}),
        ("paid_too_late", {"payment_id": str(uuid4()), "amount": to_minor_units(order.total)}),
    ):
        order = operations.transition_order(
            order, Transition(kind, actor="system", at=now(), details=details), with_effects=False
        )
    assert not order.is_unproved
    assert compose_mail(order, order.events[0], ())


def test_s58_a_card_order_mails_nobody_before_it_is_paid_and_then_none_of_its_words() -> None:
    order = operations.place_order(make_unproved_draft("card"), now())
    failed = make_payment(order, cards.DECLINED)
    assert not list_mails(order)
    make_payment(failed)
    (mail,) = list_mails(order)
    assert not re.search("Ada|Torstra", mail.subject + mail.text + mail.html)
    assert confirmed_order_id(mail.text) == order.order_id
    answer = Client().get(confirmation_path(order))
    assert "Is this order yours?" in text(answer)
    answer = Client().post(confirmation_path(order), {"reject": "yes"})
    assert "This order is cancelled" in text(answer)
    assert assert_order_consistent(order.order_id).payment == "refunded"


def test_x74_the_mail_can_be_sent_again_now_and_then(settings: Settings) -> None:
    settings.RATE_LIMITS = settings.RATE_LIMITS | {"confirmation": (2, 0, 0, 3600)}
    email, shopper = make_email(), Shopper((make_stocked_product(), 1))
    typed = {"email": email, "payment": "cod"}
    shopper.send(shopper.token(**typed), **typed)
    (order,) = list_orders(email)
    address = reverse("orders:confirmation_mail", args=[order.number])
    answers = [shopper.client.post(address).status_code for _ in range(3)]
    assert answers == [303, 303, 429]
    subjects = {mail.subject for mail in list_mails(order)}
    assert subjects == {f"Please confirm your order: {order.number}"}
    assert 2 <= len(list_mails(order)) <= 3  # once a minute
    assert Client().post(address).status_code == 404
    confirmed = operations.confirm_email(order, now())
    assert not operations.resend_confirmation_mail(confirmed, now())


def test_x74_a_stranger_keeps_nobody_from_having_it_sent_again(settings: Settings) -> None:
    settings.RATE_LIMITS = settings.RATE_LIMITS | {"confirmation": (2, 0, 0, 3600)}
    email, statuses = make_email(), []
    for visitor in ("192.0.2.8", "192.0.2.8", "192.0.2.9"):
        shopper = Shopper((make_stocked_product(), 1), client=Client(REMOTE_ADDR=visitor))
        typed = {"email": email, "payment": "cod"}
        shopper.send(shopper.token(**typed), **typed)
        page = text(shopper.client.get(reverse("checkout:review"), follow=True))
        (order,) = (order for order in list_orders(email) if order.number in page)
        address = reverse("orders:confirmation_mail", args=[order.number])
        statuses.append([shopper.client.post(address).status_code for _ in range(2)])
    assert statuses == [[303, 303], [429, 429], [303, 303]]


def test_x74_a_members_is_sent_again_as_the_first_one_was() -> None:
    member = make_user("Alice")
    accounts.save_preferences(member.pk, "IE", plain_mail=True)
    order = place_unproved("cod", user_id=member.pk)
    assert operations.resend_confirmation_mail(order, now() + timedelta(minutes=2))
    assert [mail.html for mail in list_mails(order)] == [None, None]
    mail_ids = {mail.mail_id for mail in list_mails(order)}
    assert mail_ids <= set(list_mail_ids_about(member.pk)), "to erase the member drops it"


# ---- It is confirmed


def test_s57_a_confirmed_transfer_has_its_seven_days() -> None:
    email, shopper = make_email(), Shopper((make_stocked_product(), 1))
    typed = {"email": email, "payment": "transfer"}
    shopper.send(shopper.token(**typed), **typed)
    (order,) = list_orders(email)
    for _ in range(2):  # pressed twice
        answer = Client().post(confirmation_path(order), {"confirm": "yes"})
        assert answer["Location"] == reverse("orders:detail", args=[order.number])
    confirmed = assert_order_consistent(order.order_id)
    at = next(event.at for event in confirmed.events if event.kind == "email_confirmed")
    assert confirmed.pay_until == end_after_days(at, 7)
    assert [event.kind for event in confirmed.events].count("email_confirmed") == 1
    assert (confirmed.state, confirmed.board_column) == ("pending_payment", "to_pay")
    assert not get_cart(shopper).lines
    assert "Please transfer" in text(shopper.client.get(answer["Location"]))
    _, mail = list_mails(confirmed)
    assert mail.subject == f"Please pay for your order: {order.number}"
    assert "Hello Ada" in mail.text
    # Long after the half hour its units are still reserved.
    run_worker(order.placed_at, now() + timedelta(minutes=45), order.order_id)
    assert assert_order_consistent(order.order_id).state == "pending_payment"


def test_s57_a_confirmed_order_on_delivery_is_to_be_packed() -> None:
    order = operations.confirm_email(place_unproved("cod", stock=5), now())
    assert (order.state, order.board_column) == ("confirmed", "to_pack")
    assert [event.kind for event in reversed(order.events)] == [
        "placed",
        "payment_started",
        "email_confirmed",
        "confirmed",
    ]
    assert [mail.subject for mail in list_mails(order)] == [
        f"Please confirm your order: {order.number}",
        f"Your order {order.number} at Stoa",
    ]
    assert order.payment_id == list_attempts(order.order_id)[0].payment_id
    assert_order_consistent(order.order_id)


def test_s57_confirmed_and_run_out_at_once_it_is_one_of_both() -> None:
    for _ in range(3):
        order = place_unproved("cod")

        def confirm(order: Order = order) -> object:
            return operations.confirm_email(order, now())

        def run_out(order: Order = order) -> object:
            return operations.expire_order(order, now())

        def attempt(act: Callable[[], object]) -> None:
            with suppress(OrderChanged, ConfirmationTooLate):
                act()

        map_at_once(attempt, (confirm, run_out))
        kinds = {event.kind for event in assert_order_consistent(order.order_id).events}
        assert len(kinds & {"email_confirmed", "expired"}) == 1


def test_s57_an_order_is_confirmed_by_its_events_alone() -> None:
    waiting = replace(make_paper_order(make_items(1)), payment_method="cod")
    placed = replace(waiting.events[0], details={"email_confirmed": False})
    unproved = replace(waiting, events=(placed,))
    assert unproved.board_column == "unconfirmed"
    with pytest.raises(TransitionRefused, match="isn’t confirmed yet"):
        apply_event(unproved, "confirmed")
    until = (unproved.pay_until + timedelta(days=7)).isoformat()
    confirmed = apply_event(unproved, "email_confirmed", pay_until=until)
    assert confirmed.pay_until.isoformat() == until
    assert apply_event(confirmed, "confirmed").board_column == "to_pack"
    for order in (confirmed, waiting):
        with pytest.raises(TransitionRefused, match="already confirmed"):
            apply_event(order, "email_confirmed", pay_until=until)


def test_s57_killed_at_any_write_of_the_confirmation_it_is_confirmed_or_not() -> None:
    def confirm(order: Order) -> None:
        operations.confirm_email(order, now())

    first = place_unproved("cod", networks=[("192.0.2.7", 1)])
    writes = record_writes(lambda: confirm(first))
    assert len(writes) >= 10
    wrong = []
    for target in first_and_last_writes(writes):
        order = place_unproved("cod")
        kill_at_write(target, partial(confirm, order))
        done = expire(order)
        is_counted = list_counted_of(done) == [1]
        if (done.state, is_counted) not in (("confirmed", True), ("expired", False)):
            wrong.append(f"{target.tables}: {done.state}, counted: {is_counted}")
    assert not wrong, "\n".join(wrong)


# ---- "This was not me"


def test_s59_who_did_not_order_cancels_by_a_button_once_and_is_written_to_no_more() -> None:
    order = place_unproved("transfer", stock=5)
    for _ in range(2):
        answer = Client().post(confirmation_path(order), {"reject": "yes"})
        assert (answer.status_code, "This order is cancelled" in text(answer)) == (200, True)
    done = assert_order_consistent(order.order_id)
    assert (done.state, done.events[0].note) == ("cancelled", "“This was not me.”")
    assert len(list_mails(order)) == 1
    assert list_counted_of(done) == [0]
    assert Client().post(confirmation_path(order), {"confirm": "yes"}).status_code == 409
    assert fresh(order).state == "cancelled"


def test_s59_what_was_confirmed_the_link_does_not_cancel() -> None:
    order = operations.confirm_email(place_unproved("cod"), now())
    answer = Client().post(confirmation_path(order), {"reject": "yes"})
    assert (answer.status_code, "already confirmed" in text(answer)) == (409, True)
    assert assert_order_consistent(order.order_id).state == "confirmed"


def test_s59_the_button_of_an_old_tab_says_nothing_untrue_and_opens_nothing() -> None:
    cancelled = operations.confirm_email(place_unproved("cod"), now())
    operations.transition_order(cancelled, Transition("cancelled", actor="shopper", at=now()))
    card = operations.place_order(make_unproved_draft("card"), now())
    make_payment(card)
    for order, said in ((cancelled, "This order is cancelled"), (card, "Is this order yours?")):
        tab = Client()
        answer = tab.post(confirmation_path(order), {"confirm": "yes"})
        assert (answer.status_code, said in text(answer)) == (200, True)
        assert "Your order is confirmed" not in text(answer)
        assert settings.ORDER_COOKIE_NAME not in tab.cookies


def test_s59_an_old_link_does_nothing(settings: Settings) -> None:
    waiting = place_unproved("cod")
    confirmed = operations.confirm_email(place_unproved("cod"), now())
    settings.ORDER_LINK_SECONDS = -1
    for order in (waiting, confirmed):
        for sent in ({"confirm": "yes"}, {"reject": "yes"}, {}):
            tab = Client()
            answer = tab.post(confirmation_path(order), sent)
            assert (answer.status_code, "This link has expired" in text(answer)) == (410, True)
            assert settings.ORDER_COOKIE_NAME not in tab.cookies
        assert Client().get(confirmation_path(order)).status_code == 410
        assert fresh(order).version == order.version


def test_s59_a_link_of_another_kind_confirms_nothing() -> None:
    order = place_unproved("cod")
    for token in ("made-up", links.order_access_token(order.order_id)):
        for method in ("get", "post"):
            answer = getattr(Client(), method)(reverse("orders:confirm", args=[token]))
            assert answer.status_code == 404
    assert fresh(order).needs_email_confirmation


def test_s59_an_unproved_order_is_in_nobodys_way_who_wants_to_be_forgotten() -> None:
    user = make_user("Alice")
    person = DataSubject(user.pk, user.email, user.name)
    order = operations.place_order(
        replace(make_unproved_draft("transfer"), email=user.email, networks=[("192.0.2.1", 1)]),
        now(),
    )
    assert operations.claim_guest_orders(user.pk, user.email) == 0
    assert privacy.list_erasure_obstacles(person) == []
    privacy.erase_personal_data(person, now())
    done = fresh(order)
    assert (done.state, done.email, done.name, done.is_erased) == ("cancelled", "", "", True)
    assert done.unpaid_unit_buckets == ()
    assert list_order_ids(user.email) == []
    assert Client().get(confirmation_path(order)).status_code == 404


def list_order_ids(email: str) -> list[Any]:
    return list(queries.list_order_ids_by_email(email))


# ---- How often


def test_s60_one_mailbox_is_not_mailed_as_often_as_somebody_likes() -> None:
    email, statuses = make_email(), []
    for _ in range(8):
        shopper = Shopper((make_stocked_product(), 1))
        typed = {"email": email, "payment": "transfer"}
        answer = shopper.send(shopper.token(**typed), **typed)
        statuses.append(answer.status_code)
    assert statuses == [303] * 3 + [429] * 5
    assert int(answer["Retry-After"]) > 60
    assert "Too many attempts" in text(answer)
    assert len(list_recipient_mails(email)) == 3


def test_s60_what_is_refused_does_not_count(settings: Settings) -> None:
    settings.RATE_LIMITS = settings.RATE_LIMITS | {"unpaid_order": (1, 0, 0, 3600)}
    typed = {"email": make_email(), "payment": "transfer"}
    for units, status in ((21, 409), (1, 303), (1, 429)):
        shopper = Shopper((make_stocked_product(units=30), units))
        assert shopper.send(shopper.token(**typed), **typed).status_code == status


def test_s60_card_orders_are_counted_in_memory_by_network(settings: Settings) -> None:
    settings.RATE_LIMITS = settings.RATE_LIMITS | {"order": (0, 2, 0, 86400)}
    statuses, mug = [], make_stocked_product()
    for _ in range(3):
        shopper = Shopper((mug, 1), client=Client(REMOTE_ADDR="198.51.100.77"))
        typed = {"email": make_email()}
        token = shopper.token(**typed)
        writes = record_writes(lambda: statuses.append(shopper.send(token, **typed).status_code))  # noqa: B023
        tables = " ".join(write.tables for write in writes)
        assert not re.search("rate_limit_slots|unpaid_units", tables)
    assert statuses == [303, 303, 429]
    elsewhere = Shopper((mug, 1), client=Client(REMOTE_ADDR="198.51.100.78"))
    assert elsewhere.send(elsewhere.token(**typed), **typed).status_code == 303


# ---- How many units


def test_s61_nobody_sells_out_the_shop_without_paying() -> None:
    mug = make_stocked_product(units=60)
    shopper, email = Shopper((mug, 60)), make_email()
    typed = {"email": email, "payment": "transfer"}
    answer = shopper.send(shopper.token(**typed), **typed)
    assert answer.status_code == 409
    assert "You can order 20 more items without paying first." in text(answer)
    assert count_reserved(mug) == 0
    assert not list_orders(email)
    by_card = shopper.send(shopper.token(email=email), email=email)
    assert (by_card.status_code, count_reserved(mug)) == (303, 60)


def test_s61_the_bound_holds_when_many_order_at_once() -> None:
    drafts = [make_unproved_draft("cod", units=5) for _ in range(8)]
    email = make_email()

    def place(draft: OrderDraft) -> Order | None:
        try:
            return operations.place_order(replace(draft, email=email), now())
        except TooManyUnpaidUnits:
            return None

    placed = [order for order in map_at_once(place, drafts, 8) if order]
    assert len(placed) == 4
    (bucket,) = placed[0].unpaid_unit_buckets
    assert sum(row.units for row in list_counted(bucket)) == 20
    # What is cancelled, expired or paid makes room for as much.
    operations.reject_order(placed[0], now())
    expire(placed[1])
    paid = operations.confirm_email(placed[2], now())
    assert sum(row.units for row in list_counted(bucket)) == 10
    operations.record_manual_payment(paid, paid.total, key="k", actor="Ann", now=now())
    assert sum(row.units for row in list_counted(bucket)) == 5
    assert place(drafts[7])


def test_s61_networks_have_a_bound_of_their_own(settings: Settings) -> None:
    settings.UNPAID_UNITS = [20, 30]
    networks = [(uuid4().hex, 1)]
    for units, passes in ((15, True), (15, True), (1, False)):
        draft = make_unproved_draft("transfer", units=units, networks=networks)
        if passes:
            operations.place_order(draft, now())
            continue
        with pytest.raises(TooManyUnpaidUnits):
            operations.place_order(draft, now())
        mailbox, _network = draft.unpaid_unit_buckets
        assert list_counted(mailbox) == []
        assert queries.get_order(draft.order_id) is None


def test_s61_an_offer_that_was_refused_can_be_ordered_later() -> None:
    """It has no cart that would get another checkout, so the worker must not have abandoned this one."""
    first = operations.place_order(make_unproved_draft("cod", units=20), now())
    draft = replace(make_unproved_draft("cod"), email=first.email)
    with pytest.raises(TooManyUnpaidUnits):
        operations.place_order(draft, now())
    run_worker(now() - timedelta(minutes=2), now() + timedelta(minutes=12), draft.order_id)
    operations.reject_order(first, now())
    assert operations.place_order(draft, now()).order_id == draft.order_id


def test_s61_an_ipv6_network_is_bounded_as_a_whole(settings: Settings) -> None:
    settings.UNPAID_UNITS = [0, 1]
    mug, site, statuses = make_stocked_product(), f"2001:db8:{uuid4().hex[:4]}", []
    for network in ("a00", "a00", "a01", "a02", "a03", "a04"):  # six /64 of one /56, two the same
        shopper = Shopper((mug, 1), client=Client(REMOTE_ADDR=f"{site}:{network}::1"))
        typed = {"email": make_email(), "payment": "transfer"}
        statuses.append(shopper.send(shopper.token(**typed), **typed).status_code)
    assert statuses == [303, 409, 303, 303, 303, 409]
    assert count_reserved(mug) == 4


def test_s61_a_crash_counts_no_longer_than_the_order_could_have_waited() -> None:
    draft = make_unproved_draft("transfer", units=4)
    kill_in(inventory.FirstReservation, "reserve", lambda: operations.place_order(draft, now()))
    (bucket,) = draft.unpaid_unit_buckets
    (row,) = list_counted(bucket)
    assert 0 < row.seconds <= (30 + 60) * 60
    expire_claim(draft.order_id)
    order = operations.place_order(draft, now())
    assert [row.units for row in list_counted(bucket)] == [4]
    operations.confirm_email(order, now())
    (row,) = list_counted(bucket)
    assert row.seconds > timedelta(days=6).total_seconds()


def test_s61_a_members_transfers_are_bounded_too() -> None:
    draft = replace(make_unproved_draft("transfer", units=21, stock=30), is_email_confirmed=True)
    with pytest.raises(TooManyUnpaidUnits):
        operations.place_order(draft, now())
    assert get_active_cart(draft.owner_id) is None
    assert unpaid_units.list_buckets(draft.email, []) == draft.unpaid_unit_buckets

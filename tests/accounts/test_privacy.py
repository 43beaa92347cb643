"""What is held about a member can be taken along, and be erased: whole, once, and whatever dies in between."""

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest.mock import patch
from uuid import UUID, uuid4

import pytest
from django.test import Client
from django.urls import reverse

from accounts import jobs, queries
from accounts.addresses import Address
from accounts.errors import NoSuchUser
from accounts.models import User
from accounts.operations import (
    change_email,
    erase_account,
    person_from_user,
    record_login,
    register_user,
    request_erasure,
    save_address,
    save_profile,
)
from accounts.operations.erasure import RETRY_AFTER
from accounts.operations.search_terms import TERMS
from adminpanel.orders.history import staff_history
from adminpanel.orders.order_page import get_order_page
from cart import people
from cart.operations import sharing
from cart.queries import CARTS, SUMS
from cassandra_db import CassandraUnavailable
from consistency.copies import BY_STATUS
from jobs.leases import hold_lease, save_position
from jobs.minutes import floor_to_minute
from mail.addresses import email_key
from mail.operations import queue_mail
from mail.queries import get_mail, list_recipient_mails
from orders.lifecycle.entities import Order
from orders.lifecycle.states import BOARD_COLUMNS
from orders.lifecycle.transitions import Transition
from orders.links import order_access_token
from orders.operations import (
    apply_effects,
    guest_orders,
    place_order,
    reject_return,
    request_return,
    start_payment,
    transition_order,
)
from orders.privacy import _is_under_way
from orders.queries import get_order, list_items, list_order_ids_by_email, list_orders_by_year
from stock_alerts.operations import subscribe
from stock_alerts.queries import Subscription, list_subscriptions
from tests.cart.shared_carts import (
    as_cart_user,
    get_row_count,
    list_cart_names,
    make_person,
    make_shared_cart,
)
from tests.factories import (
    PASSWORD,
    make_draft,
    make_order,
    make_product,
    make_stock,
    make_user,
    sign_in_staff,
)
from tests.notifications.telling import tell_about
from tests.orders import paper_orders
from tests.reads import existing
from web import personal_data
from web.personal_data import ErasureRefused, list_erasure_obstacles

EXPORT, ERASE = "accounts:export", "accounts:erase"


@pytest.fixture
def alice() -> User:
    user = make_user("Alice")
    save_address(
        user.pk, Address("Alice", "Lindenallee 5", "10115", "Berlin", "DE", phone="+49301234567")
    )
    return user


@pytest.fixture
def browser(client: Client, alice: User) -> Client:
    client.force_login(alice)
    return client


@pytest.fixture
def asked() -> Iterator[datetime]:
    """A moment after all that others have asked for. The job, which holds its lease, has got to it."""
    moment = datetime.now(UTC) + timedelta(minutes=2)
    with hold_lease("erasures"):
        save_position("erasures", floor_to_minute(moment).isoformat())
        yield moment


def make_done(user: User, **more: Any) -> Order:
    """An order that was paid, sent and delivered."""
    order = make_order(paid=True, user_id=user.pk, email=user.email, **more)
    for kind in ("packed", "shipped", "delivered"):
        order = transition_order(
            order, Transition(kind, actor="staff:0:Toni", at=datetime.now(UTC), note="rang twice")
        )
    return order


def exported(client: Client) -> dict[str, Any]:
    answer = client.post(reverse(EXPORT), {"password": PASSWORD})
    assert answer.status_code == 200
    found: dict[str, Any] = json.loads(b"".join(answer.streaming_content))  # type: ignore[attr-defined]
    return found


def everything_of(order_id: UUID) -> str:
    """All that any table says of an order, to look for a name in it."""
    order = existing(get_order(order_id))
    key = {
        "day": order.placed_at.astimezone(UTC).date(),
        "placed_at": order.placed_at,
        "order_id": order_id,
    }
    tickets = {column: BY_STATUS.one(status=column, **key) for column in BOARD_COLUMNS}
    assert any(tickets.values())
    return f"{order} {tickets}"


def test_s52_s86_the_export_holds_what_each_app_holds_and_no_secret(
    browser: Client, alice: User
) -> None:
    order = make_done(alice, notes="Ring at number 7")
    save_profile(alice.pk, "Alice", "+353112345")
    record_login(alice.pk, datetime.now(UTC))
    answer = browser.post(reverse(EXPORT), {"password": PASSWORD})
    assert answer["Content-Disposition"].startswith('attachment; filename="stoa-data-20')
    assert "no-store" in answer["Cache-Control"]
    assert answer["Content-Type"].startswith("application/json")
    text = b"".join(answer.streaming_content).decode()  # type: ignore[attr-defined]
    found = json.loads(text)
    # Every app that holds something about a person has its part in the file.
    assert {
        module.__name__.split(".")[0] for module in personal_data.list_privacy_modules()
    } <= set(found)
    assert found["accounts"]["profile"]["email"] == alice.email
    assert found["accounts"]["profile"]["phone"] == "+353112345"
    assert found["accounts"]["profile"]["last_signed_in_at"]
    assert found["accounts"]["addresses"][0]["phone"] == "+49301234567"
    assert len(found["accounts"]["sessions"]) == 1
    exported_order = found["orders"]["orders"][0]
    assert exported_order["number"] == order.number
    assert exported_order["total"] == {"amount": f"{order.total.amount:.2f}", "currency": "EUR"}
    assert exported_order["delivery_address"]["street"] == order.delivery_address.street
    assert exported_order["delivery_notes"] == "Ring at number 7"
    assert datetime.fromisoformat(exported_order["placed_at"]) == order.placed_at
    assert exported_order["payments"][0]["state"] == "captured"
    assert any(row["to"] == alice.email for row in found["mail"]["mails"])
    for secret in (
        str(alice.password),
        str(browser.session.session_key),
        "argon2",
        "rang twice",
        "Toni",
    ):
        assert secret not in text


def test_s52_s53_carts_with_all_that_is_in_them_and_a_place_in_those_of_others(
    browser: Client, alice: User
) -> None:
    own_cart = make_shared_cart(alice, "Birthday", mugs=3)
    ben = make_person(alice, own_cart, "editor")
    of_cem = make_shared_cart(cem := make_user("Cem"), "Garden")
    invited = sharing.invite_person(
        as_cart_user(cem), of_cem, alice.email, "viewer", datetime.now(UTC)
    )
    sharing.accept_invitation(invited.token, as_cart_user(alice), datetime.now(UTC))
    exported_cart = exported(browser)["cart"]
    (birthday,) = exported_cart["carts"]
    assert (birthday["name"], birthday["lines"][0]["quantity"]) == ("Birthday", 3)
    assert birthday["lines"][0]["price"] == {"amount": "12.00", "currency": "EUR"}
    assert [each["email"] for each in birthday["people"]] == [ben.email]
    (garden,) = exported_cart["carts_of_others"]
    assert (garden["name"], garden["shared_by"], garden["role"]) == ("Garden", "Cem", "viewer")

    request_erasure(alice.pk, datetime.now(UTC))
    erase_account(alice.pk, datetime.now(UTC))
    for person_id in (alice.pk, ben.pk):
        assert list_cart_names(person_id) == []
    assert CARTS.all(owner_id=alice.pk) == []
    assert SUMS.one(cart_id=own_cart) is None
    assert people.PEOPLE.all(cart_id=own_cart) == []
    # Another user's cart goes on, without her.
    assert list_cart_names(cem.pk) == ["Garden"]
    assert people.get_people(of_cem).people == ()


def test_s52_s73_an_invitation_to_the_address_is_told_and_goes_with_the_person(
    browser: Client, alice: User
) -> None:
    garden = make_shared_cart(cem := make_user("Cem"), "Garden")
    invited = sharing.invite_person(
        as_cart_user(cem), garden, alice.email.upper(), "viewer", datetime.now(UTC)
    )
    (told,) = exported(browser)["cart"]["invitations"]
    assert (told["name"], told["shared_by"], told["role"]) == ("Garden", "Cem", "viewer")
    request_erasure(alice.pk, datetime.now(UTC))
    erase_account(alice.pk, datetime.now(UTC))
    assert people.get_people(garden).invitations == ()
    assert get_row_count(garden) == 0
    assert people.list_inviting_cart_ids(alice.email) == []
    assert people.find_invitation(invited.token) == (garden, None)


@pytest.mark.parametrize("way", ["invitation", "order to another mailbox", "old address"])
def test_s73_mails_to_others_go_with_the_person_whom_they_name(alice: User, way: str) -> None:
    others, now = f"ben-{uuid4().hex}@example.com", datetime.now(UTC)
    if way == "invitation":
        cart_id = make_shared_cart(alice, "Birthday")
        sharing.invite_person(as_cart_user(alice), cart_id, others, "viewer", now)
        tell_about(cart_id)
    elif way == "order to another mailbox":
        order = make_order(paid=True, user_id=alice.pk, email=others)
        for kind in ("packed", "shipped", "delivered"):
            order = transition_order(order, Transition(kind, actor="system", at=now))
    else:
        others = alice.email
        change_email(alice, f"alice-{uuid4().hex}@example.com", now)
    assert list_recipient_mails(others)
    request_erasure(alice.pk, now)
    erase_account(alice.pk, now)
    assert list_recipient_mails(others) == []


def test_s52_whom_one_of_the_staff_worked_on_is_not_shown_to_who_knows_a_password_alone(
    client: Client,
) -> None:
    ann, about = make_user("Ann", role="admin"), f"ben-{uuid4().hex}@example.com"
    sign_in_staff(Client(), ann).post(reverse("adminpanel:person_find"), {"email": about})
    client.force_login(ann)
    found = exported(client)["accounts"]["log"]
    assert [entry["what"] for entry in found] == ["adminpanel:person_find"]
    assert about not in json.dumps(found)


def test_s52_another_persons_things_are_not_in_it(browser: Client, alice: User) -> None:
    ben = make_user("Ben")
    theirs = make_done(ben)
    text = json.dumps(exported(browser))
    assert theirs.number not in text
    assert ben.email not in text


@pytest.mark.parametrize("name", [EXPORT, ERASE])
def test_s52_s53_the_password_is_asked_for_again(browser: Client, alice: User, name: str) -> None:
    for wrong in ("", "not this one", "x" * 5000):
        answer = browser.post(reverse(name), {"password": wrong})
        assert answer.status_code == 422
        assert "There is a problem" in answer.content.decode()
    assert queries.get_user(alice.pk) == alice
    assert browser.get(reverse("accounts:profile")).status_code == 200
    # an address that was opened, not a submit
    assert browser.get(reverse(EXPORT)).status_code == 302


def test_s53_s86_erasing_leaves_numbers_and_sums_and_no_person(
    browser: Client, alice: User
) -> None:
    order = make_done(alice, notes="Ring at number 7")
    assert "Ring at number 7" in everything_of(order.order_id)
    page = browser.get(reverse(ERASE)).content.decode()
    assert "What is deleted" in page
    assert "What stays, and why" in page
    unsent = queue_mail(alice.pk, "news", alice.email, "erased", {}, datetime.now(UTC))
    (item,) = list_items(order)
    subscribe(Subscription(item.product_id, item.variant_id, alice.email), datetime.now(UTC))
    other = Client()
    other.force_login(alice)
    answer = browser.post(reverse(ERASE), {"password": PASSWORD})
    assert (answer.status_code, answer["Location"]) == (303, reverse("accounts:erased"))
    # At once: nobody is signed in, nobody can sign in.
    assert other.get(reverse("accounts:profile")).status_code == 302
    assert not Client().login(username=alice.email, password=PASSWORD)

    assert erase_account(alice.pk, datetime.now(UTC))
    assert queries.get_user(alice.pk) is None
    assert queries.find_user_by_email(alice.email) is None
    assert queries.USER_ID_BY_EMAIL.one(email=email_key(alice.email)) is None
    after = existing(get_order(order.order_id))
    assert (after.number, after.total, after.placed_at) == (
        order.number,
        order.total,
        order.placed_at,
    )
    assert list_items(after) == list_items(order)
    assert after.events[0].kind == "erased"
    text = everything_of(order.order_id)
    for word in (alice.email, "Ada Lovelace", "Torstraße", str(alice.pk), "rang twice", "number 7"):
        assert word not in text
    assert list_orders_by_year(alice.pk, range(2020, 2040)) == {}
    assert list_order_ids_by_email(alice.email) == []
    assert TERMS.all(user_id=alice.pk) == []
    assert list_subscriptions(alice.email) == []
    assert get_mail(unsent) is None
    # One last mail, which is the only one left.
    assert [row.subject for row in list_recipient_mails(alice.email)] == [
        "Your account at Stoa was deleted"
    ]
    # A user who registers with the address again is a new one.
    assert make_user("Alice", email=alice.email).pk != alice.pk


def test_s52_s53_what_was_ordered_as_a_guest_since_the_last_login_is_exported_and_erased_too(
    client: Client,
) -> None:
    email = f"alice-{uuid4().hex}@example.com"
    alice = register_user(email, "Alice", PASSWORD, datetime.now(UTC), verified=True)
    order = make_order(paid=True, email=email)
    for kind in ("packed", "shipped", "delivered"):
        order = transition_order(order, Transition(kind, actor="system", at=datetime.now(UTC)))
    client.force_login(alice)
    assert [each["number"] for each in exported(client)["orders"]["orders"]] == [order.number]
    # Another one, after the last look.
    later = make_order(paid=True, email=email)
    for kind in ("packed", "shipped", "delivered"):
        later = transition_order(later, Transition(kind, actor="system", at=datetime.now(UTC)))
    request_erasure(alice.pk, datetime.now(UTC))
    assert erase_account(alice.pk, datetime.now(UTC))
    for order_id in (order.order_id, later.order_id):
        assert email not in everything_of(order_id)


def test_s53_an_order_that_joined_a_moment_ago_is_erased_though_no_list_has_it_yet() -> None:
    email = f"alice-{uuid4().hex}@example.com"
    alice = register_user(email, "Alice", PASSWORD, datetime.now(UTC), verified=True)
    order = make_order(paid=True, email=email)
    for kind in ("packed", "shipped", "delivered"):
        order = transition_order(order, Transition(kind, actor="system", at=datetime.now(UTC)))
    request_erasure(alice.pk, datetime.now(UTC))
    with patch.object(guest_orders, "write_copies", side_effect=CassandraUnavailable("died here")):  # noqa: SIM117
        with pytest.raises(CassandraUnavailable):
            erase_account(alice.pk, datetime.now(UTC))
    assert list_orders_by_year(alice.pk, range(2020, 2040)) == {}
    assert erase_account(alice.pk, datetime.now(UTC))
    apply_effects(
        order.order_id, datetime.now(UTC)
    )  # what the worker does with the row that is left
    assert email not in everything_of(order.order_id)
    assert list_orders_by_year(alice.pk, range(2020, 2040)) == {}


def test_s53_links_and_cookies_open_an_erased_order_no_more(client: Client, alice: User) -> None:
    order = make_done(alice)
    link, page = (
        reverse("orders:track", args=[order_access_token(order.order_id)]),
        reverse("orders:detail", args=[order.number]),
    )
    client.get(link)
    client.force_login(alice)
    assert client.get(page).status_code == 200
    request_erasure(alice.pk, datetime.now(UTC))
    erase_account(alice.pk, datetime.now(UTC))
    assert client.get(page).status_code == 404
    assert client.get(link, follow=True).status_code == 404
    found = client.post(reverse("orders:lookup"), {"number": order.number, "email": alice.email})
    assert found.status_code == 422


def test_s53_staff_still_see_the_sale(alice: User) -> None:
    order = make_done(alice)
    request_erasure(alice.pk, datetime.now(UTC))
    erase_account(alice.pk, datetime.now(UTC))
    erased = existing(get_order(order.order_id))
    found = get_order_page(erased)
    assert (found.order.total, found.items) == (order.total, list_items(order))
    assert staff_history(found.order)[0].label == "Customer data deleted"


def test_s53_not_while_an_order_is_under_way(browser: Client, alice: User) -> None:
    order = make_order(paid=True, user_id=alice.pk, email=alice.email)
    for answer in (
        browser.get(reverse(ERASE)),
        browser.post(reverse(ERASE), {"password": PASSWORD}),
    ):
        text = answer.content.decode()
        assert order.number in text
        assert "We can’t delete your account yet" in text
        assert "Delete my account" not in text
    assert queries.get_user(alice.pk) == alice
    # One that comes in between is waited for: it is sent to the address that it was placed with.
    request_erasure(alice.pk, datetime.now(UTC))
    with pytest.raises(ErasureRefused, match=order.number):
        erase_account(alice.pk, datetime.now(UTC))
    assert queries.get_user(alice.pk) is not None
    for kind in ("packed", "shipped", "delivered"):
        order = transition_order(order, Transition(kind, actor="system", at=datetime.now(UTC)))
    assert erase_account(alice.pk, datetime.now(UTC))


@pytest.mark.parametrize("method", ["transfer", "cod", "card"])
def test_s73_an_order_given_up_waits_for_a_bank_only_where_one_decides(
    alice: User, method: str
) -> None:
    product, now = make_product(), datetime.now(UTC)
    make_stock(5, product_id=product.product_id, variant_id=product.variants[0].variant_id)
    draft = make_draft((product, 1), user_id=alice.pk, email=alice.email)
    order = place_order(replace(draft, payment_method=method), now)
    start_payment(order, "http://testserver", now)
    order = get_order(order.order_id) or order
    order = transition_order(order, Transition("cancelled", actor="shopper", at=now))
    assert bool(list_erasure_obstacles(person_from_user(alice))) == (method == "card")
    request_erasure(alice.pk, datetime.now(UTC))
    if method == "card":
        with pytest.raises(ErasureRefused, match=order.number):
            erase_account(alice.pk, datetime.now(UTC))
    else:
        assert erase_account(alice.pk, datetime.now(UTC))


def test_s53_not_while_something_of_an_order_is_on_its_way_back(alice: User) -> None:
    order = make_order(paid=True, user_id=alice.pk, email=alice.email)
    for kind in ("packed", "shipped", "delivered"):
        order = transition_order(order, Transition(kind, actor="system", at=datetime.now(UTC)))
    order = request_return(order, {1: 1}, "Too small", actor="shopper", now=datetime.now(UTC))
    request_erasure(alice.pk, datetime.now(UTC))
    with pytest.raises(ErasureRefused, match=order.number):
        erase_account(alice.pk, datetime.now(UTC))
    order = reject_return(order, "1", actor="Ann", now=datetime.now(UTC), note="It was worn.")
    assert order.state == "confirmed"
    assert erase_account(alice.pk, datetime.now(UTC))


@pytest.mark.parametrize("kind", ["delivered", "closed"])
def test_s53_not_while_money_of_theirs_is_owed(kind: str) -> None:
    order = paper_orders.apply_event(
        paper_orders.make_paid_order(paper_orders.make_items(1)), "shipped"
    )
    for each in ("delivered", "closed")[: 1 + (kind == "closed")]:
        order = paper_orders.apply_event(order, each)
    assert not _is_under_way(order, datetime.now(UTC))
    order = paper_orders.apply_event(
        order, "refund_owed", refund="1", amount=500, lines={}, reason="scratched"
    )
    assert _is_under_way(order, datetime.now(UTC))


@pytest.mark.parametrize(
    ("more", "words"), [({"role": "admin"}, "You work here"), ({"demo": True}, "demo login")]
)
def test_s53_the_shop_never_loses_its_last_admin_nor_the_demo_shop_its_logins(
    client: Client, more: dict[str, Any], words: str
) -> None:
    user = make_user("Kim", **more)
    client.force_login(user)
    assert words in client.post(reverse(ERASE), {"password": PASSWORD}).content.decode()
    with pytest.raises(NoSuchUser):
        request_erasure(user.pk, datetime.now(UTC))
    assert Client().login(username=user.email, password=PASSWORD)


def test_s53_the_worker_finishes_what_a_crash_left_at_any_step(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    order = make_done(alice)
    asked = datetime.now(UTC)
    request_erasure(alice.pk, asked)
    # Each statement of the erasure in turn is the last before the process dies.
    steps = 0
    while True:
        left = Countdown(steps)
        with monkeypatch.context() as dying:
            left.count(dying)
            try:
                erase_account(alice.pk, asked)
            except CassandraUnavailable:
                steps += 1
                continue
        break
    assert steps > 10
    assert queries.get_user(alice.pk) is None
    assert queries.USER_ID_BY_EMAIL.one(email=email_key(alice.email)) is None
    after = existing(get_order(order.order_id))
    assert [event.kind for event in after.events].count("erased") == 1
    assert [row.subject for row in list_recipient_mails(alice.email)] == [
        "Your account at Stoa was deleted"
    ]


class Countdown:
    """Lets so many writes through, then none: as a process that dies there."""

    def __init__(self, writes: int) -> None:
        self.left = writes

    def count(self, patching: pytest.MonkeyPatch) -> None:
        from cassandra_db import statements

        def counted(real: Any) -> Any:
            def run(*args: Any, **kwargs: Any) -> Any:
                if self.left == 0:
                    raise CassandraUnavailable("died here")
                self.left -= 1
                return real(*args, **kwargs)

            return run

        patching.setattr(statements.Statement, "run", counted(statements.Statement.run))
        patching.setattr(statements, "apply_with_retries", counted(statements.apply_with_retries))


def test_s53_the_job_waits_a_while_and_begins_where_it_was(alice: User, asked: datetime) -> None:
    request_erasure(alice.pk, asked)
    jobs.erase_accounts(asked + timedelta(minutes=3))
    assert queries.get_user(alice.pk) is not None
    assert jobs.erase_accounts(asked + timedelta(minutes=5)) == "1 account erased"
    assert queries.get_user(alice.pk) is None
    assert jobs.erase_accounts(asked + timedelta(minutes=5)) == ""


def test_s53_who_has_to_wait_has_another_turn_and_keeps_nobody_from_theirs(
    alice: User, asked: datetime
) -> None:
    ben = make_user("Ben")
    order = make_order(paid=True, user_id=alice.pk, email=alice.email)
    request_erasure(alice.pk, asked)
    request_erasure(ben.pk, asked)
    jobs.erase_accounts(asked + timedelta(minutes=5))
    assert (queries.get_user(alice.pk) is None, queries.get_user(ben.pk) is None) == (False, True)
    for kind in ("packed", "shipped", "delivered"):
        order = transition_order(order, Transition(kind, actor="system", at=datetime.now(UTC)))
    jobs.erase_accounts(asked + timedelta(minutes=5) + RETRY_AFTER + timedelta(minutes=5))
    assert queries.get_user(alice.pk) is None


def test_s53_a_row_of_the_job_without_a_decision_erases_nobody(alice: User) -> None:
    assert not erase_account(alice.pk, datetime.now(UTC))
    assert queries.get_user(alice.pk) == alice

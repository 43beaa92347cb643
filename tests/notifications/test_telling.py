"""Telling members what happened: once for each event, where they want it, whatever is repeated or killed."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from time import monotonic
from unittest.mock import patch
from uuid import uuid4

import pytest
import time_machine
from django.test import Client
from django.urls import reverse

from accounts.models import User
from accounts.operations import save_notification_choices
from accounts.operations.erasure import person_from_user
from accounts.queries import get_user
from cart.operations import sharing
from cart.people import get_people
from cassandra_db import current_time
from catalogue.entities import Product
from catalogue.operations import change_product_status
from catalogue.queries import get_product_at_quorum
from inventory.operations import copy_stock
from moderation.states import PUBLISHED
from notifications import operations, privacy, queries
from notifications.entities import DIGEST, MAIL, NOTHING, PAGE, RETENTION, News
from notifications.kinds import get_kinds
from notifications.links import unsubscribe_url
from orders import operations as orders
from orders.lifecycle.entities import Order
from orders.notifications import find_kind
from questions.operations import answer_question, ask_question, refuse_text
from reviews.operations import publish_review, refuse_review
from stock_alerts.operations import notify_subscribers, subscribe
from stock_alerts.queries import Subscription
from tests.accounts.mails import list_mails_to
from tests.cart.shared_carts import as_cart_user, make_person, make_shared_cart
from tests.factories import make_order, make_product, make_stock, make_user
from tests.notifications.telling import TTLS, list_told, list_words, make_reviewed, tell_about
from tests.orders.crashes import first_and_last_writes, kill_at_write, record_writes
from tests.orders.paper_orders import apply_event, make_items, make_paid_order
from tests.reads import existing
from tests.reviews.writes import write
from tests.shards import SingleItemShard

ANN = "staff:1:Ann"


def choose(user: User, **choices: str) -> None:
    save_notification_choices(user.pk, choices)


def make_news(user: User, product: Product, at: datetime | None = None, kind: str = "") -> News:
    """An event of a kind whose mail the notification's worker sends."""
    ids = {"product": product.product_id.hex}
    make_reviewed(user.pk, product.product_id)
    return News(kind or "review_published", user.pk, at or current_time(), ids)


def send_order(order: Order, *, delivered: bool = False) -> Order:
    order = orders.pack_parcel(order, "berlin", {1: 1}, actor=ANN, now=datetime.now(UTC))
    parcel = order.parcels()[-1].parcel_id
    order = orders.ship_parcel(order, parcel, "DHL", "", actor=ANN, now=datetime.now(UTC))
    if delivered:
        order = orders.mark_parcel_delivered(order, parcel, actor="system", now=datetime.now(UTC))
    return order


def subjects(user: User) -> list[str]:
    return [mail.subject for mail in list_mails_to(user.email)]


def test_x347_an_event_is_one_row_whatever_is_repeated_and_it_expires_with_the_event() -> None:
    user, product = make_user(), make_product("Jug")
    at = current_time() - timedelta(days=3)
    news = make_news(user, product, at)
    assert [operations.tell([news, news]), operations.tell([news])] == [1, 0]
    with patch.object(operations, "_start_told", lambda _: queries.prefetch_new_count(uuid4())):
        operations.tell([news])  # another worker, which found none yet
    (row,) = TTLS.all(user_id=user.pk)
    assert row.notification_id == news.notification_id
    assert row.written == int(at.timestamp() * 1_000_000)
    left = (at + RETENTION - current_time()).total_seconds()
    assert left - 60 < row.seconds <= left + 1
    assert operations.tell([make_news(user, product, current_time() - RETENTION)]) == 0
    assert list_words(user.pk) == ["Your review of Jug is published"]


def test_x347_a_worker_that_is_killed_at_any_write_tells_and_mails_once() -> None:
    product = make_product("Jug")
    for choice in (MAIL, DIGEST):
        probe = make_user()
        choose(probe, review_published=choice)
        writes = first_and_last_writes(
            record_writes(lambda: operations.tell([make_news(probe, product)]))  # noqa: B023
        )
        assert len(writes) >= 2
        for target in writes:
            user = make_user()
            choose(user, review_published=choice)
            news = make_news(user, product)
            assert kill_at_write(target, lambda: operations.tell([news])) or target  # noqa: B023
            operations.tell([news])
            operations.tell([news])
            assert len(list_told(user.pk)) == 1
            assert len(subjects(user)) == (choice == MAIL)
            due = operations.find_next_digest(current_time())
            assert operations.send_digest(user.pk, due) is (choice == DIGEST)


def test_x347_two_members_are_told_of_one_event() -> None:
    product, users, at = make_product("Jug"), [make_user(), make_user()], current_time()
    assert operations.tell([make_news(user, product, at) for user in users]) == 2
    assert [list_words(user.pk) for user in users] == [["Your review of Jug is published"]] * 2


def test_x348_a_members_order_is_told_step_by_step_and_a_guests_to_nobody() -> None:
    user = make_user()
    order = send_order(make_order(user_id=user.pk, email=user.email, paid=True), delivered=True)
    assert tell_about(order.order_id) == 3
    orders.apply_effects(order.order_id, current_time())
    assert tell_about(order.order_id) == 0
    number = order.number
    assert list_words(user.pk) == [
        f"Order {number} is confirmed",
        f"Order {number} is on its way",
        f"Order {number} has arrived",
    ]
    assert {each.line.path for each in list_told(user.pk)} == {f"/orders/{number}/"}
    assert tell_about(make_order(paid=True).order_id) == 0


def test_x348_an_order_that_is_picked_up_is_ready_and_a_return_is_answered() -> None:
    packed = apply_event(
        make_paid_order(make_items(1)), "packed", parcel="1", warehouse="berlin", lines={"1": 1}
    )
    sent = apply_event(packed, "shipped", parcel="1", carrier="", tracking="")
    picked = replace(sent, method=replace(sent.method, carrier=""))
    event = picked.events[0]
    for kind, told in (
        ("shipped", "order_ready"),
        ("refunded", "order_refunded"),
        ("return_approved", "return_answered"),
        ("return_rejected", "return_answered"),
        ("return_received", ""),
        ("captured", ""),
    ):
        assert find_kind(picked, replace(event, kind=kind)) == told


def test_x349_a_kind_is_told_where_the_member_wants_it() -> None:
    user, product = make_user(), make_product("Jug")
    mails = {}
    for hours, choice in enumerate((MAIL, DIGEST, PAGE, NOTHING), start=1):
        choose(user, review_published=choice)
        before = len(subjects(user))
        told = operations.tell([make_news(user, product, current_time() - timedelta(hours=hours))])
        mails[choice] = (told, len(subjects(user)) - before)
    assert mails == {MAIL: (1, 1), DIGEST: (1, 0), PAGE: (1, 0), NOTHING: (0, 0)}
    (mail,) = list_mails_to(user.email)
    assert mail.subject == "Review published"
    assert "Your review of Jug is published." in mail.text
    assert mail.unsubscribe_url in mail.text


def test_x349_an_orders_own_mails_follow_the_choice_but_confirmation_and_refund_do_not() -> None:
    user = make_user()
    choose(user, order_shipped=PAGE, order_paid=NOTHING, order_delivered=MAIL)
    order = send_order(make_order(user_id=user.pk, email=user.email, paid=True), delivered=True)
    assert [each.partition(":")[0] for each in subjects(user)] == [
        f"Your order {order.number} at Stoa",
        "Your parcel has arrived",
    ]
    first, arrived = list_mails_to(user.email)
    assert not first.unsubscribe_url
    assert arrived.unsubscribe_url in arrived.text
    tell_about(order.order_id)
    assert list_words(user.pk) == [
        f"Order {order.number} is on its way",
        f"Order {order.number} has arrived",
    ]
    kinds = get_kinds()
    assert {name for name, kind in kinds.items() if kind.is_always_mailed} == {
        "order_paid",
        "order_refunded",
    }
    assert kinds["order_paid"].choices == (PAGE, NOTHING)


def test_x350_the_button_of_a_mail_ends_the_mails_of_its_kind_alone() -> None:
    user, client = make_user(), Client(enforce_csrf_checks=True)
    choose(user, order_shipped=MAIL, order_delivered=MAIL)
    path = unsubscribe_url(user.pk, "order_shipped").partition("8000")[2]
    page = client.get(path).content.decode()
    assert "Order on its way" in page
    assert client.get(f"{path[:-5]}AAAA/").status_code == 410
    for _ in range(2):
        answer = client.post(path, {"List-Unsubscribe": "One-Click"})
        assert (answer.status_code, answer.content.decode()) == (200, "You’ve unsubscribed.\n")
    chosen = existing(get_user(user.pk)).notification_choices
    assert chosen == {"order_shipped": PAGE, "order_delivered": MAIL}


def test_x351_a_digest_is_one_mail_of_a_day_and_none_if_it_is_empty() -> None:
    user, jug, cup = make_user(), make_product("Jug"), make_product("Cup")
    choose(user, review_published=DIGEST)
    now = current_time()
    for product in (jug, cup):
        operations.tell([make_news(user, product, now)])
    due = operations.find_next_digest(now)
    rows = operations.DIGESTS.list_between(due, due)
    assert [row.digest_at for row in rows if row.user_id == user.pk] == [due]
    change_product_status(existing(get_product_at_quorum(cup.product_id)), "archived", now)
    assert [operations.send_digest(user.pk, due) for _ in range(2)] == [True, True]
    assert not operations.send_digest(user.pk, due + timedelta(days=1))
    (mail,) = list_mails_to(user.email)
    assert mail.subject == "1 piece of news for you"
    assert "Your review of Jug is published" in mail.text
    assert "Cup" not in mail.text
    path = mail.unsubscribe_url.partition("8000")[2]
    assert "Review published" in Client().get(path).content.decode()


def test_x351_the_digest_comes_at_its_hour_in_the_shops_zone() -> None:
    for now, due in (
        (datetime(2026, 7, 1, 6, 59, tzinfo=UTC), datetime(2026, 7, 1, 7, tzinfo=UTC)),
        (datetime(2026, 7, 1, 7, 0, tzinfo=UTC), datetime(2026, 7, 2, 7, tzinfo=UTC)),
        (datetime(2026, 12, 1, 7, 30, tzinfo=UTC), datetime(2026, 12, 1, 8, tzinfo=UTC)),
    ):
        assert operations.find_next_digest(now) == due


def test_x348_reviews_and_questions_tell_their_writers() -> None:
    ada, ben, product = make_user("Ada"), make_user("Ben"), make_product("Jug")
    review = write(product.product_id, user_id=ada.pk, held_for="words")
    tell_about(product.product_id)
    assert not list_told(ada.pk)
    ids = product.product_id, ada.pk
    publish_review(*ids, seen=review.version, change_id=uuid4(), now=current_time())
    question = ask_question(
        product.product_id,
        ada.pk,
        "Heavy?",
        name="A",
        held_for="",
        change_id=uuid4(),
        now=current_time(),
    )
    answer = answer_question(
        question, ben.pk, "No.", name="B", held_for="", change_id=uuid4(), now=current_time()
    )
    assert tell_about(product.product_id) == 2
    refuse_text(answer, "rude", change_id=uuid4(), now=current_time())
    refuse_review(*ids, "rude", seen=review.version + 1, change_id=uuid4(), now=current_time())
    assert tell_about(product.product_id) == 2
    assert list_words(ada.pk) == [
        "Your review of Jug is published",
        "News about a question that is gone",  # its answer was refused since
        "We haven’t published your review of Jug",
    ]
    assert list_words(ben.pk) == ["We haven’t published your text about Jug"]
    assert answer.state == PUBLISHED
    for user, mails in ((ada, 2), (ben, 1)):
        found = list_mails_to(user.email)
        assert len(found) == mails
        assert all(mail.unsubscribe_url in mail.text for mail in found)


def test_x348_a_member_who_waits_for_a_product_is_told_and_one_who_wants_no_mail_gets_none() -> (
    None
):
    product = make_product("Lamp", stock=0)
    variant = product.variants[0].variant_id
    ada, ben = make_user("Ada"), make_user("Ben")
    choose(ben, back_in_stock=PAGE)
    for user in (ada, ben):
        subscription = Subscription(product.product_id, variant, user.email)
        subscribe(subscription, current_time(), user.pk)
    make_stock(3, product_id=product.product_id, variant_id=variant)
    copy_stock(product.product_id)
    shard = SingleItemShard("back in stock", item_id=variant)
    with (
        patch("stock_alerts.operations.queue_mail", side_effect=RuntimeError),
        pytest.raises(RuntimeError),
    ):
        notify_subscribers(current_time(), shard)
    notify_subscribers(current_time(), shard)
    for user, mails in ((ada, 1), (ben, 0)):
        assert list_words(user.pk) == ["Lamp is back in stock"]
        assert len(subjects(user)) == mails


def test_x348_those_who_share_a_cart_are_told_of_a_change_once_an_hour(mug: Product) -> None:
    owner = make_user("Ann")
    cart_id = make_shared_cart(owner)
    ben, client = make_person(owner, cart_id, "editor"), Client()
    tell_about(cart_id)
    client.force_login(owner)

    def add() -> None:
        body = {"variant": mug.variants[0].sku, "quantity": "1", "operation": str(uuid4())}
        assert client.post(reverse("cart:add"), body).status_code == 303

    for _ in range(3):
        add()
    assert tell_about(cart_id) == 1
    assert list_words(ben.pk)[-1] == "Somebody changed the shared cart “Gifts for Mom”"
    assert not list_told(owner.pk)
    with patch("cart.operations.news._is_remembered", return_value=False):
        add()
    assert tell_about(cart_id) == 0
    sharing.remove_person(owner.pk, cart_id, ben.pk)
    assert list_words(ben.pk)[-1] == "A shared cart that you no longer have was changed"


def test_x348_who_shares_a_cart_since_its_last_change_is_told_of_the_next(mug: Product) -> None:
    owner = make_user("Ann")
    cart_id, client = make_shared_cart(owner), Client()
    client.force_login(owner)

    def add() -> None:
        body = {"variant": mug.variants[0].sku, "quantity": "1", "operation": str(uuid4())}
        assert client.post(reverse("cart:add"), body).status_code == 303

    add()
    assert tell_about(cart_id) == 0
    ben = make_person(owner, cart_id, "editor")
    tell_about(cart_id)
    with patch("cart.operations.news.monotonic", lambda: monotonic() + 301):
        add()
    assert tell_about(cart_id) == 1
    assert list_words(ben.pk)[-1] == "Somebody changed the shared cart “Gifts for Mom”"


def test_x348_a_change_that_was_not_made_is_told_to_nobody() -> None:
    owner = make_user("Ann")
    cart_id = make_shared_cart(owner)
    ben = make_person(owner, cart_id, "editor")
    tell_about(cart_id)
    later = current_time() + timedelta(minutes=1)
    with time_machine.travel(later, tick=True):
        operations.announce("cart", cart_id, f"changed {owner.pk}")
        tell_about(cart_id)
        announced = operations.ANNOUNCED.list_between(later - timedelta(minutes=1), later)
        assert [row for row in announced if row.subject_id == cart_id]
    with time_machine.travel(later + timedelta(minutes=3), tick=True):
        assert tell_about(cart_id) == 0
        announced = operations.ANNOUNCED.list_between(later - timedelta(minutes=1), later)
        assert not [row for row in announced if row.subject_id == cart_id]
    assert not list_told(ben.pk)


def test_x348_an_invitation_is_mailed_by_the_worker_and_told_to_a_member() -> None:
    owner, ben, eve = make_user("Ann"), make_user("Ben"), f"eve-{uuid4().hex}@example.com"
    cem = make_user("Cem")
    choose(cem, cart_invitation=PAGE)
    cart_id = make_shared_cart(owner, mugs=0)
    for email in (ben.email, cem.email, eve):
        sharing.invite_person(as_cart_user(owner), cart_id, email, "viewer", current_time())
        assert not list_mails_to(email)
    assert tell_about(cart_id) == 2
    assert [len(list_mails_to(email)) for email in (ben.email, cem.email, eve)] == [1, 0, 1]
    assert [bool(list_mails_to(email)[0].unsubscribe_url) for email in (ben.email, eve)] == [
        True,
        False,
    ]
    (told,) = list_told(ben.pk)
    assert told.line.text == "You’re invited to share the cart “Gifts for Mom”"
    sharing.accept_invitation(
        get_people(cart_id).invitations[0].token, as_cart_user(ben), current_time()
    )
    assert list_words(ben.pk) == ["An invitation to a cart that is used or over"]


def test_x352_export_has_what_was_told_and_an_erased_member_is_told_nothing() -> None:
    user, product = make_user(), make_product("Jug")
    news = make_news(user, product)
    operations.tell([news])
    choose(user, review_published=PAGE)
    person = person_from_user(existing(get_user(user.pk)))
    (exported,) = privacy.export_personal_data(person)["notifications"]
    assert exported["text"] == "Your review of Jug is published"
    privacy.erase_personal_data(person, current_time())
    operations.tell([news])  # a repeat of an event of before
    assert not list_told(user.pk)
    gone = News(news.kind, uuid4(), current_time(), news.ids)
    assert operations.tell([gone]) == 0

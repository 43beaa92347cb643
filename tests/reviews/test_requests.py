"""Mails that ask for a review: to whom, once, ended by a link; and what a guest writes by one."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest.mock import patch
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse

from accounts.operations import register_user
from cassandra_db import CassandraUnavailable, current_time
from catalogue.queries import get_products
from jobs.leases import get_position, hold_lease, save_position
from mail.messages import build_message
from mail.operations import GETS_NO_MAIL, address_bucket, email_key
from mail.queries import derive_mail_id, get_mail
from moderation.rules import ReviewRules
from moderation.states import PUBLISHED, REFUSED, WITHDRAWN
from orders.lifecycle.entities import Order
from orders.operations import (
    anonymize_order,
    mark_parcel_delivered,
    pack_parcel,
    request_return,
    ship_parcel,
)
from orders.operations.effects import apply_effects
from orders.queries import iterate_delivered, list_items
from reviews import jobs, links, operations, queries, requests
from reviews.entities import Review
from reviews.privacy import erase_personal_data, export_personal_data
from tests.factories import make_order, make_user
from tests.reads import existing
from tests.reviews.writes import write
from web.personal_data import DataSubject


def deliver(order: Order, at: datetime | None = None) -> Order:
    now = at or current_time()
    packed = pack_parcel(order, "berlin", {1: 1}, actor="staff", now=now)
    sent = ship_parcel(packed, "1", actor="staff", now=now)
    return mark_parcel_delivered(sent, "1", actor="staff", now=now)


def make_delivered(**given: Any) -> Order:
    email = given.pop("email", f"{uuid4().hex}@example.com")
    return deliver(make_order(paid=True, email=email, **given))


def mail_of(order: Order) -> Any:
    return get_mail(derive_mail_id(order.order_id, "review"))


def links_in(order: Order, part: str) -> list[str]:
    return re.findall(rf"https?://[^/\s]+(/[^\s]*{part}[^\s]*)", mail_of(order).text)


def typed(**fields: Any) -> dict[str, Any]:
    return {
        "stars": "4",
        "title": "Good jug",
        "body": f"It pours without a drop beside it. {uuid4().hex}",
        "version": "0",
        "operation": str(uuid4()),
    } | fields


def find_review(order: Order) -> Review | None:
    (item,) = list_items(order)
    return queries.find_own_review(item.product_id, queries.guest_ids(order.email))


def test_x233_buyers_are_asked_once_two_weeks_after_all_has_arrived() -> None:
    now = current_time()
    order = make_delivered()
    assert order.order_id in set(iterate_delivered(now.date()))
    with hold_lease(jobs.REQUESTS):
        save_position(jobs.REQUESTS, requests.floor_to_day(now).isoformat())
        assert jobs.ask_buyers(now + timedelta(days=13)) == ""
        assert mail_of(order) is None
        # Cut off within the day: the next run does it again.
        with (
            patch.object(jobs, "save_position", side_effect=CassandraUnavailable("cut off")),
            pytest.raises(CassandraUnavailable),
        ):
            jobs.ask_buyers(now + timedelta(days=14))
        first = mail_of(order)
        assert first.text
        assert get_position(jobs.REQUESTS) == requests.floor_to_day(now).isoformat()
    assert not requests.ask_for_review(order.order_id, now + timedelta(days=14))
    assert mail_of(order).queued_at == first.queued_at
    (stop,) = links_in(order, "stop")
    header = build_message(first, None).message()["List-Unsubscribe"]
    assert header.startswith("<http")
    assert header.endswith(f"{stop}>")


def test_x233_a_crash_after_the_delivery_loses_no_day() -> None:
    order = make_order(paid=True, email=f"{uuid4().hex}@example.com")
    with patch(
        "orders.operations.effects.note_delivery", side_effect=CassandraUnavailable("crash")
    ):
        deliver(order)
    today = datetime.now(UTC).date()
    assert order.order_id not in set(iterate_delivered(today))
    apply_effects(order.order_id, current_time())
    assert order.order_id in set(iterate_delivered(today))


def test_x234_whoever_wants_or_gets_no_mail_is_not_asked(client: Client) -> None:
    now = current_time()
    returned, dead, erased, stopped, waiting, silent = (
        *(make_delivered() for _each in range(4)),
        make_order(paid=True, email=f"{uuid4().hex}@example.com"),
        make_delivered(),
    )
    request_return(returned, {1: 1}, reason="broken", actor="customer", now=now)
    GETS_NO_MAIL.run(
        bucket=address_bucket(dead.email),
        email=email_key(dead.email),
        bounced_at=now,
        failure="no such mailbox",
        mail_id=uuid4(),
    )
    anonymize_order(erased, now)
    page = f"/reviews/stop/{links.stop_token(stopped.email.upper())}/"
    assert "Unsubscribe" in client.get(page).content.decode()
    assert queries.get_stop_time(stopped.email) is None  # a mail program has only looked
    assert client.post(page).status_code in (302, 303)
    assert queries.get_stop_time(stopped.email)
    assert client.get("/reviews/stop/forged/").status_code == 410
    for order in (returned, dead, erased, stopped, waiting):
        assert not requests.ask_for_review(order.order_id, now)
        assert mail_of(order) is None
    with patch.object(requests, "get_review_rules", return_value=ReviewRules(asks_buyers=False)):
        assert requests.ask_for_reviews_of(now.date(), now) == 0
    assert mail_of(silent) is None


def test_x235_a_member_is_led_to_the_form_and_not_asked_about_what_is_reviewed() -> None:
    alice, now = make_user("Alice Liddell"), current_time()
    order = make_delivered(user_id=alice.user_id, email=alice.email)
    assert requests.ask_for_review(order.order_id, now)
    assert links_in(order, "account/reviews/")
    other = make_delivered(user_id=alice.user_id, email=alice.email)
    (item,) = list_items(other)
    write(item.product_id, 5, alice.user_id)
    assert not requests.ask_for_review(other.order_id, now)


def test_x236_a_guest_reviews_by_the_mails_link_once_and_verified(client: Client) -> None:
    order, now = make_delivered(), current_time()
    assert requests.ask_for_review(order.order_id, now)
    (page,) = [each for each in links_in(order, "reviews/") if "stop" not in each]
    assert "Publish review" in client.get(page).content.decode()
    bad = client.post(page, typed(stars=""))
    assert (bad.status_code, "Good jug" in bad.content.decode()) == (422, True)
    form = typed()
    for _twice in range(2):
        assert client.post(page, form).status_code in (302, 303)
    review = existing(find_review(order))
    assert (review.version, review.state, review.verified) == (1, PUBLISHED, True)
    assert review.order_id == order.order_id
    # Another order of the same mailbox has the same review; another mailbox's has none.
    assert client.post(page, typed(stars="1")).status_code == 409
    assert queries.guest_ids(order.email.upper()) == queries.guest_ids(order.email)
    assert client.get(page.replace("/reviews/", "/reviews/x", 1)).status_code == 410
    foreign = make_delivered()
    elsewhere = page.replace(links.guest_token(order.order_id), "")  # the slug stands at its end
    slug = elsewhere.rstrip("/").rpartition("/")[2]
    assert client.get(links.guest_url(foreign.order_id, slug)).status_code == 404
    refused = operations.refuse_review(
        *(review.product_id, review.user_id, "Too short."), seen=1, change_id=uuid4(), now=now
    )
    assert refused.state == REFUSED
    told = get_mail(
        operations.uuid5(
            operations.uuid5(review.review_id, review.user_id.hex), f"refused:{refused.version}"
        )
    )
    assert told
    assert told.recipient == order.email
    assert slug in told.text
    assert "Too short." in client.get(page).content.decode()
    withdrawal = {"version": "2", "operation": str(uuid4())}
    assert client.post(f"{page}withdraw/", withdrawal).status_code in (302, 303)
    after = existing(find_review(order))
    assert after.state == WITHDRAWN


def test_x236_who_has_an_account_by_now_reviews_with_it(client: Client) -> None:
    order = make_delivered()
    (item,) = list_items(order)
    assert requests.ask_for_review(order.order_id, current_time())
    (page,) = [each for each in links_in(order, "reviews/") if "stop" not in each]
    assert client.post(page, typed()).status_code in (302, 303)
    gina = register_user(order.email, "Gina Guest", None, current_time(), verified=True)
    answer = client.get(page)
    assert answer.status_code == 302
    client.force_login(gina)
    # The guest's review is hers: she changes it, and has no second one.
    shown = client.get(answer["Location"])
    assert "Save review" in shown.content.decode()
    form = typed(version="1", stars="2")
    assert client.post(answer["Location"], form).status_code in (302, 303)
    assert queries.get_rating_at_quorum(item.product_id).counts == (0, 1, 0, 0, 0)
    # Export and erasure find it by the mailbox.
    person = DataSubject(gina.user_id, order.email, gina.name)
    operations.stop_requests(order.email, current_time())
    exported = export_personal_data(person)
    assert [each["stars"] for each in exported["reviews"]] == [2]
    assert exported["asks_for_no_review_mails_since"]
    erase_personal_data(person, current_time())
    assert export_personal_data(person) == {"asks_for_no_review_mails_since": None, "reviews": []}
    (left,) = queries.REVIEWS.all(product_id=item.product_id)
    assert (left.name or "", left.order_id) == ("", None)
    assert queries.get_rating_at_quorum(item.product_id).count == 1


def test_x236_an_account_of_an_unproved_address_has_nothing_of_its_guest(client: Client) -> None:
    order = make_delivered()
    (item,) = list_items(order)
    assert requests.ask_for_review(order.order_id, current_time())
    (page,) = [each for each in links_in(order, "reviews/") if "stop" not in each]
    assert client.post(page, typed(title="Mine alone")).status_code in (302, 303)
    mallory, other = make_user("Mallory", email=order.email), Client()
    other.force_login(mallory)
    product = get_products([item.product_id])[item.product_id]
    shown = other.get(reverse("reviews:write", args=[product.slug])).content.decode()
    assert "Mine alone" not in shown
    operations.stop_requests(order.email, current_time())
    person = DataSubject(mallory.user_id, order.email, mallory.name)
    assert export_personal_data(person) == {"asks_for_no_review_mails_since": None, "reviews": []}
    erase_personal_data(person, current_time())
    assert queries.get_stop_time(order.email)
    found = existing(find_review(order))
    assert (found.title, found.state) == ("Mine alone", PUBLISHED)
    # And the guest still changes it by the link.
    assert "Mine alone" in client.get(page).content.decode()

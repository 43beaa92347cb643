"""Watching prices: the button, the list, the limit; who is told of a lower price, and when a watch ends."""

from dataclasses import replace
from datetime import timedelta
from typing import Any
from unittest.mock import patch
from uuid import UUID, uuid4

import pytest
from django.test import Client
from django.urls import reverse
from moneyed import EUR, Money

from accounts.models import User
from accounts.operations.erasure import person_from_user
from accounts.queries import get_user
from cassandra_db import current_time, session, statements
from catalogue.entities import Product
from catalogue.operations import change_product, change_product_status
from catalogue.queries import get_product_at_quorum
from price_alerts import operations, privacy, queries
from price_alerts.errors import TooManyWatched
from price_alerts.operations import follow_product, stop_watching, watch_price
from tests.accounts.mails import list_mails_to
from tests.factories import make_product, make_user
from tests.lost_answers import AnswerLosingSession
from tests.notifications.telling import list_told, list_words
from tests.orders.crashes import first_and_last_writes, kill_at_write, record_writes
from tests.reads import existing
from tests.storefront.page_parts import page_of, rounds, texts, tree
from tests.threads import map_at_once

AGO = timedelta(minutes=5)


def set_price(product: Product, amount: str) -> Product:
    def change(found: Product) -> Product:
        variants = (replace(each, price=Money(amount, EUR)) for each in found.variants)
        return replace(found, variants=tuple(variants))

    return change_product(product.product_id, change, current_time())


def watch(product: Product, *users: User) -> None:
    for user in users:
        watch_price(user.pk, product.product_id, current_time() - AGO)


def follow(product: Product, most: int = 1000) -> tuple[int, bool]:
    return follow_product(product.product_id, current_time(), most)


def watched_ids(user: User) -> list[UUID]:
    return [row.product_id for row in queries.list_watched(user.pk)]


def watcher_ids(product: Product) -> set[UUID]:
    return {
        row.user_id
        for partition in range(queries.PARTITIONS)
        for rows in queries.iterate_watchers(product.product_id, partition)
        for row in rows
    }


def count(user: User) -> int:
    rows = queries.WATCHED.all(user_id=user.pk)
    assert (rows[0].watch_count or 0) == len([row for row in rows if row.product_id])
    return rows[0].watch_count or 0


def test_x357_a_member_watches_a_price_on_its_page_and_a_guest_is_led_to_the_login() -> None:
    user, product, client = make_user(), make_product("Jug"), Client()
    guest = tree(client.get(page_of(product)))
    (login,) = guest.xpath("//a[contains(., 'Sign in to hear when it costs less')]/@href")
    assert login == f"/account/login/?next=/p/{product.slug}/"
    client.force_login(user)
    for label, button in (("watch", "Tell me when it costs less"), ("stop", "Stop watching")):
        page = tree(client.get(page_of(product)))
        (form,) = page.xpath("//form[@id='price-watch']")
        assert button in texts(page, "#price-watch button")[0]
        assert form.action == reverse(f"price_alerts:{label}")
        sent = {"product": str(product.product_id)}
        assert client.post(form.action, sent)["Location"] == f"/p/{product.slug}/"
        part = client.post(form.action, sent, headers={"HX-Request": "true"})
        assert len(tree(part).xpath("//form[@id='price-watch']")) == 1
        assert (watched_ids(user) == [product.product_id]) == (label == "watch")
    assert rounds(client.get(page_of(product))) <= 3
    for bad in ("", "x", str(uuid4())):
        assert client.post(reverse("price_alerts:watch"), {"product": bad}).status_code == 404


def test_x357_the_list_shows_what_is_watched_and_leaves_out_what_is_gone() -> None:
    user, client = make_user(), Client()
    client.force_login(user)
    address = reverse("price_alerts:list")
    assert "No watched prices" in client.get(address).content.decode()
    jug, cup = make_product("Jug"), make_product("Cup")
    watch(jug, user)
    watch(cup, user)
    change_product_status(
        existing(get_product_at_quorum(cup.product_id)), "archived", current_time()
    )
    assert texts(tree(client.get(address)), "main h2") == ["Jug"]
    sent = {"product": str(jug.product_id), "listed": "1"}
    assert client.post(reverse("price_alerts:stop"), sent)["Location"] == address
    assert watched_ids(user) == [cup.product_id]


def test_x358_a_lower_price_is_told_once_to_those_who_watched_before() -> None:
    ada, ben, product = make_user("Ada"), make_user("Ben"), make_product("Jug", price="20.00")
    watch(product, ada)
    assert follow(product) == (0, True)
    set_price(product, "25.00")
    assert follow(product) == (0, True)
    set_price(product, "18.00")
    watch_price(ben.pk, product.product_id, current_time())  # too late to be told
    assert follow(product)[1]
    assert list_words(ada.pk) == ["Jug now costs less: €18.00"]
    assert not list_told(ben.pk)
    (mail,) = list_mails_to(ada.email)
    assert mail.subject == "Lower price"
    assert mail.unsubscribe_url in mail.text
    with patch.object(operations, "tell", side_effect=AssertionError):
        follow(product)  # whoever follows the same change again has nothing to do
    set_price(product, "19.00")
    set_price(product, "17.00")
    follow(product)
    assert len(list_told(ada.pk)) == 1  # once a day
    assert len(list_told(ben.pk)) == 1


def test_x358_many_watchers_are_told_part_by_part_whatever_is_killed() -> None:
    product, users = make_product("Jug", price="20.00"), [make_user() for _ in range(5)]
    watch(product, *users)
    set_price(product, "10.00")
    writes = first_and_last_writes(record_writes(lambda: follow(product, 1)))
    is_done = follow(product, 1)[1]
    for target in writes:
        kill_at_write(target, lambda: follow(product, 1))
    runs = 0
    while not is_done:
        is_done = follow(product, 1)[1]
        runs += 1
    assert runs >= 1
    for user in users:
        assert len(list_told(user.pk)) == 1
        assert len(list_mails_to(user.email)) == 1


def test_x359_a_member_watches_200_products_at_most_however_many_are_asked_at_once() -> None:
    user = make_user()
    ids = [uuid4() for _ in range(12)]
    now = current_time()

    def ask(product_id: UUID) -> bool:
        try:
            watch_price(user.pk, product_id, now)
        except TooManyWatched:
            return False
        return True

    with (
        patch.object(operations, "MAX_WATCHED", 5),
        patch.object(operations, "is_gone", return_value=False),
    ):
        assert sum(map_at_once(ask, ids, 6)) == 5
        assert count(user) == 5
        watched = watched_ids(user)
        assert ask(watched[0])  # it is watched already
        stop_watching(user.pk, watched[0])
        stop_watching(user.pk, watched[0])
        assert count(user) == 4
    with patch.object(operations, "MAX_WATCHED", 4):
        fresh = make_product()
        watch(fresh, user)  # the others do not exist: they make room
    assert watched_ids(user) == [fresh.product_id]
    assert operations.MAX_WATCHED == 200


def test_x359_the_page_of_too_many_says_so() -> None:
    user, product, client = make_user(), make_product(), Client()
    client.force_login(user)
    with patch.object(operations, "MAX_WATCHED", 0):
        watch_price_of = {"product": str(product.product_id)}
        watch(make_product(), user)  # the first row has no count to compare with
        answer: Any = client.post(reverse("price_alerts:watch"), watch_price_of, follow=True)
    assert "Stop watching one of them first" in answer.content.decode()


def test_x359_a_product_that_is_gone_drops_out() -> None:
    ada, ben, product = make_user("Ada"), make_user("Ben"), make_product("Jug")
    watch(product, ada, ben)
    change_product_status(
        existing(get_product_at_quorum(product.product_id)), "archived", current_time()
    )
    assert follow(product) == (2, True)
    assert watched_ids(ada) == watched_ids(ben) == []
    assert (count(ada), watcher_ids(product)) == (0, set())


@pytest.mark.parametrize("again", [False, True])
def test_x359_an_end_that_is_slow_spares_a_later_watch(*, again: bool) -> None:
    user, product = make_user(), make_product()
    watch(product, user)
    if again:
        first = existing(queries.prefetch_watch(user.pk, product.product_id).one()).since
        stop_watching(user.pk, product.product_id)
        watch_price(user.pk, product.product_id, current_time())
        operations.DELETE_WATCHER.run(
            **operations.watcher_columns(user.pk, product.product_id, first)
        )
    assert watcher_ids(product) == {user.pk}


def test_x359_a_watch_whose_answers_are_lost_begins_and_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    user, product = make_user(), make_product()
    flaky = AnswerLosingSession(session.get_session())
    monkeypatch.setattr(statements, "get_session", lambda: flaky)
    watch(product, user)
    assert (count(user), watcher_ids(product)) == (1, {user.pk})
    stop_watching(user.pk, product.product_id)
    assert (count(user), watcher_ids(product)) == (0, set())


def test_x352_watched_prices_are_exported_and_erased() -> None:
    user, product = make_user(), make_product()
    watch(product, user)
    person = person_from_user(existing(get_user(user.pk)))
    (watched,) = privacy.export_personal_data(person)["watched_prices"]
    assert watched["product_id"] == product.product_id
    privacy.erase_personal_data(person, current_time())
    assert watched_ids(user) == []
    assert watcher_ids(product) == set()

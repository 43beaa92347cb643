"""Sessions: nothing is made of a made-up cookie, and what has ended stays ended."""

import time
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest
import time_machine
from asgiref.sync import async_to_sync
from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.backends.base import UpdateError
from django.contrib.sessions.exceptions import SessionInterrupted
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from accounts.sessions import (
    MAX_SESSION_SECONDS,
    OF_USER,
    SessionStore,
    end_session,
    end_sessions,
    list_sessions,
    stored_keys,
)
from cassandra_db import Row, count_statements, read, scan
from tests.accounts.browsers import key_of
from tests.factories import make_user

ROW = read("test", "SELECT data, TTL(data) AS seconds FROM sessions WHERE session_key = :key")


ALL = scan(
    "test",
    "SELECT session_key FROM sessions WHERE token(session_key) > :start AND token(session_key) <= :end",
)


def row_of(key: str | None) -> Row | None:
    return next((row for each in stored_keys(key) if (row := ROW.one(key=each))), None)


def test_it_keeps_what_is_put_in() -> None:
    store = SessionStore()
    store["colour"] = "olive"
    store.save()
    assert SessionStore(store.session_key)["colour"] == "olive"


def test_s3_a_made_up_cookie_writes_nothing_and_reads_once(client: Client) -> None:
    made_up = "a" * 32
    client.cookies[settings.SESSION_COOKIE_NAME] = made_up
    answer = client.get(reverse("accounts:register"))
    assert row_of(made_up) is None
    with count_statements() as meter:
        assert SessionStore(made_up).get(SESSION_KEY) is None
    assert (meter.statement_count, meter.round_count) == (1, 1)
    assert (
        answer.cookies[settings.SESSION_COOKIE_NAME].value == ""
    )  # and the browser has to forget it


def test_s3_what_cannot_be_a_key_is_not_even_looked_up(subtests: pytest.Subtests) -> None:
    for nonsense in (
        "short",
        "x" * 5000,
        "ü" * 32,
        "../../etc/passwd-and-more-of-it..",
        "\x00" * 32,
    ):
        with subtests.test(nonsense[:40]):
            with count_statements() as meter:
                assert SessionStore(nonsense).get(SESSION_KEY) is None
            assert meter.statement_count == 0


def test_a_page_without_a_session_cookie_reads_no_session(client: Client) -> None:
    with count_statements() as meter:
        store = SessionStore(None)
        assert store.is_empty()
    assert meter.statement_count == 0
    assert settings.SESSION_COOKIE_NAME not in client.get(reverse("accounts:register")).cookies


def test_s1_the_key_changes_at_login_and_the_old_one_is_dead() -> None:
    client, alice = Client(), make_user()
    planted = client.session  # writes an anonymous session, as an attacker might have
    planted["planted"] = True
    planted.save()
    old = key_of(client)
    client.force_login(alice)
    assert key_of(client) != old
    assert row_of(old) is None
    assert SessionStore(key_of(client))[SESSION_KEY] == str(alice.pk)


def test_s2_logout_ends_the_row(client: Client) -> None:
    client.force_login(make_user())
    key = key_of(client)
    assert client.post(reverse("accounts:logout")).status_code == 303
    assert row_of(key) is None
    again = Client()
    again.cookies[settings.SESSION_COOKIE_NAME] = key
    assert again.get(reverse("accounts:profile")).status_code == 302


def test_s2_a_request_under_way_cannot_revive_a_session_that_has_ended() -> None:
    client = Client()
    client.force_login(make_user())
    slow = SessionStore(key_of(client))
    slow["late"] = True
    client.logout()
    with pytest.raises(UpdateError):
        slow.save()
    assert row_of(slow.session_key) is None


def test_s2_whoever_logged_out_meanwhile_reads_so_on_a_page(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.force_login(make_user())
    # The same session ends, elsewhere, while this request is at work.
    key = key_of(client)
    save = SessionStore.save

    def late(self: SessionStore, must_create: bool = False) -> None:
        SessionStore(key).delete()
        save(self, must_create)

    monkeypatch.setattr(SessionStore, "save", late)
    # due to be renewed, so the request saves it
    with time_machine.travel(time.time() + 7200, tick=True):
        answer = client.get(reverse("accounts:register"))
    assert answer.status_code == 403
    assert "You’ve signed out".encode() in answer.content
    assert answer.cookies[settings.SESSION_COOKIE_NAME].value == ""
    assert row_of(key) is None


def test_s4_the_expiry_is_the_rows_ttl_in_any_time_zone(
    settings: Settings, subtests: pytest.Subtests
) -> None:
    for zone in ("America/Chicago", "Europe/Dublin", "Pacific/Auckland"):
        with subtests.test(zone):
            settings.TIME_ZONE = zone
            store = SessionStore()
            store.set_expiry(datetime.now(UTC) + timedelta(seconds=600))
            store.save()
            row = row_of(store.session_key)
            assert row is not None
            assert 590 <= row.seconds <= 600


def test_s4_an_expiry_in_the_past_ends_the_session_at_once() -> None:
    alice = make_user()
    for kept_before in (False, True):
        store = SessionStore()
        store[SESSION_KEY] = str(alice.pk)
        if kept_before:
            store.save()
            assert row_of(store.session_key)
        store.set_expiry(-5)
        store.save()
        assert row_of(store.session_key) is None
        assert SESSION_KEY not in SessionStore(store.session_key)
        assert not OF_USER.all(user_id=alice.pk)


def test_s2_a_session_that_has_ended_gets_no_new_key_in_async_code_either() -> None:
    client = Client()
    client.force_login(make_user())
    slow = SessionStore(key_of(client))
    slow["late"] = True
    client.logout()
    with pytest.raises(SessionInterrupted):
        async_to_sync(slow.acycle_key)()
    assert row_of(slow.session_key) is None


def test_s4_an_active_session_is_renewed_at_most_hourly_and_not_beyond_90_days(
    client: Client,
) -> None:
    client.force_login(make_user())
    key = key_of(client)
    now = time.time()
    assert settings.SESSION_COOKIE_NAME not in client.get(reverse("accounts:register")).cookies
    with time_machine.travel(now + 3700, tick=True):
        assert (
            client.get(reverse("accounts:register")).cookies[settings.SESSION_COOKIE_NAME].value
            == key
        )
        assert settings.SESSION_COOKIE_NAME not in client.get(reverse("accounts:register")).cookies
    with time_machine.travel(now + MAX_SESSION_SECONDS - 600, tick=True):
        client.get(reverse("accounts:register"))
    row = row_of(key)
    assert row is not None
    assert row.seconds <= 600


def test_s5_all_sessions_of_a_person_end_at_once() -> None:
    alice = make_user()
    clients = [Client(), Client()]
    for client in clients:
        client.force_login(alice)
    assert end_sessions(alice.pk) == 2
    for client in clients:
        assert client.get(reverse("accounts:profile")).status_code == 302
    assert OF_USER.all(user_id=alice.pk) == []


def test_a_session_that_ends_leaves_the_persons_list(client: Client) -> None:
    alice = make_user()
    client.force_login(alice)
    client.post(reverse("accounts:logout"))
    assert OF_USER.all(user_id=alice.pk) == []


def test_it_ends_a_session_that_is_not_there_without_a_word() -> None:
    SessionStore("b" * 32).delete()
    assert end_sessions(UUID(int=uuid4().int)) == 0


def test_s62_the_tables_have_a_keyed_hash_of_a_sessions_key_and_no_key(client: Client) -> None:
    alice = make_user()
    client.force_login(alice)
    key = key_of(client)
    (listed,) = OF_USER.all(user_id=alice.pk)
    stored = {row.session_key for row in ALL.iterate_table()}
    assert listed.session_key in stored
    assert key not in stored
    # Whoever has read the tables has no session by it.
    thief = Client()
    thief.cookies[settings.SESSION_COOKIE_NAME] = listed.session_key[:32]
    assert thief.get(reverse("accounts:profile")).status_code == 302
    (shown,) = list_sessions(alice.pk, key)
    assert shown.is_current
    assert end_session(alice.pk, shown.handle)
    assert client.get(reverse("accounts:profile")).status_code == 302


def test_s62_a_new_secret_key_of_the_shop_ends_no_session(
    client: Client, settings: Settings
) -> None:
    alice = make_user()
    client.force_login(alice)
    before = key_of(client)
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another-" + "0" * 50
    assert client.get(reverse("accounts:profile")).status_code == 200
    assert len(list_sessions(alice.pk, key_of(client))) == 1
    assert key_of(client) != before  # Django's login gives it a new key under the new secret
    settings.SECRET_KEY_FALLBACKS = []
    assert client.get(reverse("accounts:profile")).status_code == 200
    assert client.post(reverse("accounts:logout")).status_code == 303
    assert OF_USER.all(user_id=alice.pk) == []

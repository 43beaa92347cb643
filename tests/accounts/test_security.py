"""Accounts that only their owner gets into: each rule of security that is about accounts, by its number.

What is a race is one over real HTTP: fifty connections, started by a barrier.
"""

import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http import HTTPStatus
from itertools import count
from pathlib import Path
from typing import Any
from unittest.mock import patch
from uuid import UUID, uuid4

import pytest
import time_machine
from django.conf import settings
from django.contrib.auth import SESSION_KEY, hashers
from django.contrib.sessions.exceptions import SessionInterrupted
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

import accounts.sessions
from accounts import operations, queries
from accounts.sessions import MAX_SESSION_SECONDS, OF_USER, SessionStore, end_sessions
from cassandra_db import scan
from mail.texts import CURRENT_TEXTS
from tests.accounts.browsers import fresh_email, is_in, key_of, path
from tests.accounts.test_sessions import row_of
from tests.factories import PASSWORD, make_order, make_user
from tests.journeys.connection import ShopConnection
from tests.threads import map_at_once
from tests.waiting import wait_until
from tests.web_server import CassandraProxy, serve_shop
from web.rate_limits import list_alarms

pytestmark = pytest.mark.timeout(600)  # fifty hashes take their time on a small machine
LOGIN, REGISTER, RESET = "/account/login/", "/account/register/", "/account/reset/"
AT_ONCE = 50
USERS = scan(
    "test",
    "SELECT user_id, email FROM users WHERE token(user_id) > :start AND token(user_id) <= :end",
)
_addresses = count(int(time.time()) % 2**20 * 2**10)


def stranger() -> Client:
    """A browser that has never been here, in a network that no other test comes from."""
    number = next(_addresses) % 2**32
    return Client(REMOTE_ADDR=".".join(str(number >> bits & 255) for bits in (24, 16, 8, 0)))


def log_in(client: Client, email: str, password: str = PASSWORD, **headers: str) -> Any:
    return client.post(LOGIN, {"email": email, "password": password}, headers=headers or None)


@dataclass
class Work:
    """How often the hasher was asked."""

    calls: list[str] = field(default_factory=list)


@contextmanager
def hashing() -> Iterator[Work]:
    """Count what Django's hasher does, while it does it."""
    work, hasher = Work(), hashers.Argon2PasswordHasher
    encode, verify = hasher.encode, hasher.verify

    def encoding(self: Any, password: str, salt: str) -> str:
        work.calls.append("encode")
        return str(encode(self, password, salt))

    def verifying(self: Any, password: str, encoded: str) -> bool:
        work.calls.append("verify")
        return bool(verify(self, password, encoded))

    with patch.object(hasher, "encode", encoding), patch.object(hasher, "verify", verifying):
        yield work


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The shop over real HTTP, with the suite's limits: an account's are those of a shop."""
    with serve_shop(tmp_path_factory.mktemp("served"), workers=2) as address:
        yield address


def at_once(
    shop: str, sending: Callable[[ShopConnection, int], object], tries: int = AT_ONCE
) -> list[ShopConnection]:
    """Send that many requests at the same moment, over as many connections, and return these."""
    start, lines = threading.Barrier(tries), [ShopConnection(shop) for _ in range(tries)]

    def go(number: int) -> None:
        lines[number].get("/healthz")  # the connection stands
        start.wait(60)
        sending(lines[number], number)
        lines[number].close()

    map_at_once(go, range(tries))
    return lines


# ---- Sessions


def test_s1_the_key_changes_with_the_rights_and_the_old_one_is_dead() -> None:
    client, alice = stranger(), make_user()
    planted = client.session
    planted["planted"] = True
    planted.save()
    old = [key_of(client)]
    log_in(client, alice.email)
    old.append(key_of(client))
    session = client.session
    session.cycle_key()  # as at a password's change and once the second factor is passed
    new = session.session_key
    assert len({*old, new}) == 3
    assert [row_of(key) for key in old] == [None, None]
    assert SessionStore(new)[SESSION_KEY] == str(alice.pk)
    operations.set_role(alice.pk, "support", datetime.now(UTC))
    assert row_of(new) is None
    assert OF_USER.all(user_id=alice.pk) == []


def test_s2_what_has_ended_cannot_live_on_under_a_new_key() -> None:
    client, alice = stranger(), make_user()
    log_in(client, alice.email)
    slow = SessionStore(key_of(client))
    assert slow[SESSION_KEY]
    end_sessions(alice.pk)
    with pytest.raises(SessionInterrupted):
        slow.cycle_key()
    assert OF_USER.all(user_id=alice.pk) == []


def test_s2_a_session_that_changes_its_key_while_all_are_ended_ends_with_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    client, alice = stranger(), make_user()
    log_in(client, alice.email)
    moving = [SessionStore(key_of(client))]
    assert moving[0][SESSION_KEY]
    end = accounts.sessions._end

    def late(user_id: UUID, key: str) -> None:
        while moving:
            moving.pop().cycle_key()  # between the look at the list and this
        end(user_id, key)

    monkeypatch.setattr(accounts.sessions, "_end", late)
    end_sessions(alice.pk)
    assert OF_USER.all(user_id=alice.pk) == []

    monkeypatch.undo()
    log_in(client, alice.email)
    store = SessionStore(key_of(client))
    assert store[SESSION_KEY]
    create = SessionStore.create

    def ended_meanwhile(store: SessionStore) -> None:
        create(store)
        end_sessions(alice.pk)

    monkeypatch.setattr(SessionStore, "create", ended_meanwhile)
    with pytest.raises(SessionInterrupted):
        store.cycle_key()
    assert OF_USER.all(user_id=alice.pk) == []


def test_s2_a_request_that_would_get_a_new_key_reads_that_its_session_has_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    client, alice = stranger(), make_user()
    log_in(client, alice.email)
    change = operations.change_password

    def late(*args: Any, **kwargs: Any) -> Any:
        end_sessions(alice.pk)  # elsewhere, while this request is at work
        return change(*args, **kwargs)

    monkeypatch.setattr(operations, "change_password", late)
    answer = client.post(
        reverse("accounts:password"), {"current": PASSWORD, "password": "nine dry badgers"}
    )
    assert answer.status_code == 403
    assert "You’ve signed out".encode() in answer.content
    assert answer.cookies[settings.SESSION_COOKIE_NAME].value == ""
    assert OF_USER.all(user_id=alice.pk) == []


def test_s3_made_up_cookies_leave_no_row() -> None:
    made_up = [uuid4().hex, "a" * 32, "0123456789abcdefghijklmnopqrstuv", "short", "x" * 4000]
    for key in made_up:
        client = stranger()
        for where in ("/", LOGIN, "/cart/", REGISTER):
            client.cookies[settings.SESSION_COOKIE_NAME] = key
            client.get(where)
        client.cookies[settings.SESSION_COOKIE_NAME] = key
        client.post(LOGIN, {"email": fresh_email(), "password": "wrong wrong wrong"})
    assert [key for key in made_up if row_of(key)] == []


def test_s3_a_page_that_needs_no_session_touches_none() -> None:
    client = stranger()
    log_in(client, make_user().email)
    assert key_of(client)
    for where in ("/healthz", "/robots.txt", "/favicon.ico", "/pictures/mug/4f6d7a-e8d9c5.svg"):
        assert client.get(where)["X-Cassandra"].startswith("statements=0, rounds=0"), where
    guest = stranger()
    statements = [
        guest.get(where)["X-Cassandra"]
        for where in ("/help/privacy/", "/help/privacy/", LOGIN, REGISTER)
    ]
    # The categories at the first page of a process, and nothing else.
    assert {each.split(",")[0] for each in statements[1:]} == {"statements=0"}


def test_s4_a_session_expires_when_idle_and_at_last_in_any_time_zone(
    settings: Settings, subtests: pytest.Subtests
) -> None:
    brief = {}
    for zone in ("America/Chicago", "UTC", "Pacific/Auckland"):
        with subtests.test(zone):
            settings.TIME_ZONE = zone
            client, alice = stranger(), make_user()
            log_in(client, alice.email)
            row = row_of(key_of(client))
            assert row
            assert 0 <= settings.SESSION_COOKIE_AGE - row.seconds < 60
            assert (
                int(client.cookies[settings.SESSION_COOKIE_NAME]["max-age"])
                == settings.SESSION_COOKIE_AGE
            )
            with time_machine.travel(time.time() + MAX_SESSION_SECONDS - 5, tick=True):
                client.get(LOGIN)  # at work to the last: the row has five more seconds
            row = row_of(key_of(client))
            assert row
            assert row.seconds <= 5
            brief[zone] = SessionStore()
            brief[zone].set_expiry(1)
            brief[zone].save()
    wait_until(lambda: not any(row_of(store.session_key) for store in brief.values()), seconds=2.5)


def test_s5_a_password_that_was_reset_ends_all_sessions() -> None:
    alice = make_user()
    browsers = [stranger(), stranger()]
    for client in browsers:
        log_in(client, alice.email)
        assert is_in(client)
    answer = stranger().post(
        path(operations.password_reset_link(alice)), {"password": "nine dry badgers"}
    )
    assert answer.status_code == 303
    assert not any(is_in(client) for client in browsers)
    assert OF_USER.all(user_id=alice.pk) == []


def test_s7_s74_each_cookie_is_this_hosts_alone_and_a_file_with_a_hash_is_kept(
    tmp_path: Path,
) -> None:
    alice = make_user()
    with serve_shop(
        tmp_path, STOA_HTTPS="1", BEHIND_PROXY="1", PUBLIC_URL="https://127.0.0.1"
    ) as shop:
        https = {"X-Forwarded-Proto": "https", "Referer": "https://127.0.0.1/"}
        line = ShopConnection(shop, {"__Host-stoa_csrf": "a" * 32}, https)
        assert (
            line.post(LOGIN, {"email": alice.email, "password": PASSWORD}) == HTTPStatus.SEE_OTHER
        ), line.text[:300]
        cookies = dict(each.split("=", 1) for each in line.set_cookies)
        line.cookies["__Host-stoa_csrf"] = "a" * 32  # the login has made another one
        assert line.post("/account/logout/", {}) == HTTPStatus.SEE_OTHER
        cookies |= dict(each.split("=", 1) for each in line.set_cookies if "stoa_mess" in each)
        line.get("/")
        file = re.search(r'href="(/static/css/\w+\.[0-9a-f]+\.css)"', line.text)
        assert file
        line.get(file[1])
        assert {"public", "immutable"} <= set(line.headers["Cache-Control"].split(", "))
    assert {
        "__Host-stoa_session",
        "__Host-stoa_device",
        "__Host-stoa_csrf",
        "__Host-stoa_messages",
    } <= set(cookies)
    for name, rest in cookies.items():
        flags = {part.strip().lower() for part in rest.split(";")[1:]}
        assert {"secure", "httponly", "samesite=lax", "path=/"} <= flags, (name, flags)
        assert not any(flag.startswith("domain") for flag in flags)
        assert name.startswith("__Host-")


# ---- Passwords, and what an answer tells


def alike(answer: Any, *typed: str) -> tuple[int, dict[str, str], str, dict[str, str], str]:
    """An answer without what is different in any two: tokens, ids, and what was typed."""

    def blank(text: str) -> str:
        for each in typed:
            text = text.replace(each, "TYPED")
        return re.sub(r'(value=|x-csrftoken&quot;: &quot;|x-csrftoken": )"[^"]{64}"', "TOKEN", text)

    headers = {
        name: blank(value)
        for name, value in answer.headers.items()
        if name not in ("X-Request-Id", "Expires")
    }
    cookies = {name: str(morsel["max-age"]) for name, morsel in answer.cookies.items()}
    return (
        answer.status_code,
        headers,
        blank(answer.content.decode()),
        cookies,
        headers["X-Cassandra"],
    )


def test_s8_a_login_answers_and_costs_the_same_for_known_and_unknown_addresses() -> None:
    """Fault 7."""
    known, without = make_user(), make_user(password=None)
    answers = []
    for email in (known.email, without.email, fresh_email()):
        client = stranger()
        client.get(LOGIN)
        with hashing() as work:
            answer = log_in(client, email, "wrong wrong wrong")
        assert answer.status_code == 422
        assert len(work.calls) == 1
        answers.append(alike(answer, email))
    assert answers[0] == answers[1] == answers[2]


@pytest.mark.parametrize("where", [RESET, REGISTER])
def test_s9_reset_and_registration_answer_and_cost_the_same(where: str) -> None:
    """Fault 7."""
    CURRENT_TEXTS.get()  # a process reads the texts of its mails for its first one
    known, without = make_user(), make_user(password=None)
    answers = []
    for email in (known.email, without.email, fresh_email()):
        client = stranger()
        client.get(where)
        with hashing() as work:
            answer = client.post(where, {"email": email})
        assert answer.status_code == 303
        assert work.calls == []  # no password is at stake before the mail was read
        after = client.get(answer["Location"])
        answers.append((alike(answer, email), alike(after, email)))
    assert answers[0] == answers[1] == answers[2]


def test_s10_one_address_registered_fifty_times_at_once_makes_one_account(shop: str) -> None:
    """Fault 6."""
    email = fresh_email("race")
    written = [email, email.upper(), email.title()]
    links = [path(operations.registration_link(written[number % 3])) for number in range(AT_ONCE)]
    lines = at_once(
        shop, lambda line, n: line.post(links[n], {"name": f"Racer {n}", "password": PASSWORD})
    )
    assert Counter(line.status for line in lines) == {303: 1, 200: AT_ONCE - 1}
    winner = next(number for number, line in enumerate(lines) if line.status == 303)
    found = queries.find_user_by_email(email)
    assert found is not None
    assert found.name == f"Racer {winner}"
    assert [row.user_id for row in USERS.iterate_table() if row.email.lower() == email] == [
        found.pk
    ]
    assert all("Your account is ready" in line.text for line in lines if line.status == 200)


def test_s11_a_password_of_any_script_is_taken_as_typed_and_logs_in(
    subtests: pytest.Subtests,
) -> None:
    for password in ("密码密码密码密码", " otter 8", "ж" * 128, "x" * 4096):
        with subtests.test(password=password):
            email = fresh_email("alice")
            link = path(operations.registration_link(email))
            assert stranger().post(link, {"name": "Alice", "password": password}).status_code == 303
            assert log_in(stranger(), email, password.strip() + "!").status_code == 422
            assert log_in(stranger(), email, password).status_code == 303


def test_s11_what_is_too_long_short_common_or_ours_is_refused_and_costs_no_hash(
    subtests: pytest.Subtests,
) -> None:
    for password in (
        "x" * 4097,
        "ж" * 2049,
        "seven77",
        "password1",
        "qwertyuiop",
        "stoastoa",
        "Stoa2026!",
    ):
        with subtests.test(password=password):
            email = fresh_email("alice")
            link = path(operations.registration_link(email))
            client = stranger()
            with hashing() as work:
                assert client.post(link, {"name": "Alice", "password": password}).status_code == 422
                if len(password) > 2000:
                    assert (
                        log_in(client, make_user(password=None).email, password).status_code == 422
                    )
            assert [call for call in work.calls if call == "verify"] == []
            assert len(work.calls) <= 1  # none but the one of the test's own member
            assert queries.find_user_by_email(email) is None


def test_s12_managers_and_the_clipboard_fill_in_passwords() -> None:
    alice = make_user()
    client = stranger()
    log_in(client, alice.email)
    pages = {
        LOGIN: ("username", "current-password"),
        path(operations.registration_link(fresh_email())): ("new-password",),
        path(operations.password_reset_link(alice)): ("new-password",),
        reverse("accounts:password"): ("current-password", "new-password"),
        reverse("accounts:email"): ("current-password", "email"),
    }
    for where, tokens in pages.items():
        text = (stranger() if where == LOGIN else client).get(where).content.decode()
        for token in tokens:
            assert f'autocomplete="{token}"' in text, (where, token)
        for field_ in re.findall(r"<input[^>]*type=\"password\"[^>]*>", text):
            assert not re.search(r"onpaste|maxlength|readonly|autocomplete=\"off\"", field_)
    script = (settings.BASE_DIR / "static" / "js" / "stoa.js").read_text()
    assert "paste" not in script


# ---- Limits


def test_s13_of_fifty_guesses_at_once_exactly_ten_are_looked_at(shop: str) -> None:
    alice = make_user()
    lines = at_once(
        shop,
        lambda line, n: line.post(LOGIN, {"email": alice.email, "password": f"guess number {n}"}),
    )
    assert Counter(line.status for line in lines) == {422: 10, 429: AT_ONCE - 10}
    refused = [line for line in lines if line.status == 429]
    assert all(0 < int(line.headers["Retry-After"]) <= 900 for line in refused)
    assert all("Too many attempts" in line.text for line in refused)


def test_s13_unknown_addresses_are_counted_alike(shop: str) -> None:
    nobody = fresh_email()
    lines = at_once(
        shop,
        lambda line, n: line.post(LOGIN, {"email": nobody, "password": f"guess number {n}"}),
        20,
    )
    assert Counter(line.status for line in lines) == {422: 10, 429: 10}


def test_s13_guesses_count_by_network_and_overall_too(settings: Settings) -> None:
    settings.RATE_LIMITS = settings.RATE_LIMITS | {"login": (0, 4, 0, 77)}
    client = stranger()
    statuses = [log_in(client, fresh_email(), "wrong wrong wrong").status_code for _ in range(6)]
    assert statuses == [422] * 4 + [429] * 2
    assert log_in(stranger(), fresh_email(), "wrong wrong wrong").status_code == 422


def test_s64_above_the_whole_shops_limit_everybody_is_answered_and_the_audit_log_is_not_filled(
    settings: Settings,
) -> None:
    settings.RATE_LIMITS = settings.RATE_LIMITS | dict.fromkeys(
        ("login", "reset", "registration"), (0, 0, 1, 78)
    )
    for where in (RESET, REGISTER):
        answers = [stranger().post(where, {"email": fresh_email()}) for _ in range(3)]
        assert [answer.status_code for answer in answers] == [303] * 3
    log_in(stranger(), fresh_email(), "wrong wrong wrong")  # others may have filled it: then two
    with patch("accounts.audit_log.add_entry") as entered:
        refused = log_in(stranger(), fresh_email(), "wrong wrong wrong")
    assert (refused.status_code, entered.called) == (422, False)
    assert log_in(stranger(), make_user().email).status_code == 303
    assert {"login", "reset", "registration"} <= set(list_alarms())


def test_s13_right_passwords_take_no_slot(settings: Settings) -> None:
    settings.RATE_LIMITS = settings.RATE_LIMITS | {"login": (3, 3, 0, 900)}
    alice, client = make_user(), stranger()
    for _ in range(5):
        assert log_in(client, alice.email).status_code == 303
        client.post(reverse("accounts:logout"))
        del client.cookies[settings.DEVICE_COOKIE_NAME]


def test_s13_a_stranger_locks_nobody_out_who_has_been_here_before(settings: Settings) -> None:
    settings.RATE_LIMITS = settings.RATE_LIMITS | {"login": (3, 0, 0, 900)}
    alice, hers = make_user(), stranger()
    assert log_in(hers, alice.email).status_code == 303
    cookie = hers.cookies[settings.DEVICE_COOKIE_NAME]
    assert cookie["httponly"]
    assert alice.email not in cookie.value
    hers.post(reverse("accounts:logout"))
    for _ in range(2):
        mallory = stranger()
        tries = [log_in(mallory, alice.email, "wrong wrong wrong").status_code for _ in range(5)]
        assert tries == [422] * 3 + [429] * 2
    # the right password, in a browser that was never here (S63)
    assert log_in(stranger(), alice.email).status_code == 303
    assert log_in(hers, alice.email).status_code == 303
    assert hers.cookies[settings.DEVICE_COOKIE_NAME].value != cookie.value  # another one each time
    hers.post(reverse("accounts:logout"))
    tries = [log_in(hers, alice.email, "wrong wrong wrong").status_code for _ in range(4)]
    assert tries == [422] * 3 + [429]  # it has a bucket of its own, not none


def test_s13_a_known_browser_is_a_stranger_again_once_the_password_or_all_sessions_have_ended(
    settings: Settings,
) -> None:
    settings.RATE_LIMITS = settings.RATE_LIMITS | {"login": (3, 0, 0, 900)}
    for end in (
        lambda alice: end_sessions(alice.pk),
        lambda alice: operations.change_password(alice, PASSWORD + "!", datetime.now(UTC)),
    ):
        alice, hers, forged = make_user(), stranger(), stranger()
        assert log_in(hers, alice.email).status_code == 303
        forged.cookies[settings.DEVICE_COOKIE_NAME] = (
            hers.cookies[settings.DEVICE_COOKIE_NAME].value[:-2] + "xx"
        )
        for browser in (forged, hers):  # mallory is in the network of each
            mallory = Client(REMOTE_ADDR=browser.defaults["REMOTE_ADDR"])
            for _ in range(3):
                log_in(mallory, alice.email, "wrong wrong wrong")
        assert log_in(forged, alice.email, "wrong wrong wrong").status_code == 429
        assert log_in(hers, alice.email, "wrong wrong wrong").status_code == 422
        end(alice)
        assert log_in(hers, alice.email, "wrong wrong wrong").status_code == 429


def test_s13_whoever_changes_the_password_stays_known(settings: Settings) -> None:
    settings.RATE_LIMITS = settings.RATE_LIMITS | {"login": (3, 0, 0, 900)}
    alice, hers = make_user(), stranger()
    log_in(hers, alice.email)
    changed = hers.post(
        reverse("accounts:password"), {"current": PASSWORD, "password": "nine dry badgers"}
    )
    assert changed.status_code == 303
    mallory = Client(REMOTE_ADDR=hers.defaults["REMOTE_ADDR"])
    for _ in range(3):
        log_in(mallory, alice.email, "wrong wrong wrong")
    hers.post(reverse("accounts:logout"))
    assert log_in(hers, alice.email, "nine dry badgers").status_code == 303


def test_s13_the_password_asked_again_is_limited_too() -> None:
    alice, hers = make_user(), stranger()
    log_in(hers, alice.email)
    sent = {"current": "wrong wrong wrong", "password": "nine dry badgers"}
    statuses = [hers.post(reverse("accounts:password"), sent).status_code for _ in range(12)]
    assert statuses == [422] * 10 + [429] * 2


def test_s13_with_cassandra_away_nobody_gets_a_try(tmp_path: Path) -> None:
    database = settings.DATABASES["default"]
    cable = CassandraProxy(
        database["HOST"].split(",")[0], database["OPTIONS"]["connection"]["port"]
    )
    cable.connect()
    alice = make_user()
    with serve_shop(tmp_path, CASSANDRA_HOSTS="127.0.0.1", CASSANDRA_PORT=str(cable.port)) as shop:
        line = ShopConnection(shop)
        assert line.post(LOGIN, {"email": alice.email, "password": "wrong wrong wrong"}) == 422
        cable.disconnect()
        assert line.post(LOGIN, {"email": alice.email, "password": PASSWORD}) == 503
        assert int(line.headers["Retry-After"]) > 0
        assert settings.SESSION_COOKIE_NAME not in line.cookies


def test_s14_of_fifty_at_once_exactly_so_many_resets_registrations_and_order_lookups_pass(
    shop: str, subtests: pytest.Subtests
) -> None:
    forms: tuple[tuple[str, dict[str, str], int, int], ...] = (
        (RESET, {}, 5, 303),
        (REGISTER, {}, 5, 303),
        ("/orders/", {"number": make_order().number}, 10, 422),
    )
    for where, form, let_through, status in forms:
        with subtests.test(where):
            typed = {"email": make_user().email, **form}
            lines = at_once(shop, lambda line, _, where=where, typed=typed: line.post(where, typed))  # type: ignore[misc]
            assert Counter(line.status for line in lines) == {
                status: let_through,
                429: AT_ONCE - let_through,
            }
            assert all(int(line.headers["Retry-After"]) > 0 for line in lines if line.status == 429)


def test_s14_an_order_cannot_be_guessed_by_its_number_nor_from_one_network_by_its_address(
    settings: Settings,
) -> None:
    settings.RATE_LIMITS = settings.RATE_LIMITS | {"lookup": (3, 0, 0, 900)}
    email = fresh_email("ada")
    order = make_order(email=email)
    guesses = [
        stranger().post("/orders/", {"number": order.number, "email": fresh_email()})
        for _ in range(4)
    ]
    assert [answer.status_code for answer in guesses] == [422] * 3 + [429]
    other = make_order(email=email)
    mallory = stranger()
    for number in ("2222-2222", "3333-3333", "4444-4444"):
        assert mallory.post("/orders/", {"number": number, "email": email}).status_code == 422
    found = {"number": other.number, "email": email}
    assert mallory.post("/orders/", found).status_code == 429
    assert stranger().post("/orders/", found).status_code == 303  # the address is known to many


def test_s14_suggestions_are_limited_generously(settings: Settings) -> None:
    settings.RATE_LIMITS = settings.RATE_LIMITS | {"suggestions": (0, 20, 0, 3600)}
    client = stranger()
    statuses = [
        client.get("/search/suggest", {"q": "mu"}, headers={"HX-Request": "true"}).status_code
        for _ in range(22)
    ]
    assert statuses == [200] * 20 + [429] * 2
    assert stranger().get("/search/suggest", {"q": "mu"}).status_code == 200


def test_s14_searches_are_limited_as_a_page_and_as_a_part(settings: Settings) -> None:
    settings.RATE_LIMITS = settings.RATE_LIMITS | {"search": (0, 3, 0, 3600)}
    client = stranger()
    statuses = [client.get("/search", {"q": "mug"}).status_code for _ in range(4)]
    assert statuses == [200] * 3 + [429]
    page = client.get("/search", {"q": "mug"})
    assert int(page["Retry-After"]) > 0
    assert b"<h1>Too many attempts</h1>" in page.content
    part = client.get("/search", {"q": "mug"}, headers={"HX-Request": "true"})
    assert (part.status_code, part["HX-Reswap"]) == (429, "none")
    assert int(part["Retry-After"]) > 0
    assert b"<html" not in part.content
    assert stranger().get("/search", {"q": "mug"}).status_code == 200


def test_s15_too_many_tries_are_answered_by_a_page_that_keeps_what_was_typed_or_by_a_message(
    settings: Settings,
) -> None:
    settings.RATE_LIMITS = settings.RATE_LIMITS | {"login": (1, 0, 0, 900)}
    email, mallory = fresh_email(), stranger()
    log_in(mallory, email, "wrong wrong wrong")
    whole = log_in(mallory, email, "my secret words")
    text = whole.content.decode()
    assert whole.status_code == 429
    assert 0 < int(whole["Retry-After"]) <= 900
    assert "no-store" in whole["Cache-Control"]
    assert "<title>Error: " in text
    assert "There is a problem" in text
    assert "Wait 15 minutes" in text
    assert f'value="{email}"' in text
    assert "my secret words" not in text
    part = log_in(mallory, email, "my secret words", **{"HX-Request": "true"})
    assert part.status_code == 429
    assert 0 < int(part["Retry-After"]) <= 900
    assert part["HX-Reswap"] == "none"
    words = part.content.decode()
    assert 'hx-swap-oob="innerHTML:#status"' in words
    assert "Wait 15 minutes" in words
    assert "<html" not in words
    assert "my secret words" not in words


def test_s15_where_there_is_no_form_it_is_a_page_of_its_own(settings: Settings) -> None:
    settings.RATE_LIMITS = settings.RATE_LIMITS | {"suggestions": (0, 1, 0, 3600)}
    client = stranger()
    client.get("/search/suggest", {"q": "mu"})
    answer = client.get("/search/suggest", {"q": "mu"})
    assert answer.status_code == 429
    assert int(answer["Retry-After"]) > 0
    assert b"<h1>Too many attempts</h1>" in answer.content

"""Another password, by a user who knows it or reads the mail; and where a user is signed in."""

from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any
from uuid import uuid4

import pytest
import time_machine
from django.conf import settings
from django.contrib.auth.hashers import check_password
from django.core import signing
from django.test import Client, RequestFactory
from django.urls import reverse

from accounts import operations, queries
from accounts.errors import AccountChanged
from accounts.models import User
from accounts.operations.passwords import account_fingerprint
from accounts.sessions import SessionStore, list_sessions
from cassandra_db import count_statements
from tests.accounts.browsers import is_in, key_of, path
from tests.accounts.mails import find_link, list_mails_to
from tests.factories import PASSWORD, make_user, sign_in_staff
from tests.threads import map_at_once
from web.devices import browser_name

NEW = "nine dry badgers"
CHANGE, RESET, SECURITY = "/account/password/", "/account/reset/", "/account/security/"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"
IPHONE = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) "
    "Version/17.5 Mobile/15E148 Safari/604.1"
)


def signed_in(alice: User, agent: str = FIREFOX) -> Client:
    client = Client(headers={"user-agent": agent})
    sent = {"email": alice.email, "password": PASSWORD}
    assert client.post(reverse("accounts:login"), sent).status_code == 303
    return client


def password_of(alice: User) -> str:
    found = queries.get_user(alice.pk)
    assert found
    return str(found.password)


def test_s1_s5_a_changed_password_ends_all_other_sessions_and_gives_this_one_a_new_key() -> None:
    alice = make_user()
    here, phone = signed_in(alice), signed_in(alice, IPHONE)
    before = key_of(here)
    assert here.post(CHANGE, {"current": PASSWORD, "password": NEW}).status_code == 303
    assert check_password(NEW, password_of(alice))
    assert is_in(here)
    assert not is_in(phone)
    assert key_of(here) != before
    assert not SessionStore().exists(before)
    assert not SessionStore().exists(key_of(phone) or "-")
    assert "Your password at Stoa was changed" in [
        mail.subject for mail in list_mails_to(alice.email)
    ]


def test_a_password_is_not_changed_by_somebody_who_does_not_know_it() -> None:
    alice = make_user()
    here, phone = signed_in(alice), signed_in(alice)
    for sent, words in (
        ({"current": "something else", "password": NEW}, "This isn’t your password"),
        ({"current": "x" * 5000, "password": NEW}, "This isn’t your password"),
        ({"current": "", "password": NEW}, "Enter your current password"),
        ({"current": PASSWORD, "password": "short"}, "at least 8 characters"),
    ):
        answer = here.post(CHANGE, sent)
        assert answer.status_code == 422
        page = answer.content.decode()
        assert words in page
        assert NEW not in page
    assert is_in(phone)
    assert check_password(PASSWORD, password_of(alice))


@pytest.mark.parametrize("name", ["accounts:password", "accounts:email"])
def test_a_staff_password_alone_changes_neither_password_nor_address(name: str) -> None:
    ann = make_user("Ann", role="warehouse")
    sent = {"current": PASSWORD, "password": NEW, "email": f"mallory-{uuid4().hex}@example.com"}
    answer = signed_in(ann).post(reverse(name), sent)
    assert (answer.status_code, answer["Location"].partition("?")[0]) == (
        303,
        reverse("adminpanel:second_factor"),
    )
    assert check_password(PASSWORD, password_of(ann))
    assert (
        sign_in_staff(Client(), ann).post(reverse(name), sent)["Location"].startswith("/account/")
    )


def test_of_two_who_change_a_password_at_once_one_does() -> None:
    alice = make_user()

    def change(new: str) -> bool:
        try:
            operations.change_password(alice, new, datetime.now(UTC))
        except AccountChanged:
            return False
        return True

    did = map_at_once(change, ("first new one", "second new one"))
    assert did.count(True) == 1
    assert check_password(("first new one", "second new one")[did.index(True)], password_of(alice))


def test_a_demo_shops_login_keeps_its_password() -> None:
    demo = make_user(demo=True)
    client = signed_in(demo)
    answer = client.post(CHANGE, {"current": PASSWORD, "password": NEW})
    assert answer.status_code == 422
    assert b"demo login" in answer.content
    assert (
        operations.get_user_by_reset_token(
            operations.password_reset_link(demo).rstrip("/").rpartition("/")[2]
        )
        is None
    )


def reset_mail(email: str) -> str:
    answer = Client().post(RESET, {"email": email})
    assert (answer.status_code, answer["Location"]) == (303, reverse("accounts:reset_sent"))
    return str(list_mails_to(email)[-1].text)


def test_s5_s16_a_mailed_link_sets_a_new_password_once_and_ends_all_sessions() -> None:
    alice = make_user()
    phone = signed_in(alice, IPHONE)
    link = find_link(reset_mail(alice.email))
    visitor = Client()
    page = visitor.get(link)
    assert page.status_code == 200
    assert b'autocomplete="new-password"' in page.content
    assert alice.email.encode() in page.content
    assert visitor.post(link, {"password": "short"}).status_code == 422
    answer = visitor.post(link, {"password": NEW})
    assert (answer.status_code, answer["Location"]) == (303, reverse("accounts:login"))
    assert check_password(NEW, password_of(alice))
    assert not is_in(phone)
    assert not is_in(visitor)  # one signs in with it, and with what else this account asks for
    again = visitor.post(link, {"password": "another one here"})
    assert again.status_code == 410
    assert visitor.get(link).status_code == 410
    assert check_password(NEW, password_of(alice))
    fresh = queries.get_user(alice.pk)
    assert fresh
    assert fresh.verified_at is not None


def test_s16_a_link_goes_to_the_address_of_the_account_and_not_to_one_that_is_compared_alike() -> (
    None
):
    """Another domain's name may be the same by its letters where addresses are compared: its owner gets no link."""
    alice = make_user(email=f"alice-{uuid4().hex}@shop.example")
    theirs = alice.email.replace("p.example", "ᵖ.example")
    assert queries.find_user_by_email(theirs) == alice
    operations.request_password_reset(theirs, datetime.now(UTC))
    assert list_mails_to(theirs) == []
    assert len(list_mails_to(alice.email)) == 1


def test_an_address_that_mail_reaches_elsewhere_or_nowhere_is_none(
    subtests: pytest.Subtests,
) -> None:
    domains = ("shoᵖ.example", "xאy.example", "x\u2025y.example", "x;y.example")
    for page, domain in product(("/account/register/", RESET, reverse("accounts:login")), domains):
        with subtests.test(page=page, domain=domain):
            answer = Client().post(page, {"email": f"alice@{domain}", "password": PASSWORD})
            assert answer.status_code == 422
            assert (
                "Enter an email address in the format name@example.com" in answer.content.decode()
            )


def test_s16_two_who_use_one_link_at_once_change_the_password_once() -> None:
    alice = make_user()
    link = path(operations.password_reset_link(alice))
    passwords = [f"a new password {number}" for number in range(6)]
    answers = map_at_once(
        lambda new: Client().post(link, {"password": new}).status_code, passwords, 6
    )
    assert sorted(answers) == [303, 410, 410, 410, 410, 410]
    assert check_password(passwords[answers.index(303)], password_of(alice))


def test_s16_a_link_is_over_after_an_hour_and_after_any_change_of_the_password() -> None:
    alice, now = make_user(), datetime.now(UTC)
    link = path(operations.password_reset_link(alice))
    with time_machine.travel(now + timedelta(minutes=59)):
        assert Client().get(link).status_code == 200
    with time_machine.travel(now + timedelta(minutes=61)):
        assert Client().get(link).status_code == 410
    operations.change_password(alice, NEW, now)
    assert Client().get(link).status_code == 410
    for made_up in (
        "x",
        "a:b:c",
        operations.registration_link("a@example.com").rstrip("/").rpartition("/")[2],
    ):
        assert Client().get(reverse("accounts:reset_finish", args=[made_up])).status_code == 410


def test_s16_a_link_that_was_mailed_before_links_said_their_duration_is_valid_for_an_hour() -> None:
    alice = make_user()
    token = signing.dumps([alice.user_id.hex, account_fingerprint(alice)], salt="accounts.reset")
    found = operations.get_user_by_reset_token(token)
    assert found
    assert found.pk == alice.pk
    with time_machine.travel(datetime.now(UTC) + timedelta(hours=1, minutes=1), tick=True):
        assert operations.get_user_by_reset_token(token) is None


def test_s16_no_page_of_a_reset_reveals_its_address_to_another() -> None:
    alice = make_user()
    link = path(operations.password_reset_link(alice))
    for answer in (
        Client().get(link),
        Client().post(link, {"password": ""}),
        Client().get(link[:-5] + "/"),
    ):
        # Of its own site a browser then sends no more than the host, which a form's Origin needs.
        assert answer["Referrer-Policy"] == "strict-origin"
        assert "no-store" in answer["Cache-Control"]


def test_s16_the_link_is_made_of_our_own_address_whatever_the_host_header_says() -> None:
    alice = make_user()
    Client().post(RESET, {"email": alice.email}, headers={"host": "localhost"})
    (mail,) = list_mails_to(alice.email)
    assert f"{settings.PUBLIC_URL}/account/reset/" in mail.text
    assert "localhost" not in mail.text


def test_s9_a_reset_answers_alike_and_does_the_same_for_every_address() -> None:
    answers, costs = [], []
    for email in (make_user().email, f"nobody-{uuid4().hex}@example.com"):
        answer: Any = Client().post(RESET, {"email": email})
        answers.append(
            (answer.status_code, answer["Location"], answer.content, sorted(answer.headers))
        )
        with count_statements() as meter:
            operations.request_password_reset(email, datetime.now(UTC))
        costs.append((meter.statement_count, meter.round_count))
    assert answers[0] == answers[1]
    assert costs[0] == costs[1]
    assert "There is no account for this address" in reset_mail(f"nobody-{uuid4().hex}@example.com")


def test_the_page_of_sessions_tells_them_apart_and_ends_one_or_the_others() -> None:
    alice = make_user()
    here, phone, desk = signed_in(alice), signed_in(alice, IPHONE), signed_in(alice, "curl/8.5.0")
    page = here.get(SECURITY).content.decode()
    assert "Firefox on Linux" in page
    assert "Safari on iPhone" in page
    assert "Unknown browser" in page
    assert page.count("This device</span>") == 1
    for client in (here, phone, desk):
        assert key_of(client) not in page
    handle = next(
        each.handle
        for each in list_sessions(alice.pk, key_of(here))
        if each.device == "Safari on iPhone"
    )
    for _ in range(2):
        assert here.post(reverse("accounts:session_end"), {"session": handle}).status_code == 303
    assert (is_in(here), is_in(phone), is_in(desk)) == (True, False, True)
    here.post(reverse("accounts:sessions_end_others"))
    assert (is_in(here), is_in(desk)) == (True, False)
    answer = here.post(reverse("accounts:sessions_end_all"))
    assert answer["Location"] == reverse("accounts:login")
    assert not is_in(here)
    assert list_sessions(alice.pk, None) == []


def test_nobody_ends_somebody_elses_session() -> None:
    alice, mallory = make_user(), make_user("Mallory")
    hers, theirs = signed_in(alice), signed_in(mallory)
    (session,) = list_sessions(alice.pk, None)
    answer = theirs.post(reverse("accounts:session_end"), {"session": session.handle})
    nothing = theirs.post(reverse("accounts:session_end"), {"session": "nothing"})
    assert (answer.status_code, answer["Location"]) == (nothing.status_code, nothing["Location"])
    assert is_in(hers)


def test_s20_a_look_at_them_ends_no_session() -> None:
    alice = make_user()
    here, phone = signed_in(alice), signed_in(alice)
    for name in ("session_end", "sessions_end_others", "sessions_end_all"):
        assert here.get(reverse(f"accounts:{name}"))["Location"] == SECURITY
    assert is_in(here)
    assert is_in(phone)


def test_a_session_that_ended_by_itself_is_not_listed() -> None:
    alice = make_user()
    here, phone = signed_in(alice), signed_in(alice, IPHONE)
    SessionStore(key_of(phone)).delete()  # its place in the list is not known to this store
    assert [each.is_current for each in list_sessions(alice.pk, key_of(here))] == [True]


def test_a_device_is_described_in_words(rf: RequestFactory) -> None:
    chrome = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0 Safari/537.36"
    for agent, words in (
        (chrome, "Chrome on Windows"),
        (f"{chrome} Edg/126.0", "Edge on Windows"),
        (FIREFOX, "Firefox on Linux"),
        (IPHONE, "Safari on iPhone"),
        ("<script>", ""),
    ):
        assert browser_name(rf.get("/", headers={"User-Agent": agent})) == words


def test_x68_whoever_does_not_know_the_password_any_more_finds_the_way_on_the_page() -> None:
    page = Client().get(reverse("accounts:login")).content.decode()
    assert f'href="{RESET}"' in page
    assert 'autocomplete="username"' in page
    assert 'autocomplete="current-password"' in page
    assert "data-reveal" in page
    alice = make_user()
    mine = signed_in(alice).get(CHANGE).content.decode()
    for token in ("username", "current-password", "new-password"):
        assert f'autocomplete="{token}"' in mine
    assert "onpaste" not in page + mine
    assert (
        "maxlength"
        not in mine[mine.index('id="id_password"') - 200 : mine.index('id="id_password"') + 200]
    )
    both = [
        Client()
        .post(reverse("accounts:login"), {"email": email, "password": "wrong as can be"})
        .content.decode()
        for email in (alice.email, f"nobody-{uuid4().hex}@example.com")
    ]
    error_text = "The email address or password is wrong"
    assert all(error_text in text for text in both)

"""Becoming a member: a mail in every case, one account for an address, a link that works once."""

import re
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
import time_machine
from django.conf import settings
from django.contrib.auth import get_user
from django.contrib.auth.hashers import check_password
from django.test import Client
from django.urls import reverse

from accounts import operations, queries
from accounts.errors import EmailTaken
from accounts.forms import FinishRegistrationForm
from cassandra_db import RAISE_UNKNOWN, conditional_write, count_statements, scan, statements
from cassandra_db.session import get_session
from tests.accounts.browsers import fresh_email
from tests.accounts.mails import find_link, list_mails_to
from tests.factories import PASSWORD, make_user
from tests.lost_answers import AnswerLosingSession
from tests.reads import existing
from tests.threads import map_at_once

REGISTER = "/account/register/"
USERS = scan(
    "test",
    "SELECT user_id, email FROM users WHERE token(user_id) > :start AND token(user_id) <= :end",
)
ERASED = conditional_write("test", "DELETE FROM users WHERE user_id = :user_id IF EXISTS")


def test_it_mails_a_link_that_finishes_the_registration_and_logs_in() -> None:
    client, email = Client(), fresh_email()
    answer = client.post(REGISTER, {"email": email})
    assert (answer.status_code, answer["Location"]) == (303, reverse("accounts:sent"))
    assert b"Check your email" in client.get(answer["Location"]).content
    assert queries.find_user_by_email(email) is None
    (sent,) = list_mails_to(email)
    assert sent.subject == "Finish creating your account at Stoa"
    link = find_link(sent.text, REGISTER)
    assert link in sent.html
    page = client.get(link)
    assert email.encode() in page.content
    assert b'autocomplete="new-password"' in page.content
    answer = client.post(link, {"name": " Alice  Arbour ", "password": PASSWORD})
    assert (answer.status_code, answer["Location"]) == (303, reverse("accounts:profile"))
    user = existing(queries.find_user_by_email(email.upper()))
    assert (user.name, user.email, user.role, user.demo) == ("Alice Arbour", email, "", False)
    assert user.password.startswith("argon2")
    assert b"Alice Arbour" in client.get(reverse("accounts:profile")).content


def test_s9_the_answer_is_the_same_for_a_known_address_and_costs_the_same_statements() -> None:
    alice = make_user()
    answers, costs = [], []
    for email in (alice.email, fresh_email()):
        answer = Client().post(REGISTER, {"email": email})
        answers.append((answer.status_code, answer["Location"], answer.content))
        with count_statements() as meter:
            operations.request_registration(email, datetime.now(UTC))
        costs.append((meter.statement_count, meter.round_count))
    assert answers[0] == answers[1]
    assert costs[0] == costs[1]


def test_an_address_with_an_account_gets_another_mail() -> None:
    alice = make_user()
    Client().post(REGISTER, {"email": alice.email})
    (sent,) = list_mails_to(alice.email)
    assert sent.subject == "You already have an account at Stoa"
    assert f"{settings.PUBLIC_URL}/account/login/" in sent.text
    assert "/account/register/" not in sent.text


def test_submitting_the_form_again_at_once_sends_no_second_mail() -> None:
    email, now = fresh_email(), datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
    for seconds in (0, 1, 60):
        operations.request_registration(email, now + timedelta(seconds=seconds))
    operations.request_registration(email, now + timedelta(minutes=5))
    assert len(list_mails_to(email)) == 2


def test_s16_the_link_is_built_from_the_settings_and_never_from_the_host_header() -> None:
    email = fresh_email()
    assert (
        Client().post(REGISTER, {"email": email}, headers={"host": "evil.example"}).status_code
        == 400
    )
    Client().post(
        REGISTER,
        {"email": email},
        headers={"host": "localhost", "x-forwarded-host": "evil.example"},
    )
    (sent,) = list_mails_to(email)
    assert "evil" not in sent.text + sent.html
    assert find_link(sent.text, REGISTER)


def test_a_link_works_for_24_hours_and_only_as_it_was_made() -> None:
    link = operations.registration_link(fresh_email()).removeprefix(settings.PUBLIC_URL)
    assert Client().get(link).status_code == 200
    spoiled = link[:-3] + ("xx/" if not link.endswith("xx/") else "yy/")
    over = Client().get(spoiled)
    assert over.status_code == 410
    assert b"no longer works" in over.content
    with time_machine.travel(datetime.now(UTC) + timedelta(hours=24, minutes=1)):
        assert Client().get(link).status_code == 410
        assert Client().post(link, {"name": "A", "password": PASSWORD}).status_code == 410


def test_a_link_used_again_leads_to_the_login() -> None:
    email = fresh_email()
    link = operations.registration_link(email).removeprefix(settings.PUBLIC_URL)
    assert Client().post(link, {"name": "Alice", "password": PASSWORD}).status_code == 303
    for again in (
        Client().get(link),
        Client().post(link, {"name": "Mallory", "password": "another one of mine"}),
    ):
        assert again.status_code == 200
        assert b"Your account is ready" in again.content
        assert b'href="/account/login/"' in again.content
    user = existing(queries.find_user_by_email(email))
    assert check_password(PASSWORD, user.password)


def test_following_the_link_alone_makes_nothing() -> None:
    email = fresh_email()
    link = operations.registration_link(email).removeprefix(settings.PUBLIC_URL)
    client = Client()
    client.get(link)
    assert queries.find_user_by_email(email) is None


def test_s40_what_a_form_adds_by_itself_changes_nothing() -> None:
    email = fresh_email()
    link = operations.registration_link(email).removeprefix(settings.PUBLIC_URL)
    Client().post(
        link,
        {
            "name": "Eve",
            "password": PASSWORD,
            "role": "admin",
            "email": "x@example.com",
            "demo": "1",
            "active": "0",
        },
    )
    user = existing(queries.find_user_by_email(email))
    assert (user.role, user.demo, user.active) == ("", False, True)
    assert queries.find_user_by_email("x@example.com") is None


def test_s10_of_twenty_who_register_one_address_at_once_one_wins() -> None:
    email, now = fresh_email("race"), datetime.now(UTC)
    written = [email, email.upper(), f" {email}", email.title()]

    def register(number: int) -> bool:
        try:
            operations.register_user(written[number % 4], f"Racer {number}", None, now)
        except EmailTaken:
            return False
        return True

    won = map_at_once(register, range(20))
    assert won.count(True) == 1
    winner = existing(queries.find_user_by_email(email))
    assert winner.name == f"Racer {won.index(True)}"
    assert [row.user_id for row in USERS.iterate_table() if row.email.strip().lower() == email] == [
        winner.pk
    ]


def test_a_claim_whose_account_is_gone_can_be_claimed_again() -> None:
    gone = make_user()
    assert ERASED.apply(if_lost=RAISE_UNKNOWN, user_id=gone.pk)
    assert queries.find_user_by_email(gone.email) is None
    new = operations.register_user(gone.email, "Bob", PASSWORD, datetime.now(UTC))
    found = queries.find_user_by_email(gone.email)
    assert found == new
    with pytest.raises(EmailTaken):
        operations.register_user(gone.email, "Eve", PASSWORD, datetime.now(UTC))


def test_registering_with_an_id_of_its_own_twice_makes_one_account() -> None:
    user_id, email = uuid4(), fresh_email("demo")
    first = operations.register_user(
        email, "Sam", PASSWORD, datetime.now(UTC), login="demo", user_id=user_id
    )
    again = operations.register_user(
        email, "Someone", PASSWORD, datetime.now(UTC), login="demo", user_id=user_id
    )
    assert first == again
    assert again.name == "Sam"
    other = make_user()
    with pytest.raises(EmailTaken):
        operations.register_user(other.email, "Sam", PASSWORD, datetime.now(UTC), user_id=user_id)
    assert queries.get_user(user_id) == first


GOOD = [
    "six 2468",
    " spaces at both ends ",
    "пароль из слов",
    "密码密码密码密码",
    "🦦🦦🦦🦦🦦🦦🦦🦦",
    "x" * 64 + "y" * 64,
    "ж" * 128,
    "Correct horse, battery; staple!",
]


def test_s11_a_password_may_be_any_eight_letters_or_more_and_is_taken_as_typed(
    subtests: pytest.Subtests,
) -> None:
    for password in GOOD:
        with subtests.test(password=password):
            form = FinishRegistrationForm(
                {"name": "Alice", "password": password}, email="alice@example.com"
            )
            assert form.is_valid(), form.errors
            assert form.cleaned_data["password"] == password


def test_s11_short_common_obvious_and_endless_passwords_are_refused_in_words(
    subtests: pytest.Subtests,
) -> None:
    for password, words in (
        ("", "Choose a password"),
        ("seven77", "too short"),
        ("password1", "too common"),
        ("alice@example.com", "too easy to guess"),
        ("alicealice", ""),
        ("Stoastoa1!", "too easy to guess"),
        ("alicewonder", ""),
        ("alicewonder2024", ""),
        ("x" * 5000, "too long"),
        ("ж" * 2500, "too long"),
    ):
        with subtests.test(password=password):
            form = FinishRegistrationForm(
                {"name": "Alice", "password": password}, email="alice@example.com"
            )
            assert form.is_valid() is (not words)
            assert words in str(form.errors.get("password", ""))


def test_a_password_that_is_refused_keeps_the_name_and_says_why_at_the_field() -> None:
    link = operations.registration_link(fresh_email()).removeprefix(settings.PUBLIC_URL)
    answer = Client().post(link, {"name": "Alice", "password": "short"})
    page = answer.content.decode()
    assert answer.status_code == 422
    assert 'value="Alice"' in page
    assert "short" not in re.sub(r"too short", "", page)
    assert 'id="id_password_error"' in page


def test_x60_a_wrong_address_is_kept_as_typed_and_explained(subtests: pytest.Subtests) -> None:
    for email in (
        "",
        "alice",
        "alice@",
        "a" * 300 + "@example.com",
        "a b@example.com",
        "\x00@example.com",
    ):
        with subtests.test(email=email):
            answer = Client().post(REGISTER, {"email": email})
            assert answer.status_code == 422
            assert b"There is a problem" in answer.content
            assert b"<title>Error: " in answer.content


def test_the_user_of_a_registration_is_djangos_user() -> None:
    client, alice = Client(), make_user()
    client.force_login(alice)

    class Request:
        session = client.session

    assert get_user(Request()) == alice  # type: ignore[arg-type]


def test_a_repeat_whose_answer_was_lost_does_not_take_the_first_account_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first, other = make_user(), make_user()
    flaky = AnswerLosingSession(get_session())
    monkeypatch.setattr(statements, "get_session", lambda: flaky)
    with pytest.raises(EmailTaken):
        operations.register_user(
            other.email, "Alice", PASSWORD, datetime.now(UTC), user_id=first.user_id
        )
    assert flaky.lost_count
    assert queries.get_user(first.user_id) is not None

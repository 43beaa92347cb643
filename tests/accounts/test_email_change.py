"""A member's e-mail address changes: asked with the password, confirmed there, announced here, finished wherever it broke off."""

from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any
from unittest.mock import patch

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from accounts import operations, queries
from accounts.errors import EmailTaken
from accounts.models import User
from accounts.operations import email_change
from tests.accounts.browsers import fresh_email, is_in, path
from tests.accounts.mails import find_link, list_mails_to
from tests.factories import PASSWORD, make_user
from tests.reads import existing
from tests.threads import map_at_once

ASK = "/account/email/"


def signed_in(email: str, password: str = PASSWORD) -> Client:
    client = Client()
    client.post(reverse("accounts:login"), {"email": email, "password": password})
    return client


def read(alice: User) -> User:
    return existing(queries.get_user(alice.pk))


def test_s18_the_password_is_asked_the_new_address_confirms_and_the_old_one_gets_a_mail() -> None:
    alice, new = make_user(), fresh_email()
    here, phone = signed_in(alice.email), signed_in(alice.email)
    before = here.cookies[settings.SESSION_COOKIE_NAME].value
    wrong = here.post(ASK, {"email": new, "current": "something else"})
    assert wrong.status_code == 422
    assert "This isn’t your password".encode() in wrong.content
    assert list_mails_to(new) == []
    assert here.post(ASK, {"email": new, "current": PASSWORD}).status_code == 303
    (confirm,), (notice,) = list_mails_to(new), list_mails_to(alice.email)
    assert notice.subject == "Someone wants to change your email address at Stoa"
    assert new in notice.text
    link = find_link(confirm.text)
    assert link not in notice.text
    assert read(alice).email == alice.email
    page = here.get(link)
    assert page.status_code == 200
    assert read(alice).email == alice.email  # to look is not to confirm
    answer = here.post(link)
    assert (answer.status_code, answer["Location"]) == (303, reverse("accounts:profile"))
    changed = read(alice)
    assert (changed.email, changed.email_next, changed.email_before) == (new, None, None)
    assert changed.verified_at is not None
    assert [mail.subject for mail in list_mails_to(alice.email)][
        -1
    ] == "Your email address at Stoa was changed"
    assert is_in(here)
    assert here.cookies[settings.SESSION_COOKIE_NAME].value != before
    assert not is_in(phone)
    assert is_in(signed_in(new))
    assert not is_in(signed_in(alice.email))
    assert here.get(link).status_code == 410


def test_s18_a_link_serves_only_the_member_who_asked_for_it() -> None:
    alice, mallory, new = make_user(), make_user("Mallory"), fresh_email()
    link = path(operations.email_change_link(alice, new))
    assert Client().post(link)["Location"].startswith(reverse("accounts:login"))
    assert signed_in(mallory.email).post(link).status_code == 410
    operations.change_password(alice, "nine dry badgers", datetime.now(UTC))
    assert signed_in(alice.email, "nine dry badgers").post(link).status_code == 410
    assert read(alice).email == alice.email
    assert queries.find_user_by_email(new) is None


def test_s18_an_address_with_an_account_gets_a_mail_and_the_one_who_asks_is_not() -> None:
    alice, bob = make_user(), make_user("Bob")
    client = signed_in(alice.email)
    answers = [
        client.post(ASK, {"email": email, "current": PASSWORD})
        for email in (bob.email, fresh_email())
    ]
    assert answers[0].status_code == answers[1].status_code == 303
    assert answers[0]["Location"] == answers[1]["Location"]
    (mail_to_bob,) = list_mails_to(bob.email)
    assert mail_to_bob.subject == "You already have an account at Stoa"
    assert "/account/email/" not in mail_to_bob.text
    with pytest.raises(EmailTaken):
        operations.change_email(read(alice), bob.email, datetime.now(UTC))
    assert read(alice).email_next is None
    assert queries.find_user_by_email(bob.email) == bob


def test_s14_a_member_cannot_have_mails_sent_to_ever_more_addresses(settings: Settings) -> None:
    settings.RATE_LIMITS = settings.RATE_LIMITS | {"registration": (3, 0, 0, 60)}
    alice = signed_in(make_user().email)
    mails = [
        alice.post(ASK, {"email": fresh_email(), "current": PASSWORD}).status_code for _ in range(5)
    ]
    assert mails == [303, 303, 303, 429, 429]


def test_only_the_case_of_an_address_may_change() -> None:
    alice = make_user()
    operations.change_email(alice, alice.email.upper(), datetime.now(UTC))
    assert read(alice).email == alice.email.upper()
    assert queries.find_user_by_email(alice.email) == alice


def test_of_two_who_move_to_one_address_at_once_one_gets_it() -> None:
    new, movers = fresh_email(), [make_user(f"Mover{number}") for number in range(6)]

    def move(mover: User) -> bool:
        try:
            operations.change_email(mover, new, datetime.now(UTC))
        except EmailTaken:
            return False
        return True

    got = map_at_once(move, movers, 6)
    assert got.count(True) == 1
    winner = queries.find_user_by_email(new)
    assert winner == movers[got.index(True)]
    assert [read(mover).email == new for mover in movers] == got
    for mover, changed in zip(movers, got, strict=True):
        assert (queries.find_user_by_email(mover.email) == mover) is not changed


def test_a_registration_and_a_move_to_one_address_at_once_make_one_holder() -> None:
    new, alice = fresh_email(), make_user()

    def act(which: int) -> bool:
        with suppress(EmailTaken):
            if which:
                operations.register_user(new, "Bob", PASSWORD, datetime.now(UTC))
            else:
                operations.change_email(alice, new, datetime.now(UTC))
            return True
        return False

    did = map_at_once(act, (0, 1))
    assert did.count(True) == 1
    holder = existing(queries.find_user_by_email(new))
    assert (holder == alice) is did[0]
    assert (read(alice).email == new) is did[0]


class Crash(BaseException):
    pass


# Each step of a move, as it is called; the process dies right before or right after it.
STEPS = (
    "claim_email",
    "CHANGE_EMAIL.apply",
    "queue_mail",
    "EMAIL_RELEASED.apply",
    "FINISH_EMAIL_CHANGE.apply",
)


def crashing(step: str, *, after: bool) -> Any:
    owner, _, name = step.rpartition(".")
    module = getattr(email_change, owner) if owner else email_change
    real = getattr(module, name)

    def dies(*args: Any, **kwargs: Any) -> Any:
        if after:
            real(*args, **kwargs)
        raise Crash

    return patch.object(module, name, dies)


def test_s18_wherever_it_breaks_off_one_address_works_and_the_next_login_finishes(
    subtests: pytest.Subtests,
) -> None:
    for step, after in product(STEPS, (False, True)):
        with subtests.test(step=step, after=after):
            alice, new = make_user(), fresh_email()
            with crashing(step, after=after), pytest.raises(Crash):
                operations.change_email(alice, new, datetime.now(UTC))
            works = [
                email for email in (alice.email, new) if queries.find_user_by_email(email) == alice
            ]
            assert len(works) == 1
            assert works == [read(alice).email]
            assert is_in(signed_in(works[0]))
            done = read(alice)
            assert (done.email, done.email_next, done.email_before) == (new, None, None)
            assert queries.find_user_by_email(new) == alice
            assert queries.find_user_by_email(alice.email) is None
            # The address that was left is free for another user at once.
            assert (
                operations.register_user(alice.email, "Bob", PASSWORD, datetime.now(UTC)).email
                == alice.email
            )


def test_s18_a_claim_that_was_left_behind_logs_nobody_in_and_blocks_nobody() -> None:
    alice, new, now = make_user(), fresh_email(), datetime.now(UTC)
    with crashing("CHANGE_EMAIL.apply", after=False), pytest.raises(Crash):
        operations.change_email(alice, new, now)
    assert not is_in(signed_in(new))
    with pytest.raises(EmailTaken):  # it may still be under way
        operations.register_user(new, "Bob", PASSWORD, now)
    bob = operations.register_user(new, "Bob", PASSWORD, now + timedelta(minutes=2))
    assert queries.find_user_by_email(new) == bob
    # The user who was on the way there does not get it any more, and keeps the old address.
    assert is_in(signed_in(alice.email))
    assert (read(alice).email, read(alice).email_next) == (alice.email, None)
    assert queries.find_user_by_email(new) == bob


def test_an_abandoned_claim_of_ones_own_is_used_again() -> None:
    alice, new = make_user(), fresh_email()
    with crashing("CHANGE_EMAIL.apply", after=False), pytest.raises(Crash):
        operations.change_email(alice, new, datetime.now(UTC))
    assert operations.change_email(read(alice), new, datetime.now(UTC)).email == new
    assert operations.change_email(read(alice), alice.email, datetime.now(UTC)).email == alice.email
    assert queries.find_user_by_email(new) is None

"""Logging in and out, as in any Django project."""

from unittest.mock import Mock, patch
from uuid import uuid4

import pytest
from django.conf import settings
from django.contrib.auth import authenticate, get_user, hashers
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory
from django.urls import reverse
from pytest_django import Settings

from accounts import queries
from accounts.access import member_required
from accounts.models import User
from cart.errors import CartBusy
from cart.operations import add_line
from cart.owner import get_guest_id, get_or_create_owner_id, set_cart_cookie
from cassandra_db import CassandraUnavailable, count_statements
from tests.cart.guests import get_active_cart
from tests.cart.products import make_mug
from tests.factories import PASSWORD, make_user
from tests.reads import existing

LOGIN = "/account/login/"


def logged_in(client: Client) -> bool:
    return bool(get_user(_Request(client)).is_authenticated)  # type: ignore[arg-type]


class _Request:
    def __init__(self, client: Client) -> None:
        self.session = client.session


def test_the_test_clients_login_force_login_logout_and_session_work_as_in_any_django_project() -> (
    None
):
    alice = make_user()
    client = Client()
    assert not client.login(username=alice.email, password="something else")
    assert client.login(username=alice.email, password=PASSWORD)
    assert get_user(_Request(client)) == alice  # type: ignore[arg-type]
    session = client.session
    session["note"] = "kept"
    session.save()
    assert client.session["note"] == "kept"
    client.logout()
    assert not logged_in(client)
    client.force_login(alice)
    assert logged_in(client)
    assert client.login(email=alice.email.upper(), password=PASSWORD)


def test_request_user_is_authenticated_and_a_personal_page_asks_for_login(
    rf: RequestFactory,
) -> None:
    seen = []

    @member_required
    def view(request: HttpRequest) -> HttpResponse:
        seen.append(request.user)
        return HttpResponse("yours")

    request = rf.get("/account/?a=1")
    request.user = make_user()
    assert view(request).content == b"yours"
    assert seen == [request.user]
    guest = Client().get(reverse("accounts:addresses"))
    assert guest.status_code == 302
    assert guest["Location"] == f"{LOGIN}?next=/account/addresses/"


def test_it_logs_in_and_goes_on_to_the_page_that_asked() -> None:
    client, alice = Client(), make_user()
    answer = client.post(
        LOGIN, {"email": f" {alice.email} ", "password": PASSWORD, "next": "/account/addresses/"}
    )
    assert answer.status_code == 303  # X2
    assert answer["Location"] == "/account/addresses/"
    assert logged_in(client)
    assert client.get(LOGIN)["Location"] == reverse("accounts:profile")
    found = existing(queries.get_user(alice.pk))
    assert found.last_login_at >= found.created_at
    assert "Last signed in" in client.get(reverse("accounts:profile")).content.decode()


def test_s32_where_to_go_on_is_a_path_of_this_site_and_never_the_name_of_a_view(
    subtests: pytest.Subtests,
) -> None:
    alice = make_user()
    for to in ("abc", "home", "accounts:logout", "mailto:a@example.com", "//evil.example/"):
        with subtests.test(to):
            client = Client()
            answer = client.post(LOGIN, {"email": alice.email, "password": PASSWORD, "next": to})
            assert logged_in(client)
            assert answer["Location"] == reverse("accounts:profile")
            assert client.get(LOGIN, {"next": to})["Location"] == reverse("accounts:profile")


def test_s32_next_leads_only_to_this_site(subtests: pytest.Subtests) -> None:
    alice = make_user()
    for evil in (
        "//evil.example",
        "\\\\evil.example",
        "https:evil.example",
        "https://evil.example/",
        "javascript:alert(1)",
        "data:text/html,x",
        "/\\evil.example",
        "http:///evil.example",
        " //evil.example",
        "///evil.example",
        # Nor is there a host, not even this one.
        "//testserver/account/",
        "https://testserver/account/",
    ):
        with subtests.test(evil):
            answer = Client().post(
                LOGIN, {"email": alice.email, "password": PASSWORD, "next": evil}
            )
            assert answer["Location"] == reverse("accounts:profile")


def test_s32_a_line_break_in_next_makes_no_header() -> None:
    client, alice = Client(), make_user()
    answer = client.post(
        LOGIN, {"email": alice.email, "password": PASSWORD, "next": "/a\r\nSet-Cookie: x=y"}
    )
    assert "x" not in answer.cookies
    assert "\n" not in answer["Location"]


def test_s8_one_message_for_both_errors_and_the_same_page() -> None:
    alice = make_user()
    pages = []
    for email in (alice.email, f"nobody-{uuid4().hex}@example.com"):
        answer = Client().post(LOGIN, {"email": email, "password": "wrong wrong wrong"})
        assert answer.status_code == 422
        pages.append(answer.content.decode().replace(email, "EMAIL"))
    strip = [_without_tokens(page) for page in pages]
    assert strip[0] == strip[1]
    assert "The email address or password is wrong" in pages[0]


def _without_tokens(page: str) -> str:
    import re

    return re.sub(r'(value=|x-csrftoken": )"[^"]{64}"', "TOKEN", page)


@pytest.mark.parametrize("password", ["wrong wrong wrong", ""])
def test_s8_known_and_unknown_addresses_cost_the_same_statements_and_one_hash(
    password: str,
) -> None:
    alice, staff, nobody = (
        make_user(),
        make_user(password=None),
        f"nobody-{uuid4().hex}@example.com",
    )
    costs = []
    for email in (alice.email, staff.email, nobody):
        with (
            count_statements() as meter,
            patch.object(
                hashers.Argon2PasswordHasher,
                "encode",
                autospec=True,
                side_effect=hashers.Argon2PasswordHasher.encode,
            ) as made,
            patch.object(
                hashers.Argon2PasswordHasher,
                "verify",
                autospec=True,
                side_effect=hashers.Argon2PasswordHasher.verify,
            ) as verified,
        ):
            assert authenticate(username=email, password=password) is None
        costs.append(
            (meter.statement_count, meter.round_count, made.call_count + verified.call_count)
        )
    assert costs == [(2, 2, 1)] * 3


def test_s11_a_password_over_4_kb_is_refused_before_any_hash() -> None:
    alice = make_user()
    with (
        count_statements() as meter,
        patch.object(hashers.Argon2PasswordHasher, "verify") as verified,
    ):
        assert authenticate(username=alice.email, password="x" * 5000) is None
    assert meter.statement_count == 0
    assert not verified.called


def test_s13_passwords_over_4_kb_are_counted_like_others_as_each_is_entered_in_the_log(
    settings: Settings,
) -> None:
    settings.RATE_LIMITS = settings.RATE_LIMITS | {"login": (3, 0, 0, 60)}
    sent = {"email": make_user().email, "password": "x" * 5000}
    assert [Client().post(LOGIN, sent).status_code for _ in range(5)] == [422, 422, 422, 429, 429]


def test_an_inactive_looking_row_or_a_demo_login_gets_in_nowhere_but_in_a_demo_shop(
    settings: Settings,
) -> None:
    demo = make_user(demo=True)
    client = Client()
    assert client.login(username=demo.email, password=PASSWORD)
    settings.DEMO = False
    assert not Client().login(username=demo.email, password=PASSWORD)
    assert not logged_in(client)  # nor by a session from before
    assert demo.email.encode() not in Client().get(LOGIN).content


def test_the_demo_shops_login_page_shows_its_logins_and_a_shops_does_not(
    settings: Settings,
) -> None:
    assert b"shopper@shop.example" in Client().get(LOGIN).content
    settings.DEMO = False
    assert b"shopper@shop.example" not in Client().get(LOGIN).content


def test_logging_in_takes_a_submit_and_logging_out_too() -> None:
    client = Client()
    client.force_login(make_user())
    page = client.get(reverse("accounts:logout"))
    assert page.status_code == 200
    assert logged_in(client)
    assert client.post(reverse("accounts:logout"))["Location"] == "/"
    assert not logged_in(client)


def test_s19_a_login_without_a_token_is_refused() -> None:
    strict = Client(enforce_csrf_checks=True)
    alice = make_user()
    assert strict.post(LOGIN, {"email": alice.email, "password": PASSWORD}).status_code == 403
    token = strict.get(LOGIN).cookies[settings.CSRF_COOKIE_NAME].value
    answer = strict.post(
        LOGIN, {"email": alice.email, "password": PASSWORD, "csrfmiddlewaretoken": token}
    )
    assert answer.status_code == 303
    assert answer.cookies[settings.CSRF_COOKIE_NAME].value != token


def test_s66_a_login_that_was_answered_by_503_can_be_sent_again_as_it_was() -> None:
    strict, alice = Client(enforce_csrf_checks=True), make_user()
    token = strict.get(LOGIN).cookies[settings.CSRF_COOKIE_NAME].value
    form = {"email": alice.email, "password": PASSWORD, "csrfmiddlewaretoken": token}
    # Cassandra goes away after Django has made another token.
    with patch("accounts.login.operations.process_sign_in", side_effect=CassandraUnavailable):
        answer = strict.post(LOGIN, form)
    assert answer.status_code == 503
    assert settings.CSRF_COOKIE_NAME not in answer.cookies
    strict.raise_request_exception = False
    with patch("accounts.login.operations.process_sign_in", side_effect=RuntimeError):
        assert strict.post(LOGIN, form).status_code == 500
    assert strict.post(LOGIN, form).status_code == 303
    assert logged_in(strict)


def test_a_guests_carts_come_along(rf: RequestFactory) -> None:
    from datetime import UTC, datetime

    request = rf.post("/")
    request.user = type("Guest", (), {"is_authenticated": False})()
    guest_id, product = get_or_create_owner_id(request), make_mug()
    add_line(guest_id, product, product.variants[0], 2, uuid4(), datetime.now(UTC))
    response = HttpResponse()
    set_cart_cookie(request, response)
    client, alice = Client(), make_user()
    client.cookies[settings.CART_COOKIE_NAME] = response.cookies[settings.CART_COOKIE_NAME].value
    answer = client.post(LOGIN, {"email": alice.email, "password": PASSWORD})
    assert answer.cookies[settings.CART_COOKIE_NAME].value == ""
    cart = existing(get_active_cart(alice.pk))
    assert cart.item_count == 2
    assert get_guest_id(request) == guest_id


def test_carts_that_are_too_busy_to_come_along_keep_nobody_from_logging_in(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.post(reverse("cart:make"), {"name": "Gifts", "operation": str(uuid4())})
    user = make_user()
    with monkeypatch.context() as busy:
        busy.setattr("accounts.login.claim_guest_carts", Mock(side_effect=CartBusy))
        assert client.post(LOGIN, {"email": user.email, "password": PASSWORD}).status_code == 303
    assert logged_in(client)
    assert client.cookies[settings.CART_COOKIE_NAME].value  # the next login finds them
    assert client.post(reverse("accounts:logout")).status_code == 303
    assert client.post(LOGIN, {"email": user.email, "password": PASSWORD}).status_code == 303
    cart = existing(get_active_cart(user.user_id))
    assert cart.name == "Gifts"


def test_a_last_login_that_cannot_be_noted_keeps_nobody_from_logging_in(client: Client) -> None:
    user = make_user()
    with patch("accounts.login.operations.record_login", side_effect=CassandraUnavailable):
        assert client.post(LOGIN, {"email": user.email, "password": PASSWORD}).status_code == 303
    assert logged_in(client)


def test_x68_the_form_helps_password_managers_and_takes_pasted_words() -> None:
    page = Client().get(LOGIN).content.decode()
    assert 'autocomplete="username"' in page
    assert 'autocomplete="current-password"' in page
    assert 'data-reveal=""' in page
    assert "onpaste" not in page
    assert (
        "maxlength"
        not in page[page.index('name="password"') - 80 : page.index('name="password"') + 200]
    )


def test_x60_what_was_typed_is_kept_but_no_password_comes_back() -> None:
    page = (
        Client()
        .post(LOGIN, {"email": "no address", "password": "my secret words"})
        .content.decode()
    )
    assert 'value="no address"' in page
    assert "my secret words" not in page


def test_x59_errors_stand_in_a_summary_and_at_their_field_and_the_title_says_so() -> None:
    page = Client().post(LOGIN, {"email": "no address", "password": ""}).content.decode()
    assert "<title>Error: Sign in" in page
    assert "There is a problem" in page
    assert 'href="#id_email"' in page
    assert 'aria-invalid="true"' in page
    assert page.count("Enter an email address in the format name@example.com") == 2
    assert page.count("Enter your password") == 2
    assert "novalidate" in page


def test_a_user_is_read_afresh_in_each_request(client: Client) -> None:
    from accounts.operations import save_name

    alice = make_user()
    client.force_login(alice)
    assert b"Alice" in client.get(reverse("accounts:profile")).content
    save_name(alice.pk, "Alicia")
    assert b"Alicia" in client.get(reverse("accounts:profile")).content
    found = queries.find_user_by_email(alice.email)
    assert isinstance(found, User)
    assert found.name == "Alicia"


def test_the_hash_is_renewed_at_login_when_the_hashers_settings_have_changed(
    settings: Settings,
) -> None:
    alice = make_user()
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.Argon2PasswordHasher"]
    assert Client().login(username=alice.email, password=PASSWORD)
    renewed = existing(queries.get_user(alice.pk))
    assert renewed.password != alice.password
    assert Client().login(username=alice.email, password=PASSWORD)

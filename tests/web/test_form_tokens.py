"""The tokens of forms: each page has another one, and Django accepts them."""

from unittest.mock import Mock

import pytest
from django.http import HttpRequest
from django.middleware import csrf
from django.middleware.csrf import CSRF_ALLOWED_CHARS, CSRF_SECRET_LENGTH, get_token
from django.test import Client

from tests.factories import make_user
from web import form_tokens
from web.form_tokens import get_form_token, mask_secret


def is_accepted(token: str, secret: str) -> bool:
    """Return whether Django's own check accepts a form's token."""
    return bool(csrf._does_token_match(token, secret))  # type: ignore[attr-defined]


def make_secrets() -> list[str]:
    """Secrets of Django, and those with its first and last letters, which wrap around."""
    requests = [HttpRequest() for _ in range(50)]
    for request in requests:
        get_token(request)
    drawn = [request.META["CSRF_COOKIE"] for request in requests]
    return [*drawn, *(letter * CSRF_SECRET_LENGTH for letter in CSRF_ALLOWED_CHARS)]


def test_x580_each_token_hides_its_secret_in_another_way() -> None:
    for secret in make_secrets():
        tokens = {mask_secret(secret) for _ in range(5)}
        assert len(tokens) == 5
        for token in tokens:
            assert set(token) <= set(CSRF_ALLOWED_CHARS)
            assert secret not in token
            assert is_accepted(token, secret)
        assert not is_accepted(mask_secret(secret), secret[::-1] + "x")


def test_x580_no_letter_of_a_mask_is_more_frequent(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = [b"\xff" * 48, bytes(48)]  # the last bytes would favour the first letters
    monkeypatch.setattr(form_tokens, "urandom", Mock(side_effect=drawn))
    assert mask_secret("b" * CSRF_SECRET_LENGTH)[:CSRF_SECRET_LENGTH] == "a" * CSRF_SECRET_LENGTH


def test_x580_a_form_is_accepted_with_its_token_alone() -> None:
    user = make_user()
    client = Client(enforce_csrf_checks=True)
    form = {"username": user.email, "password": "wrong"}
    page = client.get("/account/login/")
    assert client.post("/account/login/", form).status_code == 403
    token = str(page.context["csrf_token"])
    answer = client.post("/account/login/", form | {"csrfmiddlewaretoken": token})
    assert answer.status_code == 422


def test_x580_a_token_sets_the_cookie_of_its_secret() -> None:
    request = HttpRequest()
    token = get_form_token(request)
    assert request.META["CSRF_COOKIE_NEEDS_UPDATE"]
    assert is_accepted(token, request.META["CSRF_COOKIE"])
    assert is_accepted(get_form_token(request), request.META["CSRF_COOKIE"])

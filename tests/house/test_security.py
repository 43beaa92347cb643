"""Each rule of security that holds in this shop has a test that bears its number; and what holds for every address."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from accounts.access import ROLES
from tests.factories import PASSWORD, make_product, make_user
from tests.house.rooms import ROOT

RULES = [*range(1, 26), *range(32, 41), 46, 47, 52, 53, 54]
# What an address is made of, when it does not matter what it leads to.
ANY = {
    "uuid": "2f1f7a52-5d0c-4d52-9f5a-6a2f3b1c9d10",
    "int": "7",
    "slug": "any",
    "str": "any",
}
# The bank's notices carry a signature in a form's token's stead (S46).
WITHOUT_TOKEN = {"orders:payment_notice"}


def numbered() -> set[int]:
    """Return the rules that a test's name begins with: `test_s7_…`, or `test_x43_s35_…` for two in one."""
    found: set[int] = set()
    for path in (ROOT / "tests").rglob("test_*.py"):
        for name in re.findall(r"def test_((?:[a-z]\d+_)+)", path.read_text()):
            found |= {int(number) for number in re.findall(r"s(\d+)", name)}
    return found


def test_it_has_a_test_named_by_its_number() -> None:
    without = sorted(set(RULES) - numbered())
    assert not without, f"no test bears the number of {without}"


def views(patterns: Any = None, space: str = "", route: str = "") -> Iterator[tuple[str, str, Any]]:
    """All views of the shop: name, an address of it, view."""
    for pattern in get_resolver().url_patterns if patterns is None else patterns:
        if isinstance(pattern, URLResolver):
            inner = f"{space}{pattern.namespace}:" if pattern.namespace else space
            yield from views(pattern.url_patterns, inner, f"{route}{pattern.pattern}")
        elif isinstance(pattern, URLPattern):
            path = re.sub(r"<(\w+):\w+>", lambda found: ANY[found[1]], f"/{route}{pattern.pattern}")
            yield f"{space}{pattern.name}", path, pattern.callback


VIEWS = {name: (path, view) for name, path, view in views()}


@pytest.mark.parametrize("name", VIEWS)
def test_s25_each_view_says_whom_it_is_for(name: str) -> None:
    """See docs/architecture.md: @public, @own, @personal or @staff_required(roles) on each view."""
    view = VIEWS[name][1]
    assert getattr(view, "access", None) in {"public", "own", "member", "staff"}
    if view.access == "staff":
        assert view.roles
        assert set(view.roles) <= set(ROLES)
    assert (view.access == "staff") == VIEWS[name][0].startswith("/staff/")


@pytest.mark.parametrize("name", [name for name, (_, view) in VIEWS.items() if view.access in ("member", "staff")])
def test_s25_what_is_for_members_and_staff_sends_a_guest_to_log_in(client: Client, name: str) -> None:
    seen, pressed = client.get(VIEWS[name][0]), client.post(VIEWS[name][0])
    assert seen.status_code == 302
    assert seen["Location"].startswith(reverse("accounts:login"))
    # What nobody can press at all says so first.
    assert pressed.status_code == 405 or pressed["Location"].startswith(reverse("accounts:login"))


@pytest.mark.parametrize("name", VIEWS.keys() - WITHOUT_TOKEN)
def test_s19_no_press_counts_without_its_token(name: str) -> None:
    answer = Client(enforce_csrf_checks=True).post(VIEWS[name][0], {"operation": "any"})
    assert answer.status_code == 403
    assert "Nothing was changed" in answer.content.decode()


def test_s19_htmx_sends_it_by_header_and_it_is_another_one_after_login() -> None:
    user, strict = make_user(), Client(enforce_csrf_checks=True)
    page = strict.get(reverse("accounts:login")).content.decode()
    sent = re.search(r'x-csrftoken": "(\w+)"', page)
    assert sent
    before = strict.cookies[settings.CSRF_COOKIE_NAME].value
    typed = {"email": user.email, "password": PASSWORD}
    answer = strict.post(reverse("accounts:login"), typed, headers={"X-CSRFToken": sent[1], "HX-Request": "true"})
    assert answer["HX-Redirect"] == reverse("accounts:profile")
    assert strict.cookies[settings.CSRF_COOKIE_NAME].value != before
    # The token of a page from before the login is worth nothing any more; that of a fresh page is.
    old = strict.post(reverse("accounts:profile"), {"name": "Eve"}, headers={"X-CSRFToken": sent[1]})
    assert old.status_code == 403
    fresh = re.search(r'x-csrftoken": "(\w+)"', strict.get(reverse("accounts:profile")).content.decode())
    assert fresh
    answer = strict.post(reverse("accounts:profile"), {"name": "Ann"}, headers={"X-CSRFToken": fresh[1]})
    assert answer.status_code == 303


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "http://testserver"}, 403),  # the same name, without TLS
        ({"Origin": "null"}, 403),
        ({"Referer": "https://evil.example/testserver"}, 403),
        ({}, 403),  # neither of the two
        ({"Origin": "https://testserver"}, 422),
        ({"Referer": "https://testserver/account/login/"}, 422),
    ],
    ids=str,
)
def test_s21_over_tls_a_press_comes_from_our_own_pages(headers: dict[str, str], status: int) -> None:
    strict = Client(enforce_csrf_checks=True)
    page = strict.get(reverse("accounts:register"), secure=True).content.decode()
    token = re.search(r'x-csrftoken": "(\w+)"', page)
    assert token
    sent = {"X-CSRFToken": token[1], **headers}
    assert strict.post(reverse("accounts:register"), {"email": ""}, secure=True, headers=sent).status_code == status


@pytest.mark.parametrize(
    "to",
    [
        "//evil.example",
        "https://evil.example",
        "\\\\evil.example",
        "/\\evil.example",
        "javascript:alert(1)",
        "/\r\nX: y",
    ],
    ids=repr,
)
def test_s33_htmx_is_never_led_where_a_request_says(client: Client, to: str) -> None:
    user = make_user()
    typed = {"email": user.email, "password": PASSWORD, "next": to}
    answers = [client.post(reverse("accounts:login"), typed, headers={"HX-Request": "true"})]
    sku = make_product().variants[0].sku
    for name in ("cart:switch", "cart:add", "accounts:addresses", "cart:panel"):
        headers = {"HX-Request": "true"}
        if "\n" not in to:
            headers |= {"HX-Current-URL": to, "Referer": to}
        answers.append(client.post(reverse(name), {"next": to, "variant": sku}, headers=headers))
        answers.append(Client().get(reverse(name), {"next": to}, headers=headers))
    for answer in answers:
        for header in ("HX-Redirect", "HX-Location", "HX-Push-Url", "HX-Replace-Url", "Location"):
            told = answer.get(header, "")
            assert not told or (told.startswith("/") and not told.startswith(("//", "/\\")))
            assert "evil.example" not in told.split("?")[0]
            assert "evil.example" not in told or "next=" not in told

"""What every page of an account has, and its cookies."""

import json
import os
import re
import subprocess
import sys

from django.conf import settings
from django.test import Client
from django.urls import reverse

from accounts import operations
from accounts.addresses import Address
from tests.factories import make_user

GUESTS = (
    "accounts:register",
    "accounts:sent",
    "accounts:login",
    "accounts:logout",
    "mail:messages",
)
MEMBERS = ("accounts:profile", "accounts:addresses", "accounts:address_add", "accounts:logout")


def pages() -> dict[str, str]:
    guest, member, alice = Client(), Client(), make_user()
    member.force_login(alice)
    operations.save_address(alice.pk, Address("Alice", "Lindenallee 5", "10115", "Berlin", "DE"))
    link = operations.registration_link("new@example.com").removeprefix(settings.PUBLIC_URL)
    found = {f"guest {name}": guest.get(reverse(name)) for name in GUESTS}
    found |= {f"member {name}": member.get(reverse(name)) for name in MEMBERS}
    found["edit"] = member.get(reverse("accounts:address_edit", args=[1]))
    found["finish"] = guest.get(link)
    assert {answer.status_code for answer in found.values()} == {200}
    return {name: answer.content.decode() for name, answer in found.items()}


def test_x5_each_page_has_a_skip_link_first_one_h1_and_a_title_of_its_own() -> None:
    titles = set()
    for name, page in pages().items():
        body = page[page.index("<body") :]
        assert re.search(r"<a\b[^>]*>", body)[0].startswith('<a class="skip" href="#main"'), name  # type: ignore[index]
        assert len(re.findall(r"<h1\b", page)) == 1, name
        titles.add(re.search(r"<title>(.*?)</title>", page)[1])  # type: ignore[index]
        assert '<html lang="en">' in page  # X19
    assert len(titles) == len(GUESTS) + len(MEMBERS) + 1  # to sign out has one title, whoever asks


def test_x19_times_are_written_for_people_and_for_machines() -> None:
    client = Client()
    client.force_login(make_user())
    page = client.get(reverse("accounts:profile")).content.decode()
    assert re.search(
        r'<time datetime="20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d">\d{1,2} [A-Z][a-z]+ 20\d\d</time>',
        page,
    )


def test_no_page_of_an_account_is_for_search_engines_or_has_anything_inline() -> None:
    for name, page in pages().items():
        assert '<meta name="robots" content="noindex">' in page, name
        assert not re.search(r"\sstyle=|\son[a-z]+=|<style|<script(?![^>]*\ssrc=)", page), name


def test_x17_another_method_is_refused_and_changes_nothing() -> None:
    names = ("accounts:login", "accounts:register", "accounts:profile")
    assert {name: Client().delete(reverse(name)).status_code for name in names} == dict.fromkeys(
        names, 405
    )


def test_s7_over_https_the_cookies_belong_to_this_host_alone() -> None:
    names = ("SESSION_COOKIE", "CSRF_COOKIE")
    program = (
        "import json; from storefront import settings as s; print(json.dumps({n: [getattr(s, n + part) for part in"
        "('_NAME', '_SECURE', '_HTTPONLY', '_SAMESITE')] for n in ('SESSION_COOKIE', 'CSRF_COOKIE')}))"
    )
    output = subprocess.run(
        [sys.executable, "-c", program],
        cwd=settings.BASE_DIR,
        env=os.environ | {"STOA_HTTPS": "1"},
        capture_output=True,
        check=True,
        text=True,
    )
    for name, (cookie, *flags) in json.loads(output.stdout).items():
        assert name in names
        assert cookie.startswith("__Host-")
        assert flags == [True, True, "Lax"]
    client = Client()
    client.force_login(make_user())
    answer = client.get(reverse("accounts:login"))
    assert answer.status_code == 302
    cookie = client.cookies[settings.SESSION_COOKIE_NAME]
    assert cookie["path"] == "/"
    assert not cookie["domain"]


def test_x17_a_request_for_another_host_gets_a_styled_answer_though_nobody_asked_who_it_is() -> (
    None
):
    for secure in (False, True):
        answer = Client().get("/account/login/", headers={"host": "evil.example"}, secure=secure)
        assert answer.status_code == 400
        assert "We couldn’t process your request".encode() in answer.content

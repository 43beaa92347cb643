"""Files come in by marked staff views alone; nobody else can fill the shop's disk."""

import re
import time
from types import SimpleNamespace
from typing import cast
from unittest import mock
from urllib.parse import urlencode

import pytest
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import RequestDataTooBig
from django.core.files.base import ContentFile
from django.core.files.uploadedfile import UploadedFile
from django.core.signing import SignatureExpired
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory
from pytest_django import Settings

from accounts import sessions
from accounts.models import User
from tests.architecture.apps import ROOT
from tests.architecture.routes import ROUTES
from tests.factories import make_user
from tests.reads import existing
from web.uploads import (
    SHOPPER_UPLOADS,
    STAFF_UPLOADS,
    UploadGrant,
    find_upload_grant,
    takes_files,
    upload_url,
)


def view(request: HttpRequest) -> HttpResponse:
    return HttpResponse()


def send(handled_by: object) -> "list[UploadedFile[bytes]]":
    """Send two files to a view, and return what it gets of them."""
    files = {"small": ContentFile(b"x" * 10, "small"), "large": ContentFile(b"y" * 500_000, "../l")}
    request = RequestFactory().post("/", files)
    request.resolver_match = SimpleNamespace(func=handled_by)  # type: ignore[assignment]
    return [cast("UploadedFile[bytes]", request.FILES[name]) for name in files]


def test_a_file_is_refused_wherever_it_is_sent() -> None:
    statuses = {}
    for address in ("/account/login/", "/cart/add/", "/account/register/", "/orders/"):
        for checks in (True, False):
            client = Client(enforce_csrf_checks=checks)
            client.get("/account/login/")  # for the cookie: without it the form is not looked at
            form = {"email": "a@example.com", "file": ContentFile(b"x" * 1000, "x")}
            statuses[address, checks] = client.post(address, form).status_code
    assert statuses == dict.fromkeys(statuses, 400)


def test_a_form_without_a_file_may_be_sent_in_parts() -> None:
    assert (
        Client().post("/account/login/", {"email": "a@example.com", "password": ""}).status_code
        == 422
    )


def test_s82_a_mark_lets_files_in_where_it_is_known_who_sends_and_bounds_each() -> None:
    marked = takes_files(max_bytes=1000)(lambda request: HttpResponse())
    with pytest.raises(RequestDataTooBig):
        send(marked)
    marked.access = "public"  # type: ignore[attr-defined]
    with pytest.raises(RequestDataTooBig):
        send(marked)
    marked.access = "staff"  # type: ignore[attr-defined]
    small, large = send(marked)
    assert (small.size, len(small.read()), small.name) == (10, 10, "small")
    assert (large.size, large.name) == (500_000, "l"), "its whole size, and no folder"
    assert len(large.read()) < 100_000, "of what is too large the rest is not kept"
    with pytest.raises(RequestDataTooBig):
        send(view)


def test_s82_every_view_that_takes_files_knows_who_sends_and_is_let_through_by_the_proxy() -> None:
    marked = [each for each in ROUTES if hasattr(each.view, "max_file_bytes")]
    shoppers = {each.name for each in marked if each.view.access != "staff"}
    messages = {"conversations:contact", "conversations:guest", "conversations:reply"}
    texts = {"reviews:write", "reviews:write_as_guest", "posts:write"}
    assert shoppers == texts | messages
    # What stands before the shop lets so much in nowhere else.
    proxy = (ROOT / "deploy" / "Caddyfile").read_text()
    patterns = dict(re.findall(r"@(\w+) (?:not )?path_regexp (\S+)", proxy))
    assert patterns["forms"] == f"{patterns['uploads']}|{patterns['pictures']}"
    sizes = dict(re.findall(r"request_body @(\w+) \{\s+max_size (\d+)MB", proxy))
    for name, limits in (("uploads", STAFF_UPLOADS), ("pictures", SHOPPER_UPLOADS)):
        assert int(sizes[name]) * 2**20 == limits.max_bytes
    let_through = {
        each.name: "uploads" if re.search(patterns["uploads"], each.sample_path) else "pictures"
        for each in ROUTES
        if re.search(patterns["forms"], each.sample_path)
    }
    assert {name for name, kind in let_through.items() if kind == "pictures"} >= shoppers
    assert [
        each.name
        for each in marked
        if let_through.get(each.name) != ("pictures" if each.name in shoppers else "uploads")
    ] == []


def ask_as(user: User | None = None, csrf: str = "") -> HttpRequest:
    request = RequestFactory().get("/")
    request.user = user or AnonymousUser()
    if csrf:
        request.META["CSRF_COOKIE"] = csrf
    return request


def test_s82_only_an_address_that_was_signed_not_long_ago_takes_more_than_a_form(
    settings: Settings,
) -> None:
    request = ask_as(make_user())
    for limits in (STAFF_UPLOADS, SHOPPER_UPLOADS):
        query = upload_url(request, "/staff/", limits).partition("?")[2]
        grant = existing(find_upload_grant("/staff/", query))
        assert grant.limits == limits
        for wrong in ("", "upload=", "upload=files", f"{query}x"):
            assert find_upload_grant("/staff/", wrong) is None, wrong
        for elsewhere in ("/", "/staff/x", "/account/login/"):
            assert find_upload_grant(elsewhere, query) is None, elsewhere
        # As long as a session may last, and no longer.
        made_at, lasts = time.time(), getattr(settings, limits.session_setting)
        for later, is_over in ((lasts - 60, False), (lasts + 60, True)):
            with mock.patch("django.core.signing.time.time", return_value=made_at + later):
                if is_over:
                    with pytest.raises(SignatureExpired):
                        find_upload_grant("/staff/", query)
                else:
                    assert find_upload_grant("/staff/", query) == grant
    assert tuple(
        getattr(settings, each.session_setting) for each in (STAFF_UPLOADS, SHOPPER_UPLOADS)
    ) == (sessions.MAX_STAFF_SESSION_SECONDS, sessions.MAX_SESSION_SECONDS)


def test_s67_only_a_page_of_staff_has_an_address_that_takes_many_fields(settings: Settings) -> None:
    """Each field takes time before anybody is asked who they are."""
    login, request = "/account/login/", ask_as(make_user())
    most = settings.MAX_FORM_FIELDS
    few, many = ({f"f{n}": "" for n in range(count)} for count in (most, most + 1))
    signed = {each: upload_url(request, login, each) for each in (SHOPPER_UPLOADS, STAFF_UPLOADS)}
    for address, sent, status in (
        (login, few, 422),
        (login, many, 400),
        (f"{login}?upload=x", many, 400),
        (signed[SHOPPER_UPLOADS], many, 400),
        (signed[STAFF_UPLOADS], many, 422),
    ):
        assert Client().post(address, sent).status_code == status, address
        answer = Client().post(address, urlencode(sent), "application/x-www-form-urlencoded")
        assert answer.status_code == status, address
    settings.MAX_STAFF_SESSION_SECONDS = -1
    assert Client().post(signed[STAFF_UPLOADS], many).status_code == 400


def test_s103_an_address_is_good_for_one_person_or_for_one_browser(settings: Settings) -> None:
    ann, ben = make_user("Ann"), make_user("Ben")
    browser = "c" * 32

    def grant(url: str) -> UploadGrant:
        return existing(find_upload_grant("/r/", url.partition("?")[2]))

    anns = grant(upload_url(ask_as(ann, browser), "/r/", SHOPPER_UPLOADS))
    guests = grant(upload_url(ask_as(csrf=browser), "/r/", SHOPPER_UPLOADS, is_for_guest=True))
    assert [anns.is_for_member(each) for each in (ann.pk, ben.pk, None)] == [True, False, False]
    assert [guests.is_for_member(each) for each in (ann.pk, ben.pk, None)] == [True, True, False]
    for given in (browser, "d" * 32, ""):
        assert not anns.is_for_browser(given)
        assert guests.is_for_browser(given) == (given == browser)
    # A new key of the shop ends no page that is open.
    settings.SECRET_KEY_FALLBACKS, settings.SECRET_KEY = [settings.SECRET_KEY], "n" * 64
    assert anns.is_for_member(ann.pk)
    assert guests.is_for_browser(browser)

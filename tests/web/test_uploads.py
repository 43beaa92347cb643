"""Files come in by marked staff views alone; nobody else can fill the shop's disk."""

import re
from types import SimpleNamespace
from typing import cast

import pytest
from django.core.exceptions import RequestDataTooBig
from django.core.files.base import ContentFile
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory

from tests.architecture.apps import ROOT
from tests.architecture.routes import ROUTES
from web.uploads import is_upload_allowed, takes_files, upload_url


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


def test_s82_a_mark_lets_files_in_for_staff_alone_and_bounds_each() -> None:
    marked = takes_files(max_bytes=1000)(lambda request: HttpResponse())
    with pytest.raises(RequestDataTooBig):
        send(marked)
    marked.access = "staff"  # type: ignore[attr-defined]
    small, large = send(marked)
    assert (small.size, len(small.read()), small.name) == (10, 10, "small")
    assert (large.size, large.name) == (500_000, "l"), "its whole size, and no folder"
    assert len(large.read()) < 100_000, "of what is too large the rest is not kept"
    with pytest.raises(RequestDataTooBig):
        send(view)


def test_s82_every_view_that_takes_files_is_for_staff() -> None:
    marked = [each for each in ROUTES if hasattr(each.view, "max_file_bytes")]
    assert all(each.view.access == "staff" for each in marked)
    # What stands before the shop lets so much in nowhere else.
    (pattern,) = set(re.findall(r"path_regexp (\S+)", (ROOT / "deploy" / "Caddyfile").read_text()))
    assert [each.name for each in marked if not re.search(pattern, each.sample_path)] == []


def test_s82_only_an_address_that_was_signed_not_long_ago_takes_more_than_a_form(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    query = upload_url("/staff/").partition("?")[2]
    assert is_upload_allowed("/staff/", query)
    for wrong in ("", "upload=", "upload=files", f"{query}x"):
        assert not is_upload_allowed("/staff/", wrong), wrong
    for elsewhere in ("/", "/staff/x", "/account/login/"):
        assert not is_upload_allowed(elsewhere, query), elsewhere
    monkeypatch.setattr("web.uploads.TOKEN_SECONDS", -1)
    assert not is_upload_allowed("/staff/", query)

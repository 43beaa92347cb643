"""Who may see the staff's pages, and the command that makes staff."""

import io
from uuid import uuid4

import pytest
from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import PermissionDenied
from django.core.management import CommandError, call_command
from django.http import Http404, HttpRequest, HttpResponse
from django.test import Client, RequestFactory
from django.urls import reverse

from accounts import queries
from accounts.access import current_member, staff_required
from accounts.sessions import SECOND_FACTOR, SessionStore
from tests.factories import PASSWORD, make_user
from tests.reads import existing


@staff_required(roles=["support", "warehouse"])
def packing(request: HttpRequest) -> HttpResponse:
    return HttpResponse(f"packed by {current_member(request).name}")


@staff_required()
def canteen(request: HttpRequest) -> HttpResponse:
    return HttpResponse("soup")


def asked(role: str | None) -> HttpRequest:
    request = RequestFactory().get("/staff/?status=paid")
    request.user = AnonymousUser() if role is None else make_user(role=role)
    request.session = SessionStore()
    request.session[SECOND_FACTOR] = str(request.user.pk)
    return request


def test_s24_guests_log_in_first_and_for_shoppers_there_is_no_such_page() -> None:
    assert packing(asked(None))["Location"] == "/account/login/?next=/staff/%3Fstatus%3Dpaid"
    for view in (packing, canteen):
        with pytest.raises(Http404):
            view(asked(""))
        with pytest.raises(Http404):
            view(asked("owner of the world"))


def test_s24_staff_of_another_role_is_refused_and_an_admin_never() -> None:
    assert packing(asked("warehouse")).content == b"packed by Alice"
    assert packing(asked("admin")).status_code == 200
    with pytest.raises(PermissionDenied):
        packing(asked("analyst"))
    assert canteen(asked("analyst")).status_code == 200


def test_the_log_names_the_view_and_not_what_the_address_holds(
    caplog: pytest.LogCaptureFixture,
) -> None:
    client = Client()
    client.force_login(make_user())
    client.get("/staff/orders/AB%0A12:00 ERROR forged/")
    logged = next(
        record.getMessage() for record in caplog.records if record.name == "accounts.access"
    )
    assert logged.endswith("asked for adminpanel:order")


def test_a_role_that_does_not_exist_is_a_mistake_of_ours() -> None:
    with pytest.raises(ValueError, match="pilot"):
        staff_required(roles=["pilot"])


def run(*arguments: str, stdin: str = "", monkeypatch: pytest.MonkeyPatch | None = None) -> str:
    out = io.StringIO()
    if monkeypatch:
        monkeypatch.setattr("sys.stdin", io.StringIO(stdin))
    call_command("staff", *arguments, stdout=out)
    return out.getvalue()


def test_it_makes_a_new_member_of_staff(monkeypatch: pytest.MonkeyPatch) -> None:
    email = f"toni-{uuid4().hex}@example.com"
    output = run(
        "add",
        email,
        "--role",
        "support",
        "--password-stdin",
        stdin=f"{PASSWORD}\n",
        monkeypatch=monkeypatch,
    )
    assert "support" in output
    assert Client().login(username=email, password=PASSWORD)
    found = existing(queries.find_user_by_email(email))
    assert found.is_staff
    assert f"support    {email}" in run("list")


def test_it_gives_a_member_a_role_and_takes_it_away_and_ends_the_sessions() -> None:
    alice, client = make_user(), Client()
    client.force_login(alice)
    run("add", alice.email.upper(), "--role", "analyst")
    # S1: no session outlives a change of rights
    assert client.get(reverse("accounts:profile")).status_code == 302
    found = existing(queries.get_user(alice.pk))
    assert found.role == "analyst"
    run("remove", alice.email)
    found = existing(queries.get_user(alice.pk))
    assert not found.is_staff
    with pytest.raises(CommandError, match="no role"):
        run("remove", alice.email)


def test_it_prints_a_link_to_choose_a_password() -> None:
    email = f"ada-{uuid4().hex}@example.com"
    link = run("add", email, "--role", "admin", "--link").strip()
    assert link.startswith(settings.PUBLIC_URL)
    client = Client()
    client.post(link.removeprefix(settings.PUBLIC_URL), {"name": "Ada", "password": PASSWORD})
    found = existing(queries.find_user_by_email(email))
    assert (found.role, found.name) == ("admin", "Ada")


def test_it_refuses_in_words(monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests) -> None:
    for arguments, stdin, words in (
        (["add", "no address", "--role", "admin"], "", "no e-mail address"),
        (["add", "new@example.com", "--role", "pilot"], "", "invalid choice"),
        (["add", "new@example.com", "--role", "admin", "--password-stdin"], "short\n", "too short"),
        (["add", "new@example.com", "--role", "admin"], "", "nobody to ask"),
        (["remove", "nobody@example.com"], "", "no role"),
    ):
        with subtests.test(words), pytest.raises(CommandError, match=words):
            run(*arguments, stdin=stdin, monkeypatch=monkeypatch)

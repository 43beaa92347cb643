"""Who works here: roles, sessions and second factors in an admin's hands."""

import time
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pyotp
import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from lxml import html

from accounts import operations, queries
from accounts import second_factor as factors
from accounts.errors import LastAdmin, RoleChanged
from accounts.models import User
from accounts.operations import staff
from accounts.roles import ADMIN
from accounts.sessions import PASSED_AT
from tests.accounts.mails import list_mails_to
from tests.factories import make_user, sign_in_staff
from tests.threads import map_at_once


@pytest.fixture
def ada() -> User:
    return make_user("Ada", password=None, role="admin")


@pytest.fixture
def admin(client: Client, ada: User) -> Client:
    return sign_in_staff(client, ada)


@pytest.fixture
def sam() -> User:
    return make_user("Sam", password=None)


def of(user: User, act: str = "person") -> str:
    return reverse(f"adminpanel:{act}", args=[user.pk])


def role_of(user: User) -> str:
    return str(queries.get_users([user.pk])[user.pk].role or "")


def test_an_admin_finds_an_account_by_its_address_and_no_url_holds_it(
    admin: Client, sam: User
) -> None:
    answer = admin.post(reverse("adminpanel:person_find"), {"email": f" {sam.email.upper()} "})
    assert (answer.status_code, answer["Location"]) == (303, of(sam))
    page = admin.get(of(sam)).content.decode()
    assert sam.email in page
    assert "no staff pages" in page
    unknown = admin.post(reverse("adminpanel:person_find"), {"email": "nobody@example.com"})
    assert unknown.status_code == 422
    assert "has to register first" in unknown.content.decode()
    assert admin.get(reverse("adminpanel:person", args=[uuid4()])).status_code == 404


def test_s1_a_role_given_or_taken_ends_the_sessions_and_lists_who_has_one(
    admin: Client, sam: User
) -> None:
    for role, is_listed in (("support", True), ("shopper", False)):
        theirs = Client()
        theirs.force_login(sam)
        assert admin.post(of(sam, "person_role"), {"role": role, "seen": role_of(sam)})[
            "Location"
        ] == of(sam)
        assert role_of(sam) == (role if is_listed else "")
        assert theirs.get(reverse("accounts:profile")).status_code == 302
        assert (of(sam) in admin.get(reverse("adminpanel:people")).content.decode()) is is_listed
    mail_texts = [row.text for row in list_mails_to(sam.email)]
    assert any("is now support" in text for text in mail_texts)
    assert any("no longer have staff access at Stoa" in text for text in mail_texts)


def wait_six_minutes(client: Client) -> None:
    """Make the code that a browser's user has passed with six minutes old."""
    session = client.session
    session[PASSED_AT] -= 6 * 60
    session.save()


@pytest.fixture
def enrolled(ada: User) -> str:
    """Ada's telephone: the secret by which it makes codes."""
    earlier = datetime.now(UTC) - timedelta(minutes=10)
    secret = pyotp.random_base32()
    assert factors.enrol_second_factor(ada, secret, pyotp.TOTP(secret).at(earlier), earlier)
    return secret


@pytest.mark.parametrize("act", ["person_role", "person_factor_reset"])
def test_s76_what_gives_or_opens_a_role_asks_for_a_code_again_and_keeps_what_was_typed(
    admin: Client, sam: User, enrolled: str, act: str
) -> None:
    operations.set_role(sam.pk, "support", datetime.now(UTC))
    factors.enrol_second_factor(sam, enrolled, pyotp.TOTP(enrolled).now(), datetime.now(UTC))
    wait_six_minutes(admin)
    sent = {"role": "warehouse", "seen": "support"} if act == "person_role" else {}

    def is_done() -> bool:
        if act == "person_role":
            return role_of(sam) == "warehouse"
        return factors.get_second_factor(sam.pk) is None

    for code, words in ((None, "more than five minutes old"), ("000000", "This code is wrong")):
        answer = admin.post(of(sam, act), sent | ({"code": code} if code else {}))
        page = html.fromstring(answer.content)
        (field,) = page.xpath("//main//input[@name='code']")
        form = field.xpath("ancestor::form")[0]
        assert (answer.status_code, form.get("action")) == (422, of(sam, act))
        assert words in page.text_content()
        if act == "person_role":
            assert form.xpath(".//input[@checked]/@value") == ["warehouse"]
        assert not is_done()
    right = {"code": pyotp.TOTP(enrolled).now()}
    assert admin.post(of(sam, act), sent | right).status_code == 303
    assert is_done()
    # For five minutes it is enough; the session's end has not moved.
    assert (
        admin.post(of(sam, "person_role"), {"role": "support", "seen": role_of(sam)}).status_code
        == 303
    )
    assert admin.session[PASSED_AT] < time.time() - 300


def test_a_role_that_does_not_exist_is_refused(admin: Client, sam: User) -> None:
    roles = "", "pilot", "Admin", "shopper' OR 1=1"
    answered = {
        role: (admin.post(of(sam, "person_role"), {"role": role}).status_code, role_of(sam))
        for role in roles
    }
    assert answered == dict.fromkeys(roles, (422, ""))


def test_nobody_changes_their_own_role_or_second_factor(admin: Client, ada: User) -> None:
    assert admin.post(of(ada, "person_role"), {"role": "shopper"}).status_code == 422
    assert admin.post(of(ada, "person_factor_reset")).status_code == 422
    assert role_of(ada) == ADMIN
    assert "Ask another admin to change your role" in admin.get(of(ada)).content.decode()


def test_s6_an_admin_ends_all_sessions_of_a_person(admin: Client, sam: User) -> None:
    clients = [Client(), Client()]
    for client in clients:
        client.force_login(sam)
    assert "2 open sessions" in admin.get(of(sam)).content.decode()
    assert admin.post(of(sam, "person_sessions_end")).status_code == 303
    for client in clients:
        assert client.get(reverse("accounts:profile")).status_code == 302
    assert "Not signed in anywhere" in admin.get(of(sam)).content.decode()


def test_an_admin_resets_the_second_factor_of_another(admin: Client) -> None:
    ann, theirs = make_user("Ann", password=None, role="warehouse"), Client()
    factors._enrol(ann, "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP", 1, {}, ann.created_at)
    sign_in_staff(theirs, ann)
    assert "0 recovery codes left" in admin.get(of(ann)).content.decode()
    assert admin.post(of(ann, "person_factor_reset")).status_code == 303
    assert factors.get_second_factor(ann.pk) is None
    assert "second factor was reset" in list_mails_to(ann.email)[0].text
    assert theirs.get("/staff/")["Location"].startswith(reverse("accounts:login"))


# ---- There is always an admin. All tests share one shop: here there are just these two.


@pytest.fixture
def only_these_two(ada: User) -> tuple[User, User]:
    bea = make_user("Bea", password=None, role="admin")
    for user_id in queries.list_role_holders(ADMIN)[1] - {ada.pk, bea.pk}:
        operations.set_role(user_id, "", datetime.now(UTC))
    return ada, bea


def test_the_last_admin_stays_one_also_for_a_command(only_these_two: tuple[User, User]) -> None:
    ada, bea = only_these_two
    operations.set_role(bea.pk, "support", datetime.now(UTC))
    with pytest.raises(LastAdmin):
        operations.set_role(ada.pk, "", datetime.now(UTC))
    with pytest.raises(CommandError, match="last admin"):
        call_command("staff", "remove", ada.email)
    assert role_of(ada) == ADMIN


def test_of_two_admins_who_take_the_role_from_each_other_at_once_one_stays(
    only_these_two: tuple[User, User],
) -> None:
    def take(user: User) -> bool:
        try:
            operations.set_role(user.pk, "", datetime.now(UTC))
        except LastAdmin:
            return False
        return True

    assert sorted(map_at_once(take, only_these_two)) == [False, True]
    assert len(queries.list_role_holders(ADMIN)[1]) == 1


def test_s111_of_two_admins_who_give_a_role_at_once_the_second_is_told(
    monkeypatch: pytest.MonkeyPatch, sam: User
) -> None:
    now, record = datetime.now(UTC), staff.record_staff_role

    def record_late(user_id: UUID, role: str) -> None:
        monkeypatch.setattr(staff, "record_staff_role", record)
        record(user_id, role)
        operations.set_role(user_id, "warehouse", now, seen="")

    monkeypatch.setattr(staff, "record_staff_role", record_late)
    with pytest.raises(RoleChanged):
        operations.set_role(sam.pk, "support", now, seen="")
    assert role_of(sam) == "warehouse"
    listed = {row.user_id: row.role for row in queries.STAFF.all(shop=queries.SHOP)}
    assert listed[sam.pk] == "warehouse"

"""The staff's second factor: enrolled once, asked for at each login, and no code counts twice."""

import re
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyotp
import pytest
import time_machine
from cryptography.exceptions import InvalidTag
from django.conf import settings
from django.core.management import CommandError, call_command
from django.test import Client, override_settings
from django.urls import reverse

from accounts import second_factor
from accounts.errors import AlreadyEnrolled
from accounts.models import User
from accounts.sessions import MAX_STAFF_SESSION_SECONDS, SECOND_FACTOR, STAFF_IDLE, SessionStore
from cassandra_db import read
from demo import logins
from tests.accounts.browsers import key_of
from tests.accounts.test_sessions import row_of
from tests.factories import PASSWORD, make_user, sign_in_staff
from tests.journeys.connection import CSRF, ShopConnection
from tests.threads import map_at_once
from tests.web_server import serve_shop
from web import encryption

NOW = datetime.now(UTC)
PAGE = "/staff/second-factor/"
SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
STORED = read("test", "SELECT secret, recovery FROM second_factors WHERE user_id = :user_id")


def code_at(moment: datetime, secret: str = SECRET) -> str:
    return pyotp.TOTP(secret).at(moment)


def now_code(ahead: int = 0) -> str:
    return code_at(datetime.now(UTC) + timedelta(seconds=30 * ahead))


def make_ann() -> User:
    """One of the staff, enrolled ten minutes ago; nobody signs in with her password here."""
    user = make_user("Ann", password=None, role="warehouse")
    earlier = datetime.now(UTC) - timedelta(minutes=10)
    assert second_factor.enrol_second_factor(user, SECRET, code_at(earlier), earlier)
    return user


@pytest.fixture
def ann() -> User:
    return make_ann()


@pytest.fixture
def ann_signed_in(client: Client, ann: User) -> Client:
    client.force_login(ann)
    return client


def has_passed(client: Client) -> bool:
    return client.get("/staff/").status_code == 200


# ---- Enrolment


def test_the_first_login_enrols_a_telephone_and_shows_ten_recovery_codes_once(
    client: Client,
) -> None:
    ben = make_user("Ben", role="warehouse")
    answer = client.post(reverse("accounts:login"), {"email": ben.email, "password": PASSWORD})
    assert answer["Location"] == PAGE
    page = client.get(PAGE).content.decode()
    found = re.search(r'class="num key">([A-Z2-7 ]+)<', page)
    assert found
    secret = found[1].replace(" ", "")
    assert len(secret) == 32
    assert (
        client.post(PAGE, {"code": "000000" if now_code() != "000000" else "111111"}).status_code
        == 422
    )
    before = key_of(client)
    codes = client.post(PAGE, {"code": pyotp.TOTP(secret).now(), "next": "/staff/"})
    assert (
        len(
            re.findall(
                r"<li class=\"num\">[A-Z2-9]{4}-[A-Z2-9]{4}-[A-Z2-9]{4}<", codes.content.decode()
            )
        )
        == 10
    )
    assert 'href="/staff/"' in codes.content.decode()
    assert "no-store" in codes["Cache-Control"]
    assert key_of(client) != before  # S1
    assert SessionStore(before).load() == {}
    assert has_passed(client)
    assert "10 of 10" in client.get(PAGE).content.decode()


def test_nothing_is_written_before_a_code_confirms_it_and_each_session_has_its_own_offer(
    client: Client,
) -> None:
    ben, other = make_user("Ben", password=None, role="support"), Client()
    client.force_login(ben)
    other.force_login(ben)
    assert (
        client.get(PAGE).content == client.get(PAGE).content
        or second_factor.get_second_factor(ben.pk) is None
    )
    offers = {second_factor.enrolment_secret(key_of(each), ben) for each in (client, client, other)}
    assert len(offers) == 2
    assert second_factor.get_second_factor(ben.pk) is None


def test_the_picture_holds_the_key_is_kept_by_no_cache_and_is_gone_once_enrolled(
    client: Client,
) -> None:
    ben = make_user("Ben", password=None, role="support")
    client.force_login(ben)
    picture = client.get(reverse("adminpanel:second_factor_picture"))
    assert picture["Content-Type"] == "image/svg+xml"
    assert "no-store" in picture["Cache-Control"]
    assert not re.search(rb"style=|<script|class=", picture.content)
    secret = second_factor.enrolment_secret(key_of(client), ben)
    assert secret in second_factor.provisioning_uri(secret, ben)
    assert second_factor.enrol_second_factor(ben, secret, code_at(NOW, secret), NOW)
    assert client.get(reverse("adminpanel:second_factor_picture")).status_code == 404
    with pytest.raises(AlreadyEnrolled):
        second_factor.enrol_second_factor(ben, SECRET, code_at(NOW), NOW)


# ---- Codes


def test_each_login_is_asked_before_any_staff_page(client: Client, ann: User) -> None:
    sign_in_staff(client, ann)
    assert has_passed(client)
    client.logout()
    client.force_login(ann)
    answer = client.get("/staff/?column=shipped")
    assert answer["Location"] == f"{PAGE}?next=/staff/%3Fcolumn%3Dshipped"
    passed = client.post(PAGE, {"code": now_code(), "next": "/staff/?column=shipped"})
    assert (passed.status_code, passed["Location"]) == (303, "/staff/?column=shipped")
    assert has_passed(client)


def test_who_logs_in_again_in_the_same_browser_is_asked_again(client: Client) -> None:
    ben = make_user("Ben", role="support")
    sign_in_staff(client, ben)
    client.post(reverse("accounts:login"), {"email": ben.email, "password": PASSWORD})
    assert not has_passed(client)


def test_s32_x266_it_leads_to_nobody_elses_site(subtests: pytest.Subtests) -> None:
    for to in (
        *("//evil.example", "https://evil.example", "\\\\evil.example", "javascript:alert(1)"),
        "//testserver/staff/",
    ):
        with subtests.test(to):
            client = Client()
            client.force_login(make_ann())
            assert client.post(PAGE, {"code": now_code(), "next": to})["Location"] == "/staff/"


def test_a_clock_may_be_one_step_off() -> None:
    moment = datetime(2030, 1, 1, 12, 0, 10, tzinfo=UTC)
    taken = {
        ahead: second_factor.verify_totp_code(
            make_ann().pk, code_at(moment + timedelta(seconds=30 * ahead)), moment
        )
        for ahead in range(-2, 3)
    }
    assert taken == {-2: False, -1: True, 0: True, 1: True, 2: False}


def test_s17_a_step_is_used_once_and_none_before_it_afterwards(ann: User) -> None:
    moment = datetime(2030, 1, 1, 12, 0, 10, tzinfo=UTC)
    before, present = code_at(moment - timedelta(seconds=30)), code_at(moment)
    assert second_factor.verify_totp_code(ann.pk, present, moment)
    assert not second_factor.verify_totp_code(ann.pk, present, moment)
    assert not second_factor.verify_totp_code(ann.pk, before, moment)
    assert (
        second_factor.verify_totp_code(
            ann.pk, f" {code_at(moment + timedelta(seconds=30))[:3]} ", moment
        )
        is False
    )


def test_s17_the_code_that_enrolled_is_used_up(client: Client) -> None:
    ben = make_user("Ben", password=None, role="support")
    assert second_factor.enrol_second_factor(ben, SECRET, code_at(NOW), NOW)
    assert not second_factor.verify_totp_code(ben.pk, code_at(NOW), NOW)


@pytest.mark.timeout(600)
def test_s17_fifty_posts_of_one_code_let_one_session_pass(ann: User, tmp_path: Path) -> None:
    sessions = [Client() for _ in range(50)]
    for client in sessions:
        client.force_login(ann)
    with serve_shop(tmp_path, workers=2, LIMIT_CODE="1000,0,0,600") as shop:
        lines = [
            ShopConnection(shop, {"stoa_csrf": CSRF, settings.SESSION_COOKIE_NAME: key_of(client)})
            for client in sessions
        ]
        code = now_code()
        statuses = sorted(map_at_once(lambda line: line.post(PAGE, {"code": code}), lines))
        assert statuses == [303] + [422] * 49
        for line in lines:
            line.close()  # on a busy machine those that were answered first have idled until the server hung up
        assert [line.get("/staff/") for line in lines].count(200) == 1


def test_wrong_codes_are_limited_and_right_ones_cost_nothing(ann_signed_in: Client) -> None:
    most = settings.RATE_LIMITS["code"][0]
    wrong = "123456" if now_code() != "123456" else "654321"
    statuses = [ann_signed_in.post(PAGE, {"code": wrong}).status_code for _ in range(most + 1)]
    assert statuses == [422] * most + [429]
    refused = ann_signed_in.post(PAGE, {"code": now_code()})
    assert refused.status_code == 429
    assert int(refused["Retry-After"]) > 0


# ---- Recovery codes


def codes_of(user: User) -> list[str]:
    moment = datetime.now(UTC) + timedelta(seconds=30)
    codes = second_factor.renew_recovery_codes(user.pk, code_at(moment), moment)
    assert codes
    return codes


def test_a_recovery_code_lets_in_once_however_it_is_typed(ann: User, ann_signed_in: Client) -> None:
    code = codes_of(ann)[3]
    typed = f" {code.lower().replace('-', ' ')} "
    assert ann_signed_in.post(PAGE, {"way": "recovery", "code": typed}).status_code == 303
    assert has_passed(ann_signed_in)
    other = Client()
    other.force_login(ann)
    again = other.post(PAGE, {"way": "recovery", "code": code})
    assert again.status_code == 422
    assert "isn’t one of your recovery codes" in again.content.decode()
    assert "9 of 10" in ann_signed_in.get(PAGE).content.decode()


def test_s17_one_recovery_code_lets_one_of_many_in(ann: User) -> None:
    code = codes_of(ann)[0]
    used = map_at_once(lambda _: second_factor.use_recovery_code(ann.pk, code), range(8))
    assert sum(used) == 1


def test_new_recovery_codes_cost_a_code_and_end_the_old_ones(client: Client, ann: User) -> None:
    sign_in_staff(client, ann)
    old = codes_of(ann)
    page = reverse("adminpanel:recovery_codes")
    # behind the one that codes_of has used
    assert client.post(page, {"code": now_code()}).status_code == 422
    with time_machine.travel(time.time() + 90, tick=True):
        response = client.post(page, {"code": now_code()})
    assert response.content.decode().count('<li class="num">') == 10
    assert not any(second_factor.use_recovery_code(ann.pk, code) for code in old[:2])


def test_neither_the_secret_nor_a_recovery_code_stands_in_the_table(ann: User) -> None:
    codes = codes_of(ann)
    row = STORED.one(user_id=ann.pk)
    assert row
    text = repr(row)
    assert SECRET not in text
    assert not any(code in text or code.replace("-", "") in text for code in codes)
    assert encryption.decrypt(row.secret, "second factor", str(ann.pk)) == (SECRET, False)


def test_what_is_encrypted_opens_for_its_owner_and_purpose_alone() -> None:
    box = encryption.encrypt("olive", "colours", "ann")
    for purpose, owner in (("colours", "ben"), ("shapes", "ann")):
        with pytest.raises(encryption.DecryptionError):
            encryption.decrypt(box, purpose, owner)
    for nonsense in ("", "x", box[:-8], "ü"):
        with pytest.raises((encryption.DecryptionError, InvalidTag)):
            encryption.decrypt(nonsense, "colours", "ann")


def test_a_new_key_of_the_shop_keeps_what_the_old_one_encrypted_and_encrypts_it_anew(
    ann: User,
) -> None:
    codes = codes_of(ann)
    later = datetime.now(UTC) + timedelta(minutes=5)
    with override_settings(SECRET_KEY="new" * 20, SECRET_KEY_FALLBACKS=[settings.SECRET_KEY]):
        assert second_factor.use_recovery_code(ann.pk, codes[0])
        assert second_factor.verify_totp_code(ann.pk, code_at(later), later)
    with override_settings(SECRET_KEY="new" * 20, SECRET_KEY_FALLBACKS=[]):
        assert second_factor.verify_totp_code(ann.pk, code_at(later + timedelta(seconds=30)), later)


# ---- Reset


def test_a_command_resets_it_and_ends_the_sessions(ann: User, client: Client) -> None:
    sign_in_staff(client, ann)
    call_command("staff", "second-factor-reset", ann.email)
    assert client.get("/staff/")["Location"].startswith(reverse("accounts:login"))
    assert second_factor.get_second_factor(ann.pk) is None
    with pytest.raises(CommandError, match="no second factor"):
        call_command("staff", "second-factor-reset", ann.email)


# ---- Sessions of staff


def seconds_left(client: Client) -> int:
    row = row_of(key_of(client))
    return int(row.seconds) if row else 0


def test_s26_a_staff_session_lasts_half_an_hour_and_twelve_hours_at_most(
    client: Client, ann: User
) -> None:
    client.force_login(ann)
    assert seconds_left(client) > 13 * 24 * 3600  # not past the second factor: a shopper's session
    sign_in_staff(client, ann)
    now = time.time()
    assert STAFF_IDLE - 60 < seconds_left(client) <= STAFF_IDLE
    assert client.session[SECOND_FACTOR] == str(ann.pk)
    with time_machine.travel(now + MAX_STAFF_SESSION_SECONDS - 120, tick=True):
        client.get("/staff/")
        assert 0 < seconds_left(client) <= 120
        session = client.session
        session.cycle_key()  # as a new password does
        client.cookies[settings.SESSION_COOKIE_NAME] = session.session_key or ""
    assert 0 < seconds_left(client) <= 120


def test_s26_a_submit_renews_it_and_a_page_that_refreshes_itself_does_not(
    client: Client, ann: User
) -> None:
    sign_in_staff(client, ann)
    with time_machine.travel(time.time() + 300, tick=True):
        quiet = client.get("/staff/", headers={"HX-Request": "true", "X-Refreshes-Itself": "1"})
        assert settings.SESSION_COOKIE_NAME not in quiet.cookies
        assert settings.SESSION_COOKIE_NAME in client.get("/staff/").cookies


# ---- The demo shop


def demo_staff() -> User:
    login = next(each for each in logins.LOGINS if each.label == "Staff")
    return User(
        user_id=login.user_id,
        email=login.email,
        name=login.name,
        role=login.role,
        demo=True,
        active=True,
    )


def test_the_demo_shop_shows_the_code_of_its_own_staff_and_of_nobody_else(
    ann_signed_in: Client, ann: User
) -> None:
    toni = demo_staff()
    moment = datetime.now(UTC)
    second_factor.enrol_demo_second_factor(toni, moment)
    second_factor.enrol_demo_second_factor(toni, moment)
    code, wait = second_factor.get_demo_code(toni, moment)
    assert wait == 0
    assert second_factor.verify_totp_code(toni.pk, code, moment)
    following, _ = second_factor.get_demo_code(toni, moment)
    assert following != code
    assert second_factor.get_demo_code(ann, moment) == ("", 0)
    assert "demo-code" not in ann_signed_in.get(PAGE).content.decode()
    # Either is enough: a shop whose settings name the logins has none, nor has a demo shop whose settings do not.
    for shop in ({"DEMO": False}, {"DEMO_LOGINS": ""}):
        with override_settings(**shop):
            assert second_factor.get_demo_code(toni, moment) == ("", 0)
            assert second_factor.enrolment_secret("a session", toni) not in {
                login.totp for login in logins.LOGINS
            }

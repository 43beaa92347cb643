"""What Django and its test client ask of a user model: `User.objects`, saving, permissions."""

from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth import aauthenticate
from django.contrib.auth.models import AnonymousUser
from django.contrib.auth.tokens import default_token_generator
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory, override_settings

from accounts import queries
from accounts.errors import AccountChanged, EmailTaken, SaveRefused
from accounts.hashers import CheapArgon2PasswordHasher
from accounts.middleware import SessionMiddleware, UserMiddleware
from accounts.models import User
from accounts.operations import change_password, record_login, save_name
from accounts.roles import ROLES
from cassandra_db import current_time
from tests.accounts.browsers import fresh_email
from tests.accounts.mails import list_mails_to
from tests.architecture.routes import ROLES_BY_URL
from tests.factories import PASSWORD, make_user

NEW = "nine dry badgers"


def stored(user: User) -> User:
    found = queries.get_user(user.pk)
    assert found
    return found


# ---- User.objects


def test_an_account_is_made_by_the_shops_operation_which_alone_claims_the_address() -> None:
    email = fresh_email()
    ada = User.objects.create_user(email, password=PASSWORD, is_staff=False)
    assert (ada.name, ada.role) == (email.partition("@")[0], "")
    assert queries.find_user_by_email(email.upper()) == ada
    with pytest.raises(EmailTaken):
        User.objects.create_superuser(email=email.upper(), password=PASSWORD)
    packer = User.objects.create_user(
        email=fresh_email(), name="Ben", role="warehouse", is_staff=True
    )
    assert (packer.name, packer.role) == ("Ben", "warehouse")
    assert not packer.has_usable_password()


def test_what_cannot_be_is_refused_before_anything_is_written(subtests: pytest.Subtests) -> None:
    for error, given in (
        (ValueError, {"username": "ada"}),
        (ValueError, {"email": "ada"}),
        (ValueError, {"role": "pilot"}),
        (ValueError, {"is_staff": True}),
        (ValueError, {"is_superuser": True}),
        (TypeError, {"first_name": "Ada"}),
    ):
        with subtests.test(given=given):
            email = fresh_email()
            with pytest.raises(error):
                User.objects.create_user(
                    **{"email": email} | given if "username" not in given else given
                )
            assert queries.find_user_by_email(email) is None
    with pytest.raises(ValueError, match="is_superuser"):
        User.objects.create_superuser(email=fresh_email(), is_superuser=False)


def test_nothing_is_a_queryset(subtests: pytest.Subtests) -> None:
    for manager in (User.objects, User._default_manager, User._base_manager):
        for name in (
            "all",
            "filter",
            "create",
            "count",
            "first",
            "get_or_create",
            "get_queryset",
            "bulk_create",
        ):
            with subtests.test(name), pytest.raises(AttributeError, match="no queryset"):
                getattr(manager, name)
    for by in (
        {},
        {"name": "Ada"},
        {"email": "a@example.com", "name": "Ada"},
        {"email__iexact": "a@example.com"},
    ):
        with subtests.test(by=by), pytest.raises(TypeError, match="found by email"):
            User.objects.get(**by)
    with pytest.raises(AttributeError):
        User.create(email="ada@example.com")


# ---- Saving


def test_another_password_is_written_by_save_and_only_where_the_one_that_was_read_still_is() -> (
    None
):
    alice, client = make_user(), Client()
    client.force_login(alice)
    late = stored(alice)
    alice.set_password(NEW)
    assert stored(alice).check_password(PASSWORD)
    alice.save()
    assert stored(alice).check_password(NEW)
    # what follows a new password follows this one
    assert client.get("/account/").status_code == 302
    assert "password" in list_mails_to(alice.email)[-1].subject
    late.name, late.password = "Late", alice.password + "x"
    with pytest.raises(AccountChanged):
        late.save()
    assert (stored(alice).name, stored(alice).check_password(NEW)) == ("Alice", True)
    # Once written, it is what was read: it can be saved again, and nothing is in the way of another one.
    alice.set_password(PASSWORD)
    alice.save(update_fields=["password"])
    assert stored(alice).check_password(PASSWORD)


def test_save_writes_what_was_set_and_nothing_that_another_has_changed_meanwhile() -> None:
    alice = make_user()
    late = stored(alice)
    change_password(alice, NEW, datetime.now(UTC))
    late.name = "Alicia"
    late.save()
    late.save()
    assert (stored(alice).name, stored(alice).check_password(NEW)) == ("Alicia", True)
    late.name, late.role = "Ali", "support"
    late.save(update_fields=["role"])
    assert (stored(alice).name, stored(alice).role) == ("Alicia", "support")


def test_what_save_cannot_write_is_refused_as_a_whole(subtests: pytest.Subtests) -> None:
    alice = make_user()
    for column, value in (
        ("email", fresh_email()),
        ("active", False),
        ("demo", True),
        ("addresses", {"1": {"name": "A"}}),
    ):
        with subtests.test(column):
            found = stored(alice)
            found.name = "Mallory"
            setattr(found, column, value)
            with pytest.raises(SaveRefused, match=column):
                found.save()
    found = stored(alice)
    found.name, found.role = "Mallory", "pilot"
    with pytest.raises(ValueError, match="pilot"):
        found.save()
    with pytest.raises(ValueError, match="no first_name"):
        stored(alice).save(update_fields=["first_name"])
    with pytest.raises(SaveRefused, match="create_user"):
        User(user_id=uuid4(), email=fresh_email(), name="Nobody").save()
    for blind in (alice.delete, alice.update):
        with pytest.raises(SaveRefused):
            blind()
    stored_user = stored(alice)
    assert (
        stored_user.name,
        stored_user.email,
        stored_user.role,
        stored_user.active,
        stored_user.demo,
    ) == ("Alice", alice.email, "", True, False)
    assert not stored_user.addresses


def test_an_object_is_read_again() -> None:
    alice = make_user()
    save_name(alice.pk, "Alicia")
    alice.refresh_from_db()
    assert alice.name == "Alicia"
    alice.save()
    nobody = User(user_id=uuid4())
    with pytest.raises(User.DoesNotExist):
        nobody.refresh_from_db()


def test_a_hash_is_renewed_when_the_hashers_settings_have_changed() -> None:
    alice = make_user()
    before = alice.password
    with override_settings(PASSWORD_HASHERS=[f"{__name__}.DearerHasher"]):
        assert alice.check_password(PASSWORD)
        assert stored(alice).password == alice.password != before
        alice.name = "Alicia"
        alice.save()
        assert stored(alice).check_password(PASSWORD)


class DearerHasher(CheapArgon2PasswordHasher):
    """Hashes made before it are made anew."""

    time_cost = 2


# ---- What Django asks of a user model


def test_x280_the_user_model_has_what_django_asks_of_one() -> None:
    email = fresh_email()
    ada = User.objects.create_user(email, password=PASSWORD, name="Ada Lovelace")
    assert User.get_email_field_name() == "email"
    assert (ada.get_full_name(), ada.get_short_name()) == ("Ada Lovelace", "Ada Lovelace")
    assert ada.last_login is None
    token = default_token_generator.make_token(ada)
    assert default_token_generator.check_token(stored(ada), token)
    now = current_time()
    record_login(ada.pk, now)
    # a link that resets a password is over once its owner has signed in
    assert stored(ada).last_login == now
    assert not default_token_generator.check_token(stored(ada), token)
    gone = User.objects.create_user(fresh_email(), password=PASSWORD, is_active=False)
    assert not stored(gone).is_active
    assert not Client().login(username=gone.email, password=PASSWORD)
    assert User.objects.normalize_email("Ada@EXAMPLE.com") == "Ada@example.com"


def test_x280_each_method_of_a_user_has_djangos_async_variant() -> None:
    async def ask() -> None:
        email = fresh_email()
        ada = await User.objects.acreate_user(email, password=PASSWORD, role="support")
        assert await User.objects.aget(email=email) == ada
        assert await User.objects.aget_by_natural_key(email) == ada
        assert (await User.objects.acreate_superuser(fresh_email(), password=PASSWORD)).is_superuser
        assert await ada.acheck_password(PASSWORD)
        assert not await ada.acheck_password(NEW)
        ada.name = "Ada"
        await ada.asave()
        await ada.arefresh_from_db()
        assert ada.name == "Ada"
        assert await aauthenticate(email=email, password=PASSWORD) == ada
        assert await ada.ahas_perm("adminpanel.board")
        assert not await ada.ahas_perms(["adminpanel.board", "adminpanel.people"])
        assert await ada.ahas_module_perms("adminpanel")
        assert await ada.aget_all_permissions() == ada.get_group_permissions()
        assert await ada.aget_group_permissions() == ada.get_all_permissions()
        assert await ada.aget_user_permissions() == set()
        with pytest.raises(SaveRefused):
            await ada.adelete()

    async_to_sync(ask)()


def test_x280_a_request_knows_its_user_in_async_code_too(rf: RequestFactory) -> None:
    alice = make_user()
    client = Client()
    client.force_login(alice)
    seen = []

    def look(request: HttpRequest) -> HttpResponse:
        seen.append(async_to_sync(request.auser)())
        return HttpResponse()

    for cookies in (client.cookies, Client().cookies):
        rf.cookies = cookies
        SessionMiddleware(UserMiddleware(look))(rf.get("/"))
    assert seen == [alice, AnonymousUser()]


# ---- Permissions


def test_a_permission_is_what_the_page_of_its_name_says_of_a_role(
    subtests: pytest.Subtests,
) -> None:
    assert len(ROLES_BY_URL) >= 28
    for role in ("", *ROLES):
        with subtests.test(role):
            user = User(user_id=uuid4(), role=role, active=True, demo=False)
            may = {name for name in ROLES_BY_URL if user.has_perm(name.replace(":", "."))}
            assert may == {name for name, roles in ROLES_BY_URL.items() if role in roles}
            assert user.get_all_permissions() == {name.replace(":", ".") for name in may}
            assert user.has_module_perms("adminpanel") is bool(role)
            assert user.has_perms(name.replace(":", ".") for name in may)


def test_there_is_no_other_permission_and_an_admin_has_all(subtests: pytest.Subtests) -> None:
    for role, has in (
        ("", False),
        ("support", False),
        ("admin", True),
        ("owner of the world", False),
    ):
        user: Any = User(user_id=uuid4(), role=role, active=True, demo=False)
        for name in (
            "orders.change_order",
            "adminpanel",
            "adminpanel.",
            ".",
            "",
            "home",
            "accounts.profile",
        ):
            with subtests.test(role=role, name=name):
                assert user.has_perm(name) is has
        assert user.has_module_perms("orders") is has
    closed = User(user_id=uuid4(), role="admin", active=False)
    assert not closed.has_perm("adminpanel.people")
    assert closed.get_all_permissions() == set()
    assert not AnonymousUser().has_perm("adminpanel.board")
    with override_settings(DEMO=False):
        assert not User(user_id=uuid4(), role="admin", active=True, demo=True).has_perm(
            "adminpanel.people"
        )
    with pytest.raises(ValueError, match="iterable"):
        user.has_perms("adminpanel.board")

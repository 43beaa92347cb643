# mypy: ignore-errors
"""Tests as a programmer writes them who knows Django and pytest-django, and nothing of this shop.

test_plain_django.py runs this file as pytest would run it for them: in a process and a keyspace of its own. It imports nothing of ours.
"""

from urllib.request import urlopen

import pytest
from django.contrib.auth import aget_user, authenticate, get_user, get_user_model
from django.test import TestCase
from django.urls import reverse

pytestmark = pytest.mark.django_db

EMAIL, PASSWORD = "ada@example.com", "correct horse battery"


@pytest.fixture
def user(django_user_model):
    # The same address in every test: each begins without the one before.
    return django_user_model.objects.create_user(email=EMAIL, password=PASSWORD)


def test_create_user(user, django_user_model, django_username_field):
    assert user.pk
    assert getattr(user, django_username_field) == user.get_username() == EMAIL
    assert user.password != PASSWORD
    assert (user.is_active, user.is_staff, user.is_superuser) == (True, False, False)
    assert django_user_model.objects.get_by_natural_key(EMAIL) == user
    assert (
        django_user_model.objects.get(email=EMAIL)
        == django_user_model.objects.get(pk=user.pk)
        == user
    )


def test_create_user_as_in_djangos_tutorial(django_user_model):
    john = django_user_model.objects.create_user("john", "lennon@example.com", "johnpassword")
    assert john.email == "lennon@example.com"
    assert authenticate(username="lennon@example.com", password="johnpassword") == john


def test_there_is_no_such_user(django_user_model):
    with pytest.raises(django_user_model.DoesNotExist):
        django_user_model.objects.get_by_natural_key(EMAIL)


def test_create_user_needs_an_address(django_user_model):
    with pytest.raises(ValueError, match="e-mail"):
        django_user_model.objects.create_user(email="", password=PASSWORD)


def test_create_superuser(django_user_model):
    boss = django_user_model.objects.create_superuser(email="boss@example.com", password=PASSWORD)
    assert (boss.is_staff, boss.is_superuser) == (True, True)


def test_passwords(user):
    assert user.check_password(PASSWORD)
    assert not user.check_password("another")
    user.set_password("a new and longer one")
    assert user.check_password("a new and longer one")
    fresh = get_user_model().objects.get(pk=user.pk)
    assert fresh.check_password(PASSWORD)
    user.save()
    fresh.refresh_from_db()
    assert fresh.check_password("a new and longer one")
    user.set_unusable_password()
    assert not user.has_usable_password()


def test_permissions(user, admin_user):
    assert not user.has_perm("orders.change_order")
    assert not user.has_perms(["orders.change_order", "orders.view_order"])
    assert not user.has_module_perms("orders")
    assert admin_user.has_perm("orders.change_order")
    assert admin_user.has_perms(["orders.change_order", "orders.view_order"])
    assert admin_user.has_module_perms("orders")


def test_login(client, user):
    assert not client.login(username=EMAIL, password="wrong")
    assert client.login(username=EMAIL, password=PASSWORD)
    assert get_user(client).pk == user.pk
    assert client.get(reverse("accounts:profile")).status_code == 200
    client.logout()
    assert client.get(reverse("accounts:profile")).status_code == 302


def test_force_login(client, user):
    client.force_login(user)
    response = client.get(reverse("accounts:profile"))
    assert response.status_code == 200
    assert response.context["user"] == user


def test_login_form(client, user):
    response = client.post(
        reverse("accounts:login"), {"email": EMAIL, "password": PASSWORD}, follow=True
    )
    assert response.redirect_chain
    assert response.context["user"].is_authenticated


def test_staff_pages_are_for_staff(client, user, admin_client, admin_user):
    url = reverse("adminpanel:people")
    assert client.get(url).status_code == 302
    client.force_login(user)
    assert client.get(url).status_code == 404
    response = admin_client.get(url)
    assert response.status_code == 200
    assert response.context["user"] == admin_user


@pytest.mark.parametrize("role", ["support", "warehouse"])
def test_staff_client(staff_client, role):
    client = staff_client(role)
    assert client.get(reverse("adminpanel:board")).status_code == 200
    assert client.get(reverse("adminpanel:people")).status_code == 403


def test_reset_mail(client, user, deliver_mail):
    client.post(reverse("accounts:reset"), {"email": EMAIL})
    assert any("/account/reset/" in message.body for message in deliver_mail(EMAIL))


def test_admin_user_has_the_usual_password(admin_user, client):
    assert client.login(username=admin_user.email, password="password")


def test_settings(client, settings):
    settings.LOGIN_REDIRECT_URL = "/elsewhere/"
    get_user_model().objects.create_user(email=EMAIL, password=PASSWORD)
    response = client.post(reverse("accounts:login"), {"email": EMAIL, "password": PASSWORD})
    assert response["Location"] == "/elsewhere/"


def test_settings_are_as_before(settings):
    assert settings.LOGIN_REDIRECT_URL == "accounts:profile"


def test_request_factory(rf, user):
    request = rf.get("/")
    request.user = user
    assert request.user.is_authenticated
    assert not request.user.is_anonymous


@pytest.mark.django_db(transaction=True)
def test_transaction(django_user_model):
    assert django_user_model.objects.create_user(email=EMAIL, password=PASSWORD).pk


def test_live_server(live_server):
    with urlopen(f"{live_server.url}/") as response:  # noqa: S310
        assert response.status == 200


class ProfileTests(TestCase):
    @classmethod
    def setUpTestData(cls):
        cls.user = get_user_model().objects.create_user(email=EMAIL, password=PASSWORD)

    def test_a_guest_is_sent_to_log_in(self):
        self.assertRedirects(
            self.client.get("/account/"),
            "/account/login/?next=/account/",
            fetch_redirect_response=False,
        )

    def test_a_member_sees_the_profile(self):
        self.client.force_login(self.user)
        self.assertContains(self.client.get("/account/"), EMAIL)

    async def test_an_async_client_logs_in(self):
        await self.async_client.aforce_login(self.user)
        response = await self.async_client.get("/account/")
        self.assertContains(response, EMAIL)
        assert await aget_user(self.async_client) == self.user

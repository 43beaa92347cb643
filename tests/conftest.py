"""One keyspace for the whole run, on a real node; tests keep apart by fresh ids."""

import io
import os
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import hypothesis
import pytest
from django.conf import settings
from django.core.mail import EmailMessage
from django.core.management import call_command
from django.core.signals import setting_changed
from django.dispatch import receiver
from django.test import Client
from django.test.utils import override_settings
from django_cassandra_engine.base import CassandraDatabaseOperations

from accounts.models import User
from cassandra_db import REFUSED_MEANS_DONE, clock
from cassandra_db.session import close_session, get_session
from catalogue.colour_settings import CURRENT_COLOURS
from catalogue.entities import Product
from mail.addresses import email_key
from mail.texts import CURRENT_TEXTS
from shop_settings.queries import CURRENT_SETTINGS, clear_settings_cache
from tests.environment import KEYSPACE
from tests.sidecars import Toxiproxy, run_stripe_mock, run_toxiproxy
from web.messages import MessageStorage
from web.text_cache import FRAGMENTS

pytest_plugins = ["tests.proof"]

# No test asserts a time. On a CI machine this is the default.
hypothesis.settings.register_profile("untimed", hypothesis.settings.default, deadline=None)
hypothesis.settings.load_profile("untimed")


@pytest.fixture(scope="session", autouse=True)
def keyspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Make the tables once, in a keyspace of this run, and drop it at the end."""
    call_command("migrate", stdout=io.StringIO())
    close_session()
    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    with override_settings(
        STORAGES=settings.STORAGES | {"staticfiles": plain},
        SEARCH_INDEX_DIR=tmp_path_factory.mktemp("search"),
        MAILDIR=tmp_path_factory.mktemp("mail") / "caught",
    ):
        yield KEYSPACE
    if not os.environ.get("KEEP_KEYSPACE"):
        get_session().execute(f"DROP KEYSPACE IF EXISTS {KEYSPACE}", timeout=180)
    close_session()


@receiver(setting_changed)
def forget_what_was_drawn(setting: str, **_: Any) -> None:
    """A process draws by one set of settings for as long as it runs; tests change them."""
    if "CACHE_BYTES" not in setting:
        FRAGMENTS.clear()
    # What a new shop begins with follows from some of them.
    clear_settings_cache()


@pytest.fixture(autouse=True)
def allow_journeys_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let tests write at another time than the nodes', which a shop may not (tests/cassandra_db/test_clock.py)."""
    monkeypatch.setattr(clock, "MAX_CLOCK_ERROR", timedelta(days=40_000))


@pytest.fixture(scope="session", autouse=True)
def read_settings_once() -> Iterator[None]:
    """Keep what was read of the shop's settings: when a page reads them again would depend on how fast the tests run.

    This process forgets them when it saves some. What happens after five seconds is in tests/shop_settings.
    """
    with pytest.MonkeyPatch.context() as patch:
        for kept in (CURRENT_SETTINGS, CURRENT_COLOURS, CURRENT_TEXTS):
            patch.setattr(kept, "max_seconds", 3600.0)
        yield


@pytest.fixture(scope="session", autouse=True)
def no_address_in_messages() -> Iterator[None]:
    """Fail whatever puts an e-mail address into a message for the next page: until then it stands in a cookie."""
    add = MessageStorage.add

    def checked(self: MessageStorage, level: int, message: Any, extra_tags: str = "") -> None:
        assert "@" not in str(message), f"a message holds an e-mail address: {message}"
        add(self, level, message, extra_tags)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MessageStorage, "add", checked)
        yield


# ---- For tests that know Django and pytest-django, and nothing of this shop (tests/accounts/plain_django.py)


@pytest.fixture(scope="session")
def django_db_setup(keyspace: str) -> Iterator[None]:
    """What `django_db`, `db`, `transactional_db` and Django's own test cases are given: the run's keyspace.

    They empty all tables after each test, by Django's `flush`. Here that takes away the accounts that the test has made by
    `User.objects`, so that the next one can make them again, and truncates nothing: other tests have their things there.
    """
    from accounts.operations import register_user
    from accounts.operations.email_claims import EMAIL_RELEASED
    from accounts.operations.erasure import USER_REMOVED

    made: list[User] = []

    def register(*args: Any, **fields: Any) -> User:
        made.append(register_user(*args, **fields))
        return made[-1]

    def flush(*_: Any, **__: Any) -> list[str]:
        while made:
            user = made.pop()
            EMAIL_RELEASED.apply(
                if_lost=REFUSED_MEANS_DONE, email=email_key(user.email), user_id=user.user_id
            )
            USER_REMOVED.apply(if_lost=REFUSED_MEANS_DONE, user_id=user.user_id)
        return []

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("accounts.users.register_user", register)
        patch.setattr(CassandraDatabaseOperations, "sql_flush", flush)
        yield


@pytest.fixture
def admin_client(admin_user: User) -> Client:
    """An admin's client. It has passed the second factor, which staff pages would ask for first."""
    from tests.factories import sign_in_staff

    return sign_in_staff(Client(), admin_user)


@pytest.fixture
def staff_client() -> Callable[[str], Client]:
    """Make a client of one of the staff: `staff_client("warehouse")` has signed in and passed the second factor."""
    from tests.factories import make_user, sign_in_staff

    return lambda role: sign_in_staff(Client(), make_user("Ann", role=role))


@pytest.fixture
def mug() -> Product:
    """A product of one variant, with twenty units in stock."""
    from tests.factories import make_stocked_product

    return make_stocked_product()


@pytest.fixture(name="deliver_mail")
def deliver_mail_fixture() -> Callable[[str], list[EmailMessage]]:
    """Deliver queued mail: `deliver_mail("ada@example.com")` returns the messages to that address."""
    from tests.outbox import deliver_mail

    return deliver_mail


# ---- What runs beside the shop


@pytest.fixture(scope="session")
def toxiproxy() -> Iterator[Toxiproxy]:
    """A toxiproxy; each test makes its own lines. A test fails, and says why, where it cannot be built."""
    with run_toxiproxy() as running:
        yield running


@pytest.fixture(scope="session")
def stripe_mock() -> Iterator[str]:
    """The address of a stripe-mock ("http://127.0.0.1:port"). A test fails, and says why, where it cannot be built."""
    with run_stripe_mock() as address:
        yield address

"""The checks of secrets and addresses in `manage.py check`. Gunicorn refuses to start while one fails (S54)."""

from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error
from django.core.exceptions import ImproperlyConfigured

KEY_LENGTH = 50
TOKEN_LENGTH = 32
# The name and password of the superuser with which Cassandra is installed: both are public.
SUPERUSER = "cassandra"
_LOOPBACK = ("127.", "localhost", "[::1]", "::1")


_CHEAP_PASSWORD_HASHES = Error(
    "Passwords would be kept under hashes that are cheap to guess.",
    hint="CHEAP_PASSWORD_HASHES is for test runs: take it out of the environment.",
    id="cassandra_db.E006",
)


_FETCH_TEST_HOSTS = Error(
    "Pictures would be fetched without https, and from hosts that are not public.",
    hint="FETCH_TEST_HOSTS is for test runs: take it out of the environment.",
    id="cassandra_db.E010",
)


def check_deployment(**_: Any) -> list[CheckMessage]:
    """Return the errors of `check --deploy` that hold for debug and demo shops, too."""
    found: list[CheckMessage] = [_FETCH_TEST_HOSTS] if settings.FETCH_TEST_HOSTS else []
    if settings.CHEAP_PASSWORD_HASHES and (settings.DEBUG or settings.DEMO):
        found.append(_CHEAP_PASSWORD_HASHES)
    return found


def check_secrets(**_: Any) -> list[CheckMessage]:
    """Return the errors that keep a shop from opening. Debug and demo shops may run on one machine without secrets."""
    found: list[CheckMessage] = [*_check_database(), *_check_public_address(), *_check_keys()]
    if settings.CHEAP_PASSWORD_HASHES and not (settings.DEBUG or settings.DEMO):
        found.append(_CHEAP_PASSWORD_HASHES)
    return found


def _check_database() -> Iterator[CheckMessage]:
    database = settings.DATABASES["default"]
    if database["USER"] == SUPERUSER and not settings.DEBUG:
        yield Error(
            "The shop would log in to Cassandra as its superuser.",
            hint="Make a role of its own (docs/operations/configuration.md) and name it in CASSANDRA_USERNAME and _PASSWORD.",
            id="cassandra_db.E001",
        )
    is_local = all(map(_is_local, database["HOST"].split(",")))
    if not (database["USER"] or settings.DEBUG or settings.DEMO or is_local):
        yield Error(
            "The shop would speak to Cassandra over a network without a login.",
            hint="Switch on PasswordAuthenticator, and set CASSANDRA_USERNAME and _PASSWORD (docs/operations/configuration.md).",
            id="cassandra_db.E002",
        )


def _check_public_address() -> Iterator[CheckMessage]:
    if _is_local(settings.PUBLIC_URL.split("://")[-1]):
        return
    if settings.DEBUG:
        yield Error(
            f"DEBUG is on for {settings.PUBLIC_URL}.", hint="DEBUG=0", id="cassandra_db.E003"
        )
    if not (settings.HTTPS or settings.DEBUG or settings.DEMO):
        yield Error(
            f"The shop at {settings.PUBLIC_URL} would take passwords and addresses without HTTPS.",
            hint="STOA_HTTPS=true, and a proxy in front that has a certificate (docs/operations/configuration.md).",
            id="cassandra_db.E008",
        )
    if settings.DEMO and _takes_money():
        yield Error(
            f"A demo shop at {settings.PUBLIC_URL} would take real money, and everybody there may read all its mail.",
            hint="STOA_DEMO=false for a shop; STRIPE_SECRET_KEY=sk_test_… for a demo.",
            id="cassandra_db.E007",
        )


def _check_keys() -> Iterator[CheckMessage]:
    if not settings.DEBUG and 0 < len(_key()) < KEY_LENGTH:
        yield Error(
            f"SECRET_KEY is shorter than {KEY_LENGTH} characters.",
            hint="python -c 'import secrets; print(secrets.token_urlsafe(50))'",
            id="cassandra_db.E004",
        )
    if not settings.DEBUG and any(len(key) < KEY_LENGTH for key in settings.SECRET_KEY_FALLBACKS):
        yield Error(
            f"A key in SECRET_KEY_FALLBACKS is shorter than {KEY_LENGTH} characters.",
            hint="Take it out of the list: what it signed cannot be trusted.",
            id="cassandra_db.E005",
        )
    if 0 < len(settings.METRICS_TOKEN) < TOKEN_LENGTH:
        yield Error(
            f"METRICS_TOKEN is shorter than {TOKEN_LENGTH} characters.",
            hint="python -c 'import secrets; print(secrets.token_urlsafe(32))'",
            id="cassandra_db.E009",
        )


def _key() -> str:
    try:
        return str(settings.SECRET_KEY)
    except ImproperlyConfigured:  # Django raises this at the first use of an empty key
        return ""


def _takes_money() -> bool:
    return bool(settings.STRIPE_SECRET_KEY.startswith(("sk_live_", "rk_live_")))


def _is_local(host: str) -> bool:
    return host.strip().startswith(_LOOPBACK)

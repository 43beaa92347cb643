"""Browsers that have logged in to an account before.

A stranger's failed logins do not lock these browsers out (web.rate_limits). A signed cookie has a keyed hash of each account,
and a rate-limit bucket of this browser. Each login renews the cookie. A new password, or the end of all sessions, changes the
account's stamp and voids the cookie.
"""

import secrets
from uuid import UUID, uuid4

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.utils.crypto import constant_time_compare, salted_hmac

from accounts import queries
from accounts.models import User
from cassandra_db import SEND_AGAIN, conditional_write
from web.cookies import set_cookie
from web.rate_limits import Hit, hit_rate_limit

STAMPED = conditional_write(
    "Q6", "UPDATE users SET stamp = :stamp WHERE user_id = :user_id IF EXISTS"
)
_SALT = "accounts.known_devices"
_SECONDS = 400 * 24 * 3600  # the longest time that browsers keep a cookie
_MAX_ACCOUNTS = 5  # the most accounts of people who share a browser

KnownAccount = tuple[str, str, str]  # the account's keyed hash, its stamp, the rate-limit bucket


def get_device_bucket(request: HttpRequest, email: str) -> str:
    """Return this browser's rate-limit bucket for an account, or '' if the browser has not logged in since the stamp changed.

    Only a browser with the cookie costs the two reads. Raises CassandraUnavailable.
    """
    account = _account(email)
    stamp, bucket = next(
        ((stamp, bucket) for known, stamp, bucket in _entries(request) if known == account),
        ("", ""),
    )
    if not bucket:
        return ""
    user = queries.find_user_by_email(email)
    return bucket if user is not None and constant_time_compare(stamp, _stamp(user)) else ""


def hit_email_limit(request: HttpRequest, kind: str, email: str, *accounts: str) -> Hit:
    """Count an attempt that names an address, see `hit_rate_limit`. Raises TooManyAttempts, CassandraUnavailable."""
    return hit_rate_limit(
        request,
        kind,
        *accounts,
        named=[queries.email_key(email)],
        device_bucket=get_device_bucket(request, email),
    )


def renew_device_cookie(
    request: HttpRequest, response: HttpResponse, user_id: UUID
) -> HttpResponse:
    """Renew the cookie on a response, after a request of this browser has changed the account's stamp."""
    user = queries.get_user(user_id)
    if user is not None:
        set_device_cookie(request, response, user)
    return response


def set_device_cookie(request: HttpRequest, response: HttpResponse, user: User) -> None:
    """Store in a cookie on the response that this browser has logged in to an account."""
    account = _account(user.email)
    others = [entry for entry in _entries(request) if entry[0] != account]
    made: list[KnownAccount] = [(account, _stamp(user), secrets.token_urlsafe(12)), *others][
        :_MAX_ACCOUNTS
    ]
    set_cookie(response, settings.DEVICE_COOKIE_NAME, signing.dumps(made, salt=_SALT), _SECONDS)


def forget_devices(user_id: UUID) -> None:
    """Change the account's stamp, which voids the cookies of all browsers for it. Raises CassandraUnavailable."""
    STAMPED.apply(if_lost=SEND_AGAIN, user_id=user_id, stamp=uuid4())


def _entries(request: HttpRequest) -> list[KnownAccount]:
    cookie = request.COOKIES.get(settings.DEVICE_COOKIE_NAME)
    if not cookie:
        return []
    try:
        return [
            (str(a), str(b), str(c))
            for a, b, c in signing.loads(cookie, salt=_SALT, max_age=_SECONDS)
        ][:_MAX_ACCOUNTS]
    except (signing.BadSignature, ValueError, TypeError):
        return []


def _account(email: str) -> str:
    return salted_hmac(_SALT, queries.email_key(email), algorithm="sha256").hexdigest()[:24]


def _stamp(user: User) -> str:
    return salted_hmac(
        _SALT, f"{user.pk} {user.password} {user.stamp}", algorithm="sha256"
    ).hexdigest()[:24]

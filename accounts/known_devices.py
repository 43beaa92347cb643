"""Browsers that have logged in to an account before. There, strangers' tries do not count against its owner (web.rate_limits).

A signed cookie names the accounts, by a keyed hash, and a bucket of this browser's own for each. It is made anew at each
login, and worth nothing once the password has changed or all sessions were ended: then the account's stamp is another.
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

STAMPED = conditional_write(
    "Q6", "UPDATE users SET stamp = :stamp WHERE user_id = :user_id IF EXISTS"
)
_SALT = "accounts.known_devices"
_SECONDS = 400 * 24 * 3600  # as long as browsers keep a cookie at most
_MAX_ACCOUNTS = 5  # people who share a browser

KnownAccount = tuple[str, str, str]  # account, stamp, bucket


def get_device_bucket(request: HttpRequest, email: str) -> str:
    """Return the bucket that this browser has for an account, or '' if it has not logged in there since the last stamp.

    Only a browser that says it has costs the two reads. Raises CassandraUnavailable.
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


def renew_device_cookie(
    request: HttpRequest, response: HttpResponse, user_id: UUID
) -> HttpResponse:
    """Return the response with the cookie made anew, after the stamp has changed by this browser's own doing."""
    user = queries.get_user(user_id)
    if user is not None:
        set_device_cookie(request, response, user)
    return response


def set_device_cookie(request: HttpRequest, response: HttpResponse, user: User) -> None:
    """Note in a cookie that this browser has logged in to an account."""
    account = _account(user.email)
    others = [entry for entry in _entries(request) if entry[0] != account]
    made: list[KnownAccount] = [(account, _stamp(user), secrets.token_urlsafe(12)), *others][
        :_MAX_ACCOUNTS
    ]
    response.set_cookie(
        settings.DEVICE_COOKIE_NAME,
        signing.dumps(made, salt=_SALT),
        max_age=_SECONDS,
        secure=settings.HTTPS,
        httponly=True,
        samesite="Lax",
    )


def forget_devices(user_id: UUID) -> None:
    """Make the cookies of all browsers worthless for this account. Raises CassandraUnavailable."""
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

"""Changing a password: with the present one, or by a mailed link."""

from datetime import datetime
from uuid import UUID, uuid5

from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.core import signing
from django.urls import reverse
from django.utils.crypto import constant_time_compare, salted_hmac

from accounts import audit_log, queries
from accounts.errors import AccountChanged, NoSuchUser
from accounts.models import User
from accounts.operations.registration import MAILBOX_NAMESPACE
from accounts.sessions import end_sessions
from cassandra_db import RAISE_UNKNOWN, applied_if, conditional_write
from mail.operations import allow_address, queue_mail

PASSWORD_SET = conditional_write(
    "Q6", "UPDATE users SET password = :password WHERE user_id = :user_id IF password = :before"
)
# Following a mailed link also proves the address.
PASSWORD_RESET = conditional_write(
    "Q6",
    """UPDATE users SET password = :password, verified_at = :now WHERE user_id = :user_id
       IF password = :before AND email = :email""",
)
RESET_SECONDS = 3600
# How long the link in an imported customer's invitation is valid.
INVITATION_SECONDS = 30 * 24 * 3600
# A second click on the button sends no second mail.
_SAME_REQUEST_SECONDS = 120
_SALT = "accounts.reset"


def rehash_password(member: User, password: str) -> None:
    """Store a new hash, by today's hasher, of the password with which a member has just logged in. Raises CassandraUnavailable."""
    before, member.password = member.password, make_password(password)
    # The write is refused if the password has changed since: the newer one stays.
    PASSWORD_SET.apply(
        if_lost=RAISE_UNKNOWN, user_id=member.user_id, password=member.password, before=before
    )


def change_password(
    member: User, password: str, now: datetime, current_session_key: str | None = None
) -> User:
    """Change a member's password, end all sessions except `current_session_key`, and inform the member by mail.

    Return the changed member. Raises AccountChanged if the password has changed since it was read. Also raises NoSuchUser,
    CassandraUnavailable.
    """
    return change_password_hash(
        member, member.password, make_password(password), now, current_session_key
    )


def change_password_hash(
    member: User, before: str, made: str, now: datetime, current_session_key: str | None = None
) -> User:
    """Change a password like `change_password`, but from the hash `before` to the hash `made`."""
    outcome = PASSWORD_SET.apply(
        if_lost=applied_if(lambda row: bool(row.password == made)),
        user_id=member.user_id,
        password=made,
        before=before,
    )
    return _finish_password_change(member, made, outcome.applied, now, current_session_key)


def request_password_reset(email: str, now: datetime) -> None:
    """Mail the link that sets a new password. An address without an account gets a mail that says so.

    Both cases send the same statements to the database, so that neither the answer nor its time shows who has an account
    (fault 7). Raises CassandraUnavailable.
    """
    found = queries.find_user_by_email(email)
    known = found is not None and _can_reset(found)
    link = password_reset_link(found or User(user_id=queries.NOBODY, email=email, password=""))
    url = link if known else settings.PUBLIC_URL + reverse("accounts:register")
    template = "reset" if known else "reset_unknown"
    # After the last link was used, a new request needs a new link.
    state = account_fingerprint(found) if found else ""
    event = f"{template}:{state}:{int(now.timestamp()) // _SAME_REQUEST_SECONDS}"
    # The mail goes to the stored address: the typed one may be a different address with the same key.
    to = found.email if found and known else email
    queue_mail(
        uuid5(MAILBOX_NAMESPACE, queries.email_key(email)), event, to, template, {"url": url}, now
    )


def password_reset_link(member: User, seconds: int = RESET_SECONDS) -> str:
    """Return the link that sets a member's password. It is valid for some seconds, or until the password changes."""
    token = signing.dumps([member.user_id.hex, account_fingerprint(member), seconds], salt=_SALT)
    return str(settings.PUBLIC_URL) + reverse("accounts:reset_finish", args=[token])


def get_user_by_reset_token(token: str) -> User | None:
    """Return the member whose password a link sets; None if the link is forged, too old or used. Raises CassandraUnavailable."""
    try:
        # Links of before invitations say no seconds.
        user_id, state, seconds = [*signing.loads(token, salt=_SALT), RESET_SECONDS][:3]
        signing.loads(token, salt=_SALT, max_age=seconds)
        member = queries.get_user(UUID(hex=user_id))
    except (signing.BadSignature, ValueError, TypeError):
        return None
    if (
        member is None
        or not _can_reset(member)
        or not constant_time_compare(state, account_fingerprint(member))
    ):
        return None
    return member


def reset_password(member: User, password: str, now: datetime) -> User:
    """Change the password of a member from `get_user_by_reset_token`, end all sessions, and inform the member by mail.

    Raises AccountChanged if the link has just been used. Also raises NoSuchUser, CassandraUnavailable.
    """
    made = make_password(password)
    outcome = PASSWORD_RESET.apply(
        if_lost=applied_if(lambda row: bool(row.password == made)),
        user_id=member.user_id,
        password=made,
        before=member.password,
        email=member.email,
        now=now,
    )
    changed = _finish_password_change(member, made, outcome.applied, now, None)
    # The link proves that mail reaches the address.
    allow_address(changed.email)
    return changed


def _finish_password_change(
    member: User, made: str, applied: bool, now: datetime, current_session_key: str | None
) -> User:
    if not applied:
        raise AccountChanged
    # A crash here is harmless: sessions are bound to the password's hash, so the other ones are void already.
    end_sessions(member.user_id, except_key=current_session_key)
    context = {"name": member.name, "url": settings.PUBLIC_URL + reverse("accounts:reset")}
    event = f"password {salted_hmac(_SALT, made, algorithm='sha256').hexdigest()}"
    queue_mail(member.user_id, event, member.email, "password_changed", context, now)
    audit_log.add_entry("password_changed", now, by=member.user_id)
    if (changed := queries.get_user(member.user_id)) is None:
        raise NoSuchUser
    return changed


def _can_reset(member: User) -> bool:
    # A demo shop's mail is public: nobody may change its logins.
    return bool(member.is_active and not member.demo)


def account_fingerprint(member: User) -> str:
    """Return a value that changes with a member's password or e-mail address, and reveals neither."""
    return salted_hmac(_SALT, f"{member.password} {member.email}", algorithm="sha256").hexdigest()[
        :32
    ]

"""Registration. Every write to a user's row is conditional: an UPDATE alone would create a row without a user."""

from datetime import datetime
from typing import Literal
from uuid import UUID, uuid4, uuid5

from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.urls import reverse

from accounts import queries
from accounts.errors import EmailTaken, NoSuchUser
from accounts.models import User
from accounts.operations.email_claims import claim_email
from accounts.operations.search_terms import name_under_way
from accounts.operations.staff import record_staff_role
from cassandra_db import SEND_AGAIN, conditional_write
from mail.operations import allow_address, queue_mail
from web.encryption import DecryptionError, decrypt_token, encrypt_token

USER_WRITTEN = conditional_write(
    "Q6",
    """INSERT INTO users (user_id, email, name, password, role, active, demo, created_at, verified_at)
       VALUES (:user_id, :email, :name, :password, :role, :active, :demo, :now, :verified_at) IF NOT EXISTS""",
)
USER_DROPPED = conditional_write(
    "Q6", "DELETE FROM users WHERE user_id = :user_id IF email = :email"
)
LINK_SECONDS = 24 * 3600
# A second click on the button sends no second mail.
_SAME_REQUEST_SECONDS = 120
_PURPOSE = "accounts.registration"
# The namespace of the UUIDs that are made of an e-mail address.
MAILBOX_NAMESPACE = UUID("6f2d4a3e-5a53-4b8e-9c0a-7b1a8f3f6c11")


def request_registration(email: str, now: datetime) -> None:
    """Mail the link that finishes a registration. An address with an account gets a mail that says so.

    Both cases send the same statements to the database, so that neither the answer nor its time shows who has an account
    (fault 7). Raises CassandraUnavailable.
    """
    known = queries.find_user_by_email(email) is not None
    template = "registered_already" if known else "registration"
    url = settings.PUBLIC_URL + reverse("accounts:login") if known else registration_link(email)
    request = int(now.timestamp()) // _SAME_REQUEST_SECONDS
    queue_mail(
        uuid5(MAILBOX_NAMESPACE, queries.email_key(email)),
        f"{template}:{request}",
        email,
        template,
        {"url": url},
        now,
    )


def registration_link(email: str, role: str = "") -> str:
    """Return the link that registers an e-mail address; `role` is the new member's role as staff. It is valid for 24 hours."""
    return str(settings.PUBLIC_URL) + reverse(
        "accounts:finish", args=[encrypt_token([email, role], _PURPOSE)]
    )


def parse_registration_token(token: str) -> tuple[str, str] | None:
    """Return the e-mail address and the role in a link's token; None if the token is forged or too old."""
    try:
        email, role = decrypt_token(token, _PURPOSE, max_age=LINK_SECONDS)
    except DecryptionError:
        return None
    return email, role


def register_user(
    email: str,
    name: str,
    password: str | None,
    now: datetime,
    role: str = "",
    *,
    login: Literal["allowed", "demo", "refused"] = "allowed",
    verified: bool = False,
    user_id: UUID | None = None,
) -> User:
    """Make an account and return it. `verified` says that the address is proved.

    Without a password, or with `login="refused"`, no login is possible; `login="demo"` allows it only in the demo shop. A
    repeat with the same `user_id` returns the first account. Raises EmailTaken, CassandraUnavailable.
    """
    # The user's row is written first; no login finds it yet. Then the claim of the address decides which of two calls wins.
    new_id, key = user_id or uuid4(), queries.email_key(email)
    if role:
        record_staff_role(new_id, role)
    with name_under_way(new_id):
        USER_WRITTEN.apply(
            if_lost=SEND_AGAIN,
            user_id=new_id,
            email=email.strip(),
            name=name,
            password=make_password(password),
            role=role,
            active=login != "refused",
            demo=login == "demo",
            now=now,
            verified_at=now if verified else None,
        )
        if not claim_email(key, new_id, now):
            # The row may be that of an earlier call that was killed.
            USER_DROPPED.apply(if_lost=SEND_AGAIN, user_id=new_id, email=email.strip())
            raise EmailTaken
    if verified:
        allow_address(email)
    made = queries.get_user(new_id)
    if made is None:
        raise NoSuchUser  # erased in the same moment
    return made

"""What the shop reads of people."""

import unicodedata
from collections.abc import Iterator
from contextvars import ContextVar
from uuid import UUID

from accounts.addresses import Address, address
from accounts.models import User
from cassandra_db import Pending, Row, read, scan

# Q6, Q8: the profile and the addresses, one row.
USER = read(
    "Q6",
    """SELECT user_id, email, name, password, role, active, demo, addresses, default_address, created_at
       FROM users WHERE user_id = :user_id""",
)
# Q7: whose an address is.
USER_ID_BY_EMAIL = read("Q7", "SELECT user_id, claimed_at FROM users_by_email WHERE email = :email")
# For commands: who works here.
ROLES = scan(
    "staff",
    "SELECT user_id, email, name, role, active FROM users WHERE token(user_id) > :start AND token(user_id) <= :end",
)
# Asked for in a known user's stead, so that an unknown e-mail address costs the same reads. It has no row.
NOBODY = UUID(int=0)

_started: ContextVar[Pending | None] = ContextVar("started", default=None)


def user_started(user_id: UUID | None) -> None:
    """Start reading the user who will be asked for later in this request; None forgets what was started."""
    _started.set(USER.start(user_id=user_id) if user_id else None)


def user(user_id: UUID) -> User | None:
    """Return the user, or None. Raises CassandraUnavailable."""
    pending = _started.get()
    _started.set(None)
    row = pending.one() if pending else None
    if row is None or row.user_id != user_id:
        row = USER.one(user_id=user_id)
    return as_user(row) if row else None


def as_user(row: Row) -> User:
    """Return a row of `users` as Django's user object."""
    return User(**row._asdict())


def email_key(email: str) -> str:
    """Return an e-mail address as it is compared: one mailbox, one account, however it is typed."""
    return unicodedata.normalize("NFKC", email).strip().casefold()


def user_by_email(email: str) -> User | None:
    """Return the user with this e-mail address, or None: two reads in either case. Raises CassandraUnavailable."""
    row = USER_ID_BY_EMAIL.one(email=email_key(email))
    found = USER.one(user_id=row.user_id if row else NOBODY)
    return as_user(found) if found else None


def addresses_of(member: User) -> list[Address]:
    """Return a member's addresses, the default one first."""
    stored = {key: dict(fields) for key, fields in (member.addresses or {}).items()}
    keys = sorted(stored, key=int)
    first = member.default_address if member.default_address in stored else next(iter(keys), "")
    return sorted((address(stored[key], key, default=key == first) for key in keys), key=lambda each: not each.default)


def address_of(member: User, key: str) -> Address | None:
    """Return one of a member's addresses, or None."""
    return next((each for each in addresses_of(member) if each.key == key), None)


def staff() -> Iterator[Row]:
    """Yield everybody with a role (user_id, email, name, role, active). For commands. Raises CassandraUnavailable."""
    return (row for row in ROLES.over_ring() if row.role)

"""What the shop reads of people."""

from collections.abc import Iterable
from contextvars import ContextVar
from datetime import datetime
from uuid import UUID

from accounts.addresses import Address, address_from_fields
from accounts.models import User
from cassandra_db import PendingResult, Row, read
from mail.addresses import email_key as email_key

# Q6, Q8: the profile and the addresses, one row.
USER = read(
    "Q6",
    """SELECT user_id, email, name, password, role, active, demo, addresses, default_address, created_at, verified_at,
              email_next, email_before, delivery_country, plain_mail, low_stock_mail, erasing_at, stamp, phone, last_login_at
       FROM users WHERE user_id = :user_id""",
)
# Q7: whose an address is.
USER_ID_BY_EMAIL = read("Q7", "SELECT user_id, claimed_at FROM users_by_email WHERE email = :email")
# Who works here, or once did: the user's own row says as what.
STAFF = read("staff", "SELECT version, user_id, role FROM staff WHERE shop = :shop")
SHOP = "shop"
# Read instead of a known user, so that an unknown e-mail address costs the same reads. It has no row.
NOBODY = UUID(int=0)

_started: ContextVar[PendingResult | None] = ContextVar("started", default=None)


def prefetch_user(user_id: UUID | None) -> None:
    """Start reading the user who will be needed later in this request; None forgets what was started."""
    _started.set(USER.start(user_id=user_id) if user_id else None)


def get_user(user_id: UUID) -> User | None:
    """Return the user, or None. Raises CassandraUnavailable."""
    pending = _started.get()
    _started.set(None)
    row = pending.one() if pending else None
    if row is None or row.user_id != user_id:
        row = USER.one(user_id=user_id)
    return user_from_row(row) if row else None


def user_from_row(row: Row) -> User:
    """Return a row of `users` as Django's user object."""
    values = row._asdict()
    found = User(**values)
    found.loaded_values = values
    return found


def find_user_by_email(email: str) -> User | None:
    """Return the user with this e-mail address, or None: two reads in either case. Raises CassandraUnavailable."""
    key = email_key(email)
    row = USER_ID_BY_EMAIL.one(email=key)
    found = USER.one(user_id=row.user_id if row else NOBODY)
    # A claim alone is nothing: a change of address that broke off half-way may have left one.
    return user_from_row(found) if found and email_key(found.email) == key else None


def list_addresses(member: User) -> list[Address]:
    """Return a member's addresses, the default one first."""
    stored = {key: dict(fields) for key, fields in (member.addresses or {}).items()}
    keys = sorted(stored, key=int)
    first = member.default_address if member.default_address in stored else next(iter(keys), "")
    return sorted(
        (address_from_fields(stored[key], key, default=key == first) for key in keys),
        key=lambda each: not each.default,
    )


def get_address(member: User, key: str) -> Address | None:
    """Return one of a member's addresses, or None."""
    return next((each for each in list_addresses(member) if each.key == key), None)


def get_users(ids: Iterable[UUID]) -> dict[UUID, User]:
    """Return these users by their ids, read side by side; who is not there is left out. Raises CassandraUnavailable."""
    started = [USER.start(user_id=user_id) for user_id in set(ids)]
    return {
        row.user_id: user_from_row(row) for row in (pending.one() for pending in started) if row
    }


def list_staff() -> list[User]:
    """Return everybody with a role, by role and name. Raises CassandraUnavailable."""
    everybody = get_users(row.user_id for row in STAFF.all(shop=SHOP) if row.user_id)
    return sorted(
        (each for each in everybody.values() if each.role),
        key=lambda each: (each.role, each.name.casefold()),
    )


def list_role_holders(role: str) -> tuple[int | None, set[UUID]]:
    """Return the version of the list of staff, and who has a role both there and in their own row. Raises CassandraUnavailable."""
    rows = STAFF.all(shop=SHOP)
    found = get_users(row.user_id for row in rows if row.user_id and row.role == role)
    version = rows[0].version if rows else None
    return version, {
        user_id for user_id, each in found.items() if each.role == role and each.active
    }


# Who has asked to be erased.
ERASURES = read("erasure", "SELECT minute, user_id FROM erasures WHERE minute = :minute")


def list_erasures(minutes: Iterable[datetime]) -> list[tuple[datetime, UUID]]:
    """Return who asked in these minutes to be erased, as (minute, user). Raises CassandraUnavailable."""
    reading = [ERASURES.start(minute=minute) for minute in minutes]
    return [(row.minute, row.user_id) for pending in reading for row in pending.rows()]


# Who has just proved an address or come back, by minute.
EMAIL_PROOFS = read(
    "Q7", "SELECT user_id, written FROM verified_users_by_minute WHERE minute = :minute"
)


def list_email_proofs(minutes: Iterable[datetime]) -> list[tuple[datetime, UUID, int]]:
    """Return who proved an e-mail address in these minutes: (minute, user, time of the row). Raises CassandraUnavailable."""
    reading = {minute: EMAIL_PROOFS.start(minute=minute) for minute in minutes}
    return [
        (minute, row.user_id, row.written)
        for minute, pending in reading.items()
        for row in pending.rows()
    ]

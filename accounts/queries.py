"""Reads of users."""

from collections.abc import Iterable
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from accounts.addresses import Address, address_from_fields
from accounts.models import User
from cassandra_db import Chain, PendingResult, Row, read
from mail.addresses import email_key as email_key

# Q6, Q8: the profile and the addresses, one row.
USER = read(
    "Q6",
    """SELECT user_id, email, name, password, role, active, demo, addresses, default_address, created_at, verified_at,
              email_next, email_before, delivery_country, plain_mail, low_stock_mail, erasing_at, stamp, phone, last_login_at,
              blocked_at, block_reason, blocked_by, notification_choices
       FROM users WHERE user_id = :user_id""",
)
# Q7: the user of an e-mail address.
USER_ID_BY_EMAIL = read("Q7", "SELECT user_id, claimed_at FROM users_by_email WHERE email = :email")
# Present and former staff. The user's own row has the role.
STAFF = read("staff", "SELECT version, user_id, role FROM staff WHERE shop = :shop")
SHOP = "shop"
# The id that is read for an unknown e-mail address, so that it costs the same reads. It has no row.
NOBODY = UUID(int=0)

_started: ContextVar[PendingResult | None] = ContextVar("started", default=None)


def prefetch_user(user_id: UUID | None) -> None:
    """Start reading the user who is needed later in this request; the id None drops the pending read."""
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


def prefetch_user_by_email(email: str) -> Chain:
    """Start reading the user with this e-mail address, for `user_with_email`: two reads in either case."""
    return USER_ID_BY_EMAIL.start(email=email_key(email)).then(
        USER, lambda rows: {"user_id": rows[0].user_id if rows else NOBODY}
    )


def user_with_email(reading: Chain, email: str) -> User | None:
    """Return the user whose reading was started, or None. Raises CassandraUnavailable."""
    _, found = reading.result()
    # A claim alone proves nothing: an interrupted change of address may have left it.
    is_theirs = found and email_key(found[0].email) == email_key(email)
    return user_from_row(found[0]) if is_theirs else None


def find_user_by_email(email: str) -> User | None:
    """Return the user with this e-mail address, or None: two reads in either case. Raises CassandraUnavailable."""
    return user_with_email(prefetch_user_by_email(email), email)


def list_addresses(member: User) -> list[Address]:
    """Return the addresses in a member's address book, the default first."""
    stored = {key: dict(fields) for key, fields in (member.addresses or {}).items()}
    keys = sorted(stored, key=int)
    first = member.default_address if member.default_address in stored else next(iter(keys), "")
    return sorted(
        (address_from_fields(stored[key], key, default=key == first) for key in keys),
        key=lambda each: not each.default,
    )


def get_address(member: User, key: str) -> Address | None:
    """Return the address with this key in a member's address book, or None."""
    return next((each for each in list_addresses(member) if each.key == key), None)


def get_users(ids: Iterable[UUID]) -> dict[UUID, User]:
    """Return these users, keyed by id. Ids without a user are left out. Raises CassandraUnavailable."""
    started = [USER.start(user_id=user_id) for user_id in set(ids)]
    return {
        row.user_id: user_from_row(row) for row in (pending.one() for pending in started) if row
    }


def list_staff() -> list[User]:
    """Return all users with a role, sorted by role and name. Raises CassandraUnavailable."""
    everybody = get_users(row.user_id for row in STAFF.all(shop=SHOP) if row.user_id)
    return sorted(
        (each for each in everybody.values() if each.role),
        key=lambda each: (each.role, each.name.casefold()),
    )


def list_role_holders(role: str) -> tuple[int | None, set[UUID]]:
    """Return the list of staff's version, and the ids of users with this role both in the list and in their own row.

    Raises CassandraUnavailable.
    """
    rows = STAFF.all(shop=SHOP)
    found = get_users(row.user_id for row in rows if row.user_id and row.role == role)
    version = rows[0].version if rows else None
    return version, {
        user_id for user_id, each in found.items() if each.role == role and each.active
    }


# The staff's notes about a customer.
CUSTOMER_NOTES = read(
    "customer notes",
    "SELECT version, note_id, author, text, written_at FROM customer_notes WHERE user_id = :user_id",
)
# The customers at whom a member of staff has looked lately.
LOOKS = read(
    "customer looks", "SELECT user_id, looked_at FROM customer_looks WHERE staff_id = :staff_id"
)


@dataclass(frozen=True)
class CustomerNote:
    """A note of the staff about a customer; `written_at` is in UTC."""

    note_id: UUID
    author: str
    text: str
    written_at: datetime


def prefetch_profile(user_id: UUID) -> PendingResult:
    """Start reading a user in parallel with other reads, for `user_from_row`."""
    return USER.start(user_id=user_id)


def prefetch_customer_notes(user_id: UUID) -> PendingResult:
    """Start reading the staff's notes about a customer, for `notes_from_rows`."""
    return CUSTOMER_NOTES.start(user_id=user_id)


def notes_from_rows(rows: Iterable[Row]) -> list[CustomerNote]:
    """Return the notes in these rows, newest first."""
    found = [
        CustomerNote(row.note_id, row.author, row.text, row.written_at)
        for row in rows
        if row.note_id
    ]
    return sorted(found, key=lambda each: (each.written_at, each.note_id), reverse=True)


def prefetch_looked_at(staff_id: UUID) -> PendingResult:
    """Start reading the customers whom a member of staff looked at in the last week, for `looks_from_rows`."""
    return LOOKS.start(staff_id=staff_id)


def looks_from_rows(rows: Iterable[Row]) -> list[tuple[UUID, datetime]]:
    """Return the ids of the customers in the rows of LOOKS, each with the time of the look, latest first."""
    found = [(row.user_id, row.looked_at) for row in rows]
    return sorted(found, key=lambda each: each[1], reverse=True)


# N3: what a member wants to be told.
RECIPIENT = read(
    "N3",
    """SELECT user_id, email, active, erasing_at, notification_choices FROM users
       WHERE user_id = :user_id""",
)
# Users who have asked to be erased.
ERASURES = read("erasure", "SELECT minute, user_id FROM erasures WHERE minute = :minute")


# Users whose names are being written, by the hour.
NAMED_USERS = read(
    "customer search", "SELECT hour, user_id, written FROM named_users_by_hour WHERE hour = :hour"
)


# Users who have just proved an address or signed in, by minute.
EMAIL_PROOFS = read(
    "Q7", "SELECT minute, user_id, written FROM verified_users_by_minute WHERE minute = :minute"
)

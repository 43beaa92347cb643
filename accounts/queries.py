"""What the shop reads of people."""

from contextvars import ContextVar
from uuid import UUID

from accounts.models import User
from cassandra_db import Pending, Row, read

# Q6, Q8: the profile and the addresses, one row.
USER = read(
    "Q6",
    """SELECT user_id, email, name, password, role, active, demo, addresses, default_address, created_at
       FROM users WHERE user_id = :user_id""",
)

_started: ContextVar[Pending | None] = ContextVar("started", default=None)


def user_started(user_id: UUID) -> None:
    """Start reading a user who will be asked for later in this request, so that no round is spent on waiting."""
    _started.set(USER.start(user_id=user_id))


def user(user_id: UUID) -> User | None:
    """Return the user, or None. Raises CassandraUnavailable."""
    pending = _started.get()
    _started.set(None)
    row = pending.one() if pending else USER.one(user_id=user_id)
    if pending and (row is None or row.user_id != user_id):
        row = USER.one(user_id=user_id)
    return as_user(row) if row else None


def as_user(row: Row) -> User:
    """Return a row of `users` as Django's user object."""
    return User(**row._asdict())


# Q7: whose an address is.
USER_ID_BY_EMAIL = read("Q7", "SELECT user_id, claimed_at FROM users_by_email WHERE email = :email")


def user_by_email(email: str) -> User | None:
    """Return the user with this e-mail address, or None. Raises CassandraUnavailable."""
    row = USER_ID_BY_EMAIL.one(email=email.strip().casefold())
    return user(row.user_id) if row else None

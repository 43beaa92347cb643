"""Who somebody is: users, the addresses of their mailboxes and doors, sessions."""

from typing import Any
from uuid import UUID

from cassandra.cqlengine import columns
from cassandra.cqlengine.models import Model
from django.contrib.auth.base_user import AbstractBaseUser
from django_cassandra_engine.models import DjangoCassandraModel


class User(DjangoCassandraModel):
    """Q6, Q8: a person's profile and addresses. Django's user model; read by accounts.queries, never by `.objects`.

    Bound: one row, at most 20 addresses (accounts.operations.MAX_ADDRESSES).
    Writer: accounts.operations, by conditional writes alone.
    """

    __table_name__ = "users"
    user_id = columns.UUID(primary_key=True)
    email = columns.Text()
    name = columns.Text()
    password = columns.Text()
    role = columns.Text()  # '' for shoppers; else support, warehouse, catalogue, analyst, admin
    active = columns.Boolean()
    demo = columns.Boolean()  # a showroom's login; refused anywhere else
    addresses = columns.Map(columns.Text, columns.Map(columns.Text, columns.Text))  # place, '1' to '20' -> address
    default_address = columns.Text()
    created_at = columns.DateTime()

    USERNAME_FIELD = "email"
    EMAIL_FIELD = "email"
    REQUIRED_FIELDS: list[str] = []
    is_authenticated = True
    is_anonymous = False

    class Meta:
        get_pk_field = "user_id"

    # Sessions are bound to the password's hash, as everywhere in Django: a new password ends them.
    get_session_auth_hash = AbstractBaseUser.get_session_auth_hash
    get_session_auth_fallback_hash = AbstractBaseUser.get_session_auth_fallback_hash
    _get_session_auth_hash = AbstractBaseUser._get_session_auth_hash  # type: ignore[attr-defined]

    @property
    def pk(self) -> UUID:
        return self.user_id  # type: ignore[no-any-return]

    @property
    def is_active(self) -> bool:
        return bool(self.active)

    @property
    def is_staff(self) -> bool:
        return bool(self.role)

    def get_username(self) -> str:
        return str(self.email)

    def __str__(self) -> str:
        return str(self.name or self.email)

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, User) and other.user_id == self.user_id

    def __hash__(self) -> int:
        return hash(self.user_id)


class UserByEmail(Model):
    """Q7: whose an e-mail address is; claimed by IF NOT EXISTS, which alone decides (fault 6).

    Bound: one row a partition.
    Writer: accounts.operations.user_registered.
    """

    __table_name__ = "users_by_email"
    email = columns.Text(partition_key=True)  # casefolded
    user_id = columns.UUID()
    claimed_at = columns.DateTime()


class Session(Model):
    """A browser's session. The row lives as long as the session: its TTL is the expiry.

    Bound: one row a partition.
    Writer: accounts.sessions.
    """

    __table_name__ = "sessions"
    session_key = columns.Text(partition_key=True)
    data = columns.Text()
    user_id = columns.UUID()


class SessionByUser(Model):
    """Which sessions a person has, so that they can be ended everywhere.

    Bound: the sessions of 14 days; the rows have the sessions' TTL.
    Writer: accounts.sessions.
    """

    __table_name__ = "sessions_by_user"
    user_id = columns.UUID(partition_key=True)
    session_key = columns.Text(primary_key=True)
    created_at = columns.DateTime()

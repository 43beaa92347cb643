"""The tables of users: profiles, e-mail and delivery addresses, sessions, staff roles, the audit log."""

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Any
from uuid import UUID

from cassandra.cqlengine import columns
from cassandra.cqlengine.models import Model
from django.contrib.auth import get_backends
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.hashers import check_password, make_password
from django_cassandra_engine.models import DjangoCassandraModel

from accounts.async_variants import async_variant
from accounts.errors import SaveRefused
from accounts.roles import ADMIN
from cassandra_db.partitions import KB, MB


class User(DjangoCassandraModel):
    """Q6, Q8: a person's profile and addresses. It is Django's user model; `User.objects` is accounts.users.

    Bound: one row, at most 20 addresses (accounts.operations.MAX_ADDRESSES).
    Writer: accounts.operations, and accounts.known_devices for the stamp. All writes are conditional.
    """

    __table_name__ = "users"
    __partition_bytes__ = 50 * KB
    __personal_data__ = {"columns": ("user_id",), "on_erase": "deleted"}
    user_id = columns.UUID(primary_key=True)
    email = columns.Text()
    name = columns.Text()
    password = columns.Text()
    role = columns.Text()  # '' for shoppers; else support, warehouse, catalogue, analyst, admin
    active = columns.Boolean()
    demo = (
        columns.Boolean()
    )  # whether this is a demo shop's login, which is refused in any other shop
    # slot, '1' to '20' -> address
    addresses = columns.Map(columns.Text, columns.Map(columns.Text, columns.Text))
    default_address = columns.Text()
    created_at = columns.DateTime()
    last_login_at = columns.DateTime()
    phone = columns.Text()  # for carriers; '' and null are none
    # the time at which a mailed link proved the present e-mail address
    verified_at = columns.DateTime()
    # the e-mail address that the account is moving to
    email_next = columns.Text()
    # the e-mail address that the account has left, while its claim is not released yet
    email_before = columns.Text()
    delivery_country = columns.Text()  # the usual shipping country; '' is the shop's own
    plain_mail = columns.Boolean()  # whether mails about orders are sent as text only
    low_stock_mail = columns.Boolean()  # for staff: a daily mail about low stock
    # N3: kind of notifications -> page, digest, mail or nothing; a kind that is missing has its default
    notification_choices = columns.Map(columns.Text, columns.Text)
    # changes when all sessions end; a change voids the cookies of known devices
    stamp = columns.UUID()
    # When, why and by whom the customer was blocked from ordering; null for nearly everybody.
    blocked_at = columns.DateTime()
    block_reason = columns.Text()
    blocked_by = columns.Text()
    # the time at which the user asked to be erased; from then on the account cannot be used
    erasing_at = columns.DateTime()

    USERNAME_FIELD = "email"
    EMAIL_FIELD = "email"
    REQUIRED_FIELDS: list[str] = []
    is_authenticated = True
    is_anonymous = False

    # The columns as they were read, for `save`; None for a new object.
    loaded_values: dict[str, Any] | None = None

    class Meta:
        get_pk_field = "user_id"

    # Django binds sessions to the password's hash: a new password ends them.
    get_session_auth_hash = AbstractBaseUser.get_session_auth_hash
    get_session_auth_fallback_hash = AbstractBaseUser.get_session_auth_fallback_hash
    _get_session_auth_hash = AbstractBaseUser._get_session_auth_hash  # type: ignore[attr-defined]
    set_unusable_password = AbstractBaseUser.set_unusable_password
    has_usable_password = AbstractBaseUser.has_usable_password
    natural_key = AbstractBaseUser.natural_key

    @property
    def pk(self) -> UUID:
        return self.user_id  # type: ignore[no-any-return]

    @property
    def is_active(self) -> bool:
        return bool(self.active)

    @property
    def is_staff(self) -> bool:
        return bool(self.role)

    @property
    def is_superuser(self) -> bool:
        return bool(self.role == ADMIN)

    @property
    def confirmed_email(self) -> str:
        """The e-mail address, if it is proved to be this person's; '' if not."""
        return str(self.email) if self.verified_at else ""

    @property
    def last_login(self) -> datetime | None:
        return self.last_login_at  # type: ignore[no-any-return]

    @classmethod
    def get_email_field_name(cls) -> str:
        return cls.EMAIL_FIELD

    def get_username(self) -> str:
        return str(self.email)

    def get_full_name(self) -> str:
        return str(self.name or "")

    def get_short_name(self) -> str:
        return self.get_full_name()

    def check_password(self, raw_password: str) -> bool:
        """Return whether this is the password, renewing its hash if the hasher's settings have changed. Raises CassandraUnavailable."""
        return check_password(
            raw_password, self.password, setter=lambda raw: type(self).objects.renew_hash(self, raw)
        )

    def set_password(self, raw_password: str | None) -> None:
        """Set another password on this object; None sets a password that no login matches. `save` writes it."""
        self.password = make_password(raw_password)

    def save(self, *, update_fields: Collection[str] | None = None, **_: Any) -> None:
        """Write the name, password and role, if they were changed on this object; with `update_fields` only these fields.

        The shop's operations write the fields, with all effects: a new password ends all sessions and is confirmed by mail.
        The password is written only if the account still has the password that was read.

        Raises SaveRefused if another column was set or the account is new, AccountChanged, NoSuchUser, LastAdmin, ValueError
        for an unknown field or role, CassandraUnavailable.
        """
        type(self).objects.save(self, update_fields)

    def refresh_from_db(self, **_: Any) -> None:
        """Read this account again. Raises User.DoesNotExist if it no longer exists, CassandraUnavailable."""
        type(self).objects.refresh(self)

    def update(self, **_: Any) -> None:
        """Raise SaveRefused, because the mapper's writes are unconditional."""
        raise SaveRefused(
            "Set what is to change and call save(), or call one of accounts.operations."
        )

    def delete(self, *_: Any, **__: Any) -> None:
        """Raise SaveRefused, because a person has more data than this row (see accounts.operations.erasure)."""
        raise SaveRefused(
            "An account goes by accounts.operations.request_erasure, and all that is held about the person with it."
        )

    def has_perm(self, perm: str, obj: Any = None) -> bool:
        """Return whether this user's role opens the staff page that a permission names, as "adminpanel.refund" does.

        An admin has all permissions. The authentication backend decides (accounts.access).
        """
        return any(backend.has_perm(self, perm, obj) for backend in get_backends())

    def has_perms(self, perm_list: Iterable[str], obj: Any = None) -> bool:
        """Return whether this user has each of these permissions. Raises ValueError if `perm_list` is a string."""
        if isinstance(perm_list, str):
            raise ValueError("perm_list must be an iterable of permissions.")
        return all(self.has_perm(perm, obj) for perm in perm_list)

    def has_module_perms(self, app_label: str) -> bool:
        """Return whether this user's role opens any staff page of an app."""
        backends: list[Any] = get_backends()
        return any(backend.has_module_perms(self, app_label) for backend in backends)

    def get_user_permissions(self, obj: Any = None) -> set[str]:
        """Return an empty set: in this shop all permissions come from the role."""
        return self._list_permissions("get_user_permissions", obj)

    def get_group_permissions(self, obj: Any = None) -> set[str]:
        """Return the role's permissions: one for each staff page that it opens."""
        return self._list_permissions("get_group_permissions", obj)

    def get_all_permissions(self, obj: Any = None) -> set[str]:
        """Return the permissions that this user has."""
        return self._list_permissions("get_all_permissions", obj)

    def _list_permissions(self, method: str, obj: Any) -> set[str]:
        backends: list[Any] = get_backends()
        return set().union(*(getattr(backend, method)(self, obj) for backend in backends))

    acheck_password = async_variant("check_password")
    asave = async_variant("save")
    arefresh_from_db = async_variant("refresh_from_db")
    adelete = async_variant("delete")
    ahas_perm = async_variant("has_perm")
    ahas_perms = async_variant("has_perms")
    ahas_module_perms = async_variant("has_module_perms")
    aget_user_permissions = async_variant("get_user_permissions")
    aget_group_permissions = async_variant("get_group_permissions")
    aget_all_permissions = async_variant("get_all_permissions")

    def __str__(self) -> str:
        return str(self.name or self.email)

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, User) and other.user_id == self.user_id

    def __hash__(self) -> int:
        return hash(self.user_id)


class UserByEmail(Model):
    """Q7: the user of an e-mail address. Of two users who claim it at once, IF NOT EXISTS lets one succeed (fault 6).

    A claim counts while its user's own row names the same address. Another user who proves the address can take over a claim
    that no longer counts.
    Bound: one row a partition.
    Writer: accounts.operations.register_user and change_email.
    """

    __table_name__ = "users_by_email"
    __partition_bytes__ = 1 * KB
    __personal_data__ = {"columns": ("email",), "on_erase": "deleted"}
    email = columns.Text(partition_key=True)  # casefolded
    user_id = columns.UUID()
    claimed_at = columns.DateTime()


class Session(Model):
    """A browser's session. The row's TTL is the session's expiry.

    Bound: one row a partition.
    Writer: accounts.sessions.
    """

    __table_name__ = "sessions"
    __partition_bytes__ = 50 * KB
    __personal_data__ = {"columns": ("user_id",), "on_erase": "deleted"}
    session_key = columns.Text(
        partition_key=True
    )  # a keyed hash of the session key; only the browser's cookie has the key itself
    data = columns.Text()
    user_id = columns.UUID()


class SessionByUser(Model):
    """A person's sessions, for the page that shows and ends them.

    Bound: the sessions of 14 days; the rows have the sessions' TTL.
    Writer: accounts.sessions.
    """

    __table_name__ = "sessions_by_user"
    __partition_bytes__ = 1 * MB
    __personal_data__ = {"columns": ("user_id",), "on_erase": "deleted"}
    user_id = columns.UUID(partition_key=True)
    session_key = columns.Text(primary_key=True)  # a keyed hash of the session key
    created_at = columns.DateTime()
    seen_at = columns.DateTime()  # the time at which the session was last saved, to the hour
    device = columns.Text()  # in words made of the User-Agent header: "Firefox on Windows"


class EmailProof(Model):
    """Users who have just proved an e-mail address or signed in, partitioned by minute.

    Guest orders with this address may join the account.
    Bound: the registrations and logins of one minute.
    Writer: accounts.operations.record_email_proof; a job of orders removes the rows, or their TTL does.
    """

    __table_name__ = "verified_users_by_minute"
    __partition_bytes__ = 1 * MB
    __options__ = {"gc_grace_seconds": 24 * 3600}
    __personal_data__ = {
        "columns": ("user_id",),
        "on_erase": "expires",
        "why": "a note for the worker, gone within minutes",
    }
    minute = columns.DateTime(partition_key=True)
    user_id = columns.UUID(primary_key=True)
    written = columns.BigInt()  # in microseconds since 1970: the time of the row and of its removal


class UserBySearchTerm(Model):
    """The staff's search: customers by the words of their names. The name is a copy from the user's row.

    Bound: the words with the same first two letters. A tenth of 1,000,000 users are 100,000 rows of 100 bytes: 10 MB.
    Writer: accounts.operations.search_terms.
    """

    __table_name__ = "users_by_search_term"
    __partition_bytes__ = 10 * MB
    __personal_data__ = {"columns": ("term", "user_id", "name"), "on_erase": "deleted"}
    head = columns.Text(partition_key=True)  # the term's first two letters
    term = columns.Text(primary_key=True)  # a word of the name, without case and accents
    user_id = columns.UUID(primary_key=True)
    name = columns.Text()
    since = columns.DateTime()  # the time at which the account was made


class SearchTermByUser(Model):
    """The search terms of a customer's present and former names, so that they can be removed from the search.

    Bound: 12 words a name, for the present and the former names.
    Writer: accounts.operations.search_terms.
    """

    __table_name__ = "search_terms_by_user"
    __partition_bytes__ = 10 * KB
    __personal_data__ = {"columns": ("user_id", "term", "name"), "on_erase": "deleted"}
    user_id = columns.UUID(partition_key=True)
    term = columns.Text(primary_key=True)
    name = columns.Text()


class NamedUser(Model):
    """Users whose names are being written, partitioned by the hour. If the request dies, the worker updates the search terms.

    Bound: the running registrations and changes of name of one hour.
    Writer: accounts.operations.search_terms; the rows go after a week.
    """

    __table_name__ = "named_users_by_hour"
    __partition_bytes__ = 1 * MB
    __options__ = {"default_time_to_live": 7 * 24 * 3600, "gc_grace_seconds": 24 * 3600}
    __personal_data__ = {
        "columns": ("user_id",),
        "on_erase": "expires",
        "why": "an id alone, for the worker; it goes after a week",
    }
    hour = columns.DateTime(partition_key=True)
    user_id = columns.UUID(primary_key=True)
    written = columns.BigInt()  # in microseconds since 1970: the time of the row and of its removal


class StaffMember(Model):
    """Present and former staff. Writes to this list make sure that at least one admin stays.

    Every change of a role increments the version, so that of two admins who demote each other at once only one succeeds. The
    role in the user's own row counts; pages leave out users who are shoppers now.
    Bound: one partition, some hundreds of rows.
    Writer: accounts.operations.set_role, only by conditional batches.
    """

    __table_name__ = "staff"
    __partition_bytes__ = 100 * KB
    __personal_data__ = {"columns": ("user_id",), "on_erase": "deleted"}
    shop = columns.Text(partition_key=True)  # always 'shop'
    user_id = columns.UUID(primary_key=True)
    version = columns.Integer(static=True)
    role = columns.Text()


class SecondFactor(Model):
    """The second factor of a member of staff: a telephone that makes codes, and ten recovery codes.

    Bound: one row, ten recovery codes.
    Writer: accounts.second_factor, only by conditional writes.
    """

    __table_name__ = "second_factors"
    __partition_bytes__ = 10 * KB
    __personal_data__ = {"columns": ("user_id",), "on_erase": "deleted"}
    user_id = columns.UUID(primary_key=True)
    secret = columns.Text()  # encrypted under a key made of SECRET_KEY
    step = columns.BigInt()  # the half minute (since 1970) of the last used code; never null
    # keyed hash of a code -> when it was made
    recovery = columns.Map(columns.Text, columns.DateTime)
    enrolled_at = columns.DateTime()


class CustomerNote(Model):
    """The notes of the staff about a customer.

    Bound: 200 notes (accounts.operations.customers.MAX_NOTES) of 1,000 characters, 800 kB at most.
    Writer: accounts.operations.customers, only by conditional batches, which increment `version`.
    """

    __table_name__ = "customer_notes"
    __partition_bytes__ = 800 * KB
    __personal_data__ = {"columns": ("user_id", "text"), "on_erase": "deleted"}
    user_id = columns.UUID(partition_key=True)
    note_id = columns.UUID(primary_key=True)  # made by the form
    version = columns.Integer(static=True)
    author = columns.Text()  # the name of the member of staff when the note was written
    text = columns.Text()
    written_at = columns.DateTime()


class CustomerLook(Model):
    """Customers whose pages a member of staff has opened lately.

    Bound: the customers whom one member of staff has looked at in a week, some thousands of 24 bytes.
    Writer: accounts.operations.record_customer_look; the rows go after a week. The audit log has all page views.
    """

    __table_name__ = "customer_looks"
    __partition_bytes__ = 1 * MB
    __options__ = {"default_time_to_live": 7 * 24 * 3600}
    __personal_data__ = {
        "columns": ("staff_id", "user_id"),
        "on_erase": "expires",
        "why": "an id alone, which nothing leads from once the account is gone; it goes after a week",
    }
    staff_id = columns.UUID(partition_key=True)
    user_id = columns.UUID(primary_key=True)
    looked_at = columns.DateTime()


class _Entry(Model):
    """An audit log entry in two rows: the action, written before it is done, and its outcome."""

    __abstract__ = True
    actor = columns.Text()  # the name that the member of staff had when the entry was written
    act = columns.Text()
    subject = columns.Text()
    fields = columns.Text()  # JSON: the sent fields, without secrets
    outcome = columns.Text()
    # JSON, in the second row: the values before and after, keyed by field; personal fields without values
    changes = columns.Text()
    request_id = columns.UUID()
    # The network address, and the browser in words. Both expire after 90 days.
    address = columns.Text()
    device = columns.Text()


class AuditEntryByDay(_Entry):
    """The audit log by day: actions of the staff, and changes of accounts. No code changes or deletes an entry.

    Bound: the actions of the staff on a day, some ten thousand of 400 bytes; or a day's logins and changes of accounts,
    which rate limits bound.
    Writer: accounts.audit_log; the rows go after 400 days.
    """

    __table_name__ = "audit_log"
    __partition_bytes__ = 50 * MB
    __options__ = {"default_time_to_live": 400 * 24 * 3600}
    __personal_data__ = {
        "columns": ("actor_id", "address"),
        "on_erase": "expires",
        "why": "who did what in the shop has to be known for 400 days, and from where for 90",
    }
    book = columns.Text(partition_key=True)  # staff or accounts
    day = columns.Date(partition_key=True)  # UTC
    at = columns.TimeUUID(primary_key=True, clustering_order="DESC")
    part = columns.TinyInt(primary_key=True)  # 0 before the act, 1 after it
    actor_id = columns.UUID()  # null for a command, and for an unknown user


class AuditEntryByActor(_Entry):
    """The audit log by person and month, with the same entries.

    Bound: the actions of one person in a month, some ten thousand of 400 bytes.
    Writer: accounts.audit_log; the rows go after 400 days.
    """

    __table_name__ = "audit_log_by_actor"
    __partition_bytes__ = 10 * MB
    __options__ = {"default_time_to_live": 400 * 24 * 3600}
    __personal_data__ = {
        "columns": ("actor_id", "address"),
        "on_erase": "expires",
        "why": "who did what in the shop has to be known for 400 days, and from where for 90",
    }
    actor_id = columns.UUID(partition_key=True)
    month = columns.Date(partition_key=True)  # its first day
    at = columns.TimeUUID(primary_key=True, clustering_order="DESC")
    part = columns.TinyInt(primary_key=True)  # 0 before the act, 1 after it
    book = columns.Text()  # staff or accounts
    given_back = (
        columns.BigInt()
    )  # money given back, in minor units; in the row of part 0, for a day


class Erasure(Model):
    """Users who have asked to be erased, partitioned by minute.

    A row is written before the account is closed, and removed after the erasure.
    Bound: the requests of one minute.
    Writer: accounts.operations.erasure.
    """

    __table_name__ = "erasures"
    __partition_bytes__ = 1 * MB
    __options__ = {"gc_grace_seconds": 24 * 3600}
    __personal_data__ = {"columns": ("user_id",), "on_erase": "deleted"}
    minute = columns.DateTime(partition_key=True)
    user_id = columns.UUID(primary_key=True)

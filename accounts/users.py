"""`User.objects`: the manager that Django, its test client and pytest-django expect. It uses the shop's reads and writes.

It has no queryset: a search by a column other than the key would read all accounts.
"""

from collections.abc import Collection
from typing import Any, Literal, NoReturn, Self
from uuid import UUID

from django.contrib.auth.base_user import BaseUserManager
from django.core.exceptions import ValidationError
from django.core.validators import validate_email

from accounts import queries
from accounts.async_variants import async_variant
from accounts.errors import SaveRefused
from accounts.models import User
from accounts.operations import (
    change_password_hash,
    register_user,
    rehash_password,
    save_name,
    set_role,
)
from accounts.roles import ADMIN, ROLES
from cassandra_db import current_time

_NAMES = ("objects", "default_manager", "_default_manager", "base_manager", "_base_manager")
_SAVED = ("password", "name", "role")


class UserManager:
    """Makes accounts, and finds them by e-mail address or id."""

    def create_user(
        self, username: str = "", email: str = "", password: str | None = None, **fields: Any
    ) -> User:
        """Make an account and return it; its address is `email`, or else `username`.

        `fields` may have a `name`, a `role`, and `is_active=False` for an account without logins. Raises ValueError for an
        invalid e-mail address or role, TypeError for other fields, EmailTaken, CassandraUnavailable.
        """
        return _register_user(username, email, password, fields.pop("role", ""), fields)

    def create_superuser(
        self, username: str = "", email: str = "", password: str | None = None, **fields: Any
    ) -> User:
        """Make an admin's account, as `create_user` does; the first login sets up its second factor."""
        return _register_user(username, email, password, ADMIN, fields)

    def get_by_natural_key(self, username: str) -> User:
        """Return the user with this e-mail address. Raises User.DoesNotExist, CassandraUnavailable."""
        return _found(queries.find_user_by_email(username), username)

    def get(self, **by: Any) -> User:
        """Return the user with this `email` or `pk`. Raises User.DoesNotExist, TypeError for anything else, CassandraUnavailable."""
        if by.keys() == {"email"}:
            return self.get_by_natural_key(by["email"])
        if by.keys() in ({"pk"}, {"user_id"}):
            (key,) = by.values()
            return _found(queries.get_user(key if isinstance(key, UUID) else UUID(key)), str(key))
        raise TypeError(
            f"A user is found by email=... or by pk=..., and not by {', '.join(by) or 'nothing'}."
        )

    acreate_user = async_variant("create_user")
    acreate_superuser = async_variant("create_superuser")
    aget_by_natural_key = async_variant("get_by_natural_key")
    aget = async_variant("get")

    def normalize_email(self, email: str | None) -> str:
        """Return an e-mail address as Django normalises it. Accounts are compared by `mail.addresses.email_key`."""
        return BaseUserManager.normalize_email(email)

    def using(self, alias: str | None) -> Self:
        """Return this manager: there is one database."""
        return self

    def save(self, user: User, fields: Collection[str] | None) -> None:
        """Write the changed fields of a user, as the docstring of `User.save` says."""
        if user.loaded_values is None:
            raise SaveRefused(
                "A new account is made by User.objects.create_user, which claims its e-mail address."
            )
        if unknown := set(fields or ()) - set(user.loaded_values):
            raise ValueError(f"An account has no {', '.join(sorted(unknown))}.")
        read = User(**user.loaded_values)
        changed = {
            name for name in user.loaded_values if getattr(user, name) != getattr(read, name)
        }
        changed &= changed if fields is None else set(fields)
        if others := changed.difference(_SAVED):
            raise SaveRefused(
                f"A user's {' and '.join(sorted(others))} cannot be saved: see accounts.operations."
            )
        if user.role not in ("", *ROLES):
            raise ValueError(f"There is no role {user.role}.")
        now = current_time()
        for name in (name for name in _SAVED if name in changed):
            if name == "password":
                change_password_hash(user, read.password, user.password, now)
            elif name == "name":
                save_name(user.user_id, user.name)
            else:
                set_role(user.user_id, user.role, now)
            user.loaded_values[name] = getattr(user, name)

    def renew_hash(self, user: User, password: str) -> None:
        """Store a new hash, by today's hasher, of the password with which a user has just logged in. Raises CassandraUnavailable."""
        rehash_password(user, password)
        if user.loaded_values is not None:
            user.loaded_values["password"] = user.password

    def refresh(self, user: User) -> None:
        """Read a user again, as the docstring of `User.refresh_from_db` says."""
        now = _found(queries.get_user(user.user_id), str(user.user_id))
        for name in now.loaded_values or ():
            setattr(user, name, getattr(now, name))
        user.loaded_values = now.loaded_values

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(
            f"User.objects has no {name}: it is no queryset. See accounts.queries and accounts.operations."
        )


def attach_manager() -> None:
    """Replace the engine's querysets, which bypass the shop's rules, by this manager."""
    manager = UserManager()
    for name in _NAMES:
        setattr(User, name, manager)


def _register_user(
    username: str, email: str, password: str | None, role: str, fields: dict[str, Any]
) -> User:
    address = email or username
    try:
        validate_email(address)
    except ValidationError as error:
        raise ValueError(
            f"{address!r} is no e-mail address, by which users are known here."
        ) from error
    if role not in ("", *ROLES):
        raise ValueError(f"There is no role {role}.")
    name = fields.pop("name", "") or (username or address).partition("@")[0]
    login: Literal["allowed", "refused"] = "allowed" if fields.pop("is_active", True) else "refused"
    # Django's flags are accepted if they match the role.
    for flag, is_so in {"is_staff": bool(role), "is_superuser": role == ADMIN}.items():
        if fields.pop(flag, is_so) != is_so:
            raise ValueError(
                f"{flag} is {is_so} here: what somebody may do is their role, one of {', '.join(ROLES)}."
            )
    if fields:
        raise TypeError(f"An account has no {', '.join(sorted(fields))}: it has a name and a role.")
    return register_user(address, name, password, current_time(), role, login=login)


def _found(user: User | None, key: str) -> User:
    if user is None:
        raise User.DoesNotExist(f"There is no user {key}.")
    return user

"""Django's authentication on the shop's tables."""

from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib.auth.backends import BaseBackend
from django.contrib.auth.hashers import make_password
from django.http import HttpRequest

from accounts import known_devices, queries
from accounts.access import has_permission, has_permissions_in, list_permissions
from accounts.async_variants import async_variant
from accounts.models import User
from accounts.validators import is_too_long


class EmailBackend(BaseBackend):
    """Logs users in by e-mail address and password (Q7), and answers Django's questions about permissions (accounts.access)."""

    def authenticate(
        self,
        request: HttpRequest | None,
        username: str = "",
        password: str = "",
        email: str = "",
        **_: Any,
    ) -> User | None:
        """Return the user with this address and password, or None.

        Known and unknown addresses cost the same two reads and one hash (fault 7). Wrong passwords that come with a request
        are counted. Raises TooManyAttempts, CassandraUnavailable.
        """
        # A login that is refused before the password is checked is logged, too.
        attempt = (
            known_devices.hit_email_limit(request, "login", email or username) if request else None
        )
        if request and attempt:
            request.is_above_login_limit = attempt.is_above_overall  # type: ignore[attr-defined]
        if is_too_long(password):
            return None
        found = queries.find_user_by_email(email or username)
        if found is None or not found.password:
            make_password(password)
            return None
        if not found.check_password(password) or not can_log_in(found):
            return None
        if attempt:
            attempt.release_slots()
        return found

    def get_user(self, user_id: UUID | str) -> User | None:
        """Return the user with this id, or None if there is no such user."""
        found = queries.get_user(user_id if isinstance(user_id, UUID) else UUID(user_id))
        return found if found and can_log_in(found) else None

    def has_perm(self, user_obj: Any, perm: str, obj: Any = None) -> bool:
        """Return whether the user's role opens the staff page that a permission names (`has_permission`), whatever `obj` is."""
        return can_log_in(user_obj) and has_permission(user_obj, perm)

    def has_module_perms(self, user_obj: Any, app_label: str) -> bool:
        """Return whether the user's role opens any staff page of an app."""
        return can_log_in(user_obj) and has_permissions_in(user_obj, app_label)

    ahas_module_perms = async_variant("has_module_perms")

    def get_group_permissions(self, user_obj: Any, obj: Any = None) -> set[str]:
        """Return the permissions of the user's role, whatever `obj` is."""
        return list_permissions(user_obj) if can_log_in(user_obj) else set()


def can_log_in(user: User) -> bool:
    """Return whether this account may be used: active, and a demo login only in a demo shop."""
    return user.is_active and (settings.DEMO or not user.demo)

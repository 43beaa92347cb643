"""Django's authentication on the shop's tables."""

from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib.auth.hashers import check_password, make_password
from django.http import HttpRequest

from accounts import known_devices, operations, queries
from accounts.models import User
from accounts.validators import too_long
from web.limits import attempted


class EmailBackend:
    """Logs in by e-mail address and password (Q7)."""

    def authenticate(
        self, request: HttpRequest | None, username: str = "", password: str = "", email: str = "", **_: Any
    ) -> User | None:
        """Return the user, or None. Known and unknown addresses cost the same two reads and one hash (fault 7).

        Wrong passwords that come with a request are counted. Raises TooManyAttempts, CassandraUnavailable.
        """
        key = queries.email_key(email or username)
        # Also of what is refused at once: each refusal stands in the audit log.
        attempt = attempted(request, "login", key, own=known_devices.own(request, key)) if request else None
        if too_long(password):
            return None
        found = queries.user_by_email(email or username)
        if found is None or not found.password:
            make_password(password)
            return None
        # After the hasher's settings have changed, a login renews the stored hash.
        right = check_password(password, found.password, setter=lambda raw: operations.password_rehashed(found, raw))
        if not right or not may_log_in(found):
            return None
        if attempt:
            attempt.forgotten()
        return found

    def get_user(self, user_id: UUID | str) -> User | None:
        """Return the user of a session, or None."""
        found = queries.user(user_id if isinstance(user_id, UUID) else UUID(user_id))
        return found if found and may_log_in(found) else None


def may_log_in(user: User) -> bool:
    """Tell whether this account may be used: active, and a demo login only in a showroom."""
    return user.is_active and (settings.SHOWROOM or not user.demo)

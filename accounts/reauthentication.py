"""Asking a signed-in user for the password again, or staff for a code, before sensitive actions."""

from django.contrib.auth.hashers import check_password
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from accounts.second_factor import note_code, verify_totp_code
from accounts.validators import is_too_long
from cassandra_db import current_time
from web.rate_limits import hit_rate_limit

REAUTHENTICATION_FAILED = _("This isn’t your password. Nothing was changed.")


DEMO_LOGIN_STAYS = _("This is a demo login that other people use too, so you can’t change it.")


def verify_password(request: HttpRequest, user: User, password: str) -> bool:
    """Return whether this is the member's password. Wrong passwords are counted. Raises TooManyAttempts, CassandraUnavailable."""
    if is_too_long(password):
        return False
    attempt = hit_rate_limit(request, "password", str(user.pk))
    right = check_password(password, user.password)
    if right:
        attempt.release_slots()
    return right


def verify_code(request: HttpRequest, user: User, code: str) -> bool:
    """Use up a code of a member of staff; return whether it was right. For five minutes the session then asks for no code.

    Wrong codes are counted. Raises TooManyAttempts, CassandraUnavailable.
    """
    attempt = hit_rate_limit(request, "code", str(user.pk))
    right = verify_totp_code(user.pk, code, current_time())
    if right:
        attempt.release_slots()
        note_code(request.session)
    return right

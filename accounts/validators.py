"""More rules for passwords (AUTH_PASSWORD_VALIDATORS)."""

import re
from typing import Any

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from shop_settings.brand import get_brand

MAX_PASSWORD_BYTES = 4096  # longer passwords would only cost hashing time


class MaxBytesValidator:
    """Refuses passwords that are too long to hash; 128 letters of any script fit."""

    def validate(self, password: str, user: Any = None) -> None:
        """Raise ValidationError for a password of more than 4 KB."""
        if is_too_long(password):
            raise ValidationError(
                _("This password is too long. Use 4,096 bytes or fewer."), code="password_too_long"
            )

    def get_help_text(self) -> str:
        """Return no text: users need not know this rule."""
        return ""


class EmailOrShopNameValidator:
    """Refuses passwords made of the e-mail address, its first part or the shop's name, also with a few digits at the end."""

    def validate(self, password: str, user: Any = None) -> None:
        """Raise ValidationError for a password made of the account's words or of the shop's name."""
        email = str(getattr(user, "email", "") or "").casefold()
        name = get_brand().name.casefold()
        shop_words = {name, *re.findall(r"\w{4,}", name)}
        words = {email, email.partition("@")[0], *shop_words} - {""}
        bare = password.casefold().strip().rstrip("0123456789!?.#*-_ ")
        if (
            password.casefold().strip() in words
            or bare in words
            or bare in {word * 2 for word in shop_words}
        ):
            raise ValidationError(
                _("This password is too easy to guess from your email address or our name."),
                code="password_own_words",
            )

    def get_help_text(self) -> str:
        """Return the text for the password field."""
        return _("Your password can’t be your email address or our name.")


def is_too_long(password: str) -> bool:
    """Return whether a password is too long to hash."""
    return (
        len(password) > MAX_PASSWORD_BYTES
        or len(password.encode("utf-8", "surrogatepass")) > MAX_PASSWORD_BYTES
    )

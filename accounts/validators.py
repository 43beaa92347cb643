"""What a password must not be, beyond being short or common (AUTH_PASSWORD_VALIDATORS)."""

from typing import Any

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

MAX_PASSWORD_BYTES = 4096  # hashing more than that would be work for nothing
SHOP_WORDS = ("stoa",)


class MaxBytesValidator:
    """Refuses what is too long to be hashed. Passwords of 128 letters of any script fit easily."""

    def validate(self, password: str, user: Any = None) -> None:
        """Raise ValidationError for a password of more than 4 KB."""
        if is_too_long(password):
            raise ValidationError(
                _("This password is too long. Use 4,096 bytes or fewer."), code="password_too_long"
            )

    def get_help_text(self) -> str:
        """Nothing that a user would have to know beforehand."""
        return ""


class EmailOrShopNameValidator:
    """Refuses the e-mail address, its first part and the shop's name, also with a few digits at the end."""

    def validate(self, password: str, user: Any = None) -> None:
        """Raise ValidationError for a password that the account's own words give away."""
        email = str(getattr(user, "email", "") or "").casefold()
        words = {email, email.partition("@")[0], *SHOP_WORDS} - {""}
        bare = password.casefold().strip().rstrip("0123456789!?.#*-_ ")
        if (
            password.casefold().strip() in words
            or bare in words
            or bare in {word * 2 for word in SHOP_WORDS}
        ):
            raise ValidationError(
                _("This password is too easy to guess from your email address or our name."),
                code="password_own_words",
            )

    def get_help_text(self) -> str:
        """Return the rule as it is shown before a password is chosen."""
        return _("Your password can’t be your email address or our name.")


def is_too_long(password: str) -> bool:
    """Return whether a password is refused before it is hashed."""
    return (
        len(password) > MAX_PASSWORD_BYTES
        or len(password.encode("utf-8", "surrogatepass")) > MAX_PASSWORD_BYTES
    )

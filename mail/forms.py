"""The field for an e-mail address."""

from django import forms
from django.utils.translation import gettext_lazy as _

from mail.addresses import validate_reachable

_EMAIL_WRONG = _("Enter an email address in the format name@example.com")


def email_field(autocomplete: str = "email") -> forms.EmailField:
    """Return the field for an e-mail address."""
    return forms.EmailField(
        label=_("Email address"),
        max_length=254,
        validators=[validate_reachable],
        widget=forms.EmailInput(
            {"autocomplete": autocomplete, "spellcheck": "false", "autocapitalize": "none"}
        ),
        error_messages={"required": _EMAIL_WRONG, "invalid": _EMAIL_WRONG},
    )

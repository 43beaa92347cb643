"""The form of a back-in-stock subscription."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from catalogue.queries import MAX_SKU_LENGTH
from mail.addresses import validate_reachable
from web.forms import Form

_EMAIL_WRONG = _("Enter an email address in the format name@example.com")


class SubscriptionForm(Form):
    """The form that subscribes to a mail when a variant is back in stock. Members need not type their e-mail address."""

    variant = forms.CharField(widget=forms.HiddenInput, max_length=MAX_SKU_LENGTH)
    email = forms.EmailField(
        label=_("Email address"),
        max_length=254,
        validators=[validate_reachable],
        widget=forms.EmailInput(
            {"autocomplete": "email", "spellcheck": "false", "autocapitalize": "none"}
        ),
        error_messages={"required": _EMAIL_WRONG, "invalid": _EMAIL_WRONG},
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, auto_id="wait-%s", **kwargs)
